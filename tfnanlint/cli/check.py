"""`tfnanlint check`: find, fix, report."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TextIO

from tfnanlint import notices
from tfnanlint.checking import Checked, relevant, size_limit, unread
from tfnanlint.cli.flags import layer_of
from tfnanlint.cli.outcome import CLEAN, FAILED, FOUND
from tfnanlint.cli.patch import write_patch
from tfnanlint.cli.terminal import paint
from tfnanlint.config import ConfigError, Configuration
from tfnanlint.discover import Discovery, Unread, discover, excluded, project_root, read
from tfnanlint.linter import Fixed, Linter
from tfnanlint.report import PEOPLE, Tally, escape, fixes_shown, statistics, summary
from tfnanlint.report.outputs import Output, Wanted, opened, wanted


@dataclass(slots=True)
class _Run:
    """One `tfnanlint check`: what was asked, and what has happened so far."""

    arguments: argparse.Namespace
    linter: Linter
    wanted: tuple[Wanted, ...]
    tally: Tally = field(default_factory=Tally)
    failed: bool = False
    would_change: bool = False

    @property
    def configuration(self) -> Configuration:
        return self.linter.configuration

    @property
    def fixing(self) -> bool:
        return self.arguments.fix or self.arguments.diff

    def warn(self, text: str) -> None:
        if not self.arguments.quiet:
            print(f"warning: {escape(text)}", file=sys.stderr)


def run(arguments: argparse.Namespace) -> int:
    """Carry out `tfnanlint check`."""
    configuration = Configuration(layer_of(arguments), arguments.config or (), arguments.isolated)
    run = _Run(arguments, Linter(configuration), _wanted(arguments))
    if configuration.for_directory(os.getcwd()).selects:
        run.linter.policy("-")  # A rule that does not exist is said even when no file needs the rules.
    if arguments.paths == ["-"] or (arguments.stdin_filename and not arguments.paths):
        return _check_stdin(run)
    found = discover(arguments.paths or ["."], configuration)
    for note in found.notes:
        run.warn(note)
    if not found.files and not found.failures:
        run.warn("no Python files found under the given paths")
    _report(run, _checked_files(run, found), sys.stdout)
    return _exit_code(run)


def _check_stdin(run: _Run) -> int:
    arguments = run.arguments
    name = arguments.stdin_filename or "-"
    data = sys.stdin.buffer.read()
    if arguments.stdin_filename and excluded(name, run.configuration):
        if arguments.fix and not arguments.diff:
            sys.stdout.buffer.write(data)
        return CLEAN
    limit = size_limit(name, run.configuration.for_file(os.path.abspath(name)).max_file_size)
    if len(data) > limit and relevant(data):
        outcome = Fixed(unread(name, "standard input is larger than `max-file-size`"), data, data)
    else:
        outcome = _outcome(run, name, data)
    _account(run, outcome)
    if arguments.fix and not arguments.diff:
        sys.stdout.buffer.write(outcome.after)
        sys.stdout.buffer.flush()
    # Where standard output carries the source, the findings go beside it.
    _report(run, iter([outcome.checked]), sys.stderr if run.fixing else sys.stdout)
    return _exit_code(run)


def _checked_files(run: _Run, found: Discovery) -> Iterator[Checked]:
    for path, reason in found.failures:
        yield unread(path, reason)
    for path in found.files:
        try:
            data = read(path, run.configuration.for_file(os.path.abspath(path)).max_file_size)
        except Unread as error:
            yield unread(path, str(error))
            continue
        if relevant(data):
            yield _file(run, path, data)


def _file(run: _Run, path: str, data: bytes) -> Checked:
    outcome = _outcome(run, path, data)
    if outcome.changed and not run.arguments.diff:
        from tfnanlint import fixing

        try:
            fixing.write(path, data, outcome.after, project_root(path))
        except fixing.Refused as refusal:
            print(f"error: {escape(path)}: not written: {escape(str(refusal))}", file=sys.stderr)
            return run.linter.check(path, data)
    _account(run, outcome)
    return outcome.checked


def _outcome(run: _Run, path: str, data: bytes) -> Fixed:
    return run.linter.fix(path, data) if run.fixing else Fixed(run.linter.check(path, data), data, data)


def _account(run: _Run, outcome: Fixed) -> None:
    """Say and count what fixing a file did."""
    path = outcome.checked.path
    for problem in outcome.problems:
        run.warn(f"{path}: {problem}")
    run.tally.add_fixed(path, outcome.applied)
    if run.arguments.diff and outcome.changed:
        run.would_change = True
        write_patch(path, outcome.before, outcome.after)


def _wanted(arguments: argparse.Namespace) -> tuple[Wanted, ...]:
    """The formats that were asked for. Raises `ConfigError` where they cannot say what was asked for."""
    found = wanted(arguments.output_format, arguments.output_file, os.environ)
    if arguments.diff and any(one.path for one in found):
        raise ConfigError("--diff prints a patch and writes no report: leave out the output file")
    if arguments.statistics and not {one.name for one in found} <= {*PEOPLE, "json"}:
        raise ConfigError(f"--statistics is printed as {', '.join(PEOPLE)} or json")
    return found


def _report(run: _Run, files: Iterator[Checked], stream: TextIO) -> None:
    arguments, tally = run.arguments, run.tally
    listing = not arguments.statistics and not arguments.diff
    with opened(run.wanted, stream, paint(stream)) as outputs:
        if listing:
            outputs.start()
        for checked in files:
            tally.add(checked)
            run.failed |= any(finding.code == notices.INTERNAL.code for finding in checked.findings)
            if listing:
                outputs.file(checked)
        if listing:
            outputs.end()
        if arguments.diff:
            _diff_summary(run)
            return
        for one in outputs.each:
            one.write(_closing(run, one))


def _closing(run: _Run, output: Output) -> str:
    """What follows the findings, or stands in their place."""
    arguments, tally = run.arguments, run.tally
    if arguments.statistics and not output.for_people:
        return _statistics(tally)
    text = statistics(tally, output.paint) if arguments.statistics else ""
    if arguments.quiet or not output.for_people:
        return text
    if arguments.show_fixes and tally.applied:
        text += fixes_shown(tally)
    return text if arguments.statistics else text + summary(tally, output.paint, bool(arguments.fix))


def _statistics(tally: Tally) -> str:
    import json

    rows = [
        {"code": code, "name": slug, "count": count, "fixable": tally.fixable[code] > 0}
        for (code, slug), count in tally.codes.most_common()
    ]
    return json.dumps(rows, indent=2) + "\n"


def _diff_summary(run: _Run) -> None:
    if run.arguments.quiet:
        return
    count = run.tally.applied
    if count:
        print(f"Would fix {count} error{'' if count == 1 else 's'}.", file=sys.stderr)
    else:
        print("No errors would be fixed.", file=sys.stderr)


def _exit_code(run: _Run) -> int:
    if run.failed:
        return FAILED
    if run.arguments.diff:
        return FOUND if run.would_change and not run.arguments.exit_zero else CLEAN
    fixed = run.arguments.exit_non_zero_on_fix and run.tally.applied
    return FOUND if (run.tally.remaining or fixed) and not run.arguments.exit_zero else CLEAN
