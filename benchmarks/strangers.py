#!/usr/bin/env python3
"""What is reported, or what fixes change, in unread repositories, drawn for a blind
reader: strangers.py findings|fixes FOLDER... [--seed S] [--each N] [--rule N] [--sample N]

Each FOLDER is one repository, which is left as it is. `findings` draws errors and warnings at
default settings, at most `--rule` of one rule and `--each` of one repository; files that are not of
Python 3 count for nothing. `fixes` draws the hunks of what `--fix --unsafe-fixes` changes, which
leaves out suggestions, each with the other changes of its file. What is
printed is numbered: a reader writes number, verdict and reason, and the verdicts go to
`benchmarks/verdicts/`. The samples `unread4` and `unread5` of findings were drawn with seeds 1 and
3, `unread3` and `unread4` of fixes with seeds 1 and 2.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

_FILE = re.compile(r"(?m)^(?=--- )")
_HUNK = re.compile(r"(?m)^(?=@@ )")


def checked(folder: pathlib.Path, *options: str) -> str:
    """What a check of a repository prints."""
    command = [sys.executable, "-m", "tfnanlint", "check", "--isolated", "--no-cache"]
    command += ["--exit-zero", *options, "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def findings(folder: pathlib.Path) -> Iterator[tuple[str, str]]:
    """The rule and the words of each finding."""
    for finding in json.loads(checked(folder, "--output-format", "json") or "[]"):
        if finding["severity"] == "note" or finding["code"].startswith("TFN00"):
            continue
        place, cell = finding["location"], finding["cell"]
        where = f"{finding['filename']}:{place['row']}:{place['column']}"
        lines = [
            f"{where}{f' cell {cell}' if cell else ''}",
            f"{finding['severity']} {finding['code']} {finding['name']}: {finding['message']}",
            f"because: {finding['because']}",
            *(f"  - row {step['location']['row']}: {step['text']}" for step in finding["trace"]),
        ]
        yield finding["code"], "\n".join(lines)


def fixes(folder: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Each hunk of what fixes change, and what they change elsewhere in the file."""
    for changed in _FILE.split(checked(folder, "--fix", "--diff", "--unsafe-fixes")):
        if changed.startswith("--- "):
            head, *hunks = _HUNK.split(changed)
            for hunk in hunks:
                others = "".join(part for part in hunks if part is not hunk)
                beside = f"\nalso changed in this file:\n{others}" if others else ""
                yield "", f"{folder}\n{head}{hunk}{beside}"


def drawn(
    items: list[tuple[str, str, str]], args: argparse.Namespace
) -> Iterator[tuple[str, str, str]]:
    """Some items in random order, at most so many of one repository and of one rule in it."""
    random.Random(args.seed).shuffle(items)
    seen: Counter[tuple[str, str]] = Counter()
    for repository, code, text in items:
        if seen[repository, ""] >= args.each or code and seen[repository, code] >= args.rule:
            continue
        seen.update({(repository, ""), (repository, code)} if code else {(repository, "")})
        yield repository, code, text


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("findings", "fixes"))
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=6)
    parser.add_argument("--rule", type=int, default=2)
    parser.add_argument("--sample", type=int, default=100)
    args = parser.parse_args()
    found = {"findings": findings, "fixes": fixes}[args.kind]
    items = [(str(folder), *item) for folder in args.folders for item in found(folder)]
    for number, (repository, _, text) in enumerate(list(drawn(items, args))[: args.sample], 1):
        print(f"\n## {number}. {repository}\n{text}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
