"""Settings: read from `tfnanlint.toml`, `pyproject.toml` and flags, checked, and turned into what applies to one file."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from tfnanlint import notices
from tfnanlint.findings import Certainty, Finding

MAX_FILE_SIZE = 2 * 1024 * 1024
_MAX_CONFIG_SIZE = 1024 * 1024

# Directories that hold other people's code, build output or caches; the names are ruff's.
DEFAULT_EXCLUDE = (
    ".bzr .direnv .eggs .git .git-rewrite .hg .ipynb_checkpoints .mypy_cache .nox .pants.d .pyenv .pytest_cache "
    ".pytype .ruff_cache .svn .tox .venv .vscode __pypackages__ _build buck-out build dist node_modules "
    "site-packages venv"
).split()


class ConfigError(Exception):
    """A setting that cannot be followed; the message names the file or flag it came from. Exit code 2."""


class Rule(Protocol):
    """What the front end needs to know of a rule."""

    code: str
    slug: str
    doc: str
    summary: str
    default: frozenset[Certainty]
    preview: bool
    over: tuple[str, ...]


def hint(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` for the nearest known word, or nothing."""
    import difflib

    spellings = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), spellings, n=8, cutoff=0.6)
    # Codes are nearly all alike; the group, which they begin with, tells more than the last digit.
    near.sort(key=lambda name: -len(os.path.commonprefix([name, word.lower()])))
    return f"; did you mean `{spellings[near[0]]}`?" if near else ""


@dataclass(frozen=True, slots=True)
class Layer:
    """The settings that one place states: a configuration file, an inline `--config`, or the flags.

    None means that the place does not say. Patterns are relative to `root`; `origin` is named in errors.
    """

    origin: str = "defaults"
    root: str = ""
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] | None = None
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    certainty: str | None = None
    unsafe_fixes: bool | None = None
    force_exclude: bool | None = None
    respect_gitignore: bool | None = None
    max_file_size: int | None = None


KEYS = {f.name.replace("_", "-"): f.name for f in fields(Layer) if f.name not in ("origin", "root")}
CERTAINTIES = ("default", *(level.name.lower() for level in sorted(Certainty, reverse=True)))


# ---------------------------------------------------------------------------------------------------------
# Reading


def layer(table: dict[str, Any], origin: str, root: str) -> Layer:
    """A checked layer out of a TOML table. Raises `ConfigError` on an unknown key or a value of the wrong kind."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in KEYS:
            where = "; in tfnanlint.toml the keys stand at the top level" if key == "tool" else hint(key, KEYS)
            raise ConfigError(f"{origin}: unknown key `{key}`{where}")
        values[KEYS[key]] = _value(key, value, origin)
    return Layer(origin, root, **values)


def _value(key: str, value: Any, origin: str) -> Any:
    match key:
        case "select" | "extend-select" | "ignore" | "exclude" | "extend-exclude":
            return _strings(key, value, origin)
        case "per-file-ignores":
            if not isinstance(value, dict):
                raise ConfigError(f'{origin}: `{key}` must be a table such as {{ "tests/*" = ["TFN101"] }}')
            return {pattern: _strings(f"{key}.{pattern}", codes, origin) for pattern, codes in value.items()}
        case "certainty":
            if value not in CERTAINTIES:
                near = hint(value, CERTAINTIES) if isinstance(value, str) else ""
                raise ConfigError(f"{origin}: `{key}` must be one of {', '.join(CERTAINTIES)}{near}")
            return value
        case "max-file-size":
            if type(value) is not int or value <= 0:
                raise ConfigError(f"{origin}: `{key}` must be a positive number of bytes")
            return value
    if type(value) is not bool:
        raise ConfigError(f"{origin}: `{key}` must be true or false")
    return value


def _strings(key: str, value: Any, origin: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f'{origin}: `{key}` must be a list of strings such as ["..."]')
    return tuple(value)


def _toml(text: str, origin: str) -> dict[str, Any]:
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib
    _refuse_long_keys(text, origin)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{origin}: not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{origin}: not read: nested too deeply") from None
    except ValueError as error:  # an integer of thousands of digits
        raise ConfigError(f"{origin}: not valid TOML: {error}") from None


def _refuse_long_keys(text: str, origin: str) -> None:
    """The parser takes time and memory with the square of the parts of a dotted key: kilobytes can cost gigabytes."""
    parts = 0
    for mark in re.finditer(r"(?<!\.)\.(?!\.)|[=,\n{}\[\]]", text):
        parts = parts + 1 if mark[0] == "." else 0
        if parts > 100:
            raise ConfigError(f"{origin}: not read: nested too deeply")


def _config_text(path: str) -> str | None:
    """The text of a configuration file; None where there is no such file."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ConfigError(f"{path}: cannot be read: not a regular file")
        data = file.read(_MAX_CONFIG_SIZE + 1)
    if len(data) > _MAX_CONFIG_SIZE:
        raise ConfigError(f"{path}: not read: larger than {_MAX_CONFIG_SIZE >> 20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not valid UTF-8: {error.reason} at byte {error.start}") from None


def _pyproject_table(text: str, path: str) -> dict[str, Any] | None:
    # Most projects have a pyproject.toml and most of those do not speak of tfnanlint: those are not parsed.
    if "tfnanlint" not in text:
        return None
    tool = _toml(text, path).get("tool", {})
    table = tool.get("tfnanlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: `tool.tfnanlint` must be a table")
    return table


def read_directory(directory: str) -> Layer | None:
    """The layer that a directory's own configuration file states; `tfnanlint.toml` goes before `pyproject.toml`."""
    path = os.path.join(directory, "tfnanlint.toml")
    text = _config_text(path)
    if text is not None:
        return layer(_toml(text, path), path, directory)
    path = os.path.join(directory, "pyproject.toml")
    text = _config_text(path)
    table = _pyproject_table(text, path) if text is not None else None
    return layer(table, path, directory) if table is not None else None


def read_option(option: str, root: str) -> Layer:
    """The layer of one `--config` option: the path of a configuration file, or TOML such as `certainty = "may"`."""
    if os.path.exists(option):
        text = _config_text(option)
        if text is None:
            raise ConfigError(f"{option}: cannot be read")
        if os.path.basename(option) == "pyproject.toml":
            return layer(_pyproject_table(text, option) or {}, option, root)
        return layer(_toml(text, option), option, root)
    if "=" in option:
        return layer(_toml(option, "--config"), "--config", root)
    raise ConfigError(f"--config: `{option}` is neither a file nor a setting such as `certainty = \"may\"`")


# ---------------------------------------------------------------------------------------------------------
# Which rules


_PREFIX = re.compile(r"TFN\d{0,3}")


def _chosen(selector: str, rules: Sequence[Rule]) -> tuple[int, list[Rule]]:
    """How specific a selector is, and the rules it stands for; none when it is unknown.

    Rules in preview are chosen by a digit prefix, a code or a slug, not by `ALL` or `TFN`.
    """
    name = selector.strip()
    upper = name.upper()
    if upper in ("ALL", "TFN"):
        return len(upper) if upper == "TFN" else 0, [rule for rule in rules if not rule.preview]
    exact = [rule for rule in rules if upper == rule.code or name.lower() == rule.slug]
    if exact:
        return 6, exact
    if _PREFIX.fullmatch(upper):
        return len(upper), [rule for rule in rules if rule.code.startswith(upper)]
    return 0, []


def _expand(selectors: Iterable[str], rules: Sequence[Rule], origin: str) -> list[tuple[int, list[Rule]]]:
    expanded = []
    for selector in selectors:
        specific, chosen = _chosen(selector, rules)
        if not chosen:
            if any(selector.strip() in (notice.code, notice.slug) for notice in notices.NOTICES):
                raise ConfigError(f"{origin}: `{selector}` can be neither selected nor ignored")
            known = [name for rule in rules for name in (rule.code, rule.slug)]
            raise ConfigError(f"{origin}: unknown rule `{selector}`{hint(selector, known)}")
        expanded.append((specific, chosen))
    return expanded


def _selected(layers: Sequence[Layer], rules: Sequence[Rule]) -> set[str]:
    """The selected codes. As in ruff: a more specific selector wins, and a `select` in a later layer starts afresh."""
    codes = {rule.code for rule in rules if not rule.preview}
    for stated in layers:
        said: list[tuple[int, bool, list[Rule]]] = []
        for on, selectors in ((True, stated.select or ()), (True, stated.extend_select), (False, stated.ignore)):
            said += [(specific, not on, chosen) for specific, chosen in _expand(selectors, rules, stated.origin)]
        if stated.select is not None:
            codes = set()
        for _, off, chosen in sorted(said, key=lambda item: item[:2]):
            for rule in chosen:
                codes.discard(rule.code) if off else codes.add(rule.code)
    return codes


@dataclass(frozen=True, slots=True)
class Policy:
    """What applies to one file: the rules that run, how sure a finding must be, whether idle comments are reported,
    whether fixes that move values are applied, and every known rule by its code.
    """

    rules: tuple[Rule, ...]
    certainty: Certainty | None
    idle: bool
    unsafe_fixes: bool
    known: dict[str, Rule] = field(compare=False)

    def reports(self, finding: Finding) -> bool:
        """Whether a finding is sure enough to be shown."""
        if self.certainty is not None:
            return finding.certainty >= self.certainty
        rule = self.known.get(finding.code)
        return rule is None or finding.certainty in rule.default


# ---------------------------------------------------------------------------------------------------------
# Patterns


class Patterns:
    """gitignore-style patterns, relative to one directory. Raises ValueError on one that cannot be read."""

    def __init__(self, root: str, lines: Sequence[str]):
        import pathspec

        self.root = root
        self._spec = pathspec.GitIgnoreSpec.from_lines(lines)

    def verdict(self, path: str, directory: bool = False) -> bool | None:
        """True when the last pattern that speaks of absolute `path` matches it, False when that one is negated."""
        relative = os.path.relpath(path, self.root).replace(os.sep, "/")
        if relative == "." or relative.startswith("../"):
            return None
        return self._spec.check_file(relative + "/" if directory else relative).include


def _patterns(stated: Layer, lines: Sequence[str]) -> Patterns:
    for line in lines:
        if not bounded(line):
            raise ConfigError(f"{stated.origin}: the pattern `{line[:80]}` has too many stars in one name")
    try:
        return Patterns(stated.root, lines)
    except ValueError as error:
        raise ConfigError(f"{stated.origin}: {error}") from None


def bounded(pattern: str) -> bool:
    """Whether a glob is cheap to match: each further star in a name multiplies the time by the name's length."""
    return len(pattern) <= 1024 and all(len(re.findall(r"\*+", part)) <= 4 for part in pattern.split("/"))


# ---------------------------------------------------------------------------------------------------------
# Settings of a directory


class Settings:
    """The layers that hold for a directory, weakest first."""

    def __init__(self, layers: Sequence[Layer]):
        self.layers = tuple(layers)
        self._policies: dict[frozenset[str], Policy] = {}
        self._selected: set[str] | None = None
        self._exclusions: list[Patterns] | None = None
        self._ignores: list[tuple[Patterns, bool, frozenset[str]]] | None = None

    def _last(self, name: str, default: Any) -> Any:
        for stated in reversed(self.layers):
            value = getattr(stated, name)
            if value is not None:
                return value
        return default

    @property
    def origin(self) -> str:
        """Where the strongest layer came from that is a file; `defaults` when there is none."""
        return next((stated.origin for stated in self.layers if os.path.isabs(stated.origin)), "defaults")

    @property
    def unsafe_fixes(self) -> bool:
        return self._last("unsafe_fixes", False)

    @property
    def force_exclude(self) -> bool:
        return self._last("force_exclude", False)

    @property
    def respect_gitignore(self) -> bool:
        return self._last("respect_gitignore", True)

    @property
    def max_file_size(self) -> int:
        return self._last("max_file_size", MAX_FILE_SIZE)

    @property
    def certainty(self) -> Certainty | None:
        """The least certainty that is reported; None leaves it to each rule."""
        name = self._last("certainty", "default")
        return None if name == "default" else Certainty[name.upper()]

    @property
    def selects(self) -> bool:
        """Whether any layer names rules, so that the names must be checked even when no file needs them."""
        return any(s.select or s.extend_select or s.ignore or s.per_file_ignores for s in self.layers)

    def excludes_name(self, path: str) -> bool:
        """Whether the last part of a path is one of the default exclusions, when these are in force."""
        return os.path.basename(path) in DEFAULT_EXCLUDE and self._last("exclude", None) is None

    def excludes_pattern(self, path: str, directory: bool) -> bool:
        """Whether a configured pattern excludes an absolute path, or a directory that it lies in."""
        if self._exclusions is None:
            stated = next((s for s in reversed(self.layers) if s.exclude is not None), None)
            self._exclusions = [_patterns(stated, stated.exclude)] if stated is not None and stated.exclude else []
            self._exclusions += [_patterns(s, s.extend_exclude) for s in self.layers if s.extend_exclude]
        return any(patterns.verdict(path, directory) for patterns in self._exclusions)

    def policy(self, path: str, rules: Sequence[Rule]) -> Policy:
        """What applies to the file at absolute `path`. Raises `ConfigError` when a setting names no known rule."""
        if self._selected is None:
            self._selected = _selected(self.layers, (*rules, notices.IDLE))
            self._ignores = self._file_ignores((*rules, notices.IDLE))
        ignored = frozenset().union(
            *(codes for patterns, negated, codes in self._ignores if bool(patterns.verdict(path)) != negated)
        )
        if ignored not in self._policies:
            codes = self._selected - ignored
            self._policies[ignored] = Policy(
                rules=tuple(rule for rule in rules if rule.code in codes),
                certainty=self.certainty,
                idle=notices.IDLE.code in codes,
                unsafe_fixes=self.unsafe_fixes,
                known={rule.code: rule for rule in (*rules, *notices.NOTICES)},
            )
        return self._policies[ignored]

    def _file_ignores(self, rules: Sequence[Rule]) -> list[tuple[Patterns, bool, frozenset[str]]]:
        stated = next((s for s in reversed(self.layers) if s.per_file_ignores is not None), None)
        if stated is None:
            return []
        ignores = []
        for pattern, selectors in stated.per_file_ignores.items():
            expanded = _expand(selectors, rules, f"{stated.origin}: per-file-ignores")
            codes = frozenset(rule.code for _, chosen in expanded for rule in chosen)
            negated = pattern.startswith("!")
            ignores.append((_patterns(stated, [pattern.removeprefix("!")]), negated, codes))
        return ignores


class Configuration:
    """The settings of one run: each directory's nearest configuration file, under what the command line states.

    `options` are the values of `--config`; `flags` the layer of the other flags; `isolated` leaves files unread.
    """

    def __init__(self, flags: Layer, options: Sequence[str] = (), isolated: bool = False):
        stated = [read_option(option, flags.root) for option in options]
        files = [one for one in stated if one.origin != "--config"]
        if len(files) > 1:
            raise ConfigError(f"--config: more than one file: {files[0].origin}, {files[1].origin}")
        if files and isolated:
            raise ConfigError("--config: a file cannot be used together with --isolated")
        self._file = files[0] if files else None
        self._above = [one for one in stated if one.origin == "--config"] + [flags]
        self._look_up = not isolated and not files
        self._directories: dict[str, Settings] = {}
        self._default = Settings(([self._file] if files else []) + self._above)

    def for_directory(self, directory: str) -> Settings:
        """The settings for the files in an absolute directory. Raises `ConfigError`."""
        if not self._look_up:
            return self._default
        below = []
        settings = self._directories.get(directory)
        while settings is None:
            below.append(directory)
            stated = read_directory(directory)
            parent = os.path.dirname(directory)
            if stated is not None:
                settings = Settings([stated, *self._above])
            elif parent == directory:
                settings = self._default
            else:
                directory = parent
                settings = self._directories.get(directory)
        self._directories.update((seen, settings) for seen in below)
        return settings

    def for_file(self, path: str) -> Settings:
        return self.for_directory(os.path.dirname(path))
