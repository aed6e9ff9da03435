"""Exponential of a value so large that the result overflows.

`tf.exp(x)` is inf above 88.7 in float32 and above 11.1 in float16; so are `tf.math.expm1`,
`tf.sinh`, `tf.cosh`, a power of a constant, and `tf.nn.log_poisson_loss`, which takes the
exponential of its `log_input`. `inf / inf` and `0 * inf` are NaN, and a clip after the exponential
leaves a NaN gradient.

See it:
    >>> tf.exp([88.0, 89.0]).numpy()
    array([1.6516363e+38,           inf], dtype=float32)

Repair: bound the exponent from above | the exponential is Inf | value and gradient are finite |
exponents above the bound become the bound and get no gradient

Repair: use the stable form of the whole expression, such as `tf.nn.softmax` | the exponential
inside is Inf, and the result NaN | value and gradient are finite | nothing (the same function)

Bad:
    rate = tf.exp(tf.maximum(scores, 100.0))

Good:
    rate = tf.exp(tf.minimum(scores, 80.0))

By default only an exponential that overflows for every input is reported. With
`certainty = "unknown"` one that can overflow is reported as well: its exponent is known to reach
above the limit. Most of these belong to a form that has a stable equivalent (softmax, log-sum-exp,
softplus, sigmoid), which other rules offer; where none exists, bound the exponent from above, or
compute with the logarithm instead: a ratio of probabilities is `tf.exp(a - b)`, a variance can be
kept as its logarithm. `tf.minimum(tf.exp(x), 1e30)` comes too late. There is no automatic fix,
because a safe bound depends on what the number means.

See also: https://www.tensorflow.org/api_docs/python/tf/math/exp
https://github.com/IntelLabs/coach/issues/87 (the ratio of likelihoods in PPO)

Seen in the wild:
https://github.com/AppliedDataSciencePartners/WorldModels/issues/9 (the KL term of an autoencoder)
"""

import math

from tfnanlint.api import (
    INF,
    Certainty,
    Context,
    Finding,
    Iterator,
    Site,
    on_a_grid,
    rule,
    shifted_by_maximum,
    value_in_words,
)

LOG_2 = math.log(2.0)
EXPONENTS = {"tf.pow": "y", "tf.nn.log_poisson_loss": "log_input"}


@rule(
    "TFN106",
    "exp-overflow",
    on="tf.exp tf.math.expm1 ops.exp2 tf.sinh tf.cosh tf.pow tf.nn.log_poisson_loss",
    default="MUST",
)
def check(exp: Site, here: Context) -> Iterator[Finding]:
    if exp.library in ("np", "math"):
        return
    param = EXPONENTS.get(exp.op.name, "x")
    x = exp.value(param)
    if not here.numeric(x) or x.kind == "number":
        return
    limit = largest(exp)  # it takes the base of a power
    if limit is None or x.hi <= limit:
        return
    if not x.known and x.hi == INF:
        return
    even = exp.op.name == "tf.cosh"
    certainty = Certainty.MUST if x.lo > limit or even and x.hi < -limit else Certainty.MAY
    if certainty is Certainty.MAY and (shifted_by_maximum(x) or on_a_grid(x)):
        return
    if here.hidden(exp):
        return
    yield here.finding(
        exp,
        param,
        f"exponential of {value_in_words(x)}: above {limit:.1f} the result and its gradient are "
        "Inf",
        certainty,
        help=f"bound the exponent from above, e.g. tf.minimum(x, {math.floor(limit * 0.9)}.0)",
    )


def largest(exp: Site) -> float | None:
    """The largest exponent whose result fits the dtype; None for a power that does not grow."""
    top = math.log(exp.value(EXPONENTS.get(exp.op.name, "x")).limits.max)
    if exp.op.name in ("tf.sinh", "tf.cosh"):
        return top + LOG_2
    if exp.op.name == "ops.exp2":
        return top / LOG_2
    if exp.op.name != "tf.pow":
        return top
    base = exp.value("x")
    return top / math.log(base.const) if base.is_number and base.const > 1 else None
