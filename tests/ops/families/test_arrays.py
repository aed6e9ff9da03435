"""Rows that make, cast, join, split and scatter, executed on boxes of inputs: what comes out is
admitted.
"""

from __future__ import annotations

import os
from typing import Any, Callable

import pytest
from boxes import BOXES, check, points, refused, site_of
from later import Later

from tfnanlint.dev.reveal import reveals
from tfnanlint.ops.table import ROWS, load
from tfnanlint.syntax.source import Source
from tfnanlint.values.value import FLOATS, INF, NO_CONSTANT, Value, number

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
tf = Later("tensorflow")
np = Later("numpy")
keras = Later("keras")
pytestmark = pytest.mark.tensorflow
TABLE = load()
X, Y, LIST = "x", "y", "a list of x and y"
FLOAT16, INT32 = (Value(kind="dtype", const=name) for name in ("float16", "int32"))


def sequence(*values: Value) -> Value:
    return Value(min(v.lo for v in values), max(v.hi for v in values), kind="sequence", obj=values)


def as_value(argument: Any, x: Value, y: Value) -> Value:
    if argument in (X, Y):
        return x if argument == X else y
    if argument == LIST:
        return sequence(x, y)
    if isinstance(argument, tuple):
        return sequence(*(as_value(a, x, y) for a in argument))
    return argument if isinstance(argument, Value) else number(argument)


INDICES = Value(0.0, 4.0, dtype="int32")
# (row, arguments as values, the same on tensors x and y of 24 elements)
CASES: list[tuple[str, dict[str, Any], Callable]] = [
    ("tf.concat", {"values": LIST, "axis": 0}, lambda x, y: tf.concat([x, y], 0)),
    ("np.concatenate", {"values": LIST, "axis": 0}, lambda x, y: np.concatenate([x, y], 0)),
    ("tf.stack", {"values": LIST}, lambda x, y: tf.stack([x, y])),
    ("tf.stack", {"values": (X, 2.0)}, lambda x, y: tf.stack([x[0], 2.0])),
    ("tf.split", {"x": X, "num_or_size_splits": 3}, lambda x, y: tf.split(x, 3)),
    ("tf.split", {"x": X, "num_or_size_splits": (4, 20)}, lambda x, y: tf.split(x, [4, 20])),
    ("tf.split", {"x": X, "num_or_size_splits": INDICES}, lambda x, y: tf.split(x, 2)[0]),
    ("tf.unstack", {"x": X, "num": 24}, lambda x, y: tf.unstack(x, 24)),
    (
        "tf.dynamic_partition",
        {"x": X, "partitions": INDICES, "num_partitions": 2},
        lambda x, y: tf.dynamic_partition(x, [0, 1] * 12, 2),
    ),
    ("tf.meshgrid", {"first": X, "second": Y}, lambda x, y: tf.meshgrid(x, y)),
    ("ops.fft", {"x": X, "fft_length": 24}, lambda x, y: list(keras.ops.rfft(x, 24))),
    ("ops.stft", {"x": X}, lambda x, y: list(keras.ops.stft(x, 8, 4, 8))),
    (
        "tf.dynamic_stitch",
        {"indices": INDICES, "x": LIST},
        lambda x, y: tf.dynamic_stitch([list(range(24)), list(range(26, 50))], [x, y]),
    ),
    (
        "tf.pad",
        {"x": X, "paddings": INDICES, "constant_values": 9.0},
        lambda x, y: tf.pad(x, [[1, 1]], constant_values=9.0),
    ),
    (
        "tf.pad",
        {"x": X, "paddings": INDICES, "mode": "REFLECT"},
        lambda x, y: tf.pad(x, [[1, 1]], "REFLECT"),
    ),
    ("np.pad", {"x": X, "paddings": INDICES, "mode": "edge"}, lambda x, y: np.pad(x, 1, "edge")),
    (
        "tf.one_hot",
        {"x": INDICES, "on_value": X, "off_value": Y},
        lambda x, y: tf.one_hot([0, 2], 4, x[0], y[0]),
    ),
    (
        "tf.signal.frame",
        {"x": X, "frame_length": 4, "frame_step": 2},
        lambda x, y: tf.signal.frame(x, 4, 2),
    ),
    (
        "tf.signal.frame",
        {"x": X, "frame_length": 7, "frame_step": 5, "pad_end": True},
        lambda x, y: tf.signal.frame(x, 7, 5, True),
    ),
    (
        "tf.signal.frame",
        {"x": X, "frame_length": 7, "frame_step": 5, "pad_end": True, "pad_value": 9.0},
        lambda x, y: tf.signal.frame(x, 7, 5, True, 9.0),
    ),
    (
        "tf.signal.linear_to_mel_weight_matrix",
        {"num_mel_bins": 20},
        lambda x, y: tf.signal.linear_to_mel_weight_matrix(),
    ),
    *(
        (
            f"tf.signal.{name}_window",
            {"window_length": 33, "dtype": Value(kind="dtype", const=dtype)},
            lambda x, y, name=name, dtype=dtype: getattr(tf.signal, f"{name}_window")(
                33, dtype=getattr(tf, dtype)
            ),
        )
        for name in ("hann", "hamming", "vorbis", "kaiser")
        for dtype in ("float32", "float64")
    ),
    ("tf.one_hot", {"x": INDICES, "depth": 3}, lambda x, y: tf.one_hot([0, 2, 7], 3)),
    ("tf.fill", {"dims": INDICES, "x": X}, lambda x, y: tf.fill([3], x[1])),
    ("ops.full", {"shape": INDICES, "fill_value": X}, lambda x, y: keras.ops.full((2, 2), x[1])),
    ("ops.full_like", {"x": X, "fill_value": 2.0}, lambda x, y: keras.ops.full_like(x, 2.0)),
    ("np.full_like", {"x": X, "fill_value": Y}, lambda x, y: np.full_like(x, y[0])),
    ("tf.constant", {"x": (X, 0.5)}, lambda x, y: tf.constant([float(x[0]), 0.5])),
    ("tf.constant", {"x": 1 - 1e-8}, lambda x, y: tf.constant(1 - 1e-8)),
    ("tf.constant", {"x": 3, "dtype": FLOAT16}, lambda x, y: tf.constant(3, tf.float16)),
    ("np.array", {"x": (0.1, 1 / 3)}, lambda x, y: np.array([0.1, 1 / 3])),
    ("tf.zeros", {"shape": INDICES}, lambda x, y: tf.zeros([3])),
    ("tf.ones", {"shape": INDICES, "dtype": INT32}, lambda x, y: tf.ones([3], tf.int32)),
    ("tf.eye", {"size": 3}, lambda x, y: tf.eye(3)),
    ("tf.range", {"start": 5}, lambda x, y: tf.range(5)),
    ("tf.range", {"start": 2, "limit": 9, "delta": 3}, lambda x, y: tf.range(2, 9, 3)),
    ("tf.range", {"start": 9, "limit": 2, "delta": -2}, lambda x, y: tf.range(9, 2, -2)),
    ("tf.range", {"start": 0.0, "limit": 1.0, "delta": 0.1}, lambda x, y: tf.range(0.0, 1.0, 0.1)),
    (
        "np.arange",
        {"start": 0.0, "limit": 1.0, "delta": 0.1},
        lambda x, y: np.arange(0.0, 1.0, 0.1),
    ),
    ("tf.linspace", {"start": -1.0, "stop": 3.0, "num": 7}, lambda x, y: tf.linspace(-1.0, 3.0, 7)),
    (
        "tf.linspace",
        {"start": 1 - 1e-6, "stop": 10.0, "num": 4},
        lambda x, y: tf.linspace(1 - 1e-6, 10.0, 4),
    ),
    ("tf.linspace", {"start": X, "stop": Y, "num": 7}, lambda x, y: tf.linspace(x, y, 7)),
    (
        "tf.nn.max_pool",
        {"x": X, "ksize": 2},
        lambda x, y: tf.nn.max_pool1d(x[None, :, None], 2, 2, "SAME"),
    ),
    (
        "tf.nn.pool",
        {"x": X, "ksize": 2},
        lambda x, y: tf.nn.pool(x[None, :, None], [2], "MAX", padding="SAME"),
    ),
    (
        "tf.nn.avg_pool",
        {"x": X, "ksize": 2},
        lambda x, y: tf.nn.avg_pool1d(x[None, :, None], 2, 2, "SAME"),
    ),
    ("np.logspace", {"start": -3.0, "stop": 2.0}, lambda x, y: np.logspace(-3.0, 2.0)),
    (
        "tf.linalg.set_diag",
        {"x": X, "diagonal": Y},
        lambda x, y: tf.linalg.set_diag(tf.reshape(x, [4, 6]), y[:4]),
    ),
    ("tf.scatter_nd", {"updates": X}, lambda x, y: tf.scatter_nd([[0]] * 12 + [[1]] * 12, x, [4])),
    (
        "tf.tensor_scatter_nd_update",
        {"x": X, "updates": Y},
        lambda x, y: tf.tensor_scatter_nd_update(x, [[0], [3]], y[:2]),
    ),
    (
        "tf.tensor_scatter_nd_add",
        {"x": X, "updates": Y},
        lambda x, y: tf.tensor_scatter_nd_add(x, [[0], [0]], y[:2]),
    ),
    ("tf.math.top_k", {"x": X, "k": 3}, lambda x, y: list(tf.math.top_k(x, 3))),
    ("tf.unique", {"x": X}, lambda x, y: list(tf.unique(x))),
    ("tf.unique_with_counts", {"x": X}, lambda x, y: list(tf.unique_with_counts(x))),
    ("np.unique", {"x": X}, lambda x, y: np.unique(x)),
    ("np.nonzero", {"x": X}, lambda x, y: np.nonzero(x)[0]),
    ("tf.debugging.check_numerics", {"x": X}, lambda x, y: tf.debugging.check_numerics(x, "x")),
    (
        "tf.cond",
        {"true_fn": X, "false_fn": Y},
        lambda x, y: [tf.cond(c, lambda: x, lambda: y) for c in (True, False)],
    ),
    (
        "tf.map_fn",
        {"fn": Value(kind="function", obj=TABLE["tf.nn.relu"]), "elems": X},
        lambda x, y: tf.map_fn(tf.nn.relu, x),
    ),
    (
        "tf.image.convert_image_dtype",
        {"x": X, "dtype": Value(kind="dtype", const="float32")},
        lambda x, y: tf.image.convert_image_dtype(x, tf.float32),
    ),
]


@pytest.mark.parametrize(
    "name, arguments, run", CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)]
)
def test_elements_are_admitted(name, arguments, run):
    for lo, hi in BOXES:
        for low, high in BOXES:
            x, y = points(lo, hi, (24,)), points(low, high, (24,), seed=1)
            values = Value(lo, hi, dtype="float32"), Value(low, high, dtype="float32")
            row = TABLE[name]
            found = row.gives(site_of(row, {p: as_value(a, *values) for p, a in arguments.items()}))
            result = run(x, y)
            where = f"{name} of [{lo}, {hi}] and [{low}, {high}]"
            if found.kind == "sequence":
                pairs = list(zip(found.obj, result, strict=True))
            else:
                pairs = [
                    (found, each) for each in (result if isinstance(result, list) else [result])
                ]
            for part, array in pairs:
                check(part, array, where)
                assert part.dtype in (None, "int32", str(np.asarray(array).dtype)), where


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_max_pool_of_nan(dtype):
    """A window of NaN gives the lowest number; NaN beside a number is passed over."""
    x = tf.cast(tf.constant([float("nan"), float("nan"), 1.0, float("nan")]), dtype)
    row = TABLE["tf.nn.max_pool"]
    found = row.gives(site_of(row, {"x": Value(0.0, 2.0, nan=True, dtype=dtype)}))
    made = tf.nn.max_pool1d(x[None, :, None], 2, 2, "SAME")
    layer = tf.keras.layers.MaxPooling1D(2, dtype=dtype)(x[None, :, None])
    for one in (*np.ravel(tf.cast(made, tf.float64)), *np.ravel(tf.cast(layer, tf.float64))):
        assert found.admits(float(one)), f"{one} is not in {found!r}"


def test_an_array_that_no_activation_was_applied_to_is_still_an_array():
    """It takes the dtype of the tensor that it meets, where a tensor of float64 would not."""
    made = tf.tanh(tf.ones([4])) / keras.activations.linear(np.ones(4))
    text = "import keras\nimport numpy as np\nimport tensorflow as tf\n\ndef f(x):\n    reveal(tf.tanh(x) / keras.activations.linear(np.ones(4)))\n"
    [said] = reveals(Source("file.py", text))
    assert said.value.dtype in (None, made.dtype.name)


@pytest.mark.parametrize("name, said", [("max_pool2d", None), ("avg_pool2d", "float64")])
def test_of_an_array_max_pool_makes_float32_where_no_graph_is_made(name, said):
    pool = getattr(tf.nn, name)
    array = np.ones([1, 2, 2, 1])
    pool(
        array, 2, 1, "VALID"
    )  # the first eager call of a process keeps float64, all later ones do not
    made = {run(array, 2, 1, "VALID").dtype.name for run in (pool, tf.function(pool))}
    assert made == ({said} if said else {"float32", "float64"})
    text = f"import numpy as np\nimport tensorflow as tf\n\ndef f(x):\n    reveal(tf.nn.{name}(np.exp(np.array(x, np.float64)), 2, 1, 'VALID'))\n"
    [revealed] = reveals(Source("file.py", text))
    assert revealed.value.dtype == said
    assert revealed.value.inf and revealed.value.lo == 0


# Casts

NUMBERS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    0.999,
    2.5,
    -2.5,
    1e-3,
    1e-8,
    1e-30,
    3e-39,
    1e-45,
    100.0,
    127.0,
    128.0,
    255.0,
    256.0,
    300.0,
    65504.0,
    65520.0,
    7e4,
    1e10,
    -1e10,
    3e38,
    1e39,
    1e300,
    -1e300,
    1 - 1e-9,
    1 + 1e-9,
]
DTYPES = ["float16", "bfloat16", "float32", "float64", "int32", "int64", "int8", "uint8", "bool"]


CASTS = [("tf.cast", a, b) for a in DTYPES for b in DTYPES]
CASTS += [("tf.saturate_cast", a, b) for a in DTYPES[:-1] for b in DTYPES[:-1]]


@pytest.mark.parametrize("name, origin, target", CASTS)
def test_casts(name, origin, target):
    row = TABLE[name]
    fitting = [
        n
        for n in NUMBERS
        if origin in FLOATS or n == int(n) and abs(n) < 100 and (n >= 0 or origin[0] != "u")
    ]
    held = tf.cast(tf.constant(fitting, tf.float64), origin).numpy().astype("float64")
    numbers = sorted({float(n) for n in held if np.isfinite(n)})
    run = tf.cast if name == "tf.cast" else tf.saturate_cast
    results = (
        run(tf.cast(tf.constant(numbers, tf.float64), origin), target).numpy().astype("float64")
    )
    dtype = Value(kind="dtype", const=target)
    for i, lo in enumerate(numbers):
        for j, hi in enumerate(numbers[i:], i):
            for zero in (True, False):
                inside = [k for k in range(i, j + 1) if zero or numbers[k] != 0]
                found = row.gives(
                    site_of(row, {"x": Value(lo, hi, zero, dtype=origin), "dtype": dtype})
                )
                check(found, results[inside], f"{origin} [{lo}, {hi}] zero={zero} to {target}")
    assert found.dtype == target


def test_casts_of_what_is_not_finite():
    row = TABLE["tf.cast"]
    odd = Value(nan=True, inf=True, dtype="float32")
    for target in ("float16", "float64", "int32", "bool"):
        found = row.gives(site_of(row, {"x": odd, "dtype": Value(kind="dtype", const=target)}))
        assert not refused(found, tf.cast([np.nan, np.inf, -np.inf, 0.0], target)), (target, found)


SPELLINGS = [
    ("float32", "float32"),
    ("tf.float16", "float16"),
    ("half", "float16"),
    ("double", "float64"),
    ("bool", "bool"),
]


@pytest.mark.parametrize("spelled, name", [*SPELLINGS, ("nonsense", None)])
def test_dtypes_by_name(spelled, name):
    row = TABLE["tf.cast"]
    assert (
        row.gives(
            site_of(row, {"x": Value(0, 1), "dtype": Value(kind="dtype", const=spelled)})
        ).dtype
        == name
    )


def test_a_cast_keeps_what_is_known_of_the_author():
    row = TABLE["tf.cast"]
    for flag in ("guarded", "evident"):
        given = {"x": Value(**{flag: True}), "dtype": Value(kind="dtype", const="float32")}
        assert getattr(row.gives(site_of(row, given)), flag)


def test_constants_stay_constant_and_take_a_dtype():
    row = TABLE["tf.constant"]
    for given, dtype in ((1, "int32"), (1.0, "float32"), (True, "bool")):
        found = row.gives(site_of(row, {"x": number(given)}))
        assert (found.dtype, found.kind, found.const) == (dtype, "tensor", given)
    assert TABLE["np.zeros"].gives(site_of(TABLE["np.zeros"], {})).const is NO_CONSTANT


def test_sizes_are_at_least_1_unless_elements_were_filtered_out():
    axis = 2.0**31 - 1
    for name, least, most in (
        ("tf.shape", 1, axis),
        ("method.get_shape", 1, axis),
        ("tf.size", 1, INF),
        ("tf.rank", 0, INF),
    ):
        found = TABLE[name].gives(site_of(TABLE[name], {}))
        assert (found.lo, found.hi, found.kind) == (least, most, "number")
    filtered = Value(origin=site_of(TABLE["tf.boolean_mask"], {}))
    assert TABLE["tf.size"].gives(site_of(TABLE["tf.size"], {"x": filtered})).lo == 0


def test_methods_do_what_the_function_does():
    for name in ("sum", "mean", "max"):
        row, function = TABLE[f"method.{name}"], TABLE[f"tf.reduce_{name}"]
        found = row.gives(site_of(row, {"self": Value(1, 2)}))
        wanted = function.gives(site_of(function, {function.main: Value(1, 2)}))
        assert (found.lo, found.hi) == (wanted.lo, wanted.hi) and found.origin.op is function


def test_every_row_that_says_so_is_executed_here():
    executed = {TABLE[name] for name, *_ in CASES} | {TABLE["tf.cast"]}
    assert [
        row.name
        for row in ROWS
        if "tests/ops/families/test_arrays.py" in row.untested and row not in executed
    ] == []
