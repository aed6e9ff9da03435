"""`sarif`: SARIF 2.1.0, for GitHub code scanning and editors. Columns count UTF-16 units, paths are
relative.

GitHub refuses a whole file above its limits, so that what exceeds them is left out, the least sure
first, and said.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from typing import Any

from tfnanlint import report
from tfnanlint.config.layers import Rule
from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Certainty, Edit, Finding, Fix, Step
from tfnanlint.diagnostics.grades import SEVERITIES, severity
from tfnanlint.pipeline.check import Checked
from tfnanlint.pipeline.linter import load_rules
from tfnanlint.report import escape, message, page
from tfnanlint.report.full import called
from tfnanlint.report.linehash import line_hashes
from tfnanlint.report.place import Paths, in_cell, region, utf16_units, written
from tfnanlint.report.verdicts import sentence
from tfnanlint.report.wellformed import json_text, well_formed
from tfnanlint.suppression.fingerprint import fingerprints
from tfnanlint.syntax.source import Source, Span
from tfnanlint.version import __version__

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
MAX_RESULTS = 25_000
MAX_STEPS = 1_000
MAX_BYTES = 10_000_000  # compressed
MAX_TEXT = 1_000
_ROOT = "%SRCROOT%"
_INDENTED = re.compile(r"(?:^ {4}.*\n?)(?:^(?: {4}.*)?\n?)*", re.M)

# A result as text, behind the place of its level in SEVERITIES.
Written = tuple[int, str]


class Sarif:
    def __init__(self, max_results: int = MAX_RESULTS, max_bytes: int = MAX_BYTES) -> None:
        self._paths = Paths()
        self._limits = max_results, max_bytes
        self._known = {rule.code: rule for rule in (*load_rules(), *notices.NOTICES)}
        self._rules: dict[str, int] = {}  # of the results, by code: the index in the list of rules
        self._results: list[Written] = []
        self._failures: list[dict[str, Any]] = []
        self._cut_short: list[dict[str, Any]] = []

    def start(self) -> str:
        return ""

    def file(self, checked: Checked) -> str:
        source, findings = checked.source, checked.findings
        hashes = line_hashes(source.file) if findings and source.file.text else []
        for finding, mark in zip(findings, fingerprints(source, findings)):
            if finding.code == notices.CUT_SHORT.code:
                self._cut_short.append(self._notification(finding, source))
                continue
            result = self._result(finding, source, mark)
            row = result["locations"][0]["physicalLocation"]["region"]["startLine"]
            if hashes:
                result["partialFingerprints"]["primaryLocationLineHash"] = hashes[row - 1]
            # Text takes a fifth of the room that objects do.
            self._results.append((SEVERITIES.index(result["level"]), json_text(result)))
            if finding.code == notices.INTERNAL.code:
                self._failures.append(
                    {
                        "level": "error",
                        "message": result["message"],
                        "locations": result["locations"],
                    }
                )
        return ""

    def end(self) -> str:
        most, size = self._limits
        kept = _surest(self._results, most)
        text = self._log(kept)
        # A compressed file is smaller than the text, so that short ones need no second look.
        while kept and len(text) > size and len(gzip.compress(text.encode("ascii"), 6)) > size:
            kept = _surest(kept, len(kept) * 3 // 4)
            text = self._log(kept)
        return text

    def _log(self, results: Sequence[Written]) -> str:
        """The whole file as text, one result a line."""
        lines = ",\n".join(text for _, text in results)
        run = json_text(
            {
                "tool": {"driver": _driver([self._known[code] for code in self._rules])},
                "invocations": [self._invocation(len(results))],
                **_SETTINGS,
            }
        )
        return (
            f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [\n'
            f'{run[:-1]}, "results": [\n{lines}\n]}}\n]}}\n'
        )

    def _invocation(self, kept: int) -> dict[str, Any]:
        said = self._failures + self._cut_short
        if kept < len(self._results):
            text = (
                f"{len(self._results) - kept} of {len(self._results)} findings are left out, "
                "the least sure ones: GitHub refuses more."
            )
            said.append({"level": "warning", "message": {"text": text}})
        return {
            "executionSuccessful": not self._failures,
            **({"toolExecutionNotifications": said} if said else {}),
        }

    def _notification(self, finding: Finding, source: Source) -> dict[str, Any]:
        """What is told about a run and not about the code."""
        return {
            "level": severity(finding),
            "message": {"text": _sentence(finding, source)},
            "locations": [self._place(source, finding.span)],
        }

    def _rule_index(self, code: str) -> dict[str, int]:
        """Where the rule of a result is in the list of rules; nothing for one that is not known."""
        if code not in self._known:
            return {}
        return {"ruleIndex": self._rules.setdefault(code, len(self._rules))}

    def _result(self, finding: Finding, source: Source, mark: str) -> dict[str, Any]:
        place = self._place(source, finding.span)
        place["physicalLocation"] |= _context(source, finding.span)
        result: dict[str, Any] = {
            "ruleId": finding.code,
            **self._rule_index(finding.code),
            "level": severity(finding),
            "message": {"text": _sentence(finding, source)},
            "locations": [place],
            "partialFingerprints": {"tfnanlint/v1": mark},
        }
        if finding.trace:
            result["codeFlows"] = [
                {"threadFlows": [{"locations": self._flow(finding, source, place)}]}
            ]
        fixes = [self._fix(fix, source) for fix in finding.fixes if _expressible(fix, source)]
        if fixes:
            result["fixes"] = fixes
        if finding.modes:  # notices on a file have none
            result["properties"] = {
                "certainty": finding.certainty.name.lower(),
                "differentiated": finding.seen.value,
                "range": escape(finding.range),
                "modes": list(finding.modes),
                **({"fixedIn": finding.fixed_in} if finding.fixed_in else {}),
                **({"verdict": escape(sentence(finding))} if finding.verdict else {}),
            }
        return result

    def _artifact(self, path: str) -> dict[str, str]:
        uri = self._paths.uri(path)
        return {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": _ROOT}

    def _place(self, source: Source, span: Span) -> dict[str, Any]:
        text = written(source, span)
        snippet = {"snippet": {"text": well_formed(text)}} if text and len(text) <= MAX_TEXT else {}
        where = {
            "artifactLocation": self._artifact(source.path),
            "region": {**_region(source, span), **snippet},
        }
        return {"physicalLocation": where}

    def _flow(
        self, finding: Finding, source: Source, place: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """From the oldest step, where the value comes from, to the place where it does harm."""
        steps = [self._step(step, source) for step in reversed(finding.trace[: MAX_STEPS - 1])]
        return [*steps, {"location": {**place, "message": {"text": _sentence(finding, source)}}}]

    def _step(self, step: Step, source: Source) -> dict[str, Any]:
        if step.path == source.path:
            place = self._place(source, step.span)
        else:  # Another file's text is not at hand: its row is known, the column is not.
            place = {
                "physicalLocation": {
                    "artifactLocation": self._artifact(step.path),
                    "region": {"startLine": step.row},
                }
            }
        text = _plain(step.text + called(step, source, self._paths.of))
        return {"location": {**place, "message": {"text": text}}}

    def _fix(self, fix: Fix, source: Source) -> dict[str, Any]:
        cost = f" ({fix.cost})" if fix.cost else ""
        change = {
            "artifactLocation": self._artifact(source.path),
            "replacements": [_replacement(e, source) for e in fix.edits],
        }
        return {
            "description": {"text": _plain(f"{fix.title}{cost} [{fix.claim.value}]")},
            "artifactChanges": [change],
        }


_SETTINGS = {
    "columnKind": "utf16CodeUnits",
    "automationDetails": {"id": "tfnanlint/"},
    "originalUriBaseIds": {_ROOT: {"description": {"text": "The top of the repository."}}},
}


def _surest(results: list[Written], most: int) -> list[Written]:
    if len(results) <= most:
        return results
    kept = sorted(range(len(results)), key=lambda index: (results[index][0], index))[:most]
    return [results[index] for index in sorted(kept)]


def _region(source: Source, span: Span) -> dict[str, int]:
    where = region(source, span, utf16_units)
    return {
        "startLine": where.row,
        "startColumn": where.column,
        "endLine": where.end_row,
        "endColumn": where.end_column,
    }


def _context(source: Source, span: Span) -> dict[str, Any]:
    """The lines of a span, one before and one after."""
    where = region(source, span)
    first, last = max(1, where.row - 1), min(len(source.file.line_starts), where.end_row + 1)
    text = "\n".join(map(source.file.line_text, range(first, last + 1)))
    if not text or len(text) > 2 * MAX_TEXT or text == written(source, span):
        return {}
    return {
        "contextRegion": {
            "startLine": first,
            "endLine": last,
            "snippet": {"text": well_formed(text)},
        }
    }


def _replacement(edit: Edit, source: Source) -> dict[str, Any]:
    return {"deletedRegion": _region(source, edit.span), "insertedContent": {"text": edit.text}}


def _expressible(fix: Fix, source: Source) -> bool:
    """Whether SARIF can hold a fix: not with a lone surrogate, nor in a notebook, whose file holds
    its code as JSON.
    """
    return source.file is source and all(well_formed(edit.text) == edit.text for edit in fix.edits)


def _sentence(finding: Finding, source: Source) -> str:
    """The message as sentences: GitHub shows the first as the title."""
    value = f" Value: {escape(finding.range)}." if finding.range else ""
    return _plain(f"{in_cell(source, finding.span)}{message(finding).rstrip('.')}.{value}")


def _plain(text: str) -> str:
    """Text in which SARIF sees no link: it makes one of `[a](b)`."""
    return escape(text).replace("](", "] (")


# Rules


def _driver(rules: Sequence[Rule]) -> dict[str, Any]:
    where = {"informationUri": report.ADDRESS} if report.ADDRESS else {}
    return {
        "name": "tfnanlint",
        "semanticVersion": __version__,
        "version": __version__,
        **where,
        "rules": [_described(rule) for rule in rules],
    }


def _described(rule: Rule) -> dict[str, Any]:
    summary = f"{rule.summary.rstrip('.')}."
    body = rule.doc.strip().partition("\n")[2].strip() or summary
    address = page(rule.code, rule.slug)
    guessed = Certainty.UNKNOWN in rule.default and rule.code not in {
        one.code for one in notices.NOTICES
    }
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.slug.split("-")),
        "shortDescription": {"text": summary[:1024]},
        "fullDescription": {"text": _first_paragraph(body)[:1024]},
        "help": {
            "text": f"{summary}\n\n{body}",
            "markdown": f"**{rule.code} {rule.slug}**\n\n{summary}\n\n{_fenced(body)}",
        },
        **({"helpUri": address} if address else {}),
        "defaultConfiguration": {"level": "warning"},
        "properties": {
            "precision": "medium" if guessed else "high",
            "tags": ["tensorflow", "numerics"],
            "slug": rule.slug,
        },
    }


def _first_paragraph(body: str) -> str:
    return " ".join(body.partition("\n\n")[0].split())


def _fenced(body: str) -> str:
    """A rule's text with its indented examples as blocks of Python."""

    def block(match: re.Match[str]) -> str:
        lines = "\n".join(line[4:] for line in match[0].strip("\n").split("\n"))
        return f"\n```python\n{lines.rstrip()}\n```\n\n"

    return _INDENTED.sub(block, body).rstrip() + "\n"
