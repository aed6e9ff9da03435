"""`rdjson`: reviewdog's format. Columns count UTF-8 bytes; the best fix is a suggestion when it can
stand in one place.
"""

from __future__ import annotations

from typing import Any

from tfnanlint.diagnostics.findings import Finding, Fix
from tfnanlint.diagnostics.grades import severity
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import applicable, escape, message, url
from tfnanlint.report.place import Paths, Region, in_cell, region, utf8_bytes
from tfnanlint.report.wellformed import json_text
from tfnanlint.syntax.edits import edits_apply
from tfnanlint.syntax.source import Source

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}
# A suggestion is one replacement; edits further apart than this (an added import) cannot be shown
# as one.
MAX_SUGGESTED_ROWS = 30


class Rdjson:
    def __init__(self) -> None:
        self._paths = Paths()
        self._first = True

    def start(self) -> str:
        return '{\n  "source": {"name": "tfnanlint"},\n  "diagnostics": ['

    def file(self, checked: Checked) -> str:
        parts = []
        path = self._paths.of(checked.path)
        for finding in checked.findings:
            parts.append(
                ("" if self._first else ",")
                + "\n    "
                + json_text(_diagnostic(finding, checked, path))
            )
            self._first = False
        return "".join(parts)

    def end(self) -> str:
        return "]\n}\n" if self._first else "\n  ]\n}\n"


def _diagnostic(finding: Finding, checked: Checked, path: str) -> dict[str, Any]:
    value = f" (value: {escape(finding.range)})" if finding.range else ""
    diagnostic: dict[str, Any] = {
        "message": in_cell(checked.source, finding.span) + message(finding) + value,
        "location": {
            "path": path,
            "range": _range(region(checked.source, finding.span, utf8_bytes)),
        },
        "severity": _SEVERITIES[severity(finding)],
        "code": {
            "value": finding.code,
            **({"url": url(finding)} if url(finding) else {}),
        },
    }
    suggestion = _suggestion(applicable(finding, checked.unsafe_fixes), checked.source)
    return diagnostic | ({"suggestions": [suggestion]} if suggestion else {})


def _suggestion(fix: Fix | None, source: Source) -> dict[str, Any] | None:
    if fix is None or source.file is not source:  # A notebook's file holds its code as JSON.
        return None
    where = region(source, fix.span, utf8_bytes)
    if where.end_row - where.row >= MAX_SUGGESTED_ROWS:
        return None
    after = edits_apply(source.text, fix.edits)
    end = fix.span.end + len(after) - len(source.text)
    return {"range": _range(where), "text": after[fix.span.start : end]}


def _range(where: Region) -> dict[str, Any]:
    start = {"line": where.row, "column": where.column}
    return {"start": start, "end": {"line": where.end_row, "column": where.end_column}}
