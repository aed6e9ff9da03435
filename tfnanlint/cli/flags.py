"""The parser: every command and flag. A command's own module is imported only when it runs."""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Callable

from tfnanlint import __version__
from tfnanlint.config import CERTAINTIES, ConfigError, Layer
from tfnanlint.report import FORMATS


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; the parsed arguments have `run`, which carries the command out."""
    top = argparse.ArgumentParser(
        prog="tfnanlint",
        description="Finds where TensorFlow and Keras code can produce NaN, Inf or a dead gradient, and repairs it.",
        allow_abbrev=False,
    )
    top.add_argument("-V", "--version", action="version", version=f"tfnanlint {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _check_flags(commands.add_parser("check", help="check files or directories", allow_abbrev=False))
    _rule_flags(commands.add_parser("rule", help="explain a rule, or all of them", allow_abbrev=False))
    _lsp_flags(commands.add_parser("lsp", help="serve an editor (language server protocol)", allow_abbrev=False))
    return top


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    """What runs a command: `run` of the module `tfnanlint.cli.<name>`."""

    def run(arguments: argparse.Namespace) -> int:
        return importlib.import_module(f"tfnanlint.cli.{name}").run(arguments)

    return run


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
    output("--output-format", action="append", metavar="FORMAT[=FILE]",
           help=f"{', '.join(FORMATS)} (default: full); may be repeated")
    output("-o", "--output-file", metavar="FILE", help="write the report to a file instead of printing it")
    output("--statistics", action="store_true", help="count findings by rule instead of listing them")
    output("-e", "--exit-zero", action="store_true", help="exit 0 even when something is found")
    output("--exit-non-zero-on-fix", action="store_true", help="exit 1 when something was fixed")
    output("-q", "--quiet", action="store_true", help="print findings and nothing else")
    settings = parser.add_argument_group("configuration").add_argument
    settings("--config", action="append", metavar="FILE|TOML", help="a file, or settings such as 'certainty = \"may\"'")
    settings("--isolated", action="store_true", help="read no configuration file")
    parser.set_defaults(run=_command("check"), parser=parser)


def _rule_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", nargs="?", metavar="CODE", help="a code such as TFN101, or a name such as log-softmax")
    parser.add_argument("--all", action="store_true", help="explain every rule")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    parser.set_defaults(run=_command("rule"), parser=parser)


def _lsp_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stdio", action="store_true", help="accepted, as many editors say it; there is no other way")
    parser.set_defaults(run=_command("lsp"))


def layer_of(arguments: argparse.Namespace) -> Layer:
    """The settings that the flags of a command state. Raises `ConfigError`."""

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
