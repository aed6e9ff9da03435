"""Moments written by hand: mean(x^2) - mean(x)^2, of one batch or as variables keep them over many."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tfnanlint.ops.families.variables import VARIABLES
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import ARITHMETIC, AVERAGES, SQUARES
from tfnanlint.program.scope import Parameter, unrefined
from tfnanlint.values.value import NO_CONSTANT, Value

_FACTORS = 6  # that are looked at in one product
_MIXED = 24  # values that are looked at in what is assigned to a variable


@dataclass(frozen=True, slots=True)
class Variance:
    """`mean` is the mean of the squares, or their sum that is divided by a count (`summed`),
    `square` the site that squares, `x` what is squared.
    """

    mean: Site
    square: Site
    x: Value
    summed: bool = False


def variance_of(minus: Site) -> Variance | None:
    """The variance that a difference is, mean(x^2) - mean(x)^2 of the same elements; None for
    anything else. Either mean may be a sum divided by a count, of elements with a mask as their
    factor, too.
    """
    if not minus.may_be_made_by("y", *SQUARES):
        return None
    if not minus.may_be_made_by("x", *AVERAGES):
        return _running(minus) if minus.may_be_made_by("x", *VARIABLES) else None
    if (
        minus.maker("x") is None
        and minus.maker("y") is None
        and not all([_parameter(one, minus) for one in minus.args.values()])
    ):
        return None  # two expressions of which the text says nothing are too many to ask
    of_squares = _averaged(minus.value("x"))
    if of_squares is None:
        return _running(minus)
    squared_mean = squared(minus.value("y"))
    mean = _averaged(squared_mean.value("x")) if squared_mean is not None else None
    if squared_mean is None or mean is None:
        return None
    (squares, count), (elements, other) = of_squares, mean
    if not all(
        squares.const(p, None) == elements.const(p, None) != NO_CONSTANT
        for p in ("axis", "keepdims")
    ):
        return None
    if (
        (count is None) != (other is None)
        or count is not None
        and other is not None
        and not same(count, other)
    ):
        return None
    square = squared(squares.value("x"))
    if square is not None and same(square.value("x"), elements.value("x")):
        return Variance(squares, square, square.value("x"), count is not None)
    x = _weighed(squares.value("x"), elements.value("x"))
    return Variance(squares, squared_mean, x, True) if x is not None else None


def _parameter(node: ast.expr, site: Site) -> bool:
    """Whether an expression is the name of a parameter, as of a function that only subtracts."""
    return (
        isinstance(node, ast.Name)
        and site.point is not None
        and isinstance(unrefined(site.point.lookup(node.id)), Parameter)
    )


def _running(minus: Site) -> Variance | None:
    """The same of two variables, to one of which the program assigns means of the squares of what
    the other one gets means of.
    """
    kept = made_by(minus.value("x"), *VARIABLES)
    square = squared(minus.value("y")) if kept is not None else None
    mean = made_by(square.value("x"), *VARIABLES) if square is not None else None
    if kept is None or mean is None or square is None:
        return None
    averaged = [one.value("x") for one in _assigned_means(mean)]
    for one in _assigned_means(kept):
        inner = squared(one.value("x"))
        if inner is not None and any([same(inner.value("x"), elements) for elements in averaged]):
            return Variance(one, square, inner.value("x"), True)
    return None


def _assigned_means(variable: Site) -> list[Site]:
    """The means that the program assigns to a variable, mixed with what it holds or as they are."""
    found: list[Site] = []
    queue: list[Value] = (
        variable.interpreter.assigned(variable) if variable.interpreter is not None else []
    )
    for value in queue[:_MIXED]:
        found += _means_in(value, 4)
    return found


def _means_in(value: Value, depth: int) -> list[Site]:
    site = made_by(value, "tf.reduce_mean", *ARITHMETIC) if depth else None
    if site is None or site.op.name == "tf.reduce_mean":
        return [] if site is None else [site]
    return _means_in(site.value("x"), depth - 1) + _means_in(site.value("y"), depth - 1)


def _averaged(value: Value) -> tuple[Site, Value | None] | None:
    """The site that takes a mean, or the sum that a count divides, and that."""
    site = made_by(value, *AVERAGES)
    if site is None or site.op.name == "tf.reduce_mean":
        return None if site is None else (site, None)
    total = made_by(site.value("x"), "tf.reduce_sum")
    return None if total is None else (total, site.value("y"))


def _weighed(squares: Value, elements: Value) -> Value | None:
    """The x of x * x * k and x * k; None where the products are others."""
    left, weights = _factors(squares), _factors(elements)
    if len(left) != len(weights) + 1 or len(weights) < 2:
        return None
    for weight in weights:
        kept = [one for one in left if not same(one, weight)]
        if len(kept) == len(left):
            return None
        left = kept + [weight] * (len(left) - len(kept) - 1)
    return left[0] if any([same(left[0], weight) for weight in weights]) else None


def _factors(value: Value, depth: int = 4) -> list[Value]:
    site = made_by(value, *SQUARES) if depth else None
    if site is None or site.op.name == "tf.pow" and site.const("y", NO_CONSTANT) != 2:
        return [value]
    first = _factors(site.value("x"), depth - 1)
    return (
        first + (_factors(site.value("y"), depth - 1) if site.op.name == "tf.multiply" else first)
    )[:_FACTORS]


def squared(value: Value) -> Site | None:
    """The site that squares what a value is the square of; None where nothing is."""
    site = made_by(value, *SQUARES)
    if site is None:
        return None
    if site.op.name == "tf.pow" and site.const("y", NO_CONSTANT) != 2:
        return None
    if site.op.name == "tf.multiply" and not same(site.value("x"), site.value("y")):
        return None
    return site
