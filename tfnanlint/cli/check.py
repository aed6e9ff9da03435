"""`tfnanlint check`: find, fix, report."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TextIO

from tfnanlint.cli.examination import examined
from tfnanlint.cli.flags import linter_of
from tfnanlint.cli.outcome import CLEAN, FAILED, FOUND, fail
from tfnanlint.cli.patch import write_patch
from tfnanlint.cli.terminal import Progress, columns, paint
from tfnanlint.config.layers import ConfigError
from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Certainty, Finding
from tfnanlint.files.discover import Discovery, discover, excluded, project_root
from tfnanlint.files.kinds import NOTEBOOK, relevant, size_limit
from tfnanlint.pipeline.check import Checked, unread
from tfnanlint.pipeline.linter import Fixed, Linter
from tfnanlint.report import PEOPLE, WIDTH, View, escape
from tfnanlint.report.closing import (
    Tally,
    counted,
    fixes_shown,
    found,
    next_question,
    pointer,
    set_aside,
    statistics,
    summary,
)
from tfnanlint.report.outputs import Output, Wanted, opened, wanted
from tfnanlint.report.verdicts import is_shown
from tfnanlint.report.wrap import fitted

if TYPE_CHECKING:
    from tfnanlint.prove.run import Prover


_SOURCES = (".py", ".pyw", NOTEBOOK, ".toml")  # what a report is not written over


@dataclass(slots=True)
class _Run:
    """One `tfnanlint check`: what was asked, and what has happened so far."""

    arguments: argparse.Namespace
    linter: Linter
    wanted: tuple[Wanted, ...]
    tally: Tally = field(default_factory=Tally)
    failed: bool = False
    would_change: bool = False
    progress: Progress | None = None
    prover: Prover | None = None

    def proved(self, checked: Checked) -> Checked:
        """A file with what executing its findings has shown, if that was asked for."""
        if self.prover is None or not checked.findings:
            return checked
        if self.progress is not None:
            self.progress.clear()
        judged = self.prover.judged(checked)
        if not self.arguments.only_proved:
            return judged
        kept = [one for one in judged.findings if is_shown(one)]
        self.tally.unproved += len(judged.findings) - len(kept)
        return replace(judged, findings=tuple(kept))

    @property
    def fixing(self) -> bool:
        return self.arguments.fix or self.arguments.diff

    def warn(self, text: str) -> None:
        if not self.arguments.quiet:
            self.say(f"warning: {escape(text)}")

    def say(self, text: str) -> None:
        if self.progress is not None:
            self.progress.clear()
        print(text, file=sys.stderr)

    def written(self, paths: Sequence[str]) -> Iterator[Fixed]:
        """The outcome of each file after its fixes or comments were written."""
        for path in paths:
            reason = self.arguments.add_ignore
            outcome = (
                self.linter.file(path, fixing=True)
                if reason is None
                else self.linter.annotated(path, reason)
            )
            if self.progress is not None:
                self.progress.step()
            if outcome is None:
                continue
            if outcome.changed:
                outcome = self._write(path, outcome)
            yield outcome

    def _write(self, path: str, outcome: Fixed) -> Fixed:
        from tfnanlint.pipeline import fix as fixing
        from tfnanlint.project import index as project

        try:
            fixing.write(path, outcome.before, outcome.after, project_root(path))
        except fixing.Refused as refusal:
            self.say(f"error: {escape(path)}: not written: {escape(str(refusal))}")
            return Fixed(self.linter.check(path, outcome.before), outcome.before, outcome.before)
        project.written(os.path.abspath(path))
        return outcome


def run(arguments: argparse.Namespace) -> int:
    """Carry out `tfnanlint check`."""
    arguments.fix |= arguments.fix_only
    _refuse_contradictions(arguments)
    if arguments.watch:
        from tfnanlint.cli.watch import watch

        return watch(arguments)
    stdin = _reads_stdin(arguments)
    arguments.no_cache |= stdin  # it is most often what an editor holds, and seldom the same twice
    linter = linter_of(arguments)
    run = _Run(arguments, linter, _wanted(arguments))
    run.tally.fail_on = Certainty[(arguments.fail_on or "may").upper()]
    # A rule that does not exist is said even when no file needs the rules.
    linter.verify(os.getcwd())
    if not (arguments.prove or arguments.only_proved):
        return _checked_paths(run, stdin)
    from tfnanlint.prove.host import Unavailable
    from tfnanlint.prove.run import Prover

    modes = linter.configuration.for_directory(os.getcwd()).setup.modes
    try:
        sampled = any(one.name == "html" for one in run.wanted)
        with Prover(arguments.budget, modes, sampled) as run.prover:
            linter.execute = run.prover.verdict_of_fix
            if run.fixing:
                arguments.jobs = 1  # the process that executes is here
            return _checked_paths(run, stdin)
    except Unavailable as error:
        return fail(str(error))


def _checked_paths(run: _Run, stdin: bool) -> int:
    """The exit code of a run over standard input, or over the files that are named."""
    if stdin:
        return _check_stdin(run)
    arguments, linter = run.arguments, run.linter
    files = discover(arguments.paths or ["."], linter.configuration)
    _refuse_to_overwrite(run.wanted, files.files)
    for note in files.notes:
        run.warn(note)
    run.tally.files = len(files.files)
    run.failed = any(not os.path.lexists(path) for path, _ in files.failures)
    if not files.files and not files.failures:
        run.warn("no Python files or notebooks found under the given paths")
    try:
        _report(run, _checked_files(run, files), sys.stdout)
    finally:
        linter.close()
    if linter.unkept:
        run.warn(f"results are not cached: {linter.unkept} (disable the cache with --no-cache)")
    return _exit_code(run)


def _reads_stdin(arguments: argparse.Namespace) -> bool:
    return arguments.paths == ["-"] or bool(arguments.stdin_filename and not arguments.paths)


def _refuse_contradictions(arguments: argparse.Namespace) -> None:
    refuse = arguments.parser.error
    if "-" in arguments.paths and len(arguments.paths) > 1:
        refuse(
            "- is standard input and cannot be checked together with files "
            "(a file of that name is ./-)"
        )
    stdin = _reads_stdin(arguments)
    if arguments.add_ignore is not None:
        from tfnanlint.suppression.writer import checked_reason

        arguments.add_ignore = checked_reason(arguments.add_ignore)
        if arguments.fix or arguments.diff:
            refuse("--add-ignore cannot be used together with --fix or --diff")
        if stdin:
            refuse("--add-ignore needs files")
    if arguments.watch and (arguments.prove or arguments.only_proved):
        refuse("--watch cannot be used together with --prove or --only-proved")
    if arguments.watch and stdin:
        refuse("--watch needs files or directories")
    if arguments.watch and (arguments.fix or arguments.add_ignore is not None):
        refuse("--watch writes nothing: it cannot be used together with --fix or --add-ignore")


def _check_stdin(run: _Run) -> int:
    arguments, linter = run.arguments, run.linter
    name = arguments.stdin_filename or "-"
    _refuse_to_overwrite(run.wanted, [name])
    data = sys.stdin.buffer.read()
    run.tally.files = 1
    if arguments.stdin_filename and excluded(name, linter.configuration):
        if arguments.fix and not arguments.diff:
            sys.stdout.buffer.write(data)
        return CLEAN
    limit = size_limit(name, linter.configuration.for_file(os.path.abspath(name)).max_file_size)
    if len(data) > limit and relevant(data):
        outcome = Fixed(unread(name, "standard input is larger than `max-file-size`"), data, data)
    else:
        outcome = (
            linter.fix(name, data) if run.fixing else Fixed(linter.check(name, data), data, data)
        )
    _account(run, outcome)
    if arguments.fix and not arguments.diff:
        sys.stdout.buffer.write(outcome.after)
        sys.stdout.buffer.flush()
    # Where standard output carries the source, the findings go beside it.
    shown = iter([run.proved(outcome.checked)])
    _report(run, shown, sys.stderr if run.fixing else sys.stdout)
    return _exit_code(run)


def _checked_files(run: _Run, files: Discovery) -> Iterator[Checked]:
    for path, reason in files.failures:
        yield unread(path, reason)
    writing = run.arguments.add_ignore is not None or (run.arguments.fix and not run.arguments.diff)
    with Progress(len(files.files), run.arguments.quiet) as progress:
        run.progress = progress
        # What is written to one file can change what is found in the next, so that writing has an
        # order.
        outcomes = (
            run.written(files.files)
            if writing
            else examined(run.linter, run.arguments, files.files, run.fixing, progress)
        )
        for outcome in outcomes:
            _account(run, outcome)
            yield run.proved(outcome.checked)


def _account(run: _Run, outcome: Fixed) -> None:
    """Say and count what fixing a file did."""
    path = outcome.checked.path
    for problem in outcome.problems:
        run.warn(f"{path}: {problem}")
    for finding in outcome.applied:
        if finding.verdict is not None and not run.arguments.quiet:
            done = "would fix" if run.arguments.diff else "fixed"
            run.say(escape(f"{path}: {done} {finding.code} {finding.slug}: {_tried(finding)}"))
    run.tally.add_fixed(path, outcome.applied)
    if run.arguments.diff and outcome.changed:
        run.would_change = True
        colours = paint(sys.stdout, run.arguments.color)
        write_patch(path, outcome.before, outcome.after, colours)


def _tried(finding: Finding) -> str:
    """What executing a finding and its fix has shown, in words."""
    verdict = finding.verdict
    assert verdict is not None
    return verdict.fix if verdict.mended else f"{verdict.words}; {verdict.fix}"


def _wanted(arguments: argparse.Namespace) -> tuple[Wanted, ...]:
    """The formats that were asked for. Raises `ConfigError` where they cannot say what was asked
    for.
    """
    formats = wanted(arguments.output_format, arguments.output_file, os.environ)
    if arguments.diff and any(one.path for one in formats):
        raise ConfigError("--diff prints a patch and writes no report: leave out the output file")
    if arguments.statistics and not {one.name for one in formats} <= {*PEOPLE, "json"}:
        raise ConfigError(f"--statistics is printed as {', '.join(PEOPLE)} or json")
    return formats


def _view(run: _Run, stream: TextIO) -> View:
    """How findings are laid out on a stream."""
    certainty = run.linter.configuration.for_directory(os.getcwd()).certainty
    return View(
        paint(stream, run.arguments.color),
        width=columns(stream, WIDTH),
        verbose=run.arguments.verbose,
        every_note=certainty is Certainty.UNKNOWN,
    )


def _refuse_to_overwrite(wants: Sequence[Wanted], files: Sequence[str]) -> None:
    """Raise `ConfigError` where a report would be written over a file that is checked, or over one
    that by its name is code or configuration.
    """
    targets = {
        _identity(one.path): one.path
        for one in wants
        if one.path is not None and os.path.lexists(one.path)
    }
    for path in map(_identity, files) if targets else ():
        if path in targets:
            raise ConfigError(
                f"{targets[path]}: a report is not written over a file that is checked"
            )
    for path in targets.values():
        if path.endswith(_SOURCES):
            raise ConfigError(f"{path}: a report is not written over code or configuration")


def _identity(path: str) -> tuple[int, int] | str:
    """What is the same for two names of one file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return path
    return status.st_dev, status.st_ino


def _report(run: _Run, files: Iterator[Checked], stream: TextIO) -> None:
    arguments, tally = run.arguments, run.tally
    listing = not (arguments.statistics or arguments.diff or arguments.fix_only)
    with opened(run.wanted, stream, _view(run, stream)) as outputs:
        if listing:
            outputs.start()
        for checked in files:
            tally.add(checked)
            run.failed |= any(finding.code == notices.INTERNAL.code for finding in checked.findings)
            if listing:
                if checked.findings and run.progress is not None:
                    run.progress.clear()
                outputs.file(checked)
        if listing:
            outputs.end()
        if arguments.diff:
            _diff_summary(run)
        else:
            for output in outputs.each:
                output.write(_closing(run, output, stream.isatty() and output.stream is stream))
        _say_beside(run, any(one.for_people for one in outputs.each) and not arguments.diff)


def _say_beside(run: _Run, said: bool) -> None:
    """What is told on standard error, beside the report; `said` when the report told what was not
    shown.
    """
    tally = run.tally
    if run.arguments.quiet:
        return
    if run.arguments.add_ignore is not None:
        what, where = counted(tally.applied, "finding"), counted(len(tally.fixed), "file")
        print(f"Added comments for {what} in {where}.", file=sys.stderr)
    # A reader of the log of a pipeline is told what the gate was not asked to see.
    if not said and os.environ.get("CI"):
        print(_left_out(run), end="", file=sys.stderr)


def _left_out(run: _Run) -> str:
    """What was not shown, not run and not checked."""
    settings = run.linter.configuration.for_directory(os.getcwd())
    certainty = settings.certainty
    preview = run.linter.in_preview(os.getcwd()) if run.tally.relevant else 0
    return set_aside(run.tally, preview, "" if certainty is None else certainty.name.lower())


def _closing(run: _Run, output: Output, on_a_terminal: bool) -> str:
    """What follows the findings, or stands in their place."""
    arguments, tally = run.arguments, run.tally
    if arguments.statistics and not output.for_people:
        return _statistics(tally)
    table = statistics(tally, output.paint) if arguments.statistics else ""
    if arguments.quiet or not output.for_people:
        return table
    text = fixes_shown(tally) if arguments.show_fixes and tally.applied and arguments.fix else ""
    if not arguments.statistics:
        text += summary(tally, output.paint, bool(arguments.fix))
        text += pointer(tally, arguments.verbose) if output.name == "full" else ""
    text += _left_out(run)
    if on_a_terminal and tally.relevant and not tally.remaining and not tally.applied:
        text += next_question()
    width = columns(output.stream, 0) if output.name == "full" else 0
    return table + (fitted(text, width) if width else text)


def _statistics(tally: Tally) -> str:
    import json

    rows = [
        {"code": code, "name": slug, "count": count, "fixable": tally.fixable[code] > 0}
        for (code, slug), count in tally.codes.most_common()
    ]
    return json.dumps(rows, indent=2) + "\n"


def _diff_summary(run: _Run) -> None:
    """What `--diff` would fix, and what would remain, on standard error."""
    if run.arguments.quiet:
        return
    tally = run.tally
    would = counted(tally.applied, "finding") if tally.applied else "nothing"
    left = f"; {found(tally.severities)} would remain" if tally.remaining else ""
    more = f" ({tally.hidden_fixes} fixable with `--unsafe-fixes`)" if tally.hidden_fixes else ""
    print(f"Would fix {would}{left}{more}.", file=sys.stderr)


def _exit_code(run: _Run) -> int:
    if run.failed:
        return FAILED
    if run.arguments.diff:
        return FOUND if run.would_change and not run.arguments.exit_zero else CLEAN
    failing = 0 if run.arguments.fix_only else run.tally.failing
    fixed = run.arguments.exit_non_zero_on_fix and run.arguments.fix and run.tally.applied
    return FOUND if (failing or fixed) and not run.arguments.exit_zero else CLEAN
