"""A clip whose upper bound is the maximum of the clipped values themselves.

`tf.clip_by_value(y, 1e-8, tf.reduce_max(y))` equals `tf.maximum(y, 1e-8)` in value and gradient: the upper bound guards
nothing and costs a reduction. The floor makes the logarithm finite but its gradient is exactly 0 below it, so the loss
looks repaired while a saturated wrong output learns nothing. A lower bound of `tf.reduce_min(y)` guards nothing at all.

Bad:
    p = tf.clip_by_value(y, 1e-8, tf.reduce_max(y))

Good:
    p = tf.maximum(y, 1e-8)

Where `y` is a softmax or sigmoid of visible logits, use the loss on logits instead: its gradient stays alive.
"""

from tfnanlint.api import Certainty, Claim, Context, Finding, Iterator, Site, rule


@rule("TFN401", "bound-from-data", on="tf.clip_by_value")
def check(clip: Site, here: Context) -> Iterator[Finding]:
    y = clip.value("x")
    high = here.made_by(clip.value("clip_value_max"), "tf.reduce_max")
    low = here.made_by(clip.value("clip_value_min"), "tf.reduce_min")
    if low is not None and here.same(low.value("x"), y):
        yield here.finding(clip, "x", "the lower bound is the minimum of the clipped values: it guards nothing",
                           Certainty.MUST)
    elif high is not None and here.same(high.value("x"), y):
        fixes = here.rewrite(clip, "tf.maximum({y}, {low})", title="drop the upper bound, which never acts",
                             claim=Claim.EQUAL, y=clip.args["x"], low=clip.args["clip_value_min"])
        yield here.finding(
            clip, "x", "the upper bound is the maximum of the clipped values: it guards nothing, and below the lower bound "
            "the gradient is 0 (the loss looks finite but nothing is learned there)", Certainty.MUST, fixes)
