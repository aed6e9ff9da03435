"""`concise`: one line a finding, `path:row:column: severity: CODE [*] message`; in a notebook
`path:cell 3:row:column`.
"""

from __future__ import annotations

from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.grades import severity
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import PLAIN, Paint, View, applicable, message
from tfnanlint.report.wrap import wrapped


def line(finding: Finding, checked: Checked, paint: Paint = PLAIN.paint) -> str:
    """The line that names a finding; editors and terminals make its position clickable."""
    return _lead(finding, checked, paint) + message(finding)


def header(finding: Finding, checked: Checked, view: View) -> list[str]:
    """The same as lines of the width of a view."""
    plain = _lead(finding, checked, PLAIN.paint)
    first, *others = wrapped(message(finding), view.width, plain, "    ")
    return [(_lead(finding, checked, view.paint) + first[len(plain) :]).rstrip(), *others]


def _lead(finding: Finding, checked: Checked, paint: Paint) -> str:
    place = checked.source.location(finding.span.start)
    mark = f"[{paint('mark', '*')}] " if applicable(finding, checked.unsafe_fixes) else ""
    position = f"{paint.file(checked.path)}:{place.prefix}{place.row}:{place.column}"
    loud = severity(finding)
    return f"{position}: {paint(loud, loud)}: {paint('code', finding.code)} {mark}"


class Concise:
    def __init__(self, view: View = PLAIN):
        self._paint = view.paint

    def start(self) -> str:
        return ""

    def file(self, checked: Checked) -> str:
        return "".join(line(finding, checked, self._paint) + "\n" for finding in checked.findings)

    def end(self) -> str:
        return ""
