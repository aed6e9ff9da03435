"""Elementwise mathematics: exponentials, logarithms, powers, roots, trigonometry, rounding,
clipping.
"""

from __future__ import annotations

import math
from typing import Any, Final

from tfnanlint.ops.site import Site
from tfnanlint.ops.table import Op, op
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer import curves as c
from tfnanlint.ops.transfer.core import INF, Gives, Value
from tfnanlint.values.value import FLOATS, NO_FLOATS


def row(
    word: str,
    gives: Gives,
    params: str = "x name",
    *,
    top: bool | None = True,
    more: str = "",
    ops: str | None = None,
    np: str | None = None,
    raw: str | None = None,
    **info: Any,
) -> Op:
    """One op under all its spellings: tf.<word> and tf.math.<word>, `ops.`, `np.` with `tnp.`,
    `raw.`, and `more`.

    The row is named tf.<word> if TensorFlow 2 has that name (`top`), else tf.math.<word>; with
    None, TensorFlow 1 did not have tf.<word> either. `ops`, `np` and `raw` are the names in
    keras.ops, numpy and raw_ops where they differ from <word>; empty where there is none.
    """
    name, alias = (f"tf.{word}", f"tf.math.{word}") if top else (f"tf.math.{word}", f"tf.{word}")
    aliases = [*([alias] if top is not None else []), *more.split()]
    aliases += [f"ops.{spelling}" for spelling in (word if ops is None else ops).split()]
    aliases += [
        f"{library}.{spelling}"
        for spelling in (word if np is None else np).split()
        for library in ("np", "tnp")
    ]
    aliases += [
        f"raw.{spelling}" for spelling in (word.capitalize() if raw is None else raw).split()
    ]
    arguments = ", ".join(param.lstrip("*") for param in params.split() if param != "name")
    if "untested" not in info:
        info.setdefault("reference", f"{name}({arguments})")
    return op(name, " ".join(aliases), params, gives, **info)


def own(name: str, gives: Gives, aliases: str = "", params: str = "x", **info: Any) -> Op:
    """An op that TensorFlow proper does not have: a row named as in keras.ops, with NumPy's
    spellings.
    """
    word = name.partition(".")[2]
    info.setdefault("reference", f"{name}({', '.join(params.split())})")
    return op(name, f"np.{word} tnp.{word} {aliases}", params, gives, **info)


# Exponentials and logarithms


def _of_an_array(x: Value) -> bool:
    """Whether elements are those of an array of NumPy's, as it is or as a tensor with some of them
    replaced or left out.
    """
    for _ in range(4):
        taken = x.origin
        if (
            x.kind == "array"
            or not isinstance(taken, Site)
            or not (taken.op.passes or taken.op.name == "tf.where" and taken.given("x"))
        ):
            break
        inner = [
            taken.value(param) for param in ([taken.op.passes] if taken.op.passes else ["x", "y"])
        ]
        x = next((value for value in inner if value.kind == "array"), inner[0])
    return x.kind == "array"


def _logarithm(function: t.Function) -> Gives:
    """A logarithm. TensorFlow takes the subnormal numbers of an array for 0, which NumPy finds to
    be above it.
    """
    give = t.unary(function)

    def flushing(site: Site) -> Value:
        x, result = site.value("x"), give(site)
        if x.lo <= 0 and not x.zero and site.library != "np" and _of_an_array(x):
            result.lo, result.inf = -INF, True
        return result

    return flushing


LOG: Final[dict[str, Any]] = dict(needs={"x": "positive"}, gradient="infinite at 0", masked="all")
row(
    "exp",
    t.unary(t.exp),
    more="K.exp",
    masked="all",
    gradient="infinite where the result overflows",
    promotes="floats",
)
row(
    "expm1",
    t.unary(c.expm1),
    top=False,
    masked="all",
    gradient="infinite where the result overflows",
    promotes="floats",
)
row(
    "log",
    _logarithm(t.log),
    top=False,
    more="K.log",
    derivative=(1.0, -1.0),
    promotes="floats",
    **LOG,
)
row(
    "log1p",
    t.unary(c.log1p),
    top=False,
    needs={"x": "above -1"},
    gradient="infinite at -1",
    masked="all",
    promotes="floats",
)
own(
    "ops.exp2",
    t.unary(c.exp2),
    masked="all",
    gradient="infinite where the result overflows",
    promotes="floats",
)
own("ops.log2", _logarithm(c.log2), promotes="floats", **LOG)
own("ops.log10", _logarithm(c.log10), promotes="floats", **LOG)
own("ops.logaddexp", t.binary(c.logaddexp), params="x y", promotes="floats")
own("ops.logaddexp2", t.binary(c.logaddexp2), params="x y", promotes="floats")
row(
    "sigmoid",
    t.unary(c.sigmoid),
    np="",
    reaches=(1.0,),
    more="tf.nn.sigmoid K.sigmoid keras.activations.sigmoid",
    promotes="floats",
)
row(
    "softplus",
    t.unary(c.softplus),
    top=None,
    np="",
    more="tf.nn.softplus K.softplus keras.activations.softplus",
    promotes="floats",
)
row(
    "log_sigmoid",
    t.unary(c.log_sigmoid),
    top=False,
    np="",
    raw="",
    more="keras.activations.log_sigmoid",
    promotes="floats",
)
row(
    "tanh",
    t.unary(c.tanh),
    reaches=(-1.0, 1.0),
    more="tf.nn.tanh K.tanh keras.activations.tanh",
    promotes="floats",
)

# Powers and roots


def _power(site: Site) -> Value:
    result = c.power(site.value("x"), site.value("y"))
    if site.name.endswith("float_power"):
        # whatever arrives; TensorFlow's NumPy may prefer float32
        result.dtype = "float64" if site.name.startswith("np.") else None
    return result


row(
    "sqrt",
    t.unary(t.sqrt),
    needs={"x": "nonnegative"},
    gradient="infinite at 0",
    masked="xla",
    derivative=(0.5, -0.5),
    promotes="floats",
)
op(
    "K.sqrt",
    "",
    "x",
    t.unary(lambda x: t.sqrt(t.maximum(x, t.number(0.0)))),
    gradient="infinite at 0",
    masked="xla",
    derivative=(0.5, -0.5),
    reference="tf.sqrt(tf.maximum(x, tf.zeros_like(x)))",
)
row(
    "rsqrt",
    t.unary(c.rsqrt),
    top=False,
    np="",
    needs={"x": "positive"},
    gradient="infinite near 0",
    masked="xla",
    derivative=(0.5, -1.5),
    promotes="floats",
)
row("square", t.unary(t.square), more="K.square")


def _may_be_whole(value: Value) -> bool:
    """Whether a value may hold integers or truth values, of which NumPy makes whole numbers."""
    if value.dtype is None:
        return value.kind in ("number", "unknown") and not isinstance(value.const, float)
    return value.dtype not in FLOATS


def _reciprocal(site: Site) -> Value:
    """1 / x; of an integer, NumPy's is whole: 0 beside -1 and 1, and of 0 the least integer."""
    x = site.value("x")
    result = t.unary(c.reciprocal)(site)
    if site.library != "np" or not _may_be_whole(x):
        return result
    least = 0.0 if x.lo >= 0 else -1.0
    if x.zero and x.dtype != "bool":
        least = -INF
    whole = Value(least, 1.0, True, dtype=x.dtype, kind=result.kind)
    if x.dtype in NO_FLOATS:
        return whole.but(dtype="int8") if x.dtype == "bool" else whole
    return result.but(lo=min(least, result.lo), hi=max(1.0, result.hi), zero=True)


row(
    "reciprocal",
    _reciprocal,
    top=False,
    raw="Reciprocal Inv",
    needs={"x": "nonzero"},
    gradient="infinite near 0",
    masked="xla",
    derivative=(1.0, -2.0),
    promotes="floats, as the row says",
)
row(
    "reciprocal_no_nan",
    t.unary(lambda x: c.divide_no_nan(t.number(1.0), x)),
    top=None,
    ops="",
    np="",
    raw="",
    gradient="infinite near 0",
)
row(
    "pow",
    _power,
    "x y name",
    ops="power",
    np="power float_power",
    raw="Pow",
    more="K.pow operator.pow operator.ipow method.__pow__ method.__rpow__",
    positions={"method.__rpow__": ("y", "x")},
    needs={"x": "positive, or the exponent an integer"},
    masked="all",
    gradient="infinite at 0 for exponents below 1",
)
own(
    "ops.cbrt",
    t.unary(c.cbrt),
    gradient="infinite at 0",
    masked="all",
    recasts=True,
    reference="tnp.cbrt(x)",
    promotes="floats",
)
row(
    "squared_difference",
    t.binary(c.squared_difference),
    "x y name",
    top=False,
    ops="",
    np="",
    raw="SquaredDifference",
)
own(
    "ops.hypot",
    t.binary(c.hypot),
    params="x y",
    gradient="NaN at (0, 0)",
    masked="all",
    promotes="floats",
)

# Sign, rounding, remainder

row(
    "abs",
    t.unary(c.magnitude),
    ops="abs absolute fabs",
    np="abs absolute fabs",
    raw="Abs ComplexAbs",
    more="K.abs builtins.abs operator.abs method.__abs__",
)
row("sign", t.unary(c.sign), reaches=(-1.0, 0.0, 1.0), more="K.sign")
row("floor", t.unary(c.floor), promotes="floats")
row("ceil", t.unary(c.ceil), top=False, promotes="floats")
row("round", t.unary(c.nearest), np="round around", more="K.round", promotes="floats")
row("rint", t.unary(c.nearest), top=False, ops="", np="")
op("ops.trunc", "np.trunc np.fix tnp.fix", "x", t.unary(c.truncated), reference="ops.trunc(x)")


def _floor_division(site: Site) -> Value:
    """Of an integer divided by 0 NumPy makes 0."""
    result, x, y = c.floordiv(site.value("x"), site.value("y")), site.value("x"), site.value("y")
    if site.library == "np" and y.zero and _may_be_whole(x) and _may_be_whole(y):
        result = result.but(lo=min(result.lo, 0.0), hi=max(result.hi, 0.0), zero=True)
    return result


row(
    "floordiv",
    _floor_division,
    "x y name",
    top=False,
    ops="floor_divide",
    np="floor_divide",
    raw="FloorDiv",
    more="tf.floor_div operator.floordiv",
    needs={"y": "nonzero"},
)
row(
    "floormod",
    t.binary(c.floormod),
    "x y name",
    top=False,
    ops="mod",
    np="mod remainder",
    raw="FloorMod",
    more="tf.mod tf.math.mod operator.mod",
    needs={"y": "nonzero"},
    gradient="infinite where y is 0",
    masked="all",
)
op(
    "tf.truncatediv",
    "raw.TruncateDiv",
    "x y name",
    t.binary(c.truncatediv),
    needs={"y": "nonzero"},
    untested="the kernel takes integers only",
)
op(
    "tf.truncatemod",
    "raw.TruncateMod raw.Mod np.fmod ops.fmod",
    "x y name",
    t.binary(c.truncatemod),
    needs={"y": "nonzero"},
    reference="tf.truncatemod(x, y)",
)

# Trigonometry

row("sin", t.unary(c.wave), more="K.sin", promotes="floats")
row("cos", t.unary(c.cosine), more="K.cos", promotes="floats")
row("tan", t.unary(c.tan), promotes="floats")
row(
    "asin",
    t.unary(c.asin),
    ops="arcsin",
    np="arcsin",
    needs={"x": "inside (-1, 1)"},
    masked="all",
    gradient="infinite at -1 and 1",
    promotes="floats",
)
row(
    "acos",
    t.unary(c.acos),
    ops="arccos",
    np="arccos",
    needs={"x": "inside (-1, 1)"},
    masked="all",
    gradient="infinite at -1 and 1",
    promotes="floats",
)
row("atan", t.unary(c.atan), ops="arctan", np="arctan", promotes="floats")
row(
    "atan2",
    t.binary(c.atan2, "y", "x"),
    "y x name",
    ops="arctan2",
    np="arctan2",
    raw="Atan2",
    masked="all",
    gradient="NaN at (0, 0)",
    positions={"ops.arctan2": ("y", "x"), "np.arctan2": ("y", "x"), "tnp.arctan2": ("y", "x")},
    promotes="floats",
)
row(
    "sinh",
    t.unary(c.sinh),
    masked="all",
    gradient="infinite where the result overflows",
    promotes="floats",
)
row(
    "cosh",
    t.unary(c.cosh),
    masked="all",
    gradient="infinite where the result overflows",
    promotes="floats",
)
row("asinh", t.unary(c.asinh), ops="arcsinh", np="arcsinh", promotes="floats")
row(
    "acosh",
    t.unary(c.acosh),
    ops="arccosh",
    np="arccosh",
    needs={"x": "above 1"},
    gradient="infinite at 1",
    masked="all",
    promotes="floats",
)
row(
    "atanh",
    t.unary(c.atanh),
    ops="arctanh",
    np="arctanh",
    needs={"x": "inside (-1, 1)"},
    masked="all",
    gradient="infinite at -1 and 1",
    promotes="floats",
)
own(
    "ops.sinc",
    t.unary(c.sinc),
    reference="tnp.sinc(x)",
    gradient="NaN at 0",
    masked="all",
    promotes="floats",
)


def _scaled(factor: float) -> t.Function:
    def give(x: Value) -> Value:
        result = t.multiply(x, t.number(factor))
        lo, hi = t.outward(result.lo, result.hi, x.dtype)
        return result.but(lo=lo, hi=hi, zero=result.zero)

    return give


own("ops.deg2rad", t.unary(_scaled(math.pi / 180)), reference="tnp.deg2rad(x)", promotes="floats")
_turned = t.unary(_scaled(180 / math.pi))


def _degrees(site: Site) -> Value:
    """TensorFlow's NumPy leaves an array one, which takes the dtype of the tensor that it meets."""
    result = _turned(site)
    array = site.library == "tnp" and site.value("x").kind == "array"
    return (
        result.but(kind="unknown", dtype=None, lo=result.lo, hi=result.hi, zero=result.zero)
        if array
        else result
    )


own("ops.rad2deg", _degrees, reference="tnp.rad2deg(x)", promotes="floats")

# Choices and clipping


def _fmax(site: Site) -> Value:
    """maximum; fmax takes the other number where one is NaN."""
    return _past_nan(site, t.maximum)


def _fmin(site: Site) -> Value:
    return _past_nan(site, t.minimum)


def _past_nan(site: Site, choose: Any) -> Value:
    x, y = site.value("x"), site.value("y")
    result = choose(x, y)
    if not site.name.endswith(("fmax", "fmin")):
        return result
    # What is computed from values of which nothing is known may be NaN without being said so: their
    # difference from themselves is 0.
    either = t.join(
        [
            result,
            *([y] if x.nan or x.kind != "number" else []),
            *([x] if y.nan or y.kind != "number" else []),
        ]
    )
    return result.but(
        lo=either.lo, hi=either.hi, zero=either.zero, nan=x.nan and y.nan, inf=either.inf
    )


row(
    "maximum",
    _fmax,
    "x y name",
    ops="maximum fmax",
    np="maximum",
    more="K.maximum np.fmax",
    bounds=True,
)
row(
    "minimum",
    _fmin,
    "x y name",
    ops="minimum fmin",
    np="minimum",
    more="K.minimum np.fmin",
    bounds=True,
)


def _clip_by_value(site: Site) -> Value:
    x = site.value("x")
    low, high = (
        _limit(site, param, side)
        for param, side in (("clip_value_min", -INF), ("clip_value_max", INF))
    )
    return t.clip(x, low, high)


def _limit(site: Site, param: str, side: float) -> Value:
    """A bound of a clip; None and a missing argument bound nothing."""
    if not site.given(param) or site.value(param).kind == "none":
        return Value(side, side, kind="number")
    return site.value(param)


op(
    "tf.clip_by_value",
    "K.clip ops.clip np.clip tnp.clip raw.ClipByValue",
    "x clip_value_min clip_value_max name",
    _clip_by_value,
    bounds=True,
    reference="tf.clip_by_value(x, clip_value_min, clip_value_max)",
)


def _clipped_to_norm(x: Value, norm: Value) -> Value:
    """x * norm / max(|x|, norm): between 0 and x, no larger than the norm, NaN if the product
    overflows.
    """
    if norm.lo <= 0:
        return Value(nan=True, inf=True, dtype=x.dtype)
    size = norm.hi
    reach = max(abs(x.lo), abs(x.hi))
    overflows = reach < INF and size < INF and max(reach, size) * size > t.limits_of(x.dtype).max
    # 256 squared
    overflows = overflows or x.dtype == "float16" and reach * reach > t.limits_of(x.dtype).max
    lo, hi = t.outward(max(min(x.lo, 0.0), -size), min(max(x.hi, 0.0), size), x.dtype, 16)
    return Value(
        lo,
        hi,
        True,
        nan=x.nan or x.inf or norm.nan or norm.inf or overflows,
        inf=overflows,
        dtype=x.dtype,
    )


def _clip_by_norm(site: Site) -> Value:
    return _clipped_to_norm(site.value("x"), site.value("clip_norm"))


op(
    "tf.clip_by_norm",
    "",
    "x clip_norm axes name",
    _clip_by_norm,
    reference="tf.clip_by_norm(x, clip_norm, axes=-1)",
)
op(
    "tf.clip_by_average_norm",
    "",
    "x clip_norm name",
    t.passes(),
    untested="divides the norm by the number of elements",
)


def _clip_by_global_norm(site: Site) -> Value:
    """Every element is NaN where the norm of all is Inf: squares overflow from 1.8e19 on."""
    tensors, norm = t.elements(site.value("t_list")), site.value("clip_norm")
    endless = any(max(abs(x.lo), abs(x.hi)) >= t.limits_of(x.dtype).max ** 0.5 for x in tensors)
    clipped = [_clipped_to_norm(x, norm) for x in tensors]
    clipped = [x.but(nan=True) for x in clipped] if endless else clipped
    return t.several(
        t.several(*clipped),
        Value(0.0, INF, nan=any(x.nan for x in tensors), inf=any(x.inf for x in tensors)),
    )


op(
    "tf.clip_by_global_norm",
    "",
    "t_list clip_norm use_norm name",
    _clip_by_global_norm,
    untested="returns a list and a norm",
)
op(
    "ops.nan_to_num",
    "np.nan_to_num",
    "x nan posinf neginf",
    t.unary(c.nan_to_num),
    reference="ops.nan_to_num(x)",
    positions={"np.nan_to_num": ("x", "copy", "nan", "posinf", "neginf")},
)

# Quotients and products that skip 0

op(
    "tf.math.divide_no_nan",
    "tf.div_no_nan ops.divide_no_nan raw.DivNoNan",
    "x y name",
    t.binary(c.divide_no_nan),
    gradient="infinite where y is tiny",
    reference="tf.math.divide_no_nan(x, y)",
)
op(
    "tf.math.multiply_no_nan",
    "raw.MulNoNan",
    "x y name",
    t.binary(c.multiply_no_nan),
    reference="tf.math.multiply_no_nan(x, y)",
)
op(
    "tf.math.xlogy",
    "raw.Xlogy",
    "x y name",
    t.binary(c.xlogy),
    needs={"y": "positive"},
    masked="all",
    gradient="infinite at y = 0 unless x is 0",
    reference="tf.math.xlogy(x, y)",
)
op(
    "tf.math.xlog1py",
    "raw.Xlog1py",
    "x y name",
    t.binary(c.xlog1py),
    needs={"y": "above -1"},
    masked="all",
    gradient="infinite at y = -1 unless x is 0",
    reference="tf.math.xlog1py(x, y)",
)
op(
    "tf.math.xdivy",
    "raw.Xdivy",
    "x y name",
    t.binary(c.xdivy),
    needs={"y": "nonzero"},
    masked="all",
    gradient="infinite at y = 0 unless x is 0",
    reference="tf.math.xdivy(x, y)",
)
op(
    "tf.scalar_mul",
    "tf.math.scalar_mul",
    "scalar x name",
    t.binary(t.multiply, "scalar", "x"),
    main="x",
    untested="the scalar has no axes; the same function as tf.multiply",
)

# Special functions

row("erf", t.unary(c.erf), top=False, reaches=(-1.0, 1.0), np="", promotes="floats")
row("erfc", t.unary(c.erfc), top=False, np="")
row(
    "erfinv",
    t.unary(c.erfinv),
    top=None,
    np="",
    needs={"x": "inside (-1, 1)"},
    masked="all",
    gradient="infinite at -1 and 1",
)
row(
    "erfcinv",
    t.unary(c.erfcinv),
    top=None,
    np="",
    ops="",
    raw="",
    needs={"x": "inside (0, 2)"},
    masked="all",
    gradient="infinite at 0 and 2",
)
row(
    "ndtri",
    t.unary(c.ndtri),
    top=None,
    np="",
    ops="",
    needs={"x": "inside (0, 1)"},
    masked="all",
    gradient="infinite at 0 and 1",
)
row(
    "lgamma",
    t.unary(c.lgamma),
    top=False,
    np="",
    ops="",
    needs={"x": "positive"},
    masked="all",
    gradient="NaN at 0 and the negative integers",
)
row(
    "digamma",
    t.unary(c.digamma),
    top=False,
    np="",
    ops="",
    needs={"x": "positive"},
    masked="all",
    gradient="infinite at 0 and the negative integers",
)
row(
    "lbeta",
    t.anything,
    top=False,
    np="",
    ops="",
    raw="",
    needs={"x": "positive"},
    masked="all",
    untested="unbounded",
)
row(
    "polygamma",
    t.anything,
    "a x name",
    top=False,
    np="",
    ops="",
    raw="Polygamma",
    masked="all",
    untested="unbounded",
)
row("zeta", t.anything, "x q name", top=False, np="", ops="", raw="Zeta", untested="unbounded")
row(
    "igamma",
    t.binary(c.share_of_gamma, "a", "x"),
    "a x name",
    top=False,
    np="",
    ops="",
    raw="Igamma",
    masked="all",
    gradient="NaN at x = 0, unless a is above 1",
)
row(
    "igammac",
    t.binary(c.share_of_gamma, "a", "x"),
    "a x name",
    top=False,
    np="",
    ops="",
    raw="Igammac",
    masked="all",
    gradient="NaN at x = 0, unless a is above 1",
)
op(
    "tf.math.betainc",
    "tf.betainc raw.Betainc",
    "a b x name",
    c.betainc,
    main="x",
    masked="all",
    untested="the kernel takes many seconds on extreme points",
)
op(
    "tf.math.bessel_i0",
    "tf.math.special.bessel_i0 np.i0 ops.i0 raw.BesselI0",
    "x name",
    t.unary(c.bessel_i0),
    reference="tf.math.bessel_i0(x)",
    gradient="infinite where the result overflows",
    masked="all",
    recasts=True,
)
op(
    "tf.math.bessel_i1",
    "tf.math.special.bessel_i1 raw.BesselI1",
    "x name",
    t.unary(c.bessel_i1),
    reference="tf.math.bessel_i1(x)",
    gradient="infinite where the result overflows",
    masked="all",
)
op(
    "tf.math.bessel_i0e",
    "tf.math.special.bessel_i0e raw.BesselI0e",
    "x name",
    t.unary(c.bessel_i0e),
    reference="tf.math.bessel_i0e(x)",
)
op(
    "tf.math.bessel_i1e",
    "tf.math.special.bessel_i1e raw.BesselI1e",
    "x name",
    t.unary(c.bessel_i1e),
    reference="tf.math.bessel_i1e(x)",
)
op(
    "tf.math.polyval",
    "np.polyval tnp.polyval",
    "coeffs x name",
    t.anything,
    main="x",
    untested="unbounded",
)

op("tf.math.special.dawsn", "", "x name", t.unary(c.dawsn), reference="tf.math.special.dawsn(x)")
op(
    "tf.math.special.fresnel_cos",
    "tf.math.special.fresnel_sin",
    "x name",
    t.unary(c.fresnel),
    reference="tf.math.special.fresnel_cos(x)",
)
op(
    "tf.math.special.bessel_j0",
    "tf.math.special.bessel_j1",
    "x name",
    t.unary(c.wave),
    reference="tf.math.special.bessel_j0(x)",
)
op(
    "tf.math.special.expint",
    "tf.math.special.spence tf.math.special.bessel_k0 tf.math.special.bessel_k1"
    " tf.math.special.bessel_k0e tf.math.special.bessel_k1e tf.math.special.bessel_y0"
    " tf.math.special.bessel_y1",
    "x name",
    lambda site: Value(
        nan=True, inf=True, dtype=site.value("x").dtype, evident=site.value("x").known
    ),
    needs={"x": "positive"},
    masked="all",
    reference="tf.math.special.expint(x)",
)
own("ops.heaviside", t.binary(c.step, "x", "y"), params="x y", reference="tnp.heaviside(x, y)")

# Parts and neighbours


def _angle(site: Site) -> Value:
    result = c.angle(site.value("x"))
    if site.library != "tf":  # float16 becomes float32 in some, and float64, too
        result.dtype, (result.lo, result.hi) = None, t.outward(result.lo, result.hi, None, 1)
    return result


row("angle", _angle, top=False, raw="Angle", gradient="NaN at 0", masked="all")
row("real", t.unary(c.real_part), top=False)
op(
    "tf.complex",
    "tf.dtypes.complex raw.Complex",
    "real imag name",
    lambda site: Value(dtype="complex64"),
    main="real",
    untested="complex",
)
row("imag", t.anything, "x name", top=False, main="x", untested="unbounded for complex numbers")
row("conj", t.passes(), top=False, ops="conj conjugate", np="conj conjugate", passes="x")
row("nextafter", t.binary(c.nextafter), "x y name", top=None, raw="NextAfter")


def _epsilon(site: Site) -> Value:
    """1e-7, or what the file sets it to (`K.set_epsilon(1e-3)`), once; what is set elsewhere, or
    read from a file, is small and positive.
    """
    module = site.point.module if site.point is not None else None
    if module is None or "set_epsilon(" not in module.source.text:
        return t.number(1e-7)
    epsilons = [
        site.interpreter.evaluate(call.args[0], point)
        for call, point in module.calls_to("set_epsilon", site.interpreter)
        if call.args
    ]
    if not epsilons:
        return t.number(1e-7)
    return (
        t.number(epsilons[0].const)
        if len(epsilons) == 1 and epsilons[0].is_number
        else Value(1e-7, 0.1, kind="number")
    )


op(
    "K.epsilon",
    "keras.config.epsilon keras.backend_config.epsilon",
    "",
    _epsilon,
    untested="a setting",
)
