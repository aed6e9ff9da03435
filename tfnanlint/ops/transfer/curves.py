"""Transfer functions of the elementwise functions: where they are monotone, where their poles are,
where they flush.
"""

from __future__ import annotations

import math
from typing import Callable

from tfnanlint.ops.site import Site
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer.core import INF, Function, Value, reaches_inf, reaches_minus_inf


def sigmoid_at(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


def softplus_at(x: float) -> float:
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


expm1: Function = t.exponential(math.expm1, -1.0)
exp2: Function = t.exponential(lambda x: 2.0**x)
log2: Function = t.logarithm(math.log2)
log10: Function = t.logarithm(math.log10)
sigmoid: Function = t.increasing(sigmoid_at, 0.0, 1.0, ulps=16)
softplus: Function = t.increasing(softplus_at, 0.0, INF, ulps=16)
log_sigmoid: Function = t.increasing(lambda x: -softplus_at(-x), -INF, 0.0, ulps=16)
tanh: Function = t.increasing(math.tanh, -1.0, 1.0, ulps=16, odd=True)
atan: Function = t.increasing(math.atan, -math.pi / 2, math.pi / 2, odd=True)
asinh: Function = t.increasing(math.asinh, odd=True, ulps=16)
_erf: Function = t.increasing(math.erf, -1.0, 1.0, odd=True, ulps=16)
cbrt: Function = t.increasing(lambda x: math.copysign(abs(x) ** (1 / 3), x), odd=True, ulps=16)
floor: Function = t.increasing(math.floor, ulps=0)
ceil: Function = t.increasing(lambda x: math.copysign(math.ceil(x), x), ulps=0)
nearest: Function = t.increasing(lambda x: math.copysign(round(x), x), ulps=0)
truncated: Function = t.increasing(lambda x: math.copysign(math.trunc(x), x), ulps=0)
_sinh: Function = t.increasing(math.sinh, odd=True, ulps=16)


def mirrored(function: Function) -> Function:
    """Transfer of x -> -f(x): the decreasing functions."""
    return lambda x: t.negative(function(x))


def log1p(x: Value) -> Value:
    """log(1 + x): -Inf at -1."""
    pole = x.lo <= -1 <= x.hi
    lo = -INF if x.lo <= -1 else math.log1p(x.lo)
    hi = INF if x.hi == INF or reaches_inf(x) else math.log1p(x.hi) if x.hi > -1 else -INF
    lo, hi = t.outward(lo, hi, x.dtype)
    nan = x.nan or x.lo < -1 or reaches_minus_inf(x)
    return t.made(lo, hi, x, nan=nan, up=reaches_inf(x), down=pole, dtype=x.dtype)


def logaddexp(a: Value, b: Value, base: float = math.e) -> Value:
    """log(exp(a) + exp(b)): above the larger by at most log 2."""
    top = t.maximum(a, b)
    lo, hi = t.outward(
        top.lo, top.hi + math.log(2) / math.log(base) if top.hi < INF else INF, top.dtype
    )
    return t.with_kind(
        t.made(
            lo,
            hi,
            a,
            b,
            nan=top.nan or a.inf and b.inf,
            up=reaches_inf(top),
            down=reaches_minus_inf(top),
            dtype=top.dtype,
        ),
        a,
        b,
    )


def logaddexp2(a: Value, b: Value) -> Value:
    return logaddexp(a, b, 2.0)


def sinh(x: Value) -> Value:
    """Odd, overflowing on both sides (89.4 in float32)."""
    result = _sinh(x)
    if x.hi == INF or x.lo == -INF:
        result = Value(
            result.lo, result.hi, result.zero, nan=result.nan, inf=True, dtype=result.dtype
        )
    return result


def cosh(x: Value) -> Value:
    size = t.absolute(x)
    lo = math.cosh(size.lo) if size.lo < 700 else INF
    hi = INF if size.hi == INF or x.inf else t.safely(math.cosh, size.hi)
    lo, hi = t.outward(lo, hi, x.dtype, 16)
    return t.made(max(lo, 1.0), hi, x, nan=x.nan, up=hi > t.limits_of(x.dtype).max, dtype=x.dtype)


# Powers and quotients


def erf(x: Value) -> Value:
    """In float64 TensorFlow squares first: what overflows there gives NaN, Inf too."""
    result = _erf(x)
    result.nan = (
        result.nan
        or x.dtype in (None, "float64")
        and (x.inf or any(1e154 < abs(end) < INF for end in (x.lo, x.hi)))
    )
    return result


def rsqrt(x: Value) -> Value:
    result = t.reciprocal(t.sqrt(t.clamp(x, 0.0) if x.lo < 0 else x))
    lo, hi = t.outward(result.lo, result.hi, x.dtype)
    below = x.zero and x.below_zero  # what underflows from below is -0.0, and that gives -Inf
    return t.made(
        max(lo, 0.0),
        hi,
        x,
        nan=x.nan or x.lo < 0 or reaches_minus_inf(x),
        up=x.zero or result.inf,
        down=below,
        zero=result.zero,
        dtype=x.dtype,
    )


def squared_difference(a: Value, b: Value) -> Value:
    return t.with_kind(t.square(t.subtract(a, b)), a, b)


def reciprocal(x: Value) -> Value:
    """tf.math.reciprocal: the kernel approximates, unlike a division."""
    result = t.reciprocal(x)
    result.lo, result.hi = t.outward(result.lo, result.hi, x.dtype, 2)
    return result


def hypot(a: Value, b: Value) -> Value:
    """keras.ops and NumPy differ for two infinities: NaN in the one."""
    left, right = t.absolute(a), t.absolute(b)
    lo, hi = t.outward(
        math.hypot(left.lo, right.lo), math.hypot(left.hi, right.hi), t.joined_dtype((a, b))
    )
    return t.with_kind(
        t.made(
            lo,
            hi,
            a,
            b,
            nan=a.nan or b.nan or a.inf or b.inf,
            up=a.inf or b.inf,
            zero=a.zero and b.zero or None,
        ),
        a,
        b,
    )


def power(a: Value, b: Value) -> Value:
    """a ** b; exponents that are surely one number get their own shape."""
    exponent = t.constant(b)
    if exponent is not None and math.isfinite(exponent):
        dtype = None if a.kind == "number" else a.dtype
        result = _constant_power(a, t.rounded(exponent, dtype) if b.kind == "number" else exponent)
    else:
        result = _general_power(a, b)
    return t.with_kind(result, a, b)


def _constant_power(x: Value, exponent: float) -> Value:
    if exponent == 0:
        return Value(1.0, 1.0, dtype=x.dtype)
    if exponent == 1:
        return Value(
            x.lo,
            x.hi,
            x.zero,
            nan=x.nan,
            inf=x.inf,
            dtype=x.dtype,
            evident=x.evident,
            guarded=x.guarded,
        )
    if exponent < 0:
        return _inverse_power(x, -exponent)
    whole = float(exponent).is_integer()
    if exponent == 2:
        result = _squared(x)
    elif whole and exponent % 2:
        result = _odd_power(x, exponent)
    else:
        result = _even_power(t.absolute(x) if whole else x, exponent, whole)
    result.guarded = x.guarded
    return result


def _squared(x: Value) -> Value:
    """x ** 2, of which the kernel of tf.pow rounds the last digit as it likes; 0 and 1 it keeps."""
    result = t.square(x)
    lo, hi = t.outward(result.lo, result.hi, x.dtype, 1)
    if x.kind != "number":
        result.lo, result.hi = (
            result.lo if result.lo == 1 else lo,
            result.hi if result.hi == 1 else hi,
        )
    return result


def _raised(base: float, exponent: float) -> float:
    try:
        return base**exponent
    except OverflowError:
        return INF


def _even_power(x: Value, exponent: float, whole: bool) -> Value:
    """Powers that are nonnegative: even ones of a magnitude, and fractional ones, which are NaN
    below 0.
    """
    lo, hi = t.widened(
        _raised(max(x.lo, 0.0), exponent), _raised(max(x.hi, 0.0), exponent), x.dtype, 8
    )
    lo, hi = t.beside_one(x, lo, hi) if not whole or x.lo >= 0 else (lo, hi)
    zero = x.zero or _raised(t.least_magnitude(x, x.dtype), exponent) < t.smallest(x.dtype)
    nan = x.nan or not whole and x.lo < 0
    return t.made(lo, hi, x, nan=nan, up=x.inf, zero=zero, dtype=x.dtype)


def _odd_power(x: Value, exponent: float) -> Value:
    shape = t.increasing(lambda v: math.copysign(_raised(abs(v), exponent), v), ulps=8)
    result = shape(x)
    result.zero = x.zero or _raised(t.least_magnitude(x, x.dtype), exponent) < t.smallest(x.dtype)
    return result


def _inverse_power(x: Value, exponent: float) -> Value:
    """x ** -exponent: by the bounds, since the power itself may overflow where its inverse is still
    a number.
    """
    whole = float(exponent).is_integer()
    odd = whole and exponent % 2 == 1
    nan = x.nan or not whole and (x.lo < 0 or reaches_minus_inf(x))
    size = x if odd or not whole else t.absolute(x)
    parts = []
    if size.hi > 0 or size.zero or reaches_inf(size):
        parts.append(_falling(size, exponent))
    if odd and (x.lo < 0 or reaches_minus_inf(x)):
        parts.append(t.negative(_falling(t.negative(x), exponent)))
    if x.inf and not whole:
        parts.append(Value(0.0, 0.0, dtype=x.dtype))  # also (-Inf) ** -0.5
    result = t.join(parts) if parts else Value(0.0, 0.0, dtype=x.dtype)
    result.nan, result.guarded = nan, x.guarded
    return result


def _falling(x: Value, exponent: float) -> Value:
    """x ** -exponent of the elements above 0."""
    least = max(x.lo, t.smallest(x.dtype))
    lo, hi = (
        0.0 if x.hi == INF or reaches_inf(x) else _corner(max(x.hi, least), -exponent),
        _corner(least, -exponent),
    )
    lo, hi = t.widened(lo, hi, x.dtype, 8)
    return t.made(
        lo,
        hi,
        x,
        up=x.zero or hi > t.limits_of(x.dtype).max,
        zero=lo < t.smallest(x.dtype),
        dtype=x.dtype,
    )


def _general_power(a: Value, b: Value) -> Value:
    """Any exponent: monotone in each operand for bases above 0, so the extremes stand at the
    corners.
    """
    if 0 <= a.lo and a.hi <= 1 and b.lo >= 0:
        return _decay(a, b)
    size = t.absolute(a)
    if a.inf or b.inf or INF in (size.hi, b.hi) or b.lo == -INF:
        positive = a.nonnegative
        lo, hi = (0.0 if positive else -INF), INF
        up = a.inf or b.inf or b.lo < 0 and a.zero or a.known or b.known
    else:
        corners = [_corner(p, q) for p in (size.lo, size.hi) for q in (b.lo, b.hi)]
        corners += [1.0] if b.lo <= 0 <= b.hi else []
        lo, hi = t.widened(min(corners), max(corners), t.joined_dtype((a, b)), 16)
        up = b.lo < 0 and a.zero
        if a.lo < 0:
            lo = -hi
    dtype = t.joined_dtype((a, b))
    nan = a.nan or b.nan or a.lo < 0
    result = t.made(lo, hi, a, b, nan=nan, up=up, down=up and a.lo < 0, zero=None, dtype=dtype)
    return result


def _decay(a: Value, b: Value) -> Value:
    """A number up to 1 with an exponent that is not negative: largest at the least exponent, 0
    where it underflows.
    """
    _, highest = t.widened(0.0, _corner(a.hi, b.lo), t.joined_dtype((a, b)), 16)
    lowest = 0.0 if b.hi == INF or b.inf else _corner(a.lo, b.hi)
    return t.made(
        t.widened(lowest, lowest, t.joined_dtype((a, b)), 16)[0],
        min(1.0, highest),
        a,
        b,
        nan=a.nan or b.nan,
        dtype=t.joined_dtype((a, b)),
    )


def _corner(base: float, exponent: float) -> float:
    if base == 0:
        return INF if exponent < 0 else 1.0 if exponent == 0 else 0.0
    return _raised(base, exponent)


def divide_no_nan(a: Value, b: Value) -> Value:
    """a / b, and 0 where b is 0."""
    if b.lo == b.hi == 0 and not b.nan and not b.inf:
        return Value(0.0, 0.0, dtype=t.joined_dtype((a, b)))
    divisor = Value(
        b.lo,
        b.hi,
        False,
        nan=b.nan,
        inf=b.inf,
        dtype=b.dtype,
        kind=b.kind,
        origin=b.origin,
        guarded=b.guarded,
        evident=b.evident,
        token=b.token,
    )
    return _or_zero(t.divide(a, divisor)) if b.zero else t.divide(a, divisor)


def _or_zero(x: Value) -> Value:
    """`x`, or 0 at some places."""
    return Value(
        t.lowest([x.lo, 0.0]),
        t.highest([x.hi, 0.0]),
        True,
        nan=x.nan,
        inf=x.inf,
        dtype=x.dtype,
        kind=x.kind,
        evident=x.evident,
        guarded=x.guarded,
    )


def _nonzero(x: Value) -> Value:
    return Value(
        x.lo,
        x.hi,
        False,
        nan=x.nan,
        inf=x.inf,
        dtype=x.dtype,
        kind=x.kind,
        evident=x.evident,
        token=x.token,
        const=x.const,
        origin=x.origin,
    )


def multiply_no_nan(a: Value, b: Value) -> Value:
    """a * b, and 0 where b is 0, whatever a is."""
    result = t.multiply(a, _nonzero(b))
    return _or_zero(result) if b.zero else result


def xlogy(a: Value, b: Value) -> Value:
    """a * log(b), and 0 where a is 0."""
    return _times_unless_zero(a, b, t.log(b))


def xlog1py(a: Value, b: Value) -> Value:
    return _times_unless_zero(a, b, log1p(b))


def _times_unless_zero(a: Value, b: Value, logarithm: Value) -> Value:
    """a times the logarithm of b, which meets it in the dtype in which b does."""
    factor = logarithm.but(kind="array") if b.kind == "array" else logarithm
    if a.lo == a.hi == 0 and not a.nan and not a.inf:
        return Value(0.0, 0.0, dtype=t.joined_dtype((a, factor)))
    result = t.multiply(_nonzero(a), factor)
    return _or_zero(result) if a.zero else result


def xdivy(a: Value, b: Value) -> Value:
    """a / b, and 0 where a is 0."""
    if a.lo == a.hi == 0 and not a.nan and not a.inf:
        return Value(0.0, 0.0, dtype=t.joined_dtype((a, b)))
    result = t.divide(_nonzero(a), b)
    return _or_zero(result) if a.zero else result


# Sign and remainder


def magnitude(x: Value) -> Value:
    if x.dtype in ("complex64", "complex128"):
        return Value(
            0.0, INF, nan=x.nan, inf=x.inf, dtype="float32" if x.dtype == "complex64" else "float64"
        )
    return t.absolute(x)


def sign(x: Value) -> Value:
    lo = (
        -1.0
        if x.lo < 0 or reaches_minus_inf(x)
        else 0.0
        if x.zero or x.lo == 0 and not x.positive
        else 1.0
    )
    hi = 1.0 if x.hi > 0 or reaches_inf(x) else 0.0 if x.zero or x.hi == 0 and x.lo == 0 else -1.0
    return Value(min(lo, hi), max(lo, hi), x.zero, nan=x.nan, dtype=x.dtype)


def floordiv(a: Value, b: Value) -> Value:
    """Of infinity NumPy and Python make NaN, TensorFlow infinity."""
    result = t.with_kind(floor(_nearly(t.divide(a, b), a, b)), a, b)
    return result.but(nan=True) if a.inf and result.kind != "tensor" else result


def truncatediv(a: Value, b: Value) -> Value:
    return t.with_kind(truncated(_nearly(t.divide(a, b), a, b)), a, b)


def _nearly(quotient: Value, a: Value, b: Value) -> Value:
    """A quotient before it is rounded to a float: 1 // 1e-3 is 999, for 1e-3 is a little more than
    that. Whole numbers divide exactly enough.
    """
    halved = b.lo == b.hi and abs(math.frexp(b.lo)[0]) == 0.5
    if halved or all(
        end in (INF, -INF) or end == math.floor(end) for end in (a.lo, a.hi, b.lo, b.hi)
    ):
        return quotient
    lo, hi = t.outward(quotient.lo, quotient.hi, quotient.dtype, 2)
    return quotient.but(lo=lo, hi=hi, zero=quotient.zero)


def floormod(a: Value, b: Value) -> Value:
    """The remainder with the sign of b; rounding can lift it to b itself."""
    dtype = t.joined_dtype((a, b))
    nan = a.nan or b.nan or b.zero or a.inf
    if 0 <= a.lo and a.hi < b.lo and not a.inf:
        return t.with_kind(Value(a.lo, a.hi, a.zero, nan=nan, dtype=dtype), a, b)
    lo, hi = min(b.lo, -0.0), max(b.hi, 0.0)  # -0.0 of -0.0
    if b.inf:
        lo, hi = min(lo, a.lo), max(hi, a.hi)
    return t.with_kind(
        t.made(
            lo,
            hi,
            a,
            b,
            nan=nan,
            up=b.inf and a.lo < 0,
            down=b.inf and a.hi > 0 and b.lo < 0,
            zero=True,
            dtype=dtype,
        ),
        a,
        b,
    )


def truncatemod(a: Value, b: Value) -> Value:
    """The remainder with the sign of a."""
    size = max(abs(b.lo), abs(b.hi)) if not b.inf else INF
    lo, hi = max(min(a.lo, 0.0), -size), min(max(a.hi, 0.0), size)
    result = Value(
        lo, hi, True, nan=a.nan or b.nan or b.zero or a.inf, dtype=t.joined_dtype((a, b))
    )
    return t.with_kind(result, a, b)


# Trigonometry and inverse functions


def wave(x: Value) -> Value:
    """sin."""
    return Value(-1.0, 1.0, nan=x.nan or x.inf, dtype=x.dtype)


def cosine(x: Value) -> Value:
    """cos: no float is an odd multiple of pi / 2, so that it is never 0 (all of float16 and float32
    were tried).
    """
    return Value(-1.0, 1.0, False, nan=x.nan or x.inf, dtype=x.dtype)


def sinc(x: Value) -> Value:
    """sin(pi x) / (pi x): NaN where the product overflows, which it soon does in float16."""
    result = wave(t.multiply(x, t.number(math.pi)))
    return (
        result.but(nan=True)
        if x.dtype == "float16" and max(-x.lo, x.hi) * math.pi > t.limits_of("float16").max
        else result
    )


def tan(x: Value) -> Value:
    if -1.57 < x.lo and x.hi < 1.57 and not x.inf:
        return t.increasing(math.tan, odd=True, ulps=64)(x)
    return Value(nan=x.nan or x.inf, dtype=x.dtype, evident=x.known)


def atan2(y: Value, x: Value) -> Value:
    # -0.0 counts as negative: atan2(-0.0, -1) is -pi.
    lo, hi = (0.0 if y.positive else -math.pi), (0.0 if y.hi <= 0 and y.nonzero else math.pi)
    if x.positive:
        lo, hi = max(lo, -math.pi / 2), min(hi, math.pi / 2)
    lo, hi = t.outward(lo, hi, t.joined_dtype((x, y)), 1)
    # the kernel flushes both and divides 0 by 0
    subnormal = all(v.known and v.zero and v.lo < v.hi for v in (x, y))
    return Value(lo, hi, nan=x.nan or y.nan or subnormal, dtype=t.joined_dtype((x, y)))


def domain(
    function: Callable[[float], float],
    left: float,
    right: float,
    *,
    poles: tuple[float, float] | None = None,
    margin: float = 0.0,
    slack: float = 0.0,
    ulps: int = 16,
    odd: bool = False,
) -> Function:
    """Transfer of a monotone function on [left, right], NaN outside.

    `poles` holds the infinite limits at both ends; they are reached from `margin` (in spacings of
    the dtype) inside. `slack` is the absolute error of the kernel, in spacings.
    """

    def ends(x: Value, near: float) -> list[float]:
        inside = [min(max(number, left), right) for number in (x.lo, x.hi)]
        if poles is None:
            return [function(number) for number in inside]
        values = [function(number) for number in inside if left < number < right]
        values += [poles[0]] if min(inside) <= left + near else []
        return values + ([poles[1]] if max(inside) >= right - near else [])

    def give(x: Value) -> Value:
        nan = x.nan or x.lo < left or x.hi > right or x.inf
        eps = t.limits_of(x.dtype).eps
        values = ends(x, margin * eps)
        lo, hi = t.outward(min(values), max(values), x.dtype, ulps)
        lo, hi = lo - slack * eps, hi + slack * eps
        return t.made(
            lo,
            hi,
            x,
            nan=nan,
            up=hi == INF,
            down=lo == -INF,
            zero=x.zero if odd else None,
            dtype=x.dtype,
        )

    return give


asin: Function = domain(math.asin, -1.0, 1.0, odd=True)
acos: Function = domain(math.acos, -1.0, 1.0)
atanh: Function = domain(math.atanh, -1.0, 1.0, poles=(-INF, INF), odd=True)


def acosh(x: Value) -> Value:
    ends = [INF if v == INF else math.acosh(max(v, 1.0)) for v in (x.lo, x.hi)]
    lo, hi = t.outward(ends[0], ends[1], x.dtype, 16)
    return t.made(
        lo,
        INF if x.inf else hi,
        x,
        nan=x.nan or x.lo < 1 or reaches_minus_inf(x),
        up=reaches_inf(x),
        dtype=x.dtype,
    )


def _bisected(function: Callable[[float], float], target: float, lo: float, hi: float) -> float:
    """Where an increasing function reaches `target`."""
    for _ in range(80):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if function(middle) < target else (lo, middle)
    return (lo + hi) / 2


def _normal_share(x: float) -> float:
    """The share of the normal distribution below x."""
    return math.erfc(-x / math.sqrt(2)) / 2


def _erfc_mirrored(x: float) -> float:
    return math.erfc(-x)


def _normal_quantile(share: float) -> float:
    """Where the normal distribution has `share` below. The upper half is the lower one mirrored:
    shares close to 1 are too coarse to search.
    """
    if share > 0.5:
        return -_normal_quantile(1 - share)
    return _bisected(_normal_share, share, -39.0, 0.0)


def _erfc_inverse(x: float) -> float:
    if x > 1:
        return -_erfc_inverse(2 - x)
    return -_bisected(_erfc_mirrored, x, -28.0, 0.0)


def _erf_inverse(x: float) -> float:
    if x < 0:
        return -_erf_inverse(-x)
    return _erfc_inverse(1 - x) if x > 0.5 else _bisected(math.erf, x, 0.0, 6.0)


# TensorFlow's float32 kernel is off by 0.2 % close to the poles.
erfinv: Function = domain(
    _erf_inverse,
    -1.0,
    1.0,
    poles=(-INF, INF),
    margin=1.0,
    slack=8.0,
    ulps=1 << 15,
)
erfcinv: Function = domain(
    _erfc_inverse,
    0.0,
    2.0,
    poles=(INF, -INF),
    margin=2.0,
    slack=8.0,
    ulps=256,
)
ndtri: Function = domain(
    _normal_quantile,
    0.0,
    1.0,
    poles=(-INF, INF),
    margin=1.0,
    slack=8.0,
    ulps=256,
)
_erfc: Function = t.increasing(lambda x: -math.erfc(x), -2.0, 0.0, ulps=64)
erfc: Function = mirrored(_erfc)


def lgamma(x: Value) -> Value:
    """Inf at 0 and the negative integers, least at 1.46 among positive numbers, unbounded below
    among negative ones.
    """
    if x.lo < 0:
        inf = x.inf or math.floor(min(x.hi, 0.0)) >= x.lo
        return Value(nan=x.nan, inf=inf, dtype=x.dtype, evident=x.known)
    lowest = 1.4616321449683623
    ends = [INF if v in (0, INF) else math.lgamma(v) for v in (x.lo, x.hi)]
    lo = math.lgamma(lowest) if x.lo <= lowest <= x.hi else min(ends)
    lo, hi = t.outward(lo, INF if reaches_inf(x) else max(ends), x.dtype, 64)
    slack = t.limits_of(x.dtype).eps * 16
    hi = hi + slack if x.zero or x.lo > 0 else INF
    return t.made(lo - slack, hi, x, nan=x.nan, up=x.zero or reaches_inf(x), dtype=x.dtype)


def _psi(x: float) -> float:
    """digamma above 0: recurrence, then the asymptotic series."""
    shift = 0.0
    while x < 10:
        shift -= 1 / x
        x += 1
    inverse = 1 / (x * x)
    return shift + math.log(x) - 0.5 / x - inverse * (1 / 12 - inverse * (1 / 120 - inverse / 252))


def digamma(x: Value) -> Value:
    if x.lo <= 0 or x.hi < x.lo:
        return Value(
            nan=True,
            inf=x.inf or x.zero or x.lo < 0 or x.positive and x.known,
            dtype=x.dtype,
            evident=x.known,
        )
    hi = INF if x.hi == INF or reaches_inf(x) else _psi(x.hi)
    lo, hi = t.outward(INF if x.lo == INF else _psi(x.lo), hi, x.dtype, 64)
    slack = max(t.limits_of(x.dtype).eps * 16, 1e-9)  # of the series
    return t.made(
        lo - slack,
        hi + slack,
        x,
        nan=x.nan or reaches_minus_inf(x),
        up=reaches_inf(x),
        dtype=x.dtype,
    )


def share_of_gamma(a: Value, x: Value) -> Value:
    """igamma, igammac: a probability; NaN outside of a > 0, x >= 0, and at some infinities. Where
    both are large and near each other TensorFlow's series does not converge: -100 at 2.5e6 in
    float32, -7 below 1e12 in float64, infinite beyond (executed). What has no bound is taken to be
    less.
    """
    dtype = t.joined_dtype((a, x))
    if (1e10 if dtype == "float64" else 1e5) < min(a.hi, x.hi) < INF:
        # 0 in any case, which it underflows to
        return Value(nan=True, inf=True, dtype=dtype, evident=True)
    nan = a.nan or x.nan or a.lo <= 0 or x.lo < 0 or a.inf or x.inf
    _, hi = t.outward(0.0, 1.0, dtype, 64)
    return Value(1.0 - hi, hi, nan=nan, dtype=dtype)


def betainc(site: Site) -> Value:
    a, b, x = (site.value(param) for param in ("a", "b", "x"))
    nan = any(v.nan or v.inf for v in (a, b, x)) or a.lo <= 0 or b.lo <= 0 or x.lo < 0 or x.hi > 1
    return Value(0.0, 1.0, nan=nan, dtype=t.joined_dtype((a, b, x)))


def bessel_i0(x: Value) -> Value:
    overflows = max(abs(x.lo), abs(x.hi)) > (10 if x.dtype == "float16" else 80) or x.inf
    lowest, _ = t.outward(1.0, 1.0, x.dtype)  # the kernel gives a little less than 1 near 0
    return Value(lowest, INF, nan=x.nan or x.inf, inf=overflows, dtype=x.dtype)


def bessel_i1(x: Value) -> Value:
    overflows = max(abs(x.lo), abs(x.hi)) > (10 if x.dtype == "float16" else 80) or x.inf
    return Value(
        0.0 if x.lo >= 0 else -INF,
        0.0 if x.hi <= 0 else INF,
        x.zero or None,
        nan=x.nan or x.inf,
        inf=overflows,
        dtype=x.dtype,
        evident=x.known,
    )


def bessel_i0e(x: Value) -> Value:
    return Value(0.0, 1.0, x.inf, nan=x.nan or x.inf, dtype=x.dtype)


def bessel_i1e(x: Value) -> Value:
    return Value(
        0.0 if x.lo >= 0 else -0.25, 0.0 if x.hi <= 0 else 0.25, nan=x.nan or x.inf, dtype=x.dtype
    )


# Parts and neighbours


def nan_to_num(x: Value) -> Value:
    """NaN becomes 0, the infinities the largest numbers. NumPy leaves dtypes alone that are not its
    own.
    """
    if x.dtype == "bfloat16" and x.kind == "array":
        return x
    # else perhaps float64, and anything
    bounded = x.dtype is not None or -INF < x.lo and x.hi < INF
    # what is made of such a number overflows
    largest = t.limits_of(x.dtype or "float64").max if bounded else INF
    finite = t.limits_of(x.dtype).max
    lo = min(x.lo, 0.0) if x.nan else min(x.lo, finite)
    hi = max(x.hi, 0.0) if x.nan else max(x.hi, -finite)
    return Value(
        -largest if reaches_minus_inf(x) else lo,
        largest if reaches_inf(x) else hi,
        x.zero or x.nan,
        dtype=x.dtype,
        evident=x.evident or x.inf and x.dtype is None,
    )


def angle(x: Value) -> Value:
    lo, hi = t.outward(
        0.0 if x.dtype and x.dtype.startswith("float") else -math.pi, math.pi, x.dtype, 1
    )
    return Value(lo, hi, nan=x.nan or x.inf, dtype=x.dtype)


def real_part(x: Value) -> Value:
    return Value(nan=x.nan, inf=x.inf) if x.dtype is None or x.dtype.startswith("complex") else x


def nextafter(a: Value, b: Value) -> Value:
    lo, hi = t.outward(a.lo, a.hi, t.joined_dtype((a, b)))
    least = t.smallest(t.joined_dtype((a, b)))
    result = t.made(
        lo - least,
        hi + least,
        a,
        b,
        nan=a.nan or b.nan,
        up=a.inf or b.inf,
        down=a.inf or b.inf,
        dtype=t.joined_dtype((a, b)),
    )
    # float32 of arrays in float64, too
    result.dtype = result.dtype if "tensor" in (a.kind, b.kind) else None
    return result


def dawsn(x: Value) -> Value:
    return Value(-0.5411, 0.5411, nan=x.nan or x.inf, dtype=x.dtype)


def fresnel(x: Value) -> Value:
    return Value(-0.78, 0.78, nan=x.nan or x.inf, dtype=x.dtype)


def step(x: Value, middle: Value) -> Value:
    """0 below 0, 1 above, `middle` at 0."""
    ends = Value(1.0 if x.lo > 0 else 0.0, 0.0 if x.hi < 0 else 1.0, dtype=x.dtype)
    result = t.join([ends, middle]) if x.zero or x.nan else ends
    return Value(
        result.lo,
        result.hi,
        result.zero,
        nan=x.nan or result.nan,
        inf=result.inf,
        dtype=t.joined_dtype((x, middle)),
    )
