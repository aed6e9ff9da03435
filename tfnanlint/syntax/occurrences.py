"""Where a name occurs in a tree, with what stands around each occurrence in its statement.

The text says only in which rows to look; strings and comments are no occurrences.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from tfnanlint.syntax.nodes import LEAVES, blocks_of, parts_of

# The fields of nodes that are names; of `global` and `nonlocal` a list of them.
_NAMING: Final = ("id", "attr", "arg", "name", "asname", "names")
# by the type of a node, those that it has: most nodes name nothing
_NAMING_OF: Final[dict[type, tuple[str, ...]]] = {
    kind: tuple([field for field in _NAMING if field in kind._fields])
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and set(_NAMING) & set(kind._fields)
}
_MANY_NODES: Final = 50  # in one statement


class Occurrence:
    """A node that names something, and the nodes around it in its statement, innermost first."""

    __slots__ = ("node", "around")

    def __init__(self, node: ast.AST, around: list[ast.AST]):
        self.node = node
        self.around = around


class Naming:
    """Where names occur in the statements of one tree. A long statement that is asked for a second
    name may be asked for thousands: its nodes are then put in order by their names.
    """

    __slots__ = ("_by_name", "_long")

    def __init__(self) -> None:
        self._long: set[ast.stmt] = set()  # of those asked
        self._by_name: dict[ast.stmt, dict[str, list[Occurrence]]] = {}

    def occurrences(self, body: list[ast.stmt], rows: Iterable[int], name: str) -> list[Occurrence]:
        """Where a name occurs in the statements of a block that touch some rows."""
        return [
            occurrence
            for statement in statements_on(body, rows)
            for occurrence in self._in_statement(statement, name)
        ]

    def _in_statement(self, statement: ast.stmt, name: str) -> Sequence[Occurrence]:
        by_name = self._by_name.get(statement)
        if by_name is not None:
            return by_name.get(name, ())
        nodes = _own_nodes(statement)
        if statement not in self._long:
            if len(nodes) > _MANY_NODES:
                self._long.add(statement)
            return [
                Occurrence(node, around)
                for node, around in nodes
                if type(node) in _NAMING_OF and _names(node, name)
            ]
        by_name = self._by_name[statement] = {}
        for node, around in nodes:
            for named in dict.fromkeys(_names_of(node)):
                by_name.setdefault(named, []).append(Occurrence(node, around))
        return by_name.get(name, ())


def nodes_on(body: list[ast.stmt], rows: Iterable[int]) -> list[ast.AST]:
    """The nodes of the statements of a block that touch some rows: of a compound one those of its
    first line, not those in its blocks.
    """
    nodes: list[ast.AST] = list(statements_on(body, rows))
    for node in nodes:  # it grows on the way
        if type(node) not in LEAVES:
            nodes += [part for part in parts_of(node) if not isinstance(part, ast.stmt)]
    return nodes


def statements_on(body: list[ast.stmt], rows: Iterable[int]) -> Iterable[ast.stmt]:
    """The statements of a block that touch some rows, those inside of compound ones included."""
    statements: dict[ast.stmt, None] = {}
    for row in rows:
        statements.update(dict.fromkeys(_around(body, row)))
    return statements


def _first_row(statement: Any) -> int:
    """The row at which a statement begins, its decorators included."""
    decorators = statement.__dict__.get("decorator_list")
    return decorators[0].lineno if decorators else statement.lineno


def _around(body: list[ast.stmt], row: int) -> list[ast.stmt]:
    """The statements that touch a row, those inside of compound ones included."""
    touching: list[ast.stmt] = []
    waiting = [body]
    for block in waiting:  # it grows on the way
        for statement in _touching(block, row):
            touching.append(statement)
            waiting += [part for part in blocks_of(statement) if part]
    return touching


def _touching(block: list[ast.stmt], row: int) -> list[ast.stmt]:
    """The statements of a block that touch a row; they follow the text."""
    first, behind = 0, len(block)
    while first < behind:
        middle = (first + behind) // 2
        if _first_row(block[middle]) <= row:
            first = middle + 1
        else:
            behind = middle
    begun = first
    while begun and (block[begun - 1].end_lineno or row) >= row:
        begun -= 1
    return block[begun:first]


def _own_nodes(statement: ast.stmt) -> list[tuple[ast.AST, list[ast.AST]]]:
    """The nodes of a statement, each with those around it, but for the statements in its blocks."""
    nodes: list[tuple[ast.AST, list[ast.AST]]] = [(statement, [])]
    for node, around in nodes:  # it grows on the way
        if type(node) in LEAVES:
            continue
        inner = [node, *around]
        nodes += [(part, inner) for part in parts_of(node) if not isinstance(part, ast.stmt)]
    return nodes


def _names(node: ast.AST, name: str) -> bool:
    held = node.__dict__
    for field in _NAMING_OF[type(node)]:
        named = held.get(field)
        if named == name or isinstance(named, list) and name in named:
            return True
    return False


def _names_of(node: ast.AST) -> Iterator[str]:
    """All for which `_names` holds."""
    held = node.__dict__
    for field in _NAMING_OF.get(type(node), ()):
        named = held.get(field)
        if isinstance(named, str):
            yield named
        elif isinstance(named, list):
            yield from (part for part in named if isinstance(part, str))
