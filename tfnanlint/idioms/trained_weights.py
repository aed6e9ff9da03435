"""Trained weights that would have to be 0, or to cancel, to the last bit: each step of training
moves every weight by another amount, and nothing drives them all to 0 at once.

A single weight that passes through 0 is another thing, and so are weights that start there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms.vanishing import made_by_keras, random_weight
from tfnanlint.ops.models.variables import (
    VARIABLES,
    moved_by_training,
    started,
)
from tfnanlint.ops.provenance import behind, widest
from tfnanlint.ops.site import Site, made_by, operands
from tfnanlint.ops.traits import AXIS_LAYOUTS, CASTS, MATRIX_PRODUCTS, RESHAPES, SUMS
from tfnanlint.values.value import Note, Value

_DEPTH: Final = 8
_SOURCES: Final = {"tf.gradients": "xs", "method.gradient": "sources"}  # what is derived by


def weakness_of_vector(vector: Value) -> str:
    """The kind of evidence that all elements of a vector are 0, as `kinds` names it:
    "weights-off-zero" where weights that start at another number than 0 are added to each element,
    "weight-product" of weights that are multiplied, "weight-gradient" of the gradient by whole
    weights; empty for others.
    """
    vector = laid_out(vector)
    if any([_starts_off_zero(one) for one in addends(vector)]):
        return "weights-off-zero"
    is_gradient = _is_gradient_of_weights(vector)
    return "weight-gradient" if is_gradient else weakness_of_product(vector)


def weakness_of_product(vector: Value) -> str:
    """The kind of evidence that all elements of a vector are 0, as `kinds` names it:
    "weight-product" where it is a matrix product of nothing but weights that start with random
    numbers, as in a power iteration; empty for others.
    """
    ways = [laid_out(way) for way in _ways(vector)]
    are_products = all([made_by(way, *MATRIX_PRODUCTS) is not None for way in ways])
    return "weight-product" if are_products and all(map(_are_random, ways)) else ""


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


def _are_random(weights: Value, depth: int = _DEPTH) -> bool:
    """Whether weights start with random numbers, or are a matrix product of such, scaled or not."""
    if depth == 0:
        return False
    ways = _ways(weights)
    weights = laid_out(weights)
    share = made_by(weights, "tf.divide")
    factors = operands(made_by(weights, *MATRIX_PRODUCTS))
    parts = ways if len(ways) > 1 else factors if share is None else [share.value("x")]
    if parts:
        return all([_are_random(part, depth - 1) for part in parts])
    return random_weight(weights) or made_by_keras(Value(origin=behind(weights)))


def _ways(value: Value) -> Sequence[Value]:
    """What a value is one of: what callers pass, what branches give; the value alone otherwise."""
    note = value.origin
    while isinstance(note, Note) and not note.options and note.index is None:
        note = note.parent
    return note.options if isinstance(note, Note) and note.options else [value]


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
