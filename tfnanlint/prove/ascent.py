"""Points that go towards a hazard along the gradient of what the flagged operation is made of: to
where an operand is 0, or beyond it, and to where one is large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tfnanlint.prove.execution import Runner
from tfnanlint.prove.points import LARGEST, STYLES, Layout, Point, inside, ordinary
from tfnanlint.prove.program import TENSOR, Input

_STARTS = 4
_STEPS = 8
_OVERSHOOT = (1.0, 1.5)  # Newton's step, and beyond the zero: what is below 0 has no logarithm
_GROWTH = 4.0


def ascents(inputs: Sequence[Input], layout: Layout, runner: Runner, draw: Any) -> Iterator[Point]:
    """The points on the way from random starts, those to an operand that is 0 first."""
    for start in range(_STARTS):
        for overshoot in _OVERSHOOT:
            point = ordinary(inputs, layout, draw, start % STYLES)
            yield from _to_zero(inputs, layout, runner, point, overshoot)
    for start in range(_STARTS):
        yield from _upwards(inputs, layout, runner, ordinary(inputs, layout, draw, start % STYLES))


def _to_zero(
    inputs: Sequence[Input], layout: Layout, runner: Runner, point: Point, overshoot: float
) -> Iterator[Point]:
    for _ in range(_STEPS):
        smallest = runner.slope(point, layout, "zero")
        if smallest is None or smallest.square == 0:
            return
        factor = -overshoot * smallest.value / smallest.square
        point = _moved(inputs, point, smallest.gradients, factor)
        yield point


def _upwards(
    inputs: Sequence[Input], layout: Layout, runner: Runner, point: Point
) -> Iterator[Point]:
    step = 1.0
    while step < LARGEST:
        largest = runner.slope(point, layout, "large")
        if largest is None or largest.square == 0:
            return
        point = _moved(inputs, point, largest.gradients, step / largest.square**0.5)
        yield point
        step *= _GROWTH


def _moved(
    inputs: Sequence[Input], point: Point, gradients: dict[str, Any], factor: float
) -> Point:
    """A point farther along a gradient, within what is known of its inputs."""
    import numpy as np

    moved = []
    for each, value in zip(inputs, point):
        gradient = gradients.get(each.key)
        if gradient is None or each.kind != TENSOR:
            moved.append(value)
            continue
        array = np.clip(value + factor * gradient, -LARGEST, LARGEST)
        moved.append(inside(each, array).astype(value.dtype))
    return moved
