"""What is a note because its kind of evidence is weak, and what beside it stays a warning."""

from __future__ import annotations

import textwrap

import outcomes
import pytest

from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.diagnostics.grades import grade, is_mended
from tfnanlint.diagnostics.kinds import KINDS, LEAST
from tfnanlint.syntax.source import Source

TWO_NETWORKS = """
    import tensorflow as tf

    def network(x, scope):
        with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
            return tf.layers.dense(x, 8)

    a = tf.placeholder(tf.float32, [None, 4])
    b = tf.placeholder(tf.float32, [None, 4])
    left, right = network(a, "left"), network(b, "{scope}")
    distance = tf.sqrt(tf.reduce_sum(tf.square(left - right), 1))  # here
    tf.train.AdamOptimizer().minimize(tf.reduce_mean(distance))
"""
LENGTH = """
    import tensorflow as tf

    def train(x, y):
        w, b = tf.Variable(tf.random_normal([4, 8])), tf.Variable(tf.zeros([8]))
        out = tf.matmul(x, w) + b
        length = tf.sqrt(tf.reduce_sum(tf.square({of}), 1))  # here
        tf.train.AdamOptimizer().minimize(tf.reduce_mean(length))
"""
LENGTH_IN_KERAS = """
    import tensorflow as tf
    from tensorflow.keras.layers import *

    def train(x):
        net = tf.keras.Sequential([{layers}])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.norm(net(x), axis=1))  # here
        return tape.gradient(loss, net.trainable_variables)
"""
ERROR = """
    import tensorflow as tf

    image = tf.keras.Input((8, 8, 3))
    maps = tf.keras.Sequential([tf.keras.layers.Conv2D(3, 1, activation="tanh")])
    error = tf.reduce_mean(tf.square({fed} - {output}), axis=[1, 2, 3])
    model = tf.keras.Model(image, maps(image))
    model.add_loss(tf.reduce_mean(maps(image)) / error)  # here
    model.compile("adam")
"""
SUMMED = """
    import tensorflow as tf

    def train(x, net):
        with tf.GradientTape() as tape:
            distance = tf.reduce_sum(tf.{of}(net(x)){axis})
            loss = -tf.reduce_mean(tf.math.log({similarity}))  # here
        return tape.gradient(loss, net.trainable_variables)
"""
RECURRENT = """
    import tensorflow as tf

    def train(x, lengths, cell):
        out, state = tf.nn.dynamic_rnn(cell, x, {more}dtype=tf.float32)
        length = tf.sqrt(tf.reduce_sum(tf.square(out[:, -1]), 1))  # here
        tf.train.AdamOptimizer().minimize(tf.reduce_mean(length))
"""
MASK = """
    import tensorflow as tf

    def loss(y_true, y_pred, lengths, mask):
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y_true, logits=y_pred)
        weights = {mask}
        return tf.reduce_sum(losses * weights{axis}) / tf.reduce_sum(weights{axis})  # here
"""
WEIGHTS = """
    import tensorflow as tf

    x = tf.placeholder(tf.float32, [None, 4])
    w = tf.get_variable("w", [4, 8])
    b = tf.get_variable("b", [8], initializer=tf.constant_initializer({start}))
    s, t = tf.Variable(1.0), tf.Variable({start})
    h = tf.nn.relu(tf.matmul(x, w))
    out = {out}  # here
    tf.train.AdamOptimizer().minimize(tf.reduce_mean(out))
"""
STARTED = """
    import tensorflow as tf

    def loss(x, init):
        w = tf.compat.v1.get_variable("w", [4, 8], initializer=init)
        return tf.reduce_sum(tf.matmul(x, w / tf.norm(w, axis=0)))  # here

    def step(x):
        with tf.GradientTape() as tape:
            out = loss(x, tf.initializers.glorot_normal()) + loss(x, tf.initializers.{name}())
        return tape.gradient(out, x)
"""
CLASSES = """
    import tensorflow as tf

    def loss(y_true, y_pred):
        a = tf.reduce_sum(tf.cast(tf.equal(y_true, 0), tf.float32))
        b = tf.reduce_sum(tf.cast({test}, tf.float32))
        return tf.reduce_sum(y_pred) * a / (a + b)  # here

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(loss=loss, optimizer="adam")
"""
POWER_ITERATION = """
    import tensorflow as tf

    w = tf.get_variable("w", [4, 8])
    z = tf.get_variable("z", [4, 8], initializer=tf.zeros_initializer())
    u = tf.get_variable("u", [1, 8], trainable=False)
    x = tf.placeholder(tf.float32, [None, 8])

    def directed(v):
        return v / ({length} + 1e-12)  # here

    first = directed(tf.matmul({factors}))
    second = directed(tf.matmul(first, w))
    tf.train.AdamOptimizer().minimize(tf.reduce_sum(tf.matmul(second, w, transpose_b=True)))
"""
FED = """
    import tensorflow as tf

    ids = tf.placeholder(tf.int32, [None, 9])
    batched = tf.train.batch([tf.placeholder(tf.float32, [8])], batch_size=4)
    w = tf.get_variable("w", [9])
    weights = tf.cast({weights}, tf.float32)
    loss = tf.reduce_sum(tf.exp(w) * weights) / tf.reduce_sum(weights)  # here
    tf.train.AdamOptimizer().minimize(loss)
"""
FILTER = """
    import tensorflow as tf

    def rpn_loss(labels, logits):
        chosen = tf.where(tf.{test})
        logits, labels = tf.gather(logits, chosen), tf.gather(labels, chosen)
        return tf.reduce_mean(  # here
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
"""
TOTAL = """
    import tensorflow as tf

    def step(model, x):
        with tf.GradientTape() as tape:
            parts = [tf.nn.l2_loss(w) for w in model.trainable_variables{test}]
            norm = tf.sqrt(tf.add_n(parts))  # here
        return tape.gradient(norm, model.trainable_variables)
"""
RETURNS = """
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def step(w, {name}):
        with tf.GradientTape() as tape:
            tape.watch({name})
            scaled = ({name} - tf.reduce_mean({name})) / (tf.math.reduce_std({name}) + 1e-7)  # here
            loss = tf.reduce_sum(w * scaled)
        return tape.gradient(loss, [w, {name}])
"""
PATCHED = """
    import tensorflow as tf

    def covariance_root(x, w):
        product = tf.matmul({factors})
        root = tf.sqrt(product)
        return tf.where(tf.math.is_nan(root), tf.zeros_like(root), root)  # here
"""
SOLVED = """
    import tensorflow as tf

    def solve(x, y):
        gram = tf.matmul(x, x, transpose_a=True)
        return tf.linalg.{op}(gram)  # here
"""
WRITTEN = """
    import numpy as np
    import tensorflow.compat.v1 as tf

    rows = tf.constant(np.column_stack([np.linspace(0, 10, 50), np.ones(50)]))
    factor = tf.cholesky(tf.matmul(tf.transpose(rows), rows))  # here
    print(tf.Session().run(tf.matrix_solve(factor, tf.transpose(rows))))
"""
REORDERED = """
    import {library} as tf

    x = tf.placeholder(tf.float32, [None, 3])
    p = tf.nn.sigmoid(tf.layers.dense(x, 1))
    loss = -tf.reduce_mean(tf.log({of}))  # here
    tf.train.AdamOptimizer().minimize(loss)
"""
FLAG = """
    import tensorflow as tf

    def {name}(x, use_log={default}):
        x = tf.nn.relu(x)
        if use_log:
            return tf.math.log(x)  # here
        return x

    y = {name}(tf.constant([0.0]), {given})
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


def reported(text: str, **parts: str) -> list[Certainty]:
    """The certainties of what is reported on the line that is marked; of notes that are repaired as
    warnings are, what they would be by their values.
    """
    source = Source("program.py", textwrap.dedent(text).format(**parts))
    line = 1 + next(n for n, row in enumerate(source.text.splitlines()) if "# here" in row)
    return [
        finding.certainty_by_values if is_mended(finding) else finding.certainty
        for finding in outcomes.findings(source)
        if source.position(finding.span.start)[0] == line
    ]


NOTE, WARNING = [Certainty.UNKNOWN], [Certainty.MAY]


@pytest.mark.parametrize(
    ("out", "start", "expected"),
    [
        ("tf.norm(b)", "0.0", WARNING),
        ("tf.norm(tf.reduce_sum(h, 0) + tf.tile(b, [1]))", "0.1", NOTE),
        ("tf.norm(tf.reduce_sum(h, 0) + tf.tile(b, [1]))", "0.0", WARNING),
        ("h * b / tf.reduce_sum(b)", "0.2", NOTE),
        ("h * b / tf.reduce_sum(b)", "0.0", WARNING),
        ("h / (s + t)", "2.0", NOTE),
        ("h / (s + t)", "0.0", WARNING),
        ("h / s", "2.0", WARNING),
        ("tf.norm(tf.gradients(h, w)[0])", "0.0", NOTE),
        ("tf.norm(tf.gradients(h, x)[0])", "0.0", WARNING),
        ("tf.norm(tf.gradients(tf.matmul(h, h), h)[0])", "0.0", WARNING),
    ],
)
def test_trained_weights_rarely_cancel(out, start, expected):
    assert reported(WEIGHTS, out=out, start=start) == expected


@pytest.mark.parametrize("length", ["tf.reduce_sum(v**2) ** 0.5", "tf.norm(v, axis=1)"])
@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ("u, tf.transpose(tf.reshape(w, [-1, 8]))", NOTE),
        ("u, tf.transpose(z)", WARNING),
        ("x, tf.transpose(w)", WARNING),
    ],
)
def test_a_product_of_random_weights_is_rarely_zero(factors, length, expected):
    assert expected[0] in reported(POWER_ITERATION, factors=factors, length=length)


@pytest.mark.parametrize(("name", "expected"), [("he_normal", []), ("zeros", WARNING)])
def test_weights_start_at_random_if_all_callers_say_so(name, expected):
    assert reported(STARTED, name=name) == expected


@pytest.mark.parametrize(("scope", "expected"), [("right", NOTE), ("left", WARNING)])
def test_two_networks_do_not_give_equal_rows(scope, expected):
    assert reported(TWO_NETWORKS, scope=scope) == expected


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ("out", NOTE),
        ("out - y", NOTE),
        ("out - tf.matmul(y, w)", WARNING),
        ("tf.nn.relu(out)", WARNING),
        ("tf.nn.relu(out) - tf.nn.relu(x)", WARNING),
        ("tf.nn.leaky_relu(out)", NOTE),
        ("tf.maximum(0.1 * out, out)", NOTE),
        ("tf.maximum(0.0 * out, out)", WARNING),
        ("tf.maximum(0.1 * y, out)", WARNING),
        ("tf.nn.conv2d(x, w, 1, 'SAME')", NOTE),
        ("tf.nn.conv2d(x, b, 1, 'SAME')", WARNING),
    ],
)
def test_all_outputs_of_a_linear_layer_are_rarely_zero(of, expected):
    assert reported(LENGTH, of=of) == expected


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ("Dense(8)", NOTE),
        ("Dense(8, activation=None)", NOTE),
        ("Dense(8, activation='linear')", NOTE),
        ("Dense(8, activation='relu')", WARNING),
        ("Dense(3)", WARNING),
        ("Conv2D(2, 3)", WARNING),
        ("Conv2D(4, 3)", NOTE),
        ("Dense(8), Reshape((2, 4))", NOTE),
        ("Dense(8), BatchNormalization(), LeakyReLU()", NOTE),
        ("Dense(8), ReLU()", WARNING),
        ("Dense(8), Dropout(0.5)", WARNING),
        ("ReLU(), BatchNormalization()", WARNING),
        ("Dense(8, kernel_initializer='zeros')", WARNING),
    ],
)
def test_all_outputs_of_a_linear_layer_of_keras_are_rarely_zero(layers, expected):
    assert reported(LENGTH_IN_KERAS, layers=layers) == expected


@pytest.mark.parametrize(
    ("of", "axis", "similarity", "expected"),
    [
        ("sigmoid", ", axis=-1", "tf.exp(-distance)", NOTE),
        ("sigmoid", ", axis=-1", "tf.exp(-distance)[:, 0]", NOTE),
        ("sigmoid", ", axis=-1", "tf.reduce_sum(tf.exp(-distance)[:, 1:])", NOTE),
        ("sigmoid", "", "tf.exp(-distance)", WARNING),
        ("abs", ", axis=-1", "tf.exp(-distance)", WARNING),
        ("sigmoid", ", axis=-1", "tf.exp(-9.0 * distance)", WARNING),
    ],
)
def test_a_sum_of_small_numbers_rarely_underflows(of, axis, similarity, expected):
    assert reported(SUMMED, of=of, axis=axis, similarity=similarity) == expected


@pytest.mark.parametrize(
    ("fed", "output", "expected"),
    [
        ("image", "maps(image)", NOTE),
        ("maps(image)", "image", NOTE),
        ("image", "image[::-1]", WARNING),
        ("maps(image)", "maps(image[::-1])", WARNING),
    ],
)
def test_a_network_rarely_gives_what_it_is_fed(fed, output, expected):
    assert reported(ERROR, fed=fed, output=output) == expected


@pytest.mark.parametrize(("more", "expected"), [("", NOTE), ("sequence_length=lengths, ", WARNING)])
def test_a_recurrent_network_gives_zeros_behind_the_end(more, expected):
    assert reported(RECURRENT, more=more) == expected


@pytest.mark.parametrize(
    ("mask", "axis", "expected"),
    [
        ("tf.sequence_mask(lengths, 9, tf.float32)", "", NOTE),
        ("tf.sequence_mask(lengths, 9, tf.float32)", ", 1", NOTE),
        ("tf.cast(y_pred[..., 0] > -1e6, tf.float32)", "", NOTE),
        ("mask", "", NOTE),
        ("mask", ", 1", WARNING),
        ("1.0 - mask", "", WARNING),
        ("tf.cast(tf.logical_not(mask > 0), tf.float32)", "", WARNING),
        ("1.0 - tf.sequence_mask(lengths, 9, tf.float32)", "", WARNING),
        ("1.0 - tf.sequence_mask(lengths, 9, tf.float32)", ", 1", WARNING),
        ("tf.cast(tf.logical_not(tf.sequence_mask(lengths, 9)), tf.float32)", "", WARNING),
        ("(1.0 - tf.one_hot(y_true, 9))[..., 0]", "", NOTE),
        ("1.0 - tf.one_hot(y_true, 9)[..., 0]", "", NOTE),
        ("1.0 - tf.cast(tf.equal(y_true, 0), tf.float32)", ", 1", NOTE),
        ("y_pred[..., 0]", "", WARNING),
        ("tf.cast(y_pred[..., 0] > 0, tf.float32)", "", WARNING),
        ("tf.cast(tf.not_equal(y_true, 0), tf.float32)", "", NOTE),
        ("tf.cast(tf.logical_not(tf.equal(y_true, 0)), tf.float32)", "", NOTE),
        ("tf.cast(tf.equal(y_true, 0), tf.float32)", "", WARNING),
        ("tf.cast(tf.equal(y_true, 0), tf.float32)", ", 1", WARNING),
        ("tf.cast(tf.equal(tf.argmax(y_pred, -1), 0), tf.float32)", "", WARNING),
    ],
)
def test_data_seldom_leaves_a_mask_empty(mask, axis, expected):
    assert reported(MASK, mask=mask, axis=axis) == expected


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("tf.equal(y_true, 1)", NOTE),
        ("tf.equal(y_true, 0)", WARNING),
        ("tf.equal(y_pred[..., 0], 1)", WARNING),
    ],
)
def test_several_classes_are_rarely_absent_at_once(test, expected):
    assert reported(CLASSES, test=test) == expected


@pytest.mark.parametrize("number", ["pad_id", "first"])
def test_what_is_compared_for_equality_is_data(number):
    named = MASK.replace("lengths, mask", f"lengths, {number}")
    for test in (f"tf.not_equal(lengths, {number})", f"tf.not_equal({number}, lengths)"):
        assert reported(named, mask=f"tf.cast({test}, tf.float32)", axis="") == NOTE


def test_weights_of_samples_may_all_be_zero():
    named = MASK.replace("lengths, mask", "lengths, sample_weight")
    assert reported(named, mask="tf.cast(sample_weight != 0, tf.float32)", axis="") == WARNING


@pytest.mark.parametrize(
    ("passed", "expected"), [("node.masks[0]", NOTE), ("node.weights[0]", WARNING)]
)
def test_a_mask_is_known_by_what_callers_pass(passed, expected):
    accuracy = MASK.replace("losses * weights", "tf.abs(y_true - y_pred) * weights")
    caller = "    def metric(node, y, p):\n        return loss(y, p, None, {passed})\n"
    text = textwrap.dedent(accuracy) + textwrap.dedent(caller)
    assert reported(text, mask="tf.cast(mask, tf.float32)", axis="", passed=passed) == expected


@pytest.mark.parametrize("axis", ["", ", 1"])
def test_a_mask_of_tokens_is_known_by_its_name(axis):
    named = MASK.replace("tf.reduce_sum(weights", "tf.reduce_sum(mask")
    named = named.replace("losses * weights", "losses * mask")
    assert reported(named, mask="mask", axis=axis) == NOTE


def test_rows_of_tokens_are_known_by_the_loss_that_is_masked():
    dense = MASK.replace("sparse_softmax", "softmax")
    mask = "tf.cast(tf.not_equal(lengths, 0), tf.float32)"
    assert reported(dense, mask=mask, axis=", 1") == NOTE
    pooled = MASK.replace("losses * weights", "y_pred * weights[..., None]")
    assert reported(pooled, mask=mask, axis=", 1") == WARNING


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("not_equal(labels, -1)", NOTE),
        ("not_equal(labels, 255)", WARNING),
        ("greater(labels, 0)", WARNING),
        ("sequence_mask(labels)", NOTE),
    ],
)
def test_not_everything_is_marked_to_be_ignored(test, expected):
    assert reported(FILTER, test=test) == expected


@pytest.mark.parametrize(
    ("test", "expected"),
    [("", []), (' if "bias" not in w.name', []), (' if "bias" in w.name', WARNING)],
)
def test_the_biases_alone_may_all_be_zero(test, expected):
    assert reported(TOTAL, test=test) == expected


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("tf.not_equal(ids[:, 1:], 0)", NOTE),
        ("tf.not_equal(0, ids[:, 1:])", NOTE),
        ("tf.equal(ids[:, 1:], 0)", WARNING),
        ("batched[0]", NOTE),
        ("1.0 - batched[0]", WARNING),
    ],
)
def test_data_that_a_program_is_fed_is_padded(weights, expected):
    assert reported(FED, weights=weights) == expected


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("tf.not_equal(ids, 0)", NOTE),
        ("tf.equal(ids, 0)", WARNING),
        ("tf.layers.flatten(images) > 0", WARNING),
        ("tf.greater(w, 0.0)", WARNING),
    ],
)
def test_a_program_prepares_the_rows_that_it_feeds(weights, expected):
    rows = FED.replace("weights)", "weights, 1)").replace("ids =", "images = read()\n    ids =")
    assert reported(rows, weights=weights) == expected


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("tf.gather(batched[0], tf.argmax(w))", NOTE),
        ("tf.gather(w, ids[0])", WARNING),
    ],
)
def test_what_is_looked_up_in_data_is_data(weights, expected):
    assert reported(FED, weights=weights) == expected


@pytest.mark.parametrize(("name", "expected"), [("features", WARNING), ("returns", NOTE)])
def test_no_weights_are_behind_rewards(name, expected):
    assert reported(RETURNS, name=name) == expected


@pytest.mark.parametrize(
    ("factors", "expected"),
    [("x, w", WARNING), ("tf.transpose(x - 1.0), x - 1.0", [])],
)
def test_no_weights_are_behind_a_covariance_of_data(factors, expected):
    assert reported(PATCHED, factors=factors) == expected


@pytest.mark.parametrize(("op", "expected"), [("inv", NOTE), ("cholesky", WARNING)])
def test_columns_of_data_are_rarely_dependent(op, expected):
    assert reported(SOLVED, op=op) == expected


def test_columns_that_are_written_are_rarely_dependent():
    assert reported(WRITTEN) == NOTE


@pytest.mark.parametrize(
    ("library", "of", "expected"),
    [
        ("tensorflow", "1.0 - p + 1e-8", NOTE),
        ("tensorflow.compat.v1", "1.0 - p + 1e-8", WARNING),
        ("tensorflow", "1e-8 + 1.0 - p", WARNING),  # Python adds the numbers, in any release
    ],
)
def test_one_release_of_tensorflow_1_reorders_sums(library, of, expected):
    assert reported(REORDERED, library=library, of=of) == expected


@pytest.mark.parametrize(
    ("library", "guard", "words"),
    [
        ("tensorflow", "1.0 - p + 1e-8", "the guard leaves no gradient"),
        ("tensorflow.compat.v1", "1.0 - p + 1e-8", "it is inf"),
        ("tensorflow", "1.0 - p", "it is inf"),
        ("tensorflow", "1e-8 + 1.0 - p", "it is inf"),
    ],
)
def test_a_guard_of_a_cross_entropy_holds_in_other_releases(library, guard, words):
    loss = f"{{labels}} * tf.log(p + 1e-8) + (1.0 - {{labels}}) * tf.log({guard})"
    text = REORDERED.replace("tf.log({of})", loss).format(library=library, labels="x[:, :1]")
    source = Source("program.py", textwrap.dedent(text))
    messages = [one.message for one in outcomes.findings(source) if one.code == "TFN303"]
    assert len(messages) == 1 and words in messages[0]


@pytest.mark.parametrize(
    ("name", "default", "given", "shown"),
    [
        ("f", "True", "use_log=False", True),
        ("_f", "True", "use_log=False", False),
        ("f", "False", "use_log=False", False),
        ("f", "False", "use_log=True", True),
    ],
)
def test_the_default_of_a_public_function_is_reached(name, default, given, shown):
    source = Source("p.py", textwrap.dedent(FLAG).format(name=name, default=default, given=given))
    there = [one for one in outcomes.findings(source) if one.code == "TFN101" and one.modes]
    assert bool([one for one in there if "nowhere" not in one.modes]) is shown


def test_a_note_says_what_is_weak_about_its_evidence():
    source = Source("program.py", textwrap.dedent(TWO_NETWORKS).format(scope="right"))
    finding = next(one for one in outcomes.findings(source) if one.code == "TFN202")
    assert "weights of their own" in grade(finding).because


def test_kinds_are_notes_by_what_was_read():
    assert all(kind.is_note for kind in KINDS.values())
    assert LEAST == 0.85


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
