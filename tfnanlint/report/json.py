"""`json`: one list of objects in ruff's shape, with the evidence added. Rows and columns are
1-based, in characters.

`fixes` are those that `--fix` or `--unsafe-fixes` applies, the best first; `suggestions` those that
neither does. `cell` is null, or in a notebook the 1-based number of the cell that rows are counted
in.
"""

from __future__ import annotations

import os
from typing import Any

from tfnanlint.diagnostics.findings import Call, Edit, Finding, Fix, Step
from tfnanlint.diagnostics.grades import grade
from tfnanlint.diagnostics.verdicts import Verdict
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import url
from tfnanlint.report.wellformed import json_text
from tfnanlint.suppression.fingerprint import fingerprints
from tfnanlint.syntax.source import Source


class Json:
    def __init__(self) -> None:
        self._first = True

    def start(self) -> str:
        return "["

    def file(self, checked: Checked) -> str:
        parts = []
        for record in described(checked):
            text = json_text(record, indent=2)
            parts.append(("" if self._first else ",") + "\n  " + text.replace("\n", "\n  "))
            self._first = False
        return "".join(parts)

    def end(self) -> str:
        return "]\n" if self._first else "\n]\n"


def described(checked: Checked) -> list[dict[str, Any]]:
    """The findings of a file as JSON shows them, with what identifies each when lines move."""
    marks = fingerprints(checked.source, checked.findings)
    return [
        {**as_dict(one, checked.source), "fingerprint": mark}
        for one, mark in zip(checked.findings, marks)
    ]


def as_dict(finding: Finding, source: Source) -> dict[str, Any]:
    """A finding as JSON shows it."""
    graded = grade(finding)
    return {
        "code": finding.code,
        "name": finding.slug,
        "message": finding.message,
        "filename": os.path.abspath(finding.path),
        "cell": source.location(finding.span.start).cell,
        "location": _location(source, finding.span.start),
        "end_location": _location(source, finding.span.end),
        "severity": graded.severity,
        "because": graded.because,
        "certainty": finding.certainty.name.lower(),
        "differentiated": finding.seen.value,
        "range": finding.range,
        "trace": [_step(step, source) for step in finding.trace],
        "modes": list(finding.modes),
        "fixed_in": finding.fixed_in or None,
        "fixes": [_fix(fix, source) for fix in finding.fixes if not fix.suggested],
        "suggestions": [_fix(fix, source) for fix in finding.fixes if fix.suggested],
        "no_fix": finding.no_fix or None,
        "help": finding.help or None,
        "url": url(finding) or None,
        **({} if finding.verdict is None else {"verdict": verdict_as_dict(finding.verdict)}),
    }


def verdict_as_dict(verdict: Verdict) -> dict[str, Any]:
    """What executing a finding has shown, as JSON shows it."""
    witness = verdict.witness
    return {
        "status": verdict.proof.value,
        "reason": verdict.reason,
        "fix": verdict.fix,
        "mended": verdict.mended,
        "seconds": verdict.seconds,
        "witness": None
        if witness is None
        else {
            "said": witness.said,
            "mode": witness.mode,
            "inputs": [
                {"name": one.name, "said": one.said, "text": one.text, "cut": one.cut or None}
                for one in witness.inputs
            ],
            "finite": {
                one.mode: {"original": one.original, "repaired": one.repaired}
                for one in witness.modes
            },
            "results": [
                {"name": one.name, "original": one.before, "repaired": one.after or None}
                for one in witness.results
            ],
            "program": witness.program,
        },
    }


def _location(source: Source, offset: int) -> dict[str, int]:
    place = source.location(offset)
    return {"row": place.row, "column": place.column}


def _step(step: Step, source: Source) -> dict[str, Any]:
    if step.path == source.path:
        where = {
            "cell": source.location(step.span.start).cell,
            "location": _location(source, step.span.start),
            "end_location": _location(source, step.span.end),
        }
    else:  # Another file's text is not at hand: its row is known, the column is not.
        where = {
            "cell": None,
            "location": {"row": step.row, "column": 1},
            "end_location": {"row": step.row, "column": 1},
        }
    told: dict[str, Any] = {"text": step.text, "value": step.value, "function": step.function}
    told |= {"calls": [_call(call) for call in step.calls], "made": step.made and _call(step.made)}
    return {"filename": os.path.abspath(step.path), **where, **told}


def _call(call: Call) -> dict[str, Any]:
    return {"filename": os.path.abspath(call.path), "row": call.row, "function": call.function}


def _fix(fix: Fix, source: Source) -> dict[str, Any]:
    return {
        "title": f"{fix.title} ({fix.cost})" if fix.cost else fix.title,
        "claim": fix.claim.value,
        "cost": fix.cost,
        "suggested": fix.suggested or None,
        "edits": [_edit(edit, source) for edit in fix.edits],
    }


def _edit(edit: Edit, source: Source) -> dict[str, Any]:
    return {
        "content": edit.text,
        "cell": source.location(edit.span.start).cell,
        "location": _location(source, edit.span.start),
        "end_location": _location(source, edit.span.end),
    }
