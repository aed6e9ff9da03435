"""The code cells of a notebook as one module, and its places back as cell and line.

Every cell stands in the module's text with its own characters at their own distances:
`offset - cell.start` is the offset in the cell. A cell ends with a line end, and an empty line
parts it from the next, so that a line added after its last one belongs to it.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tfnanlint.notebook import magics
from tfnanlint.syntax.source import Location, Source, Uneditable, Unreadable

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_PART = "\n"
# Above a cell that is indented as a whole, which IPython allows.
_OPENING = "if 1:\n"


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its 1-based number among all cells of the notebook, its text, and whether that
    is Python at all.
    """

    number: int
    text: str
    python: bool = True
    id: str | None = None

    @property
    def line_end(self) -> str:
        """How the first line of the cell ends; what ends its last line in the module."""
        first = _LINE_END.search(self.text)
        return "\r\n" if first and first[0] == "\r\n" else "\n"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a cell stands in the module: its text from `start` to `end`, its line end to `stop`."""

    start: int
    end: int
    stop: int


class CellSource(Source):
    """The module that code cells make together, in the order of the notebook.

    `cells` are the code cells. A cell that cannot be parsed is blank in the text and one of the
    `faults`, whose rows are the module's. Raises nothing: what cannot be parsed at all is empty.
    """

    def __init__(self, path: str, cells: Sequence[Cell]):
        self.cells = tuple(cells)
        self._openings = [""] * len(self.cells)
        self._python = [_python(cell) for cell in self.cells]
        self.faults = ()
        super().__init__(path, self._assembled())
        if not self._stands():
            self._sort_out()

    # Building

    def _assembled(self) -> str:
        """The module's text. Notes where each cell is."""
        parts: list[str] = []
        self._places: list[_Place] = []
        at = 0
        for cell, text, opening in zip(self.cells, self._python, self._openings):
            start = at + len(opening)
            stop = start + len(text) + len(cell.line_end)
            self._places.append(_Place(start, start + len(text), stop))
            parts += (opening, text, cell.line_end, _PART)
            at = stop + len(_PART)
        self._starts = [place.start for place in self._places]
        return "".join(parts)

    def _stands(self) -> bool:
        """Whether the module parses, and no statement reaches from one cell into the next."""
        try:
            body = self.tree.body
        except Unreadable:
            return False
        ends = [self.position(place.stop)[0] for place in self._places]
        for stmt in body:
            first = min([stmt.lineno, *(one.lineno for one in getattr(stmt, "decorator_list", ()))])
            at = bisect.bisect_left(ends, first)
            if at < len(ends) and (stmt.end_lineno or stmt.lineno) > ends[at]:
                return False
        return True

    def _sort_out(self) -> None:
        """Blank the cells that do not parse by themselves."""
        faults: dict[int, Unreadable] = {}
        for index, cell in enumerate(self.cells):
            text = self._python[index] + cell.line_end
            fault = _fault(text)
            if fault is None:
                continue
            if text[:1] in " \t\r\n" and _fault(_OPENING + text) is None:
                self._openings[index] = _OPENING
            else:
                self._python[index] = magics.blank(self._python[index])
                if not magics.automagic(cell.text):
                    faults[index] = fault
        self.__dict__.pop("tree", None)
        self.__dict__.pop("line_starts", None)
        self.__dict__.pop("scoping", None)
        self.__dict__.pop("displayed", None)
        self.__dict__.pop("_names", None)
        super().__init__(self.path, self._assembled())
        rows = {index: self.position(self._places[index].start)[0] for index in faults}
        self.faults = tuple(
            Unreadable(
                f"this cell is not checked: {fault}", rows[index] + fault.row - 1, fault.column
            )
            for index, fault in faults.items()
        )

    @property
    def blocks(self) -> list[list[ast.stmt]]:
        """The statements of each cell: one that raises ends its cell, and people run the next all
        the same.
        """
        ends = [self.position(place.stop)[0] for place in self._places]
        by_cell: dict[int, list[ast.stmt]] = {}
        for stmt in self.tree.body:
            by_cell.setdefault(bisect.bisect_left(ends, stmt.lineno), []).append(stmt)
        return list(by_cell.values())

    def _cells(self) -> list[list[ast.stmt]]:
        return self.blocks

    # Places

    def at(self, offset: int) -> tuple[Cell, int]:
        """The cell that an offset belongs to, and the offset in its text; what follows a cell
        counts as its end.
        """
        index = self._index(offset)
        place = self._places[index]
        return self.cells[index], max(0, min(offset, place.end) - place.start)

    def offset_in(self, number: int, offset: int) -> int:
        """The offset in the module of an offset in the text of the cell with a number. Raises
        KeyError.
        """
        for cell, place in zip(self.cells, self._places):
            if cell.number == number:
                return place.start + offset
        raise KeyError(number)

    def _index(self, offset: int) -> int:
        return max(0, bisect.bisect_right(self._starts, offset) - 1)

    def location(self, offset: int) -> Location:
        row, column = self.position(offset)
        if not self.cells:
            return Location(row, column)
        index = self._index(offset)
        return Location(
            row - self.position(self._starts[index])[0] + 1, column, self.cells[index].number
        )

    def first_row(self, row: int) -> int:
        if not self.cells:
            return 1
        return self.position(self._starts[self._index(self.line_starts[row - 1])])[0]

    @cached_property
    def written(self) -> str:
        parts = []
        at = 0
        for cell, place in zip(self.cells, self._places):
            parts += (self.text[at : place.start], cell.text)
            at = place.end
        return "".join(parts) + self.text[at:]

    # Editing

    def edited(self, text: str, edits: Iterable) -> CellSource:
        """The notebook after edits. Raises `Uneditable` when one leaves its cell, or touches what
        is not Python there.
        """
        within: dict[int, list] = {}
        for edit in edits:
            index = self._index(edit.span.start)
            place = self._places[index] if self._places else _Place(0, 0, 0)
            if not place.start <= edit.span.start <= edit.span.end <= place.stop:
                raise Uneditable("it reaches beyond one cell of the notebook")
            within.setdefault(index, []).append(edit)
        new = object.__new__(CellSource)
        new.cells = tuple(
            self._edited_cell(at, within.get(at, ())) for at in range(len(self.cells))
        )
        new._openings = self._openings
        new._python = list(self._python)
        for index in within:
            new._python[index] = _python(new.cells[index])
        Source.__init__(new, self.path, new._assembled())
        new.faults = tuple(self._moved(fault, new) for fault in self.faults)
        if new.text != text:
            raise Uneditable("it would change a line that is not Python, such as a magic")
        return new

    def _moved(self, fault: Unreadable, new: CellSource) -> Unreadable:
        """A fault of a cell that did not change, in the rows of another text."""
        index = self._index(self.line_starts[fault.row - 1])
        rows = (
            new.position(new._places[index].start)[0] - self.position(self._places[index].start)[0]
        )
        return Unreadable(str(fault), fault.row + rows, fault.column)

    def _edited_cell(self, index: int, edits: Sequence) -> Cell:
        if not edits:
            return self.cells[index]
        cell, place = self.cells[index], self._places[index]
        written = cell.text + cell.line_end
        heading = magics.heading(cell.text)
        parts: list[str] = []
        at = 0
        for edit in sorted(edits, key=lambda change: change.span):
            start, end = edit.span.start - place.start, edit.span.end - place.start
            if start < heading or written[start:end] != self.text[edit.span.start : edit.span.end]:
                raise Uneditable("it would change a line that is not Python, such as a magic")
            parts += (written[at:start], edit.text)
            at = end
        whole = "".join(parts) + written[at:]
        last = cell.line_end if whole.endswith(cell.line_end) else "\n"
        return replace(cell, text=whole.removesuffix(last))


def _python(cell: Cell) -> str:
    text = magics.neutral(cell.text) if cell.python else magics.blank(cell.text)
    # The parser takes no lone surrogates, which escapes in a notebook can stand for.
    return _SURROGATE.sub("\ufffd", text)


def _fault(text: str) -> Unreadable | None:
    """What is wrong with a cell's text; None when it parses."""
    try:
        Source("", text).tree
    except Unreadable as error:
        return error
    return None
