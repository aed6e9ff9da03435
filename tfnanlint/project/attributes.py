"""The attributes of objects that are what `__init__` got for a parameter, for as long as they live:
`self.soft = soft` in `__init__` is the only assignment of the program that may mean them.

Nothing is evaluated. What may assign attributes by text, or to objects that are not seen, leaves
nothing known of any.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from tfnanlint.ops.frameworks import ASSIGNED_BY_BASES, GRAPH_DECORATORS
from tfnanlint.ops.steps import loss_of_step
from tfnanlint.project.arguments import parameters
from tfnanlint.project.bindings import bound_at, is_bound
from tfnanlint.project.branches import Layout, layout_of
from tfnanlint.project.names import INERT, KNOWN_FRAMEWORKS, Names, Node
from tfnanlint.project.outline_entries import Definition
from tfnanlint.project.outlines import TOP
from tfnanlint.project.programs import Program
from tfnanlint.syntax.access_paths import leaf

INIT: Final = "__init__"
_ON_OBJECTS: Final = GRAPH_DECORATORS | frozenset("property cached_property override".split())


class Attributes:
    """Which attributes are parameters of `__init__`."""

    def __init__(self, program: Program, names: Names):
        self._program = program
        self._names = names

    def is_parameter(self, cls: Node, name: str) -> bool:
        """Whether an attribute of the objects of a class is what `parameter_of` says: no other code
        may assign it. Of the class all other code makes objects alone.
        """
        path, owner = cls
        definition = self._names.definition(cls)
        if definition is None or not self._has_known_bases(definition, name):
            return False
        if self._program.sets_attribute(name):
            return False
        if any(self._names.outline(one).is_words for one in self._names.holding(name)):
            return False
        if _binds(layout_of(self._names.outline(path)).classes[owner], name):
            return False
        return sum(self._may_be_of(*store, cls) for store in self._stores(name)) == 1

    def _has_known_bases(self, definition: Definition, name: str) -> bool:
        """Whether a class inherits from none of the program, and its bases assign no such name."""
        is_plain = True
        for base, package in definition.bases:
            if base in INERT:
                continue
            if not package or self._names.is_own(package) or package not in KNOWN_FRAMEWORKS:
                return False
            is_plain = False
        return is_plain or name not in ASSIGNED_BY_BASES and not name.startswith("_")

    def _stores(self, name: str) -> Iterator[tuple[str, str]]:
        """Where the program assigns an attribute of a name: the file and the method, if that does
        so to its own object, else "".
        """
        for path in self._names.holding(name):
            outline = self._names.outline(path)
            stores = [
                node
                for node in ast.walk(outline.tree)
                if isinstance(node, ast.Attribute)
                and node.attr == name
                and not isinstance(node.ctx, ast.Load)
            ]
            functions = layout_of(outline).functions if stores else {}
            for node in stores:
                method, function = _innermost(functions, node)
                is_own = function is not None and _is_own(node.value, function)
                yield path, method if is_own else ""

    def _may_be_of(self, path: str, method: str, home: Node) -> bool:
        """Whether an assignment may be to an object of a class from which none inherits."""
        owner = method.rpartition(".")[0]
        if not owner or (path, owner) == home:
            return True
        return self._program.is_called_through(owner.rpartition(".")[2])


def parameter_of(node: ast.Attribute, function: str, layout: Layout) -> tuple[str, str]:
    """The class of a method, and the parameter that its `__init__` assigns to an attribute which
    the method loads of its object; nothing where it is none.
    """
    method, owner = layout.functions.get(function), function.rpartition(".")[0]
    init = layout.functions.get(f"{owner}.{INIT}")
    if owner not in layout.classes or init is None or not _is_own(node.value, method):
        return "", ""
    parameter = _parameter_stored(init, node.attr)
    return ("", "") if not parameter or is_bound(init, parameter) else (owner, parameter)


def steps_kept(method: Any, loss: ast.AST | None) -> list[str]:
    """The attributes in which a method keeps a step of training of TensorFlow 1 that has a loss:
    `self.step = optimizer.minimize(self.loss)`; none where it does more with it.
    """
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and loss_of_step(node.value) is loss is not None:
            kept = [one for one in node.targets if isinstance(one, ast.Attribute)]
            is_own = len(kept) == len(node.targets) and all(
                _is_own(one.value, method) for one in kept
            )
            return [one.attr for one in kept] if is_own else []
    return []


def _innermost(functions: dict[str, Any], node: ast.Attribute) -> tuple[str, Any]:
    """The function in which a node stands, the innermost, by its qualified name."""
    around = [
        (function.lineno, name)
        for name, function in functions.items()
        if function.lineno <= node.lineno <= function.end_lineno
    ]
    if not around:
        return TOP, None
    name = max(around)[1]
    return name, functions[name]


def _is_own(node: ast.expr, function: Any) -> bool:
    """Whether a name is the first parameter of a method, the object that it is called of."""
    args = [*function.args.posonlyargs, *function.args.args]
    if not args or not isinstance(node, ast.Name) or node.id != args[0].arg:
        return False
    decorators = map(leaf, function.decorator_list)
    return _ON_OBJECTS.issuperset(decorators) and not is_bound(function, node.id)


def _binds(cls: ast.ClassDef, name: str) -> bool:
    """Whether the body of a class binds a name, or makes objects of the class in its own way."""
    for statement in cls.body:
        parts = ast.walk(statement)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            parts = iter([statement])
        if any(name in bound_at(part) for part in parts):
            return True
    return False


def _parameter_stored(init: Any, name: str) -> str:
    """The parameter that a statement of `__init__` assigns to an attribute, whichever way that
    goes.
    """
    for statement in init.body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, value = statement.targets[0], statement.value
        if (
            isinstance(target, ast.Attribute)
            and target.attr == name
            and _is_own(target.value, init)
        ):
            is_parameter = isinstance(value, ast.Name) and value.id in parameters(init.args)[1:]
            return value.id if is_parameter else ""  # type: ignore[attr-defined]
    return ""
