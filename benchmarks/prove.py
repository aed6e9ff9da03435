"""How many findings are proved, and how long that takes.

    python benchmarks/prove.py                      # fixtures/programs, claims and a sample of want sites
    python benchmarks/prove.py --wants              # every want site of fixtures/rules
    python benchmarks/prove.py --files DIR --sample 300 --json OUT
    python benchmarks/prove.py --again OUT           # the same findings once more

Prints, for each set, how many findings are proved, not reproduced and unsupported, how many proved
ones are mended by their fix, the times, and with --list every finding that is not proved.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.notices import NOTICES
from tfnanlint.diagnostics.verdicts import Proof, Verdict
from tfnanlint.prove.run import Prover
from tfnanlint.rule.registry import load
from tfnanlint.syntax.source import Source, Unreadable

_WANT = re.compile(r"# want: ")
_SEED = 5
_NOTICES = frozenset(notice.code for notice in NOTICES)


@dataclass
class Tally:
    """The verdicts on one set of findings."""

    name: str
    verdicts: list[tuple[str, Finding, Verdict]] = field(default_factory=list)

    def add(self, place: str, finding: Finding, verdict: Verdict) -> None:
        self.verdicts.append((place, finding, verdict))

    def lines(self, listed: bool):
        counts = Counter(verdict.proof for _, _, verdict in self.verdicts)
        total = max(1, len(self.verdicts))
        shares = ", ".join(
            f"{counts[one]} {one.value} ({counts[one] / total:.0%})" for one in Proof
        )
        yield f"{self.name}: {len(self.verdicts)} findings: {shares}"
        proved = [verdict for _, _, verdict in self.verdicts if verdict.proof is Proof.PROVED]
        kinds = Counter(verdict.mended for verdict in proved)
        yield (
            f"  of the proved: {kinds[True]} mended by their fix, {kinds[False]} not,"
            f" {kinds[None]} without a fix that runs"
        )
        times = sorted(verdict.seconds for _, _, verdict in self.verdicts) or [0.0]
        yield (
            f"  seconds: median {statistics.median(times):.2f},"
            f" p95 {times[int(0.95 * (len(times) - 1))]:.2f}, all {sum(times):.0f}"
        )
        reasons = Counter(
            re.sub(r"\d+", "N", verdict.reason)[:90]
            for _, _, verdict in self.verdicts
            if verdict.proof is Proof.UNSUPPORTED
        )
        yield from (
            f"  unsupported {count:4} {reason}" for reason, count in reasons.most_common(15)
        )
        if listed:
            for place, finding, verdict in self.verdicts:
                if verdict.proof is not Proof.PROVED or verdict.mended is False:
                    said = verdict.reason or verdict.fix
                    yield f"    {place} {finding.code} {verdict.proof.value}: {said[:140]}"
        by_rule = Counter((finding.code, verdict.proof) for _, finding, verdict in self.verdicts)
        codes = sorted({code for code, _ in by_rule})
        shown = (f"{code} {'/'.join(str(by_rule[code, one]) for one in Proof)}" for code in codes)
        yield "  by rule: " + "  ".join(shown)


def findings_of(path: Path) -> tuple[Source, list[Finding]]:
    """The source of a file with the findings at their default grades."""
    source = Source.from_bytes(str(path), path.read_bytes())
    found = repository.findings(source)
    return source, [finding for finding in found if finding.code not in _NOTICES]


def wanted(source: Source, findings: list[Finding]) -> list[Finding]:
    """Those of a fixture that stand on its want lines."""
    rows = [row for row, line in enumerate(source.text.splitlines(), 1) if _WANT.search(line)]
    spans = {finding: source.position(finding.span.start)[0] for finding in findings}
    ends = {finding: source.position(finding.span.end)[0] for finding in findings}
    return [one for one in findings if any(spans[one] <= row <= ends[one] for row in rows)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wants", action="store_true", help="all want sites, not a sample")
    parser.add_argument("--files", type=Path, help="a directory of code instead of the fixtures")
    parser.add_argument("--again", type=Path, help="the findings of a file that --json wrote")
    parser.add_argument("--json", type=Path, help="write every verdict there")
    parser.add_argument("--set", action="append", choices=("programs", "claims", "wants"))
    parser.add_argument("--each", type=int, help="at most so many want sites of a rule")
    parser.add_argument("--sample", type=int, default=120, help="findings of a set (default: 120)")
    parser.add_argument("--budget", type=float, default=5.0, help="seconds of each (default: 5)")
    parser.add_argument("--list", action="store_true", help="show what is not proved")
    parser.add_argument("--only", metavar="CODE", help="findings of one rule")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with Prover(arguments.budget) as prover:
        for name, places in sets(arguments):
            if arguments.only:
                places = [one for one in places if one[1].code.startswith(arguments.only)]
            if arguments.each:
                places = each_rule(places, arguments.each)
            whole = (arguments.wants or arguments.each) and name == "want sites"
            if not whole and len(places) > arguments.sample:
                places = random.Random(_SEED).sample(places, arguments.sample)
            tally = Tally(name)
            for source, finding in places:
                row = source.position(finding.span.start)[0]
                verdict = prover.verdict(source, finding)
                tally.add(f"{Path(source.path).name}:{row}", finding, verdict)
                rows.append(as_row(name, source, finding, verdict))
            print("\n".join(tally.lines(arguments.list)), flush=True)
        print(f"TensorFlow was loaded in {prover.started:.1f} s")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    return 0


def each_rule(places: list[tuple[Source, Finding]], most: int) -> list[tuple[Source, Finding]]:
    """Findings of each rule, some of those that have many, always the same."""
    by_rule: dict[str, list[tuple[Source, Finding]]] = {}
    for place in places:
        by_rule.setdefault(place[1].code, []).append(place)
    draw = random.Random(_SEED)
    return [
        place
        for own in by_rule.values()
        for place in (own if len(own) <= most else draw.sample(own, most))
    ]


def as_row(name: str, source: Source, finding: Finding, verdict: Verdict) -> dict[str, Any]:
    """A finding and its verdict, as JSON."""
    return {
        "set": name,
        "path": source.path,
        "row": source.position(finding.span.start)[0],
        "start": finding.span.start,
        "code": finding.code,
        "proof": verdict.proof.value,
        "reason": verdict.reason,
        "said": verdict.witness.said if verdict.witness else "",
        "mended": verdict.mended,
        "fix": verdict.fix,
        "seconds": verdict.seconds,
    }


def sets(arguments: argparse.Namespace):
    """The sets of findings, each with its name."""
    if arguments.again:
        yield str(arguments.again), _again(json.loads(arguments.again.read_text()))
        return
    if arguments.files:
        yield str(arguments.files), _all(sorted(arguments.files.rglob("*.py")))
        return
    chosen = arguments.set or ("programs", "claims", "wants")
    fixtures = repository.ROOT / "fixtures"
    if "programs" in chosen:
        yield "programs", _all(sorted((fixtures / "programs").glob("*.py")))
    if "claims" in chosen:
        yield "claims", _all(sorted((fixtures / "claims").glob("*.py")))
    if "wants" in chosen:
        yield "want sites", _wants()


def _all(paths: list[Path]) -> list[tuple[Source, Finding]]:
    places = []
    for path in paths:
        try:
            source, findings = findings_of(path)
        except Unreadable:
            continue
        places += [(source, finding) for finding in findings]
    return places


def _again(rows: list[dict[str, Any]]) -> list[tuple[Source, Finding]]:
    wanted_of: dict[str, set[tuple[int, str]]] = {}
    for row in rows:
        wanted_of.setdefault(row["path"], set()).add((row["start"], row["code"]))
    return [
        (source, finding)
        for path, keys in wanted_of.items()
        for source, finding in _all([Path(path)])
        if (finding.span.start, finding.code) in keys
    ]


def _wants() -> list[tuple[Source, Finding]]:
    places = []
    for rule in load():
        source, findings = findings_of(repository.fixture(rule))
        own = [one for one in findings if one.code == rule.code]
        places += [(source, finding) for finding in wanted(source, own)]
    return places


if __name__ == "__main__":
    sys.exit(main())
