"""Names: whose they are, which a fix may bind, and that two fixes never give one name to two
values.
"""

from __future__ import annotations

import ast

import pytest

from tfnanlint.diagnostics.findings import Bound, Edit
from tfnanlint.rewrite.bindings import Ownership, bindings, clash, misnamed
from tfnanlint.rewrite.hole_test import NoFix
from tfnanlint.syntax.edits import Shift, edits_apply
from tfnanlint.syntax.source import Source, Span


def owners(text: str, name: str) -> list[str | None]:
    """The scope that each use of a name belongs to, in the order of the text."""
    uses = sorted(Ownership(Source("x.py", text)).named(name), key=lambda use: use.start)
    return [None if use.owner is None else use.owner.qualified or "module" for use in uses]


@pytest.mark.parametrize(
    "text, found",
    [
        ("a = 1\ndef f():\n    return a\n", ["module", "module"]),
        ("a = 1\ndef f():\n    a = 2\n    return a\n", ["module", ".f", ".f"]),
        ("def f():\n    global a\n    a = 1\ndef g():\n    return a\n", ["module", "module"]),
        (
            "def f():\n    a = 1\n    def g():\n        nonlocal a\n        a = 2\n    return g\n",
            [".f", ".f"],
        ),
        (
            "class A:\n    a = 1\n    b = a\n    def f(self):\n        return a\n",
            [".A", ".A", None],
        ),
        ("def f(xs, a=a):\n    return [a for a in a]\n", [".f", None, ".f", ".f", ".f"]),
        ("def f():\n    return lambda a: a\n", [".f", ".f"]),
        ("def f(xs):\n    [a := x for x in xs]\n    return a\n", [".f", ".f"]),
        ("try:\n    pass\nexcept E as a:\n    pass\ndel a\n", ["module", "module"]),
        ("import a.b\nfrom m import a\nimport c as a\n", ["module"] * 3),
        ("match x:\n    case [a, *b]:\n        a\n", ["module", "module"]),
        ("def f(x: a) -> a:\n    pass\n", [None, None]),
        ("@a\nclass A(a):\n    pass\n", [None, None]),
    ],
)
def test_whose_a_name_is(text, found):
    assert owners(text, "a") == found


def test_a_comprehension_has_names_of_its_own():
    scopes = Ownership(Source("x.py", "a = [a for a in a]\n"))
    uses = sorted(scopes.named("a"), key=lambda use: use.start)
    assert [use.owner is scopes.module for use in uses] == [True, False, False, True]


@pytest.mark.parametrize(
    "text, found",
    [
        ("def f(a):\n    return a\ndef g(x):\n    return a\n", {(".g", "a")}),
        ("def f(a):\n    return a\nb = a\n", {("", "a")}),
        (
            "def f(a):\n    return [a for b in a], lambda: a\ndef g(x):\n    return [x for _ in b]\n",
            {(".g", "b")},
        ),
        ("class A:\n    a = 1\n    def f(self):\n        return a\n", {(".A.f", "a")}),
        ("a = 1\ndef f(a):\n    return a\ndef g():\n    return a\n", set()),
        ("def f(a):\n    def g():\n        return a\n    return g\n", set()),
        (
            "def f():\n    global a\n    a = 1\ndef g(x, len):\n    return a, len\ndef h():\n    return a, len\n",
            set(),
        ),
        ("from m import *\ndef f(a):\n    return a\nb = a\n", set()),
    ],
)
def test_names_that_nothing_binds(text, found):
    assert Ownership(Source("x.py", text)).unknown() == found


# What a fix states


def line_before(text: str, statement: str, line: str) -> tuple[Source, Edit]:
    place = text.index(statement)
    start = text.rindex("\n", 0, place) + 1
    indent = text[start:place]
    return Source("x.py", text), Edit(Span(start, start), f"{indent}{line}\n")


FUNCTION = "import m\n\ndef f(x):\n    y = g(x)\n    return y\n"


def span_of(text: str, name: str) -> Span:
    node = next(node for node in ast.walk(ast.parse(text)) if getattr(node, "name", "") == name)
    return Source("x.py", text).span(node)


def test_a_fix_states_what_it_binds_and_where():
    source, edit = line_before(FUNCTION, "y = g", "logits = x")
    assert bindings(source, [edit]) == (Bound("logits", span_of(FUNCTION, "f")),)
    assert bindings(source, [Edit(Span(9, 9), "import numpy as np\n")]) == (
        Bound("np", None, "import numpy as np"),
    )
    again = Edit(Span(FUNCTION.index("y = g"), FUNCTION.index("y = g") + 8), "y = h(x)")
    assert bindings(source, [again]) == (Bound("y", span_of(FUNCTION, "f"), new=False),)
    call = Edit(
        Span(FUNCTION.index("g(x)"), FUNCTION.index("g(x)") + 4), "h(x, axis=[i for i in x])"
    )
    assert bindings(source, [call]) == ()
    walrus = Edit(call.span, "h(z := x)")
    assert bindings(source, [walrus]) == (Bound("z", span_of(FUNCTION, "f")),)


def test_a_name_declared_global_is_the_modules():
    text = "z = 0\ndef f(x):\n    global z\n    g(x)\n"
    edit = Edit(Span(text.index("g(x)"), text.index("g(x)") + 4), "z = g(x)")
    assert bindings(Source("x.py", text), [edit]) == (Bound("z", None, new=False),)


@pytest.mark.parametrize(
    "text, reason",
    [
        ("def f(x):\n    y = g(x)\n    return locals()\n", "locals()"),
        ("def f(x):\n    y = g(x)\n    return eval(text)\n", "locals()"),
        ("def f(x):\n    y = g(x)\n    return lambda: logits\n", "line 3"),
        ("logits = 1\ndef f(x):\n    y = g(x)\n    return lambda: logits\n", "line 4"),
        ("y = g(x)\ndef f(x):\n    return logits\n", "line 3"),
        ("if x:\n    y = g(x)\nfrom m import *\n", "import of *"),
    ],
)
def test_no_new_name_that_something_else_would_see(text, reason):
    _, edit = line_before("\n" + text, "y = g", "logits = x")
    with pytest.raises(
        NoFix, match=reason.replace("(", r"\(").replace(")", r"\)").replace("*", r"\*")
    ):
        bindings(
            Source("x.py", text), [Edit(Span(edit.span.start - 1, edit.span.start - 1), edit.text)]
        )


def test_vars_of_an_object_see_no_names():
    source, edit = line_before(
        "def f(x):\n    y = g(x)\n    return vars(y)\n", "y = g", "logits = x"
    )
    assert [bound.name for bound in bindings(source, [edit])] == ["logits"]


def test_the_same_name_in_overlapping_scopes():
    outer, inner, other = (
        Bound("a", Span(0, 50)),
        Bound("a", Span(10, 20)),
        Bound("a", Span(60, 90)),
    )
    assert clash(outer, inner) and clash(outer, outer) and clash(Bound("a", None), other)
    assert not clash(outer, other) and not clash(outer, Bound("b", Span(0, 50)))
    numpy = Bound("np", None, "import numpy as np")
    assert not clash(numpy, numpy) and clash(numpy, Bound("np", None, "import m as np"))


# What must hold after a step


def misnaming(text: str, edits: list[Edit], stated: list[Bound], earlier: list[Bound] = []) -> str:
    source, shift = Source("x.py", text), Shift(edits)
    return misnamed(source, Source("x.py", edits_apply(text, edits)), shift, stated, earlier)


TWO = "def f(x, z):\n    p = g(x)\n    q = g(z)\n    return h(p, q)\n"
F = span_of(TWO, "f")


def at(text: str, piece: str, new: str) -> Edit:
    return Edit(Span(text.index(piece), text.index(piece) + len(piece)), new)


def test_two_values_never_share_a_new_name():
    first, second = (
        line_before(TWO, "p = g", "logits = x")[1],
        line_before(TWO, "q = g", "logits = z")[1],
    )
    bound = Bound("logits", F)
    assert misnaming(TWO, [first, at(TWO, "p,", "logits,")], [bound]) == ""
    assert "two values would get the name 'logits'" in misnaming(
        TWO, [first, second], [bound, bound]
    )
    assert misnaming(TWO, [first], []) == "it would bind the name 'logits' without saying so"
    named = edits_apply(TWO, [first])
    again = line_before(named, "q = g", "logits = z")[1]
    assert "two values" in misnaming(
        named,
        [again],
        [Bound("logits", span_of(named, "f"), new=False)],
        [Bound("logits", span_of(named, "f"))],
    )
    gone = at(named, "    logits = x\n", "")
    read = at(named, "h(p, q)", "h(logits, q)")
    used = edits_apply(named, [read])
    known = [Bound("logits", span_of(used, "f"))]
    assert (
        misnaming(used, [gone], [], known)
        == "the name 'logits' at line 4 would mean something else"
    )
    assert "nothing would bind the name 'logits'" not in misnaming(
        used, [gone, at(used, "h(logits, q)", "h(p, q)")], [], known
    )


def test_a_new_name_is_read_by_nothing_else():
    text = TWO + "def k():\n    return logits\n"
    line = Edit(Span(0, 0), "logits = 1\n")
    assert "'logits' at line 8 would mean something else" in misnaming(
        "from m import *\n" + text, [line], [Bound("logits", None)]
    )
    assert "'logits' is used at line" in misnaming(text, [line], [Bound("logits", None)])
    nested = "def f(x):\n    def g():\n        return a\n    y = h(x)\n    return g\na = 1\n"
    line = line_before(nested, "y = h", "a = x")[1]
    assert "'a' at line 3 would mean something else" in misnaming(
        nested, [line], [Bound("a", span_of(nested, "f"))]
    )


def test_a_name_of_another_function_is_not_read():
    text = "def f(p):\n    return p\ndef g(x):\n    return h(x)\n"
    assert (
        misnaming(text, [at(text, "h(x)", "h(p)")], [])
        == "nothing is called 'p' where it would be written"
    )
    taken = "def g(x):\n    p = x\n    return h(x)\n"
    edits = [at(taken, "    p = x\n", ""), at(taken, "h(x)", "h(p)")]
    assert misnaming(taken, edits, []) == "nothing is called 'p' where it would be written"
