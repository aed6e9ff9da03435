"""Divisors of which the evidence that they are 0 is weak, of whatever kind.

x / tf.reduce_sum(mask)                  count
x / tf.norm(v), x / tf.sqrt(s)           length
x / tf.math.reduce_std(v)                deviation
x / temperature, which starts at 1       variable
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import confusion_counts, data_masks, divisors, layer_outputs, trained_weights
from tfnanlint.idioms.divisors import Around, ZeroEvidence
from tfnanlint.idioms.quantities import Quantity, is_standardised, quantity
from tfnanlint.idioms.ratios import is_cosine
from tfnanlint.idioms.vanishing import sums_squares_from_zero
from tfnanlint.ops.models.variables import VARIABLES, begins_at_zero
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.traits import DISPERSIONS, ROOTS, TOTALS
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value

# What tells each kind, in the order in which they are asked.
_TELLING: Final[tuple[Callable[[Site, Value, Evaluator, Around], str], ...]] = (
    lambda division, divisor, interpreter, around: data_masks.weakness_of_total(division, divisor),
    lambda division, divisor, interpreter, around: divisors.weakness_of_size(divisor),
    lambda division, divisor, interpreter, around: confusion_counts.weakness_of_counter(divisor),
    lambda division, divisor, interpreter, around: trained_weights.weakness_of_sum(divisor),
    lambda division, divisor, *here: layer_outputs.weakness_of_length(divisor, *here),
    lambda division, divisor, interpreter, around: layer_outputs.weakness_of_error(divisor),
)


def weakness_of_divisor(
    division: Site, divisor: Value, interpreter: Evaluator, around: Around
) -> str:
    """The kind of evidence that a divisor is 0, as `kinds` names it, where it is a weak one; empty
    for others.
    """
    told = (tell(division, divisor, interpreter, around) for tell in _TELLING)
    return next(filter(None, told), "")


def weakness_of_quotient(
    division: Site, divisor: Value, shown: ZeroEvidence, interpreter: Evaluator, around: Around
) -> str:
    """The same of a division, also by the op that gives the divisor, of which something is `shown`;
    empty where readers found such a one to be 0 often: a product of lengths, or a mean of squared
    gradients that starts at 0.
    """
    weakness = weakness_of_divisor(division, divisor, interpreter, around)
    if weakness or sums_squares_from_zero(divisor) or _is_cosine(division):
        return weakness
    if _is_count(divisor, shown):
        return "count"
    return next((kind for applies, kind in _BY_MAKING if applies(division, divisor)), "")


def _has_both(division: Site) -> bool:
    return division.given("x") and division.given("y")


def _is_cosine(division: Site) -> bool:
    return _has_both(division) and is_cosine(division)


def _is_deviation(division: Site, divisor: Value) -> bool:
    if made_by(plain(divisor), *DISPERSIONS) is not None:
        return True
    return _has_both(division) and is_standardised(division)


def _is_length(division: Site, divisor: Value) -> bool:
    return made_by(plain(divisor), *ROOTS) is not None


def _is_variable(division: Site, divisor: Value) -> bool:
    variable = made_by(plain(divisor), *VARIABLES)
    return variable is not None and not begins_at_zero(variable)


def _is_count(divisor: Value, shown: ZeroEvidence) -> bool:
    """Whether a divisor is one sum over a mask, or of ones; the sum of two counts is 0 more often
    (an overlap without a smooth), and so is one that underflows.
    """
    if made_by(plain(divisor), *TOTALS) is None:
        return False
    return shown.of_mask or shown.by_bounds and quantity(divisor) is Quantity.COUNT


_BY_MAKING: Final[tuple[tuple[Callable[[Site, Value], bool], str], ...]] = (
    (_is_deviation, "deviation"),
    (_is_length, "length"),
    (_is_variable, "variable"),
)
