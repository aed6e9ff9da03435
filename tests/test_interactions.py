"""Rules beside each other: one expression gives one finding, fixes of nested sites settle, no fix brings up another rule's finding."""

from __future__ import annotations

import ast
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest

from tfnanlint.dev import repository
from tfnanlint.findings import Finding
from tfnanlint.fixing import FixResult, fix_source
from tfnanlint.rules import load
from tfnanlint.source import Source

PROGRAMS = [path for path in sorted((repository.ROOT / "fixtures" / "programs").rglob("*.py")) if path.stem != "__init__"]
FILES = pytest.mark.parametrize("path", PROGRAMS + [repository.fixture(rule) for rule in load()], ids=lambda path: f"{path.parent.name}-{path.stem}")

NESTED = {
    "the logarithm of a hand-written softmax inside a cross-entropy inside a mean": (
        "loss = -tf.reduce_mean(tf.reduce_sum(labels * tf.math.log(tf.exp(z) / tf.reduce_sum(tf.exp(z), axis=-1, keepdims=True)), axis=-1))"),
    "the logarithm of a softmax inside a cross-entropy inside a mean": (
        "loss = tf.reduce_mean(-tf.reduce_sum(labels * tf.math.log(tf.nn.softmax(z) + 1e-8), axis=1))"),
    "a division by a norm under a logarithm": "loss = tf.math.log(tf.reduce_sum(z / tf.norm(z, axis=-1, keepdims=True)))",
    "a root under a root": "loss = tf.sqrt(tf.reduce_sum(tf.sqrt(tf.reduce_sum(tf.square(z), axis=-1))))",
    "a logarithm under a root under a logarithm": "loss = tf.math.log(tf.sqrt(tf.nn.relu(tf.math.log(tf.nn.relu(z)))))",
    "logarithms of both sides": "loss = labels * tf.math.log(tf.sigmoid(z)) + (1 - labels) * tf.math.log(1 - tf.sigmoid(z))",
}


def program(line: str) -> Source:
    return Source("nested.py", f"import tensorflow as tf\n\n\ndef step(labels, z, w):\n    with tf.GradientTape() as tape:\n"
                               f"        {line}\n    return tape.gradient(loss, w)\n")


@lru_cache(maxsize=None)
def source_of(path: Path) -> Source:
    return Source.from_bytes(str(path), path.read_bytes())


@lru_cache(maxsize=None)
def fixed(source: Source, unsafe: bool) -> FixResult:
    return fix_source(source, repository.findings, lambda fix: unsafe or fix.claim.safe)


def twice(source: Source, findings: list[Finding]) -> list[str]:
    """Expressions of which more than one rule speaks."""
    said: dict[object, set[str]] = {}
    for one in findings:
        said.setdefault(one.span, set()).add(one.code)
    return [f"{source.slice(span)[:60]}: {sorted(codes)}" for span, codes in said.items() if len(codes) > 1]


def new_rules(before: list[Finding], after: list[Finding]) -> dict[str, int]:
    """Codes of which there are more findings after than before."""
    return dict(Counter(one.code for one in after) - Counter(one.code for one in before))


@FILES
def test_one_expression_gives_one_finding(path):
    source = source_of(path)
    assert twice(source, repository.findings(source)) == []


@FILES
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_fixes_settle_and_bring_up_nothing(path, unsafe):
    source = source_of(path)
    result = fixed(source, unsafe)
    assert new_rules(repository.findings(source), repository.findings(result.source)) == {}
    assert fixed(result.source, unsafe).source.text == result.source.text


@pytest.mark.parametrize("line", NESTED.values(), ids=NESTED)
def test_nested_sites_settle(line):
    source = program(line)
    before = repository.findings(source)
    assert before and twice(source, before) == []
    result = fixed(source, True)
    assert result.applied and not result.problems
    left = [one for one in repository.findings(result.source) if one.fixes]
    assert left == [], [(one.code, one.message) for one in left]
    ast.parse(result.source.text)


@pytest.mark.parametrize("line, said, unsafe", [
    # Without its epsilon the loss moves.
    ("the logarithm of a softmax inside a cross-entropy inside a mean", ["TFN303"], True),
    # The quotient and the logarithm of it are two expressions, each with a hazard of its own.
    ("the logarithm of a hand-written softmax inside a cross-entropy inside a mean", ["TFN101", "TFN306"], False),
    ("the logarithm of a hand-written softmax inside a cross-entropy inside a mean", ["TFN101", "TFN306"], True)])
def test_the_most_useful_form_is_reached(line, said, unsafe):
    source = program(NESTED[line])
    assert sorted(one.code for one in repository.findings(source)) == said
    text = fixed(source, unsafe).source.text
    assert "log_softmax(z" in text or "softmax_cross_entropy_with_logits" in text


def test_two_findings_at_one_place_are_noticed():
    source = program(NESTED["a root under a root"])
    found = repository.findings(source)
    other = Finding("TFN999", "other", source.path, found[0].span, "said again", found[0].certainty)
    assert twice(source, [*found, other]) and new_rules(found, [*found, other]) == {"TFN999": 1}


# Found by reading fixes on the corpus


def test_what_may_be_numpy_is_not_made_a_tensor():
    text = ("import numpy as np\nimport tensorflow as tf\n\n\ndef softmax(p, hard):\n    if hard:\n        p = p == np.max(p)\n"
            "    else:\n        p = np.exp(np.log(p) / 2)\n    p /= p.sum(axis=-1, keepdims=True)\n    return p\n")
    (finding,) = repository.findings(Source("a.py", text))
    assert finding.code == "TFN102" and finding.fixes == () and "NumPy" in finding.no_fix
    tensors = text.replace("p.sum(axis=-1", "tf.reduce_sum(p, axis=-1")
    assert all(one.fixes for one in repository.findings(Source("a.py", tensors)))


def test_two_signs_are_drawn_together():
    source = program("loss = -tf.math.log(1 - tf.nn.sigmoid(z) + 1e-8)")
    (finding,) = [one for one in repository.findings(source, [rule for rule in load() if rule.code == "TFN402"])]
    text = repository.fixed(source, [rule for rule in load() if rule.code == "TFN402"], finding.fixes[0].title).source.text
    assert "loss = tf.math.softplus(z)\n" in text
