"""A divisor that is the length of an axis less 1 makes a note: an axis of one element is rare."""

from __future__ import annotations

from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.pipeline import analysis as flow
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

PAIRS = """\
import tensorflow as tf


def mean_of_pairs(x):
    n = tf.cast(tf.shape(x)[0], tf.float32)
    kept = tf.reduce_sum(tf.cast(x > 0.0, tf.float32))
    return tf.reduce_sum(x) / ({})
"""


def certainties(divisor):
    found = flow.analyse(Source("pairs.py", PAIRS.format(divisor)), rules.load())
    return [one.certainty for one in found if one.code == "TFN102"]


def test_the_pairs_of_a_batch_are_a_note():
    assert certainties("n * (n - 1.0)") == [Certainty.UNKNOWN]
    assert certainties("(n - 1.0) * n") == [Certainty.UNKNOWN]


def test_what_a_mask_keeps_is_a_count():
    assert kinds("kept") == ["count"]


OWN_GRADIENT = """\
import tensorflow as tf


{}
def length(x):
    whole = tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1, keepdims=True))

    def slope(upstream):
        return upstream * x / {}

    return whole, slope


def step(net, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(length(tf.nn.relu(net(x))))
    return tape.gradient(loss, net.trainable_variables)
"""


def certainties_in_own_gradient(decorator, divisor):
    source = Source("length.py", OWN_GRADIENT.format(decorator, divisor))
    found = flow.analyse(source, rules.load())
    return [one.certainty for one in found if one.code == "TFN102"]


def test_what_a_function_gives_as_its_own_gradient():
    assert certainties_in_own_gradient("@tf.custom_gradient", "whole") == [Certainty.UNKNOWN]
    assert certainties_in_own_gradient("@tf.custom_gradient", "tf.maximum(whole, 1e-12)") == []


LEARNED = """\
import tensorflow as tf


def step(net, x):
    with tf.GradientTape() as tape:
        z = net(x)
        kept = tf.reduce_sum(tf.cast(z > 0.0, tf.float32))
        loss = tf.reduce_sum(z) / {}
    return tape.gradient(loss, net.trainable_variables)
"""


def kinds(divisor):
    found = flow.analyse(Source("entropy.py", LEARNED.format(divisor)), rules.load())
    return [one.kind for one in found if one.code == "TFN102"]


def test_the_logarithm_of_a_size_is_a_note():
    assert kinds("tf.math.log(float(z.shape[-1]))") == ["size-minus-one"]
    assert kinds("tf.math.log(tf.cast(tf.shape(z)[-1], tf.float32))") == ["size-minus-one"]
    assert kinds("tf.math.log1p(kept)") == [""]
