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

Bad:
    model = keras.Sequential([keras.layers.Dense(1, activation="tanh")])
    model.compile(optimizer="adam", loss="binary_crossentropy")

Good:
    model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")

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

from typing import NamedTuple

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
    evidence,
    last_layer,
    linear,
    made_by,
    maker,
    plain,
    rule,
    words,
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
CLASSES = ("categorical", "sparse")
ROUNDING = 1e-3  # sums and products of probabilities go a little beyond their bounds
DENSE = ("Dense", "dense")
COST = "the network computes a different function: train it again"


class Misfit(NamedTuple):
    """What a loss does to predictions outside its range, in words; `only_stops`: they get no
    gradient, and that is all.
    """

    text: str
    only_stops: bool = False


def stopped(text: str) -> Misfit:
    return Misfit(f"{text} get no gradient", only_stops=True)


@rule(
    "TFN504",
    "range-does-not-fit-loss",
    on=" ".join((COMPILE, *FAMILIES, "file")),
    words="softmax",
    silent="MUST/UNKNOWN/TESTS MUST/NO/TESTS",
    fixes="activation",
)
def check(site: object, here: Context) -> Iterator[Finding]:
    if not isinstance(site, Site):  # a file
        for node, point in (call for name in DENSE for call in here.calls(name)):
            dense = here.site(node, point)
            if dense is not None:
                yield from one_unit(dense, here)
        return
    for pair in here.pairings(site):
        why = misfit(pair)
        learns = site.differentiated is not Differentiated.NO
        if why is None or pair.logits is True or why.only_stops and not learns:
            continue
        yield here.finding(site, None, why.text, Certainty.MAY, another(pair, here), node=pair.node)


def misfit(pair: Pairing) -> Misfit | None:
    """What the loss does to predictions outside its range; None when they fit."""
    p, family = pair.predictions, pair.family
    if not p.known or (family == "binary" or family in CLASSES) and linear(p):
        return None  # any number: TFN503
    folded = made_by(evidence.widest(plain(p)), "tf.sqrt", "K.sqrt", "tf.abs", "tf.square")
    if folded is not None and not folded.value("x").known:
        return None  # the op shows where it begins, and nothing where it ends
    reach = f"the predictions are {'unbounded' if linear(p) else words(p)}"
    below, above = p.lo < -ROUNDING, p.hi > 1 + ROUNDING
    if family == "binary" and (below or above):
        return stopped(
            f"{reach}, but the loss expects probabilities: values outside [0, 1] are clipped and"
        )
    if family == "log_loss" and (below or above):
        return Misfit(
            f"{reach}, but log_loss takes log(p) and log(1 - p) without clipping: outside "
            "[0, 1] the loss is NaN"
        )
    if family in CLASSES:
        return of_classes(pair, reach, below, above)
    if family == "poisson" and below:
        return Misfit(f"{reach}, but poisson takes their logarithm: below 0 the loss is NaN")
    if family in ("msle", "kld") and below:
        return stopped(f"{reach}, but the loss clips them at 0: values below 0")
    return None


def of_classes(pair: Pairing, reach: str, below: bool, above: bool) -> Misfit | None:
    """What a loss of exclusive classes of Keras does to its predictions; None when they fit."""
    if not pair.keras:
        return None
    # it clips and never divides: sigmoids are compared by their logarithms there
    if pair.family == "sparse":
        clipped = f"{reach}, but the loss clips them to [1e-7, 1 - 1e-7]: values outside"
        return stopped(clipped) if below or above else None
    if below or above:
        return Misfit(
            f"{reach}, but the loss divides them by their sum: where the sum is 0, the loss is NaN"
        )
    if is_sigmoid(pair):
        return Misfit(
            "the loss expects probabilities that sum to 1, but gets sigmoids: it divides them "
            "by their sum, which gives NaN where all of them are 0"
        )
    return None


def is_sigmoid(pair: Pairing) -> bool:
    """Whether the predictions are sigmoids, one for each class."""
    made = maker(pair.predictions)
    return made is not None and made.op.name == "tf.sigmoid"


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
    fixes = here.rewrite(
        site,
        '"sigmoid"' if named else "tf.sigmoid",
        node=site.args["activation"],
        title="give the last layer activation sigmoid",
        claim=Claim.SHIFTED,
        cost=COST,
    )
    yield here.finding(
        site,
        None,
        "softmax of a single unit: the result is 1 for every input, and its gradient is 0",
        Certainty.MUST,
        fixes,
    )


def another(pair: Pairing, here: Context) -> list[Fix]:
    """The activation that fits, where the last layer stands in this file and names none: of one
    that is named, only its author knows whether it is wrong or the loss.
    """
    made, right = last_layer(pair), RIGHT[pair.family]
    if pair.family in CLASSES and not is_sigmoid(pair):
        here.no_fix = "a layer of classes may be missing: give the last layer one unit for each class, and softmax"
        return []
    if made is None or made.source is not here.source or "activation" not in made.op.params:
        here.no_fix = f"give the last layer the activation {right}"
        return []
    if made.given("activation") and made.const("activation") not in (None, "linear"):
        here.no_fix = (
            f"the activation or the loss is wrong: give the last layer the activation {right}, or "
            "choose a loss that expects its outputs"
        )
        return []
    return here.with_argument(
        made,
        "activation",
        here.speller.quoted(right),
        title=f"give the last layer activation {right}",
        claim=Claim.SHIFTED,
        cost=COST,
    )
