"""What crossings.py says of a fixture, tried on texts in which a name, a helper or a spelling does
and does not matter.
"""

from __future__ import annotations

import pytest
from crossings import Crossings

from tfnanlint.rule.registry import load
from tfnanlint.syntax.source import Source

HEAD = "import tensorflow as tf\nfrom tensorflow.keras import backend as K\n\n\n"
PLAIN = "def direct(z):\n    return tf.math.log(tf.nn.softmax(z))  # want: TFN301\n\n\n"


def crossings(text: str, code: str = "TFN301") -> Crossings:
    return Crossings(
        next(one for one in load() if one.code == code), Source("fixture.py", HEAD + PLAIN + text)
    )


def test_nothing_is_crossed():
    shown = crossings("")
    assert len(shown.wants) == 1 and shown.variable() is None and shown.helper() is None
    assert shown.spellings() == {"tf.math.log": {"tensorflow.math.log"}}


@pytest.mark.parametrize(
    "body, rests",
    [
        ("    p = tf.nn.softmax(z)\n    return tf.math.log(p)  # want: TFN301\n", True),
        # whatever p is
        ("    p = z + 1.0\n    return tf.math.log(tf.nn.softmax(p))  # want: TFN301\n", False),
        # read twice: without one of them it is read all the same
        ("    a = tf.math.log(tf.nn.softmax(z))  # want: TFN301\n    f(a)\n    return a\n", False),
    ],
)
def test_a_name_carries_the_value(body, rests):
    assert (crossings(f"def named(z):\n{body}").variable() is not None) is rests


@pytest.mark.parametrize(
    "helper, call, rests",
    [
        ("tf.nn.softmax(z)", "tf.math.log(made(z))", True),
        ("z + 1.0", "tf.math.log(tf.nn.softmax(made(z)))", False),
    ],
)
def test_a_function_makes_the_value(helper, call, rests):
    text = f"def made(z):\n    return {helper}\n\n\ndef calling(z):\n    return {call}  # want: TFN301\n"
    assert (crossings(text).helper() is not None) is rests


def test_a_function_gets_the_value():
    text = "def inner(p):\n    return tf.math.log(p)  # want: TFN301\n\n\ndef outer(z):\n    return inner(tf.nn.softmax(z))\n"
    found = crossings(text).helper()
    assert found is not None and found.code == "TFN301"


def test_spellings():
    text = "def backend(z):\n    return K.log(K.softmax(z))  # want: TFN301\n\n\ndef quiet(z):\n    return tf.compat.v1.log(z + 1.0)\n"
    assert crossings(text).spellings() == {
        "tf.math.log": {"tensorflow.math.log", "tensorflow.keras.backend.log"}
    }
