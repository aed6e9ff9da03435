"""Runs a program in TensorFlow: eagerly step by step, as a graph, and compiled by XLA. Used in the
worker only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tfnanlint.prove.points import Layout, Point, plain
from tfnanlint.prove.program import INF, NAMES, NUMBER, WHOLE_NUMBER, Input, Program, Range, Step

_BUILTINS = (float, int, abs, min, max, sum, pow, round, len, bool)
_SLACK = 1e-3  # by which a value may leave its range: rounding
_TINY = 1e-37
_EXHAUSTED = ("MemoryError", "ResourceExhaustedError")


class StepFailed(Exception):
    """A step of a slice that does not run, and why; `at` counts the steps before it."""

    def __init__(self, step: Step, at: int, reason: str):
        super().__init__(f"{step.op}: {reason}")
        self.step = step
        self.at = at


@dataclass
class Run:
    """What a slice gave at a point. `steps` are the steps upstream of the site, each with whether
    it is finite; `inner` are gradients at the operands of the site, `outer` that at its value.
    """

    values: list[Any] = field(default_factory=list)
    gradients: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of the inputs that have gradients
    error: str = ""
    outside: bool = False  # a value left the range that is known of it
    flagged: list[Any] = field(default_factory=list)  # values of the flagged expression
    upstream_finite: bool = True
    inner: list[Any] = field(default_factory=list)
    outer: list[Any] = field(default_factory=list)
    truths: bool = False  # all results are truth values

    @property
    def size(self) -> int:
        return sum(int(value.size) for value in self.values)

    @property
    def finite(self) -> bool:
        return _finite(self.values) and _finite(self.gradients)

    @property
    def any_kind(self) -> str:
        """Where something is not finite: in the value or in the gradient only."""
        return "value" if not _finite(self.values) else "gradient"

    def fails(self, differentiated: str) -> bool:
        """Whether a result is not finite, or a gradient where one is taken."""
        return not (_finite(self.values) if differentiated == "no" else self.finite)

    def kind(self, differentiated: str, form: bool = False) -> str:
        """How the flagged expression fails: in its value while all before it is finite (but for a
        `form` that begins before it), or in the gradient with respect to what it is made of; empty
        where it does not.
        """
        if not _finite(self.flagged):
            if (
                not (self.upstream_finite or form)
                or _finite(self.values)
                and differentiated == "no"
            ):
                return ""
            # a clip or a choice may hide it, from the gradient too
            return "" if _finite([*self.values, *self.gradients]) else self.any_kind
        if differentiated == "no" or not _finite(self.outer):
            return ""
        # also where the flagged expression hides what is not finite before it
        return "" if _finite([*self.inner, *self.gradients]) else "gradient"

    def words(self, kind: str) -> str:
        """What is not finite, in words: `-inf`, `the gradient of x is nan`."""
        if kind == "value":
            return f"the value is {_worst(self.flagged) or _worst(self.values)}"
        for name, gradient in zip(self.names, self.gradients):
            if not _finite([gradient]):
                return f"the gradient of {name} is {_worst([gradient])}"
        return f"the gradient at its argument is {_worst(self.inner)}"

    def dead_beside(self, run: Run) -> str:
        """The input of which an element has the gradient 0 here and none that is small in another
        run.
        """
        import numpy as np

        theirs = dict(zip(run.names, run.gradients))
        for name, gradient in zip(self.names, self.gradients):
            beside = theirs.get(name)
            if beside is None or beside.shape != gradient.shape or not _finite([beside]):
                continue
            largest = np.abs(beside).max(initial=0.0)
            if ((gradient == 0) & (np.abs(beside) > max(1e-3, 0.05 * largest))).any():
                return name
        return ""

    def tests_unlike(self, run: Run) -> bool:
        """Whether a condition comes out otherwise than in another run."""
        import numpy as np

        pairs = zip(self.values, run.values)
        return self.truths and any(not np.array_equal(one, beside) for one, beside in pairs)

    def error_of(self, exact: Run) -> float:
        """The largest relative difference of the values to those of another run."""
        import numpy as np

        worst = 0.0
        for value, exact_value in zip(self.values, exact.values):
            if value.shape != exact_value.shape:
                return INF
            with np.errstate(all="ignore"):
                off = np.abs(value - exact_value) / np.maximum(np.abs(exact_value), _TINY)
            worst = max(worst, float(np.nan_to_num(off, nan=INF).max(initial=0.0)))
        return worst

    def as_dict(self) -> dict[str, Any]:
        return {
            "value": [plain(one) for one in self.values],
            "gradients": {name: plain(one) for name, one in zip(self.names, self.gradients)},
        }


def _finite(arrays: Sequence[Any]) -> bool:
    import numpy as np

    return all(bool(np.isfinite(array).all()) for array in arrays)


def _worst(arrays: Sequence[Any]) -> str:
    """NaN before infinities, as text; empty where all is finite."""
    import numpy as np

    for array in arrays:
        if np.isnan(array).any():
            return "nan"
    for array in arrays:
        bad = array[~np.isfinite(array)]
        if bad.size:
            return str(float(bad.ravel()[0]))
    return ""


@dataclass(frozen=True)
class Slope:
    """The number of an operand that is nearest to a hazard, its gradients by the keys of the
    inputs, and the square of their length.
    """

    value: float
    gradients: dict[str, Any]
    square: float


class Runner:
    """Runs one program; `prepare` finds the spellings that TensorFlow has. Gradients are of the
    results with different weights, or where not `weighed`, of their sum.
    """

    def __init__(self, program: Program, inputs: Sequence[Input], weighed: bool = True):
        self._loss = _weighed if weighed else _floats
        self.program = program
        self.inputs = inputs
        self._given = {one.key: one.name for one in program.inputs}
        self._codes: list[tuple[Step, Any]] = []
        self._spelled: dict[str, str] = {}
        self._upstream = program.behind(program.site)
        self._compiled: dict[tuple[Any, ...], Any] = {}
        self._exact: dict[Layout, tuple[Runner | None, Layout]] = {}
        self._space = _space()
        self.exhausted = False  # whether the memory was too small

    # One step after the other

    def prepare(self, point: Point, layout: Layout) -> None:
        """Choose the spelling of each step. Raises `StepFailed`."""
        space = self._bound(point, layout)
        self._codes = []
        for at, step in enumerate(self.program.steps):
            error: Exception | None = None
            for spelling in step.spellings:
                code = compile(spelling, "<slice>", "eval")
                try:
                    space[step.name] = eval(code, space)
                # a spelling that this release does not have, or shapes that do not fit
                except Exception as failure:
                    self._said(failure)
                    error = error or failure
                    continue
                self._codes.append((step, code))
                self._spelled[step.name] = spelling
                break
            else:
                said = (str(error).strip().splitlines() or [""])[0][:120]
                raise StepFailed(step, at, f"{type(error).__name__}: {said}")

    def run(self, point: Point, layout: Layout) -> Run:
        """The values and gradients at a point, run eagerly."""
        import tensorflow as tf

        space = self._bound(point, layout)
        floats = {name: one for name, one in self._tensors(space).items() if one.dtype.is_floating}
        try:
            with tf.GradientTape() as tape:
                tape.watch(list(floats.values()))
                for step, code in self._codes:
                    space[step.name] = eval(code, space)
                sink = _flat(eval(self.program.sink, space))
                loss = self._loss(sink)
            inner, outer = self._around_site(space)
            gradients = _gradients(tape, loss, [*floats.values(), *inner, *outer])
        # whatever ends a slice is its result
        except Exception as error:
            return Run(error=self._said(error))
        return self._told(space, sink, list(floats), gradients, len(inner))

    def _said(self, error: Exception) -> str:
        """An error in words; one about memory is noted."""
        name = type(error).__name__
        self.exhausted |= name in _EXHAUSTED
        return f"{name}: {str(error)[:200]}"

    def _told(
        self,
        space: dict[str, Any],
        sink: list[Any],
        names: list[str],
        gradients: list[Any],
        inner: int,
    ) -> Run:
        run = Run([_array(one) for one in sink], gradients[: len(names)], names)
        run.truths = all(one.dtype.is_bool for one in sink)
        run.inner = gradients[len(names) : len(names) + inner]
        run.outer = gradients[len(names) + inner :]
        for step, _ in self._codes:
            if step.name not in self._upstream:
                continue
            arrays = [_array(one) for one in _flat(space[step.name])]
            if step.name == self.program.site or step.inside:
                run.flagged += arrays
            elif not _finite(arrays):
                run.upstream_finite = False
            run.outside |= not _fits(arrays, step.range)
        return run

    def _around_site(self, space: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        """The tensors that the site is made of, and its own."""
        text = self._spelled.get(self.program.site, "")
        operands = [space[name] for name in dict.fromkeys(NAMES.findall(text)) if name in space]
        own = space.get(self.program.site)
        return _floats(operands), _floats([own])

    def slope(self, point: Point, layout: Layout, towards: str) -> Slope | None:
        """How the operand of the site that is nearest to 0, or the largest one, moves with the
        inputs; None where no gradient says.
        """
        import numpy as np
        import tensorflow as tf

        space = self._bound(point, layout)
        named = {one.key: self._given[one.key] for one in self.inputs if one.key in self._given}
        watched = {key: space[name] for key, name in named.items() if tf.is_tensor(space[name])}
        watched = {key: one for key, one in watched.items() if one.dtype.is_floating}
        try:
            with tf.GradientTape() as tape:
                tape.watch(list(watched.values()))
                for step, code in self._codes:
                    space[step.name] = eval(code, space)
                    if step.name == self.program.site:
                        break
                nearest = _nearest(self._around_site(space)[0], towards)
            if nearest is None or not watched:
                return None
            zero = tf.UnconnectedGradients.ZERO
            gradients = tape.gradient(nearest, list(watched.values()), unconnected_gradients=zero)
            arrays = [_array(tf.convert_to_tensor(one)) for one in gradients]
        # whatever ends a slice: it has no slope there
        except Exception:
            return None
        square = float(sum((array**2).sum() for array in arrays))
        value = float(nearest)
        if not np.isfinite([square, value]).all():
            return None
        return Slope(value, dict(zip(watched, arrays)), square)

    def _bound(self, point: Point, layout: Layout) -> dict[str, Any]:
        """The names of the program with the inputs of a point."""
        space = dict(self._space)
        for each, value, dtype in zip(self.inputs, point, layout.dtypes):
            name = self._given.get(each.key)
            if name is not None:
                space[name] = _input(each, value, dtype)
        return space

    def _tensors(self, space: dict[str, Any]) -> dict[str, Any]:
        import tensorflow as tf

        return {
            one.name: space[self._given[one.key]]
            for one in self.inputs
            if one.key in self._given and tf.is_tensor(space[self._given[one.key]])
        }

    # As a graph

    def compiled(self, mode: str, point: Point, layout: Layout) -> Run:
        """The same as a graph, or compiled by XLA."""
        import tensorflow as tf

        space = self._bound(point, layout)
        tensors = self._tensors(space)
        key = (mode, layout, *(value for value in point if isinstance(value, (int, float))))
        floats = [name for name, one in tensors.items() if one.dtype.is_floating]
        try:
            if key not in self._compiled:
                self._compiled[key] = tf.function(
                    self._step(space, list(tensors), floats),
                    autograph=False,
                    jit_compile=mode == "xla",
                )
            values, gradients = self._compiled[key](*tensors.values())
        except Exception as error:
            return Run(error=self._said(error))
        return Run([_array(one) for one in values], [_array(one) for one in gradients], floats)

    def batched(self, points: Sequence[Point], layout: Layout, numbers: Point) -> list[Run] | None:
        """The runs at many points in one graph, all with the numbers of one point; None where the
        slice does not run so.
        """
        import numpy as np
        import tensorflow as tf

        space = self._bound(numbers, layout)
        names = [
            (at, self._given[one.key])
            for at, one in enumerate(self.inputs)
            if one.key in self._given and tf.is_tensor(space[self._given[one.key]])
        ]
        tensors = self._tensors(space)
        floats = [name for name, one in tensors.items() if one.dtype.is_floating]
        if not tensors:
            return None
        try:
            stacked = tuple(
                tf.constant(np.stack([point[at] for point in points]), space[name].dtype)
                for at, name in names
            )
            step = self._step(space, list(tensors), floats)
            data = tf.data.Dataset.from_tensor_slices(stacked)
            both = tf.autograph.experimental.do_not_convert(
                lambda *operands: tuple(map(tuple, step(*operands)))
            )
            results = data.map(both).batch(len(points))
            values, gradients = results.get_single_element()
        # whatever ends it in a graph
        except Exception:
            return None
        parts = [[_array(one) for one in values], [_array(one) for one in gradients]]
        return [
            Run([one[at] for one in parts[0]], [one[at] for one in parts[1]], floats)
            for at in range(len(points))
        ]

    def _step(self, space: dict[str, Any], names: list[str], floats: list[str]) -> Any:
        import tensorflow as tf

        own = {one.name: self._given[one.key] for one in self.inputs if one.key in self._given}

        def step(*tensors: Any) -> Any:
            inside = {**space, **{own[name]: one for name, one in zip(names, tensors)}}
            watched = [inside[own[name]] for name in floats]
            with tf.GradientTape() as tape:
                tape.watch(watched)
                for each, code in self._codes:
                    inside[each.name] = eval(code, inside)
                sink = _flat(eval(self.program.sink, inside))
                loss = self._loss(sink)
            gradients = _gradients(tape, loss, watched, arrays=False)
            return sink, gradients

        return step

    # Exactly, and as text

    def exact(self, point: Point, layout: Layout) -> Run | None:
        """The same in float64; None where the slice cannot be run in it."""
        if layout not in self._exact:
            self._exact[layout] = self._in_float64(point, layout)
        wide, wider = self._exact[layout]
        run = wide.run(point, wider) if wide is not None else None
        return None if run is None or run.error or not run.finite else run

    def _in_float64(self, point: Point, layout: Layout) -> tuple[Runner | None, Layout]:
        """What runs the same program in float64, and its layout; None where a step does not run."""
        wider = Layout(
            layout.shapes,
            tuple("float64" if dtype.startswith("float") else dtype for dtype in layout.dtypes),
        )
        steps = tuple(
            Step(
                step.name,
                (re.sub(r"float(32|16)\b", "float64", self._spelled[step.name]),),
                step.op,
                Range(),
                step.inside,
            )
            for step in self.program.steps
        )
        wide = Runner(
            Program(self.program.inputs, steps, self.program.site, self.program.sink), self.inputs
        )
        try:
            wide.prepare(point, wider)
        except StepFailed:
            return None, wider
        return wide, wider

    def text(self, name: str) -> str:
        """The slice as a function, in the spellings that ran."""
        own = [one.name for one in self.program.inputs]
        lines = [f"def {name}({', '.join(own)}):"]
        lines += [f"    {step.name} = {self._spelled[step.name]}" for step in self.program.steps]
        return "\n".join([*lines, f"    return {self.program.sink}"])


def _nearest(operands: Sequence[Any], towards: str) -> Any:
    """The number among some tensors that is nearest to 0, or the largest one; None without any."""
    import tensorflow as tf

    flat = [
        tf.reshape(tf.cast(one, "float64"), [-1]) for one in operands if one.shape.num_elements()
    ]
    if not flat:
        return None
    numbers = tf.concat(flat, 0)
    return tf.reduce_min(tf.abs(numbers)) if towards == "zero" else tf.reduce_max(numbers)


def _space() -> dict[str, Any]:
    import math

    import keras
    import numpy
    import tensorflow

    names = {one.__name__: one for one in _BUILTINS}
    return {
        "__builtins__": names,
        "tf": tensorflow,
        "np": numpy,
        "math": math,
        "keras": keras,
    }


def _input(input_: Input, value: Any, dtype: str) -> Any:
    import tensorflow as tf

    if input_.kind in (NUMBER, WHOLE_NUMBER):
        return value
    return tf.constant(value, dtype)


def _flat(value: Any) -> list[Any]:
    """The tensors in a result."""
    import tensorflow as tf

    flat = []
    for leaf in tf.nest.flatten(value):
        if leaf is None or isinstance(leaf, (str, bytes, tf.DType)):
            continue
        tensor = tf.convert_to_tensor(leaf)
        if tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_bool:
            flat.append(tensor)
    return flat


def _floats(values: Sequence[Any]) -> list[Any]:
    import tensorflow as tf

    return [one for one in values if tf.is_tensor(one) and one.dtype.is_floating]


def _array(tensor: Any) -> Any:
    import numpy as np

    return np.asarray(tensor).astype("float64")


def _weighed(sink: Sequence[Any]) -> list[Any]:
    """The results with different weights, so that no sum of a gradient cancels."""
    import numpy as np
    import tensorflow as tf

    weighed = []
    for result in sink:
        if result.dtype.is_floating:
            size = int(np.prod(result.shape)) if result.shape.is_fully_defined() else 0
            weights = 1.0 + np.round(512 * np.cos(np.arange(size, dtype=float))) / 1024
            shaped = weights.reshape(tuple(result.shape)) if size else 1.0
            weighed.append(result * tf.cast(shaped, result.dtype))
    return weighed


def _gradients(tape: Any, loss: list[Any], sources: list[Any], arrays: bool = True) -> list[Any]:
    import tensorflow as tf

    if not loss:
        return []
    zero = tf.UnconnectedGradients.ZERO
    gradients = [
        tf.convert_to_tensor(gradient)
        for gradient in tape.gradient(loss, sources, unconnected_gradients=zero)
    ]
    return [_array(gradient) for gradient in gradients] if arrays else gradients


def _fits(arrays: Sequence[Any], known: Range) -> bool:
    """Whether the finite numbers of some arrays are in a range, but for rounding."""
    import numpy as np

    if known.any_number:
        return True
    for array in arrays:
        finite = array[np.isfinite(array)]
        if not finite.size:
            continue
        room = _SLACK * max(1.0, abs(known.lo) if known.lo > -INF else 0.0)
        top = _SLACK * max(1.0, abs(known.hi) if known.hi < INF else 0.0)
        if finite.min() < known.lo - room or finite.max() > known.hi + top:
            return False
        if not known.zero and (finite == 0).any():
            return False
    return True
