"""Initial weights with which a network cannot begin to learn.

Weights that are all 0 before a relu make its argument 0, where the gradient of relu is 0: neither
these weights nor any in earlier layers ever change. Before tanh, elu or gelu they do, unless the
next weights start at 0 as well. Weights drawn with standard deviation 1 multiply the size of the
signal by the square root of the number of inputs in every layer: with 256 inputs and five layers
that is a million, and the first loss overflows.

See it:
    >>> w = tf.zeros([2, 2])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(w)
    ...     loss = tf.reduce_sum(tf.nn.relu(tf.matmul([[1.0, 2.0]], w)))
    >>> tape.gradient(loss, w).numpy()
    array([[0., 0.],
           [0., 0.]], dtype=float32)

Repair: use `he_normal` before relu and `glorot_uniform` elsewhere | the gradient is 0, or the first
loss overflows | the gradient is finite and not 0 | the initial weights: training starts again

Bad:
    hidden = keras.layers.Dense(64, activation="relu", kernel_initializer="zeros")

Good:
    hidden = keras.layers.Dense(64, activation="relu", kernel_initializer="he_normal")

The relu of a variable (`tf.nn.relu(alpha)`) stays at 0 if the variable starts there.

The last layer may start at 0, and so may biases. For your own variables:
`tf.Variable(tf.random.normal([n, m], stddev=(2 / n) ** 0.5))`, or
`keras.initializers.HeNormal()([n, m])`. There is no automatic fix: training has to start again.

See also: https://www.tensorflow.org/api_docs/python/tf/keras/initializers/HeNormal,
https://www.tensorflow.org/api_docs/python/tf/keras/initializers/GlorotUniform

Seen in the wild: https://e-com-net.com/article/1297566236749668352.htm (smaller initial weights and
rate were the cure; in Chinese)
"""

from __future__ import annotations

from tfnanlint.api import (
    Certainty,
    Context,
    Differentiated,
    Finding,
    Iterator,
    Site,
    Value,
    evidence,
    initial_weights,
    rule,
    traits,
)

# the gradient at 0 is 0; that of tanh, elu, selu, gelu, swish and leaky_relu is not
RELU = ("relu", "relu6")
DEAD = "relu of a variable that starts at 0: its gradient is 0 there, so training never changes it"
ASIDE = "start above 0, or use tf.nn.softplus, whose gradient is never 0"
NOTHING = (
    "a hidden layer whose weights all start at 0, {}: neither they nor the layers below "
    "get a gradient"
)
ADVICE = "use random initial weights; only the last layer may start at 0"
LAYERS = (
    "keras.layers.Dense keras.layers.Conv2D keras.layers.Conv1D tf.layers.dense tf.layers.conv2d"
)
LOUD = (
    "initial weights with standard deviation 1 and many inputs: each layer multiplies "
    "the signal by the square root of the number of inputs, until it overflows"
)
CALM = "use a standard deviation of (2 / inputs) ** 0.5"


@rule(
    "TFN804", "bad-initial-weights", on=f"tf.matmul tf.nn.relu tf.nn.relu6 {LAYERS}", preview=True
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name in traits.RELUS:
        if site.differentiated is Differentiated.YES and evidence.trained_from_zero(
            site.value("x")
        ):
            yield here.finding(site, "x", DEAD, Certainty.MAY, help=ASIDE)
        return
    if site.op.name != "tf.matmul":
        yield from layer(site, here)
        return
    weights = site.value("y").origin
    if of_this_file(weights, here) and initial_weights.is_loud(weights):
        yield here.finding(
            weights,
            None,
            LOUD,
            Certainty.MAY,
            help=CALM,
        )
    inner, dead = hidden(site.value("x"))
    below = inner.value("y").origin if inner is not None else None
    if (
        below is not None
        and of_this_file(below, here)
        and initial_weights.is_zero(below)
        and (dead or initial_weights.is_zero(weights))
    ):
        yield here.finding(
            below,
            None,
            NOTHING.format("before a relu" if dead else "below other weights that do"),
            Certainty.MAY,
            help=ADVICE,
        )


def layer(site: Site, here: Context) -> Iterator[Finding]:
    """Dense(64, activation="relu", kernel_initializer="zeros")."""
    if site.library == "layer" or not site.given("kernel_initializer"):
        return
    if initial_weights.is_drawn_loud(site):
        yield here.finding(site, None, LOUD, Certainty.MAY, help=CALM)
    if not site.given("activation"):
        return
    initializer, activation = site.value("kernel_initializer"), site.value("activation")
    zeros = initializer.const == "zeros" or getattr(initializer.obj, "name", "") == "Zeros"
    name = (
        activation.const
        if activation.kind == "string"
        else getattr(activation.obj, "name", "").rsplit(".", 1)[-1]
    )
    if (
        zeros
        and name in RELU
        and (not site.given("bias_initializer") or site.const("bias_initializer") == "zeros")
    ):
        yield here.finding(site, None, NOTHING.format("before a relu"), Certainty.MAY, help=ADVICE)


def of_this_file(weights: object, here: Context) -> bool:
    return (
        isinstance(weights, Site)
        and weights.op.name in traits.INITIAL_VALUES
        and weights.source is here.source
    )


def hidden(value: Value) -> tuple[Site | None, bool]:
    """The product with weights that a value comes from, through a bias and an activation, and
    whether that is a relu on 0.
    """
    relu = bias = False
    for _ in range(8):
        origin = value.origin
        if not isinstance(origin, Site):
            break
        if origin.op.name == "tf.matmul":
            return origin, relu and not bias
        if origin.op.name == "tf.add":
            first = origin.value("x").origin
            value, addend = (
                origin.value(p)
                for p in (
                    "xy" if isinstance(first, Site) and first.op.name == "tf.matmul" else "yx"
                )
            )
            bias = not initial_weights.is_zero(addend.origin)
        elif origin.op.main and origin.given(origin.op.main):
            relu = relu or origin.op.name in traits.RELUS
            value = origin.value(origin.op.main)
        else:
            break
    return None, False
