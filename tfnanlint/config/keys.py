"""What can be set: every configuration key, with its kind, its default and its meaning; and the
check of a value.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tfnanlint.diagnostics.findings import EPSILON, Certainty, release
from tfnanlint.version import __version__

MAX_FILE_SIZE = 2 * 1024 * 1024
LARGEST_SIZE = 1 << 40  # what may be configured: a notebook may have 50 times that
CERTAINTIES = ("default", *(level.name.lower() for level in sorted(Certainty, reverse=True)))

MODES = ("eager", "graph", "xla", "gpu")
# What may be configured as epsilon: of less, float32 holds no square, and more is no small
# constant.
LEAST_EPSILON, LARGEST_EPSILON = 1e-19, 1e-2

# Directories that hold other people's code, build output or caches; the names are ruff's.
DEFAULT_EXCLUDE = (
    ".bzr .direnv .eggs .git .git-rewrite .hg .ipynb_checkpoints .mypy_cache .nox .pants.d .pyenv"
    " .pytest_cache .pytype .ruff_cache .svn .tox .venv .vscode __pypackages__ _build buck-out"
    " build dist node_modules site-packages venv"
).split()


# A message quotes what a repository states, which may be a megabyte.
_MAX_PROBLEMS = 20
_MAX_LENGTH = 1000
_LONGEST_WORD = 100  # no longer one is near a name that is known


def shortened(text: str, most: int = _MAX_LENGTH) -> str:
    """A text with its middle left out where it is long: a message begins with the place, and ends
    with what is expected.
    """
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}...{text[-half:]}"


class ConfigError(Exception):
    """Settings that cannot be followed, one message each, which names the file or flag that it came
    from. Exit code 2.
    """

    def __init__(self, *problems: str):
        told = [shortened(one) for one in problems[:_MAX_PROBLEMS]]
        more = len(problems) - len(told)
        super().__init__(*told, *([f"and {more} more"] if more > 0 else []))

    def __str__(self) -> str:
        return "\n".join(self.args)


class Key(NamedTuple):
    """One configuration key. `kind` is one of rules, names, patterns, rules-by-pattern,
    options-by-rule, certainty, boolean, bytes, path, version, epsilon, modes, release.
    """

    kind: str
    default: Any
    meaning: str


KEYS = {
    "select": Key("rules", ["ALL"], "the rules that run, by code, prefix (`TFN1`), name, or `ALL`"),
    "extend-select": Key("rules", [], "rules that run as well, such as those in preview"),
    "preview": Key(
        "boolean",
        False,
        "also run preview rules (TFN307, TFN8: training set-up and data); otherwise they run only"
        " if selected",
    ),
    "ignore": Key("rules", [], "rules that do not run"),
    "fixable": Key("rules", ["ALL"], "the rules whose findings `--fix` may repair"),
    "unfixable": Key("rules", [], "rules whose findings `--fix` does not repair"),
    "extend": Key(
        "path", None, "another configuration file, for settings that this file does not have"
    ),
    "required-version": Key(
        "version", None, 'the versions of tfnanlint that may read this file, such as `">=0.1,<1"`'
    ),
    "plugins": Key(
        "names", [], "installed plugins whose rules run as well; the user must have allowed them"
    ),
    "per-file-ignores": Key(
        "rules-by-pattern",
        {},
        'a table from patterns to rules that do not run there: `"tests/*" = ["TFN1"]`',
    ),
    "rules": Key(
        "options-by-rule",
        {},
        'a table of options for each rule: `fix = "divide_no_nan"` in `[rules.TFN102]` offers only'
        " that fix, and a list of names those, in its order; `tfnanlint explain CODE` lists them",
    ),
    "certainty": Key(
        "certainty",
        "default",
        "`must`, `may` or `unknown`: report only findings at least this sure; `default` leaves it"
        " to each rule",
    ),
    "unsafe-fixes": Key("boolean", False, "whether `--fix` may change results"),
    "exclude": Key(
        "patterns",
        DEFAULT_EXCLUDE,
        "files to exclude (`.gitignore` syntax); replaces the default list",
    ),
    "extend-exclude": Key("patterns", [], "files to exclude as well"),
    "force-exclude": Key("boolean", False, "also exclude files that are named on the command line"),
    "respect-gitignore": Key("boolean", True, "exclude files that git ignores"),
    "max-file-size": Key(
        "bytes",
        MAX_FILE_SIZE,
        "in bytes; a larger file that mentions TensorFlow is reported as unread; notebooks may have"
        " 50 times that",
    ),
    "epsilon": Key(
        "epsilon",
        EPSILON,
        "the epsilon used in fixes; under a logarithm, unless configured, a smaller epsilon; in a"
        " dtype that cannot represent it, the nearest epsilon that the dtype can",
    ),
    "modes": Key(
        "modes",
        list(MODES),
        "how the project runs TensorFlow, and whether on GPUs; hazards in other modes are not"
        " reported",
    ),
    "target-tensorflow": Key(
        "release",
        None,
        'the oldest TensorFlow in use, such as `"2.10"`: reports hazards that newer releases no'
        " longer have; fixes write only what it has (without it, what the release has that a"
        " notebook printed, requirements list or a README names)",
    ),
    "baseline": Key(
        "path",
        None,
        "the file of known findings, which are not reported; made by `tfnanlint baseline create`",
    ),
}

# The options of a single rule: in `[tool.tfnanlint.rules.CODE]`.
RULE_OPTIONS = {"fix": "the fixes that are offered, by name, the best first"}


def hint(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` for the nearest known word, of several the one that begins most alike;
    nothing where none is near.
    """
    if len(word) > _LONGEST_WORD:
        return ""
    spellings = {name.lower(): name for name in known}
    lower = word.lower()
    most = max(1, len(lower) // 4)
    near = [name for name in spellings if abs(len(name) - len(lower)) <= most]
    ranked = sorted(
        (_typos(lower, name), -len(os.path.commonprefix((lower, name))), name) for name in near
    )
    return f"; did you mean `{spellings[ranked[0][2]]}`?" if ranked and ranked[0][0] <= most else ""


def _typos(word: str, name: str) -> int:
    """How many letters have to be added, left out, replaced or swapped with the next one to make a
    name of a word.
    """
    before: list[int] = []
    last = list(range(len(name) + 1))
    for i, letter in enumerate(word, 1):
        row = [i]
        for j, wanted in enumerate(name, 1):
            cost = min(last[j] + 1, row[-1] + 1, last[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and (letter, word[i - 2]) == (name[j - 2], wanted):
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def checked_value(key: str, value: Any, origin: str) -> Any:
    """The value of a key as it is used. Raises `ConfigError` when it is of the wrong kind."""
    return _CHECKED[KEYS[key].kind](key, value, origin)


def _strings(key: str, value: Any, origin: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f'{origin}: `{key}` must be a list of strings such as ["..."]')
    return tuple(value)


def _strings_by_pattern(key: str, value: Any, origin: str) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ConfigError(f'{origin}: `{key}` must be a table such as {{ "tests/*" = ["TFN101"] }}')
    return {
        pattern: _strings(f"{key}.{pattern}", codes, origin) for pattern, codes in value.items()
    }


def _certainty(key: str, value: Any, origin: str) -> str:
    if value not in CERTAINTIES:
        near = hint(value, CERTAINTIES) if isinstance(value, str) else ""
        raise ConfigError(f"{origin}: `{key}` must be one of {', '.join(CERTAINTIES)}{near}")
    return value


def _bytes(key: str, value: Any, origin: str) -> int:
    if type(value) is not int or not 0 < value <= LARGEST_SIZE:
        raise ConfigError(
            f"{origin}: `{key}` must be a number of bytes between 1 and {LARGEST_SIZE}"
        )
    return value


def _path(key: str, value: Any, origin: str) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ConfigError(
            f'{origin}: `{key}` must be the path of a file such as "tfnanlint-baseline.json"'
        )
    return value


def _boolean(key: str, value: Any, origin: str) -> bool:
    if type(value) is not bool:
        raise ConfigError(f"{origin}: `{key}` must be true or false")
    return value


def _epsilon(key: str, value: Any, origin: str) -> float:
    if type(value) not in (int, float) or not LEAST_EPSILON <= value <= LARGEST_EPSILON:
        why = (
            ""
            if type(value) is not float or value > LARGEST_EPSILON or value <= 0
            else ": float32 would lose a smaller one"
        )
        raise ConfigError(
            f"{origin}: `{key}` must be a number between {LEAST_EPSILON:g} and"
            f" {LARGEST_EPSILON:g}{why}"
        )
    return float(value)


def _modes(key: str, value: Any, origin: str) -> tuple[str, ...]:
    modes = _strings(key, value, origin)
    for mode in modes:
        if mode not in MODES:
            raise ConfigError(
                f"{origin}: `{key}`: unknown mode `{mode}`{hint(mode, MODES)}; there are"
                f" {', '.join(MODES)}"
            )
    if not modes:
        raise ConfigError(f"{origin}: `{key}` needs at least one of {', '.join(MODES)}")
    return modes


def _release(key: str, value: Any, origin: str) -> str:
    try:
        release(value)
    except (TypeError, ValueError):
        quoted = f'; write it in quotes, "{value}"' if type(value) is float else ""
        raise ConfigError(f'{origin}: `{key}` must be a release such as "2.10"{quoted}') from None
    return value


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def _version(key: str, value: Any, origin: str) -> str:
    """The versions of tfnanlint that a file asks for. Raises `ConfigError` where this one is none
    of them.
    """
    for part in value.split(",") if isinstance(value, str) else ("",):
        match = re.fullmatch(r"\s*(==|!=|>=|<=|>|<)?\s*(\d+(?:\.\d+){0,2})\s*", part)
        if match is None:
            raise ConfigError(f'{origin}: `{key}` must be a version such as ">=0.1,<1"')
        if not _COMPARED[match[1] or "=="](_numbers(__version__), _numbers(match[2])):
            raise ConfigError(
                f"{origin}: tfnanlint {value} is required, but this is tfnanlint {__version__}"
            )
    return value


# What checks the value of a key, by the key's kind. It takes key, value and origin.
_CHECKED: dict[str, Callable[[str, Any, str], Any]] = {
    "rules": _strings,
    "patterns": _strings,
    "names": _strings,
    "rules-by-pattern": _strings_by_pattern,
    "certainty": _certainty,
    "epsilon": _epsilon,
    "modes": _modes,
    "release": _release,
    "version": _version,
    "bytes": _bytes,
    "path": _path,
    "boolean": _boolean,
}


def _numbers(version: str) -> tuple[int, ...]:
    """`0.1` as (0, 1, 0)."""
    numbers = [int(part) for part in re.findall(r"\d+", version)[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))


_ONE_VERSION = r"\s*(==|!=|>=|<=|>|<)?\s*\d+(\.\d+){0,2}\s*"
_STRINGS = {"type": "array", "items": {"type": "string"}}
_OPTIONS = {
    name: {
        "description": meaning[0].upper() + meaning[1:],
        "oneOf": [{"type": "string"}, {**_STRINGS, "minItems": 1}],
    }
    for name, meaning in RULE_OPTIONS.items()
}
_SHAPES: dict[str, dict[str, Any]] = {
    "rules": _STRINGS,
    "patterns": _STRINGS,
    "names": _STRINGS,
    "rules-by-pattern": {"type": "object", "additionalProperties": _STRINGS},
    "options-by-rule": {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": _OPTIONS,
            "additionalProperties": False,
        },
    },
    "certainty": {"enum": list(CERTAINTIES)},
    "boolean": {"type": "boolean"},
    "bytes": {"type": "integer", "exclusiveMinimum": 0},
    "path": {"type": "string", "minLength": 1},
    "version": {
        "type": "string",
        "pattern": rf"^{_ONE_VERSION}(,{_ONE_VERSION})*$",
    },
    "epsilon": {"type": "number", "minimum": LEAST_EPSILON, "maximum": LARGEST_EPSILON},
    "modes": {"type": "array", "items": {"enum": list(MODES)}, "minItems": 1, "uniqueItems": True},
    "release": {"type": "string", "pattern": r"^[12]\.\d{1,2}(\.\d{1,2})?$"},
}


def schema() -> dict[str, Any]:
    """The JSON schema of `tfnanlint.toml`, and of the table `tool.tfnanlint` in
    `pyproject.toml`.
    """
    properties = {}
    for name, key in KEYS.items():
        meaning = key.meaning[0].upper() + key.meaning[1:]
        properties[name] = {"description": meaning, **_SHAPES[key.kind]}
        if key.default is not None:
            properties[name]["default"] = key.default
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "tfnanlint",
        "description": (
            "Settings of tfnanlint: tfnanlint.toml, or [tool.tfnanlint] in pyproject.toml"
        ),
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
