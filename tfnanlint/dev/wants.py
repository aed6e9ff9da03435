"""The findings on `want` lines of the fixtures, and why some of them are not proved.

`fixtures/prove_reasons.toml` has a reviewed reason for each kind of finding that is not: the code
of the rule, a part of what the verdict says, and where it helps a part of the line. A reason that
nothing needs is stale.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.notices import NOTICES
from tfnanlint.diagnostics.verdicts import Proof, Verdict
from tfnanlint.prove.beyond import BEYOND_VALUES
from tfnanlint.rule.registry import load
from tfnanlint.syntax.source import Source

REASONS = repository.ROOT / "fixtures" / "prove_reasons.toml"
_WANT = re.compile(r"# want(?:\+\d+)?: ")
_SEED = 5
_NOTICES = frozenset(notice.code for notice in NOTICES)

Place = tuple[Source, Finding]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why findings of a kind are not proved."""

    code: str
    said: str
    line: str
    reason: str

    def fits(self, source: Source, finding: Finding, verdict: Verdict) -> bool:
        """Whether a verdict is of this kind."""
        row = source.position(finding.span.start)[0]
        return (
            finding.code == self.code
            and self.said in f"{verdict.proof.value}: {verdict.reason}"
            and self.line in source.line_text(row)
        )


def reasons() -> list[Reason]:
    """The reviewed reasons."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    table = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    return [
        Reason(row["code"], row["said"], row.get("line", ""), row["reason"])
        for row in table["reason"]
    ]


def reason_of(
    known: Iterable[Reason], source: Source, finding: Finding, verdict: Verdict
) -> Reason | None:
    """The reason why a finding is not proved; None where there is none. Of some rules no value
    tells: for them what `BEYOND_VALUES` says is the reason.
    """
    if finding.code in BEYOND_VALUES and verdict.proof is Proof.UNSUPPORTED:
        return Reason(finding.code, "", "", BEYOND_VALUES[finding.code])
    return next((one for one in known if one.fits(source, finding, verdict)), None)


def findings_of(path: Path) -> list[Place]:
    """The findings of a file at their default grades, without notices."""
    source = Source.from_bytes(str(path), path.read_bytes())
    findings = repository.findings(source)
    return [(source, finding) for finding in findings if finding.code not in _NOTICES]


def of_programs() -> list[Place]:
    """The findings of the programs in fixtures."""
    paths = sorted((repository.ROOT / "fixtures" / "programs").glob("*.py"))
    return [place for path in paths for place in findings_of(path)]


def of_rules() -> list[Place]:
    """The findings on the want lines of each rule's fixture."""
    places = []
    for rule in load():
        own = findings_of(repository.fixture(rule))
        places += [place for place in own if place[1].code == rule.code and _is_wanted(*place)]
    return places


def _is_wanted(source: Source, finding: Finding) -> bool:
    first = source.position(finding.span.start)[0]
    last = source.position(finding.span.end)[0]
    return any(_WANT.search(source.line_text(row)) for row in range(first, last + 1))


def each_rule(places: list[Place], most: int) -> list[Place]:
    """Findings of each rule, some of those that have many, always the same."""
    by_rule: dict[str, list[Place]] = {}
    for place in places:
        by_rule.setdefault(place[1].code, []).append(place)
    draw = random.Random(_SEED)
    return [
        place
        for own in by_rule.values()
        for place in (own if len(own) <= most else draw.sample(own, most))
    ]
