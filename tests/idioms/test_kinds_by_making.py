"""Which kind of evidence a finding is by the op that gives its value, and what becomes of its fix."""

from __future__ import annotations

import textwrap

import outcomes
import pytest

from tfnanlint.diagnostics.findings import Certainty, Finding
from tfnanlint.diagnostics.grades import is_mended
from tfnanlint.syntax.source import Source

QUOTIENT = """
    import tensorflow as tf

    scale = tf.Variable({start})
    net = tf.keras.layers.Dense(4, activation="relu")

    def loss(x, y, m):
        h = net(x)
        kept = tf.cast(m > 0.5, tf.float32)
        return tf.reduce_mean({quotient})  # here

    def step(x, y, m, optimizer):
        with tf.GradientTape() as tape:
            value = loss(x, y, m)
        optimizer.minimize(value, net.trainable_variables, tape=tape)
"""
OWN_DATA = """
    import numpy as np
    import tensorflow as tf
    {load}
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], dtype=np.float32)
    labels = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], dtype=np.float32)
    weights = tf.Variable(tf.random.normal([2, 2]))
    optimizer = tf.keras.optimizers.SGD(0.1)
    for _ in range(100):
        with tf.GradientTape() as tape:
            predicted = tf.nn.softmax(tf.matmul(rows, weights))
            loss = -tf.reduce_sum(labels * tf.math.log(predicted))  # here
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
"""
ANGLE = """
    import tensorflow as tf

    def angle(x):
        return tf.acos(tf.clip_by_value(x, -1.0, 1.0))  # here

    {use}
"""
TRAINED = """
    def train(x, w):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(angle(x * w))
        return tape.gradient(loss, w)
"""
SHOWN = """
    print(angle(tf.linspace(-2.0, 2.0, 9)))
"""


def on_marked_line(text: str) -> list[Finding]:
    """What is reported on the line that is marked."""
    source = Source("program.py", textwrap.dedent(text))
    line = 1 + next(n for n, row in enumerate(source.text.splitlines()) if "# here" in row)
    return [f for f in outcomes.findings(source) if source.position(f.span.start)[0] == line]


@pytest.mark.parametrize(
    ("quotient", "kind"),
    [
        ("tf.reduce_sum(h * kept) / tf.reduce_sum(kept)", "count"),
        ("y / tf.norm(h)", "length"),
        ("(h - tf.reduce_mean(h, 0)) / tf.math.reduce_std(h, 0)", "deviation"),
        ("y / scale", "variable"),
        ("h / tf.norm(h, axis=-1, keepdims=True)", "own-length"),
        ("2.0 * tf.reduce_sum(h * y) / (tf.reduce_sum(h) + tf.reduce_sum(tf.square(y)))", ""),
        (
            "tf.reduce_sum(h * y, -1) / (tf.norm(h, axis=-1) * tf.norm(y, axis=-1))",
            "",
        ),
    ],
)
def test_a_divisor_is_of_the_kind_of_what_gives_it(quotient, kind):
    (finding,) = on_marked_line(QUOTIENT.format(quotient=quotient, start="2.0"))
    assert finding.code in ("TFN102", "TFN314") and finding.kind == kind
    assert finding.certainty is (Certainty.UNKNOWN if kind else Certainty.MAY)
    assert is_mended(finding) == bool(kind)


def test_a_variable_that_starts_at_zero_is_no_weak_divisor():
    (finding,) = on_marked_line(QUOTIENT.format(quotient="y / scale", start="0.0"))
    assert finding.certainty is not Certainty.UNKNOWN


@pytest.mark.parametrize(
    ("load", "kind"), [("", "own-data"), ("from sklearn.datasets import load_digits", "")]
)
def test_logits_of_a_few_own_rows_stay_small(load, kind):
    kinds = {finding.kind for finding in on_marked_line(OWN_DATA.format(load=load))}
    assert kinds == {kind}


@pytest.mark.parametrize(("use", "kinds"), [(TRAINED, {""}), (SHOWN, set())])
def test_the_edge_of_a_domain_counts_where_a_gradient_is_taken(use, kinds):
    text = ANGLE.format(use=textwrap.indent(textwrap.dedent(use), "    ").strip())
    assert {finding.kind for finding in on_marked_line(text)} == kinds


def test_the_fix_of_a_masked_mean_is_applied():
    text = textwrap.dedent(
        QUOTIENT.format(quotient="tf.reduce_sum(h * kept) / tf.reduce_sum(kept)", start="2.0")
    )
    assert "divide_no_nan" in outcomes.fixed(Source("program.py", text)).source.text
