"""What a finding advises, where that names something of the program."""

from __future__ import annotations

from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

_LOSS = """
import tensorflow as tf


def loss({labels}, y_pred):
    error = tf.square({labels} - y_pred)
    return tf.reduce_mean(tf.where(tf.math.is_nan(error), tf.zeros_like(error), error))


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", loss)
"""


def test_masked_nan_names_the_labels_that_it_comes_from():
    for labels in ("y_true", "targets"):
        (finding,) = repository.findings(Source("loss.py", _LOSS.format(labels=labels)))
        assert finding.code == "TFN205"
        assert f"'{labels}'" in finding.help
