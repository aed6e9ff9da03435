"""The page of a rule has the same sections for every rule, and loses nothing of the docstring."""

from __future__ import annotations

import re

import pytest

from tfnanlint.diagnostics.notices import NOTICES
from tfnanlint.pipeline.repairs import BY_HAND, Repair, stated
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
MOST_WORDS = 45  # of a cell


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug)
def test_sections(rule):
    parts = sections(rule, RULES)
    assert [name for name in SECTIONS if name in parts] == list(parts)
    assert {FINDS, WHY, REPAIR, IGNORE} <= parts.keys()
    assert parts[WHY] and "Bad:" in parts[REPAIR] and "Good:" in parts[REPAIR]
    assert f"# tfn: ignore[{rule.code}]" in parts[IGNORE]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug)
def test_how_to_repair_is_a_table_in_words(rule):
    """Before, after and what changes of every fix that has a name, and of what is done by hand."""
    lines = [line for line in sections(rule)[REPAIR].splitlines() if line.startswith("| ")]
    end = next((at for at, line in enumerate(lines) if line.startswith("| loss |")), len(lines))
    head, *rows = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines[:end])
    assert head == ["repair", "before", "after", "what changes", "how"]
    assert rows and all(len(row) == 5 and all(row) for row in rows)
    named = {row[0].split("`")[1] for row in rows if row[4] != BY_HAND}
    assert named == set(rule.fixes)
    for what, *said, how in rows:
        assert how == BY_HAND or re.fullmatch(r"`--fix( --unsafe-fixes)?`(, or `--fix .*)?", how)
        for cell in (what, *said):
            assert len(cell.split()) <= MOST_WORDS and not cell.endswith(".")
            assert re.match(r"[a-z0-9`]|NaN|Inf|Keras", cell), cell


def test_a_repair_of_another_form_is_refused():
    assert stated("x\n\nRepair: a | b\n  c | d | e\n\ny")[0] == Repair("", "a", "b c", "d", "e")
    assert stated("Repair: `log1p` | b | d |")[0].name == "log1p"
    for wrong in ("Repair: a | b", "Repair: a | | c | d"):
        with pytest.raises(ValueError, match="BEFORE"):
            stated(wrong)


@pytest.mark.parametrize("rule", [*RULES, *NOTICES], ids=lambda rule: rule.slug)
def test_nothing_is_lost(rule):
    labels = r"See it:|See also:|Seen in the wild:|Repair:(?: `\w+` \|)?"
    words = re.sub(labels, " ", rule.doc).split()
    assert not set(words) - set(page(rule, RULES).split())


def test_related_rules_are_named():
    rule = next(rule for rule in RULES if rule.code == "TFN301")
    assert "TFN101 log-of-nonpositive" in sections(rule, RULES)["Related"]


def test_a_class_that_is_always_left_out_is_said_once():
    rule = next(rule for rule in RULES if rule.code == "TFN101")
    assert sections(rule)[IGNORE].count("warnings of the often harmless kinds") == 1
