"""Zero sets: where a function of one value is 0,
so that a test of that value tells of its zeros.
"""

from __future__ import annotations

import math
from typing import Callable, Final, Iterator

from tfnanlint.ops.relations.linear import operand_of
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import ARITHMETIC, BOUNDS, CASTS, ONE_SIDED_BOUNDS
from tfnanlint.values.value import Value

# What a strictly monotone op, or one that is 0 at 0 alone, must be given to give a number:
# math.log(1) for exp and 1. ValueError where nothing does.
_INVERSES: Final[dict[str, Callable[[float], float]]] = {
    "tf.exp": math.log,
    "tf.math.expm1": math.log1p,
    "tf.math.log": math.exp,
    "tf.math.log1p": math.expm1,
    "tf.tanh": math.atanh,
    "tf.negative": lambda y: -y,
    "tf.sigmoid": lambda y: math.log(y / (1.0 - y)),
    "tf.math.sinh": math.asinh,
    "tf.math.atan": math.tan,
}
_CLIP: Final = "tf.clip_by_value"
_STEPS: Final = (*_INVERSES, *CASTS, *ARITHMETIC, *BOUNDS)
_WITH_NUMBER: Final = (*ARITHMETIC, *ONE_SIDED_BOUNDS)  # solved where one operand is known
_DEPTH: Final = 8


def leaves_no_zero(value: Value, subject: Value, relation: str, bound: Value) -> bool:
    """Whether a value is nowhere 0 where `subject relation bound` holds: 1 - exp(-x) where x != 0,
    log(x) where x < 1.
    """
    magnitude = made_by(subject, "tf.abs")
    for inner, zero in _equations(value):
        if same(subject, inner):
            return _excluded(zero, relation, bound)
        if magnitude is not None and same(magnitude.value("x"), inner):
            return _excluded(abs(zero), relation, bound)
    return False


def is_zero_at(value: Value, x: Value) -> bool:
    """Whether a value is computed from `x` step by step, and 0 where x is a number that it can be:
    1 - exp(1 - x) where x is 1.
    """
    return any(same(inner, x) and x.lo <= zero <= x.hi for inner, zero in _equations(value))


def _equations(value: Value) -> Iterator[tuple[Value, float]]:
    """(x, number) such that a value is 0 where x is the number, and nowhere else, for each x that
    it is computed from step by step.
    """
    result = 0.0
    for _ in range(_DEPTH):
        site = made_by(value, *_STEPS)
        if site is None:
            return
        try:
            if site.op.name in _WITH_NUMBER:
                known = next((param for param in ("y", "x") if site.value(param).exact), "")
                if not known or site.op.name == "tf.divide" and known == "x":
                    return
                result = operand_of(site.op.name, known, site.value(known).lo, result)
                value = site.value("x" if known == "y" else "y")
            elif site.op.name == _CLIP:
                if not _inside(site, result):
                    return
                value = site.value("x")
            else:
                result = _INVERSES[site.op.name](result) if site.op.name in _INVERSES else result
                value = site.value(site.op.main)
        except (ValueError, ZeroDivisionError, OverflowError):
            return  # 0 nowhere, or everywhere
        yield value, result


def _inside(clip: Site, number: float) -> bool:
    """Whether a number lies between the known bounds of a clip, which leaves it as it is."""
    low, high = clip.value("clip_value_min"), clip.value("clip_value_max")
    return low.exact and high.exact and low.lo < number < high.lo


def _excluded(number: float, relation: str, bound: Value) -> bool:
    """Whether a number is none of those that stand in a relation to a bound."""
    sign = relation.rstrip("?")
    if sign == "!=":
        return bound.exact and bound.lo == number
    beyond = {
        ">": number <= bound.lo,
        ">=": number < bound.lo,
        "<": number >= bound.hi,
        "<=": number > bound.hi,
    }
    return beyond.get(sign, False)
