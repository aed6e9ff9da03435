"""What two summands have to do with each other: a share and its complement, both weighted, one that
is 1 where the other is 0.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.relations.counts import one_axis
from tfnanlint.ops.relations.tested import compared, comparison, one_holds, under
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import (
    ABOVE,
    CASTS,
    EQUALITIES,
    FLOAT_CASTS,
    GREATER,
    LESS,
    NOT_ABOVE,
    SQUARES,
)
from tfnanlint.values.value import INF, MIXED, SMALLEST, WHOLE, Value, outward, rounded

_ONE: Final = Value(1.0, 1.0, kind="number")


def of_the_larger(a: Value, b: Value) -> bool:
    """exp(x - m) and exp(y - m), m being the larger one of x and y: one of the two is exp(0)."""
    sites = [made_by(part, "tf.exp", aligned=True) for part in (a, b)]
    less = [
        made_by(site.value("x"), "tf.subtract", aligned=True) if site is not None else None
        for site in sites
    ]
    if None in less or not same(less[0].value("y"), less[1].value("y")):
        return False
    larger = made_by(less[0].value("y"), "tf.maximum", aligned=True)
    return larger is not None and any(
        all(same(larger.value(param), one.value("x")) for param, one in zip(order, less))
        for order in ("xy", "yx")
    )


def of_opposites(a: Value, b: Value) -> bool:
    """exp(x) and exp(-x), of a cosh that is written out: together 2 at least."""
    sites = [made_by(part, "tf.exp", aligned=True) for part in (a, b)]
    if sites[0] is None or sites[1] is None:
        return False
    x, y = sites[0].value("x"), sites[1].value("x")
    for negated, plain in ((x, y), (y, x)):
        minus = made_by(negated, "tf.negative", aligned=True)
        if minus is not None and same(minus.value("x"), plain):
            return True
    return False


def complements(p: Value, rest: Value) -> bool:
    """p and 1 - p of a share: 1 - p is off by a quarter of the spacing below 1 at most, so that the
    sum is rounded to 1.
    """
    return not (p.lo < 0 or p.hi > 1 or p.inf) and _less_than_one(rest, p)


def squares_of_complements(a: Value, b: Value) -> bool:
    """p ** 2 and (1 - p) ** 2 of a share: together at least a half, which they are at p = 0.5."""
    p, rest = _squared(a), _squared(b)
    return p is not None and rest is not None and (complements(p, rest) or complements(rest, p))


def _squared(value: Value) -> Value | None:
    square = made_by(value, *SQUARES, aligned=True)
    if (
        square is None
        or square.op.name == "tf.pow"
        and not (square.value("y").is_number and square.value("y").const == 2)
    ):
        return None
    return (
        square.value("x")
        if square.op.name != "tf.multiply" or same(square.value("x"), square.value("y"))
        else None
    )


def _less_than_one(rest: Value, p: Value) -> bool:
    """Whether a value is 1 - p."""
    origin = rest.origin
    if not isinstance(origin, Site) or origin.op.name != "tf.subtract":
        return False
    whole = origin.value("x")
    return whole.lo == whole.hi == 1 and whole.exact and same(origin.value("y"), p)


def count_all(total: Value, a: Value, b: Value) -> None:
    """sum(y) + sum(1 - y) of shares is the number of elements: no sum is below what it has of one
    element, and these make 1. Of a y of which nothing is known it is a guess that they are shares.
    """
    left, right = (
        made_by(a, "tf.reduce_sum", aligned=True),
        made_by(b, "tf.reduce_sum", aligned=True),
    )
    if left is None or right is None or not one_axis(left, right):
        return
    y, rest = left.value("x"), right.value("x")
    if not (_less_than_one(rest, y) or _less_than_one(y, rest) or _one_of(rest, y)):
        return
    if not y.known and not rest.known:
        total.guarded = True
    elif y.lo >= 0 <= rest.lo and not (y.inf or rest.inf or y.emptied or rest.emptied):
        total.lo, total.zero = max(total.lo, 1.0), False


# Mixtures: m * a + (1 - m) * b with m from 0 to 1.


def mix(total: Value, a: Value, b: Value) -> None:
    """Keeps a sum of two weighted values between the two where their weights are a share and its
    complement. Of a weight of which nothing is known it is a guess that it is one, and so is it
    that a mixture of positive values is positive.
    """
    mixture = _mixed(a, b)
    if mixture is None:
        return
    weight, first, second = mixture
    condition = _condition(weight)
    if condition is not None:
        first, second = under(first, condition), under(second, condition, False)
    if not weight.known and not total.known:
        total.guarded = first.lo > 0 < second.lo
    if (
        weight.lo < 0
        or weight.hi > 1
        or weight.inf
        or total.inf
        or total.dtype in WHOLE
        or total.dtype in ("bool", MIXED)
    ):
        return
    lo, hi, zero = min(first.lo, second.lo), max(first.hi, second.hi), first.zero or second.zero
    least = SMALLEST.get(total.dtype or "float32", SMALLEST["float32"])
    # numbers are, first
    lo, hi = min(lo, rounded(lo, total.dtype)), max(hi, rounded(hi, total.dtype))
    if not _picks(weight):
        lo, hi = outward(lo, hi, total.dtype)
        lo = lo - 2 * least if lo > 0 else lo  # either product may underflow
        hi = hi + 2 * least if hi < 0 else hi
        zero = True
    if 0 < lo < least or -least < hi < 0:
        lo, hi = min(lo, 0.0), max(hi, 0.0)
    zero = zero or lo <= 0 < min(first.lo, second.lo) or hi >= 0 > max(first.hi, second.hi)
    total.zero = total.zero and zero and lo <= 0 <= hi
    total.lo, total.hi = max(total.lo, lo), min(total.hi, hi)
    total.evident = total.evident and total.lo == -INF and total.hi == INF


def _mixed(a: Value, b: Value) -> tuple[Value, Value, Value] | None:
    """The weight, what it weighs, and what its complement weighs."""
    weighed, others = _weighed(a), _weighed(b)
    if len(weighed) + len(others) < 3:  # no product at all
        return None
    for weight, first in weighed:
        for rest, second in others:
            if _less_than_one(rest, weight) or _opposite(rest, weight):
                return weight, first, second
            if _less_than_one(weight, rest):
                return rest, second, first
    return None


def _weighed(value: Value) -> list[tuple[Value, Value]]:
    """A factor and the other one, in both orders; what is no product is its own factor beside 1."""
    origin = value.origin
    if isinstance(origin, Site) and origin.op.name == "tf.multiply":
        x, y = origin.value("x"), origin.value("y")
        return [(x, y), (y, x)]
    return [(value, _ONE)]


def _opposite(rest: Value, mask: Value) -> bool:
    """Whether two masks were cast from a condition and from its negation."""
    of_rest, of_mask = _condition(rest), _condition(mask)
    if of_rest is None or of_mask is None:
        return False
    for negated, plain in ((of_rest, of_mask), (of_mask, of_rest)):
        inverse = made_by(negated, "tf.logical_not", aligned=True)
        if inverse is not None and same(inverse.value("x"), plain):
            return True
    return False


def _one_of(rest: Value, mask: Value) -> bool:
    """Whether each element is in one of two masks at least."""
    of_rest, of_mask = _condition(rest), _condition(mask)
    if of_rest is None or of_mask is None:
        return False
    return _opposite(rest, mask) or one_holds(of_rest, of_mask)


def _condition(mask: Value) -> Value | None:
    """The condition that a mask was cast from."""
    cast = mask.origin
    if not isinstance(cast, Site) or cast.op.name not in CASTS or mask.lo < 0 or mask.hi > 1:
        return None
    return cast.value("x") if cast.value("x").dtype == "bool" else None


def _picks(weight: Value) -> bool:
    """Whether a weight from 0 to 1 is one of the two: a condition or an integer that was cast."""
    for _ in range(4):
        if weight.dtype == "bool" or weight.dtype in WHOLE:
            return True
        origin = weight.origin
        if not isinstance(origin, Site) or origin.op.name not in CASTS:
            return _less_than_one_of_picks(weight)
        weight = origin.value("x")
    return False


def _less_than_one_of_picks(weight: Value) -> bool:
    less = weight.origin
    return (
        isinstance(less, Site)
        and less.op.name == "tf.subtract"
        and _less_than_one(weight, less.value("y"))
        and _picks(less.value("y"))
    )


# Corrections: what brings a value back to a bound that it has passed


def corrected(x: Value, change: Value) -> tuple[float, float] | None:
    """The bounds of x with a change: `(high - x) * (x > high) + (low - x) * (x < low)` or one of
    the two is a clip whose gradient is that of x. None where the change is something else.
    """
    limits = [_limit(x, part) for part in _summands(change)]
    above = [bound for bound, side in filter(None, limits) if side]
    below = [bound for bound, side in filter(None, limits) if not side]
    if None in limits or len(above) > 1 or len(below) > 1 or x.inf or x.nan:
        return None
    if above and below and below[0].hi > above[0].lo:
        return None
    left, right = x.lo, x.hi
    pieces: list[tuple[float, float]] = []
    if above and x.hi > above[0].lo:
        pieces.append(_reached(x, above[0]))
        right = min(right, above[0].hi)
    if below and x.lo < below[0].hi:
        pieces.append(_reached(x, below[0]))
        left = max(left, below[0].lo)
    if left <= right:
        pieces.append((left, right))
    return min([lo for lo, _ in pieces]), max([hi for _, hi in pieces])


def folded(x: Value, taken: Value) -> int:
    """The side of 0 of `x - taken`: -1 for `x - 2 * x * (x >= 0)` and `x - 2 * relu(x)`, which are
    -|x|, 1 for the same where x is below 0, else 0.
    """
    numbers = [one for one in _factors(taken) if one.is_number]
    others = [one for one in _factors(taken) if not one.is_number]
    if len(numbers) != 1 or not numbers[0].exact or numbers[0].lo != 2:
        return 0
    if len(others) == 1:
        relu = made_by(others[0], "tf.nn.relu", aligned=True)
        return -1 if relu is not None and same(relu.value(relu.op.main), x) else 0
    conditions = [_condition(one) for one in others if not same(one, x)]
    if len(others) != 2 or len(conditions) != 1 or conditions[0] is None:
        return 0
    test = made_by(conditions[0], *GREATER, *LESS, aligned=True)
    said = compared(test, x) if test is not None else None
    if said is None or not said[1].lo == said[1].hi == 0:
        return 0
    return -1 if said[0][0] == ">" else 1


def _factors(value: Value, depth: int = 3) -> list[Value]:
    """What a product multiplies; a value that is no product by itself."""
    product = made_by(value, "tf.multiply", aligned=True) if depth else None
    if product is None:
        return [value]
    return [one for param in ("x", "y") for one in _factors(product.value(param), depth - 1)]


def _summands(change: Value) -> list[Value]:
    """What a sum of two adds up; a value that is no sum by itself."""
    total = made_by(change, "tf.add", aligned=True)
    return [total.value("x"), total.value("y")] if total is not None else [change]


def _limit(x: Value, part: Value) -> tuple[Value, bool] | None:
    """The bound of `(bound - x) * mask` whose mask is 1 where x is beyond it, and whether x is
    above it then.
    """
    product = made_by(part, "tf.multiply", aligned=True)
    if product is None:
        return None
    x_factor, y_factor = product.value("x"), product.value("y")
    for mask, way in ((x_factor, y_factor), (y_factor, x_factor)):
        condition = _condition(mask)
        less = made_by(way, "tf.subtract", aligned=True) if condition is not None else None
        if condition is None or less is None or not same(less.value("y"), x):
            continue
        bound = less.value("x")
        relation = comparison(condition, x, bound)
        if relation in (">", ">=", "<", "<=") and not (bound.inf or bound.nan):
            return bound, relation[0] == ">"
    return None


def _reached(x: Value, bound: Value) -> tuple[float, float]:
    """Where `x + (bound - x)` is: the difference is rounded, and keeps to its side of -x."""
    size = max(abs(x.lo), abs(x.hi), abs(bound.lo), abs(bound.hi))
    off = outward(0.0, size, x.dtype)[1] - size if size < INF else INF
    lo, hi = bound.lo - off, bound.hi + off
    return (max(lo, 0.0) if bound.lo >= 0 else lo), (min(hi, 0.0) if bound.hi <= 0 else hi)


# One that is 1 where the other is 0


def where_zero(a: Value, b: Value) -> bool:
    """Whether `b` is 1, or a positive multiple, wherever `a` is 0:
    `a + tf.cast(tf.equal(a, 0), a.dtype)`.
    """
    product = made_by(b, "tf.multiply", aligned=True)
    if product is not None:
        x, y = product.value("x"), product.value("y")
        return x.lo > 0 and where_zero(a, y) or y.lo > 0 and where_zero(a, x)
    less = made_by(b, "tf.subtract", aligned=True)
    truth = less is None or not _less_than_one(b, less.value("y"))
    cast = made_by(b if less is None or truth else less.value("y"), *FLOAT_CASTS, aligned=True)
    return cast is not None and _answered(a, cast.value("x"), truth)


def _answered(a: Value, condition: Value, truth: bool) -> bool:
    """Whether a condition has this truth wherever `a`, which is not negative, is 0."""
    inverse = made_by(condition, "tf.logical_not", aligned=True)
    if inverse is not None:
        return _answered(a, inverse.value("x"), not truth)
    some = made_by(condition, "tf.reduce_any", aligned=True) if not truth else None
    if some is not None:
        return _counts(a, some)
    test = made_by(condition, *(NOT_ABOVE if truth else ABOVE), aligned=True)
    if test is None:
        return False
    x, y, name = test.value("x"), test.value("y"), test.op.name
    if name in EQUALITIES:
        return same(x, a) and y.lo == y.hi == 0 or same(y, a) and x.lo == x.hi == 0
    return same(x, a) and (y.lo > 0 if name in ("tf.less", "tf.greater_equal") else y.lo >= 0)


def _counts(a: Value, some: Site) -> bool:
    """Whether `a` is the number of elements for which a condition holds, of which it is asked
    whether any does.
    """
    total = made_by(a, "tf.reduce_sum", aligned=True)
    if total is None or not one_axis(total, some):
        return False
    counted = _condition(total.value("x"))
    return counted is not None and same(counted, some.value("x"))
