"""The trace of a finding, in words."""

from tfnanlint.pipeline import analysis as flow
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source


def test_an_expression_in_a_loop_gives_what_its_rounds_were_seen_to_leave():
    text = """import tensorflow as tf

def share(values, marks):
    total = 0.0
    for mark in marks:
        total = total + tf.cast(mark > 0, tf.float32)
    return tf.math.log(total)
"""
    (finding,) = [
        one for one in flow.analyse(Source("share.py", text), rules.load()) if one.code == "TFN101"
    ]
    assert [(step.row, step.text) for step in finding.trace] == [
        # not between 0 and 1, as after one round
        (6, "total + tf.cast(mark > 0, tf.float32) is at least 0"),
        (6, "tf.cast(mark > 0, tf.float32) is between 0 and 1"),
    ]
