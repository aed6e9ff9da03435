"""The lines of a file from which a value at a line comes: a slice by names, across functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfnanlint.syntax.nodes import nodes_in, statements_in
from tfnanlint.syntax.source import Source

_DEPTH = 6  # calls
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def rows_behind(source: Source, row: int) -> dict[int, int]:
    """The rows whose statements a row depends on, each with the number of steps that lead there; 0
    is the statement at the row itself.
    """
    functions: dict[str, list[ast.stmt]] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, _FUNCTIONS):
            functions.setdefault(node.name, []).append(node)
    slices = _Slice(functions)
    scope = _scope_at(source.tree, row)
    statement = _statement_at(scope, row)
    if statement is not None:
        slices.follow(scope, statement, 0)
    return slices.rows


class _Slice:
    """The statements that were followed, with their distance."""

    def __init__(self, functions: dict[str, list[ast.stmt]]):
        self.rows: dict[int, int] = {}
        self._functions = functions
        self._entered: set[str] = set()

    def follow(self, scope: ast.AST, statement: ast.stmt, distance: int) -> None:
        """Note a statement, those above it in its scope that give its names, and what it calls."""
        wanted = set(_read(statement))
        self._note(statement, distance)
        above = [earlier for earlier in _own(scope) if earlier.lineno < statement.lineno]
        for earlier in sorted(above, key=lambda each: -each.lineno):
            if wanted.isdisjoint(_given(earlier)):
                continue
            self._note(earlier, distance + 1)
            wanted |= set(_read(earlier))
        for name in sorted(wanted):
            self._enter(name, distance + 1)

    def _enter(self, name: str, distance: int) -> None:
        if name in self._entered or distance > _DEPTH:
            return
        self._entered.add(name)
        for function in self._functions.get(name, ()):
            returns = [one for one in _own(function) if isinstance(one, ast.Return)]
            for statement in returns or _own(function)[-1:]:
                self.follow(function, statement, distance)

    def _note(self, statement: ast.stmt, distance: int) -> None:
        for row in range(statement.lineno, _last_own_row(statement) + 1):
            self.rows[row] = min(distance, self.rows.get(row, distance))


def _last_own_row(statement: ast.stmt) -> int:
    """The last row of a statement without the statements in it."""
    inside = [one for one in statements_in(statement) if one is not statement]
    end = statement.end_lineno or statement.lineno
    return min([end, *(one.lineno - 1 for one in inside)]) if inside else end


def _own(scope: ast.AST) -> list[ast.stmt]:
    """The statements of a scope, those in its branches and loops too; none of its functions."""
    own: list[ast.stmt] = []
    waiting = list(getattr(scope, "body", ()))
    while waiting:
        statement = waiting.pop(0)
        own.append(statement)
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            continue
        for block in ("body", "orelse", "finalbody"):
            waiting += getattr(statement, block, ())
        for handler in getattr(statement, "handlers", ()):
            waiting += handler.body
    return own


def _scope_at(tree: ast.Module, row: int) -> ast.AST:
    """The innermost function around a row, or the module."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS) and node.lineno <= row <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=tree)


def _statement_at(scope: ast.AST, row: int) -> ast.stmt | None:
    around = [one for one in _own(scope) if one.lineno <= row <= (one.end_lineno or 0)]
    return max(around, key=lambda statement: statement.lineno, default=None)


def _read(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement reads, and the last parts of the attributes."""
    for node in _shallow(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node.attr


def _given(statement: ast.stmt) -> set[str]:
    """The names and attributes that a statement binds."""
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in _shallow(statement)
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store)
    }


def _shallow(statement: ast.stmt) -> list[ast.AST]:
    """The nodes of a statement without those of the statements in it."""
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        return []
    parts = [
        value
        for name, value in ast.iter_fields(statement)
        if name not in ("body", "orelse", "finalbody", "handlers")
    ]
    flat = [one for part in parts for one in (part if isinstance(part, list) else [part])]
    return [node for one in flat if isinstance(one, ast.AST) for node in nodes_in(one)]
