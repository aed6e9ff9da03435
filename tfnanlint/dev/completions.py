"""The scripts that `tfnanlint completion` prints, written with shtab when the pages are."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from tfnanlint.cli.completion import SHELLS, script
from tfnanlint.cli.flags import parser
from tfnanlint.config.keys import MODES
from tfnanlint.report import FORMATS
from tfnanlint.rule.registry import load

_RULES = frozenset(("rule", "select", "ignore", "extend_select", "fixable", "unfixable"))
_VALUES = {"output_format": FORMATS, "modes": MODES}
_FILES = frozenset(("paths", "baseline", "config", "stdin_filename", "path"))


def scripts() -> dict[Path, str]:
    """The script for each shell; none where shtab is not installed."""
    if importlib.util.find_spec("shtab") is None:
        return {}
    return {script(shell): completed(shell) for shell in SHELLS}


def completed(shell: str) -> str:
    """The script for a shell: commands, flags, and the values that flags take."""
    import shtab

    top = parser()
    for action in _actions(top):
        if action.dest in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.dest in _RULES:
            action.choices = [rule.code for rule in load()]
        elif action.dest in _VALUES and action.choices is None:
            action.choices = _VALUES[action.dest]
    lines = shtab.complete(top, shell=shell).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _actions(command_parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The arguments of a parser and of its commands."""
    actions = []
    for action in command_parser._actions:
        actions.append(action)
        if isinstance(action, argparse._SubParsersAction):
            actions += [inner for command in action.choices.values() for inner in _actions(command)]
    return actions
