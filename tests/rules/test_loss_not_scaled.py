"""TFN603 beside code that scales the loss."""

from __future__ import annotations

import pytest

from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

PROGRAM = """
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
opt = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))


def error(net, x, y):
    return tf.reduce_mean(tf.square(y - net(x)))


def error_scaled(net, x, y):
    loss_scale = 1024.0
    return loss_scale * tf.reduce_mean(tf.square(y - net(x)))


def scaled(net, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(y - net(x)))
        big = opt.scale_loss(loss)
    grads = tape.gradient(big, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))


def step(net, x, y, loss_of):
    with tf.GradientTape() as tape:
        loss = {loss}
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
"""


@pytest.mark.parametrize(
    ("loss", "codes"),
    [
        ("tf.reduce_mean(tf.square(y - net(x)))", ["TFN603"]),
        ("error(net, x, y)", ["TFN603"]),
        ("error_scaled(net, x, y)", []),
        ("opt.scale_loss(error(net, x, y))", []),
        ("loss_of(net, x, y)", []),  # it may be scaled where it is computed
    ],
)
def test_a_loop_beside_one_that_scales(loss, codes):
    findings = repository.findings(Source("train.py", PROGRAM.format(loss=loss)))
    assert [finding.code for finding in findings] == codes
