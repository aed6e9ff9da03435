"""Products of matrices with a transposed factor: `a @ transpose(b)`."""

from __future__ import annotations

from tfnanlint.ops.frameworks import TRANSPOSING
from tfnanlint.ops.site import Site, made_by
from tfnanlint.values.value import Value


def transposed_factor(product: Site) -> Value | None:
    """The `b` of `a @ transpose(b)`, however it is written; None where the second factor is none
    that is transposed, or the first one is transposed, too.

        tf.matmul(a, b, transpose_b=True)     b
        tf.matmul(a, tf.transpose(b))         b
    """
    second = product.value("y")
    flags = list(filter(product.given, TRANSPOSING))
    if flags:
        is_second = flags[0] in ("transpose_b", "adjoint_b") and product.const(flags[0]) is True
        return second if is_second and len(flags) == 1 else None
    transpose = made_by(second, "tf.transpose", aligned=True)
    return None if transpose is None or transpose.given("perm") else transpose.value("x")
