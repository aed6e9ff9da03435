"""`full`: each finding with its source underlined, the value in words, the way it got there, and
the repair.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby

from tfnanlint.diagnostics.findings import Certainty, Claim, Differentiated, Finding, Fix
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import Paint, applicable, escape, url
from tfnanlint.report.concise import header
from tfnanlint.report.frame import frame, line_at, line_elsewhere, mini_diff
from tfnanlint.syntax.source import Location, Source

_CERTAINTY = {
    Certainty.MUST: "must (no safe value reaches it)",
    Certainty.MAY: "may (unsafe values are among those that reach it)",
    Certainty.UNKNOWN: "unknown (nothing seen here guards the value)",
}
_DIFFERENTIATED = {
    Differentiated.YES: "; a gradient is taken through it",
    Differentiated.NO: "; no gradient is taken through it",
    Differentiated.UNKNOWN: "",
}
_CLAIM = {
    Claim.EQUAL: "equal: the same function, at least as accurate",
    Claim.EQUAL_WHERE_FINITE: "equal where finite: the same wherever the original was finite",
    Claim.SHIFTED: "shifted: values move",
}
_MODES = {"eager": "eager", "graph": "tf.function", "xla": "XLA (jit_compile)", "gpu": "GPUs"}
_EVERYWHERE = {"eager", "graph", "xla"}


class Full:
    def __init__(self, paint: Paint):
        self._paint = paint
        self._explained: set[str] = set()

    def start(self) -> str:
        return ""

    def file(self, checked: Checked) -> str:
        return "".join(
            line + "\n" for finding in checked.findings for line in self._lines(finding, checked)
        )

    def end(self) -> str:
        return ""

    def _lines(self, finding: Finding, checked: Checked) -> Iterator[str]:
        source = checked.source
        yield header(finding, checked, self._paint)
        last_row = source.location(finding.span.end).row
        gutter = len(str(last_row))
        if source.text:
            yield from frame(source, finding.span, gutter, self._paint)
        pad = " " * gutter
        for label, text in self._evidence(finding):
            yield f"{pad} {self._paint('label', '=')} {label}: {text}"
        yield from self._trace(finding, source, pad)
        yield from self._repairs(finding, checked, pad)
        if finding.help:
            yield f"{pad} {self._paint('label', '=')} help: {escape(finding.help)}"
        if finding.code not in self._explained:
            self._explained.add(finding.code)
            page = f", {url(finding)}" if url(finding) else ""
            yield f"{pad} {self._paint('label', '=')} rule: tfnanlint rule {finding.code}{page}"
        yield ""

    def _evidence(self, finding: Finding) -> Iterator[tuple[str, str]]:
        if finding.range:
            yield "value", escape(finding.range)
        if finding.modes:  # notices on a file have none, and nothing to grade
            yield (
                "certainty",
                _CERTAINTY[finding.certainty] + _DIFFERENTIATED[finding.differentiated],
            )
            if not _EVERYWHERE <= set(finding.modes):
                yield "only in", ", ".join(_MODES.get(mode, mode) for mode in finding.modes)
            if finding.fixed_in:
                yield "only before", f"TensorFlow {finding.fixed_in}"

    def _trace(self, finding: Finding, source: Source, pad: str) -> Iterator[str]:
        if not finding.trace:
            return
        yield f"{pad} {self._paint('label', '=')} trace, newest first:"
        for (path, row), steps in groupby(finding.trace, key=lambda step: (step.path, step.row)):
            own = path == source.path and row <= len(source.line_starts)
            line = line_at(source, row) if own else line_elsewhere(path, row)
            here = source.location(source.line_starts[row - 1]) if own else Location(row, 1)
            yield f"{pad}     {escape(_from_here(path))}:{here.prefix}{here.row}: {line}".rstrip()
            for step in steps:
                yield f"{pad}         {escape(step.text)}"

    def _repairs(self, finding: Finding, checked: Checked, pad: str) -> Iterator[str]:
        label = self._paint("label", "=")
        if not finding.fixes:
            if finding.no_fix:
                yield f"{pad} {label} no fix: {escape(finding.no_fix)}"
            return
        best = applicable(finding, checked.unsafe_fixes) or finding.fixes[0]
        option = "" if best.claim.safe or checked.unsafe_fixes else ", needs --unsafe-fixes"
        yield f"{pad} {label} fix: {_described(best)}{option}"
        for line in mini_diff(checked.source, best.edits, self._paint):
            yield f"{pad}     {line}"
        for other in finding.fixes:
            if other is not best:
                yield f"{pad} {label} or: {_described(other)}"


def _from_here(path: str) -> str:
    """The path of a file as a person in the working directory writes it, if it is below that."""
    below = os.path.join(os.getcwd(), "")
    return path[len(below) :] if path.startswith(below) else path


def _described(fix: Fix) -> str:
    cost = f": {escape(fix.cost)}" if fix.cost else ""
    return f"{escape(fix.title)} ({_CLAIM[fix.claim]}{cost})"
