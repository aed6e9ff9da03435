"""Diagonals of square matrices: what is known of them shows that a whole matrix is not 0.

tf.eye(n)                                      1
tf.linalg.set_diag(a, d)                       d
tf.matmul(s, s, transpose_b=True), s a softmax the sum of the squares of a row: above 0
tf.linalg.set_diag(a, zeros) - s @ s^T         below 0: the two matrices are never equal
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfnanlint.ops.relations.counts import axis_of
from tfnanlint.ops.relations.magnitudes import square_of
from tfnanlint.ops.relations.shares import squared_and_summed_along
from tfnanlint.ops.relations.transposes import transposed_factor
from tfnanlint.ops.site import Site, made_by, operands, same
from tfnanlint.ops.traits import COPIES, FLOAT_CASTS, SQUARES
from tfnanlint.ops.transfer import core as t
from tfnanlint.values.value import NO_FLOATS, Value

_DEPTH: Final = 6
_UNMOVED: Final = frozenset((*COPIES, *FLOAT_CASTS))
_ARITHMETIC: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "tf.add": t.add,
    "tf.subtract": t.subtract,
    "tf.multiply": t.multiply,
}


def diagonal(value: Value, depth: int = _DEPTH) -> Value | None:
    """The elements on the diagonal of a square matrix; None where nothing more is known of them
    than of all elements.
    """
    site = value.origin
    if not isinstance(site, Site) or depth == 0:
        return None
    name = site.op.name
    if name in _UNMOVED and value.dtype not in NO_FLOATS:
        return diagonal(site.value(site.op.passes or "x"), depth - 1)
    if name == "tf.linalg.set_diag":
        return None if site.given("k") else site.value("diagonal")
    if name == "tf.eye":
        return t.number(1.0)
    if name == "tf.matmul":
        return _of_gram(site)
    if name in _ARITHMETIC:
        parts = [_or_number(part, depth) for part in operands(site)]
        left, right = parts
        return _ARITHMETIC[name](left, right) if left is not None and right is not None else None
    return None


def _or_number(value: Value, depth: int) -> Value | None:
    return value if value.is_number else diagonal(value, depth - 1)


def _of_gram(product: Site) -> Value | None:
    """The diagonal of `s @ s^T`: sums of squares of rows."""
    x, rows = product.value("x"), transposed_factor(product)
    return squared_and_summed_along(x, -1) if rows is not None and same(x, rows) else None


def least_on_diagonal(total: Site, x: Value) -> float:
    """The least magnitude on the diagonal of what is squared or taken the magnitude of, where
    `total` adds up all elements; 0 where it is not known. A sum of squares is at least its square.
    """
    if axis_of(total) is not None:
        return 0.0
    producer = made_by(x, *SQUARES, "tf.abs", aligned=True)
    if producer is not None and (producer.op.name == "tf.abs" or square_of(x, producer.value("x"))):
        x = producer.value("x")
    bounds = diagonal(x)
    return max(bounds.lo, -bounds.hi, 0.0) if bounds is not None else 0.0
