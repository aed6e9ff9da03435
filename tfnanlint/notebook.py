"""Jupyter notebooks: the code cells in the JSON text, and changed cells put back into it with all else kept as it is.

The standard library's scanner reads values and says where they end, so that each cell's source is known as a place in
the text. A changed cell is written by putting new characters between the old ones, in the way the file spells its own.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from tfnanlint.cells import Cell, CellSource
from tfnanlint.magics import neutral
from tfnanlint.source import Source, Span, Uneditable, Unreadable

SUFFIX = ".ipynb"


def _number(text: str) -> None:
    """What is read for a number. It may be longer than Python reads, and nobody asks for its value."""


_scan = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_number).scan_once
_BLANK = re.compile(r"[ \t\n\r]*")
# The spellings of one code point in a JSON string.
_SPELLED = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.S)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


@dataclass(frozen=True, slots=True)
class _Written:
    """How a cell's source stands in the JSON text: the span of the value, and of each string in it with what it says."""

    value: Span
    strings: tuple[tuple[Span, str], ...]
    listed: bool

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.strings)


class Notebook:
    """A notebook's JSON text and its code cells.

    Raises `Unreadable` when the bytes are no notebook: the message says what is wrong, row and column where.
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
            raise Unreadable(f"this is no notebook: {error}", *self._position(error.at)) from None
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

        Only strings of changed cells differ: the rest is the same byte for byte, and that is checked. Raises `Uneditable`.
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
        """Read the new bytes back: the cells say what they should, and nothing around the changed ones moved."""
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
                return self._position(span.start + 1 + sum(len(one) for one in _spellings(self.text, span)[:offset]))
            offset -= len(text)
        return self._position(written.strings[-1][0].end - 1 if written.strings else written.value.start)

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
        self.cells.append(Cell(number, written.text, python, name if isinstance(name, str) else None))
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


# ---------------------------------------------------------------------------------------------------------
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
        raise _Malformed("its JSON has no value here", stop.value) from None
    except json.JSONDecodeError as error:
        raise _Malformed(f"its JSON is broken: {error.msg}", error.pos) from None


def _skipped(text: str, at: int) -> int:
    return _BLANK.match(text, at).end()


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Keys of the object at an offset, and where their values begin. The text has been read before, so it is sound."""
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
    strings = tuple((Span(start, _scan(text, start)[1]), one) for start, one in zip(_items(text, at), value))
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
    """The language of one cell, as Visual Studio Code and old notebooks state it; empty for the notebook's."""
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    name = editor.get("languageId") if isinstance(editor, dict) else language
    return name.lower() if isinstance(name, str) else ""


# ---------------------------------------------------------------------------------------------------------
# Writing


def _spellings(text: str, span: Span) -> list[str]:
    """How each code point of the string at a span is spelled."""
    return _SPELLED.findall(text, span.start + 1, span.end - 1)


class _Writer:
    """Spells a new text for a cell's source; what the old and the new text share keeps its spelling."""

    def __init__(self, text: str, written: _Written):
        self._text = text
        self._written = written
        self._escaped = text.isascii()
        self._spelled: list[str] = []  # of each code point of the old source
        for span, said in written.strings:
            spelled = _spellings(text, span)
            if len(spelled) != len(said):
                raise Uneditable("the spelling of a cell is not understood")
            self._spelled += spelled

    def spelled(self, new: str) -> str:
        """The JSON value for the new source."""
        strings = self._written.strings
        if not self._written.listed:
            return f'"{self._respelled(self._written.text, new, 0)}"'
        if not strings:
            return self._list([(f'"{self._respelled("", line, 0)}"', None) for line in _lines(new)])
        old = [said for _, said in strings]
        if old == _lines(self._written.text):
            return self._by_lines(old, _lines(new))
        return self._in_odd_pieces(old, new)

    def _by_lines(self, old: list[str], new: list[str]) -> str:
        """A list with one line a string, as Jupyter writes it."""
        starts = _starts(old)
        strings: list[tuple[str, int | None]] = []  # with the index of the old string in whose place it stands
        for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind == "equal":
                strings += ((self._string(index), index) for index in range(i1, i2))
            elif i2 - i1 == j2 - j1:
                pairs = zip(range(i1, i2), new[j1:j2])
                strings += ((f'"{self._respelled(old[i], line, starts[i])}"', i) for i, line in pairs)
            else:
                pieces = self._pieces("".join(old[i1:i2]), "".join(new[j1:j2]), starts[i1])
                strings += ((f'"{"".join(line)}"', None) for line in _cut(pieces, new[j1:j2]))
        return self._list(strings)

    def _in_odd_pieces(self, old: list[str], new: str) -> str:
        """A list whose strings are not lines: those from the first changed to the last become one."""
        starts = _starts(old)
        before = _shared("".join(old), new)
        after = _shared("".join(old)[before:][::-1], new[before:][::-1])
        end = len(self._spelled) - after
        first = max(at for at in range(len(old)) if starts[at] <= before)
        last = min(at for at in range(len(old)) if at >= first and starts[at + 1] >= end)
        text = new[starts[first] : len(new) - (len(self._spelled) - starts[last + 1])]
        changed = f'"{self._respelled("".join(old[first : last + 1]), text, starts[first])}"'
        strings = self._written.strings
        return self._text[self._written.value.start : strings[first][0].start] + changed + self._text[
            strings[last][0].end : self._written.value.end]

    def _list(self, strings: Sequence[tuple[str, int | None]]) -> str:
        """The list of some strings, laid out as the old one was."""
        if not strings:
            return "[]"
        old, value = [span for span, _ in self._written.strings], self._written.value
        opening = self._text[value.start : old[0].start] if old else "["
        closing = self._text[old[-1].end : value.end] if old else "]"
        usual = self._text[old[0].end : old[1].start] if len(old) > 1 else "," + (opening[1:] or " ")
        parts = [opening]
        for number, (string, index) in enumerate(strings):
            if number:
                parts.append(self._text[old[index - 1].end : old[index].start] if index else usual)
            parts.append(string)
        return "".join(parts) + closing

    def _string(self, index: int) -> str:
        span = self._written.strings[index][0]
        return self._text[span.start : span.end]

    def _respelled(self, old: str, new: str, start: int) -> str:
        return "".join(self._pieces(old, new, start))

    def _pieces(self, old: str, new: str, start: int) -> list[str]:
        """The spelling of each code point of `new`, which takes the place of `old` at a code point of the source."""
        before = _shared(old, new)
        after = _shared(old[before:][::-1], new[before:][::-1])
        end = start + len(old)
        middle = [self._spell(character) for character in new[before : len(new) - after]]
        return self._spelled[start : start + before] + middle + self._spelled[end - after : end]

    def _spell(self, character: str) -> str:
        if character in _ESCAPES:
            return _ESCAPES[character]
        if character < " " or "\ud800" <= character <= "\udfff" or (self._escaped and character > "\x7f"):
            return json.dumps(character)[1:-1]
        return character


def _lines(text: str) -> list[str]:
    """Lines as Jupyter lists them: only LF ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _starts(texts: Sequence[str]) -> list[int]:
    """Where each text begins when they are joined, and where the last one ends."""
    return [0, *itertools.accumulate(map(len, texts))]


def _cut(pieces: list[str], lines: Sequence[str]) -> Iterator[list[str]]:
    at = 0
    for line in lines:
        yield pieces[at : at + len(line)]
        at += len(line)


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their start."""
    count = 0
    for a, b in zip(one, other):
        if a != b:
            break
        count += 1
    return count
