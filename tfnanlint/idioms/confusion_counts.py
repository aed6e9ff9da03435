"""Tallies: sums of products of labels and decisions (true positives, false negatives), in tensors
or as variables keep them.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms.vanishing import counted, shows_zero
from tfnanlint.ops.models.variables import VARIABLES, begins_at_zero
from tfnanlint.ops.provenance import widest
from tfnanlint.ops.site import Site, complemented, made_by, same
from tfnanlint.ops.traits import CONJUNCTIONS, SIZES, SUM_AND_PRODUCT, SUMS
from tfnanlint.values.value import Value

_MOST: Final = 4  # tallies of a table of two by two


def all_vanish(divisor: Value, division: Site) -> bool:
    """Whether a sum of tallies is 0 where labels or decisions are all 0, as precision and recall
    divide by: each of its products has one of them as a factor, which other tallies show to be 0 or
    1 (`1 - y`), or the dividend to be masks.
    """
    if made_by(plain(widest(plain(divisor))), "tf.add") is None:
        return False
    products = [_factors(one) for one in _tallies(divisor)]
    if len(products) < 2 or not all([len(product) > 1 for product in products]):
        return False
    above = [factor for one in _tallies(division.value("x")) for factor in _factors(one)]
    factors = [one for product in products for one in product]
    masks = [
        one
        for one in factors
        if _complement(one) is None
        and (not one.known or _decided(one) or shows_zero(one))
        and (
            _decided(one)
            or any([_complements(other, one) for other in factors])
            or any([same(one, other) for other in above])
        )
    ]
    for first in masks:
        left = [product for product in products if not _among(first, product)]
        if len(left) == len(products):
            continue
        if not left or any(
            [all([_among(second, product) for product in left]) for second in masks]
        ):
            return True
    return False


def are_counters(divisor: Value, division: Site) -> bool:
    """Whether a value is a sum of variables that start at 0 and add up sums, in other functions
    than the one that divides: 0 where it divides first, as the result of a metric may be asked for,
    and where the sums are 0.
    """
    parts = _parts(divisor, 4)
    return 0 < len(parts) <= _MOST and all([_counts_from_zero(part, division) for part in parts])


def weakness_of_counter(divisor: Value) -> str:
    """The kind of evidence that a divisor is 0, as `kinds` names it: "counter" of a variable that
    starts at 0 and to which only numbers of elements are added, at least 1 each time; empty for
    others.
    """
    counters = _parts(divisor, 4)
    ev = counters[0].interpreter if len(counters) == 1 else None
    if ev is None or counters[0].op.name not in VARIABLES or not begins_at_zero(counters[0]):
        return ""
    added = ev.increments(counters[0])
    return "counter" if added and all([counted(one) or one.lo >= 1 for one in added]) else ""


def _counts_from_zero(variable: Site, division: Site) -> bool:
    ev = variable.interpreter
    if variable.op.name not in VARIABLES or ev is None or division.point is None:
        return False
    increments = ev.increments(variable) if begins_at_zero(variable) else None
    if not increments or not any(map(_is_sum, increments)):
        return False
    if not all([_is_sum(one) or _is_size(one) for one in increments]):
        return False
    return not ev.assigns(variable, division.point.scope, division.node.lineno)


def _is_sum(increment: Value) -> bool:
    return made_by(plain(widest(plain(increment))), *SUMS) is not None


def _is_size(increment: Value) -> bool:
    """Whether a number of elements is added, in a class that overrides what adds up sums."""
    return made_by(plain(widest(plain(increment))), *SIZES) is not None


def _tallies(value: Value) -> list[Site]:
    """The sums that a value is made of by adding and scaling, or that the variables in it add up;
    [] where something else is in it.
    """
    parts = _parts(value, 4)
    if len(parts) > _MOST or any(
        [part.op.name in VARIABLES and not begins_at_zero(part) for part in parts]
    ):
        return []
    tallies: list[Site] = []
    for part in parts:
        total = part if part.op.name in SUMS else _added_up(part)
        if total is None:
            return []
        tallies.append(total)
    return tallies


def _parts(value: Value, depth: int) -> list[Site]:
    """The sums and variables that are added, each with a number as its factor or none; [] where
    something else is.
    """
    value = plain(widest(plain(value)))
    site = made_by(value, *SUMS, *VARIABLES, *SUM_AND_PRODUCT) if depth else None
    if site is None or site.op.name in SUMS or site.op.name in VARIABLES:
        return [site] if site is not None else []
    if site.op.name == "tf.add":
        x, y = _parts(site.value("x"), depth - 1), _parts(site.value("y"), depth - 1)
        return x + y if x and y else []
    scaled = [
        param for param, other in (("x", "y"), ("y", "x")) if site.value(other).kind == "number"
    ]
    return _parts(site.value(scaled[0]), depth - 1) if len(scaled) == 1 else []


def _added_up(variable: Site) -> Site | None:
    """The sum that a variable which starts with 0 is told to add up."""
    ev = variable.interpreter
    if ev is None:
        return None
    increments = ev.increments(variable)
    updates = ev.assigned(variable) if increments is None else increments
    added = [one for one in updates if not (one.exact and one.lo == 0)]
    return made_by(plain(widest(plain(added[0]))), *SUMS) if len(added) == 1 else None


def _factors(total: Site) -> list[Value]:
    """The factors of what is summed up."""
    factors: list[Value] = []
    queue = [plain(total.value(total.op.main))]
    while queue and len(factors) < _MOST:
        factor = queue.pop()
        product = made_by(factor, *CONJUNCTIONS)
        if product is None:
            factors.append(factor)
        else:
            queue += [plain(product.value("x")), plain(product.value("y"))]
    return factors


def _among(factor: Value, product: list[Value]) -> bool:
    return any([same(factor, one) for one in product])


def _decided(value: Value) -> bool:
    return value.dtype == "bool"


def _complement(value: Value) -> Value | None:
    """The y of 1 - y, or of not y."""
    negation = made_by(value, "tf.logical_not")
    return complemented(value) if negation is None else negation.value("x")


def _complements(value: Value, operand: Value) -> bool:
    complement = _complement(value)
    return complement is not None and same(plain(complement), operand)
