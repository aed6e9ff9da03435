"""What a scan has found, counted: as text, as JSON and as one HTML page."""

from __future__ import annotations

import glob
import html
import json
import os
from collections.abc import Sequence

from tfnanlint.scan.run import DENSE, Totals, Weight, density, write

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; --bar: #3b82c4; }
body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th { text-align: left; font-weight: 600; overflow-wrap: anywhere; }
td, th { padding: .15rem .6rem .15rem 0; vertical-align: top; }
thead th { font-weight: 400; opacity: .75; }
.name { width: 38%; } .number { width: 17%; text-align: right; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: .9rem; margin-top: .3rem; }
rect { fill: var(--bar); }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


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
        write(os.path.join(out, name), text.encode("utf-8", "replace"))
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
    lines += [
        f"  {code}  {count:>8,}  {totals.names.get(code, '')}".rstrip()
        for code, count in totals.findings.most_common()
    ]
    if totals.densest:
        lines.append(f"Most findings in a thousand lines (of {DENSE} checked lines or more):")
        lines += [f"  {density(each):8.1f}  {each[0]}" for each in totals.densest[:5]]
    lines += [f"Not read: {failure}" for failure in totals.failures[:20]]
    return "\n".join(lines)


def _json(totals: Totals) -> str:
    return json.dumps(
        {
            "repositories": totals.repositories,
            "files": dict(totals.files.most_common()),
            "bytes": totals.bytes,
            "checked_lines": totals.lines,
            "seconds": round(totals.seconds, 3),
            "findings": dict(totals.findings.most_common()),
            "names": totals.names,
            "most": list(map(_weight, totals.most)),
            "densest": list(map(_weight, totals.densest)),
            "failures": totals.failures,
        },
        indent=2,
    )


def _weight(weight: Weight) -> dict[str, object]:
    name, findings, files, lines = weight
    per_thousand = round(density(weight), 3)
    return {
        "repository": name,
        "findings": findings,
        "files": files,
        "lines": lines,
        "findings_per_thousand_lines": per_thousand,
    }


def page(totals: Totals) -> str:
    """The totals as one self-contained HTML page, without script and network."""
    rules = [
        (f"{code} {totals.names.get(code, '')}".rstrip(), count, f"{count:,}")
        for code, count in totals.findings.most_common()
    ]
    dense = [(each[0], density(each), f"{density(each):.1f}") for each in totals.densest]
    most = [(each[0], each[1], f"{each[1]:,} in {each[2]:,} files") for each in totals.most]
    status = [(name, count, f"{count:,}") for name, count in totals.files.most_common()]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>tfnanlint scan</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>tfnanlint scan</h1><p>{totals.repositories:,} repositories, "
        f"{sum(totals.files.values()):,} Python files and notebooks, "
        f"{totals.lines:,} checked lines, {sum(totals.findings.values()):,} findings.</p>\n"
        + _chart("Findings by rule", "Rule", "Findings", rules)
        + _chart(
            f"Repositories by density (of {DENSE} checked lines or more)",
            "Repository",
            "In 1,000 lines",
            dense,
        )
        + _chart("Repositories by number", "Repository", "Findings", most)
        + _chart("Files", "Status", "Files", status)
        + "</body></html>\n"
    )


def _chart(title: str, kind: str, unit: str, rows: Sequence[tuple[str, float, str]]) -> str:
    """A table whose last column draws the numbers."""
    most = max((number for _, number, _ in rows), default=1)
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td class="number">{html.escape(text)}</td>'
        f'<td><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{100 * number / most:.2f}" height="10"/></svg></td></tr>\n'
        for name, number, text in rows
    )
    head = (
        f'<thead><tr><th class="name">{kind}</th><th class="number">{unit}</th>'
        '<td aria-hidden="true"></td></tr></thead>'
    )
    return f"<h2>{title}</h2><table>{head}<tbody>{body}</tbody></table>\n"
