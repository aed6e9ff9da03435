"""Powers with a fractional or negative exponent: bases that can be 0, and repairs."""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.diagnostics.findings import Claim, Differentiated, Fix
from tfnanlint.guards.post_guards import Masks
from tfnanlint.idioms import divisors, moments, radicands, ratios
from tfnanlint.idioms.root_kinds import roots_in
from tfnanlint.ops.site import Site, made_by, operands, same
from tfnanlint.ops.traits import ADDITIONS, TOTALS
from tfnanlint.rewrite.availability import argument
from tfnanlint.rule import quotients
from tfnanlint.rule import recipes as repairs
from tfnanlint.rule.registry import Context
from tfnanlint.values.value import Value

# Ops that keep a value at 0 or above, and where they say so.
_ZEROED: Final = {"tf.clip_by_value": ("clip_value_min",), "tf.maximum": ("x", "y")}


def may_be_of_zero(power: Site, base: Value, masks: Masks) -> bool:
    """Whether the form of the base of a power shows that it can be 0: a square, the error of a
    prediction; under a negative exponent the sum of weights that the function multiplies with.
    """
    if power.value("y").lo < 0:
        return divisors.sums_weights_used(power, base, masks)
    if radicands.is_sum_off_zero(base):
        return False
    return _is_square_of_zero(base) or ratios.is_error_of_prediction(base)


def _is_square_of_zero(base: Value, depth: int = 3) -> bool:
    """Whether a value is a square of what changes its sign, or of what nothing is known, or a sum
    of such: 0 where that is 0, and its gradient times that of the power is 0 * inf.
    """
    total = made_by(base, "tf.add", *TOTALS) if depth else None
    if total is not None:
        parts = operands(total) if total.op.name == "tf.add" else (total.value("x"),)
        return all(_is_square_of_zero(part, depth - 1) for part in parts)
    square = moments.squared(base)
    inner = square.value("x") if square is not None else None
    return inner is not None and (not inner.known or inner.lo < 0 < inner.hi)


def fixes_of(here: Context, power: Site, exponent: float) -> list[Fix]:
    """The fixes of a power with a constant exponent that is no whole number from 1 on, the best
    first; [] where nothing keeps what the program means.
    """
    if "x" not in power.args or power.value("x").hi <= 0:
        return []
    inside = roots_in(power.value("x"))
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
    total = _epsilon_beside(power, here) if exponent == 0.5 else None
    if total is not None:
        # a floor would stand for the same as the epsilon does
        return _normalized(power, total, here) or masked
    sure = here.precision(power.value("x")).sure
    return _floored(power, exponent, here) + masked if sure or not masked else masked


def _epsilon_beside(power: Site, here: Context) -> Site | None:
    """The sum of a root and a small number, `s ** 0.5 + eps`."""
    outer = next(iter(here.around(power.node)), None)
    total = here.site(outer, power.point) if isinstance(outer, ast.BinOp) else None
    if total is None or total.op.name != "tf.add":
        return None
    eps = total.value("y" if total.args["x"] is power.node else "x")
    return total if eps.exact and 0 < eps.lo < 0.1 else None


def _normalized(power: Site, total: Site, here: Context) -> list[Fix]:
    """l2_normalize for a vector divided by the root of the sum of its squares and an epsilon."""
    outer = next(iter(here.around(total.node)), None)
    quotient = here.site(outer, power.point) if isinstance(outer, ast.BinOp) else None
    squares = made_by(power.value("x"), "tf.reduce_sum", aligned=True)
    square = moments.squared(squares.value("x")) if squares is not None else None
    if (
        square is None
        or squares is None
        or not squares.complete
        or quotient is None
        or quotient.op.name != "tf.divide"
        or quotient.args["y"] is not total.node
        or not same(quotient.value("x"), square.value("x"))
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


def _floored(power: Site, exponent: float, here: Context) -> list[Fix]:
    """The base kept where the power and its derivative are finite."""
    base = power.value("x")
    bound = _floor(exponent, base, here)
    if bound is None or exponent.is_integer() and not base.nonnegative:
        return []
    zero, x = _lower_bound(power, here), power.args["x"]
    template = bound if zero is not None else f"tf.maximum({{x}}, {bound})"
    return here.rewrite(
        power,
        template,
        node=zero or x,
        x=zero or x,
        title=f"keep the base at or above {bound}",
        claim=Claim.SHIFTED,
        cost=f"no gradient below {bound}",
    )


def _lower_bound(power: Site, here: Context) -> ast.expr | None:
    """The 0 that the program itself keeps a base at, where it writes that in the base:
    `tf.clip_by_value(x, 0.0, 1.0)`.
    """
    clip = made_by(power.value("x"), *_ZEROED)
    if clip is None or clip.node is not power.args["x"] or not clip.complete:
        return None
    return next(
        (
            clip.args[param]
            for param in _ZEROED[clip.op.name]
            if isinstance(clip.args.get(param), ast.Constant) and clip.value(param).const == 0
        ),
        None,
    )


def _floor(exponent: float, base: Value, here: Context) -> str | None:
    """A small base whose power and derivative fit the dtype."""
    if exponent > 1:
        return "0.0"
    if exponent > 0:
        return (
            here.under_power(base, exponent)
            if base.lo >= 0 and not _beside_one(base)
            else here.epsilon(base)
        )
    if base.dtype == "float16":
        return here.epsilon(base, "divisor") if exponent >= -1 else None
    # The -5th power of a smaller number overflows, whatever is configured.
    return (
        here.epsilon(base, "inverse root") if exponent > -1 else "1e-7" if exponent >= -4 else None
    )


def _beside_one(base: Value) -> bool:
    """1 - p: next to 1 no smaller number than 6e-8 occurs."""
    sum_or_difference = made_by(base, *ADDITIONS)
    return any(part.exact and part.lo != 0 for part in operands(sum_or_difference))
