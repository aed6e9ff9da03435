"""Reductions: sums, means, extremes, norms, spreads, counts, scans.

The number of elements is not known: a sum is bounded on the side that its sign bounds. Empty
tensors are left to the rules, but for the sum of elements that were picked by a mask: where none
fits it is 0. A sum of up to `COUNT` elements beyond the largest number of the dtype marks Inf.
"""

from __future__ import annotations

import math
from typing import Any, Final

from tfnanlint.ops.relations.counts import axes_of, axis_of, length, one_axis, passed_by_one
from tfnanlint.ops.relations.magnitudes import L2_EPSILON, UNIT_ULPS, longest, square_of, unit_of
from tfnanlint.ops.relations.picks import picked
from tfnanlint.ops.relations.shapes import has_one_length, shape_of
from tfnanlint.ops.relations.shares import (
    axis_of_shares,
    of_squares,
    softmax_axis,
    softmax_of,
    squared_and_summed,
)
from tfnanlint.ops.site import Site, made_by, part_of, same
from tfnanlint.ops.table import op
from tfnanlint.ops.traits import DIFFERENCE_SQUARES, ONE_HOTS
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer.core import INF, NO_CONSTANT, Value, reaches_inf, reaches_minus_inf
from tfnanlint.ops.transfer.diagonals import least_on_diagonal
from tfnanlint.ops.transfer.literals import literal_sum
from tfnanlint.ops.transfer.promotion import indices
from tfnanlint.values.value import MIXED, SMALLEST, WHOLE, Note

COUNT: Final = 1024
AXES: Final = "x axis keepdims name"


def _like(
    x: Value,
    lo: float,
    hi: float,
    zero: bool | None = None,
    nan: bool = False,
    inf: bool | None = None,
) -> Value:
    """A result reduced from `x`, in its dtype and kind; evident where x was and nothing bounds
    it.
    """
    return Value(
        lo,
        hi,
        zero,
        nan=x.nan or nan,
        inf=x.inf if inf is None else inf,
        dtype=x.dtype,
        kind="tensor" if x.kind in ("unknown", "number", "sequence") else x.kind,
        evident=x.evident and lo == -INF and hi == INF,
        guarded=x.guarded,
    )


def total(x: Value) -> Value:
    """Sum of any number of elements, at least one."""
    largest = t.limits_of(x.dtype).max
    up = reaches_inf(x) or largest / COUNT < x.hi < INF
    down = reaches_minus_inf(x) or -INF < x.lo < -largest / COUNT
    mixed = reaches_inf(x) and reaches_minus_inf(x)
    lo = x.lo if x.lo >= 0 and not down else -INF
    hi = x.hi if x.hi <= 0 and not up else INF
    zero = x.zero if x.lo >= 0 or x.hi <= 0 else None
    result = _like(x, lo, hi, zero, nan=mixed or up and down, inf=up or down)
    if x.known and lo == -INF and hi == INF:
        result.evident = True
    return result


def _exact_multiples(bound: float) -> bool:
    """Whether sums of many such numbers are exact, so that their mean does not leave the bound."""
    return math.isfinite(bound) and math.frexp(bound)[0] * 256 % 1 == 0


def mean(x: Value) -> Value:
    """Between the bounds; rounding of the sum moves those that are not short binary numbers."""
    largest = t.limits_of(x.dtype).max
    lo, hi = t.outward(x.lo, x.hi, x.dtype, 64)
    lo = x.lo if _exact_multiples(x.lo) else lo
    hi = x.hi if _exact_multiples(x.hi) else hi
    up = reaches_inf(x) or largest / COUNT < x.hi < INF
    down = reaches_minus_inf(x) or -INF < x.lo < -largest / COUNT
    zero = x.zero if x.lo >= 0 or x.hi <= 0 else None
    if 0 < x.lo < t.smallest(x.dtype) * COUNT or -t.smallest(x.dtype) * COUNT < x.hi < 0:
        lo, hi, zero = min(lo, 0.0) if x.lo > 0 else lo, max(hi, 0.0) if x.hi < 0 else hi, True
        lo = 0.0 if x.lo > 0 else lo
        hi = 0.0 if x.hi < 0 else hi
    result = _like(
        x, -INF if down else lo, INF if up else hi, zero, nan=up and down, inf=up or down
    )
    return result


def _sum(site: Site) -> Value:
    x = t.one_of(site.value("x"))
    if x.nan and site.name.endswith(".nansum"):  # which counts NaN as 0
        return total(x.but(lo=min(x.lo, 0.0), hi=max(x.hi, 0.0), zero=True, nan=False))
    result = total(x)
    kept = (
        _simplex(site, x)
        or of_squares(site, x)
        or _shifted_exponentials(site, x)
        or _with_diagonal(site, x)
        or _over_a_minimum(site, x)
        or _best_kept(site, x)
        or _best_taken(site, x)
        or _cosine(site, x)
        or _distance(site, x)
        or _of_parts(site, x)
        or _one_hot_of_indices(site, x)
        or picked(site, x)
        or passed_by_one(site, x)
        or literal_sum(site, x)
    )
    result = kept if kept is not None else result
    if kept is None and result.lo == 0 and least_on_diagonal(site, x):
        result = result.but(zero=False)
    return or_of_none(result, x, 0.0)


def or_of_none(result: Value, x: Value, neutral: float) -> Value:
    """What is reduced from `x`, or the number that no element gives where a mask may have picked
    none.
    """
    if result.known and not result.admits(neutral) and x.emptied:
        return _joined_with(result, neutral)
    return result


def _minimum_of(value: Value, x: Value) -> Site | None:
    """The reduce_min that a value is, of `x` or of some elements of it (`tf.nn.top_k`)."""
    least = made_by(value, "tf.reduce_min", aligned=True)
    part = least.value("x") if least is not None else None
    chosen = (
        part.origin.parent
        if part is not None and isinstance(part.origin, Note) and part.origin.index == 0
        else None
    )
    if isinstance(chosen, Site) and chosen.op.name == "tf.math.top_k":
        part = chosen.value("x")
    return least if part is not None and same(part, x) else None


def _over_a_minimum(site: Site, x: Value) -> Value | None:
    """sum(relu(x - min(x) + c)) is at least c: the difference is 0 at the smallest of those that
    were compared.
    """
    kept = made_by(x, "tf.nn.relu", aligned=True)
    raised = made_by(kept.value(kept.op.main), "tf.add", aligned=True) if kept is not None else None
    for difference, more in (("x", "y"), ("y", "x")) if raised is not None else ():
        minus = made_by(raised.value(difference), "tf.subtract", aligned=True)
        least = _minimum_of(minus.value("y"), minus.value("x")) if minus is not None else None
        if least is not None and raised.value(more).lo > 0 and one_axis(site, least):
            lo, _ = t.outward(t.rounded(raised.value(more).lo, x.dtype), INF, x.dtype)
            return (
                Value(lo, INF, nan=x.nan, inf=x.inf, dtype=x.dtype)
                if lo >= t.smallest(x.dtype)
                else None
            )
    return None


def _one_hot_of_indices(site: Site, x: Value) -> Value | None:
    """The sum of one_hot(i), i being what argmax or top_k found: 1 along its own axis, of all at
    least 1. The axis along which argmax looked is taken for the one that one_hot puts back, unless
    the program shows that the axis has another length.
    """
    one_hot = made_by(x, *ONE_HOTS, aligned=True)
    if one_hot is None or x.lo != 0.0 or x.hi != 1.0 or one_hot.name == "ops.multi_hot":
        return None
    largest = made_by(one_hot.value("x"), "tf.argmax")
    if largest is None and part_of(one_hot.value("x"), 1, "tf.math.top_k") is None:
        return None
    if largest is not None and not has_one_length(largest.value("x")):
        return None
    if not site.given("axis"):
        return Value(1.0, INF, nan=x.nan, dtype=x.dtype)
    axis = axis_of(site)
    own = axis_of(one_hot, -1)
    if largest is None or axis is NO_CONSTANT or own is NO_CONSTANT:
        return None
    if axis == own or own == -1 and axis == axis_of(largest) == 1:
        return Value(1.0, 1.0, nan=x.nan, dtype=x.dtype)
    return None


def _best_kept(site: Site, x: Value) -> Value | None:
    """sum(where(p >= min(top_k(p)), p, 0)) of a softmax p: its largest element stays, and that is
    no 0.
    """
    choice = made_by(x, "tf.where", aligned=True)
    if choice is None or not choice.given("x"):
        return None
    p = choice.value("x")
    test = made_by(choice.value("condition"), "tf.greater_equal", aligned=True)
    if (
        test is None
        or made_by(p, "tf.nn.softmax", aligned=True) is None
        or not same(test.value("x"), p)
    ):
        return None
    least = _minimum_of(test.value("y"), p)
    if least is None or not one_axis(site, least):
        return None
    return Value(0.0, INF, False, nan=x.nan, dtype=x.dtype)


def _best_taken(site: Site, x: Value) -> Value | None:
    """sum(top_k(p).values) of a softmax p: its largest element is among them, and that is no 0."""
    chosen = part_of(x, 0, "tf.math.top_k")
    if chosen is None or axis_of(site) not in (-1, None):
        return None
    p = chosen.value("x")
    if softmax_of(p) is None and axis_of_shares(p)[0] is NO_CONSTANT:
        return None
    return Value(0.0, INF, False, nan=x.nan, dtype=x.dtype)


def _of_parts(site: Site, x: Value) -> Value | None:
    """sum(concat([a, b])) along the axis on which they are joined is sum(a) + sum(b): a column of
    ones keeps it at 1.
    """
    joined = x.origin
    if (
        x.lo < 0
        or not isinstance(joined, Site)
        or joined.op.name != "tf.concat"
        or not joined.given("axis")
        or not one_axis(site, joined)
    ):
        return None
    parts = joined.value("values").obj
    if not isinstance(parts, tuple) or not any(
        part.positive and not part.emptied for part in parts
    ):
        return None
    return Value(
        sum(part.lo for part in parts if not part.emptied),
        INF,
        False,
        nan=x.nan,
        inf=x.inf or reaches_inf(x),
        dtype=x.dtype,
    )


def _with_diagonal(site: Site, x: Value) -> Value | None:
    """sum(equal(x, transpose(x))) along one axis is at least 1: everything equals itself. NaN would
    not.
    """
    if x.lo < 0 or x.hi < 1 or axis_of(site) not in (0, 1, -1, -2):
        return None
    cast = made_by(x, "tf.cast", "tf.to_float", "tf.to_double")
    test = made_by(cast.value("x"), "tf.equal") if cast is not None and cast is x.origin else None
    if test is None or test is not cast.value("x").origin:
        return None
    a, b = test.value("x"), test.value("y")
    turned = [
        v for v in (a, b) if isinstance(v.origin, Site) and v.origin.op.name == "tf.transpose"
    ]
    matrix = b if turned and turned[0] is a else a
    if (
        len(turned) != 1
        or a.nan
        or not same(turned[0].origin.value("x"), matrix)
        or turned[0].origin.given("perm")
    ):
        return None
    return Value(1.0, INF, nan=x.nan, dtype=x.dtype)


def _simplex(site: Site, x: Value) -> Value | None:
    """The sum of a softmax over its own axis is 1 but for rounding, and over more axes as many as
    there are rows.
    """
    if x.lo < 0 or x.hi > 1:
        return None
    axis, along = softmax_axis(x), axis_of(site)
    if axis is NO_CONSTANT:
        return None
    slack = UNIT_ULPS * t.limits_of(x.dtype).eps
    axes = axes_of(site)
    if along is None or len(axes) > 1 and _is_among(axis, axes, x):
        return total(x).but(lo=1.0 - slack, zero=False)
    if along is NO_CONSTANT or not _is_among(axis, axes, x):
        return None
    return Value(1.0 - slack, 1.0 + slack, nan=x.nan, dtype=x.dtype)


def _is_among(axis: Any, axes: tuple[int, ...], x: Value) -> bool:
    """Whether an axis of a value is one of some, counted from either end."""
    if axis in axes or not axes or type(axis) is not int:
        return axis in axes
    rank = len(shape_of(x) or ())
    return rank > 0 and axis % rank in [one % rank for one in axes]


def _cosine(site: Site, x: Value) -> Value | None:
    """The sum of products of two unit vectors along their axis: a cosine but for rounding."""
    product = x.origin
    if not isinstance(product, Site) or product.op.name != "tf.multiply":
        return None
    units = [unit_of(product.value(param)) for param in ("x", "y")]
    if not all(unit is not None and one_axis(site, unit) for unit in units):
        return None
    return within_one(x)


def _distance(site: Site, x: Value) -> Value | None:
    """The sum of the squares of what unit vectors along its axis add up to, as of a difference of
    two: their distance squared, at most 4.
    """
    square = made_by(x, *DIFFERENCE_SQUARES, "tf.square", "tf.pow", "tf.multiply", aligned=True)
    if square is None or x.lo < 0:
        return None
    if square.op.name in DIFFERENCE_SQUARES:
        parts = [longest(square.value(param), site) for param in ("x", "y")]
    else:
        base = square.value("x")
        parts = [longest(base, site) if square_of(x, base) else None]
    if None in parts:
        return None
    hi = sum(filter(None, parts)) ** 2
    slack = UNIT_ULPS * t.limits_of(x.dtype).eps
    return Value(0.0, hi * (1.0 + slack), nan=x.nan, inf=x.inf, dtype=x.dtype)


def within_one(x: Value) -> Value:
    slack = UNIT_ULPS * t.limits_of(x.dtype).eps
    return Value(
        0.0 if x.lo >= 0 else -1.0 - slack, 1.0 + slack, nan=x.nan, inf=x.inf, dtype=x.dtype
    )


_MULTIPLES: Final = {
    "tf.multiply": (("x", "y"), ("y", "x")),
    "tf.divide": (("x", "y"),),
    "tf.negative": (("x", "x"),),
}


def _shifted_exponentials(site: Site, x: Value) -> Value | None:
    """sum(exp(x - max(x))) is at least 1: the largest element contributes exp(0). So does the
    smallest of c * (x - min(x)).
    """
    exponential = made_by(x, "tf.exp", aligned=True)
    difference = (
        made_by(_unscaled(without_nan(exponential.value("x"))), "tf.subtract", aligned=True)
        if exponential is not None
        else None
    )
    peak = (
        made_by(difference.value("y"), "tf.reduce_max", "tf.reduce_min", aligned=True)
        if difference is not None
        else None
    )
    if peak is None or not same(peak.value("x"), difference.value("x")):
        return None
    return Value(1.0, INF, nan=x.nan, inf=x.inf, dtype=x.dtype) if one_axis(site, peak) else None


def without_nan(x: Value) -> Value:
    """The value before its NaN, Inf - Inf, were replaced by something that is not negative:
    `tf.where(tf.math.is_nan(d), 0.0, d)`.
    """
    choice = made_by(x, "tf.where", aligned=True)
    test = (
        made_by(choice.value("condition"), "tf.math.is_nan", aligned=True)
        if choice is not None and choice.given("x")
        else None
    )
    if test is not None and same(test.value("x"), choice.value("y")) and choice.value("x").lo >= 0:
        return choice.value("y")
    return x


def _unscaled(x: Value, depth: int = 4) -> Value:
    """The difference of which a value is a finite multiple, else the value: both are 0 at the same
    places.
    """
    product = made_by(x, *_MULTIPLES, aligned=True) if depth else None
    for param, scale in _MULTIPLES[product.op.name] if product is not None else ():
        inner, factor = _unscaled(product.value(param), depth - 1), product.value(scale)
        if made_by(inner, "tf.subtract", aligned=True) is not None and (
            param == scale
            or not (factor.inf or factor.nan or product.op.name == "tf.divide" and factor.zero)
        ):
            return inner
    return x


def _mean(site: Site) -> Value:
    x = t.one_of(site.value("x"))
    result = mean(x)
    # 1 among as many as an axis holds
    if x.dtype not in ("float16", "bfloat16") and _shifted_exponentials(site, x) is not None:
        return Value(2.0**-31, max(result.hi, 1.0), nan=x.nan, inf=result.inf, dtype=x.dtype)
    return _or_nan(result, x)


def _extreme(site: Site) -> Value:
    """max, min, median: one of the elements; -Inf or Inf of none, which the flag says where both
    bounds are finite; NaN as median.
    """
    x = t.one_of(site.value("x"))
    if not x.known or not x.emptied:
        return _largest_share(site, x) or _like(x, x.lo, x.hi, x.zero)
    # their least and largest number is an ordinary one
    whole = x.dtype in WHOLE or x.dtype == MIXED
    lo = -INF if (whole or x.hi == INF) and site.op.name != "tf.reduce_min" else x.lo
    hi = INF if (whole or x.lo == -INF) and site.op.name != "tf.reduce_max" else x.hi
    return _like(x, lo, hi, x.zero, nan=site.op.name == "ops.median", inf=True)


def _largest_share(site: Site, x: Value) -> Value | None:
    """max(p) of a softmax p along its axis, or of all: at least 1 among as many as an axis
    holds.
    """
    source = softmax_of(x) if site.op.name == "tf.reduce_max" and x.lo >= 0 else None
    if (
        source is None
        or axis_of(site) not in (None, axis_of(source, -1))
        or axis_of(source, -1) is NO_CONSTANT
    ):
        return None
    half = x.dtype in ("float16", "bfloat16")  # where 1 / n of a long axis is no normal number
    return _like(x, 0.0 if half else 2.0**-31, x.hi, False)


def _product(site: Site) -> Value:
    x = t.one_of(site.value("x"))
    return product(x, none=x.emptied)


def product(x: Value, none: bool = False) -> Value:
    """Product of any number of factors; `none`: also of no factor at all, which is 1."""
    reach = max(abs(x.lo), abs(x.hi))
    hi = INF if reach > 1 or x.inf else max(x.hi, 0.0) if x.lo >= 0 else reach
    lo = (x.lo if x.lo >= 1 else 0.0) if x.lo >= 0 else (-INF if reach > 1 or x.inf else -reach)
    half = reach == INF and x.dtype == "float16"  # two factors suffice that are nothing special
    overflows = (
        x.inf
        or half
        or 1 < reach < INF
        and t.safely(lambda v: v**16, reach) > t.limits_of(x.dtype).max
    )
    result = _like(
        x, lo, hi, x.zero or x.lo < 1, nan=x.inf and x.zero or overflows and x.lo < 1, inf=overflows
    )
    return _joined_with(result, 1.0) if none else result


def _variance(site: Site) -> Value:
    if site.given("ddof") or site.given("correction"):
        x = t.one_of(site.value("x"))
        return _like(x, 0.0, INF, True, nan=True, inf=True)
    x = t.one_of(site.value("x"))
    return _or_nan(variance(x), x)


def _or_nan(result: Value, x: Value) -> Value:
    """A mean, or the 0 / 0 of no element."""
    result.nan = result.nan or result.known and x.emptied
    return result


def variance(x: Value) -> Value:
    """At most a quarter of the squared width, and 0 for equal elements."""
    if x.lo == -INF or x.hi == INF or x.inf:
        return _like(x, 0.0, INF, True, nan=x.inf, inf=x.inf)
    half = (x.hi - x.lo) / 2
    return _spread(x, half * half)


def _spread(x: Value, hi: float) -> Value:
    """[0, hi] and what rounding adds; Inf where the squares overflow."""
    _, hi = t.outward(0.0, hi, x.dtype, 64)
    # The mean itself is rounded: equal elements of size m vary by (m * eps)^2.
    slack = max(abs(x.lo), abs(x.hi)) * t.limits_of(x.dtype).eps * 8
    hi += slack * slack
    largest = t.limits_of(x.dtype).max
    overflows = hi * COUNT > largest or max(abs(x.lo), abs(x.hi)) * COUNT > largest
    return Value(
        0.0, INF if overflows else hi, True, nan=x.nan or overflows, inf=overflows, dtype=x.dtype
    )


def _std(site: Site) -> Value:
    # divides by less than the count: by 0 for one element
    if site.given("ddof") or site.given("correction"):
        x = t.one_of(site.value("x"))
        return _like(x, 0.0, INF, True, nan=True, inf=True)
    return t.sqrt(_variance(site))


def _logsumexp(site: Site) -> Value:
    """At least the largest element, above it by the logarithm of the count."""
    x = t.one_of(site.value("x"))
    lo, _ = t.outward(x.lo, x.hi, x.dtype, 64)
    if x.known and x.emptied:
        return _like(x, -INF, INF, inf=True)
    return _like(x, lo - t.limits_of(x.dtype).eps * 64, INF, inf=x.inf)


def euclidean(x: Value) -> Value:
    """sqrt of a sum of squares: at least the largest magnitude, 0 where all squares flush."""
    return t.sqrt(total(t.square(x)))


def _euclidean(site: Site) -> Value:
    x = t.one_of(site.value("x"))
    shares = squared_and_summed(site, x)
    return or_of_none(euclidean(x) if shares is None else t.sqrt(shares), x, 0.0)


def _norm(site: Site) -> Value:
    x = t.one_of(site.value("x"))
    return or_of_none(_norm_of(site, x), x, 0.0)


def _norm_of(site: Site, x: Value) -> Value:
    order = site.const("ord", "euclidean")
    if order in (1, 1.0):
        return total(t.absolute(x))
    if order == INF:
        return _like(t.absolute(x), 0.0, t.absolute(x).hi, x.zero)
    if order in ("euclidean", "fro", 2, 2.0) and not isinstance(order, bool):
        unit = unit_of(x)
        if unit is not None and one_axis(site, unit):
            return within_one(t.absolute(x))
        shares = squared_and_summed(site, x)
        if shares is not None:
            return t.sqrt(shares)
        norm = euclidean(x)
        least = least_on_diagonal(site, x)
        return norm.but(lo=max(norm.lo, least), zero=False) if least else norm
    return Value(0.0, INF, True, nan=x.nan or x.inf, inf=x.inf or x.known, dtype=x.dtype)


def _half_squares(x: Value) -> Value:
    return or_of_none(t.multiply(total(t.square(x)), t.number(0.5)), x, 0.0)


def _l2_normalized(site: Site) -> Value:
    """x / sqrt(max(sum(x^2), epsilon)): within [-1, 1], small numbers flush; Inf sums give 0, Inf
    elements NaN.
    """
    x = t.one_of(site.value("x"))
    _, hi = t.outward(-1.0, 1.0, x.dtype, 8)
    epsilon = t.constant(site.value("epsilon")) if site.given("epsilon") else L2_EPSILON
    dead = epsilon is not None and t.rounded(epsilon, x.dtype) < t.smallest(x.dtype)
    # An epsilon that is 0 in the dtype leaves rsqrt(0) = Inf, and 0 * Inf = NaN.
    nan = x.nan or x.inf or dead
    return Value(
        0.0 if x.lo >= 0 else -hi, 0.0 if x.hi <= 0 else hi, True, nan=nan, inf=dead, dtype=x.dtype
    )


def _normalized(site: Site) -> Value:
    """linalg.normalize: the direction and the norm; 0 / 0 at a zero vector."""
    x = t.one_of(site.value("x"))
    norm = _norm(site)
    _, hi = t.outward(-1.0, 1.0, x.dtype, 8)
    direction = Value(
        0.0 if x.lo >= 0 else -hi,
        0.0 if x.hi <= 0 else hi,
        True,
        nan=x.nan or x.inf or norm.zero,
        inf=norm.zero,
        dtype=x.dtype,
    )
    return t.several(direction, norm)


def _moments(site: Site) -> Value:
    x = t.one_of(site.value("x"))
    parts = _or_nan(mean(x), x), _or_nan(variance(x), x)
    # of the axes that are left, one may be
    return t.several(*[part.but(emptied=x.emptied) for part in parts])


def _moments_weighted(site: Site) -> Value:
    x = t.one_of(site.value("x"))
    return t.several(
        Value(x.lo, x.hi, nan=True, inf=x.inf, dtype=x.dtype),
        Value(0.0, INF, nan=True, inf=x.inf, dtype=x.dtype),
    )


def _range(site: Site) -> Value:
    """The largest minus the smallest; of nothing, -Inf minus Inf."""
    return or_of_none(t.absolute(_steps(site)), site.value("x"), -INF)


def _steps(site: Site) -> Value:
    """Differences of elements of one tensor: another token, so that they do not cancel."""
    x = t.one_of(site.value("x"))
    return t.subtract(x, x.but(origin=None, const=NO_CONSTANT))


def _differences(site: Site) -> Value:
    """Differences of neighbours, `n` times: the range of each time is twice the last one."""
    times = site.const("n", 1)
    if type(times) is not int or not 0 < times <= _MANY_DIFFERENCES:
        return t.anything(site)
    result = _steps(site)
    for _ in range(times - 1):
        result = t.subtract(result, result.but(const=NO_CONSTANT))
    return result


# Sums, means, extremes

op(
    "tf.reduce_sum",
    "tf.math.reduce_sum K.sum ops.sum tnp.sum np.sum np.nansum ops.nansum raw.Sum",
    AXES,
    _sum,
    reference="tf.reduce_sum(x, -1)",
    promotes="wider",
)
op(
    "tf.reduce_mean",
    "tf.math.reduce_mean K.mean ops.mean tnp.mean np.mean np.nanmean np.average ops.average"
    " raw.Mean",
    AXES,
    _mean,
    needs={"x": "not empty"},
    reference="tf.reduce_mean(x, -1)",
    promotes="floats",
)
op(
    "tf.reduce_max",
    "tf.math.reduce_max K.max ops.max ops.amax tnp.max tnp.amax np.max np.amax np.nanmax raw.Max",
    AXES,
    _extreme,
    needs={"x": "not empty"},
    reference="tf.reduce_max(x, -1)",
)
op(
    "tf.reduce_min",
    "tf.math.reduce_min K.min ops.min ops.amin tnp.min tnp.amin np.min np.amin np.nanmin raw.Min",
    AXES,
    _extreme,
    needs={"x": "not empty"},
    reference="tf.reduce_min(x, -1)",
)
op(
    "ops.median",
    "np.median ops.quantile np.quantile np.percentile ops.percentile np.nanmedian",
    "x axis keepdims",
    _extreme,
    untested="tf.reduce_max has the same bounds",
    promotes="floats",
)
op(
    "tf.reduce_prod",
    "tf.math.reduce_prod K.prod ops.prod tnp.prod np.prod np.product raw.Prod",
    AXES,
    _product,
    reference="tf.reduce_prod(x, -1)",
    promotes="wider",
)
op(
    "tf.reduce_logsumexp",
    "tf.math.reduce_logsumexp ops.logsumexp",
    AXES,
    _logsumexp,
    reference="tf.reduce_logsumexp(x, -1)",
    gradient="NaN where all elements are -Inf",
    promotes="floats",
)

# Spreads and norms

op(
    "tf.math.reduce_variance",
    "K.var ops.var tnp.var np.var np.nanvar",
    AXES,
    _variance,
    reference="tf.math.reduce_variance(x, -1)",
    promotes="floats",
)
op(
    "tf.math.reduce_std",
    "K.std ops.std tnp.std np.std np.nanstd",
    AXES,
    _std,
    gradient="NaN where all elements are equal",
    masked="xla",
    reference="tf.math.reduce_std(x, -1)",
    promotes="floats",
)
op(
    "tf.nn.moments",
    "ops.moments",
    "x axes shift keepdims name",
    _moments,
    untested="returns a pair; reduce_mean and reduce_variance are tested",
)
op(
    "tf.nn.weighted_moments",
    "",
    "x axes frequency_weights name keepdims",
    _moments_weighted,
    needs={"frequency_weights": "not all 0"},
    untested="returns a pair; 0 / 0 where all weights are 0",
)
op(
    "tf.nn.normalize_moments",
    "",
    "counts mean_ss variance_ss shift name",
    lambda site: t.several(Value(), Value()),
    main="variance_ss",
    untested="returns a pair; a variance by moments, which rounding makes negative",
)
op("ops.ptp", "np.ptp tnp.ptp", "x axis keepdims", _range, reference="tnp.ptp(x, -1)")
op(
    "ops.diff",
    "np.diff tnp.diff",
    "x n axis",
    _differences,
    untested="needs two elements; tf.subtract is tested",
)
op(
    "tf.norm",
    "tf.linalg.norm ops.norm ops.linalg.norm np.linalg.norm",
    "x ord axis keepdims name",
    _norm,
    gradient="NaN where all elements are 0",
    masked="xla",
    reference="tf.norm(x, axis=-1)",
    promotes="floats",
)
op(
    "tf.math.reduce_euclidean_norm",
    "raw.EuclideanNorm",
    AXES,
    _euclidean,
    gradient="NaN where all elements are 0",
    masked="all",
    reference="tf.math.reduce_euclidean_norm(x, -1)",
)
op(
    "tf.math.l2_normalize",
    "tf.nn.l2_normalize tf.linalg.l2_normalize K.l2_normalize",
    "x axis epsilon name",
    _l2_normalized,
    reference="tf.math.l2_normalize(x, -1)",
)
op(
    "ops.normalize",
    "keras.utils.normalize",
    "x axis order epsilon",
    _l2_normalized,
    masked="xla",
    of_arrays=("keras.utils.normalize",),
    untested="keras adds axes of its own; tf.math.l2_normalize is tested",
    promotes="floats",
)
op(
    "tf.linalg.normalize",
    "",
    "x ord axis name",
    _normalized,
    gradient="NaN where all elements are 0",
    masked="all",
    untested="returns a pair; tf.norm is tested",
)
op(
    "tf.linalg.global_norm",
    "tf.global_norm",
    "t_list name",
    lambda site: euclidean(t.one_of(site.value("t_list"))),
    gradient="NaN where all elements are 0",
    masked="xla",
    reference="tf.linalg.global_norm([t_list])",
    untested="",
)
op(
    "tf.nn.l2_loss",
    "raw.L2Loss",
    "x name",
    lambda site: _half_squares(site.value("x")),
    untested="reduces all axes; reduce_sum is tested",
)

# Scans


def _cumsum(site: Site) -> Value:
    x = site.value("x")
    result = total(x)
    return _joined_with(result, 0.0) if site.const("exclusive", False) is not False else result


def _joined_with(x: Value, number: float) -> Value:
    return x.but(lo=min(x.lo, number), hi=max(x.hi, number), zero=x.zero or number == 0)


_MANY_DIFFERENCES: Final = 16
_MANY_FACTORS: Final = 1 << 20


def _cumprod(site: Site) -> Value:
    x = site.value("x")
    result = product(x, none=site.const("exclusive", False) is not False)
    count = length(x) if 0 < x.lo < 1 and x.dtype not in ("float16", "bfloat16") else None
    # half of it is far more than what is rounded away
    least = x.lo**count / 2 if count is not None and count < _MANY_FACTORS else 0.0
    return result.but(lo=least, zero=False) if least >= SMALLEST["float32"] else result


op(
    "tf.cumsum",
    "tf.math.cumsum K.cumsum ops.cumsum tnp.cumsum np.cumsum raw.Cumsum",
    "x axis exclusive reverse name",
    _cumsum,
    reference="tf.cumsum(x, -1)",
    promotes="wider",
)
op(
    "tf.math.cumprod",
    "tf.cumprod K.cumprod ops.cumprod tnp.cumprod np.cumprod raw.Cumprod",
    "x axis exclusive reverse name",
    _cumprod,
    gradient="finite but wrong where a factor is 0",
    reference="tf.math.cumprod(x, -1)",
    promotes="wider",
)


def _running_logsumexp(site: Site) -> Value:
    """The scan starts from -Inf, which NaN leaves standing."""
    result = _logsumexp(site)
    nothing = result.nan or site.const("exclusive", False) is not False
    result.nan = result.nan or reaches_inf(site.value("x"))
    return result.but(lo=-INF, inf=True) if nothing else result


op(
    "tf.math.cumulative_logsumexp",
    "",
    "x axis exclusive reverse name",
    _running_logsumexp,
    reference="tf.math.cumulative_logsumexp(x, -1)",
)

# Logic, counts, indices


def _logical(site: Site) -> Value:
    """Whether some or all elements count as true, as NaN and Inf do; of no elements none does, and
    all do.
    """
    x = t.one_of(site.value("x"))
    lo = 1.0 if x.nonzero and x.known and not x.emptied else 0.0
    never = x.lo == x.hi == 0 and not (x.nan or x.inf or x.emptied)
    return Value(lo, 0.0 if never else 1.0, dtype="bool")


op(
    "tf.reduce_any",
    "tf.math.reduce_any K.any ops.any tnp.any np.any raw.Any",
    AXES,
    _logical,
    untested="takes booleans; tests/ops/test_table.py checks tf.math.count_nonzero",
)
op(
    "tf.reduce_all",
    "tf.math.reduce_all K.all ops.all tnp.all np.all raw.All",
    AXES,
    _logical,
    untested="takes booleans",
)
op(
    "tf.math.count_nonzero",
    "tf.count_nonzero ops.count_nonzero tnp.count_nonzero np.count_nonzero",
    "x axis keepdims dtype name",
    lambda site: Value(0.0, INF, dtype=indices(site, "int64", "int32", "dtype")),
    reference="tf.math.count_nonzero(x, -1)",
)
for _name, _raw in (("max", "Max"), ("min", "Min")):
    op(
        f"tf.arg{_name}",
        f"tf.math.arg{_name} tf.arg_{_name} K.arg{_name} ops.arg{_name} tnp.arg{_name}"
        f" np.arg{_name} raw.Arg{_raw}",
        "x axis output_type name",
        lambda site: Value(0.0, INF, dtype=indices(site, "int64", "int32", "output_type")),
        reference=f"tf.arg{_name}(x, -1)",
    )
op(
    "tf.math.bincount",
    "tf.bincount ops.bincount np.bincount",
    "x weights minlength maxlength dtype name",
    lambda site: Value(
        0.0, INF, dtype=None if site.given("weights") else indices(site, "int32", "int32", "dtype")
    ),
    reaches=(0.0,),
    untested="takes integers",
)


def _never_below_zero(site: Site, weights: str) -> bool:
    """Whether weights are left out, or none of them is negative."""
    value = site.value(weights) if site.given(weights) else None
    return value is None or value.kind == "none" or value.lo >= 0


op(
    "tf.math.confusion_matrix",
    "tf.confusion_matrix",
    "labels predictions num_classes weights dtype name",
    lambda site: Value(
        0.0 if _never_below_zero(site, "weights") else -INF,
        INF,
        dtype=indices(site, "int32", "int32", "dtype"),
    ),
    reaches=(0.0,),
    untested="takes integers",
)
op(
    "tf.math.zero_fraction",
    "tf.nn.zero_fraction",
    "x name",
    lambda site: Value(0.0, 1.0, nan=site.value("x").emptied),
    reference="tf.math.zero_fraction(x)",
)
op(
    "tf.histogram_fixed_width",
    "np.histogram ops.histogram",
    "x value_range nbins dtype name",
    lambda site: Value(
        0.0, INF, dtype=indices(site, "int32", "int32", "dtype") if site.library == "tf" else None
    ),
    untested="needs a range",
)

# Segments: a segment without elements gives 0 (sums, means), 1 (products), or the extreme number
# (max, min)


def _segments(reduced, empty: float | None):
    def give(site: Site) -> Value:
        result = reduced(site.value("x"))
        return result if empty is None else _joined_with(result, empty)

    return give


def _extreme_of(side: int, gaps: bool):
    """The largest (smallest) of a segment; one without elements gives the lowest (highest) number,
    or 0 in `gaps` between sorted ones.
    """

    def give(site: Site) -> Value:
        x = site.value("x")
        bound = side * (t.limits_of(x.dtype).max if x.dtype is not None else INF)
        result = _like(x, min(x.lo, bound), max(x.hi, bound), None if x.zero else False)
        return _joined_with(result, 0.0) if gaps else result

    return give


for _prefix in ("segment", "unsorted_segment"):
    _raw = "".join(part.capitalize() for part in _prefix.split("_"))
    _params = (
        "x segment_ids num_segments name"
        if _prefix.startswith("unsorted")
        else "x segment_ids name"
    )
    for _what, _reduced, _empty in (
        ("sum", total, 0.0),
        ("mean", mean, 0.0),
        ("prod", product, 1.0),
    ):
        op(
            f"tf.math.{_prefix}_{_what}",
            f"tf.{_prefix}_{_what}"
            + (
                f" raw.{_raw}{_what.capitalize()}"
                if (_prefix, _what) != ("unsorted_segment", "mean")
                else ""
            )
            + (f" ops.segment_{_what}" if _prefix == "segment" and _what != "mean" else ""),
            _params,
            _segments(_reduced, _empty),
            untested="takes segment ids; the plain reduction is tested",
        )
    for _what, _side in (("max", -1), ("min", 1)):
        op(
            f"tf.math.{_prefix}_{_what}",
            f"tf.{_prefix}_{_what} raw.{_raw}{_what.capitalize()}"
            + (f" ops.segment_{_what}" if _prefix == "segment" else ""),
            _params,
            _extreme_of(_side, _prefix == "segment"),
            untested="takes segment ids; the plain reduction is tested",
        )
op(
    "tf.math.unsorted_segment_sqrt_n",
    "tf.unsorted_segment_sqrt_n",
    "x segment_ids num_segments name",
    _segments(total, 0.0),
    untested="takes segment ids",
)

# Images


def _standardized(x: Value) -> Value:
    """(x - mean) / max(std, 1 / sqrt(pixels)); the square of what is very large overflows."""
    return Value(
        nan=x.nan or x.inf or any(1e18 < abs(end) < INF for end in (x.lo, x.hi)), kind="tensor"
    )


op(
    "tf.image.per_image_standardization",
    "tf.image.per_image_whitening",
    "x name",
    lambda site: _standardized(t.one_of(site.value("x"))),
    gradient="NaN under XLA where all pixels are equal",
    reference="tf.image.per_image_standardization(x[None, :, None])",
)
op(
    "tf.image.psnr",
    "ops.psnr",
    "x y max_val name",
    lambda site: Value(inf=True, evident=True),
    needs={"y": "different from x"},
    untested="Inf for equal images; unbounded",
)
op(
    "tf.image.ssim",
    "tf.image.ssim_multiscale",
    "x y max_val filter_size filter_sigma k1 k2",
    t.ranged(-1.0, 1.0),
    untested="needs images",
)
op(
    "tf.image.total_variation",
    "",
    "x name",
    lambda site: Value(0.0, INF, nan=site.value("x").nan or site.value("x").inf),
    untested="needs images; a sum of magnitudes",
)


# Spectra: Keras 3 gives the real and the imaginary part


def _spectrum(site: Site) -> Value:
    """Two sums of the elements, times cosines and sines."""
    largest = total(t.absolute(t.one_of(site.value("x"))))
    return t.several(
        *(
            Value(nan=largest.nan or largest.inf, inf=largest.inf, dtype=largest.dtype)
            for _ in ("real", "imag")
        )
    )


op(
    "ops.fft",
    "ops.rfft ops.fft2 ops.ifft2",
    "x fft_length",
    _spectrum,
    untested="gives a pair; tests/ops/families/test_arrays.py",
)
op(
    "ops.stft",
    "",
    "x sequence_length sequence_stride fft_length window center",
    _spectrum,
    untested="gives a pair; tests/ops/families/test_arrays.py",
)
