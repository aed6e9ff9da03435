"""Moments written by hand: mean(x^2) - mean(x)^2."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tfnanlint.site import Site, made_by, same
from tfnanlint.values import NO_CONSTANT, Value


_SQUARES = ("tf.square", "tf.pow", "tf.multiply")


@dataclass(frozen=True, slots=True)
class Variance:
    """`mean` is the mean of the squares, `square` the site that squares, `x` what is squared."""

    mean: Site
    square: Site
    x: Value


def variance_of(minus: Site) -> Variance | None:
    """The variance that a difference is, mean(x^2) - mean(x)^2 of the same elements; None for anything else."""
    if not (minus.may_be_made_by("x", "tf.reduce_mean") and minus.may_be_made_by("y", *_SQUARES)):
        return None
    if minus.maker("x") is None and minus.maker("y") is None and not all(isinstance(one, ast.Name) for one in minus.args.values()):
        return None  # two expressions of which the text says nothing are too many to ask
    of_squares = made_by(minus.value("x"), "tf.reduce_mean")
    squared_mean = squared(minus.value("y")) if of_squares is not None else None
    if of_squares is None or squared_mean is None:
        return None
    square, mean = squared(of_squares.value("x")), made_by(squared_mean.value("x"), "tf.reduce_mean")
    if square is None or mean is None or not same(square.value("x"), mean.value("x")):
        return None
    alike = all(of_squares.const(p, None) == mean.const(p, None) != NO_CONSTANT for p in ("axis", "keepdims"))
    return Variance(of_squares, square, square.value("x")) if alike else None


def squared(value: Value) -> Site | None:
    """The site that squares what a value is the square of; None where nothing is."""
    site = made_by(value, *_SQUARES)
    if site is None:
        return None
    if site.op.name == "tf.pow" and site.const("y", NO_CONSTANT) != 2:
        return None
    if site.op.name == "tf.multiply" and not same(site.value("x"), site.value("y")):
        return None
    return site
