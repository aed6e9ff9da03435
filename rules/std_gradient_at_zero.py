"""Standard deviation of values that can all be equal: the value is 0, the gradient is NaN.

`tf.math.reduce_std` is the square root of the variance, and the derivative of the root is infinite
at 0. A constant feature, a batch of one, a dead layer or an image of one colour has variance 0. The
variance itself has a finite gradient.

See it:
    >>> x = tf.constant([2.0, 2.0])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.math.reduce_std(x)
    >>> tape.gradient(y, x).numpy()
    array([nan, nan], dtype=float32)

Bad:
    std = tf.math.reduce_std(x, axis=0)

Good:
    std = tf.sqrt(tf.math.reduce_variance(x, axis=0) + 1e-12)

An epsilon outside, `x / (std + eps)`, keeps the quotient finite and leaves the gradient NaN. For
normalisation inside a model use `tf.keras.layers.LayerNormalization` or `BatchNormalization`, which
add their epsilon under the root.

Often harmless, unless the file asks for XLA: a deviation that is squared, or multiplied by what is
0 with it, `std * (x - mean)`. The gradient that comes back is 0, and only XLA makes NaN of it.

Seen in the wild:
https://github.com/keras-team/keras/issues/2960 (K.std of a vector of zeros),
https://github.com/tensorflow/tensorflow/issues/56830 (reduce_std of one element)
"""

from tfnanlint.api import (
    Certainty,
    Context,
    Differentiated,
    Finding,
    Iterator,
    Site,
    part_of,
    repairs,
    rule,
    truth_only,
)


@rule(
    "TFN203",
    "std-gradient-at-zero",
    on="tf.math.reduce_std tf.sqrt K.sqrt",
    over="TFN202",
    silent="MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    fixes="mask epsilon_inside float32",
)
def check(std: Site, here: Context) -> Iterator[Finding]:
    x, whole = std.value("x"), std.op.name == "tf.math.reduce_std"
    if (
        not here.numeric(x)
        or not whole
        and not here.made_by(x, "tf.math.reduce_variance")
        and not part_of(x, 1, "tf.nn.moments")
    ):
        return
    if std.differentiated is Differentiated.NO or not x.exact and truth_only(x, std.point):
        return
    late = here.flat_behind(std)
    where = " under XLA; in other modes the operations after it keep the gradient 0" if late else ""
    fixes = repairs.deviation_forms(
        here, std, "the variance under the root" if whole else "the variance", late
    )
    yield here.finding(
        std,
        "x",
        f"standard deviation of equal values: the result is 0, but its gradient is NaN{where}",
        Certainty.MAY,
        fixes,
        modes=("xla",) if late else ("eager", "graph", "xla"),
        doubtful=late and not here.compiled() or here.has_no_path(std),
    )
