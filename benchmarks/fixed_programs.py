#!/usr/bin/env python3
"""Random programs fixed at once and executed before and after: fixed_programs.py [--programs N]
[--seed S] [--json OUT]

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
import os
import pathlib
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))

from differential import Check, Failure, Tool, counted, reduced  # noqa: E402
from hazard_programs import Program, program  # noqa: E402

MODES = ("eager", "graph", "xla")
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
        default=25,
        help="every how many programs run as a graph and under XLA, too; 0 for none",
    )
    parser.add_argument(
        "--reduce", type=int, default=40, help="how many failures are made smaller and printed"
    )
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    seeds = list(AGAIN) if args.again else args.seeds or range(args.seed, args.seed + args.programs)
    tool, counts, kinds, failed, start = (
        Tool(),
        collections.Counter(),
        collections.Counter(),
        [],
        time.process_time(),
    )
    for seed in seeds:
        one = program(seed)
        check = Check(one, tool, MODES if args.graphs and seed % args.graphs == 0 else ("eager",))
        if check.error:
            counts["do not run"] += 1
            print(f"{seed}: {check.error}", file=sys.stderr)
            continue
        failures, texts = check.failures()
        counts["programs"] += 1
        counts["hidden"] += check.hidden
        counts["hazards"] += len(one.codes)
        counted(counts, texts)
        for said in dict.fromkeys(text for fixed in texts.values() for text in fixed.problems):
            print(f"seed {seed}, refused: {said}")
        for failure in failures:
            kinds[failure.kind] += 1
            failed.append(
                {
                    "seed": seed,
                    "kind": failure.kind,
                    "stage": failure.stage,
                    "mode": failure.mode,
                    "said": failure.said,
                }
            )
        if failures:
            print(f"\n== seed {seed}: {failures[0]}", flush=True)
            if len({row["seed"] for row in failed}) <= args.reduce:
                print(shown(one, failures[0], tool), flush=True)
    changed = len({row["seed"] for row in failed if row["kind"] != "nonfinite"})
    report = {
        "programs": counts["programs"],
        "results that moved and had hidden NaN or Inf": counts["hidden"],
        "hazards": counts["hazards"],
        "do not run": counts["do not run"],
        "changed": changed,
        "clean but not finite": len({row["seed"] for row in failed if row["kind"] == "nonfinite"}),
        "failures by kind": dict(kinds),
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
        "CPU seconds": round(time.process_time() - start),
    }
    print(json.dumps(report, indent=2))
    if args.json:
        args.json.write_text(json.dumps({**report, "failed": failed}, indent=2))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
