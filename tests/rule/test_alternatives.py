"""Repairs that are offered side by side: each says what it promises, and in words what it costs."""

from __future__ import annotations

import re

import outcomes
import pytest

from tfnanlint.dev import catalogue, repository
from tfnanlint.diagnostics.findings import Claim
from tfnanlint.report import json
from tfnanlint.rule.registry import load
from tfnanlint.syntax.source import Source

# What these change has no size: another function is computed, a test or a guard starts to work, a
# loss gets what it is made for.
NO_NUMBER = frozenset(
    "TFN204 TFN205 TFN313 TFN405 TFN406 TFN407 TFN408 TFN501 TFN502 TFN503 TFN504 TFN601 TFN901".split()
)


@pytest.mark.parametrize("rule", load(), ids=lambda rule: rule.slug)
def test_each_fix_has_a_claim_and_a_cost(rule):
    for path in (repository.fixture(rule), repository.claims(rule)):
        source = (
            Source.from_bytes(path.name, path.read_bytes())
            if path.exists()
            else Source(path.name, "")
        )
        for finding in outcomes.findings(source, [rule]):
            titles = [fix.title for fix in finding.fixes]
            assert len(set(titles)) == len(titles) and all(titles), titles
            told = json.as_dict(finding, source)
            offered = sorted(finding.fixes, key=lambda fix: bool(fix.suggested))
            for fix, shown in zip(offered, told["fixes"] + told["suggestions"], strict=True):
                assert (
                    isinstance(fix.claim, Claim)
                    and shown["claim"] == fix.claim.value
                    and shown["cost"] == fix.cost
                )
                if fix.claim is Claim.SHIFTED:
                    assert len(fix.cost.split()) >= 3, f"{fix.title}: the cost in words"
                    assert rule.code in NO_NUMBER or re.search(r"\d", fix.cost), (
                        f"{fix.title}: by how much, in {fix.cost!r}"
                    )


def test_alternatives_are_many():
    """Floor, double where, logits form, divide_no_nan, smooth term: rules have them side by side."""
    several = {
        rule.code
        for rule in load()
        if len({catalogue.plain_title(one.text) for one in catalogue.stated_fixes(rule)}) > 1
    }
    assert {
        "TFN101",
        "TFN102",
        "TFN104",
        "TFN201",
        "TFN202",
        "TFN203",
        "TFN206",
        "TFN207",
        "TFN303",
        "TFN401",
        "TFN404",
    } <= several
