"""Rectifiers that are written out: `x + |x|` and `x * (x > 0)` are never below 0."""

from __future__ import annotations

from tfnanlint.ops.relations.tested import compared
from tfnanlint.ops.site import made_by, same
from tfnanlint.ops.traits import CASTS, GREATER, LESS
from tfnanlint.values.value import Value


def with_magnitude(a: Value, b: Value) -> bool:
    """Whether one of two values is the magnitude of the other one: their sum is twice its positive
    part.
    """
    for value, other in ((a, b), (b, a)):
        magnitude = made_by(value, "tf.abs", aligned=True)
        if magnitude is not None and same(magnitude.value("x"), other):
            return True
    return False


def kept_side(x: Value, mask: Value) -> int:
    """The side of 0 to which a mask keeps `x`: 1 for `x > 0`, -1 for `x < 0`, else 0."""
    cast = made_by(mask, *CASTS, aligned=True) if mask.lo == 0 and mask.hi == 1 else None
    condition = mask if cast is None else cast.value("x")
    test = made_by(condition, *GREATER, *LESS, aligned=True)
    found = compared(test, x) if test is not None else None
    if found is None or not found[1].exact:
        return 0
    relation, bound = found
    if relation[0] == ">":
        return 1 if bound.lo >= 0 else 0
    return -1 if bound.lo <= 0 else 0
