"""docs/tfnanlint.1, the manual page, written from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tfnanlint.cli.flags import parser
from tfnanlint.version import __version__

_EXIT = (
    ("0", "nothing was found, or everything found was fixed"),
    ("1", "findings remain, or --diff has something to show"),
    ("2", "a wrong flag or configuration, or a failure of tfnanlint"),
)
_FILES = (
    ("tfnanlint.toml", "settings; the nearest one above a checked file holds for it"),
    ("pyproject.toml", "the same under [tool.tfnanlint], where there is no tfnanlint.toml"),
    (
        "~/.cache/tfnanlint",
        "what was found in files that do not change; $XDG_CACHE_HOME/tfnanlint where that is set",
    ),
)
_ENVIRONMENT = (
    ("NO_COLOR", "no colour, whatever the terminal can show"),
    ("FORCE_COLOR, CLICOLOR_FORCE", "colour also where there is no terminal"),
    ("FORCE_HYPERLINK", "0 shows no links, 1 shows them whatever the terminal is"),
    ("TFNANLINT_NO_CACHE", "1 remembers nothing of what was found, as --no-cache"),
    ("TFNANLINT_CACHE_DIR", "the cache directory, as --cache-dir"),
    (
        "CI",
        (
            "remember nothing, unless a folder for it is named; say on standard error how many"
            " findings were not shown, in every format"
        ),
    ),
)


def page() -> str:
    """The manual page in roff."""
    top = parser()
    commands = next(
        action for action in top._actions if isinstance(action, argparse._SubParsersAction)
    )
    meanings = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    lines = [
        '.\\" written by python -m tfnanlint.dev.docs from tfnanlint/cli/flags.py',
        f'.TH TFNANLINT 1 "" "tfnanlint {__version__}" "User commands"',
        ".SH NAME",
        "tfnanlint \\- find and repair numerical hazards in TensorFlow code",
        ".SH SYNOPSIS",
    ]
    for name, command in commands.choices.items():
        between = [".PP"] if lines[-1] != ".SH SYNOPSIS" else []
        lines += [*between, f".B tfnanlint {_plain(name)}", _plain(_operands(command))]
    lines += [
        ".SH DESCRIPTION",
        _plain(top.description or ""),
        _plain("Files are read, never imported, and TensorFlow need not be installed."),
    ]
    for name, command in commands.choices.items():
        lines += [
            f".SH {_plain(f'tfnanlint {name}').upper()}",
            _plain(_sentence(meanings[name])),
            *_flags(command),
        ]
    for title, rows in (("EXIT STATUS", _EXIT), ("FILES", _FILES), ("ENVIRONMENT", _ENVIRONMENT)):
        lines += [
            f".SH {title}",
            *(line for term, text in rows for line in _item(_plain(term), text)),
        ]
    return "\n".join(lines) + "\n"


def _operands(command: argparse.ArgumentParser) -> str:
    words = ["[options]"]
    for action in command._actions:
        if not action.option_strings:
            word = _value(action)
            words.append({"*": f"[{word} ...]", "?": f"[{word}]"}.get(str(action.nargs), word))
    return " ".join(words)


def _value(action: argparse.Action) -> str:
    if action.metavar is not None:
        return str(action.metavar)
    return "|".join(map(str, action.choices)) if action.choices else action.dest.upper()


def _flags(command: argparse.ArgumentParser) -> Iterator[str]:
    """The arguments of a command, by their groups."""
    for group in command._action_groups:
        actions = [
            action for action in group._group_actions if action.help is not argparse.SUPPRESS
        ]
        if not actions:
            continue
        if group.title not in ("positional arguments", "options"):
            yield f".SS {_plain(_sentence(group.title or '').rstrip('.'))}"
        for action in actions:
            names = ", ".join(f"\\fB{_plain(name)}\\fR" for name in action.option_strings)
            value = _value(action) if not action.option_strings or action.nargs != 0 else ""
            if isinstance(action, argparse.BooleanOptionalAction):
                value = ""
            term = " ".join(
                part for part in (names, f"\\fI{_plain(value)}\\fR" if value else "") if part
            )
            yield from _item(
                term, (action.help or "") % {"default": action.default, "prog": command.prog}
            )


def _item(term: str, text: str) -> list[str]:
    return [".TP", term, _plain(text)]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _plain(text: str) -> str:
    """Text that roff shows as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text
