"""Executed claims: functions of fixtures/claims, each with the fix it is for and the inputs that it
is run on.

    # fix: use log_softmax of the logits
    # hazard: z = saturated
    # ordinary: z = normal
    def across_a_variable(z):
        p = tf.nn.softmax(z)
        return tf.math.log(p)

The function is linted by the rule that its file is named after, exactly the fix with that title is
applied by the product, and both stages run in TensorFlow: value and gradient, eager, tf.function
and jit_compile. An input is an expression over the names in `stages.vocabulary`: an array whose
first axis counts the inputs of the function. Other lines a case may have:

    # shift: 1e-6                 SHIFTED: how far a value may move where it was finite; more in `shift: value, gradient`
    # finite: reason              the hazard shows in no NaN or Inf of this function (a dead gradient, a wrong mask)
    # modes: eager graph; reason  where the function can be compiled at all
    # float64: no; reason         the function fixes a dtype itself, so that float64 is no reference

A case of a finding without a fix has `# report: words of the message` in the place of `fix`: it is
only run before.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

import outcomes

from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Claim, Finding, Fix
from tfnanlint.rule.registry import Rule, load
from tfnanlint.syntax.source import Source

FOLDER = repository.ROOT / "fixtures" / "claims"
MODES = ("eager", "graph", "xla")
_KEYS = frozenset(("fix", "report", "hazard", "ordinary", "shift", "finite", "modes", "float64"))
_LINE = re.compile(r"# (\w+):\s*(.+)")
# Code that differentiates the function makes the rule see it as differentiated.
_DIFFERENTIATED = """

def differentiate({names}):
    with tf.GradientTape() as tape:
        tape.watch([{names}])
        y = {function}({names})
    return tape.gradient(y, [{names}])
"""


@dataclass(frozen=True)
class Case:
    """One function and what its comments say. `program` is all of the file but the other cases."""

    rule: Rule
    function: str
    names: tuple[str, ...]
    program: str
    says: dict[str, str] = field(hash=False, compare=False)

    @property
    def id(self) -> str:
        return f"{self.rule.slug}-{self.function}"

    @property
    def title(self) -> str:
        return self.says["fix"]

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes to run in, in a fixed order."""
        wanted = self.says["modes"].partition(";")[0].split() if "modes" in self.says else MODES
        return tuple(mode for mode in MODES if mode in wanted)

    @property
    def shift(self) -> tuple[float, float]:
        """How far a value and a gradient may move; relative to 1 or to the number, whichever is
        larger.
        """
        parts = [float(part) for part in self.says.get("shift", "0").split(",")]
        return parts[0], parts[-1]

    @property
    def source(self) -> Source:
        text = self.program + _DIFFERENTIATED.format(
            function=self.function, names=", ".join(self.names)
        )
        return Source(f"{self.function}.py", text)


class Unclear(ValueError):
    """A claims file that cannot be read."""


def cases(rule: Rule | None = None) -> list[Case]:
    """The cases of fixes, of one rule or of all."""
    return [case for case in _all(rule) if "fix" in case.says]


def reports(rule: Rule | None = None) -> list[Case]:
    """The cases of findings without a fix, of one rule or of all."""
    return [case for case in _all(rule) if "report" in case.says]


def _all(rule: Rule | None) -> list[Case]:
    found = []
    for one in load() if rule is None else (rule,):
        path = repository.claims(one)
        if path.exists():
            found += _cases(one, path)
    return found


def _cases(rule: Rule, path: Path) -> list[Case]:
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    functions = {
        node: _comments(lines, node, path)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }
    spans = {
        node: range(node.lineno - 1, node.end_lineno) for node, says in functions.items() if says
    }
    found = []
    for node in spans:
        others = {row for other, rows in spans.items() if other is not node for row in rows}
        program = "".join(
            line for row, line in enumerate(lines) if row not in others and not _LINE.match(line)
        )
        names = tuple(arg.arg for arg in node.args.args)
        found.append(Case(rule, node.name, names, program, functions[node]))
    return found


def _comments(lines: list[str], node: ast.FunctionDef, path: Path) -> dict[str, str]:
    """What the comments right above a function say; empty for a helper."""
    found: dict[str, str] = {}
    row = node.lineno - 2
    while row >= 0 and lines[row].startswith("#"):
        line = _LINE.match(lines[row])
        if line is None or line[1] not in _KEYS or line[1] in found:
            raise Unclear(f"{path.name}:{row + 1}: cannot read {lines[row].strip()!r}")
        found[line[1]] = line[2].strip()
        row -= 1
    if found and (
        not {"hazard", "ordinary"} <= found.keys() or ("fix" in found) == ("report" in found)
    ):
        raise Unclear(
            f"{path.name}:{node.lineno}: a case states fix or report, hazard and ordinary"
        )
    return found


@dataclass(frozen=True)
class Repaired:
    """A case with its fix applied by the product; `rest` are the findings of the rule that are
    left.
    """

    finding: Finding
    fix: Fix
    text: str
    rest: tuple[Finding, ...]


def repaired(case: Case) -> Repaired:
    """Apply exactly the fix that a case names. Raises LookupError when the rule does not offer it."""
    source = case.source
    before = outcomes.findings(source, [case.rule])
    offers = [
        (finding, fix) for finding in before for fix in finding.fixes if fix.title == case.title
    ]
    if not offers:
        said = [
            (finding.message, [fix.title for fix in finding.fixes], finding.no_fix)
            for finding in before
        ]
        raise LookupError(f"no finding offers {case.title!r}; the rule says {said}")
    result = outcomes.fixed_by(source, case.rule, case.title)
    if not result.applied:
        raise LookupError(f"{case.title!r} was not applied: {result.problems}")
    return Repaired(
        *offers[0], result.source.text, tuple(outcomes.findings(result.source, [case.rule]))
    )


# What a claim promises


def promised(fix: Fix) -> str:
    return {
        Claim.EQUAL: "equal",
        Claim.EQUAL_WHERE_FINITE: "equal where finite",
        Claim.SHIFTED: "shifted",
    }[fix.claim]
