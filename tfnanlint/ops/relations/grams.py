"""Gram matrices: products of a matrix with its own transpose, and covariances, shares of them."""

from __future__ import annotations

from tfnanlint.ops.site import Site, both_orders, made_by, same
from tfnanlint.values.value import Value


def is_gram(x: Value) -> bool:
    """Whether a value is `a @ a.T` or `a.T @ a`, divided by or times what is not negative."""
    quotient = made_by(x, "tf.divide", aligned=True)
    if quotient is not None:
        return quotient.value("y").lo >= 0 and is_gram(quotient.value("x"))
    scaled = made_by(x, "tf.multiply", aligned=True)
    if scaled is not None:
        return any([scale.lo >= 0 and is_gram(rest) for scale, rest in both_orders(scaled)])
    product = made_by(x, "tf.matmul", aligned=True)
    if product is None:
        return False
    left, right = [_without_transpose(product.value(param)) for param in ("x", "y")]
    turned = [left[1] != _is_set(product, "a"), right[1] != _is_set(product, "b")]
    return turned[0] != turned[1] and same(left[0], right[0])


def _without_transpose(matrix: Value) -> tuple[Value, bool]:
    """What a matrix is the transpose of, and True; without one the matrix itself."""
    turned = made_by(matrix, "tf.transpose", aligned=True)
    if turned is None or turned.given("perm"):
        return matrix, False
    return turned.value(turned.op.main), True


def _is_set(product: Site, operand: str) -> bool:
    return any([product.const(f"{kind}_{operand}") for kind in ("transpose", "adjoint")])
