"""A text as editors address it: lines that end at LF, CRLF or CR only, and columns in the units
that were agreed on.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Sequence
from functools import cached_property

from tfnanlint.syntax.source import Span

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z|\Z")

Place = tuple[int, int]  # 0-based line, and column in the units of an encoding


def split(text: str) -> list[str]:
    """The lines with their ends; the last has none and may be empty, so that there always is one.

    `str.splitlines` also splits at form feeds, U+2028 and others, where editors and Python do not.
    """
    if "\r" not in text:
        lines = [line + "\n" for line in text.split("\n")]
        lines[-1] = lines[-1][:-1]
        return lines
    lines = _LINE.findall(text)
    if len(lines) > 1 and not lines[-1] and not lines[-2].endswith(("\r", "\n")):
        lines.pop()
    return lines


def units(text: str, encoding: str) -> int:
    """The length of a text in the units of `utf-8`, `utf-16` or `utf-32`."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def index(line: str, column: int, encoding: str) -> int:
    """The code points before a column. Beyond the line's content it is its length; inside of a
    character, its start.
    """
    content = line.rstrip("\r\n")
    if encoding == "utf-32" or content.isascii():
        return min(max(column, 0), len(content))
    left = column
    for at, character in enumerate(content):
        left -= units(character, encoding)
        if left < 0:
            return at
    return len(content)


def replace(lines: list[str], start: Place, end: Place, text: str, encoding: str) -> None:
    """Replace a range, as an editor's change event states it, in place. A place behind the last
    line is the end.
    """
    first, first_at = _located(lines, start, encoding)
    last, last_at = _located(lines, end, encoding)
    if (last, last_at) < (first, first_at):
        first, first_at, last, last_at = last, last_at, first, first_at
    middle = lines[first][:first_at] + text + lines[last][last_at:]
    # A line feed that comes to stand behind a carriage return, or the other way round, makes one
    # line end of two.
    if first and middle.startswith("\n") and lines[first - 1].endswith("\r"):
        first -= 1
        middle = lines[first] + middle
    rest = split(middle)
    if last + 1 < len(lines):
        if middle.endswith(("\r", "\n")):
            rest.pop()  # The empty line behind the last line end is the next line.
        if middle.endswith("\r") and lines[last + 1].startswith("\n"):
            last += 1
            rest[-1] += lines[last]
            if last + 1 == len(lines):
                rest.append("")
        elif not middle.endswith(("\r", "\n")):
            last += 1
            rest[-1] += lines[last]
    lines[first : last + 1] = rest


def _located(lines: list[str], place: Place, encoding: str) -> Place:
    line, column = place
    if line >= len(lines):
        return len(lines) - 1, len(lines[-1])
    return line, index(lines[line], column, encoding)


class Text:
    """A version of a text, with conversions between offsets in code points and an editor's
    positions.
    """

    def __init__(self, lines: Sequence[str]):
        self.lines = tuple(lines)

    @cached_property
    def text(self) -> str:
        return "".join(self.lines)

    @cached_property
    def _starts(self) -> list[int]:
        return list(itertools.accumulate(map(len, self.lines), initial=0))[:-1]

    def offset(self, place: Place, encoding: str) -> int:
        line, at = _located(self.lines, place, encoding)
        return self._starts[line] + at

    def place(self, offset: int, encoding: str) -> Place:
        line = bisect.bisect_right(self._starts, offset) - 1
        return line, units(self.lines[line][: offset - self._starts[line]], encoding)

    def range(self, span: Span, encoding: str) -> tuple[Place, Place]:
        return self.place(span.start, encoding), self.place(span.end, encoding)
