"""`grouped`: a heading for each file, and under it one line a finding."""

from __future__ import annotations

from tfnanlint.diagnostics.grades import severity
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import PLAIN, View, applicable, message


class Grouped:
    def __init__(self, view: View = PLAIN):
        self._paint = view.paint

    def start(self) -> str:
        return ""

    def file(self, checked: Checked) -> str:
        if not checked.findings:
            return ""
        places = [self._place(checked, finding.span.start) for finding in checked.findings]
        width = max(map(len, places))
        lines = [f"{self._paint.file(checked.path)}:"]
        for place, finding in zip(places, checked.findings):
            mark = (
                f"[{self._paint('mark', '*')}] "
                if applicable(finding, checked.unsafe_fixes)
                else ""
            )
            loud = severity(finding)
            lines.append(
                f"  {place:<{width}} {self._paint(loud, loud)} "
                f"{self._paint('code', finding.code)} {mark}{message(finding)}"
            )
        return "\n".join(lines) + "\n\n"

    def end(self) -> str:
        return ""

    def _place(self, checked: Checked, offset: int) -> str:
        place = checked.source.location(offset)
        return f"{place.prefix}{place.row}:{place.column}"
