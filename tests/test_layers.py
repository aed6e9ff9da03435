"""Ranges of layers, losses, initializers and constraints against Keras itself: whatever comes out is admitted.

Every case names a constructor with its arguments. Keras builds the layer, gives it weights of several sizes and runs it
on boxes of inputs; the row gets the same arguments as values.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")

from tfnanlint.ops import ROWS, load  # noqa: E402
from tfnanlint.ops.layers import Layer, Stack, called  # noqa: E402
from tfnanlint.site import Site  # noqa: E402
from tfnanlint.values import INF, Value, number  # noqa: E402

pytestmark = pytest.mark.tensorflow
keras = tf.keras
TABLE = load()

BOXES = [(0.0, 0.0), (0.0, 1.0), (-1.0, 1.0), (-1e3, 1e3), (1.0, 1e3), (-1e3, -1.0), (-(2.0**-10), 2.0**-10), (5.0, 5.0), (0.25, 0.75)]
WEIGHTS = [0.05, 1.0, 100.0]


class Made:
    """A constructor call: `Made("LSTM", units=3)`; arguments may hold further ones."""

    def __init__(self, name: str, *args: Any, **kwargs: Any):
        self.name, self.args, self.kwargs = name, args, kwargs

    def build(self) -> Any:
        cls = getattr(keras.layers, self.name) if self.name != "Sequential" else keras.Sequential
        return cls(*map(built, self.args), **{k: built(v) for k, v in self.kwargs.items()})

    @property
    def canonical(self) -> str:
        return "keras.Sequential" if self.name == "Sequential" else f"keras.layers.{self.name}"

    def value(self) -> Value:
        row = TABLE[self.canonical]
        values = {p: as_value(a) for p, a in [*zip(row.params, self.args), *self.kwargs.items()]}
        return row.gives(site_of(row, values))

    def __repr__(self) -> str:
        return f"{self.name}({', '.join([*map(repr, self.args), *(f'{k}={v!r}' for k, v in self.kwargs.items())])})"


class Function:
    """A TensorFlow function by its canonical name, given where a callable is asked for."""

    def __init__(self, name: str, run: Any):
        self.name, self.run = name, run

    def __repr__(self) -> str:
        return self.name


def built(argument: Any) -> Any:
    if isinstance(argument, Made):
        return argument.build()
    if isinstance(argument, list):
        return [built(a) for a in argument]
    return argument.run if isinstance(argument, Function) else argument


def as_value(argument: Any) -> Value:
    if isinstance(argument, Made):
        return argument.value()
    if isinstance(argument, (list, tuple)):
        return Value(kind="sequence", obj=tuple(as_value(a) for a in argument))
    if isinstance(argument, Function):
        return Value(kind="function", obj=TABLE[argument.name], const=argument.name)
    return number(argument)


def site_of(row: Any, values: dict[str, Value]) -> Site:
    """A site that applies rows of the table, as the interpreter does."""
    site = Site.of_values(row, values)
    site._apply = lambda callee, args: callee.obj.gives(site_of(callee.obj, {callee.obj.main: args[0]}))
    return site


def points(lo: float, hi: float, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Corners, 0 when it is inside, and random numbers of many sizes."""
    random = np.random.default_rng(seed)
    x = random.uniform(lo, hi, shape)
    x *= np.where(random.random(shape) < 0.3, 10.0 ** random.uniform(-6, 0, shape), 1.0)
    x[0], x[1] = lo, hi
    x = np.clip(x, lo, hi)
    if lo <= 0 <= hi:
        x.flat[:: max(2, x.size // 10)] = 0.0
    return x.astype("float32")


def scale_weights(layer: Any, size: float) -> None:
    random = np.random.default_rng(1)
    for weight in layer.weights:
        if not weight.dtype.startswith("float"):
            continue
        w = random.normal(0.0, size, weight.shape)
        weight.assign(abs(w) if "variance" in weight.path else w)


def outputs(result: Any) -> list[Any]:
    return [np.asarray(r) for r in result] if isinstance(result, (list, tuple)) else [np.asarray(result)]


def refused(value: Value, result: Any) -> list[float]:
    """Numbers in `result` that `value` does not admit."""
    array = np.asarray(result, "float64").ravel()
    if value.lo == -INF and value.hi == INF and value.zero:
        odd = array[~np.isfinite(array)]
    else:
        odd = array[~np.isfinite(array) | (array < value.lo) | (array > value.hi) | ((array == 0) & (not value.zero))]
    return [n for n in odd[:1000].tolist() if not value.admits(n)]


M = Made
RELU = Function("tf.nn.relu", tf.nn.relu)
SOFTMAX = Function("tf.nn.softmax", tf.nn.softmax)
SEQUENCE, IMAGE, ROW = (6, 3, 3), (4, 8, 8, 3), (16, 4)

# (constructor, shape of the input)
LAYERS: list[tuple[Made, tuple[int, ...]]] = [
    *((M("Dense", 4, activation=a), ROW) for a in (None, "linear", "relu", "softmax", "sigmoid", "tanh", "elu", "softplus", "gelu",
                                                   "hard_sigmoid", "selu", "swish", "exponential", "leaky_relu", "relu6", "softsign")),
    (M("Dense", 4, activation=RELU), ROW), (M("Dense", units=4, activation=SOFTMAX, use_bias=False), ROW),
    (M("Dense", 4, activation=M("LeakyReLU")), ROW),
    (M("EinsumDense", "ab,bc->ac", output_shape=4, activation="relu"), ROW),
    (M("Conv1D", 4, 2, activation="relu"), SEQUENCE), (M("Conv2D", 4, 3, activation="tanh"), IMAGE),
    (M("Conv3D", 2, 2, activation="relu"), (3, 4, 4, 4, 1)), (M("Conv1DTranspose", 2, 2), SEQUENCE),
    (M("Conv2DTranspose", 2, 3, activation="sigmoid"), IMAGE), (M("Conv3DTranspose", 2, 2), (3, 4, 4, 4, 1)),
    (M("SeparableConv2D", 4, 3, activation="relu"), IMAGE), (M("DepthwiseConv2D", 3, activation="relu"), IMAGE),
    (M("BatchNormalization"), ROW), (M("LayerNormalization"), ROW), (M("LayerNormalization", epsilon=0.0), ROW),
    (M("GroupNormalization", groups=2), ROW), (M("UnitNormalization"), ROW),
    (M("Normalization", axis=-1, mean=[0.0, 1.0, 2.0, 3.0], variance=[1.0, 0.0, 2.0, 1e-9]), ROW),
    (M("SpectralNormalization", M("Dense", 3, activation="relu")), ROW),
    (M("LSTM", 3), SEQUENCE), (M("LSTM", 3, activation="relu", return_sequences=True), SEQUENCE), (M("LSTM", 3, return_state=True), SEQUENCE),
    (M("GRU", 3), SEQUENCE), (M("GRU", 3, activation="relu"), SEQUENCE), (M("GRU", 3, return_state=True, return_sequences=True), SEQUENCE),
    (M("SimpleRNN", 3), SEQUENCE), (M("SimpleRNN", 3, activation="relu", return_state=True), SEQUENCE),
    (M("RNN", M("LSTMCell", 3)), SEQUENCE), (M("RNN", M("GRUCell", 3)), SEQUENCE), (M("ConvLSTM2D", 2, 2), (2, 3, 4, 4, 1)),
    *((M("Bidirectional", M("LSTM", 3, return_sequences=True), merge_mode=m), SEQUENCE) for m in ("concat", "sum", "mul", "ave")),
    (M("Bidirectional", M("GRU", 3)), SEQUENCE), (M("TimeDistributed", M("Dense", 3, activation="softmax")), SEQUENCE),
    (M("MultiHeadAttention", num_heads=1, key_dim=2), SEQUENCE),
    *((M("Activation", a), ROW) for a in ("relu", "softmax", "tanh", "sigmoid", "elu", "linear", RELU)),
    (M("ReLU"), ROW), (M("ReLU", max_value=6.0), ROW), (M("ReLU", max_value=2.0, negative_slope=0.1, threshold=1.0), ROW),
    (M("ReLU", threshold=0.5), ROW), (M("ReLU", negative_slope=0.5), ROW), (M("LeakyReLU"), ROW), (M("LeakyReLU", negative_slope=0.01), ROW),
    (M("PReLU"), ROW), (M("ELU"), ROW), (M("ELU", alpha=0.5), ROW), (M("Softmax"), ROW),
    (M("Flatten"), IMAGE), (M("Reshape", [2, 2]), ROW), (M("Permute", [2, 1]), SEQUENCE), (M("RepeatVector", 2), ROW),
    (M("Cropping2D", 1), IMAGE), (M("UpSampling1D", 2), SEQUENCE), (M("UpSampling2D", 2), IMAGE),
    (M("UpSampling2D", 2, interpolation="bilinear"), IMAGE), (M("UpSampling2D", 2, interpolation="bicubic"), IMAGE),
    (M("Resizing", 5, 11), IMAGE), (M("MaxPooling1D", 2), SEQUENCE), (M("MaxPooling2D", 2, padding="same"), IMAGE), (M("MaxPool2D", 3), IMAGE),
    (M("GlobalMaxPooling2D"), IMAGE), (M("AveragePooling2D", 2), IMAGE), (M("AveragePooling1D", 2, padding="same"), SEQUENCE),
    (M("GlobalAveragePooling2D"), IMAGE), (M("GlobalAveragePooling1D"), SEQUENCE), (M("ZeroPadding2D", 1), IMAGE), (M("Masking", 5.0), SEQUENCE),
    (M("RandomFlip"), IMAGE), (M("ActivityRegularization", 0.1), ROW), (M("CenterCrop", 4, 4), IMAGE), (M("Identity"), ROW),
    (M("Lambda", RELU), ROW), (M("Dropout", 0.5), ROW), (M("Dropout", 0.0), ROW), (M("SpatialDropout1D", 0.9), SEQUENCE),
    (M("GaussianNoise", 1.0), ROW), (M("GaussianDropout", 0.5), ROW), (M("AlphaDropout", 0.3), ROW),
    (M("Rescaling", 1.0 / 255), ROW), (M("Rescaling", scale=1.0 / 127.5, offset=-1.0), ROW), (M("InputLayer", (4,)), ROW),
    (M("Sequential", [M("Dense", 4, activation="relu"), M("Dropout", 0.5), M("Dense", 3, activation="softmax")]), ROW),
    (M("Sequential", [M("Conv2D", 2, 3), M("ReLU"), M("Flatten"), M("Dense", 1, activation="sigmoid")]), IMAGE),
]


def names(cases: list) -> list[str]:
    return [repr(case[0]) for case in cases]


@pytest.mark.parametrize("made, shape", LAYERS, ids=names(LAYERS))
def test_outputs_lie_in_the_range_of_the_layer(made, shape):
    layer, value = made.build(), made.value()
    attention = made.name == "MultiHeadAttention"

    def run(x, training):
        args = (x, x) if attention else (x,)
        if isinstance(layer, keras.layers.InputLayer):
            return x
        return layer(*args, training=training) if getattr(layer, "_call_has_training_arg", False) else layer(*args)

    for lo, hi in BOXES:
        x = points(lo, hi, shape)
        for size in WEIGHTS if lo != hi else WEIGHTS[1:2]:
            for training in (False, True):
                run(x, training)
                if isinstance(value.obj, (Layer, Stack)):
                    scale_weights(layer, size)
                expected = called(value, Value(lo, hi, dtype="float32"), value.obj.site)
                parts = expected.obj if expected.kind == "sequence" else (expected,)
                for part, array in zip(parts, outputs(run(x, training)), strict=True):
                    assert not refused(part, array), (f"{made!r} on [{lo}, {hi}], weights {size}, training {training}: "
                                                      f"{part} does not admit {refused(part, array)[:5]}")
