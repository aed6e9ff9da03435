"""`tfnanlint prove`: execute what findings are about, and show the input that breaks it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tfnanlint.cli.flags import linter_of
from tfnanlint.cli.outcome import CLEAN, FAILED, FOUND, fail
from tfnanlint.cli.terminal import columns, paint
from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.verdicts import Proof
from tfnanlint.files.discover import discover
from tfnanlint.pipeline.check import Checked
from tfnanlint.pipeline.linter import Linter
from tfnanlint.prove.host import Unavailable
from tfnanlint.prove.run import Prover
from tfnanlint.report import WIDTH, View, escape
from tfnanlint.report.closing import counted, leaves_unread
from tfnanlint.report.concise import header
from tfnanlint.report.outputs import Outputs, Wanted, opened
from tfnanlint.report.wrap import wrapped
from tfnanlint.syntax.recovery import PartialSource

_LINE = re.compile(r"(?P<path>.+):(?P<row>\d+)")


def run(arguments: argparse.Namespace) -> int:
    """Carry out `tfnanlint prove`: 1 where a finding was proved, 0 where none was, 2 where it could
    not be tried.
    """
    rows, paths = targets(arguments.paths)
    missing = [path for path in paths if not os.path.lexists(path)]
    if missing:
        return fail(f"no such file or directory: {missing[0]}")
    linter = linter_of(arguments)
    modes = linter.configuration.for_directory(os.getcwd()).setup.modes
    counts: Counter[Proof] = Counter()
    unread = False
    try:
        sampled = arguments.output_format.startswith("html")
        with _shown(arguments) as shown, Prover(arguments.budget, modes, sampled) as prover:
            files = _judged(linter, prover, paths or ["."], rows)
            for checked in files:
                counts.update(one.verdict.proof for one in checked.findings if one.verdict)
                unread |= any(_is_unread(finding, checked) for finding in checked.findings)
                shown.file(checked)
            shown.end(counts, prover.started)
    except Unavailable as error:
        return fail(str(error))
    finally:
        linter.close()
    if counts[Proof.PROVED]:
        return FOUND
    return FAILED if unread else CLEAN


def targets(words: Sequence[str]) -> tuple[dict[str, set[int]], list[str]]:
    """The rows that are asked for, by absolute path, and the paths. Of a file that is also asked
    for as a whole, or with its folder, there are no rows.
    """
    rows: dict[str, set[int]] = {}
    paths: list[str] = []
    whole: list[str] = []
    for word in words:
        match = None if os.path.lexists(word) else _LINE.fullmatch(word)
        if match is not None:
            rows.setdefault(os.path.abspath(match["path"]), set()).add(int(match["row"]))
        else:
            whole.append(os.path.abspath(word))
        paths.append(word if match is None else match["path"])
    left = {
        path: wanted
        for path, wanted in rows.items()
        if not any(Path(path).is_relative_to(each) for each in whole)
    }
    return left, list(dict.fromkeys(paths))


def _judged(
    linter: Linter, prover: Prover, paths: Sequence[str], rows: dict[str, set[int]]
) -> Iterator[Checked]:
    for path in discover(list(paths), linter.configuration).files:
        outcome = linter.file(path)
        if outcome is None:
            continue
        checked = outcome.checked
        wanted = rows.get(os.path.abspath(path))
        if wanted:
            checked = _on_rows(checked, wanted)
        yield prover.judged(checked)


def _on_rows(checked: Checked, rows: set[int]) -> Checked:
    """A file with its findings on some rows, and what says that it was not read. Says on standard
    error where there are none, and where else there are.
    """
    kept = tuple(
        one for one in checked.findings if _on(one, checked, rows) or _is_unread(one, checked)
    )
    if not kept:
        known = {checked.source.location(one.span.start).row for one in checked.findings}
        elsewhere = f"; there are findings on line {_listed(known)}" if known else ""
        print(
            f"{escape(checked.path)}: no finding on line {_listed(rows)}{elsewhere}",
            file=sys.stderr,
        )
    return replace(checked, findings=kept)


def _is_unread(finding: Finding, checked: Checked) -> bool:
    """Whether a notice says that a file was not checked, or a function of it with a syntax error
    was not: what is asked for may stand there.
    """
    in_part = isinstance(checked.source, PartialSource)
    return (
        leaves_unread(finding, checked) or in_part and finding.code == notices.INVALID_SYNTAX.code
    )


def _listed(rows: set[int]) -> str:
    return ", ".join(map(str, sorted(rows)))


def _on(finding: Finding, checked: Checked, rows: set[int]) -> bool:
    """Whether a finding touches one of some rows."""
    source = checked.source
    first = source.location(finding.span.start).row
    last = source.location(max(finding.span.start, finding.span.end)).row
    return any(first <= row <= last for row in rows)


@contextmanager
def _shown(arguments: argparse.Namespace) -> Iterator[_People | _Json | _Page]:
    """What shows the findings in the format that was asked for."""
    name, _, path = arguments.output_format.partition("=")
    if name == "json":
        yield _Json()
    elif name == "html":
        view = View(paint(sys.stdout, arguments.color))
        with opened([Wanted(name, path or None)], sys.stdout, view) as outputs:
            yield _Page(outputs)
    else:
        yield _People(arguments)


class _People:
    """Findings with their verdicts and witnesses, for people."""

    def __init__(self, arguments: argparse.Namespace):
        self._view = View(paint(sys.stdout, arguments.color), columns(sys.stdout, WIDTH))
        self._in_full = arguments.output_format == "full"

    def file(self, checked: Checked) -> None:
        for finding in checked.findings:
            print("\n".join(self._told(finding, checked)))
            sys.stdout.flush()

    def _told(self, finding: Finding, checked: Checked) -> Iterator[str]:
        verdict = finding.verdict
        yield from header(finding, checked, self._view)
        if verdict is None:  # of a notice
            return
        yield from self._item("", verdict.words)
        witness = verdict.witness
        if witness is None:
            return
        yield from self._item("fix: ", verdict.fix)
        for each in witness.inputs:
            if each.cut:
                yield from self._item("taken as an input: ", f"{each.said} (given by {each.cut})")
        if self._in_full:
            yield from self._item("witness: ", "paste this into Python")
            yield ""
            yield from ("    " + line if line else "" for line in witness.program.splitlines())
            yield ""

    def _item(self, label: str, text: str) -> list[str]:
        return wrapped(escape(text), self._view.width, f"  {label}", "      ")

    def end(self, counts: Counter[Proof], started: float) -> None:
        _say_counts(counts, started)


def _say_counts(counts: Counter[Proof], started: float) -> None:
    total = sum(counts.values())
    if not total:
        print("No findings to prove.", file=sys.stderr)
        return
    parts = ", ".join(f"{counts[proof]} {proof.value}" for proof in Proof)
    print(
        f"{counted(total, 'finding')}: {parts}. TensorFlow was loaded in {started:.1f} s.",
        file=sys.stderr,
    )


class _Page:
    """The same as a page for a browser, with figures."""

    def __init__(self, outputs: Outputs):
        self._outputs = outputs
        outputs.start()

    def file(self, checked: Checked) -> None:
        self._outputs.file(checked)

    def end(self, counts: Counter[Proof], started: float) -> None:
        self._outputs.end()
        _say_counts(counts, started)


class _Json:
    """The same as one list of objects."""

    def __init__(self) -> None:
        self._rows: list[object] = []

    def file(self, checked: Checked) -> None:
        from tfnanlint.report.json import described

        self._rows += described(checked)

    def end(self, counts: Counter[Proof], started: float) -> None:
        from tfnanlint.report.wellformed import json_text

        print(json_text(self._rows, indent=2))
