"""Rules beside each other: one expression gives one finding, fixes of nested sites settle, no fix
brings up another rule's finding.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

import outcomes
import pytest
from combinations import brought_up, deeper, pairs, trial, twice

from tfnanlint.config.layers import Policy
from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.pipeline.check import check_source
from tfnanlint.rule.registry import load
from tfnanlint.syntax.source import Source

PROGRAMS = [
    path
    for path in sorted((repository.ROOT / "fixtures" / "programs").rglob("*.py"))
    if path.stem != "__init__"
]
FILES = pytest.mark.parametrize(
    "path",
    PROGRAMS + [repository.fixture(rule) for rule in load()],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)

NESTED = {
    "the logarithm of a hand-written softmax inside a cross-entropy inside a mean": (
        "loss = -tf.reduce_mean(tf.reduce_sum(labels * tf.math.log(tf.exp(z) / tf.reduce_sum(tf.exp(z), axis=-1, keepdims=True)), axis=-1))"
    ),
    "the logarithm of a softmax inside a cross-entropy inside a mean": (
        "loss = tf.reduce_mean(-tf.reduce_sum(labels * tf.math.log(tf.nn.softmax(z) + 1e-8), axis=1))"
    ),
    "a division by a norm under a logarithm": "loss = tf.math.log(tf.reduce_sum(z / tf.norm(z, axis=-1, keepdims=True)))",
    "a root under a root": "loss = tf.sqrt(tf.reduce_sum(tf.sqrt(tf.reduce_sum(tf.square(z), axis=-1))))",
    "a logarithm under a root under a logarithm": "loss = tf.math.log(tf.sqrt(tf.nn.relu(tf.math.log(tf.nn.relu(z)))))",
    "logarithms of both sides": "loss = labels * tf.math.log(tf.sigmoid(z)) + (1 - labels) * tf.math.log(1 - tf.sigmoid(z))",
}


def program(line: str) -> Source:
    return Source(
        "nested.py",
        f"import tensorflow as tf\n\n\ndef step(labels, z, w):\n    with tf.GradientTape() as tape:\n"
        f"        {line}\n    return tape.gradient(loss, w)\n",
    )


@lru_cache(maxsize=None)
def source_of(path: Path) -> Source:
    return Source.from_bytes(str(path), path.read_bytes())


@pytest.mark.slow
@FILES
def test_one_expression_gives_one_finding(path):
    source = source_of(path)
    assert twice(source, outcomes.findings(source)) == []


@pytest.mark.slow
@FILES
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_fixes_settle_and_bring_up_nothing(path, unsafe):
    source = source_of(path)
    result = outcomes.fixed(source, unsafe)
    assert brought_up(outcomes.findings(source), outcomes.findings(result.source)) == []
    assert outcomes.fixed(result.source, unsafe).source.text == result.source.text


@pytest.mark.parametrize("line", NESTED.values(), ids=NESTED)
def test_nested_sites_settle(line):
    source = program(line)
    before = outcomes.findings(source)
    assert before and twice(source, before) == []
    result = outcomes.fixed(source, True)
    assert result.applied and not result.problems
    left = [one for one in outcomes.findings(result.source) if one.fixes]
    assert left == [], [(one.code, one.message) for one in left]
    ast.parse(result.source.text)


@pytest.mark.parametrize(
    "line, said, unsafe",
    [
        # Without its epsilon the loss moves.
        ("the logarithm of a softmax inside a cross-entropy inside a mean", ["TFN303"], True),
        (
            "the logarithm of a hand-written softmax inside a cross-entropy inside a mean",
            ["TFN306"],
            False,
        ),
        (
            "the logarithm of a hand-written softmax inside a cross-entropy inside a mean",
            ["TFN306"],
            True,
        ),
    ],
)
def test_the_most_useful_form_is_reached(line, said, unsafe):
    source = program(NESTED[line])
    assert sorted(one.code for one in outcomes.findings(source)) == said
    text = outcomes.fixed(source, unsafe).source.text
    assert "log_softmax(z" in text or "softmax_cross_entropy_with_logits" in text


def test_two_findings_at_one_place_are_noticed():
    source = program(NESTED["a root under a root"])
    found = outcomes.findings(source)
    other = Finding("TFN999", "other", source.path, found[0].span, "said again", found[0].certainty)
    assert twice(source, [*found, other]) and brought_up(found, [*found, other]) == ["TFN999"]


# All of them by command: benchmarks/interactions.py --deeper 2000
@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_forms_in_each_other(part):
    """Nothing new after fixing, nothing left that could be fixed, one finding an expression, and no
    fix refused.
    """
    tried = [trial(expression) for expression in list(pairs())[part::64]]
    assert sum(one.found > 0 for one in tried) >= 12
    assert [
        (one.expression, one.faults, one.refused) for one in tried if one.faults or one.refused
    ] == []


@pytest.mark.parametrize("seed", range(4))
def test_forms_in_forms_in_forms(seed):
    tried = [trial(expression) for expression in deeper(12, seed)]
    assert any(one.found for one in tried)
    assert [(one.expression, one.faults) for one in tried if one.faults] == []


TOGETHER = [
    # What the first fix makes known, the second repairs.
    ("1.0 - tf.sqrt(tf.exp(z))", "-tf.math.expm1(0.5 * z)"),
    ("tf.math.log1p(tf.sqrt(tf.exp(z)))", "tf.math.softplus(0.5 * z)"),
]


@pytest.mark.parametrize("before, after", TOGETHER, ids=[before for before, _ in TOGETHER])
def test_a_fix_is_made_together_with_that_of_what_it_brings_up(before, after):
    source = program(f"loss = {before}")
    (finding,) = repository.findings(source)
    result = outcomes.fixed(source, True)
    assert f"loss = {after}\n" in result.source.text and not result.problems
    ((told, fix),) = result.applied
    assert told == finding and "; " in fix.title
    assert result.source.slice(result.regions[0]) in after


def test_what_a_fix_wrote_is_known_after_a_later_one_moved_it_into_its_own_line():
    expression = "-tf.norm(tf.math.log(tf.nn.softmax(z * w)), axis=-1)"
    assert trial(expression).faults == ()
    result = outcomes.fixed(program(f"loss = {expression}"), False)
    assert [told.code for told, _ in result.applied] == ["TFN301", "TFN201"]
    line = [result.source.slice(region) for region in result.regions][0].strip()
    assert line == "squared = tf.reduce_sum(tf.square(tf.nn.log_softmax(z * w)), axis=-1)"


@pytest.mark.parametrize("quotient", ["1.0 / ({})", "tf.divide(1.0, {})"])
def test_a_variance_that_divides_is_left_to_its_author(quotient):
    divisor = "tf.reduce_mean(tf.square(z)) - tf.square(tf.reduce_mean(z))"
    (finding,) = repository.findings(program(f"loss = {quotient.format(divisor)}"))
    assert finding.code == "TFN310" and not finding.fixes
    assert "the variance divides" in finding.no_fix


LOSS = "loss = tf.reduce_sum(labels * tf.math.log(p))"
IDLE = {
    "nothing else reads it": (
        f"p = tf.nn.softmax(z)\n{LOSS}",
        ["loss = tf.reduce_sum(labels * tf.nn.log_softmax(z))"],
    ),
    "one after the other": (
        f"q = tf.nn.softmax(z)\np = tf.identity(q)\n{LOSS}",
        ["loss = tf.reduce_sum(labels * tf.nn.log_softmax(z))"],
    ),
    "logits get a name": (
        f"p = tf.nn.softmax(tf.matmul(z, w))\n{LOSS}",
        ["logits = tf.matmul(z, w)", "loss = tf.reduce_sum(labels * tf.nn.log_softmax(logits))"],
    ),
}
KEPT = {
    "read later": f"p = tf.nn.softmax(z)\n{LOSS}\nloss += tf.reduce_sum(p)",
    "read in a function inside": f"p = tf.nn.softmax(z)\nshow = lambda: p\n{LOSS}",
    "a comment beside it": f"p = tf.nn.softmax(z)  # class probabilities\n{LOSS}",
    "a comment above it": f"# class probabilities\np = tf.nn.softmax(z)\n{LOSS}",
    "a name in the graph": f"p = tf.nn.softmax(z, name='probabilities')\n{LOSS}",
    "assigned to more than a name": f"p = self.p = tf.nn.softmax(z)\n{LOSS}",
    "read by inspection": f"p = tf.nn.softmax(z)\n{LOSS}\nprint(locals())",
    "alone in its block": f"if w is not None:\n    p = tf.nn.softmax(z)\n{LOSS}",
    "beside another statement": f"p = tf.nn.softmax(z); q = 1\n{LOSS}",
    "a name of the module": f"global p\np = tf.nn.softmax(z)\n{LOSS}",
}


def body(lines: str) -> Source:
    return program(lines.replace("\n", "\n        "))


@pytest.mark.parametrize("before, after", IDLE.values(), ids=IDLE)
def test_what_nothing_reads_any_more_goes_with_the_fix(before, after):
    text = outcomes.fixed(body(before), True).source.text
    assert [line.strip() for line in text.splitlines()[5:-1]] == after


@pytest.mark.parametrize("before", KEPT.values(), ids=KEPT)
def test_what_may_be_read_stays(before):
    text = outcomes.fixed(body(before), True).source.text
    assert "log_softmax(" in text, "the loss is fixed all the same"
    (kept,) = [line.strip() for line in before.splitlines() if "tf.nn.softmax(" in line]
    assert kept in text


# Found by reading fixes on the corpus


def test_what_may_be_numpy_is_not_made_a_tensor():
    text = (
        "import numpy as np\nimport tensorflow as tf\n\n\ndef shares(p):\n    p = tf.nn.relu(p)\n"
        "    p /= p.sum(axis=-1, keepdims=True)\n    return p\n"
    )
    (finding,) = repository.findings(Source("a.py", text))
    assert finding.code == "TFN102" and finding.fixes == () and "NumPy" in finding.no_fix
    tensors = text.replace("p.sum(axis=-1", "tf.reduce_sum(p, axis=-1")
    assert all(one.fixes for one in repository.findings(Source("a.py", tensors)))


def test_the_backend_inside_of_keras_has_no_functions_of_its_own():
    text = (
        "from keras.src import backend\nfrom keras.src import ops\n\n\ndef f(y):\n"
        "    return y / ops.std(y, axis=-1, keepdims=True)\n"
    )
    assert (
        "ops.maximum(ops.std(" in outcomes.fixed(Source("a.py", text), True).source.text
        or "ops.sqrt(" in outcomes.fixed(Source("a.py", text), True).source.text
    )
    assert "backend." not in outcomes.fixed(Source("a.py", text), True).source.text


def test_two_signs_are_drawn_together():
    source = program("loss = -tf.math.log(1 - tf.nn.sigmoid(z) + 1e-8)")
    (finding,) = [
        one
        for one in repository.findings(source, [rule for rule in load() if rule.code == "TFN402"])
    ]
    text = repository.fixed(
        source, [rule for rule in load() if rule.code == "TFN402"], finding.fixes[0].title
    ).source.text
    assert "loss = tf.math.softplus(z)\n" in text


def test_what_is_withheld_uncovers_nothing():
    """A clip after a logarithm is withheld where its function is called and nothing says that a
    gradient is taken, and the logarithm with it.
    """
    source = Source(
        "guarded.py",
        "import tensorflow as tf\n\n\ndef shares(x):\n"
        "    return tf.maximum(tf.math.log(tf.nn.relu(x)), -10.0)\n\n\n"
        "def raised(x):\n    return shares(x) + 1.0\n",
    )
    known = {one.code: one for one in load()}
    shown = Policy(
        rules=tuple(known.values()), certainty=None, idle=False, unsafe_fixes=False, known=known
    )
    assert [found.code for found in repository.findings(source)] == ["TFN206"]
    assert check_source(source, shown).findings == ()
    trained = Source("trained.py", source.text.replace("shares(", "share_loss("))
    assert [found.code for found in check_source(trained, shown).findings] == ["TFN206"]
