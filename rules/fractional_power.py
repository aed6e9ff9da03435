"""Power with a fractional or negative exponent of a base that can be 0 or negative.

`x ** 0.5` is NaN below 0, and its derivative at 0 is infinite; if a square stands inside, the
gradient there is `inf * 0`, NaN. The same holds for every exponent between 0 and 1. `x ** 1.5` is
NaN below 0, and a negative exponent is a division: `x ** -0.5` is inf at 0. Whole exponents from 1
on are safe.

See it:
    >>> x = tf.constant(0.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x**0.5
    >>> float(tape.gradient(y, x))
    inf

Bad:
    weight = (1.0 - tf.nn.softmax(z)) ** 0.5

Good:
    weight = tf.maximum(1.0 - tf.nn.softmax(z), 1e-7) ** 0.5

Below the floor the gradient is 0. The double `tf.where` keeps every value above 0 and gives 0, with
gradient 0, at and below 0. With an absolute value, `tf.abs(x) ** 0.5`, the gradient at 0 is still
infinite. For a base of either sign and a negative exponent there is no fix: decide which sign is
right. `tf.sign(x) * tf.abs(x) ** p` needs the same floor inside.

Often harmless: if no gradient is known to be taken, a fractional power, and a negative one of a
norm, a distance or an exponential, which is 0 for unusual data only. A negative power of a count,
of a sum over a mask or of relu outputs is reported as a division is.

The likelihood `p ** y * (1 - p) ** (1 - y)` of a label that is 0 or 1 has a NaN gradient as soon as
`1 - p` rounds to 0, from a logit of 17 on.

An exponent that is a weight (generalised mean pooling), or the softplus of an output, may become
smaller than 1 in training; the gradient of the power is then infinite where the base is 0.

See also: https://www.tensorflow.org/api_docs/python/tf/math/pow
https://github.com/tensorflow/tensorflow/issues/2295 (a gamma curve) and
https://github.com/keras-team/keras/pull/23138

Seen in the wild:
https://github.com/tensorflow/tensorflow/issues/50400 (the fractional weights of ssim_multiscale),
https://github.com/mkocabas/focal-loss-keras/issues/5 (a focal loss with gamma below 1)
"""

from tfnanlint.api import (
    Certainty,
    Context,
    Differentiated,
    Finding,
    Iterator,
    Site,
    Value,
    ast,
    differences,
    divisors,
    domain,
    evidence,
    linear,
    powers,
    ratios,
    roots_in,
    rule,
    value_in_words,
    weakness_of_divisor,
)


@rule(
    "TFN104",
    "fractional-power",
    on="tf.pow",
    over="TFN201 TFN202 TFN203",
    silent="MAY/NO/DOUBTFUL MAY/UNKNOWN/DOUBTFUL",
    fixes="l2_normalize floor mask epsilon_inside",
)
def check(power: Site, here: Context) -> Iterator[Finding]:
    where = domain(power, "x")
    if where is None:
        yield from by_weight(power, here)
        yield from of_bernoulli(power, here)
        return
    base = power.value("x")
    if not here.numeric(base) or base.kind == "number" or base.is_number:
        return
    exponent = float(power.const("y"))
    if exponent == 0 or where.holds(base) or base.guarded:
        return
    below = not exponent.is_integer() and may_be_negative(power, base)
    at_zero = (
        exponent < 1
        and base.zero
        and (evidence.shows_zero(base) or powers.may_be_of_zero(power, base, here.masks))
        and not evidence.counted(base)
        and (exponent < 0 or power.differentiated is not Differentiated.NO)
    )
    if not below and not at_zero:
        if base.known or power.differentiated is Differentiated.NO:
            return
    if here.hidden(power):
        return
    certainty = (
        Certainty.MUST
        if where.fails(base)
        else Certainty.MAY
        if below or at_zero
        else Certainty.UNKNOWN
    )
    yield here.finding(
        power,
        "x",
        message(base, exponent, below),
        certainty,
        powers.fixes_of(here, power, exponent),
        covers=[root.node for root in roots_in(base) if root.node in ast.walk(power.node)],
        doubtful=exponent > 0 or below or is_unlikely_divisor(power, here),
        kind=weakness_of_divisor(power, base, here.interpreter, here.around),
    )


def may_be_negative(power: Site, base: Value) -> bool:
    """Whether a base is seen to reach numbers below 0, or weights that are trained give it."""
    return base.lo < 0 if base.known else linear(base) and is_trained(power)


def is_trained(power: Site) -> bool:
    return power.differentiated is Differentiated.YES


def is_unlikely_divisor(power: Site, here: Context) -> bool:
    """Whether the base of a negative power is 0 for unusual data only, or kept away from it."""
    if here.draft:
        return False
    is_kept_away = here.tested(power, "x") or here.asserted(power, "x")
    return is_kept_away or divisors.is_rarely_zero(power, power.value("x"))


def by_weight(power: Site, here: Context) -> Iterator[Finding]:
    """A base that can be 0 to the power of a weight, which training may take below 1, or a base
    below 0 to one that training takes off a whole number.
    """
    exponent = power.value("y")
    if not differences.may_be_trained_below_one(exponent):
        return
    base = power.value("x")
    if not here.numeric(base) or base.kind == "number" or not base.zero:
        return
    if base.lo < 0:
        is_wrong = base.known and differences.is_weight(exponent) and is_trained(power)
        effect = "below 0 the result is NaN as soon as the exponent is no whole number"
    else:
        is_wrong = exponent.lo < 1 and evidence.shows_zero(base)
        effect = "when the exponent falls below 1, the gradient is Inf at 0"
    if is_wrong and power.differentiated is not Differentiated.NO and not here.hidden(power):
        yield here.finding(
            power,
            "x",
            f"power of {value_in_words(base)} with a trained exponent: {effect}",
            Certainty.MAY,
            help="keep the base above 0 with tf.maximum(x, 1e-6), or the exponent at or above 1",
            doubtful=True,
        )


def of_bernoulli(power: Site, here: Context) -> Iterator[Finding]:
    """`p ** y * (1 - p) ** (1 - y)`, where the label is 0 or 1: one exponent is 0, and its base can
    be 0. Reported at the first of the two.
    """
    outer = next(iter(here.around(power.node)), None)
    product = here.site(outer, power.point) if isinstance(outer, (ast.BinOp, ast.Call)) else None
    if product is None or product.op.name != "tf.multiply" or product.args["x"] is not power.node:
        return
    if not product.may_be_made_by("y", "tf.pow"):
        return
    second = here.made_by(product.value("y"), "tf.pow", aligned=True)
    if second is None or not any([site.value("x").zero for site in (power, second)]):
        return
    if not power.value("x").nonnegative or not second.value("x").nonnegative:
        return
    if not all([differences.are_complements(power.value(p), second.value(p)) for p in ("x", "y")]):
        return
    if power.differentiated is Differentiated.NO:
        return
    yield here.finding(
        power,
        "x",
        "the power of a probability to a label, beside that of their complements: where one of the "
        "two probabilities is 0 and so is its exponent, the gradient is 0 * inf, NaN",
        Certainty.MAY,
        help="write the product as tf.where(y > 0.5, p, 1 - p), or take the cross-entropy with "
        "logits",
        doubtful=True,
    )


def message(base: Value, exponent: float, below: bool) -> str:
    what = value_in_words(base)
    if not base.known and ratios.is_error_of_prediction(base):
        what = "1 minus a score that is 1 for a perfect prediction"
    if exponent < 0:
        effect = (
            "at 0 the result is Inf"
            + (", below it NaN" if below else "")
            + ", and so is the gradient"
        )
    elif exponent > 1:
        effect = "below 0 the result and its gradient are NaN"
    else:
        effect = (
            "below 0 the result is NaN, " if below else ""
        ) + "at 0 the gradient is Inf, or NaN after a square"
    return f"power {exponent:g} of {what}: {effect}"
