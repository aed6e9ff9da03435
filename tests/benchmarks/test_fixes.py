"""docs/fixes.md: every rewrite has its figures, the figures keep the promises, and TensorFlow gives
them again.
"""

from __future__ import annotations

import sys

import pytest
from claims import cases

from tfnanlint.dev import repository, scores
from tfnanlint.diagnostics.fix_names import name_of
from tfnanlint.rule.registry import load

sys.path.insert(0, str(repository.ROOT / "benchmarks"))

RESCORED = (
    "log-softmax-direct",
    "division-by-zero-masked_mean",
    "sqrt-gradient-at-zero-half_precision",
    "expm1-direct",
)


def test_the_page_has_the_rewrites_of_the_claims():
    """Stale: run benchmarks/fixes.py (a few minutes of TensorFlow), then python -m
    tfnanlint.dev.docs.
    """
    have = {row["id"]: (row["fix"], row["digest"]) for row in scores.rows()}
    want = {case.id: (case.title, scores.digest(case)) for case in cases()}
    assert len(have) == len(scores.rows()) >= 150
    assert have == want
    page = (repository.ROOT / "docs" / "fixes.md").read_text()
    assert page == scores.page()
    assert all(f"| `{row['function']}` | {row['fix']}" in page for row in scores.rows())


def test_no_rewrite_breaks_its_promise():
    """Finite in every mode after the fix, shape and dtype kept, no digits lost where it says equal."""
    assert scores.faults(scores.rows()) == []


def test_faults_are_noticed():
    row = next(
        one
        for one in scores.rows()
        if one["claim"] == "equal" and one.get("value, model-like") and one["value, model-like"][0]
    )
    for change, word in (
        ({"non-finite value": [[1.0, 0.5]] * len(row["modes"])}, "not finite"),
        ({"kept": False}, "dtype"),
        ({"value, model-like": [[1.0, 2.0, 3.0], [2.5, 3.0, 4.0]]}, "loses 1.5 bits"),
    ):
        assert [word in said for said in scores.faults([{**row, **change}])] == [True]


@pytest.mark.parametrize("rule", load(), ids=lambda rule: rule.slug)
def test_rule_pages_show_the_figures(rule):
    page = (repository.ROOT / "docs" / "rules" / f"{rule.slug}.md").read_text()
    scored = [row for row in scores.rows() if row["code"] == rule.code]
    assert all(f"| `{name_of(row['fix'])}`: " in page for row in scored)


@pytest.mark.tensorflow
def test_tensorflow_gives_the_figures_again():
    pytest.importorskip("tensorflow")
    from fixes import score

    known = {row["id"]: row for row in scores.rows()}
    chosen = [case for case in cases() if case.id in RESCORED]
    assert len(chosen) == len(RESCORED)
    for case in chosen:
        row = score(case)
        assert row.keys() == known[case.id].keys()
        assert {
            key: value for key, value in row.items() if "-like" not in key and "-uniform" not in key
        } == {
            key: value
            for key, value in known[case.id].items()
            if "-like" not in key and "-uniform" not in key
        }
        for key in row:
            if ("-like" in key or "-uniform" in key) and row[key]:
                assert [one and one[0] for one in row[key]] == [
                    one and pytest.approx(one[0], abs=0.25) for one in known[case.id][key]
                ]


# Layers and optimizers make variables, and an index of a maximum is no function of real numbers.
IN_FLOAT64 = {
    "epsilon-vanishes-step_of_adam",
    "logits-as-probabilities-a_layer",
    "division-by-zero-class_weights",
    "range-does-not-fit-loss-linear_into_poisson",
}


def test_the_truth_is_in_real_numbers():
    assert {
        row["id"] for row in scores.rows() if row.get("truth", "mpmath") != "mpmath"
    } <= IN_FLOAT64


REAL = [
    ("1.0 - tf.exp(-x)", 1e-20, 1e-20, 1.0),
    ("tf.math.log(tf.nn.softmax(tf.stack([x, -x]))[1])", 400.0, -800.0, -2.0),
    ("1.0 - tf.sigmoid(x)", 80.0, 1.8048513878454153e-35, -1.8048513878454153e-35),
    ("tf.sqrt(x * x) / tf.norm([x])", 1e-30, 1.0, 0.0),
    ("tf.math.log1p(tf.cast(tf.cast(x, tf.float16), tf.float32)) ** 2.0", 1e-30, 1e-60, 2e-30),
    ("tf.reduce_mean(tf.gather(tf.cumsum([x, x, x]), [0, 2]))", 3.0, 6.0, 2.0),
    ("tf.where(x > 0.0, x, 0.0) / tf.maximum(x, 1e-3)", 1e-3, 1.0, 0.0),
]


@pytest.mark.tensorflow
@pytest.mark.parametrize("expression, x, value, gradient", REAL, ids=[one[0] for one in REAL])
def test_what_floats_lose_the_truth_has(expression, x, value, gradient):
    np = pytest.importorskip("numpy")
    pytest.importorskip("tensorflow")
    import stages
    from exact import Exact

    x = np.asarray(x)
    step = stages._step(
        stages.function(f"import tensorflow as tf\n\n\ndef f(x):\n    return {expression}\n", "f")
    )
    ((found,), (slope,)) = Exact(step, [x]).run([x])
    weight = 1.5  # of the first result
    assert float(found) == pytest.approx(value, rel=1e-6) and float(
        slope
    ) / weight == pytest.approx(gradient, rel=1e-6, abs=1e-9 * abs(value) / x)


@pytest.mark.tensorflow
def test_what_is_not_known_is_not_guessed():
    np = pytest.importorskip("numpy")
    tf = pytest.importorskip("tensorflow")
    from exact import Exact, Unknown

    with pytest.raises(Unknown, match="Lgamma"):
        Exact(lambda x: ([tf.math.lgamma(x)], []), [np.asarray(1.0)])


@pytest.mark.tensorflow
def test_bits_of_error():
    np = pytest.importorskip("numpy")
    pytest.importorskip("tensorflow")
    from fixes import bits

    one = np.float32(1.0)
    answers = np.array(
        [1.0, np.nextafter(one, np.float32(2)), -0.0, -1e-45, np.inf, 1.0], "float32"
    )
    truths = np.array([1.0, 1.0, 0.0, 1e-45, 1.0, 2.0])
    assert bits(answers, truths).tolist() == [
        0.0,
        1.0,
        0.0,
        pytest.approx(np.log2(3)),
        pytest.approx(np.log2(2**23 + 1)),
    ]
