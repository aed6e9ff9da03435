"""Exponential of a value that has no upper bound.

In float32 `tf.exp(89.0)` is inf. tfnanlint itself reports only what overflows for every input.

Bad:
    weight = tf.exp(logits)
"""

from tfnanlint.api import Certainty, rule

TFNANLINT_API = 1


@rule("ACM101", "exp-without-bound", on="tf.exp")
def exp_without_bound(site, here):
    if site.value("x").hi > 88:
        yield here.finding(site, "x", "exponential of a value without bound", Certainty.MAY)
