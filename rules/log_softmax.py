"""Logarithm of a softmax computed in two steps.

The softmax underflows to exactly 0 when one logit is about 87 (float32) below the largest; its logarithm is then
`-inf` and the gradient NaN. `tf.nn.log_softmax` computes the same function without the detour and stays finite.

Bad:
    log_p = tf.math.log(tf.nn.softmax(logits))

Good:
    log_p = tf.nn.log_softmax(logits)
"""

from tfnanlint.api import Certainty, Claim, Context, Finding, Iterator, Site, argument, rule


@rule("TFN301", "log-softmax", on="tf.math.log", over="TFN101")
def check(log: Site, here: Context) -> Iterator[Finding]:
    softmax = here.made_by(log.value("x"), "tf.nn.softmax")
    if softmax is None:
        return
    fixes = []
    if softmax.complete:
        fixes = here.rewrite(log, "tf.nn.log_softmax({logits}, axis={axis})", title="use log_softmax of the logits",
                             claim=Claim.EQUAL, logits=argument(softmax, "logits"), axis=argument(softmax, "axis"))
    yield here.finding(log, "x", "logarithm of a softmax, which underflows to 0: the loss becomes inf and its gradient NaN",
                       Certainty.MAY, fixes)
