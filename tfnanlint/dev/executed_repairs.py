"""What executing the fixes has shown (docs/fixes.json), as the tables of the rule pages say it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Iterable

from tfnanlint.dev import scores
from tfnanlint.dev.catalogue import plain_title, stated_fixes
from tfnanlint.diagnostics.findings import Claim
from tfnanlint.diagnostics.fix_names import name_of
from tfnanlint.rule.registry import Rule

_KEPT = {
    Claim.EQUAL: "nothing (the same function, at least as accurate)",
    Claim.EQUAL_WHERE_FINITE: "nothing where the result was finite",
}
_SAFE, _UNSAFE = "`--fix`", "`--fix --unsafe-fixes`"
_BOTH = f"{_SAFE}, or {_UNSAFE} where the finding says so"
_LEAST, _MOST = 1e-9, 1 - 1e-9


def data(rules: Iterable[Rule]) -> str:
    """`repairs.json`: the repairs of each rule by code."""
    return (
        json.dumps({rule.code: repairs for rule in rules if (repairs := rows(rule))}, indent=1)
        + "\n"
    )


def rows(rule: Rule) -> list[dict[str, str]]:
    """The repairs of one rule, as `repairs.Repair` has them, in the order of `rule.fixes`."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in scores.rows():
        if row["code"] == rule.code:
            title = _shown(rule, row["fix"])
            groups.setdefault((name_of(row["fix"]), title), []).append(row)
    order = {name: at for at, name in enumerate(rule.fixes)}
    return [
        {
            "name": name,
            "what": title,
            "before": _before(own),
            "after": "value and gradient are finite",
            "changes": _changes(own),
            "applied": _applied(own),
        }
        for (name, title), own in sorted(groups.items(), key=lambda item: order[item[0][0]])
    ]


def _shown(rule: Rule, title: str) -> str:
    """A title as the rule's file states it, with "…" for what is computed."""
    matching = [one.text for one in stated_fixes(rule) if one.pattern.fullmatch(title)]
    return matching[0] if matching else title


def _before(own: list[dict[str, Any]]) -> str:
    """What is not finite before a fix, in words."""
    worst = {
        key: max(before for row in own for before, _ in row[f"non-finite {key}"])
        for key in ("value", "gradient")
    }
    share = max(worst.values())
    if share < _LEAST:
        return "value and gradient are finite"
    dangerous = "" if share > _MOST else f" on {100 * share:.0f} % of the dangerous inputs"
    if worst["value"] < _LEAST:
        return f"the value is finite, the gradient NaN or Inf{dangerous}"
    both = "value and gradient are" if worst["gradient"] > _LEAST else "the value is"
    return f"{both} NaN or Inf{dangerous}"


def _changes(own: list[dict[str, Any]]) -> str:
    """What a fix changes, in words: the most frequent, and another where the code decides."""
    said = Counter(plain_title(_change(row)) for row in own)
    examples = [
        next(_change(row) for row in own if plain_title(_change(row)) == words)
        for words, _ in sorted(said.items(), key=lambda item: -item[1])
    ]
    return "; in other code: ".join(examples[:2])


def _change(row: dict[str, Any]) -> str:
    kept = _KEPT.get(Claim(row["claim"]))
    return "; ".join(filter(None, (kept, row["cost"])))


def _applied(own: list[dict[str, Any]]) -> str:
    safe = {Claim(row["claim"]).safe for row in own}
    return _BOTH if len(safe) > 1 else _SAFE if True in safe else _UNSAFE
