"""Division by a value that can be zero.

Counts, sums over a mask, norms, standard deviations, absolute values and relu outputs are 0 for
some batch: a sample without positive labels, a constant feature, an empty mask. `x / 0` is Inf,
`0 / 0` is NaN, and the gradient is NaN either way. `%`, `//`, `tf.math.rsqrt` and
`tf.math.reciprocal` fail in the same way. Only divisors of which the program itself shows that they
can be 0 are reported; a norm, a distance or an exponential, which are 0 for odd data only, where a
gradient is taken (elsewhere with `--certainty unknown`).

Bad:
    dice = 2.0 * tf.reduce_sum(y * p) / (tf.reduce_sum(y) + tf.reduce_sum(p))

Good:
    dice = tf.math.divide_no_nan(2.0 * tf.reduce_sum(y * p), tf.reduce_sum(y) + tf.reduce_sum(p))

The fix depends on what the divisor is. `tf.math.divide_no_nan` gives 0 where it is 0: right for
masked means, recall, dice, IoU and weights divided by their own sum. A count is kept at or above 1,
`x / tf.maximum(n, 1)`, because `x / 1e-7` would be a weight of 1e7. Any other nonnegative divisor
is kept at or above a small number, 1e-12 where its ordinary values are small themselves (sums of
squares, probabilities). A scale that softplus or exp makes gets `+ eps` where it is made. One that
changes its sign has no floor: restructure it, for example as `tf.nn.softplus(v) + eps`. Below a
root the small number belongs inside, `tf.sqrt(s + eps)`, because the gradient of the root itself is
infinite at 0. In float16 only the forms with 0 and 1 are offered.

Doubtful is a quotient that is only written into summaries, where NaN is a gap in a curve, one that
is compared element by element there or by all that call it and nothing else (0 / 0 is "no" there),
or of which the function itself asks whether it is finite, where no gradient is known to be taken,
and one by the spread of a whole tensor or by a mean of squares where nothing says whether a
gradient is taken. So is one by the sum of values that are kept above 0 only afterwards, too late
for a row of zeros: what is handed in is mostly a softmax (a stranger found three of eight such
right).

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
    ast,
    counters,
    decides,
    densities,
    evidence,
    plain,
    quantities,
    quotients,
    ratios,
    repairs,
    rule,
    tallies,
    words,
)

BOUNDED = "a value that is"  # the reason where nothing but bounds shows 0
SETTING = "a setting that is 0 by default"
DIVISORS = {"tf.math.reciprocal": "x", "tf.math.rsqrt": "x"}
WORDS = {
    "tf.math.floormod": "remainder of a division",
    "tf.math.floordiv": "floor division",
    "tf.truncatemod": "remainder of a division",
    "tf.truncatediv": "division",
    "tf.math.rsqrt": "reciprocal root",
    "tf.math.reciprocal": "reciprocal",
}


@rule(
    "TFN102",
    "division-by-zero",
    over="TFN201 TFN202 TFN203",
    silent="MAY/ANY/TESTS MAY/NO/DOUBTFUL MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    on="tf.divide tf.math.reciprocal tf.math.rsqrt tf.math.floordiv tf.math.floormod tf.truncatediv tf.truncatemod "
    "tf.math.xdivy tf.image.psnr tf.clip_by_value",
)
def check(division: Site, here: Context) -> Iterator[Finding]:
    if division.op.name in OTHERS:
        yield from OTHERS[division.op.name](division, here)
        return
    param = DIVISORS.get(division.op.name, "y")
    divisor = division.value(param)
    form = ratio(division, divisor, here)
    why = form or reason(division, divisor, here)
    if why is None or here.hidden(division) or here.tested(division, param):
        return
    certainty = Certainty.MUST if divisor.lo == divisor.hi == 0 else Certainty.MAY
    if certainty is Certainty.MAY and here.asserted(division, param):
        return
    unsure = certainty is Certainty.MAY and not here.draft
    if unsure and why.startswith(BOUNDED) and rare(division, divisor, here):
        certainty = Certainty.UNKNOWN
    doubtful = unsure and (
        here.only_compared(division, shown=True)
        or decides(division, here.interpreter)
        or here.tested_for_nan(division)
        or division.differentiated is Differentiated.UNKNOWN
        and why.startswith(BOUNDED)
        and of_everything(divisor, here)
    )
    inner = [
        root.node
        for root in repairs.roots(divisor)
        if root.source is here.source
        and here.source.span(root.node) in here.source.span(division.node)
    ]
    name = WORDS.get(division.op.name, "division")
    effect = "at 0 the result is Inf" if param == "x" else "x / 0 is Inf and 0 / 0 is NaN"
    yield here.finding(
        division,
        param,
        f"{name} {'of' if param == 'x' else 'by'} {why}: {effect}, and so is the gradient",
        certainty,
        [] if form and densities.is_ratio(division) else whole_repairs(division, param, here),
        covers=inner,
        help=advice(division, divisor),
        doubtful=doubtful,
    )


def whole_repairs(division: Site, param: str, here: Context) -> list[Fix]:
    """The fixes of a division; none where a later one, which is not reported, divides by what is
    made of it: the mean of nothing in a variance that is divided by.
    """
    fixes = quotients.fixes_of(here, division, param)
    for later in quotients.later_divisors(here, division) if fixes else ():
        if reason(later, later.value("y"), here) is None:
            place = here.source.location(here.source.span(later.node).start).words
            here.no_fix = f"{place} divides by what is made of it, which may be 0 then, too"
            return []
    return fixes


def ratio(division: Site, divisor: Value, here: Context) -> str | None:
    """In words what the form of the quotient says of its divisor: that of a cosine, a coefficient of
    variation, a ratio of probabilities.
    """
    if divisor.nonzero or divisor.guarded or not here.numeric(divisor):
        return None
    if not division.given("x") or not division.given("y"):
        return None
    if divisor.kind == "tensor" and ratios.is_cosine(division):
        return "the product of two lengths, each of which can be 0"
    if divisor.kind == "tensor" and ratios.is_variation(division):
        return "the mean of the same elements, which is 0 where they all are or cancel"
    taken = division.differentiated is Differentiated.YES and densities.is_ratio(division)
    return "a probability or density, which underflows to 0" if taken else None


def rare(division: Site, divisor: Value, here: Context) -> bool:
    """Whether 0 takes a vector of zeros, two points that are one or an exponential that underflows,
    and nothing says that a gradient is taken: of 60 such findings in fresh code 22 were right.
    """
    return (
        divisor.kind != "number"
        and division.differentiated is not Differentiated.YES
        and not evidence.ordinary(divisor)
        and not summed_mask(division, here)
    )


def of_everything(divisor: Value, here: Context) -> bool:
    """Whether a divisor is the spread of a whole tensor, a mean of roots over all of it, or a mean
    of squares: 0 only where all are equal.
    """
    root = here.made_by(plain(evidence.widest(plain(divisor))), "tf.sqrt")
    inner = divisor if root is None else root.value("x")
    site = here.made_by(inner, "tf.math.reduce_std", "tf.math.reduce_variance", "tf.reduce_mean")
    if (
        site is not None
        and site.op.name == "tf.reduce_mean"
        and here.made_by(site.value("x"), "tf.square", "tf.pow") is not None
    ):
        return True
    if site is None or site.const("axis", None) is not None:
        return False
    return site.op.name != "tf.reduce_mean" or here.made_by(site.value("x"), "tf.sqrt") is not None


def reason(division: Site, divisor: Value, here: Context) -> str | None:
    """In words what shows that the divisor can be 0; None where nothing does."""
    if divisor.kind != "tensor":
        why = (
            "0"
            if divisor.const == 0 and divisor.is_number
            else f"{BOUNDED} {words(divisor)}"
            if counter(division, divisor, here)
            else None
        )
        why = SETTING if why is None and evidence.set_to_zero(divisor) else why
        return (
            why
            if why is not None
            and (
                division.value("x").kind == "tensor" or why == SETTING and for_an_op(division, here)
            )
            else None
        )
    if evidence.not_counted(divisor):
        return "the number of elements that were not counted: all of them can be"
    if evidence.counted(divisor):
        return None
    if not here.numeric(divisor) or divisor.nonzero or divisor.guarded:
        return None
    if divisor.known and evidence.shows_zero(divisor):
        return f"{BOUNDED} {words(divisor)}" if not divisor.exact else "0"
    if not divisor.known and evidence.zero_factor(divisor):
        return "a multiple of a sum that can be 0"
    if (
        summed_mask(division, here)
        or (not divisor.known or quantities.power_of(divisor) is not plain(divisor))
        and summed_weights(division, here)
    ):
        totals = quantities.sums(divisor)
        return f"a {'mean' if totals and totals[0].op.name == 'tf.reduce_mean' else 'sum'} over a mask that can be all 0"
    if not divisor.known and normalised_weight(division, here):
        return "a sum of weights that can all be 0"
    if not divisor.known and harmonic(division, here):
        return "the sum of two values of which it is the harmonic mean: both can be 0"
    if not divisor.known and division.given("x") and tallies.all_vanish(divisor, division):
        return "a sum of counts that can all be 0"
    if (
        not divisor.known
        and division.given("x")
        and quantities.is_union(divisor, division.value("x"))
    ):
        return "the union of two areas that can both be 0"
    return None


def for_an_op(division: Site, here: Context) -> bool:
    """Whether a quotient of which nothing else is known goes into an op: it is a tensor, for Python
    would have complained.
    """
    outer = (
        next(iter(here.around(division.node)), None)
        if division.value("x").kind == "unknown"
        else None
    )
    site = (
        here.interpreter.site(outer, division.point)
        if isinstance(outer, ast.Call) and division.point is not None
        else None
    )
    return (
        site is not None
        and site.library in ("tf", "keras", "K")
        and division.node in site.args.values()
    )


def counter(division: Site, divisor: Value, here: Context) -> bool:
    """Whether the divisor is a Python number that comes to 0 in a loop which does not leave that
    out.
    """
    node = division.args.get("y")
    if divisor.kind != "number" or node is None or divisor.lo != 0 or not divisor.zero:
        return False
    around = here.around(division.node)
    if not counters.comes_to_zero(divisor) and not counters.counted_by_hand(node, division, around):
        return False
    return not counters.leaves_out(
        {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}, around
    )


def summed_mask(division: Site, here: Context) -> bool:
    """sum(x * m) / sum(m), sum(x * m / sum(m)): the product shows that m is a mask or a weight. A
    running average is none.
    """
    if not division.given("y") or not division.given("x"):
        return False
    totals = quantities.sums(division.value("y")) if not raised(division.value("y"), here) else []
    if not totals:
        return False
    whole = division.value("x")
    factors = [
        plain(value)
        for part in [whole, *(total.value("x") for total in quantities.sums(whole))]
        for value in quantities.factors(part)
    ]
    return any(
        here.same(summed, factor)
        for total in totals
        for summed in quantities.summands(total)
        if evidence.running_average(summed) is None
        for factor in factors
    )


def summed_weights(division: Site, here: Context) -> bool:
    """n / sum(m), n / sum(m) ** 2, where the function multiplies with m, too: m is a mask, or
    weights.
    """
    total = (
        here.made_by(quantities.power_of(division.value("y")), "tf.reduce_sum")
        if division.op.name == "tf.divide" and division.point is not None
        else None
    )
    weight = plain(total.value("x")) if total is not None else None
    return (
        weight is not None
        and not weight.known
        and not isinstance(weight.origin, Site)
        and here.masks.weighs(weight, division.point.scope)
    )


def normalised_weight(division: Site, here: Context) -> bool:
    """w / sum(w) * x: that it is multiplied with something else shows that w is a weight. Inverse
    distances are none that can be 0, nor are sums of a whole row, of which all would have to be.
    """
    total = (
        here.made_by(plain(division.value("y")), *evidence.SUMS)
        if division.op.name == "tf.divide"
        else None
    )
    weight = plain(division.value("x")) if total is not None else None
    if (
        total is None
        or weight is None
        or not any(here.same(weight, one) for one in quantities.summands(total))
    ):
        return False
    # of weights that add up to 1 is above 0, too
    power = here.made_by(weight, "tf.pow", "tf.square", "tf.sqrt")
    base = weight if power is None else power.value("x")
    return here.made_by(base, "tf.math.reciprocal", "tf.divide", *evidence.SUMS) is None and any(
        times.value("y" if param == "x" else "x").kind != "number"
        for times, param, _ in here.masks.factors(division)
    )


def harmonic(division: Site, here: Context) -> bool:
    """2 * a * b / (a + b): precision and recall are both 0 where nothing is right."""
    total = here.made_by(plain(division.value("y")), "tf.add")
    if (
        total is None
        or not division.given("x")
        or here.same(plain(total.value("x")), plain(total.value("y")))
    ):
        return False
    factors = [plain(factor) for factor in quantities.factors(division.value("x"))]
    return all(
        any(here.same(plain(total.value(param)), factor) for factor in factors)
        for param in ("x", "y")
    )


def raised(value: Value, here: Context, depth: int = 8) -> bool:
    """Whether something positive is added to a sum, as it is or before it is scaled: sum(m) + 1e-5,
    (sum(m) + 1e-5) * channels.
    """
    value = quantities.power_of(evidence.widest(plain(value)))
    plus = here.made_by(value, "tf.add")
    if plus is not None and any(plus.value(param).positive for param in ("x", "y")):
        return True
    scaled = here.made_by(value, "tf.multiply") if depth else None
    for param in ("x", "y") if scaled is not None else ():
        if plain(scaled.value(param)).guarded or raised(scaled.value(param), here, depth - 1):
            return True
    return False


def advice(division: Site, divisor: Value) -> str:
    if divisor.nonnegative and quotients.of_half(division) and not quantities.zero_meant(division):
        return "in float16 no floor is far enough below ordinary values: divide in float32"
    if densities.is_ratio(division):
        return "divide by subtracting logarithms: tf.exp(log_p - log_q), of log_softmax or log_prob"
    if divisor.nonnegative or repairs.roots(divisor) or evidence.not_counted(divisor):
        return ""
    if not divisor.known:
        return "nothing shows the sign of the divisor, so no floor is offered: where it is never negative, tf.maximum(divisor, eps) is one"
    return "the divisor changes its sign, so no floor keeps it away from 0: make it positive, e.g. tf.nn.softplus(v) + eps"


def equal_images(psnr: Site, here: Context) -> Iterator[Finding]:
    certainty = Certainty.MAY if psnr.differentiated is Differentiated.YES else Certainty.UNKNOWN
    yield here.finding(
        psnr,
        None,
        "the PSNR of two equal images is Inf and its gradient NaN: the mean squared error is 0",
        certainty,
    )


def clipped_shares(clip: Site, here: Context) -> Iterator[Finding]:
    """x / sum(x) that is kept above 0 behind the division: who does so reckons with elements of 0,
    and a row of them is NaN before.
    """
    floor = clip.value("clip_value_min") if clip.given("clip_value_min") else None
    quotient = (
        here.made_by(clip.value("x"), "tf.divide", aligned=True)
        if floor is not None and floor.lo > 0
        else None
    )
    if quotient is None or quotient.source is not here.source:
        return
    x, divisor = quotient.value("x"), quotient.value("y")
    total = here.made_by(plain(divisor), *evidence.SUMS)
    if (
        total is None
        or divisor.known
        or divisor.guarded
        or not here.same(plain(total.value("x")), plain(x))
    ):
        return
    if here.hidden(quotient) or here.tested(quotient, "y") or here.asserted(quotient, "y"):
        return
    yield here.finding(
        quotient,
        "y",
        "division by the sum of values that are kept above 0 only afterwards, so that all can be 0: 0 / 0 is NaN, "
        "which the clip leaves NaN, and so is the gradient",
        Certainty.MAY,
        quotients.zeros(here, quotient),
        doubtful=True,
    )


OTHERS = {"tf.image.psnr": equal_images, "tf.clip_by_value": clipped_shares}
