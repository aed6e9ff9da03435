"""What is left of a file with a syntax error: all but the definition that holds it, where it was."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

import tfnanlint
from tfnanlint.diagnostics.notices import INVALID_SYNTAX
from tfnanlint.syntax import recovery
from tfnanlint.syntax.recovery import PartialSource, recovered
from tfnanlint.syntax.source import Source, Uneditable, Unreadable

ROOT = Path(__file__).parents[2]
TEXTS = [path.read_text("utf-8") for path in sorted((ROOT / "fixtures" / "programs").rglob("*.py"))]
BEFORE = "import tensorflow as tf\n\n\ndef first(x):\n    return x\n\n\n"
BEHIND = "\n\ndef last(x):\n    return x\n"


def rest(text: str) -> PartialSource | None:
    source = Source("a.py", text)
    try:
        source.tree
    except Unreadable as error:
        return recovered(source, error)
    raise AssertionError("no syntax error")


@pytest.mark.parametrize(
    "damaged, cut",
    [
        ("x = tf.\n", "line 8 is"),
        ("x = (1 +\n", "line 8 is"),
        ("x = f(\n    1,\n    2\n", "lines 8 to 10 are"),
        ("if x\n    y = 1\n", "lines 8 to 9 are"),
        ("if x:\n    y = 1\nelse\n    y = 2\n", "lines 8 to 11 are"),
        ("def f(x):\n    return tf.\n", "lines 8 to 9 are"),
        ("def f(x):\n", "line 8 is"),
        ("def f(x)\n    return x\n", "lines 8 to 9 are"),
        ("@tf.function\nasync def f(x):\n    # why\n\n    return (x\n", "lines 8 to 12 are"),
        ("def f(x):\n    def g(y):\n        return y +\n    return g\n", "lines 9 to 10 are"),
        ("class A:\n    y = 1 +\n\n    def f(self):\n        return 1\n", "line 9 is"),
        (
            "class A:\n    def f(self):\n        return [\n\n    def g(self):\n        return 1\n",
            "lines 9 to 10 are",
        ),
        ("def f(x):\n    y = x +\n    return y\n\n\nz = = 1\n", "lines 8 to 10 and 13 are"),
        ("def f(x):\n  if x:\n  return\n", "lines 8 to 10 are"),
        ("x =\\\n", "line 8 is"),
        ('"""\n', "line 8 is"),
    ],
)
def test_the_definition_with_the_error_is_left_out(damaged, cut):
    text = BEFORE + damaged + BEHIND
    left = rest(text)
    assert left is not None
    assert {"first", "last"} <= {getattr(node, "name", "") for node in left.tree.body}
    assert str(left.faults[0]).endswith(f"; {cut} not checked")


@pytest.mark.parametrize(
    "text",
    [
        "x = (\n",
        BEFORE + "".join(f"def f{n}(x):\n    print x\n\n" for n in range(5)),
    ],
)
def test_some_files_are_given_up(text):
    assert rest(text) is None


def test_few_attempts_are_made(monkeypatch):
    attempts = []
    judge = recovery._error
    monkeypatch.setattr(recovery, "_error", lambda lines: attempts.append(lines) or judge(lines))
    lines = "".join("    " * depth + "if x:\n" for depth in range(15))
    assert rest(BEFORE + (lines + "    " * 15 + "x = = 1\n") * 4 + "y y\n" * 90) is None
    assert 1 < len(attempts) <= recovery.MAX_PARSES


def test_what_is_left_out_is_written_still_and_nothing_is_edited():
    text = BEFORE + "x = é.\r\n" + BEHIND
    left = rest(text)
    assert left is not None and left.written == text and left.line_text(8) == "x = é."
    with pytest.raises(Uneditable):
        left.edited("", [])


@pytest.mark.parametrize("number", range(40))
def test_all_else_stays_where_it_is(number):
    """Of random damage: what is left can be parsed, has the positions of the text, and holds each
    definition that is not named as left out.
    """
    dice = random.Random(number)
    text = dice.choice(TEXTS)
    at = dice.randrange(len(text))
    damaged = text[:at] + dice.choice(("(", ")", "= =", ":", "'", "\n  ", "def ")) + text[at:]
    try:
        Source("a.py", damaged).tree
        return
    except Unreadable:
        left = rest(damaged)
    if left is None:
        return
    assert (
        len(left.text) == len(damaged) and left.line_starts == Source("a.py", damaged).line_starts
    )
    rows = [
        row
        for row in range(1, len(left.line_starts) + 1)
        if left.text.split("\n")[row - 1] != damaged.split("\n")[row - 1]
    ]
    kept = {node.name for node in ast.walk(left.tree) if isinstance(node, ast.FunctionDef)}
    lost = [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name not in kept
    ]
    assert rows and all(row in rows or row + 1 in rows for row in lost)


HEAD = "import tensorflow as tf\n\n"
CHOSEN = (
    "if tf.executing_eagerly():\n    lo = 0.0\nelse:\n    lo = max(1e-3, 2\ny = tf.math.log(lo)\n"
)
CONFIGURED = """\
EPS = 0.0


def configure():
    global EPS
    EPS = (1e-3


configure()


def loss(x):
    return tf.reduce_mean(x) / EPS
"""
RAISING = """\
total = tf.reduce_sum(tf.nn.relu(tf.random.normal([3])))
if total == 0:
    raise ValueError("x"
y = tf.math.log(total)
"""
OF_CLASS = """\
class Loss:
    eps = 0.0
    eps = (1e-3

    def __call__(self, x):
        return tf.reduce_mean(x) / self.eps
"""
DEFINED_TWICE = """\
class Loss:
    def scale(self):
        return 0.0

    def scale(self):
        return self.eps +

    def __call__(self, x):
        return tf.reduce_mean(x) / self.scale()
"""
OF_OBJECT = """\
class Loss:
    def __init__(self):
        self.eps = 0.0
        self.set()

    def set(self):
        self.eps = (1e-3

    def __call__(self, x):
        return tf.reduce_mean(x) / self.eps
"""
CHECKING = """\
def positive(x):
    if tf.reduce_any(x <= 0):
        raise ValueError("x"


x = tf.nn.relu(tf.random.normal([3]))
positive(x)
y = tf.math.log(x)
"""
PASSED_ON = """\
lo = 0.0
lo = (1e-3


def low():
    return lo


def logarithm(x):
    return tf.math.log(x)


logarithm(low())
"""
BY_DEFAULT = """\
def ratio(x, eps=0.0):
    return tf.reduce_mean(x) / eps


class Layer:
    def __init__(self, *, eps=0.0):
        self.eps = eps

    def __call__(self, x):
        return tf.reduce_mean(x) / self.eps


def main(x):
    return ratio(Layer(eps=1e-3)(x), 1e-3
"""


def shown(text: str) -> list[tuple[str, int]]:
    checked = tfnanlint.check(text)
    return [
        (one.code, checked.source.position(one.span.start)[0])
        for one in checked.findings
        if one.code != "TFN001"
    ]


@pytest.mark.parametrize(
    "text",
    [
        CHOSEN,
        CONFIGURED,
        RAISING,
        OF_CLASS,
        DEFINED_TWICE,
        OF_OBJECT,
        CHECKING,
        PASSED_ON,
        BY_DEFAULT,
    ],
)
def test_nothing_is_said_of_values_that_the_cut_may_change(text):
    assert shown(HEAD + text) == []


@pytest.mark.parametrize(
    "broken",
    [
        "z = (1\n",
        "if ready:\n    z = (1\n",
        "def other(x):\n    lo = tf.nn.relu(x\n",
        "class Other:\n    z = (1\n\n    def call(self, x):\n        return x\n",
    ],
)
def test_what_has_nothing_to_do_with_the_cut_is_said(broken):
    text = "lo = 0.0\n\n\ndef low(x):\n    return tf.math.log(lo) * x\n\n\n"
    assert shown(HEAD + text + broken) == [("TFN101", 7)]


@pytest.mark.parametrize("before", ["", "\n", "\n\n# why\n", "x = 1\n\n"])
def test_a_cut_that_goes_on_with_nothing_keeps_all_positions(before):
    text = before + "else:\n    x = 3\n" + BEFORE + BEHIND
    left = rest(text)
    assert left is not None and left.line_starts == Source("a.py", text).line_starts
    (last,) = [node for node in left.tree.body if getattr(node, "name", "") == "last"]
    assert text.split("\n")[last.lineno - 1] == "def last(x):"


def test_other_positions_are_refused():
    with pytest.raises(AssertionError):
        PartialSource(Source("a.py", "x = (\n\n"), "0\n", Unreadable("no", 1, 1), {0})


def test_the_notice_says_that_callers_are_not_seen():
    assert "Calls and gradients in that part are not seen" in INVALID_SYNTAX.doc
