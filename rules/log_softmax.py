"""Logarithm of a softmax computed in two steps.

The softmax underflows to exactly 0 when one logit is about 87 (float32) below the largest; its
logarithm is then `-inf` and the gradient NaN. `tf.nn.log_softmax` computes the same function
without the detour and stays finite.

See it:
    >>> tf.math.log(tf.nn.softmax([0.0, 200.0])).numpy()
    array([-inf,   0.], dtype=float32)
    >>> tf.nn.log_softmax([0.0, 200.0]).numpy()
    array([-200.,    0.], dtype=float32)

Bad:
    log_p = tf.math.log(tf.nn.softmax(logits))

Good:
    log_p = tf.nn.log_softmax(logits)

The softmax may stand in another statement, and elements of it may be picked in between
(`tf.math.log(tf.gather(p, actions, batch_dims=1))`). Where the logits are not available at the
logarithm, return them from the function that computes the softmax. A floor,
`tf.math.log(tf.maximum(p, 1e-37))`, keeps the loss finite, but its gradient is 0 below the floor:
as a fix it is offered only where no gradient is taken, or a layer keeps the logits to itself.

A distribution that is made with `probs=tf.nn.softmax(logits)` takes the same logarithm in its
`log_prob`: make it with `logits=logits`.

Nothing is reported where `tf.where` replaces the result for a class at 0 and no gradient is taken,
as in a metric.

Often harmless: a logarithm that the function itself tests for NaN or Inf, if no gradient is taken.

See also: https://www.tensorflow.org/api_docs/python/tf/nn/log_softmax

Seen in the wild:
https://github.com/awjuliani/DeepRL-Agents/issues/34 (the logarithm of a policy),
https://github.com/tensorflow/models/pull/181 (NaN after 90 epochs),
https://github.com/tensorflow/probability/issues/1317 (a distribution made with probs)
"""

from tfnanlint.api import (
    Certainty,
    Changed,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Site,
    argument,
    log_probs,
    repairs,
    rule,
    spot,
    weakness_of_data,
)


@rule(
    "TFN301",
    "log-softmax",
    on="tf.math.log method.log_prob",
    over="TFN101 TFN307 TFN204 TFN206",
    silent="MAY/NO/DOUBTFUL",
    fixes="log_softmax log_factors floor",
)
def check(log: Site, here: Context) -> Iterator[Finding]:
    if log.op.name != "tf.math.log":
        yield from log_probs.of_probabilities(log, here, "tf.nn.softmax")
        return
    softmax = here.made_by(log.value("x"), "tf.nn.softmax")
    # a class with the logit -inf is never drawn
    if softmax is None or log.value("x").positive or here.only_compared(log):
        return
    if here.hidden(log):
        return  # something else is taken where it is -inf, and no gradient comes back
    fixes = stable(log, softmax, here)
    yield here.finding(
        log,
        "x",
        "logarithm of a softmax, which can underflow to 0: the loss is inf and its gradient NaN",
        Certainty.MAY,
        fixes or repairs.logarithm(here, log),
        doubtful=here.tested_for_nan(log),
        kind=weakness_of_data(log.source.tree),
    )


def stable(log: Site, softmax: Site, here: Context) -> list[Fix]:
    """log_softmax in the place of the softmax, whatever picks elements of it around that, and no
    logarithm.
    """
    if not softmax.complete:
        here.no_fix = "tfnanlint does not know an argument of the softmax"
        return []
    place = spot(log, "x", softmax)
    if place is None:
        here.no_fix = "another statement selects elements of the softmax"
        return []
    new = (
        place,
        "tf.nn.log_softmax({logits}, axis={axis})",
        {"logits": argument(softmax, "logits", "logits"), "axis": argument(softmax, "axis")},
    )
    whole = log.args["x"]
    part = (
        (log.node, *new[1:])
        if place is whole
        else (log.node, "{inner}", {"inner": Changed(whole, [new])})
    )
    return here.rewrite_all(log, [part], title="use log_softmax of the logits", claim=Claim.EQUAL)
