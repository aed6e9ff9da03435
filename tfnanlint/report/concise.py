"""`concise`: one line a finding, `path:row:column: CODE [*] message`; in a notebook
`path:cell 3:row:column`.
"""

from __future__ import annotations

from tfnanlint.diagnostics.findings import Finding
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import Paint, applicable, message


def header(finding: Finding, checked: Checked, paint: Paint) -> str:
    """The line that names a finding; editors and terminals make its position clickable."""
    place = checked.source.location(finding.span.start)
    mark = f"[{paint('mark', '*')}] " if applicable(finding, checked.unsafe_fixes) else ""
    where = f"{paint.file(checked.path)}:{place.prefix}{place.row}:{place.column}"
    return f"{where}: {paint('code', finding.code)} {mark}{message(finding)}"


class Concise:
    def __init__(self, paint: Paint):
        self._paint = paint

    def start(self) -> str:
        return ""

    def file(self, checked: Checked) -> str:
        lines = [header(finding, checked, self._paint) for finding in checked.findings]
        return "".join(line + "\n" for line in lines)

    def end(self) -> str:
        return ""
