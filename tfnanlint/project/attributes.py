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
from tfnanlint.project.arguments import parameters
from tfnanlint.project.bindings import bound_at, is_bound
from tfnanlint.project.branches import Layout
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

    def parameter(self, node: ast.Attribute, place: Node, layout: Layout) -> tuple[Node, str]:
        """The class and the parameter of its `__init__` that an attribute is which a method loads
        of its object; nothing where it may be something else.
        """
        path, function = place
        method, owner = layout.functions.get(function), function.rpartition(".")[0]
        if method is None or owner not in layout.classes or not _is_own(node.value, method):
            return (path, TOP), ""
        if self._program.sets_attribute(node.attr):
            return (path, TOP), ""
        parameter = self._assigned((path, owner), node.attr, layout)
        return (path, owner), parameter

    def _assigned(self, home: Node, name: str, layout: Layout) -> str:
        """The parameter that `__init__` of a class, and nothing else, assigns to an attribute."""
        path, owner = home
        init, definition = layout.functions.get(f"{owner}.{INIT}"), self._names.definition(home)
        if init is None or definition is None or _binds(layout.classes[owner], name):
            return ""
        if not self._has_known_bases(definition, name):
            return ""
        if any(self._names.outline(path).is_words for path in self._names.holding(name)):
            return ""
        parameter = _parameter_stored(init, name)
        if not parameter or is_bound(init, parameter):
            return ""
        count = sum(self._may_be_of(*store, home) for store in self._stores(name))
        return parameter if count == 1 else ""

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
            tree = self._names.outline(path).tree
            stores = [
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.Attribute)
                and node.attr == name
                and not isinstance(node.ctx, ast.Load)
            ]
            functions = Layout(tree).functions if stores else {}
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
