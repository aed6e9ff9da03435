"""Which quotients of sums are cosines and coefficients of variation."""

from __future__ import annotations

import pytest

from tfnanlint.dev.reveal import reveals
from tfnanlint.idioms.ratios import is_cosine, is_variation
from tfnanlint.syntax.source import Source

HEAD = "import tensorflow as tf\n\n\ndef f(a, b, c):\n    reveal({})\n"


def division(text: str):
    (revealed,) = reveals(Source("a.py", HEAD.format(text)))
    return revealed.value.origin


@pytest.mark.parametrize(
    "text, expected",
    [
        ("tf.reduce_sum(a * b) / tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))", True),
        (
            "tf.reduce_sum(a * b) / (tf.sqrt(tf.reduce_sum(a * a)) * tf.sqrt(tf.reduce_sum(b**2)))",
            True,
        ),
        ("tf.tensordot(a, b, 1) / tf.sqrt(tf.tensordot(a, a, 1) * tf.tensordot(b, b, 1))", True),
        ("c * tf.reduce_sum(a * b) / tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))", True),
        ("tf.reduce_sum(a * c) / tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))", False),
        ("tf.reduce_sum(a * b) / (tf.reduce_sum(a * a) * tf.reduce_sum(b * b))", False),
        ("tf.reduce_sum(a * b) / tf.sqrt(tf.reduce_sum(a * a))", False),
        ("tf.reduce_sum(a * b) ** 2 / tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))", False),
        ("tf.tensordot(a, c, 1) / tf.sqrt(tf.tensordot(a, a, 1) * tf.tensordot(b, b, 1))", False),
        ("tf.tensordot(a, b, 1) / tf.sqrt(tf.tensordot(a, b, 1) * tf.tensordot(a, b, 1))", False),
        (
            "tf.tensordot(a + b, b, 1) / tf.sqrt(tf.tensordot(a, a, 1) * tf.tensordot(b, b, 1))",
            False,
        ),
        ("tf.reduce_sum(a + b) / tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))", False),
        ("tf.reduce_mean(a * b) / tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))", False),
        (
            "(tf.reduce_sum(a * b) + 1.0) / tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))",
            False,
        ),
        (
            "tf.tensordot(a, b, 1) / tf.sqrt(tf.tensordot(a, c, 1) * tf.tensordot(b, c, 1))",
            False,
        ),
        ("a / b", False),
        ("(a + b) / 2.0", False),
    ],
)
def test_cosines(text, expected):
    assert is_cosine(division(text)) is expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("tf.math.reduce_std(a) / tf.reduce_mean(a)", True),
        ("tf.math.reduce_variance(a) / tf.reduce_mean(a)", True),
        ("tf.math.reduce_variance(a) / tf.reduce_mean(a) ** 2", True),
        ("(tf.math.reduce_std(a) + 1e-6) / tf.reduce_mean(a)", True),
        ("c * tf.math.reduce_std(a) / tf.reduce_mean(a)", True),
        ("tf.math.reduce_std(a) / tf.reduce_mean(b)", False),
        ("tf.reduce_mean(a) / tf.math.reduce_std(a)", False),
        ("tf.reduce_sum(a) / tf.reduce_mean(a)", False),
        ("(tf.math.reduce_std(a) + b) / tf.reduce_mean(a)", False),
        ("(c * tf.math.reduce_std(a) + 1.0) / tf.reduce_mean(a)", False),
        ("(1.0 / tf.math.reduce_std(a) + 1.0) / tf.reduce_mean(a)", False),
        ("tf.math.reduce_std(a) * tf.reduce_mean(a) / c", False),
        ("tf.math.reduce_std(a) * tf.sqrt(tf.reduce_mean(a)) / c", False),
        ("a / tf.reduce_mean(a)", False),
        ("(a + b) / 2.0", False),
    ],
)
def test_coefficients_of_variation(text, expected):
    assert is_variation(division(text)) is expected
