#!/usr/bin/env python3
"""Random programs against TensorFlow: soundness.py [--programs N] [--seed S] [--show N]

Builds N small programs (functions, classes, layers, branches with guards, loops, containers,
dtypes), runs each eagerly on four inputs and checks that every value that arrives at a `reveal`
lies in what the analysis says there, that what it says to be the same number is, and that no line
is reached that it says is not. Prints the violations, their number, how many values were compared
and how many of the places had a bound: a check of places where nothing is known would show nothing.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=10)
    args = parser.parse_args()
    from random_programs import Generator, references
    from trials import Trial, samples, vectors

    rows, bad, trial = references(), 0, Trial()
    start = time.process_time()
    for seed in range(args.seed, args.seed + args.programs):
        text = Generator(seed, rows, samples()).program()
        for one in trial.violations(text, vectors(seed))[:1]:
            bad += 1
            if bad <= args.show:
                print(f"seed {seed}: {one}\n", flush=True)
        if (seed + 1 - args.seed) % 500 == 0:
            print(
                f"# {seed + 1 - args.seed} programs, {bad} with a violation, {time.process_time() - start:.0f} s CPU",
                flush=True,
            )
    counts = trial.counts
    print(
        f"{args.programs} programs (seeds {args.seed} to {args.seed + args.programs - 1}) from {len(rows)} rows: {bad} with a violation"
    )
    print(
        f"{counts['places']} places, {counts['numbers']} numbers compared; {100 * counts['known'] / counts['places']:.1f} % of the places known, "
        f"{100 * counts['bounded'] / counts['places']:.1f} % with a bound"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
