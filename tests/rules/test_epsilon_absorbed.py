"""TFN402 in a program that makes Keras compute in float64."""

from __future__ import annotations

import pytest

from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

PROGRAM = """
import tensorflow as tf


class Network:
    def __init__(self):
        self.dtype = "{}"
        tf.keras.backend.set_floatx(self.dtype)

    def loss(self, x):
        p = tf.sigmoid(self.model(x))
        return -tf.reduce_mean(tf.math.log(1.0 - p + 1e-8))
"""


@pytest.mark.parametrize(("dtype", "codes"), [("float32", ["TFN402"]), ("float64", [])])
def test_the_precision_of_the_program_decides(dtype, codes):
    findings = repository.findings(Source("network.py", PROGRAM.format(dtype)))
    assert [finding.code for finding in findings] == codes
