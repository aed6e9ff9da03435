"""Which findings explain an incident of a log, best first, each with the reasons."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from tfnanlint.diagnostics.findings import Certainty, Differentiated, Finding
from tfnanlint.ops.table import TABLE, load
from tfnanlint.pipeline.check import Checked
from tfnanlint.pipeline.linter import load_rules
from tfnanlint.syntax.source import Source
from tfnanlint.trace.log import Incident, Place, is_gradient
from tfnanlint.trace.upstream import rows_behind

AT, UPSTREAM, SAME_OP, IN_FILE, ELSEWHERE = 100, 60, 40, 10, 0
_GRADES = {Certainty.MUST: 15, Certainty.MAY: 8, Certainty.UNKNOWN: 0}
_EARLY = 20  # steps
# What shows in the first steps of a training, and what only when outputs saturate or weights grow.
_FIRST = ("TFN107", "TFN408", "TFN5", "TFN6", "TFN8")
_LATER = ("TFN101", "TFN106", "TFN3", "TFN4")


@dataclass(frozen=True, slots=True)
class Located:
    """A place of a log in a file at hand; `row` counts the rows of `source`."""

    place: Place
    source: Source
    row: int


@dataclass(frozen=True, slots=True)
class Fit:
    """A finding that may explain an incident, and why it is thought to; `near` says that it is at
    the line of the incident, or upstream of it.
    """

    checked: Checked
    finding: Finding
    score: int
    reasons: tuple[str, ...]
    near: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """An incident with its place in the files at hand and the findings that fit, best first: those
    near its line, or else what may fit anywhere. `nothing` says why there are none.
    """

    incident: Incident
    located: Located | None
    fits: tuple[Fit, ...]
    nothing: str = ""


def explained(
    incident: Incident,
    paths: Sequence[str],
    check: Callable[[str], Checked | None],
    whole: bool = False,
) -> Explanation:
    """What explains an incident in the files at `paths`; `check` gives the findings of one, those
    of all grades and in preview too where `whole`.
    """
    named = [(place, path) for place in incident.places for path in candidates(place, paths)]
    checked: dict[str, Checked] = {}
    for path in dict.fromkeys([path for _, path in named] + list(paths)):
        result = check(path)
        if result is not None:
            checked[path] = result
    located = _located(incident, named, checked)
    codes = rules_at(incident.op) | rules_at(_node_op(incident.node))
    own = {path for _, path in named}
    fits = [
        fit
        for one in checked.values()
        for fit in _fits(incident, one, located, codes, one.path in own)
    ]
    fits.sort(key=lambda fit: (-fit.score, fit.checked.path, fit.finding.span.start))
    near = [fit for fit in fits if fit.near]
    nothing = "" if fits else _nothing(incident, located, paths, codes, whole)
    return Explanation(incident, located, tuple(near or fits), nothing)


def _nothing(
    incident: Incident,
    located: Located | None,
    paths: Sequence[str],
    codes: frozenset[str],
    whole: bool,
) -> str:
    if not paths:
        return "there are no Python files or notebooks under the given paths"
    place = incident.place
    if place is not None and located is None:
        return f"the log names {place.path}, which is not among the files under the given paths"
    if not codes and not incident.family.rules:
        return "no rule looks for this"
    if whole:
        return "no finding in these files fits, not even with --preview --certainty unknown"
    return "no finding in these files fits; --preview and --certainty unknown look for more"


# Files and lines


def candidates(place: Place, paths: Iterable[str]) -> list[str]:
    """The paths that may be the file a place names, which can be one of another machine: those that
    end alike in the most parts.
    """
    if not place.path.endswith((".py", ".pyw")):
        return [path for path in paths if path.endswith(".ipynb")]
    wanted = _parts(place.path)
    shared = {path: _shared(_parts(os.path.abspath(path)), wanted) for path in paths}
    most = max(shared.values(), default=0)
    return [path for path, count in shared.items() if count == most > 0]


def _parts(path: str) -> list[str]:
    return [part for part in re.split(r"[\\/]", path) if part not in ("", ".", "..", "~")][::-1]


def _shared(parts: list[str], wanted: list[str]) -> int:
    count = 0
    for left, right in zip(parts, wanted):
        if left != right:
            break
        count += 1
    return count


def _located(
    incident: Incident, named: Sequence[tuple[Place, str]], checked: dict[str, Checked]
) -> Located | None:
    """The innermost place of an incident that is in a file at hand."""
    for place in reversed(incident.places):
        for own, path in named:
            row = _row(place, checked[path].source) if own is place and path in checked else 0
            if row:
                return Located(place, checked[path].source, row)
    return None


def _row(place: Place, source: Source) -> int:
    """The row of a source that a place names: by its text where that is quoted, for a file may have
    changed since; 0 where it is not there.
    """
    texts = source.text.splitlines()
    whole = place.path.endswith((".py", ".pyw"))
    at = place.row if whole and 0 < place.row <= len(texts) else 0
    quoted = _plain(place.text)
    if not quoted or at and _plain(texts[at - 1]) == quoted:
        return at
    rows = [row for row, text in enumerate(texts, 1) if _plain(text) == quoted]
    return min(rows, key=lambda row: abs(row - place.row), default=at)


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip("\\ ")


# Ops


def _node_op(node: str) -> str:
    """The kernel that a node of a graph is named after: gradients/loss/Log_grad/mul is of Log."""
    parts = [part for part in node.split("/") if not re.match(r"CheckNumerics|VerifyFinite", part)]
    for part in reversed(parts):
        if is_gradient(part):
            return re.sub(r"(?:_\d+)?(?:_grad|Grad)(?:V\d)?(?:_\d+)?$", "", part)
    return re.sub(r"_\d+$", "", parts[-1]) if parts else ""


@cache
def rules_at(kernel: str) -> frozenset[str]:
    """The codes of the rules that look at the op of a kernel: Log, SqrtGrad, RealDiv, truediv."""
    rows = rows_of(kernel)
    return frozenset(rule.code for rule in load_rules() if not rows.isdisjoint(rule.on))


@cache
def rows_of(kernel: str) -> frozenset[str]:
    """The names of the rows in the table of ops that a kernel, or a node named after one, is of."""
    load()
    bare = re.sub(r"(?:V\d+|Grad(?:V\d)?)+$", "", kernel)
    exact = [TABLE[name] for name in (f"raw.{kernel}", f"raw.{bare}") if name in TABLE]
    if exact:
        return frozenset(row.name for row in exact)
    word = _WORDS.get(bare.lower(), bare.lower())
    return frozenset(
        row.name
        for alias, row in TABLE.items()
        if word and not alias.startswith("method.") and alias.rsplit(".", 1)[-1].lower() == word
    )


# What Python's operators name their nodes, and NumPy its warnings.
_WORDS = {"truediv": "divide", "true_divide": "divide", "div": "divide", "realdiv": "divide"}


# Fits


def _fits(
    incident: Incident,
    checked: Checked,
    located: Located | None,
    codes: frozenset[str],
    named: bool,
) -> list[Fit]:
    """The findings of a file that may fit; `named` says that the log names the file."""
    here = located if located is not None and located.source is checked.source else None
    behind = rows_behind(checked.source, here.row) if here is not None else {}
    scopes = _functions_of(incident.node, checked.source)
    fits = []
    for finding in checked.findings:
        near, where = _place_of(finding, checked.source, here, behind)
        row = checked.source.position(finding.span.start)[0]
        inside = [name for name, rows in scopes if row in rows and not near]
        if inside:
            near, where = UPSTREAM, (f"it is in {inside[0]}(), which the node is named after",)
        kind, why = _kind_of(finding, incident, codes)
        if near or kind:
            score = near + kind + _GRADES[finding.certainty] + (IN_FILE if named else ELSEWHERE)
            fits.append(Fit(checked, finding, score, (*where, *why), near > 0))
    return fits


def _functions_of(node: str, source: Source) -> list[tuple[str, range]]:
    """The functions of a source that a node of a graph is named after, with their rows: Keras makes
    a scope for each loss, and so do programs.
    """
    scopes = {re.sub(r"_\d+$", "", part) for part in node.split("/")}
    return [
        (one.name, range(one.lineno, (one.end_lineno or one.lineno) + 1))
        for one in ast.walk(source.tree)
        if isinstance(one, ast.FunctionDef) and one.name in scopes
    ]


def _place_of(
    finding: Finding, source: Source, located: Located | None, behind: dict[int, int]
) -> tuple[int, tuple[str, ...]]:
    """How near a finding is to the line of an incident, and in which words."""
    if located is None:
        return ELSEWHERE, ()
    first = source.position(finding.span.start)[0]
    last = source.position(max(finding.span.start, finding.span.end))[0]
    if first <= located.row <= last:
        return AT, ("it is on this line",)
    distances = [behind[row] for row in range(first, last + 1) if row in behind]
    if distances and min(distances) == 0:
        return AT - 5, ("it is in this statement",)
    if distances:
        return UPSTREAM - 5 * min(distances), ("the value on this line comes from it",)
    for step in finding.trace:
        if step.path == source.path and step.row == located.row:
            return UPSTREAM, ("its value comes from this line",)
    return ELSEWHERE, ()


def _kind_of(
    finding: Finding, incident: Incident, codes: frozenset[str]
) -> tuple[int, tuple[str, ...]]:
    """How well the rule of a finding fits an incident, and in which words."""
    score, reasons = 0, []
    if finding.code in codes:
        score += SAME_OP
        name = incident.op or _node_op(incident.node)
        reasons.append(f"its rule looks at {name}")
    elif finding.code.startswith(incident.family.rules or ("-",)):
        score += IN_FILE
    if incident.of_gradient and finding.differentiated is Differentiated.YES:
        score += 5
        reasons.append("a gradient is taken through it")
    timed = _timing(finding, incident)
    if timed and score:
        score += 5
        reasons.append(timed)
    return score, tuple(reasons)


def _timing(finding: Finding, incident: Incident) -> str:
    """What the step at which a loss became NaN tells of a finding; empty for nothing."""
    if incident.step is None:
        return ""
    early = incident.step <= _EARLY and incident.epoch in (None, 0, 1)
    if early and finding.code.startswith(_FIRST):
        return "it shows in the first steps"
    if not early and finding.code.startswith(_LATER):
        return "it shows when outputs saturate, some steps on"
    return ""
