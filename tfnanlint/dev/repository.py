"""Where things stand in a checkout, and the whole pipeline with every rule at its default
grades.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Iterable

from tfnanlint.config.layers import Policy
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.pipeline.check import check_source
from tfnanlint.pipeline.fix import FixResult, fix_source
from tfnanlint.rule.registry import Rule, load
from tfnanlint.syntax.source import Source

ROOT = Path(__file__).resolve().parents[2]


def stem(rule: Rule) -> str:
    """The name that a rule's file, fixture, golden file and claims share."""
    return rule.slug.replace("-", "_")


def rule_file(rule: Rule, root: Path = ROOT) -> Path:
    return root / "rules" / f"{stem(rule)}.py"


def fixture(rule: Rule, root: Path = ROOT) -> Path:
    """What the rule finds and what it leaves alone, in want and ok comments."""
    return root / "fixtures" / "rules" / f"{stem(rule)}.py"


def golden(rule: Rule, root: Path = ROOT) -> Path:
    """The fixture after `--fix --unsafe-fixes`, as a person has read and approved it."""
    return root / "fixtures" / "rules" / f"{stem(rule)}.fixed.py"


def claims(rule: Rule, root: Path = ROOT) -> Path:
    """Functions whose fixes are executed."""
    return root / "fixtures" / "claims" / f"{stem(rule)}.py"


def policy(rules: Iterable[Rule] | None = None) -> Policy:
    """`rules` (all of them when not given) at their default grades, also where they are silent
    (`--certainty` shows that), with fixes that move values and those of notes.
    """
    chosen = tuple(map(outspoken, load() if rules is None else rules))
    return Policy(
        rules=chosen,
        certainty=None,
        idle=False,
        unsafe_fixes=True,
        mends_notes=True,
        known={one.code: outspoken(one) for one in load()},
    )


def outspoken(rule: Rule) -> Rule:
    """A rule that withholds nothing of what it reports by default elsewhere: what fixtures show."""
    return replace(rule, silent=frozenset())


def findings(source: Source, rules: Iterable[Rule] | None = None) -> list[Finding]:
    return list(check_source(source, policy(rules)).findings)


def fixed(
    source: Source, rules: Iterable[Rule] | None = None, title: str | None = None
) -> FixResult:
    """The source after all fixes, also those that are only suggested; with a `title`, after the
    fixes of that title only.
    """
    settings = policy(rules)
    return fix_source(
        source,
        lambda changed: list(check_source(changed, settings).findings),
        lambda fix: title is None or fix.title == title,
    )
