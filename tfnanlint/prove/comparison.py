"""How a repaired slice does on ordinary inputs beside the original: the largest difference, and
whether its gradient is alive. Used in the worker only.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfnanlint.prove.execution import Run, Runner
from tfnanlint.prove.points import STYLES, Layout, Point, ordinary
from tfnanlint.prove.program import Input

ORDINARY = 1000  # inputs on which a fix is compared
SECONDS = 1.2  # for slices that run one input after the other only
_ALONE = 12  # of them with numbers of their own; the others share these, for a graph
_MOST_DRAWN = 3 * ORDINARY
_MOST_EXACT = 5  # differences that are looked into
_ROUNDING, _ROUNDING_OF_HALVES = 1e-3, 5e-2  # a difference that rounding makes
_SMALL = 1e-3  # of the largest element: below it a difference is not relative to the element
_TINY = 1e-37


@dataclass
class Comparison:
    """`inputs` are those on which both are finite. `largest` is a relative difference of a value or
    gradient, `wrong` the largest that rounding does not explain.
    """

    inputs: int = 0
    largest: float = 0.0
    wrong: float = 0.0
    alive: bool = True

    def as_dict(self) -> dict[str, Any]:
        return {
            "inputs": self.inputs,
            "largest": self.largest,
            "wrong": self.wrong,
            "alive": self.alive,
        }


@dataclass(frozen=True)
class _Pair:
    """Both slices at a point."""

    point: Point
    before: Run
    after: Run


class Comparer:
    """Compares two slices in one layout. Without `gradients` only their values."""

    def __init__(
        self,
        inputs: Sequence[Input],
        layout: Layout,
        runner: Runner,
        repaired: Runner,
        gradients: bool,
    ):
        self._inputs = inputs
        self._layout = layout
        self._runner = runner
        self._repaired = repaired
        self._gradients = gradients
        half = any(dtype in ("float16", "bfloat16") for dtype in layout.dtypes)
        self._rounding = _ROUNDING_OF_HALVES if half else _ROUNDING
        self._looked_into = 0
        self._drawn = 0
        self._first: Point = []

    def compared(self, draw: Any) -> Comparison:
        """The comparison on ordinary inputs: some with numbers of their own, the others at once."""
        comparison = Comparison()
        styles = [self._one(comparison, draw, at) for at in range(_ALONE)]
        fitting = [at % STYLES for at, fits in enumerate(styles) if fits] or [0]
        while comparison.inputs < ORDINARY and any(styles) and self._drawn < _MOST_DRAWN:
            count = ORDINARY - comparison.inputs
            points = [
                ordinary(self._inputs, self._layout, draw, fitting[at % len(fitting)])
                for at in range(count)
            ]
            self._drawn += count
            before = comparison.inputs
            if not self._many(comparison, points) or comparison.inputs == before:
                break
        return comparison

    def _one(self, comparison: Comparison, draw: Any, at: int) -> bool:
        """Compare at one point, eagerly; False where the original is not finite."""
        point = ordinary(self._inputs, self._layout, draw, at % STYLES)
        self._first = self._first or point
        before = self._runner.run(point, self._layout)
        if before.error or not self._finite(before):
            return False
        after = self._repaired.run(point, self._layout)
        if after.error:
            return False
        self._add(comparison, _Pair(point, before, after))
        return True

    def _many(self, comparison: Comparison, points: list[Point]) -> bool:
        """Compare at many points in one run; False where the slices cannot be run so."""
        originals = self._runner.batched(points, self._layout, self._first)
        repaired = originals and self._repaired.batched(points, self._layout, self._first)
        if not originals or not repaired:
            return self._each(comparison, points)
        for point, before, after in zip(points, originals, repaired):
            if self._finite(before):
                self._add(comparison, _Pair(point, before, after))
        return True

    def _each(self, comparison: Comparison, points: list[Point]) -> bool:
        """Compare at points one after the other, as many as the time allows."""
        deadline = time.process_time() + SECONDS
        for point in points:
            before = self._runner.run(point, self._layout)
            after = self._repaired.run(point, self._layout)
            if not (before.error or after.error) and self._finite(before):
                self._add(comparison, _Pair(point, before, after))
            if time.process_time() > deadline:
                return False
        return True

    def _add(self, comparison: Comparison, pair: _Pair) -> None:
        comparison.inputs += 1
        difference = self._difference(pair.after, pair.before)
        comparison.largest = max(comparison.largest, difference)
        if difference > max(self._rounding, comparison.wrong) and self._moved(pair):
            comparison.wrong = difference
        if self._gradients and comparison.alive:
            comparison.alive = not pair.after.dead_beside(pair.before)

    def _finite(self, run: Run) -> bool:
        return run.finite if self._gradients else not run.fails("no")

    def _moved(self, pair: _Pair) -> bool:
        """Whether a difference is not one of rounding: the repaired slice is farther from the exact
        values than the original.
        """
        if self._looked_into == _MOST_EXACT:
            return False
        self._looked_into += 1
        exact = self._runner.exact(pair.point, self._layout)
        if exact is None:
            return True
        off = self._difference(pair.after, exact)
        return off > self._rounding and off > 4 * self._difference(pair.before, exact)

    def _difference(self, run: Run, beside: Run) -> float:
        """The largest relative difference of two runs."""
        values = [_off(*pair, _SMALL) for pair in zip(run.values, beside.values)]
        if not self._gradients:
            return max(values, default=0.0)
        theirs = dict(zip(beside.names, beside.gradients))
        own = zip(run.names, run.gradients)
        gradients = [_off(array, theirs[name], 1.0) for name, array in own if name in theirs]
        return max([*values, *gradients], default=0.0)


def _off(array: Any, beside: Any, small: float) -> float:
    """The largest difference of an element relative to that element, or where it is below a share
    of the largest one to that share: the parts of a gradient are sums that cancel. Where all are
    0, the largest number.
    """
    import numpy as np

    if array.shape != beside.shape:
        return float("inf")
    if not array.size:
        return 0.0
    with np.errstate(all="ignore"):
        sizes = np.abs(beside)
        largest = float(sizes.max())
        scale = np.maximum(sizes, max(small * largest, _TINY)) if largest else 1.0
        off = np.abs(array - beside) / scale
    return float(np.nan_to_num(off, nan=float("inf")).max())
