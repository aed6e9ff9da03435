"""The parser: every command and flag. A command's own module is imported only when it runs."""

from __future__ import annotations

import argparse
import importlib
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from tfnanlint.cli.caching import cache_of
from tfnanlint.config.keys import checked_value
from tfnanlint.config.layers import CERTAINTIES, ConfigError, Configuration, Layer, Rule, hint
from tfnanlint.report import FORMATS
from tfnanlint.version import __version__

if TYPE_CHECKING:
    from tfnanlint.pipeline.linter import Linter


class _Parser(argparse.ArgumentParser):
    """A parser that knows no abbreviations, and names the nearest flag or command when one is
    wrong.
    """

    def __init__(self, **more: Any):
        super().__init__(**{"allow_abbrev": False, **more})

    def parse_args(self, args=None, namespace=None):  # type: ignore[override]
        parsed, unknown = self.parse_known_args(args, namespace)
        # argparse takes paths from one place only: not `a.py --fix b.py`
        if hasattr(parsed, "paths"):
            parsed.paths = [
                *parsed.paths,
                *(word for word in unknown if word == "-" or not word.startswith("-")),
            ]
            unknown = [word for word in unknown if word != "-" and word.startswith("-")]
        if unknown:
            used = getattr(parsed, "parser", self)
            word = unknown[0].partition("=")[0]
            used.error(
                f"unknown argument `{unknown[0]}`"
                f"{hint(word, used._option_string_actions) if word[:2] == '--' else ''}"
            )
        return parsed

    def error(self, message: str) -> NoReturn:
        wrong = re.match(r"argument \S+: invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if wrong:
            message += hint(wrong[1], re.findall(r"[^\s,']+", wrong[2]))
        # argparse counts paths among what is missing, which may be left out
        message = re.sub(r"(?<=are required: )(\w+), PATH$", r"\1", message)
        self.exit(
            2, f"error: {message}\nusage: {self.prog} [OPTIONS] ...; see {self.prog} --help\n"
        )


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line; the parsed arguments have `run`, which carries the
    command out.

    With `only` that command alone, and with an empty one the commands without their flags: making
    all of them takes a part of every start.
    """
    top = _Parser(
        prog="tfnanlint",
        description="Finds where TensorFlow and Keras code can produce NaN, Inf "
        "or a dead gradient, and repairs it.",
    )
    top.add_argument("-V", "--version", action="version", version=f"tfnanlint {__version__}")
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=_Parser
    )
    for name in [only] if only in _COMMANDS else _COMMANDS:
        meaning, flags = _COMMANDS[name]
        subparser = commands.add_parser(
            name, help=meaning, description=f"{meaning[0].upper()}{meaning[1:]}."
        )
        subparser.set_defaults(
            run=_command("rule" if name == "explain" else name), parser=subparser
        )
        if only in (None, name):
            flags(subparser)
    return top


def names_files(word: str) -> bool:
    """Whether a first word is no command but what is to be checked, as in `tfnanlint .`."""
    if word in _COMMANDS or word.startswith("-"):
        return False
    return word.endswith((".py", ".pyw", ".ipynb")) or os.sep in word or os.path.isdir(word)


def _command(name: str) -> Callable[[argparse.Namespace], int]:
    """What runs a command: `run` of the module `tfnanlint.cli.<name>`."""

    def run(arguments: argparse.Namespace) -> int:
        module = importlib.import_module(f"tfnanlint.cli.{name.replace('-', '_')}")
        return module.run(arguments)

    return run


def _check_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files or directories (default: .); - reads standard input",
    )
    fixes = parser.add_argument_group("fixes").add_argument
    fixes("--fix", action="store_true", help="apply fixes that leave every finite result unchanged")
    fixes(
        "--unsafe-fixes",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="also apply fixes that change results",
    )
    fixes("--diff", action="store_true", help="show what --fix would change, write nothing")
    fixes("--show-fixes", action="store_true", help="list what was fixed")
    fixes("--fix-only", action="store_true", help="apply fixes, and do not report what remains")
    fixes("--fixable", action="append", metavar="RULES", help="repair only findings of these rules")
    fixes(
        "--unfixable",
        action="append",
        metavar="RULES",
        help="do not repair findings of these rules",
    )
    fixes("--add-ignore", metavar="REASON", help="write a comment at each finding that hides it")
    _rule_choice(parser)
    proof = parser.add_argument_group("proof").add_argument
    proof(
        "--prove",
        action="store_true",
        help="execute each finding's code in TensorFlow, and say which input breaks it; with --fix,"
        " apply only what passes",
    )
    proof(
        "--only-proved", action="store_true", help="report only findings that execution confirmed"
    )
    _budget(proof)
    adoption = parser.add_argument_group("what counts").add_argument
    adoption(
        "--diff-base",
        metavar="REV",
        help="report only findings caused by lines changed since a git revision",
    )
    adoption("--baseline", metavar="FILE", help="file of known findings, which are not reported")
    adoption("--no-baseline", action="store_true", help="ignore the baseline")
    adoption("--ignore-noqa", action="store_true", help="also report findings that comments hide")
    _file_choice(parser)
    add("--stdin-filename", metavar="NAME", help="file name for standard input")
    output = parser.add_argument_group("output").add_argument
    output(
        "--output-format",
        action="append",
        metavar="FORMAT[=FILE]",
        help=f"{', '.join(FORMATS)} (default: full); may be repeated",
    )
    output(
        "-o",
        "--output-file",
        metavar="FILE",
        help="write the report to a file instead of printing it",
    )
    output(
        "--statistics", action="store_true", help="count findings by rule instead of listing them"
    )
    output(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="(default: on a terminal)",
    )
    output("-v", "--verbose", action="store_true", help="show all that is known about each finding")
    output(
        "--fail-on",
        choices=("must", "may"),
        help="findings that cause exit code 1: errors only (must), or also warnings "
        "(may, the default); notes never count",
    )
    output("-e", "--exit-zero", action="store_true", help="exit 0 even when something is found")
    output("--exit-non-zero-on-fix", action="store_true", help="exit 1 when something was fixed")
    output("-q", "--quiet", action="store_true", help="print findings and nothing else")
    running = parser.add_argument_group("running").add_argument
    running("--watch", action="store_true", help="check again whenever a file changes")
    running(
        "--jobs",
        type=_count,
        metavar="N",
        help="processes (default: as many as cores when there is much to check)",
    )
    running(
        "-n",
        "--no-cache",
        action="store_true",
        help="do not use the result cache",
    )
    _cache_dir(running)
    _settings(parser)


def _cache_dir(add: Callable) -> None:
    add(
        "--cache-dir",
        metavar="DIR",
        help="cache directory (default: the user cache directory; disabled in CI)",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of processes")
    return int(text)


def _rule_choice(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("rules").add_argument
    add(
        "--select",
        action="append",
        metavar="RULES",
        help="run only these: codes, prefixes, names, or ALL",
    )
    add("--ignore", action="append", metavar="RULES", help="do not run these rules")
    add("--extend-select", action="append", metavar="RULES", help="also run these rules")
    add(
        "--per-file-ignores",
        action="append",
        metavar="GLOB:RULE",
        help="do not run a rule on some files",
    )
    add(
        "--preview",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="also run preview rules",
    )
    _plugins(add)
    add(
        "--certainty",
        choices=CERTAINTIES,
        help="report findings at least this sure (default: as each rule says)",
    )
    project = parser.add_argument_group("the project").add_argument
    project(
        "--modes",
        metavar="MODES",
        help="how the project runs TensorFlow: eager, graph, xla, gpu (default: all)",
    )
    project(
        "--target-tensorflow",
        metavar="VERSION",
        help="oldest supported TensorFlow; also report problems fixed in later releases",
    )
    project("--epsilon", metavar="NUMBER", help="epsilon used in fixes (default: 1e-7)")


def _plugins(add: Callable) -> None:
    add(
        "--plugins",
        action="append",
        metavar="NAMES",
        help="also run the rules of these installed plugins",
    )


def _file_choice(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("files").add_argument
    add(
        "--exclude",
        action="append",
        metavar="GLOBS",
        help="exclude these instead of the configured patterns",
    )
    add("--extend-exclude", action="append", metavar="GLOBS", help="exclude these as well")
    add(
        "--force-exclude",
        action="store_true",
        default=None,
        help="also apply exclusions to files named on the command line",
    )
    add(
        "--respect-gitignore",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="(default: yes)",
    )


def _settings(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("configuration").add_argument
    add(
        "--config",
        action="append",
        metavar="FILE|TOML",
        help="a file, or settings such as 'certainty = \"may\"'",
    )
    add(
        "--config-from",
        metavar="REV",
        help="read configuration, ignore files and baseline from a git revision",
    )
    add("--isolated", action="store_true", help="read no configuration file")


def _baseline_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "action",
        choices=("create", "update", "prune"),
        help="create: write the current findings; update: add new findings and remove fixed ones; "
        "prune: only remove fixed ones",
    )
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: .)")
    add(
        "--baseline",
        metavar="FILE",
        help="(default: the configured one, else tfnanlint-baseline.json)",
    )
    add("--force", action="store_true", help="create: replace an existing file")
    add("-q", "--quiet", action="store_true", help="print nothing")
    add(
        "--jobs",
        type=_count,
        metavar="N",
        help="processes (default: as many as cores when there is much to check)",
    )
    _rule_choice(parser)
    _file_choice(parser)
    _settings(parser)


def _rule_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rule",
        nargs="?",
        metavar="CODE",
        help="a code such as TFN101, or a name such as log-softmax",
    )
    parser.add_argument("--all", action="store_true", help="explain every rule")
    _plugins(parser.add_argument)
    parser.add_argument(
        "--output-format",
        choices=("text", "json", "markdown"),
        default="text",
        help="(default: %(default)s)",
    )


def _rules_flags(parser: argparse.ArgumentParser) -> None:
    _plugins(parser.add_argument)
    parser.add_argument(
        "--output-format", choices=("text", "json"), default="text", help="(default: %(default)s)"
    )


def _config_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        nargs="?",
        metavar="KEY|PATH",
        help="a key to explain, or with --show a file or directory",
    )
    parser.add_argument(
        "--show",
        action="store_true",
        help="show the settings of a file, and where each was set",
    )
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON schema of the configuration"
    )
    parser.add_argument(
        "--output-format", choices=("text", "json"), default="text", help="(default: %(default)s)"
    )
    _settings(parser)


def _clean_flags(parser: argparse.ArgumentParser) -> None:
    _cache_dir(parser.add_argument)
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def _scan_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "inputs",
        nargs="+",
        metavar="IN",
        help="Parquet files or folders of them, folders, tar and zip archives, "
        "bare git repositories",
    )
    add("--out", required=True, metavar="DIR", help="where the tables are written")
    add("--each", action="store_true", help="treat each subfolder of a folder as a repository")
    add(
        "--revision",
        default="",
        metavar="REV",
        help="of git repositories (default: HEAD of bare ones; of others the files in the folder)",
    )
    add("--shard", default="1/1", metavar="I/N", help="check part I of N of the repositories")
    add("--jobs", type=_count, default=1, metavar="N", help="processes (default: 1)")
    add("--resume", action="store_true", help="continue an interrupted scan")
    add(
        "--part-size",
        type=_count,
        default=100,
        metavar="N",
        help="repositories written at a time (default: 100)",
    )
    add("-q", "--quiet", action="store_true", help="show neither progress nor summary")
    columns = parser.add_argument_group("columns of Parquet").add_argument
    for name in ("repository", "path", "content"):
        columns(f"--{name}-column", default=name, metavar="NAME", help="(default: %(default)s)")
    budget = parser.add_argument_group("budget of a repository").add_argument
    budget(
        "--repository-seconds",
        type=float,
        default=600.0,
        metavar="S",
        help="stop checking a repository after this time (default: 600)",
    )
    budget(
        "--memory",
        type=int,
        default=2048,
        metavar="MIB",
        help="memory a process may use beyond what it starts with; 0: no limit (default: 2048)",
    )
    rules = parser.add_argument_group("settings").add_argument
    rules("--config", action="append", metavar="FILE|TOML", help="settings, or a file of them")
    rules("--select", action="append", metavar="RULES", help="run only these")
    rules("--ignore", action="append", metavar="RULES", help="do not run these rules")
    rules("--extend-select", action="append", metavar="RULES", help="also run these rules")
    rules("--preview", action="store_true", default=None, help="also run preview rules")
    rules("--certainty", choices=CERTAINTIES, help="report findings at least this sure")


def _explain_log_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("log", metavar="FILE", help="an error or a log; - reads standard input")
    add(
        "paths",
        nargs="*",
        metavar="PATH",
        help="the files or directories of the program (default: .)",
    )
    _shown_as(parser)
    _analysis(parser)


def _prove_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "paths",
        nargs="*",
        metavar="PATH|FILE:LINE",
        help="files, directories, or one line of a file (default: .)",
    )
    _budget(add)
    output = parser.add_argument_group("output").add_argument
    output(
        "--output-format",
        type=_proof_format,
        default="full",
        metavar="FORMAT",
        help="full (with the programs that show it), concise, json, or html[=FILE], a page with"
        " figures (default: %(default)s)",
    )
    _colour(output)
    _analysis(parser)


def _budget(add: Callable) -> None:
    add(
        "--budget",
        type=_seconds,
        default=5.0,
        metavar="SECONDS",
        help="time to search for a failing input, for each finding (default: 5)",
    )


def _proof_format(text: str) -> str:
    name, equals, path = text.partition("=")
    known = ("full", "concise", "json", "html")
    if name not in known or equals and (name != "html" or not path):
        raise argparse.ArgumentTypeError(f"{text!r} is not full, concise, json or html[=FILE]")
    return text


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds from 0.1 to 3600")
    return seconds


def _colour(add: Callable) -> None:
    add(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="(default: on a terminal)",
    )


def _trace_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "program",
        nargs=argparse.REMAINDER,
        metavar="SCRIPT ARGS",
        help="the program to run, with its arguments",
    )
    add("-m", dest="module", metavar="MODULE", help="run a module instead of a script")
    add(
        "--project",
        action="append",
        metavar="PATH",
        help="the files or directories of the program (default: the folder of the script)",
    )
    _shown_as(parser)
    _analysis(parser)


def _shown_as(parser: argparse.ArgumentParser) -> None:
    """How a command that explains shows what it has to say."""
    add = parser.add_argument_group("output").add_argument
    add("--output-format", choices=("text", "json"), default="text", help="(default: %(default)s)")
    _colour(add)


def _analysis(parser: argparse.ArgumentParser) -> None:
    """How a command checks the files that it explains or executes."""
    _remembering(parser)
    _rule_choice(parser)
    _file_choice(parser)
    _settings(parser)


def _remembering(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("running").add_argument
    add(
        "-n",
        "--no-cache",
        action="store_true",
        help="do not remember what was found in files that do not change",
    )
    _cache_dir(add)


def _completion_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "shell", choices=("bash", "zsh", "fish"), help="the shell that is to complete"
    )


def _lsp_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio",
        action="store_true",
        help="accepted for compatibility; stdio is the only transport",
    )


def layer_of(arguments: argparse.Namespace) -> Layer:
    """The settings that the flags of a command state. Raises `ConfigError`."""

    def split(values: list[str] | None) -> tuple[str, ...]:
        return tuple(
            part.strip() for value in values or () for part in value.split(",") if part.strip()
        )

    named = getattr(arguments, "plugins", None)
    plugins = None if named is None else split(named)
    if arguments.command in ("config", "rule", "explain", "rules"):  # they have none of the others
        return Layer("command line", os.getcwd(), plugins=plugins)
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
        fixable=None if not getattr(arguments, "fixable", None) else split(arguments.fixable),
        unfixable=split(getattr(arguments, "unfixable", None)),
        per_file_ignores=per_file or None,
        exclude=None if arguments.exclude is None else split(arguments.exclude),
        extend_exclude=split(arguments.extend_exclude),
        certainty=arguments.certainty,
        unsafe_fixes=getattr(arguments, "unsafe_fixes", None),
        preview=getattr(arguments, "preview", None),
        force_exclude=arguments.force_exclude,
        respect_gitignore=arguments.respect_gitignore,
        baseline=_baseline_flag(arguments) if hasattr(arguments, "baseline") else None,
        epsilon=_number(arguments.epsilon),
        modes=None
        if arguments.modes is None
        else checked_value("modes", list(split([arguments.modes])), "--modes"),
        target_tensorflow=_release(arguments.target_tensorflow),
        ignore_comments=getattr(arguments, "ignore_noqa", None) or None,
        plugins=plugins,
    )


def _number(text: str | None) -> float | None:
    """The epsilon that the flags state. Raises `ConfigError`."""
    try:
        return None if text is None else checked_value("epsilon", float(text), "--epsilon")
    except ValueError:
        raise ConfigError(f"--epsilon: `{text}` is not a number") from None


def _release(text: str | None) -> str | None:
    return None if text is None else checked_value("target-tensorflow", text, "--target-tensorflow")


def _baseline_flag(arguments: argparse.Namespace) -> str | None:
    """The baseline that the flags name; empty where they say that none holds."""
    if getattr(arguments, "no_baseline", False):
        if arguments.baseline is not None:
            raise ConfigError("--baseline cannot be used with --no-baseline")
        return ""
    if arguments.baseline == "":
        raise ConfigError("--baseline: the name of the file is empty")
    return arguments.baseline


def configuration_of(arguments: argparse.Namespace) -> Configuration:
    """The settings of a run. Raises `ConfigError`."""
    files = None
    if arguments.config_from is not None:
        from tfnanlint.config.revision import Revision

        files = Revision(arguments.config_from, os.getcwd(), "--config-from")
    return Configuration(layer_of(arguments), arguments.config or (), arguments.isolated, files)


def rules_of(arguments: argparse.Namespace) -> tuple[Rule, ...]:
    """The rules that a command speaks of: those of plugins too that the user allows."""
    from tfnanlint.pipeline.linter import allow, load_rules  # `--help` needs no analysis.

    allow(Configuration(layer_of(arguments)).plugins)
    return load_rules()


def linter_of(arguments: argparse.Namespace) -> Linter:
    """What checks files as the arguments say; made in each process that does.
    Raises `ConfigError`.
    """
    from tfnanlint.pipeline.linter import Linter

    since = None
    if getattr(arguments, "diff_base", None) is not None:
        from tfnanlint.config.revision import Revision

        since = Revision(arguments.diff_base, os.getcwd(), "--diff-base")
    baselines = arguments.command != "baseline"  # what is known is what is to be found
    return Linter(
        configuration_of(arguments), since=since, baselines=baselines, cache=cache_of(arguments)
    )


_COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "check": ("check files or directories", _check_flags),
    "baseline": ("keep a list of known findings, which are not reported", _baseline_flags),
    "rule": ("explain a rule, or all of them", _rule_flags),
    "explain": ("the same as `rule`", _rule_flags),
    "prove": ("execute the code of findings, and show an input that makes it fail", _prove_flags),
    "explain-log": (
        "name the finding that explains an error or a NaN in a log",
        _explain_log_flags,
    ),
    "trace": (
        "run a program until NaN or Inf appears, and name the finding that explains it",
        _trace_flags,
    ),
    "rules": ("list the rules", _rules_flags),
    "config": ("list the settings, or show those that hold for a file", _config_flags),
    "clean": ("clear the result cache", _clean_flags),
    "scan": ("check many repositories, into Parquet files", _scan_flags),
    "lsp": ("serve an editor (language server protocol)", _lsp_flags),
    "completion": (
        "print a script that completes commands, flags and rules in a shell",
        _completion_flags,
    ),
}
