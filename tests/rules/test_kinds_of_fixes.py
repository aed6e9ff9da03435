"""Kinds of programs that fixes once changed, or left with a NaN that no rule reports any more."""

from __future__ import annotations

import textwrap

import pytest

import tfnanlint
from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.syntax.source import Source

pytestmark = pytest.mark.usefixtures("suggestions_applied")

UNSAFE = {"unsafe-fixes": True}
TAPE = """

def differentiate({names}):
    with tf.GradientTape() as tape:
        tape.watch([{names}])
        loss = program({names})
    return tape.gradient(loss, [{names}])
"""


def module(body: str, names: str = "x, s", first: str = "import tensorflow as tf") -> str:
    body = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"{first}\n\n\ndef program({names}):\n{body}\n" + TAPE.format(names=names)


def fixed(text: str, **settings: bool) -> str:
    return tfnanlint.fix(text, settings=settings).after.split("\n\n\ndef differentiate")[0]


def found(text: str) -> list[Finding]:
    return repository.findings(Source("x.py", text))


# ---------------------------------------------------------------------------------------------------------
# Calls that do more than compute

STATEFUL = """import tensorflow as tf


def loss(net, z):
    {before}return {lambda_}tf.tanh(tf.math.log(1.0 - tf.square(tf.tanh(net(z)))))
"""


def test_a_call_of_a_model_is_not_written_twice():
    text = fixed(STATEFUL.format(before="", lambda_=""), **UNSAFE)
    assert "raw = net(z)\n" in text and text.count("net(z)") == 1 and "softplus(-2.0 * raw)" in text


def test_where_it_cannot_be_named_the_fix_is_left_out():
    text = STATEFUL.format(before="", lambda_="lambda: ")
    assert fixed(text, **UNSAFE) == text


def test_two_such_calls_get_two_names():
    text = module(
        "return tf.atan2(tf.nn.relu(net(x)), tf.nn.relu(net(s)))",
        first="import tensorflow as tf\nfrom model import net",
    )
    new = fixed(text)
    assert (
        "rise = tf.nn.relu(net(x))\n    run = tf.nn.relu(net(s))\n" in new
        and new.count("net(") == 2
    )


def test_a_helper_that_only_computes_may_go():
    text = """
        def activated(t):
            return tf.nn.softmax(t)

        p = activated(x)
        return tf.reduce_sum(tf.math.log(p), axis=-1)
    """
    assert "activated(x)" not in fixed(module(text))


# ---------------------------------------------------------------------------------------------------------
# What is written twice is one value

NORM = "tf.nn.relu(s) + tf.norm(x, axis=1, keepdims=True)"


def test_what_a_choice_tests_and_divides_by_gets_one_name():
    new = fixed(module(f"return tf.where(tf.equal({NORM}, 0.0), tf.zeros_like(s), x / ({NORM}))"))
    assert f"inner = {NORM}\n" in new
    assert (
        "tf.where(tf.equal(inner, 0.0), tf.zeros_like(s), x / tf.where(tf.equal(inner, 0.0), tf.ones_like(inner), inner))"
        in new
    )


def test_a_choice_of_masked_roots_is_still_seen():
    root = "tf.where(q > 0, tf.sqrt(tf.where(q > 0, q, tf.ones_like(q))), tf.zeros_like(q))"
    text = module(f"""
        q = tf.reduce_sum(tf.square(x), axis=-1, keepdims=True)
        log = tf.math.log(tf.nn.relu(s) + {root})
        return tf.where(tf.nn.relu(s) + {root} > 0, log, tf.zeros_like(log))
    """)
    assert [one.code for one in found(text)] == ["TFN204"]


def test_a_softmax_of_exponents_that_are_written_out_is_seen():
    exponents = (
        "tf.exp(x + tf.expand_dims(tf.tanh(tf.math.log(tf.reduce_sum(tf.exp(x), axis=-1))), -1))"
    )
    new = fixed(module(f"return {exponents} / tf.reduce_sum({exponents}, axis=-1, keepdims=True)"))
    assert (
        "return tf.nn.softmax(x + tf.expand_dims(tf.tanh(tf.reduce_logsumexp(x, axis=-1)), -1), axis=-1)"
        in new
    )


# ---------------------------------------------------------------------------------------------------------
# What a fix would change or leave

PATCHED = "y = s / x\nreturn tf.tanh(tf.where(tf.math.is_nan(y), tf.zeros_like(y), y))"


def test_a_test_for_nan_lets_infinity_through():
    text = module(PATCHED)
    assert fixed(text) == text.split("\n\n\ndef differentiate")[0]
    assert "return tf.tanh(tf.math.divide_no_nan(s, x))" in fixed(text, **UNSAFE)


@pytest.mark.parametrize(
    "version, expected",
    [("", "tf.where(tf.cast(b, tf.bool), a, a.dtype.min)"), (".compat.v1", "a + (1.0 - b) * -6e4")],
)
def test_the_choice_of_tensorflow_1_takes_one_shape(version, expected):
    text = module(
        "a = tf.cast(x, tf.float16)\nb = tf.cast(tf.stop_gradient(s), tf.float16)\nreturn tf.nn.softmax(a + (1.0 - b) * -1e9)",
        first=f"import tensorflow{version} as tf",
    )
    assert f"return tf.nn.softmax({expected})" in fixed(text, **UNSAFE)


def test_no_small_number_under_a_root_in_front_of_a_logarithm_in_float16():
    text = module(
        "h = tf.nn.relu(tf.cast(s, {dtype}))\nreturn tf.clip_by_value(tf.math.log(tf.sqrt(h)), -15.0, 15.0)"
    )
    assert "tf.sqrt(h + 1e-12)" in fixed(text.format(dtype="tf.float32", names="x, s"), **UNSAFE)
    (one,) = [
        one for one in found(text.format(dtype="tf.float16", names="x, s")) if one.code == "TFN206"
    ]
    assert not one.fixes


def test_a_difference_is_no_small_number_whatever_its_name():
    text = module(
        "eps = s - x\nreturn eps - tf.math.log(tf.reduce_sum(tf.exp(eps), axis=-1, keepdims=True))"
    )
    assert [one.code for one in found(text)] == ["TFN305"]


# ---------------------------------------------------------------------------------------------------------
# How programs are compared


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "body, hidden", [("tf.tanh(tf.math.log({}))", True), ("tf.tanh({})", False)]
)
def test_numbers_that_hide_infinity_are_told_apart(body, hidden):
    from differential import Check, Tool
    from hazard_programs import Program

    text = (
        f"import tensorflow as tf\n\n\ndef program(s):\n    return [{body.format('s')}]\n"
        + TAPE.format(names="s")
    )
    check = Check(Program(text, {"s": "s"}, []), Tool())
    # ordinary inputs, and zeros
    assert not check.infinite_inside(0) and check.infinite_inside(1) is hidden


def test_a_logarithm_of_labels_gets_no_floor():
    """`log(1 - y_true)` may mean -inf: it takes the positive class out of a logsumexp."""
    text = "import tensorflow.keras.backend as K\n\n\ndef loss(y_true, y_pred):\n    return K.logsumexp(K.log(1 - y_true) + y_pred)\n"
    (finding,) = repository.findings(Source("a.py", text))
    assert finding.code == "TFN101" and finding.fixes == () and "labels" in finding.no_fix


def test_a_count_in_a_graph_of_the_first_releases_gets_a_floor():
    text = """import tensorflow as tf

labels = tf.placeholder(tf.float32, [None, 4])


def program(x, m):
    kept = tf.cast(m > 0.5, tf.float32)
    return tf.reduce_sum(x * kept) / tf.reduce_sum(kept)
"""
    assert "/ tf.maximum(tf.reduce_sum(kept), 1.0)" in fixed(text)


def test_a_level_of_a_box_that_is_rounded_down_needs_no_floor():
    body = """
        side = tf.sqrt(tf.square(x) * tf.square(s))
        level = tf.math.floordiv(tf.math.log(side / 224.0), tf.math.log(2.0)) + 4.0
        return tf.minimum(most, tf.maximum(level, least))
    """
    text = module(body, "x, s, most, least").split("\n\n\ndef differentiate")[0]
    assert fixed(text, **UNSAFE) == text


def test_the_norm_of_an_angle_is_not_masked_alone():
    text = module("""
        c = x * s
        a = tf.norm(c, axis=1)
        d = tf.reduce_sum(x, axis=1)
        return tf.atan2(a, d)
    """)
    assert "tf.where" not in fixed(text)


def test_a_guard_that_is_0_by_default_is_not_doubled():
    text = """import tensorflow as tf


def dice(p, y, eps=0):
    both = tf.reduce_sum(p * y, axis=1)
    total = tf.reduce_sum(p * p + y * y, axis=1)
    return (2.0 * both + eps) / (total + eps)


def loss(z, y):
    return 1.0 - dice(tf.nn.softmax(z), y)
"""
    assert fixed(text, **UNSAFE) == text
    assert [one.no_fix for one in found(text)] == [
        "'eps' is its guard and is 0: give it a value above 0"
    ]
