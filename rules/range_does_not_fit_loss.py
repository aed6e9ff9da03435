"""The range of the last activation does not fit the loss.

`tanh` reaches down to -1 and `relu` up beyond 1: a binary cross-entropy clips both to [1e-7, 1 -
1e-7], and what was clipped gets no gradient. So does the sparse categorical one. The other
categorical losses divide by the sum of the outputs: relu or sigmoid outputs that are all 0 give
NaN, and tanh outputs a sum of either sign. `poisson` takes the logarithm of the prediction: below 0
it is NaN. And the softmax of one unit is 1 for every input: a model that ends in
`Dense(1, activation="softmax")` predicts 1 for every input, and no gradient passes through it.
(Only the binary cross-entropy of Keras uses the logit instead: then the weights change, but not the
prediction.)

See it:
    >>> tanh = tf.constant([[-0.9]])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(tanh)
    ...     loss = tf.keras.losses.binary_crossentropy([[1.0]], tanh)
    >>> loss.numpy(), tape.gradient(loss, tanh).numpy()
    (array([16.118095], dtype=float32), array([[0.]], dtype=float32))

Repair: `activation` | outputs outside the range are clipped without a gradient, or make the loss
NaN | every output is in the range of the loss |

A distribution has such a range for each of its parameters. The scale of a normal distribution, the
concentration of a gamma or Dirichlet distribution or a rate must be above 0: where it comes out of
a layer without an activation, log_prob is NaN or Inf for some input, or what is drawn is. From a
relu it is 0 for many of them.

Bad:
    model = keras.Sequential([keras.layers.Dense(1, activation="tanh")])
    model.compile(optimizer="adam", loss="binary_crossentropy")

Good:
    model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")

Bad:
    dist = tf.compat.v1.distributions.Normal(0.0, scale=keras.layers.Dense(1)(x))

Good:
    scale = tf.math.softplus(keras.layers.Dense(1)(x)) + 1e-6
    dist = tf.compat.v1.distributions.Normal(0.0, scale)

| loss | last activation |
|---|---|
| binary_crossentropy | sigmoid |
| categorical_crossentropy, sparse_categorical_crossentropy, kl_divergence | softmax |
| poisson, mean_squared_logarithmic_error | softplus or exponential |

The fix gives an activation to a last layer that has none, and sigmoid to a softmax of one unit; it
changes what the network computes, so train it again. Where the layer names another activation there
is no fix, because only its author knows whether that is wrong or the loss is: a generator whose
images lie between -1 and 1 needs its tanh, and a sigmoid for each of several labels needs a binary
cross-entropy. Where relu outputs are used as class probabilities, this layer may be a hidden one,
and the layer with one unit for each class may be missing.

See also: https://github.com/keras-team/keras/issues/590,
https://github.com/tensorflow/tensorflow/issues/38457,
https://github.com/keras-team/keras/issues/18886,
https://www.tensorflow.org/api_docs/python/tf/keras/losses/Poisson
"""

from __future__ import annotations

from tfnanlint.api import (
    COMPILE,
    FAMILIES,
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Pairing,
    Site,
    ast,
    distributions,
    last_layer,
    layer_outputs,
    leaf,
    loss_ranges,
    rule,
)

RIGHT = {
    "binary": "sigmoid",
    "log_loss": "sigmoid",
    "categorical": "softmax",
    "sparse": "softmax",
    "kld": "softmax",
    "poisson": "softplus",
    "msle": "softplus",
}
MODELS = ("Model", "DNN")
DENSE = ("Dense", "dense")
GROUPS = (ast.List, ast.Tuple)
COST = "the network changes: train it again"


@rule(
    "TFN504",
    "range-does-not-fit-loss",
    on=" ".join((COMPILE, *FAMILIES, *distributions.MADE, "file")),
    words="softmax",
    silent="MUST/UNKNOWN/TESTS MUST/NO/TESTS",
    fixes="activation",
)
def check(site: object, here: Context) -> Iterator[Finding]:
    if not isinstance(site, Site):  # a file
        for node, point in (
            call for name in DENSE for call in here.calls(name, loss_ranges.may_end_in_softmax)
        ):
            dense = here.site(node, point)
            if dense is not None:
                yield from one_unit(dense, here)
        return
    for wrong in distributions.misplaced(site):
        yield here.finding(site, wrong.param, wrong.text, Certainty.MAY, help=wrong.help)
    for pair in here.pairings(site):
        why = loss_ranges.misfit(pair)
        if why is None or pair.logits is True:
            continue
        if why.only_stops and site.differentiated is Differentiated.NO:
            continue
        yield here.finding(
            site,
            None,
            why.text,
            Certainty.MAY,
            another(pair, here),
            node=pair.node,
            kind=why.kind,
        )


def one_unit(site: Site, here: Context) -> Iterator[Finding]:
    """Dense(1, activation="softmax")."""
    if site.library == "layer" or not site.given("activation"):
        return
    activation = site.value("activation")
    named = activation.kind == "string"
    stated = activation.const if named else getattr(activation.obj, "name", "")
    if stated not in ("softmax", "tf.nn.softmax"):
        return
    if site.const("units") != 1:  # last: a size comes from far away
        return
    right = RIGHT["binary"]
    inside = is_read_by_layer(site, here) or layer_outputs.is_read_of_object(site, here.around)
    if inside:
        here.no_fix = "softmax over the axis of what the layer scores may be meant"
    fixes = (
        []
        if inside
        else here.rewrite(
            site,
            here.speller.quoted(right) if named else "tf.sigmoid",
            node=site.args["activation"],
            title=f"give the last layer activation {right}",
            claim=Claim.SHIFTED,
            cost=COST,
        )
    )
    yield here.finding(
        site,
        None,
        "softmax of a single unit: the result is 1 for every input, and its gradient is 0",
        Certainty.MUST,
        fixes,
    )


def is_read_by_layer(layer: Site, here: Context) -> bool:
    """Whether the output of a layer goes on into another call than that of a model:
    `scores = Dense(1)(x)`, `Flatten()(scores)`.
    """
    around = iter(here.around(layer.node))
    applied = next(around, None)
    if not isinstance(applied, ast.Call) or applied.func is not layer.node:
        return False
    outer = next((node for node in around if not isinstance(node, (ast.keyword, *GROUPS))), None)
    if isinstance(outer, ast.Assign):
        outer = layer_outputs.first_reader(outer.targets[0], layer, applied.lineno)
    return isinstance(outer, ast.Call) and leaf(outer.func) not in MODELS


def another(pair: Pairing, here: Context) -> list[Fix]:
    """The activation that fits, where the last layer stands in this file and names none: of one
    that is named, only its author knows whether it is wrong or the loss.
    """
    layer, right = last_layer(pair), RIGHT[pair.family]
    if pair.family in loss_ranges.CLASSES and not loss_ranges.is_sigmoid(pair):
        here.no_fix = (
            "a layer of classes may be missing: give the last layer one unit for each class, "
            "and softmax"
        )
        return []
    if pair.family == "msle":
        here.no_fix = "softplus fits targets that are counts or amounts; others need another loss"
        return []
    if layer is None or layer.source is not here.source or "activation" not in layer.op.params:
        here.no_fix = f"give the last layer the activation {right}"
        return []
    if layer.given("activation") and layer.const("activation") not in (None, "linear"):
        here.no_fix = (
            f"the activation or the loss is wrong: give the last layer the activation {right}, or "
            "choose a loss that expects its outputs"
        )
        return []
    return here.with_argument(
        layer,
        "activation",
        here.speller.quoted(right),
        title=f"give the last layer activation {right}",
        claim=Claim.SHIFTED,
        cost=COST,
    )
