"""`html`: one page for a browser, which brings all that it needs: a summary, filters, a search, and
each finding with its source, the way of its value, its range on a line of numbers, and its fixes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from textwrap import dedent
from typing import Any

from tfnanlint.config.layers import ConfigError
from tfnanlint.diagnostics.findings import Finding, Fix, Step
from tfnanlint.diagnostics.grades import SEVERITIES, grade
from tfnanlint.diagnostics.verdicts import Line, Proof, Verdict, Witness
from tfnanlint.html.figure import figure
from tfnanlint.html.number_line import bounds
from tfnanlint.html.page import NoJinja, render
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import escape, message
from tfnanlint.report.closing import found
from tfnanlint.report.frame import MAX_COLUMNS, changes, line_at, line_elsewhere
from tfnanlint.report.full import PROMISE, called, from_here, option
from tfnanlint.report.wellformed import json_text, well_formed
from tfnanlint.syntax.source import Source, Span
from tfnanlint.version import __version__

MAX_LINES = 12  # of source around a finding
_AROUND = 2  # lines before and after it
MAX_ROWS = 200  # of a summary


class Html:
    def __init__(self) -> None:
        self._findings: list[dict[str, Any]] = []
        self._severities: Counter[str] = Counter()
        self._rules: Counter[tuple[str, str]] = Counter()
        self._files: Counter[str] = Counter()
        self._proofs: Counter[str] = Counter()
        try:
            self._page()  # before the run: what cannot be written is said at once
        except NoJinja:
            raise ConfigError(
                "the HTML report needs the package Jinja2: pip install 'tfnanlint[html]'"
            ) from None

    def start(self) -> str:
        return ""

    def file(self, checked: Checked) -> str:
        path = escape(from_here(checked.path))
        for finding in checked.findings:
            self._findings.append(_described(finding, checked, path, len(self._findings)))
            if finding.verdict is not None:
                self._proofs[finding.verdict.proof.value] += 1
            self._severities[grade(finding).severity] += 1
            self._rules[finding.code, finding.slug] += 1
            self._files[path] += 1
        return ""

    def end(self) -> str:
        return self._page()

    def _page(self) -> str:
        return render(
            version=__version__,
            total=len(self._findings),
            found=found(self._severities),
            file_total=len(self._files),
            summary=tuple(self._summary()),
            data=json_text({"findings": self._findings}),
        )

    def _summary(self) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
        severities = [name for name in SEVERITIES if self._severities[name]]
        yield (
            "Severity",
            "severity",
            [_row(name, name, self._severities[name], name) for name in severities],
        )
        if self._proofs:
            proofs = [(proof.value, self._proofs[proof.value]) for proof in Proof]
            yield "Proof", "proof", [_row(name, name, n) for name, n in proofs if n]
        rules = sorted(self._rules.items(), key=lambda item: (-item[1], item[0]))[:MAX_ROWS]
        yield "Rule", "rule", [_row(code, f"{code} {slug}", n) for (code, slug), n in rules]
        paths = sorted(self._files.items(), key=lambda item: (-item[1], item[0]))[:MAX_ROWS]
        yield "File", "file", [_row(path, path, n) for path, n in paths]


def _row(key: str, label: str, count: int, style: str = "") -> dict[str, Any]:
    return {"key": key, "label": label, "count": count, "style": style, "title": label}


def _described(finding: Finding, checked: Checked, path: str, number: int) -> dict[str, Any]:
    """A finding as the script of the page reads it; `number` counts those of the page."""
    source = checked.source
    here = source.location(finding.span.start)
    graded = grade(finding)
    hints = [("hint: ", finding.help), ("no fix: ", "" if finding.fixes else finding.no_fix)]
    proof = "" if finding.verdict is None else finding.verdict.proof.value
    return {
        "keys": {
            "severity": graded.severity,
            "rule": finding.code,
            "file": path,
            "proof": proof,
        },
        "code": finding.code,
        "slug": finding.slug,
        "severity": graded.severity,
        "because": escape(graded.because),
        "message": message(finding),
        "place": f"{path}:{here.prefix}{here.row}:{here.column}",
        **_source(source, finding.span),
        "range": escape(finding.range),
        "bounds": bounds(finding.range),
        "steps": [_step(step, source) for step in finding.trace],
        "fixes": [_fix(fix, source) for fix in finding.fixes],
        "hints": [label + escape(text) for label, text in hints if text],
        "verdict": None if finding.verdict is None else _verdict(finding.verdict, number),
    }


def _verdict(verdict: Verdict, number: int) -> dict[str, Any]:
    """What executing a finding has shown."""
    witness = verdict.witness
    return {
        "proof": verdict.proof.value,
        "words": escape(verdict.words),
        "fix": escape(verdict.fix),
        "mended": verdict.mended,
        "witness": None if witness is None else _witness(witness, number),
    }


def _witness(witness: Witness, number: int) -> dict[str, Any]:
    modes = [(one.mode, one.original, one.repaired) for one in witness.modes]
    return {
        "inputs": [
            [
                escape(one.name),
                escape(one.said) + (f" (given by {one.cut})" if one.cut else ""),
                one.text,
            ]
            for one in witness.inputs
        ],
        "results": [[escape(one.name), one.before, one.after] for one in witness.results],
        "modes": [[mode, *map(_finite, shown)] for mode, *shown in modes],
        "program": "\n".join(map(_shown, witness.program.split("\n"))),
        "figure": "" if witness.line is None else _figure(witness.line, number),
    }


def _figure(line: Line, number: int) -> str:
    named = replace(line, name=escape(line.name), element=escape(line.element))
    return figure(named, number)


def _finite(finite: bool | None) -> str:
    return {True: "finite", False: "NaN or Inf", None: "not run"}[finite]


def _source(source: Source, span: Span) -> dict[str, Any]:
    """The lines around a span, each with its row and the row that is shown, and where the span
    begins and ends in them.
    """
    if not source.text:
        return {"span": [0, 0, 0, 0], "lines": []}
    first, column = source.position(span.start)
    last, end_column = source.position(max(span.start, span.end))
    top = max(source.first_row(first), first - _AROUND)
    bottom = min(len(source.line_starts), last + _AROUND, top + MAX_LINES)
    rows = range(top, bottom + 1)
    above = source.first_row(first) - 1
    lines = [[row, row - above, _shown(source.line_text(row))] for row in rows]
    return {"span": [first, column - 1, last, end_column - 1], "lines": lines}


def _shown(line: str) -> str:
    """A line of source that keeps its columns; a very long one is cut."""
    return well_formed(line.rstrip("\r")[: 10 * MAX_COLUMNS])


def _step(step: Step, source: Source) -> dict[str, str]:
    own = step.path == source.path and step.row <= len(source.line_starts)
    row = source.location(source.line_starts[step.row - 1]).row if own else step.row
    function = f" in {step.function}" if step.function else ""
    tail, calls = f" is {step.value}" if step.value else "", called(step, source)
    return {
        "place": escape(f"{from_here(step.path)}:{row}{function}"),
        "line": line_at(source, step.row) if own else line_elsewhere(step.path, step.row),
        "text": escape(step.text.removesuffix(tail) + ("" if step.value else calls)),
        "value": escape(step.value and step.value + calls),
    }


def _fix(fix: Fix, source: Source) -> dict[str, Any]:
    lines = changes(source, fix.edits)
    texts = dedent("\n".join(text for _, text in lines)).split("\n")
    sides = [(kind, text) for (kind, _), text in zip(lines, texts)]
    cost = f": {fix.cost}" if fix.cost else ""
    return {
        "title": escape(fix.title),
        "promise": escape(f"{PROMISE[fix.claim]}{cost}{option(fix, False)}"),
        "before": [_shown(text) for kind, text in sides if kind == "minus"],
        "after": [_shown(text) for kind, text in sides if kind == "plus"],
    }
