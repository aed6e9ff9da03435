"""Derivative of `x ** k` of an order above k: it is NaN at 0.

TensorFlow differentiates `tf.pow(x, k)` as `k * tf.pow(x, k - 1)`. After k derivatives the exponent
is 0, and the next derivative is `0 * tf.pow(x, -1)`: 0 times infinity where x is 0. `tf.square(x)`
and products (`x * x`) have derivatives of every order.

See it:
    >>> x = tf.constant(0.0)
    >>> with tf.GradientTape(persistent=True) as tape:
    ...     tape.watch(x)
    ...     y = tf.pow(x, 2)
    ...     slope = tape.gradient(y, x)
    ...     curvature = tape.gradient(slope, x)
    >>> float(curvature), float(tape.gradient(curvature, x))
    (2.0, nan)

Repair: write the power as a product, `x * x` | the derivative at 0 is NaN | every derivative is
finite | nothing (the same function)

Bad:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.pow(x, 2)
        slope = tape.gradient(y, x)
        curvature = tape.gradient(slope, x)
    jerk = tape.gradient(curvature, x)

Good:
    y = x * x

Nothing is reported where the exponent is not a whole number: TFN104 covers those. There is no
automatic fix, because the power may also be used elsewhere.

Seen in the wild: https://github.com/tensorflow/tensorflow/issues/35011
"""

from tfnanlint.api import Certainty, Context, Finding, Iterator, Site, derivatives, rule


@rule("TFN211", "high-derivative-of-pow", on="method.gradient tf.gradients")
def check(gradient: Site, here: Context) -> Iterator[Finding]:
    taken = derivatives.derivative(gradient)
    if taken is None or taken.order < 2:
        return
    for power, exponent in derivatives.powers(taken):
        if exponent >= taken.order or not derivatives.reaches_zero(power.value("x"), taken.x):
            continue
        where = f" ({here.line(power.node)})" if power.source is here.source else ""
        yield here.finding(
            gradient,
            None,
            f"derivative number {taken.order} of a power of {exponent}{where}: the result is "
            "NaN (0 * inf) where the base is 0",
            Certainty.MAY,
            help="multiply the factors (x * x), or use tf.square",
        )
        return
