"""Probabilities given to a loss that applies the softmax or sigmoid itself.

Losses `..._with_logits`, and Keras losses with `from_logits=True`, expect logits. Given
probabilities they apply the softmax a second time, to values between 0 and 1. The best possible
loss with 10 classes is then 1.46 instead of 0, and a saturated wrong one (logit 20 too high) has a
gradient of 3e-9 instead of 1.

See it:
    >>> label = tf.one_hot(0, 10)
    >>> perfect = tf.nn.softmax(100.0 * label)
    >>> round(float(tf.nn.softmax_cross_entropy_with_logits(labels=label, logits=perfect)), 4)
    1.4612

Repair: `pass_logits` | the softmax is applied twice: the loss never reaches 0, and the gradient is
small | the softmax is applied once |

Repair: `no_from_logits` | the softmax is applied twice: the loss never reaches 0, and the gradient
is small | the softmax is applied once |

Bad:
    p = tf.nn.softmax(logits)
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=p)

Good:
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)

Keras notices a softmax or sigmoid that a layer has as its activation, and uses the logits with a
warning: such a model is not reported here. Keras does not notice one that another layer or a
reshape follows, nor a plain `tf.nn.softmax` in eager mode.

See also: https://www.tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits (its
warning: "This op expects unscaled logits"),
https://github.com/jeffheaton/t81_558_deep_learning/pull/81,
https://github.com/ChengBinJin/V-GAN-tensorflow/issues/16
"""

from tfnanlint.api import (
    COMPILE,
    FAMILIES,
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Pairing,
    Part,
    Site,
    argument,
    ast,
    made_by,
    maker,
    rescued,
    rule,
    shape_readers,
    softmax_by_hand,
    texts,
)

PRODUCERS = {"tf.nn.softmax": ("softmax", "logits"), "tf.sigmoid": ("sigmoid", "x")}
APPLIED = {"binary": "sigmoid", "categorical": "softmax", "sparse": "softmax"}


@rule(
    "TFN502",
    "softmax-twice",
    on=" ".join((COMPILE, "tf.nn.softmax", *FAMILIES)),
    over="TFN501",
    fixes="pass_logits no_from_logits",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name == "tf.nn.softmax":
        yield from of_softmax(site, here)
        return
    for pair in here.pairings(site):
        if pair.logits is not True or pair.family not in APPLIED:
            continue
        producer = maker(pair.predictions)
        if producer is None or producer.op.name not in PRODUCERS or pair.keras and rescued(pair):
            continue
        first, second = PRODUCERS[producer.op.name][0], APPLIED[pair.family]
        direct = (
            made_by(pair.predictions, *PRODUCERS, aligned=True) is producer
            and producer.library != "keras"
        )
        only = pair.keras and direct and pair.predictions.origin is producer and first == second
        modes = ("eager",) if only else ("eager", "graph", "xla")
        where = " in eager mode" if only else ""
        yield here.finding(
            site,
            None,
            f"the loss takes the output of a {first} for logits{where} and applies {second} "
            "again: it cannot reach 0, and confidently wrong outputs get almost no gradient",
            Certainty.MAY if pair.keras else Certainty.MUST,
            repairs(pair, producer, here),
            modes=modes,
            node=pair.node,
        )


def of_softmax(site: Site, here: Context) -> Iterator[Finding]:
    """softmax(softmax(x)) along one axis; the inner one may be written by hand."""
    inner = made_by(site.value("logits"), "tf.nn.softmax", "tf.divide", aligned=True)
    if inner is None or site.value("logits").origin is not inner:
        return
    by_hand = softmax_by_hand.written(inner) if inner.op.name == "tf.divide" else None
    if inner.op.name == "tf.divide" and by_hand is None:
        return
    source, axis = by_hand or (inner, inner.const("axis", -1))
    if site.const("axis", -1) != axis:
        return
    fixes = here.rewrite(
        site,
        "{z}",
        node=site.args["logits"],
        z=argument(source, "x" if by_hand else "logits", "logits"),
        title="pass the logits",
        claim=Claim.SHIFTED,
        cost="the result is that of a single softmax",
    )
    yield here.finding(
        site,
        "logits",
        "softmax of a softmax: its inputs lie between 0 and 1, so its outputs are nearly "
        "uniform and its gradient nearly vanishes",
        Certainty.MAY,
        fixes,
    )


def repairs(pair: Pairing, producer: Site, here: Context) -> list[Fix]:
    """The logits in the place of the probabilities, or a Keras loss told that it gets
    probabilities.
    """
    fixes: list[Fix] = []
    if (
        pair.predictions_node is not None
        and pair.predictions.origin is producer
        and producer.complete
        and producer.args
    ):
        fixes += here.rewrite_all(
            pair.site,
            with_logits(pair.predictions_node, producer, here),
            title="pass the logits",
            claim=Claim.SHIFTED,
            cost="the loss becomes the intended one, so its values change",
        )
    if pair.keras and pair.loss is not None and "from_logits" in pair.loss.args and not fixes:
        fixes += here.with_argument(
            pair.loss,
            "from_logits",
            "False",
            title="set from_logits=False, because these are probabilities",
            claim=Claim.SHIFTED,
            cost="the loss becomes the intended one; saturated outputs still get no gradient",
        )
    return fixes


def with_logits(probabilities: ast.expr, producer: Site, here: Context) -> list[Part]:
    """The logits for probabilities and for what else reads no more than their shape; where only
    such does, and the name speaks of logits, they get that name.
    """
    param = PRODUCERS[producer.op.name][1]
    others = shape_readers.others(probabilities, producer, here.interpreter, here.around)
    logits = producer.args[param]
    if others and not isinstance(logits, ast.Name) and says_logits(probabilities):
        return [(producer.node, "{z}", {"z": logits})]
    z = argument(producer, param, "logits")
    return [(node, "{z}", {"z": z}) for node in (probabilities, *(others or ()))]


def says_logits(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and texts.speaks_of_logits(node.id)
