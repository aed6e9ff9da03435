"""Where an import goes that a rewrite needs: among the imports of its kind, in the order that they
have.
"""

from __future__ import annotations

import ast
import bisect
import re
import sys
from typing import Iterable

from tfnanlint.conventions.files import is_known_distribution
from tfnanlint.diagnostics.findings import Edit
from tfnanlint.rewrite.hole_test import NoFix
from tfnanlint.syntax.enclosing import enclosing
from tfnanlint.syntax.source import Source, Span

Statement = ast.Import | ast.ImportFrom


def added(source: Source, lines: Iterable[str], site: int) -> list[Edit]:
    """Edits that add import lines at the top of the file, before a site. Raises NoFix where there
    is no place.
    """
    edits = []
    for line in sorted(lines):
        point = _point(source, site, line)
        if point > site:
            raise NoFix("the import that the fix needs cannot be added before it")
        edits.append(Edit(Span(point, point), line + line_end(source, point)))
    return edits


def _point(source: Source, site: int, line: str) -> int:
    """Where a line of import goes: in the group of other packages, in its place if the group is
    sorted, else behind the group.
    """
    groups = _groups(source, site)
    if not groups:
        return _without_imports(source)
    group = next((one for one in groups if any(map(_known, one))), None) or next(
        (one for one in groups[::-1] if any(map(_foreign, one))), groups[-1]
    )
    place = _place(group, ast.parse(line).body[0])
    start = source.line_starts[group[0].lineno - 1]
    if place == 0 and not source.text[start : source.span(group[0]).start].strip():
        return start
    return _behind(source, group[place - 1])


def _groups(source: Source, site: int) -> list[list[Statement]]:
    """The imports at the top level, before the site and the first definition, as blank lines and
    other code part them.
    """
    groups: list[list[Statement]] = []
    above: ast.stmt | None = None
    for stmt in source.tree.body:
        if (
            isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            or source.span(stmt).end > site
        ):
            break
        if isinstance(stmt, (ast.Import, ast.ImportFrom)):
            blank = above is None or any(
                not source.line_text(row).strip()
                for row in range((above.end_lineno or 0) + 1, stmt.lineno)
            )
            if blank or not groups or above is not groups[-1][-1]:
                groups.append([])
            groups[-1].append(stmt)
        above = stmt
    return groups


def _modules(stmt: Statement) -> list[str]:
    return (
        [alias.name for alias in stmt.names]
        if isinstance(stmt, ast.Import)
        else [stmt.module or ""]
        if not stmt.level
        else []
    )


def _known(stmt: Statement) -> bool:
    return any(is_known_distribution(module.partition(".")[0]) for module in _modules(stmt))


def _foreign(stmt: Statement) -> bool:
    return any(module.partition(".")[0] not in sys.stdlib_module_names for module in _modules(stmt))


def _place(group: list[Statement], new: Statement) -> int:
    """How many imports of a group go before a new one: by name where they are sorted, `import`
    before `from` or not; else all.
    """
    future = any(isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__" for stmt in group)
    if future or any(one.end_lineno == other.lineno for one, other in zip(group, group[1:])):
        return len(group)
    for key in (_plain_first, _by_name):
        keys = [key(stmt) for stmt in group]
        if len(group) > 1 and keys == sorted(keys):
            return bisect.bisect_right(keys, key(new))
    return len(group)


def _plain_first(stmt: Statement) -> tuple[bool, str]:
    return isinstance(stmt, ast.ImportFrom), _by_name(stmt)


def _by_name(stmt: Statement) -> str:
    return next(iter(_modules(stmt)), "~").lower()


def _behind(source: Source, stmt: Statement) -> int:
    """The line after an import and all that shares its line."""
    body = source.tree.body
    last = body.index(stmt)
    while last + 1 < len(body) and body[last + 1].lineno == body[last].end_lineno:
        last += 1  # A line added must not break `import a; import b`.
    row = body[last].end_lineno or 0
    return source.line_starts[row] if row < len(source.line_starts) else len(source.text) + 1


def _without_imports(source: Source) -> int:
    """Where the first import of a file goes: behind its docstring, or what heads it."""
    body = source.tree.body
    if not body or not is_docstring(source, body[0]):
        return _after_header(source)
    if len(body) > 1 and body[1].lineno == body[0].end_lineno:
        return len(source.text) + 1
    row = body[0].end_lineno or 0
    if row >= len(source.line_starts):
        return len(source.text) + 1
    while row < len(source.line_starts) - 1 and not source.line_text(row + 1).strip():
        row += 1
    return source.line_starts[row]


def _after_header(source: Source) -> int:
    """The offset after a shebang, an encoding line, and a comment that heads the file, or the cell
    where code begins.
    """
    first = source.tree.body[0].lineno if source.tree.body else 1
    row = source.first_row(first)
    for number in (row, row + 1):
        if number < first and re.match(r"#!|[ \t\f]*#.*?coding[:=]", source.line_text(number)):
            row = number + 1
    end = row
    while end < first and source.line_text(end).lstrip().startswith("#"):
        end += 1
    if end > row and end < first and not source.line_text(end).strip():
        row = end + 1
    return source.line_starts[row - 1]


def is_docstring(source: Source, stmt: ast.stmt) -> bool:
    if not (
        isinstance(stmt, ast.Expr)
        and isinstance(stmt.value, ast.Constant)
        and isinstance(stmt.value.value, str)
    ):
        return False
    owner = [source.tree] + enclosing(source.tree.body, source.span(stmt), source.span)
    parent = next(outer for outer, inner in zip(owner, owner[1:]) if inner is stmt)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(parent, documented) and parent.body[0] is stmt


def line_end(source: Source, start: int) -> str:
    """How the line before an offset ends, or, at the start of the file, the first line."""
    before = source.text[max(0, start - 2) : start]
    for end in ("\r\n", "\n", "\r"):
        if before.endswith(end):
            return end
    first = re.search(r"\r\n|\r|\n", source.text)
    return first[0] if first else "\n"
