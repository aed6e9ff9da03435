"""Sums over lists, products of matrices, vectors and indexed axes: sums of products."""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.families.reductions import axis_of, or_of_none, total, within_one
from tfnanlint.ops.frameworks import TRANSPOSING
from tfnanlint.ops.relations.magnitudes import unit_of
from tfnanlint.ops.relations.shapes import is_squared_length
from tfnanlint.ops.relations.transposes import transposed_factor
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import TABLE, op
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer.core import Value
from tfnanlint.values.value import INF, number

_ROWS: Final = (-1, 1)  # the axis along which the rows of a matrix are unit vectors
_COLUMNS: Final = (-2, 0)


def _add_n(site: Site) -> Value:
    inputs = site.value("inputs")
    summands = t.elements(inputs)
    if inputs.kind != "sequence" or not isinstance(inputs.obj, tuple):
        return total(inputs)
    result = summands[0]
    for value in summands[1:]:
        result = t.add(result, value)
    if len(summands) == 1:
        return t.one_of(inputs)
    return t.of_numbers(result) if result.kind == "number" else result


op(
    "tf.add_n",
    "tf.math.add_n tf.math.accumulate_n tf.accumulate_n raw.AddN",
    "inputs name",
    _add_n,
    untested="takes a list; tf.add is tested",
)


def _another(value: Value) -> Value:
    """Other elements of a value: a number of their own."""
    return value.but(origin=None)


def _by_ones(site: Site, left: str, right: str) -> Value | None:
    """A product with a matrix or vector of one number: a sum along an axis, times that number. The
    axis is the last one, written as -1 or, of a matrix, as 1; or the one before. None where a term
    overflows before it is added.
    """
    for x, ones, axes in ((left, right, _ROWS), (right, left, _COLUMNS)):
        factor = site.value(ones)
        if factor.exact and factor.kind != "number" and 0 < factor.lo < INF:
            if any(map(site.given, TRANSPOSING)) or not _is_last(site):
                return None
            terms = site.value(x)
            if not terms.inf and t.multiply(terms, factor).inf:
                return None
            sums = [_summed(terms, axis) for axis in axes]
            closest = max(sums, key=lambda value: (value.lo, -value.hi))
            return t.multiply(closest, factor.but(origin=None))
    return None


def _is_last(site: Site) -> bool:
    """Whether a contraction runs along the last axis of its first factor only."""
    return site.op.name != "tf.tensordot" or site.const("axes") == 1


def _summed(x: Value, axis: int) -> Value:
    """The sum of a value along an axis, which stays."""
    arguments = {"x": x, "axis": number(axis), "keepdims": number(True)}
    return Site.of_values(TABLE["tf.reduce_sum"], arguments).give()


def _contraction(left: str, right: str):
    """Sums of products of elements in other places: those of a tensor with itself are squares where
    it is one vector only.
    """

    def give(site: Site) -> Value:
        a, b = t.one_of(site.value(left)), t.one_of(site.value(right))
        if is_squared_length(site):
            return or_of_none(total(t.square(a)), a, 0.0)
        total_of_rows = _by_ones(site, left, right)
        if total_of_rows is not None:
            return total_of_rows
        result = total(t.multiply(a, _another(b)))
        return or_of_none(or_of_none(result, a, 0.0), b, 0.0)

    return give


def _matmul(site: Site) -> Value:
    """Sums of products of rows and columns; of unit rows and unit columns, cosines."""
    result = _contraction("x", "y")(site)
    rows = unit_of(site.value("x"))
    if rows is not None and axis_of(rows) in _ROWS and _has_unit_columns(site):
        return within_one(result)
    return result


def _has_unit_columns(site: Site) -> bool:
    """Whether the columns of the second factor of a product are unit vectors: rows before it was
    transposed. False where the first factor is transposed.
    """
    rows = transposed_factor(site)
    if rows is None and any(map(site.given, TRANSPOSING)):
        return False
    unit = unit_of(site.value("y") if rows is None else rows)
    return unit is not None and axis_of(unit) in (_COLUMNS if rows is None else _ROWS)


op(
    "tf.matmul",
    "operator.matmul method.__matmul__ method.__rmatmul__"
    " tf.linalg.matmul K.dot K.batch_dot ops.matmul ops.dot tnp.matmul tnp.dot np.matmul np.dot"
    " raw.MatMul raw.BatchMatMul raw.BatchMatMulV2 tf.sparse.sparse_dense_matmul"
    " tf.sparse_tensor_dense_matmul tf.sparse_matmul",
    "x y transpose_a transpose_b adjoint_a adjoint_b name",
    _matmul,
    positions={"method.__rmatmul__": ("y", "x")},
    reference="tf.matmul(x[..., None, :], y[..., None])",
)
op(
    "tf.linalg.matvec",
    "",
    "x y transpose_a adjoint_a name",
    _contraction("x", "y"),
    untested="tf.matmul is tested",
)
op(
    "tf.tensordot",
    "tf.linalg.tensordot ops.tensordot tnp.tensordot np.tensordot",
    "x y axes name",
    _contraction("x", "y"),
    reference="tf.tensordot(x, y, [[0, 1], [0, 1]])",
)
op("ops.inner", "np.inner tnp.inner", "x y", _contraction("x", "y"), untested="tf.matmul is tested")
op(
    "ops.vdot",
    "np.vdot tnp.vdot",
    "x y",
    lambda site: total(t.multiply(t.one_of(site.value("x")), t.one_of(site.value("y")))),
    untested="tf.matmul is tested",
)
op(
    "ops.outer",
    "np.outer tnp.outer ops.kron np.kron tnp.kron",
    "x y",
    lambda site: t.multiply(site.value("x"), _another(site.value("y"))),
    untested="tf.multiply is tested",
)


def _einsum(site: Site) -> Value:
    """A sum of products of all operands; those of a tensor with itself are squares where its axes
    have the same letters.
    """
    operands = [t.one_of(value) for value in t.elements(site.value("inputs"))]
    if not operands:
        return t.anything(site)
    equation = site.const("equation")
    letters = (
        equation.replace(" ", "").split("->")[0].split(",") if isinstance(equation, str) else []
    )
    if len(set(letters)) != 1:
        operands = [operands[0], *map(_another, operands[1:])]
    product = operands[0]
    for value in operands[1:]:
        product = t.multiply(product, value)
    result = total(product)
    for value in operands:
        result = or_of_none(result, value, 0.0)
    return result


op(
    "tf.einsum",
    "tf.math.einsum tf.linalg.einsum ops.einsum tnp.einsum np.einsum",
    "equation *inputs",
    _einsum,
    main="inputs",
    untested="takes an equation; tf.matmul is tested",
)
