"""Rectifiers that are written out: `x + |x|` and `x * (x > 0)` are never below 0."""

from __future__ import annotations

from tfnanlint.ops.relations.tested import compared
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import CASTS, GREATER, LESS
from tfnanlint.values.value import Value


def with_magnitude(a: Value, b: Value) -> bool:
    """Whether one of two values is the magnitude of the other one: their sum is twice its positive
    part.
    """
    for value, operand in ((a, b), (b, a)):
        magnitude = _made_in_place(value, "tf.abs")
        if magnitude is not None and same(magnitude.value("x"), operand):
            return True
    return False


def kept_side(x: Value, mask: Value) -> int:
    """The side of 0 to which a mask keeps `x`: 1 for `x > 0`, -1 for `x < 0`, else 0."""
    cast = _made_in_place(mask, *CASTS) if mask.lo == 0 and mask.hi == 1 else None
    condition = mask if cast is None else cast.value("x")
    test = _made_in_place(condition, *GREATER, *LESS)
    said = compared(test, x) if test is not None else None
    if said is None or not said[1].exact:
        return 0
    relation, bound = said
    if relation[0] == ">":
        return 1 if bound.lo >= 0 else 0
    return -1 if bound.lo <= 0 else 0


def _made_in_place(value: Value, *names: str) -> Site | None:
    """The op application among `names` that made a value, whose axes are as that left them:
    `t[:, None] * (t > 0)` is a table of all pairs.
    """
    site = made_by(value, *names, aligned=True)
    return site if site is value.origin else None
