"""Second derivative of a network whose only activation is relu: it is 0 everywhere.

A network of linear layers and relu is piecewise linear in its input. Its derivative with respect to
the input is constant on each piece, and the second derivative is 0. A loss computed from that
second derivative (the residual of a differential equation, a bending energy) has no gradient
either: it stays constant, and the network learns nothing from it. No value becomes NaN, so there is
no other sign of it.

See it:
    >>> x = tf.constant(0.5)
    >>> with tf.GradientTape() as outer:
    ...     outer.watch(x)
    ...     with tf.GradientTape() as inner:
    ...         inner.watch(x)
    ...         u = tf.reduce_sum(tf.nn.relu(x * [1.0, -2.0, 3.0]))
    ...     slope = inner.gradient(u, x)
    >>> float(slope), float(outer.gradient(slope, x, unconnected_gradients="zero"))
    (4.0, 0.0)

Repair: use an activation with a second derivative, such as `tanh` | the second derivative is 0, and
a loss computed from it has no gradient | the second derivative is not 0 | the network computes a
different function: train it again

Bad:
    net = tf.keras.Sequential(
        [tf.keras.layers.Dense(20, activation="relu"), tf.keras.layers.Dense(1)]
    )
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            u = net(x)
        slope = inner.gradient(u, x)
    curvature = outer.gradient(slope, x)

Good:
    net = tf.keras.Sequential(
        [tf.keras.layers.Dense(20, activation="tanh"), tf.keras.layers.Dense(1)]
    )

`tanh`, `softplus`, `swish`, `gelu` and `sin` have a second derivative. `elu` and `selu` have one on
one side of 0 only.

Nothing is reported where the second gradient is taken with respect to the weights, as in a gradient
penalty: that gradient is not 0. There is no automatic fix: another activation makes another
network, which has to be trained again.

See also: https://www.tensorflow.org/guide/advanced_autodiff

Seen in the wild: https://github.com/ComputationalDomain/PINNs/issues/1 (a net with relu that does
not train, in PyTorch)
"""

from tfnanlint.api import (
    Certainty,
    Context,
    Finding,
    Iterator,
    Site,
    derivatives,
    piecewise_linear,
    rule,
)


@rule("TFN210", "second-derivative-of-relu", on="method.gradient tf.gradients")
def check(gradient: Site, here: Context) -> Iterator[Finding]:
    taken = derivatives.derivative(gradient)
    if taken is None or taken.order < 2:
        return
    network = piecewise_linear.pieces(taken.value, taken.x)
    if network is None or not network.bends:
        return
    bend = network.bends[0]
    where = f" ({here.line(bend.node)})" if bend.source is here.source else ""
    yield here.finding(
        gradient,
        None,
        f"second derivative of a network whose only activation is relu{where}: the result is 0 "
        "everywhere, and a loss computed from it has no gradient",
        Certainty.MAY,
        help="use an activation with a second derivative: tanh, softplus or swish",
    )
