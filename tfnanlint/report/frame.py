"""Pieces of source for people: lines with an expression underlined, and a fix as removed and added
lines.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Sequence

from tfnanlint.diagnostics.findings import Edit
from tfnanlint.report import Paint, escape
from tfnanlint.syntax.source import Source, Span

MAX_COLUMNS = 160  # of one source line; generated code has lines of megabytes
MAX_ROWS = 8  # of one frame or one mini diff
_TAB = "    "


def shown(text: str) -> str:
    """A piece of source as it is printed: tabs widened, control characters escaped."""
    return escape(text.replace("\t", _TAB))


def width(text: str) -> int:
    """The number of terminal columns that printed text takes: wide characters two, combining ones
    none.
    """
    if text.isascii():
        return len(text)
    import unicodedata

    columns = 0
    for character in text:
        if unicodedata.category(character) in ("Mn", "Me"):
            continue
        columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return columns


def _window(line: str, start: int, end: int) -> tuple[str, str, str]:
    """A line as printed, cut in three: before, inside and after code points start to end; long
    parts shortened.
    """
    if len(line) <= MAX_COLUMNS:
        return shown(line[:start]), shown(line[start:end]), shown(line[end:])
    left = max(0, start - MAX_COLUMNS // 4)
    right = min(len(line), left + MAX_COLUMNS)
    before = ("..." if left else "") + shown(line[left:start])
    inside = shown(line[start : min(end, right)])
    after = shown(line[end:right]) + ("..." if right < len(line) else "")
    return before, inside, after


def frame(source: Source, span: Span, gutter: int, paint: Paint) -> list[str]:
    """The lines of a span, and one before it, with the span underlined; `gutter` is the width of
    row numbers.
    """
    first, column = source.position(span.start)
    last, end_column = source.position(max(span.start, span.end))
    if end_column == 1 and last > first:  # the span ends with a line end
        last, end_column = last - 1, len(source.line_text(last - 1)) + 1
    bar = paint("gutter", " " * gutter + " |")
    lines = [bar]
    if first > source.first_row(first) and source.line_text(first - 1).strip():
        lines.append(_numbered(source, first - 1, gutter, paint))
    above = source.first_row(first) - 1  # rows of other cells of a notebook
    for row in _some(first, last):
        if row is None:
            lines.append(paint("gutter", " " * gutter + " ..."))
            continue
        text = source.line_text(row)
        start = column - 1 if row == first else len(text) - len(text.lstrip())
        end = end_column - 1 if row == last else len(text.rstrip())
        before, inside, after = _window(text, start, max(start, end))
        lines.append(
            f"{paint('gutter', f'{row - above:>{gutter}} |')} {before}{inside}{after}".rstrip()
        )
        if inside or first == last:
            lines.append(
                f"{bar} {' ' * width(before)}{paint('caret', '^' * max(1, width(inside)))}"
            )
    lines.append(bar)
    return lines


def _numbered(source: Source, row: int, gutter: int, paint: Paint) -> str:
    before, inside, after = _window(source.line_text(row), 0, 0)
    shown_row = source.location(source.line_starts[row - 1]).row
    return f"{paint('gutter', f'{shown_row:>{gutter}} |')} {before}{inside}{after}".rstrip()


def _some(first: int, last: int) -> list[int | None]:
    """The rows to print of a long span; None stands for those left out."""
    if last - first < MAX_ROWS:
        return list(range(first, last + 1))
    head = MAX_ROWS // 2
    return [*range(first, first + head), None, *range(last - head + 2, last + 1)]


def line_at(source: Source, row: int) -> str:
    """One source line without its indentation, as printed."""
    return _cut(source.line_text(row))


def line_elsewhere(path: str, row: int) -> str:
    """The same of another file, as it is on disk; empty where it cannot be read any more."""
    return _cut(linecache.getline(path, row)) if os.path.isabs(path) else ""


def _cut(line: str) -> str:
    text = line.strip()
    return shown(text[:MAX_COLUMNS]) + ("..." if len(text) > MAX_COLUMNS else "")


def mini_diff(source: Source, edits: Sequence[Edit], paint: Paint) -> list[str]:
    """What a fix removes and adds, line by line; edits that share lines are shown together."""
    lines: list[str] = []
    for group in _by_rows(source, edits):
        first = source.position(group[0].span.start)[0]
        last = source.position(max(edit.span.end for edit in group))[0]
        start = source.line_starts[first - 1]
        end = source.line_starts[last - 1] + len(source.line_text(last))
        old, new = (
            source.written[start:end].split("\n"),
            _edited(source.written, start, end, group).split("\n"),
        )
        while old and new and old[0] == new[0]:
            del old[0], new[0]
        while old and new and old[-1] == new[-1]:
            del old[-1], new[-1]
        lines += [paint("minus", f"- {_clipped(line)}") for line in _few(old)]
        lines += [paint("plus", f"+ {_clipped(line)}") for line in _few(new)]
    return lines


def _by_rows(source: Source, edits: Sequence[Edit]) -> list[list[Edit]]:
    groups: list[list[Edit]] = []
    reach = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        row = source.position(edit.span.start)[0]
        if not groups or row > reach:
            groups.append([])
        groups[-1].append(edit)
        reach = max(reach, source.position(edit.span.end)[0])
    return groups


def _edited(text: str, start: int, end: int, edits: list[Edit]) -> str:
    parts = []
    for edit in edits:
        parts += (text[start : edit.span.start], edit.text)
        start = edit.span.end
    return "".join(parts) + text[start:end]


def _few(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MAX_ROWS else [*lines[: MAX_ROWS - 1], "..."]


def _clipped(line: str) -> str:
    line = line.rstrip("\r")
    return shown(line[:MAX_COLUMNS]) + ("..." if len(line) > MAX_COLUMNS else "")
