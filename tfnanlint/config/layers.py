"""Settings: read from `tfnanlint.toml`, `pyproject.toml` and flags, checked, and turned into what
applies to one file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Protocol

from tfnanlint.config import plugins
from tfnanlint.config.keys import (
    CERTAINTIES,
    DEFAULT_EXCLUDE,
    KEYS,
    MAX_FILE_SIZE,
    ConfigError,
    checked_value,
    hint,
)
from tfnanlint.config.patterns import Patterns, bounded, separated
from tfnanlint.config.revision import WorkTree
from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import (
    Certainty,
    Differentiated,
    Finding,
    Setup,
    Silence,
    release,
)

if TYPE_CHECKING:
    from tfnanlint.config import rule_options

__all__ = [
    "CERTAINTIES",
    "ConfigError",
    "Configuration",
    "Layer",
    "Policy",
    "Rule",
    "Settings",
    "hint",
    "withheld",
]

_MAX_CONFIG_SIZE = 1024 * 1024
_MAX_UNKNOWN = 20  # keys that are told with their lines


class Files(Protocol):
    """Where configuration is read from: the disk, or a git revision."""

    def read(self, path: str, limit: int = ...) -> bytes | None: ...


class Rule(Protocol):
    """What the front end needs to know of a rule."""

    code: str
    slug: str
    doc: str
    summary: str
    default: frozenset[Certainty]
    preview: bool
    over: tuple[str, ...]
    silent: frozenset[Silence]
    fixes: tuple[str, ...]


def withheld(rule: Rule) -> str:
    """What a rule reports only when asked for (`--certainty`), in words; "" when that is
    nothing.
    """
    classes: dict[tuple[Certainty, str], set[Differentiated | None]] = {}
    for silence in sorted(rule.silent, key=lambda silence: (-silence.certainty, silence.name)):
        taken = classes.setdefault((silence.certainty, silence.where), set())
        taken.add(silence.differentiated)
    said = []
    for (certainty, where), taken in classes.items():
        if taken >= set(Differentiated):
            taken = {None}  # wherever
        kinds = [Silence(certainty, taken_so, where).words for taken_so in sorted(taken, key=str)]
        if taken == {Differentiated.NO, Differentiated.UNKNOWN}:
            kinds = [f"{Silence(certainty, None, where).words} unless a gradient is taken"]
        said += kinds
    return ", ".join(said)


@dataclass(frozen=True, slots=True)
class Layer:
    """The settings that one place states: a configuration file, an inline `--config`, or the flags.

    None means that the place does not say. Patterns are relative to `root`; `origin` is named in
    errors, with the line of the key in `rows`. Only the flags can say that suppression comments
    count for nothing.
    """

    origin: str = "defaults"
    root: str = ""
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] | None = None
    rules: rule_options.Options | None = None
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    certainty: str | None = None
    unsafe_fixes: bool | None = None
    preview: bool | None = None
    force_exclude: bool | None = None
    respect_gitignore: bool | None = None
    max_file_size: int | None = None
    baseline: str | None = None
    epsilon: float | None = None
    modes: tuple[str, ...] | None = None
    target_tensorflow: str | None = None
    ignore_comments: bool | None = None
    fixable: tuple[str, ...] | None = None
    unfixable: tuple[str, ...] = ()
    extend: str | None = None
    required_version: str | None = None
    plugins: tuple[str, ...] | None = None
    rows: tuple[tuple[str, int], ...] = ()

    def place(self, key: str) -> str:
        """Where a key stands: the file and, where that is known, the line."""
        known = dict(self.rows)
        row = known.get(key, known.get(key.partition(".")[0]))
        return self.origin if row is None else f"{self.origin}:{row}"


# --------------------------------------------------------------------------------------------------
# Reading


def layer(table: dict[str, Any], origin: str, root: str, text: str = "") -> Layer:
    """A checked layer out of a TOML table; `text` is that of the file, for the lines of its keys.
    Raises `ConfigError` with all unknown keys and all values of the wrong kind.
    """
    unknown = [key for key in table if key not in KEYS]
    rows = tuple(
        (key, row)
        for key in [*filter(KEYS.__contains__, table), *unknown[:_MAX_UNKNOWN]]
        if (row := _row(text, key))
    )
    if "rules" in table:
        from tfnanlint.config import rule_options

        rows += tuple(rule_options.rows(table["rules"], text))
    places = {key: f"{origin}:{row}" for key, row in rows}
    values: dict[str, Any] = {}
    problems: list[str] = []
    # A file for another version may have keys that this one does not know.
    for key in sorted(table, key=lambda key: key != "required-version"):
        place = places.get(key, origin)
        try:
            values[key.replace("-", "_")] = (
                rule_options.checked(table[key], place, text)
                if key == "rules"
                else _checked(key, table[key], place)
            )
        except ConfigError as error:
            problems += error.args
            if key == "required-version":
                break
    if problems:
        raise ConfigError(*problems)
    return Layer(origin, root, **values, rows=rows)


def _checked(key: str, value: Any, place: str) -> Any:
    """The value of a key. Raises `ConfigError`."""
    if key in KEYS:
        return checked_value(key, value, place)
    at_top = "; in tfnanlint.toml the keys stand at the top level"
    raise ConfigError(f"{place}: unknown key `{key}`{at_top if key == 'tool' else hint(key, KEYS)}")


def _row(text: str, key: str) -> int:
    """The line on which a key of the table of tfnanlint stands; 0 where it is not to be seen."""
    start = re.search(r"^[ \t]*\[\s*tool\s*\.\s*tfnanlint\s*\]", text, re.M)
    name = re.escape(key)
    pattern = rf"""^[ \t]*(?:["']?{name}["']?\s*[=.]|\[[\w\s.]*["']?{name}["']?[\s.\]])"""
    match = re.compile(pattern, re.M).search(text, start.end() if start else 0)
    return text.count("\n", 0, match.end()) + 1 if match else 0


def toml_table(text: str, origin: str) -> dict[str, Any]:
    """The table that TOML states. Raises `ConfigError` for what is no TOML, or nested
    too deeply.
    """
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
    """The parser takes time and memory with the square of the parts of a dotted key: kilobytes can
    cost gigabytes.
    """
    parts = 0
    for mark in re.finditer(r"(?<!\.)\.(?!\.)|[=,\n{}\[\]]", text):
        parts = parts + 1 if mark[0] == "." else 0
        if parts > 100:
            raise ConfigError(f"{origin}: not read: nested too deeply")


def _config_text(path: str, files: Files) -> str | None:
    """The text of a configuration file; None where there is no such file."""
    data = files.read(path, _MAX_CONFIG_SIZE)
    try:
        return None if data is None else data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: not valid UTF-8: {error.reason} at byte {error.start}"
        ) from None


def _pyproject_table(text: str, path: str) -> dict[str, Any] | None:
    # Most projects have a pyproject.toml and most of those do not speak of tfnanlint: those are not
    # parsed.
    if "tfnanlint" not in text:
        return None
    tool = toml_table(text, path).get("tool", {})
    table = tool.get("tfnanlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: `tool.tfnanlint` must be a table")
    return table


def read_directory(directory: str, files: Files) -> tuple[Layer, ...]:
    """The layers that a directory's own configuration file states, weakest first: those of the
    files that it extends, and its own; `tfnanlint.toml` goes before `pyproject.toml`.
    """
    path = os.path.join(directory, "tfnanlint.toml")
    text = _config_text(path, files)
    if text is not None:
        return _extended(layer(toml_table(text, path), path, directory, text), path, files)
    path = os.path.join(directory, "pyproject.toml")
    text = _config_text(path, files)
    table = _pyproject_table(text, path) if text is not None else None
    if text is None or table is None:
        return ()
    return _extended(layer(table, path, directory, text), path, files)


def read_option(option: str, root: str, files: Files) -> tuple[Layer, ...]:
    """The layers of one `--config` option: the path of a configuration file, or TOML such as
    `certainty = "may"`.
    """
    path = os.path.join(root, option)
    text = _config_text(path, files) if "\0" not in option else None
    if text is not None:
        return _extended(_file_layer(text, option, root), path, files)
    if "=" in option:
        return (layer(toml_table(option, "--config"), "--config", root),)
    raise ConfigError(
        f'--config: `{option}` is neither a file nor a setting such as `certainty = "may"`'
    )


def _file_layer(text: str, path: str, root: str) -> Layer:
    """The layer of one file, which is called `path` in errors."""
    project = os.path.basename(path) == "pyproject.toml"
    table = _pyproject_table(text, path) or {} if project else toml_table(text, path)
    return layer(table, path, root, text)


def _extended(stated: Layer, path: str, files: Files) -> tuple[Layer, ...]:
    """A layer behind those of the files that it extends. Raises `ConfigError`."""
    layers = [stated]
    seen = {os.path.normpath(path)}
    while layers[0].extend is not None:
        place = layers[0].place("extend")
        path = os.path.normpath(os.path.join(os.path.dirname(path), layers[0].extend))
        if path in seen:
            raise ConfigError(f"{place}: `extend` forms a cycle: it leads back to {path}")
        seen.add(path)
        text = _config_text(path, files)
        if text is None:
            raise ConfigError(f"{place}: `extend`: there is no file {path}")
        layers.insert(0, _file_layer(text, path, os.path.dirname(path)))
    return tuple(layers)


# --------------------------------------------------------------------------------------------------
# Which rules


_PREFIX = re.compile(r"[A-Z]{2,}\d{0,3}")


def _chosen(selector: str, rules: Sequence[Rule], preview: bool) -> tuple[int, list[Rule]]:
    """How specific a selector is, and the rules it stands for; none when it is unknown.

    Rules in preview are chosen by a digit prefix, a code or a slug; by `ALL` or by letters such as
    `TFN` only with the setting `preview`.
    """
    name = selector.strip()
    upper = name.upper()
    if upper == "ALL" or upper.isalpha() and _PREFIX.fullmatch(upper):
        start = "" if upper == "ALL" else upper
        family = [rule for rule in rules if rule.code.rstrip("0123456789") == start or not start]
        return len(start), [rule for rule in family if preview or not rule.preview]
    exact = [rule for rule in rules if upper == rule.code or name.lower() == rule.slug]
    if exact:
        return 6, exact
    if _PREFIX.fullmatch(upper):
        return len(upper), [rule for rule in rules if rule.code.startswith(upper)]
    return 0, []


def _expand(
    selectors: Iterable[str], rules: Sequence[Rule], origin: str, preview: bool
) -> list[tuple[int, list[Rule]]]:
    expanded: list[tuple[int, list[Rule]]] = []
    problems: list[str] = []
    for selector in selectors:
        specific, chosen = _chosen(selector, rules, preview)
        if chosen:
            expanded.append((specific, chosen))
        elif any(selector.strip() in (notice.code, notice.slug) for notice in notices.NOTICES):
            problems.append(f"{origin}: `{selector}` can be neither selected nor ignored")
        else:
            known = [name for rule in rules for name in (rule.code, rule.slug)]
            problems.append(f"{origin}: unknown rule `{selector}`{hint(selector, known)}")
    if problems:
        raise ConfigError(*problems)
    return expanded


def _selected(layers: Sequence[Layer], rules: Sequence[Rule]) -> set[str]:
    """The selected codes. As in ruff: a more specific selector wins, and a `select` in a later
    layer starts afresh.
    """
    preview = next(
        (stated.preview for stated in reversed(layers) if stated.preview is not None), False
    )
    codes = {rule.code for rule in rules if preview or not rule.preview}
    for stated in layers:
        said: list[tuple[int, bool, list[Rule]]] = []
        for on, key, selectors in (
            (True, "select", stated.select or ()),
            (True, "extend-select", stated.extend_select),
            (False, "ignore", stated.ignore),
        ):
            said += [
                (specific, not on, chosen)
                for specific, chosen in _expand(selectors, rules, stated.place(key), preview)
            ]
        if stated.select is not None:
            codes = set()
        for _, off, chosen in sorted(said, key=lambda item: item[:2]):
            for rule in chosen:
                codes.discard(rule.code) if off else codes.add(rule.code)
    return codes


def _fixable(layers: Sequence[Layer], rules: Sequence[Rule]) -> frozenset[str]:
    """The codes of the rules whose findings may be repaired."""
    stated = next((one for one in reversed(layers) if one.fixable is not None), None)
    codes = {rule.code for rule in rules}
    if stated is not None:
        chosen = _expand(stated.fixable or (), rules, stated.place("fixable"), True)
        codes = {rule.code for _, some in chosen for rule in some}
    for stated_layer in layers:
        for _, some in _expand(
            stated_layer.unfixable, rules, stated_layer.place("unfixable"), True
        ):
            codes.difference_update(rule.code for rule in some)
    return frozenset(codes)


@dataclass(frozen=True, slots=True)
class Policy:
    """What applies to one file: the rules that run, how sure a finding must be, whether idle
    comments are reported, whether fixes that move values are applied, every known rule by its code,
    whether comments hide findings, what the project works with, the codes of rules whose findings
    are not to be repaired, and the fixes that may be offered for those of some rules, by name.

    `mends_notes`: fixes are offered for notes, too, as they are for who asks for these.
    `holding` are rules that a user ignores: they run, and show nothing, so that no more general
    rule speaks in their place.
    """

    rules: tuple[Rule, ...]
    certainty: Certainty | None
    idle: bool
    unsafe_fixes: bool
    known: dict[str, Rule] = field(compare=False)
    comments: bool = True
    setup: Setup = Setup()
    unfixable: frozenset[str] = frozenset()
    fixes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    holding: tuple[Rule, ...] = ()
    mends_notes: bool = False

    @property
    def running(self) -> tuple[Rule, ...]:
        """The rules that run, with those that only hold their places."""
        return (*self.rules, *self.holding) if self.holding else self.rules

    def holds(self, finding: Finding) -> bool:
        """Whether a finding only holds the place of a rule that is ignored."""
        return any(rule.code == finding.code for rule in self.holding)

    def reports(self, finding: Finding) -> bool:
        """Whether a finding is shown: it is sure enough, and concerns the modes and releases that
        the project uses.
        """
        return self.setup.concerns(finding) and self.sure(finding)

    def sure(self, finding: Finding) -> bool:
        """Whether a finding is sure enough to be shown, with what is known of the gradient
        there.
        """
        return self.graded(finding) and not self._silent(finding)

    def withholds(self, finding: Finding) -> bool:
        """Whether a finding is left out by default only because of what is known of the gradient
        there, or of where it shows.
        """
        return self.setup.concerns(finding) and self.graded(finding) and self._silent(finding)

    def _silent(self, finding: Finding) -> bool:
        rule = self.known.get(finding.code)
        return (
            self.certainty is None
            and rule is not None
            and any(one.covers(finding, self.setup) for one in rule.silent)
        )

    def graded(self, finding: Finding) -> bool:
        """Whether a finding is sure enough to be shown wherever no gradient counts: of a draft
        nothing else is known.
        """
        if self.certainty is not None:
            return finding.certainty >= self.certainty
        rule = self.known.get(finding.code)
        return rule is None or finding.certainty_by_values in rule.default

    def drafted(self, finding: Finding) -> bool:
        """Whether the finding of a draft is worth a second look: callers elsewhere may make an
        unknown value known.
        """
        return finding.certainty is Certainty.UNKNOWN or self.shown(finding)

    def shown(self, finding: Finding) -> bool:
        """Whether the finding of a draft would be shown as it is."""
        return self.setup.concerns(finding) and self.graded(finding)


# --------------------------------------------------------------------------------------------------
# Patterns


def _patterns(stated: Layer, lines: Sequence[str]) -> Patterns:
    for line in lines:
        if not bounded(line):
            raise ConfigError(f"{stated.origin}: the pattern `{line[:80]}` has too many stars")
    try:
        return Patterns(stated.root, [separated(line) for line in lines])
    except ValueError as error:
        raise ConfigError(f"{stated.origin}: {error}") from None


# --------------------------------------------------------------------------------------------------
# Settings of a directory


# What says which files are checked and which findings are shown, but not what is found in a file.
_ABOUT_FILES = frozenset(
    (
        "origin root exclude extend_exclude force_exclude respect_gitignore max_file_size "
        "baseline extend required_version rows"
    ).split()
)


def _effects(stated: Layer) -> list[tuple[str, Any]]:
    """Those values of a layer on which it depends what is found in a file."""
    patterns = [("root", stated.root)] if stated.per_file_ignores else []
    return patterns + [
        (one.name, value)
        for one in fields(stated)
        if one.name not in _ABOUT_FILES and (value := getattr(stated, one.name)) != one.default
    ]


class Settings:
    """The layers that hold for a directory, weakest first."""

    def __init__(self, layers: Sequence[Layer]):
        self.layers = tuple(layers)
        self._policies: dict[frozenset[str], Policy] = {}
        self._identity: str | None = None
        self._selected: set[str] | None = None
        self._unfixable: set[str] = set()
        self._fixes: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self._ignored: set[str] = set()  # the codes of rules that run but for `ignore`
        self._exclusions: list[Patterns] | None = None
        self._ignores: list[tuple[Patterns, bool, frozenset[str]]] | None = None

    def _last(self, name: str, default: Any) -> Any:
        for stated in reversed(self.layers):
            value = getattr(stated, name)
            if value is not None:
                return value
        return default

    DEFAULTS = "defaults"

    def stated(self, key: str, rules: Sequence[Rule] = ()) -> tuple[Any, str]:
        """The value of a key as it was written, and where; where values add up, all of them and all
        places. Options of rules are by the codes of `rules`.
        """
        name = key.replace("-", "_")
        said = [one for one in self.layers if getattr(one, name) not in (None, ())]
        if key == "rules" and said:
            from tfnanlint.config import rule_options

            options = rule_options.as_written(rule_options.merged(said, rules))
            return options, ", ".join(one.origin for one in said)
        if key not in ("extend-select", "ignore", "extend-exclude", "unfixable"):
            said = said[-1:]
        if not said:
            return KEYS[key].default, self.DEFAULTS
        first = getattr(said[0], name)
        value = (
            [item for one in said for item in getattr(one, name)]
            if isinstance(first, tuple)
            else first
        )
        return value, ", ".join(one.origin for one in said)

    @property
    def identity(self) -> str:
        """What two directories have in common in whose files the same is found and repaired;
        patterns tell files apart.
        """
        if self._identity is None:
            self._identity = repr([said for said in map(_effects, self.layers) if said])
        return self._identity

    @property
    def origin(self) -> str:
        """Where the strongest layer came from that is a file; `defaults` when there is none."""
        return next(
            (stated.origin for stated in self.layers if os.path.isabs(stated.origin)), "defaults"
        )

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
    def baseline(self) -> str | None:
        """The absolute path of the baseline; None when none is named."""
        stated = next((one for one in reversed(self.layers) if one.baseline is not None), None)
        if stated is None or not stated.baseline:  # `--no-baseline` is an empty name
            return None
        return os.path.normpath(os.path.join(stated.root, stated.baseline))

    @property
    def setup(self) -> Setup:
        target, defaults = self._last("target_tensorflow", None), Setup()
        return Setup(
            self._last("epsilon", defaults.epsilon),
            frozenset(self._last("modes", defaults.modes)),
            None if target is None else release(target),
        )

    @property
    def certainty(self) -> Certainty | None:
        """The least certainty that is reported; None leaves it to each rule."""
        name = self._last("certainty", "default")
        return None if name == "default" else Certainty[name.upper()]

    @property
    def selects(self) -> bool:
        """Whether any layer names rules, so that the names must be checked even when no file needs
        them.
        """
        return any(
            s.select
            or s.extend_select
            or s.ignore
            or s.per_file_ignores
            or s.fixable
            or s.unfixable
            or s.rules
            for s in self.layers
        )

    def excludes_name(self, path: str) -> bool:
        """Whether the last part of a path is one of the default exclusions, when these are in
        force.
        """
        return os.path.basename(path) in DEFAULT_EXCLUDE and self._last("exclude", None) is None

    def excludes_pattern(self, path: str, directory: bool) -> bool:
        """Whether a configured pattern excludes an absolute path, or a directory that it lies
        in.
        """
        if self._exclusions is None:
            stated = next((s for s in reversed(self.layers) if s.exclude is not None), None)
            self._exclusions = (
                [_patterns(stated, stated.exclude)] if stated is not None and stated.exclude else []
            )
            self._exclusions += [
                _patterns(s, s.extend_exclude) for s in self.layers if s.extend_exclude
            ]
        return any(patterns.verdict(path, directory) for patterns in self._exclusions)

    def policy(self, path: str, rules: Sequence[Rule]) -> Policy:
        """What applies to the file at absolute `path`. Raises `ConfigError` when a setting names no
        known rule.
        """
        if self._selected is None:
            self._selected = _selected(self.layers, (*rules, notices.IDLE))
            self._ignores = self._file_ignores((*rules, notices.IDLE))
            known = {rule.code for rule in (*rules, notices.IDLE)}
            self._unfixable = known - _fixable(self.layers, (*rules, notices.IDLE))
            if any(stated.rules for stated in self.layers):
                from tfnanlint.config import rule_options

                self._fixes = rule_options.chosen_fixes(self.layers, rules)
            willing = [replace(stated, ignore=()) for stated in self.layers]
            self._ignored = _selected(willing, (*rules, notices.IDLE)) - self._selected
        ignored = frozenset().union(
            *(
                codes
                for patterns, negated, codes in self._ignores
                if bool(patterns.verdict(path)) != negated
            )
        )
        if ignored not in self._policies:
            codes = self._selected - ignored
            held = self._ignored | (self._selected & ignored)
            self._policies[ignored] = Policy(
                rules=tuple(rule for rule in rules if rule.code in codes),
                certainty=self.certainty,
                idle=notices.IDLE.code in codes,
                unsafe_fixes=self.unsafe_fixes,
                known={rule.code: rule for rule in (*rules, *notices.NOTICES)},
                comments=not self._last("ignore_comments", False),
                setup=self.setup,
                unfixable=frozenset(self._unfixable),
                fixes=self._fixes,
                mends_notes=self.certainty is Certainty.UNKNOWN,
                holding=tuple(
                    rule for rule in rules if rule.code in held and not codes.isdisjoint(rule.over)
                ),
            )
        return self._policies[ignored]

    def _file_ignores(self, rules: Sequence[Rule]) -> list[tuple[Patterns, bool, frozenset[str]]]:
        stated = next((s for s in reversed(self.layers) if s.per_file_ignores is not None), None)
        if stated is None:
            return []
        ignores = []
        for pattern, selectors in stated.per_file_ignores.items():
            expanded = _expand(
                selectors, rules, f"{stated.place('per-file-ignores')}: per-file-ignores", True
            )
            codes = frozenset(rule.code for _, chosen in expanded for rule in chosen)
            negated = pattern.startswith("!")
            ignores.append((_patterns(stated, [pattern.removeprefix("!")]), negated, codes))
        return ignores


class Configuration:
    """The settings of one run: each directory's nearest configuration file, under what the command
    line states.

    `options` are the values of `--config`; `flags` the layer of the other flags; `isolated` leaves
    files unread; `files` is where they are read from. With `trusted` flags and options are the
    user's own words, and may allow plugins. `plugins` are those that may run.
    """

    def __init__(
        self,
        flags: Layer,
        options: Sequence[str] = (),
        isolated: bool = False,
        files: Files | None = None,
        trusted: bool = True,
    ):
        self.files = files or WorkTree()
        stated = [read_option(option, flags.root, self.files) for option in options]
        named = [layers for layers in stated if layers[-1].origin != "--config"]
        if len(named) > 1:
            first, second = named[0][-1].origin, named[1][-1].origin
            raise ConfigError(f"--config: more than one file: {first}, {second}")
        if named and isolated:
            raise ConfigError("--config: a file cannot be used together with --isolated")
        inline = [one for layers in stated for one in layers if one.origin == "--config"]
        self._above = [*inline, flags]
        self._look_up = not isolated and not named
        self._directories: dict[str, Settings] = {}
        self._default = Settings([*(named[0] if named else ()), *self._above])
        mine = self._default.layers if trusted else ()
        self.plugins = self._allowed(mine, isolated)
        plugins.refuse_others(self._default.layers, self.plugins)

    def _allowed(self, mine: Sequence[Layer], isolated: bool) -> tuple[str, ...]:
        """The plugins that the user allows: on the command line, in the environment, and in a file
        of their own.
        """
        allowed = [name for one in mine for name in one.plugins or ()]
        allowed += plugins.named_by_variable()
        path = plugins.user_file()
        text = None if isolated else _config_text(path, WorkTree())
        if text is not None:
            stated = layer(toml_table(text, path), path, os.path.dirname(path), text)
            if others := {key for key, _ in stated.rows} - {"plugins"}:
                raise ConfigError(
                    f"{path}: only `plugins` is allowed in this file, not `{min(others)}`"
                )
            allowed += stated.plugins or ()
        return tuple(dict.fromkeys(allowed))

    def for_directory(self, directory: str) -> Settings:
        """The settings for the files in an absolute directory. Raises `ConfigError`."""
        if not self._look_up:
            return self._default
        below = []
        settings = self._directories.get(directory)
        while settings is None:
            below.append(directory)
            stated = read_directory(directory, self.files)
            parent = os.path.dirname(directory)
            if stated:
                plugins.refuse_others(stated, self.plugins)
                settings = Settings([*stated, *self._above])
            elif parent == directory:
                settings = self._default
            else:
                directory = parent
                settings = self._directories.get(directory)
        self._directories.update((seen, settings) for seen in below)
        return settings

    def for_file(self, path: str) -> Settings:
        return self.for_directory(os.path.dirname(path))
