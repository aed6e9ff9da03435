"""TFN103: the grade and the advice by what the root is taken of."""

from __future__ import annotations

import pytest

from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

PROGRAM = "import tensorflow as tf\n\n\ndef f(x):\n    return {}\n"


@pytest.mark.parametrize(
    ("radicand", "grade"),
    [
        ("tf.cos(x) - 1.5", "MUST"),
        ("tf.cos(x) - 0.5", "MAY"),
        ("tf.cos(x) - 1.0", "MAY"),  # 0 is no error
        ("tf.cos(x) + 1.0", None),
    ],
)
def test_only_what_is_always_below_zero_is_an_error(radicand, grade):
    findings = repository.findings(Source("a.py", PROGRAM.format(f"tf.sqrt({radicand})")))
    grades = [finding.certainty.name for finding in findings if finding.code == "TFN103"]
    assert grades == ([] if grade is None else [grade])


@pytest.mark.parametrize("op, is_told", [("reduce_sum", True), ("reduce_mean", False)])
def test_the_mean_is_to_be_subtracted_from_what_is_summed(op, is_told):
    n = "tf.cast(tf.shape(x)[0], tf.float32)"
    variance = {
        "reduce_sum": f"tf.reduce_sum(x * x, 0) - tf.square(tf.reduce_sum(x, 0)) / {n}",
        "reduce_mean": "tf.reduce_mean(x * x, 0) - tf.square(tf.reduce_mean(x, 0))",
    }[op]
    findings = repository.findings(Source("a.py", PROGRAM.format(f"tf.sqrt({variance})")))
    (finding,) = [finding for finding in findings if finding.code == "TFN103"]
    assert ("subtract the mean first" in finding.help) is is_told
