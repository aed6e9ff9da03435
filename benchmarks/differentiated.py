#!/usr/bin/env python3
"""Random sites at which the engine says whether a gradient is taken: differentiated.py FOLDER...
[--sample N --seed S --each N] [--decided] [--answers FILE]

Each FOLDER is one repository. A site is a logarithm, root, norm, division, power, exponential or
arc function of a tensor. Printed is where each stands, for a reader who judges against the code of
the repository; what the engine says goes to the file of answers and is not shown. `unknown` is
drawn too, and told apart in the answers, unless only what is `--decided` is asked for.
"""

from __future__ import annotations

import argparse
import gc
import pathlib
import random
from typing import Any

from known import OPERATIONS, Probe, argument


def sites_of(folder: pathlib.Path) -> list[tuple[str, int, str, str]]:
    """(path, row, op, answer) of the sites of a repository, one for each row."""
    sites: dict[tuple[str, int], tuple[str, int, str, str]] = {}

    def look(site: Any, here: Any) -> None:
        value = argument(site)
        if value.kind in ("number", "array", "string", "shape") or value.dtype in (
            "string",
            "bool",
        ):
            return
        row, _ = here.source.position(here.source.span(site.node).start)
        answer = site.gradient(is_seen=True).value
        sites.setdefault((here.source.path, row), (here.source.path, row, site.op.name, answer))

    probe = Probe(" ".join(OPERATIONS.values()), look)
    for path in sorted(folder.rglob("*.py")):
        probe.run(str(path), path.read_bytes())
    return list(sites.values())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--each", type=int, default=2, help="at most so many sites a repository")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--decided", action="store_true", help="draw no unknown ones")
    parser.add_argument("--answers", type=pathlib.Path, required=True)
    args = parser.parse_args()
    gc.disable()
    chance = random.Random(args.seed)
    drawn = []
    for folder in args.folders:
        of_folder = [site for site in sites_of(folder) if not args.decided or site[3] != "unknown"]
        drawn += chance.sample(of_folder, min(args.each, len(of_folder)))
    drawn = chance.sample(drawn, min(args.sample, len(drawn)))
    with args.answers.open("w", encoding="utf-8") as answers:
        for number, (path, row, op, answer) in enumerate(drawn, 1):
            print(f"{number}\t{path}:{row}\t{op}")
            answers.write(f"{number}\t{path}\t{row}\t{op}\t{answer}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
