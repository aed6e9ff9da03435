"""Proving findings: slices are made here and executed in the worker."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Claim, Finding
from tfnanlint.diagnostics.verdicts import InMode, Proof, Verdict, Witness
from tfnanlint.pipeline.check import Checked
from tfnanlint.prove.host import Host
from tfnanlint.prove.places import Slices, slices
from tfnanlint.prove.slices import Unsupported
from tfnanlint.prove.witness import inputs, line, program, results
from tfnanlint.syntax.source import Source

BUDGET = 5.0  # seconds that a search may take
MODES = ("eager", "graph", "xla")
_NOTICES = frozenset(notice.code for notice in notices.NOTICES)
_ORDER = (Proof.PROVED, Proof.NOT_REPRODUCED, Proof.UNSUPPORTED)


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

    def verdict(self, source: Source, finding: Finding) -> Verdict:
        """The verdict on a finding of a source."""
        begun, self._computed = time.process_time(), 0.0
        try:
            chosen = slices(source, finding)
        except Unsupported as error:
            return Verdict(Proof.UNSUPPORTED, str(error), seconds=self._since(begun))
        best: Verdict | None = None
        for candidate in chosen:
            if best is not None and self._since(begun) > 2 * self._host.seconds:
                break
            verdict = self._executed(candidate, source, finding)
            if best is None or _rank(verdict) < _rank(best):
                best = verdict
            if verdict.proof is Proof.PROVED and verdict.mended is not False:
                break
        assert best is not None
        return replace(best, seconds=self._since(begun))

    def _since(self, begun: float) -> float:
        """The seconds that were computed since then, here and in the worker."""
        return round(time.process_time() - begun + self._computed, 3)

    def _executed(self, chosen: Slices, source: Source, finding: Finding) -> Verdict:
        answer = self._host.run(
            {
                "original": chosen.original.as_dict(),
                "fixed": None if chosen.fixed is None else chosen.fixed.as_dict(),
                "equal": chosen.fix is not None and chosen.fix.claim is Claim.EQUAL,
                "differentiated": finding.differentiated.value,
                "modes": self._modes,
                "shown_in": list(finding.modes),
                "sampled": self._sampled,
            }
        )
        self._computed += answer.get("seconds", self._host.seconds)
        proof = Proof(answer["status"])
        if proof is not Proof.PROVED:
            return Verdict(proof, answer["reason"])
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
        return Verdict(proof, "", witness, answer["mended"], _fix(chosen, answer))


def _rank(verdict: Verdict) -> tuple[int, bool]:
    return _ORDER.index(verdict.proof), verdict.mended is False


def _fix(chosen: Slices, answer: dict[str, Any]) -> str:
    """What the repaired slice does, in words."""
    if chosen.fix is None:
        return f"none: {chosen.unfixed}" if chosen.unfixed else "none"
    if answer["mended"] is None:
        return f"not run: {chosen.unfixed or answer['unfixed']}"
    if not answer["mended"]:
        return "NaN or Inf is left on this input"
    compared = answer["compared"]
    if not compared["numbers"]:
        return "finite"
    alive = "gradient alive" if compared["alive"] else "a gradient is 0 that was not"
    return (
        f"finite; largest difference on {compared['numbers']} ordinary numbers"
        f" {compared['largest']:.2g}; {alive}"
    )
