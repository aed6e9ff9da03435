"""`tfnanlint config`: which settings there are, and which hold for a file."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from tfnanlint.cli.flags import configuration_of
from tfnanlint.cli.outcome import CLEAN, fail
from tfnanlint.config.keys import KEYS, Key, hint, schema
from tfnanlint.config.layers import Settings
from tfnanlint.pipeline.linter import Linter, load_rules


def run(arguments: argparse.Namespace) -> int:
    """Carry out `tfnanlint config`."""
    word, as_json = arguments.path, arguments.output_format == "json"
    if arguments.schema:
        print(json.dumps(schema(), indent=2))
    elif arguments.show:
        return _show(arguments, os.path.abspath(word or "."), as_json)
    elif word is None or word in KEYS:
        chosen = KEYS if word is None else {word: KEYS[word]}
        print(
            json.dumps({name: _as_dict(key) for name, key in chosen.items()}, indent=2)
            if as_json
            else _described(chosen)
        )
    else:
        return fail(
            f"unknown key `{word}`{hint(word, KEYS)}; the settings of a file are shown by "
            "`tfnanlint config --show`"
        )
    return CLEAN


def _as_dict(key: Key) -> dict[str, Any]:
    return {"kind": key.kind, "default": key.default, "meaning": key.meaning}


def _described(chosen: dict[str, Key]) -> str:
    return "\n".join(
        f"{name}\n    {key.meaning}\n    default: {toml(key.default)}"
        for name, key in chosen.items()
    )


def _show(arguments: argparse.Namespace, path: str, as_json: bool) -> int:
    """The settings that hold for a file or directory, and where each was stated."""
    if not os.path.lexists(path):
        return fail(f"{path}: there is no such file or directory")
    configuration = configuration_of(arguments)
    settings = (
        configuration.for_directory(path) if os.path.isdir(path) else configuration.for_file(path)
    )
    rules = load_rules()
    stated = {name: settings.stated(name, rules) for name in KEYS}
    inside = os.path.join(path, "any.py") if os.path.isdir(path) else path
    codes = [rule.code for rule in Linter(configuration).policy(inside).rules]
    if as_json:
        shown = {name: {"value": value, "from": origin} for name, (value, origin) in stated.items()}
        print(json.dumps({"path": path, "settings": shown, "rules": codes}, indent=2))
        return CLEAN
    print(f"# what holds for {path}")
    for name, (value, origin) in stated.items():
        if value is not None:
            print(f"{name} = {toml(value)}{'' if origin == Settings.DEFAULTS else f'  # {origin}'}")
    print(f"# rules that run: {' '.join(codes) or 'none'}")
    return CLEAN


def toml(value: Any) -> str:
    """A value as it is written in TOML."""
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml, value))}]"
    return "none" if value is None else json.dumps(value)
