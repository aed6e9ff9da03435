"""`markdown`: a summary for a job's page or a comment: counts by rule, then a table of findings,
the surest first.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from urllib.parse import quote

from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.grades import SEVERITIES, severity
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import applicable, escape, message
from tfnanlint.report.place import Paths, region
from tfnanlint.report.verdicts import sentence

# GitHub shows at most 1 MiB of summary a step; no reader needs as much.
MAX_ROWS = 500
_MARKUP = re.compile(r"([\\`*_{}\[\]<>&|~$#@!]|:(?=//)|\.(?<=www\.))", re.I)


class Markdown:
    def __init__(self) -> None:
        self._paths = Paths()
        self._codes: Counter[tuple[str, str]] = Counter()
        self._fixable: Counter[str] = Counter()
        self._rows: dict[str, list[str]] = {one: [] for one in SEVERITIES}

    def start(self) -> str:
        return ""

    def file(self, checked: Checked) -> str:
        path = self._paths.of(checked.path)
        for finding in checked.findings:
            self._codes[finding.code, finding.slug] += 1
            self._fixable[finding.code] += applicable(finding, checked.unsafe_fixes) is not None
            rows = self._rows[severity(finding)]
            if len(rows) < MAX_ROWS:
                rows.append(_row(finding, checked, path))
        return ""

    def end(self) -> str:
        total = sum(self._codes.values())
        if not total:
            return "## tfnanlint\n\nNothing was found.\n"
        lines = [
            "## tfnanlint",
            "",
            f"{total} {'finding' if total == 1 else 'findings'}.",
            "",
            *self._counts(),
            "",
        ]
        rows = [row for one in SEVERITIES for row in self._rows[one]][:MAX_ROWS]
        lines += ["| | place | rule | finding |", "|---|---|---|---|", *rows]
        if total > len(rows):
            lines += ["", f"{total - len(rows)} more are not shown."]
        return "\n".join(lines) + "\n"

    def _counts(self) -> list[str]:
        table = ["| rule | findings | fixable with `--fix` |", "|---|---:|---:|"]
        for (code, slug), count in sorted(
            self._codes.items(), key=lambda item: (-item[1], item[0])
        ):
            table.append(f"| {code} {markup(slug)} | {count} | {self._fixable[code]} |")
        return table


def markup(text: str) -> str:
    """Text that Markdown shows as it is, whatever it looks like, on one line."""
    return _MARKUP.sub(r"\\\1", escape(text))


def _row(finding: Finding, checked: Checked, path: str) -> str:
    here = checked.source.location(finding.span.start)
    place = markup(f"{path}:{here.prefix}{here.row}:{here.column}")
    link = _link(path, region(checked.source, finding.span).row)
    value = f" (value: {markup(finding.range)})" if finding.range else ""
    fixable = " \\[\\*\\]" if applicable(finding, checked.unsafe_fixes) else ""
    stated = f"[{place}]({link})" if link else place
    verdict = f" ({markup(sentence(finding))})" if finding.verdict is not None else ""
    said = f"{markup(message(finding))}{value}{fixable}{verdict}"
    return f"| {severity(finding)} | {stated} | {finding.code} | {said} |"


def _link(path: str, row: int) -> str:
    """The line on GitHub, when a workflow runs there."""
    server, repository, commit = (
        os.environ.get(f"GITHUB_{name}") for name in ("SERVER_URL", "REPOSITORY", "SHA")
    )
    if not (server and repository and commit) or path.startswith("/") or path == "-":
        return ""
    plain = "?plain=1" if path.endswith(".ipynb") else ""  # Rendered notebooks have no lines.
    return (
        f"{server}/{quote(repository)}/blob/{quote(commit)}"
        f"/{quote(os.fsencode(path))}{plain}#L{row}"
    )
