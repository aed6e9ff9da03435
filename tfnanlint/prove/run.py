"""Proving findings: slices are made here and executed in the worker."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Claim, Finding, Fix
from tfnanlint.diagnostics.verdicts import InMode, Proof, Verdict, Witness
from tfnanlint.pipeline.check import Checked
from tfnanlint.prove.beyond import BEYOND_VALUES, SAYS_DEAD, SAYS_DIGITS, SAYS_ERROR, SAYS_FORM
from tfnanlint.prove.host import Host
from tfnanlint.prove.places import Slices, slices
from tfnanlint.prove.slices import Unsupported
from tfnanlint.prove.witness import inputs, line, program, results
from tfnanlint.syntax.source import Source

BUDGET = 5.0  # seconds that a search may take
MODES = ("eager", "graph", "xla")
_NOTICES = frozenset(notice.code for notice in notices.NOTICES)
_ORDER = (Proof.PROVED, Proof.NOT_REPRODUCED, Proof.UNSUPPORTED)
_LEAST_SHARE = 0.1  # of the seconds: what a slice has where those before it took all
_MAX_ANSWERS = 64  # of the worker that are kept: one finding is asked for again with each fix


class Prover:
    """Proves findings of sources, one after the other. As a context manager, its process ends with
    it. Where `sampled`, witnesses have lines. `python` executes, in the place of this one.
    Raises `Unavailable`.
    """

    def __init__(
        self,
        budget: float = BUDGET,
        modes: Collection[str] = MODES,
        sampled: bool = False,
        python: str = "",
    ):
        self._host = Host(budget, python)
        self._sampled = sampled
        self._answers: dict[str, dict[str, Any]] = {}  # by job
        self._computed = 0.0  # seconds of the worker for this finding
        self._modes = [mode for mode in MODES if mode in modes] or list(MODES)

    def __enter__(self) -> Prover:
        self._host.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._host.close()

    def kill(self) -> None:
        """End the process at once; the next proof starts another one."""
        self._host.kill()

    @property
    def started(self) -> float:
        """The seconds that loading TensorFlow took; 0 where nothing was executed yet."""
        return self._host.started

    def judged(self, checked: Checked) -> Checked:
        """A file with verdicts at its findings."""
        findings = tuple(
            finding
            if finding.code in _NOTICES
            else replace(finding, verdict=self.verdict(checked.source, finding))
            for finding in checked.findings
        )
        return replace(checked, findings=findings)

    def verdict_of_fix(self, source: Source, finding: Finding, fix: Fix) -> Verdict:
        """The verdict on a finding of a source with one fix."""
        return self.verdict(source, replace(finding, fixes=(fix,)))

    def verdict(self, source: Source, finding: Finding) -> Verdict:
        """The verdict on a finding of a source, and on its first fix."""
        begun, self._computed = time.process_time(), 0.0
        if finding.code in BEYOND_VALUES:
            return Verdict(Proof.UNSUPPORTED, BEYOND_VALUES[finding.code])
        try:
            chosen = slices(source, finding)
        except Unsupported as error:
            return Verdict(Proof.UNSUPPORTED, str(error), seconds=self._since(begun))
        best: Verdict | None = None
        for at, candidate in enumerate(chosen):
            # each has its share: where the first ones show nothing, a later one may
            left = self._host.seconds - self._since(begun)
            share = max(left / (len(chosen) - at), _LEAST_SHARE * self._host.seconds)
            if best is not None and left < -self._host.seconds:
                break
            verdict = self._executed(candidate, source, finding, share)
            if best is None or _rank(verdict) < _rank(best):
                best = verdict
            if verdict.proof is Proof.PROVED and verdict.mended is not False:
                break
        assert best is not None
        return replace(best, seconds=self._since(begun))

    def _since(self, begun: float) -> float:
        """The seconds that were computed since then, here and in the worker."""
        return round(time.process_time() - begun + self._computed, 3)

    def _answer(self, job: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The worker's answer, also to one of the last jobs that it had; what could not be run is
        tried again.
        """
        key = json.dumps(job)
        answer = self._answers.pop(key, None)
        if answer is None:
            answer = self._host.run({**job, "seconds": seconds})
            self._computed += answer.get("seconds", seconds)
        if answer["status"] != Proof.UNSUPPORTED.value:
            self._answers[key] = answer
        if len(self._answers) > _MAX_ANSWERS:
            del self._answers[next(iter(self._answers))]
        return answer

    def _executed(
        self, chosen: Slices, source: Source, finding: Finding, seconds: float
    ) -> Verdict:
        """The verdict of one slice, searched for some seconds."""
        answer = self._answer(
            {
                "original": chosen.original.as_dict(),
                "fixed": None if chosen.fixed is None else chosen.fixed.as_dict(),
                "equal": chosen.fix is not None and chosen.fix.claim is Claim.EQUAL,
                "says_dead": finding.code in SAYS_DEAD,
                "says_digits": finding.code in SAYS_DIGITS,
                "says_form": finding.code in SAYS_FORM,
                "says_error": finding.code in SAYS_ERROR,
                "differentiated": finding.differentiated.value,
                "modes": self._modes,
                "shown_in": list(finding.modes),
                "sampled": self._sampled,
            },
            seconds,
        )
        proof = Proof(answer["status"])
        if proof is Proof.UNSUPPORTED:
            return Verdict(proof, answer["reason"])
        fix, refused = fix_words(chosen, answer), refusal(chosen, answer)
        if proof is not Proof.PROVED:
            return Verdict(proof, answer["reason"], fix=fix, refused=refused)
        row = source.location(finding.span.start)
        title = f"{finding.code} in {source.path}, {row.words}: {answer['said']}."
        witness = Witness(
            answer["said"],
            answer["mode"],
            inputs(answer),
            program(answer, title),
            tuple(InMode(mode, *shown) for mode, shown in answer["modes"].items()),
            results(answer),
            line(answer),
        )
        return Verdict(proof, "", witness, answer["mended"], fix, refused)


def _rank(verdict: Verdict) -> tuple[int, bool]:
    return _ORDER.index(verdict.proof), verdict.mended is False


def fix_words(chosen: Slices, answer: dict[str, Any]) -> str:
    """What the repaired slice does, in words: `NaN before, finite after; largest difference on
    1,000 ordinary inputs 0; gradient alive`.
    """
    if chosen.fix is None:
        return f"none: {chosen.unfixed}" if chosen.unfixed else "none"
    compared = answer.get("compared")
    if compared is None:
        return f"not run: {chosen.unfixed or answer['unfixed']}"
    parts = [_on_witness(answer)] if answer["status"] == Proof.PROVED.value else []
    if compared["inputs"]:
        parts.append(
            f"largest difference on {compared['inputs']:,} ordinary inputs"
            f" {compared['largest']:.2g}"
        )
        parts.append("gradient alive" if compared["alive"] else "a gradient is 0 where it was not")
    return "; ".join(parts)


def _on_witness(answer: dict[str, Any]) -> str:
    """What the original and the repaired slice give on a witness."""
    if not answer["mended"]:
        return f"{_left(answer)} on this input"
    return _BEFORE_AND_AFTER.get(answer["kind"], "NaN before, finite after").replace(
        "NaN before", "Inf before" if answer["said"].endswith("inf") else "NaN before"
    )


def _left(answer: dict[str, Any]) -> str:
    """What a fix that does not help leaves as it was."""
    return _STILL.get(answer["kind"], "NaN or Inf is left")


_STILL = {
    "error": "the error is left",
    "dead": "the gradient is still 0",
    "digits": "the rounding error is left",
    "test": "the condition is still wrong for NaN",
}
_BEFORE_AND_AFTER = {
    "error": "an error before, finite after",
    "dead": "gradient 0 before, alive after",
    "digits": "rounding error before, exact after",
    "test": "condition wrong for NaN before, right after",
}


def refusal(chosen: Slices, answer: dict[str, Any]) -> str:
    """Why a fix does not do what it claims, in words; empty where it does, or was not run."""
    compared = answer.get("compared")
    if chosen.fix is None or compared is None:
        return ""
    if answer["mended"] is False:
        return f"{_left(answer)} on an input that shows it ({answer['said']})"
    if not compared["alive"]:
        return "after it a gradient is 0 on an ordinary input where it was not"
    if compared["wrong"] and chosen.fix.claim.safe:
        return f"it changes a result on an ordinary input by {compared['wrong']:.2g} (relative)"
    return ""
