"""Jupyter notebooks: the code cells in the JSON text, and changed cells put back into it with all
else kept as it is.

The standard library's scanner reads values and says where they end, so that each cell's source is
known as a place in the text. A changed cell is written by putting new characters between the old
ones, in the way the file spells its own.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from tfnanlint.notebook.cells import Cell, CellSource
from tfnanlint.notebook.magics import neutral
from tfnanlint.syntax.source import Source, Span, Uneditable, Unreadable

SUFFIX = ".ipynb"


def _number(text: str) -> None:
    """What is read for a number. It may be longer than Python reads, and no one asks for its
    value.
    """


_scan = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_number).scan_once
_BLANK = re.compile(r"[ \t\n\r]*")
# Formats that list lines without what ends them.
_OLD = re.compile(r"[12]\b(?!\.)")
# The spellings of one code point in a JSON string.
_SPELLED = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.S)
# characters of changed lines; between the edits in longer ones, escapes are spelled anew
MAX_COMPARED = 2000
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\b": "\\b",
    "\f": "\\f",
}


@dataclass(frozen=True, slots=True)
class _Written:
    """How a cell's source stands in the JSON text: the span of the value, and of each string in it
    with what it says.
    """

    value: Span
    strings: tuple[tuple[Span, str], ...]
    listed: bool

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.strings)


class Notebook:
    """A notebook's JSON text and its code cells.

    Raises `Unreadable` when the bytes are no notebook: the message says what is wrong, row and
    column where.
    """

    def __init__(self, path: str, data: bytes):
        self.path = path
        try:
            self.text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unreadable(f"the notebook is not UTF-8: {error}") from None
        self.language = ""  # as the metadata name it; empty when they do not
        self.cells: list[Cell] = []
        self._written: list[_Written] = []
        try:
            self._read()
        except _Malformed as error:
            raise Unreadable(f"not a notebook: {error}", *self._position(error.at)) from None
        except RecursionError:
            raise Unreadable("the notebook's JSON is nested too deeply to be read") from None

    @property
    def is_python(self) -> bool:
        """Whether the notebook is in Python, as far as it says."""
        return self.language.lower() in ("", "python", "python2", "python3", "ipython")

    def mentions(self, words: Iterable[str]) -> bool:
        """Whether the Python in the cells holds one of some words."""
        texts = [cell.text for cell in self.cells if cell.python]
        return any(word in text and word in neutral(text) for text in texts for word in words)

    @cached_property
    def source(self) -> NotebookSource:
        """The code cells as one module."""
        return NotebookSource(self)

    def edited(self, source: CellSource) -> bytes:
        """The notebook's bytes with the cells of a source that came from it by edits.

        Only strings of changed cells differ: the rest is the same byte for byte, and that is
        checked. Raises `Uneditable`.
        """
        changes = []
        for old, written, new in zip(self.cells, self._written, source.cells):
            if new.text != old.text:
                changes.append((written, _Writer(self.text, written).spelled(new.text)))
        parts: list[str] = []
        at = 0
        for written, spelled in sorted(changes, key=lambda change: change[0].value):
            parts += (self.text[at : written.value.start], spelled)
            at = written.value.end
        data = ("".join(parts) + self.text[at:]).encode("utf-8")
        self._verify(data, source)
        return data

    def _verify(self, data: bytes, source: CellSource) -> None:
        """Read the new bytes back: the cells say what they should, and nothing around the changed
        ones moved.
        """
        try:
            new = Notebook(self.path, data)
        except Unreadable as error:
            raise Uneditable(f"the new notebook could not be read: {error}") from None
        if [cell.text for cell in new.cells] != [cell.text for cell in source.cells]:
            raise Uneditable("the new cells would be read differently")
        changed = {at for at, (one, other) in enumerate(zip(self.cells, new.cells)) if one != other}
        if list(self._around(changed)) != list(new._around(changed)):
            raise Uneditable("the notebook would change outside of the edited cells")

    def _around(self, changed: set[int]) -> Iterator[str]:
        """The text outside of the sources of some cells."""
        at = 0
        for value in sorted(self._written[index].value for index in changed):
            yield self.text[at : value.start]
            at = value.end
        yield self.text[at:]

    def file_position(self, index: int, offset: int) -> tuple[int, int]:
        """1-based (row, column) in the JSON text of an offset in the code cell with an index."""
        written = self._written[index]
        for span, text in written.strings:
            if offset < len(text):
                return self._position(
                    span.start + 1 + sum(len(one) for one in _spellings(self.text, span)[:offset])
                )
            offset -= len(text)
        return self._position(
            written.strings[-1][0].end - 1 if written.strings else written.value.start
        )

    def _position(self, offset: int) -> tuple[int, int]:
        return self.file.position(offset)

    @cached_property
    def file(self) -> Source:
        return Source(self.path, self.text)

    # Reading

    def _read(self) -> None:
        """Find the cells, which nbformat 4 has under `cells`, earlier formats in `worksheets`."""
        start = _skipped(self.text, 1 if self.text.startswith("\ufeff") else 0)
        document, end = _value(self.text, start)
        if _skipped(self.text, end) != len(self.text):
            raise _Malformed("there is something after its end", _skipped(self.text, end))
        if not isinstance(document, dict):
            raise _Malformed("it is no JSON object", start)
        self.language = _language(document.get("metadata"))
        for number, (cell, at) in enumerate(self._cells(document, start), 1):
            self._read_cell(number, cell, at)

    def _cells(self, document: dict, start: int) -> Iterator[tuple[object, int]]:
        """All cells in order, and where each begins."""
        places = dict(_members(self.text, start))
        if _OLD.match(self.text, places.get("nbformat", len(self.text))):
            raise _Malformed(
                "its format is older than nbformat 3; save it anew in Jupyter", places["nbformat"]
            )
        if isinstance(document.get("cells"), list):
            yield from zip(document["cells"], _items(self.text, places["cells"]))
        elif isinstance(document.get("worksheets"), list):
            for sheet, at in zip(document["worksheets"], _items(self.text, places["worksheets"])):
                if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list):
                    yield from self._cells(sheet, at)
        else:
            raise _Malformed("it has no cells", start)

    def _read_cell(self, number: int, cell: object, start: int) -> None:
        if not isinstance(cell, dict):
            raise _Malformed("a cell is no JSON object", start)
        key = "source" if "source" in cell else "input"  # the name before nbformat 4
        if cell.get("cell_type") != "code" or key not in cell:
            return
        written = _source(self.text, cell[key], dict(_members(self.text, start))[key])
        language = _cell_language(cell.get("metadata"), cell.get("language"))
        name = cell.get("id")
        python = language in ("", "python") and self.is_python
        self.cells.append(
            Cell(number, written.text, python, name if isinstance(name, str) else None)
        )
        self._written.append(written)


class NotebookSource(CellSource):
    """The cells of a notebook on disk as one module."""

    def __init__(self, notebook: Notebook):
        self.notebook = notebook
        super().__init__(notebook.path, notebook.cells)

    @property
    def file(self) -> Source:
        return self.notebook.file

    def file_position(self, offset: int) -> tuple[int, int]:
        cell, within = self.at(offset)
        return self.notebook.file_position(self.cells.index(cell), within)


# --------------------------------------------------------------------------------------------------
# Places in JSON


class _Malformed(ValueError):
    """The text is not the JSON of a notebook, from an offset on."""

    def __init__(self, message: str, at: int):
        super().__init__(message)
        self.at = at


def _value(text: str, at: int) -> tuple[object, int]:
    """The value at an offset, and where it ends."""
    try:
        return _scan(text, at)
    except StopIteration as stop:
        raise _Malformed("invalid JSON here", stop.value) from None
    except json.JSONDecodeError as error:
        raise _Malformed(f"invalid JSON: {error.msg}", error.pos) from None


def _skipped(text: str, at: int) -> int:
    return _BLANK.match(text, at).end()


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Keys of the object at an offset, and where their values begin. The text has been read before,
    so it is sound.
    """
    at = _skipped(text, start + 1)
    while text[at] == '"':
        key, at = _scan(text, at)
        at = _skipped(text, _skipped(text, at) + 1)
        yield key, at
        at = _next(text, at)


def _items(text: str, start: int) -> Iterator[int]:
    """Where the items of the list at an offset begin."""
    at = _skipped(text, start + 1)
    while text[at] != "]":
        yield at
        at = _next(text, at)


def _next(text: str, at: int) -> int:
    """Where the next member or item begins after a value, or where the closing bracket stands."""
    at = _skipped(text, _scan(text, at)[1])
    return _skipped(text, at + 1) if text[at] == "," else at


def _source(text: str, value: object, at: int) -> _Written:
    """A cell's source: one string, or a list of them."""
    end = _scan(text, at)[1]
    if isinstance(value, str):
        return _Written(Span(at, end), ((Span(at, end), value),), False)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _Malformed("the source of a cell is no text", at)
    strings = tuple(
        (Span(start, _scan(text, start)[1]), one) for start, one in zip(_items(text, at), value)
    )
    return _Written(Span(at, end), strings, True)


def _language(metadata: object) -> str:
    """The language that a notebook's metadata names; empty when they name none."""
    for group, key in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(group) if isinstance(metadata, dict) else None
        name = part.get(key) if isinstance(part, dict) else None
        if isinstance(name, str) and name:
            return name
    return ""


def _cell_language(metadata: object, language: object) -> str:
    """The language of one cell, as Visual Studio Code and old notebooks state it; empty for the
    notebook's.
    """
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    name = editor.get("languageId") if isinstance(editor, dict) else language
    return name.lower() if isinstance(name, str) else ""


# --------------------------------------------------------------------------------------------------
# Writing


def _spellings(text: str, span: Span) -> list[str]:
    """How each code point of the string at a span is spelled."""
    return _SPELLED.findall(text, span.start + 1, span.end - 1)


class _Writer:
    """Spells a new text for a cell's source: what it shares with the old text keeps its spelling
    and its place in the list.

    `gaps` has for each code point of the old source the JSON between it and the one before, as
    between two strings.
    """

    def __init__(self, text: str, written: _Written):
        self._written = written
        self._escaped = text.isascii()
        self._spelled: list[str] = []
        self._gaps: list[str] = []
        at = written.value.start
        for span, said in written.strings:
            spelled = _spellings(text, span)
            if len(spelled) != len(said):
                raise Uneditable("the spelling of a cell is not understood")
            if said:
                self._gaps += [text[at : span.start + 1], *[""] * (len(said) - 1)]
                at = span.end - 1
            self._spelled += spelled
        self._end = text[at : written.value.end]
        # A list with one line a string, as Jupyter writes it, is to stay one.
        self._by_lines = written.listed and [said for _, said in written.strings] == _lines(
            written.text
        )
        first_gap = self._gaps[0][1:-1] if self._gaps else ""
        self._gap = next(filter(None, self._gaps[1:]), f'",{first_gap or " "}"')

    def spelled(self, new: str) -> str:
        """The JSON value for the new source."""
        if not new:
            return "[]" if self._written.listed else '""'
        if not self._spelled:
            text = '", "'.join(map(self._respelled, _lines(new) if self._by_lines else [new]))
            return f'["{text}"]' if self._written.listed else f'"{text}"'
        parts = [self._gaps[0]]
        for at, (character, old) in enumerate(zip(new, _sources(self._written.text, new))):
            gap = self._gaps[old] if old else ""
            if at and self._by_lines:
                gap = gap or self._gap if new[at - 1] == "\n" else ""
            parts += (
                gap if at else "",
                self._respelled(character) if old is None else self._spelled[old],
            )
        return "".join(parts) + self._end

    def _respelled(self, text: str) -> str:
        return "".join(map(self._spell, text))

    def _spell(self, character: str) -> str:
        if character in _ESCAPES:
            return _ESCAPES[character]
        if (
            character < " "
            or "\ud800" <= character <= "\udfff"
            or (self._escaped and character > "\x7f")
        ):
            return json.dumps(character)[1:-1]
        return character


def _lines(text: str) -> list[str]:
    """Lines as Jupyter lists them: only LF ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _sources(old: str, new: str) -> list[int | None]:
    """For each character of a new text the index of the one in the old text that it comes from;
    None when it is new.
    """
    before, after = _lines(old), _lines(new)
    starts = [0, *itertools.accumulate(map(len, before))]
    indices: list[int | None] = []
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            indices += range(starts[i1], starts[i2])
        else:
            indices += _matched("".join(before[i1:i2]), "".join(after[j1:j2]), starts[i1])
    return indices


def _matched(old: str, new: str, start: int) -> list[int | None]:
    """As `_sources`, for lines that changed, the first of which begins at `start`."""
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    middle: list[int | None] = [None] * (len(new) - head - tail)
    if len(old) - head - tail < MAX_COMPARED and len(middle) < MAX_COMPARED:
        matcher = SequenceMatcher(
            None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
        )
        for i, j, size in matcher.get_matching_blocks():
            middle[j : j + size] = range(start + head + i, start + head + i + size)
    return [*range(start, start + head), *middle, *range(start + len(old) - tail, start + len(old))]


def _shared(first: str, second: str) -> int:
    """How many characters two texts have in common at their start."""
    return len(os.path.commonprefix((first, second)))


def written_in(data: bytes) -> bytes:
    """The part of a notebook's bytes in which its cells stand, without their outputs; all of it
    where no cells are seen. A quote inside of a text has a backslash, so that none is a key.
    """
    parts: list[bytes] = []
    for key in (b'"source"', b'"input"'):  # format 3 has the latter
        start = data.find(key)
        while start >= 0:
            end = data.find(b'"cell_type"', start)
            end = len(data) if end < 0 else end
            outputs = data.find(b'"outputs"', start, end)
            end = end if outputs < 0 else outputs
            parts.append(data[start:end])
            start = data.find(key, end)
    return b"\n".join(parts) or data
