"""Which numerators are 0 wherever a root is."""

from __future__ import annotations

import pytest

from tfnanlint.dev.reveal import reveals
from tfnanlint.idioms.common_zeros import are_zero_together
from tfnanlint.syntax.source import Source

HEAD = """import tensorflow as tf
from tensorflow.keras import backend as K


def f(a, b, w):
    centered = a - tf.reduce_mean(a, axis=-1, keepdims=True)
    mean, variance = tf.nn.moments(a, [-1], keepdims=True)
    chosen = a if w else 2.0 * a
    reveal(({}, {}))
"""
LENGTH = "tf.norm(a, axis=-1)"
OWN_LENGTH = "tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1, keepdims=True))"
DEVIATION = "tf.math.reduce_std(a, axis=-1, keepdims=True)"
OWN_DEVIATION = "tf.sqrt(tf.reduce_mean(tf.square(centered), axis=-1, keepdims=True))"


@pytest.mark.parametrize(
    "numerator, root, expected",
    [
        ("a", LENGTH, True),
        ("a * w", LENGTH, True),
        ("tf.reduce_sum(a * b, -1)", LENGTH, True),
        ("tf.tensordot(a, b, 1)", LENGTH, True),
        ("tf.square(a)", LENGTH, True),
        ("a", "tf.sqrt(tf.abs(2.0 * a))", True),
        ("tf.clip_by_value(a, -1.0, 1.0)", LENGTH, True),
        ("tf.clip_by_value(a, 0.5, 1.0)", LENGTH, False),
        ("tf.math.divide_no_nan(b, a)", LENGTH, True),
        ("tf.gather(a, [0])", LENGTH, True),
        ("tf.cos(a)", LENGTH, False),
        ("a", "tf.sqrt(tf.nn.relu(a))", False),
        ("tf.nn.relu(-a)", LENGTH, True),
        ("tf.where(w, a, 2.0 * a)", LENGTH, True),
        ("chosen", LENGTH, True),
        ("tf.cast(tf.reshape(a, [-1]), tf.float32)", LENGTH, True),
        ("a", "tf.norm(chosen)", True),
        ("a", "tf.norm(tf.reshape(a, [-1, 4]))", True),
        ("a", "K.sqrt(K.sum(K.square(a)))", True),
        ("a", "tf.sqrt(tf.reduce_sum(a * a) + tf.reduce_sum(b * b))", True),
        ("b", "tf.sqrt(tf.reduce_sum(a * a) + tf.reduce_sum(b * b))", True),
        ("tf.reduce_sum(a * b)", "tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))", True),
        ("a - b", OWN_LENGTH, True),
        ("2.0 * b - 2.0 * a", OWN_LENGTH, True),
        ("centered", DEVIATION, True),
        ("centered * w", DEVIATION, True),
        ("a - tf.reduce_max(a, axis=-1, keepdims=True)", DEVIATION, True),
        ("a - mean", DEVIATION, True),
        ("a - mean", "tf.sqrt(variance)", True),
        ("centered", OWN_DEVIATION, True),
        ("a - tf.reduce_mean(a, axis=[-1])[:, None]", DEVIATION, True),
        ("a - tf.reduce_mean(a, axis=0)", "tf.math.reduce_std(a)", True),
        ("tf.math.reduce_std(a, axis=-1)", DEVIATION, True),
        ("tf.math.reduce_std(a, axis=0)", DEVIATION, False),
        ("tf.math.reduce_variance(a, axis=-1, keepdims=True)", DEVIATION, True),
        ("b", LENGTH, False),
        ("a + 1.0", LENGTH, False),
        ("tf.exp(a)", LENGTH, False),
        ("a / tf.norm(a)", LENGTH, False),
        ("tf.reduce_sum(a * a) / tf.norm(a)", LENGTH, True),
        ("tf.where(w, a, b)", LENGTH, False),
        ("a if w else b", LENGTH, False),
        ("tf.reduce_sum(a)", "tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))", False),
        ("a", OWN_LENGTH, False),
        ("a", DEVIATION, False),
        ("0.75 * a - mean", DEVIATION, False),
        ("a - tf.reduce_mean(b, axis=-1, keepdims=True)", DEVIATION, False),
        ("a - tf.reduce_mean(a, axis=0)", DEVIATION, False),
        ("a - tf.reduce_mean(a)", OWN_DEVIATION, False),
    ],
)
def test_zeros(numerator, root, expected):
    (revealed,) = reveals(Source("a.py", HEAD.format(numerator, root)))
    value, divisor = revealed.value.obj
    assert are_zero_together(value, divisor.origin) is expected
