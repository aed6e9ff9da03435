"""Questions of rules that look near by: few evaluations, and what was cut off for that is known to no other question."""

from __future__ import annotations

import pytest

from tfnanlint.checking import check_source
from tfnanlint.config import Configuration, Layer
from tfnanlint.expressions import MAX_STEPS
from tfnanlint.flow import File, Marks, Subscriptions
from tfnanlint.recursion import NEAR_STEPS
from tfnanlint.rules import load
from tfnanlint.source import Source

# A number through more names than a brief question may look behind.
LENGTH = NEAR_STEPS // 2  # each step is a name, a number and their product
CHAIN = "import tensorflow as tf\na0 = tf.nn.relu(b)\n" + "".join(f"a{i} = a{i - 1} * 2.0\n" for i in range(1, LENGTH))
LAST = f"a{LENGTH - 1}"


def drafted(text: str) -> File:
    return File(Source("a.py", text), Subscriptions(()), Marks(set(), set()), draft=True)


def site(file: File):
    """The op application in the last statement of a draft."""
    (expression, point), = file.module.expressions(len(file.module.source.line_starts) - 1, file.interpreter)
    return file.interpreter.site(expression, point)


def test_what_is_cut_off_briefly_is_found_at_length():
    file = drafted(f"{CHAIN}c = tf.sqrt({LAST})\n")
    root, interpreter = site(file), file.interpreter
    assert not interpreter.briefly(root.value, "x").known
    assert (interpreter.reads, interpreter.limit, interpreter.brevity.stamp, interpreter.cut_short) == ([], MAX_STEPS, 0, False)
    assert root.value("x").nonnegative
    assert interpreter.briefly(root.value, "x").nonnegative, "it is known by now"


def test_what_is_asked_at_length_within_a_brief_question_is_not_cut_off():
    file = drafted(f"{CHAIN}c = tf.sqrt({LAST})\n")
    root, interpreter = site(file), file.interpreter
    asked = interpreter.briefly(lambda: (root.value("x").known, interpreter.at_length(root.value, "x").known, interpreter.limit))
    assert asked == (False, True, NEAR_STEPS)


def test_what_a_call_is_taken_for_briefly_does_not_stay():
    names = "".join(f"o{i} = o{i - 1}\n" for i in range(1, NEAR_STEPS + 5))
    file = drafted(f"class Table:\n    def sum(self):\n        return 1.0\n\n\no0 = Table()\n{names}c = o{NEAR_STEPS + 4}.sum()\n")
    (call, point), = file.module.expressions(len(file.module.source.line_starts) - 1, file.interpreter)
    assert file.interpreter.briefly(file.interpreter.site, call, point).op.name == "method.sum"
    assert file.interpreter.site(call, point) is None


def test_a_file_that_may_cost_no_more_has_no_other_limit():
    file = drafted(f"{CHAIN}c = tf.sqrt({LAST})\n")
    file.interpreter.limit = 10
    assert not file.interpreter.briefly(site(file).value, "x").known
    assert file.interpreter.cut_short and file.interpreter.limit == 10


def found(text: str) -> list[tuple[str, int]]:
    checked = check_source(Source("a.py", text), Configuration(Layer(), (), True).for_directory("/").policy("", load()))
    return [(one.code, checked.source.position(one.span.start)[0]) for one in checked.findings]


@pytest.mark.parametrize("first", ["", f"tf.clip_by_value({LAST}, 0.0, tf.reduce_max(b))", f"tf.exp({LAST})"])
def test_a_brief_question_takes_nothing_from_the_next(first):
    lines = [*CHAIN.splitlines()[1:], f"c = {first or 0.0}", f"return tf.reduce_mean(tf.math.log({LAST}) + c)"]
    text = "import tensorflow as tf\ndef loss(y, b):\n" + "".join(f"    {line}\n" for line in lines)
    assert found(text) == [("TFN101", text.count("\n"))]


def test_rules_that_look_near_by_replace_no_others():
    """Where they miss something, a rule that says less of the same place would be heard."""
    near = [rule for rule in load() if rule.near]
    assert near and not [rule.code for rule in near if rule.over]
