"""One file under analysis: its scopes, functions and classes, and where they are called."""

from __future__ import annotations

import ast
from typing import Any, Callable, Final, Iterator

from tfnanlint.conventions.identifiers import may_be_class, object_name
from tfnanlint.program.attributes import changes_of_attributes
from tfnanlint.program.builder import Walk
from tfnanlint.program.functions import ClassObject, Function
from tfnanlint.program.scope import Point, Scope
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import CALL, CLASS, block_at, nodes_in
from tfnanlint.syntax.source import Source
from tfnanlint.values.evaluator import Evaluator

# the methods of a property that are not what its name gives
_REPLACING: Final = frozenset(("setter", "deleter"))
_DEFINITIONS: Final = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _end(node: Any) -> int:
    return node.end_lineno or node.lineno


class _Surrounding:
    """A block of statements around a row that was asked for, what the statements around it compute,
    and which of its own was asked for last.
    """

    __slots__ = ("body", "computed", "index")

    def __init__(self, body: list[ast.stmt], computed: list[ast.AST]):
        self.body = body
        self.computed = computed
        self.index = 0


def _index(body: list[ast.stmt], row: int, near: int = 0) -> int:
    """Which statement of a block is the last that begins at or above a row; the first where none
    does. It may be `near` another one.
    """
    first, behind = 0, len(body)
    if near:
        if body[near].lineno > row:
            behind = near
        elif near + 1 == behind or body[near + 1].lineno > row:
            return near
        else:
            first = near + 1
    while behind - first > 1:
        middle = (first + behind) // 2
        if body[middle].lineno <= row:
            first = middle
        else:
            behind = middle
    return first


def _begun(statements: list[tuple[ast.expr, int]], row: int) -> int:
    """How many of some noted expressions, which stand in the order of the text, begin at or above a
    row.
    """
    first, behind = 0, len(statements)
    while first < behind:
        middle = (first + behind) // 2
        if statements[middle][0].lineno <= row:
            first = middle + 1
        else:
            behind = middle
    return first


def _nothing(node: Any) -> list[ast.AST]:
    return []


def _given(node: Any) -> list[ast.AST]:
    return [node.value] if node.value is not None else []


def _test(node: Any) -> list[ast.AST]:
    return [node.test]


# What is computed by a statement itself, not by those inside of it.
_COMPUTED: Final[dict[type, Callable[[Any], list[ast.AST]]]] = {
    **dict.fromkeys((ast.Assign, ast.AnnAssign, ast.Return, ast.Expr), _given),
    **dict.fromkeys((ast.If, ast.While, ast.Assert), _test),
    **dict.fromkeys((ast.For, ast.AsyncFor), lambda node: [node.iter]),
    ast.AugAssign: lambda node: [node],
    **dict.fromkeys(
        (ast.With, ast.AsyncWith), lambda node: [item.context_expr for item in node.items]
    ),
    **dict.fromkeys(
        (
            *_DEFINITIONS,
            ast.Try,
            ast.Raise,
            ast.Delete,
            ast.Pass,
            ast.Import,
            ast.ImportFrom,
            ast.Global,
            ast.Nonlocal,
            ast.Break,
            ast.Continue,
        ),
        _nothing,
    ),
}


class Module:
    """A parsed file. Its top level is walked at once, classes and functions on demand."""

    __deletable__ = ["scope"]

    def __init__(self, source: Source, project: Any = None, name: str = ""):
        self.source = source
        self.project = project
        self.name = name
        self.binding_rows, self.nonlocal_rows, shared = source.scoping
        self.setters: frozenset[str] = source.setters
        self.stars: list[tuple[str, int]] = []
        self.functions: dict[ast.AST, Function] = {}
        self.classes: dict[ast.AST, ClassObject] = {}
        self.discarded: set[ast.AST] = set()
        self.masks: Any = None
        self._class_names: dict[str, list[str]] | None = None
        self.assertions: Any = None
        self.parts: Any = None
        # the objects whose `__dict__` it names, and where
        self.opened: list[tuple[ast.expr, Point]] | None = None
        self.endings: dict[Scope, Any] = {}
        # what stands around nodes of which a rule has asked it
        self.outer: dict[ast.AST, list[ast.AST]] = {}
        # by its name, and the function that it is local to, whether a dict is only read
        self.only_read: dict[tuple[str, Any, bool], bool] = {}
        # a statement, and what stands around each node that it holds
        self.held_by: tuple[ast.stmt, dict[Any, Any], dict[str, list[Any]]] | None = None
        # by the name, where a long expression uses what ends in it
        self.used: dict[ast.AST, dict[str, list[ast.expr]]] = {}
        self._base_names: frozenset[str] | None = None
        self._changes: dict[str, list[ast.Call]] | None = None
        self._calls: dict[str, list[tuple[ast.Call, Point]]] = {}
        self._expressions: dict[int, list[tuple[ast.AST, Point]]] = {}
        self._chains: dict[int, list[ast.AST]] = {}
        self._computed: dict[int, list[ast.AST] | None] = {}
        # The blocks around the row that was asked for last, and what the statements around each
        # compute; and the functions and classes around such a row: the next row is near.
        self._around = [_Surrounding(source.tree.body, [])]
        self._inside: list[ast.AST] = []
        self.scope = Scope(source.tree, None, self)
        if shared:
            self.scope.shared = self._declared(shared)
        walk = Walk(self.scope)
        for block in source.blocks:
            walk.block(block)

    def _declared(self, rows: list[int]) -> frozenset[str]:
        """The names in the `global` statements that stand in some rows."""
        names: set[str] = set()
        for row in rows:
            body = self.source.tree.body
            while body:
                node = body[_index(body, row)]
                if isinstance(node, ast.Global):
                    names.update(node.names)
                body = block_at(node, row)
        return frozenset(names)

    def close(self) -> None:
        """Take apart what refers to itself, so that memory is given back without the cyclic
        collector (it is off).
        """
        for cls in self.classes.values():
            cls.close()
        self.scope.close()
        self.masks = self.assertions = self.parts = self.opened = None
        self.project = self.held_by = None
        for kept in (
            self.endings,
            self.functions,
            self.classes,
            self.outer,
            self.only_read,
            self.used,
            self._calls,
            self._expressions,
        ):
            kept.clear()
        del self.scope

    def function(self, node: Any, point: Point) -> Function:
        """The function defined by `node` at `point`; the first one is the one that is judged."""
        owner = self.classes.get(point.scope.node) if point.scope.of_class else None
        function = Function(node, point, self, owner)
        if owner is not None and point.scope is owner.scope:
            replacing = next((name for name in function.decorators if name in _REPLACING), "")
            owner.methods[f"{node.name}.{replacing}" if replacing else node.name] = function
        self.functions.setdefault(node, function)
        return function

    @property
    def class_names(self) -> dict[str, list[str]]:
        """The names of the classes that the file defines at its top, and of what it imports that
        may be one, by what parameters that are named for them have in common with them.
        """
        if self._class_names is None:
            self._class_names = {}
            for name in _class_names(self.source.tree.body):
                self._class_names.setdefault(object_name(name), []).append(name)
        return self._class_names

    def class_(self, node: ast.ClassDef, point: Point) -> ClassObject:
        cls = ClassObject(node, point, self)
        self.classes.setdefault(node, cls)
        return self.classes[node]

    def walk(self, scope: Scope) -> None:
        """Walk the body of a class."""
        Walk(scope).block(scope.node.body)

    @property
    def changes(self) -> dict[str, list[ast.Call]]:
        """The calls that change what attributes hold, `self.net.add(layer)`, by the attributes."""
        if self._changes is None:
            self._changes = changes_of_attributes(self.source.tree)
        return self._changes

    @property
    def base_names(self) -> frozenset[str]:
        """The last names of all bases of the classes here."""
        if self._base_names is None:
            self._base_names = frozenset(
                leaf(base) for cls in self.classes.values() for base in cls.node.bases
            )
        return self._base_names

    def chain(self, row: int) -> list[ast.AST]:
        """The functions and classes around a row, outermost first."""
        around = self._chains.get(row)
        if around is None:
            around = self._chains[row] = self._inside = self._chain_at(row)
        return around

    def _chain_at(self, row: int) -> list[ast.AST]:
        around = self._inside[:]
        while around and not around[-1].lineno <= row <= _end(around[-1]):
            around.pop()
        body = block_at(around[-1], row) if around else self.source.tree.body
        while body:
            node = body[_index(body, row)]
            if not node.lineno <= row <= _end(node):
                break
            if type(node) in _DEFINITIONS:
                around.append(node)
            body = block_at(node, row)
        return around

    def computed(self, row: int) -> list[ast.AST] | None:
        """What the statements around a row compute themselves, as the tree alone tells; None where
        it does not: at decorators.
        """
        if row not in self._computed:
            self._computed[row] = self._computed_at(row)
        return self._computed[row]

    def _computed_at(self, row: int) -> list[ast.AST] | None:
        around = self._around
        while len(around) > 1 and not around[-1].body[0].lineno <= row <= _end(around[-1].body[-1]):
            around.pop()
        block = around[-1]
        body, computed = block.body, block.computed
        while body:
            index = block.index = _index(body, row, block.index)
            node = body[index]
            parts = _COMPUTED.get(type(node))
            if (
                parts is None
                or not node.lineno <= row <= _end(node)
                or index
                and _end(body[index - 1]) >= row
            ):
                return None
            if parts is not _nothing:
                computed = computed + parts(node)
            body = block_at(node, row)
            if body:
                block = _Surrounding(body, computed)
                around.append(block)
        return computed

    def statements_at(self, row: int) -> list[ast.stmt]:
        """The statements that hold a row, the outermost first; [] where it is not in one alone: in
        none, in several, or at decorators.
        """
        statements: list[ast.stmt] = []
        body = self.source.tree.body
        while body:
            index = _index(body, row)
            node = body[index]
            if not node.lineno <= row <= _end(node) or index and _end(body[index - 1]) >= row:
                return []
            statements.append(node)
            body = block_at(node, row)
        return statements

    def _calls_on(self, row: int, name: str, may: Callable[[ast.Call], bool] | None) -> bool:
        """Whether something whose name ends in `name` may be called on a row, so that `may` holds:
        a definition of that name is no call.
        """
        computed = self.computed(row)
        if computed is None:
            return True
        for expression in computed:
            for node in nodes_in(expression):
                if type(node) is CALL and leaf(node.func) == name and (may is None or may(node)):
                    return True
        return False

    def scope_of_row(self, row: int, interpreter: Evaluator) -> Scope | None:
        """The walked scope whose statements hold a row; None in code that is never reached."""
        scope = self.scope
        for node in self.chain(row):
            if type(node) is CLASS:
                if node in self.classes:
                    self.classes[node].scope  # its methods are made now
                continue
            function = self.functions.get(node)
            if function is None:
                return None
            scope = interpreter.activation(function)
        return scope

    def scopes_of_row(self, row: int, interpreter: Evaluator) -> list[Scope]:
        """Scopes to look into for a row: the innermost function, or the module and its class
        bodies.
        """
        scope = self.scope_of_row(row, interpreter)
        if scope is None:
            return []
        if scope is not self.scope:
            return [scope]
        return [
            scope,
            *(self.classes[node].scope for node in self.chain(row) if node in self.classes),
        ]

    def expressions(self, row: int, interpreter: Evaluator) -> list[tuple[ast.AST, Point]]:
        """The noted expressions that touch a row, each with the point where it stands."""
        expressions = self._expressions.get(row)
        if expressions is not None:
            return expressions
        expressions, scopes = [], self.scopes_of_row(row, interpreter)
        for scope in scopes:
            statements = scope.statements  # in the order of the text
            index = _begun(statements, row)
            while index:
                index -= 1
                node, time = statements[index]
                if _end(node) >= row:
                    expressions.append((node, Point(scope, time)))
                elif node.lineno != row:
                    break
        if scopes:
            self._expressions[row] = expressions
        return expressions

    def calls_to(
        self, name: str, interpreter: Evaluator, may: Callable[[ast.Call], bool] | None = None
    ) -> list[tuple[ast.Call, Point]]:
        """Every call in this file whose callee ends in `name`, and for which `may` holds: the
        functions around other calls are not walked.
        """
        if may is None and name in self._calls:
            return self._calls[name]
        calls: list[tuple[ast.Call, Point]] = []
        if may is None:
            self._calls[name] = calls
        seen: set[ast.AST] = set()
        walked: set[ast.AST] = set()
        for row in self.source.rows_calling((name,)):
            if not self._calls_on(row, name, may):
                continue
            for expression, point in self.expressions(row, interpreter):
                if expression in walked:
                    continue
                walked.add(expression)
                for node, where in interpreter.calls_in(expression, name, point):
                    if node not in seen and (may is None or may(node)):
                        seen.add(node)
                        calls.append((node, where))
        return calls


def _class_names(body: list[ast.stmt]) -> Iterator[str]:
    """The names of the classes that statements define, and of what they import that may be one."""
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.ImportFrom):
            yield from filter(may_be_class, [one.asname or one.name for one in statement.names])
