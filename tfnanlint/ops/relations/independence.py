"""Which two values cannot hang together: where one can be any number, their sum can."""

from __future__ import annotations

from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import CONVERSIONS, VARIABLES
from tfnanlint.values.value import INF, Note, Value


def apart(a: Value, b: Value) -> bool:
    """Whether what is not known of `b` cannot depend on `a`: a trained weight, or what a caller, an
    object or a dict hands in.
    """
    if a.lo != -INF or a.hi != INF:
        return False
    return _weight(a) or isinstance(b.origin, Note) and b.origin.given


def _weight(value: Value) -> bool:
    """Whether a value is a trained weight, perhaps in another dtype on one of two ways to it."""
    origin = value.origin
    for _ in range(8):
        if isinstance(origin, Note):
            origin = origin.parent
        elif isinstance(origin, Site) and origin.op.name in VARIABLES:
            return True
        elif isinstance(origin, Site) and (origin.op.passes or origin.op.name in CONVERSIONS):
            origin = origin.value(origin.op.passes or "x").origin
        else:
            break
    return False
