"""What NumPy, tf.experimental.numpy and keras.ops make of integers and truth values, which
TensorFlow's own functions leave as they are.
"""

from __future__ import annotations

import math
from typing import Final

from tfnanlint.ops.site import Site
from tfnanlint.values.value import FLOATS, INF, MIXED, WHOLE, Value, number, outward, rounded

LIBRARIES: Final = frozenset(("np", "tnp", "ops", "method"))
_PROMOTING: Final = frozenset(("tnp", "ops", "np"))
_UNSAID: Final = frozenset((None, "bool", *WHOLE))


def before_meeting(site: Site) -> dict[str, Value] | None:
    """Remove the dtype of an operand that does not decide: Keras and NumPy, TensorFlow's too, take
    the wider one, and that of the other operand is not known; and a number before an array is made
    a tensor first, in float32. Returns the operands as they arrived, for later questions about the
    site; None where nothing was removed.
    """
    x, y = site.value("x"), site.value("y")
    numbers = "number" in (x.kind, y.kind)
    if (
        site.library in _PROMOTING
        and not numbers
        and (x.dtype is None) != (y.dtype is None)
        and "float64" not in (x.dtype, y.dtype)
    ):
        for param, value in (("x", x), ("y", y)):
            if value.dtype in FLOATS or value.dtype in WHOLE:
                site.values[param] = value.but(dtype=None, token=value.token)
    elif (
        site.library in ("tf", "K", "raw")
        and x.kind == "number"
        and y.kind == "array"
        and y.dtype in FLOATS
    ):
        operand = cut_off(y, MIXED) if whole_number(x) else y
        site.values["y"] = operand.but(dtype=None, token=operand.token)
    else:
        return None
    return {"x": x, "y": y}


def before_floats(site: Site) -> dict[str, Value] | None:
    """Remove the dtype of integers and truth values from which Keras or NumPy compute floats: what
    they compute is neither whole nor does it begin again at the other end. Returns the operands as
    they arrived; None where nothing was removed.
    """
    if site.op.promotes != "floats":
        return None
    arrived: dict[str, Value] = {
        param: site.value(param) for param in ("x", "y") if param in site.args
    }
    if not all([value.dtype in _UNSAID for value in arrived.values()]):
        return None
    for param, value in arrived.items():
        if value.dtype is not None:
            site.values[param] = value.but(dtype=None, token=value.token)
    return arrived


def of_bfloat16(value: Value) -> Value:
    """An array of bfloat16, which NumPy does not know: in which dtype it goes on depends, and the
    next numbers are off by some roundings.
    """
    lo, hi = outward(value.lo, value.hi, "bfloat16", 16)
    return value.but(lo=lo, hi=hi, zero=value.zero, dtype=None)


def handed_on(value: Value) -> Value:
    """What a branch or a function gives, as it is: an array stays one in eager mode and is made a
    tensor in a graph.
    """
    return value.but(kind="unknown") if value.kind == "array" else value


def promoted(site: Site, dtype: str) -> str | None:
    """The dtype of a result that was computed from integers or truth values; None where it depends
    on more than that.
    """
    requested = site.value("dtype") if site.given("dtype") else None
    if (
        requested is not None
        and requested.kind != "none"
        or not any(value.dtype == dtype for value in site.values.values())
    ):
        return dtype
    if site.op.promotes.startswith("floats"):
        return None
    if site.op.promotes == "wider" and site.library == "ops":
        return "int32" if dtype == "bool" else dtype
    if site.op.promotes == "wider":
        return "uint64" if dtype.startswith("uint") else "int64"
    fraction = any(
        value.kind in ("number", "array")
        and value.dtype not in WHOLE
        and not _whole(value.lo, value.hi)
        for value in site.values.values()
    )
    return None if fraction else dtype


def _whole(lo: float, hi: float) -> bool:
    return lo == hi and lo == lo // 1


def indices(site: Site, tensorflow: str, keras: str, param: str = "") -> str | None:
    """The dtype of indices and counts: what was asked for, 64 bits in NumPy, what TensorFlow and
    Keras give otherwise.
    """
    if param and site.given(param) and site.value(param).kind != "none":
        named = site.value(param).const
        return (
            named.rpartition(".")[2]
            if isinstance(named, str) and named.rpartition(".")[2] in WHOLE
            else None
        )
    return {"np": "int64", "tnp": "int64", "method": "int64", "ops": keras, "K": keras}.get(
        site.name.partition(".")[0] or site.library, tensorflow
    )


def whole_number(value: Value) -> bool:
    """Whether a number is one of integers, to whose dtype TensorFlow brings the array that follows:
    tf.maximum(0, array).
    """
    return type(value.const) is int or value.dtype in WHOLE


def cut_off(value: Value, dtype: str) -> Value:
    """A fraction of NumPy's that meets integers: what stands after the point is lost. TensorFlow
    refuses those of Python.
    """
    # of NaN and Inf it makes -2^31
    if value.kind == "array" and (value.nan or value.inf or INF in (-value.lo, value.hi)):
        return value.but(lo=-INF, hi=INF)
    whole = [float(math.trunc(end)) if math.isfinite(end) else end for end in (value.lo, value.hi)]
    if (
        value.kind not in ("number", "array")
        or whole == [value.lo, value.hi]
        or value.lo > value.hi
    ):
        return value
    ends = whole if dtype in WHOLE else [*whole, rounded(value.lo, None), rounded(value.hi, None)]
    return Value(min(ends), max(ends), kind=value.kind, origin=value.origin)


def size_of_tensor(value: Value) -> bool:
    """Whether a value is what tf.shape or tf.size gives, or one of several sizes: a tensor of
    integers.
    """
    origin = value.origin
    if isinstance(origin, Site) and origin.op.name == "tf.strided_slice":
        origin = origin.value(origin.op.main).origin
    return (
        value.kind == "number"
        and value.dtype in WHOLE
        and isinstance(origin, Site)
        and origin.name.startswith("tf.")
    )


def number_of_numpy(value: Value) -> bool:
    """Whether a number is what a function of NumPy gives, which TensorFlow makes a tensor of any
    dtype.
    """
    return (
        value.kind == "number" and isinstance(value.origin, Site) and value.origin.library == "np"
    )


def sizes(site: Site) -> str | None:
    """The dtype of numbers of elements. np.size and np.shape give numbers of Python, of which
    TensorFlow makes int32.
    """
    return "int32" if site.name.startswith("np.") else indices(site, "int32", "int32", "out_type")


def of_numpy(value: Value, depth: int = 4) -> bool:
    """Whether a number may be a float64 of NumPy's, which makes arrays float64 where one of
    Python's follows them; or TensorFlow's size.
    """
    origin = value.origin if depth else None
    return value.kind == "number" and (
        value.dtype in WHOLE
        or number_of_numpy(value)
        or isinstance(origin, Site)
        and origin.library == "operator"
        and any([of_numpy(origin.value(param), depth - 1) for param in origin.args])
    )


def beside_size(value: Value, size: Value) -> Value:
    """An array, or a number of NumPy's, that meets what tf.shape or tf.size gives."""
    met = size_of_tensor(size) and (value.kind == "array" or number_of_numpy(value))
    return cut_off(value, MIXED) if met and value.dtype not in WHOLE else value


def inverted(x: Value) -> Value:
    """`~x` of a whole number, which is -1 - x, or of what is true or false."""
    if x.kind == "number" and isinstance(x.const, int):
        return number(-1 - x.const)
    signed = (
        x.dtype in WHOLE
        and not str(x.dtype).startswith("u")
        or x.kind == "number"
        and x.dtype is None
    )
    if x.known and signed and x.kind in ("number", "array", "tensor"):
        return Value(-1.0 - x.hi, -1.0 - x.lo, dtype=x.dtype, kind=x.kind)
    return Value(0.0, 1.0, True, dtype="bool", kind="tensor" if x.kind == "tensor" else "number")
