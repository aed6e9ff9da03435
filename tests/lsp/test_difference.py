"""What an editor's change touches: the tree after it is the one that parsing gives, and what is
judged again is judged right.
"""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from tfnanlint.config.layers import Configuration, layer
from tfnanlint.diagnostics.findings import Call, Certainty, Differentiated, Finding, Step
from tfnanlint.interp.engine import Engine
from tfnanlint.lsp.difference import between, parse
from tfnanlint.pipeline.check import Checking
from tfnanlint.pipeline.linter import load_rules
from tfnanlint.rewrite import spelling
from tfnanlint.syntax.source import Source, Span, Unreadable

ROOT = Path(__file__).parents[2]
TEXTS = [path.read_text("utf-8") for path in sorted((ROOT / "fixtures" / "programs").rglob("*.py"))]
PIECES = (
    "x",
    "1",
    " ",
    "\n",
    "\n\n",
    "#",
    '"',
    '"""',
    "(",
    ")",
    ":",
    "\\\n",
    "    ",
    "@f\n",
    "else:\n",
    "\r\n",
    "\r",
    "\x0c",
    "é",
    "😀",
    ";",
    "x = 1\n",
    "def g():\n    pass\n",
    "    y = tf.math.log(x)\n",
    "import tensorflow as tf\n",
    "+ 1e-7",
    "return x\n",
    "elif x:\n",
)
HOSTILE = [
    'import tensorflow as tf\nx = """\na\n"""; y = 2\nz = 3\n',
    "import tensorflow as tf\n@(\n  f\n)\ndef g():\n    pass\n\n\n@f\ndef h(): pass\n",
    "\x0cimport tensorflow as tf\n\x0c\ndef f():\n\x0c    pass\n",
    "import tensorflow as tf\rx = 1\ry = 2\r",
    "x = (\n1,\n)\nif x:\n  y = 1\nelse:\n  y = 2",
    "import tensorflow as tf\nif x:\n    y = 1\n\n# comment\n\nz = f'{x}'\nclass A:\n    pass\n",
]


def edited(text: str, dice: random.Random) -> str:
    """A text after one small change of a person who types, deletes, or pastes."""
    at = dice.randrange(len(text) + 1)
    kind = dice.random()
    if kind < 0.25:
        return text[:at] + text[at + dice.choice((1, 1, 2, 5, 40)) :]
    if kind < 0.35:
        other = dice.randrange(len(text) + 1)
        return text[:at] + text[other : other + dice.randrange(80)] + text[at:]
    return text[:at] + dice.choice(PIECES) + text[at:]


@pytest.mark.parametrize("number", range(len(HOSTILE) + 12))
def test_the_tree_is_that_of_the_whole_text(number):
    text, dice = [*HOSTILE, *TEXTS][number], random.Random(number)
    reused = 0
    old = Source("a.py", text)
    old.tree
    for _ in range(150):
        new = Source("a.py", edited(old.text, dice))
        difference = between(old, new)
        if difference is not None:
            parse(difference)
        made = new.__dict__.get("tree")
        try:
            whole = Source("a.py", new.text).tree
        except Unreadable:
            assert made is None, new.text
            continue
        if made is not None:
            reused += 1
            assert ast.dump(made, include_attributes=True) == ast.dump(
                whole, include_attributes=True
            ), new.text
        if len(new.text) < 2 * len(text):
            new.tree
            old = new
    assert reused > 5


RULES = load_rules()
POLICY = (
    Configuration(layer({}, "here", "."), (), True)
    .for_file("/nowhere/a.py")
    .policy("/nowhere/a.py", RULES)
)
TOGETHER = "\n\n".join(
    text.replace("def main(", f"def main_{number}(") for number, text in enumerate(TEXTS[:6])
)


def rowed(findings, rows, source):
    return [one for one in findings if source.position(one.span.start)[0] in rows]


@pytest.mark.parametrize("number", range(6))
def test_what_changed_is_judged_as_in_the_whole(number):
    """The hasty findings of the changed statements are those of a full analysis; the others are
    those of before, moved along.
    """
    dice = random.Random(number)
    text = TOGETHER if number == 0 else TEXTS[number + 5]
    old = Source("/nowhere/a.py", text)
    with Checking(old, POLICY) as first:
        known = first.found
    judged = 0
    for _ in range(25):
        new = Source("/nowhere/a.py", edited(old.text, dice))
        difference = between(old, new)
        if difference is None:
            continue
        parse(difference)
        carried = [moved for one in known if (moved := difference.carried(one)) is not None]
        with Checking(new, POLICY, difference.rows, carried) as hasty:
            pass
        with Checking(Source(new.path, new.text), POLICY) as full:
            pass
        assert (hasty.found is None) == (full.found is None)
        if full.found is None:
            assert hasty.checked.findings == full.checked.findings
            continue
        assert hasty.complete == full.complete
        assert rowed(hasty.found, difference.rows, new) == rowed(
            full.found, difference.rows, new
        ), new.text
        if not full.complete:  # a syntax error: no version to count changes from
            continue
        for one in carried:
            before = next(former for former in known if difference.carried(former) == one)
            assert new.slice(one.span) == old.slice(before.span)
            assert [step.row for step in one.trace if step.path == new.path] == [
                new.position(step.span.start)[0] for step in one.trace if step.path == new.path
            ]
        judged += bool(rowed(full.found, difference.rows, new))
        old, known = new, full.found
    assert judged or number


def test_a_key_costs_the_function_in_which_it_is_typed(monkeypatch):
    """In a file of many functions that differ from it, only the changed one is walked, and the text
    is searched once for what all rules ask.
    """
    layer_of = "def f{n}(x):\n    return tf.keras.layers.Dense(4, activation='relu')(x)\n\n\n"
    loss = "def last(y, p):\n    return -y * tf.math.log(tf.nn.softmax(p))\n"
    text = "import tensorflow as tf\n\n\n" + "".join(layer_of.format(n=n) for n in range(20)) + loss
    old = Source("/nowhere/a.py", text)
    with Checking(old, POLICY) as first:
        known = first.found
    new = Source(old.path, text.replace("-y *", "-y * 2 *"))
    difference = between(old, new)
    parse(difference)
    walked, searched = set(), []
    activation, searching = Engine.activation, spelling.is_first_version
    monkeypatch.setattr(
        Engine,
        "activation",
        lambda self, function: walked.add(function.name) or activation(self, function),
    )
    monkeypatch.setattr(
        spelling, "is_first_version", lambda text: searched.append(text) or searching(text)
    )
    carried = [moved for one in known if (moved := difference.carried(one)) is not None]
    with Checking(new, POLICY, difference.rows, carried) as hasty:
        assert {one.code for one in hasty.found} >= {"TFN301"}
    assert walked == {"last"} and len(searched) == 1


def test_the_calls_of_a_step_move_along():
    old = Source("a.py", "a = 1\nb = 2\nc = 3\n")
    new = Source("a.py", "a = 1\n\n\nd = 4\nb = 2\nc = 3\n")
    difference = between(old, new)
    assert difference is not None
    place = Span(old.text.index("c"), old.text.index("c") + 1)
    calls = (Call("a.py", 1, "f"), Call("a.py", 3, "g"), Call("b.py", 3, "h"))
    step = Step("a.py", place, 3, "c", calls=calls, made=calls[1])
    finding = Finding(
        "TFN101", "log", "a.py", place, "m", Certainty.MAY, Differentiated.NO, trace=(step,)
    )
    carried = difference.carried(finding)
    assert carried is not None
    assert [call.row for call in carried.trace[0].calls] == [1, 6, 3]
    assert carried.trace[0].made == Call("a.py", 6, "g")
