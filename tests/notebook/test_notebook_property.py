"""Notebooks that a seeded generator writes, in every layout that JSON allows: read, edited at
random, and compared byte for byte.
"""

from __future__ import annotations

import ast
import json
import random

import pytest

from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Edit
from tfnanlint.notebook.cells import Cell, CellSource
from tfnanlint.notebook.document import Notebook
from tfnanlint.syntax.source import Source, Span, Uneditable

LINES = [
    "x = 1",
    "y = x + 2  # é",
    "s = 'ü\"\\\\'",
    "def f(a):\n    return a",
    "if x:\n\ty = '😀'",
    "%time z = f(1)",
    "!ls -l",
    "w = !pwd",
    "%matplotlib inline",
    "f?",
    "t = '''\n%no\n'''",
    "print 'x'",
    "(",
    "  v = 3",
    "u = '\u2028\x0c'",
    "q = '\ud800'",
    "",
    "# a",
    "await x",
    "%%time",
    "%%bash\necho",
    "b = 'tab\\t/'",
    "c = (1 +\n  2)",
    "\x7f",
    "@f",
]
NEW = ["0", "'é'", "'\"\\\\'", "(\n7)", "f'''\n\n'''", "x", "'\t'", "'😀'"]


class Writer:
    """Writes a notebook as JSON with random blanks, escapes and key order, and remembers what each
    cell says.
    """

    def __init__(self, seed: int):
        self.draw = random.Random(seed)
        self.end = self.draw.choice(["\n", "\n", "\r\n"])
        self.raw = self.draw.random()  # how often a character stands for itself
        self.cells: list[str] = []

    def blank(self) -> str:
        return "".join(
            self.draw.choice([" ", self.end, "\t"])
            for _ in range(self.draw.choice([0, 0, 0, 1, 1, 3]))
        )

    def string(self, text: str) -> str:
        return '"' + "".join(map(self.character, text)) + '"'

    def character(self, one: str) -> str:
        plain = json.dumps(one)[1:-1]
        if one == "/" and self.draw.random() < 0.2:
            return "\\/"
        if len(plain) > 1 and not plain.startswith("\\u"):
            return plain if self.draw.random() < 0.9 else f"\\u{ord(one):04x}"
        if one < " " or "\ud800" <= one <= "\udfff":
            return plain
        if one > "~":
            return one if self.draw.random() < self.raw else plain
        return one if self.draw.random() < 0.98 else f"\\u{ord(one):04X}"

    def value(self, value: object) -> str:
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, list):
            return self.joined("[", [self.value(one) for one in value], "]")
        if isinstance(value, dict):
            items = list(value.items())
            self.draw.shuffle(items)
            pairs = [
                f"{self.string(key)}{self.blank()}:{self.blank()}{self.value(one)}"
                for key, one in items
            ]
            return self.joined("{", pairs, "}")
        return str(value)

    def joined(self, opening: str, parts: list[str], closing: str) -> str:
        return (
            opening
            + self.blank()
            + (self.blank() + "," + self.blank()).join(parts)
            + self.blank()
            + closing
        )

    def notebook(self) -> str:
        cells = [self.cell() for _ in range(self.draw.randint(0, 6))]
        more = {"nbformat": 4, "nbformat_minor": self.draw.randint(0, 5), "metadata": self.odd()}
        text = self.value({**more, "cells": cells})
        if self.draw.random() < 0.1:  # a duplicate: the last one counts
            text = '{"cells": [3, {"a": "]"}],' + text[1:]
        return (
            self.draw.choice(["", "", "\ufeff"])
            + self.blank()
            + text
            + self.draw.choice(["", self.end, self.end * 2])
        )

    def odd(self) -> object:
        leaves = ["1e5", "-0.10", "NaN", "9" * 30, "null", '"}{]["', "[]", "{}"]
        return Verbatim(
            {self.string(self.draw.choice("abc")): self.draw.choice(leaves) for _ in range(3)}
        )

    def cell(self) -> dict:
        if self.draw.random() < 0.2:
            return {
                "cell_type": self.draw.choice(["markdown", "raw"]),
                "source": ["code"],
                "metadata": self.odd(),
            }
        text = self.draw.choice(["\n", "\n", "\n", "\r\n", "\r"]).join(
            self.draw.choice(LINES) for _ in range(self.draw.randint(0, 5))
        )
        text += self.draw.choice(["", "", "\n"])
        self.cells.append(text)
        return {
            "cell_type": "code",
            "source": self.pieces(text),
            "outputs": [self.odd()],
            "metadata": {},
            "execution_count": Verbatim("7"),
        }

    def pieces(self, text: str) -> str | list[str]:
        kind = self.draw.random()
        if kind < 0.3:
            return text
        if kind < 0.8:
            return [line for line in text.replace("\n", "\n\0").split("\0") if line]
        cuts = sorted(self.draw.randint(0, len(text)) for _ in range(self.draw.randint(0, 4)))
        return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)])]


class Verbatim:
    """JSON text that is written as it is."""

    def __init__(self, text: str | dict):
        self.text = (
            text
            if isinstance(text, str)
            else "{" + ", ".join(f"{k}:{v}" for k, v in text.items()) + "}"
        )

    def __str__(self) -> str:
        return self.text


SEEDS = pytest.mark.parametrize("part", range(10))


def written(part: int):
    for seed in range(part * 60, part * 60 + 60):
        writer = Writer(seed)
        text = writer.notebook()
        yield writer, text, Notebook("a.ipynb", text.encode())


@SEEDS
def test_cells_are_read_and_stand_where_they_should(part):
    for writer, text, notebook in written(part):
        assert [one.text for one in notebook.cells] == [joined(one) for one in writer.cells]
        module = notebook.source
        module.tree  # whatever the cells say, the module parses
        for one in notebook.cells:
            start = module.offset_in(one.number, 0)
            assert module.written[start : start + len(one.text)] == one.text
            shown = Source("", one.text)
            for offset in range(0, len(one.text), 3):
                assert module.location(start + offset)[:2] == shown.position(offset)
                assert module.at(start + offset) == (one, offset)
        assert notebook.edited(module) == text.encode()


def joined(text: str) -> str:
    """The text of a cell as it is read back: two escapes that make one character together are that
    character.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@SEEDS
def test_edits_change_nothing_else(part):
    """Expressions are replaced at random: the JSON says the same but for them, and undoing the
    edits gives the old bytes.
    """
    made = 0
    for writer, text, notebook in written(part):
        module = notebook.source
        edits = [
            Edit(span, writer.draw.choice(NEW))
            for span in expressions(module)
            if writer.draw.random() < 0.6
        ]
        try:
            changed = module.edited(replaced(module, edits), edits)
        except Uneditable:
            continue
        made += len(edits)
        data = notebook.edited(changed)
        assert said(data) == said(text.encode())
        again = Notebook("a.ipynb", data)
        assert [one.text for one in again.cells] == [one.text for one in changed.cells]
        assert again.source.text == changed.text
    assert made > 20


def expressions(module: CellSource) -> list[Span]:
    """Constants on one line, which do not overlap."""
    nodes = [
        node
        for stmt in module.tree.body
        for node in ast.walk(stmt)
        if isinstance(node, ast.Constant)
    ]
    spans = sorted({module.span(node) for node in nodes if node.lineno == node.end_lineno})
    return [span for span in spans if "0" != module.slice(span)]


def replaced(module: CellSource, edits: list[Edit]) -> str:
    text = module.text
    for edit in reversed(edits):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def said(data: bytes) -> object:
    """What a notebook says except in the source of its code cells."""
    document = json.loads(
        data.decode("utf-8-sig"), parse_float=str, parse_int=str, parse_constant=str
    )
    for one in document["cells"]:
        if isinstance(one, dict) and one.get("cell_type") == "code":
            del one["source"]
    return document


@SEEDS
def test_what_is_added_can_be_taken_away(part):
    """A mark behind statements, and the mark taken out of the bytes again: not a byte differs."""
    mark = "  # mark-4711"
    marked = 0
    for writer, text, notebook in written(part):
        module = notebook.source
        ends = {module.span(stmt).end for stmt in module.tree.body if type(stmt) is ast.Assign}
        edits = [
            Edit(Span(end, end), mark)
            for end in sorted(ends)
            if module.text[end : end + 1] in "\r\n"
        ]
        edits = [edit for edit in edits if accepted(module, edit)]
        data = notebook.edited(module.edited(replaced(module, edits), edits))
        assert data.count(mark.encode()) == len(edits)
        assert data.replace(mark.encode(), b"") == text.encode()
        marked += len(edits)
    assert marked > 30


def accepted(module: CellSource, edit: Edit) -> bool:
    try:
        module.edited(replaced(module, [edit]), [edit])
    except Uneditable:
        return False
    return True


# ---------------------------------------------------------------------------------------------------------
# With the rules: what is found and fixed in a file is found and fixed in the notebook that it is cut into

PROGRAMS = sorted(
    path
    for path in (repository.ROOT / "fixtures").glob("*/*.py")
    if path.parent.name in ("rules", "programs") and not path.stem.endswith(".fixed")
)


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_cut_into_cells_says_the_same(path):
    whole = Source("a.py", path.read_text())
    module = cut(whole, random.Random(path.stem))
    above = {
        one.number: sum(other.text.count("\n") + 1 for other in module.cells[: one.number - 1])
        for one in module.cells
    }
    found = [
        (one.code, *place(module, one.span.start, above)) for one in repository.findings(module)
    ]
    assert found == [
        (one.code, *whole.position(one.span.start)) for one in repository.findings(whole)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS[::6], ids=lambda path: path.stem)
def test_a_program_cut_into_cells_is_fixed_the_same(path):
    whole = Source("a.py", path.read_text())
    fixed = repository.fixed(cut(whole, random.Random(path.stem))).source
    assert "\n".join(one.text for one in fixed.cells) == repository.fixed(whole).source.text


def test_an_import_goes_into_the_cell_of_the_imports():
    cells = [
        "%matplotlib inline\nfrom tensorflow.math import log",
        "%%time\nfrom tensorflow.nn import softmax",
        "y = log(softmax(z))",
    ]
    fixed = repository.fixed(
        CellSource("a.ipynb", [Cell(number, one) for number, one in enumerate(cells, 1)])
    ).source
    assert [one.text for one in fixed.cells] == [
        cells[0] + "\nimport tensorflow as tf",
        cells[1],
        "y = tf.nn.log_softmax(z)",
    ]


@pytest.mark.parametrize(
    "end",
    [
        "raise SystemExit",
        "while True:\n    pass",
        "if x:\n    raise ValueError\nelse:\n    raise KeyError",
    ],
)
def test_what_stops_one_cell_does_not_stop_the_next(end):
    cells = [
        "import tensorflow as tf\np = tf.nn.softmax(z)",
        end + "\na = tf.math.log(p)",
        "b = tf.math.log(p)",
    ]
    module = CellSource("a.ipynb", [Cell(number, one) for number, one in enumerate(cells, 1)])
    assert [
        (one.code, module.location(one.span.start).cell) for one in repository.findings(module)
    ] == [("TFN301", 3)]


def cut(source: Source, draw: random.Random) -> CellSource:
    """A file as cells, cut at random before statements that begin a line."""
    starts = [
        min([stmt.lineno, *(one.lineno for one in getattr(stmt, "decorator_list", ()))])
        for stmt in source.tree.body
    ]
    rows = sorted({row for row in starts[1:] if draw.random() < 0.5 and row > 1})
    lines = source.text.split("\n")
    cuts = [0, *(row - 1 for row in rows), len(lines)]
    return CellSource(
        "a.ipynb",
        [
            Cell(number, "\n".join(lines[a:b]))
            for number, (a, b) in enumerate(zip(cuts, cuts[1:]), 1)
        ],
    )


def place(module: CellSource, offset: int, above: dict[int, int]) -> tuple[int, int]:
    """Where a place of the notebook is in the file that it was cut from."""
    here = module.location(offset)
    return here.row + above[here.cell], here.column
