"""A relu right before a softmax, or as the logits of a cross-entropy.

Relu sets every logit below 0 to 0 and lets no gradient through there. A class whose logit is below
0 can be moved neither down nor up again; when all logits of an example are below 0, the softmax is
uniform and nothing is learned from the example. With a learning rate that is a little too high all
units die and the loss freezes at log(number of classes). Logits need both signs.

See it:
    >>> w = tf.constant([[-1.0, -2.0, -3.0]])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(w)
    ...     loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=tf.nn.relu(w))
    >>> tape.gradient(loss, w).numpy()
    array([[-0.,  0.,  0.]], dtype=float32)

Repair: `remove_relu` | logits below 0 become 0 and get no gradient | every logit gets a gradient |

Bad:
    logits = tf.nn.relu(tf.matmul(hidden, w) + b)
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)

Good:
    logits = tf.matmul(hidden, w) + b
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)

The fix removes the relu, which changes what the network computes: train it again. In Keras it is
`activation=None` in the layer before the softmax; `slim.fully_connected` and `slim.conv2d` have a
relu unless they get `activation_fn=None`, from an `arg_scope` too. A relu at the end of a residual
block has no fix: a layer with one unit for each class is missing behind it.

See also: https://www.tensorflow.org/api_docs/python/tf/nn/relu

Seen in the wild:
https://stackoverflow.com/questions/43239467 (a relu on the last layer of an MNIST network)
"""

from tfnanlint.api import (
    Any,
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Site,
    ast,
    relu_outputs,
    rule,
    traits,
)

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
    fixes="remove_relu",
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
        f"relu feeds {what}: logits below 0 become 0 and get no gradient",
        Certainty.MAY,
        without(relu, here),
    )


def fed_by(site: Site, here: Context) -> Site | None:
    """The relu, or the layer with a relu, whose result arrives as logits."""
    name = site.op.name
    if name == "tf.nn.softmax":
        return relu_outputs.relu_behind(site.value("logits"))
    if name in LOSSES:
        return relu_outputs.relu_behind(site.value(LOSSES[name]))
    if name in FROM_LOGITS:
        logits = site.value(FROM_LOGITS[name]) if site.const("from_logits") is True else None
        return relu_outputs.relu_behind(logits) if logits is not None else None
    if name in LOSS_CLASSES:
        return relu_outputs.relu_before_loss(site, here.interpreter, here.around)
    return relu_outputs.relu_before_layer(site, here.interpreter, here.around)


def without(relu: Site, here: Context) -> list[Fix]:
    """The same code without the relu, wherever in this file it stands."""
    if relu.source is not here.source or not relu.complete:
        return []
    keep: dict[str, Any] = dict(
        title="remove the relu",
        claim=Claim.SHIFTED,
        cost="the network changes: train it again",
    )
    if is_chosen_by_caller(relu):
        here.no_fix = "the caller chooses the activation: give none there"
        return []
    if relu_outputs.closes_residual_block(relu, here.interpreter, here.around):
        here.no_fix = (
            "the relu ends a residual block: put a layer with one unit per class behind it"
        )
        return []
    if relu.op.name in relu_outputs.RELUS:
        return here.rewrite(relu, "{x}", x=relu.args["x"], **keep) if "x" in relu.args else []
    if relu.op.name in traits.RELU_LAYERS:
        return here.rewrite(relu, 'keras.layers.Activation("linear")', **keep)
    for param in ("activation", "activation_fn"):
        if param in relu.args:
            nothing = '"linear"' if relu.op.name == "keras.layers.Activation" else "None"
            return here.rewrite(relu, nothing, node=relu.args[param], **keep)
    here.no_fix = "give the layer activation_fn=None"
    return []


def is_chosen_by_caller(relu: Site) -> bool:
    """Whether a relu, or the activation of a layer, is a parameter of the function around it:
    `activation(x)`, `Dense(8, activation)`.
    """
    arguments = getattr(relu.point.scope.node, "args", None) if relu.point is not None else None
    if not isinstance(arguments, ast.arguments):
        return False
    names = {one.arg for one in ast.walk(arguments) if isinstance(one, ast.arg)}
    callee = relu.node.func if isinstance(relu.node, ast.Call) else None
    named = [callee, relu.args.get("activation"), relu.args.get("activation_fn")]
    return any(isinstance(node, ast.Name) and node.id in names for node in named)
