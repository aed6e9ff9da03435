"""Operators and their function spellings: + - * / ** // % and negation."""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.relations.magnitudes import rounded_to_one, squares_of
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.table import op
from tfnanlint.ops.transfer import core as t
from tfnanlint.values.value import Value


def _reflected(operator: str) -> dict[str, tuple[str, ...]]:
    """The order of parameters of the method that Python calls on the right operand."""
    return {f"method.__r{operator}__": ("y", "x")}


op(
    "tf.add",
    "operator.add operator.iadd method.__add__ method.__radd__ tf.math.add"
    " ops.add tnp.add np.add raw.AddV2 raw.Add",
    "x y name",
    t.binary(t.add),
    positions=_reflected("add"),
    reference="tf.add(x, y)",
)
op(
    "tf.subtract",
    "operator.sub operator.isub method.__sub__ method.__rsub__"
    " tf.math.subtract tf.sub ops.subtract tnp.subtract np.subtract raw.Sub",
    "x y name",
    t.binary(t.subtract),
    positions=_reflected("sub"),
    reference="tf.subtract(x, y)",
)
_multiplied = t.binary(t.multiply)


def _multiply(site: Site) -> Value:
    """sign(x) * x is abs(x); the sign of a complex number is its direction. x * rsqrt(sum(x * x))
    is a unit vector.
    """
    result = _multiplied(site)
    for param, factor in (("x", "y"), ("y", "x")):
        sign = made_by(site.value(param), "tf.sign", aligned=True)
        if (
            sign is not None
            and result.lo < 0
            and result.dtype not in ("complex64", "complex128")
            and same(sign.value("x"), site.value(factor))
        ):
            return t.with_kind(
                t.absolute(site.value(factor)), site.value(param), site.value(factor)
            ).but(dtype=result.dtype)
        root = made_by(site.value(param), "tf.math.rsqrt", aligned=True)
        if root is not None and squares_of(root.value("x"), site.value(factor)) is not None:
            return rounded_to_one(result, 16)  # the kernel approximates
    return result


op(
    "tf.multiply",
    "operator.mul operator.imul method.__mul__ method.__rmul__"
    " tf.math.multiply tf.mul ops.multiply tnp.multiply np.multiply raw.Mul",
    "x y name",
    _multiply,
    positions=_reflected("mul"),
    reference="tf.multiply(x, y)",
)
# What `/` makes of integers; tf.div of TensorFlow 1 leaves them integers.
_QUOTIENTS: Final = {
    "int8": "float32",
    "uint8": "float32",
    "int16": "float32",
    "uint16": "float32",
    "int32": "float64",
    "int64": "float64",
}
_divided = t.binary(t.divide)


def _divide(site: Site) -> Value:
    result = _divided(site)
    if result.dtype in _QUOTIENTS and site.name not in ("tf.div", "raw.Div"):
        result.dtype = _QUOTIENTS[result.dtype] if site.library != "ops" else "float32"
    return result


op(
    "tf.divide",
    "operator.truediv operator.itruediv method.__truediv__ method.__rtruediv__"
    " tf.math.divide tf.truediv tf.math.truediv tf.div tf.realdiv tf.RealDiv ops.divide"
    " ops.true_divide tnp.divide tnp.true_divide np.divide np.true_divide raw.RealDiv raw.Div",
    "x y name",
    _divide,
    positions=_reflected("truediv"),
    needs={"y": "nonzero"},
    masked="all",
    reference="tf.divide(x, y)",
    promotes="floats, as the row says",
)
op(
    "tf.negative",
    "operator.neg method.__neg__ tf.math.negative tf.neg ops.negative tnp.negative np.negative"
    " raw.Neg",
    "x name",
    t.unary(t.negative),
    reference="tf.negative(x)",
)
