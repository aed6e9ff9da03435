"""Variables, placeholders, inputs, initial values, constraints, optimizers, gradients and
summaries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Final

from tfnanlint.conventions.identifiers import is_random_initializer
from tfnanlint.ops.families.arrays import INTEGERS, as_tensor, dtype_given, like
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.table import ROWS, op
from tfnanlint.ops.transfer import core as t
from tfnanlint.values.value import (
    INF,
    NO_CONSTANT,
    NO_FLOATS,
    Note,
    Value,
    join,
    number,
    outward,
    unknown,
)


@dataclass(frozen=True, slots=True)
class CallableObject:
    """What is called with a tensor and is no layer: an initializer, constraint, regularizer, loss
    or metric.
    """

    name: str
    site: Site
    out: Callable[[Value, Site], Value]


# Variables


def _trainable(site: Site) -> bool:
    return site.const("trainable", True) is not False


def moved_by_training(site: Site, of_metric: bool = False) -> bool:
    """Whether training assigns to the variable that a site makes; Keras does not train those of
    metrics.
    """
    return site.const("trainable", not of_metric) is not False and not (
        of_metric and site.op.name == "method.add_weight"
    )


def started(site: Site) -> Value:
    """What a variable holds before anything is assigned to it."""
    param = site.op.starts
    if site.op.name == "method.add_weight" and dtype_given(site) in INTEGERS:
        if not site.given(param):
            return number(0.0)
    initial = site.value(param)
    if starts_at_random(site) and not initial.lo > 0:
        return Value(evident=True)
    if isinstance(initial.const, str) and initial.kind == "string":
        return {
            "zeros": number(0.0),
            "zero": number(0.0),
            "ones": number(1.0),
            "one": number(1.0),
        }.get(initial.const.lower(), unknown())
    return _start(site, param)


_DRAWS: Final = ("tf.random.", "np.random.", "K.random_")


def starts_at_random(site: Site) -> bool:
    """Whether a variable starts with random numbers: so do those whose initializer is left to
    TensorFlow.
    """
    param = site.op.starts
    if not param or site.hidden or not site.complete and not site.given(param):
        return False
    if not site.given(param):
        return param == "initializer" and dtype_given(site) not in NO_FLOATS
    initial = site.value(param)
    note = initial.origin
    of_callers = note.options if isinstance(note, Note) else ()
    return all(map(_is_random, of_callers or (initial,)))


def _is_random(initial: Value) -> bool:
    """Whether an initial value or an initializer is one of random numbers."""
    described = _described(initial)
    drawn = described.origin
    if isinstance(drawn, Site) and _is_draw(drawn.op.name):
        return True
    name = described.obj.name if isinstance(described.obj, CallableObject) else described.const
    if name is NO_CONSTANT and isinstance(described.origin, Note):
        # the caller of the layer may choose another one; no program trains from zeros where this is
        # meant
        name = described.origin.default
    return isinstance(name, str) and is_random_initializer(name)


def _is_draw(name: str) -> bool:
    """Whether an op draws random numbers, or is an initializer that does."""
    return name.startswith(_DRAWS) or is_random_initializer(name.rpartition(".")[2])


def begins_at_zero(variable: Site) -> bool:
    """Whether a variable holds 0 before anything is assigned to it."""
    begun = started(variable)
    return begun.exact and begun.lo == 0


def starts_at_zero(initializer: Value) -> bool:
    """Whether an initializer, its class or its name makes zeros."""
    described = _described(initializer)
    name = described.obj.name if isinstance(described.obj, CallableObject) else described.const
    return isinstance(name, str) and name.rsplit(".", 1)[-1].lower() in ("zeros", "zero")


def _described(initializer: Value) -> Value:
    """What `keras.initializers.get` was given."""
    got = made_by(initializer, "keras.initializers.get")
    return got.value("x") if got is not None else initializer


def variable(site: Site, initial: Value, dtype: str | None) -> Value:
    """Evidently any number when training moves it, unless a constraint holds it.

    What an untrained one gets is not known.
    """
    initial = as_tensor(initial, dtype) if initial.known else initial
    dtype = dtype or initial.dtype
    moves = _trainable(site) and dtype not in NO_FLOATS
    limits = constrained(site.value("constraint"), site) if site.given("constraint") else None
    if moves and limits is not None and limits.known:
        held = join([initial, limits]) if initial.known else limits
        return Value(held.lo, held.hi, held.zero, dtype=dtype, evident=held.evident)
    return Value(dtype=dtype, evident=moves)


def constrained(constraint: Value, site: Site) -> Value | None:
    """The range that a constraint leaves of any number; None for no constraint or one that is not
    known.
    """
    anywhere = Value(evident=True)
    if constraint.kind == "none":
        return None
    if isinstance(constraint.const, str):
        limits = _CONSTRAINTS.get(constraint.const.lower().replace("_", ""))
        return limits(site) if limits else None
    if isinstance(constraint.obj, CallableObject):
        return constraint.obj.out(anywhere, site)
    bounds = site.apply(constraint, anywhere)
    return bounds if bounds.known else None


def _start(site: Site, param: str) -> Value:
    """The initial value given: a tensor, or an initializer or function that makes one."""
    if not site.given(param):
        return unknown()
    initial = site.value(param)
    if initial.kind == "function":
        initial = site.apply(initial)  # a function, or the class of an initializer
    return initial.obj.out(unknown(), site) if isinstance(initial.obj, CallableObject) else initial


op(
    "tf.Variable",
    "keras.Variable ops.Variable tf.variable",
    "initial_value trainable validate_shape caching_device name "
    "variable_def dtype import_scope constraint synchronization aggregation shape",
    lambda site: variable(site, _start(site, "initial_value"), dtype_given(site)),
    untested="its value depends on training",
    pure=False,
    starts="initial_value",
    positions=dict.fromkeys(
        ("keras.Variable", "ops.Variable"), ("initial_value", "shape", "dtype", "trainable", "name")
    ),
)
op(
    "K.variable",
    "",
    "value dtype name constraint",
    lambda site: variable(site, site.value("value"), dtype_given(site)),
    untested="its value depends on training",
    pure=False,
    starts="value",
    floatx=True,
)
op(
    "K.zeros",
    "K.ones K.random_uniform_variable K.random_normal_variable",
    "shape dtype name",
    lambda site: Value(evident=True, dtype=dtype_given(site, "float32")),
    floatx=True,
    untested="a variable in Keras 2",
    pure=False,
)
op(
    "K.eye_variable",
    "",
    "size",
    lambda site: Value(evident=True),
    untested="a variable in Keras 2",
    pure=False,
)
op(
    "tf.get_variable",
    "slim.variable slim.model_variable tf.contrib.framework.variable "
    "tf.contrib.framework.model_variable",
    "name shape dtype initializer regularizer trainable collections caching_device partitioner "
    "validate_shape use_resource custom_getter constraint",
    lambda site: variable(site, _start(site, "initializer"), dtype_given(site, "float32")),
    untested="its value depends on training",
    pure=False,
    main="initializer",
    starts="initializer",
    shaped_by="shape",
)
op(
    "method.add_weight",
    "method.add_variable",
    "self shape initializer dtype trainable name constraint regularizer",
    lambda site: variable(site, _start(site, "initializer"), dtype_given(site)),
    untested="its value depends on training",
    pure=False,
    starts="initializer",
    shaped_by="shape",
)
VARIABLES: Final = tuple(row.name for row in ROWS if row.starts)
op(
    "method.get_slot",
    "method.add_slot method._zeros_slot method.add_variable_from_reference",
    "self reference name initializer",
    lambda site: Value(evident=True),
    untested="the state of an optimizer: what its updates make of it",
    pure=False,
)


def _changed(change: Callable[[Value, Value], Value], variable: str) -> Callable[[Site], Value]:
    """What an assignment gives: the variable, holding what it was given; of what is not known, what
    the variable may hold.
    """

    def give(site: Site) -> Value:
        before, assigned = site.value(variable), as_tensor(site.value("value"))
        return (
            change(before, assigned).but(kind="tensor", const=NO_CONSTANT)
            if assigned.known
            else before.but()
        )

    return give


def _given(before: Value, assigned: Value) -> Value:
    return assigned if assigned.dtype else assigned.but(dtype=before.dtype)


_ASSIGNED: Final = {"assign": _given, "assign_add": t.add, "assign_sub": t.subtract}
for _name, _change in _ASSIGNED.items():
    op(
        f"method.{_name}",
        "",
        "self value use_locking name read_value",
        _changed(_change, "self"),
        untested="changes a variable",
        pure=False,
    )
    op(
        f"tf.{_name}",
        f"K.{_name.replace('assign', 'update')}",
        "x value validate_shape use_locking name",
        _changed(_change, "x"),
        untested="changes a TensorFlow 1 variable",
        pure=False,
    )
op(
    "method._resource_scatter_add",
    "",
    "self x indices value",
    lambda site: join([site.value("x"), t.add(site.value("x"), site.value("value"))]),
    main="x",
    untested="changes the slot of an optimizer",
    pure=False,
)
op(
    "method.load",
    "method.set_weights method.scatter_update",
    "self value name",
    lambda site: site.value("self").but(),
    untested="changes a variable",
    pure=False,
)
op(
    "K.moving_average_update",
    "K.set_value",
    "x value name",
    lambda site: site.value("x").but(),
    untested="changes a variable",
    pure=False,
)
op(
    "K.get_value",
    "K.eval K.batch_get_value ops.convert_to_numpy keras.ops.convert_to_numpy tf.get_static_value "
    "tf.make_ndarray",
    "x",
    t.passes("x"),
    passes="x",
    untested="hands a value to Python",
)
op(
    "tf.train.get_or_create_global_step",
    "tf.train.get_global_step tf.train.create_global_step tf.train.global_step "
    "slim.get_or_create_global_step slim.get_global_step "
    "tf.contrib.framework.get_or_create_global_step tf.contrib.framework.get_global_step",
    "graph",
    t.ranged(0.0, INF, dtype="int64"),
    untested="counts training steps",
    pure=False,
)
op(
    "tf.global_variables",
    "tf.trainable_variables tf.local_variables tf.model_variables tf.get_collection "
    "tf.all_variables tf.moving_average_variables slim.get_variables slim.get_model_variables "
    "slim.get_trainable_variables",
    "key scope",
    lambda site: unknown(),
    untested="a list of variables",
    pure=False,
)


# Inputs


def _placeholder(site: Site) -> Value:
    return unknown("tensor", dtype=dtype_given(site))


op("tf.placeholder", "", "dtype shape name", _placeholder, untested="fed from outside", pure=False)
op(
    "K.placeholder",
    "",
    "shape ndim dtype sparse name",
    _placeholder,
    untested="fed from outside",
    pure=False,
)
op(
    "tf.sparse_placeholder",
    "",
    "dtype shape name",
    _placeholder,
    untested="fed from outside",
    pure=False,
)
op(
    "tf.placeholder_with_default",
    "",
    "x shape name",
    lambda site: unknown("tensor", dtype=site.value("x").dtype),
    untested="may be fed from outside",
    pure=False,
)
op(
    "keras.Input",
    "keras.layers.Input keras.engine.Input keras.engine.topology.Input",
    "shape batch_size name dtype sparse tensor ragged type_spec batch_shape",
    _placeholder,
    main="shape",
    untested="fed from outside",
    pure=False,
)
op(
    "tf.TensorSpec",
    "keras.KerasTensor keras.InputSpec keras.layers.InputSpec tf.SparseTensorSpec "
    "tf.RaggedTensorSpec",
    "shape dtype name",
    lambda site: unknown("unknown"),
    untested="describes a tensor, is none",
)
op(
    "tf.decode_raw",
    "tf.io.decode_raw tf.parse_single_example tf.io.parse_single_example tf.parse_example "
    "tf.io.parse_example tf.read_file tf.io.read_file tf.decode_csv tf.io.decode_csv "
    "tf.string_to_number tf.strings.to_number tf.train.batch tf.train.shuffle_batch "
    "tf.data.make_one_shot_iterator tf.io.parse_tensor",
    "x dtype",
    t.anything,
    untested="data from outside",
    pure=False,
)
op(
    "tf.image.decode_image",
    "tf.image.decode_jpeg tf.image.decode_png tf.io.decode_image tf.io.decode_jpeg "
    "tf.io.decode_png tf.image.decode_bmp tf.image.decode_gif tf.io.decode_bmp tf.io.decode_gif",
    "contents channels",
    t.ranged(0.0, 255.0, dtype="uint8"),
    untested="data from outside",
    pure=False,
)


def _called(kind: str, name: str, out: Callable[[Value, Site], Value]) -> Callable[[Site], Value]:
    """What makes an object that is called with a tensor."""
    return lambda site: Value(kind=kind, obj=CallableObject(name, site, out))


# Initial values: called with a shape they give numbers of a known range


def initializer(name: str, params: str, lowest: float, highest: float, *aliases: str) -> None:
    """A row whose result makes tensors with elements in [lowest, highest]."""

    def give(site: Site) -> Value:
        return Value(
            kind="initializer",
            obj=CallableObject(name, site, lambda x, call: Value(lowest, highest)),
        )

    tf1 = " ".join(
        f"tf.initializers.{alias} tf.{alias}_initializer keras.initializers.{alias}"
        for alias in aliases
    )
    op(
        f"keras.initializers.{name}",
        tf1,
        params,
        give,
        untested="an object; its range is tested in tests/ops/models/test_layers.py",
        pure=False,
    )


initializer("Zeros", "dtype", 0.0, 0.0, "zeros")
initializer("Ones", "dtype", 1.0, 1.0, "ones")
initializer("Identity", "gain dtype", -INF, INF, "identity")
initializer("RandomNormal", "mean stddev seed dtype", -INF, INF, "random_normal")
initializer("TruncatedNormal", "mean stddev seed dtype", -INF, INF, "truncated_normal")
initializer("GlorotUniform", "seed dtype", -3.0, 3.0, "glorot_uniform")
initializer("GlorotNormal", "seed dtype", -INF, INF, "glorot_normal")
initializer("HeUniform", "seed dtype", -3.0, 3.0, "he_uniform")
initializer("HeNormal", "seed dtype", -INF, INF, "he_normal")
initializer("LecunUniform", "seed dtype", -3.0, 3.0, "lecun_uniform")
initializer("LecunNormal", "seed dtype", -INF, INF, "lecun_normal")
initializer("Orthogonal", "gain seed dtype", -INF, INF, "orthogonal")
initializer("VarianceScaling", "scale mode distribution seed dtype", -INF, INF, "variance_scaling")
op(
    "tf.contrib.layers.xavier_initializer",
    "slim.xavier_initializer tf.contrib.layers.variance_scaling_initializer "
    "slim.variance_scaling_initializer tf.contrib.layers.xavier_initializer_conv2d "
    "slim.xavier_initializer_conv2d tf.uniform_unit_scaling_initializer",
    "uniform seed dtype",
    _called("initializer", "xavier", lambda x, call: unknown("tensor")),
    untested="TensorFlow 1 only",
    pure=False,
)


op(
    "keras.initializers.get",
    "",
    "x",
    lambda site: site.value("x").but(zero=site.value("x").zero),
    untested="no number: its name",
)


def _constant_initializer(site: Site) -> Value:
    start = as_tensor(site.value("value")) if site.given("value") else number(0.0)
    start = start.but(dtype=None)  # who asks for a tensor says in which
    return Value(kind="initializer", obj=CallableObject("Constant", site, lambda x, call: start))


def _uniform_initializer(site: Site) -> Value:
    ends = [
        site.value("minval") if site.given("minval") else number(-0.05),
        site.value("maxval") if site.given("maxval") else number(0.05),
    ]
    lo, hi = min(v.lo for v in ends), max(v.hi for v in ends)
    return Value(
        kind="initializer", obj=CallableObject("RandomUniform", site, lambda x, call: Value(lo, hi))
    )


op(
    "keras.initializers.Constant",
    "tf.constant_initializer tf.initializers.constant keras.initializers.constant",
    "value dtype",
    _constant_initializer,
    untested="an object; its range is tested in tests/ops/models/test_layers.py",
)
op(
    "keras.initializers.RandomUniform",
    "tf.random_uniform_initializer tf.initializers.random_uniform "
    "keras.initializers.random_uniform keras.initializers.uniform",
    "minval maxval seed dtype",
    _uniform_initializer,
    pure=False,
    untested="an object; its range is tested in tests/ops/models/test_layers.py",
)


# Constraints


def _max_norm(site: Site) -> Value:
    """A column of norm at most `max_value` has no element beyond it."""
    limit = t.constant(site.value("max_value")) if site.given("max_value") else 2.0
    return (
        Value(evident=True) if limit is None else Value(-abs(limit) * 1.00001, abs(limit) * 1.00001)
    )


_CONSTRAINTS: Final[dict[str, Callable[[Site], Value]]] = {
    "nonneg": lambda site: Value(0.0, INF),
    "unitnorm": lambda site: Value(-1.00001, 1.00001),
    "maxnorm": lambda site: Value(-2.00002, 2.00002),
    "minmaxnorm": lambda site: Value(-1.00001, 1.00001),
}


def _constraint(name: str, params: str, limits: Callable[[Site], Value], *aliases: str) -> None:
    def give(site: Site) -> Value:
        return Value(
            kind="constraint", obj=CallableObject(name, site, lambda x, call: held(x, limits(site)))
        )

    def held(x: Value, bounds: Value) -> Value:
        return bounds.but(nan=x.nan or x.inf)  # Inf by its own norm is NaN

    op(
        f"keras.constraints.{name}",
        " ".join(f"keras.constraints.{alias}" for alias in aliases),
        params,
        give,
        untested="an object; its range is tested in tests/ops/models/test_layers.py",
    )


_constraint("NonNeg", "", _CONSTRAINTS["nonneg"], "non_neg", "nonneg")
_constraint("UnitNorm", "axis", _CONSTRAINTS["unitnorm"], "unit_norm", "unitnorm")
_constraint("MaxNorm", "max_value axis", _max_norm, "max_norm", "maxnorm")
_constraint(
    "MinMaxNorm",
    "min_value max_value rate axis",
    lambda site: (
        _max_norm(site)
        if not site.given("rate") and site.given("max_value")
        else Value(evident=True)
    ),
    "min_max_norm",
)


# Optimizers, gradients, summaries


def _object(kind: str):
    return lambda site: Value(kind=kind)


_OPTIMIZERS: Final = {
    "SGD": "momentum nesterov",
    "Adam": "beta_1 beta_2 epsilon amsgrad",
    "AdamW": "weight_decay beta_1 beta_2 epsilon amsgrad",
    "Adamax": "beta_1 beta_2 epsilon",
    "Nadam": "beta_1 beta_2 epsilon",
    "RMSprop": "rho momentum epsilon centered",
    "Adagrad": "initial_accumulator_value epsilon",
    "Adadelta": "rho epsilon",
    "Ftrl": "learning_rate_power",
    "Lion": "beta_1 beta_2",
    "Adafactor": "beta_2_decay epsilon_1 epsilon_2",
    "Optimizer": "",
    "LossScaleOptimizer": "",
}
KERAS_OPTIMIZERS: Final = frozenset(_OPTIMIZERS)
for _name, _params in _OPTIMIZERS.items():
    op(
        f"keras.optimizers.{_name}",
        f"tf.optimizers.{_name} keras.optimizers.legacy.{_name} keras.optimizers.{_name}V2",
        " ".join(
            dict.fromkeys(
                f"learning_rate {_params} weight_decay clipnorm clipvalue global_clipnorm "
                "lr decay name".split()
            )
        ),
        _object("optimizer"),
        untested="not a number",
    )
for _name in (
    "GradientDescent",
    "Adam",
    "Adagrad",
    "Adadelta",
    "RMSProp",
    "Momentum",
    "Ftrl",
    "ProximalAdagrad",
    "ProximalGradientDescent",
    "AdagradDA",
    "SyncReplicas",
):
    op(
        f"tf.train.{_name}Optimizer",
        "",
        "learning_rate beta1 beta2 epsilon" if _name == "Adam" else "learning_rate",
        _object("optimizer"),
        untested="not a number",
    )
op(
    "tf.train.Optimizer",
    "tf.train.experimental.enable_mixed_precision_graph_rewrite "
    "keras.mixed_precision.LossScaleOptimizer "
    "keras.mixed_precision.experimental.LossScaleOptimizer tf.contrib.opt.AdamWOptimizer "
    "tf.contrib.opt.NadamOptimizer",
    "optimizer",
    _object("optimizer"),
    pure=False,
    untested="not a number",
)
op(
    "tf.train.exponential_decay",
    "tf.train.polynomial_decay tf.train.cosine_decay tf.train.piecewise_constant "
    "tf.train.natural_exp_decay tf.train.inverse_time_decay",
    "learning_rate",
    lambda site: Value(0.0, INF, dtype="float32"),
    untested="TensorFlow 1 only",
)


def _gradient(site: Site) -> Value:
    """Any number, of either sign, in the dtype of what it is taken by; so are the variables that
    stand beside gradients.
    """
    by = next((site.value(param) for param in ("sources", "xs") if param in site.args), None)
    sources = by.obj if by is not None and isinstance(by.obj, tuple) else (by,)
    dtypes = {
        one.dtype if isinstance(one, Value) and one.kind in ("tensor", "unknown") else None
        for one in sources
    }
    return Value(evident=True, dtype=dtypes.pop() if len(dtypes) == 1 else None)


op(
    "tf.GradientTape",
    "",
    "persistent watch_accessed_variables",
    _object("tape"),
    untested="not a number",
    pure=False,
)
op(
    "tf.gradients",
    "K.gradients tf.hessians tf.hessian_vector_product",
    "ys xs grad_ys name",
    _gradient,
    untested="a gradient: any number",
)
op(
    "method.gradient",
    "method.jacobian method.batch_jacobian",
    "self target sources output_gradients",
    _gradient,
    main="target",
    untested="a gradient: any number",
)
op(
    "method.compute_gradients",
    "method.get_gradients",
    "self loss var_list",
    _gradient,
    main="loss",
    untested="gradients with their variables: any numbers",
)
op(
    "method.minimize",
    "method.apply_gradients method.watch method.reset_states method.reset_state "
    "method.update_state",
    "self loss *rest",
    lambda site: number(None),
    untested="gives no value",
    pure=False,
)


def _averaged(site: Site) -> Value:
    """A mean over time of a variable, or of a tensor and the 0 it starts from."""
    x = t.one_of(site.value("x"))
    lo, hi = outward(min(x.lo, 0.0), max(x.hi, 0.0), x.dtype, 64)
    return Value(lo, hi, nan=x.nan or x.inf, inf=x.inf, dtype=x.dtype, evident=x.evident)


op(
    "tf.train.ExponentialMovingAverage",
    "",
    "decay num_updates zero_debias name",
    _object("average"),
    untested="not a number",
    pure=False,
)
op(
    "method.average",
    "",
    "self x",
    _averaged,
    main="x",
    untested="a variable that follows another; fixtures/flow/containers.py",
    pure=False,
)
op(
    "tf.IndexedSlices",
    "tf.sparse.SparseTensor tf.SparseTensor tf.SparseTensorValue",
    "values *rest",
    t.passes("values"),
    untested="holds a tensor",
)
op(
    "tf.summary.scalar",
    "tf.summary.histogram tf.summary.image tf.summary.audio tf.summary.text tf.summary.merge "
    "tf.summary.merge_all tf.scalar_summary tf.histogram_summary tf.image_summary "
    "tf.merge_all_summaries tf.contrib.summary.scalar tf.contrib.summary.histogram "
    "tf.contrib.summary.image tf.summary.tensor_summary tf.summary.write",
    "name data *rest",
    lambda site: unknown("string"),
    main="data",
    untested="writes to a log",
    pure=False,
)
op(
    "keras.regularizers.L2",
    "keras.regularizers.l2 keras.regularizers.L1 keras.regularizers.l1 "
    "keras.regularizers.L1L2 keras.regularizers.l1_l2 tf.contrib.layers.l2_regularizer "
    "tf.contrib.layers.l1_regularizer slim.l2_regularizer slim.l1_regularizer",
    "scale",
    _called("loss", "regularizer", lambda x, call: like(x, 0.0, INF)),
    untested="an object; its range is tested in tests/ops/models/test_layers.py",
)
