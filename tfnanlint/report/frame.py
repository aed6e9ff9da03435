"""Pieces of source for people: lines with an expression underlined, and a fix as removed and added
lines.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Sequence
from itertools import groupby
from textwrap import dedent
from typing import NamedTuple

from tfnanlint.diagnostics.findings import Edit
from tfnanlint.report import Paint, escape
from tfnanlint.report.wrap import wrapped
from tfnanlint.syntax.source import Source, Span

MAX_COLUMNS = 160  # of one source line; generated code has lines of megabytes
MAX_CHANGED = 480  # columns of one line of a mini diff, which is folded
MAX_ROWS = 8  # of one frame or one mini diff
BRIEF_ROWS = 4
_TAB = "    "
_MORE = "..."


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


class Frame(NamedTuple):
    """How a piece of source is framed: the width of row numbers, that of source lines, and whether
    only the lines themselves are shown. A `label` stands behind the mark under the expression.
    """

    gutter: int
    columns: int = MAX_COLUMNS
    brief: bool = False
    label: str = ""


def _limits(line: str, start: int, end: int, columns: int) -> tuple[int, int]:
    """The part of a line that is printed where code points start to end are marked: all but the
    indentation if that is enough, else whole words around the mark.
    """
    if len(line) <= columns:
        return 0, len(line)
    indent = min(start, len(line) - len(line.lstrip()))
    if len(line) - indent <= columns:
        return indent, len(line)
    columns = max(20, columns - 6)
    left = indent
    if end - indent > columns:
        left = max(indent, min(start - columns // 4, len(line) - columns))
    right = min(len(line), left + columns)
    while indent < left < start and _in_word(line, left):
        left += 1
    whole = right
    while start < whole and _in_word(line, whole):
        whole -= 1
    return left, whole if whole > start else right


def _in_word(line: str, at: int) -> bool:
    """Whether a line cut before a code point is cut inside a name or a number."""
    return at < len(line) and all(one.isalnum() or one in "_." for one in line[at - 1 : at + 1])


def _window(line: str, start: int, end: int, columns: int) -> tuple[str, str, str]:
    """A line as printed, cut in three: before, inside and after code points start to end; long
    parts shortened.
    """
    line = without_comment(line, columns) if end <= columns else line
    left, right = _limits(line, start, end, columns)
    before = ("..." if line[:left].strip() else "") + shown(line[left:start])
    inside = shown(line[start : min(end, right)])
    after = shown(line[end:right]) + ("..." if right < len(line) else "")
    return before, inside, after


def is_shown_whole(source: Source, marked: Span, part: Span, columns: int) -> bool:
    """Whether the frame of a marked span in one line shows all of a part of that line, but for a
    comment.
    """
    row, column = source.position(marked.start)
    start = source.line_starts[row - 1]
    end = column - 1 + marked.end - marked.start
    line = source.line_text(row)
    line = without_comment(line, columns) if end <= columns else line
    left, right = _limits(line, column - 1, end, columns)
    return left <= part.start - start and (part.end - start <= right or right == len(line))


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
    framed: str | None = None,
) -> list[str]:
    """What a fix removes and adds, line by line; edits that share lines are shown together. What
    all lines are indented by is left out, and a long line goes on in the next. In the brief form,
    below a frame, the removed line that is `framed` is not repeated, if there is one, and what an
    old and a new line share is left out where they are too long.
    """
    changed = changes(source, edits)
    texts = dedent("\n".join(_clipped(text) for _, text in changed)).split("\n")
    if framed is not None:
        texts = _narrowed(changed, texts, columns - 2)
    lines: list[str] = []
    for (kind, whole), text in zip(changed, texts):
        if (kind, whole) != ("minus", framed) or not framed:
            sign = "-" if kind == "minus" else "+"
            lines += [paint(kind, f"{sign} {part}") for part in _folded(text, columns - 2)]
    return lines


def _narrowed(changed: Sequence[tuple[str, str]], texts: Sequence[str], columns: int) -> list[str]:
    """The texts of changed lines: those of a removed line and of the added one in its place without
    what both begin and end with, where they are longer than `columns`. The last lines of what is
    removed and what is added are of one place.
    """
    narrow = [without_comment(text, columns) for text in texts]
    runs = [list(run) for _, run in groupby(range(len(changed)), key=lambda at: changed[at][0])]
    for removed, added in zip(runs, runs[1:]):
        if changed[removed[0]][0] != "minus":
            continue
        for old, new in zip(reversed(removed), reversed(added)):
            narrow[old], narrow[new] = _without_shared(narrow[old], narrow[new], columns)
    return narrow


def _without_shared(old: str, new: str, columns: int) -> tuple[str, str]:
    """Two texts without so much of their common start, then end, that both have `columns`; as they
    are where that is not enough.
    """
    shorter = old, new
    for opening in (True, False):
        excess = max(map(len, shorter)) - columns
        if excess > 0:
            cut = _shared(*shorter, excess + len(_MORE), opening)
            shorter = tuple(_left_out(text, cut, opening) for text in shorter)
    return shorter if max(map(len, shorter)) <= columns else (old, new)


def _left_out(text: str, cut: int, opening: bool) -> str:
    if cut <= len(_MORE):
        return text
    return _MORE + text[cut:] if opening else text[:-cut] + _MORE


def _shared(old: str, new: str, least: int, opening: bool) -> int:
    """How many code points at the start or end of two texts can be left out of both, so that whole
    words are left: `least` or a few more, or as many as there are.
    """
    if not opening:
        old, new = old[::-1], new[::-1]
    same = len(os.path.commonprefix((old, new)))
    marks = " ([," if opening else " )],"
    cuts = [at for at in range(1, same + 1) if old[at - 1] in marks]
    return next((at for at in cuts if at >= least), cuts[-1] if cuts else 0)


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
