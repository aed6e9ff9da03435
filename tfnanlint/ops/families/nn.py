"""Neural network ops: activations, softmax, cross-entropies on logits, normalisation, convolution,
pooling, dropout.
"""

from __future__ import annotations

import math
from typing import Callable, Final

from tfnanlint.ops.families.arrays import cast
from tfnanlint.ops.families.reductions import COUNT, total
from tfnanlint.ops.relations.counts import axis_of
from tfnanlint.ops.relations.shapes import last_length
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import TABLE, Op, op
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer import curves as c
from tfnanlint.ops.transfer.core import INF, Function, Value, reaches_inf, reaches_minus_inf
from tfnanlint.values.value import FLOATS

# Softmax


def softmax(x: Value) -> Value:
    """Shares in [0, 1]: small ones underflow to 0 (from 87 below the largest logit in float32); all
    -Inf gives NaN.

    Of logits within a bounded width no share is 0, for up to a million of them.
    """
    nan = x.nan or x.inf
    width = x.hi - x.lo if x.hi > x.lo else 0.0
    smallest = t.safely(lambda w: math.exp(-w) * 1e-6, width) if width < INF else 0.0
    zero = smallest < t.smallest(x.dtype) or x.inf or x.nan
    return Value(0.0, 1.0, zero, nan=nan, dtype=x.dtype)


def _softmax(site: Site) -> Value:
    x = site.value(site.op.main)
    is_last = site.complete and axis_of(site, -1) == -1
    if is_last and last_length(x) == 1:  # the only one of its row has all of it
        return t.with_kind(Value(1.0, 1.0, nan=x.nan or x.inf, dtype=x.dtype), x)
    return _softmax_of_rows(site)


_softmax_of_rows: Final = t.unary(softmax)


def log_softmax(x: Value) -> Value:
    """At most 0; finite for finite logits, but for differences that overflow."""
    width = x.hi - x.lo
    overflows = x.lo != -INF and x.hi != INF and width > t.limits_of(x.dtype).max
    return Value(-INF, 0.0, nan=x.nan or x.inf, inf=x.inf or overflows, dtype=x.dtype)


op(
    "tf.nn.softmax",
    "tf.math.softmax K.softmax ops.softmax ops.nn.softmax keras.activations.softmax slim.softmax "
    "raw.Softmax",
    "logits axis name",
    _softmax,
    reaches=(1.0,),
    reference="tf.nn.softmax(logits)",
    promotes="floats",
)
op(
    "tf.nn.log_softmax",
    "tf.math.log_softmax ops.log_softmax keras.activations.log_softmax raw.LogSoftmax",
    "logits axis name",
    t.unary(log_softmax),
    reference="tf.nn.log_softmax(logits)",
    promotes="floats",
)


def sparsemax(x: Value) -> Value:
    """What is left of logits above a threshold, which Keras takes from the sum of all running sums:
    logits below 0 put it too low, and what is left has no bound. Beside NaN it is Inf. Where z - (z
    - 1) is 0 nothing supports the threshold: it is -Inf.
    """
    # 2 ** 24: behind it z - 1 is z, or z - 2
    reach, exact = max(abs(x.lo), abs(x.hi)), 2 / t.limits_of(x.dtype).eps
    hi = INF if x.lo < 0 else 1.0 if reach <= exact else 2.0
    return Value(
        0.0, hi, nan=x.nan or x.inf, inf=x.nan or x.inf or exact < reach < INF, dtype=x.dtype
    )


op(
    "ops.sparsemax",
    "keras.activations.sparsemax",
    "logits axis",
    t.unary(sparsemax),
    untested="keras.ops; no float16",
)

# Activations


def relu(x: Value) -> Value:
    return t.maximum(x, t.number(0.0))


def relu6(x: Value) -> Value:
    return t.clip(x, t.number(0.0), t.number(6.0))


def _relu(site: Site) -> Value:
    """K.relu, keras.activations.relu: with an optional slope below 0, a largest value and a
    threshold.
    """
    x = site.value("x")
    slope, top, threshold = (
        t.constant(site.value(p)) if site.given(p) and site.value(p).kind != "none" else 0.0
        for p in ("negative_slope", "max_value", "threshold")
    )
    if slope is None or threshold is None or top is None:
        return t.unary(lambda v: Value(nan=v.nan, inf=v.inf, dtype=v.dtype))(site)
    below = t.multiply(
        t.subtract(t.minimum(x, t.number(threshold)), t.number(threshold)), t.number(slope)
    )
    above = relu(x)
    result = t.unary(lambda _: t.join([above, below]) if slope else above)(site)
    return (
        t.minimum(result, t.number(top))
        if site.given("max_value") and site.value("max_value").kind != "none"
        else result
    )


def _leaky(x: Value, slope: float) -> Value:
    if not 0 <= slope <= 1:
        return Value(nan=x.nan, inf=x.inf, dtype=x.dtype)
    if x.dtype == "float64":
        slope = t.rounded(slope, None)  # an attribute of the op is a float32
    return t.maximum(x, t.multiply(x, t.number(slope))) if slope else relu(x)


def _leaky_relu(site: Site) -> Value:
    slope = t.constant(site.value("alpha")) if site.given("alpha") else 0.2
    return t.unary(
        lambda x: _leaky(
            _of_kernel(x) if site.library == "raw" else x, -1.0 if slope is None else slope
        )
    )(site)


def dipping(
    function: Callable[[float], float],
    lowest: float,
    where: float,
    slack: float = 1e-3,
    flat: float = -5.0,
) -> Function:
    """Transfer of swish, gelu and their like: falling to `lowest` at `where` < 0, rising from
    there, 0 below `flat`.
    """

    def give(x: Value) -> Value:
        ends = [
            0.0 if v == -INF else INF if v == INF else t.safely(function, v) for v in (x.lo, x.hi)
        ]
        lo = lowest - slack if x.lo <= where <= x.hi else min(ends)
        # its constants are float32: tf.nn.gelu divides by 1.41421354
        kernel = None if x.dtype == "float64" else x.dtype
        lo, hi = t.outward(lo, max(max(ends), 0.0 if x.lo < -1 else -INF), kernel, 256)
        zero = (
            x.zero
            or x.lo <= flat
            or x.inf
            or t.least_magnitude(x, x.dtype) < 4 * t.smallest(x.dtype)
        )
        if x.hi < 0:
            hi = min(hi, 0.0)
        if x.lo < 0:
            lo -= slack * abs(lowest)
        nan = x.nan or reaches_minus_inf(x)
        return t.made(
            min(lo, 0.0) if zero else lo,
            max(hi, 0.0) if zero else hi,
            x,
            nan=nan,
            up=reaches_inf(x),
            zero=zero,
            dtype=x.dtype,
        )

    return give


def _swish(x: float) -> float:
    return x * c.sigmoid_at(x)


def _gelu(x: float) -> float:
    return 0.5 * x * (1.0 + math.erf(x / math.sqrt(2.0)))


def _gelu_by_tanh(x: float) -> float:
    return 0.5 * x * (1.0 + math.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def _mish(x: float) -> float:
    return x * math.tanh(c.softplus_at(x))


def _flat_below(function: Function) -> Function:
    """exp(x) - 1 as the kernels compute it: 0 for x within a spacing below 0."""

    def give(x: Value) -> Value:
        result = function(x)
        if x.lo < 0 and x.hi > -t.limits_of(x.dtype).eps:
            result = Value(
                result.lo, max(result.hi, 0.0), True, nan=x.nan, inf=result.inf, dtype=x.dtype
            )
        return result

    return give


def shrunk(x: Value) -> Value:
    """No further from 0 than x, and 0 near 0."""
    return Value(min(x.lo, 0.0), max(x.hi, 0.0), True, nan=x.nan or x.inf, inf=x.inf, dtype=x.dtype)


_plain_elu = _flat_below(
    t.increasing(lambda x: x if x > 0 else math.expm1(x), -1.0, INF, ulps=16, odd=True)
)
SELU, SELU_FLOOR = 1.0507009873554805, -1.7580993408473766
_scaled_elu = _flat_below(
    t.increasing(
        lambda x: SELU * x if x > 0 else -SELU_FLOOR * math.expm1(x),
        SELU_FLOOR * 1.001,
        INF,
        ulps=64,
        odd=True,
    )
)
softsign = t.increasing(lambda x: x / (1.0 + abs(x)), -1.0, 1.0, ulps=16)
swish = dipping(_swish, -0.27846454276107, -1.2784645427611)
gelu = dipping(_gelu, -0.17004075057125, -0.7517915246935)
_gelu_approximate = dipping(_gelu_by_tanh, -0.17004075057125, -0.7524614220710)
mish = dipping(_mish, -0.30884341, -1.1924312)


def _less_one(result: Value, floor: float) -> Value:
    """What a kernel gives that subtracts 1 from exp(x): off by the spacing at 1, however small x
    is.
    """
    slack = 4 * t.limits_of(result.dtype).eps
    lo = max(result.lo - slack, floor) if result.lo < 0 else result.lo
    hi = min(result.hi + slack, 0.0) if result.hi < 0 else result.hi
    return result.but(lo=lo, hi=hi, zero=result.zero or hi == 0)


def elu(x: Value) -> Value:
    return _less_one(_plain_elu(x), -1.0)


def elu_down_to(x: Value, alpha: float | None) -> Value:
    """alpha * (exp(x) - 1) below 0; of an alpha that is not known, or turns it over, nothing is
    said.
    """
    if alpha is None or alpha < 0:
        return Value(nan=x.nan, inf=x.inf, dtype=x.dtype)
    if alpha == 1:
        return elu(x)
    below = t.multiply(_less_one(_plain_elu(t.minimum(x, t.number(0.0))), -1.0), t.number(alpha))
    negative = x.lo < 0 or reaches_minus_inf(x)
    lo = below.lo if negative else x.lo
    return Value(
        lo,
        max(x.hi, below.hi) if x.hi <= 0 else x.hi,
        x.zero or below.zero and negative,
        nan=x.nan,
        inf=x.inf,
        dtype=x.dtype,
    )


def selu(x: Value) -> Value:
    return _less_one(_scaled_elu(x), SELU_FLOOR * 1.001)


def _softsign(x: Value) -> Value:
    """x / (1 + |x|): Inf gives NaN."""
    result = softsign(x)
    result.nan = x.nan or x.inf
    result.zero = x.zero or result.zero
    return result


def crelu(x: Value) -> Value:
    return t.join([relu(x), relu(t.negative(x))])


def _elu(site: Site) -> Value:
    alpha = t.constant(site.value("alpha")) if site.given("alpha") else 1.0
    return t.unary(lambda x: elu_down_to(x, alpha))(site)


def _swish_of(site: Site) -> Value:
    """x * sigmoid(beta * x): between 0 and x, whatever beta is."""
    if not site.given("beta") or t.constant(site.value("beta")) == 1:
        return t.unary(swish)(site)
    return t.unary(shrunk)(site)


op(
    "tf.nn.relu",
    "ops.relu ops.nn.relu slim.relu raw.Relu",
    "x name",
    t.unary(relu),
    reaches=(0.0,),
    reference="tf.nn.relu(x)",
)
op(
    "keras.activations.relu",
    "K.relu",
    "x negative_slope max_value threshold",
    _relu,
    reference="keras.activations.relu(x)",
)
op(
    "tf.nn.relu6",
    "ops.relu6 keras.activations.relu6 raw.Relu6",
    "x name",
    t.unary(relu6),
    reaches=(0.0,),
    reference="tf.nn.relu6(x)",
)
op(
    "tf.nn.leaky_relu",
    "ops.leaky_relu keras.activations.leaky_relu raw.LeakyRelu",
    "x alpha name",
    _leaky_relu,
    reference="tf.nn.leaky_relu(x)",
)
op(
    "tf.nn.elu",
    "K.elu ops.elu keras.activations.elu raw.Elu",
    "x alpha name",
    _elu,
    reaches=(-1.0,),
    reference="tf.nn.elu(x)",
    positions={"tf.nn.elu": ("x", "name")},
)
op(
    "tf.nn.selu",
    "ops.selu keras.activations.selu raw.Selu",
    "x name",
    t.unary(selu),
    reference="tf.nn.selu(x)",
)
op(
    "tf.nn.silu",
    "tf.nn.swish ops.silu ops.swish keras.activations.silu keras.activations.swish",
    "x beta",
    _swish_of,
    reference="tf.nn.silu(x)",
)


def _gelu_of(site: Site) -> Value:
    """By erf, or by tanh, which keras.ops takes when it is not asked."""
    asked = site.const("approximate", site.name == "ops.gelu")
    if asked in (True, False):
        return t.unary(_gelu_approximate if asked else gelu)(site)
    return t.unary(lambda x: t.join([_gelu_approximate(x), gelu(x)]))(site)


op(
    "tf.nn.gelu",
    "ops.gelu keras.activations.gelu",
    "x approximate name",
    _gelu_of,
    reference="tf.nn.gelu(x)",
)
op(
    "keras.activations.mish",
    "tfa.activations.mish",
    "x",
    t.unary(mish),
    reference="keras.activations.mish(x)",
)


def activation_named(name: object) -> Op | None:
    """The row of an activation that Keras is given by name. That of keras.activations.relu has
    slopes and thresholds, which a name does not give.
    """
    return (
        TABLE.get("tf.nn.relu" if name == "relu" else f"keras.activations.{name}")
        if isinstance(name, str)
        else None
    )


def _activation_of_name(site: Site) -> Value:
    """The function of a name, none for None; a function or layer as it is."""
    x = site.value("x")
    activation = (
        activation_named("linear" if x.kind == "none" else x.const)
        if x.kind in ("none", "string")
        else None
    )
    if activation is not None:
        return Value(kind="function", obj=activation, const=activation.name)
    return x.but() if x.kind in ("function", "layer") else Value(kind="unknown")


def _untouched(site: Site) -> Value:
    """What arrives; an array of NumPy's is not made a tensor, which would keep its dtype where it
    meets another one.
    """
    x = t.passes()(site)
    return x if x.kind != "array" else x.but(dtype=None, kind="unknown")


op(
    "keras.activations.get",
    "",
    "x",
    _activation_of_name,
    untested="a function; fixtures/reveal/layers_and_models.py",
)
op(
    "tf.nn.softsign",
    "tf.math.softsign K.softsign ops.softsign keras.activations.softsign raw.Softsign",
    "x name",
    t.unary(_softsign),
    reference="tf.nn.softsign(x)",
)
op("tf.nn.crelu", "", "x name axis", t.unary(crelu), reference="tf.nn.crelu(x)")
op(
    "keras.activations.exponential",
    "",
    "x",
    t.unary(t.exp),
    masked="all",
    reference="keras.activations.exponential(x)",
)
op(
    "keras.activations.linear",
    "",
    "x",
    _untouched,
    passes="x",
    reference="keras.activations.linear(x)",
)
op(
    "keras.activations.hard_sigmoid",
    "K.hard_sigmoid ops.hard_sigmoid",
    "x",
    t.unary(t.increasing(lambda x: min(max(x / 6 + 0.5, 0.0), 1.0), 0.0, 1.0, ulps=16)),
    reference="keras.activations.hard_sigmoid(x)",
)
op(
    "ops.hard_tanh",
    "keras.activations.hard_tanh",
    "x",
    t.unary(lambda x: t.clip(x, t.number(-1.0), t.number(1.0))),
    reference="keras.activations.hard_tanh(x)",
)
op(
    "ops.hard_silu",
    "ops.hard_swish keras.activations.hard_silu keras.activations.hard_swish",
    "x",
    t.unary(dipping(lambda x: x * min(max(x / 6 + 0.5, 0.0), 1.0), -0.375, -1.5, flat=-3.0)),
    reference="keras.activations.hard_silu(x)",
)
op(
    "ops.squareplus",
    "keras.activations.squareplus",
    "x b",
    t.unary(t.increasing(lambda x: (x + math.sqrt(x * x + 4)) / 2, 0.0, INF, ulps=64)),
    untested="its width depends on b",
    positions={"ops.squareplus": ("x", "b")},
)
op(
    "ops.tanh_shrink",
    "keras.activations.tanh_shrink",
    "x",
    t.unary(shrunk),
    reference="keras.activations.tanh_shrink(x)",
)
op(
    "ops.soft_shrink",
    "keras.activations.soft_shrink ops.hard_shrink keras.activations.hard_shrink",
    "x threshold",
    t.unary(shrunk),
    reference="keras.activations.soft_shrink(x)",
)
op(
    "ops.threshold",
    "keras.activations.threshold",
    "x threshold value",
    lambda site: t.join([site.value("x"), site.value("value")]).but(kind="tensor"),
    untested="two more numbers",
)
op(
    "ops.glu",
    "keras.activations.glu",
    "x axis",
    t.unary(shrunk),
    untested="needs an even axis: a half times a sigmoid",
)
op(
    "tf.nn.relu_layer",
    "",
    "x weights biases name",
    lambda site: relu(t.anything(site)),
    untested="tf.nn.relu is tested",
)
op(
    "tf.nn.scale_regularization_loss",
    "tf.nn.compute_average_loss",
    "x *rest",
    t.passes(),
    untested="divides by a count",
)
op(
    "ops.celu",
    "keras.activations.celu",
    "x alpha",
    t.unary(lambda x: Value(-INF, INF, nan=x.nan, inf=x.inf, dtype=x.dtype)),
    untested="its floor depends on alpha",
)

# Cross-entropies on logits


def _from_logits(*targets: str):
    """Nonnegative for targets in [0, 1]; finite for finite logits; Inf logits give NaN."""

    def give(site: Site) -> Value:
        logits = site.value("logits")
        others = [site.value(param) for param in targets]
        shares = all(0 <= v.lo and v.hi <= 1 or not v.known for v in others)
        nan = logits.nan or logits.inf or any(v.nan or v.inf for v in others)
        inf = logits.inf or any(v.inf for v in others) or _beyond(logits, *others)
        return Value(0.0 if shares else -INF, INF, nan=nan, inf=inf, dtype=logits.dtype)

    return give


def _beyond(logits: Value, *factors: Value) -> bool:
    """Whether sums of products with logits overflow."""
    largest = t.limits_of(logits.dtype).max / COUNT
    reach = max(abs(v) for v in (logits.lo, logits.hi, 1.0) if v not in (INF, -INF))
    for factor in factors:
        reach *= max(abs(v) for v in (factor.lo, factor.hi, 1.0) if v not in (INF, -INF))
    return reach > largest


op(
    "tf.nn.sigmoid_cross_entropy_with_logits",
    "",
    "labels logits name",
    _from_logits("labels"),
    main="logits",
    reference="tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)",
)
op(
    "tf.nn.weighted_cross_entropy_with_logits",
    "",
    "labels logits pos_weight name",
    _from_logits("labels"),
    main="logits",
    untested="sigmoid_cross_entropy_with_logits times a weight",
)
op(
    "tf.nn.softmax_cross_entropy_with_logits",
    "tf.nn.softmax_cross_entropy_with_logits_v2",
    "labels logits axis name",
    _from_logits("labels"),
    main="logits",
    reference="tf.nn.softmax_cross_entropy_with_logits(labels, logits)",
)
op(
    "tf.nn.sparse_softmax_cross_entropy_with_logits",
    "",
    "labels logits name",
    _from_logits(),
    main="logits",
    untested="takes integer labels; the dense one is tested",
)
op(
    "tf.nn.log_poisson_loss",
    "",
    "targets log_input compute_full_loss name",
    lambda site: t.subtract(
        t.exp(site.value("log_input")), t.multiply(site.value("log_input"), site.value("targets"))
    ),
    main="log_input",
    gradient="infinite where exp overflows",
    reference="tf.nn.log_poisson_loss(targets, log_input)",
)
op(
    "tf.nn.ctc_loss",
    "tf.nn.ctc_loss_v2 ops.ctc_loss",
    "labels logits label_length logit_length",
    lambda site: Value(0.0, INF, inf=True),
    main="logits",
    untested="takes label sequences; Inf for impossible lengths",
)
op(
    "tf.nn.nce_loss",
    "tf.nn.sampled_softmax_loss",
    "weights biases labels inputs num_sampled num_classes",
    t.ranged(0.0, INF),
    main="inputs",
    untested="samples at random",
    pure=False,
)

# Linear layers, normalisation, pooling


def _linear(left: str, right: str):
    def give(site: Site) -> Value:
        return total(t.multiply(site.value(left), site.value(right)))

    return give


def _one_sided(x: Value, bias: Value) -> Value:
    return t.add(x, bias)


op(
    "tf.nn.bias_add",
    "K.bias_add raw.BiasAdd",
    "x bias data_format name",
    t.binary(_one_sided, "x", "bias"),
    untested="a sum; tf.add is tested",
)
op(
    "tf.nn.xw_plus_b",
    "",
    "x weights biases name",
    lambda site: t.add(_linear("x", "weights")(site), site.value("biases")),
    untested="tf.matmul and tf.add are tested",
)
op(
    "tf.nn.conv2d",
    "tf.nn.conv1d tf.nn.conv3d tf.nn.convolution tf.nn.depthwise_conv2d tf.nn.separable_conv2d"
    " tf.nn.atrous_conv2d tf.nn.conv2d_transpose tf.nn.conv1d_transpose tf.nn.conv3d_transpose"
    " tf.nn.conv_transpose tf.nn.depthwise_conv2d_native K.conv1d K.conv2d K.conv3d"
    " K.conv2d_transpose K.depthwise_conv2d K.separable_conv2d ops.conv ops.conv_transpose"
    " ops.depthwise_conv ops.separable_conv raw.Conv2D raw.Conv3D raw.DepthwiseConv2dNative",
    "x filters strides padding *rest",
    _linear("x", "filters"),
    untested="needs images; tf.matmul is tested",
)


def max_pooled(x: Value) -> Value:
    """The largest number of each window; NaN is none of them, and where nothing else is in a
    window, it is the lowest of all numbers, which of numbers of 16 bits is -Inf on some processors.
    """
    return (
        x.but(lo=-INF, zero=x.zero or x.hi >= 0, inf=x.inf or x.dtype in ("float16", "bfloat16"))
        if x.nan and x.known
        else x
    )


def _of_kernel(x: Value) -> Value:
    """What a kernel whose dtype has a default gets of an array: eagerly it is cast to float32, in a
    graph it keeps its dtype.
    """
    if x.kind == "array" and x.dtype in FLOATS and x.dtype != "float32":
        return t.join([x, cast(x, "float32")]).but(dtype=None, kind="tensor")
    return x


def _max_pooled(site: Site) -> Value:
    x = t.passes()(site)
    # Keras makes a tensor of it before
    return max_pooled(_of_kernel(x) if site.library in ("tf", "raw") else x)


op(
    "tf.nn.max_pool",
    "tf.nn.max_pool1d tf.nn.max_pool2d tf.nn.max_pool3d tf.nn.max_pool_v2"
    " ops.max_pool tf.nn.fractional_max_pool raw.MaxPool",
    "x ksize strides padding *rest",
    _max_pooled,
    untested="needs images; tests/ops/families/test_arrays.py",
)
op(
    "tf.nn.pool",
    "K.pool2d K.pool3d",
    "x ksize pooling_type strides padding *rest",
    _max_pooled,
    positions={
        f"K.{name}": ("x", "ksize", "strides", "padding", "data_format", "pooling_type")
        for name in ("pool2d", "pool3d")
    },
    untested="needs images; tests/ops/families/test_arrays.py",
)
op(
    "tf.nn.avg_pool",
    "tf.nn.avg_pool1d tf.nn.avg_pool2d tf.nn.avg_pool3d tf.nn.avg_pool_v2 ops.average_pool"
    " tf.nn.fractional_avg_pool raw.AvgPool",
    "x ksize strides padding *rest",
    t.passes(),
    untested="needs images; tests/ops/families/test_arrays.py",
)
op(
    "tf.nn.dropout",
    "K.dropout keras.random.dropout",
    "x rate noise_shape seed name",
    lambda site: t.join(
        [t.number(0.0), site.value("x"), t.multiply(site.value("x"), Value(1.0, INF))]
    ).but(kind="tensor", dtype=site.value("x").dtype),
    pure=False,
    untested="random; zero or scaled up",
)


def _normalised(site: Site) -> Value:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset: any number; NaN where the epsilon is
    0.
    """
    return _scaled(site, 0.0)


def _normalised_in_own_dtype(site: Site) -> Value:
    """The same, where float16 is not computed in float32: the epsilon may be 0 in it."""
    return _scaled(site, t.smallest(site.value("x").dtype))


def _scaled(site: Site, least: float) -> Value:
    x = site.value("x")
    param = "variance_epsilon" if "variance_epsilon" in site.op.params else "epsilon"
    epsilon = t.constant(site.value(param)) if site.given(param) else 1e-3
    is_lost = epsilon is not None and (epsilon == 0 or t.rounded(epsilon, x.dtype) < least)
    return Value(nan=x.nan or x.inf or is_lost, dtype=x.dtype, evident=x.evident)


op(
    "tf.nn.batch_normalization",
    "",
    "x mean variance offset scale variance_epsilon name",
    _normalised_in_own_dtype,
    untested="the same arithmetic as its parts; tests of divide and sqrt",
)
op(
    "K.batch_normalization",
    "",
    "x mean var beta gamma axis epsilon",
    _normalised_in_own_dtype,
    untested="Keras 2; see tf.nn",
)
op(
    "ops.batch_normalization",
    "",
    "x mean variance axis offset scale epsilon",
    _normalised_in_own_dtype,
    untested="see tf.nn",
)
op(
    "ops.layer_normalization",
    "ops.rms_normalization",
    "x gamma beta axis epsilon",
    _normalised,
    untested="see tf.nn",
)
op(
    "tf.nn.fused_batch_norm",
    "raw.FusedBatchNormV3",
    "x scale offset mean variance epsilon *rest",
    lambda site: t.several(_normalised(site), Value(), Value(0.0, INF)),
    untested="returns a triple",
)
op(
    "tf.nn.local_response_normalization",
    "tf.nn.lrn raw.LRN",
    "x depth_radius bias alpha beta name",
    lambda site: (
        Value(
            min(site.value("x").lo, 0.0),
            max(site.value("x").hi, 0.0),
            nan=site.value("x").nan or site.value("x").inf,
        )
        if not any([site.given(param) for param in ("bias", "alpha", "beta")])
        else Value()
    ),
    untested="needs images; fixtures/flow",
)
op(
    "tf.nn.embedding_lookup_sparse",
    "tf.nn.safe_embedding_lookup_sparse",
    "params ids *rest",
    t.anything,
    main="params",
    untested="weighted sums of rows",
)
op(
    "tf.math.in_top_k",
    "tf.nn.in_top_k K.in_top_k ops.in_top_k",
    "targets predictions k name",
    t.ranged(0.0, 1.0, dtype="bool"),
    untested="takes class indices",
)


def _resized(site: Site) -> Value:
    """Between the least and the largest pixel, but for rounding, and in float32, unless pixels are
    only picked; the cubic and Lanczos kernels go beyond.
    """
    x = site.value("x")
    method = site.const("method", "bilinear")
    if method == "nearest":
        return x.but(kind="tensor")
    x = cast(x, "float32")
    if method not in ("bilinear", "area"):
        return Value(nan=x.nan or x.inf, inf=x.inf)
    lo, hi = t.outward(x.lo, x.hi, None, 8)
    return Value(lo, hi, nan=x.nan or x.inf, inf=x.inf, evident=x.evident)


op(
    "tf.image.resize",
    "tf.image.resize_bilinear tf.image.resize_area",
    "x size method preserve_aspect_ratio antialias name",
    _resized,
    positions={one: ("x", "size") for one in ("tf.image.resize_bilinear", "tf.image.resize_area")},
    reference="tf.image.resize(x[None, :, None], [3, 3])",
)


def _edges(site: Site) -> Value:
    """Weighted differences of pixels, the weights 4 in all on either side."""
    x = site.value("x")
    largest = max(-x.lo, x.hi)
    if x.inf or 8 * largest > t.limits_of(x.dtype).max:  # unlike Infs may meet
        return Value(nan=x.nan or x.inf or x.known, inf=x.inf or x.known, dtype=x.dtype)
    reach = 4 * (x.hi - x.lo) + largest / 16  # what is rounded away of equal pixels, at most
    return Value(-reach, reach, nan=x.nan, dtype=x.dtype)


op(
    "tf.image.sobel_edges",
    "",
    "x",
    _edges,
    reference="tf.image.sobel_edges(tf.tile(tf.reshape(x, [1, -1, 1, 1]), [1, 2, 3, 1]))",
)
op(
    "tf.image.image_gradients",
    "",
    "x",
    lambda site: t.several(_edges(site), _edges(site)),
    untested="returns a pair; tf.image.sobel_edges is tested",
)
