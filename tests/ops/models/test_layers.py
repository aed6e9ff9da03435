"""Ranges of layers, losses, initializers and constraints against Keras itself: whatever comes out
is admitted.

Every case names a constructor with its arguments. Keras builds the layer, gives it weights of
several sizes and runs it on boxes of inputs; the row gets the same arguments as values.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from boxes import BOXES, check, points, refused, site_of
from later import Later

from tfnanlint.dev.reveal import reveals
from tfnanlint.ops.models.layers import Layer, Stack, called
from tfnanlint.ops.relations.outputs import ending
from tfnanlint.ops.table import ROWS, load
from tfnanlint.syntax.source import Source
from tfnanlint.values.value import INF, Value, number

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
tf = Later("tensorflow")
np = Later("numpy")
keras = Later("keras")
pytestmark = pytest.mark.tensorflow
TABLE = load()

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


def scale_weights(layer: Any, size: float) -> None:
    random = np.random.default_rng(1)
    for weight in layer.weights:
        if not weight.dtype.startswith("float"):
            continue
        w = random.normal(0.0, size, weight.shape)
        weight.assign(abs(w) if "variance" in weight.path else w)


def outputs(result: Any) -> list[Any]:
    return (
        [np.asarray(r) for r in result]
        if isinstance(result, (list, tuple))
        else [np.asarray(result)]
    )


M = Made
RELU = Function("tf.nn.relu", lambda x: tf.nn.relu(x))
SOFTMAX = Function("tf.nn.softmax", lambda x: tf.nn.softmax(x))
SEQUENCE, IMAGE, ROW = (6, 3, 3), (4, 8, 8, 3), (16, 4)

ACTIVATIONS = (
    "linear relu softmax sigmoid tanh elu softplus gelu hard_sigmoid selu swish exponential leaky_relu relu6 "
    "softsign"
).split()
MODES = ("concat", "sum", "mul", "ave")

# (constructor, shape of the input)
LAYERS: list[tuple[Made, tuple[int, ...]]] = [
    *((M("Dense", 4, activation=a), ROW) for a in [None, *ACTIVATIONS]),
    (M("Dense", 4, activation=RELU), ROW),
    (M("Dense", units=4, activation=SOFTMAX, use_bias=False), ROW),
    (M("Dense", 4, activation=M("LeakyReLU")), ROW),
    (M("EinsumDense", "ab,bc->ac", output_shape=4, activation="relu"), ROW),
    (M("Conv1D", 4, 2, activation="relu"), SEQUENCE),
    (M("Conv2D", 4, 3, activation="tanh"), IMAGE),
    (M("Conv3D", 2, 2, activation="relu"), (3, 4, 4, 4, 1)),
    (M("Conv1DTranspose", 2, 2), SEQUENCE),
    (M("Conv2DTranspose", 2, 3, activation="sigmoid"), IMAGE),
    (M("Conv3DTranspose", 2, 2), (3, 4, 4, 4, 1)),
    (M("SeparableConv2D", 4, 3, activation="relu"), IMAGE),
    (M("DepthwiseConv2D", 3, activation="relu"), IMAGE),
    (M("BatchNormalization"), ROW),
    (M("LayerNormalization"), ROW),
    (M("LayerNormalization", epsilon=0.0), ROW),
    (M("GroupNormalization", groups=2), ROW),
    (M("UnitNormalization"), ROW),
    (M("Normalization", axis=-1, mean=[0.0, 1.0, 2.0, 3.0], variance=[1.0, 0.0, 2.0, 1e-9]), ROW),
    (M("SpectralNormalization", M("Dense", 3, activation="relu")), ROW),
    (M("LSTM", 3), SEQUENCE),
    (M("LSTM", 3, activation="relu", return_sequences=True), SEQUENCE),
    (M("LSTM", 3, return_state=True), SEQUENCE),
    (M("GRU", 3), SEQUENCE),
    (M("GRU", 3, activation="relu"), SEQUENCE),
    (M("GRU", 3, return_state=True, return_sequences=True), SEQUENCE),
    (M("SimpleRNN", 3), SEQUENCE),
    (M("SimpleRNN", 3, activation="relu", return_state=True), SEQUENCE),
    (M("RNN", M("LSTMCell", 3)), SEQUENCE),
    (M("RNN", M("GRUCell", 3)), SEQUENCE),
    (M("ConvLSTM2D", 2, 2), (2, 3, 4, 4, 1)),
    *(
        (M("Bidirectional", M("LSTM", 3, return_sequences=True), merge_mode=m), SEQUENCE)
        for m in MODES
    ),
    (M("Bidirectional", M("GRU", 3)), SEQUENCE),
    (M("TimeDistributed", M("Dense", 3, activation="softmax")), SEQUENCE),
    (M("MultiHeadAttention", num_heads=1, key_dim=2), SEQUENCE),
    *(
        (M("Activation", a), ROW)
        for a in ("relu", "softmax", "tanh", "sigmoid", "elu", "linear", RELU)
    ),
    (M("ReLU"), ROW),
    (M("ReLU", max_value=6.0), ROW),
    (M("ReLU", max_value=2.0, negative_slope=0.1, threshold=1.0), ROW),
    (M("ReLU", threshold=0.5), ROW),
    (M("ReLU", negative_slope=0.5), ROW),
    (M("LeakyReLU"), ROW),
    (M("LeakyReLU", negative_slope=0.01), ROW),
    (M("PReLU"), ROW),
    (M("ELU"), ROW),
    (M("ELU", alpha=0.5), ROW),
    (M("Softmax"), ROW),
    (M("Flatten"), IMAGE),
    (M("Reshape", [2, 2]), ROW),
    (M("Permute", [2, 1]), SEQUENCE),
    (M("RepeatVector", 2), ROW),
    (M("Cropping2D", 1), IMAGE),
    (M("UpSampling1D", 2), SEQUENCE),
    (M("UpSampling2D", 2), IMAGE),
    (M("UpSampling2D", 2, interpolation="bilinear"), IMAGE),
    (M("UpSampling2D", 2, interpolation="bicubic"), IMAGE),
    (M("Resizing", 5, 11), IMAGE),
    (M("MaxPooling1D", 2), SEQUENCE),
    (M("MaxPooling2D", 2, padding="same"), IMAGE),
    (M("MaxPool2D", 3), IMAGE),
    (M("GlobalMaxPooling2D"), IMAGE),
    (M("AveragePooling2D", 2), IMAGE),
    (M("AveragePooling1D", 2, padding="same"), SEQUENCE),
    (M("GlobalAveragePooling2D"), IMAGE),
    (M("GlobalAveragePooling1D"), SEQUENCE),
    (M("ZeroPadding2D", 1), IMAGE),
    (M("Masking", 5.0), SEQUENCE),
    (M("RandomFlip"), IMAGE),
    (M("ActivityRegularization", 0.1), ROW),
    (M("CenterCrop", 4, 4), IMAGE),
    (M("Identity"), ROW),
    (M("Lambda", RELU), ROW),
    (M("Dropout", 0.5), ROW),
    (M("Dropout", 0.0), ROW),
    (M("SpatialDropout1D", 0.9), SEQUENCE),
    (M("GaussianNoise", 1.0), ROW),
    (M("GaussianDropout", 0.5), ROW),
    (M("AlphaDropout", 0.3), ROW),
    (M("Rescaling", 1.0 / 255), ROW),
    (M("Rescaling", scale=1.0 / 127.5, offset=-1.0), ROW),
    (M("InputLayer", (4,)), ROW),
    (
        M(
            "Sequential",
            [
                M("Dense", 4, activation="relu"),
                M("Dropout", 0.5),
                M("Dense", 3, activation="softmax"),
            ],
        ),
        ROW,
    ),
    (
        M(
            "Sequential",
            [M("Conv2D", 2, 3), M("ReLU"), M("Flatten"), M("Dense", 1, activation="sigmoid")],
        ),
        IMAGE,
    ),
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
        return (
            layer(*args, training=training)
            if getattr(layer, "_call_has_training_arg", False)
            else layer(*args)
        )

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
                    check(
                        part,
                        array,
                        f"{made!r} on [{lo}, {hi}], weights {size}, training {training}",
                    )


# Of a closed box either infinity may be an element: x / norm(x), whose norm underflows.
INFINITE = [((0.0, 1.0), (INF, INF)), ((0.25, 0.75), (-INF, -INF)), ((-1.0, 1.0), (INF, -INF))]


@pytest.mark.parametrize(
    "made, shape",
    [case for case in LAYERS if case[0].name not in ("InputLayer", "MultiHeadAttention")],
    ids=repr,
)
def test_outputs_of_infinities_lie_in_the_range_of_the_layer(made, shape):
    layer, value = made.build(), made.value()
    for (lo, hi), odd in INFINITE:
        x = points(lo, hi, shape)
        x.flat[1::7], x.flat[2::11] = odd
        given = Value(lo, hi, dtype="float32", inf=True)
        expected = called(value, given, value.obj.site)
        parts = expected.obj if expected.kind == "sequence" else (expected,)
        for part, array in zip(parts, outputs(layer(x)), strict=True):
            if part.kind != "unknown" and (part.known or part.inf):
                check(part, array, f"{made!r} of {given!r}")


# Merging

MERGES = [
    (M("Add"), "add"),
    (M("Subtract"), "subtract"),
    (M("Multiply"), "multiply"),
    (M("Average"), "average"),
    (M("Maximum"), "maximum"),
    (M("Minimum"), "minimum"),
    (M("Concatenate"), "concatenate"),
    (M("Dot", axes=1), "dot"),
    (M("Dot", axes=1, normalize=True), "dot"),
]


@pytest.mark.parametrize("made, function", MERGES, ids=names(MERGES))
def test_merged_inputs_lie_in_the_range_of_the_layer(made, function):
    layer, value = made.build(), made.value()
    row = TABLE[f"keras.layers.{function}"]
    for lo, hi in BOXES:
        for low, high in BOXES:
            x, y = points(lo, hi, ROW), points(low, high, ROW, seed=1)
            pair = Value(
                kind="sequence",
                obj=(Value(lo, hi, dtype="float32"), Value(low, high, dtype="float32")),
            )
            result = layer([x, y])
            site = site_of(
                row, {"inputs": pair, **{k: as_value(v) for k, v in made.kwargs.items()}}
            )
            for expected in (called(value, pair, value.obj.site), row.gives(site)):
                check(expected, result, f"{made!r} of [{lo}, {hi}] and [{low}, {high}]")


# The ranges are worth having: (layer, input box, output box)
TIGHT = [
    (M("Dense", 4, activation="softmax"), (-1e3, 1e3), (0, 1)),
    (M("Dense", 4, activation="tanh"), (-1e3, 1e3), (-1, 1)),
    (M("Dense", 4, activation="relu"), (-1e3, 1e3), (0, INF)),
    (M("Dense", 4, activation=SOFTMAX), (-1e3, 1e3), (0, 1)),
    (M("Dense", 4, activation=M("ReLU")), (-1, 1), (0, INF)),
    (M("Dense", 4), (-1, 1), (-INF, INF)),
    (M("LSTM", 4), (-1e3, 1e3), (-1, 1)),
    (M("GRU", 4), (-1e3, 1e3), (-1, 1)),
    (M("Bidirectional", M("LSTM", 4)), (-1e3, 1e3), (-1, 1)),
    (M("ReLU"), (-3, 5), (0, 5)),
    (M("ReLU", max_value=6.0), (-3, 50), (0, 6)),
    (M("LeakyReLU", negative_slope=0.5), (-4, 4), (-2, 4)),
    (M("ELU"), (-1e3, 5), (-1, 5)),
    (M("Dropout", 0.5), (1, 2), (0, 4)),
    (M("Flatten"), (2, 3), (2, 3)),
    (M("ZeroPadding2D"), (2, 3), (0, 3)),
    (M("Rescaling", 1 / 255), (0, 255), (0, 1)),
    (M("GlobalAveragePooling2D"), (0, 1), (0, 1)),
    (M("Lambda", RELU), (-1, 2), (0, 2)),
    (M("Softmax"), (-1, 1), (0, 1)),
    (M("UnitNormalization"), (-9, 9), (-1, 1)),
    (M("Activation", "sigmoid"), (-1e3, 1e3), (0, 1)),
    (M("Sequential", [M("Dense", 4), M("Dense", 1, activation="sigmoid")]), (-1, 1), (0, 1)),
]


@pytest.mark.parametrize("made, box, wanted", TIGHT, ids=names(TIGHT))
def test_ranges_are_tight(made, box, wanted):
    value = made.value()
    found = called(value, Value(*box, dtype="float32"), value.obj.site)
    assert (found.lo, found.hi) == pytest.approx(wanted, rel=1e-3, abs=1e-4)
    assert found.known and not found.nan and not found.inf


def test_models_and_embeddings():
    inputs = keras.Input((4,))
    model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(inputs))
    embedding = keras.layers.Embedding(5, 2)
    embedding(np.arange(5))
    for size in WEIGHTS:
        scale_weights(model, size)
        scale_weights(embedding, size)
        probabilities = called(
            M("Dense", 3, activation="softmax").value(), Value(), M("Softmax").value().obj.site
        )
        made = TABLE["keras.Model"].gives(
            site_of(TABLE["keras.Model"], {"inputs": Value(), "outputs": probabilities})
        )
        predict = TABLE["method.predict"]
        predicted = predict.gives(site_of(predict, {"self": made, "x": Value(-1, 1)}))
        for expected in (called(made, Value(-1, 1), made.obj.site), predicted):
            assert (expected.lo, expected.hi) == (0, 1) and not refused(
                expected, model(points(-1, 1, ROW))
            )
        table = M("Embedding", 5, 2).value()
        assert not refused(
            called(table, Value(0, 4, dtype="int32"), table.obj.site), embedding(np.arange(5))
        )


def test_a_sequential_model_grows_with_add():
    stack = M("Sequential").value()
    assert not called(stack, Value(0, 1), stack.obj.site).known
    for layer in (M("Dense", 4), M("Dense", 1, activation="sigmoid")):
        stack = stack.obj.added(stack, layer.value())
    found = called(stack, Value(0, 1), stack.obj.site)
    assert (found.lo, found.hi) == (0, 1) and found.origin.op.name == TABLE[
        "keras.activations.sigmoid"
    ].name


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("tf.keras.layers.Dense(3, activation='softmax')(x)", "tf.nn.softmax"),
        ("tf.keras.layers.Dense(3)(x)", None),
        ("tf.keras.layers.Conv2D(3, 3, activation=tf.nn.relu)(x)", "tf.nn.relu"),
        ("tf.keras.layers.Dense(3, activation='relu')(x)", "tf.nn.relu"),
        ("tf.keras.layers.Softmax()(x)", "tf.nn.softmax"),
        ("tf.layers.dense(x, 3, tf.nn.relu)", "tf.nn.relu"),
        ("tf.contrib.slim.conv2d(x, 3, 3)", "tf.nn.relu"),
        ("tf.contrib.slim.conv2d(x, 3, 3, activation_fn=None)", None),
        ("tf.nn.relu(x)", None),
        ("x", None),
        (
            "tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Activation('softmax')])(x)",
            "tf.nn.softmax",
        ),
    ],
)
def test_the_op_that_a_layer_ends_with(text, wanted):
    program = f"import tensorflow as tf\n\n\ndef f(x):\n    reveal({text})\n"
    (found,) = reveals(Source.from_bytes("f.py", program.encode()))
    last = ending(found.value)
    assert (last and last.op.name) == wanted


# Losses: labels and predictions

PROBABILITIES = [(0.0, 1.0), (0.0, 0.0), (1.0, 1.0), (0.25, 0.75)]
LABELS, NUMBERS = PROBABILITIES[:3], BOXES
# function, class, label boxes, prediction boxes, further arguments
LOSSES = [
    ("mean_squared_error", "MeanSquaredError", NUMBERS, NUMBERS, {}),
    ("mean_absolute_error", "MeanAbsoluteError", NUMBERS, NUMBERS, {}),
    ("mean_absolute_percentage_error", "MeanAbsolutePercentageError", NUMBERS, NUMBERS, {}),
    ("mean_squared_logarithmic_error", "MeanSquaredLogarithmicError", NUMBERS, NUMBERS, {}),
    ("binary_crossentropy", "BinaryCrossentropy", LABELS, PROBABILITIES, {}),
    ("binary_crossentropy", "BinaryCrossentropy", NUMBERS, NUMBERS, {"from_logits": True}),
    ("binary_crossentropy", "BinaryCrossentropy", NUMBERS, PROBABILITIES, {"label_smoothing": 0.1}),
    ("binary_focal_crossentropy", "BinaryFocalCrossentropy", LABELS, PROBABILITIES, {}),
    ("categorical_crossentropy", "CategoricalCrossentropy", LABELS, PROBABILITIES, {}),
    ("categorical_crossentropy", "CategoricalCrossentropy", LABELS, NUMBERS, {"from_logits": True}),
    ("categorical_focal_crossentropy", "CategoricalFocalCrossentropy", LABELS, PROBABILITIES, {}),
    ("kl_divergence", "KLDivergence", NUMBERS, NUMBERS, {}),
    ("poisson", "Poisson", NUMBERS, NUMBERS, {}),
    ("hinge", "Hinge", NUMBERS, NUMBERS, {}),
    ("squared_hinge", "SquaredHinge", NUMBERS, NUMBERS, {}),
    ("categorical_hinge", "CategoricalHinge", NUMBERS, NUMBERS, {}),
    ("huber", "Huber", NUMBERS, NUMBERS, {}),
    ("huber", "Huber", NUMBERS, NUMBERS, {"delta": 0.1}),
    ("log_cosh", "LogCosh", NUMBERS, NUMBERS, {}),
    ("cosine_similarity", "CosineSimilarity", NUMBERS, NUMBERS, {}),
    ("dice", "Dice", NUMBERS, NUMBERS, {}),
    ("tversky", "Tversky", NUMBERS, NUMBERS, {}),
]


@pytest.mark.parametrize(
    "function, cls, labels, predictions, options", LOSSES, ids=[f"{c[0]}-{c[4]}" for c in LOSSES]
)
def test_losses_lie_in_the_range_of_their_row(function, cls, labels, predictions, options):
    row, maker = TABLE[f"keras.losses.{function}"], TABLE[f"keras.losses.{cls}"]
    given = {k: number(v) for k, v in options.items()}
    loss = maker.gives(site_of(maker, given))
    for low, high in labels:
        for lo, hi in predictions:
            y, p = points(low, high, ROW, seed=1), points(lo, hi, ROW)
            pair = [Value(low, high, dtype="float32"), Value(lo, hi, dtype="float32")]
            whole = Value(kind="sequence", obj=tuple(pair))
            expected = row.gives(site_of(row, {"y_true": pair[0], "y_pred": pair[1], **given}))
            where = f"{function} {options} labels [{low}, {high}] predictions [{lo}, {hi}]"
            check(expected, getattr(keras.losses, function)(y, p, **options), where)
            check(
                loss.obj.out(whole, loss.obj.site),
                getattr(keras.losses, cls)(**options)(y, p),
                where,
            )


@pytest.mark.parametrize("from_logits", [False, True])
def test_sparse_crossentropy_lies_in_its_range(from_logits):
    accuracy, backend = (
        TABLE["keras.metrics.sparse_categorical_accuracy"],
        TABLE["K.sparse_categorical_crossentropy"],
    )
    row, labels = TABLE["keras.losses.sparse_categorical_crossentropy"], Value(0, 3, dtype="int64")
    for lo, hi in NUMBERS if from_logits else PROBABILITIES:
        p, predictions = points(lo, hi, ROW), Value(lo, hi, dtype="float32")
        y = np.random.default_rng(0).integers(0, 4, (ROW[0],))
        expected = row.gives(site_of(row, {"y_true": labels, "y_pred": predictions}))
        check(
            expected,
            keras.losses.sparse_categorical_crossentropy(y, p, from_logits=from_logits),
            f"[{lo}, {hi}]",
        )
        check(
            expected,
            keras.losses.SparseCategoricalCrossentropy(from_logits=from_logits)(y, p),
            f"[{lo}, {hi}]",
        )
        expected = backend.gives(site_of(backend, {"target": labels, "output": predictions}))
        check(
            expected,
            keras.ops.sparse_categorical_crossentropy(y, p, from_logits=from_logits),
            f"[{lo}, {hi}]",
        )
        check(
            accuracy.gives(site_of(accuracy, {})),
            keras.metrics.sparse_categorical_accuracy(y, p),
            f"[{lo}, {hi}]",
        )


TF1_LOSSES = [
    "mean_squared_error",
    "absolute_difference",
    "huber_loss",
    "hinge_loss",
    "mean_pairwise_squared_error",
    "cosine_distance",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "log_loss",
]


@pytest.mark.parametrize("name", TF1_LOSSES)
def test_losses_of_tensorflow_1(name):
    row = TABLE[f"tf.losses.{name}"]
    first, second = row.params[:2]
    for low, high in LABELS:
        for lo, hi in PROBABILITIES + ([] if name == "log_loss" else [(-1e3, 1e3), (-1.0, 1.0)]):
            y, p = points(low, high, ROW, seed=1), points(lo, hi, ROW)
            extra = {"axis": 1} if name == "cosine_distance" else {}
            expected = row.gives(site_of(row, {first: Value(low, high), second: Value(lo, hi)}))
            result = getattr(tf.compat.v1.losses, name)(y, p, **extra)
            check(expected, result, f"{name}: labels [{low}, {high}] predictions [{lo}, {hi}]")


BACKEND = ["binary_crossentropy", "categorical_crossentropy"]


@pytest.mark.parametrize("name", BACKEND)
def test_crossentropies_of_the_backend(name):
    row = TABLE[f"K.{name}"]
    for low, high in LABELS:
        for lo, hi in PROBABILITIES:
            y, p = points(low, high, ROW, seed=1), points(lo, hi, ROW)
            expected = row.gives(
                site_of(row, {"target": Value(low, high), "output": Value(lo, hi)})
            )
            result = getattr(keras.ops, name)(y, p)
            check(expected, result, f"{name}: labels [{low}, {high}] predictions [{lo}, {hi}]")


# Initial values and constraints

INITIALIZERS = [
    ("Zeros", {}),
    ("Ones", {}),
    ("Constant", {"value": 0.25}),
    ("RandomUniform", {}),
    ("RandomUniform", {"minval": 0.0, "maxval": 3.0}),
    ("RandomNormal", {}),
    ("TruncatedNormal", {}),
    ("GlorotUniform", {}),
    ("GlorotNormal", {}),
    ("HeUniform", {}),
    ("HeNormal", {}),
    ("LecunUniform", {}),
    ("LecunNormal", {}),
    ("Orthogonal", {}),
    ("Identity", {}),
    ("VarianceScaling", {"scale": 9.0}),
]


@pytest.mark.parametrize("name, options", INITIALIZERS, ids=str)
def test_initializers_lie_in_their_range(name, options):
    row = TABLE[f"keras.initializers.{name}"]
    made = row.gives(site_of(row, {k: number(v) for k, v in options.items()}))
    expected = made.obj.out(Value(), made.obj.site)
    for shape in ((1, 1), (2, 3), (64, 64)):
        result = getattr(keras.initializers, name)(**options)(shape)
        check(expected, result, name)


CONSTRAINTS = [
    ("NonNeg", {}),
    ("UnitNorm", {}),
    ("MaxNorm", {}),
    ("MaxNorm", {"max_value": 0.5}),
    ("MinMaxNorm", {"min_value": 0.5, "max_value": 3.0}),
]


@pytest.mark.parametrize("name, options", CONSTRAINTS, ids=str)
def test_constraints_hold_weights_in_their_range(name, options):
    row, variable = TABLE[f"keras.constraints.{name}"], TABLE["tf.Variable"]
    constraint = row.gives(site_of(row, {k: number(v) for k, v in options.items()}))
    kept = variable.gives(
        site_of(variable, {"initial_value": Value(0.0, 0.1), "constraint": constraint})
    )
    for lo, hi in BOXES:
        result = getattr(keras.constraints, name)(**options)(points(lo, hi, ROW))
        check(kept, result, name)
    assert kept.lo > -INF


def test_regularizers_give_at_least_0():
    row = TABLE["keras.regularizers.L2"]
    made = row.gives(site_of(row, {}))
    for lo, hi in BOXES:
        assert not refused(
            made.obj.out(Value(lo, hi), made.obj.site),
            keras.regularizers.L2(0.1)(points(lo, hi, ROW)),
        )


# Nothing is called tested that is not

NOT_HERE = {
    "keras.layers.ThresholdedReLU": "not in Keras 3; the same function as ReLU(threshold=)",
    "keras.layers.LocallyConnected1D": "not in Keras 3",
}


def test_every_row_that_says_so_is_executed_here():
    executed = {case[0].canonical for case in LAYERS + MERGES} | {
        f"keras.layers.{function}" for _, function in MERGES
    }
    executed |= {f"keras.losses.{name}" for case in LOSSES for name in case[:2]}
    executed |= {f"tf.losses.{name}" for name in TF1_LOSSES} | {f"K.{name}" for name in BACKEND}
    executed |= {f"keras.initializers.{name}" for name, _ in INITIALIZERS}
    executed |= {"keras.Model", "method.predict", "keras.layers.Embedding", "keras.regularizers.L2"}
    executed |= {f"{module}.sparse_categorical_crossentropy" for module in ("K", "keras.losses")}
    executed |= {"keras.losses.SparseCategoricalCrossentropy"}
    executed |= {f"keras.constraints.{name}" for name, _ in CONSTRAINTS} | {
        "keras.metrics.categorical_accuracy"
    }
    rows = {TABLE[name] for name in executed}
    missing = {
        row.name
        for row in ROWS
        if "tests/ops/models/test_layers.py" in row.untested and row not in rows
    }
    assert missing == set(NOT_HERE)
