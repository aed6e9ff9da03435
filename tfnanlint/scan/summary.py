"""What a scan has found, counted: as text, as JSON and as one HTML page."""

from __future__ import annotations

import glob
import html
import json
import os

from tfnanlint.scan.run import Totals

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; }
td, th { padding: .15rem .6rem .15rem 0; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.bar { width: 55%; }
svg { display: block; width: 100%; height: .9rem; }
rect { fill: #3b82c4; }
"""


def totals_of(out: str) -> Totals:
    """The totals of all complete parts in a folder, of all shards."""
    totals = Totals()
    for path in sorted(glob.glob(os.path.join(glob.escape(out), "checkpoints", "part-*.json"))):
        with open(path, encoding="utf-8") as file:
            totals.add(json.load(file))
    return totals


def report(out: str) -> str:
    """The summary of a scan as text; `summary.json` and `summary.html` are written beside its
    tables.
    """
    totals = totals_of(out)
    for name, text in (("summary.json", _json(totals)), ("summary.html", page(totals))):
        with open(os.path.join(out, name), "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    return words(totals)


def words(totals: Totals) -> str:
    """The totals in lines for a terminal."""
    files = totals.files
    lines = [
        f"Repositories: {totals.repositories:,}. "
        f"Python files and notebooks: {sum(files.values()):,} ({totals.bytes / 1e6:,.1f} MB).",
        "  " + ", ".join(f"{count:,} {status}" for status, count in files.most_common()),
        f"Findings: {sum(totals.findings.values()):,}"
        f" in {totals.seconds:,.1f} seconds of checking.",
    ]
    lines += [f"  {code}  {count:>8,}" for code, count in totals.findings.most_common()]
    lines += [f"Not read: {failure}" for failure in totals.failures[:20]]
    return "\n".join(lines)


def _json(totals: Totals) -> str:
    return json.dumps(
        {
            "repositories": totals.repositories,
            "files": dict(totals.files.most_common()),
            "bytes": totals.bytes,
            "seconds": round(totals.seconds, 3),
            "findings": dict(totals.findings.most_common()),
            "densest": [
                {"repository": name, "findings": findings, "files": files}
                for findings, files, name in totals.densest
            ],
            "failures": totals.failures,
        },
        indent=2,
    )


def page(totals: Totals) -> str:
    """The totals as one self-contained HTML page, without script and network."""
    densest = [
        (name, findings, f"{findings} in {files} files") for findings, files, name in totals.densest
    ]
    rules = [(code, count, f"{count:,}") for code, count in totals.findings.most_common()]
    status = [(name, count, f"{count:,}") for name, count in totals.files.most_common()]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>tfnanlint scan</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>tfnanlint scan</h1><p>{totals.repositories:,} repositories, "
        f"{sum(totals.findings.values()):,} findings.</p>\n"
        + _chart("Findings by rule", "Rule", rules)
        + _chart("Repositories with most findings", "Repository", densest)
        + _chart("Files", "Status", status)
        + "</body></html>\n"
    )


def _chart(title: str, kind: str, rows: list[tuple[str, int, str]]) -> str:
    """A table whose last column draws the numbers."""
    most = max((number for _, number, _ in rows), default=1)
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td class="number">{html.escape(text)}</td>'
        f'<td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{100 * number / most:.2f}" height="10"/></svg></td></tr>\n'
        for name, number, text in rows
    )
    head = f'<thead><tr><th>{kind}</th><th>Number</th><th aria-hidden="true"></th></tr></thead>'
    return f"<h2>{title}</h2><table>{head}<tbody>{body}</tbody></table>\n"
