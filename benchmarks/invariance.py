#!/usr/bin/env python3
"""Whether added comments, docstrings and strings change a finding: invariance.py DIR [--sample N]
[--seeds N] [--texts N]

Puts text at random places of each file, checks the file with it and without it, and prints each
finding that differs with the text that was added. Ends with 1 if there are any.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import sys
import warnings

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.dev.repository import ROOT
from tfnanlint.rule import registry as rules

sys.path.insert(0, str(ROOT / "tests" / "support"))
from added_text import findings, with_added_text  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--texts", type=int, default=12)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    layer = Layer(certainty="unknown", unsafe_fixes=True)
    policy = Configuration(layer, (), True).for_directory(str(ROOT)).policy("", rules.load())
    paths = sorted(arguments.folder.resolve().rglob("*.py"))
    paths = sorted(random.Random(1).sample(paths, min(arguments.sample, len(paths))))
    differing = checked = 0
    for path in paths:
        program = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
        try:
            before = findings(str(path), program, policy)
            for seed in range(arguments.seeds):
                added = with_added_text(program, seed, arguments.texts)
                after = findings(str(path), added.text, policy, added.rows)
                checked += 1
                if before != after:
                    differing += 1
                    print(f"{path} seed {seed}")
                    for line in sorted(set(before) - set(after)):
                        print("  -", line[:400])
                    for line in sorted(set(after) - set(before)):
                        print("  +", line[:400])
                    print("   ", "\n    ".join(added.texts))
        except SyntaxError:
            continue
    print(f"{differing} of {checked} texts differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
