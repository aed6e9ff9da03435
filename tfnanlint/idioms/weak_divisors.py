"""Divisors of which the evidence that they are 0 is weak, of whatever kind."""

from __future__ import annotations

from tfnanlint.idioms import (
    confusion_counts,
    data_masks,
    divisors,
    layer_outputs,
    trained_weights,
)
from tfnanlint.idioms.divisors import Around
from tfnanlint.ops.site import Site
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value


def weakness_of_divisor(
    division: Site, divisor: Value, interpreter: Evaluator, around: Around
) -> str:
    """The kind of evidence that a divisor is 0, as `kinds` names it, where it is a weak one; empty
    for others.
    """
    return (
        data_masks.weakness_of_total(division, divisor)
        or divisors.weakness_of_size(divisor)
        or divisors.weakness_of_shares(divisor)
        or confusion_counts.weakness_of_counter(divisor)
        or trained_weights.weakness_of_sum(divisor)
        or layer_outputs.weakness_of_length(divisor, interpreter, around)
        or layer_outputs.weakness_of_error(divisor)
    )
