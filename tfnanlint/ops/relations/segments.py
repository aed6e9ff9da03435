"""Segments: softmax within groups, `exp(x - max of its group)` divided by the sum of its group."""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import SEGMENT_MAXIMA, SEGMENT_SUMS
from tfnanlint.values.value import INF, Value

# how the elements of a group get what the group has
_HANDED_OUT: Final = {"tf.gather": "indices", "tf.repeat": "repeats"}


def own_group(site: Site, x: Value) -> Value | None:
    """What each element gets of sums of exp(x - max of the group) is at least 1: only groups with
    an element hand something out, and in each of them one element is the largest.
    """
    total = made_by(x, *SEGMENT_SUMS)
    exponential = made_by(total.value("x"), "tf.exp") if total is not None else None
    minus = made_by(exponential.value("x"), "tf.subtract") if exponential is not None else None
    peak = made_by(minus.value("y"), *SEGMENT_MAXIMA) if minus is not None else None
    handed = made_by(minus.value("y"), *_HANDED_OUT) if peak is not None else None
    if (
        handed is None
        or handed.op is not site.op
        or not same(peak.value("segment_ids"), total.value("segment_ids"))
    ):
        return None
    param = _HANDED_OUT[site.op.name]
    if (
        not same(site.value(param), handed.value(param))
        or param == "indices"
        and not same(site.value(param), total.value("segment_ids"))
    ):
        return None
    return (
        Value(1.0, INF, nan=x.nan, inf=x.inf, dtype=x.dtype)
        if same(_source(peak.value("x")), _source(minus.value("x")))
        else None
    )


def _source(x: Value) -> Value:
    """A value before it was moved about."""
    for _ in range(8):
        if not isinstance(x.origin, Site) or not x.origin.op.passes:
            break
        x = x.origin.value(x.origin.op.passes)
    return x
