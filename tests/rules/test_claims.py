"""Every fix of every rule, executed on TensorFlow before and after: finite where it was not, and
elsewhere what it claims.
"""

from __future__ import annotations

import pytest
import stages
from claims import Case, cases, repaired, reports

from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Claim

EPS = {"float32": 2.0**-23, "float16": 2.0**-10}
MARGIN = 16  # units in the last place that two kernels for one function may differ by


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_claim(case):
    pytest.importorskip("tensorflow")
    fixed = repaired(case)
    assert not [f.message for f in fixed.rest if f.fixes], (
        "the fix leaves a finding that it could repair"
    )
    trial = Trial(case, fixed)
    assert not [problem for mode in case.modes for problem in trial.problems(mode)]


@pytest.mark.tensorflow
@pytest.mark.parametrize("case", reports(), ids=lambda case: case.id)
def test_report(case):
    """A finding without a fix: the hazard shows in a mode that it names and in no other, unless the
    case says what shows instead.
    """
    pytest.importorskip("tensorflow")
    said = [
        f for f in repository.findings(case.source, [case.rule]) if case.says["report"] in f.message
    ]
    assert said, [f.message for f in repository.findings(case.source, [case.rule])]
    one = stages.function(case.source.text, case.function)
    hazard, ordinary = (stages.inputs(case.says[key], case.names) for key in ("hazard", "ordinary"))
    shown = set()
    for mode in case.modes:
        fine = stages.run(one, [*hazard, *ordinary], mode).finite
        assert all(fine[len(hazard) :]), f"{mode}: not finite on ordinary inputs"
        shown |= set() if all(fine[: len(hazard)]) else {mode}
    assert bool(shown) != ("finite" in case.says) and shown <= set(said[0].modes), shown


class Trial:
    """A case and its repair, run side by side."""

    def __init__(self, case: Case, fixed) -> None:
        self.case, self.fixed, self.claim = case, fixed, fixed.fix.claim
        self.before = stages.function(case.source.text, case.function)
        self.after = stages.function(fixed.text, case.function)
        self.hazard = stages.inputs(case.says["hazard"], case.names)
        self.ordinary = stages.inputs(case.says["ordinary"], case.names)
        self.points = [*self.hazard, *self.ordinary]
        self.eps = EPS["float16" if "float16" in case.program else "float32"]
        self.shown: list[str] = []
        exact = "float64" not in case.says and "float16" not in case.program
        self.truth = stages.run(self.before, self.points, "eager", "float64") if exact else None

    def problems(self, mode: str) -> list[str]:
        """What the claim promises and this mode does not keep."""
        before, after = (stages.run(one, self.points, mode) for one in (self.before, self.after))
        count = len(self.hazard)
        found = [
            f"{mode}: not finite after the fix on {self.points[i]}"
            for i, fine in enumerate(after.finite)
            if not fine
        ]
        found += [
            f"{mode}: not finite on ordinary inputs before the fix"
            for fine in before.finite[count:]
            if not fine
        ]
        found += self.shows(mode, all(before.finite[:count]))
        kinds = (
            ("value", before.values, after.values, self.truth and self.truth.values),
            ("gradient", before.gradients, after.gradients, self.truth and self.truth.gradients),
        )
        for kind, old, new, exact in kinds:
            for i in range(len(self.points)):
                for part in range(len(old[i])):
                    true = exact[i][part] if exact else None
                    off = self.off(kind, old[i][part], new[i][part], true, hazard=i < count)
                    found += [f"{mode}: {kind} {off} on {self.points[i]}"] if off else []
        return found

    def shows(self, mode: str, fine: bool) -> list[str]:
        """Whether the function fails before the fix in a mode that the finding names, and in no
        other.
        """
        if "finite" in self.case.says:
            return (
                []
                if fine
                else [f"{mode}: the hazard shows in a NaN or Inf; drop the line `finite`"]
            )
        if not fine:
            self.shown.append(mode)
        named = self.fixed.finding.modes
        if not fine and mode not in named:
            return [f"{mode}: the hazard shows although the finding says {named}"]
        last = [one for one in self.case.modes if one in named][-1:] == [mode]
        return ["the hazard does not show in any mode"] if last and not self.shown else []

    def off(self, kind: str, old, new, true, hazard: bool) -> str:
        """How far a result is from what the claim allows, in words; empty when it is near enough."""
        import numpy as np

        if old.shape != new.shape:
            return f"has shape {new.shape} instead of {old.shape}"
        if hazard and self.claim is Claim.SHIFTED:
            return ""
        with np.errstate(invalid="ignore"):
            return self._off(kind, old, new, true)

    def _off(self, kind: str, old, new, true) -> str:
        import numpy as np

        kept = np.isfinite(old)
        rounding = MARGIN * self.eps * (1 if kind == "value" else 4)
        size = np.abs(np.where(kept, old, 0.0))
        size = size + (0.01 if kind == "value" else 0.1) * size.max(initial=0.0)
        room = rounding * size
        if self.claim is Claim.SHIFTED:
            room = room + self.case.shift[kind == "gradient"] * np.maximum(
                np.abs(np.where(kept, old, 0.0)), 1.0
            )
            far = np.abs(new - old)
        elif true is not None:
            kept = kept & np.isfinite(true)
            room, far = room + 2 * np.abs(old - true), np.abs(new - true)
        else:
            far = np.abs(new - old)
        worst = np.where(kept, far - room, -1.0).max(initial=-1.0)
        if worst <= 0:
            return ""
        place = np.unravel_index(np.where(kept, far - room, -1.0).argmax(), old.shape)
        return f"is {new[place]!r} instead of {old[place]!r}" + (
            f" (exactly {true[place]!r})" if true is not None else ""
        )


@pytest.mark.tensorflow
def test_a_wrong_fix_is_noticed():
    pytest.importorskip("tensorflow")
    case = next(one for one in cases() if one.id == "log-softmax-direct")
    trial = Trial(case, repaired(case))
    assert trial.problems("graph") == []
    right = trial.after
    trial.after = trial.before
    assert "not finite after" in trial.problems("graph")[0]
    trial.after = lambda z: right(z) * 1.0001
    assert any("value is" in problem for problem in trial.problems("graph"))
    trial.after = lambda z: right(z)[..., None]
    assert any("shape" in problem for problem in trial.problems("graph"))
    trial.after, trial.before = right, right
    trial.shown = []
    assert trial.problems("xla") == ["the hazard does not show in any mode"]
