#!/usr/bin/env python3
"""Random programs fixed at once and executed before and after: fixed_programs.py [--programs N]
[--seed S] [--jobs N] [--json OUT]

Each program (tests/support/hazard_programs.py) holds 2 to 8 hazards, of all rules that have a fix.
It is fixed as by `--fix` and by `--unsafe-fixes --fix` and run in TensorFlow on ordinary and hazard
inputs: eagerly, and every `--graphs`-th as a tf.function and compiled by XLA, too. Prints what
changed, what is called clean and is not finite, fixes by rule, what was refused; each failure is
printed as the smallest program that still fails, with what the fixes make of it. `--seeds` runs
programs by their numbers; `--again` runs those that are kept here because they failed once.
"""

from __future__ import annotations

import argparse
import collections
import difflib
import json
import multiprocessing
import os
import pathlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))

from differential import Check, Failure, Tool, counted, reduced  # noqa: E402
from hazard_programs import Program, program  # noqa: E402

MODES = ("eager", "graph", "xla")
# A process runs so many programs before another one takes its place: TensorFlow keeps what it
# compiled.
CHUNK = 50
# Programs that failed once, to be run again after a change of fixes.
AGAIN: tuple[int, ...] = (
    3076,
    10032,
    10045,
    10072,
    10144,
    10148,
    10173,
    10200,
    10247,
    10252,
    10254,
    10280,
    10287,
    10289,
    100147,
    100267,
    100890,
    100893,
    100923,
    202529,
    202567,
    300015,
    300100,
    300164,
    300192,
    300256,
    300313,
    300423,
    301172,
    301696,
    410097,
    412547,
    521953,
    522485,
    522795,
    524511,
)


def shown(one: Program, failure: Failure, tool: Tool) -> str:
    """A failing program, made smaller, and what the fixes change in it."""

    def fails(smaller: Program) -> bool:
        check = Check(smaller, tool, ("eager", failure.mode))
        return not check.error and any(
            (f.kind, f.stage, f.mode) == (failure.kind, failure.stage, failure.mode)
            for f in check.failures((failure.stage,))[0]
        )

    small = reduced(one, fails)
    fixed = tool.fixed(small, failure.stage == "unsafe")
    again = [
        f
        for f in Check(small, tool, ("eager", failure.mode)).failures((failure.stage,))[0]
        if f.kind == failure.kind
    ]
    changes = difflib.unified_diff(
        small.text.splitlines(), fixed.text.splitlines(), "before", "after", lineterm="", n=0
    )
    return "\n".join(
        [
            str(again[0] if again else failure),
            small.text.split("def differentiate")[0].strip(),
            "",
            *list(changes),
            "  fixes: " + "; ".join(fixed.titles),
        ]
    )


@dataclass
class Row:
    """What became of the program of one seed."""

    seed: int
    error: str = ""
    failures: list[Failure] = field(default_factory=list)
    counts: collections.Counter = field(default_factory=collections.Counter)
    refused: list[str] = field(default_factory=list)
    seconds: float = 0.0


def examined(seed: int, graphs: int, tool: Tool) -> Row:
    """The row of one seed; every `graphs`-th runs under XLA, too."""
    start, written = time.process_time(), program(seed)
    check = Check(written, tool, MODES if graphs and seed % graphs == 0 else MODES[:1])
    if check.error:
        return Row(seed, check.error)
    failures, texts = check.failures()
    counts = collections.Counter(programs=1, hidden=check.hidden, hazards=len(written.codes))
    counts.update({f"run {mode}": 1 for mode in check.modes})
    counted(counts, texts)
    refused = list(dict.fromkeys(text for fixed in texts.values() for text in fixed.problems))
    return Row(seed, "", failures, counts, refused, time.process_time() - start)


def chunk(task: tuple[list[int], int]) -> list[Row]:
    """The rows of some seeds, in a process of their own."""
    seeds, graphs = task
    tool = Tool()
    return [examined(seed, graphs, tool) for seed in seeds]


def rows(seeds: list[int], graphs: int, jobs: int) -> Iterator[Row]:
    """The rows of all seeds, from `jobs` processes."""
    tasks = [(seeds[at : at + CHUNK], graphs) for at in range(0, len(seeds), CHUNK)]
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=1) as pool:
        for done in pool.imap(chunk, tasks):
            yield from done


def report(found: list[Row]) -> dict:
    """The figures of all rows."""
    counts = sum((row.counts for row in found), collections.Counter())
    failed = [row for row in found if row.failures]
    return {
        "programs": counts["programs"],
        "run": {mode: counts[f"run {mode}"] for mode in MODES},
        "results that moved and had hidden NaN or Inf": counts["hidden"],
        "hazards": counts["hazards"],
        "do not run": sum(bool(row.error) for row in found),
        "changed": sum(any(one.kind != "nonfinite" for one in row.failures) for row in failed),
        "clean but not finite": sum(
            any(one.kind == "nonfinite" for one in row.failures) for row in failed
        ),
        "failures by kind": dict(
            collections.Counter(one.kind for row in failed for one in row.failures)
        ),
        "clean after the fix": {stage: counts[f"{stage} clean"] for stage in ("safe", "unsafe")},
        "refused": {stage: counts[f"{stage} refused"] for stage in ("safe", "unsafe")},
        "fixes applied": {
            stage: {
                key.split()[1]: count
                for key, count in sorted(counts.items())
                if key.startswith(f"{stage} TFN")
            }
            for stage in ("safe", "unsafe")
        },
        "CPU seconds a program": round(
            sum(row.seconds for row in found) / max(1, counts["programs"]), 2
        ),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, nargs="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument(
        "--graphs",
        type=int,
        default=10,
        help="every how many programs run as a graph and under XLA, too; 0 for none",
    )
    parser.add_argument(
        "--reduce", type=int, default=40, help="how many failures are made smaller and printed"
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    seeds = list(AGAIN) if args.again else args.seeds or range(args.seed, args.seed + args.programs)
    tool, found, reductions = Tool(), [], args.reduce
    for row in rows(list(seeds), args.graphs, args.jobs):
        found.append(row)
        if row.error:
            print(f"{row.seed}: {row.error}", file=sys.stderr)
        for said in row.refused:
            print(f"seed {row.seed}, refused: {said}", flush=True)
        if row.failures:
            print(f"\n== seed {row.seed}: {row.failures[0]}", flush=True)
            reductions -= 1
            if reductions >= 0:
                print(shown(program(row.seed), row.failures[0], tool), flush=True)
    figures = report(found)
    print(json.dumps(figures, indent=2))
    if args.json:
        failed = [{"seed": row.seed, **vars(one)} for row in found for one in row.failures]
        args.json.write_text(json.dumps({**figures, "failed": failed}, indent=2))
    return int(any(row.failures for row in found))


if __name__ == "__main__":
    sys.exit(main())
