"""Variance written as mean(x^2) - mean(x)^2.

Where the mean is large compared with the spread, the two terms are nearly equal, and their
difference has no correct digit: of `1000 +- 0.01` it is 0 or -0.06 instead of 0.0001. A negative
variance under a root or a logarithm is NaN. The gradient suffers in the same way.
`tf.math.reduce_variance` subtracts the mean first and is never negative.

See it:
    >>> x = tf.fill([5], 1000.1)
    >>> float(tf.reduce_mean(x**2) - tf.reduce_mean(x) ** 2)
    -0.0625

Repair: `reduce_variance` | no digit is correct, and the variance can be negative | the variance is
correct and never negative |

Bad:
    variance = tf.reduce_mean(tf.square(x), axis=0) - tf.square(tf.reduce_mean(x, axis=0))

Good:
    variance = tf.math.reduce_variance(x, axis=0)

There is no fix where the two means run over different axes or are kept as running averages: a floor
of 0, `tf.maximum(variance, 0.)`, stops the NaN, not the loss of digits; Welford's update keeps
both.

See also: https://www.tensorflow.org/api_docs/python/tf/math/reduce_variance
https://github.com/tensorflow/tensorflow/issues/411 (per_image_whitening returned NaN for this
reason)
"""

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Finding,
    Iterator,
    Site,
    Value,
    argument,
    goes_into,
    moments,
    repairs,
    rule,
)

KEPT_ABOVE = frozenset(("maximum", "clip_by_value", "clip", "relu", "abs"))


@rule(
    "TFN310",
    "variance-by-moments",
    on="tf.subtract tf.add",
    needs="mean moments sum pool conv",
    silent="MAY/ANY/TESTS",
    fixes="reduce_variance",
)
def check(minus: Site, here: Context) -> Iterator[Finding]:
    variance = moments.variance_of(minus)
    if (
        variance is None
        or not here.numeric(variance.x)
        or variance.mean.library == "np"
        or drawn(variance.x)
    ):
        return
    if variance.summed and goes_into(minus, here.interpreter, KEPT_ABOVE):
        return  # no other op gives it, and it is kept at or above 0
    fixes = []
    if repairs.is_divisor(here, minus):
        here.no_fix = (
            "the variance divides: write reduce_variance, and add what is small beside its values"
        )
    elif variance.mean.complete and variance.square.complete and not variance.summed:
        fixes = here.rewrite(
            minus,
            "tf.math.reduce_variance({x}, axis={axis}, keepdims={keepdims})",
            title="use reduce_variance",
            claim=Claim.EQUAL,
            x=argument(variance.square, "x", "inner"),
            axis=argument(variance.mean, "axis"),
            keepdims=argument(variance.mean, "keepdims"),
        )
    yield here.finding(
        minus,
        None,
        "variance written as mean(x^2) - mean(x)^2: for a large mean it has no correct digits "
        "and can be negative",
        Certainty.MAY,
        fixes,
    )


def drawn(x: Value) -> bool:
    """Whether these are random numbers as they were drawn: their mean is no larger than a few of
    their deviations.
    """
    return (
        isinstance(x.origin, Site)
        and x.origin.op.name == "tf.random.uniform"
        and not x.origin.given("minval")
    )
