"""A guard is only suggested where another hazard beside it stays."""

from __future__ import annotations

import pytest

import tfnanlint

PROGRAM = """import tensorflow as tf

w = tf.Variable(tf.random.normal([4, 4]))


def made(x):
    p = tf.matmul(x, w)
    total = tf.reduce_sum(tf.abs(p), axis=1)
    share = tf.abs(p) / total[:, None]
    {second}
    return tf.reduce_sum(share) + tf.reduce_sum(rest)


def step(x):
    with tf.GradientTape() as tape:
        loss = made(x)
    return tape.gradient(loss, w)
"""
AGAIN = "rest = tf.linalg.trace(p) / total[:]"
OTHER = "rest = tf.reduce_sum(p, axis=1) / (1.0 + total[:])"


@pytest.mark.parametrize("second, repaired", [(AGAIN, False), (OTHER, True)])
def test_of_two_divisions_by_the_same_divisor_both_are_repaired_or_neither(second, repaired):
    """What the second quotient should be is not known."""
    text = PROGRAM.format(second=second)
    after = tfnanlint.fix(text, "a.py", settings={"unsafe-fixes": True}).after
    assert ("divide_no_nan" in after) is repaired
    suggested = {
        fix.suggested
        for finding in tfnanlint.check(text, "a.py", settings={"unsafe-fixes": True}).findings
        for fix in finding.fixes
    }
    assert ("another division by the same divisor stays" in suggested) is not repaired
