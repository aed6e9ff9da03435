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

An exponent that is a weight (generalised mean pooling) may become smaller than 1 in training; the
gradient of the power is then infinite where the base is 0.

See also: https://www.tensorflow.org/api_docs/python/tf/math/pow
https://github.com/tensorflow/tensorflow/issues/2295 (a gamma curve) and
https://github.com/keras-team/keras/pull/23138

Seen in the wild:
https://github.com/tensorflow/tensorflow/issues/50400 (the fractional weights of ssim_multiscale),
https://github.com/mkocabas/focal-loss-keras/issues/5 (a focal loss with gamma below 1)
"""

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    argument,
    ast,
    differences,
    domain,
    evidence,
    moments,
    quotients,
    repairs,
    rule,
    traits,
    value_in_words,
)

# ops that keep a value at 0 or above, and where they say so
ZEROED = {"tf.clip_by_value": ("clip_value_min",), "tf.maximum": ("x", "y")}


@rule(
    "TFN104",
    "fractional-power",
    on="tf.pow",
    over="TFN201 TFN202 TFN203",
    silent="MAY/NO MAY/UNKNOWN",
    fixes="l2_normalize floor mask epsilon_inside",
)
def check(power: Site, here: Context) -> Iterator[Finding]:
    where = domain(power, "x")
    if where is None:
        yield from by_weight(power, here)
        return
    base = power.value("x")
    if not here.numeric(base) or base.kind == "number" or base.is_number:
        return
    exponent = float(power.const("y"))
    if exponent == 0 or where.holds(base) or base.guarded:
        return
    below = not exponent.is_integer() and base.known and base.lo < 0
    at_zero = (
        exponent < 1
        and base.zero
        and (evidence.shows_zero(base) or exponent > 0 and square_of_zero(base))
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
        fixes(power, exponent, here),
        covers=[root.node for root in repairs.roots(base) if root.node in ast.walk(power.node)],
    )


def by_weight(power: Site, here: Context) -> Iterator[Finding]:
    """A base that can be 0 to the power of a weight, which training may take below 1."""
    base, exponent = power.value("x"), power.value("y")
    if not here.numeric(base) or base.kind == "number" or not base.zero or base.lo < 0:
        return
    if power.differentiated is Differentiated.NO or exponent.lo >= 1:
        return
    if not differences.is_weight(exponent) or not evidence.shows_zero(base) or here.hidden(power):
        return
    yield here.finding(
        power,
        "x",
        f"power of {value_in_words(base)} with a trained exponent: when the exponent falls "
        "below 1, the gradient is Inf at 0",
        Certainty.MAY,
        help="keep the base above 0 with tf.maximum(x, 1e-6), or the exponent at or above 1",
    )


def square_of_zero(base: Value) -> bool:
    """A square of what changes its sign, or of what nothing is known: 0 where that is 0, and its
    gradient times that of the power is 0 * inf.
    """
    square = moments.squared(base)
    inner = square.value("x") if square is not None else None
    return inner is not None and (not inner.known or inner.lo < 0 < inner.hi)


def message(base: Value, exponent: float, below: bool) -> str:
    what = value_in_words(base)
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


def fixes(power: Site, exponent: float, here: Context) -> list[Fix]:
    if "x" not in power.args or power.value("x").hi <= 0:
        return []
    inside = repairs.roots(power.value("x"))
    if inside and power.differentiated is not Differentiated.NO:
        # the root's own gradient is infinite at 0, whatever stands around it
        return repairs.under_the_root(here, inside)
    masked = (
        repairs.double_where(
            here, power, title="mask the base and the result: 0 where the base is 0 or negative"
        )
        if exponent > 0
        else []
    )
    if any(quotients.later_divisors(here, power)):
        here.no_fix = "a later divisor is computed from this result and may then be 0 as well"
        return []
    total = epsilon_beside(power, here) if exponent == 0.5 else None
    if total is not None:
        # a floor would stand for the same as the epsilon does
        return normalized(power, total, here) or masked
    sure = here.precision(power.value("x")).sure
    return floored(power, exponent, here) + masked if sure or not masked else masked


def epsilon_beside(power: Site, here: Context) -> Site | None:
    """The sum of a root and a small number, `s ** 0.5 + eps`."""
    outer = next(iter(here.around(power.node)), None)
    total = here.site(outer, power.point) if isinstance(outer, ast.BinOp) else None
    if total is None or total.op.name != "tf.add":
        return None
    other = total.value("y" if total.args["x"] is power.node else "x")
    return total if other.exact and 0 < other.lo < 0.1 else None


def normalized(power: Site, total: Site, here: Context) -> list[Fix]:
    """l2_normalize for a vector divided by the root of the sum of its squares and an epsilon."""
    outer = next(iter(here.around(total.node)), None)
    quotient = here.site(outer, power.point) if isinstance(outer, ast.BinOp) else None
    squares = here.made_by(power.value("x"), "tf.reduce_sum", aligned=True)
    square = moments.squared(squares.value("x")) if squares is not None else None
    if (
        square is None
        or squares is None
        or not squares.complete
        or quotient is None
        or quotient.op.name != "tf.divide"
        or quotient.args["y"] is not total.node
        or not here.same(quotient.value("x"), square.value("x"))
        or here.precision(quotient.value("x")).dtype == "float16"
        or squares.given("axis")
        and squares.const("keepdims", None) is not True
    ):
        return []
    param = "y" if total.args["x"] is power.node else "x"
    named = isinstance(total.args[param], ast.Name) and total.value(param).lo >= 1e-12
    return here.rewrite(
        quotient,
        "tf.math.l2_normalize({x}, axis={axis}, epsilon={eps} ** 2)"
        if named
        else "tf.math.l2_normalize({x}, axis={axis})",
        title="use l2_normalize",
        claim=Claim.SHIFTED,
        cost=repairs.COST_OF_ITS_EPSILON
        if named
        else "vectors shorter than 1e-6 are scaled by 1e6; others grow by epsilon / length",
        x=quotient.args["x"],
        axis=argument(squares, "axis", "axis"),
        eps=total.args[param],
    )


def floored(power: Site, exponent: float, here: Context) -> list[Fix]:
    """The base kept where the power and its derivative are finite."""
    base = power.value("x")
    bound = floor(exponent, base, here)
    if bound is None or exponent.is_integer() and not base.nonnegative:
        return []
    zero, x = lower_bound(power, here), power.args["x"]
    template = bound if zero is not None else f"tf.maximum({{x}}, {bound})"
    return here.rewrite(
        power,
        template,
        node=zero or x,
        x=zero or x,
        title=f"keep the base at or above {bound}",
        claim=Claim.SHIFTED,
        cost=f"bases below {bound} become {bound} and get no gradient",
    )


def lower_bound(power: Site, here: Context) -> ast.expr | None:
    """The 0 that the program itself keeps a base at, where it writes that in the base:
    `tf.clip_by_value(x, 0.0, 1.0)`.
    """
    clip = here.made_by(power.value("x"), *ZEROED)
    if clip is None or clip.node is not power.args["x"] or not clip.complete:
        return None
    return next(
        (
            clip.args[param]
            for param in ZEROED[clip.op.name]
            if isinstance(clip.args.get(param), ast.Constant) and clip.value(param).const == 0
        ),
        None,
    )


def floor(exponent: float, base: Value, here: Context) -> str | None:
    """A small base whose power and derivative fit the dtype."""
    if exponent > 1:
        return "0.0"
    if exponent > 0:
        return (
            here.under_power(base, exponent)
            if base.lo >= 0 and not beside_one(base)
            else here.epsilon(base)
        )
    if base.dtype == "float16":
        return here.epsilon(base, "divisor") if exponent >= -1 else None
    # The -5th power of a smaller number overflows, whatever is configured.
    return (
        here.epsilon(base, "inverse root") if exponent > -1 else "1e-7" if exponent >= -4 else None
    )


def beside_one(base: Value) -> bool:
    """1 - p: next to 1 no smaller number than 6e-8 occurs."""
    return isinstance(base.origin, Site) and base.origin.op.name in traits.ADDITIONS
