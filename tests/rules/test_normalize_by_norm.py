"""TFN314 speaks of a vector that is divided by its own norm, not by one that was picked."""

from __future__ import annotations

import pytest

from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

PROGRAM = """import tensorflow as tf

x = tf.Variable(tf.zeros([8, 4]))
norm = tf.norm(x, axis=-1, keepdims=True)
y = x / {}
"""


@pytest.mark.parametrize(
    ("divisor", "is_own"),
    [("norm", True), ("tf.identity(norm)", True), ("tf.gather(norm, rows)", False)],
)
def test_the_norm_is_that_of_the_vector(divisor, is_own):
    findings = repository.findings(Source("unit.py", PROGRAM.format(divisor)))
    assert ("normalize-by-norm" in [finding.slug for finding in findings]) is is_own
