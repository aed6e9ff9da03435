"""Cosines written by hand: an inner product over the product of the norms of its factors, or of
something larger, lies within [-1, 1] (Cauchy and Schwarz). The two are taken for vectors of one
length: where one is broadcast along the axis of the sum, the bound does not hold. Nor does it where
squares underflow in a norm and not in the product: each norm must have a floor, or the product of
both. Beside the latter the bound fails where one vector is around 1e-19 and the other one longer
than 1e6, which no program is taken to reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from tfnanlint.ops.relations.counts import axis_of, one_axis
from tfnanlint.ops.relations.magnitudes import outweighs_underflow, square_of
from tfnanlint.ops.site import Site, both_orders, made_by, same
from tfnanlint.ops.traits import (
    AXIS_LAYOUTS,
    CONTRACTIONS,
    EUCLIDEAN,
    FLOORS,
    NORM_PRODUCTS,
    NORMS,
    SQUARES,
)
from tfnanlint.values.value import Value

_DEPTH: Final = 4


def is_cosine(divisor: Value, x: Value) -> bool:
    """Whether `x` is an inner product and no element of `divisor` is below the product of the norms
    of its factors.
    """
    inner = made_by(x, *CONTRACTIONS)
    if inner is None:
        return False
    factors: Site | None = inner
    if inner.op.name == "tf.reduce_sum":
        factors = made_by(inner.value("x"), "tf.multiply", aligned=True)
    if factors is None or not (factors.given("x") and factors.given("y")):
        return False
    a, b = _vector(factors.value("x")), _vector(factors.value("y"))
    return any(
        same(a, first) and same(b, second) or same(a, second) and same(b, first)
        for first, second in _normed(divisor, inner)
    )


def _has_floor(norm: Value) -> bool:
    """Whether a norm, or a product of two, is too large for squares that underflow to matter."""
    return norm.lo > 0 and outweighs_underflow(norm.lo**2, norm.dtype)


def _normed(divisor: Value, inner: Site) -> Iterator[tuple[Value, Value]]:
    """The pairs of vectors of whose norms a divisor is the product, or larger than it."""
    floored = _has_floor(divisor)
    for norms in _not_above(divisor, NORM_PRODUCTS):
        if norms.op.name != "tf.sqrt":
            if floored or _has_floor(norms.value("x")) and _has_floor(norms.value("y")):
                yield from product(
                    _lengths(norms.value("x"), inner), _lengths(norms.value("y"), inner)
                )
            continue
        for squares in _not_above(norms.value("x"), ("tf.multiply",)) if floored else ():
            yield from product(
                _squared_lengths(squares.value("x"), inner),
                _squared_lengths(squares.value("y"), inner),
            )


def _lengths(value: Value, inner: Site) -> Iterator[Value]:
    """The vectors whose norm a value is, or something larger."""
    for norm in _not_above(value, (*NORMS, "tf.sqrt")):
        if norm.op.name == "tf.sqrt":
            yield from _squared_lengths(norm.value("x"), inner)
        elif norm.const("ord", "euclidean") in EUCLIDEAN and _is_along(norm, inner):
            yield _vector(norm.value("x"))


def _squared_lengths(value: Value, inner: Site) -> Iterator[Value]:
    """The vectors whose sum of squares a value is, or something larger."""
    for total in _not_above(value, ("tf.reduce_sum",)):
        square = made_by(total.value("x"), *SQUARES)
        if square is not None and _is_along(total, inner):
            x = square.value("x")
            if square_of(total.value("x"), x):
                yield _vector(x)


def _not_above(value: Value, names: tuple[str, ...], depth: int = _DEPTH) -> Iterator[Site]:
    """The applications of some ops whose result is never above a value: itself, what something is
    added to that is not negative, what is replaced by a larger number.
    """
    producer = made_by(value, *names, *FLOORS) if depth else None
    if producer is not None and producer.op.name in names:
        yield producer
    elif producer is not None:
        for part, operand in both_orders(producer):
            if producer.op.name == "tf.maximum" or operand.lo >= 0:
                yield from _not_above(part, names, depth - 1)


def _is_along(norm: Site, inner: Site) -> bool:
    """Whether a norm may be taken along the axis over which an inner product adds up: the same one
    where the sum names it.
    """
    if inner.op.name != "tf.reduce_sum":
        return axis_of(norm) is not None
    return one_axis(norm, inner) or axis_of(norm) is axis_of(inner) is None


def _vector(value: Value) -> Value:
    """A value before its axes were arranged in another way."""
    for _ in range(_DEPTH):
        site = value.origin
        if not (isinstance(site, Site) and site.op.name in AXIS_LAYOUTS and site.op.passes):
            break
        value = site.value(site.op.passes)
    return value
