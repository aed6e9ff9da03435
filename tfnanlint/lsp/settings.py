"""What the editor itself sets: the keys of the configuration file in either spelling, and four of
its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tfnanlint.config.layers import KEYS, ConfigError, hint, layer

# Keys that editors' extensions keep in the same section for themselves.
_OF_THE_CLIENT = frozenset(("trace", "path", "interpreter", "import-strategy", "env", "args"))


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """`enable` switches the server off; `python` executes findings; `table` is a layer of
    configuration above the files, `options` are as of `--config`.
    """

    enable: bool = True
    table: tuple[tuple[str, Any], ...] = ()
    options: tuple[str, ...] = ()
    python: str = ""


def editor_settings(value: Any) -> tuple[EditorSettings, list[str]]:
    """Settings as a client sends them, with or without the section `tfnanlint` around them; and
    what is wrong in them.
    """
    if isinstance(value, dict) and isinstance(value.get("tfnanlint"), dict):
        value = value["tfnanlint"]
    if value is None:
        return EditorSettings(), []
    if not isinstance(value, dict):
        return EditorSettings(), ["the editor's settings for tfnanlint must be an object"]
    enable, table, options, python, problems = True, [], (), "", []
    for name, setting in value.items():
        key = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", str(name)).lower()
        if key in _OF_THE_CLIENT or setting is None:
            continue
        if key == "enable":
            enable = setting is not False
        elif key == "python":
            python = str(setting)
        elif key == "config":
            options = (
                tuple(setting) if isinstance(setting, list) else (str(setting),) if setting else ()
            )
        else:
            try:
                layer({key: setting}, "the editor's settings", "")
                table.append((key, setting))
            except ConfigError as error:
                unknown = key not in KEYS
                problems.append(
                    f"the editor's settings: unknown key `{name}`{hint(key, KEYS)}"
                    if unknown
                    else str(error)
                )
    return EditorSettings(enable, tuple(table), options, python), problems
