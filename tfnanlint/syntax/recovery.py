"""What is left of a file with a syntax error when the definition or statement that holds the error
is cut out: blanks stand in its place, so that all positions stay as they are.

Of an error inside a function the whole function is cut, not a row of it: without that row, other
values would reach the rest of the function.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

from tfnanlint.syntax.source import Source, Uneditable, Unreadable
from tfnanlint.syntax.spans import Edit, Span
from tfnanlint.syntax.taint import Cut, Taint

MAX_FAULTS: Final = 3  # definitions with an error
MAX_PARSES: Final = 12
MAX_LENGTH: Final = 300_000  # characters
_TAB: Final = 8
# What an error in a block says of the statement that the block belongs to.
_OF_ROW: Final = re.compile(r"statement on line (\d+)|definition on line (\d+)")
_DEFINITION: Final = re.compile(r"(?:async[ \t]+)?def\b")
_ASSIGNMENT: Final = re.compile(r"[^=(#<>!]*=(?!=)")
_CLASS: Final = re.compile(r"class\b")
# What goes on with the statement above it on the same indentation.
_CONTINUING: Final = re.compile(r"(?:elif|else|except|finally|case)\b|[)\]}]")
_DECORATOR: Final = "@"
_FILLING: Final = "0"  # a statement that does nothing, and fits into each row
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_WRITTEN: Final = re.compile(r"[^\r\n]")


class PartialSource(Source):
    """A file without what cannot be parsed: `text` has blanks there, `written` what stands there.
    It cannot be edited.
    """

    def __init__(self, whole: Source, text: str, fault: Unreadable, rows: set[int]):
        super().__init__(whole.path, text, whole.encoding)
        if len(text) != len(whole.text) or self.line_starts != whole.line_starts:
            raise AssertionError("what is left has other positions")
        self.whole = whole
        self.faults = (fault,)
        self._rows = rows  # 0-based, which are left out

    @cached_property
    def _taint(self) -> Taint:
        lines = _LINE.findall(self.written)
        functions: set[int] = set()
        assignments: set[int] = set()
        others: set[int] = set()
        for row in self._rows:
            block = _block(lines, row)
            if block is None:
                functions.add(row)
            elif _ASSIGNMENT.match(lines[block.start]):
                assignments.update(block)
            else:
                others.update(block)
        parts = (sorted(part) for part in (functions, assignments, others))
        cut = Cut(*("".join(lines[row] for row in part) for part in parts))
        return Taint(self.tree, cut, [row + 1 for row in self._rows])

    def rests_on_cut(self, span: Span) -> bool:
        """Whether what stands at a span may have another value, or never run, by what is left
        out.
        """
        first, last = self.position(span.start)[0], self.position(max(span.start, span.end - 1))[0]
        return self._taint.holds(first, last)

    @property
    def written(self) -> str:
        return self.whole.text

    def edited(self, text: str, edits: Iterable[Edit]) -> Source:
        raise Uneditable("the file has a syntax error")


def recovered(source: Source, error: Unreadable) -> PartialSource | None:
    """What of a source that raised an error can be parsed when up to `MAX_FAULTS` definitions are
    left out; None where a few attempts do not find it, or where nothing is left.
    """
    if len(source.text) > MAX_LENGTH:
        return None
    try:
        cut = _cut(_LINE.findall(source.text))
    except (ValueError, RecursionError, MemoryError):  # no syntax error, or another one besides
        return None
    if cut is None:
        return None
    lines, rows = cut
    message = f"{error}; {_counted(rows)} not checked"
    fault = Unreadable(message, error.row, error.column)
    return PartialSource(source, "".join(lines), fault, rows)


def _cut(lines: list[str]) -> tuple[list[str], set[int]] | None:
    """The lines without what cannot be parsed, and its 0-based rows."""
    error, attempts = _error(lines), iter(range(1, MAX_PARSES))
    rows: set[int] = set()
    for _ in range(MAX_FAULTS):
        if error is None:
            break
        step = _step(lines, _row_of(error, len(lines)), attempts)
        if step is None:
            return None
        lines, error = step.lines, step.error
        rows.update(step.rows)
    return (lines, rows) if error is None and rows and _holds_code(lines) else None


class _Step(NamedTuple):
    """What is left when some rows are cut, and the next error in it."""

    lines: list[str]
    rows: range
    error: SyntaxError | None

    @property
    def reach(self) -> float:
        """The row up to which there is no error."""
        return math.inf if self.error is None else _row_of(self.error)


def _step(lines: list[str], row: int, attempts: Iterator[int]) -> _Step | None:
    """The smallest cut for an error in a row after which there is no error, or none before the
    farthest place; None where no cut leads beyond itself.
    """
    best: _Step | None = None
    for rows, _ in zip(_around(lines, row), attempts):
        shorter = _without(lines, rows)
        step = _Step(shorter, rows, _error(shorter))
        if step.reach >= rows.stop and (best is None or step.reach > best.reach):
            best = step
        if step.error is None:
            break
    return best


def _holds_code(lines: list[str]) -> bool:
    """Whether some lines hold more than what stands in the place of cuts."""
    return any(
        not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant)
        for node in ast.parse("".join(lines)).body
    )


def _counted(rows: set[int]) -> str:
    """Some 0-based rows, as a sentence names them: `lines 3 to 5 and 9 are`."""
    firsts = [row for row in sorted(rows) if row - 1 not in rows]
    lasts = [row for row in sorted(rows) if row + 1 not in rows]
    parts = [
        f"{first + 1}" if first == last else f"{first + 1} to {last + 1}"
        for first, last in zip(firsts, lasts)
    ]
    return f"line {parts[0]} is" if len(rows) == 1 else f"lines {' and '.join(parts)} are"


def _error(lines: list[str]) -> SyntaxError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("".join(lines))
    except SyntaxError as error:
        return error
    return None


def _row_of(error: SyntaxError, rows: int = 1 << 60) -> int:
    """The 0-based row that is wrong: of a block that is missing, that of its statement."""
    match = _OF_ROW.search(error.msg or "")
    row = int(match[1] or match[2]) if match is not None else error.lineno or 1
    return max(0, min(row, rows) - 1)


def _depth(line: str) -> int:
    """How far a line is indented."""
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(_TAB))


def _says_nothing(line: str) -> bool:
    return not line.strip() or line.lstrip()[0] == "#"


def _around(lines: list[str], row: int) -> Iterator[range]:
    """The 0-based rows of what may be cut for an error in a row, from the smallest: the statement,
    unless it stands in a function; then the definitions around it; last the top-level statement.
    """
    while row and _says_nothing(lines[row]):
        row -= 1
    headers = list(_headers(lines, row))
    in_function = any(_is_definition(lines[header]) for header in headers[1:])
    wanted = [] if in_function or _is_definition(lines[row]) else [range(row, row + 1)]
    wanted += [
        _statement(lines, header)
        for index, header in enumerate(headers)
        if _is_definition(lines[header]) or index == 0 and not in_function
    ]
    wanted.append(_statement(lines, headers[-1]))
    yield from dict.fromkeys(wanted)


def _is_definition(line: str) -> bool:
    return _DEFINITION.match(line.lstrip()) is not None


def _headers(lines: list[str], row: int) -> Iterator[int]:
    """A row, and the rows above it that are indented less and less, up to the top level."""
    yield row
    depth = _depth(lines[row])
    while row and depth:
        row -= 1
        if not _says_nothing(lines[row]) and _depth(lines[row]) < depth:
            depth = _depth(lines[row])
            yield row


def _statement(lines: list[str], row: int) -> range:
    """The rows of the statement that begins at or above a row with its indentation, with its
    decorators and blocks.
    """
    depth = _depth(lines[row])
    first = row
    while first and (
        _goes_on(lines[first], depth)
        or _DECORATOR == lines[first - 1].lstrip()[:1]
        and _depth(lines[first - 1]) == depth
    ):
        first -= 1
    while first < row and (_says_nothing(lines[first]) or _depth(lines[first]) < depth):
        first += 1
    end = row + 1
    while end < len(lines) and _goes_on(lines[end], depth):
        end += 1
    while end > row + 1 and _says_nothing(lines[end - 1]):
        end -= 1
    return range(first, end)


def _block(lines: list[str], row: int) -> range | None:
    """The 0-based rows of the statement that a row stands in, the outermost in its class; None in a
    function.
    """
    outermost = range(row, row + 1)
    if _says_nothing(lines[row]):
        return outermost
    for header in _headers(lines, row):
        if _is_definition(lines[header]):
            return None
        if not _CLASS.match(lines[header].lstrip()):
            outermost = _statement(lines, header)
    return outermost


def _goes_on(line: str, depth: int) -> bool:
    """Whether a line belongs to a statement that begins above it with an indentation."""
    inner = _depth(line)
    return (
        _says_nothing(line)
        or inner > depth
        or inner == depth
        and _CONTINUING.match(line.lstrip()) is not None
    )


def _without(lines: list[str], rows: range) -> list[str]:
    """The lines with blanks in the place of some; the first that says something holds a statement,
    which their block may need.
    """
    shorter = [*lines]
    for row in rows:
        shorter[row] = _WRITTEN.sub(" ", lines[row])
    written = next((row for row in rows if lines[row].strip()), None)
    if written is not None:
        first = lines[written]
        at = len(first) - len(first.lstrip())
        shorter[written] = first[:at] + _FILLING + shorter[written][at + 1 :]
    return shorter
