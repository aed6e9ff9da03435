"""Every row of the op table against TensorFlow: what the row promises must admit what the kernel
returns.

A row with a `reference` is executed once per dtype on all tuples of `points`. For every combination
of boxes (bounds between points, zero excluded or not, NaN and Inf admitted or not) the row's result
has to admit each element that TensorFlow returned for points inside the boxes.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import os
import random

import pytest

from tfnanlint.dev import signatures
from tfnanlint.ops import table as ops
from tfnanlint.ops.models.variables import VARIABLES
from tfnanlint.ops.site import Site
from tfnanlint.ops.transfer import core as t
from tfnanlint.values.value import FLOATS, INF, SMALLEST, Value, number

np = pytest.importorskip("numpy")  # it comes with TensorFlow
pytestmark = pytest.mark.tensorflow
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

ops.load()
REFERENCED = [row for row in ops.ROWS if row.reference]
# Bounds of boxes; all of `points` lie in some of them. Rows with more parameters take fewer.
ASSUMED = {
    (
        "tf.nn.softmax_cross_entropy_with_logits",
        "labels",
    ): "shares, as long as nothing else is known",
    (
        "tf.nn.sigmoid_cross_entropy_with_logits",
        "labels",
    ): "shares, as long as nothing else is known",
}
# Rows that take Inf to be on the side of a closed box that has no 0 in it: not yet right.
SIDED = frozenset(("tf.pow", "tf.math.floormod", "tf.atan2", "ops.heaviside"))
SINGLY = 60
BOX_ENDS = {1: None, 2: 10, 3: 3}


@functools.cache
def points(dtype: str) -> np.ndarray:
    """Numbers at which functions change: signs, zeros, ends of domains, thresholds of overflow and
    underflow.
    """
    limits, smallest = FLOATS[dtype], SMALLEST[dtype]
    chosen = [
        -math.inf,
        -700,
        -100,
        -3,
        -1,
        -0.5,
        -1e-8,
        -smallest,
        -0.0,
        0.0,
        smallest,
        limits.tiny,
        1e-8,
        0.5,
        1 - limits.eps / 2,
        1,
        1.5,
        2,
        88,
        90,
        700,
        limits.max * 0.9,
        math.inf,
        math.nan,
    ]
    with np.errstate(over="ignore"):
        array = np.array(chosen).astype(dtype)
    keep = [i for i, v in enumerate(array) if not any(_same(v, w) for w in array[:i])]
    return array[keep]


def _same(a, b) -> bool:
    return bool(a == b and np.signbit(a) == np.signbit(b)) or bool(np.isnan(a) and np.isnan(b))


def boxes(dtype: str, ends: int | None) -> list[Value]:
    """Values between pairs of finite points; with and without zero, NaN and Inf; open to one side
    and to both.

    Every call makes new values: two parameters with one token would be one number.
    """
    finite = sorted({float(v) for v in points(dtype) if np.isfinite(v)})
    if ends is not None:
        order = sorted(
            finite,
            key=lambda v: (
                v not in (0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 700.0),
                v not in (88.0, finite[-1], -0.5),
            ),
        )
        finite = sorted(order[:ends])
    found = []
    for lo, hi in itertools.combinations_with_replacement(finite, 2):
        found.append(Value(lo, hi, dtype=dtype))
        if lo <= 0 <= hi and lo != hi:
            found.append(Value(lo, hi, False, dtype=dtype))
    for lo in finite:
        found += [Value(lo, INF, dtype=dtype), Value(-INF, lo, dtype=dtype)]
    found += [Value(0.0, INF, False, dtype=dtype), Value(dtype=dtype)]
    some = found[:: 1 if ends is None else 9]
    found += [box.but(nan=True, zero=box.zero) for box in some]
    # A value that can be infinite has an open bound on that side (transfer.py), or none at all: x /
    # norm(x), whose norm underflows.
    found += [
        box.but(inf=True, zero=box.zero)
        for box in found
        if unbounded(box) or any(box is one for one in some)
    ]
    return found


def members(box: Value, array: np.ndarray) -> np.ndarray:
    """Which elements of `array` the box admits; Inf on the side that an open bound names."""
    inside = (array >= box.lo) & (array <= box.hi) & np.isfinite(array)
    if not box.zero:
        inside &= array != 0
    if box.nan:
        inside |= np.isnan(array)
    if box.inf:
        inside |= (array == INF) & t.reaches_inf(box) | (array == -INF) & t.reaches_minus_inf(box)
    return inside


def unbounded(box: Value) -> bool:
    """An open bound says that nothing limits the value, not that it overflows (transfer.py): Inf
    from it is not counted.
    """
    return INF in (box.hi, -box.lo)


def extreme(inputs: np.ndarray) -> np.ndarray:
    """Rows with a finite number so large or small that the result may overflow."""
    size = np.abs(inputs.astype("float64")).reshape(len(inputs), -1)
    return (np.isfinite(size) & (size > 10) | (size > 0) & (size < 1e-3)).any(axis=1)


def parameters(row: ops.Op) -> list[str]:
    """The parameters that the reference takes, in the row's order."""
    used = {node.id for node in ast.walk(ast.parse(row.reference)) if isinstance(node, ast.Name)}
    return [param.lstrip("*") for param in row.params if param.lstrip("*") in used]


def hankel(x):
    """A symmetric matrix made of the elements of the last axis."""
    import tensorflow as tf

    size = x.shape[-1]
    return tf.stack([tf.roll(x, -shift, -1) for shift in range(size)], -2)


def environment() -> dict[str, object]:
    """What references may speak of besides the parameters."""
    import keras
    import tensorflow as tf

    return {
        "tf": tf,
        "keras": keras,
        "ops": keras.ops,
        "tnp": tf.experimental.numpy,
        "np": np,
        "math": math,
        "hankel": hankel,
    }


def executed(row: ops.Op, arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the rows that were executed, and what TensorFlow returned for them, one row each.

    Most references work along the last axis of (rows, elements) and take all rows at once. Those
    that mix rows, reduce everything or raise are run on one row after the other, as many as time
    allows.
    """
    import tensorflow as tf

    code = compile(row.reference, row.name, "eval")
    names = environment()

    def run(rows: dict[str, np.ndarray]) -> np.ndarray:
        return np.asarray(
            eval(code, names, {param: tf.constant(array) for param, array in rows.items()})
        )  # noqa: S307

    count = len(next(iter(arrays.values())))
    try:
        result = run(arrays)
        last = run({param: array[-1:] for param, array in arrays.items()})
    except (tf.errors.InvalidArgumentError, ValueError, IndexError):
        return _singly(run, arrays, count)
    if (
        result.ndim == 0
        or result.shape[0] != count
        or not np.array_equal(result[-1:], last, equal_nan=True)
    ):
        return _singly(run, arrays, count)
    return np.arange(count), result.reshape(count, -1).astype("float64")


def _singly(run, arrays: dict[str, np.ndarray], count: int) -> tuple[np.ndarray, np.ndarray]:
    """`run` on one vector, or matrix of one row, at a time; what TensorFlow refuses is left out,
    but not everything.
    """
    import tensorflow as tf

    found: dict[int, np.ndarray] = {}
    refused: Exception | None = None
    for i in range(0, count, max(1, count // SINGLY)):
        for shape in ((-1,), (1, -1)):
            try:
                found[i] = (
                    run({p: array[i].reshape(shape) for p, array in arrays.items()})
                    .reshape(-1)
                    .astype("float64")
                )
                break
            except (tf.errors.InvalidArgumentError, ValueError, IndexError) as error:
                refused = error
    if not found and refused is not None:
        raise refused
    width = max(len(r) for r in found.values())
    kept = {i: np.resize(r, width) for i, r in found.items() if len(r)}
    return np.array(list(kept)), np.stack(list(kept.values()))


def tuples(dtype: str, count: int, size: int) -> dict[int, np.ndarray]:
    """Shape (rows, count, size): all combinations of points where they are few, a fixed sample
    where they are many.
    """
    array = points(dtype)
    many = len(array) ** (count * size)
    if many <= 20_000:
        chosen = itertools.product(range(len(array)), repeat=count * size)
    else:
        generator = random.Random(count * 10 + size)
        chosen = [
            [generator.randrange(len(array)) for _ in range(count * size)] for _ in range(700)
        ]
    return array[np.array(list(chosen))].reshape(-1, count, size)


def complaint(
    row: ops.Op, combination, given: np.ndarray, returned: np.ndarray, result: Value
) -> str:
    where = ", ".join(f"{box!r}" for box in combination)
    return f"{row.name}({given.tolist()}) = {returned.tolist()}, but of {where} the row gives {result!r}"


def admitted(results: list[Value], returned: np.ndarray) -> np.ndarray:
    """Shape (results, rows): whether each result admits all elements of each row."""
    table = np.array([(r.lo, r.hi, r.zero, r.nan, r.inf) for r in results], dtype="float64")
    fine = np.ones((len(results), len(returned)), dtype=bool)
    for column in returned.T:
        finite = (
            (column >= table[:, :1])
            & (column <= table[:, 1:2])
            & ((column != 0) | (table[:, 2:3] != 0))
        )
        finite &= np.isfinite(column)
        fine &= (
            finite
            | np.isnan(column) & (table[:, 3:4] != 0)
            | np.isinf(column) & (table[:, 4:5] != 0)
        )
    return fine


def check_row(row: ops.Op, dtype: str, size: int) -> None:
    params = parameters(row)
    inputs = tuples(dtype, len(params), size)
    arrays = {param: inputs[:, i, :] for i, param in enumerate(params)}
    order, returned = executed(row, arrays)
    inputs, arrays = inputs[order], {param: array[order] for param, array in arrays.items()}
    ends = BOX_ENDS[len(params)] if size == 1 else (12 if len(params) == 1 else 4)
    choices = [
        [
            box
            for box in boxes(dtype, ends)
            if (box.known or (row.name, param) not in ASSUMED)
            and not (row.name in SIDED and box.inf and not box.zero and not unbounded(box))
        ]
        for param in params
    ]
    inside = [
        [members(box, arrays[param]).all(axis=1) for box in choices[i]]
        for i, param in enumerate(params)
    ]
    plain = np.isfinite(returned).all(axis=1) | ~extreme(inputs)
    for first, first_box in enumerate(choices[0]):
        combinations = [
            (first, *others) for others in itertools.product(*(range(len(c)) for c in choices[1:]))
        ]
        given = [[choices[k][i] for k, i in enumerate(c)] for c in combinations]
        results = [row.gives(Site.of_values(row, dict(zip(params, values)))) for values in given]
        within = np.stack(
            [np.logical_and.reduce([inside[k][i] for k, i in enumerate(c)]) for c in combinations]
        )
        open_ended = np.array([any(unbounded(box) for box in values) for values in given])
        bad = within & ~admitted(results, returned) & (plain | ~open_ended[:, None])
        if bad.any():
            which, at = (int(i[0]) for i in np.nonzero(bad))
            pytest.fail(complaint(row, given[which], inputs[at], returned[at], results[which]))


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("row", REFERENCED, ids=lambda row: row.name)
def test_row_admits_what_tensorflow_returns(row, dtype, size):
    import tensorflow as tf

    try:
        check_row(row, dtype, size)
    except (tf.errors.NotFoundError, tf.errors.InvalidArgumentError, TypeError) as error:
        if dtype == "float32":
            raise
        pytest.skip(f"no kernel for {dtype}: {str(error)[:80]}")


# Names, parameters, constants


UNREFERENCED = {
    "tf.math.bincount": "tf.math.bincount([0, 2])",
    # of rows that reach a number and have no reference
    "tf.math.confusion_matrix": "tf.math.confusion_matrix([0, 2], [0, 1])",
}


@pytest.mark.parametrize("row", [row for row in ops.ROWS if row.reaches], ids=lambda row: row.name)
def test_numbers_that_are_reached(row):
    if row.name in UNREFERENCED:
        results = np.asarray(eval(UNREFERENCED[row.name], environment()))  # noqa: S307
        assert all((results == number).any() for number in row.reaches)
        return
    numbers = np.array([-100, -20, -3, -1, -0.5, 0, 0.5, 1, 3, 20, 100], "float32")
    pairs = np.array(list(itertools.product(numbers, numbers)))
    names = parameters(row)
    found = []
    # of many rows some processors compute softmax otherwise, with a maximum of 0.99999994
    for part in (pairs, pairs[-5:]):
        arrays = (
            {names[0]: part}
            if len(names) == 1
            else {name: part[:, [i]] for i, name in enumerate(names)}
        )
        found += executed(row, arrays)[1].ravel().tolist()
    assert set(row.reaches) <= set(found)


def test_variables_are_the_rows_that_say_what_they_start_with():
    assert set(VARIABLES) == {row.name for row in ops.ROWS if row.starts}
    assert all(row.starts in row.params for row in ops.ROWS if row.starts)


def test_table_has_its_rows():
    assert len(ops.ROWS) >= 150
    for row in ops.ROWS:
        assert bool(row.reference) != bool(row.untested), (
            f"{row.name}: either a reference or the reason why there is none"
        )
        assert not row.passes or row.passes in {param.lstrip("*") for param in row.params}, row.name
        assert set(row.needs) <= set(row.params), row.name
        assert row.masked in ("", "xla", "all"), row.name


# Spellings that the installed version does not have: prefix or name -> which version had it.
OLDER = {
    "tf.contrib.": "TensorFlow 1",
    "tf.python.debug.": "TensorFlow 1",
    "tf.layers.": "TensorFlow 1, compat.v1 until Keras 3",
    "tf.nn.rnn_cell.": "TensorFlow 1",
    "tf.compat.": "TensorFlow 1 with compat inside",
    "tf.metrics.MeanTensor": "Keras 2",
    "tf.metrics.MeanRelativeError": "Keras 2",
    **dict.fromkeys(
        (
            "tf.sub",
            "tf.mul",
            "tf.neg",
            "tf.pack",
            "tf.unpack",
            "tf.select",
            "tf.concat_v2",
            "tf.split_v",
            "tf.nn.rnn",
            "tf.scalar_summary",
            "tf.histogram_summary",
            "tf.image_summary",
            "tf.merge_all_summaries",
            "tf.batch_svd",
            "tf.image.per_image_whitening",
        ),
        "TensorFlow 0.x",
    ),
    **dict.fromkeys(
        (
            "K.eye_variable",
            "K.identity",
            "K.in_test_phase",
            "K.in_train_phase",
            "K.learning_phase",
            "K.placeholder",
            "K.random_binomial",
            "K.slice",
            "K.split",
        ),
        "Keras 2 and before",
    ),
    **dict.fromkeys(
        (
            "tf.he_normal_initializer",
            "tf.he_uniform_initializer",
            "tf.lecun_normal_initializer",
            "tf.lecun_uniform_initializer",
            "tf.identity_initializer",
        ),
        "TensorFlow 1",
    ),
}
# Spellings written in other families that no version has; they cost nothing.
NEVER = {
    "ops.Variable",
    "raw.Ones",
    "raw.Zeros",
    "tf.RealDiv",
    "tf.assert_shapes",
    "tf.convert_to_shape",
    "tf.set_shape",
    "tf.data_flow_ops.dynamic_stitch",
    "tf.embedding_lookup",
    "tf.hessian_vector_product",
    "tf.mirror_pad",
    "tf.math.cast",
    "tf.math.einsum",
    "tf.parallel_dynamic_stitch",
    "tf.variable",
    "tnp.array_split",
    "tnp.bool",
}


def test_spellings_exist():
    missing = [
        alias
        for alias in ops.TABLE
        if alias.partition(".")[0] in ("tf", "ops", "K", "tnp", "raw")
        and signatures.callee(alias) is None
        and not alias.startswith(tuple(OLDER))
        and alias not in NEVER
    ]
    assert not missing


def test_spellings_stated_as_older_are_gone():
    back = [
        name
        for name in OLDER
        if not name.endswith(".") and name in ops.TABLE and signatures.callee(name) is not None
    ]
    assert not back


def test_parameters_have_the_order_of_the_libraries():
    wrong = {}
    for row in ops.ROWS:
        for alias in row.aliases:
            names = signatures.order(row, alias)
            if (
                names is not None
                and alias not in row.positions
                and names != row.params_of(alias)[: len(names)]
            ):
                wrong[alias] = (names, row.params_of(alias))
    assert not wrong, f"run python -m tfnanlint.dev.signatures: {wrong}"


@pytest.mark.parametrize(
    "name", ["tf.reduce_sum", "tf.clip_by_value", "tf.norm", "tf.nn.softmax", "tf.where", "tf.pow"]
)
def test_rows_speak_the_words_of_their_function(name):
    assert signatures.speaks_the_library(ops.TABLE[name])


def test_constants_are_rounded_to_the_dtype_of_the_tensor():
    one = Value(1.0, 1.0, dtype="float32")
    assert t.subtract(one, number(1e-8)).lo == 1.0
    assert t.subtract(one.but(dtype="float64"), number(1e-8)).hi < 1.0
    assert t.subtract(number(1.0), number(1e-8)).hi < 1.0  # Python computes it in double
    assert t.maximum(Value(0.0, 1.0, dtype="float16"), number(1e-8)).zero
    assert t.clip(Value(0.0, 1.0, dtype="float32"), number(1e-8), number(1 - 1e-8)).hi == 1.0
    assert t.clip(Value(0.0, 1.0, dtype="float32"), number(1e-7), number(1 - 1e-7)).hi < 1.0


# What holds beyond one op


def applied(name: str, **values: Value) -> Value:
    """The result of a row with its site as origin, as the interpreter makes it; numbers become
    values.
    """
    row = ops.TABLE[name]
    given = {param: v if isinstance(v, Value) else number(v) for param, v in values.items()}
    site = Site.of_values(row, given)
    site.args.update({param: ast.Constant(value=None) for param in given})
    result = row.gives(site)
    result.origin = site
    return result


def test_difference_to_the_largest_is_never_positive():
    x = Value()
    shifted = applied("tf.subtract", x=x, y=applied("tf.reduce_max", x=x, axis=-1))
    assert (shifted.lo, shifted.hi, shifted.zero) == (-INF, 0.0, True)
    exponentials = applied("tf.exp", x=shifted)
    assert (exponentials.lo, exponentials.hi, exponentials.inf) == (0.0, 1.0, False)
    assert applied("tf.reduce_sum", x=exponentials, axis=-1).lo == 1.0
    # along another axis the peak may be missing
    assert applied("tf.reduce_sum", x=exponentials, axis=0).lo == 0.0
    assert applied("tf.subtract", x=Value(), y=applied("tf.reduce_max", x=x, axis=-1)).hi == INF


def test_share_of_a_sum_is_at_most_one():
    x = Value(0.0, INF)
    share = applied("tf.divide", x=x, y=applied("tf.reduce_sum", x=x))
    assert (share.lo, share.hi, share.inf, share.nan) == (0.0, 1.0, False, True)
    assert applied("tf.divide", x=x, y=applied("tf.reduce_sum", x=Value(0.0, INF))).hi == INF


def test_sum_of_a_softmax_is_one_along_its_axis():
    p = applied("tf.nn.softmax", logits=Value())
    assert 0.9 < applied("tf.reduce_sum", x=p, axis=-1).lo
    assert applied("tf.reduce_sum", x=p, axis=0).lo == 0.0
    whole = applied("tf.reduce_sum", x=p)  # as many as there are rows
    assert (0.9 < whole.lo < 1.0, whole.hi) == (True, INF)


def test_variance_by_moments_may_be_negative():
    x = Value()
    difference = applied(
        "tf.subtract",
        x=applied("tf.reduce_mean", x=applied("tf.square", x=x)),
        y=applied("tf.square", x=applied("tf.reduce_mean", x=x)),
    )
    assert difference.lo == -INF
    assert applied("tf.math.reduce_variance", x=x).lo == 0.0


def test_logits_of_bounded_width_leave_no_zero_share():
    assert applied("tf.nn.softmax", logits=Value(-15.0, 15.0)).nonzero
    assert applied("tf.nn.softmax", logits=Value(-50.0, 50.0)).zero


@pytest.mark.parametrize(
    "lo, hi",
    [(0, 1), (0, 1e6), (-1, 0), (-1, 1), (-300, 20), (2**24, 2**25), (0, 1e9), (-1e9, 1e9)],
)
def test_sparsemax_is_no_share_where_logits_are_negative_or_large(lo, hi):
    import keras

    draw = np.random.default_rng(0)
    drawn = np.concatenate(
        [
            np.ravel(keras.ops.sparsemax(draw.uniform(lo, hi, (200, size)).astype("float32")))
            for size in (1, 3, 30)
        ]
    )
    value = applied("ops.sparsemax", logits=Value(float(lo), float(hi)))
    assert admitted([value], drawn.astype("float64")[:, None]).all()
    assert (value.hi == 1, value.inf) == (drawn.max() <= 1, np.isinf(drawn).any())


def test_what_is_not_known_stays_so_and_what_is_evident_too():
    assert not applied("tf.add", x=Value(), y=Value()).known
    assert applied("tf.square", x=Value()).known
    assert applied("tf.sinh", x=Value(evident=True)).evident
    guarded = applied("tf.add", x=Value(), y=1e-6)
    assert guarded.guarded and not guarded.known
    assert applied("tf.sqrt", x=guarded).guarded
    assert not applied("tf.subtract", x=Value(), y=1e-6).guarded
    assert not applied("tf.multiply", x=Value(), y=Value()).inf, "nothing known does not overflow"


@pytest.mark.parametrize(
    "condition, admits_nan, admits_inf",
    [("tf.math.is_nan", False, True), ("tf.math.is_inf", True, False)],
)
def test_where_takes_away_what_its_test_finds(condition, admits_nan, admits_inf):
    x = Value(-INF, INF, nan=True, inf=True, evident=True)
    result = applied("tf.where", condition=applied(condition, x=x), x=Value(0.0, 0.0), y=x)
    assert (result.nan, result.inf) == (admits_nan, admits_inf)


@pytest.mark.parametrize(
    "name, function",
    [
        ("tf.logical_and", lambda a, b: a and b),
        ("tf.logical_or", lambda a, b: a or b),
        ("tf.math.logical_xor", lambda a, b: a != b),
    ],
)
def test_logic_has_its_truth_table(name, function):
    either = Value(0.0, 1.0)
    for a, b in itertools.product((False, True), repeat=2):
        for left, right in itertools.product(
            (Value(float(a), float(a)), either), (Value(float(b), float(b)), either)
        ):
            assert applied(name, x=left, y=right).admits(float(function(a, b)))
    assert applied("tf.logical_not", x=Value(0.0, 0.0)).lo == 1.0
    assert applied("tf.logical_and", x=Value(0.0, 0.0), y=Value(0.0, 1.0)).hi == 0.0


# Random sources

DRAWS = [
    ("tf.random.uniform", {}, "tf.random.uniform([100_000])"),
    (
        "tf.random.uniform",
        {"minval": -2.0, "maxval": 3.0},
        "tf.random.uniform([100_000], -2.0, 3.0)",
    ),
    (
        "tf.random.uniform",
        {"minval": 1e-7, "maxval": 1.0},
        "tf.random.uniform([100_000], 1e-7, 1.0)",
    ),
    (
        "tf.random.truncated_normal",
        {"mean": 5.0, "stddev": 2.0},
        "tf.random.truncated_normal([100_000], 5.0, 2.0)",
    ),
    ("tf.random.gamma", {}, "tf.random.gamma([1000], 1e-3)"),
    ("tf.random.poisson", {}, "tf.random.poisson([1000], 0.5)"),
    ("tf.random.normal", {}, "tf.random.normal([1000])"),
    ("np.random.rand", {}, "np.random.rand(100_000)"),
    ("np.random.uniform", {"low": 2.0, "high": 3.0}, "np.random.uniform(2.0, 3.0, 100_000)"),
    ("np.random.randint", {"low": 5}, "np.random.randint(5, size=1000)"),
    ("np.random.randint", {"low": 2, "high": 5}, "np.random.randint(2, 5, 1000)"),
    ("np.random.exponential", {}, "np.random.poisson(0.5, 1000)"),
]


@pytest.mark.parametrize(
    "name, values, draw", DRAWS, ids=lambda v: v if isinstance(v, str) and "(" in v else ""
)
def test_random_sources(name, values, draw):
    names = environment()
    names["tf"].random.set_seed(1)
    np.random.seed(1)
    drawn = np.asarray(eval(draw, names)).astype("float64").reshape(-1, 1)  # noqa: S307
    value = applied(name, **values)
    assert admitted([value], drawn).all(), (
        f"{draw} gave {drawn.min()}..{drawn.max()}, the row {value!r}"
    )


def test_uniform_includes_zero_and_excludes_one():
    import tensorflow as tf

    value = applied("tf.random.uniform")
    assert value.zero and value.hi == np.nextafter(np.float32(1), np.float32(0))
    assert applied("tf.random.normal").evident
    drawn = tf.random.stateless_uniform([50_000_000], seed=[1, 2])
    assert float(tf.reduce_min(drawn)) == 0.0 and 1 - 2e-7 < float(tf.reduce_max(drawn)) <= value.hi


@pytest.mark.parametrize(
    "name, params, dtype, spacings",
    [
        ("tf.random.uniform", ("minval", "maxval"), np.float32, 1.0),
        ("np.random.uniform", ("low", "high"), np.float64, 0.5),
    ],
)
def test_uniform_excludes_only_an_end_that_no_rounding_reaches(name, params, dtype, spacings):
    """The largest draws, computed as the libraries do: `u` has 23 bits in TensorFlow and 53 in
    NumPy.
    """
    generator = np.random.default_rng(5)
    highs = np.concatenate([2.0 ** np.arange(-3, 4), generator.uniform(0.5, 4.0, 400)])
    lows = 10.0 ** generator.uniform(-18, -0.01, len(highs)) * highs
    u = dtype(1.0 - spacings * np.finfo(dtype).eps)
    excluded = 0
    for low, high in zip(lows.astype(dtype), highs.astype(dtype)):
        value = applied(name, **dict(zip(params, (float(low), float(high)))))
        excluded += value.hi < high
        assert float(low + u * dtype(high - low)) <= value.hi
    assert excluded
    assert applied(name, **dict(zip(params, (1e-6, 1.0)))).hi == (
        np.nextafter(np.float32(1), np.float32(0)) if dtype is np.float32 else 1.0
    )
