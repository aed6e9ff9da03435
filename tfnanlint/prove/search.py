"""The search for a witness: inputs at which a slice gives NaN or Inf, in its value or its gradient.

Runs in the worker. An input is only taken where the analysis would have it: every value on the way
must be in the range that is known of it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tfnanlint.prove.ascent import ascents
from tfnanlint.prove.comparison import Comparer
from tfnanlint.prove.execution import Run, Runner, StepFailed
from tfnanlint.prove.points import (
    SEED,
    STYLES,
    Layout,
    Point,
    hazards,
    layouts,
    of_one_row,
    ordinary,
    plain,
    with_nan,
)
from tfnanlint.prove.program import NAMES, TENSOR, Input, Program, Step
from tfnanlint.prove.sampling import Sampler

MOST_POINTS = 400
MOST_LAYOUTS = 3  # that run; each is searched
_LOST = 1e-3  # relative error that counts as lost digits
_VANISHED = 1e-6  # of an ordinary gradient: nothing is left of it
_MOST_ORDINARY = 12  # points at which a finding about finite values is tried first
_MOST_FINITE = 60  # points at which a finite run is compared with the repaired one
_IN_MODES = 40  # points that are tried as a graph, and compiled
_TELLING = re.compile(
    r"Input (?:matrix )?is not invertible|decomposition (?:was not successful|failed)"
    r"|Received a label value of -?\d+ which is outside the valid range"
)
_WANTS_FLOATS = re.compile(r"allowed values: [^\[]*\bfloat\b(?![^\[]*\bint32\b)")
_OF_DTYPES = (("bool", "bool"), ("not in the list of allowed", "int32"), ("int32", "int32"))


@dataclass
class Evidence:
    """What a point shows: `kind` (value, gradient, dead, digits), `said` in words, whether the fix
    mends it.
    """

    kind: str
    said: str
    mode: str
    point: Point
    layout: Layout
    before: Run
    after: Run | None
    mended: bool | None


@dataclass
class _Finite:
    """A point at which the original is finite, and its run."""

    point: Point
    run: Run
    after: Run | None = None  # that of the repaired slice

    @property
    def has_gradient(self) -> bool:
        runs = [self.run] if self.after is None else [self.run, self.after]
        return any((gradient != 0).any() for run in runs for gradient in run.gradients)


def searched(job: dict[str, Any]) -> dict[str, Any]:
    """The answer to a job, as JSON."""
    started = time.process_time()
    original = Program.of_dict(job["original"])
    fixed = None if job["fixed"] is None else Program.of_dict(job["fixed"])
    search = Search(original, fixed, job, started + job["seconds"])
    answer = search.answer()
    answer["exhausted"] = search.exhausted
    answer["seconds"] = round(time.process_time() - started, 3)
    return answer


class Search:
    """One search. `deadline` is in seconds that this process has computed: a busy machine finds no
    less.
    """

    def __init__(
        self, original: Program, fixed: Program | None, job: dict[str, Any], deadline: float
    ):
        import numpy as np

        self.inputs = _inputs(original, fixed)
        self.original = original
        self.fixed = fixed
        self.differentiated = job["differentiated"]
        self.says_dead = job["says_dead"]  # the finding is about a gradient that is 0
        self.says_digits = job["says_digits"]  # ... about digits that are lost
        self.says_form = job["says_form"]  # ... about a form that begins before the flagged place
        self.says_error = job["says_error"]  # ... about numbers that an op refuses
        self.equal = job["equal"]  # the fix is to give the same numbers everywhere
        self.modes: Sequence[str] = job["modes"]
        self.shown_in: Sequence[str] = job["shown_in"]  # the modes of the finding
        self.sampled: bool = job.get("sampled", False)  # also the line of a figure
        self.deadline = deadline
        self.draw = np.random.default_rng(SEED)
        self.tried = 0
        self.unfixed = ""
        self._failed: StepFailed | None = None  # the one that came furthest
        self._typed_at = ""  # the step for which an input was given another dtype
        self._typed: set[str] = set()
        self._untyped = (original, fixed)
        self._runner: Runner | None = None
        self._repaired: Runner | None = None
        self._runners: list[Runner] = []  # all

    @property
    def exhausted(self) -> bool:
        """Whether the memory was too small for something."""
        return any(runner.exhausted for runner in self._runners)

    @property
    def over(self) -> bool:
        return time.process_time() > self.deadline

    def answer(self) -> dict[str, Any]:
        """What was found, as JSON."""
        best: Evidence | None = None
        running = self._running()
        while not running and self._retreats():
            running = self._running()
        if not running:
            return {"status": "unsupported", "reason": self.unfixed or "no shapes fit its inputs"}
        for layout, before, after in running:
            self._runner, self._repaired = before, after
            evidence = self._in_layout(layout)
            if evidence is not None and (best is None or evidence.mended and not best.mended):
                best = evidence
                kept = before, after
            if best is not None and best.mended is not False:
                break
        if best is None:
            return self._not_reproduced(*running[0])
        return self._proved(best, *kept)

    # Layouts

    def _running(self) -> list[tuple[Layout, Runner, Runner | None]]:
        """The layouts in which the slices run on ordinary inputs, at most `MOST_LAYOUTS`."""
        running: list[tuple[Layout, Runner, Runner | None]] = []
        ranks: set[tuple[int, ...]] = set()
        self._failed = None
        for layout in layouts(self.inputs):
            rank = tuple(len(shape) for shape in layout.shapes)
            if self.over or len(running) == MOST_LAYOUTS:
                break
            if rank in ranks and running:
                continue
            try:
                running.append(self._running_in(layout))
            except StepFailed as error:
                if self._failed is None or error.at > self._failed.at:
                    self._failed = error
                continue
            ranks.add(rank)
        if running:
            with suppress(StepFailed):
                running.append(self._running_in(of_one_row(running[0][0])))
        return running

    def _running_in(self, layout: Layout) -> tuple[Layout, Runner, Runner | None]:
        """A layout with what runs the slices in it. Raises `StepFailed`."""
        point = ordinary(self.inputs, layout, self.draw)
        runner = self._runner_of(self.original)
        runner.prepare(point, layout)
        return layout, runner, self._prepared(point, layout)

    def _retreats(self) -> bool:
        """Take what the step gives that fails in all layouts as an input; False where it cannot be:
        it is what the finding is about, or is made of it.
        """
        failed = self._failed
        if failed is None or self.over:
            return False
        self.unfixed = str(failed)
        if self._retyped(failed):
            return True
        cut = self._cut_before(failed.step)
        if cut is None:
            return False
        self.original = self.original.without(cut.key)
        if self.fixed is not None:
            self.fixed = self.fixed.without(cut.key)
        self.inputs = _inputs(self.original, self.fixed)
        return True

    def _retyped(self, failed: StepFailed) -> bool:
        """Give one input that the failed step takes the dtype that the error asks for; False where
        that is not the reason, or each was tried.
        """
        wanted = next((dtype for word, dtype in _OF_DTYPES if word in str(failed)), "")
        if self._typed_at == failed.step.key:
            self.original, self.fixed = self._untyped
        else:
            self._typed_at, self._typed = failed.step.key, set()
            self._untyped = self.original, self.fixed
        if _WANTS_FLOATS.search(str(failed)):
            return self._made_floats(failed.step)
        names = NAMES.findall(failed.step.spellings[0])
        loose = [one for one in self.original.inputs if one.name in names and not one.dtype]
        loose = [one for one in loose if one.key not in self._typed]
        if not wanted or not loose:
            return False
        chosen = min(loose, key=lambda input_: names.index(input_.name)).key
        self._typed.add(chosen)
        self.original = self.original.retyped((chosen,), wanted)
        if self.fixed is not None:
            self.fixed = self.fixed.retyped((chosen,), wanted)
        self.inputs = _inputs(self.original, self.fixed)
        return True

    def _made_floats(self, failed: Step) -> bool:
        """Give the inputs of whole numbers that a step is made of floats; False without any."""
        behind = self.original.behind(failed.name)
        steps = [step for step in self.original.steps if step.name in behind]
        names = {name for step in steps for name in NAMES.findall(step.spellings[0])}
        whole = [
            one.key
            for one in self.original.inputs
            if one.name in names and one.kind == TENSOR and one.dtype.startswith(("int", "uint"))
        ]
        if not whole:
            return False
        self.original = self.original.retyped(whole, "float32")
        if self.fixed is not None:
            self.fixed = self.fixed.retyped(whole, "float32")
        self.inputs = _inputs(self.original, self.fixed)
        return True

    def _cut_before(self, failed: Step) -> Step | None:
        """The step that is not computed any more: the one that failed, or one that it is made of;
        never what the finding is about.
        """
        known = {step.name: step for step in self.original.steps}
        operands = [known[name] for name in NAMES.findall(failed.spellings[0]) if name in known]
        steps = [
            step
            for step in (failed, *operands)
            if self.original.site not in self.original.behind(step.name)
        ]
        # a part of the flagged expression only where nothing before it can be cut
        return min(steps, key=lambda step: step.inside, default=None)

    def _prepared(self, point: Point, layout: Layout) -> Runner | None:
        if self.fixed is None:
            return None
        runner = self._runner_of(self.fixed)
        try:
            runner.prepare(point, layout)
        except StepFailed as error:
            self.unfixed = f"the fixed slice does not run: {error}"
            return None
        return runner

    def _runner_of(self, program: Program) -> Runner:
        runner = Runner(program, self.inputs)
        self._runners.append(runner)
        return runner

    # Points

    def _in_layout(self, layout: Layout) -> Evidence | None:
        first = self._ordinary(layout)
        best = self._claimed(first, layout)
        if best is not None:
            return best
        # where no gradient comes through, none can be seen to die
        idle = bool(first) and self.says_dead and not any(one.has_gradient for one in first)
        most = _MOST_FINITE if idle else MOST_POINTS
        finite: list[_Finite] = []
        points = hazards(self.inputs, layout, self.draw)
        for at, point in enumerate(points):
            if at == most or self.over or not point and at:
                break
            if at == _MOST_FINITE and best is None:
                best = self._claimed(finite, layout)
            before = self._eager(point, layout)
            if before is None:
                best = best or self._refused(point, layout)
                continue
            if before.finite:
                finite.append(_Finite(point, before))
            evidence = self._at(point, layout, before)
            if evidence is not None and (best is None or evidence.mended and not best.mended):
                best = evidence
            if best is not None and (best.mended is not False or at > MOST_POINTS // 4):
                break
        if best is not None or idle:
            return best
        return self._claimed(finite, layout) or self._elsewhere(finite, layout)

    def _ordinary(self, layout: Layout) -> list[_Finite]:
        """Finite runs at ordinary points, for a finding that is about finite values."""
        finite: list[_Finite] = []
        if not self.says_dead and not self.says_digits:
            return finite
        for at in range(_MOST_ORDINARY):
            point = ordinary(self.inputs, layout, self.draw, at % STYLES)
            before = self._eager(point, layout)
            if before is not None and before.finite:
                finite.append(_Finite(point, before))
        return finite

    def _claimed(self, finite: Sequence[_Finite], layout: Layout) -> Evidence | None:
        """The evidence in finite runs for a finding that is about such ones."""
        if self.says_digits:
            return self._inexact(finite, layout)
        if not self.says_dead:
            return None
        if self._repaired is None:
            return self._without_gradient(finite, layout)
        return self._dead(finite, layout)

    def _elsewhere(self, finite: Sequence[_Finite], layout: Layout) -> Evidence | None:
        """Evidence where neither edges nor random points show any."""
        best = self._on_the_way(layout)
        if best is None:
            best = self._in_modes([one.point for one in finite[:_IN_MODES]], layout)
        if best is None:
            for point in with_nan(self.inputs, layout, self.draw):
                best = best or self._of_nan(point, layout)
        best = best or self._dead(finite, layout) or self._inexact(finite, layout)
        return best or self._without_gradient(finite, layout)

    def _on_the_way(self, layout: Layout) -> Evidence | None:
        """The first evidence on a way along a gradient."""
        assert self._runner is not None
        for point in ascents(self.inputs, layout, self._runner, self.draw):
            if self.over:
                return None
            before = self._eager(point, layout)
            evidence = self._at(point, layout, before) if before is not None else None
            if evidence is not None:
                return evidence
        return None

    def _without_gradient(self, points: Sequence[_Finite], layout: Layout) -> Evidence | None:
        """A point at which an input has no gradient that has one at ordinary points, where that is
        what the finding says.
        """
        if not self.says_dead or self._runner is None:
            return None
        sizes = self._ordinary_gradients(layout)
        for each in points:
            point, before = each.point, each.run
            for name, gradient in zip(before.names, before.gradients):
                size = sizes.get(name, 0.0)
                largest = float(abs(gradient).max(initial=0.0))
                if gradient.size and largest < _VANISHED * size:
                    said = f"the gradient of {name} is {largest:.2g}: nothing is learned there"
                    return Evidence("dead", said, "eager", point, layout, before, None, None)
        return None

    def _ordinary_gradients(self, layout: Layout) -> dict[str, float]:
        """The largest gradient of each input at an ordinary point."""
        sizes: dict[str, float] = {}
        for style in range(STYLES):
            run = self._eager(ordinary(self.inputs, layout, self.draw, style), layout)
            if run is None or not run.finite:
                continue
            for name, gradient in zip(run.names, run.gradients):
                sizes[name] = max(sizes.get(name, 0.0), float(abs(gradient).max(initial=0.0)))
        return sizes

    def _eager(self, point: Point, layout: Layout) -> Run | None:
        """The run of the original at a point; None where it fails, or where a value is outside of
        what the analysis knows of it.
        """
        assert self._runner is not None
        self.tried += 1
        run = self._runner.run(point, layout)
        return None if run.error or run.outside else run

    def _refused(self, point: Point, layout: Layout) -> Evidence | None:
        """A point that the flagged op refuses with an error that tells of numbers, where the
        finding says so: a matrix that is singular, a label that no class has.
        """
        assert self._runner is not None
        if not self.says_error:
            return None
        before = self._runner.run(point, layout)
        match = _TELLING.search(before.error)
        if match is None or before.outside:
            return None
        after = None if self._repaired is None else self._repaired.run(point, layout)
        mended = None if after is None else not after.error and after.finite
        said = f"TensorFlow stops with: {match[0]}"
        return Evidence("error", said, "eager", point, layout, before, after, mended)

    def _at(self, point: Point, layout: Layout, before: Run) -> Evidence | None:
        """The evidence of a point, run eagerly."""
        kind = before.kind(self.differentiated, self.says_form)
        if not kind and (self._repaired is None or before.finite):
            return None
        after = None if self._repaired is None else self._repaired.run(point, layout)
        mended = None if after is None else not after.error and after.finite
        if mended is False and self.equal and kind == "gradient" and not self.says_digits:
            mended = None  # another operation may spoil it, too
        elif mended is False and (not kind or self.equal):
            return None  # what the fix is not about, or a number that is too large for both
        if not kind and not mended:
            return None
        kind = kind or before.any_kind
        return Evidence(kind, before.words(kind), "eager", point, layout, before, after, mended)

    def _of_nan(self, point: Point, layout: Layout) -> Evidence | None:
        """A point with NaN in it shows something where the fix is finite there."""
        before = None if self._repaired is None else self._eager(point, layout)
        if before is None or self._repaired is None:
            return None
        after = self._repaired.run(point, layout)
        if after.error:
            return None
        if before.tests_unlike(after):
            said = "the condition comes out otherwise where the data hold NaN"
            return Evidence("test", said, "eager", point, layout, before, after, True)
        if before.finite or after.fails("no"):
            return None
        kind = before.any_kind
        if not after.finite and kind == "gradient":
            return None
        said = f"{before.words(kind)}, where the data hold NaN"
        mended = True if after.finite else None  # the gradient at a gap is not taken
        return Evidence(kind, said, "eager", point, layout, before, after, mended)

    def _in_modes(self, points: Sequence[Point], layout: Layout) -> Evidence | None:
        """What only a graph, or only XLA shows, at points that are finite eagerly."""
        assert self._runner is not None
        for mode in self.modes:
            if mode == "eager" or self.over:
                continue
            for point in points:
                if self.over:
                    return None
                before = self._runner.compiled(mode, point, layout)
                if before.error or not before.fails(self.differentiated):
                    continue
                after = None
                if self._repaired is not None:
                    after = self._repaired.compiled(mode, point, layout)
                mended = None if after is None else not after.error and after.finite
                if mended is False or mended is None and "eager" in self.shown_in:
                    continue
                kind = before.any_kind
                return Evidence(
                    kind, before.words(kind), mode, point, layout, before, after, mended
                )
        return None

    def _beside(self, finite: Sequence[_Finite], layout: Layout) -> Iterator[_Finite]:
        """Finite runs with that of the repaired slice, where that is finite too."""
        if self._repaired is None:
            return
        for each in finite[:_MOST_FINITE]:
            if self.over:
                return
            each.after = each.after or self._repaired.run(each.point, layout)
            if not each.after.error and each.after.finite:
                yield each

    def _dead(self, finite: Sequence[_Finite], layout: Layout) -> Evidence | None:
        """A point at which a gradient is 0, and that of the repaired slice is not."""
        for each in self._beside(finite, layout):
            assert each.after is not None
            dead = each.run.dead_beside(each.after)
            if dead:
                said = f"the gradient of {dead} is 0, and that of the repaired code is not"
                return Evidence(
                    "dead", said, "eager", each.point, layout, each.run, each.after, True
                )
        return None

    def _inexact(self, finite: Sequence[_Finite], layout: Layout) -> Evidence | None:
        """A point at which digits are lost, and not in the repaired slice, if there is one."""
        if self._repaired is None:
            return self._rounded(finite, layout)
        for each in self._beside(finite, layout):
            assert each.after is not None
            lost = self._lost(each.point, layout, each.run, each.after)
            if lost:
                return Evidence(
                    "digits", lost, "eager", each.point, layout, each.run, each.after, True
                )
        return None

    def _rounded(self, finite: Sequence[_Finite], layout: Layout) -> Evidence | None:
        """A point at which digits are lost, for a finding without a fix that says so."""
        if not self.says_digits or self._runner is None:
            return None
        for each in finite[:_MOST_FINITE]:
            exact = self._runner.exact(each.point, layout)
            off = 0.0 if exact is None else each.run.error_of(exact)
            if off >= _LOST:
                said = f"{off:.0%} of the value is rounding error"
                return Evidence("digits", said, "eager", each.point, layout, each.run, None, None)
        return None

    def _lost(self, point: Point, layout: Layout, before: Run, after: Run) -> str:
        """How much the value is off, in words, where the repaired one is not."""
        assert self._runner is not None
        exact = self._runner.exact(point, layout)
        if exact is None:
            return ""
        off, mended = before.error_of(exact), after.error_of(exact)
        if off < _LOST or mended > off / 100:
            return ""
        return f"{off:.0%} of the value is rounding error; of the repaired one {mended:.1g}"

    # The answer

    def _not_reproduced(
        self, layout: Layout, runner: Runner, repaired: Runner | None
    ) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "status": "not reproduced",
            "reason": f"{self.tried} inputs were tried",
            "tried": self.tried,
            "mended": None,
            "unfixed": self.unfixed if repaired is None else "",
        }
        if repaired is not None:
            answer["compared"] = self._compared(layout, runner, repaired)
        return answer

    def _proved(
        self, evidence: Evidence, runner: Runner, repaired: Runner | None
    ) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "status": "proved",
            "kind": evidence.kind,
            "said": evidence.said,
            "mode": evidence.mode,
            "mended": evidence.mended,
            "tried": self.tried,
            "unfixed": self.unfixed if repaired is None else "",
            "inputs": [
                {
                    "name": one.name,
                    "said": one.said,
                    "cut": one.cut,
                    "dtype": dtype,
                    **plain(value),
                }
                for one, value, dtype in zip(self.inputs, evidence.point, evidence.layout.dtypes)
            ],
            "before": evidence.before.as_dict(),
            "after": None if evidence.after is None else evidence.after.as_dict(),
            "original": runner.text("original"),
            "repaired": None if repaired is None else repaired.text("repaired"),
        }
        if repaired is not None:
            answer["compared"] = self._compared(evidence.layout, runner, repaired)
        answer["modes"] = self._modes(evidence, runner, repaired)
        programs = self.original, None if repaired is None else self.fixed
        place = evidence.mode, evidence.point, evidence.layout
        answer |= Sampler(programs, self.inputs, *place).answer(self.sampled)
        return answer

    def _modes(
        self, evidence: Evidence, runner: Runner, repaired: Runner | None
    ) -> dict[str, list[bool | None]]:
        """By mode, whether the original and the repaired slice are finite on the witness."""
        shown: dict[str, list[bool | None]] = {}
        for mode in self.modes:
            if mode == "eager":
                runs = [runner.run(evidence.point, evidence.layout)]
                runs += [repaired.run(evidence.point, evidence.layout)] if repaired else []
            elif self.over:
                continue
            else:
                runs = [runner.compiled(mode, evidence.point, evidence.layout)]
                if repaired is not None:
                    runs.append(repaired.compiled(mode, evidence.point, evidence.layout))
            shown[mode] = [None if run.error else run.finite for run in runs]
        return shown

    def _compared(self, layout: Layout, runner: Runner, repaired: Runner) -> dict[str, Any]:
        """How the repaired slice does on ordinary inputs."""
        gradients = self.differentiated != "no"
        comparer = Comparer(self.inputs, layout, runner, repaired, gradients)
        return comparer.compared(self.draw).as_dict()


def _inputs(original: Program, fixed: Program | None) -> list[Input]:
    """The inputs of both slices, those that are the same once."""
    known = {one.key for one in original.inputs}
    more = [] if fixed is None else [one for one in fixed.inputs if one.key not in known]
    return [*original.inputs, *more]
