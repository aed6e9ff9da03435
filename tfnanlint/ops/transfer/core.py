"""Transfer functions shared by the rows: from the values that arrive to the value that comes out.

All bounds hold in floating point, not on the real line: exp underflows to 0, sigmoid reaches 1,
products flush. An infinite bound says that nothing limits the value; the flag `inf` says that Inf
itself can occur. Overflow is marked where finite bounds lead beyond the largest number of the
dtype, and by functions that grow exponentially.
"""

from __future__ import annotations

import math
from typing import Callable, Final

from tfnanlint.ops.relations.cosines import is_cosine
from tfnanlint.ops.relations.independence import apart
from tfnanlint.ops.relations.magnitudes import UNIT_ULPS, never_below, rounded_to_one, spans
from tfnanlint.ops.relations.rectified import kept_side, with_magnitude
from tfnanlint.ops.relations.summands import (
    complements,
    corrected,
    count_all,
    folded,
    mix,
    of_opposites,
    of_the_larger,
    squares_of_complements,
    where_zero,
)
from tfnanlint.ops.site import Site, made_by, operands, same
from tfnanlint.ops.transfer.promotion import (
    beside_size,
    cut_off,
    number_of_numpy,
    of_numpy,
    size_of_tensor,
)
from tfnanlint.values.value import (
    FLOATS,
    INF,
    MIXED,
    NO_CONSTANT,
    SMALLEST,
    WHOLE,
    Many,
    Value,
    highest,
    join,
    joined_dtype,
    lowest,
    outward,
    rounded,
    unknown,
)
from tfnanlint.values.value import clamp as clamp
from tfnanlint.values.value import number as number

Function = Callable[[Value], Value]
Gives = Callable[[Site], Value]


def limits_of(dtype: str | None):
    """Largest number, smallest normal number and spacing of a dtype; those of float32 when it is
    not known.
    """
    return FLOATS.get(dtype or "float32", FLOATS["float32"])


def smallest(dtype: str | None) -> float:
    """The least positive number that arithmetic does not flush to 0."""
    return SMALLEST.get(dtype or "float32", SMALLEST["float32"])


def reaches_inf(x: Value) -> bool:
    """Whether +Inf is among the elements: the flag is set, and the bounds do not put it on the
    other side.
    """
    return x.inf and (x.hi == INF or x.lo != -INF)


def reaches_minus_inf(x: Value) -> bool:
    """Whether -Inf is among the elements."""
    return x.inf and (x.lo == -INF or x.hi != INF)


# No program reaches the upper end of wider integers.
_RANGES: Final = {
    "int8": (-128.0, 127.0),
    "uint8": (0.0, 255.0),
    "int16": (-32768.0, 32767.0),
    "uint16": (0.0, 65535.0),
    "uint32": (0.0, INF),
    "uint64": (0.0, INF),
}


def _begins_again(lo: float, hi: float, dtype: str | None) -> bool:
    """Whether numbers leave the range of their integers: they begin again at its other end."""
    if dtype not in _RANGES or lo == -INF and hi == INF:
        return False
    least, largest = _RANGES[dtype]
    return lo < least and lo != -INF or largest < hi < INF


def made(
    lo: float,
    hi: float,
    *like: Value,
    nan: bool = False,
    up: bool = False,
    down: bool = False,
    zero: bool | None = None,
    dtype: str | None = None,
) -> Value:
    """A result in the dtype of `like`: rounded, overflow and underflow marked; `up`, `down`: +Inf,
    -Inf can occur.
    """
    dtype = dtype or joined_dtype(like)
    largest = limits_of(dtype).max
    near_lo, near_hi = rounded(lo, dtype), rounded(hi, dtype)
    if near_hi > largest or near_lo < -largest:
        bounded = all(v.lo != -INF and v.hi != INF for v in like)
        up = up or near_hi > largest and (hi != INF or bounded) or near_lo > largest and lo != INF
        down = (
            down
            or near_lo < -largest
            and (lo != -INF or bounded)
            or near_hi < -largest
            and hi != -INF
        )
    least = smallest(dtype)
    if 0 < lo < least:
        near_lo, zero = 0.0, True
    if -least < hi < 0:
        near_hi, zero = 0.0, True
    if dtype is None:  # perhaps float64
        near_lo, near_hi = min(lo, near_lo), max(hi, near_hi)
    lo, hi = -INF if down else near_lo, INF if up else near_hi
    if _begins_again(lo, hi, dtype):
        lo, hi, zero = *_RANGES[str(dtype)], None
    result = Value(lo, hi, zero, nan=nan, inf=up or down, dtype=dtype)
    if (up or down) and lo == -INF and hi == INF:
        result.evident = all(v.known for v in like)
    return result


def with_kind(result: Value, *inputs: Value) -> Value:
    """Numbers in, number out; anything with a tensor in it gives a tensor."""
    result.kind = "number"
    for value in inputs:
        if value.kind == "array":
            result.kind = "array"
        elif value.kind != "number":
            result.kind = "tensor"
            break
    if result.kind == "number" and result.lo == result.hi and result.const is NO_CONSTANT:
        result.const = result.lo
    return result


def _dtype(a: Value, b: Value) -> str | None:
    if a.kind == "number" == b.kind:
        if size_of_tensor(a) and number_of_numpy(b) or size_of_tensor(b) and number_of_numpy(a):
            return MIXED
        # Python's arithmetic, beside a number of NumPy's NumPy's
        return next((one.dtype for one in (a, b) if one.dtype in FLOATS), "float64")
    return met_dtype(a, b)


def met_dtype(a: Value, b: Value) -> str | None:
    """The dtype of what is made of two values of which one may be a number."""
    if a.kind == "array" and of_numpy(b) or b.kind == "array" and of_numpy(a):
        return (
            None
            if "float64" not in (a.dtype, b.dtype) or size_of_tensor(a) or size_of_tensor(b)
            else "float64"
        )
    return joined_dtype((a, b))


def in_dtype(value: Value, dtype: str | None) -> Value:
    """A Python number meets a tensor: it is rounded to the tensor's dtype first (1 - 1e-8 is
    computed in Python).
    """
    if dtype in WHOLE or dtype == MIXED:
        return cut_off(value, dtype)
    if value.kind != "number" or dtype == "float64" or value.lo > value.hi:
        return value
    lo, hi, least = rounded(value.lo, dtype), rounded(value.hi, dtype), smallest(dtype)
    if 0 < lo < least or -least < hi < 0:
        lo, hi = min(lo, 0.0), max(hi, 0.0)
    if dtype is None:  # perhaps float64
        lo, hi = min(lo, value.lo), max(hi, value.hi)
    if (lo, hi) == (value.lo, value.hi):
        return value
    inf = value.inf or INF in (-lo, hi) and INF not in (-value.lo, value.hi)
    zero = value.zero or lo == 0 != value.lo or hi == 0 != value.hi
    return Value(
        lo, hi, zero, nan=value.nan, inf=inf, kind="number", const=value.const, origin=value.origin
    )


def of_numbers(value: Value) -> Value:
    """What an op of TensorFlow makes of Python numbers alone: a tensor, in float32 unless they are
    NumPy's or integers.
    """
    lo, hi = rounded(value.lo, None), rounded(value.hi, None)
    flushed = 0 < lo < smallest(None) or -smallest(None) < hi < 0
    return value.but(
        lo=min(lo, 0.0) if flushed else lo,
        hi=max(hi, 0.0) if flushed else hi,
        kind="tensor",
        dtype=None,
    )


def _of_any_dtype(value: Value) -> Value:
    return value if value.dtype is None else value.but(dtype=None)


def _fraction(value: Value) -> bool:
    return value.kind == "number" and (
        type(value.const) is float or not (value.lo == value.hi == value.lo // 1)
    )


def _meeting(a: Value, b: Value, truth: bool = False) -> tuple[Value, Value, str | None]:
    """Two operands and the dtype they are computed in; `truth`: the operation is TensorFlow's for
    truth values, too.
    """
    dtype = _dtype(a, b)
    # Python and NumPy add truth values up
    if (
        dtype is None
        and "array" in (a.kind, b.kind)
        or dtype == "bool"
        and not truth
        or dtype == MIXED
        and a.kind == b.kind == "number"
    ):
        a, b = beside_size(a, b), beside_size(b, a)
        return in_dtype(_of_any_dtype(a), None), in_dtype(_of_any_dtype(b), None), None
    if (dtype in WHOLE or dtype == MIXED) and a.kind != "tensor" != b.kind:
        if _fraction(a) or _fraction(b):  # NumPy and Python do not cut off
            return _of_any_dtype(a), _of_any_dtype(b), None
        return a, b, dtype
    return in_dtype(a, dtype), in_dtype(b, dtype), dtype


# Sums and differences


def add(a: Value, b: Value) -> Value:
    a, b, dtype = _meeting(a, b)
    nan, up, down = a.nan or b.nan, False, False
    if a.inf or b.inf:
        up, down = reaches_inf(a) or reaches_inf(b), reaches_minus_inf(a) or reaches_minus_inf(b)
        nan = (
            nan
            or reaches_inf(a)
            and reaches_minus_inf(b)
            or reaches_minus_inf(a)
            and reaches_inf(b)
        )
    strict = (
        a.lo >= 0 <= b.lo
        and (a.positive or b.positive)
        or a.hi <= 0 >= b.hi
        and (a.nonzero or b.nonzero)
    )
    result = made(
        -INF if -INF in (a.lo, b.lo) else a.lo + b.lo,
        INF if INF in (a.hi, b.hi) else a.hi + b.hi,
        a,
        b,
        nan=nan,
        up=up,
        down=down,
        zero=False if strict else None,
        dtype=dtype,
    )
    result.guarded = _guarded_sum(a, b) or _guarded_sum(b, a)
    result.evident = (
        result.evident
        or a.evident
        and (b.known or apart(a, b))
        or b.evident
        and (a.known or apart(b, a))
    )
    if complements(a, b) or complements(b, a):
        return with_kind(Value(1.0, 1.0, nan=nan, dtype=dtype), a, b)
    mix(result, a, b)
    within = corrected(a, b) or corrected(b, a)
    if within is not None:
        result = clamp(result, *within)
    count_all(result, a, b)
    if result.lo < 0 and with_magnitude(a, b):
        result = _reaching_zero(result, 0.0, INF)
    if result.zero and b.lo >= 0 <= a.lo and (where_zero(a, b) or where_zero(b, a)):
        result.zero = False
    if result.lo == 0 and of_the_larger(a, b):
        result.lo, result.zero = 1.0, False
    if result.lo == 0 and of_opposites(a, b):
        result.lo, result.zero = outward(2.0, 2.0, dtype, 2)[0], False
    if result.lo == 0 and a.hi <= 1 >= b.hi and squares_of_complements(a, b):
        result.lo, result.zero, result.hi = (
            outward(0.5, 0.5, dtype)[0],
            False,
            min(result.hi, outward(1.0, 1.0, dtype)[1]),
        )
    return with_kind(result, a, b)


def _guarded_sum(a: Value, b: Value) -> bool:
    """An unknown value plus a positive constant: the author has thought of zero."""
    return (not a.known or a.guarded) and not a.evident and b.lo > 0 and b.hi < INF


def negative(x: Value) -> Value:
    result = _mirrored(x)
    if _begins_again(result.lo, result.hi, x.dtype):
        return Value(*_RANGES[str(x.dtype)], dtype=x.dtype, kind=x.kind)
    return result


def _mirrored(x: Value) -> Value:
    """The numbers on the other side of 0, before they meet the end of their integers."""
    result = Value(
        -x.hi, -x.lo, x.zero, nan=x.nan, inf=x.inf, dtype=x.dtype, kind=x.kind, evident=x.evident
    )
    if x.is_number:
        result.const = -x.const
    return result


def subtract(a: Value, b: Value) -> Value:
    if same(a, b):
        return Value(
            0.0,
            0.0,
            True,
            nan=a.nan or a.inf,
            dtype=_dtype(a, b),
            kind=a.kind if a.kind == b.kind else "tensor",
        )
    result = add(a, _mirrored(b))
    result.guarded = False
    for minuend, subtrahend, sign in ((a, b, 1), (b, a, -1)):
        peak, low = (
            made_by(subtrahend, "tf.reduce_max", aligned=True),
            made_by(subtrahend, "tf.reduce_min", aligned=True),
        )
        side = -sign if peak is not None and same(peak.value("x"), minuend) else 0
        side = sign if low is not None and same(low.value("x"), minuend) else side
        larger = made_by(subtrahend, "tf.maximum", aligned=True)
        if larger is not None and any(same(part, minuend) for part in operands(larger)):
            side = -sign
        side = side or sign * folded(minuend, subtrahend)
        if side:
            result = _reaching_zero(result, *((0.0, INF) if side > 0 else (-INF, 0.0)))
    if result.lo < 0 and with_magnitude(a, b) and a.lo >= 0:
        return _reaching_zero(result, 0.0, INF)
    return _reaching_zero(result, 0.0, INF) if spans(a, b) else result


def _reaching_zero(x: Value, lo: float, hi: float) -> Value:
    """A difference to the largest or smallest element: one-sided, and 0 at that element."""
    return Value(
        max(x.lo, lo), min(x.hi, hi), True, nan=x.nan, inf=x.inf, dtype=x.dtype, kind=x.kind
    )


def absolute(x: Value) -> Value:
    if x.lo >= 0:
        return x
    low = 0.0 if x.lo <= 0 <= x.hi else min(abs(x.lo), abs(x.hi))
    high = max(abs(x.lo), abs(x.hi))
    if _begins_again(low, high, x.dtype):
        low = x.lo  # the least integer has no opposite
    return Value(
        low,
        high,
        x.zero,
        nan=x.nan,
        inf=x.inf,
        dtype=x.dtype,
        kind=x.kind,
        guarded=x.guarded,
    )


# Products and quotients


def _times(p: float, q: float) -> float:
    return p * q if p != 0 != q else math.copysign(0.0, p) * math.copysign(1.0, q)  # -0.0, too


def least_magnitude(x: Value, dtype: str | None) -> float:
    """The smallest magnitude of an element; 0 when it can be 0."""
    if x.zero:
        return 0.0
    return x.lo if x.lo > 0 else -x.hi if x.hi < 0 else smallest(dtype)


def multiply(a: Value, b: Value) -> Value:
    if same(a, b) and not (a.exact and a.is_number):
        return with_kind(square(a), a, b)
    a, b, dtype = _meeting(a, b, truth=True)
    corners = [_times(p, q) for p in (a.lo, a.hi) for q in (b.lo, b.hi)]
    up, down = _infinite_product(a, b) if a.inf or b.inf else (False, False)
    largest = limits_of(dtype).max
    up, down = (
        up or any(largest < end < INF for end in corners),
        down or any(-INF < end < -largest for end in corners),
    )
    nan = a.nan or b.nan or (a.inf and b.zero) or (b.inf and a.zero)
    zero = (
        a.zero
        or b.zero
        or _times(least_magnitude(a, dtype), least_magnitude(b, dtype)) < smallest(dtype)
    )
    result = made(
        lowest(corners), highest(corners), a, b, nan=nan, up=up, down=down, dtype=dtype, zero=zero
    )
    side = kept_side(a, b) or kept_side(b, a) if result.lo < 0 < result.hi else 0
    if side:
        result = _reaching_zero(result, *((0.0, INF) if side > 0 else (-INF, 0.0)))
    if a.hi == b.hi == 1 and result.lo == 0 and (complements(a, b) or complements(b, a)):
        result.hi = outward(0.25, 0.25, dtype)[1]  # p * (1 - p)
    if dtype == "bool" and "array" in (a.kind, b.kind) and "number" in (a.kind, b.kind):
        result.dtype = None  # NumPy makes numbers of them
    if (
        any([one.kind == "tensor" and one.dtype == "bool" for one in (a, b)])
        or "bool" in (a.dtype, b.dtype)
        and "array" not in (a.kind, b.kind)
    ):
        # TensorFlow's `and`, to which a number is a bool, too. Of an array's -0.3 it makes True or
        # False, by the side on which it stands.
        # 0.5 is False
        cut = any([one.kind == "number" and one.lo < 1 and one.hi > -1 for one in (a, b)])
        both = Value(
            0.0 if zero or cut or "array" in (a.kind, b.kind) else 1.0,
            0.0 if a.lo == a.hi == 0 or b.lo == b.hi == 0 else 1.0,
            dtype="bool",
        )
        tensors = [_of_tensors(a), _of_tensors(b)]
        return (
            both
            if all(tensors)
            or any(one and value.dtype == "bool" for one, value in zip(tensors, (a, b)))
            else join([both, result]).but(dtype=None, kind="unknown")
        )
    if (
        dtype == MIXED
        and result.known
        and any(
            [
                one.kind == "number" and other.lo <= 1 and other.hi >= 0
                for one, other in ((a, b), (b, a))
            ]
        )
    ):
        # they may be truth values, and stay so
        result = join([result, Value(0.0, 1.0)]).but(dtype=MIXED)
    result.guarded = a.guarded and (b.positive or b.guarded) or b.guarded and a.positive
    result.evident = (
        result.evident
        or (a.evident and b.known and not (b.lo == b.hi == 0))
        or (b.evident and a.known)
        or _signs_of(a, b)
        or _signs_of(b, a)
    )
    return with_kind(result, a, b)


def _signs_of(a: Value, b: Value) -> bool:
    """Whether a product has both signs of `a`, and any size by `b`, which has one sign."""
    return a.lo < 0 < a.hi and a.known and (b.lo >= 0 and b.hi == INF or b.hi <= 0 and b.lo == -INF)


def _of_tensors(value: Value) -> bool:
    """Whether a value is a tensor; a comparison is one where something is that was compared."""
    test = value.origin
    if (
        value.dtype == "bool"
        and isinstance(test, Site)
        and test.library == "operator"
        and test.given("x")
        and test.given("y")
    ):
        return "tensor" in (test.value("x").kind, test.value("y").kind)
    return value.kind == "tensor"


def _infinite_product(a: Value, b: Value) -> tuple[bool, bool]:
    """Whether a product with an infinite factor can be +Inf, -Inf."""
    up = down = False
    for x, y in ((a, b), (b, a)):
        high, low = reaches_inf(x), reaches_minus_inf(x)
        positive, negative_ = y.hi > 0 or reaches_inf(y), y.lo < 0 or reaches_minus_inf(y)
        up = up or high and positive or low and negative_
        down = down or high and negative_ or low and positive
    return up, down


def square(x: Value) -> Value:
    bounds, least = (x.lo * x.lo, x.hi * x.hi), least_magnitude(x, x.dtype)
    low = 0.0 if x.lo <= 0 <= x.hi else min(bounds)
    overflows = any(limits_of(x.dtype).max < end < INF for end in bounds)
    result = made(
        low,
        max(bounds),
        x,
        nan=x.nan,
        up=x.inf or overflows,
        dtype=x.dtype,
        zero=x.zero or least * least < smallest(x.dtype),
    )
    result.guarded = x.guarded
    return result


def divide(a: Value, b: Value) -> Value:
    """The quotient where the divisor is not 0; a divisor that can be 0 adds Inf and NaN."""
    if same(a, b) and not a.is_number:
        return with_kind(Value(1.0, 1.0, nan=b.zero or a.nan or a.inf, dtype=_dtype(a, b)), a, b)
    total = made_by(b, "tf.reduce_sum", aligned=True)
    if total is not None and a.nonnegative and same(total.value("x"), a) or _summand(a, b):
        # Sums of nonnegative numbers are never below a summand, rounded or not; 0 / 0 remains.
        return with_kind(
            Value(0.0, 1.0, nan=a.nan or b.nan or a.inf or b.zero, dtype=_dtype(a, b)), a, b
        )
    bounded, cosine = never_below(b, a), is_cosine(b, a)
    a, b, dtype = _meeting(a, b)
    result = with_kind(_quotient(a, b, dtype), a, b)
    result = rounded_to_one(result, 4, b.lo) if bounded else result
    result = rounded_to_one(result, UNIT_ULPS) if cosine else result
    bounded = bounded or cosine
    result.evident = result.evident or a.evident and b.known and not bounded
    result.guarded = a.guarded and (b.positive or b.guarded) or b.guarded and a.positive
    return result


def _summand(a: Value, b: Value, depth: int = 4) -> bool:
    """Whether `b` is `a` plus something that is not negative, `a` neither."""
    plus = (
        made_by(b, "tf.add", aligned=True) if a.nonnegative and not a.is_number and depth else None
    )
    parts = [plus.value("x"), plus.value("y")] if plus is not None else []
    return any(
        [
            other.nonnegative and (same(one, a) or _summand(a, one, depth - 1))
            for one, other in zip(parts, parts[::-1])
        ]
    )


def _quotient(a: Value, b: Value, dtype: str | None) -> Value:
    corners = [_over(p, q) for q in _divisors(b, dtype) for p in (a.lo, a.hi)]
    if b.inf or not corners:
        corners.append(0.0)
    up, down = _infinite_quotient(a, b)
    nan = a.nan or b.nan or (a.zero and b.zero) or (a.inf and b.inf)
    largest = max(abs(b.lo), abs(b.hi))
    zero = a.zero or b.inf or _over(least_magnitude(a, dtype), largest) < smallest(dtype)
    if b.zero and (up or down) and b.lo < 0 < b.hi:
        corners += [INF, -INF]
    result = made(
        lowest(corners), highest(corners), a, b, nan=nan, up=up, down=down, zero=zero, dtype=dtype
    )
    # perhaps float64, in which 1e-38 is not next to 0
    if dtype is None and b.lo <= 0 <= b.hi and not b.zero:
        result.hi = INF if a.hi > 0 < b.hi or a.lo < 0 > b.lo else result.hi
        result.lo = -INF if a.hi > 0 > b.lo or a.lo < 0 < b.hi else result.lo
        result.evident = result.lo == -INF and result.hi == INF and a.known and b.known
    return result


def _divisors(b: Value, dtype: str | None) -> list[float]:
    """The divisors at which a quotient is extreme: the bounds, and the numbers next to 0."""
    least = smallest(dtype)
    divisors = [q for q in (b.lo, b.hi) if q != 0]
    if b.lo <= 0 < b.hi:
        divisors.append(min(least, b.hi))
    if b.lo < 0 <= b.hi:
        divisors.append(max(-least, b.lo))
    return divisors


def _over(p: float, q: float) -> float:
    if p == 0 or q in (INF, -INF):
        return math.copysign(0.0, p) * math.copysign(1.0, q)
    if q == 0:
        return math.copysign(INF, p)
    return p / q


def _infinite_quotient(a: Value, b: Value) -> tuple[bool, bool]:
    """Whether a quotient can be +Inf, -Inf because of a zero divisor or an infinite dividend."""
    up = down = False
    positive, negative_ = b.hi > 0 or b.zero or reaches_inf(b), b.lo < 0 or reaches_minus_inf(b)
    if b.zero:
        high, low = a.hi > 0 or reaches_inf(a), a.lo < 0 or reaches_minus_inf(a)
        # log(1) is 0.0, not -0.0
        below, above = b.below_zero, b.hi > 0 or b.lo == 0 or math.copysign(1.0, b.hi) > 0
        up, down = high and above or low and below, high and below or low and above
    if a.inf:
        high, low = reaches_inf(a), reaches_minus_inf(a)
        up = up or high and positive or low and negative_
        down = down or high and negative_ or low and positive
    return up, down


def reciprocal(x: Value) -> Value:
    numerator = Value(1.0, 1.0, kind="number")
    result = _quotient(numerator, x, x.dtype)
    result.guarded = x.guarded
    return result


# Increasing functions, exponentials, roots


def increasing(
    function: Callable[[float], float],
    below: float = -INF,
    above: float = INF,
    ulps: int = 4,
    odd: bool = False,
) -> Function:
    """Transfer of an increasing function with the limits `below`, `above` at -inf, inf; `odd`: only
    0 gives 0.
    """

    def give(x: Value) -> Value:
        high, low = reaches_inf(x), reaches_minus_inf(x)
        lo = below if x.lo == -INF or low else safely(function, x.lo)
        hi = above if x.hi == INF or high else safely(function, x.hi)
        lo, hi = widened(lo, hi, x.dtype, ulps)
        result = made(
            max(below, lo),
            min(above, hi),
            x,
            nan=x.nan,
            up=high and above == INF,
            down=low and below == -INF,
            zero=x.zero if odd else None,
            dtype=x.dtype,
        )
        return result

    return give


def widened(lo: float, hi: float, dtype: str | None, ulps: int) -> tuple[float, float]:
    """`outward`, but for -1, 0 and 1: exp(0), 1 ** x and so on are exact in every kernel."""
    wide_lo, wide_hi = outward(lo, hi, dtype, ulps)
    return lo if lo in (-1.0, 0.0, 1.0) else wide_lo, hi if hi in (-1.0, 0.0, 1.0) else wide_hi


def safely(function: Callable[[float], float], number: float) -> float:
    """`function(number)`, with Inf for overflow and at poles."""
    try:
        return function(number)
    except OverflowError:
        return INF if number > 0 else -INF
    except ValueError:
        return -INF if number <= 0 else INF


def exponential(function: Callable[[float], float], floor: float = 0.0) -> Function:
    """exp and its relatives: down to `floor`, overflowing (88.7 in float32; facts:
    T.thresholds).
    """

    def give(x: Value) -> Value:
        lo = floor if x.lo == -INF or reaches_minus_inf(x) else safely(function, x.lo)
        hi = INF if x.hi == INF or reaches_inf(x) else safely(function, x.hi)
        lo, hi = widened(lo, hi, x.dtype, 16)
        return made(max(lo, floor), hi, x, nan=x.nan, up=hi > limits_of(x.dtype).max, dtype=x.dtype)

    return give


exp = exponential(math.exp)


def logarithm(function: Callable[[float], float]) -> Function:
    """log to some base: -Inf at 0, NaN below."""

    def give(x: Value) -> Value:
        lo = function(x.lo) if 0 < x.lo < INF else INF if x.lo == INF else -INF
        hi = INF if x.hi == INF or reaches_inf(x) else function(x.hi) if x.hi > 0 else -INF
        lo, hi = outward(lo, hi, x.dtype)
        if x.lo <= 0 and not x.zero:
            # subnormals: log(1e-45) is -103.3, and it may be float64
            lo = function(smallest(x.dtype or "float64")) * 1.2
        # A value that cannot be 0 and is not positive either has no logarithm at all.
        result = made(
            min(lo, hi),
            max(lo, hi),
            x,
            nan=x.nan or x.lo < 0 or reaches_minus_inf(x),
            up=reaches_inf(x),
            down=x.zero,
            dtype=x.dtype,
        )
        return result

    return give


log = logarithm(math.log)


def beside_one(x: Value, lo: float, hi: float) -> tuple[float, float]:
    """Roots and powers keep to their side of 1: 1 itself is exact, and they are monotone."""
    return (max(lo, 1.0) if x.lo >= 1 else lo), (min(hi, 1.0) if 0 <= x.hi <= 1 else hi)


def sqrt(x: Value) -> Value:
    lo = math.sqrt(x.lo) if 0 < x.lo < INF else 0.0
    hi = INF if x.hi == INF or reaches_inf(x) else math.sqrt(max(x.hi, 0.0))
    lo, hi = beside_one(x, *outward(lo, hi, x.dtype, 1))
    zero = x.zero or 0 < x.lo < smallest(x.dtype)
    result = made(
        0.0 if zero else max(lo, 0.0),
        hi,
        x,
        nan=x.nan or x.lo < 0 or reaches_minus_inf(x),
        up=reaches_inf(x),
        zero=zero,
        dtype=x.dtype,
    )
    result.guarded = x.guarded
    return result


# Choices


def maximum(a: Value, b: Value) -> Value:
    a, b, dtype = _meeting(a, b)
    low, lower = -INF if reaches_minus_inf(a) else a.lo, -INF if reaches_minus_inf(b) else b.lo
    zero = (a.zero and lower <= 0 and (lower == -INF or not b.positive)) or (
        b.zero and low <= 0 and (low == -INF or not a.positive)
    )
    up = reaches_inf(a) or reaches_inf(b)
    lo, hi = max(low, lower), INF if up and max(low, lower) == -INF else max(a.hi, b.hi)
    inf = up or reaches_minus_inf(a) and reaches_minus_inf(b)
    return with_kind(
        Value(
            lo, hi, zero, nan=a.nan or b.nan, inf=inf, dtype=dtype, evident=a.evident and b.evident
        ),
        a,
        b,
    )


def minimum(a: Value, b: Value) -> Value:
    a, b, dtype = _meeting(a, b)
    high, higher = INF if reaches_inf(a) else a.hi, INF if reaches_inf(b) else b.hi
    zero = (a.zero and higher >= 0) or (b.zero and high >= 0)
    down = reaches_minus_inf(a) or reaches_minus_inf(b)
    lo, hi = -INF if down and min(high, higher) == INF else min(a.lo, b.lo), min(high, higher)
    inf = down or reaches_inf(a) and reaches_inf(b)
    return with_kind(
        Value(
            lo, hi, zero, nan=a.nan or b.nan, inf=inf, dtype=dtype, evident=a.evident and b.evident
        ),
        a,
        b,
    )


def clip(x: Value, low: Value, high: Value) -> Value:
    """clip_by_value: minimum with the upper bound first, then maximum with the lower one (facts:
    C.clip_swapped_bounds).
    """
    result = maximum(minimum(x, high), low)
    result.kind = "tensor" if x.kind in ("tensor", "unknown") else x.kind
    wider = x.kind == "array" and (of_numpy(low) or of_numpy(high))
    if x.dtype is not None and result.dtype in (None, x.dtype) and not wider:
        result.dtype = x.dtype
        result.lo, result.hi = rounded(result.lo, x.dtype), rounded(result.hi, x.dtype)
    return result


# What rows are made of


def unary(function: Function) -> Gives:
    """A row's `gives` from a function of its first parameter."""

    def give(site: Site) -> Value:
        x = site.value(site.op.main)
        result = function(x)
        if result is x:
            return x.but(kind="tensor" if x.kind == "unknown" else x.kind)
        if x.evident and result.lo == -INF and result.hi == INF:
            result.evident = True
        return with_kind(result, x)

    return give


def binary(function: Callable[[Value, Value], Value], left: str = "x", right: str = "y") -> Gives:
    """A row's `gives` from a function of two parameters."""
    return lambda site: function(site.value(left), site.value(right))


def passes(param: str = "x") -> Gives:
    """The values of `param` come out unchanged (identity, reshape, gather): the same elements,
    maybe fewer.
    """

    def give(site: Site) -> Value:
        x = site.value(param)
        return Value(
            x.lo,
            x.hi,
            x.zero,
            nan=x.nan,
            inf=x.inf,
            dtype=x.dtype,
            kind="tensor" if x.kind in ("unknown", "number", "sequence") else x.kind,
            guarded=x.guarded,
            evident=x.evident,
        )

    return give


def ranged(lo: float, hi: float, zero: bool | None = None, dtype: str | None = None) -> Gives:
    """Results in [lo, hi] whatever arrives."""
    return lambda site: Value(lo, hi, zero, dtype=dtype)


def anything(site: Site) -> Value:
    """Nothing is known of the result."""
    return unknown("tensor")


def several(*values: Value) -> Value:
    """A tuple or list of values, with the bounds of all of them."""
    whole = join(list(values)) if values else unknown()
    return Value(whole.lo, whole.hi, whole.zero, kind="sequence", obj=tuple(values))


def elements(value: Value) -> tuple[Value, ...]:
    """The values of a list or tuple, nested ones too; any other value stands for all elements of an
    unseen list.
    """
    if value.kind == "sequence" and isinstance(value.obj, tuple):
        return tuple(inner for item in value.obj for inner in elements(item)) or (
            unknown("tensor"),
        )
    return (value,)


def one_of(value: Value) -> Value:
    """A list joined to one value for its elements (`tf.reduce_max([a, b])`); other values as they
    are.
    """
    if isinstance(value.obj, Many):
        return value.obj.element
    return join(list(elements(value))) if value.kind == "sequence" else value


def constant(value: Value) -> float | None:
    """The number a value surely is, else None; also for integers that no float can hold."""
    if value.is_number:
        return None if (value.lo, value.hi) == (-INF, INF) else float(value.const)
    return value.lo if value.exact else None


__all__ = [name for name in dir() if not name.startswith("_")]
