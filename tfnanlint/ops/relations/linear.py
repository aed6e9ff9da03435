"""What a test of a linear function says of what the function is of."""

from __future__ import annotations

import math
from typing import Final, Iterator

from tfnanlint.ops.site import made_by, same
from tfnanlint.ops.traits import ARITHMETIC, FACTORS, ONE_SIDED_BOUNDS
from tfnanlint.values.value import FLIPPED, Value, number

_DEPTH: Final = 8
_ROUNDING: Final = 1e-6  # what is left of a difference of equal numbers in float32


def as_said_of(
    value: Value, subject: Value, relation: str, bound: Value
) -> tuple[str, Value] | None:
    """The relation and number that a test of `subject` says of a value, where both are linear
    functions of one x: of x, `1 - 2 * x < 0` says `x > 0.5`; of `x - 1`, `x > 1` says `> 0`.
    """
    sign = relation.rstrip("?")
    if not bound.exact or sign not in FLIPPED:
        return None
    values = list(_linear(value))
    for x, tested_scale, tested_shift in _linear(subject):
        for inner, scale, shift in values:
            if same(inner, x):
                ratio = scale / tested_scale
                limit = _sum(_sum(bound.lo, -tested_shift) * ratio, shift)
                turned = FLIPPED[sign] + relation[len(sign) :] if ratio < 0 else relation
                return turned, number(limit)
    return None


def _sum(a: float, b: float) -> float:
    """A sum, and 0 where rounding of float32 numbers may have left what it is."""
    return 0.0 if abs(a + b) < _ROUNDING * max(abs(a), abs(b)) else a + b


def _linear(value: Value) -> Iterator[tuple[Value, float, float]]:
    """(x, scale, shift) for each x such that a value is `x * scale + shift`, itself first."""
    scale, shift = 1.0, 0.0
    yield value, scale, shift
    for _ in range(_DEPTH):
        site = made_by(value, *ARITHMETIC)
        known = site and next((param for param in ("y", "x") if site.value(param).exact), "")
        if site is None or not known or site.op.name == "tf.divide" and known == "x":
            return
        operand = site.value(known).lo
        if math.isinf(operand) or operand == 0 and site.op.name in FACTORS:
            return
        if site.op.name == "tf.add":
            shift += scale * operand
        elif site.op.name == "tf.subtract":
            shift += scale * operand if known == "x" else -scale * operand
            scale = -scale if known == "x" else scale
        else:
            scale = scale * operand if site.op.name == "tf.multiply" else scale / operand
        value = site.value("x" if known == "y" else "y")
        yield value, scale, shift


def operand_of(name: str, known: str, operand: float, result: float) -> float:
    """The other operand of a sum, difference, product or quotient, or of the larger or smaller of
    two, that gives a result; ValueError where none or several do.
    """
    if name in ONE_SIDED_BOUNDS:
        if result <= operand if name == "tf.maximum" else result >= operand:
            raise ValueError(result)
        return result
    if name == "tf.add":
        return result - operand
    if name == "tf.subtract":
        return operand - result if known == "x" else result + operand
    return result / operand if name == "tf.multiply" else result * operand
