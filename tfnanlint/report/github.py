"""`github`: workflow commands, which GitHub Actions turns into annotations of the changed lines.

A command ends with its line, and its properties at `::`: whatever could end one is percent-encoded,
`%` first.
"""

from __future__ import annotations

from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.grades import severity
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import applicable, escape, message
from tfnanlint.report.place import Paths, in_cell, region

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


class Github:
    def __init__(self) -> None:
        self._paths = Paths()

    def start(self) -> str:
        return ""

    def file(self, checked: Checked) -> str:
        path = escape(self._paths.of(checked.path))
        return "".join(self._command(finding, checked, path) + "\n" for finding in checked.findings)

    def end(self) -> str:
        return ""

    def _command(self, finding: Finding, checked: Checked, path: str) -> str:
        where = region(checked.source, finding.span)
        properties = {
            "title": f"{finding.code} {finding.slug}",
            "file": path,
            "line": where.row,
            "endLine": where.end_row,
        }
        if where.row == where.end_row:  # With columns, GitHub refuses a range over several lines.
            properties |= {"col": where.column, "endColumn": max(where.end_column, where.column)}
        stated = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
        return f"::{_COMMANDS[severity(finding)]} {stated}::{_data(_text(finding, checked))}"


def _text(finding: Finding, checked: Checked) -> str:
    lines = [in_cell(checked.source, finding.span) + message(finding)]
    if finding.range:
        lines.append(f"value: {escape(finding.range)}")
    fix = applicable(finding, checked.unsafe_fixes)
    if fix:
        lines.append(f"tfnanlint check --fix can repair it: {escape(fix.title)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
