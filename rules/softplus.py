"""Softplus written out: log(1 + exp(x)).

`tf.exp(x)` overflows above 88.7 in float32 (11.1 in float16): the result is `inf` although the
function is barely above `x`, and the gradient is NaN. `log1p(exp(x))` has the same problem.
`tf.math.softplus` is the same function for every `x`.

See it:
    >>> float(tf.math.log(1.0 + tf.exp(100.0))), float(tf.math.softplus(100.0))
    (inf, 100.0)

Bad:
    loss = tf.reduce_mean(tf.math.log(1.0 + tf.exp(-margin)))

Good:
    loss = tf.reduce_mean(tf.math.softplus(-margin))

Nothing is reported where `x` cannot be large, as in the form that is stable by hand,
`log(1 + exp(-abs(x)))`. An epsilon beside it (`log(1 + exp(x) + 1e-8)`) guards nothing.

Often harmless: a weight that is used unchanged, such as the scale of a prior that starts at -6.9,
because training rarely moves it to 88.

See also: https://www.tensorflow.org/api_docs/python/tf/math/softplus

Seen in the wild:
https://github.com/tensorflow/tensorflow/issues/35606 (log1p(exp(x))),
https://github.com/tensorforce/tensorforce/issues/114 (log(exp(x) + 1) in a distribution)
"""

import math

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Iterator,
    Site,
    Value,
    argument,
    evidence,
    number_text,
    rule,
    softplus_of,
    tame,
    truth_only,
)


@rule(
    "TFN304",
    "softplus",
    on="tf.math.log tf.math.log1p",
    over="TFN101 TFN106 TFN307 TFN204 TFN206",
    silent="MAY/NO MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    fixes="softplus",
)
def check(log: Site, here: Context) -> Iterator[Finding]:
    softplus = softplus_of(log.value("x"), 1.0 if log.op.name == "tf.math.log" else 0.0)
    exp, epsilon = softplus if softplus is not None else (None, 0.0)
    if exp is None or exp.value("x").hi < math.log(exp.value("x").limits.max):
        return
    if signed(exp.value("x"), exp, here):
        return
    if log.differentiated is Differentiated.NO and here.masked(exp) is not None:
        return
    fixes = (
        here.rewrite(
            log,
            "tf.math.softplus({x})",
            title="use softplus",
            claim=Claim.SHIFTED if epsilon else Claim.EQUAL,
            cost=f"without the epsilon: less by up to {number_text(epsilon)}" if epsilon else "",
            x=argument(exp, "x", "exponent"),
        )
        if exp.complete
        else []
    )
    yield here.finding(
        log,
        "x",
        "softplus written as log(1 + exp(x)): for large x the result is inf, its gradient NaN",
        Certainty.MAY,
        fixes,
        doubtful=moved_far(exp.value("x"), here),
    )


def moved_far(x: Value, here: Context) -> bool:
    """A weight, or the negative of one: to overflow it must move as far as no training moves one,
    except in 16 bits.
    """
    minus = here.made_by(x, "tf.negative")
    return (
        x.dtype != "float16"
        and here.made_by(x if minus is None else minus.value("x"), *evidence.VARIABLES) is not None
    )


def signed(x: Value, exp: Site, here: Context) -> bool:
    """Labels, which are -1 and 1, times scores that were clipped: neither is large."""
    minus = here.made_by(x, "tf.negative")
    product = here.made_by(x if minus is None else minus.value("x"), "tf.multiply")
    return product is not None and any(
        truth_only(product.value(one), exp.point) and tame(product.value(other))
        for one, other in (("x", "y"), ("y", "x"))
    )
