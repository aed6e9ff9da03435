"""Softmax written out: exp(x) / sum(exp(x)).

In float32 `tf.exp(x)` overflows above 88.7: the quotient is then `inf / inf`, NaN. When every
exponential of a row underflows (all below -87) it is `0 / 0`, NaN as well; an epsilon in the sum
helps against that only. `tf.nn.softmax` subtracts the largest element first and is finite for every
finite `x`.

See it:
    >>> x = tf.constant([0.0, 100.0])
    >>> (tf.exp(x) / tf.reduce_sum(tf.exp(x))).numpy()
    array([ 0., nan], dtype=float32)

Bad:
    weights = tf.exp(scores) / tf.reduce_sum(tf.exp(scores), axis=1, keepdims=True)

Good:
    weights = tf.nn.softmax(scores, axis=1)

Nothing is reported where the maximum is subtracted by hand, where the exponents are known to be
small, or where they are not large and an epsilon is added to the sum. Nothing is reported of
distances between the points of one set either: the distance of a point to itself is 0. There is no
fix where the sum runs over several axes or drops the axis (`keepdims` is missing), because the axis
of the softmax is unclear. There is none either where a mask multiplies the exponentials, because
only you can say what a fully masked row should give. Mask the scores instead:
`tf.nn.softmax(tf.where(mask, scores, scores.dtype.min))`.

See also: https://www.tensorflow.org/api_docs/python/tf/nn/softmax

No public report known; included because executing it shows the problem.
"""

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Site,
    argument,
    ast,
    of_itself,
    on_a_grid,
    rule,
    shifted_by_maximum,
    softmax_by_hand,
    sum_stays_finite,
    tame,
)

MASK = "mask the scores instead: tf.nn.softmax(tf.where(mask, scores, scores.dtype.min))"


@rule(
    "TFN306",
    "hand-softmax",
    on="tf.divide tf.math.divide_no_nan",
    needs="exp( exp) exp, exponential",
    over="TFN101 TFN102 TFN106",
    fixes="softmax",
)
def check(quotient: Site, here: Context) -> Iterator[Finding]:
    if not quotient.may_be_made_by("x", "tf.exp", "tf.multiply"):
        return
    total, guard, axis = softmax_by_hand.denominator(quotient)
    if total is None:
        return
    exp, masked = softmax_by_hand.numerator(here.widest(quotient.value("x")))
    if exp is None or not here.same(total.value("x"), quotient.value("x")):
        return
    x = exp.value("x")
    if shifted_by_maximum(x) or tame(x) or on_a_grid(x) or guard and sum_stays_finite(x):
        return
    if not masked and x.hi <= 0 and of_itself(x):
        return
    fixes = (
        softmax(quotient, exp, total, guard, here)
        if not masked and softmax_by_hand.is_along_one_axis(total, axis) and exp.complete
        else []
    )
    form = "exp(x) * mask / sum(exp(x) * mask)" if masked else "exp(x) / sum(exp(x))"
    none = "" if guard else " or all underflow or are masked" if masked else " or all underflow"
    yield here.finding(
        quotient,
        "x",
        f"softmax as {form}: NaN where one exponential overflows{none}",
        Certainty.MAY,
        fixes,
        covers=logarithm(quotient, here),
        help=MASK if masked else "",
    )


def logarithm(quotient: Site, here: Context) -> list[ast.AST]:
    """The logarithm right around a quotient: with a softmax in its argument it is TFN301."""
    outer = next(iter(here.around(quotient.node)), None)
    if not isinstance(outer, ast.Call):
        return [quotient.node]
    log = here.site(outer, quotient.point)
    return (
        [quotient.node, outer]
        if log is not None and log.op.name == "tf.math.log"
        else [quotient.node]
    )


def softmax(quotient: Site, exp: Site, total: Site, guard: bool, here: Context) -> list[Fix]:
    return here.rewrite(
        quotient,
        "tf.nn.softmax({x}, axis={axis})",
        title="use softmax",
        x=argument(exp, "x", "scores"),
        axis=argument(total, "axis", "axis"),
        claim=Claim.SHIFTED if guard else Claim.EQUAL,
        cost="without the epsilon the weights of a row sum to exactly 1" if guard else "",
    )
