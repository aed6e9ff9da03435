"""Small constants that guards are made of: which one for which use, and the least that a dtype can
hold there.

The thresholds are measured (facts/hazards.md, T.epsilon_absorption and T.common_epsilons): below
them the constant is 0 or is absorbed next to 1, or the derivative at it overflows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tfnanlint.diagnostics.findings import EPSILON
from tfnanlint.values.value import FLOATS, SMALLEST, rounded


class Use(NamedTuple):
    """What a small constant is for. `least` is what a dtype can hold there, `instead` what is taken
    for a smaller one.
    """

    least: dict[str, float]
    instead: dict[str, float]
    squared: bool = False


def _overflow(power: float) -> dict[str, float]:
    """The smallest numbers x for which x ** -power is finite."""
    return {
        dtype: max(SMALLEST[dtype], 1.01 * limits.max ** (-1 / power))
        for dtype, limits in FLOATS.items()
    }


_KEPT = {"float16": 4.9e-4, "bfloat16": 3.93e-3, "float32": 6e-8, "float64": 1.2e-16}

USES = {
    # maximum(x, eps) in front of a logarithm: the derivative there is 1 / eps.
    "floor": Use(_overflow(1), {"float16": 1e-4}),
    # The same where the dtype alone decides: below every number that occurs, far enough above the
    # smallest for 1 / eps times a gradient.
    "logarithm": Use(
        {"float16": 1.1, "bfloat16": 1.1, "float32": 1.1, "float64": 1.1},
        {"float16": 1e-4, "bfloat16": 1e-37, "float32": 1e-37, "float64": 1e-300},
    ),
    # x + eps there: at 0, which a relu gives often, the gradient is not stopped as that of maximum
    # is, but 1 / eps times all that comes after.
    "summand": Use(
        {"float16": 1.1, "bfloat16": 1.1, "float32": 1.1, "float64": 1.1},
        {"float16": 1e-4, "bfloat16": 1e-30, "float32": 1e-30, "float64": 1e-290},
    ),
    # maximum(1 - p, eps) there: below the distance of the numbers beside 1, which is all that 1 - p
    # can be.
    "complement": Use(
        {"float16": 1.1, "bfloat16": 1.1, "float32": 1.1, "float64": 1.1},
        {"float16": 1e-4, "bfloat16": 1e-3, "float32": 1e-8, "float64": 1e-17},
    ),
    # maximum(y, eps) under a fraction: the derivative is 1 / eps^2.
    "divisor": Use(_overflow(2), {"float16": 1e-2}),
    # The same where the fraction is divided by a square, of which ordinary values lie far below the
    # configured constant.
    "squares": Use(_overflow(2), {"float16": 1e-2}, squared=True),
    # x + eps under a root: the derivative is 1 / (2 sqrt(eps)), and what the result moves by is
    # sqrt(eps).
    "root": Use(
        {dtype: 1.01 * least for dtype, least in SMALLEST.items()}, {"float16": 1e-6}, squared=True
    ),
    # The same for the length of a vector, of which ordinary values may be far below 1e-6, as those
    # of capsules are at first: the derivative of its reciprocal, eps^-1.5 / 2, is finite, too.
    "length": Use(
        {"float16": 1.1, "bfloat16": 1.1, "float32": 1.1, "float64": 1.1},
        {"float16": 1e-6, "bfloat16": 1e-20, "float32": 1e-20, "float64": 1e-20},
    ),
    # The same for the length of a gradient, by which nothing is divided: that of a deep network may
    # be far below 1e-10 at first.
    "gradient": Use(
        {"float16": 1.1, "bfloat16": 1.1, "float32": 1.1, "float64": 1.1},
        {"float16": 1e-6, "bfloat16": 1e-30, "float32": 1e-30, "float64": 1e-30},
    ),
    # The same under a reciprocal root: the derivative is eps^-1.5 / 2.
    "inverse root": Use(_overflow(1.5), {"float16": 1e-3}, squared=True),
    # 1 - eps and 1 + eps: different from 1.
    "margin": Use(_KEPT, {"float16": 1e-3, "bfloat16": 1e-2, "float64": 1e-15}),
}
# The margins nearest to 1 that are kept below it, where a bound of the program is moved as little
# as can be.
NEAREST = {"float16": "1e-3", "bfloat16": "4e-3", "float32": "1e-7", "float64": "1e-15"}


def epsilon(use: str, dtype: str | None, configured: float = EPSILON) -> str:
    """The constant for a use in a dtype, as a program writes it: the configured one where the dtype
    can hold it there.
    """
    row, dtype = USES[use], dtype if dtype in FLOATS else "float32"
    wanted = (10 * configured) ** 2 if row.squared else configured
    if wanted < row.least[dtype]:
        wanted = row.instead.get(dtype, 1e-12 if row.squared else EPSILON)
    return written(wanted)


def survives(eps: str, use: str, dtype: str) -> bool:
    """Whether a constant does its work in a dtype. A floor in front of a logarithm does as long as
    it is not 0: a higher one would be above ordinary probabilities.
    """
    number = rounded(float(eps), dtype)
    return number >= (SMALLEST if use == "floor" else USES[use].least)[dtype]


def under_power(exponent: float, dtype: str | None, configured: float = EPSILON) -> str:
    """The base below which a power between 0 and 1 is kept from its infinite derivative: its power
    is as small as a guarded root is.
    """
    root, least = (
        float(epsilon("root", dtype, configured)),
        USES["root"].least[dtype if dtype in FLOATS else "float32"],
    )
    return written(
        max(
            10.0 ** round(0.5 / exponent * math.log10(root)),
            1e-30,
            math.ceil(least * 1e8) / 1e8 if least > 1e-30 else 0.0,
        )
    )


def written(number: float) -> str:
    """A small number as programs write it: 1e-7, 2.5e-6."""
    mantissa, _, exponent = f"{number:.5e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
