"""Findings and fixes of a text, computed once in a process: many tests ask for those of fixtures.

A test that changes the analysis asks `tfnanlint.dev.repository`, which computes them every time.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.pipeline.fix import FixResult, fix_source
from tfnanlint.rule.registry import Rule
from tfnanlint.syntax.source import Source


def findings(source: Source, rules: Iterable[Rule] | None = None) -> list[Finding]:
    """What `repository.findings` returns."""
    return list(_findings(source.path, source.text, None if rules is None else tuple(rules)))


@lru_cache(maxsize=1024)
def _findings(path: str, text: str, rules: tuple[Rule, ...] | None) -> tuple[Finding, ...]:
    return tuple(repository.findings(Source(path, text), rules))


def fixed(source: Source, unsafe: bool = True) -> FixResult:
    """A text after `--fix`, with `--unsafe-fixes` or without."""
    return _fixed(source.path, source.text, unsafe)


def fixed_by(source: Source, rule: Rule, title: str) -> FixResult:
    """A text after all fixes of one title that a rule offers."""
    return fix_source(
        source, lambda changed: findings(changed, [rule]), lambda fix: fix.title == title
    )


@lru_cache(maxsize=1024)
def _fixed(path: str, text: str, unsafe: bool) -> FixResult:
    return fix_source(Source(path, text), findings, lambda fix: fix.claim.safe or unsafe)
