"""Edits: applying them, carrying spans across them, and the hole test."""

from __future__ import annotations

import ast
import random

import pytest

from tfnanlint.diagnostics.findings import Edit
from tfnanlint.rewrite.hole_test import only_edits_changed, same_tree
from tfnanlint.syntax.edits import Shift, composed, edits_apply, line_regions
from tfnanlint.syntax.enclosing import enclosing
from tfnanlint.syntax.source import Source, Span


def edit(start: int, end: int, text: str) -> Edit:
    return Edit(Span(start, end), text)


def test_edits_apply():
    assert (
        edits_apply(
            "abcdef",
            [edit(4, 5, "X"), edit(0, 1, ""), edit(4, 4, "+"), edit(5, 5, "-"), edit(0, 0, "_")],
        )
        == "_bcd+X-f"
    )
    assert edits_apply("ab", [edit(1, 1, "x"), edit(1, 1, "x"), edit(1, 1, "y")]) == "axyb"
    for wrong in (
        [edit(0, 2, ""), edit(1, 3, "")],
        [edit(1, 1, "x"), edit(0, 2, "")],
        [edit(2, 1, "")],
        [edit(6, 7, "")],
    ):
        with pytest.raises(ValueError):
            edits_apply("abcdef", wrong)


def test_shift_carries_spans():
    shift = Shift([edit(2, 2, "__"), edit(4, 6, "X"), edit(8, 8, "!")])  # ab__cdXgh!ij
    assert shift.regions == [Span(2, 4), Span(6, 7), Span(9, 10)]
    for old, new in (
        ((0, 2), (0, 2)),
        ((2, 4), (4, 6)),
        ((4, 6), (6, 7)),
        ((2, 8), (4, 9)),
        ((6, 8), (7, 9)),
        ((8, 10), (10, 12)),
        ((0, 10), (0, 12)),
    ):
        assert shift.span(Span(*old)) == Span(*new)
    assert [
        shift.touching(Span(*old)) for old in ((0, 2), (2, 4), (1, 3), (3, 5), (5, 9), (6, 8))
    ] == [[], [], [0], [1], [1, 2], []]


def test_two_sets_of_edits_as_one():
    """Of a text and of what the first makes of it; nothing that neither touches is among them."""
    assert composed("f(a, b)", [edit(2, 3, "g(a)")], [edit(2, 2, "h("), edit(6, 6, ")")]) == [
        edit(2, 3, "h(g(a))")
    ]
    assert composed("f(a, b)", [edit(2, 3, "aa")], [edit(6, 7, "c")]) == [
        edit(2, 3, "aa"),
        edit(5, 6, "c"),
    ]
    for seed in range(3000):
        draw = random.Random(seed)
        text = "abcdefghij"[: draw.randint(2, 10)]
        first = drawn(draw, text)
        between = edits_apply(text, first)
        second = drawn(draw, between)
        assert edits_apply(text, composed(text, first, second)) == edits_apply(between, second), (
            seed
        )


def drawn(draw: random.Random, text: str) -> list[Edit]:
    """A few edits of a text, insertions and deletions among them."""
    places = sorted(
        draw.sample(range(len(text) + 1), min((len(text) + 1) // 2 * 2, 2 * draw.randint(1, 3)))
    )
    return [
        edit(a, draw.choice((a, b, b, b)), "".join(draw.choices("XYZ", k=draw.randint(0, 4))))
        for a, b in zip(places[::2], places[1::2])
    ]


@pytest.mark.parametrize(
    ("text", "edits", "holds"),
    [
        ("y = c ** f(a)\n", [(9, 13, "a / b")], False),
        ("y = c ** f(a)\n", [(9, 13, "(a / b)")], True),
        ("y = f(a)\n", [(4, 8, "b; c")], False),
        ("y = f(a) + 1\n", [(4, 8, "b # c")], False),
        ("y = f(a)\n", [(4, 8, "b")], True),
        ("y = f(a)\n", [(4, 8, "b\nz = 1")], False),
        ("f(a)\n", [(0, 4, "b\nc")], True),  # a statement is replaced by two
        ("y = f(a)\nz = 1\n", [(9, 9, "n = 2\n")], True),
        ("y = f(a)\nz = 1\n", [(8, 8, ", 2")], False),
        ("y = f(a)\nz = 1\n", [(7, 7, ", 2")], True),  # inside the call
        ("y = f(a)  # c\n", [(8, 13, "")], True),
        ("y = f(a)  # c\n", [(8, 13, " + 1")], False),
        ("y = f(a)\n", [(0, 1, "z")], True),  # a target is an expression
        ("def g():\n  pass\n", [(4, 5, "h")], False),
        ("if a:\n  b\nc\n", [(6, 10, "  d\n  ")], False),
        ("x = y = f(a)\n", [(4, 12, "g(y = 1)")], False),
        ("g(a, b)\n", [(2, 3, "b"), (5, 6, "a")], True),
        ("c / (a + b)\n", [(4, 11, "f(a)")], True),
        ("f(a + b)\n", [(1, 8, "f(a)")], False),
        ("g(f(a + b))\n", [(3, 10, "f(a)")], False),
        ("(a)(b)\n", [(0, 6, "c")], True),
        ("x = (a)(b) ** 2\n", [(4, 10, "c * d")], False),
    ],
)
def test_hole_test(text, edits, holds):
    edits = [edit(*one) for one in edits]
    old, new = Source("x.py", text), Source("x.py", edits_apply(text, edits))
    assert only_edits_changed(old.tree.body, old, new.tree.body, new.span, Shift(edits)) is holds


def test_same_tree_on_deep_trees():
    deep = "-" * 600 + "a"
    one, other = ast.parse(deep), ast.parse(deep)
    assert same_tree(one, other)
    assert not same_tree(one, ast.parse(deep.replace("a", "b")))
    assert not same_tree(ast.parse("1"), ast.parse("1.0")) and not same_tree(
        ast.parse("1"), ast.parse("True")
    )


def test_enclosing_finds_every_expression():
    """By position alone, the path to each node leads through the node itself."""
    text = (
        "import a\n\n@b(c)\n@d\nclass E(f, g=h):\n    '''Doc.'''\n    def i(j, k: l = m, *n: o, p=q, **r) -> s:\n"
        "        try:\n            t; u = {v: w, **x, ab: {ac: ad, **ae}, af: ag}\n        except y as z: aa.bb[cc:dd, ee]\n        else: pass\n"
        "        finally:\n            with ff as gg, hh: [ii for jj in kk if ll for mm in nn]\n"
        "        match oo:\n            case {'pp': 1} if qq: rr\n            case tt.uu: vv\n"
        "        return lambda ww=xx: (yy, zz)[0] < 1 < 2 and not 3\n"
    )
    source = Source("x.py", text)
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, (ast.stmt, ast.expr))]
    for node in nodes:
        path = enclosing(source.tree.body, source.span(node), source.span)
        assert any(found is node for found in path), ast.dump(node)
    assert len(nodes) > 60


LONG = {
    "block": "if a:\n" + "    x\n" * 500 + "else:\n    last\n",
    "cases": "match a:\n    case 2: last\n" + "    case 1: x\n" * 500,
    "list": "[" + "x, " * 500 + "last]\n",
    "call": "f(" + "x, " * 500 + "last)\n",
}


@pytest.mark.parametrize("name", LONG)
def test_enclosing_looks_at_few_of_many(name):
    source = Source("x.py", LONG[name])
    asked = []

    def span_of(node):
        asked.append(node)
        return source.span(node)

    place = Span(source.text.rindex("last"), source.text.rindex("last") + 4)
    assert ast.unparse(enclosing(source.tree.body, place, span_of)[-1]) == "last"
    assert len(asked) < 25  # a search in halves takes 9 of 500


def test_the_lines_that_edits_change():
    text = "ab\ncd\nef\ngh"
    edits = [Edit(Span(10, 11), "G"), Edit(Span(1, 1), "x\n"), Edit(Span(4, 6), "")]
    assert line_regions(text, edits) == [
        (Span(0, 2), [Edit(Span(1, 1), "x\n")]),
        (Span(3, 8), [Edit(Span(1, 3), "")]),
        (Span(9, 11), [Edit(Span(1, 2), "G")]),
    ]
    draw = random.Random(0)
    for _ in range(300):
        text = "".join(draw.choices("ab\n", k=30))
        places = sorted(draw.sample(range(31), 6))
        edits = [Edit(Span(*places[at : at + 2]), "x\ny") for at in (0, 2, 4)]
        before, after = [], []
        for span, inner in line_regions(text, edits):
            before += [text[span.start : span.end]]
            after += [edits_apply(before[-1], inner)]
        assert all(part in text for part in before)
        assert all(part in edits_apply(text, edits) for part in after)
        grown = edits_apply(text, edits).count("\n") - text.count("\n")
        assert "".join(after).count("\n") - "".join(before).count("\n") == grown
