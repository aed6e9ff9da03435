"""`tfnanlint baseline`: make and keep the list of known findings."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from tfnanlint.cli.examination import examined
from tfnanlint.cli.flags import linter_of
from tfnanlint.cli.outcome import CLEAN, FOUND, fail
from tfnanlint.cli.terminal import Progress
from tfnanlint.config.revision import WorkTree
from tfnanlint.files.discover import discover, project_root, read
from tfnanlint.files.write import in_version_control
from tfnanlint.pipeline.baseline import NEVER, Baseline
from tfnanlint.pipeline.check import Checked, unread
from tfnanlint.pipeline.linter import Linter
from tfnanlint.report import escape

DEFAULT = "tfnanlint-baseline.json"


def run(arguments: argparse.Namespace) -> int:
    """Carry out `tfnanlint baseline`. Exit code 1 when a file could not be checked."""
    if "-" in arguments.paths:
        arguments.parser.error("a baseline is made of files, not of standard input")
    linter = linter_of(arguments)
    path = linter.configuration.for_directory(os.getcwd()).baseline or os.path.abspath(DEFAULT)
    known = WorkTree().read(path)
    exists = known is not None
    refusal = _refusal(path, known) if arguments.baseline is None else ""
    if refusal:
        return fail(
            f"{path}: the configuration names {refusal}; "
            f"to write it, name it yourself: --baseline {path}"
        )
    if arguments.action == "create" and exists and not arguments.force:
        return fail(
            f"{path} exists; `tfnanlint baseline update` brings it up to date, --force replaces it"
        )
    baseline = Baseline(path) if arguments.action == "create" else Baseline.read(path, WorkTree())
    came = gone = 0
    unchecked = []
    for checked in _checked(linter, arguments):
        more, less = baseline.take(checked, add=arguments.action != "prune")
        came, gone = came + more, gone + less
        unchecked += [
            f"{checked.path}: {one.message}" for one in checked.findings if one.code in NEVER
        ]
    gone += baseline.drop_missing()
    _write(path, baseline)
    for line in unchecked:
        print(f"warning: not in the baseline: {escape(line)}", file=sys.stderr)
    if not arguments.quiet:
        print(
            f"{escape(os.path.relpath(path))}: "
            f"{baseline.count} known finding{'' if baseline.count == 1 else 's'} "
            f"({came} new, {gone} gone)."
        )
    return FOUND if unchecked else CLEAN


def _checked(linter: Linter, arguments: argparse.Namespace) -> Iterator[Checked]:
    """Every file, also those without a finding: what was known in them is gone."""
    discovered = discover(arguments.paths or ["."], linter.configuration)
    for path, reason in discovered.failures:
        yield unread(path, reason)
    with Progress(len(discovered.files), arguments.quiet) as progress:
        seen = set()
        for outcome in examined(linter, arguments, discovered.files, False, progress):
            seen.add(outcome.checked.path)
            yield outcome.checked
    from tfnanlint.syntax.source import Source

    yield from (Checked(Source(path, "")) for path in discovered.files if path not in seen)


def _refusal(path: str, known: bytes | None) -> str:
    """Why a baseline is not written to a path only because the configuration names it; empty where
    it is. `known` is what stands there.
    """
    root = os.path.realpath(project_root(DEFAULT))
    if not _is_inside(path, root):
        return "a baseline outside of the project"
    if in_version_control(os.path.relpath(os.path.realpath(path), root)):
        return "a file of the version control"
    is_baseline = not known or known.lstrip().startswith(b"{")
    return "" if is_baseline else "a file that is no baseline"


def _is_inside(path: str, root: str) -> bool:
    """Whether a path lies in a folder, once links are followed."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real.startswith(top.rstrip(os.sep) + os.sep)


def _write(path: str, baseline: Baseline) -> None:
    """Put the baseline in its place, whole or not at all."""
    from tfnanlint.config.keys import ConfigError
    from tfnanlint.files import write as writing

    new = baseline.text().encode()
    try:
        if os.path.exists(path):
            writing.write(path, read(path, 64 << 20), new, os.path.dirname(path))
        else:
            writing.create(path, new)
    except writing.Refused as refusal:
        raise ConfigError(f"{path}: not written: {refusal}") from None
