"""Function whose value at 0 is defined, but whose gradient there is computed as 0 / 0 or 0 * inf.

`sinc` is 1 at 0, and `tf.math.igamma(a, x)` is 0 at x = 0. Both get a gradient of NaN there,
although the derivative exists: that of `sinc` is 0, and that of `igamma` with `a = 1` is 1. With
`a` below 1 it is infinite. A time of 0 or a filter whose middle coefficient is at 0 is enough.

See it:
    >>> x = tf.constant(0.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.math.igamma(1.0, x)
    >>> float(tape.gradient(y, x))
    nan

Repair: keep the argument away from 0, `tf.maximum(x, 1e-12)` | the gradient is NaN at 0 | value and
gradient are finite | arguments below 1e-12 become 1e-12 and get no gradient

Bad:
    share = tf.math.igamma(1.0, tf.nn.relu(time))

Good:
    share = tf.math.igamma(1.0, tf.maximum(time, 1e-12))

For `sinc`, whose argument has both signs, put a number that is not 0 in the place of 0, inside:
`tf.where(x == 0.0, 1e-6, x)`. A `tf.where` around the function does not help, because it multiplies
the NaN by 0. An argument that merely is not known to keep away from 0 is a note. There is no
automatic fix: what stands in for 0 depends on the scale of the argument.

See also: https://www.tensorflow.org/api_docs/python/tf/math/igamma

Seen in the wild:
https://github.com/tensorflow/tensorflow/issues/127226 (sinc),
https://github.com/tensorflow/tensorflow/issues/123578 (igamma)
"""

from tfnanlint.api import (
    Certainty,
    Context,
    Differentiated,
    Finding,
    Iterator,
    Site,
    evidence,
    rule,
    value_in_words,
)


@rule(
    "TFN212",
    "gradient-of-removed-singularity",
    on="ops.sinc tf.math.igamma tf.math.igammac",
    default="MUST MAY UNKNOWN",
)
def check(function: Site, here: Context) -> Iterator[Finding]:
    x = function.value("x")
    if function.library == "np" or function.differentiated is Differentiated.NO:
        return
    if not here.numeric(x) or x.nonzero or x.guarded:
        return
    if function.given("a") and function.value("a").lo > 1:
        return  # with a above 1 the gradient at 0 is 0
    shown = x.known and evidence.shows_zero(x)
    if not shown and function.differentiated is not Differentiated.YES:
        return
    name = function.op.name.rpartition(".")[2]
    yield here.finding(
        function,
        "x",
        f"{name} of {value_in_words(x)}: at 0 the value is finite, but the gradient is NaN",
        Certainty.MAY if shown else Certainty.UNKNOWN,
        help="keep the argument away from 0",
    )
