"""`gitlab`: a Code Quality report, which GitLab shows in merge requests and compares with the
target branch's.
"""

from __future__ import annotations

from typing import Any

from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.grades import severity
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import escape, message
from tfnanlint.report.place import Paths, in_cell, region
from tfnanlint.report.wellformed import json_text
from tfnanlint.suppression.fingerprint import digest, fingerprints

_SEVERITIES = {"error": "critical", "warning": "major", "note": "minor"}


class Gitlab:
    def __init__(self) -> None:
        self._paths = Paths()
        self._first = True

    def start(self) -> str:
        return "["

    def file(self, checked: Checked) -> str:
        parts = []
        path = self._paths.of(checked.path)
        for finding, mark in zip(checked.findings, fingerprints(checked.source, checked.findings)):
            text = json_text(_issue(finding, checked, path, mark), indent=2)
            parts.append(("" if self._first else ",") + "\n  " + text.replace("\n", "\n  "))
            self._first = False
        return "".join(parts)

    def end(self) -> str:
        return "]\n" if self._first else "\n]\n"


def _issue(finding: Finding, checked: Checked, path: str, mark: str) -> dict[str, Any]:
    where = region(checked.source, finding.span)
    value = f" (value: {escape(finding.range)})" if finding.range else ""
    return {
        # GitLab does not show `check_name`.
        "description": (
            f"{finding.code} {in_cell(checked.source, finding.span)}{message(finding)}{value}"
        ),
        "check_name": finding.code,
        "fingerprint": digest(path, mark),
        "severity": _SEVERITIES[severity(finding)],
        "location": {
            "path": path,
            "positions": {
                "begin": {"line": where.row, "column": where.column},
                "end": {"line": where.end_row, "column": where.end_column},
            },
        },
    }
