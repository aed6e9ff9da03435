"""Moments written by hand: mean(x^2) - mean(x)^2, of one batch or as variables keep them over many.

A mean may be one over axes or over windows, of elements with a mask as their factor, or a sum that
a count divides: sum(x^2) - sum(x)^2 / n.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from tfnanlint.ops.models.variables import VARIABLES
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import (
    AVERAGES,
    FACTORS,
    NEGATIONS,
    PLAIN_MEANS,
    SQUARES,
    TOTALS,
    WINDOW_SUMS,
)
from tfnanlint.program.scope import Assigned, Parameter, Point, unrefined
from tfnanlint.terms.build import MEAN, TOTAL, terms_at, terms_of
from tfnanlint.terms.term import Atom, Monomial, Term, factored
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import NO_CONSTANT, Value

# What a part of such a difference may end with; asked before anything is computed.
_ENDS: Final = (
    *SQUARES,
    *VARIABLES,
    *PLAIN_MEANS,
    *TOTALS,
    *AVERAGES,
    *NEGATIONS,
    *WINDOW_SUMS,
)
_NAMES: Final = 4  # that stand for one another
_CLOSE: Final = 1e-6


class Variance(NamedTuple):
    """`mean` is the mean of the squares, `square` the site that squares, `x` what is squared.
    `summed`: it is a sum that a count divides, or a mean over windows, which no other op gives.
    """

    mean: Site
    square: Site
    x: Value
    summed: bool = False


def variance_of(difference: Site) -> Variance | None:
    """The variance that a difference is, mean(x^2) - mean(x)^2 of the same elements; None for
    anything else.
    """
    if not all([difference.may_be_made_by(param, *_ENDS) for param in ("x", "y")]):
        return None
    if difference.op.name == "tf.add" and not _takes_away(difference):
        return None
    if _says_nothing(difference):
        return None  # two expressions of which the text says nothing are too many to ask
    for term in terms_at(difference):
        if len(term.parts) != 2:
            continue
        (plus, weight), (minus, less) = sorted(term.parts.items(), key=lambda part: -part[1])
        if weight > 0 > less:
            variance = _variance(plus, minus, -less / weight) or _running(plus, minus)
            if variance is not None:
                return variance
    return None


def _takes_away(addition: Site) -> bool:
    """Whether the text negates an operand of a sum, or a factor of one: `s + (-1.0) * m * m`."""
    engine, point = addition.interpreter, addition.point
    if engine is None or point is None:
        return True
    return any([_is_negated(engine, node, point, _NAMES) for node in addition.args.values()])


def _is_negated(engine: Evaluator, node: ast.expr, point: Point, depth: int) -> bool:
    """Whether the text negates an expression or one of its factors; names are followed."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub)
    if isinstance(node, ast.Name):
        binding = unrefined(point.lookup(node.id)) if depth else None
        return isinstance(binding, Assigned) and _is_negated(
            engine, binding.node, binding.point, depth - 1
        )
    maker = engine.maker(node, point)
    if maker is None or maker.name not in FACTORS:
        return maker is not None and maker.name in NEGATIONS
    factors = [node.left, node.right] if isinstance(node, ast.BinOp) else getattr(node, "args", [])
    return any([_is_negated(engine, one, point, depth) for one in factors])


def _says_nothing(difference: Site) -> bool:
    """Whether the operands are neither ops, as far as the text tells, nor both parameters of a
    function that only subtracts.
    """
    return (
        difference.maker("x") is None
        and difference.maker("y") is None
        and not all([_parameter(node, difference) for node in difference.args.values()])
    )


def _parameter(node: ast.expr, site: Site) -> bool:
    """Whether an expression is the name of a parameter, as of a function that only subtracts."""
    return (
        isinstance(node, ast.Name)
        and site.point is not None
        and isinstance(unrefined(site.point.lookup(node.id)), Parameter)
    )


def _variance(plus: Monomial, minus: Monomial, ratio: float) -> Variance | None:
    """R(x^2 k) - ratio * R(x k)^2 of a mean or sum R, each perhaps with a count as its divisor."""
    for squares, exponent in plus.factors:
        second = squares.bare
        if exponent != 1 or second.op not in (MEAN, TOTAL) or second.site is None:
            continue
        for elements, power in minus.factors:
            first = elements.bare
            content = _shared_content(first, second) if power == 2 else None
            if content is None:
                continue
            rest = minus.over(_power(elements, 2.0)).over(plus.over(_power(squares, 1.0)))
            if _is_count(rest, ratio * content, second.op):
                return _described(second.site, first)
    return None


def _shared_content(first: Atom, second: Atom) -> float | None:
    """The square of c where `first` is R(c x k) and `second` R(x^2 k) of one reduction R; None
    where they are others.
    """
    if (first.op, first.detail) != (second.op, second.detail):
        return None
    if not first.terms or not second.terms:
        return None
    elements, content = factored(first.terms[0])
    squares, scale = factored(second.terms[0])
    base = squares.over(elements).factors  # x, of x^2 k and x k
    divides = [_divides(exponent, elements.exponent(atom)) for atom, exponent in base]
    return content * content / scale if base and all(divides) else None


def _divides(exponent: float, whole: float) -> bool:
    """Whether a power is a part of another one of the same atom, above a line or below it."""
    return 0 < exponent <= whole or whole <= exponent < 0


def _is_count(rest: Monomial, ratio: float, op: str) -> bool:
    """Whether the square of a mean has the factor 1, or that of a sum one over a count."""
    if not rest.factors:
        return abs(ratio - 1.0) < _CLOSE if op == MEAN else 0.0 < ratio < 1.0
    return op == TOTAL and len(rest.factors) == 1 and rest.factors[0][1] == -1


def _power(atom: Atom, exponent: float) -> Monomial:
    return Monomial(((atom, exponent),))


def _described(mean: Site, elements: Atom) -> Variance | None:
    """The variance with the sites that a repair needs: where the squares are weighed, the site of
    their product.
    """
    summed = mean.op.name not in PLAIN_MEANS
    inner = mean.value(mean.op.main)
    square = squared(inner)
    if square is not None:
        return Variance(mean, square, square.value("x"), summed)
    product = made_by(inner, *SQUARES)
    site = elements.site
    if product is None or site is None:
        return None
    return Variance(mean, product, site.value(site.op.main), True)


def _running(plus: Monomial, minus: Monomial) -> Variance | None:
    """The same of two variables, to one of which the program assigns means of the squares of what
    the other one gets means of; or sums, which one count divides.
    """
    kept, mean = _variable(plus, 1.0), _variable(minus, 2.0)
    if kept is None or mean is None:
        return None
    count = plus.over(_power(kept, 1.0))
    if minus.over(_power(mean, 2.0)) != count.to_the(2.0):
        return None
    if count.factors and [power for _, power in count.factors] != [-1.0]:
        return None
    op = TOTAL if count.factors else MEAN
    elements = [first.value(first.op.main) for first in _assigned(mean, op)]
    for second in _assigned(kept, op):
        inner = squared(second.value(second.op.main))
        if inner is not None and any([same(inner.value("x"), one) for one in elements]):
            return Variance(second, inner, inner.value("x"), True)
    return None


def _variable(monomial: Monomial, exponent: float) -> Atom | None:
    """The variable of which a monomial has this power; only a count may stand beside it."""
    powers = [atom for atom, power in monomial.factors if power == exponent]
    site = powers[0].site if len(powers) == 1 and len(monomial.factors) <= 2 else None
    return powers[0] if site is not None and site.op.name in VARIABLES else None


def _assigned(variable: Atom, op: str) -> list[Site]:
    """The means or sums that the program assigns to a variable, mixed with what it holds, added to
    it or as they are.
    """
    site = variable.site
    if site is None or site.interpreter is None:
        return []
    return [
        atom.site
        for value in site.interpreter.assigned(site)
        for term in terms_of(value)
        for atom in _atoms(term, 4)
        if atom.op == op and atom.site is not None
    ]


def _atoms(term: Term, depth: int) -> Iterator[Atom]:
    """The atoms of a term, and those of sums in its products."""
    for monomial in term.parts if depth else ():
        for atom, _ in monomial.factors:
            yield atom.bare
            if not atom.site and atom.terms:
                yield from _atoms(atom.terms[0], depth - 1)


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
