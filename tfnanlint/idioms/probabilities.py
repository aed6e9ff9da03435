"""Probabilities made from logits, as they arrive at a logarithm: complemented, clipped, moved by an
epsilon.

Also what becomes of one number in what is computed with constants, and where in a flagged
expression the producer's own value stands, through ops that only select or rearrange.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from tfnanlint.ops.relations.outputs import ending
from tfnanlint.ops.site import Site, made_by, operands
from tfnanlint.ops.traits import (
    ARITHMETIC,
    CASTS,
    DISTRIBUTION_FUNCTIONS,
    FLOORS,
    IDENTITIES,
)
from tfnanlint.values.value import Value

PRODUCERS = {"tf.nn.softmax": "logits", "tf.sigmoid": "x"}


SMALL = 0.1  # what is added to a probability up to this is a guard, not a term


class Probability(NamedTuple):
    """`producer` is the softmax or sigmoid; `complement`: 1 - p arrives; `guard` is the epsilon it
    is kept away from 0 with, 0 when there is none; `added`: it is added, and moves all values.
    `layer` is the layer's call that the producer is the activation of: its logits have no name.
    """

    producer: Site
    complement: bool = False
    guard: float = 0.0
    added: bool = False
    layer: Site | None = None

    @property
    def output(self) -> Site:
        """The op application whose result the probability is."""
        return self.layer or self.producer

    @property
    def logits(self) -> str:
        """The producer's parameter that takes the logits."""
        return PRODUCERS[self.producer.op.name]


def logged(log: Site) -> Probability | None:
    """The probability whose logarithm a site of log or log1p takes; None when it takes something
    else, and for the unguarded output of a layer, which nothing but the logarithm can mend.
    """
    x = log.value("x")
    p = probability(x) if log.op.name != "tf.math.log1p" else _of_negated(x)
    return None if p is None or p.layer is not None and not p.guard else p


def _of_negated(x: Value) -> Probability | None:
    """`log1p(-p)` takes the logarithm of 1 - p."""
    negated = x.origin if isinstance(x.origin, Site) and x.origin.op.name == "tf.negative" else None
    inner = probability(negated.value("x")) if negated is not None else None
    return None if inner is None or inner.complement else inner._replace(complement=True)


def probability(value: Value, depth: int = 8) -> Probability | None:
    """The softmax or sigmoid that a value is, behind clips, small constants and `1 - p`."""
    site = value.origin
    if not isinstance(site, Site) or depth == 0:
        return None
    name = site.op.name
    if name in PRODUCERS:
        return Probability(site)
    if name in IDENTITIES:
        return probability(site.value(site.op.passes), depth - 1)
    if name == "tf.clip_by_value":
        return _guarded(probability(site.value("x"), depth - 1), site.value("clip_value_min"))
    if name in ("tf.maximum", "tf.minimum", "tf.add"):
        return _with_constant(site, depth)
    if name == "tf.subtract":
        return _complement(site.value("x"), site.value("y"), depth)
    last = ending(value)
    return Probability(last, layer=site) if last is not None and last.op.name in PRODUCERS else None


def _guarded(p: Probability | None, floor: Value, added: bool = False) -> Probability | None:
    if p is None or not floor.exact or not 0 <= floor.lo <= SMALL:
        return None
    return p._replace(guard=max(p.guard, floor.lo), added=p.added or added)


def _with_constant(site: Site, depth: int) -> Probability | None:
    x, y = site.value("x"), site.value("y")
    constant, operand = (x, y) if x.exact else (y, x)
    if not constant.exact:
        return None
    negated = operand.origin
    if site.op.name == "tf.add" and isinstance(negated, Site) and negated.op.name == "tf.negative":
        return _complement(constant, negated.value("x"), depth)
    if site.op.name == "tf.minimum":
        return probability(operand, depth - 1) if constant.lo > 1 - SMALL else None
    return _guarded(probability(operand, depth - 1), constant, site.op.name == "tf.add")


def _complement(minuend: Value, p: Value, depth: int) -> Probability | None:
    if not minuend.exact or not abs(minuend.lo - 1) <= SMALL:
        return None
    subtrahend = probability(p, depth - 1)
    if subtrahend is None:
        return None
    guard = max(subtrahend.guard, minuend.lo - 1)
    return subtrahend._replace(
        complement=not subtrahend.complement,
        guard=guard,
        added=subtrahend.added or minuend.lo > 1,
    )


# What becomes of one element and a constant, where that is a number.
_WITH_CONSTANT: dict[str, Callable[[float, float], float | None]] = {
    "tf.add": lambda x, y: x + y,
    "tf.subtract": lambda x, y: x - y,
    "tf.multiply": lambda x, y: x * y,
    "tf.divide": lambda x, y: x / y if y else None,
    "tf.pow": lambda x, y: x**y if x >= 0 and 0 < y <= 8 or y in (2, 4) else None,
    "tf.maximum": max,
    "tf.minimum": min,
}
_OF_ONE: dict[str, Callable[[float], float]] = {
    "tf.negative": lambda x: -x,
    "tf.square": lambda x: x * x,
    "tf.abs": abs,
}


def image(value: Value, start: Site, number: float, depth: int = 12) -> float | None:
    """What becomes of an element of `start` that is `number` in a value that is computed of it with
    constants; None for others.
    """
    site = value.origin
    if not isinstance(site, Site) or depth == 0:
        return None
    if site.op is start.op and site.node is start.node:
        return number
    if site.op.passes or site.op.name in CASTS:
        return image(site.value(site.op.passes or "x"), start, number, depth - 1)
    x, y = site.value("x"), site.value("y")
    if site.op.name in _OF_ONE:
        reached = image(x, start, number, depth - 1)
        return None if reached is None else _OF_ONE[site.op.name](reached)
    if site.op.name not in _WITH_CONSTANT or x.exact == y.exact:
        return None
    reached = image(y if x.exact else x, start, number, depth - 1)
    if reached is None:
        return None
    return (
        _WITH_CONSTANT[site.op.name](x.lo, reached)
        if x.exact
        else _WITH_CONSTANT[site.op.name](reached, y.lo)
    )


def spot(site: Site, param: str, producer: Site) -> ast.expr | None:
    """The innermost expression in an argument of `site` whose value is what `producer` made.

    Between it and the argument stand ops only that select or rearrange elements; None when others
    do, or when they stand in another statement.
    """
    node, value = site.args.get(param), site.value(param)
    while node is not None and value.origin is not producer:
        step = value.origin
        if (
            not isinstance(step, Site)
            or step.node is not node
            or not step.op.passes
            or step.library in ("method", "np")
        ):
            return None
        node, value = step.args.get(step.op.passes), step.value(step.op.passes)
    return node


def step(x: Value) -> bool:
    """A distribution function at one point less that at a lower one, and an epsilon: cdf(b) -
    cdf(a) + 1e-6.
    """
    total = made_by(x, *FLOORS)
    if total is None or not any(part.lo > 0 for part in operands(total)):
        return False
    minus = made_by(total.value("x"), "tf.subtract") or made_by(total.value("y"), "tf.subtract")
    curves = [curve(part) for part in operands(minus)] if minus is not None else [None]
    return None not in curves and curves[0].op is curves[1].op


def curve(value: Value, depth: int = 6) -> Site | None:
    """The distribution function behind scaling and shifting by known numbers."""
    site = made_by(value, *DISTRIBUTION_FUNCTIONS, *ARITHMETIC) if depth else None
    if site is None or site.op.name in DISTRIBUTION_FUNCTIONS:
        return site
    moved = [part for part in operands(site) if not part.exact]
    return curve(moved[0], depth - 1) if len(moved) == 1 else None
