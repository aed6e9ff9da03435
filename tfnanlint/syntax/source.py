"""One source text: its tree, its lines, and the only conversions between positions.

Inside tfnanlint every position is an offset in code points. `ast` counts columns in UTF-8 bytes and
editors in UTF-16 units; both are converted here and nowhere else.
"""

from __future__ import annotations

import ast
import bisect
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple

from tfnanlint.syntax import text_index as rows
from tfnanlint.syntax.access_paths import path_of
from tfnanlint.syntax.encodings import Unreadable, decode
from tfnanlint.syntax.nodes import nodes_in, statements_in
from tfnanlint.syntax.occurrences import Naming, Occurrence
from tfnanlint.syntax.parse_limits import refuse_many_pieces, refuse_slow_fields
from tfnanlint.syntax.spans import Edit, Span


class Uneditable(Exception):
    """Edits of a text cannot be carried over to the file that it stands for;
    the message says why.
    """


class Location(NamedTuple):
    """Where a person finds something: 1-based row and column, in a notebook within the cell of that
    1-based number.
    """

    row: int
    column: int
    cell: int | None = None

    @property
    def prefix(self) -> str:
        """What stands between the file's name and the row: nothing, or `cell 3:`."""
        return "" if self.cell is None else f"cell {self.cell}:"

    @property
    def words(self) -> str:
        """The row as a sentence names it."""
        return f"line {self.row}" if self.cell is None else f"line {self.row} of cell {self.cell}"


_MOST_BITS = 14_284  # of an integer that Python writes in decimal digits: 4,300 of them
_LONG_NUMBER = re.compile(r"0[xXoObB][\da-fA-F_]{3500}")

# What divides a script into parts that are run by themselves.
_CELL = re.compile(r"^#[ \t]?%%", re.M)

_MANY = 150  # searches for names after which an index pays: to make it takes as long as that many
_NAME = re.compile(r"[^\W\d]\w*")
# which is searched in half the time that `in` takes: many lines end in its second half
_NAMING = frozenset(("id", "attr", "arg", "name", "asname", "module"))
# By the kind of a node, those of its fields that are names; most kinds have none.
_NAMES_OF = {
    kind: [field for field in kind._fields if field in _NAMING]
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def names_in(tree: ast.AST) -> frozenset[str]:
    """All names in a tree: of variables, attributes, keywords, imports and definitions."""
    names: set[str] = set()
    for node in nodes_in(tree):
        for field in _NAMES_OF[type(node)]:
            name = getattr(node, field, None)
            if isinstance(name, str):
                names.update(name.split("."))
    return frozenset(names)


_WALRUS = re.compile(":=")
_GLOBAL = re.compile(r"global [ \t]*\w")
_LINE_END = re.compile(r"\r\n|\r|\n")
_LINE_FEED = re.compile("\n")
# behind a name that is a longer one, is called or is given a value
_NOT_USED = re.compile(r"\w|\(|[ \t]*=(?!=)")


def _in_name(char: str) -> bool:
    return char.isalnum() or char == "_"


def _refuse_long_numbers(tree: ast.Module) -> None:
    """Raise `Unreadable` for an integer that Python reads but does not write, as in
    `0xfff...`: decimal ones of that length it does not read.
    """
    for node in ast.walk(tree):
        number = node.value if isinstance(node, ast.Constant) else None
        if isinstance(number, int) and number.bit_length() > _MOST_BITS:
            raise Unreadable(
                "cannot be parsed: an integer has more than 4300 digits",
                node.lineno,
                node.col_offset + 1,
            )


# What Python says of a text that it parses and never runs, in all its releases.
_REFUSALS: Final = (
    "keyword argument repeated",
    "duplicate argument",
    "'return' outside function",
    "'break' outside loop",
    "'continue' not properly in loop",
)
# characters of a text that is compiled for it: the compiler compares equal lambdas in pairs
MOST_COMPILED: Final = 200_000


def _refusal(path: str, tree: ast.Module) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(tree, path, "exec", dont_inherit=True)
        except (RecursionError, ValueError):
            return ""
        except SyntaxError as error:
            said = str(error.msg)
            return f"Python does not run this file: {said}" if said.startswith(_REFUSALS) else ""
    return ""


class Source:
    """A path and its text, with lazily built tree and line table.

    `tree` raises `Unreadable` with the position of the syntax error. `faults` are parts that were
    left out of the text because they cannot be parsed; only a notebook, whose cells stand for
    themselves, has any.
    """

    faults: tuple[Unreadable, ...] = ()

    def __init__(self, path: str, text: str, encoding: str = "utf-8"):
        self.path = path
        self.text = text
        self.encoding = encoding
        self._ascii = text.isascii()
        # characters that were parsed, and names that were compared, to prove rewrites of this text
        self.examined = 0
        self._asked = 0
        self._refusal: str | None = None
        self._standing: dict[tuple[str, ...], bool] = {}
        self._assigned: dict[str, list[ast.Attribute]] = {}
        self._used: dict[str, list[int]] = {}
        self._convention_rows: dict[Callable[[str], bool], list[int]] = {}
        self._naming = Naming()

    @property
    def refusal(self) -> str:
        """Why Python never runs the file, though its text can be parsed, as in `f(x, a=1, a=2)`; ""
        where it may, or where the text is too long to ask. A cell of a notebook stands for itself.
        """
        if self._refusal is None:
            alone = self.path.endswith(".ipynb") or len(self.text) > MOST_COMPILED
            self._refusal = "" if alone else _refusal(self.path, self.tree)
        return self._refusal

    @classmethod
    def from_bytes(cls, path: str, data: bytes) -> Source:
        text, encoding = decode(data)
        return cls(path, text, encoding)

    def __getstate__(self) -> dict[str, Any]:
        # large, and soon made anew
        kept = {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("tree", "_names", "_calls")
        }
        return kept | {"_assigned": {}, "_convention_rows": {}, "_naming": Naming()}

    @cached_property
    def tree(self) -> ast.Module:
        refuse_slow_fields(self.text)
        refuse_many_pieces(self.text)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(self.text, type_comments=False)
        except SyntaxError as error:
            hint = " (is this Python 2?)" if "print" in (error.msg or "") else ""
            raise Unreadable(
                f"syntax error: {error.msg}{hint}", error.lineno or 1, error.offset or 1
            ) from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise Unreadable(f"cannot be parsed: {str(error) or type(error).__name__}") from None
        if _LONG_NUMBER.search(self.text) is not None:
            _refuse_long_numbers(tree)
        return tree

    def verify(self) -> None:
        """Raise `Unreadable` where `tree` does. What needs no tree is spared a quarter of the time:
        no nodes are made.
        """
        if "tree" in self.__dict__:
            return
        refuse_slow_fields(self.text)
        if _LONG_NUMBER.search(self.text) is not None:
            self.tree
        import symtable

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                symtable.symtable(self.text, self.path, "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            # it says what is wrong, and takes more than this does: names that are declared too late
            self.tree

    @property
    def blocks(self) -> list[list[ast.stmt]]:
        """The top-level statements that run one after the other until one of them ends it: all, or
        those of each cell.
        """
        return [self.tree.body]

    @cached_property
    def displayed(self) -> frozenset[ast.expr]:
        """The expressions whose value is shown where they are run: the last statement of each cell
        of a notebook, and of each part of a script that `# %%` divides.
        """
        ends = [block[-1] for block in self._cells() if block]
        return frozenset([stmt.value for stmt in ends if isinstance(stmt, ast.Expr)])

    def _cells(self) -> list[list[ast.stmt]]:
        """The top-level statements that are run together, where people run parts of the file."""
        rows = [self.position(mark.start())[0] for mark in _CELL.finditer(self.text)]
        cells: list[list[ast.stmt]] = [[] for _ in range(len(rows) + 1)]
        for stmt in self.tree.body if rows else ():
            cells[bisect.bisect_left(rows, stmt.lineno)].append(stmt)
        return cells

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset of the first code point of every line; lines end at LF, CRLF or CR only, as for
        Python.
        """
        ends = _LINE_END if "\r" in self.text else _LINE_FEED
        return [0, *map(re.Match.end, ends.finditer(self.text))]

    @cached_property
    def scoping(self) -> tuple[list[int], list[int], list[int]]:
        """The rows of the text with `:=` or `.pop(`, with `nonlocal` and with `global`, ascending:
        every module made of it asks.
        """
        # most files are spared the table of lines, too
        walruses = self._rows_of_text(_WALRUS) if ":=" in self.text else []
        inside = sorted({*walruses, *self.rows_with(".pop(")})
        return (
            inside,
            self.rows_with("nonlocal"),
            self._rows_of_text(_GLOBAL) if "global " in self.text else [],
        )

    @cached_property
    def setters(self) -> frozenset[str]:
        """The names of properties that can be assigned."""
        statements = statements_in(self.tree) if ".setter" in self.text else []
        return frozenset(
            decorator.value.id
            for statement in statements
            for decorator in getattr(statement, "decorator_list", ())
            if isinstance(decorator, ast.Attribute)
            and decorator.attr == "setter"
            and isinstance(decorator.value, ast.Name)
        )

    @cached_property
    def code(self) -> str:
        """The text with blanks in the place of comments and strings, offset for offset: what is
        decided by text alone is decided by this.
        """
        return rows.without_prose(self.text)

    def codes(self, piece: str) -> bool:
        """Whether a piece of text stands in the code: nothing is blanked to deny it."""
        return piece in self.text and piece in self.code

    @cached_property
    def stated(self) -> str:
        """The text with blanks in the place of comments, docstrings and other strings that are
        statements.
        """
        return rows.without_prose(self.text, strings=False)

    @cached_property
    def longest_line_of_code(self) -> int:
        """The length of the longest line in which no string stands, comments left aside."""
        lines = zip(self.text.splitlines(), self.code.splitlines())
        return max(
            (len(code.rstrip()) for text, code in lines if not {'"', "'"} & set(text)), default=0
        )

    @cached_property
    def quote(self) -> str:
        """The quotes in which most strings stand, besides those that are statements."""
        nodes = nodes_in(self.tree)
        prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        single = 0
        for node in nodes:
            if isinstance(node, (ast.Constant, ast.JoinedStr)) and id(node) not in prose:
                written = self.text[self.span(node).start :][:3].lstrip("rRbBuUfF")[:1]
                single += (written == "'") - (written == '"')
        return "'" if single > 0 else '"'

    @cached_property
    def names(self) -> frozenset[str]:
        """All names in the tree: of variables, attributes, keywords, imports and definitions."""
        return names_in(self.tree)

    @property
    def written(self) -> str:
        """The text as its author wrote it, offset for offset; in a notebook `text` has something
        else for its magics.
        """
        return self.text

    def holds(self, pieces: tuple[str, ...]) -> bool:
        """Whether one of some pieces of text stands here: rules and the search for their rows ask
        for the same few, and the text is searched once.
        """
        known = self._standing.get(pieces)
        if known is None:
            known = self._standing[pieces] = any(map(self._finds, rows.finders(pieces)))
        return known

    def _finds(self, finder: rows.Finder) -> bool:
        """Whether one of the pieces of a finder, which other pieces may have too, stands here."""
        known = self._standing.get(finder.pieces)
        if known is None:
            known = self._standing[finder.pieces] = finder.finds(self.text)
        return known

    def rows(self, pattern: re.Pattern[str]) -> list[int]:
        """1-based rows in whose code `pattern` is found, ascending."""
        return rows.matching(self.code, self.line_starts, pattern)

    def rows_where(
        self, holds: Callable[[str], bool], within: range = range(1, sys.maxsize)
    ) -> list[int]:
        """1-based rows of whose code a convention holds, ascending, within some; of the text it
        holds, too, then. Searched once: each of many findings may ask for those of its function.
        """
        rows = self._convention_rows.get(holds)
        if rows is None:
            possible = self._rows_holding(holds, range(1, len(self.line_starts) + 1))
            rows = [row for row in possible if holds(self.code_on(row))]
            self._convention_rows[holds] = rows
        return rows[bisect.bisect_left(rows, within.start) : bisect.bisect_left(rows, within.stop)]

    def _rows_holding(self, holds: Callable[[str], bool], rows: range) -> list[int]:
        """Those of some rows of whose text a convention holds, ascending. It holds of many lines
        where it holds of one: of few in most files, and halves are left aside.
        """
        end = self.line_starts[rows.stop - 1] if rows.stop <= len(self.line_starts) else None
        if not holds(self.text[self.line_starts[rows.start - 1] : end]):
            return []
        if len(rows) == 1:
            return [rows.start]
        half = len(rows) // 2
        return self._rows_holding(holds, rows[:half]) + self._rows_holding(holds, rows[half:])

    def _rows_of_text(self, pattern: re.Pattern[str]) -> list[int]:
        return rows.matching(self.text, self.line_starts, pattern)

    def rows_with(self, words: str) -> list[int]:
        """1-based rows that hold a piece of text, ascending."""
        place = self.text.find(words)
        return rows.holding(self.text, self.line_starts, words, place) if place >= 0 else []

    def occurrences(self, name: str, whole: Any = None) -> list[Occurrence]:
        """Where a name occurs in the tree, or in one definition of it (`whole`)."""
        body = self.tree.body if whole is None else [whole]
        return self._naming.occurrences(body, self.rows_naming(name), name)

    def assigns_outside(self, attribute: str) -> bool:
        """Whether the file assigns an attribute of something that is not `self`
        (`scale.eps = 0.0`).
        """
        return bool(self.assigned_outside(attribute))

    def owners_assigned(self, attribute: str) -> list[tuple[str, int]]:
        """Of what the file assigns an attribute, as it is named there, and in which row."""
        owners = [(path_of(node.value), node.lineno) for node in self.assigned_outside(attribute)]
        return [(owner, row) for owner, row in owners if owner is not None]

    def assigned_outside(self, attribute: str) -> list[ast.Attribute]:
        """The attributes of that name that are assigned, but for those of `self`: searched once,
        for all classes that have one of that name.
        """
        assigned = self._assigned.get(attribute)
        if assigned is None:
            assigned = self._assigned[attribute] = [
                place.node
                for place in self._naming.occurrences(
                    self.tree.body, self._rows_outside(attribute), attribute
                )
                if isinstance(place.node, ast.Attribute)
                and isinstance(place.node.ctx, ast.Store)
                and not (isinstance(place.node.value, ast.Name) and place.node.value.id == "self")
            ]
        return assigned

    def _rows_outside(self, attribute: str) -> list[int]:
        """The rows in which the text names an attribute, but for those of `self`."""
        dots: list[int] = []
        sought = f".{attribute}"
        dot = self.text.find(sought)
        while dot >= 0:
            if not self._of_self(dot):
                dots.append(dot + 1)
            dot = self.text.find(sought, dot + len(sought))
        return rows.rows_of(self.line_starts, dots)

    def _of_self(self, dot: int) -> bool:
        start = dot - len("self")
        return (
            start >= 0
            and self.text.startswith("self", start)
            and not (start and _in_name(self.text[start - 1]))
        )

    def rows_naming(self, name: str) -> list[int]:
        """1-based rows in which a name stands, ascending; maybe some with a name that it is part
        of.
        """
        self._asked += 1
        return self.rows_with(name) if self._asked < _MANY else self._names.get(name, [])

    def rows_using(self, name: str) -> list[int]:
        """1-based rows in which a name may be used as a value, ascending, as the text tells: not
        where it is only called or given a value, or is a part of a longer one. Searched once: each
        of many classes may have a method of that name.
        """
        used_rows = self._used.get(name)
        if used_rows is None:
            used_rows = self._used[name] = [
                row for row in self.rows_naming(name) if self._uses(name, row)
            ]
        return used_rows

    def _uses(self, name: str, row: int) -> bool:
        text, starts = self.text, self.line_starts
        end = starts[row] if row < len(starts) else len(text)
        place = text.find(name, starts[row - 1], end)
        while place >= 0:
            behind = place + len(name)
            if _NOT_USED.match(text, behind) is None and not (place and _in_name(text[place - 1])):
                return True
            place = text.find(name, behind, end)
        return False

    def places_of(self, name: str) -> Iterator[int]:
        """The offsets at which a name stands by itself: not inside of a longer one."""
        text = self.text
        place = text.find(name)
        while place >= 0:
            end = place + len(name)
            if not (place and _in_name(text[place - 1])) and not (
                end < len(text) and _in_name(text[end])
            ):
                yield place
            place = text.find(name, end)

    def rows_calling(self, names: Iterable[str]) -> list[int]:
        """1-based rows in which one of some names stands before a parenthesis, ascending."""
        return sorted(
            {
                row
                for name in names
                for row in rows.rows_of(self.line_starts, self._calls.get(name[::-1], [])[::-1])
            }
        )

    @cached_property
    def _names(self) -> dict[str, list[int]]:
        """The rows of every name: to search the text for each of the thousands of functions in a
        long file would take time that grows with the square of its length.
        """
        rows_by_name: dict[str, list[int]] = {}
        for row, start in enumerate(self.line_starts, 1):
            end = self.line_starts[row] if row < len(self.line_starts) else len(self.text)
            for name in set(_NAME.findall(self.text, start, end)):
                rows_by_name.setdefault(name, []).append(row)
        return rows_by_name

    @cached_property
    def _calls(self) -> dict[str, list[int]]:
        """The places of every name that stands before a parenthesis,
        as `rows.called` gives them.
        """
        return rows.called(self.text)

    def line_text(self, row: int) -> str:
        """What is written on 1-based line `row`, without its line end."""
        start = self.line_starts[row - 1]
        end = self.line_starts[row] if row < len(self.line_starts) else len(self.text)
        return self.written[start:end].rstrip("\r\n")

    def code_on(self, row: int) -> str:
        """The code on 1-based line `row`."""
        end = self.line_starts[row] if row < len(self.line_starts) else len(self.code)
        return self.code[self.line_starts[row - 1] : end]

    def offset(self, row: int, byte_column: int) -> int:
        """Offset of an `ast` position: 1-based row, 0-based column in UTF-8 bytes."""
        start = self.line_starts[row - 1]
        if self._ascii:
            return start + byte_column
        end = self.line_starts[row] if row < len(self.line_starts) else len(self.text)
        line = self.text[start:end]
        if line.isascii():
            return start + byte_column
        return start + len(
            line.encode("utf-8", "surrogatepass")[:byte_column].decode("utf-8", "replace")
        )

    def span(self, node: ast.AST) -> Span:
        """Where an expression or statement stands, without the parentheses around it."""
        if self._ascii:
            starts = self.line_starts
            return Span(
                starts[node.lineno - 1] + node.col_offset,
                starts[node.end_lineno - 1] + node.end_col_offset,
            )
        return Span(
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno, node.end_col_offset),
        )

    def slice(self, span: Span) -> str:
        return self.text[span.start : span.end]

    def segment(self, node: ast.AST) -> str:
        """The source text of a node."""
        return self.slice(self.span(node))

    def position(self, offset: int) -> tuple[int, int]:
        """1-based (row, column) of an offset, the column in code points."""
        row = bisect.bisect_right(self.line_starts, offset)
        return row, offset - self.line_starts[row - 1] + 1

    def location(self, offset: int) -> Location:
        """Where a person finds an offset. Reports show this; `position` counts rows of the text as
        a whole.
        """
        return Location(*self.position(offset))

    def file_position(self, offset: int) -> tuple[int, int]:
        """1-based (row, column) of an offset in the file on disk, for tools that cannot look into a
        notebook.
        """
        return self.position(offset)

    @property
    def file(self) -> Source:
        """What `file_position` counts in: the text of the file on disk, which in a notebook is
        JSON.
        """
        return self

    def first_row(self, row: int) -> int:
        """The first row of the part of the text in which a row stands: of the whole text, or of a
        notebook's cell.
        """
        return 1

    def edited(self, text: str, edits: Iterable[Edit]) -> Source:
        """The same file with `text`, which is what `edits` make of this one's.
        Raises `Uneditable`.
        """
        return Source(self.path, text, self.encoding)
