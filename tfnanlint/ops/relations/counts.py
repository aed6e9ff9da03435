"""Counts: sums along an axis of a test that at least one element of that axis passes."""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import CASTS, EXTREMES, GREATER, ONE_BY_ONE
from tfnanlint.values.value import INF, NO_CONSTANT, Value


def axis_of(site: Site, default=None):
    """The axis as a Python constant; NO_CONSTANT when it cannot be read."""
    if not site.given("axis"):
        return default
    axis = site.value("axis")
    if axis.kind == "sequence" and isinstance(axis.obj, tuple) and len(axis.obj) == 1:
        axis = axis.obj[0]  # [-1] is -1
    return axis.const


def axes_of(site: Site) -> tuple[int, ...]:
    """The axes of a reduction where they are written; empty where it is over all, or they cannot be
    read.
    """
    axis = site.value("axis") if site.given("axis") else None
    items = axis.obj if axis is not None else None
    axes = [one.const for one in items] if isinstance(items, tuple) else [axis_of(site)]
    return tuple(axes) if axes and all([type(one) is int for one in axes]) else ()


def one_axis(a: Site, b: Site) -> bool:
    """Whether two reductions surely run along the same axes, written as numbers or held by one
    name.
    """
    if a.given("axis") and b.given("axis"):
        if same(a.value("axis"), b.value("axis")) or _are_equal(a.value("axis"), b.value("axis")):
            return True
    return NO_CONSTANT not in (axis_of(a), axis_of(b)) and axis_of(a) == axis_of(b)


def _are_equal(axes: Value, others: Value) -> bool:
    """Whether two lists hold the same numbers: `[1, 2]` and `(1, 2)`."""
    a, b = axes.obj, others.obj
    if not isinstance(a, tuple) or not isinstance(b, tuple) or len(a) != len(b):
        return False
    return all([type(x.const) is int and x.const == y.const for x, y in zip(a, b)])


def passed_by_one(site: Site, x: Value) -> Value | None:
    """sum(cast(test)) is at least 1 where the largest element passes the test, or the first one
    does.
    """
    cast = made_by(x, *CASTS, aligned=True) if x.lo == 0 and x.hi == 1 else None
    test = cast.value("x").origin if cast is not None else None
    if not isinstance(test, Site) or not (_by_the_extreme(site, test) or _by_the_first(site, test)):
        return None
    return Value(1.0, INF, dtype=x.dtype)


def _by_the_extreme(site: Site, test: Site) -> bool:
    """equal(x, max(x)), x >= max(x), x >= c * max(x) where x is not negative and c at most 1. NaN
    passes none of them; it is left aside where an order is asked for, as in the bounds of a value.
    """
    above, below = test.value("x"), test.value("y")
    if test.op.name == "tf.equal":
        return (
            not above.nan
            and not below.nan
            and any(
                _extreme(bound, elements, site, *EXTREMES)
                for bound, elements in ((above, below), (below, above))
            )
        )
    if test.op.name == "tf.less_equal":
        above, below = below, above
    elif test.op.name != "tf.greater_equal":
        return False
    most = _scaled_down(below) if above.nonnegative else below
    return _extreme(most, above, site, "tf.reduce_max") or _extreme(
        above, below, site, "tf.reduce_min"
    )


def _extreme(bound: Value, elements: Value, site: Site, *names: str) -> bool:
    """Whether a bound is the largest or smallest of the elements along the axis
    that is summed up.
    """
    extreme = made_by(bound, *names, aligned=True)
    return extreme is not None and same(extreme.value("x"), elements) and one_axis(site, extreme)


def _scaled_down(bound: Value) -> Value:
    """A value without a number from 0 to 1 that it is multiplied by."""
    scaled = bound.origin
    if not isinstance(scaled, Site):
        return bound
    if scaled.op.name == "tf.divide" and scaled.value("y").exact and scaled.value("y").lo >= 1:
        return scaled.value("x")
    for param, multiplicand in (("x", "y"), ("y", "x")) if scaled.op.name == "tf.multiply" else ():
        if scaled.value(param).exact and 0 <= scaled.value(param).lo <= 1:
            return scaled.value(multiplicand)
    return bound


# The support of sparsemax: 1 + k * z > cumsum(z) with k = 1, 2, ... At the first element that is 1
# + z > z.


def _by_the_first(site: Site, test: Site) -> bool:
    """Whether the first element along an axis passes a test of z, cumsum(z) and a range: there both
    sides are a * z + b. From 2 ** 24 on (float32) 1 + z is z; such logits are left aside.
    """
    above, below = ("x", "y") if test.op.name in GREATER else ("y", "x")
    if test.op.name not in ("tf.greater", "tf.greater_equal", "tf.less", "tf.less_equal"):
        return False
    scan = _scan(test.value("x")) or _scan(test.value("y"))
    if scan is None or scan.given("exclusive") or scan.given("reverse") or not one_axis(site, scan):
        return False
    upper, lower = _at_first(test.value(above), scan), _at_first(test.value(below), scan)
    return upper is not None and lower is not None and upper[0] == lower[0] and upper[1] > lower[1]


def _scan(value: Value, depth: int = 5) -> Site | None:
    """The running sum in an expression."""
    cumsum = made_by(value, "tf.cumsum", aligned=True)
    site = value.origin
    if (
        cumsum is not None
        or depth == 0
        or not isinstance(site, Site)
        or site.op.name not in _ARITHMETIC
    ):
        return cumsum
    return _scan(site.value("x"), depth - 1) or _scan(site.value("y"), depth - 1)


def _at_first(value: Value, scan: Site, depth: int = 6) -> tuple[float, float] | None:
    """a and b where a value is a * z + b at the first element along the axis of a running sum of z;
    None where that is not seen.
    """
    if value.is_number:
        return 0.0, float(value.const)
    if same(value, scan.value("x")) or made_by(value, "tf.cumsum", aligned=True) is scan:
        return 1.0, 0.0
    counted = made_by(value, "tf.range", aligned=True)
    if counted is not None and counted.given("limit") and counted.value("start").is_number:
        return 0.0, float(counted.value("start").const)
    site = value.origin
    if depth == 0 or not isinstance(site, Site):
        return None
    if site.op.name in CASTS and site.given("x"):
        return _at_first(site.value("x"), scan, depth - 1)
    if site.op.name not in _ARITHMETIC:
        return None
    left, right = (
        _at_first(site.value("x"), scan, depth - 1),
        _at_first(site.value("y"), scan, depth - 1),
    )
    return None if left is None or right is None else _ARITHMETIC[site.op.name](left, right)


def _times(left: tuple[float, float], right: tuple[float, float]) -> tuple[float, float] | None:
    if left[0] and right[0]:
        return None
    return (left[0] * right[1] + right[0] * left[1], left[1] * right[1])


_ARITHMETIC: Final = {
    "tf.add": lambda left, right: (left[0] + right[0], left[1] + right[1]),
    "tf.subtract": lambda left, right: (left[0] - right[0], left[1] - right[1]),
    "tf.multiply": _times,
    "tf.divide": lambda left, right: (
        None if right[0] or not right[1] else (left[0] / right[1], left[1] / right[1])
    ),
}


# Lengths of what is made of a row of numbers

_ROW: Final = "tf.linspace"


def length(x: Value, depth: int = 6) -> int | None:
    """How many elements there are in what `np.linspace(a, b, 1000)` gives, and in what is made of
    it element by element with numbers.
    """
    site = made_by(x, _ROW, *ONE_BY_ONE, aligned=True) if depth else None
    if site is None:
        return None
    if site.op.name == _ROW:
        count = site.value("num") if site.given("num") else None
        # of arrays there is one for each
        row = (
            count is not None
            and count.exact
            and all([site.value(param).kind == "number" for param in ("start", "stop")])
        )
        return int(count.lo) if count is not None and row and 0 < count.lo < INF else None
    arrays = [
        value
        for param in site.args
        if (value := site.value(param)).kind not in ("number", "dtype", "string")
    ]
    return length(arrays[0], depth - 1) if len(arrays) == 1 else None
