"""Comparisons, logic, and the choice between two values by a condition."""

from __future__ import annotations

from tfnanlint.ops.site import Site
from tfnanlint.ops.table import op
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer.core import INF, Value, same
from tfnanlint.ops.transfer.promotion import whole_number
from tfnanlint.values.value import MIXED


def truth(value: bool | None) -> Value:
    """A boolean tensor; None when the answer is not known."""
    return Value(0.0 if not value else 1.0, 1.0 if value in (True, None) else 0.0, dtype="bool")


def _compared(always, never):
    """`always(a, b)`, `never(a, b)`: what the bounds prove of ordinary numbers; NaN makes
    comparisons false.
    """

    def give(site: Site) -> Value:
        a, b = site.value("x"), site.value("y")
        settled = not (a.nan or b.nan or a.inf or b.inf) and a.known and b.known
        if settled and always(a, b):
            return truth(True)
        return truth(False) if settled and never(a, b) else truth(None)

    return give


def _equal(a: Value, b: Value) -> bool:
    return a.lo == a.hi == b.lo == b.hi


def _apart(a: Value, b: Value) -> bool:
    return a.hi < b.lo or b.hi < a.lo


def _below(a: Value, b: Value) -> bool:
    return (
        a.hi < t.rounded(b.lo, a.dtype) if b.kind == "number" else t.rounded(a.hi, b.dtype) < b.lo
    )


def _at_most(a: Value, b: Value) -> bool:
    return t.rounded(a.hi, b.dtype) <= t.rounded(b.lo, a.dtype)


def comparison(word: str, raw: str, always, never) -> None:
    op(
        f"tf.{word}",
        f"tf.math.{word} K.{word} ops.{word} np.{word} tnp.{word} raw.{raw}",
        "x y name",
        _compared(always, never),
        reaches=(0.0, 1.0),
        reference=f"tf.{word}(x, y)",
    )


comparison("equal", "Equal", _equal, _apart)
comparison("not_equal", "NotEqual", _apart, _equal)
comparison("less", "Less", _below, lambda a, b: _at_most(b, a))
comparison("less_equal", "LessEqual", _at_most, lambda a, b: _below(b, a))
comparison("greater", "Greater", lambda a, b: _below(b, a), _at_most)
comparison("greater_equal", "GreaterEqual", lambda a, b: _at_most(b, a), _below)

# Tests for NaN and Inf. What is computed from an input of which nothing is known is said to be no
# NaN, but who asks wants to know: bounds that a clip or a tanh gives it say nothing of NaN.


def _tested(admits, sure=None):
    def give(site: Site) -> Value:
        x = site.value("x")
        if x.lo == -INF or x.hi == INF:  # what comes in may be anything
            return truth(None)
        return truth(None) if admits(x) else truth(sure)

    return give


op(
    "tf.math.is_nan",
    "tf.is_nan tf.debugging.is_nan ops.isnan np.isnan tnp.isnan raw.IsNan",
    "x name",
    _tested(lambda x: x.dtype not in t.WHOLE, False),
    reference="tf.math.is_nan(x)",
)
op(
    "tf.math.is_inf",
    "tf.is_inf tf.debugging.is_inf ops.isinf np.isinf tnp.isinf raw.IsInf",
    "x name",
    _tested(lambda x: x.inf or x.kind == "number", False),
    reference="tf.math.is_inf(x)",
)
op(
    "tf.math.is_finite",
    "tf.is_finite tf.debugging.is_finite ops.isfinite np.isfinite tnp.isfinite raw.IsFinite",
    "x name",
    _tested(lambda x: x.dtype not in t.WHOLE, True),
    reference="tf.math.is_finite(x)",
)
op(
    "ops.isclose",
    "np.isclose tnp.isclose np.allclose tnp.allclose ops.allclose raw.ApproximateEqual",
    "x y rtol atol",
    lambda site: truth(None),
    reference="tnp.isclose(x, y)",
)
op(
    "ops.signbit",
    "np.signbit tnp.signbit",
    "x",
    lambda site: truth(None),
    reference="tnp.signbit(x)",
)
op(
    "ops.isposinf",
    "np.isposinf tnp.isposinf ops.isneginf np.isneginf tnp.isneginf",
    "x",
    lambda site: truth(None),
    reference="tnp.isposinf(x)",
)
op(
    "tf.debugging.is_numeric_tensor",
    "tf.is_numeric_tensor",
    "x",
    lambda site: truth(None),
    untested="not about values",
)

# Logic


def _both(site: Site) -> Value:
    a, b = site.value("x"), site.value("y")
    return (
        Value(min(max(a.lo, 0.0), max(b.lo, 0.0)), min(a.hi, b.hi, 1.0), dtype="bool")
        if _boolean(a, b)
        else truth(None)
    )


def _either(site: Site) -> Value:
    a, b = site.value("x"), site.value("y")
    return Value(max(a.lo, b.lo), max(a.hi, b.hi), dtype="bool") if _boolean(a, b) else truth(None)


def _boolean(*values: Value) -> bool:
    return all(0 <= v.lo and v.hi <= 1 and not v.nan and not v.inf for v in values)


def _not(site: Site) -> Value:
    x = site.value("x")
    return Value(1.0 - x.hi, 1.0 - x.lo, dtype="bool") if _boolean(x) else truth(None)


op(
    "tf.logical_and",
    "tf.math.logical_and ops.logical_and np.logical_and tnp.logical_and raw.LogicalAnd",
    "x y name",
    _both,
    untested="takes booleans; tests/ops/test_table.py has a truth table",
)
op(
    "tf.logical_or",
    "tf.math.logical_or ops.logical_or np.logical_or tnp.logical_or raw.LogicalOr",
    "x y name",
    _either,
    untested="takes booleans; tests/ops/test_table.py has a truth table",
)
op(
    "tf.math.logical_xor",
    "tf.logical_xor ops.logical_xor np.logical_xor tnp.logical_xor",
    "x y name",
    lambda site: truth(None),
    untested="takes booleans",
)
op(
    "tf.logical_not",
    "tf.math.logical_not ops.logical_not np.logical_not tnp.logical_not raw.LogicalNot",
    "x name",
    _not,
    untested="takes booleans; tests/ops/test_table.py has a truth table",
)

# Choice


def _where(site: Site) -> Value:
    """One of two branches; with the condition alone, indices. A branch that is never taken does not
    count.
    """
    if not site.given("x") and not site.given("y"):
        return Value(0.0, INF, dtype="int64")
    condition, x, y = (site.value(param) for param in ("condition", "x", "y"))
    dtype = t.met_dtype(x, y)
    if (
        x.kind == "number"
        and y.kind == "array"
        and site.library != "np"
        or dtype == "bfloat16"
        and site.library == "np"
    ):
        # the number is made a tensor first; and NumPy does not know bfloat16
        dtype = MIXED if whole_number(x) else None
    if condition.dtype == "bool" and condition.known and condition.lo == condition.hi:
        return _as_tensor(x if condition.lo == 1 else y, x, y, dtype)
    branches = [
        t.in_dtype(one, dtype)
        for one in (_tested_branch(site, x, True), _tested_branch(site, y, False))
    ]
    return _as_tensor(t.join(branches), x, y, dtype)


def _as_tensor(value: Value, x: Value, y: Value, dtype: str | None) -> Value:
    return Value(
        value.lo,
        value.hi,
        value.zero,
        nan=value.nan,
        inf=value.inf,
        dtype=dtype,
        evident=value.evident,
        guarded=value.guarded,
    )


def _tested_branch(site: Site, branch: Value, holds: bool) -> Value:
    """where(is_finite(x), x, ...), where(is_nan(x), ..., x): the branch without what the test takes
    away.
    """
    test = site.value("condition").origin
    if not isinstance(test, Site) or not test.given("x") or not same(test.value("x"), branch):
        return branch
    finite = holds and test.op.name == "tf.math.is_finite"
    nan = branch.nan and not finite and not (not holds and test.op.name == "tf.math.is_nan")
    inf = branch.inf and not finite and not (not holds and test.op.name == "tf.math.is_inf")
    return Value(
        branch.lo,
        branch.hi,
        branch.zero,
        nan=nan,
        inf=inf,
        dtype=branch.dtype,
        evident=branch.evident,
        kind=branch.kind,
        guarded=branch.guarded,
    )


op(
    "tf.where",
    "tf.where_v2 ops.where tnp.where np.where tf.select raw.Select raw.SelectV2",
    "condition x y name",
    _where,
    main="x",
    refines=("condition", "x", "y"),
    reference="tf.where(condition > 0, x, y)",
    gradient="NaN where the branch not taken has an infinite derivative",
)
