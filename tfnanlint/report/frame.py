"""Pieces of source for people: lines with an expression underlined, and a fix as removed and added
lines.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent

from tfnanlint.diagnostics.findings import Edit
from tfnanlint.report import Paint, escape
from tfnanlint.report.wrap import wrapped
from tfnanlint.syntax.source import Source, Span

MAX_COLUMNS = 160  # of one source line; generated code has lines of megabytes
MAX_CHANGED = 480  # columns of one line of a mini diff, which is folded
MAX_ROWS = 8  # of one frame or one mini diff
BRIEF_ROWS = 4
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


@dataclass(frozen=True, slots=True)
class Frame:
    """How a piece of source is framed: the width of row numbers, that of source lines, and whether
    only the lines themselves are shown. A `label` stands behind the mark under the expression.
    """

    gutter: int
    columns: int = MAX_COLUMNS
    brief: bool = False
    label: str = ""


def _window(line: str, start: int, end: int, columns: int) -> tuple[str, str, str]:
    """A line as printed, cut in three: before, inside and after code points start to end; long
    parts shortened.
    """
    line = without_comment(line, columns) if end <= columns else line
    if len(line) <= columns:
        return shown(line[:start]), shown(line[start:end]), shown(line[end:])
    columns = max(20, columns - 6)
    left = 0 if end <= columns else max(0, min(start - columns // 4, len(line) - columns))
    right = min(len(line), left + columns)
    before = ("..." if left else "") + shown(line[left:start])
    inside = shown(line[start : min(end, right)])
    after = shown(line[end:right]) + ("..." if right < len(line) else "")
    return before, inside, after


def frame(source: Source, span: Span, shape: Frame, paint: Paint) -> list[str]:
    """The lines of a span with the span underlined; unless brief, one line before it, too."""
    first, column = source.position(span.start)
    last, end_column = source.position(max(span.start, span.end))
    if end_column == 1 and last > first:  # the span ends with a line end
        last, end_column = last - 1, len(source.line_text(last - 1)) + 1
    gutter = shape.gutter
    bar = paint("gutter", " " * gutter + " |")
    lines = [] if shape.brief else [bar]
    if not shape.brief and first > source.first_row(first) and source.line_text(first - 1).strip():
        lines.append(_numbered(source, first - 1, shape, paint))
    above = source.first_row(first) - 1  # rows of other cells of a notebook
    for row in _some(first, last, BRIEF_ROWS if shape.brief else MAX_ROWS):
        if row is None:
            lines.append(paint("gutter", " " * gutter + " ..."))
            continue
        text = source.line_text(row)
        start = column - 1 if row == first else len(text) - len(text.lstrip())
        end = end_column - 1 if row == last else len(text.rstrip())
        before, inside, after = _window(text, start, max(start, end), shape.columns)
        lines.append(
            f"{paint('gutter', f'{row - above:>{gutter}} |')} {before}{inside}{after}".rstrip()
        )
        if row == first or inside and not shape.brief:
            mark = paint("caret", "^" * max(1, width(inside)))
            lines.append(f"{bar} {' ' * width(before)}{mark}{_label(shape, before + inside)}")
    return lines if shape.brief else [*lines, bar]


def _label(shape: Frame, marked: str) -> str:
    """The label behind a mark, where there is room for it."""
    fits = shape.label and width(marked) + 1 + width(shape.label) <= shape.columns
    return f" {escape(shape.label)}" if fits else ""


def _numbered(source: Source, row: int, shape: Frame, paint: Paint) -> str:
    before, inside, after = _window(source.line_text(row), 0, 0, shape.columns)
    shown_row = source.location(source.line_starts[row - 1]).row
    return f"{paint('gutter', f'{shown_row:>{shape.gutter}} |')} {before}{inside}{after}".rstrip()


def _some(first: int, last: int, most: int) -> list[int | None]:
    """The rows to print of a long span; None stands for those left out."""
    if last - first < most:
        return list(range(first, last + 1))
    head = most // 2
    return [*range(first, first + head), None, *range(last - head + 2, last + 1)]


def line_at(source: Source, row: int) -> str:
    """One source line without its indentation, as printed."""
    return _cut(source.line_text(row))


def line_elsewhere(path: str, row: int) -> str:
    """The same of another file, as it is on disk; empty where it cannot be read any more."""
    return _cut(linecache.getline(os.path.abspath(path), row))


def _cut(line: str) -> str:
    text = line.strip()
    return shown(text[:MAX_COLUMNS]) + ("..." if len(text) > MAX_COLUMNS else "")


def mini_diff(
    source: Source,
    edits: Sequence[Edit],
    paint: Paint,
    columns: int = MAX_COLUMNS,
    framed: str = "",
) -> list[str]:
    """What a fix removes and adds, line by line; edits that share lines are shown together. What
    all lines are indented by is left out, and a long line goes on in the next. A removed line that
    is `framed`, right above, is not repeated.
    """
    shown = [one for one in changes(source, edits) if one != ("minus", framed) or not framed]
    texts = dedent("\n".join(text for _, text in shown)).split("\n")
    lines: list[str] = []
    for (kind, _), text in zip(shown, texts):
        sign = "-" if kind == "minus" else "+"
        lines += [paint(kind, f"{sign} {part}") for part in _folded(_clipped(text), columns - 2)]
    return lines


def _folded(text: str, columns: int) -> list[str]:
    """A line of code as lines of a width; a comment behind it is left out first."""
    text = without_comment(text, columns)
    return [text] if len(text) <= columns else wrapped(text, columns, "", "      ")


def without_comment(text: str, columns: int) -> str:
    """A line of code that is longer than `columns` without the words of the comment behind it."""
    if len(text) <= columns:
        return text
    code, mark, _ = text.partition("  # ")
    in_text = any(code.count(quote) % 2 for quote in "'\"")
    if not mark or in_text:
        return text
    return f"{code}  # ..." if len(code) + 7 <= columns else code


def changes(source: Source, edits: Sequence[Edit]) -> list[tuple[str, str]]:
    """The lines that edits remove ("minus") and add ("plus")."""
    lines: list[tuple[str, str]] = []
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
        lines += [("minus", text.rstrip("\r")) for text in _few(old)]
        lines += [("plus", text.rstrip("\r")) for text in _few(new)]
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
    parts: list[str] = []
    for edit in edits:
        parts += (text[start : edit.span.start], edit.text)
        start = edit.span.end
    return "".join(parts) + text[start:end]


def _few(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MAX_ROWS else [*lines[: MAX_ROWS - 1], "..."]


def _clipped(line: str) -> str:
    return shown(line[:MAX_CHANGED]) + ("..." if len(line) > MAX_CHANGED else "")
