"""Every rule: its documented examples, its fixture, its golden file, and that fixing settles.
Claims: test_claims.py.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import lru_cache

import fixture_sizes
import outcomes
import pytest
from expectations import Expectation, expectations, mentions, row

from tfnanlint.dev import catalogue, repository
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.rule.registry import Rule, load
from tfnanlint.syntax.source import Source

RULES = pytest.mark.parametrize("rule", load(), ids=lambda rule: rule.slug)


@lru_cache(maxsize=None)
def source_of(rule: Rule) -> Source:
    path = repository.fixture(rule)
    return Source.from_bytes(path.name, path.read_bytes())


@lru_cache(maxsize=None)
def found_in(rule: Rule) -> tuple[Finding, ...]:
    """All findings of all rules in a rule's fixture, as a user would see them."""
    return tuple(outcomes.findings(source_of(rule)))


@lru_cache(maxsize=None)
def fixed_of(rule: Rule):
    return outcomes.fixed(source_of(rule))


# Documentation


@RULES
def test_bad_example_is_reported(rule):
    for code in catalogue.examples(rule, "Bad"):
        source = Source("bad.py", catalogue.program(code))
        assert [f for f in repository.findings(source) if f.code == rule.code], (
            f"not reported:\n{source.text}"
        )


@RULES
def test_good_example_is_silent(rule):
    for code in catalogue.examples(rule, "Good"):
        source = Source("good.py", catalogue.program(code))
        assert not [f"{f.code} {f.message}" for f in repository.findings(source)], source.text


# Fixtures


@RULES
def test_fixture(rule):
    source = source_of(rule)
    stated = [one for one in expectations(source.text) if one.code in ("", rule.code)]
    found = [f for f in found_in(rule) if f.code == rule.code]
    assert not missing(source, stated, found) + surplus(source, stated, found)


def missing(source: Source, stated: list[Expectation], found: list[Finding]) -> list[str]:
    """Wanted findings that are not there, and todo lines that have come right."""
    problems = []
    for one in stated:
        there = [f for f in found if row(source, f) == one.line]
        if one.kind == "want" and not any(mentions(source, f, one.text) for f in there):
            problems.append(
                f"line {one.line}: no finding says {one.text!r}: {[f.message for f in there]}"
            )
        if one.kind == "todo-want" and any(mentions(source, f, one.text) for f in there):
            problems.append(f"line {one.line}: it is found now, write want instead of todo-want")
        if one.kind == "todo-ok" and not there:
            problems.append(f"line {one.line}: it is silent now, write ok instead of todo-ok")
    return problems


def surplus(source: Source, stated: list[Expectation], found: list[Finding]) -> list[str]:
    """Findings on lines where fewer of them, or none, are wanted."""
    wanted = Counter(e.line for e in stated if e.kind == "want")
    excused = {e.line for e in stated if e.kind == "todo-ok"}
    counted = Counter(row(source, f) for f in found)
    return [
        f"line {line}: {count} findings, {wanted[line]} wanted: {[f.message for f in found if row(source, f) == line]}"
        for line, count in counted.items()
        if count > wanted[line] and line not in excused
    ]


@RULES
def test_ok_lines_are_silent_for_every_rule(rule):
    source = source_of(rule)
    silent = {e.line for e in expectations(source.text) if e.kind == "ok" and not e.code}
    assert not [
        f"line {row(source, f)}: {f.code} {f.message}"
        for f in found_in(rule)
        if row(source, f) in silent
    ]


# Fixes


@pytest.mark.parametrize("rule", fixture_sizes.rules())
def test_golden_file(rule):
    golden = repository.golden(rule)
    assert golden.exists(), f"run: python -m tfnanlint.dev.bless {rule.slug}"
    assert golden.read_text() == fixed_of(rule).source.text, (
        f"run python -m tfnanlint.dev.bless {rule.slug} and read the difference"
    )


@pytest.mark.parametrize("rule", fixture_sizes.rules())
@pytest.mark.slow
def test_fixing_settles(rule):
    once = fixed_of(rule)
    ast.parse(once.source.text)
    again = outcomes.fixed(once.source)
    assert again.source.text == once.source.text
    assert not again.applied
    left = [
        f
        for f in outcomes.findings(once.source)
        if f.code == rule.code and any(fix.applies(True) for fix in f.fixes)
    ]
    refused = [problem for problem in once.problems if problem.startswith(rule.code)]
    assert len(left) <= len(refused), [f"line {row(once.source, f)}: {f.message}" for f in left]


@pytest.mark.parametrize("rule", fixture_sizes.rules())
def test_no_fix_is_refused(rule):
    """A fix that is offered holds: what cannot be fixed says so in the finding."""
    assert not fixed_of(rule).problems


# Messages


NAME = re.compile(r"[A-Z]\w*[(.'\[]|'|(?:NaN|Inf|XLA|TensorFlow|Keras|Python|Adam|Infinity)\b")


@RULES
def test_messages(rule):
    found = [f for f in found_in(rule) if f.code == rule.code]
    assert found
    assert not [
        problem
        for f in found
        for problem in (*misworded(f.message), *(p for x in f.fixes for p in misworded(x.title)))
    ]


def misworded(text: str) -> list[str]:
    """What a message or title does against the conventions."""
    problems = [
        ("more than one line", "\n" in text),
        ("ends in a period", text.endswith(".")),
        ("empty", not text.strip()),
        ("longer than 200 characters", len(text) > 200),
        ("starts with a capital", text[:1].isupper() and not NAME.match(text)),
    ]
    return [f"{problem}: {text}" for problem, is_so in problems if is_so]


@RULES
def test_summary_is_one_sentence(rule):
    assert (
        rule.summary.endswith(".")
        and not rule.summary.startswith(rule.code)
        and len(rule.summary) <= 100
    )


def test_a_wrong_fixture_is_noticed():
    rule = next(one for one in load() if one.code == "TFN301")
    text = "import tensorflow as tf\n\n\ndef f(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
    source = Source("wrong.py", text)
    found = [f for f in repository.findings(source, [rule]) if f.code == rule.code]
    stated = {
        "want": [Expectation(5, "want", rule.code, "softmax")],
        "text": [Expectation(5, "want", rule.code, "sigmoid")],
        "elsewhere": [Expectation(4, "want", rule.code)],
        "none": [],
        "todo-want": [Expectation(5, "todo-want", rule.code)],
        "todo-ok": [Expectation(5, "todo-ok", rule.code)],
    }
    wrong = {
        name
        for name, one in stated.items()
        if missing(source, one, found) + surplus(source, one, found)
    }
    assert wrong == {"text", "elsewhere", "none", "todo-want"}
