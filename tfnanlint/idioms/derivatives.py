"""Derivatives of derivatives: `tape.gradient(tape.gradient(u, x), x)` is the second of u by x."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from tfnanlint.guards.zero_sets import is_zero_at
from tfnanlint.idioms.piecewise_linear import pieces
from tfnanlint.ops.frameworks import OPTIMIZER_UPDATES
from tfnanlint.ops.provenance import Walk, behind, site_behind
from tfnanlint.ops.site import Site, same
from tfnanlint.ops.traits import NO_GRADIENT, SLICES, TOTALS
from tfnanlint.values.value import Note, Value

#: What takes gradients: its parameters for what is differentiated, and by what.
TAKERS: Final = {"method.gradient": ("target", "sources"), "tf.gradients": ("ys", "xs")}
_HESSIANS: Final = ("tf.hessians",)
_SEEN_THROUGH: Final = frozenset((*SLICES, *TOTALS))


class Derivative(NamedTuple):
    """The derivative of `value` by `x`, taken `order` times."""

    value: Value
    x: Value
    order: int


def derivative(site: Site) -> Derivative | None:
    """What a site that takes a gradient by one tensor differentiates in the end; None for others.

    Gradients of the gradient by the same tensor count together; sums, means and parts of it are
    seen through.
    """
    names = TAKERS.get(site.op.name)
    if names is None or not all(map(site.given, names)):
        return None
    x = _one(site.value(names[1]))
    if x is None:
        return None
    order = 2 if site.name in _HESSIANS else 1
    value = _one(site.value(names[0]))
    inner = None if value is None else _gradient_behind(value)
    if inner is not None and same(inner.x, x):
        return Derivative(inner.value, x, inner.order + order)
    return None if value is None else Derivative(value, x, order)


def gradient_site(value: Value) -> Site | None:
    """The site that took the gradient which a value is a part, a sum or a mean of."""
    for _ in range(8):
        origin = behind(value)
        if not isinstance(origin, Site) or origin.op.name in TAKERS:
            return origin if isinstance(origin, Site) else None
        if not origin.op.passes and origin.op.name not in _SEEN_THROUGH:
            return None
        value = origin.value(origin.op.passes or origin.op.main)
    return None


def is_gradient(value: Value) -> bool:
    """Whether a value is a gradient: what a tape gave, or what a method of an optimizer that Keras
    or TensorFlow calls with one is handed first.
    """
    note = value.origin
    if not isinstance(note, Note) or not note.parameter:
        return gradient_site(value) is not None
    method = note.node
    if not isinstance(method, ast.FunctionDef) or method.name not in OPTIMIZER_UPDATES:
        return False
    return [one.arg for one in method.args.args][1:2] == [note.parameter]


def _gradient_behind(value: Value) -> Derivative | None:
    site = gradient_site(value)
    return derivative(site) if site is not None else None


def _one(value: Value) -> Value | None:
    """The value itself, or the only element of a list."""
    if not isinstance(value.obj, tuple):
        return value
    return value.obj[0] if len(value.obj) == 1 else None


def powers(taken: Derivative) -> Iterator[tuple[Site, int]]:
    """The powers that what is differentiated is made of, each with its exponent; the least one of
    those that have several. Exponents that are no whole numbers are left out, and what no gradient
    flows back to.
    """
    walk = Walk(taken.value)
    for value in walk:
        site = site_behind(value)
        if site is None or site.op.name in TAKERS or site.op.name in NO_GRADIENT:
            continue
        if site.op.name == "tf.pow" and site.given("y"):
            exponents = _whole_numbers(site.value("y"))
            if exponents and min(exponents) >= 1:
                yield site, min(exponents)
        walk.enter(site)


def reaches_zero(base: Value, x: Value) -> bool:
    """Whether a value is 0 for some `x`: where it is piecewise linear in x, or where the x can be
    computed at which it is 0 (`1 - exp(1 - x)`).
    """
    if base.nonzero:
        return False
    linear = pieces(base, x)
    return linear.depends if linear is not None else is_zero_at(base, x)


def _whole_numbers(value: Value) -> list[int]:
    """The numbers of a constant or a nested list; none where one is no whole number."""
    if isinstance(value.obj, tuple):
        parts = [_whole_numbers(inner) for inner in value.obj]
        return [number for part in parts for number in part] if all(parts) else []
    return [int(value.lo)] if value.exact and float(value.lo).is_integer() else []
