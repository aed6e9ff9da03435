"""What is never below a value in magnitude: its norms, the root of a sum with its square in it,
such with something added. The value divided by it lies within [-1, 1].
"""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.relations.counts import axis_of, one_axis
from tfnanlint.ops.site import Site, both_orders, made_by, same
from tfnanlint.ops.traits import EUCLIDEAN, FLOORS, LINEAR, NEGATIONS, SQUARES
from tfnanlint.values.value import (
    FLOATS,
    LARGEST_AXIS,
    NO_CONSTANT,
    SMALLEST,
    Value,
    outward,
)

UNIT_ULPS: Final = 1024  # by which the rounding of sums lifts a length of 1
L2_EPSILON: Final = 1e-12  # that tf.math.l2_normalize puts under a sum of squares by default

_SUBNORMAL: Final = 1.2248  # the root of 1.5
_DEPTH: Final = 4


def never_below(divisor: Value, x: Value) -> bool:
    """Whether every element of `divisor` is at least the magnitude of that of `x` at its place, but
    for rounding.
    """
    return norm_of(divisor, x) is not None or _extreme_of(divisor, x, _DEPTH)


def rounded_to_one(x: Value, ulps: int, floor: float = 0.0) -> Value:
    """What lies within [-1, 1] but for rounding; where it is infinite it stays so. The square of a
    number may be one of the least there are, of which NumPy and float16 keep some: 1.49 of them
    become one. Squares below that are 0, and what was divided by is its `floor` then.
    """
    _, hi = outward(-1.0, 1.0, x.dtype, ulps)
    hi = max(hi, _SUBNORMAL) if x.kind == "array" or x.dtype == "float16" else hi
    hi = max(hi, SMALLEST.get(x.dtype or "float32", 0.0) ** 0.5 / floor) if floor > 0 else hi
    return x.but(lo=max(x.lo, -hi), hi=min(x.hi, hi), zero=x.zero, evident=False)


def spans(high: Value, low: Value) -> bool:
    """Whether one value is the largest element of what another is the least of: their difference is
    not negative.
    """
    largest = made_by(high, "tf.reduce_max", aligned=True)
    least = made_by(low, "tf.reduce_min", aligned=True) if largest is not None else None
    return (
        largest is not None
        and least is not None
        and same(largest.value("x"), least.value("x"))
        and one_axis(largest, least)
    )


def outweighs_underflow(square: float, dtype: str | None) -> bool:
    """Whether a sum of squares is so large that those of its elements that underflow change nothing
    in a vector that is divided by its root. Of many numbers around 1e-19 one square may be above 0:
    divided by that norm the vector is as long as the root of their number.
    """
    least = SMALLEST.get(dtype or "float32", SMALLEST["float32"])
    rounding = FLOATS.get(dtype or "float32", FLOATS["float32"]).eps
    return square >= least * LARGEST_AXIS / (UNIT_ULPS * rounding)


def unit_of(value: Value) -> Site | None:
    """What says along which axis a value is a unit vector, or a shorter one: an l2_normalize, or
    the norm that its like was divided by. None where the norm may be so small that squares
    underflow.
    """
    producer = made_by(
        value,
        "tf.math.l2_normalize",
        "tf.divide",
        "tf.math.divide_no_nan",
        "tf.multiply",
        aligned=True,
    )
    if producer is None:
        return None
    if producer.op.name == "tf.math.l2_normalize":
        epsilon = producer.value("epsilon").lo if producer.given("epsilon") else L2_EPSILON
        return producer if outweighs_underflow(epsilon, value.dtype) else None
    if producer.op.name != "tf.multiply":
        norm = producer.value("y")
        is_large = norm.lo > 0 and outweighs_underflow(norm.lo**2, value.dtype)
        return norm_of(norm, producer.value("x")) if is_large else None
    for part, factor in both_orders(producer):
        root = made_by(part, "tf.math.rsqrt", aligned=True)
        if root is not None and outweighs_underflow(root.value("x").lo, value.dtype):
            return squares_of(root.value("x"), factor)
    return None


def longest(value: Value, reduction: Site, depth: int = _DEPTH) -> float | None:
    """The length that a sum of multiples of unit vectors along the axis of a reduction has at most,
    as of `h + r - t`: each adds the magnitude of its coefficient. None for other values.
    """
    unit = unit_of(value)
    if unit is not None and one_axis(reduction, unit):
        return 1.0
    outer = made_by(value, *LINEAR, aligned=True) if depth else None
    if outer is None:
        return None
    if outer.op.name in NEGATIONS:
        return longest(outer.value("x"), reduction, depth - 1)
    x, y = outer.value("x"), outer.value("y")
    if outer.op.name == "tf.multiply":
        number, vector = (x, y) if x.is_number else (y, x)
        inner = longest(vector, reduction, depth - 1) if number.is_number else None
        return None if inner is None else inner * max(abs(number.lo), abs(number.hi))
    lengths = [longest(part, reduction, depth - 1) for part in (x, y)]
    return None if None in lengths else sum(filter(None, lengths))


def norm_of(divisor: Value, x: Value, depth: int = _DEPTH) -> Site | None:
    """The Euclidean norm, or sum of squares, of `x` that a divisor is at least as large as; None
    where that is not seen.
    """
    producer = made_by(
        divisor,
        "tf.norm",
        "tf.math.reduce_euclidean_norm",
        "tf.sqrt",
        "tf.add",
        "tf.maximum",
        aligned=True,
    )
    if producer is None or depth == 0:
        return None
    if producer.op.name == "tf.sqrt":
        return squares_of(producer.value("x"), x)
    if producer.op.name in FLOORS:
        return _larger(producer, x, norm_of, depth)
    euclidean = producer.op.name != "tf.norm" or producer.const("ord", "euclidean") in EUCLIDEAN
    return (
        producer
        if euclidean and _in_place(producer, divisor) and same(producer.value("x"), x)
        else None
    )


def squares_of(total: Value, x: Value, depth: int = _DEPTH) -> Site | None:
    """The sum of the squares of `x` that a value is at least as large as."""
    producer = made_by(total, "tf.reduce_sum", "tf.add", "tf.maximum", aligned=True)
    if producer is None or depth == 0:
        return None
    if producer.op.name != "tf.reduce_sum":
        return _larger(producer, x, squares_of, depth)
    return producer if _in_place(producer, total) and square_of(producer.value("x"), x) else None


def _larger(producer: Site, x: Value, search: object, depth: int) -> Site | None:
    """Of what something is added to that is not negative, or what something else replaces where
    that is larger.
    """
    for part, operand in both_orders(producer):
        if producer.op.name == "tf.maximum" or operand.lo >= 0:
            inner = search(part, x, depth - 1)  # type: ignore[operator]
            if inner is not None:
                return inner
    return None


def square_of(value: Value, x: Value) -> bool:
    """Whether a value is the square of another."""
    square = made_by(value, *SQUARES, aligned=True)
    if square is None:
        return False
    if square.op.name == "tf.pow":
        return (
            square.value("y").is_number
            and square.value("y").const == 2
            and same(square.value("x"), x)
        )
    return same(square.value("x"), x) and (
        square.op.name == "tf.square" or same(square.value("y"), x)
    )


def _extreme_of(divisor: Value, x: Value, depth: int) -> bool:
    """The largest magnitude, the sum of magnitudes, or the magnitude itself."""
    producer = made_by(
        divisor,
        "tf.reduce_max",
        "tf.reduce_sum",
        "tf.abs",
        "tf.add",
        "tf.maximum",
        "tf.sqrt",
        aligned=True,
    )
    if producer is None or depth == 0:
        return False
    if producer.op.name in FLOORS:
        return any(
            [
                _extreme_of(part, x, depth - 1)
                for part, other in both_orders(producer)
                if producer.op.name == "tf.maximum" or other.lo >= 0
            ]
        )
    if producer.op.name == "tf.abs":
        return same(producer.value("x"), x)
    if producer.op.name == "tf.sqrt":
        return _holds_square(producer.value("x"), x, depth - 1)
    magnitude = made_by(producer.value("x"), "tf.abs", aligned=True)
    return magnitude is not None and _in_place(producer, divisor) and same(magnitude.value("x"), x)


def _holds_square(value: Value, x: Value, depth: int) -> bool:
    """`1 + x * x`: a sum of the square of `x` and something that is not negative."""
    total = made_by(value, "tf.add", aligned=True)
    if total is None or depth == 0:
        return square_of(value, x)
    return any(
        [_holds_square(part, x, depth - 1) for part, other in both_orders(total) if other.lo >= 0]
    )


def _in_place(reduction: Site, value: Value) -> bool:
    """Whether a reduction stands beside the elements that it was made of when it meets them: of all
    of them, with its axis kept, or with one put in after it.
    """
    if axis_of(reduction) is None or value.origin is not reduction:
        return True
    return reduction.given("keepdims") and reduction.const("keepdims") not in (False, NO_CONSTANT)
