"""TFN408 in code for TensorFlow 0.x, whose losses take the logits first."""

from __future__ import annotations

import pytest

from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

PROGRAM = """
x = tf.placeholder(tf.float32, [None, 4])
labels = tf.placeholder(tf.int64, [None])
logits = tf.matmul(x, tf.get_variable("w", [4, 3]))
loss = tf.nn.sparse_softmax_cross_entropy_with_logits({})
"""


@pytest.mark.parametrize(
    ("spelled", "arguments", "codes"),
    [
        ("tensorflow", "logits, labels", []),  # TensorFlow 1 refuses it
        ("tensorflow", "labels=logits, logits=labels", ["TFN408"]),
        ("tensorflow.compat.v1", "logits, labels", ["TFN408"]),  # labels first since 2.x
    ],
)
def test_the_order_without_names(spelled, arguments, codes):
    text = f"import {spelled} as tf\n" + PROGRAM.format(arguments)
    findings = repository.findings(Source("graph.py", text))
    assert [finding.code for finding in findings] == codes


TRAINED = """
def loss(logits, labels):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(logits, labels)

{}
"""


@pytest.mark.parametrize(
    ("other", "codes"),
    [
        ("name = tf.compat.as_str(b'a')\nstart = tf.initialize_all_variables()", []),
        ("FLAGS = tf.app.flags.FLAGS", []),
        ("step = tf.train.AdamOptimizer(0.1)", []),
        ("name = tf.compat.as_str(b'a')", ["TFN408"]),
        ("step = tf.compat.v1.train.AdamOptimizer(0.1)", ["TFN408"]),
    ],
)
def test_what_shows_a_file_for_the_first_version(other, codes):
    text = "import tensorflow as tf\n" + TRAINED.format(other)
    findings = repository.findings(Source("graph.py", text))
    assert [finding.code for finding in findings] == codes
