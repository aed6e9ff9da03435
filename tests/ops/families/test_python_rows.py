"""Rows for Python, the math module and NumPy: computed on numbers inside boxes, every result is
admitted.
"""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from tfnanlint.ops.families.python import CONSTANTS, limit
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import ROWS, load
from tfnanlint.values.value import FLOATS, INF, NO_CONSTANT, Value, number

TABLE = load()
BOXES = [
    (0.0, 0.0),
    (0.0, 1.0),
    (-1.0, 1.0),
    (-1e3, 1e3),
    (1.0, 1e3),
    (-1e3, -1.0),
    (1e-300, 1e-290),
    (0.25, 0.75),
    (1e300, 1e308),
    (-0.4, 2.6),
]
FUNCTIONS = sorted(
    name
    for name in TABLE
    if name.startswith("math.")
    and TABLE[name].params == ("x",)
    and hasattr(math, name[5:])
    and name not in ("math.fsum", "math.prod")
)


def gives(name: str, **values: Value) -> Value:
    return TABLE[name].gives(Site.of_values(TABLE[name], values))


def inside(lo: float, hi: float) -> list[float]:
    generator = random.Random(0)
    return [
        lo,
        hi,
        *(generator.uniform(lo, hi) for _ in range(40)),
        *([0.0] if lo <= 0 <= hi else []),
    ]


def refused(value: Value, numbers: list[float]) -> list[float]:
    return [n for n in numbers if not value.admits(float(n))]


def computed(function, numbers: list[float]) -> list[float]:
    """Results where Python gives one; it raises where NumPy would give NaN or Inf."""
    found = []
    for number_ in numbers:
        try:
            found.append(float(function(number_)))
        except (ValueError, OverflowError, TypeError):
            continue
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_one_number(name):
    function = getattr(math, name[5:])
    for lo, hi in BOXES:
        found = gives(name, x=Value(lo, hi, kind="number"))
        results = computed(function, inside(lo, hi))
        assert not refused(found, results), (
            f"{name} of [{lo}, {hi}]: {found}: {refused(found, results)[:3]}"
        )


@pytest.mark.parametrize(
    "name, given, wanted",
    [
        ("math.log", 10, math.log(10)),
        ("math.sqrt", 2, math.sqrt(2)),
        ("math.exp", -100, math.exp(-100)),
        ("math.floor", 2.7, 2),
        ("math.factorial", 5, 120),
        ("builtins.int", 3.9, 3),
        ("builtins.int", "7", 7),
        ("builtins.float", "1e-8", 1e-8),
        ("builtins.float", 3, 3.0),
        ("builtins.round", 2.5, 2),
    ],
)
def test_constants_are_computed(name, given, wanted):
    found = gives(name, x=number(given))
    assert found.const == wanted and (found.lo, found.hi) == (wanted, wanted)


@pytest.mark.parametrize(
    "name, given",
    [
        ("math.log", 0),
        ("math.sqrt", -1),
        ("math.exp", 1e5),
        ("builtins.float", "x"),
        ("builtins.int", "x"),
        ("math.factorial", 2.5),
        ("math.factorial", 10**9),
    ],
)
def test_what_raises_in_python_is_not_known(name, given):
    assert gives(name, x=number(given)).const is NO_CONSTANT


def test_infinite_and_missing_numbers():
    assert (
        gives("builtins.float", x=number("inf")).inf
        and gives("builtins.float", x=number("-inf")).inf
    )
    assert gives("builtins.float", x=number("nan")).nan
    assert (
        CONSTANTS["np.nan"].nan
        and CONSTANTS["math.inf"].inf
        and CONSTANTS["np.pi"].const == math.pi
    )


@pytest.mark.parametrize(
    "name, function", [("builtins.int", int), ("builtins.round", round), ("builtins.float", float)]
)
def test_numbers_made_of_numbers(name, function):
    for lo, hi in BOXES:
        found = gives(name, x=Value(lo, hi, kind="number"))
        assert not refused(found, computed(function, inside(lo, hi))), (name, lo, hi, found)


def test_round_to_digits():
    for lo, hi in BOXES[:6]:
        found = gives("builtins.round", x=Value(lo, hi, kind="number"), ndigits=number(1))
        assert not refused(found, [round(n, 1) for n in inside(lo, hi)])


def listed(*values: Value) -> Value:
    return Value(min(v.lo for v in values), max(v.hi for v in values), kind="sequence", obj=values)


def test_smallest_and_largest():
    low, high = Value(-1.0, 2.0, kind="number"), Value(0.0, 5.0, kind="number")
    for arguments in ({"first": low, "second": high}, {"first": listed(low, high)}):
        largest, smallest = gives("builtins.max", **arguments), gives("builtins.min", **arguments)
        assert (largest.lo, largest.hi, smallest.lo, smallest.hi) == (0.0, 5.0, -1.0, 2.0)
    assert not gives("builtins.max", first=low, second=high, key=number(None)).known
    assert gives("builtins.max", first=listed(low, high), default=number(9)).hi == 9
    assert gives("builtins.max", first=Value(1.0, 3.0, kind="sequence")).hi == 3.0


def test_sums():
    low, high = Value(1.0, 2.0, kind="number"), Value(3.0, 5.0, kind="number")
    found = gives("builtins.sum", x=listed(low, high))
    assert (found.lo, found.hi) == (4.0, 7.0)
    found = gives("builtins.sum", x=Value(0.0, 1.0, kind="sequence"))
    assert (found.lo, found.hi, found.zero) == (0.0, INF, True)


def test_lengths_and_ranges():
    assert gives("builtins.len", x=listed(number(1), number(2))).const == 2
    assert gives("builtins.len", x=Value()).lo == 1
    found = gives("builtins.range", start=number(3))
    assert (found.lo, found.hi) == (0, 2)
    found = gives(
        "builtins.range", start=number(1), limit=Value(0.0, INF, kind="number", dtype="int32")
    )
    assert found.lo >= 0 and not found.zero or found.lo <= 0


@pytest.mark.parametrize(
    "start, limit_, step", [(0, 5, 1), (2, 9, 3), (9, 2, -2), (5, 0, -1), (-3, 4, 2)]
)
def test_ranges_hold_their_numbers(start, limit_, step):
    found = gives("builtins.range", start=number(start), limit=number(limit_), delta=number(step))
    assert not refused(found, list(range(start, limit_, step)))


def test_loops_over_zip_and_enumerate_get_the_elements():
    (row,) = gives(
        "builtins.zip", first=listed(Value(0, 1), Value(1, 2)), second=Value(5.0, 6.0)
    ).obj
    assert [(v.lo, v.hi) for v in row.obj] == [(0, 2), (5, 6)]
    (row,) = gives("builtins.enumerate", x=listed(Value(7, 8))).obj
    assert [v.lo for v in row.obj] == [0, 7]


def test_sorted_loses_the_order_and_list_keeps_it():
    low, high = number(1), number(2)
    for name, hi in (("builtins.list", 1), ("builtins.sorted", 2)):
        row = TABLE[name]
        site = Site.of_values(row, {"x": listed(low, high)})
        site.name = name
        assert row.gives(site).obj[0].hi == hi


def test_powers():
    assert gives("builtins.pow", x=number(2), y=number(10)).const == 1024
    assert gives("math.pow", x=number(2), y=number(-1)).const == 0.5
    assert gives("builtins.pow", x=number(0), y=number(-1)).const is NO_CONSTANT


@pytest.mark.parametrize("dtype", sorted(FLOATS))
def test_limits_of_dtypes(dtype):
    numpy = pytest.importorskip("numpy")
    if dtype == "bfloat16":
        assert limit(dtype, "max").const == FLOATS[dtype].max
        return
    info = numpy.finfo(dtype)
    for attribute in ("max", "min", "eps", "tiny", "resolution"):
        assert limit(dtype, attribute).const == pytest.approx(
            float(getattr(info, attribute)), rel=1e-3
        )
    assert limit(dtype, "nonsense") is None


def test_numpy_numbers_are_rounded():
    for dtype in ("float16", "float32", "float64", "int32"):
        found = gives(f"np.{dtype}", x=number(1 / 3))
        assert found.dtype == dtype and not found.inf
    assert gives("np.float32", x=number(1e39)).inf and gives("np.float16", x=number(1e-9)).zero
    numpy = pytest.importorskip("numpy")
    assert gives("np.float32", x=number(0.1)).lo == float(numpy.float32(0.1))


def test_dtypes_are_constants():
    names = {
        "tf.float32": "float32",
        "np.float64": "float64",
        "tf.bfloat16": "bfloat16",
        "tf.half": "float16",
    }
    for name, dtype in names.items():
        assert (CONSTANTS[name].kind, CONSTANTS[name].const) == ("dtype", dtype)


NOT_NUMBERS = "str bool print dict hash divmod next map".split()
UNRANGED = (
    "math.gcd math.hypot math.fsum math.prod math.atan2 math.isnan time.time random.random random.randint "
    "random.choice"
).split()


def test_rows_without_bounds_of_their_own():
    """What they give is a matter of their name; here they are only called."""
    for name in UNRANGED + [f"builtins.{n}" for n in NOT_NUMBERS]:
        gives(name, x=Value(1.0, 2.0, kind="number"), y=Value(1.0, 2.0, kind="number"))
    assert gives("random.randint", x=number(1), y=number(6)).hi == 6
    assert (gives("math.hypot").lo, gives("math.atan2").hi) == (0, math.pi)
    assert gives("math.prod", x=Value(1.0, 2.0, kind="sequence")).lo == 0


def test_every_row_that_says_so_is_executed_here():
    text = Path(__file__).read_text(encoding="utf-8")
    said = [
        row.name
        for row in ROWS
        if "tests/ops/families/test_python_rows.py" in row.untested
        and not row.name.startswith("np.")
    ]
    covered = {*FUNCTIONS, *UNRANGED, *(f"builtins.{n}" for n in NOT_NUMBERS)}
    assert [name for name in said if name not in covered and f'"{name}"' not in text] == []
