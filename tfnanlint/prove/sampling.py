"""What a witness gives, and the slice along one number of it: for tables and figures.

Runs in the worker. Gradients are those of the sum of the value, as the printed program takes them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfnanlint.prove.execution import Run, Runner, StepFailed
from tfnanlint.prove.points import LARGEST, Layout, Point, plain
from tfnanlint.prove.program import INF, NUMBER, TENSOR, Input, Program

POINTS, COARSE = 81, 9
MOST_SECONDS = 3.0  # of computing
_MOST_NUMBERS = 6  # of the witness, along which is looked
_SMALL = 1e-3
_SAME = 1e-3  # relative
_PARTS = ("value", "gradient")


@dataclass(frozen=True)
class _Number:
    """One number of a witness: an input, and where in it; the index is empty for a scalar."""

    at: int
    index: tuple[int, ...]


class Sampler:
    """Runs both slices of a proof near its witness, in its mode."""

    def __init__(
        self,
        programs: Sequence[Program | None],
        inputs: Sequence[Input],
        mode: str,
        point: Point,
        layout: Layout,
    ):
        self._inputs, self._mode, self._point, self._layout = inputs, mode, point, layout
        self._runners = [self._prepared(program) for program in programs]
        self._deadline = time.process_time() + MOST_SECONDS

    def _prepared(self, program: Program | None) -> Runner | None:
        if program is None:
            return None
        runner = Runner(program, self._inputs, weighed=False)
        try:
            runner.prepare(self._point, self._layout)
        except StepFailed:
            return None
        return runner

    def answer(self, sampled: bool) -> dict[str, Any]:
        """The results at the witness; where `sampled`, also the best line through it."""
        runs = self._runs(self._point)
        results = [None if run is None or run.error else run.as_dict() for run in runs]
        line = None
        if sampled and runs[0] is not None and not runs[0].error and runs[0].values:
            line = self._line(runs, _element(runs))
        return {"results": results, "line": line}

    def _runs(self, point: Point) -> list[Run | None]:
        return [
            None
            if runner is None
            else runner.run(point, self._layout)
            if self._mode == "eager"
            else runner.compiled(self._mode, point, self._layout)
            for runner in self._runners
        ]

    # Lines

    def _line(self, runs: Sequence[Run | None], element: int) -> dict[str, Any] | None:
        """The slice along the number, and in the window, that shows most."""
        witness = runs[0]
        assert witness is not None
        best: tuple[float, _Number, tuple[float, float]] | None = None
        for number in self._numbers(runs, element):
            for window in self._windows(number):
                if time.process_time() > self._deadline:
                    break
                shown = self._worth(self._along(number, _grid(window, COARSE), element))
                if best is None or shown > best[0]:
                    best = shown, number, window
        if best is None or best[0] <= 0:
            return None
        _, number, window = best
        at = self._value(number)
        xs = sorted({*_grid(window, POINTS), at})
        before, after = self._along(number, xs, element)
        if len(before["value"]) < len(xs):
            return None
        has_after = self._runners[1] is not None
        return {
            "name": self._name(number),
            "element": _indexed("value", _index_of(element, witness)),
            "at": at,
            "xs": xs,
            "before": before,
            "after": after if has_after else None,
        }

    def _along(self, number: _Number, xs: Sequence[float], element: int) -> list[dict[str, Any]]:
        """The value and the gradient of both slices where a number is each of some; fewer where the
        time is over.
        """
        curves: list[dict[str, Any]] = [{"value": [], "gradient": []} for _ in self._runners]
        for x in xs:
            if time.process_time() > self._deadline + MOST_SECONDS:
                break
            for curve, run in zip(curves, self._runs(self._moved(number, x))):
                known = run is not None and not run.error and not run.outside
                curve["value"].append(_at(run.values, element) if known and run else None)
                curve["gradient"].append(self._slope(run, number) if known and run else None)
        return curves

    def _slope(self, run: Run, number: _Number) -> Any:
        """The gradient at a number; None where none is taken."""
        name = self._inputs[number.at].name
        if name not in run.names:
            return None
        gradient = run.gradients[run.names.index(name)]
        if gradient.shape != self._layout.shapes[number.at]:
            return None
        return _json(gradient[number.index])

    def _worth(self, curves: Sequence[dict[str, Any]]) -> float:
        """How much of a hazard a line shows: most where half of it is not finite, or where half of
        its gradient is dead.
        """
        before, after = curves
        mixed = [_balance([isinstance(y, str) for y in before[part]]) for part in _PARTS]
        if any(mixed):
            return 2 + sum(mixed)
        pairs = list(zip(before["gradient"], after["gradient"]))
        dead = _balance([y == 0 and not _alike(y, z) for y, z in pairs])
        if dead:
            return 1 + dead
        broken = any(isinstance(y, str) for part in _PARTS for y in before[part])
        if broken and any(isinstance(y, float) for y in after["value"]):
            return 0.05  # nothing is finite: the repaired code is shown beside it
        unlike = [not _alike(y, z) for y, z in zip(before["value"], after["value"])]
        return 0.1 + _balance(unlike) if any(unlike) else 0.0

    # Numbers

    def _numbers(self, runs: Sequence[Run | None], element: int) -> Iterator[_Number]:
        """The numbers along which is looked: of each input the one that the shown number of the
        value belongs to, where its gradient is most unlike that of the repaired slice, and the
        first.
        """
        import numpy as np

        numbers: dict[_Number, None] = {}
        for at, (each, dtype) in enumerate(zip(self._inputs, self._layout.dtypes)):
            if each.kind == NUMBER:
                numbers[_Number(at, ())] = None
            shape = self._layout.shapes[at]
            size = int(np.prod(shape))
            if each.kind != TENSOR or not dtype.startswith(("float", "bfloat")) or not size:
                continue
            own = [element] if runs[0] is not None and shape == runs[0].values[0].shape else []
            for place in (*own, *_unlike(each.name, runs, size), 0):
                numbers[_Number(at, tuple(map(int, np.unravel_index(place, shape))))] = None
        yield from list(numbers)[:_MOST_NUMBERS]

    def _windows(self, number: _Number) -> Iterator[tuple[float, float]]:
        import numpy as np

        known, at = self._inputs[number.at].range, self._value(number)
        largest = max(
            (float(np.abs(one).max()) for one in map(_finite, self._point) if one.size), default=1.0
        )
        own, all_of = (1.25 * max(size, 2.0) for size in (abs(at), min(largest, LARGEST)))
        windows = [(-own, own), (-all_of, all_of), (at - 2.0, at + 2.0)]
        if 0 < abs(at) < _SMALL:
            windows.append((-4 * abs(at), 4 * abs(at)))
        for lo, hi in windows:
            lo, hi = max(lo, known.lo), min(hi, known.hi)
            if lo < hi:
                yield lo, hi

    def _value(self, number: _Number) -> float:
        import numpy as np

        value = float(np.asarray(self._point[number.at])[number.index])
        return value if abs(value) < INF else 0.0

    def _moved(self, number: _Number, x: float) -> Point:
        """The witness with another number in one place."""
        import numpy as np

        point = list(self._point)
        if self._inputs[number.at].kind == NUMBER:
            point[number.at] = x
            return point
        array = np.array(point[number.at])
        array[number.index] = x
        point[number.at] = array
        return point

    def _name(self, number: _Number) -> str:
        return _indexed(self._inputs[number.at].name, number.index)


def _grid(window: tuple[float, float], count: int) -> list[float]:
    lo, hi = window
    return [float(f"{lo + (hi - lo) * at / (count - 1):.7g}") + 0.0 for at in range(count)]


def _finite(value: Any) -> Any:
    import numpy as np

    array = np.asarray(value)
    return array[np.isfinite(array)] if array.dtype.kind == "f" else array[:0]


def _element(runs: Sequence[Run | None]) -> int:
    """The place of the number of the value that shows the hazard: not finite, or else most unlike
    that of the repaired slice.
    """
    import numpy as np

    before, after = (_flat(run) for run in runs)
    bad = np.flatnonzero(~np.isfinite(before))
    if bad.size:
        return int(bad[0])
    if before.size and after.size == before.size:
        return int(np.argmax(np.abs(before - after)))
    return 0


def _flat(run: Run | None) -> Any:
    import numpy as np

    arrays = [] if run is None or run.error else [one.ravel() for one in run.values]
    return np.concatenate(arrays) if arrays else np.zeros(0)


def _at(values: Sequence[Any], element: int) -> Any:
    for value in values:
        if element < value.size:
            return _json(value.ravel()[element])
        element -= value.size
    return None


def _index_of(element: int, run: Run) -> tuple[int, ...]:
    import numpy as np

    for value in run.values:
        if element < value.size:
            return tuple(map(int, np.unravel_index(element, value.shape)))
        element -= value.size
    return ()


def _indexed(name: str, index: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def _json(number: Any) -> Any:
    return plain(float(number))["values"][0]


def _balance(truths: Sequence[bool]) -> float:
    """How evenly truths are mixed: 0 where all are alike, 0.5 where half of them are true."""
    share = sum(truths) / max(1, len(truths))
    return min(share, 1 - share)


def _unlike(name: str, runs: Sequence[Run | None], size: int) -> list[int]:
    """Where the gradient of an input is not finite, or most unlike that of the repaired slice."""
    import numpy as np

    gradients = [
        run.gradients[run.names.index(name)]
        for run in runs
        if run is not None and name in run.names
    ]
    if not gradients or any(one.size != size for one in gradients):
        return []
    bad = np.flatnonzero(~np.isfinite(gradients[0]))
    if bad.size:
        return [int(bad[0])]
    return [int(np.argmax(np.abs(gradients[0] - gradients[-1])))]


def _alike(value: Any, reference: Any) -> bool:
    if isinstance(value, float) and isinstance(reference, float):
        return abs(value - reference) <= _SAME * max(abs(value), abs(reference), 1e-30)
    return reference is None or bool(value == reference)
