"""Options of single rules: `[tool.tfnanlint.rules.TFN102]`, checked and brought together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

from tfnanlint.config.keys import RULE_OPTIONS, ConfigError, hint

# By the name of a rule, as it is written, and the name of an option.
Options = dict[str, dict[str, tuple[str, ...]]]
EXAMPLE = '`[rules.TFN102]` with `fix = "divide_no_nan"`'
MOST_TOLD = 20  # options of a table that are told with their lines: to find one takes time
_OWN = re.compile(r"^[ \t]*\[\s*tool\s*\.\s*tfnanlint\b", re.M)
_TABLE = r"""^[ \t]*\[\s*(?:tool\s*\.\s*tfnanlint\s*\.\s*)?["']?rules["']?"""


class Named(Protocol):
    """What is asked of a rule."""

    code: str
    slug: str
    fixes: tuple[str, ...]


class Stated(Protocol):
    """A place that states options."""

    @property
    def rules(self) -> Options | None: ...

    def place(self, key: str) -> str: ...


def checked(table: Any, origin: str, text: str = "") -> Options:
    """The options that a table states, each as a tuple of names; `text` is that of the file, for
    the lines. Raises `ConfigError` with all that is wrong.
    """
    if not isinstance(table, dict):
        raise ConfigError(f"{origin}: `rules` must be a table such as {EXAMPLE}")
    options: Options = {}
    problems: list[str] = []
    for name, stated in table.items():
        if not isinstance(stated, dict):
            place = _place(origin, text, name, "")
            problems.append(f"{place}: `rules.{name[:80]}` must be a table such as {EXAMPLE}")
            if len(problems) >= MOST_TOLD:
                break
            continue
        options[name] = {}
        for option, value in stated.items():
            problem = _problem(name, option, value)
            if problem:
                problems.append(f"{_place(origin, text, name, option)}: {problem}")
            else:
                options[name][option] = (value,) if isinstance(value, str) else tuple(value)
        if len(problems) >= MOST_TOLD:
            break
    if problems:
        raise ConfigError(*problems)
    return options


def _problem(name: str, option: str, value: Any) -> str:
    """What is wrong with an option, in words; "" when nothing is."""
    if option not in RULE_OPTIONS:
        return f"unknown option `rules.{name}.{option}`{hint(option, RULE_OPTIONS)}"
    names = [value] if isinstance(value, str) else value
    if isinstance(names, list) and names and all(isinstance(one, str) for one in names):
        return ""
    return f"`rules.{name}.{option}` must be the name of a fix, or a list of names"


def rows(table: Any, text: str) -> Iterable[tuple[str, int]]:
    """The lines of the first options of a table, as far as they are seen in the file."""
    for name, stated in islice(table.items(), MOST_TOLD) if isinstance(table, dict) else ():
        for option in islice(stated, MOST_TOLD) if isinstance(stated, dict) else ("",):
            if row := row_of(text, name, option):
                yield f"rules.{name}.{option}", row


def row_of(text: str, name: str, option: str) -> int:
    """The line on which an option of a rule stands, or its table; 0 where neither is seen."""
    own = _OWN.search(text)
    start = own.start() if own else 0
    key = rf"""["']?{re.escape(name)}["']?"""
    last = rf"""["']?{re.escape(option)}["']?\s*="""
    header = re.compile(rf"{_TABLE}\s*\.\s*{key}\s*\]", re.M).search(text, start)
    if header is None:
        dotted = re.compile(rf"^[^#\n]*{key}\s*(?:\.\s*{last}|=)", re.M)
        return _row(text, dotted.search(text, start))
    end = re.compile(r"^[ \t]*\[", re.M).search(text, header.end())
    inner = re.compile(rf"^[ \t]*{last}", re.M)
    within = inner.search(text, header.end(), end.start() if end else len(text))
    return _row(text, within if option and within else header)


def _row(text: str, match: re.Match[str] | None) -> int:
    return text.count("\n", 0, match.end()) + 1 if match else 0


def _place(origin: str, text: str, name: str, option: str) -> str:
    """`origin`, which may end in a line, with the line of an option."""
    row = row_of(text, name, option)
    return f"{re.sub(r':[0-9]+$', '', origin)}:{row}" if row else origin


def merged(layers: Iterable[Stated], rules: Iterable[Named] = ()) -> Options:
    """The options of all layers by the codes of the rules; a later layer goes before."""
    codes = {name.lower(): rule.code for rule in rules for name in (rule.code, rule.slug)}
    together: Options = {}
    for stated in layers:
        for name, options in (stated.rules or {}).items():
            code = codes.get(name.lower(), name)
            together[code] = {**together.get(code, {}), **options}
    return together


def chosen_fixes(
    layers: Sequence[Stated], rules: Iterable[Named]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The codes of rules with the names of the fixes that may be offered for them, the best first.
    Raises `ConfigError` for a name that no rule or no fix of the rule has.
    """
    known = {name: rule for rule in rules for name in (rule.code, rule.slug)}
    chosen: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for stated in layers:
        for name, options in (stated.rules or {}).items():
            rule = known.get(name.upper()) or known.get(name.lower())
            place = stated.place(f"rules.{name}.fix")
            if rule is None:
                problems.append(f"{place}: unknown rule `{name}`{hint(name, known)}")
                continue
            problems += [f"{place}: {said}" for said in _unknown(rule, options.get("fix", ()))]
            if "fix" in options:
                chosen[rule.code] = options["fix"]
    if problems:
        raise ConfigError(*problems)
    return tuple(sorted(chosen.items()))


def _unknown(rule: Named, names: Iterable[str]) -> list[str]:
    """What is to be said of names that no fix of a rule has."""
    if not rule.fixes:
        return [f"`rules.{rule.code}.fix`: {rule.code} offers no fix"]
    offered = ", ".join(f"`{name}`" for name in rule.fixes)
    return [
        f"`rules.{rule.code}.fix`: unknown fix `{name}`{hint(name, rule.fixes)};"
        f" {rule.code} offers {offered}"
        for name in names
        if name not in rule.fixes
    ]


def as_written(options: Mapping[str, Mapping[str, tuple[str, ...]]]) -> dict[str, dict[str, Any]]:
    """Options as they are written: a single name as text."""
    return {
        name: {
            option: names[0] if len(names) == 1 else list(names) for option, names in stated.items()
        }
        for name, stated in options.items()
    }
