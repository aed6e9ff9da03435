"""Trained weights that would have to be 0, or to cancel, to the last bit: each step of training
moves every weight by another amount, and nothing drives them all to 0 at once.

A single weight that passes through 0 is another thing, and so are weights that start there.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.guards.post_guards import plain
from tfnanlint.ops.models.variables import (
    VARIABLES,
    moved_by_training,
    started,
)
from tfnanlint.ops.provenance import widest
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.traits import AXIS_LAYOUTS, CASTS, RESHAPES, SUMS
from tfnanlint.values.value import Value

_DEPTH: Final = 8
_SOURCES: Final = {"tf.gradients": "xs", "method.gradient": "sources"}  # what is derived by


def weakness_of_vector(vector: Value) -> str:
    """The kind of evidence that all elements of a vector are 0, as `kinds` names it:
    "weights-off-zero" where weights that start at another number than 0 are added to each element,
    "weight-gradient" of the gradient by whole weights; empty for others.
    """
    vector = laid_out(vector)
    if any([_starts_off_zero(one) for one in addends(vector)]):
        return "weights-off-zero"
    return "weight-gradient" if _is_gradient_of_weights(vector) else ""


def weakness_of_sum(value: Value) -> str:
    """The kind of evidence that a sum is 0, as `kinds` names it: "weights-off-zero" of several
    weights that start at another number than 0, and of nothing else; empty for others.
    """
    value = laid_out(value)
    total = made_by(value, *SUMS)
    parts = addends(value) if total is None else [total.value(total.op.main or "x")]
    is_several = total is not None or len(parts) > 1
    return "weights-off-zero" if is_several and all(map(_starts_off_zero, parts)) else ""


def laid_out(value: Value) -> Value:
    """A value as it was before its elements were cast, repeated and arranged in another way."""
    value = plain(widest(plain(value)))
    for _ in range(_DEPTH):
        layout = made_by(value, *RESHAPES, *AXIS_LAYOUTS, *CASTS)
        if layout is None:
            break
        value = plain(widest(plain(layout.value(layout.op.main or "x"))))
    return value


def addends(value: Value, depth: int = _DEPTH) -> list[Value]:
    """What a value is the sum of, as often as it is written; the value alone where it is none."""
    value = laid_out(value)
    total = made_by(value, "tf.add") if depth else None
    if total is None:
        return [value]
    return [one for param in ("x", "y") for one in addends(total.value(param), depth - 1)]


def trained(value: Value) -> Site | None:
    """The variable that a value is, which training moves; None for others."""
    weights = made_by(laid_out(value), *VARIABLES)
    return weights if weights is not None and moved_by_training(weights) else None


def _starts_off_zero(value: Value) -> bool:
    """Whether a value is a variable that starts with numbers above 0 only, or below."""
    weights = trained(value)
    if weights is None:
        return False
    start = started(weights)
    return start.known and (start.lo > 0 or start.hi < 0)


def _is_gradient_of_weights(value: Value) -> bool:
    """Whether a value is the gradient of a loss by one variable, not by data or by the outputs of a
    layer.
    """
    gradient = made_by(value, *_SOURCES)
    source = _SOURCES[gradient.op.name] if gradient is not None else ""
    return gradient is not None and trained(gradient.value(source)) is not None
