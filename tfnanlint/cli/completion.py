"""`tfnanlint completion`: a script that completes commands, flags and rule codes in a shell."""

from __future__ import annotations

import argparse

from tfnanlint.cli.flags import parser
from tfnanlint.cli.outcome import CLEAN, fail
from tfnanlint.config.keys import MODES
from tfnanlint.report import FORMATS

_RULES = frozenset(("rule", "select", "ignore", "extend_select", "fixable", "unfixable"))
_VALUES = {"output_format": FORMATS, "modes": MODES}
_FILES = frozenset(("paths", "baseline", "config", "stdin_filename", "path"))


def run(arguments: argparse.Namespace) -> int:
    """Print the script for a shell."""
    try:
        import shtab
    except ImportError:
        return fail("shell completion needs shtab: pip install 'tfnanlint[completion]'")
    top = parser()
    for action in _actions(top):
        if action.dest in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.dest in _RULES:
            action.choices = _codes()
        elif action.dest in _VALUES and action.choices is None:
            action.choices = _VALUES[action.dest]
    print(shtab.complete(top, shell=arguments.shell))
    return CLEAN


def _actions(one: argparse.ArgumentParser) -> list[argparse.Action]:
    """The arguments of a parser and of its commands."""
    found = []
    for action in one._actions:
        found.append(action)
        if isinstance(action, argparse._SubParsersAction):
            found += [inner for command in action.choices.values() for inner in _actions(command)]
    return found


def _codes() -> list[str]:
    from tfnanlint.pipeline.linter import load_rules

    return [rule.code for rule in load_rules()]
