"""What is a note because data are behind it: fixed runs, shares, exponentials, mixtures."""

from __future__ import annotations

import textwrap

import outcomes
import pytest

from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.syntax.source import Source

FIXED = """
    import numpy as np
    import tensorflow as tf

    (digits, _), _ = tf.keras.datasets.mnist.load_data()
    fed = tf.placeholder(tf.float32, [None, 2])
    table = np.loadtxt("table.csv")
    data = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
    labels = np.array([[0.0], [1.0]], dtype=np.float32)
    w, b = tf.Variable({start}([2, 1])), tf.Variable(tf.zeros([1]))
    logits = tf.matmul({data}, w) + b
    loss = -tf.reduce_mean({loss})  # here
    tf.train.AdamOptimizer().minimize(loss)
"""
SHARES = """
    import tensorflow as tf

    def kernels(x):
        weights = tf.exp(tf.minimum(x, 0.0))
        share = weights / tf.reduce_sum(weights, axis={first})
        return share / tf.reduce_sum({of}, axis={second})  # here

    def load(x):
        return kernels(x)

    tf.data.Dataset.from_tensor_slices(read()).map(load)
"""
EXPONENTIALS = """
    import tensorflow as tf

    w = tf.Variable([1.0])

    def kernel(x):
        weights = tf.exp({of})
        return weights / tf.reduce_sum(weights)  # here

    {use}
"""
MIXTURE = """
    import tensorflow as tf

    class Layer(tf.keras.layers.Layer):
        def build(self, shape):
            units = tf.keras.layers.Dense
            self.gate, self.left, self.right = [units(1, activation="sigmoid") for _ in range(3)]

        def call(self, x):
            gate, left, right = self.gate(x), self.left(x), self.right(x)
            p = {of}
            self.add_loss(tf.keras.losses.binary_crossentropy(x[:, :1], p))  # here
            return p
"""


PATCHED = """
    import tensorflow as tf

    def score(y_true, y_pred):
        hits, all_ = tf.reduce_sum(y_true * y_pred, 0), tf.reduce_sum(y_pred, 0)
        share = {of}
        share = tf.where(tf.math.{test}(share), tf.zeros_like(share), share)  # here
        return 1.0 - tf.reduce_mean(share)

    model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
    model.compile("adam", loss=score)
"""
PATCHED_TWICE = """
    import tensorflow as tf

    def score(label, pred):
        share = {of}
        most = tf.reduce_max(tf.where(tf.math.is_inf(share), tf.zeros_like(share), share))
        share = tf.where(tf.math.is_inf(share), tf.ones_like(share) * most, share)  # here
        return tf.reduce_mean(share * pred)

    model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
    model.compile("adam", loss=score)
"""
CALLED = """
    import tensorflow as tf

    w = tf.Variable([1.0])

    def force(x, d):
        ratio = tf.math.log(tf.abs(d)) * x{by}
        return tf.where(tf.math.is_nan(ratio), tf.zeros_like(ratio), ratio)  # here

    {use}
"""
COUNTER = """
    import tensorflow as tf

    class Error(tf.keras.metrics.Metric):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.total = self.add_weight("total", initializer="zeros")
            self.count = self.add_weight("count", initializer="{start}")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.total.assign_add(tf.reduce_sum(tf.abs(y_true - y_pred)))
            self.count.assign_add({added})

        def result(self):
            return self.total / self.count  # here
"""
THREE = "gate * left + (1.0 - gate) * left * right + (1.0 - gate) * (1.0 - left) * right"


def reported(text: str, **parts: str) -> list[Certainty]:
    """The certainties of what is reported on the line that is marked."""
    source = Source("program.py", textwrap.dedent(text).format(**parts))
    line = 1 + next(n for n, row in enumerate(source.text.splitlines()) if "# here" in row)
    return [
        finding.certainty
        for finding in outcomes.findings(source)
        if source.position(finding.span.start)[0] == line
    ]


NOTE, WARNING = [Certainty.UNKNOWN], [Certainty.MAY]
LOG = "labels * tf.math.log(tf.sigmoid(logits))"


@pytest.mark.parametrize(
    ("start", "data", "loss", "expected"),
    [
        ("tf.zeros", "data", LOG, NOTE),
        ("tf.zeros", "[[1.0, 2.0], [3.0, 4.0]]", LOG, NOTE),
        ("tf.zeros", "data", "tf.math.log(1.0 / (1.0 + tf.exp(logits)))", NOTE),
        ("tf.ones", "data", LOG, WARNING),
        ("tf.random_normal", "data", LOG, WARNING),
        ("tf.zeros", "fed", LOG, WARNING),
        ("tf.zeros", "table", LOG, WARNING),
        ("tf.zeros", "digits.reshape(-1, 2) / 255.0", LOG, WARNING),
        ("tf.zeros", "tf.random.normal([2, 2])", LOG, WARNING),
        ("tf.zeros", "tf.nn.dropout(data, 0.5)", LOG, WARNING),
        ("tf.zeros", "data", "tf.sqrt(tf.reduce_sum(tf.square(logits)))", WARNING),
        ("tf.zeros", "data", "tf.math.log(tf.exp(logits) - 1.0)", 2 * WARNING),
        ("tf.zeros", "data", "tf.math.log(1.0 - tf.sigmoid(logits))", NOTE),
        ("tf.zeros", "data", "tf.math.log(2.0 * tf.sigmoid(logits) - 1.0)", WARNING),
        ("tf.zeros", "data", "tf.math.log(1.0 - 2.0 * tf.sigmoid(logits))", WARNING),
    ],
)
def test_every_run_on_written_numbers_is_the_same(start, data, loss, expected):
    assert reported(FIXED, start=start, data=data, loss=loss) == expected


@pytest.mark.parametrize(
    ("first", "of", "second", "expected"),
    [
        ("None", "share", "None", NOTE),
        ("0", "share", "0", NOTE),
        ("0", "share", "1", WARNING),
        ("0", "tf.nn.relu(x)", "0", WARNING),
    ],
)
def test_shares_add_up_to_one(first, of, second, expected):
    assert reported(SHARES, first=first, of=of, second=second) == expected


@pytest.mark.parametrize(
    ("of", "use", "expected"),
    [
        ("x", "tf.data.Dataset.from_tensor_slices(read()).map(kernel)", NOTE),
        ("x * w", "tf.data.Dataset.from_tensor_slices(read()).map(kernel)", WARNING),
        ("x", "tf.keras.layers.Lambda(kernel)", WARNING),
        ("x", "show(tf.stop_gradient(kernel(tf.keras.models.load_model('m')(x))))", WARNING),
    ],
)
def test_exponentials_of_data_are_rarely_large(of, use, expected):
    assert reported(EXPONENTIALS, of=of, use=use) == expected


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ("gate * left + (1.0 - gate) * right", []),
        (THREE, NOTE),
        (f"({THREE}) * left", NOTE),
        ("gate + left * right", WARNING),
        ("gate * left + 2.0 * right", WARNING),
        ("3.0 * gate", WARNING),
    ],
)
def test_products_of_probabilities_are_often_parts_of_one_whole(of, expected):
    assert reported(MIXTURE, of=of) == expected


@pytest.mark.parametrize(
    ("of", "test", "expected"),
    [
        ("hits / (all_ + 1e-7)", "is_nan", NOTE),
        ("2.0 * hits / (hits / (all_ + 1e-7) + 1e-7)", "is_nan", NOTE),
        ("2.0 * hits / (hits / all_ + 1e-7)", "is_nan", WARNING),
        ("tf.math.log(hits) / (all_ + 1e-7)", "is_nan", WARNING),
        ("hits / all_", "is_nan", WARNING),
    ],
)
def test_patches_of_what_is_guarded_already(of, test, expected):
    assert reported(PATCHED, of=of, test=test) == expected


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ("tf.math.reciprocal(tf.reduce_sum(label * pred, 0) ** 2)", NOTE),
        ("tf.math.log(tf.reduce_sum(label * pred, 0) ** 2)", WARNING),
    ],
)
def test_patches_of_what_only_xla_differentiates(of, expected):
    assert reported(PATCHED_TWICE, of=of) == expected


@pytest.mark.parametrize(
    ("by", "use", "expected"),
    [
        ("", "print(force(*read()))", NOTE),
        (" * w", "print(force(*read()))", WARNING),
        ("", "print('nothing')", WARNING),
    ],
)
def test_a_program_that_shows_no_weights(by, use, expected):
    assert reported(CALLED, by=by, use=use) == expected


@pytest.mark.parametrize(
    ("start", "added", "expected"),
    [
        ("zeros", "tf.cast(tf.size(y_true), tf.float32)", NOTE),
        ("zeros", "tf.cast(tf.shape(y_true)[0], tf.float32)", NOTE),
        ("zeros", "1.0", NOTE),
        ("zeros", "tf.reduce_sum(y_true)", WARNING),
        ("zeros", "tf.reduce_sum(tf.cast(y_true > 0.5, tf.float32))", WARNING),
    ],
)
def test_a_counter_is_seldom_read_first(start, added, expected):
    assert reported(COUNTER, start=start, added=added) == expected
