"""Shares: elements that add up to 1 along an axis, as those of a softmax do."""

from __future__ import annotations

from typing import Any

from tfnanlint.ops.relations.counts import axis_of
from tfnanlint.ops.relations.magnitudes import square_of
from tfnanlint.ops.relations.outputs import ending
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import SQUARES
from tfnanlint.values.value import FLOATS, HALVES, INF, NO_CONSTANT, Value

_LONGEST = 2.0**-31  # 1 / n of as many as an axis holds


def softmax_of(x: Value) -> Site | None:
    """The softmax whose elements a value holds, whether an op made it or it is what a layer or
    model ends with.
    """
    softmax = made_by(x, "tf.nn.softmax", aligned=True)
    if softmax is not None or x.lo != 0 or x.hi != 1:
        return softmax
    last = ending(x)
    return last if last is not None and last.op.name == "tf.nn.softmax" else None


def softmax_axis(x: Value) -> Any:
    """The axis of the softmax that a value is as it stands; NO_CONSTANT where it is none, or its
    axis cannot be read.
    """
    source = softmax_of(x)
    # another axis may be in its place
    if source is None or isinstance(x.origin, Site) and x.origin.op.passes:
        return NO_CONSTANT
    return axis_of(source, -1)


def of_squares(total: Site, x: Value) -> Value | None:
    """The sum of the squares of shares along their axis, or of all."""
    square = made_by(x, *SQUARES, aligned=True) if x.lo == 0 else None
    p = square.value("x") if square is not None else None
    return squared_and_summed(total, p) if p is not None and square_of(x, p) else None


def squared_and_summed(total: Site, p: Value) -> Value | None:
    """What squares of shares add up to: at least 1 / n, along their axis at most 1."""
    return squared_and_summed_along(p, axis_of(total))


def squared_and_summed_along(p: Value, along: Any) -> Value | None:
    """`squared_and_summed` along one axis, or over all elements where `along` is None."""
    axis, least = axis_of_shares(p) if p.lo == 0 and p.dtype not in HALVES else (NO_CONSTANT, 0.0)
    if axis is NO_CONSTANT or along is not None and along != axis:
        return None
    slack = 1024 * FLOATS.get(p.dtype or "float32", FLOATS["float32"]).eps
    hi = 1.0 + slack if along == axis and least and not p.inf else INF
    return Value(least * least, hi, False, nan=p.nan, inf=p.inf, dtype=p.dtype)


def axis_of_shares(p: Value) -> tuple[Any, float]:
    """The axis along which values add up to 1, None for all of them, and what the largest of them
    is at least: 0 for what is only above it.
    """
    axis = softmax_axis(p)
    if axis is not NO_CONSTANT:
        return axis, _LONGEST / 2
    origin = p.origin
    if isinstance(origin, Site) and origin.op.name == "tf.exp":
        logarithm = made_by(origin.value("x"), "tf.nn.log_softmax", "tf.subtract", aligned=True)
        if logarithm is None or logarithm is not origin.value("x").origin:
            return NO_CONSTANT, 0.0
        if logarithm.op.name == "tf.nn.log_softmax":
            return axis_of(logarithm, -1), _LONGEST / 2
        whole = made_by(logarithm.value("y"), "tf.reduce_logsumexp", aligned=True)
        if whole is not None and same(whole.value("x"), logarithm.value("x")):
            return axis_of(whole), 0.0  # of large logits no digit of the difference is right
    if isinstance(origin, Site) and origin.op.name == "tf.divide":
        whole = made_by(origin.value("y"), "tf.reduce_sum", aligned=True)
        if (
            whole is not None
            and origin.value("x").nonnegative
            and not origin.value("y").inf
            and same(whole.value("x"), origin.value("x"))
        ):
            return axis_of(whole), _LONGEST / 2
    return NO_CONSTANT, 0.0
