"""Which plugins may run. They are code: a repository may name them, only the user allows them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from tfnanlint.config.keys import ConfigError

VARIABLE = "TFNANLINT_PLUGINS"


class Naming(Protocol):
    """A layer of settings, as far as it names plugins."""

    plugins: tuple[str, ...] | None

    def place(self, key: str) -> str: ...


def user_file(environ: Mapping[str, str] = os.environ) -> str:
    """The path of the user's own configuration file, as each system has it."""
    if sys.platform == "win32":
        base = environ.get("APPDATA") or "~/AppData/Roaming"
    elif sys.platform == "darwin":
        base = "~/Library/Application Support"
    else:
        base = environ.get("XDG_CONFIG_HOME", "")
        base = base if os.path.isabs(base) else "~/.config"
    return os.path.join(os.path.expanduser(base), "tfnanlint", "tfnanlint.toml")


def named_by_variable(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The plugins that the environment allows, separated by commas."""
    return tuple(part.strip() for part in environ.get(VARIABLE, "").split(",") if part.strip())


def refuse_others(layers: Iterable[Naming], allowed: Sequence[str]) -> None:
    """Raise `ConfigError` for each plugin that a layer names and the user has not allowed."""
    problems = [
        f"{one.place('plugins')}: the plugin `{name}` runs code of its own, and you have not "
        f"allowed it: give --plugins {name}, or write `plugins` into {user_file()}"
        for one in layers
        for name in one.plugins or ()
        if name not in allowed
    ]
    if problems:
        raise ConfigError(*problems)
