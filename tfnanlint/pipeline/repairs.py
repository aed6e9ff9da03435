"""The repairs of a rule in words: before, after, and what changes. Those of fixes are generated
from what executing them has shown (`repairs.json`, written by `python -m tfnanlint.dev.docs`); a
rule's docstring states the others, and may state those of fixes in words of its own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

DATA: Final = Path(__file__).with_name("repairs.json")
BY_HAND: Final = "by hand"
_STATED = re.compile(r"^Repair:(.*?)(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair; `name` is that of a fix (`fix_names`), and empty for what is done by hand."""

    name: str
    what: str
    before: str
    after: str
    changes: str
    applied: str = BY_HAND


def repairs(code: str, doc: str) -> list[Repair]:
    """The repairs of a rule, the generated ones first, each with the words that the docstring has
    for it.
    """
    rows = [Repair(**row) for row in _generated().get(code, ())]
    for repair in stated(doc):
        named = [at for at, row in enumerate(rows) if repair.name and row.name == repair.name]
        for at in named:
            rows[at] = replace(
                rows[at],
                before=repair.before,
                after=repair.after,
                changes=repair.changes or rows[at].changes,
            )
        if not named:
            rows.append(repair)
    return rows


def stated(doc: str) -> list[Repair]:
    """The repairs that a docstring states: `Repair: WHAT | BEFORE | AFTER | CHANGES`, where WHAT is
    the name of a fix in backquotes, or what is done by hand. Raises ValueError for another form.
    """
    parsed = []
    for match in _STATED.finditer(doc):
        cells = [" ".join(cell.split()) for cell in match[1].split("|")]
        if len(cells) != 4 or not all(cells[:3]):
            raise ValueError(f"not WHAT | BEFORE | AFTER | CHANGES: {match[0]!r}")
        name = cells[0][1:-1] if re.fullmatch(r"`\w+`", cells[0]) else ""
        parsed.append(Repair(name, *cells))
    return parsed


@cache
def _generated() -> dict[str, list[dict[str, str]]]:
    rows: dict[str, list[dict[str, str]]] = json.loads(DATA.read_text("utf-8"))
    return rows
