"""The page of a rule, cut into the same sections for every rule: what `explain` prints, what
editors link to, and what `docs/rules` holds.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator

from tfnanlint.config.layers import Rule, withheld
from tfnanlint.diagnostics.grades import NOTICE_SEVERITIES, severities
from tfnanlint.pipeline.repairs import Repair, repairs

FINDS = "What it finds"
SEE = "See it"
WHY = "Why"
REPAIR = "How to repair"
IGNORE = "When to ignore"
RELATED = "Related"
REPORTS = "Reports"
SECTIONS = (FINDS, SEE, WHY, REPAIR, IGNORE, RELATED, REPORTS)

# How a paragraph of a docstring begins, and the section that it belongs to; the beginning is left
# out where it says the same as the heading.
_LABELS = {"See it:": SEE, "See also:": RELATED, "Seen in the wild:": REPORTS}
_BEGINNINGS = {
    "Bad:": REPAIR,
    "Good:": REPAIR,
    "Often harmless": IGNORE,
    "Nothing is reported": IGNORE,
    "It is reported": IGNORE,
    "Reported by default": IGNORE,
    "No public report": REPORTS,
    "Repair:": REPAIR,
    **_LABELS,
}
_CODE = re.compile(r"\bTFN\d{3}\b")


def sections(rule: Rule, known: Iterable[Rule] = (), plain: bool = False) -> dict[str, str]:
    """The text of each section that a rule has something for, in the order of `SECTIONS`. `known`
    are the rules whose names are added to the codes in "Related". With `plain` the repairs are
    lines, and otherwise a Markdown table.
    """
    summary, _, body = inspect.cleandoc(rule.doc).strip().partition("\n")
    parts: dict[str, list[str]] = {name: [] for name in SECTIONS}
    parts[FINDS] += [summary, _reports(rule)]
    parts[REPAIR] += _repaired(rule, plain)
    has_example = re.search(r"^Bad:$", body, re.MULTILINE) is not None
    explains = True
    for paragraph in _paragraphs(body):
        start = next((text for text in _BEGINNINGS if paragraph.startswith(text)), "")
        if start == "Repair:":
            continue
        if start == "Bad:":
            explains = False
        name = _BEGINNINGS.get(start, WHY if explains or not has_example else REPAIR)
        text = paragraph.removeprefix(start) if start in _LABELS else paragraph
        parts[name].append(text.strip("\n") if name == SEE else text.strip())
    parts[IGNORE] += _ignoring(rule)
    parts[RELATED][:0] = _related(rule, body, {other.code: other for other in known})
    return {name: "\n\n".join(filter(None, texts)) for name, texts in parts.items() if any(texts)}


def page(rule: Rule, known: Iterable[Rule] = (), plain: bool = False) -> str:
    """The sections of a rule as one text, each below its heading; see `sections`."""
    parts = [f"## {name}\n\n{text}" for name, text in sections(rule, known, plain).items()]
    return "\n\n".join([f"# {rule.slug} ({rule.code})", *parts])


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a docstring; indented lines belong to the line that they follow."""
    lines: list[str] = []
    after_blank = False
    for line in text.split("\n"):
        if after_blank and line.strip() and not line.startswith(" ") and lines:
            yield "\n".join(lines).strip("\n")
            lines = []
        lines.append(line)
        after_blank = not line.strip()
    if any(line.strip() for line in lines):
        yield "\n".join(lines).strip("\n")


def _repaired(rule: Rule, plain: bool) -> list[str]:
    """What repairs there are, and how one is chosen."""
    rows = repairs(rule.code, rule.doc)
    if not rows:
        return []
    said = _blocks(rows) if plain else [_table(rows)]
    if len(rule.fixes) > 1:
        table = f"[tool.tfnanlint.rules.{rule.code}]"
        said.append(f'To be offered one of them only: `fix = "{rule.fixes[0]}"` in `{table}`.')
    return said


def _table(rows: Iterable[Repair]) -> str:
    """Repairs as a Markdown table."""
    lines = ["| repair | before | after | what changes | how |", "|---|---|---|---|---|"]
    for row in rows:
        cells = (_titled(row), row.before, row.after, row.changes, row.applied)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def _blocks(rows: list[Repair]) -> list[str]:
    """Repairs as lines with what they do below; what all of them have in common is said once."""
    effects = {(row.before, row.after) for row in rows}
    together = len(rows) > 1 and len(effects) == 1
    said = [f"Before: {rows[0].before}. After: {rows[0].after}."] if together else []
    items = []
    for row in rows:
        items.append(f"- {_titled(row)} ({row.applied})")
        if not together:
            items.append(f"  before: {row.before}; after: {row.after}")
        items.append(f"  changes: {row.changes}")
    return [*said, "\n".join(items)]


def _titled(row: Repair) -> str:
    return f"`{row.name}`: {row.what}" if row.name else row.what


def _reports(rule: Rule) -> str:
    preview = " In preview: runs only with `--preview` or when it is selected."
    shown = NOTICE_SEVERITIES.get(rule.code) or severities(rule.default)
    return f"Reports: {shown}.{preview if rule.preview else ''}"


def _ignoring(rule: Rule) -> list[str]:
    """What the settings say about findings that may be ignored."""
    if rule.code.startswith("TFN0"):
        return []
    said = []
    if rule.silent:
        said.append(f"Reported with `--certainty unknown` only: {withheld(rule)}.")
    said.append(f"Hide a finding with the comment `# tfn: ignore[{rule.code}]`.")
    return said


def _related(rule: Rule, body: str, known: dict[str, Rule]) -> list[str]:
    """The rules that a finding of this one replaces, and those that its page names."""

    def named(codes: Iterable[str]) -> str:
        return ", ".join(f"{code} {known[code].slug}" if code in known else code for code in codes)

    said = []
    if rule.over:
        said.append(f"Replaces at the same place: {named(rule.over)}.")
    named_codes = dict.fromkeys(_CODE.findall(body))
    others = [code for code in named_codes if code != rule.code and code not in rule.over]
    if others:
        said.append(f"Other rules: {named(others)}.")
    return said
