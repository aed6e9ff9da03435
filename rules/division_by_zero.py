"""Division by a value that can be zero.

Counts, sums over a mask, norms, standard deviations, absolute values and relu outputs are 0 for
some batch: a sample without positive labels, a constant feature, an empty mask. `x / 0` is Inf,
`0 / 0` is NaN, and the gradient is NaN either way. `%`, `//`, `tf.math.rsqrt` and
`tf.math.reciprocal` fail in the same way. A divisor is reported where the program itself shows that
it can be 0. A norm, a distance or an exponential is 0 for unusual data only: it is reported where a
gradient is taken, and elsewhere with `--certainty unknown`.

See it:
    >>> tf.divide([1.0, 0.0], [0.0, 0.0]).numpy()
    array([inf, nan], dtype=float32)

Bad:
    dice = 2.0 * tf.reduce_sum(y * p) / (tf.reduce_sum(y) + tf.reduce_sum(p))

Good:
    dice = tf.math.divide_no_nan(2.0 * tf.reduce_sum(y * p), tf.reduce_sum(y) + tf.reduce_sum(p))

The fix depends on what the divisor is. `tf.math.divide_no_nan` gives 0 where the divisor is 0:
right for masked means, recall, dice, IoU and weights divided by their own sum. A count is kept at
or above 1, `x / tf.maximum(n, 1)`, because `x / 1e-7` would be a weight of 1e7. Any other divisor
gets a fix only where the numerator is 0 with it, or where both are sums of squares; and 1 minus a
softmax or sigmoid is kept at or above a number below all its other values. `a / relu(b)` has no
fix: what it should be where `b` is 0 only its author knows. A scale computed by softplus or exp
gets `+ eps` where it is computed. A divisor that can be negative has no floor: restructure it, for
example as `tf.nn.softplus(v) + eps`. If the divisor is a root, the epsilon belongs inside,
`tf.sqrt(s + eps)`, because the gradient of the root itself is infinite at 0. In float16 only the
fixes with 0 and 1 are offered.

A label by which a loss divides its own error, `(y - p) / y`, is reported too: labels are 0 sooner
or later, and the mean of all errors is then Inf.

Often harmless: a quotient that is only written to summaries, where NaN is a gap in a curve; a
quotient that is only compared with something, where `0 / 0` counts as false; a quotient that the
function itself tests for NaN, if no gradient is known to be taken; a division by the standard
deviation of a whole tensor or by a mean of squares, if nothing shows that a gradient is taken; and
a division by a sum of values that are clipped only afterwards, because such values often come from
a softmax. The sum of a whole mask that is made of data alone, of labels or of what is fed, is a
note: how the data is prepared seldom leaves it empty. A divisor that is computed once, before the
loop that takes a gradient in each step, is not reported: with 0 the first step of any run would
fail.

See also: https://www.tensorflow.org/api_docs/python/tf/math/divide_no_nan

Seen in the wild: https://github.com/jocicmarko/ultrasound-nerve-segmentation/issues/4 (dice of two
empty masks), https://github.com/YunYang1994/tensorflow-yolov3/issues/225 (boxes without area),
https://github.com/keras-team/keras/issues/2001 (pixels that never change, divided by their
deviation), https://github.com/tensorflow/addons/issues/2447 (a triplet loss in a batch without a
positive pair)
"""

from tfnanlint.api import (
    Certainty,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    angles,
    decides,
    densities,
    divisors,
    quotients,
    roots_in,
    rule,
    weakness_of_quotient,
)

DIVISORS = {"tf.math.reciprocal": "x", "tf.math.rsqrt": "x"}
WORDS = {
    "tf.math.floormod": "remainder of a division",
    "tf.math.floordiv": "floor division",
    "tf.truncatemod": "remainder of a division",
    "tf.truncatediv": "division",
    "tf.math.rsqrt": "reciprocal square root",
    "tf.math.reciprocal": "reciprocal",
}


@rule(
    "TFN102",
    "division-by-zero",
    over="TFN201 TFN202 TFN203",
    silent="MAY/ANY/TESTS MAY/NO/DOUBTFUL MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    on="tf.divide tf.math.reciprocal tf.math.rsqrt tf.math.floordiv tf.math.floormod "
    "tf.truncatediv tf.truncatemod tf.math.xdivy tf.image.psnr tf.clip_by_value tf.atan",
    fixes="divide_no_nan floor epsilon count_floor epsilon_inside",
)
def check(division: Site, here: Context) -> Iterator[Finding]:
    if division.op.name in OTHERS:
        yield from OTHERS[division.op.name](division, here)
        return
    param = DIVISORS.get(division.op.name, "y")
    divisor = division.value(param)
    form = divisors.form_evidence(division, divisor)
    shown = form or zero_evidence(division, divisor, here)
    if shown is None or here.hidden(division) or here.tested(division, param):
        return
    certainty = Certainty.MUST if divisor.lo == divisor.hi == 0 else Certainty.MAY
    if certainty is Certainty.MAY and is_kept_away(division, param, here):
        return
    unsure = certainty is Certainty.MAY and not here.draft
    if unsure and shown.by_bounds and divisors.is_rarely_zero(division, divisor):
        certainty = Certainty.UNKNOWN
    name = WORDS.get(division.op.name, "division")
    effect = "at 0 the result is Inf" if param == "x" else "at 0 the result is Inf or NaN"
    fixes = [] if form and densities.is_ratio(division) else whole_repairs(division, param, here)
    yield here.finding(
        division,
        param,
        f"{name} {'of' if param == 'x' else 'by'} {shown.words}: {effect}, and the gradient NaN",
        certainty,
        fixes,
        covers=[root.node for root in roots_in(divisor) if here.is_inside(root, division)],
        help="" if fixes else quotients.advice(division, divisor),
        doubtful=unsure and is_doubtful(division, divisor, shown, here),
        kind=weakness_of_quotient(division, divisor, shown, here.interpreter, here.around),
    )


def is_kept_away(division: Site, param: str, here: Context) -> bool:
    """Whether the file asserts that a divisor is not 0, or the first step of any training would
    have shown that it is.
    """
    if here.asserted(division, param):
        return True
    return param == "y" and divisors.is_same_in_each_step(division, here.around)


def whole_repairs(division: Site, param: str, here: Context) -> list[Fix]:
    """The fixes of a division; none where a later one, which is not reported, divides by what is
    made of it: the mean of nothing in a variance that is divided by.
    """
    fixes = quotients.fixes_of(here, division, param)
    for later in quotients.later_divisors(here, division) if fixes else ():
        if zero_evidence(later, later.value("y"), here) is None:
            place = here.source.location(here.source.span(later.node).start).words
            here.no_fix = (
                f"{place} divides by a value computed from this result, which may then be 0 as well"
            )
            return []
    return fixes


def zero_evidence(division: Site, divisor: Value, here: Context) -> divisors.ZeroEvidence | None:
    """What shows that a divisor can be 0; None where nothing does."""
    return divisors.zero_evidence(division, divisor, here.masks, here.interpreter, here.around)


def is_doubtful(
    division: Site, divisor: Value, shown: divisors.ZeroEvidence, here: Context
) -> bool:
    """Whether a quotient is of a kind that is mostly harmless, as the page says."""
    if here.only_compared(division, shown=True) or decides(division, here.interpreter):
        return True
    if here.tested_for_nan(division):
        return True
    unknown = division.differentiated is Differentiated.UNKNOWN
    return unknown and shown.by_bounds and divisors.is_spread_of_whole(divisor)


def equal_images(psnr: Site, here: Context) -> Iterator[Finding]:
    certainty = Certainty.MAY if psnr.differentiated is Differentiated.YES else Certainty.UNKNOWN
    yield here.finding(
        psnr,
        None,
        "the PSNR of two equal images: the mean squared error is 0, so the result is Inf and the "
        "gradient NaN",
        certainty,
    )


def clipped_shares(clip: Site, here: Context) -> Iterator[Finding]:
    """x / sum(x) that is kept above 0 behind the division: who does so reckons with elements of 0,
    and a row of them is NaN before.
    """
    quotient = divisors.share_clipped_above_zero(clip)
    if quotient is None or quotient.source is not here.source:
        return
    if here.hidden(quotient) or here.tested(quotient, "y") or here.asserted(quotient, "y"):
        return
    yield here.finding(
        quotient,
        "y",
        "division by the sum of values that are clipped above 0 only afterwards: when all of "
        "them are 0, the result and its gradient are NaN, and the clip keeps the NaN",
        Certainty.MAY,
        quotients.zeros(here, quotient),
        doubtful=True,
    )


def slopes(arctangent: Site, here: Context) -> Iterator[Finding]:
    """The angle of two sides as `atan(y / x)`, of which nothing keeps x off 0: the width and height
    of a box that has none.
    """
    quotient = angles.slope_of(arctangent)
    if quotient is None or quotient.source is not here.source:
        return
    side = quotient.value("y")
    if zero_evidence(quotient, side, here) or here.hidden(quotient) or here.tested(quotient, "y"):
        return
    yield here.finding(
        quotient,
        "y",
        "division of two sides for their angle: where the second is 0, the gradient is NaN, and "
        "so is 0 / 0",
        Certainty.MAY,
        help="tf.atan2(y, x) divides by nothing: it is the same angle where x is above 0",
    )


OTHERS = {
    "tf.image.psnr": equal_images,
    "tf.clip_by_value": clipped_shares,
    "tf.atan": slopes,
}
