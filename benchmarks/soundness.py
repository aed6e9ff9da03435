#!/usr/bin/env python3
"""Random programs against TensorFlow: soundness.py [--programs N] [--seed S]

Builds N small programs of table ops (with branches, loops, helpers, containers), runs them eagerly on four inputs each and
checks that every intermediate value lies in what the analysis revealed. Prints the violations and their number.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=10)
    args = parser.parse_args()
    import numpy as np
    from soundness import Generator, references, violations
    from test_soundness import vectors

    rows, bad = references(), 0
    for seed in range(args.seed, args.seed + args.programs):
        text, names = Generator(seed, rows).program()
        for one in violations(text, names, vectors(np, seed))[:1]:
            bad += 1
            if bad <= args.show:
                print(f"seed {seed}: {one}\n")
    print(f"{args.programs} programs from {len(rows)} rows, {bad} with a violation")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
