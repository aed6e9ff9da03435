"""The output of a layer without activation given to a loss that expects probabilities.

The output of `Dense(10)` is unbounded. A cross-entropy with `from_logits=False`, which is the
default of every Keras loss, clips it to [1e-7, 1 - 1e-7] first: where an output is outside, the
loss is a constant such as 16.1 and its gradient is 0. Accuracy stops improving early, and a row of
zeros gives NaN in the categorical losses, which divide by the sum.

See it:
    >>> logits = tf.constant([[-5.0, 3.0]])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(logits)
    ...     loss = tf.keras.losses.sparse_categorical_crossentropy(tf.constant([0]), logits)
    >>> loss.numpy(), tape.gradient(loss, logits).numpy()
    (array([16.118095], dtype=float32), array([[0., 0.]], dtype=float32))

Bad:
    model = keras.Sequential([keras.layers.Dense(10)])
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")

Good:
    model = keras.Sequential([keras.layers.Dense(10)])
    model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))

The loss of logits is the better one: with a saturated wrong answer it still has a gradient of about
1. If probabilities are wanted from the model itself, give the last layer `activation="softmax"` (or
"sigmoid") instead. Metrics such as "accuracy" of a binary model compare with 0.5: for logits use
`keras.metrics.BinaryAccuracy(threshold=0.0)`.

Often harmless: a model that a test file compiles but neither fits nor evaluates, because its loss
is never computed.

See also: https://www.tensorflow.org/api_docs/python/tf/keras/losses/BinaryCrossentropy
("from_logits: Whether to interpret y_pred as a tensor of logit values"),
https://github.com/tensorflow/tensorflow/issues/28718,
https://github.com/keras-team/keras-hub/pull/1008, https://github.com/xiph/LPCNet/issues/97
"""

from tfnanlint.api import (
    COMPILE,
    FAMILIES,
    Any,
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Pairing,
    Site,
    ast,
    frameworks,
    last_layer,
    linear,
    rule,
    texts,
)

WANTED = {"binary": "sigmoid", "categorical": "softmax", "sparse": "softmax"}
# The metrics of several classes that compare the largest output with the label.
ACCURACY = ("accuracy", "acc", "categorical_accuracy", "sparse_categorical_accuracy")
COST = "the loss becomes the intended one; predictions and metrics receive logits"
NAMES = {
    "binary_crossentropy": "BinaryCrossentropy",
    "categorical_crossentropy": "CategoricalCrossentropy",
    "sparse_categorical_crossentropy": "SparseCategoricalCrossentropy",
}


@rule(
    "TFN503",
    "logits-as-probabilities",
    on=" ".join((COMPILE, *(name for name in FAMILIES if name.startswith(("keras.", "K."))))),
    silent="MAY/NO/DOUBTFUL MAY/UNKNOWN/DOUBTFUL",
    fixes="from_logits activation",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    for pair in here.pairings(site):
        if pair.logits is not False or pair.family not in WANTED or not linear(pair.predictions):
            continue
        yield here.finding(
            site,
            None,
            "the loss expects probabilities but gets logits, because the last layer has no "
            f"{WANTED[pair.family]}: values outside [0, 1] are clipped and get no gradient",
            Certainty.MAY,
            repairs(pair, here),
            node=pair.node,
            doubtful=here.tests and not any(here.calls(name) for name in frameworks.TRAINING_CALLS),
        )


def repairs(pair: Pairing, here: Context) -> list[Fix]:
    """from_logits=True, where the loss is made or named; the activation where metrics compare the
    predictions, too.
    """
    if pair.site.op.name == COMPILE and pair.site.given("metrics"):
        meant = texts.speaks_of_logits(here.source.code)
        if not meant:
            here.no_fix = "the metrics would get logits: give the last layer the activation"
            return activated(pair, here)
        if not takes_largest(pair):
            here.no_fix = (
                "the file speaks of logits: set from_logits=True, and the thresholds of the "
                "metrics to 0"
            )
            return []
    keep: dict[str, Any] = dict(
        title="set from_logits=True in the loss", claim=Claim.SHIFTED, cost=COST
    )
    if pair.loss is not None:
        return here.with_argument(pair.loss, "from_logits", "True", **keep) + activated(pair, here)
    name = getattr(pair.node, "value", None)
    if name not in NAMES:
        return []
    return here.rewrite(
        pair.site, f"keras.losses.{NAMES[name]}(from_logits=True)", node=pair.node, **keep
    ) or activated(pair, here)


def takes_largest(pair: Pairing) -> bool:
    """Whether all metrics of a model only ask which class has the largest output: logits do for
    them.
    """
    metrics = pair.site.args["metrics"]
    names = metrics.elts if isinstance(metrics, (ast.List, ast.Tuple)) else [metrics]
    named = [name.value for name in names if isinstance(name, ast.Constant)]
    is_accuracy = len(named) == len(names) and set(named) <= set(ACCURACY)
    return pair.family != "binary" and is_accuracy


def activated(pair: Pairing, here: Context) -> list[Fix]:
    """The activation that the loss wants, where Keras has no losses that take logits."""
    layer, wanted = last_layer(pair), WANTED[pair.family]
    if (
        layer is None
        or layer.op.name != "keras.layers.Dense"
        or layer.given("activation")
        or layer.source is not here.source
    ):
        return []
    if texts.speaks_of_logits(here.comment_above(layer.node)):
        here.no_fix = "a comment says that the layer gives logits: set from_logits=True in the loss"
        return []
    return here.with_argument(
        layer,
        "activation",
        here.speller.quoted(wanted),
        title=f"give the last layer activation {wanted}",
        claim=Claim.SHIFTED,
        cost="the model returns probabilities, and the loss becomes the intended one",
    )
