"""Keras layers and the layer functions of TensorFlow 1: the range of what they give.

A constructor's row gives a `Value` of kind "layer" whose `obj` is a `Layer`; calling it goes
through `Layer.out`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Final

from tfnanlint.ops.families.arrays import cast, passed
from tfnanlint.ops.families.nn import activation_named, elu_down_to, max_pooled
from tfnanlint.ops.models.argscopes import activation_replaced
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import TABLE, Op, op
from tfnanlint.ops.transfer import core as t
from tfnanlint.values.value import INF, NO_CONSTANT, Value, join, number, outward, unknown

TESTED: Final = "an object; tests/ops/models/test_layers.py executes it"


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer made at `site`; `out(input, call)` is the range of what it gives when called at the
    site `call`.
    """

    name: str
    site: Site
    out: Callable[[Value, Site], Value]


@dataclass(frozen=True, slots=True)
class Stack:
    """A Sequential model; `complete` is False when layers in front of those that are listed were
    not seen. `base` is the same model when no layer of it is known; None: this one is.
    """

    name: str
    site: Site
    layers: tuple[Value, ...]
    complete: bool = True
    base: Stack | None = None

    @property
    def unseen(self) -> Stack:
        """What rounds of a loop that add layers leave of it, however many there are."""
        return self.base or self

    def out(self, x: Value, call: Site) -> Value:
        """What the last layer gives. Behind a layer that is not known anything is possible."""
        if not self.complete or not self.layers:
            x = unknown("tensor")
        for layer in self.layers:
            x = called(layer, x, call)
        return x

    def added(self, model: Value, layer: Value) -> Value:
        """The model after `model.add(layer)`; `keras.Input` states a shape and is none."""
        return model if is_input(layer) else self._with(model, (*self.layers, layer))

    def popped(self, model: Value) -> Value:
        """The model after `model.pop()`."""
        return self._with(model, self.layers[:-1]) if self.layers else model

    def _with(self, model: Value, layers: tuple[Value, ...]) -> Value:
        return Value(
            kind=model.kind,
            obj=Stack(self.name, self.site, layers, self.complete, self.unseen),
            origin=model.origin,
        )


def is_input(layer: Value) -> bool:
    """Whether a layer is `keras.Input(...)`, which states the shape of what a model is given."""
    return isinstance(layer.origin, Site) and layer.origin.op.name == "keras.Input"


def called(layer: Value, x: Value, call: Site) -> Value:
    """What `layer` gives for `x`; unknown when it is not a layer that is known."""
    out = getattr(layer.obj, "out", None)
    return out(x, call) if out is not None else call.apply(layer, x)


# What layers do to values


def linear(x: Value, dtype: str | None = None) -> Value:
    """Trained weights on finite numbers: any number."""
    return Value(evident=True, nan=x.nan or x.inf, inf=x.inf, dtype=dtype)


def entered(x: Value) -> Value:
    """What a Keras layer sees: lists joined, float64 rounded to the layer's float32."""
    x = passed(t.one_of(x))
    return cast(x, "float32") if x.dtype == "float64" else x


def applied(row: Op, x: Value, call: Site) -> Value:
    """What the op of `row` gives for `x`, with the layer's call as its origin."""
    inner = Site(
        row,
        call.node,
        {},
        call.interpreter,
        complete=False,
        library="keras",
        point=call.point,
        source=call.source,
        name=row.name,
    )
    inner.values[row.main] = x
    inner.judge = call.judge
    result = row.gives(inner)
    return result.but(origin=result.origin or inner, kind="tensor", token=result.token)


def activated(activation: Value, x: Value, call: Site) -> Value:
    """What an activation gives for `x`: a name, a function, a layer, or None for none."""
    name = activation.const
    if activation.kind == "none" or name == "linear":
        return x
    if activation.kind == "string" and isinstance(name, str):
        row = activation_named(name)
        return applied(row, x, call) if row else unknown("tensor")
    return called(activation, x, call)


def _activation(
    site: Site, x: Value, call: Site, param: str = "activation", default: str | None = None
) -> Value:
    if site.hidden and not site.given(param):
        return unknown("tensor")
    activation = site.value(param) if site.given(param) else number(default)
    return activated(activation, x, _interpreted(call, site))


def _interpreted(call: Site, constructor: Site) -> Site:
    """The call's site; activations may need what the constructor's applies functions with."""
    if call.interpreter is None:
        call.interpreter = constructor.interpreter
    return call


# Rows

Out = Callable[[Site, Value, Site], Value]


def layer(names: str, params: str, out: Out, **info) -> None:
    """A row for a layer's constructor; `out` gets the constructor's site, the input, and the site
    of the call.

    The first of `names` is the row's; names without a dot are known under keras.layers.
    """
    first, *rest = names.split()
    canonical = f"keras.layers.{first}"
    aliases = [name if "." in name else f"keras.layers.{name}" for name in rest]

    def give(site: Site) -> Value:
        return Value(kind="layer", obj=Layer(canonical, site, lambda x, call: out(site, x, call)))

    info.setdefault("untested", TESTED)
    op(
        canonical,
        " ".join(aliases),
        f"{params} name dtype trainable".strip(),
        give,
        pure=False,
        **info,
    )


def _constant(site: Site, param: str, default: float | None) -> float | None:
    """A number given to the constructor; None when it is not known."""
    if not site.given(param):
        return default
    return t.constant(site.value(param))


# Layers with weights


def _weighted(default: str | None = None) -> Out:
    return lambda site, x, call: _activation(site, _summed(site, x), call, default=default)


def _summed(layer: Site, x: Value) -> Value:
    """What weights make of an input; of those that are not trained (`trainable=False`) only their
    initializer tells, such as the ones of a sum.
    """
    result = linear(t.one_of(x))
    return result.but(evident=False) if layer.const("trainable", True) is False else result


_KERNEL: Final = (
    "kernel_initializer bias_initializer kernel_regularizer bias_regularizer activity_regularizer "
    "kernel_constraint bias_constraint"
)
_CONV: Final = (
    "filters kernel_size strides padding data_format dilation_rate groups activation use_bias"
    f" {_KERNEL}"
)
layer(
    "Dense tf.layers.Dense keras.layers.core.Dense",
    f"units activation use_bias {_KERNEL}",
    _weighted(),
)
layer("EinsumDense", "equation output_shape activation bias_axes", _weighted())
for _rank in "123":
    layer(
        f"Conv{_rank}D Convolution{_rank}D tf.layers.Conv{_rank}D",
        _CONV,
        _weighted(),
        rank=int(_rank) + 2,
    )
    layer(
        f"Conv{_rank}DTranspose Deconvolution{_rank}D Convolution{_rank}DTranspose"
        f" tf.layers.Conv{_rank}DTranspose",
        _CONV.replace("dilation_rate groups", "output_padding dilation_rate"),
        _weighted(),
        rank=int(_rank) + 2,
    )
layer(
    "SeparableConv2D SeparableConvolution2D SeparableConv1D tf.layers.SeparableConv2D",
    "filters kernel_size strides padding data_format dilation_rate depth_multiplier activation"
    " use_bias",
    _weighted(),
)
layer(
    "DepthwiseConv2D DepthwiseConv1D",
    "kernel_size strides padding depth_multiplier data_format dilation_rate activation use_bias",
    _weighted(),
)
layer(
    "LocallyConnected1D LocallyConnected2D",
    "filters kernel_size strides padding data_format activation",
    _weighted(),
)
layer(
    "ConvLSTM2D ConvLSTM1D ConvLSTM3D",
    "filters kernel_size strides padding data_format dilation_rate activation recurrent_activation",
    lambda site, x, call: lstm(site, x, call),
)
layer(
    "Embedding",
    "input_dim output_dim embeddings_initializer embeddings_regularizer embeddings_constraint"
    " mask_zero weights",
    lambda site, x, call: Value(evident=True),
)
layer(
    "MultiHeadAttention GroupQueryAttention Bilinear",
    "num_heads key_dim value_dim dropout",
    lambda site, x, call: linear(t.one_of(x)),
)


def _normalized(site: Site, x: Value, call: Site) -> Value:
    """Scale and offset are trained, so any number; epsilon=0 divides by a variance that can be
    0.
    """
    result = linear(t.one_of(x))
    result.nan = (
        result.nan or t.constant(site.value("epsilon")) == 0
        if site.given("epsilon")
        else result.nan
    )
    return result


layer(
    "BatchNormalization tf.layers.BatchNormalization keras.layers.normalization.BatchNormalization "
    "keras.layers.experimental.SyncBatchNormalization",
    "axis momentum epsilon center scale",
    _normalized,
)
layer("LayerNormalization RMSNormalization", "axis epsilon center scale", _normalized)
layer("GroupNormalization", "groups axis epsilon center scale", _normalized)
layer(
    "SpectralNormalization",
    "layer power_iterations",
    lambda site, x, call: called(site.value("layer"), x, call),
)
layer(
    "Normalization keras.layers.experimental.preprocessing.Normalization",
    "axis mean variance invert",
    lambda site, x, call: linear(t.one_of(x)),
)


def _unit(site: Site, x: Value, call: Site) -> Value:
    """x / max(norm(x), 1e-12): an epsilon that is 0 in float16, where squares of small numbers are
    0, too.
    """
    x = t.one_of(x)
    _, reach = outward(-1.0, 1.0, x.dtype, 64)
    dead = x.dtype == "float16" and x.zero
    return Value(-reach, reach, nan=x.nan or x.inf or dead, inf=dead, dtype=x.dtype)


layer("UnitNormalization", "axis", _unit)


# Recurrent layers

_CELL: Final = (
    "units activation recurrent_activation use_bias kernel_initializer recurrent_initializer"
    " bias_initializer unit_forget_bias"
)


def _states(site: Site, out: Value, others: int) -> Value:
    """The output, with the last states behind it when they are asked for."""
    if site.const("return_state", False) is not True:
        return out
    return Value(kind="sequence", obj=(out, out, Value(evident=True, nan=out.nan))[: 1 + others])


def lstm(site: Site, x: Value, call: Site) -> Value:
    """A gate times the activation of the cell state, which is not bounded."""
    state = linear(t.one_of(x))
    gate = _activation(site, state, call, "recurrent_activation", "sigmoid")
    return _states(site, t.multiply(gate, _activation(site, state, call, default="tanh")), 2)


def gru(site: Site, x: Value, call: Site) -> Value:
    """Between the state before, 0 at first, and the activation."""
    state = linear(t.one_of(x))
    gate = _activation(site, state, call, "recurrent_activation", "sigmoid")
    candidate = _activation(site, state, call, default="tanh")
    if not (gate.lo >= 0 and gate.hi <= 1.00001) or call.given("initial_state"):
        return _states(site, Value(evident=True, nan=x.nan), 1)
    lo, hi = outward(min(candidate.lo, 0.0), max(candidate.hi, 0.0), candidate.dtype, 64)
    return _states(site, Value(lo, hi, nan=candidate.nan, inf=candidate.inf), 1)


def simple_rnn(site: Site, x: Value, call: Site) -> Value:
    return _states(site, _activation(site, linear(t.one_of(x)), call, default="tanh"), 1)


layer(
    "LSTM CuDNNLSTM LSTMCell keras.layers.recurrent.LSTM",
    f"{_CELL} return_sequences return_state",
    lstm,
)
layer(
    "GRU CuDNNGRU GRUCell keras.layers.recurrent.GRU", f"{_CELL} return_sequences return_state", gru
)
layer(
    "SimpleRNN SimpleRNNCell",
    "units activation use_bias kernel_initializer recurrent_initializer return_sequences"
    " return_state",
    simple_rnn,
)
layer(
    "RNN",
    "cell return_sequences return_state",
    lambda site, x, call: _states(site, called(site.value("cell"), x, call), 1),
)


def _bidirectional(site: Site, x: Value, call: Site) -> Value:
    """Both directions: side by side, added, multiplied or averaged."""
    inner = called(site.value("layer"), x, call)
    mode = site.const("merge_mode", "concat")
    if mode in ("concat", "ave") or inner.kind == "sequence":
        return inner if inner.kind == "sequence" else passed(inner)
    two = inner.but(origin=None)
    return (
        t.add(inner, two)
        if mode == "sum"
        else _product([inner, two])
        if mode == "mul"
        else unknown()
    )


layer("Bidirectional", "layer merge_mode weights backward_layer", _bidirectional)
layer("TimeDistributed", "layer", lambda site, x, call: called(site.value("layer"), x, call))


# Activations as layers


def relu(x: Value, slope: float | None, highest: float | None, threshold: float | None) -> Value:
    """`x` above `threshold`, at most `highest`; slope * (x - threshold) from there down. Unknown
    constants: unknown.
    """
    if slope is None or threshold is None or slope < 0:
        return unknown("tensor")
    highest = INF if highest is None else highest

    def at(number: float) -> float:
        return (
            min(highest, number)
            if number > threshold
            else slope * (number - threshold)
            if slope
            else 0.0
        )

    low, high = -INF if t.reaches_minus_inf(x) else x.lo, INF if t.reaches_inf(x) else x.hi
    jump = [0.0, min(highest, threshold)] if low <= threshold < high else []
    if x.nan and threshold != 0 and slope == 0:
        jump.append(0.0)  # NaN is not above the threshold
    ends = [at(low), at(high), *jump]
    lo, hi = outward(min(ends), max(ends), x.dtype)
    zero = (
        x.zero
        or low <= 0 <= high
        or 0.0 in jump
        or (low <= threshold and (slope == 0 or threshold != 0))
    )
    infinite = t.reaches_minus_inf(x) and lo == -INF or t.reaches_inf(x) and hi == INF
    return Value(
        lo, hi, zero, nan=x.nan, inf=infinite, dtype=x.dtype, evident=x.evident and slope > 0
    )


def _as_op(name: str) -> Out:
    return lambda site, x, call: (
        applied(TABLE[name], entered(x), call) if name in TABLE else unknown("tensor")
    )


def _softmax_layer(site: Site, x: Value, call: Site) -> Value:
    result = _as_op("tf.nn.softmax")(site, x, call)
    if site.given("axis") and isinstance(result.origin, Site):
        result.origin.values["axis"] = site.value("axis")
    return result


def _relu_layer(site: Site, x: Value, call: Site) -> Value:
    if not any(site.given(p) for p in ("max_value", "negative_slope", "threshold")):
        return _as_op("tf.nn.relu")(site, x, call)
    highest = _constant(site, "max_value", None)  # not known: as good as none
    return relu(
        entered(x),
        _constant(site, "negative_slope", 0.0),
        highest,
        _constant(site, "threshold", 0.0),
    )


def _leaky(site: Site, x: Value, call: Site) -> Value:
    slope = (
        _constant(site, "alpha", 0.3)
        if site.given("alpha")
        else _constant(site, "negative_slope", 0.3)
    )
    return relu(entered(x), slope, None, 0.0)


def _prelu(site: Site, x: Value, call: Site) -> Value:
    """A slope that is 0, as it starts, makes NaN of -Inf."""
    x = entered(x)
    down = t.reaches_minus_inf(x)
    return x if x.lo >= 0 and not down else Value(evident=x.known, nan=x.nan or down, inf=x.inf)


def _elu(site: Site, x: Value, call: Site) -> Value:
    return elu_down_to(entered(x), _constant(site, "alpha", 1.0))


layer(
    "Activation keras.layers.core.Activation",
    "activation",
    lambda site, x, call: _activation(site, entered(x), call),
)
layer("ReLU", "max_value negative_slope threshold", _relu_layer)
layer("LeakyReLU keras.layers.advanced_activations.LeakyReLU", "negative_slope alpha", _leaky)
layer(
    "PReLU keras.layers.advanced_activations.PReLU",
    "alpha_initializer alpha_regularizer alpha_constraint shared_axes",
    _prelu,
)
layer("ELU keras.layers.advanced_activations.ELU", "alpha", _elu)
layer(
    "ThresholdedReLU",
    "theta",
    lambda site, x, call: relu(entered(x), 0.0, None, _constant(site, "theta", 1.0)),
)
layer("Softmax", "axis", _softmax_layer)


# Layers that hand values on


def _handed(site: Site, x: Value, call: Site) -> Value:
    return entered(x)


def _with_zero(site: Site, x: Value, call: Site) -> Value:
    x = entered(x)
    return join([x, number(0.0)]).but(
        kind="tensor", dtype=x.dtype, const=NO_CONSTANT, evident=x.evident
    )


def _averaged(site: Site, x: Value, call: Site) -> Value:
    """Means stay within the bounds, up to rounding."""
    x = entered(x)
    lo, hi = outward(x.lo, x.hi, x.dtype, 1024)
    lo, hi = (0.0 if x.lo == 0 else lo), (0.0 if x.hi == 0 else hi)
    return Value(
        lo,
        hi,
        x.zero or lo < 0 < hi,
        nan=x.nan or x.inf,
        inf=x.inf,
        dtype=x.dtype,
        guarded=x.guarded,
        evident=x.evident,
    )


def _interpolated(site: Site, x: Value, call: Site) -> Value:
    """Means of neighbours; cubic and Lanczos interpolation overshoot."""
    inside = site.const("interpolation", "nearest") in ("nearest", "bilinear")
    return _averaged(site, x, call) if inside else unknown("tensor")


layer("Flatten keras.layers.core.Flatten tf.layers.Flatten", "data_format", _handed)
layer("Reshape", "target_shape", _handed)
layer("Permute", "dims", _handed)
layer("RepeatVector", "n", _handed)
layer(
    "Cropping1D Cropping2D Cropping3D CenterCrop RandomCrop RandomFlip ActivityRegularization"
    " Identity UpSampling1D UpSampling3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D"
    " GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D",
    "size strides padding data_format",
    _handed,
)
layer(
    "MaxPooling1D MaxPooling2D MaxPooling3D MaxPool1D MaxPool2D MaxPool3D tf.layers.MaxPooling1D"
    " tf.layers.MaxPooling2D",
    "size strides padding data_format",
    lambda site, x, call: max_pooled(entered(x)),
)
layer(
    "AveragePooling2D AveragePooling1D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D"
    " GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D"
    " GlobalAvgPool2D GlobalAvgPool3D tf.layers.AveragePooling2D",
    "pool_size strides padding data_format",
    _averaged,
)
layer("UpSampling2D Resizing", "size data_format interpolation", _interpolated)
layer("ZeroPadding2D ZeroPadding1D ZeroPadding3D Masking", "padding data_format", _with_zero)
layer("InputLayer", "shape batch_size dtype", _handed)
layer(
    "Lambda keras.layers.core.Lambda",
    "function output_shape mask arguments",
    lambda site, x, call: _interpreted(call, site).apply(site.value("function"), x),
    applies=("function",),
)


def _dropped(site: Site, x: Value, call: Site) -> Value:
    """0, or scaled by 1 / (1 - rate)."""
    return dropped(entered(x), _constant(site, "rate", 0.5))


def dropped(x: Value, rate: float | None) -> Value:
    """`x` after dropout at `rate` (None: not known): elements are 0, scaled up, or unchanged when
    not training.
    """
    scale = 1.0 / (1.0 - rate) if rate is not None and 0 <= rate < 1 else 1.0 if rate == 1 else INF
    lo = min(x.lo, x.lo * scale if x.lo else 0.0, 0.0)
    hi = max(x.hi, x.hi * scale if x.hi else 0.0, 0.0)
    lo, hi = outward(lo, hi, x.dtype)
    if rate == 0:
        return passed(x)
    # scaled by a number above 1: the signs remain
    evident = x.evident or x.lo < 0 < x.hi and x.known and scale == INF
    return Value(lo, hi, True, nan=x.nan, inf=x.inf, dtype=x.dtype, evident=evident)


def _noisy(site: Site, x: Value, call: Site) -> Value:
    """Normal noise has no bounds."""
    x = entered(x)
    return Value(evident=x.known, nan=x.nan, inf=x.inf, dtype=x.dtype)


def _alpha_dropped(site: Site, x: Value, call: Site) -> Value:
    """Scaled and moved, so that mean and deviation stay: no bounds. What is dropped is multiplied
    by 0, also Inf.
    """
    x = entered(x)
    return Value(evident=x.known, nan=x.nan or x.inf, inf=x.inf, dtype=x.dtype)


layer(
    "Dropout keras.layers.core.Dropout tf.layers.Dropout SpatialDropout1D SpatialDropout2D"
    " SpatialDropout3D",
    "rate noise_shape seed",
    _dropped,
)
layer("GaussianNoise GaussianDropout", "stddev seed", _noisy)
layer("AlphaDropout", "rate noise_shape seed", _alpha_dropped)


def _rescaled(site: Site, x: Value, call: Site) -> Value:
    scale = t.one_of(site.value("scale"))
    offset = t.one_of(site.value("offset")) if site.given("offset") else number(0.0)
    x = entered(x)
    x = x if x.dtype not in ("uint8", "int32", "int64") else cast(x, "float32")
    result = t.add(t.multiply(x, scale), offset)
    lo, hi = outward(result.lo, result.hi, result.dtype)
    return Value(
        lo,
        hi,
        result.zero or lo <= 0 <= hi,
        nan=result.nan,
        inf=result.inf,
        dtype=result.dtype,
        evident=result.evident,
    )


layer("Rescaling keras.layers.experimental.preprocessing.Rescaling", "scale offset", _rescaled)


# Merging


def _folded(combine: Callable[[Value, Value], Value]) -> Callable[[list[Value]], Value]:
    def fold(values: list[Value]) -> Value:
        result = values[0]
        for value in values[1:]:
            result = combine(result, value)
        return passed(result)

    return fold


def _product(values: list[Value]) -> Value:
    return passed(_folded(t.multiply)(values))


def _mean(values: list[Value]) -> Value:
    x = join(values)
    lo, hi = outward(x.lo, x.hi, x.dtype, 16)
    return Value(
        lo,
        hi,
        x.zero or lo < 0 < hi,
        nan=x.nan or x.inf,
        inf=x.inf,
        dtype=x.dtype,
        evident=x.evident,
    )


def _inner(values: list[Value]) -> Value:
    """Sums of products."""
    both = t.multiply(join(values), join(values).but())
    sign = all(v.lo >= 0 for v in values)
    evident = not sign and all(v.known for v in values)
    return Value(
        0.0 if sign else -INF, INF, nan=both.nan or both.inf, inf=both.inf, evident=evident
    )


def _merge(names: str, combine: Callable[[list[Value]], Value], params: str = "") -> None:
    """A merging layer and the function of the same name."""
    first, function = names.split()

    def give(site: Site, x: Value) -> Value:
        if x.kind != "sequence" or not isinstance(x.obj, tuple) or not x.obj:
            return unknown("tensor")
        if site.const("normalize", False) is True:
            return Value(-1.00001, 1.00001, nan=t.one_of(x).nan)
        return combine([entered(v) for v in x.obj])

    layer(first, params, lambda site, x, call: give(site, x))
    op(
        f"keras.layers.{function}",
        f"keras.layers.merge.{function}",
        f"inputs {params}",
        lambda site: give(site, _in_any_dtype(site.value("inputs"))),
        untested=TESTED,
    )


def _in_any_dtype(inputs: Value) -> Value:
    """What is merged by a function, whose layer is not written: it casts to the dtype of its
    policy.
    """
    if not isinstance(inputs.obj, tuple):
        return inputs
    return inputs.but(
        obj=tuple(
            v.but(dtype=None) if v.dtype in ("float16", "bfloat16") else v for v in inputs.obj
        )
    )


_merge("Add add", _folded(t.add))
_merge("Subtract subtract", _folded(t.subtract))
_merge("Multiply multiply", _folded(t.multiply))
_merge("Average average", _mean)
_merge("Maximum maximum", _folded(t.maximum))
_merge("Minimum minimum", _folded(t.minimum))
_merge("Concatenate concatenate", join, "axis")
_merge("Dot dot", _inner, "axes normalize")


# Models


def _sequential(site: Site) -> Value:
    listed = site.value("layers")
    seen = listed.kind == "sequence" and isinstance(listed.obj, tuple)
    layers = tuple(layer for layer in listed.obj if not is_input(layer)) if seen else ()
    known = seen or not site.given("layers") or listed.kind == "none"
    unseen = Stack("keras.Sequential", site, (), False)
    return Value(
        kind="model",
        obj=Stack("keras.Sequential", site, layers, known, unseen) if known else unseen,
    )


def _model(site: Site) -> Value:
    """A functional model gives what its output tensors hold for any input."""
    outputs = site.value("outputs") if site.given("outputs") else unknown()
    return Value(kind="model", obj=Layer("keras.Model", site, lambda x, call: outputs))


def _predicted(site: Site) -> Value:
    model = site.value("self")
    return called(model, site.value("x"), site) if hasattr(model.obj, "out") else unknown()


op(
    "keras.Sequential",
    "keras.models.Sequential keras.engine.sequential.Sequential",
    "layers trainable name",
    _sequential,
    untested=TESTED,
    pure=False,
)
op(
    "keras.Model",
    "keras.models.Model keras.engine.training.Model keras.engine.Model keras.Functional",
    "inputs outputs name",
    _model,
    untested=TESTED,
    pure=False,
)
op(
    "method.predict",
    "method.predict_on_batch method.__call__ method.call method.predict_proba",
    "self x *rest",
    lambda site: _predicted(site),
    main="x",
    untested=TESTED,
    pure=False,
)


# Layer functions of TensorFlow 1 and slim: output, not layer


def _function(names: str, params: str, give: Callable[[Site, Value], Value], **info) -> None:
    first, *rest = names.split()
    info.setdefault("untested", "TensorFlow 1 only; the Keras layer is tested")
    op(
        first,
        " ".join(rest),
        f"x {params}",
        lambda site: give(site, site.value("x")),
        pure=False,
        **info,
    )


def _both(names: str) -> str:
    """slim and tf.contrib.layers hold the same functions."""
    return " ".join(
        f"{root}.{name}" for name in names.split() for root in ("slim", "tf.contrib.layers")
    )


def _keras_activation(site: Site, x: Value) -> Value:
    return _activation(site, linear(t.one_of(x), x.dtype), site)


def _slim_activation(default: str | None):
    return lambda site, x: _activation(
        site,
        linear(t.one_of(x), x.dtype),
        site,
        "activation_fn",
        None if activation_replaced(site) else default,
    )


_TF1: Final = (
    "activation use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
    "activity_regularizer"
)
_SLIM: Final = (
    "activation_fn normalizer_fn normalizer_params weights_initializer weights_regularizer"
    " biases_initializer scope"
)
_function(
    "tf.layers.dense",
    f"units {_TF1} kernel_constraint bias_constraint trainable name reuse",
    _keras_activation,
)
_function(
    "tf.layers.conv2d tf.layers.conv1d tf.layers.conv3d tf.layers.conv2d_transpose"
    " tf.layers.conv3d_transpose",
    f"filters kernel_size strides padding data_format dilation_rate {_TF1} name reuse",
    _keras_activation,
)
_function(
    "tf.layers.separable_conv2d tf.layers.separable_conv1d",
    f"filters kernel_size strides padding data_format dilation_rate depth_multiplier {_TF1}",
    _keras_activation,
)
_function(
    "tf.layers.batch_normalization " + _both("batch_norm layer_norm instance_norm group_norm"),
    "axis momentum epsilon center scale activation_fn",
    lambda site, x: _activation(site, linear(t.one_of(x), x.dtype), site, "activation_fn"),
)
_function(
    "tf.layers.flatten slim.flatten tf.contrib.layers.flatten",
    "name",
    lambda site, x: passed(x),
    passes="x",
)
_function(
    "tf.layers.max_pooling2d tf.layers.max_pooling1d tf.layers.max_pooling3d "
    + _both("max_pool2d"),
    "pool_size strides padding",
    lambda site, x: passed(x),
)
_function(
    "tf.layers.average_pooling2d tf.layers.average_pooling1d tf.layers.average_pooling3d "
    + _both("avg_pool2d"),
    "pool_size strides padding",
    lambda site, x: _averaged(site, x, site),
)
_function(
    "tf.layers.dropout",
    "rate noise_shape seed training name",
    lambda site, x: dropped(passed(x), _constant(site, "rate", 0.5)),
)
_function(
    _both("dropout"),
    "keep_prob noise_shape is_training outputs_collections scope",
    lambda site, x: dropped(passed(x), _kept(site)),
)
_function(
    _both("fully_connected") + " tf.contrib.layers.relu",
    f"num_outputs {_SLIM}",
    _slim_activation("relu"),
)
_function(
    _both("conv2d convolution2d convolution conv2d_transpose convolution2d_transpose"),
    f"num_outputs kernel_size stride padding data_format rate {_SLIM}",
    _slim_activation("relu"),
)
_function(
    _both("separable_conv2d separable_convolution2d"),
    f"num_outputs kernel_size depth_multiplier stride padding rate {_SLIM}",
    _slim_activation("relu"),
)
_function(_both("linear"), "num_outputs scope", _slim_activation(None))
_function(
    "tf.contrib.layers.softmax", "scope", lambda site, x: applied(TABLE["tf.nn.softmax"], x, site)
)
_function(
    _both("unit_norm"),
    "dim epsilon scope",
    lambda site, x: Value(
        0.0 if x.lo >= 0 else -1.00001, 0.0 if x.hi <= 0 else 1.00001, nan=x.nan, dtype=x.dtype
    ),
)


def _kept(site: Site) -> float | None:
    """Dropout rate from `keep_prob`."""
    kept = _constant(site, "keep_prob", 0.5)
    return None if kept is None else 1.0 - kept
