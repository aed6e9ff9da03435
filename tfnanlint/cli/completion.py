"""`tfnanlint completion`: a script that completes commands, flags and rule codes in a shell."""

from __future__ import annotations

import argparse

from tfnanlint.cli.flags import parser
from tfnanlint.cli.outcome import CLEAN, fail

_FILES = frozenset(("paths", "baseline", "config", "stdin_filename", "path"))


def run(arguments: argparse.Namespace) -> int:
    """Print the script for a shell."""
    try:
        import shtab
    except ImportError:
        return fail(
            "completion scripts are written by the package shtab: pip install 'tfnanlint[completion]'"
        )
    top = parser()
    for action in _actions(top):
        if action.dest in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.dest == "rule":
            action.choices = _codes()
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
