"""Epsilons that are 0 in the dtype in use, as they stand in a guard."""

from __future__ import annotations

from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import EPSILON_GUARDS, FLOORS
from tfnanlint.values.value import SMALLEST, Value, rounded


def vanishes(eps: float, dtype: str | None) -> bool:
    """Whether a positive number is 0 in a dtype, or so small that it is flushed to 0."""
    least = SMALLEST.get(dtype or "float32", SMALLEST["float32"])
    return eps > 0 and (rounded(eps, dtype) == 0 or eps < least)


def guard_of(site: Site, param: str) -> Site | None:
    """The sum, maximum or clip (`x + 1e-8`, `maximum(x, 1e-8)`) that gives what arrives at a
    parameter.
    """
    if not site.may_be_made_by(param, *EPSILON_GUARDS):
        return None
    guard = site.value(param).origin
    return guard if isinstance(guard, Site) else None


def lost_in(guard: Site) -> list[tuple[str, Value, str]]:
    """The epsilons of a guard that are 0 in the dtype of what they guard, where that may be 0: the
    parameter of each, the guarded value and the dtype.
    """
    lost = []
    for param, x in _pairs(guard):
        eps = guard.value(param)
        # a tensor brings its dtype along
        dtype = x.dtype or (eps.dtype if eps.kind in ("tensor", "array") else None) or "float32"
        may_be_zero = not x.positive and x.kind != "number"
        if eps.exact and may_be_zero and vanishes(eps.lo, dtype):
            lost.append((param, x, dtype))
    return lost


def _pairs(guard: Site) -> list[tuple[str, Value]]:
    """(parameter of what may be an epsilon, the value it guards)."""
    if guard.op.name in FLOORS:
        return [("y", guard.value("x")), ("x", guard.value("y"))]
    return [("clip_value_min", guard.value("x"))] if guard.op.name == "tf.clip_by_value" else []
