#!/usr/bin/env python3
"""Whether two versions of tfnanlint find the same: equal.py DIR... [--write FILE] [--against FILE]

Checks each Python file of the folders and of `fixtures/` twice: at the default settings, and with
`--certainty unknown`. Of each finding it takes code, grade, message, range, span, trace, modes,
help and fixes. It prints one hash for all files.

`--write FILE` keeps a record with one hash a file. `--against FILE` compares with such a record,
prints the findings that differ (`-`: in the record only, `+`: now only), and ends with 1 if there
are any. `--sample N` takes N files of the folders, the same ones each time; a sample can be
compared with the record of all files. `--jobs N` processes do the work. The record depends on the
place of the folders, not on that of the checkout.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import hashlib
import json
import multiprocessing
import pathlib
import random
import sys
import warnings
from dataclasses import dataclass

from tfnanlint.config.layers import Configuration, Layer, Policy
from tfnanlint.dev.repository import ROOT
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.pipeline.check import Checked, check
from tfnanlint.rule import registry as rules

GRADES = ("default", "unknown")
MAX_SHOWN = 40  # lines of differences that are printed

Record = dict[str, dict[str, list[str]]]  # by file and grade: one line a finding


@dataclass(frozen=True, slots=True)
class Job:
    """A file, and the name under which it is recorded."""

    name: str
    path: str


def jobs_of(folders: list[pathlib.Path], sample: int) -> list[Job]:
    """The files of the folders (`sample` of them, or all for 0) and all files of `fixtures/`."""
    paths = [path for folder in folders for path in sorted(folder.resolve().rglob("*.py"))]
    if sample:
        paths = sorted(random.Random(0).sample(paths, min(sample, len(paths))))
    fixtures = sorted((ROOT / "fixtures").rglob("*.py"))
    return [
        *(Job(str(path), str(path)) for path in paths),
        *(Job(str(path.relative_to(ROOT)), str(path)) for path in fixtures),
    ]


def policies() -> dict[str, Policy]:
    """The settings for each of `GRADES`, with all rules and the fixes that move values."""
    layers = {grade: Layer(certainty=grade, unsafe_fixes=True) for grade in GRADES}
    return {
        grade: Configuration(layer, (), True).for_directory(str(ROOT)).policy("", rules.load())
        for grade, layer in layers.items()
    }


def described(finding: Finding, checked: Checked) -> str:
    """All that a report may show of a finding, as one line of JSON. Other files are named
    without the path of the checkout.
    """
    row, column = checked.source.position(finding.span.start)
    fixes = [
        (
            fix.title,
            fix.claim.value,
            fix.cost,
            [(*_ends(edit.span), edit.text) for edit in fix.edits],
        )
        for fix in finding.fixes
    ]
    trace = [
        (step.path.removeprefix(f"{ROOT}/"), step.row, *_ends(step.span), step.text)
        for step in finding.trace
    ]
    return json.dumps(
        (
            f"{row}:{column}",
            finding.code,
            finding.certainty.name,
            finding.differentiated.value,
            finding.message,
            finding.range,
            _ends(finding.span),
            finding.modes,
            finding.fixed_in,
            finding.doubtful,
            finding.help,
            finding.no_fix,
            fixes,
            trace,
        )
    )


def _ends(span) -> tuple[int, int]:
    return span.start, span.end


def findings(path: str) -> dict[str, list[str]]:
    """The findings in a file by grade, and what was counted but not shown."""
    data = pathlib.Path(path).read_bytes()
    found = {}
    for grade, policy in _policies.items():
        checked = check(path, data, policy)
        lines = [described(finding, checked) for finding in checked.findings]
        found[grade] = (
            [*lines, json.dumps((checked.hidden, checked.unsure, checked.cut_short))]
            if lines or checked.unsure
            else []
        )
    return found


_policies: dict[str, Policy] = {}


def _start() -> None:
    """Make ready a process that checks files."""
    warnings.simplefilter("ignore")
    gc.disable()  # as the command line does
    _policies.update(policies())


def measured(jobs: list[Job], processes: int) -> Record:
    with multiprocessing.get_context("fork").Pool(processes, _start) as pool:
        return dict(
            zip(
                [job.name for job in jobs],
                pool.map(findings, [job.path for job in jobs], chunksize=24),
            )
        )


def digest(found: object) -> str:
    return hashlib.blake2b(json.dumps(found, sort_keys=True).encode(), digest_size=10).hexdigest()


def differences(before: Record, after: Record) -> list[str]:
    """The findings of each file of `after` that are not those of `before`, one line each below
    the name of the file.
    """
    lines = []
    for name, now in after.items():
        then = before.get(name)
        if then == now:
            continue
        lines.append(name + (" (not in the record)" if then is None else ""))
        for grade in GRADES:
            old, new = (then or {}).get(grade, []), now[grade]
            lines += [f"  - {grade} {line}" for line in old if line not in new] + [
                f"  + {grade} {line}" for line in new if line not in old
            ]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=pathlib.Path, nargs="*")
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    after = measured(jobs_of(args.directory, args.sample), args.jobs)
    counts = {grade: sum(len(found[grade]) for found in after.values()) for grade in GRADES}
    shown = f"{counts['default']} lines at default settings, {counts['unknown']} with unknown"
    print(f"{len(after)} files, {shown}: {digest(after)}")
    if args.write:
        args.write.write_bytes(
            gzip.compress(
                json.dumps(
                    {
                        "hashes": {name: digest(found) for name, found in after.items()},
                        "findings": after,
                    }
                ).encode(),
                mtime=0,
            )
        )
    if not args.against:
        return 0
    before = json.loads(gzip.decompress(args.against.read_bytes()))["findings"]
    lines = differences(before, after)
    files = sum(not line.startswith("  ") for line in lines)
    print(*lines[:MAX_SHOWN], f"{files} of {len(after)} files differ", sep="\n")
    return 1 if files else 0


if __name__ == "__main__":
    sys.exit(main())
