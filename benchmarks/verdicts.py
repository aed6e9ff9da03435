#!/usr/bin/env python3
"""Precision by rule of what is reported now: verdicts.py DIR... [--unread] [--wrong]

Runs tfnanlint over each folder (a corpus as `fetch.py` lays it out) at default settings and looks
every finding up in `verdicts/findings.tsv`, which holds what was read one by one. Prints a Markdown
table, a row a rule: findings read and right, folder by folder and in all, and how many were not
read. A rule with at least five read and fewer than 80 % right has to withhold what is wrong; such
rows are marked. `--unread` and `--wrong` list these findings.

A verdict belongs to a rule at a line of a pinned package; its column is not compared, for it moves
with the message.
"""

from __future__ import annotations

import argparse
import collections
import gc
import pathlib
import sys

from corpus import lint

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.dev.verdicts import FOLDER, Place, Verdict, by_place, verdicts
from tfnanlint.rule import registry as rules

ENOUGH, LEAST = 5, 0.8


def findings(folder: pathlib.Path) -> list[tuple[Place, str]]:
    """Where tfnanlint reports something by default, and its grade."""
    settings = Configuration(Layer(), (), True).for_directory(str(folder))
    files = [(str(path), path.read_bytes()) for path in sorted(folder.rglob("*.py"))]
    outcomes, _ = lint(files, settings.policy("", rules.load()))
    return [
        (
            (
                str(pathlib.Path(one.path).relative_to(folder)),
                one.source.position(finding.span.start)[0],
                finding.code,
            ),
            f"{finding.certainty.name}/{finding.differentiated.value}: {finding.message}",
        )
        for one in outcomes
        for finding in one.findings
    ]


def share(tally: collections.Counter) -> str:
    """'3 of 4', and ' (+2)' for findings without a verdict."""
    read = tally["right"] + tally["wrong"]
    return (f"{tally['right']} of {read}" if read else "") + (
        f" (+{tally['unread']})" if tally["unread"] else ""
    )


def low(tally: collections.Counter) -> bool:
    """Whether so few are right that the rule should not report this by default."""
    read = tally["right"] + tally["wrong"]
    return read >= ENOUGH and tally["right"] < LEAST * read


def table(found: dict[str, list[tuple[Place, str]]], known: dict[Place, Verdict]) -> str:
    """The table by rule, a column a folder."""
    tallies: dict[str, dict[str, collections.Counter]] = collections.defaultdict(
        lambda: collections.defaultdict(collections.Counter)
    )
    for folder, places in found.items():
        for place, grade in places:
            verdict = known[place].verdict if place in known else "unread"
            for row in (place[2], "all", *(["MUST"] if grade.startswith("MUST") else [])):
                tallies[row][folder][verdict] += 1
                tallies[row]["together"][verdict] += 1
    columns = [*found, "together"]
    lines = ["| rule | " + " | ".join(columns) + " | |", "|---" * (len(columns) + 2) + "|"]
    for row in sorted(tallies):
        total = tallies[row]["together"]
        lines.append(
            f"| {row} | "
            + " | ".join(share(tallies[row][column]) for column in columns)
            + f" | {'under 80 %' if low(total) else ''} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path, nargs="+")
    parser.add_argument("--unread", action="store_true", help="list the findings without a verdict")
    parser.add_argument(
        "--wrong",
        action="store_true",
        help="list the findings that were judged wrong, with the reasons",
    )
    args = parser.parse_args()
    gc.disable()
    known = by_place(verdicts(FOLDER / "findings.tsv"))
    found = {folder.name: findings(folder) for folder in args.directory}
    print(table(found, known))
    for places in found.values():
        for place, grade in places:
            path, row, code = place
            judged = known.get(place)
            if judged is None and args.unread:
                print(f"{path}:{row} {code} {grade}")
            elif judged is not None and judged.verdict == "wrong" and args.wrong:
                print(f"{path}:{row} {code} {grade} | {judged.reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
