"""Cumulative product with a factor that can be 0: the gradient is finite, and wrong.

TensorFlow computes the gradient of `tf.math.cumprod` by dividing by the factors, with 0 for
`0 / 0`. The gradient of a factor that is 0 is lost, and so is the part that comes from all later
products: for [2, 0, 3] the sum of the cumulative products has the gradient [1, 8, 0], but
TensorFlow gives [1, 0, 0]. A transmittance along a ray (`cumprod(1 - alpha)`), a discount or a
stick-breaking weight stops learning as soon as one factor is 0. `tf.reduce_prod` has the right
gradient.

See it:
    >>> x = tf.constant([2.0, 0.0, 3.0])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.math.cumprod(x)
    >>> tape.gradient(y, x).numpy()
    array([1., 0., 0.], dtype=float32)

Repair: `floor` | the gradient is finite but wrong where a factor is 0 | the gradient of the other
factors is right |

Bad:
    transmittance = tf.math.cumprod(1.0 - tf.sigmoid(density), axis=-1, exclusive=True)

Good:
    transmittance = tf.math.cumprod(tf.maximum(1.0 - tf.sigmoid(density), 1e-10), axis=-1, exclusive=True)

A floor far below ordinary factors leaves their product unchanged. An epsilon added to each factor
changes it: weights that summed to 1 no longer do. Alternatively sum the logarithms,
`tf.exp(tf.cumsum(log_factors))`, if the program can compute them directly (`-tf.math.softplus(z)`
for `1 - sigmoid(z)`).

See also: https://www.tensorflow.org/api_docs/python/tf/math/cumprod

In TensorFlow up to 2.4 the gradient at a factor of 0 was NaN, from 2.6 on it is 0 instead
(executed).

No public report known; included because executing it shows the problem.
"""

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Iterator,
    Site,
    Value,
    evidence,
    rule,
    value_in_words,
)

FLOORS = {"float16": "1e-4"}  # with a reciprocal that the dtype has


@rule("TFN209", "wrong-gradient-at-zero", on="tf.math.cumprod", fixes="floor")
def check(product: Site, here: Context) -> Iterator[Finding]:
    x = product.value("x")
    if not here.numeric(x) or x.nonzero or x.guarded or flat(x, here):
        return
    shown = x.known and evidence.shows_zero(x)
    if x.known and not shown or product.differentiated is Differentiated.NO:
        return
    what = value_in_words(x)
    eps = FLOORS.get(x.dtype or "", "1e-10")
    fixes = (
        here.rewrite(
            product,
            f"tf.maximum({{x}}, {eps})",
            node=product.args["x"],
            x=product.args["x"],
            claim=Claim.SHIFTED,
            title=f"keep every factor at or above {eps}",
            cost=f"factors below {eps} become {eps}; their own gradient is 0 there",
        )
        if x.nonnegative and "x" in product.args
        else []
    )
    yield here.finding(
        product,
        "x",
        f"cumulative product of {what}: from a factor of 0 on the gradient is 0, which is "
        "finite but wrong",
        Certainty.MAY if shown else Certainty.UNKNOWN,
        fixes,
    )


def flat(value: Value, here: Context, depth: int = 6) -> bool:
    """Whether the factors are made of tests, whole numbers and constants, which have
    no gradient.
    """
    if value.exact or value.dtype in ("bool", "int32", "int64"):
        return True
    site = here.made_by(value, "tf.cast", "tf.add", "tf.subtract", "tf.multiply") if depth else None
    return site is not None and all(
        flat(site.value(param), here, depth - 1) for param in ("x", "y") if site.given(param)
    )
