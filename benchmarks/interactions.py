#!/usr/bin/env python3
"""Rules that meet on one expression: interactions.py [--deeper N] [--seed S]

Puts every form of tests/support/combinations.py into every other, and N random ones of three to
five forms, and applies the safe fixes and then all fixes to each. Prints how many hold: one finding
an expression, nothing new after fixing, nothing left that a fix could repair, a second run changes
nothing; and the fixes that were refused because what they bring up has no repair.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))

from combinations import deeper, pairs, trial  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--deeper", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    programs = findings = faulty = refused = 0
    for expression in itertools.chain(pairs(), deeper(args.deeper, args.seed)):
        one = trial(expression)
        programs += bool(one.found)
        findings += one.found
        faulty += bool(one.faults)
        refused += bool(one.refused)
        if one.faults or one.refused:
            print(
                expression, *one.faults, *(f"refused: {text}" for text in one.refused), sep="\n    "
            )
    print(
        f"{programs} programs with {findings} findings: {faulty} with a fault, {refused} with a fix refused for good"
    )
    return int(bool(faulty))


if __name__ == "__main__":
    sys.exit(main())
