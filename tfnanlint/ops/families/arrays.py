"""Making, casting, indexing, reshaping, joining and splitting tensors."""

from __future__ import annotations

import math
from typing import Callable, Final

from tfnanlint.ops.relations.grams import is_gram
from tfnanlint.ops.relations.segments import own_group
from tfnanlint.ops.relations.tested import at_places
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.table import op
from tfnanlint.ops.traits import EQUALITIES, GREATER, LESS
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer.promotion import cut_off, indices, sizes
from tfnanlint.values.tuples import Fields
from tfnanlint.values.value import (
    FLOATS,
    INF,
    LARGEST_AXIS,
    MIXED,
    NO_CONSTANT,
    SMALLEST,
    Value,
    join,
    number,
    rounded,
    unknown,
)

INTEGERS: Final = {
    "int8": (-128.0, 127.0),
    "int16": (-32768.0, 32767.0),
    "int32": (-(2.0**31), 2.0**31 - 1),
    "int64": (-(2.0**63), 2.0**63),
    "uint8": (0.0, 255.0),
    "uint16": (0.0, 65535.0),
    "uint32": (0.0, 2.0**32 - 1),
    "uint64": (0.0, 2.0**64),
}
DTYPES: Final = (
    frozenset(FLOATS) | frozenset(INTEGERS) | {"bool", "complex64", "complex128", "string"}
)
_SPELLED: Final = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "int": "int64",
    "bool_": "bool",
}
_COMPARISONS: Final = (*EQUALITIES, *GREATER, *LESS)
_MANY: Final = 64  # pieces of a split that are still kept apart


# dtypes and elements


def dtype_named(value: Value, numpy: bool = False) -> str | None:
    """The dtype name that a dtype argument stands for; None when it is not known. `float` is 64
    bits wide in NumPy.
    """
    if not isinstance(value.const, str):
        return None
    name = value.const.rpartition(".")[2]
    if numpy and name in ("float", "int"):
        return name + "64"
    name = _SPELLED.get(name, name)
    return name if name in DTYPES else None


def dtype_given(site: Site, default: str | None = None, param: str = "dtype") -> str | None:
    """The dtype asked for at `site`, `default` when none was asked for, None when it is not
    known.
    """
    if not site.given(param) or site.value(param).kind == "none":
        return default
    return dtype_named(site.value(param), numpy=site.name.startswith(("np.", "method.")))


def given_of(site: Site, params: str) -> list[Value]:
    """The values of those of `params` that were given, in order."""
    return [site.value(p) for p in params.split() if site.given(p)]


def as_tensor(value: Value, dtype: str | None = None, kind: str = "tensor") -> Value:
    """`value` as a tensor: lists are joined, Python numbers take a dtype, everything else keeps its
    own.
    """
    elements = t.elements(value)
    whole = t.one_of(value)
    if dtype is None and any(v.kind == "number" for v in elements):
        dtype = _natural_dtype(elements)
    if dtype is not None:
        return cast(whole, dtype).but(kind=kind, const=whole.const)
    return whole.but(kind=kind, obj=None)


def _natural_dtype(elements: tuple[Value, ...]) -> str | None:
    """What tf.constant makes of Python numbers: float32 with a float among them, else int32 or
    bool.
    """
    if any(v.dtype for v in elements):
        return next((v.dtype for v in elements if v.dtype and v.kind != "number"), None)
    if not all(v.const is not NO_CONSTANT for v in elements):
        return None
    kinds = {type(v.const) for v in elements}
    return (
        "float32"
        if float in kinds
        else "int32"
        if int in kinds
        else "bool"
        if bool in kinds
        else None
    )


def like(x: Value, lo: float, hi: float, evident: bool = False) -> Value:
    """A tensor in [lo, hi] with NaN, Inf and dtype of `x`."""
    return Value(lo, hi, nan=x.nan, inf=x.inf, dtype=x.dtype, evident=evident)


# Casting


def cast(x: Value, dtype: str | None) -> Value:
    """`x` in another dtype: floats are rounded and may overflow or flush, integers are cut toward
    0, bool is 0 or 1.
    """
    if x.dtype == "bool" and dtype != "bool":
        x = Value(max(x.lo, 0.0), min(x.hi, 1.0), x.zero, dtype="bool", kind=x.kind, const=x.const)
    if dtype in FLOATS:
        return _cast_to_float(x, dtype)
    if dtype in INTEGERS:
        return _cast_to_integer(x, dtype)
    if dtype == "bool":
        never = x.lo == x.hi == 0 and not x.nan and not x.inf
        return Value(0.0 if x.zero else 1.0, 0.0 if never else 1.0, dtype="bool")
    if dtype is None:
        return Value(
            x.lo,
            x.hi,
            x.zero,
            nan=x.nan,
            inf=x.inf,
            guarded=x.guarded,
            evident=x.evident,
            kind=x.kind,
        )
    return unknown("tensor", dtype=dtype)


def _cast_to_float(x: Value, dtype: str) -> Value:
    limits = FLOATS[dtype]
    lo, hi = rounded(x.lo, dtype), rounded(x.hi, dtype)
    inf = x.inf or (abs(lo) == INF != abs(x.lo)) or (abs(hi) == INF != abs(x.hi))
    zero = x.zero
    source = x.dtype or "float32"
    narrower = source not in FLOATS or SMALLEST[source] < SMALLEST[dtype]
    if not zero and lo <= 0 <= hi and narrower and source not in INTEGERS:
        zero = True
    if 0 < lo < limits.tiny or -limits.tiny < hi < 0:
        lo, hi, zero = min(lo, 0.0), max(hi, 0.0), True
    return Value(
        lo,
        hi,
        zero or lo == hi == 0,
        nan=x.nan,
        inf=inf,
        dtype=dtype,
        guarded=x.guarded,
        evident=x.evident,
        kind="number" if x.kind == "number" else "tensor",
    )


def _cast_to_integer(x: Value, dtype: str) -> Value:
    """NaN, Inf and what does not fit give any number of the dtype."""
    lowest, highest = INTEGERS[dtype]
    lo = -INF if x.lo == -INF else float(math.trunc(x.lo)) if abs(x.lo) != INF else x.lo
    hi = INF if x.hi == INF else float(math.trunc(x.hi)) if abs(x.hi) != INF else x.hi
    whole = x.dtype in INTEGERS  # without a bound it is one of its own dtype, a float is not
    fits = (
        not x.nan
        and not x.inf
        and (lo >= lowest or whole and lo == -INF)
        and (hi <= highest or whole and hi == INF)
    )
    if not fits:
        lo, hi = -INF, INF
    lo, hi = (max(lo, lowest), min(hi, highest)) if lowest == 0 else (lo, hi)
    if lo > hi:
        lo, hi = lowest, highest
    zero = x.zero or (lo <= 0 <= hi and not (x.dtype in INTEGERS and not x.zero and fits))
    return Value(
        lo,
        hi,
        zero,
        dtype=dtype,
        kind="number" if x.kind == "number" else "tensor",
        evident=x.evident,
    )


def _answered(x: Value) -> Value:
    """A condition as its bounds prove it: what the operators of Python compare is not computed
    before the program casts the answer.
    """
    origin = x.origin
    if x.dtype != "bool" or not isinstance(origin, Site) or origin.library != "operator":
        return x
    if origin.op.name not in _COMPARISONS:
        return x
    answer = origin.op.gives(origin)
    return x.but(lo=answer.lo, hi=answer.hi, zero=answer.lo <= 0)


def _cast_to(default: str | None = None):
    def give(site: Site) -> Value:
        x = _answered(as_tensor(site.value("x")))
        # that of what may be integers
        if site.given("dtype") and site.value("dtype").const == MIXED:
            return join([x, cast(x, "int64")]).but(dtype=MIXED)
        return cast(x, dtype_given(site, default or site.value("x").dtype))

    return give


op(
    "tf.cast",
    "K.cast ops.cast tf.dtypes.cast tf.math.cast raw.Cast",
    "x dtype name",
    _cast_to(),
    reference="tf.cast(x, x.dtype)",
)
op(
    "tf.saturate_cast",
    "tf.dtypes.saturate_cast ops.saturate_cast",
    "x dtype name",
    lambda site: _saturated(
        cast(site.value("x"), dtype_given(site, site.value("x").dtype)), site.value("x")
    ),
    reference="tf.saturate_cast(x, x.dtype)",
)
for _name, _dtype in (
    ("to_float", "float32"),
    ("to_double", "float64"),
    ("to_int32", "int32"),
    ("to_int64", "int64"),
    ("to_bfloat16", "bfloat16"),
):
    op(
        f"tf.{_name}",
        f"tf.compat.{_name}",
        "x name",
        _cast_to(_dtype),
        untested="TensorFlow 1 only; tf.cast is tested",
    )
op(
    "K.cast_to_floatx",
    "",
    "x",
    _cast_to("float32"),
    floatx=True,
    untested="needs a global setting; tf.cast is tested",
)
op(
    "tf.bitcast",
    "raw.Bitcast",
    "x type name",
    lambda site: unknown("tensor", dtype=dtype_given(site, None, "type")),
    untested="reinterprets bits: nothing is claimed",
)
op(
    "tf.image.convert_image_dtype",
    "",
    "x dtype saturate name",
    lambda site: _image_dtype(site),
    untested="integer images need integer inputs; tests/ops/families/test_arrays.py",
)


def _saturated(result: Value, x: Value) -> Value:
    """No overflow to Inf: what does not fit becomes the largest number. From int64 TensorFlow 2.21
    gives nonsense.
    """
    if x.dtype == "int64":
        return unknown("tensor", dtype=result.dtype)
    limits = FLOATS.get(result.dtype or "")
    if limits is None or x.inf:  # Inf becomes the largest number
        return result if not x.inf else result.but(lo=-INF, hi=INF)
    # The limit is rounded in the dtype of `x`, down in bfloat16.
    largest, least = limits.max, limits.max * (1 - 2.0**-7)
    lo = result.lo if x.lo == -INF else min(max(result.lo, -largest), least)
    hi = result.hi if x.hi == INF else min(max(result.hi, -least), largest)
    return result.but(lo=lo, hi=hi, inf=False, zero=result.zero)


def _image_dtype(site: Site) -> Value:
    """Integer images are scaled to [0, 1] when they become floats; floats pass."""
    x, dtype = site.value("x"), dtype_given(site)
    if dtype in FLOATS and x.dtype in INTEGERS and INTEGERS[x.dtype][0] == 0:
        return Value(0.0, 1.0, dtype=dtype)
    return (
        cast(x, dtype) if dtype in FLOATS and x.dtype in FLOATS else unknown("tensor", dtype=dtype)
    )


# Values that pass through


def _pass(name: str, aliases: str = "", params: str = "x name", **info) -> None:
    info.setdefault("passes", "x")
    op(name, aliases, params, lambda site: passed(_entering(site, site.op.passes)), **info)


def _entering(site: Site, param: str) -> Value:
    """What an op gets; the NumPy of TensorFlow makes float64 of Python's numbers, unless it was
    told to prefer float32.
    """
    x = site.value(param)
    return t.of_numbers(x) if site.library == "tnp" and x.kind == "number" else x


def _handed_out(site: Site) -> Value:
    """What each element gets of its group, by its index or as often as the group is long."""
    group = own_group(site, site.value("x"))
    return passed(_entering(site, "x")) if group is None else group


def passed(x: Value) -> Value:
    """The elements of `x`, all or some of them, in another arrangement."""
    whole = as_tensor(x) if x.kind in ("sequence", "number") else x
    return Value(
        whole.lo,
        whole.hi,
        whole.zero,
        nan=whole.nan,
        inf=whole.inf,
        dtype=whole.dtype,
        kind="tensor" if whole.kind in ("unknown", "number", "sequence") else whole.kind,
        const=whole.const,
        guarded=whole.guarded,
        evident=whole.evident,
    )


_pass(
    "tf.identity", "raw.Identity ops.copy np.copy tnp.copy K.identity", reference="tf.identity(x)"
)
_pass(
    "tf.stop_gradient",
    "K.stop_gradient ops.stop_gradient raw.StopGradient",
    reference="tf.stop_gradient(x)",
)
_pass(
    "tf.ensure_shape",
    "raw.EnsureShape tf.set_shape",
    "x shape name",
    reference="tf.ensure_shape(x, x.shape)",
)
_pass(
    "check_shapes.check_shape",
    "",
    "x spec",
    untested="another library's assertion: it hands on what it is given",
)
_pass(
    "tf.reshape",
    "K.reshape ops.reshape tnp.reshape np.reshape raw.Reshape K.flatten K.batch_flatten tnp.ravel "
    "np.ravel ops.ravel",
    "x shape name",
    reference="tf.reshape(x, [-1, 1])",
    shaped_by="shape",
    flattening=("K.flatten", "tnp.ravel", "np.ravel", "ops.ravel"),
)
_pass(
    "tf.squeeze",
    "K.squeeze ops.squeeze tnp.squeeze np.squeeze raw.Squeeze",
    "x axis name squeeze_dims",
    reference="tf.squeeze(x[:, None], 1)",
)
_pass(
    "tf.expand_dims",
    "K.expand_dims ops.expand_dims tnp.expand_dims np.expand_dims raw.ExpandDims",
    "x axis name",
    reference="tf.expand_dims(x, -1)",
)
_pass(
    "tf.transpose",
    "ops.transpose tnp.transpose np.transpose K.transpose K.permute_dimensions raw.Transpose "
    "tf.linalg.matrix_transpose tf.matrix_transpose tf.linalg.transpose",
    "x perm conjugate name",
    positions={"tf.transpose": ("x", "perm", "conjugate", "name")},
    reference="tf.transpose(x[:, None])",
)
_pass(
    "tnp.swapaxes",
    "np.swapaxes ops.swapaxes tnp.moveaxis np.moveaxis ops.moveaxis np.rollaxis",
    "x axis1 axis2",
    reference="tnp.swapaxes(x[:, None], 0, 1)",
)
_pass(
    "tf.tile",
    "K.tile ops.tile tnp.tile np.tile raw.Tile",
    "x multiples name",
    reference="tf.tile(x, [2])",
)
op(
    "tf.repeat",
    "K.repeat K.repeat_elements ops.repeat tnp.repeat np.repeat",
    "x repeats axis name",
    _handed_out,
    passes="x",
    reference="tf.repeat(x, 2)",
)
_pass(
    "tf.broadcast_to",
    "ops.broadcast_to tnp.broadcast_to np.broadcast_to raw.BroadcastTo",
    "x shape name",
    reference="tf.broadcast_to(x, [2, x.shape[0]])",
    shaped_by="shape",
)
op(
    "tf.gather",
    "K.gather tf.batch_gather ops.take tnp.take np.take ops.take_along_axis tnp.take_along_axis "
    "np.take_along_axis raw.GatherV2",
    "x indices validate_indices axis batch_dims name",
    _handed_out,
    passes="x",
    positions={
        f"{root}.{name}": ("x", "indices", "axis")
        for root in ("ops", "tnp", "np")
        for name in ("take", "take_along_axis")
    },
    reference="tf.gather(x, [0])",
)
op(
    "tf.gather_nd",
    "tf.manip.gather_nd raw.GatherNd",
    "x indices batch_dims name",
    lambda site: at_places(site, passed(site.value("x"))),
    passes="x",
    reference="tf.gather_nd(x, [[0]])",
)
_pass(
    "tf.slice",
    "K.slice ops.slice raw.Slice",
    "x begin size name",
    reference="tf.slice(x, [0], [1])",
)
_pass(
    "tf.strided_slice",
    "raw.StridedSlice",
    "x begin end strides name",
    reference="tf.strided_slice(x, [0], [1])",
)
_pass(
    "tf.boolean_mask",
    "",
    "x mask axis name",
    refines=("mask", "x"),
    reference="tf.boolean_mask(x, [True] * x.shape[0])",
)
_pass(
    "tf.reverse",
    "K.reverse ops.flip tnp.flip np.flip tnp.flipud np.flipud tnp.fliplr np.fliplr tf.reverse_v2"
    " tf.manip.reverse",
    "x axis name",
    reference="tf.reverse(x, [0])",
)
_pass(
    "tf.reverse_sequence",
    "",
    "x seq_lengths seq_axis batch_axis name",
    reference="tf.reverse_sequence(x[None], [1], 1)",
)
_pass(
    "tf.roll",
    "ops.roll tnp.roll np.roll tf.manip.roll",
    "x shift axis name",
    reference="tf.roll(x, 1, 0)",
)
_pass(
    "tf.sort",
    "ops.sort tnp.sort np.sort tf.contrib.framework.sort tf.random.shuffle tf.random_shuffle"
    " raw.RandomShuffle",
    "x axis direction name",
    reference="tf.sort(x)",
)
_pass(
    "tf.space_to_depth",
    "tf.nn.space_to_depth tf.depth_to_space tf.nn.depth_to_space",
    "x block_size name",
    reference="tf.nn.depth_to_space(tf.tile(x[:, None, None, None], [1, 1, 1, 4]), 2)",
)
_pass(
    "tf.image.resize_nearest_neighbor",
    "tf.image.flip_left_right tf.image.flip_up_down tf.image.random_flip_left_right"
    " tf.image.random_flip_up_down tf.image.rot90 tf.image.transpose tf.image.crop_to_bounding_box"
    " tf.image.central_crop tf.image.random_crop tf.random_crop",
    "x size name",
    reference="tf.image.flip_left_right(x[None, :, None])",
)
_pass(
    "tf.nn.embedding_lookup",
    "tf.embedding_lookup",
    "x ids partition_strategy name max_norm",
    reference="tf.nn.embedding_lookup(x[:, None], [0])",
)
_pass("tf.Print", "", "x data message first_n summarize name", untested="TensorFlow 1 only, prints")
_pass("tf.data.experimental.get_single_element", "", "x", untested="takes a data set")


def _checked(site: Site) -> Value:
    x = site.value("x")
    return Value(
        x.lo, x.hi, x.zero, dtype=x.dtype, guarded=x.guarded, evident=x.evident, token=x.token
    )


op(
    "tf.debugging.check_numerics",
    "tf.check_numerics tf.debugging.assert_all_finite tf.verify_tensor_all_finite"
    " raw.CheckNumerics",
    "x message name",
    _checked,
    passes="x",
    untested="raises for NaN and Inf; tests/ops/families/test_arrays.py",
)
for _name in (
    "positive non_negative negative non_positive equal none_equal near greater greater_equal less"
    " less_equal rank rank_at_least rank_in shapes type integer scalar proper_iterable"
    " same_float_dtype"
).split():
    op(
        f"tf.debugging.assert_{_name}",
        f"tf.assert_{_name}",
        "x y message summarize name",
        lambda site: number(None),
        untested="gives no value",
    )
op(
    "tf.debugging.Assert",
    "tf.Assert tf.print tf.no_op tf.group tf.add_check_numerics_ops",
    "*inputs",
    lambda site: number(None),
    untested="gives no value",
    pure=False,
)


# Constants


def _constant(site: Site) -> Value:
    """tf.constant and its kin: a list is joined, numbers take float32 or int32."""
    x = site.value("x")
    if x.kind in ("string", "none", "dict"):
        return unknown("tensor")
    dtype = dtype_given(site)
    if site.library == "K" and not site.given("dtype"):
        dtype = "float32"
    return as_tensor(x, dtype)


def _array(site: Site) -> Value:
    """np.array and its kin: Python floats are float64, integers int64."""
    x = site.value("x")
    elements = t.elements(x)
    dtype = dtype_given(site)
    if (
        dtype is None
        and not site.given("dtype")
        and all(v.is_number and v.kind == "number" and not v.dtype for v in elements)
    ):
        dtype = "float64" if any(isinstance(v.const, float) for v in elements) else "int64"
    return as_tensor(x, dtype, "array")


op(
    "tf.constant",
    "K.constant",
    "x dtype shape name verify_shape",
    _constant,
    reference="tf.constant(x.numpy())",
    floatx=True,
    positions={"K.constant": ("x", "dtype", "shape", "name")},
)
op(
    "tf.convert_to_tensor",
    "ops.convert_to_tensor ops.array tf.convert_to_tensor_or_sparse_tensor tf.ragged.constant",
    "x dtype dtype_hint name",
    _constant,
    reference="tf.convert_to_tensor(x)",
    positions={"tf.convert_to_tensor": ("x", "dtype", "name")},
)
op(
    "np.array",
    "np.asarray np.asanyarray np.ascontiguousarray np.atleast_1d np.atleast_2d np.atleast_3d"
    " np.asfarray",
    "x dtype copy",
    _array,
    untested="NumPy; tests/ops/families/test_arrays.py",
)
op("tnp.array", "tnp.asarray", "x dtype", _array, reference="tnp.asarray(x)")


def _default_float(site: Site) -> str:
    """What a library makes floats in when nothing is asked for."""
    return (
        "float64"
        if site.library in ("np", "tnp") or site.name.startswith(("np.", "tnp."))
        else "float32"
    )


def _full(site: Site) -> Value:
    fill = site.value("fill_value")
    default = (
        "float32"
        if site.name.startswith("ops.")
        else (
            None
            if fill.kind != "number"
            else "int64"
            if type(fill.const) is int
            else _default_float(site)
        )
    )
    return as_tensor(fill, dtype_given(site, default))


def _full_like(site: Site) -> Value:
    fill, like = site.value("fill_value"), site.value("x")
    kind = "array" if like.kind == "array" or site.name.startswith("np.") else "tensor"
    dtype = dtype_given(site, like.dtype)
    if dtype is None and like.kind == "number" and not isinstance(like.const, float):
        fill = cut_off(fill, MIXED)
    return (
        as_tensor(fill, dtype, kind)
        if dtype is not None
        else t.in_dtype(fill, None).but(kind=kind, dtype=None, const=NO_CONSTANT)
    )


def _filled(fill: float):
    def give(site: Site) -> Value:
        numpy = site.library == "np" or site.name.startswith("np.")
        return Value(
            fill,
            fill,
            dtype=dtype_given(site, _default_float(site)),
            kind="array" if numpy else "tensor",
        )

    return give


def _filled_like(fill: float):
    return lambda site: Value(fill, fill, dtype=dtype_given(site, site.value("x").dtype))


op(
    "tf.zeros",
    "ops.zeros tnp.zeros np.zeros raw.Zeros",
    "shape dtype name",
    _filled(0.0),
    floatx=True,
    shaped_by="shape",
    untested="takes a shape; tests/ops/families/test_arrays.py",
)
op(
    "tf.ones",
    "ops.ones tnp.ones np.ones raw.Ones",
    "shape dtype name",
    _filled(1.0),
    floatx=True,
    shaped_by="shape",
    untested="takes a shape; tests/ops/families/test_arrays.py",
)
op(
    "tf.zeros_like",
    "K.zeros_like ops.zeros_like tnp.zeros_like np.zeros_like raw.ZerosLike",
    "x dtype name",
    _filled_like(0.0),
    reference="tf.zeros_like(x)",
)
op(
    "tf.ones_like",
    "K.ones_like ops.ones_like tnp.ones_like np.ones_like raw.OnesLike",
    "x dtype name",
    _filled_like(1.0),
    reference="tf.ones_like(x)",
)
op(
    "np.empty",
    "ops.empty tnp.empty np.empty_like tnp.empty_like ops.empty_like np.ndarray",
    "shape dtype",
    lambda site: unknown("array", dtype=dtype_given(site)),
    untested="memory as it was found",
)
op(
    "tf.fill",
    "raw.Fill",
    "dims x name",
    lambda site: as_tensor(site.value("x"), None),
    main="x",
    shaped_by="dims",
    untested="takes a scalar; tests/ops/families/test_arrays.py",
)
op(
    "ops.full",
    "np.full tnp.full",
    "shape fill_value dtype",
    _full,
    main="fill_value",
    floatx=True,
    shaped_by="shape",
    untested="takes a scalar; tests/ops/families/test_arrays.py",
)
op(
    "ops.full_like",
    "np.full_like tnp.full_like",
    "x fill_value dtype",
    _full_like,
    main="fill_value",
    untested="takes a scalar; tests/ops/families/test_arrays.py",
)


def counted(site: Site) -> Value:
    """Numbers from `start` up (or down) to but without `limit`; with one argument from 0."""
    start, limit, step = site.value("start"), site.value("limit"), site.value("delta")
    if not site.given("limit") or limit.kind == "none":
        start, limit = number(0), start
    delta = t.constant(step) if site.given("delta") else 1.0
    whole = all(v.dtype in INTEGERS or isinstance(v.const, int) for v in (start, limit))
    dtype = dtype_given(
        site,
        (
            indices(site, "int32", "int32")
            if whole and (not site.given("delta") or isinstance(step.const, int))
            else None
        ),
    )
    if delta is None:
        return unknown("tensor", dtype=dtype)
    last = delta if whole and delta == int(delta) else 0.0
    lo, hi = (
        (start.lo, limit.hi - min(last, 1.0))
        if delta > 0
        else (limit.lo - max(last, -1.0), start.hi)
    )
    above = delta < 0 and lo == limit.lo == 0  # the limit itself is left out
    return Value(min(lo, hi), max(hi, lo), False if above else None, dtype=dtype)


def _between(site: Site) -> Value:
    ends, dtype = as_tensor(t_join(site.value("start"), site.value("stop"))), dtype_given(site)
    lo, hi = min(ends.lo, t.rounded(ends.lo, dtype)), max(ends.hi, t.rounded(ends.hi, dtype))
    return ends.but(
        lo=lo, hi=hi, dtype=dtype, const=NO_CONSTANT, zero=None, nan=ends.nan or ends.inf
    )


def _in_proportion(site: Site) -> Value:
    """Numbers between two of one sign, in a constant proportion; NaN where there are two signs."""
    between = _between(site)
    return between.but(zero=between.zero, nan=between.nan or between.lo <= 0, kind="array")


def t_join(*values: Value) -> Value:
    """What holds for elements that come from any of the values."""
    return join([as_tensor(v) if v.kind == "sequence" else v for v in values])


op(
    "tf.range",
    "K.arange ops.arange tnp.arange np.arange raw.Range",
    "start limit delta dtype name",
    counted,
    untested="takes scalars",
)
op(
    "tf.linspace",
    "tf.lin_space ops.linspace tnp.linspace np.linspace raw.LinSpace",
    "start stop num name axis dtype",
    _between,
    reference="tf.linspace(start, stop, 3)",
)
op(
    "np.logspace",
    "tnp.logspace ops.logspace",
    "start stop num",
    lambda site: Value(0.0, INF, kind="array"),
    untested="takes scalars",
)
op(
    "np.geomspace",
    "",
    "start stop num",
    _in_proportion,
    untested="takes scalars",
)
op(
    "tf.eye",
    "tf.linalg.eye K.eye ops.eye ops.identity tnp.eye tnp.identity np.eye np.identity",
    "size num_columns batch_shape dtype name",
    lambda site: Value(0.0, 1.0, dtype=dtype_given(site, _default_float(site))),
    floatx=True,
    untested="takes a size; tests/ops/families/test_arrays.py",
)


def _of_both(site: Site) -> str | None:
    """The dtype of one_hot where none is asked for: that of its two numbers, float32 without
    them.
    """
    values = [site.value(param) for param in ("on_value", "off_value") if site.given(param)]
    written = {
        "float32" if type(value.const) is float else "int32" if type(value.const) is int else None
        for value in values
        if value.kind == "number"
    }
    return (
        written.pop()
        if len(written) == 1 and len(values) == len([v for v in values if v.kind == "number"])
        else None
        if values
        else "float32"
    )


def _one_hot(site: Site) -> Value:
    on = site.value("on_value") if site.given("on_value") else number(1.0)
    off = site.value("off_value") if site.given("off_value") else number(0.0)
    both, dtype = join([on, off]), dtype_given(site, _of_both(site))
    return Value(
        t.rounded(both.lo, dtype), t.rounded(both.hi, dtype), both.zero, nan=both.nan, dtype=dtype
    )


op(
    "tf.one_hot",
    "raw.OneHot",
    "x depth on_value off_value axis dtype name",
    _one_hot,
    reaches=(0.0, 1.0),
    reference="tf.one_hot(tf.cast(x, tf.int32), 3)",
)
op(
    "K.one_hot",
    "ops.one_hot keras.utils.to_categorical np_utils.to_categorical slim.one_hot_encoding "
    "tf.contrib.layers.one_hot_encoding ops.multi_hot",
    "x num_classes axis dtype",
    t.ranged(0.0, 1.0),
    reaches=(0.0, 1.0),
    of_arrays=("keras.utils.to_categorical", "np_utils.to_categorical"),
    reference="keras.ops.one_hot(tf.cast(x, tf.int32), 3)",
)
op(
    "tf.sequence_mask",
    "",
    "x maxlen dtype name",
    lambda site: Value(0.0, 1.0, dtype=dtype_given(site, "bool")),
    reaches=(0.0, 1.0),
    reference="tf.sequence_mask(tf.cast(x, tf.int32), 3)",
)


# Matrices


def _diagonal(site: Site) -> Value:
    """The values of the matrix; the diagonal of a Cholesky factor is positive wherever the factor
    exists, and that of a product of a matrix with its own transpose has sums of squares.
    """
    x = site.value("x")
    if x.lo < 0 and is_gram(x):
        return Value(0.0, INF, True, nan=x.nan, dtype=x.dtype)
    if made_by(x, "tf.linalg.cholesky") is not None:
        # Roots of numbers that are not 0: neither they nor their squares are.
        return Value(2.0 * t.smallest(x.dtype) ** 0.5, INF, False, nan=x.nan, dtype=x.dtype)
    return t.passes()(site)


op(
    "tf.linalg.diag_part",
    "tf.diag_part tf.matrix_diag_part tf.linalg.tensor_diag_part ops.diagonal np.diagonal"
    " tnp.diagonal",
    "x name",
    _diagonal,
    reference="tf.linalg.diag_part(tf.linalg.diag(x))",
)


# Shapes are numbers of which nothing is known but their sign


def count(site: Site) -> Value:
    """A size: a whole number, 0 for empty tensors."""
    return Value(0.0, INF, kind="number", dtype="int32")


def dimensions(site: Site) -> Value:
    """The sizes of the axes, at least 1 each: an axis without elements has no element that could be
    wrong. A mask may pick none.

    A number has no axis: its shape is without elements.
    """
    return Value(
        0.0 if _filtered(site) else 1.0,
        LARGEST_AXIS,
        kind="number",
        dtype=sizes(site),
        emptied=True,
    )


def _filtered(site: Site) -> bool:
    """Whether a test chose the elements: as they are, or handed on."""
    value = site.value("x")
    for _ in range(6):
        origin = value.origin
        if not isinstance(origin, Site):
            return value.emptied
        if (
            origin.by_mask
            or origin.op.name in ("tf.boolean_mask", "tf.unique")
            or origin.op.name == "tf.where"
            and not origin.given("x")
        ):
            return True
        param = origin.op.passes or (
            "x" if origin.op.name in ("tf.cast", "tf.convert_to_tensor") else ""
        )
        if not param or not origin.given(param):
            return value.emptied
        value = origin.value(param)
    return value.emptied


op(
    "tf.shape",
    "K.shape ops.shape raw.Shape tf.shape_n tf.convert_to_shape np.shape tf.TensorShape",
    "x out_type name",
    dimensions,
    reference="tf.shape(x)",
)
op(
    "tf.compat.dimension_value",
    "tf.Dimension",
    "dimension",
    lambda site: site.value("dimension"),
    passes="dimension",
    untested="gives a Python number or None",
)


def size(site: Site) -> Value:
    """The number of elements: at least 1, unless elements were filtered out."""
    return Value(0.0 if _filtered(site) else 1.0, INF, kind="number", dtype=sizes(site))


op("tf.size", "ops.size raw.Size np.size tnp.size", "x out_type name", size, reference="tf.size(x)")
op("K.count_params", "", "x", size, untested="counts a static shape; tf.size is tested")
op("tf.rank", "K.ndim ops.ndim np.ndim tnp.ndim raw.Rank", "x name", count, reference="tf.rank(x)")
op(
    "K.int_shape",
    "tf.broadcast_static_shape tf.broadcast_dynamic_shape",
    "x y",
    count,
    untested="gives a tuple of Python numbers",
)


# Joining and splitting


def _joined(param: str):
    return lambda site: passed(t.one_of(site.value(param)))


def pieces(x: Value, how_many: Value) -> Value:
    """`x` cut into a known number of pieces with the same elements each; x itself when the number
    is not known.
    """
    if how_many.kind == "sequence" and isinstance(how_many.obj, tuple):
        many = len(how_many.obj)
    elif isinstance(how_many.const, int) and not isinstance(how_many.const, bool):
        many = how_many.const
    else:
        return passed(x)
    if not 0 < many <= _MANY:
        return passed(x)
    return t.several(*(passed(x) for _ in range(many)))


op(
    "tf.concat",
    "tf.concat_v2 K.concatenate ops.concatenate tnp.concatenate np.concatenate tnp.hstack np.hstack"
    " tnp.vstack np.vstack tnp.dstack np.dstack ops.hstack ops.vstack raw.ConcatV2",
    "values axis name",
    _joined("values"),
    untested="takes a list; tests/ops/families/test_arrays.py",
    axis_first=("axis", "values", "name"),
)
op(
    "tf.stack",
    "tf.pack tf.parallel_stack K.stack ops.stack tnp.stack np.stack raw.Pack",
    "values axis name",
    _joined("values"),
    untested="takes a list; tests/ops/families/test_arrays.py",
)
op(
    "np.append",
    "tnp.append ops.append",
    "x y axis",
    lambda site: passed(join([t.one_of(_entering(site, param)) for param in ("x", "y")])),
    reference="tnp.append(x, y)",
)
op(
    "tf.split",
    "K.split ops.split tnp.split np.split np.array_split tnp.array_split tf.split_v raw.Split",
    "x num_or_size_splits axis num name",
    lambda site: pieces(site.value("x"), site.value("num_or_size_splits")),
    untested="gives a list; tests/ops/families/test_arrays.py",
    positions={"ops.split": ("x", "num_or_size_splits", "axis")},
    axis_first=("axis", "num_or_size_splits", "x", "name"),
)
op(
    "tf.unstack",
    "tf.unpack ops.unstack raw.Unpack",
    "x num axis name",
    lambda site: pieces(site.value("x"), site.value("num")),
    untested="gives a list; tests/ops/families/test_arrays.py",
)
op(
    "tf.dynamic_partition",
    "raw.DynamicPartition",
    "x partitions num_partitions name",
    lambda site: pieces(site.value("x"), site.value("num_partitions")),
    untested="gives a list; tests/ops/families/test_arrays.py",
)
op(
    "tf.meshgrid",
    "ops.meshgrid tnp.meshgrid np.meshgrid",
    "first second third fourth indexing",
    lambda site: t.several(*map(passed, given_of(site, "first second third fourth"))),
    untested="gives a list; tests/ops/families/test_arrays.py",
)
op("tf.tuple", "", "x name", lambda site: each_passed(site.value("x")), untested="gives a list")
op(
    "tf.dynamic_stitch",
    "raw.DynamicStitch tf.parallel_dynamic_stitch tf.data_flow_ops.dynamic_stitch",
    "indices x name",
    lambda site: passed(join([t.one_of(site.value("x")), number(0.0)])),
    main="x",
    untested="takes lists; tests/ops/families/test_arrays.py",
)


def each_passed(x: Value) -> Value:
    if x.kind == "sequence" and isinstance(x.obj, tuple):
        return t.several(*map(passed, x.obj))
    return passed(x)


def _padded(site: Site) -> Value:
    """The elements and the padding value; "reflect" and "symmetric" repeat elements."""
    x = passed(site.value("x"))
    mode = site.const("mode", "constant")
    if isinstance(mode, str) and mode.lower() in ("reflect", "symmetric", "edge", "wrap"):
        return x
    fill = t.one_of(site.value("constant_values")) if site.given("constant_values") else number(0.0)
    return _with(x, fill)


def _with(x: Value, *others: Value) -> Value:
    """Elements of `x` and of `others`, in the dtype of `x`."""
    return join([x, *others]).but(
        kind="tensor", dtype=x.dtype, const=NO_CONSTANT, evident=x.evident
    )


op(
    "tf.pad",
    "ops.pad tnp.pad np.pad raw.Pad raw.PadV2 raw.MirrorPad tf.mirror_pad",
    "x paddings mode name constant_values",
    _padded,
    positions={
        a: ("x", "paddings", "mode", "constant_values") for a in ("ops.pad", "np.pad", "tnp.pad")
    },
    reference="tf.pad(x, [[1, 1]])",
)
op(
    "K.spatial_2d_padding",
    "K.temporal_padding K.spatial_3d_padding tf.image.resize_with_crop_or_pad "
    "tf.image.pad_to_bounding_box tf.image.resize_image_with_crop_or_pad",
    "x padding data_format",
    lambda site: _with(passed(site.value("x")), number(0.0)),
    reference="tf.image.resize_with_crop_or_pad(x[None, :, None], 3, 3)",
)
op(
    "tf.linalg.diag",
    "tf.diag tf.matrix_diag tf.linalg.tensor_diag ops.diag np.diag tnp.diag np.tril np.triu"
    " ops.tril ops.triu tnp.tril tnp.triu",
    "x name",
    lambda site: _with(passed(site.value("x")), number(0.0)),
    reference="tf.linalg.diag(x)",
)
op(
    "tf.linalg.band_part",
    "tf.matrix_band_part",
    "x num_lower num_upper name",
    lambda site: _with(passed(site.value("x")), number(0.0)),
    reference="tf.linalg.band_part(x[None], 0, 0)",
)
op(
    "tf.linalg.LinearOperatorLowerTriangular",
    "",
    "tril is_non_singular is_self_adjoint is_positive_definite is_square name",
    lambda site: _with(passed(site.value("tril")), number(0.0)),
    untested="an object: what its to_dense gives is a band, which is tested",
)
op(
    "tf.linalg.set_diag",
    "tf.matrix_set_diag",
    "x diagonal name k align",
    lambda site: _with(passed(site.value("x")), t.one_of(site.value("diagonal"))),
    untested="needs a matrix and its diagonal; tests/ops/families/test_arrays.py",
)
op(
    "tf.sparse.to_dense",
    "tf.sparse_tensor_to_dense tf.sparse_to_dense K.to_dense",
    "x default_value validate_indices name",
    lambda site: _with(passed(site.value("x")), number(0.0)),
    untested="takes a sparse tensor",
)


def _scattered(site: Site) -> Value:
    """Updates to one place are added up; places without update are 0."""
    updates = passed(site.value("updates"))
    lo = 0.0 if updates.lo >= 0 else -INF
    hi = 0.0 if updates.hi <= 0 else INF
    return Value(
        lo,
        hi,
        True,
        nan=updates.nan or updates.inf,
        inf=updates.inf,
        dtype=updates.dtype,
        evident=updates.evident,
    )


op(
    "tf.scatter_nd",
    "ops.scatter raw.ScatterNd tf.manip.scatter_nd",
    "indices updates shape name",
    _scattered,
    main="updates",
    untested="takes indices and a shape; tests/ops/families/test_arrays.py",
)
op(
    "tf.tensor_scatter_nd_update",
    "tf.tensor_scatter_update ops.scatter_update tf.tensor_scatter_nd_max tf.tensor_scatter_nd_min"
    " ops.slice_update",
    "x indices updates name",
    lambda site: _with(passed(site.value("x")), t.one_of(site.value("updates"))),
    untested="takes indices; tests/ops/families/test_arrays.py",
)
op(
    "tf.tensor_scatter_nd_add",
    "tf.tensor_scatter_add",
    "x indices updates name",
    lambda site: t.add(passed(site.value("x")), _scattered(site)),
    untested="takes indices; tests/ops/families/test_arrays.py",
)
op(
    "tf.scatter_update",
    "tf.scatter_add tf.scatter_sub tf.scatter_nd_update tf.scatter_nd_add",
    "x indices updates",
    lambda site: like(site.value("x"), -INF, INF, evident=site.value("x").evident),
    untested="changes a TensorFlow 1 variable",
    pure=False,
)


def _with_indices(names: str) -> Callable[[Site], Value]:
    """Some elements, where they stand and how often, as a named tuple."""

    def give(site: Site) -> Value:
        fields = (
            passed(site.value("x")),
            Value(0.0, INF, dtype="int32"),
            Value(1.0, INF, dtype="int32"),
        )
        named = tuple(names.split())
        return Value(kind="sequence", obj=Fields.named(named, fields[: len(named)]))

    return give


op(
    "tf.math.top_k",
    "tf.nn.top_k ops.top_k raw.TopKV2",
    "x k sorted index_type name",
    _with_indices("values indices"),
    untested="gives a pair; tests/ops/families/test_arrays.py",
)
op(
    "tf.unique",
    "raw.Unique",
    "x out_idx name",
    _with_indices("y idx"),
    untested="gives a pair; tests/ops/families/test_arrays.py",
)
op(
    "tf.unique_with_counts",
    "",
    "x out_idx name",
    _with_indices("y idx count"),
    untested="gives a triple; tests/ops/families/test_arrays.py",
)
op(
    "tf.argsort",
    "ops.argsort tnp.argsort np.argsort tf.contrib.framework.argsort tf.math.invert_permutation "
    "tf.invert_permutation tf.searchsorted ops.searchsorted np.searchsorted",
    "x axis direction stable name",
    lambda site: Value(
        0.0, INF, dtype=None if "permutation" in site.name else indices(site, "int32", "int32")
    ),
    reference="tf.argsort(x)",
)
op(
    "np.nonzero",
    "ops.nonzero tnp.nonzero np.flatnonzero np.argwhere",
    "x",
    t.ranged(0.0, INF, dtype="int64"),
    untested="its length depends on the values; tests/ops/families/test_arrays.py",
)
op(
    "np.unique",
    "",
    "x",
    lambda site: passed(site.value("x")).but(kind="array"),
    untested="NumPy; tests/ops/families/test_arrays.py",
)
