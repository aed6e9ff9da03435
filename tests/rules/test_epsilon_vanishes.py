"""TFN403 in programs of TensorFlow 1 whose variables are in float16."""

from __future__ import annotations

import pytest

from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

PROGRAM = """
import tensorflow as tf


def build(x):
    with tf.variable_scope("net"{getter}):
        kernel = tf.get_variable("kernel", [4, 2], {dtype})
    loss = tf.reduce_sum(tf.cast(tf.matmul(x, kernel), tf.float32))
    return tf.train.AdamOptimizer(1e-3{epsilon}).minimize(loss)
"""


@pytest.mark.parametrize(
    ("dtype", "epsilon", "getter", "codes"),
    [
        ("tf.float16", "", "", ["TFN403"]),
        ("tf.float16", ", epsilon=1e-4", "", []),
        ("tf.float32", "", "", []),
        ("tf.float16", "", ", custom_getter=in_float32", []),
    ],
)
def test_adam_divides_by_what_is_lost_in_the_type_of_the_variables(dtype, epsilon, getter, codes):
    text = PROGRAM.format(dtype=dtype, epsilon=epsilon, getter=getter)
    findings = repository.findings(Source("network.py", text))
    assert [finding.code for finding in findings] == codes


@pytest.mark.parametrize(("added", "codes"), [("", ["TFN403"]), (" + 1.0", [])])
def test_the_length_of_a_row_without_zeros_needs_no_epsilon(added, codes):
    text = f"""import tensorflow as tf

v = tf.cast(tf.nn.relu(tf.random.normal([8, 4])){added}, tf.float16)
y = tf.math.l2_normalize(v, axis=-1)
"""
    findings = repository.findings(Source("unit.py", text))
    assert [finding.code for finding in findings] == codes
