"""TFN104: a negative power is a division, and is doubted where that is."""

from __future__ import annotations

import pytest

from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

PROGRAM = """\
import tensorflow as tf


def f(edges, x):
    degree = tf.reduce_sum(tf.scatter_nd(edges, tf.ones(tf.shape(edges)[0]), [9, 9]), axis=1)
    {}
"""


@pytest.mark.parametrize(
    ("power", "doubtful"),
    [
        ("return tf.pow(degree, -0.5)", False),
        ("return tf.reduce_sum(tf.nn.relu(x)) ** -1.0", False),
        ("return tf.pow(tf.abs(x), -0.5)", True),
        ("return tf.pow(degree, 0.5)", True),
        ("tf.debugging.assert_positive(degree); return degree ** -0.5", None),
    ],
)
def test_a_negative_power_is_doubted_where_a_division_is(power, doubtful):
    findings = repository.findings(Source("a.py", PROGRAM.format(power)))
    doubts = [finding.doubtful for finding in findings if finding.code == "TFN104"]
    assert doubts == ([] if doubtful is None else [doubtful])
