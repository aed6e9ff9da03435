"""Cross-entropy written by hand on a softmax or sigmoid.

`-sum(y * log(softmax(z)))` and `-(y * log(p) + (1 - y) * log(1 - p))` are infinite as soon as the
softmax or sigmoid rounds to 0 or 1, which happens in float32 for outputs that are merely confident
(a logit 87 below the largest, or above 16.6 for a sigmoid). A clip or an epsilon around `p` makes
the loss finite, but its gradient is 0, or nearly 0, exactly where the network is confident and
wrong: it stops learning there. Losses computed from the logits have neither problem.

See it:
    >>> p = tf.nn.softmax([0.0, 200.0])
    >>> float(-tf.reduce_sum([1.0, 0.0] * tf.math.log(p)))
    inf

Bad:
    p = tf.nn.softmax(logits)
    loss = -tf.reduce_mean(tf.reduce_sum(labels * tf.math.log(tf.clip_by_value(p, 1e-8, 1.0)), axis=-1))
    q = tf.sigmoid(z)
    loss += -tf.reduce_mean(y * tf.math.log(q) + (1.0 - y) * tf.math.log(1.0 - q))

Good:
    loss = -tf.reduce_mean(tf.reduce_sum(labels * tf.nn.log_softmax(logits), axis=-1))
    loss += tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z))

For a softmax the safe fix replaces the logarithm by `tf.nn.log_softmax`, which is equal for all
labels, weights and axes. `tf.nn.softmax_cross_entropy_with_logits` is offered besides, but its
gradient is right only for labels that sum to 1 along the classes (rows masked with zeros get a
wrong one), and in TensorFlow 1 no gradient reaches the labels.

Nothing is reported where no gradient is taken, as in a metric, and the value is finite: guarded, or
selected by `tf.where`.

See also: https://www.tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits

Seen in the wild:
https://stackoverflow.com/questions/33712178 (the question most often asked),
https://github.com/tensorflow/models/pull/181 (an example that went NaN after 90 epochs),
https://github.com/keras-team/keras/issues/9664 (the gradient behind the clip)
"""

from tfnanlint.api import (
    Certainty,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Probability,
    Site,
    absorbed_epsilon_repairs,
    absorbed_epsilons,
    ast,
    cross_entropy,
    cross_entropy_repairs,
    logged,
    one_hot_choice,
    probability,
    repairs,
    rule,
    weakness_of_data,
)


@rule(
    "TFN303",
    "hand-cross-entropy",
    on="tf.math.log tf.math.log1p",
    over="TFN101 TFN207 TFN301 TFN302 TFN402 TFN307 TFN405",
    fixes="log_softmax cross_entropy_with_logits log_sigmoid log_factors floor",
)
def check(log: Site, here: Context) -> Iterator[Finding]:
    logarithm = logged(log)
    if logarithm is None or not (logarithm.layer or logarithm.producer.complete):
        yield from picked(log, here)
        return
    is_valued = log.differentiated is Differentiated.NO  # no gradient that could be gone
    if not logarithm.guard and log.value("x").positive:
        return  # finite
    if is_valued and (logarithm.guard or here.hidden(log)):
        return  # finite
    outer = cross_entropy.LinearContext(log, here.interpreter, here.around)
    kind = logarithm.producer.op.name
    loss = outer.binary(logarithm) if kind == "tf.sigmoid" else None
    if loss is not None:
        if loss.halves[0].log is log:
            yield from binary(log, loss, outer, here)
    elif kind == "tf.nn.softmax" and not logarithm.complement and outer.is_loss(logarithm):
        yield from categorical(log, logarithm, outer, here)


ENTROPY = (
    "entropy of a sigmoid written by hand: it and its gradient are NaN (0 * inf) as soon as the "
    "sigmoid rounds to 0 or 1"
)


def why(*probabilities: Probability, categorical: bool = False, is_lost: bool = False) -> str:
    """What goes wrong, where a guard holds or `is_lost`."""
    if any(one.guard for one in probabilities) and not is_lost:
        return "the guard leaves no gradient for confidently wrong outputs"
    name, ends = ("softmax", "0") if categorical else ("sigmoid", "0 or 1")
    return f"it is inf, its gradient NaN, once the {name} rounds to {ends}"


def advice(*probabilities: Probability) -> str:
    """What to do where a layer keeps the logits to itself."""
    if all(one.layer is None for one in probabilities):
        return ""
    return "remove the activation of the layer, and compute the loss with from_logits=True"


def binary(
    log: Site,
    loss: cross_entropy.BinaryCrossEntropy,
    outer: cross_entropy.LinearContext,
    here: Context,
) -> Iterator[Finding]:
    entropy = is_entropy(loss, log, here)
    if entropy and any(one.guard for one in loss.probabilities):
        return  # its gradient is 0 at the ends in truth, and no answer is wrong

    def fixes() -> list[Fix]:
        return cross_entropy_repairs.binary(here, log, loss, outer)

    # Where the logits are out of reach the logarithm is repaired (TFN301); a guarded one is finite.
    is_guarded = any(one.guard for one in loss.probabilities)
    if not is_guarded and not here.visible(loss.sigmoid, log) and not here.possible(fixes):
        return
    covers = [
        *(half.log.node for half in loss.halves),
        *(node for node in ast.walk(loss.whole) if isinstance(node, (ast.BinOp, ast.Call))),
    ]
    logs = [half.log for half in loss.halves]
    reorders = not absorbed_epsilon_repairs.runs_in_first_version(here)
    is_lost = absorbed_epsilons.reach_zero(logs, here.interpreter, here.around, reorders)
    yield here.finding(
        log,
        "x",
        ENTROPY
        if entropy
        else f"cross-entropy written by hand: {why(*loss.probabilities, is_lost=is_lost)}",
        Certainty.MAY,
        fixes(),
        node=loss.whole,
        help=advice(*loss.probabilities),
        covers=covers,
        kind=weakness_of_data(log.source.tree),
    )


def is_entropy(loss: cross_entropy.BinaryCrossEntropy, log: Site, here: Context) -> bool:
    """Whether the labels are the probability itself."""
    labels = probability(here.value(loss.labels, log.point)) if loss.labels is not None else None
    return labels is not None and labels.output is loss.halves[0].probability.output


def categorical(
    log: Site, logarithm: Probability, outer: cross_entropy.LinearContext, here: Context
) -> Iterator[Finding]:
    def fixes() -> list[Fix]:
        return cross_entropy_repairs.categorical(here, log, logarithm, outer)

    # Where the logits are out of reach the logarithm is repaired (TFN301), not the loss.
    is_guarded = logarithm.guard and (
        logarithm.layer is not None or here.visible(logarithm.producer, log)
    )
    if not is_guarded and not here.possible(fixes):
        return
    products = outer.products()
    yield here.finding(
        log,
        "x",
        f"cross-entropy written by hand: {why(logarithm, categorical=True)}",
        Certainty.MAY,
        fixes(),
        node=products[-1],
        help=advice(logarithm),
        covers=[log.node, *products],
        kind=weakness_of_data(log.source.tree),
    )


# One probability picked by a one-hot mask


def picked(log: Site, here: Context) -> Iterator[Finding]:
    """log(reduce_sum(softmax * one_hot, axis=-1)): the mask picks one probability, so it may pick
    the logarithm.
    """
    total = log.value("x").origin
    if (
        log.op.name != "tf.math.log"
        or not isinstance(total, Site)
        or total.op.name != "tf.reduce_sum"
    ):
        return
    chosen = one_hot_choice(total) if total.const("axis") == -1 else None
    softmax = chosen[0].value(chosen[1]).origin if chosen is not None else None
    if not isinstance(softmax, Site) or softmax.op.name != "tf.nn.softmax" or not softmax.complete:
        return

    def fixes() -> list[Fix]:
        return repairs.logarithm(here, log)

    if here.visible(softmax, log) or here.possible(
        lambda: [fix for fix in fixes() if fix.claim.safe]
    ):
        yield here.finding(
            log,
            "x",
            "logarithm of one probability of a softmax, which can underflow to 0: the loss is "
            "inf and its gradient NaN",
            Certainty.MAY,
            fixes(),
            kind=weakness_of_data(log.source.tree),
        )
