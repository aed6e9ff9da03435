"""The command line: flags, exit codes and streams, after ruff's conventions.

Exit code 0: nothing found, or everything found was fixed. 1: findings remain, or `--diff` has a change to
show. 2: a wrong flag or configuration, or a failure of tfnanlint itself.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tfnanlint import __version__, config, notices
from tfnanlint.check import Checked, check, check_source, relevant, unread
from tfnanlint.config import CERTAINTIES, ConfigError, Configuration, Layer, Policy, Settings
from tfnanlint.discover import Discovery, Unread, discover, excluded, project_root, read
from tfnanlint.findings import Fix
from tfnanlint.report import FORMATS, Paint, Tally, applicable, escape, fixes_shown, open_format, statistics, summary
from tfnanlint.source import Source, Span

CLEAN, FOUND, FAILED = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if argv is None:
        # Trees have no cycles, so in a process of our own the collector only costs time.
        gc.disable()
        gc.freeze()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    try:
        arguments = _parser().parse_args(argv)
        code = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except ConfigError as error:
        return _fail(str(error))
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAN
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        return _fail(f"{error.strerror}: {error.filename}" if error.filename else str(error))


def _fail(text: str) -> int:
    print(f"error: {escape(text)}", file=sys.stderr)
    return FAILED


# ---------------------------------------------------------------------------------------------------------
# Flags


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tfnanlint",
        description="Finds where TensorFlow and Keras code can produce NaN, Inf or a dead gradient, and repairs it.",
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"tfnanlint {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _check_flags(commands.add_parser("check", help="check files or directories", allow_abbrev=False))
    _rule_flags(commands.add_parser("rule", help="explain a rule, or all of them", allow_abbrev=False))
    return parser


def _check_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: .); - reads standard input")
    fixes = parser.add_argument_group("fixes")
    fix = fixes.add_argument
    fix("--fix", action="store_true", help="apply the fixes that keep every finite value")
    fix("--unsafe-fixes", action=argparse.BooleanOptionalAction, default=None, help="also those that move values")
    fix("--diff", action="store_true", help="show what --fix would change, write nothing")
    fix("--show-fixes", action="store_true", help="list what was fixed")
    rules = parser.add_argument_group("rules").add_argument
    rules("--select", action="append", metavar="RULES", help="run only these: codes, prefixes, names, or ALL")
    rules("--ignore", action="append", metavar="RULES", help="do not run these")
    rules("--extend-select", action="append", metavar="RULES", help="run these too")
    rules("--per-file-ignores", action="append", metavar="GLOB:RULE", help="do not run a rule on some files")
    rules("--certainty", choices=CERTAINTIES, help="report findings at least this sure (default: as each rule says)")
    files = parser.add_argument_group("files").add_argument
    files("--exclude", action="append", metavar="GLOBS", help="leave out, instead of the configured exclusions")
    files("--extend-exclude", action="append", metavar="GLOBS", help="leave out these too")
    files("--force-exclude", action="store_true", default=None, help="apply exclusions to files that are named, too")
    files("--respect-gitignore", action=argparse.BooleanOptionalAction, default=None, help="(default: yes)")
    files("--stdin-filename", metavar="NAME", help="what standard input is called")
    output = parser.add_argument_group("output").add_argument
    output("--output-format", choices=FORMATS, default="full", help="(default: %(default)s)")
    output("--statistics", action="store_true", help="count findings by rule instead of listing them")
    output("-e", "--exit-zero", action="store_true", help="exit 0 even when something is found")
    output("--exit-non-zero-on-fix", action="store_true", help="exit 1 when something was fixed")
    output("-q", "--quiet", action="store_true", help="print findings and nothing else")
    settings = parser.add_argument_group("configuration").add_argument
    settings("--config", action="append", metavar="FILE|TOML", help="a file, or settings such as 'certainty = \"may\"'")
    settings("--isolated", action="store_true", help="read no configuration file")
    parser.set_defaults(run=_run_check)


def _rule_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", nargs="?", metavar="CODE", help="a code such as TFN101, or a name such as log-softmax")
    parser.add_argument("--all", action="store_true", help="explain every rule")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    parser.set_defaults(run=_run_rule, parser=parser)


def _flag_layer(arguments: argparse.Namespace) -> Layer:
    def split(values: list[str] | None) -> tuple[str, ...]:
        return tuple(part.strip() for value in values or () for part in value.split(",") if part.strip())

    per_file: dict[str, tuple[str, ...]] = {}
    for entry in split(arguments.per_file_ignores):
        pattern, colon, code = entry.rpartition(":")
        if not colon:
            raise ConfigError(f"--per-file-ignores: `{entry}` is not of the form GLOB:RULE")
        per_file[pattern] = (*per_file.get(pattern, ()), code)
    return Layer(
        origin="command line",
        root=os.getcwd(),
        select=None if arguments.select is None else split(arguments.select),
        extend_select=split(arguments.extend_select),
        ignore=split(arguments.ignore),
        per_file_ignores=per_file or None,
        exclude=None if arguments.exclude is None else split(arguments.exclude),
        extend_exclude=split(arguments.extend_exclude),
        certainty=arguments.certainty,
        unsafe_fixes=arguments.unsafe_fixes,
        force_exclude=arguments.force_exclude,
        respect_gitignore=arguments.respect_gitignore,
    )


def _paint(stream) -> Paint:
    if os.environ.get("NO_COLOR"):
        return Paint(False)
    if os.environ.get("FORCE_COLOR", "0") != "0" or os.environ.get("CLICOLOR_FORCE", "0") != "0":
        return Paint(True)
    return Paint(stream.isatty() and os.environ.get("TERM") != "dumb")


# ---------------------------------------------------------------------------------------------------------
# tfnanlint check


@dataclass(slots=True)
class _Run:
    """One `tfnanlint check`: what was asked, and what has happened so far."""

    arguments: argparse.Namespace
    configuration: Configuration
    tally: Tally
    rules: tuple[config.Rule, ...] | None = None
    failed: bool = False
    would_change: bool = False

    def warn(self, text: str) -> None:
        if not self.arguments.quiet:
            print(f"warning: {escape(text)}", file=sys.stderr)

    def policy(self, path: str, settings: Settings) -> Policy:
        if self.rules is None:
            self.rules = _rules()
        return settings.policy(os.path.abspath(path), self.rules)


def _rules() -> tuple[config.Rule, ...]:
    from tfnanlint import rules

    try:
        return rules.load()
    except Exception as error:  # Checking without the rules that were asked for would pass for a clean result.
        raise ConfigError(f"the rules cannot be loaded: {type(error).__name__}: {error}") from error


def _run_check(arguments: argparse.Namespace) -> int:
    flags = _flag_layer(arguments)
    configuration = Configuration(flags, arguments.config or (), arguments.isolated)
    here = configuration.for_directory(os.getcwd())
    run = _Run(arguments, configuration, Tally())
    if here.selects:
        run.policy("", here)  # A rule that does not exist is said even when no file needs the rules.
    if arguments.paths == ["-"] or (arguments.stdin_filename and not arguments.paths):
        return _check_stdin(run)
    found = discover(arguments.paths or ["."], configuration)
    for note in found.notes:
        run.warn(note)
    if not found.files and not found.failures:
        run.warn("no Python files found under the given paths")
    _report(run, _checked_files(run, found), sys.stdout, bool(arguments.fix))
    return _exit_code(run)


def _check_stdin(run: _Run) -> int:
    arguments = run.arguments
    name = arguments.stdin_filename or "-"
    settings = run.configuration.for_file(os.path.abspath(name))
    data = sys.stdin.buffer.read()
    fixing = arguments.fix or arguments.diff
    if arguments.stdin_filename and excluded(name, run.configuration):
        if fixing and not arguments.diff:
            sys.stdout.buffer.write(data)
        return CLEAN
    if len(data) > settings.max_file_size and relevant(data):
        checked, new = unread(name, "standard input is larger than `max-file-size`"), data
    elif fixing:
        checked, new = _guarded_fix(run, name, data, settings)
    else:
        checked, new = _guarded_check(run, name, data, settings), data
    if arguments.diff:
        _print_diff(run, name, data, new)
    elif arguments.fix:
        sys.stdout.buffer.write(new)
        sys.stdout.buffer.flush()
    # Where standard output carries the source, the findings go beside it.
    _report(run, iter([checked]), sys.stderr if fixing else sys.stdout, bool(arguments.fix))
    return _exit_code(run)


def _checked_files(run: _Run, found: Discovery) -> Iterator[Checked]:
    for path, reason in found.failures:
        yield unread(path, reason)
    for path in found.files:
        settings = run.configuration.for_file(os.path.abspath(path))
        if path.endswith(".ipynb"):
            yield unread(path, "notebooks are not read yet; check the code cells as a script")
            continue
        try:
            data = read(path, settings.max_file_size)
        except Unread as error:
            yield unread(path, str(error))
            continue
        if not relevant(data):
            continue
        yield _file(run, path, data, settings)


def _file(run: _Run, path: str, data: bytes, settings: Settings) -> Checked:
    if not run.arguments.fix and not run.arguments.diff:
        return _guarded_check(run, path, data, settings)
    checked, new = _guarded_fix(run, path, data, settings)
    if new == data:
        return checked
    if run.arguments.diff:
        _print_diff(run, path, data, new)
        return checked
    from tfnanlint import fixing

    try:
        fixing.write(path, data, new, project_root(path))
    except fixing.Refused as refusal:
        print(f"error: {escape(path)}: not written: {escape(str(refusal))}", file=sys.stderr)
        run.tally.fixed.pop(path, None)
        return _guarded_check(run, path, data, settings)
    return checked


def _guarded_check(run: _Run, path: str, data: bytes, settings: Settings) -> Checked:
    policy = run.policy(path, settings)
    try:
        return check(path, data, policy)
    except Exception as error:  # A bug costs one file, never the run.
        return _internal(path, error)


def _guarded_fix(run: _Run, path: str, data: bytes, settings: Settings) -> tuple[Checked, bytes]:
    checked = _guarded_check(run, path, data, settings)
    try:
        return _fixed(run, checked, data, settings)
    except Exception as error:  # As above; the file is left as it is.
        return _internal(path, error), data


def _internal(path: str, error: Exception) -> Checked:
    import traceback

    source = Source(path, "")

    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(last.filename)}:{last.lineno}"
    text = f"the analysis failed: {type(error).__name__}: {error} ({place}); this is a bug of tfnanlint, please report it"
    return Checked(source, (notices.INTERNAL.finding(source, Span(0, 0), text),))


def _report(run: _Run, files: Iterator[Checked], stream, fixing: bool) -> None:
    arguments, tally = run.arguments, run.tally
    paint = _paint(stream)
    listing = not arguments.statistics and not arguments.diff
    shape = open_format(arguments.output_format, paint)
    if listing:
        stream.write(shape.start())
    for checked in files:
        tally.add(checked)
        run.failed |= any(finding.code == notices.INTERNAL.code for finding in checked.findings)
        if listing:
            stream.write(shape.file(checked))
    if listing:
        stream.write(shape.end())
    if arguments.diff:
        _diff_summary(run)
    elif arguments.statistics:
        stream.write(_statistics(run, paint))
    if arguments.diff or arguments.quiet or arguments.output_format == "json":
        return
    if arguments.show_fixes and tally.applied:
        stream.write(fixes_shown(tally))
    if not arguments.statistics:
        stream.write(summary(tally, paint, fixing))


def _statistics(run: _Run, paint: Paint) -> str:
    if run.arguments.output_format != "json":
        return statistics(run.tally, paint)
    import json

    rows = [
        {"code": code, "name": slug, "count": count, "fixable": run.tally.fixable[code] > 0}
        for (code, slug), count in run.tally.codes.most_common()
    ]
    return json.dumps(rows, indent=2) + "\n"


def _exit_code(run: _Run) -> int:
    if run.failed:
        return FAILED
    if run.arguments.diff:
        return FOUND if run.would_change and not run.arguments.exit_zero else CLEAN
    fixed = run.arguments.exit_non_zero_on_fix and run.tally.applied
    return FOUND if (run.tally.remaining or fixed) and not run.arguments.exit_zero else CLEAN


# ---------------------------------------------------------------------------------------------------------
# Fixing


def _fixed(run: _Run, checked: Checked, data: bytes, settings: Settings) -> tuple[Checked, bytes]:
    """The findings that fixing leaves, and the new bytes; the old ones where nothing could be fixed."""
    if not any(applicable(finding, checked.unsafe_fixes) for finding in checked.findings):
        return checked, data
    source, path = checked.source, checked.path
    policy = run.policy(path, settings)

    def allowed(fix: Fix) -> bool:
        return fix.claim.safe or policy.unsafe_fixes

    from tfnanlint import fixing

    result = fixing.fix_source(source, lambda changed: list(check_source(changed, policy).findings), allowed)
    for problem in result.problems:
        run.warn(f"{path}: {problem}")
    if result.source.text == source.text:
        return checked, data
    try:
        new = fixing.encoded(source, data, result.source.text)
    except fixing.Refused as refusal:
        run.warn(f"{path}: not fixed: {refusal}")
        return checked, data
    run.tally.add_fixed(path, [finding for finding, _ in result.applied])
    return check_source(result.source, policy), new


def _print_diff(run: _Run, path: str, old: bytes, new: bytes) -> None:
    """A patch that `git apply -p0` and `patch -p0` take: bytes as they are in the file, lines ending at LF only."""
    if old == new:
        return
    import difflib

    run.would_change = True
    name = escape(path).encode("utf-8")
    sys.stdout.flush()
    for line in difflib.diff_bytes(difflib.unified_diff, _lines(old), _lines(new), name, name):
        sys.stdout.buffer.write(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n")
    sys.stdout.buffer.flush()


def _lines(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _diff_summary(run: _Run) -> None:
    if run.arguments.quiet:
        return
    count = run.tally.applied
    if count:
        print(f"Would fix {count} error{'' if count == 1 else 's'}.", file=sys.stderr)
    else:
        print("No errors would be fixed.", file=sys.stderr)


# ---------------------------------------------------------------------------------------------------------
# tfnanlint rule


def _run_rule(arguments: argparse.Namespace) -> int:
    if bool(arguments.rule) == arguments.all:
        arguments.parser.error("name one rule, or give --all")
    known = sorted((*_rules(), *notices.NOTICES), key=lambda rule: rule.code)
    if not arguments.all:
        word = arguments.rule
        wanted = [rule for rule in known if word.upper() == rule.code or word.lower() == rule.slug]
        if not wanted:
            names = [name for rule in known for name in (rule.code, rule.slug)]
            return _fail(f"unknown rule `{word}`{config.hint(word, names)}")
        known = wanted
    if arguments.output_format == "json":
        import json

        described = [_rule_dict(rule) for rule in known]
        print(json.dumps(described if arguments.all else described[0], indent=2))
    else:
        print("\n\n".join(_rule_text(rule) for rule in known))
    return CLEAN


def _rule_text(rule: config.Rule) -> str:
    import inspect

    grades = ", ".join(grade.name.lower() for grade in sorted(rule.default, reverse=True))
    lines = [f"# {rule.slug} ({rule.code})", "", inspect.cleandoc(rule.doc), "", f"Reported by default when: {grades}."]
    if rule.over:
        lines.append(f"Reported instead of: {', '.join(rule.over)}.")
    if rule.preview:
        lines.append("In preview: runs only when selected.")
    return "\n".join(lines)


def _rule_dict(rule: config.Rule) -> dict[str, object]:
    return {
        "code": rule.code,
        "name": rule.slug,
        "summary": rule.summary,
        "explanation": rule.doc,
        "default": [grade.name.lower() for grade in sorted(rule.default, reverse=True)],
        "preview": rule.preview,
        "over": list(rule.over),
    }
