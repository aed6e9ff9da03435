"""Python and NumPy around TensorFlow: builtins, the math module, dtypes and numeric constants."""

from __future__ import annotations

import math
from functools import partial
from typing import Callable, Final

from tfnanlint.ops.families.arrays import DTYPES, cast, counted, given_of, passed
from tfnanlint.ops.site import Site, another
from tfnanlint.ops.table import TABLE, op
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer.promotion import beside_size, size_of_tensor
from tfnanlint.values.value import (
    FLOATS,
    INF,
    NO_CONSTANT,
    Many,
    Note,
    Value,
    join,
    number,
    outward,
    unknown,
)

PYTHON: Final = "plain Python; tests/ops/families/test_python_rows.py"


def _folded(function: Callable, value: Value) -> Value | None:
    """`function` of a Python constant, None when it is none or has no result."""
    if not value.is_number and not isinstance(value.const, bool):
        return None
    try:
        return number(function(value.const))
    except (ValueError, OverflowError, ZeroDivisionError, TypeError):
        return None


def _python(name: str, function: Callable, transfer: Callable[[Value], Value]) -> None:
    """A row for a function of one number: constants are computed, other values go through
    `transfer`.
    """

    def give(site: Site) -> Value:
        x = site.value("x")
        constant = _folded(function, x)
        if constant is not None:
            return constant
        result = transfer(_double(x))
        return Value(result.lo, result.hi, result.zero, inf=result.inf, kind="number")

    op(name, "", "x", give, untested=PYTHON)


def _double(x: Value) -> Value:
    """Python computes in float64 and raises where NumPy and TensorFlow give Inf or NaN."""
    return x.but(dtype="float64", kind="number")


def _bounded(lo: float, hi: float) -> Callable[[Value], Value]:
    return lambda x: Value(lo, hi)


def _factorial(number: int) -> int:
    """Up to where it fits a float; beyond, computing it could take too long."""
    if number > 170:
        raise OverflowError
    return math.factorial(number)


def _rising(function: Callable[[float], float], least: float = -INF) -> Callable[[Value], Value]:
    """Transfer of an increasing function that is at least `least` and not defined below some
    number.
    """

    def end(number: float, open_end: float) -> float:
        if number in (INF, -INF):
            return open_end
        try:
            return float(function(number))
        except OverflowError:
            return INF if number > 0 else least
        except ValueError:
            return least

    def give(x: Value) -> Value:
        lo, hi = outward(end(x.lo, least), end(x.hi, INF), "float64")
        return Value(max(lo, least), max(hi, least), inf=hi == INF != x.hi)

    return give


for _name, _function, _transfer in (
    *(
        (f.__name__, f, _rising(f))
        for f in (
            math.log,
            math.log2,
            math.log10,
            math.log1p,
            math.sinh,
            math.floor,
            math.ceil,
            math.trunc,
            math.radians,
            math.degrees,
        )
    ),
    ("exp", math.exp, _rising(math.exp, 0.0)),
    ("expm1", math.expm1, _rising(math.expm1, -1.0)),
    ("sqrt", math.sqrt, _rising(math.sqrt, 0.0)),
    ("fabs", math.fabs, t.absolute),
    ("cosh", math.cosh, _bounded(1.0, INF)),
    ("factorial", _factorial, _bounded(1.0, INF)),
    *((f.__name__, f, _bounded(-1.0, 1.0)) for f in (math.sin, math.cos, math.tanh, math.erf)),
    *((f.__name__, f, _bounded(-math.pi / 2, math.pi / 2)) for f in (math.atan, math.asin)),
    ("acos", math.acos, _bounded(0.0, math.pi)),
    *((f.__name__, f, lambda x: unknown("number")) for f in (math.tan, math.gamma, math.lgamma)),
):
    _python(f"math.{_name}", _function, _transfer)
op("math.pow", "", "x y", lambda site: _power(site), untested=PYTHON)
op(
    "math.isnan",
    "math.isinf math.isfinite math.isclose",
    "x y",
    t.ranged(0.0, 1.0, dtype="bool"),
    untested=PYTHON,
)
op("math.hypot", "math.dist", "x y", lambda site: _between(site, 0.0, INF), untested=PYTHON)
op("math.fsum", "", "x", lambda site: _sum(site), untested=PYTHON)
op("math.atan2", "", "y x", lambda site: _between(site, -math.pi, math.pi), untested=PYTHON)
op(
    "math.gcd",
    "math.comb math.perm math.lcm",
    "x y",
    lambda site: Value(0.0, INF, kind="number", dtype="int32"),
    untested=PYTHON,
)
op(
    "math.prod",
    "",
    "x",
    lambda site: _between(site, 0.0 if t.one_of(site.value("x")).lo >= 0 else -INF, INF),
    untested=PYTHON,
)


def _between(site: Site, lo: float, hi: float) -> Value:
    """A number between two bounds, NaN of NaN; what has no bound is infinite where something given
    is.
    """
    arguments = [t.one_of(site.value(param)) for param in site.args]
    inf = any([one.inf for one in arguments])
    return Value(
        lo,
        hi,
        nan=any([one.nan for one in arguments]) or inf and site.op.name == "math.prod",
        inf=inf and hi == INF,
        kind="number",
    )


def _power(site: Site) -> Value:
    """Python's power of two numbers; a positive base gives at least 0."""
    x, y = site.value("x"), site.value("y")
    if x.is_number and y.is_number:
        try:
            whole = (
                isinstance(x.const, int) and isinstance(y.const, int) and site.op.name != "math.pow"
            )
            if whole and abs(float(x.const) ** y.const) < 2.0**53:
                return number(x.const**y.const)
            return number(float(x.const) ** float(y.const))
        except (ValueError, OverflowError, ZeroDivisionError, TypeError):
            return unknown("number")
    row = TABLE.get("tf.pow")
    if row is None or "number" not in (x.kind, y.kind) or {x.kind, y.kind} == {"number"}:
        return Value(
            0.0 if x.lo >= 0 else -INF,
            INF,
            kind="number" if x.kind == y.kind == "number" else "tensor",
        )
    return row.gives(Site.of_values(row, {"x": x, "y": y}))


# Builtins

_SHORT: Final = 64  # elements of a list that a function is followed for one by one
_SOME: Final = "first second third fourth fifth sixth"


def _sum(site: Site) -> Value:
    """A known list is added up; of anything else the sign is kept."""
    x = site.value("x")
    if site.given("start") and site.value("start").kind == "sequence":
        return _one_after_another(site, x)
    if x.kind == "sequence" and isinstance(x.obj, tuple):
        total = site.value("start") if site.given("start") else number(0)
        size = next(filter(size_of_tensor, x.obj), total)
        for item in x.obj:
            total = t.add(total, beside_size(item, size))
        return total
    # integers may be made of NaN
    mixed = isinstance(x.obj, Many) and x.obj.element.kind == "unknown" and (x.nan or x.inf)
    return Value(
        0.0 if x.lo >= 0 and not mixed else -INF,
        0.0 if x.hi <= 0 and not mixed else INF,
        True,
        nan=x.nan or x.inf,
        inf=x.inf,
        dtype=x.dtype,
        evident=x.evident,
    )


def _one_after_another(site: Site, x: Value) -> Value:
    """`sum(lists, [])`: the elements of all lists in one, in their order."""
    start = site.value("start").obj
    if (
        not isinstance(x.obj, tuple)
        or not isinstance(start, tuple)
        or not all(isinstance(one.obj, tuple) for one in x.obj)
    ):
        return unknown("sequence")
    items = [*start, *[item for one in x.obj for item in one.obj]]
    return t.several(*items) if items and len(items) <= _SHORT else unknown("sequence")


def _extreme(fold: Callable[[Value, Value], Value]) -> Callable[[Site], Value]:
    """max and min of several arguments or of one list."""

    def give(site: Site) -> Value:
        items = given_of(site, _SOME)
        if not items or not site.complete or site.given("key"):
            return unknown()
        if len(items) == 1:
            whole = items[0]
            if whole.kind != "sequence" or not isinstance(whole.obj, tuple) or not whole.obj:
                return join([_element(whole), *given_of(site, "default")])
            items = [*whole.obj]
        result = items[0]
        for item in items[1:]:
            result = fold(result, item)
        # which is no element: it is what an empty list gives
        return join([result, *given_of(site, "default")])

    return give


def _float(site: Site) -> Value:
    """float("inf"), float("nan"), or a number or tensor made a Python number."""
    x = site.value("x")
    if isinstance(x.const, str):
        try:
            return number(float(x.const))
        except ValueError:
            return unknown("number")
    return _folded(float, x) or Value(
        x.lo,
        x.hi,
        x.zero,
        nan=x.nan,
        inf=x.inf,
        kind="number",
        evident=x.evident,
        guarded=x.guarded,
    )


def _whole(function: Callable) -> Callable[[Site], Value]:
    """int() and round(): a whole number beside `x`."""

    def give(site: Site) -> Value:
        x = site.value("x")
        if isinstance(x.const, str):
            whole = x.const.strip().lstrip("+-").isdigit() and not site.given("base")
            return number(int(x.const)) if whole else unknown("number")
        constant = _folded(function, x) if not site.given("ndigits") else None
        if constant is not None:
            return constant
        if site.given("ndigits"):
            return Value(x.lo - 0.5, x.hi + 0.5, kind="number")
        result = cast(
            Value(
                math.floor(x.lo) if x.lo not in (-INF, INF) and function is round else x.lo,
                math.ceil(x.hi) if x.hi not in (-INF, INF) and function is round else x.hi,
                x.zero,
            ),
            "int64",
        )
        return result.but(kind="number", dtype=None)

    return give


op("builtins.len", "", "x", lambda site: _length(site.value("x")), untested=PYTHON)
op("builtins.max", "", f"{_SOME} default key", _extreme(t.maximum), untested=PYTHON)
op("builtins.min", "", f"{_SOME} default key", _extreme(t.minimum), untested=PYTHON)
op("builtins.sum", "", "x start", _sum, untested=PYTHON)
op("builtins.float", "", "x", _float, untested=PYTHON)
op("builtins.int", "", "x base", _whole(int), untested=PYTHON)
op("builtins.round", "", "x ndigits", _whole(round), untested=PYTHON)
op("builtins.pow", "", "x y mod", _power, untested=PYTHON)
op(
    "builtins.bool",
    "builtins.isinstance builtins.hasattr builtins.callable builtins.any builtins.all"
    " builtins.issubclass",
    "x y",
    t.ranged(0.0, 1.0, dtype="bool"),
    untested=PYTHON,
)
op(
    "builtins.range",
    "",
    "start limit delta",
    lambda site: counted(site).but(kind="number"),
    untested=PYTHON,
)
op(
    "builtins.list",
    "builtins.tuple builtins.sorted builtins.reversed builtins.set builtins.iter"
    " builtins.frozenset",
    "x key reverse",
    lambda site: _collected(site),
    passes="x",
    untested=PYTHON,
)
op(
    "builtins.enumerate",
    "",
    "x start",
    lambda site: _pairs(site, [_counted_from(site), site.value("x")]),
    untested=PYTHON,
)
op(
    "builtins.zip",
    "itertools.product",
    _SOME,
    lambda site: _pairs(site, given_of(site, _SOME)),
    untested=PYTHON,
)
op(
    "builtins.map",
    "",
    "function x others",
    lambda site: _mapped(site),
    main="function",
    untested=PYTHON,
    pure=False,
)
op(
    "builtins.next",
    "",
    "x default",
    lambda site: _element(site.value("x")),
    untested=PYTHON,
    pure=False,
)
op(
    "builtins.str",
    "builtins.repr builtins.format builtins.chr builtins.input builtins.open builtins.type",
    "x",
    lambda site: unknown("string"),
    untested=PYTHON,
)
op("builtins.print", "", "*args", lambda site: number(None), untested=PYTHON, pure=False)
op(
    "builtins.dict",
    "collections.OrderedDict typing.OrderedDict",
    "*args",
    lambda site: unknown("dict"),
    untested=PYTHON,
)
op(
    "builtins.hash",
    "builtins.ord builtins.id",
    "x",
    lambda site: unknown("number"),
    untested=PYTHON,
)
op(
    "builtins.divmod",
    "",
    "x y",
    lambda site: Value(kind="sequence", obj=(unknown("number"), unknown("number"))),
    untested=PYTHON,
)
op(
    "time.time",
    "time.perf_counter time.monotonic time.process_time timeit.default_timer",
    "",
    lambda site: Value(0.0, INF, kind="number", dtype="float64"),
    untested=PYTHON,
    pure=False,
)
op(
    "random.random",
    "",
    "",
    lambda site: Value(0.0, 1.0, kind="number"),
    untested=PYTHON,
    pure=False,
)
op(
    "random.randint",
    "random.randrange random.uniform",
    "x y",
    lambda site: _drawn(site),
    untested=PYTHON,
    pure=False,
)
op("random.choice", "", "x", lambda site: _element(site.value("x")), untested=PYTHON, pure=False)


def _length(x: Value) -> Value:
    if x.kind == "sequence" and isinstance(x.obj, tuple):
        return number(len(x.obj))
    if isinstance(x.origin, Site) and x.origin.op.name == "builtins.range":
        return Value(0.0, INF, kind="number", dtype="int32")  # range(n) of no round
    # as for dimensions: what is empty has no bad element
    return Value(1.0, INF, kind="number", dtype="int32")


def _drawn(site: Site) -> Value:
    """A random number between two ends."""
    if not site.given("y"):
        return unknown("number")
    return join([site.value("x"), site.value("y")]).but(const=NO_CONSTANT, kind="number")


def _element(x: Value) -> Value:
    """One element of a list, or of a tensor along its first axis."""
    if isinstance(x.origin, Site) and x.origin.op.name == "builtins.range":
        return x.but(kind="number", dtype="int32")
    if isinstance(x.obj, Many):
        return another(x.obj.element)
    if x.kind == "sequence" and x.obj:
        return join(list(x.obj))
    return (
        passed(x)
        if x.kind in ("tensor", "array", "number") or (x.kind == "sequence" and x.known)
        else unknown()
    )


def _collected(site: Site) -> Value:
    """The same elements in a list; sorted and set lose the order."""
    x = site.value("x")
    if x.kind == "sequence" and isinstance(x.obj, tuple):
        if site.name in ("", "builtins.list", "builtins.tuple", "builtins.iter") or not x.obj:
            return x
        return Value(x.lo, x.hi, x.zero, kind="sequence", obj=tuple(_element(x) for _ in x.obj))
    if isinstance(x.obj, Many):
        return x
    return (
        x.but(kind="sequence", obj=None, const=NO_CONSTANT)
        if x.kind in ("sequence", "tensor", "array")
        else unknown()
    )


def _mapped(site: Site) -> Value:
    """The results of a function for every element of one list, in its order."""
    whole = site.value("x").obj if site.complete and not site.given("others") else None
    if isinstance(whole, tuple) and 0 < len(whole) <= _SHORT:
        return t.several(*(site.apply(site.value("function"), one) for one in whole))
    if isinstance(whole, Many):
        return Value(kind="sequence", obj=Many(site.apply(site.value("function"), whole.element)))
    return unknown("sequence")


def _counted_from(site: Site) -> Value:
    """The numbers that `enumerate` counts: from 0, if nothing else is said."""
    start = site.value("start").lo if site.given("start") else 0.0
    return Value(start, INF, kind="number", dtype="int32", origin=Note("", parent=site, index=0))


def _pairs(site: Site, columns: list[Value]) -> Value:
    """What one round of a loop over zip or enumerate gets, as a list of one."""
    rows = tuple(column if column.kind == "number" else _element(column) for column in columns)
    return Value(kind="sequence", obj=(Value(kind="sequence", obj=rows),))


# Casts by the name of a dtype, and NumPy numbers


def _numpy_number(site: Site, dtype: str) -> Value:
    x = site.value("x")
    if isinstance(x.const, str):
        return _float(site)
    result = cast(t.one_of(x), dtype)
    return result.but(kind="array")


for _dtype in sorted(DTYPES - {"string", "bfloat16"}):
    op(
        f"np.{_dtype}",
        f"tnp.{_dtype}",
        "x",
        partial(_numpy_number, dtype=_dtype),
        untested="NumPy; tests/ops/families/test_python_rows.py",
    )


def _limits_of(dtype: str | None) -> Value:
    return Value(kind="limits", const=dtype or NO_CONSTANT)


op(
    "np.finfo",
    "tnp.finfo",
    "dtype",
    lambda site: _limits_of(_float_name(site.value("dtype"))),
    untested="its attributes are in CONSTANTS and `limit`",
)
op(
    "tf.as_dtype",
    "tf.dtypes.as_dtype np.dtype keras.backend.standardize_dtype tf.DType",
    "x",
    lambda site: Value(kind="dtype", const=site.value("x").const),
    untested="not a number",
)
op(
    "K.floatx",
    "keras.config.floatx",
    "",
    lambda site: Value(kind="dtype", const="float32"),
    floatx=True,
    untested="a global setting; float32 unless a program sets it",
)
op("K.learning_phase", "", "", t.ranged(0.0, 1.0), untested="a global setting", pure=False)


def _float_name(value: Value) -> str | None:
    name = value.const.rpartition(".")[2] if isinstance(value.const, str) else None
    return name if name in FLOATS else "float64" if name == "float" else None


def limit(dtype: str | None, attribute: str) -> Value | None:
    """`tf.float32.max`, `np.finfo(np.float32).eps`: the number that an attribute of a dtype or of
    finfo stands for.
    """
    limits = FLOATS.get(dtype or "float32")  # not known: judged as float32
    if limits is None:
        return None
    constant = {
        "max": limits.max,
        "min": -limits.max,
        "eps": limits.eps,
        "epsilon": limits.eps,
        "tiny": limits.tiny,
        "smallest_normal": limits.tiny,
        "resolution": 10.0 ** math.floor(math.log10(limits.eps) + 1),
    }.get(attribute)
    if constant is None:
        return None
    # a number of NumPy's: twice the largest is Inf, and 3 less the spacing above 1 is 3
    return number(constant).but(dtype=dtype)


def _constants() -> dict[str, Value]:
    table = {
        "math.pi": number(math.pi),
        "math.e": number(math.e),
        "math.inf": number(INF),
        "math.nan": number(math.nan),
        "math.tau": number(math.tau),
        "sys.float_info.epsilon": number(2.220446049250313e-16),
        "sys.float_info.max": number(1.7976931348623157e308),
        "sys.float_info.min": number(2.2250738585072014e-308),
        "sys.maxsize": number(2**63 - 1),
    }
    for root in ("np", "tnp"):
        for name, value in (
            ("pi", math.pi),
            ("e", math.e),
            ("inf", INF),
            ("Inf", INF),
            ("infty", INF),
            ("Infinity", INF),
            ("PINF", INF),
            ("NINF", -INF),
            ("nan", math.nan),
            ("NaN", math.nan),
            ("NAN", math.nan),
            ("euler_gamma", 0.5772156649015329),
        ):
            table[f"{root}.{name}"] = number(value)
        table[f"{root}.newaxis"] = number(None)
        # whose parts are sequences of arrays, one for each axis: `np.mgrid[-3:4, -3:4]`
        axes = Value(kind="sequence", obj=Many(Value(kind="array")))
        table[f"{root}.mgrid"] = table[f"{root}.ogrid"] = Value(kind="sequence", obj=Many(axes))
    for dtype in sorted(DTYPES):
        for root in ("tf", "tf.dtypes", "np", "tnp"):
            table[f"{root}.{dtype}"] = Value(kind="dtype", const=dtype)
    for name, dtype in (
        ("tf.half", "float16"),
        ("tf.double", "float64"),
        ("np.float_", "float64"),
        ("np.float", "float64"),
        ("np.int", "int64"),
        ("np.half", "float16"),
        ("np.single", "float32"),
        ("np.double", "float64"),
        ("np.bool_", "bool"),
        ("np.int_", "int64"),
        ("np.intp", "int64"),
    ):
        table[name] = Value(kind="dtype", const=dtype)
    table["tf.newaxis"] = number(None)
    return table


CONSTANTS: Final[dict[str, Value]] = _constants()
