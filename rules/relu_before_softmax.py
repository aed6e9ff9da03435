"""A relu right before a softmax, or as the logits of a cross-entropy.

Relu sets every logit below 0 to 0 and lets no gradient through there. A class whose logit is below
0 cannot be pushed further down, nor up again; when all logits of an example are, the softmax is
uniform and nothing is learned from it. With a learning rate that is a little too high all units die
and the loss freezes at log(number of classes). Logits need both signs.

Bad:
    logits = tf.nn.relu(tf.matmul(hidden, w) + b)
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)

Good:
    logits = tf.matmul(hidden, w) + b
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)

The fix takes the relu away, which changes what the network computes: train it again. In Keras it is
`activation=None` in the layer before the softmax; `slim.fully_connected` and `slim.conv2d` have a
relu unless they get `activation_fn=None`, from an `arg_scope` too.

See also: https://www.tensorflow.org/api_docs/python/tf/nn/relu

Seen in the wild:
https://stackoverflow.com/questions/43239467 (a relu on the last layer of an MNIST network)
"""

from tfnanlint.api import (
    HANDING_LAYERS,
    Any,
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    ast,
    made_by,
    rule,
    traits,
)

RELUS = frozenset((*traits.RELUS, "keras.activations.relu"))
LAYERS = frozenset(("keras.layers.ReLU",))
# Layers that hand the values on: a relu before them is a relu before what follows.
LOSSES = {
    "tf.nn.softmax_cross_entropy_with_logits": "logits",
    "tf.nn.sparse_softmax_cross_entropy_with_logits": "logits",
    "tf.nn.sigmoid_cross_entropy_with_logits": "logits",
    "tf.nn.weighted_cross_entropy_with_logits": "logits",
    "tf.losses.softmax_cross_entropy": "logits",
    "tf.losses.sparse_softmax_cross_entropy": "logits",
    "tf.losses.sigmoid_cross_entropy": "logits",
}
# Losses that take logits when told so.
FROM_LOGITS = {
    "keras.losses.binary_crossentropy": "y_pred",
    "keras.losses.categorical_crossentropy": "y_pred",
    "keras.losses.sparse_categorical_crossentropy": "y_pred",
    "K.binary_crossentropy": "output",
    "K.categorical_crossentropy": "output",
    "K.sparse_categorical_crossentropy": "output",
}
LOSS_CLASSES = (
    "keras.losses.BinaryCrossentropy",
    "keras.losses.CategoricalCrossentropy",
    "keras.losses.SparseCategoricalCrossentropy",
)
SOFTMAX_LAYERS = ("keras.layers.Softmax", "keras.layers.Activation")


@rule(
    "TFN501",
    "relu-before-softmax",
    on=" ".join(("tf.nn.softmax", *LOSSES, *FROM_LOGITS, *LOSS_CLASSES, *SOFTMAX_LAYERS)),
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    relu = fed_by(site, here)
    if relu is None:
        return
    what = (
        "the softmax"
        if "softmax" in site.op.name.lower()
        and "cross" not in site.op.name
        or site.op.name in SOFTMAX_LAYERS
        else ("the cross-entropy as its logits")
    )
    yield here.finding(
        site,
        None,
        f"relu feeds {what}: logits below 0 become 0 and get no gradient, and where all are, the output is "
        "uniform and nothing is learned",
        Certainty.MAY,
        without(relu, here),
    )


# What arrives


def fed_by(site: Site, here: Context) -> Site | None:
    """The relu, or the layer with a relu, whose result arrives as logits."""
    name = site.op.name
    if name == "tf.nn.softmax":
        return relu_of(site.value("logits"))
    if name in LOSSES:
        return relu_of(site.value(LOSSES[name]))
    if name in FROM_LOGITS:
        return relu_of(site.value(FROM_LOGITS[name])) if site.const("from_logits") is True else None
    if name in LOSS_CLASSES:
        return into_loss(site, here)
    return into_layer(site, here)


def relu_of(value: Value) -> Site | None:
    """The op or layer with a relu that gives a value, seen through ops that rearrange it."""
    relu = made_by(value, *RELUS)
    if relu is not None:
        return relu if relu.library != "layer" and plain(relu) else None
    for _ in range(16):
        origin = value.origin
        if not isinstance(origin, Site):
            return None
        if origin.library == "layer":
            layer = origin.value("layer")
            made = layer_site(layer)
            if made is not None and made.op.name in HANDING_LAYERS:
                value = origin.value("input")
                continue
            return end_of(layer)
        if not origin.op.passes:
            return origin if ends_in_relu(origin) else None
        value = origin.value(origin.op.passes)
    return None


def plain(relu: Site) -> bool:
    """A relu without a slope below 0."""
    slope = relu.const("negative_slope", 0) if relu.op.name == "keras.activations.relu" else 0
    return slope in (0, 0.0)


def layer_site(layer: Value) -> Site | None:
    site = getattr(layer.obj, "site", None)
    return site if isinstance(site, Site) else None


def ends_in_relu(made: Site) -> bool:
    """Whether a layer, or a layer function of TensorFlow 1, ends in a relu."""
    if made.op.name in LAYERS:
        slope = made.const("negative_slope", 0)
        return slope in (0, 0.0, None)
    for param in ("activation", "activation_fn"):
        if made.given(param):
            return is_relu(made.value(param))
    slim = made.op.name.startswith("slim.") and "normalizer_fn" in made.op.params
    return slim and made.op.gives(made).lo >= 0  # an `arg_scope` may set another one


def is_relu(activation: Value) -> bool:
    if isinstance(activation.const, str) and activation.kind == "string":
        return activation.const in ("relu", "relu6")
    name = getattr(activation.obj, "name", "")
    return activation.kind in ("function", "layer") and (name in RELUS or name in LAYERS)


def is_softmax(made: Site) -> bool:
    if made.op.name == "keras.layers.Softmax":
        return True
    activation = made.value("activation")
    return activation.const == "softmax" or getattr(activation.obj, "name", "") == "tf.nn.softmax"


def last(layers) -> Site | None:
    """The last of some layers, those that only hand values on left aside, if it ends in a relu."""
    for layer in reversed(layers):
        made = layer_site(layer)
        if made is None or made.op.name not in HANDING_LAYERS:
            return made if made is not None and ends_in_relu(made) else None
    return None


# Keras


def into_layer(site: Site, here: Context) -> Site | None:
    """A softmax layer: applied to a value, or after other layers in a Sequential."""
    if site.library == "layer":
        made = layer_site(site.value("layer"))
        return relu_of(site.value("input")) if made is not None and is_softmax(made) else None
    if not is_softmax(site):
        return None
    around = here.around(site.node)
    outer = around[0] if around else None
    if isinstance(outer, (ast.List, ast.Tuple)):
        sequential = (
            here.site(around[1], site.point)
            if len(around) > 1 and isinstance(around[1], ast.Call)
            else None
        )
        if sequential is not None and sequential.op.name == "keras.Sequential":
            return last(
                [here.value(node, site.point) for node in outer.elts[: outer.elts.index(site.node)]]
            )
    if (
        isinstance(outer, ast.Call)
        and isinstance(outer.func, ast.Attribute)
        and outer.func.attr == "add"
    ):
        return last(getattr(here.value(outer.func.value, site.point).obj, "layers", ()))
    return None


def into_loss(site: Site, here: Context) -> Site | None:
    """A loss object with from_logits=True: called with predictions, or given to compile."""
    if site.library == "layer":
        made = layer_site(site.value("layer"))
        if (
            made is None
            or made.const("from_logits") is not True
            or not isinstance(site.node, ast.Call)
        ):
            return None
        given = [*site.node.args[1:2], *(k.value for k in site.node.keywords if k.arg == "y_pred")]
        return relu_of(here.value(given[0], site.point)) if given else None
    outer = next(iter(here.around(site.node)), None)
    if (
        site.const("from_logits") is not True
        or not isinstance(outer, ast.Call)
        or not isinstance(outer.func, ast.Attribute)
    ):
        return None
    if outer.func.attr != "compile":
        return None
    return end_of(here.value(outer.func.value, site.point))


def end_of(model: Value) -> Site | None:
    """The relu at the end of a model or layer."""
    layers = getattr(model.obj, "layers", None)
    if layers is not None:
        return last(layers)
    made = layer_site(model)
    if made is not None and made.op.name == "keras.Model":
        return relu_of(made.value("outputs"))
    return made if made is not None and ends_in_relu(made) else None


# Repair


def without(relu: Site, here: Context) -> list[Fix]:
    """The same code without the relu, wherever in this file it stands."""
    if relu.source is not here.source or not relu.complete:
        return []
    keep: dict[str, Any] = dict(
        title="take the relu away",
        claim=Claim.SHIFTED,
        cost="the network computes something else: train it again",
    )
    if relu.op.name in RELUS:
        return here.rewrite(relu, "{x}", x=relu.args["x"], **keep) if "x" in relu.args else []
    if relu.op.name in LAYERS:
        return here.rewrite(relu, 'keras.layers.Activation("linear")', **keep)
    for param in ("activation", "activation_fn"):
        if param in relu.args:
            nothing = '"linear"' if relu.op.name == "keras.layers.Activation" else "None"
            return here.rewrite(relu, nothing, node=relu.args[param], **keep)
    here.no_fix = "give the layer activation_fn=None"
    return []
