"""Logarithm of a sigmoid, or of one minus a sigmoid, computed in two steps.

In float32 the sigmoid is exactly 0 below -87 and exactly 1 above 16.6, so `log(sigmoid(z))` and
`log(1 - sigmoid(z))` are `-inf` on outputs that are merely confident, and the gradient is NaN.
`tf.math.log_sigmoid(z)` and `-tf.math.softplus(z)` are the same functions, finite for every finite
`z`.

See it:
    >>> float(tf.math.log(1.0 - tf.sigmoid(20.0))), float(-tf.math.softplus(20.0))
    (-inf, -20.0)

Bad:
    real = tf.math.log(tf.sigmoid(z))
    fake = tf.math.log(1.0 - tf.sigmoid(z))

Good:
    real = tf.math.log_sigmoid(z)
    fake = -tf.math.softplus(z)

Where the logits are not available at the logarithm, return them from the function that computes the
sigmoid (discriminators often do: `return probability, logit`). A distribution that is made with
`probs=tf.sigmoid(z)` takes the logarithm in its `log_prob`: make it with `logits=z`.

See also: https://www.tensorflow.org/api_docs/python/tf/math/log_sigmoid

Seen in the wild:
https://github.com/carpedm20/DCGAN-tensorflow/issues/15 (the loss of a GAN),
https://github.com/hwalsuklee/tensorflow-mnist-VAE/issues/4 (an autoencoder)
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
    logged,
    repairs,
    rule,
    spot,
    weakness_of_data,
)


@rule(
    "TFN302",
    "log-sigmoid",
    on="tf.math.log tf.math.log1p method.log_prob",
    over="TFN101 TFN307 TFN204 TFN206",
    fixes="log_sigmoid softplus log_factors floor",
)
def check(log: Site, here: Context) -> Iterator[Finding]:
    if log.op.name == "method.log_prob":
        yield from log_probs.of_probabilities(log, here, "tf.sigmoid")
        return
    sigmoid, complement = producer(log, here)
    edge = -1.0 if log.op.name == "tf.math.log1p" else 0.0
    if (
        sigmoid is None
        or log.value("x").positive
        or log.value("x").lo > edge
        or here.only_compared(log)
    ):
        return
    fixes = stable(log, sigmoid, complement, here)
    if complement:
        message = (
            "logarithm of 1 - sigmoid, which can round to 0: the loss is inf and its gradient NaN"
        )
    else:
        message = (
            "logarithm of a sigmoid, which can underflow to 0: the loss is inf and its gradient NaN"
        )
    yield here.finding(
        log,
        "x",
        message,
        Certainty.MAY,
        fixes or repairs.logarithm(here, log, edge=edge),
        kind=weakness_of_data(log.source.tree),
    )


def producer(log: Site, here: Context) -> tuple[Site | None, bool]:
    """The sigmoid that is logged without any guard, and whether 1 minus it is."""
    if log.op.name == "tf.math.log":
        sigmoid = here.made_by(log.value("x"), "tf.sigmoid")
        if sigmoid is not None:
            return sigmoid, False
    prob = logged(log)
    if prob is None or prob.guard or not prob.complement or prob.producer.op.name != "tf.sigmoid":
        return None, False
    return prob.producer, True


def stable(log: Site, sigmoid: Site, complement: bool, here: Context) -> list[Fix]:
    if not sigmoid.complete:
        here.no_fix = "tfnanlint does not know an argument of the sigmoid"
        return []
    holes = {"z": argument(sigmoid, "x", "logits")}
    if complement:
        return repairs.minus_softplus(
            here, log, holes["z"], title="use minus the softplus of the logits", claim=Claim.EQUAL
        )
    place, whole = spot(log, "x", sigmoid), log.args["x"]
    if place is None:
        here.no_fix = "another statement selects elements of the sigmoid"
        return []
    new = (place, "tf.math.log_sigmoid({z})", holes)
    part = (
        (log.node, *new[1:])
        if place is whole
        else (log.node, "{inner}", {"inner": Changed(whole, [new])})
    )
    return here.rewrite_all(log, [part], title="use log_sigmoid of the logits", claim=Claim.EQUAL)
