"""The page of a rule has the same sections for every rule, and loses nothing of the docstring."""

from __future__ import annotations

import re

import pytest

from tfnanlint.diagnostics.notices import NOTICES
from tfnanlint.pipeline.rule_page import (
    FINDS,
    IGNORE,
    REPAIR,
    SECTIONS,
    WHY,
    page,
    sections,
)
from tfnanlint.rule.registry import load

RULES = load()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug)
def test_sections(rule):
    parts = sections(rule, RULES)
    assert [name for name in SECTIONS if name in parts] == list(parts)
    assert {FINDS, WHY, REPAIR, IGNORE} <= parts.keys()
    assert parts[WHY] and "Bad:" in parts[REPAIR] and "Good:" in parts[REPAIR]
    assert f"# tfn: ignore[{rule.code}]" in parts[IGNORE]


@pytest.mark.parametrize("rule", [*RULES, *NOTICES], ids=lambda rule: rule.slug)
def test_nothing_is_lost(rule):
    labels = r"See it:|See also:|Seen in the wild:"
    words = re.sub(labels, " ", rule.doc).split()
    assert not set(words) - set(page(rule, RULES).split())


def test_related_rules_are_named():
    rule = next(rule for rule in RULES if rule.code == "TFN301")
    assert "TFN101 log-of-nonpositive" in sections(rule, RULES)["Related"]


def test_a_class_that_is_always_left_out_is_said_once():
    rule = next(rule for rule in RULES if rule.code == "TFN101")
    assert sections(rule)[IGNORE].count("warnings of the kinds named here") == 1
