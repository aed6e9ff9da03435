"""Where a finding stands for a tool outside: a path from the top of the repository, and columns in
the tool's units.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from tfnanlint.syntax.source import Source, Span

Width = Callable[[str], int]


def characters(text: str) -> int:
    """The length of a text in code points."""
    return len(text)


def utf16_units(text: str) -> int:
    """The length of a text as SARIF viewers and JavaScript count it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf8_bytes(text: str) -> int:
    """The length of a text as reviewdog counts it."""
    return len(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class Region:
    """A range in a file: 1-based rows and columns, the end exclusive."""

    row: int
    column: int
    end_row: int
    end_column: int


def region(source: Source, span: Span, width: Width = characters) -> Region:
    """Where a span stands in the file on disk, with columns counted by `width`."""
    return Region(
        *_position(source, span.start, width), *_position(source, max(span.start, span.end), width)
    )


def _position(source: Source, offset: int, width: Width) -> tuple[int, int]:
    row, column = source.file_position(offset)
    return row, 1 + width(source.file.line_text(row)[: column - 1])


def written(source: Source, span: Span) -> str:
    """What the file on disk has at a span: in a notebook, code as JSON."""
    file = source.file
    if file is source:
        return source.slice(span)
    places = [source.file_position(offset) for offset in (span.start, max(span.start, span.end))]
    start, end = (file.line_starts[row - 1] + column - 1 for row, column in places)
    return file.slice(Span(start, end))


def in_cell(source: Source, span: Span) -> str:
    """Which cell of a notebook a span stands in, to begin a sentence with; empty in other files."""
    place = source.location(span.start)
    return "" if place.cell is None else f"{place.words}: "


class Paths:
    """Paths as a report names them: from the top of the repository, links resolved, with `/`.

    The top is what the CI service says (GITHUB_WORKSPACE, CI_PROJECT_DIR), else the directory above
    the working directory that holds `.git`, else the working directory. A file outside of it keeps
    its absolute path.
    """

    def __init__(self) -> None:
        self._top = os.path.realpath(_top())

    def of(self, path: str) -> str:
        """The path of a file in the repository; `-` is standard input."""
        if path == "-":
            return path
        real = os.path.realpath(path)
        inside = real.startswith(self._top.rstrip(os.sep) + os.sep)
        return (os.path.relpath(real, self._top) if inside else real).replace(os.sep, "/")

    def uri(self, path: str) -> str:
        """The same as a URI: relative, or `file://` outside of the repository. Every byte that is
        not plain is encoded.
        """
        name = self.of(path)
        text = quote(os.fsencode(name))
        if not os.path.isabs(name):
            return text
        if text.startswith("//"):  # a share of Windows: its server is the host of the URI
            return f"file:{text}"
        return f"file://{text}" if text.startswith("/") else f"file:///{text}"


def _top() -> str:
    here = os.getcwd()
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        stated = os.environ.get(name)
        if (
            stated
            and os.path.isdir(stated)
            and (os.path.realpath(here) + os.sep).startswith(os.path.realpath(stated) + os.sep)
        ):
            return stated
    directory = here
    while not os.path.lexists(os.path.join(directory, ".git")):
        parent = os.path.dirname(directory)
        if parent == directory:
            return here
        directory = parent
    return directory
