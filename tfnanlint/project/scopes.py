"""The names that functions bind for themselves: what they load under these is nothing else."""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.project.branches import FUNCTIONS, layout_of
from tfnanlint.project.names import Names, Node
from tfnanlint.project.outline_entries import Definition, Use

_INNER = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scopes:
    """What is local to the functions of the files that some names are asked of."""

    def __init__(self, names: Names):
        self._names = names
        self._locals: dict[int, tuple[Any, set[str]]] = {}

    def is_other(self, path: str, use: Use, node: Node, definition: Definition) -> bool:
        """Whether a name that a function loads is a local one, of it or of a function around it,
        and not a definition of that name. What it imports itself may be that.
        """
        layout = layout_of(self._names.outline(path))
        own = self._names.function_around(*node) if path == node[0] else None
        owner = use.owner
        while owner and owner != own:
            function = layout.functions.get(owner)
            if function is None or owner in layout.repeated:
                return False
            if definition.name in self._bound_by(function):
                return True
            owner = self._names.function_around(path, owner)
        return False

    def _bound_by(self, function: Any) -> set[str]:
        known = self._locals.get(id(function))
        if known is None:
            known = self._locals[id(function)] = function, _locals_of(function)
        return known[1]


def _locals_of(function: Any) -> set[str]:
    """The names that a function binds in its own scope: not by an import, nor in others' stead."""
    args = function.args
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    bound = {one.arg for one in every if one is not None}
    others: set[str] = set()
    waiting: list[Any] = list(function.body)
    for node in waiting:  # it grows on the way
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            others.update(node.names)
        elif isinstance(node, ast.alias):
            others.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                bound.add(node.id)
        elif not isinstance(node, (*_INNER, *_COMPREHENSIONS)):
            waiting += ast.iter_child_nodes(node)
    return bound - others
