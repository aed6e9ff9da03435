"""How many findings are proved, and how long that takes.

    python benchmarks/prove.py                      # fixtures/programs, claims and a sample of want sites
    python benchmarks/prove.py --wants              # every want site of fixtures/rules
    python benchmarks/prove.py --files DIR --sample 300 --json OUT
    python benchmarks/prove.py --again OUT           # the same findings once more
    python benchmarks/prove.py --wants --json OUT --resume   # go on where OUT ends
    python benchmarks/prove.py --wants --json OUT --retry    # once more what OUT has not proved

Prints, for each set, how many findings are proved, not reproduced and unsupported, how many proved
ones are mended by their fix, the times, and with --list every finding that is not proved.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfnanlint.dev import repository
from tfnanlint.dev.wants import (
    Place,
    Reason,
    each_rule,
    findings_of,
    of_programs,
    of_rules,
    reason_of,
    reasons,
)
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.verdicts import Proof, Verdict, Witness
from tfnanlint.prove.run import MODES, Prover
from tfnanlint.syntax.source import Source, Unreadable

_SEED = 5

Key = tuple[str, int, str]


@dataclass
class Tally:
    """The verdicts on one set of findings."""

    name: str
    verdicts: list[tuple[Source, Finding, Verdict]] = field(default_factory=list)

    def add(self, source: Source, finding: Finding, verdict: Verdict) -> None:
        self.verdicts.append((source, finding, verdict))

    def split(self, unexplained: int) -> str:
        """How many findings are proved, have a reviewed reason, or have neither."""
        proved = sum(verdict.is_proved for _, _, verdict in self.verdicts)
        reasoned = len(self.verdicts) - proved - unexplained
        return f"  {proved} proved, {reasoned} with a reviewed reason, {unexplained} with neither"

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
        unsupported = Counter(
            re.sub(r"\d+", "N", verdict.reason)[:90]
            for _, _, verdict in self.verdicts
            if verdict.proof is Proof.UNSUPPORTED
        )
        yield from (
            f"  unsupported {count:4} {reason}" for reason, count in unsupported.most_common(15)
        )
        if listed:
            for source, finding, verdict in self.verdicts:
                if verdict.proof is not Proof.PROVED or verdict.mended is False:
                    said = verdict.reason or verdict.fix
                    place = place_of(source, finding)
                    yield f"    {place} {verdict.proof.value}: {said[:140]}"
        by_rule = Counter((finding.code, verdict.proof) for _, finding, verdict in self.verdicts)
        codes = sorted({code for code, _ in by_rule})
        shown = (f"{code} {'/'.join(str(by_rule[code, one]) for one in Proof)}" for code in codes)
        yield "  by rule: " + "  ".join(shown)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wants", action="store_true", help="all want sites, not a sample")
    parser.add_argument(
        "--files",
        type=Path,
        help="a directory of code, or a list of files, in the place of fixtures",
    )
    parser.add_argument("--again", type=Path, help="the findings of a file that --json wrote")
    parser.add_argument("--json", type=Path, help="write every verdict there, a line each")
    parser.add_argument("--resume", action="store_true", help="keep the verdicts of --json's file")
    parser.add_argument(
        "--retry", action="store_true", help="keep the proved ones of --json's file"
    )
    parser.add_argument(
        "--part", metavar="K/N", default="1/1", help="every Nth finding from the Kth"
    )
    parser.add_argument("--modes", default=",".join(MODES), help="(default: %(default)s)")
    parser.add_argument("--set", action="append", choices=("programs", "claims", "wants"))
    parser.add_argument("--each", type=int, help="at most so many want sites of a rule")
    parser.add_argument("--sample", type=int, default=120, help="findings of a set (default: 120)")
    parser.add_argument("--budget", type=float, default=5.0, help="seconds of each (default: 5)")
    parser.add_argument("--list", action="store_true", help="show what is not proved")
    parser.add_argument("--only", metavar="CODE", help="findings of one rule")
    arguments = parser.parse_args()
    needed: set[Reason] = set()
    failures: list[str] = []
    known = _known(arguments)
    with (
        open(arguments.json or os.devnull, "a" if known else "w", encoding="utf-8") as lines,
        Prover(arguments.budget, arguments.modes.split(",")) as prover,
    ):
        for name, places in sets(arguments):
            tally = Tally(name)
            for source, finding in chosen(arguments, name, places):
                verdict = known.get(_key(source.path, finding.span.start, finding.code))
                if verdict is not None:
                    tally.add(source, finding, verdict)
                    continue
                verdict = prover.verdict(source, finding)
                tally.add(source, finding, verdict)
                lines.write(json.dumps(as_row(name, source, finding, verdict)) + "\n")
                lines.flush()
            print("\n".join(tally.lines(arguments.list)), flush=True)
            if name in ("programs", "want sites"):
                unexplained = reviewed(tally, needed)
                failures += unexplained
                print(tally.split(len(unexplained)), flush=True)
        print(f"TensorFlow was loaded in {prover.started:.1f} s")
    if arguments.wants:
        stale = [reason for reason in reasons() if reason not in needed]
        failures += [f"stale reason: {one.code} {one.said} {one.line}" for one in stale]
    print("".join(f"{failure}\n" for failure in failures), end="")
    return 1 if failures else 0


def chosen(arguments: argparse.Namespace, name: str, places: list[Place]) -> list[Place]:
    """Those findings of a set that are to be proved."""
    part, parts = map(int, arguments.part.split("/"))
    return _all_chosen(arguments, name, places)[part - 1 :: parts]


def _all_chosen(arguments: argparse.Namespace, name: str, places: list[Place]) -> list[Place]:
    if arguments.only:
        places = [one for one in places if one[1].code.startswith(arguments.only)]
    if arguments.each:
        return each_rule(places, arguments.each)
    whole = arguments.wants and name == "want sites"
    if whole or len(places) <= arguments.sample:
        return places
    return random.Random(_SEED).sample(places, arguments.sample)


def reviewed(tally: Tally, needed: set[Reason]) -> list[str]:
    """The findings of fixtures that are neither proved nor have a reviewed reason; the reasons that
    some have are added to `needed`.
    """
    failures = []
    known = reasons()
    for source, finding, verdict in tally.verdicts:
        if verdict.proof is Proof.PROVED:
            continue
        reason = reason_of(known, source, finding, verdict)
        if reason is None:
            failures.append(f"no reason: {place_of(source, finding)} {verdict.words}")
        else:
            needed.add(reason)
    return failures


def place_of(source: Source, finding: Finding) -> str:
    return f"{Path(source.path).name}:{source.position(finding.span.start)[0]} {finding.code}"


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


def _key(path: str, start: int, code: str) -> Key:
    """What a finding is known by in a file of verdicts."""
    return path, start, code


def _known(arguments: argparse.Namespace) -> dict[Key, Verdict]:
    """The verdicts in the file of --json that are kept, by finding; the last one of each."""
    path = arguments.json
    if path is None or not path.exists() or not (arguments.resume or arguments.retry):
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    known = {_key(row["path"], row["start"], row["code"]): _verdict(row) for row in rows}
    if not arguments.retry:
        return known
    return {key: verdict for key, verdict in known.items() if verdict.is_proved}


def _verdict(row: dict[str, Any]) -> Verdict:
    """The verdict of a row, with what its witness says only."""
    witness = Witness(row["said"], "", (), "") if row["said"] else None
    proof, seconds = Proof(row["proof"]), row["seconds"]
    return Verdict(proof, row["reason"], witness, row["mended"], row["fix"], "", seconds)


def sets(arguments: argparse.Namespace):
    """The sets of findings, each with its name."""
    if arguments.again:
        yield str(arguments.again), _again(arguments.again.read_text().splitlines())
        return
    if arguments.files:
        yield str(arguments.files), _all(_files(arguments.files))
        return
    chosen = arguments.set or ("programs", "claims", "wants")
    fixtures = repository.ROOT / "fixtures"
    if "programs" in chosen:
        yield "programs", of_programs()
    if "claims" in chosen:
        yield "claims", _all(sorted((fixtures / "claims").glob("*.py")))
    if "wants" in chosen:
        yield "want sites", of_rules()


def _files(path: Path) -> list[Path]:
    """The Python files of a directory, or those that a file lists."""
    if path.is_dir():
        return sorted(path.rglob("*.py"))
    return [Path(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _all(paths: list[Path]) -> list[Place]:
    places = []
    for path in paths:
        try:
            places += findings_of(path)
        except Unreadable:
            continue
    return places


def _again(lines: list[str]) -> list[Place]:
    wanted_of: dict[str, set[tuple[int, str]]] = {}
    for row in map(json.loads, lines):
        wanted_of.setdefault(row["path"], set()).add((row["start"], row["code"]))
    return [
        (source, finding)
        for path, keys in wanted_of.items()
        for source, finding in _all([Path(path)])
        if (finding.span.start, finding.code) in keys
    ]


if __name__ == "__main__":
    sys.exit(main())
