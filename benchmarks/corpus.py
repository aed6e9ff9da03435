#!/usr/bin/env python3
"""Run tfnanlint over folders of real code: corpus.py DIR... [--fix] [--sample N --seed S] [--json
FILE]

Prints seconds and lines a second next to what `ast.parse` alone takes on the same files, findings
by rule, and whether anything crashed. `--fix` applies the safe and the unsafe fixes to every file
in memory and checks that each result parses and that a second run changes nothing, that no comment
is lost and that nothing outside of the edited spans changed; with `--sample` it prints random
applied fixes instead. `--sample` alone prints random findings with their source, for reading one by
one; `--each N` random N of every rule; `--read FILE` leaves out of both what a table of verdicts
(`verdicts/findings.tsv`) holds already.
"""

from __future__ import annotations

import argparse
import ast
import collections
import difflib
import gc
import io
import json
import pathlib
import random
import statistics
import sys
import time
import tokenize

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.dev.verdicts import Place, by_place, verdicts
from tfnanlint.pipeline.check import Checked, check, check_source
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source


def parse_seconds(files: list[tuple[str, bytes]]) -> float:
    """CPU seconds that `ast.parse` takes on the bytes of all files."""
    start = time.process_time()
    for _, data in files:
        try:
            ast.parse(data)
        except (SyntaxError, ValueError):
            pass
    return time.process_time() - start


def lint(files: list[tuple[str, bytes]], policy) -> tuple[list[Checked], float]:
    """The outcome of every file with findings, and the CPU seconds that all files took.

    Trees are dropped as the command line drops them: 4,000 of them in memory slow the machine down,
    not the analysis.
    """
    kept, seconds = [], 0.0
    for path, data in files:
        start = time.process_time()
        one = check(path, data, policy)
        seconds += time.process_time() - start
        if one.findings:
            kept.append(one)
    return kept, seconds


def fix_all(outcomes: list[Checked], policy, unsafe: bool, kept: list[str]) -> dict[str, object]:
    """Fix every file in memory; what was applied, and every file whose result does not hold. `kept`
    gets one text a fix.
    """
    from tfnanlint.pipeline import fix as fixing

    def allowed(fix) -> bool:
        return unsafe or fix.claim.safe

    def findings(source: Source) -> list:
        return list(check_source(source, policy).findings)

    applied, files = collections.Counter(), 0
    faults: dict[str, list[str]] = {name: [] for name in FAULTS}
    for one in outcomes:
        if not any(allowed(fix) for finding in one.findings for fix in finding.fixes):
            continue
        result = fixing.fix_source(one.source, findings, allowed)
        applied.update(finding.code for finding, _ in result.applied)
        files += bool(result.applied)
        kept += [shown_fix(one, result, *repair) for repair in result.applied]
        faults["refused"] += [f"{one.path}: {text}" for text in result.problems]
        for name, fault in broken(one.source.text, result).items():
            faults[name].append(f"{one.path}: {fault}")
        if not faults["do not parse"]:
            again = fixing.fix_source(result.source, findings, allowed)
            if again.source.text != result.source.text:
                faults["changed again by a second run"].append(one.path)
    return {
        "applied": dict(sorted(applied.items())),
        "total": sum(applied.values()),
        "files changed": files,
        **faults,
    }


FAULTS = (
    "refused",
    "do not parse",
    "comments lost",
    "changed outside of the edits",
    "changed again by a second run",
)


def broken(before: str, result) -> dict[str, str]:
    """What a fixed text must not be: this says it without asking the product."""
    after, found = result.source.text, {}
    try:
        ast.parse(after)
    except SyntaxError as error:
        return {"do not parse": str(error)}
    lost = comments(before) - comments(after)
    if lost:
        found["comments lost"] = ", ".join(lost)
    pieces, at = outside(after, result.regions), 0
    for number, piece in enumerate(pieces):
        where = before.find(piece, at)
        if where < 0 or number == 0 and where > 0:
            found["changed outside of the edits"] = piece.strip()[:80]
            break
        at = where + len(piece)
    if not before.endswith(pieces[-1]):
        found["changed outside of the edits"] = pieces[-1].strip()[-80:]
    return found


def outside(text: str, regions: list) -> list[str]:
    """The stretches of a text around regions, from the left."""
    found, at = [], 0
    for region in regions:
        found.append(text[at : max(at, region.start)])
        at = max(at, region.end)
    return [*found, text[at:]]


def comments(text: str) -> collections.Counter:
    """The comments of a program, each as often as it stands there."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return collections.Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def shown_fix(one: Checked, result, finding, fix) -> str:
    """A fix as a reader judges it: what was found, what was done, and the lines that changed around
    it.
    """
    new = max((edit.text.strip() for edit in fix.edits), key=len, default="").splitlines()[:1]
    lines = list(
        difflib.unified_diff(
            one.source.text.splitlines(), result.source.text.splitlines(), lineterm="", n=6
        )
    )[2:]
    hunks, hunk = [], []
    for line in [*lines, "@@"]:
        if line.startswith("@@") and hunk:
            hunks.append(hunk)
            hunk = []
        hunk.append(line)
    near = [
        hunk
        for hunk in hunks
        if any(new and new[0][:40] in line for line in hunk if line.startswith("+"))
    ]
    head = f"{one.path} {finding.code} {finding.certainty.name} {finding.differentiated.value}: {finding.message}"
    return "\n".join(
        [
            head,
            f"  fix ({fix.claim.value}): {fix.title}; {fix.cost}",
            *("    " + line for line in (near or hunks or [[]])[0]),
        ]
    )


def show(one: Checked, finding) -> str:
    """A finding with the lines around it and its evidence, to be judged by a reader."""
    row, column = one.source.position(finding.span.start)
    last = one.source.position(finding.span.end)[0]
    lines = [
        f"{one.path}:{row}:{column} {finding.code} {finding.certainty.name} {finding.differentiated.value}: {finding.message}"
    ]
    for number in range(max(1, row - 12), min(len(one.source.line_starts), last + 3) + 1):
        mark = ">" if row <= number <= last else " "
        lines.append(f"  {mark} {number:5} {one.source.line_text(number)}")
    lines += [
        f"    ~ {step.path if step.path != one.path else ''}:{step.row} {step.text}"
        for step in finding.trace
    ]
    lines += [f"    fix ({fix.claim.value}): {fix.title}" for fix in finding.fixes]
    return "\n".join(lines)


def drawn(
    found: list[tuple[Checked, object]], args: argparse.Namespace
) -> list[tuple[Checked, object]]:
    """Random findings, or some of every rule, without those that a table of verdicts holds."""
    read = by_place(verdicts(args.read)) if args.read else {}
    fresh = [
        (one, finding) for one, finding in found if place(one, finding, args.directory) not in read
    ]
    if not args.each:
        return random.Random(args.seed).sample(fresh, min(args.sample, len(fresh)))
    groups = [
        [pair for pair in fresh if pair[1].code == code]
        for code in sorted({finding.code for _, finding in fresh})
    ]
    return [
        pair
        for group in groups
        for pair in random.Random(args.seed).sample(group, min(args.each, len(group)))
    ]


def place(one: Checked, finding, folders: list[pathlib.Path]) -> Place:
    """Where a finding stands, as a table of verdicts names it."""
    row, _ = one.source.position(finding.span.start)
    folder = next(folder for folder in folders if pathlib.Path(one.path).is_relative_to(folder))
    return pathlib.Path(one.path).relative_to(folder).as_posix(), row, finding.code


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path, nargs="+")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=0)
    parser.add_argument("--read", type=pathlib.Path)
    parser.add_argument("--select", default="")
    parser.add_argument("--certainty", default="default")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    gc.disable()
    files = [
        (str(path), path.read_bytes())
        for folder in args.directory
        for path in sorted(folder.rglob("*.py"))
    ]
    select = tuple(args.select.split(",")) if args.select else None
    settings = Configuration(
        Layer(select=select, certainty=args.certainty), (), True
    ).for_directory(str(args.directory[0]))
    policy = settings.policy("", rules.load())
    check("warm.py", b"import tensorflow as tf\nx = tf.math.log(tf.nn.relu(y))\n", policy)
    timings = []
    for _ in range(args.rounds):
        alone = parse_seconds(files)
        outcomes, seconds = lint(files, policy)
        timings.append((alone, seconds, seconds / alone))
    count = sum(data.count(b"\n") for _, data in files)
    alone, seconds, ratio = (statistics.median(column) for column in zip(*timings))
    found = [(one, finding) for one in outcomes for finding in one.findings]
    report = {
        "files": len(files),
        "lines": count,
        "ast.parse CPU s": round(alone, 2),
        "tfnanlint CPU s": round(seconds, 2),
        "ratio": round(ratio, 2),
        "lines/s": round(count / seconds),
        "findings": len(found),
        "by rule": dict(sorted(collections.Counter(f.code for _, f in found).items())),
        "by certainty": dict(collections.Counter(f.certainty.name for _, f in found)),
        "internal errors": [show(one, f) for one, f in found if f.code == "TFN000"],
    }
    if args.fix:
        kept: list[str] = []
        report["safe fixes"] = fix_all(outcomes, policy, unsafe=False, kept=[])
        report["all fixes"] = fix_all(outcomes, policy, unsafe=True, kept=kept)
    print(json.dumps(report, indent=2))
    if args.json:
        args.json.write_text(json.dumps(report, indent=2))
    if args.sample and args.fix:
        print("\n\n".join(random.Random(args.seed).sample(kept, min(args.sample, len(kept)))))
    elif args.sample or args.each:
        for one, finding in drawn(found, args):
            print("\n" + show(one, finding))
    bad = [report["internal errors"]] + [
        v
        for k in ("safe fixes", "all fixes")
        if k in report
        for n, v in report[k].items()
        if n in FAULTS[1:]
    ]
    return 1 if any(bad) else 0


if __name__ == "__main__":
    sys.exit(main())
