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


def test_what_a_mask_keeps_stays_a_warning():
    assert certainties("kept") == [Certainty.MAY]
