"""Divisors of which the evidence that they are 0 is weak, of whatever kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfnanlint.idioms import confusion_counts, data_masks, divisors, layer_outputs, trained_weights
from tfnanlint.idioms.divisors import Around
from tfnanlint.ops.site import Site
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
