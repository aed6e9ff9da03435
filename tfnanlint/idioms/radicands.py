"""What stands under a square root: differences that are negative, and those that are not though
their bounds do not show it.

`mean(x ** 2) - mean(x) ** 2` is negative by rounding, `|a|^2 + |b|^2 - 2ab` too; `1 - cos ** 2` and
`1 - beta ** n` are not.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.diagnostics.findings import Differentiated
from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import differences, moments
from tfnanlint.idioms.vanishing import (
    handed_in,
    has_constant_part,
    is_total_of_weights,
    random_weight,
)
from tfnanlint.ops.provenance import widest
from tfnanlint.ops.site import Site, both_orders, made_by, operands
from tfnanlint.ops.traits import CONTRACTIONS, SQUARES, TOTALS
from tfnanlint.values.value import INF, Value

_MAX_FACTORS: Final = 8  # that are looked at in one product


def difference_under(root: Site) -> Site | None:
    """The difference under a root, an added number left aside; where several values arrive, that of
    the widest.
    """
    value = widest(root.value("x"))
    total = made_by(value, "tf.add")
    for part, addend in both_orders(total):
        if addend.is_number:
            value = part
            break
    return made_by(value, "tf.subtract")


def variance_under(root: Site) -> tuple[Site, moments.Variance] | None:
    """The difference `mean(x^2) - mean(x)^2` under a root, and what it is the variance of; None for
    anything else.
    """
    difference = difference_under(root)
    variance = moments.variance_of(difference) if difference is not None else None
    return None if difference is None or variance is None else (difference, variance)


def is_taken_for_nonnegative(root: Site) -> bool:
    """Whether what stands under a root is most likely not negative, as the author knows: a
    power or square of something unknown taken from 1, what a function was given, a weight raised by
    a constant. False: it shows a difference, or nothing speaks for it.
    """
    x = root.value("x")
    if _is_less_power(root) or _is_less_square(root) or handed_in(x):
        return True
    return (not x.known or _is_raised_weight(x)) and not is_difference_of_squares(x)


def _is_less_power(root: Site) -> bool:
    """Whether it is `1 - b ** n`, or `1 - b^2` of a `b` that is no product of vectors: nothing
    shows that `b` is above 1.
    """
    difference = difference_under(root)
    if difference is None:
        return False
    power = made_by(difference.value("y"), "tf.pow", "tf.square")
    if power is None or power.op.name == "tf.pow" and not power.value("y").is_number:
        return power is not None
    base = power.value("x")
    is_from_constant = difference.value("x").exact and made_by(plain(base), *CONTRACTIONS) is None
    return not base.known and (is_from_constant or power.op.name == "tf.pow")


def _is_less_square(root: Site) -> bool:
    """Whether it is `1 - c ** 2`, where nothing is known of `c`: a cosine, a correlation or a
    share.
    """
    difference = difference_under(root)
    if difference is None or not difference.value("x").exact:
        return False
    square = made_by(plain(difference.value("y")), *SQUARES)
    if square is None or square.value("x").known:
        return False
    return not square.value("y" if square.op.name == "tf.multiply" else "x").known


def _is_raised_weight(x: Value) -> bool:
    """Whether it is a weight plus a small constant: an author who knows that the weight is not
    negative has thought of 0.
    """
    total = made_by(x, "tf.add") if x.lo == -INF else None
    return any(part.lo > 0 and part.hi < 1 for part in operands(total))


def is_difference_of_squares(x: Value) -> bool:
    """Whether something is taken away from nonnegative values, `|a|^2 - |b|^2`,
    `|a|^2 - 2ab + |b|^2`, or a root is that of a discriminant; in one of the ways in which the
    value can arise.
    """
    return differences.has_form(x, differences.is_difference_of_squares) or differences.has_form(
        x, differences.is_discriminant
    )


def is_running_state(root: Site) -> bool:
    """Whether a variable stands under a root that nothing differentiates, as it is: the running
    mean of squares of an optimizer or a metric.
    """
    x = root.value("x")
    if not x.evident or x.lo != -INF or x.hi != INF:
        return False
    return root.differentiated is Differentiated.NO and difference_under(root) is None


def is_any_product(root: Site) -> bool:
    """Whether a product of tensors that can be any number stands under a root. False: the root is
    that of a weight or of the output of a layer, perhaps times what is never negative.
    """
    x = root.value("x")
    if -x.lo != x.hi or x.hi != INF or is_difference_of_squares(x):
        return False
    return not differences.has_form(x, differences.has_one_sign)


def is_less_ratio(root: Site) -> bool:
    """Whether it is `1 - (a / b)^2` or `s - a / b * r`: of two rates of one schedule, or a part and
    the whole; nothing says here which is larger.
    """
    difference = difference_under(root)
    factors = [plain(difference.value("y"))] if difference is not None else []
    for factor in factors:
        product = made_by(factor, *SQUARES)
        if product is not None and len(factors) < _MAX_FACTORS:
            factors += [plain(product.value(p)) for p in ("x", "y") if p in product.args]
    quotients = [made_by(factor, "tf.divide") for factor in factors]
    return any(quotient is not None and not quotient.value("y").is_number for quotient in quotients)


def is_sum_off_zero(x: Value) -> bool:
    """Whether a value is a sum of squares that training hardly brings to 0: one of them is that of
    a constant, or they are those of weights that start at random.
    """
    total = made_by(x, *TOTALS)
    if total is not None and (has_constant_part(total) or random_weight(total.value("x"))):
        return True
    return is_total_of_weights(x)
