"""Fixes of kinds that readers seldom found fit to merge are only suggested, each with its reason."""

from __future__ import annotations

import pytest

import tfnanlint
from tfnanlint.diagnostics.fix_kinds import EQUIVALENT, FIX_KINDS
from tfnanlint.diagnostics.fix_names import GUARDS, TITLES

UNSAFE = {"unsafe-fixes": True}
HEAD = """import tensorflow as tf
from tensorflow import keras
import math

w = tf.Variable(tf.random.normal([4, 4]))

"""
STEP = """
def step(x, y):
    with tf.GradientTape() as tape:
        p = tf.matmul(x, w)
        loss = made(x, y, p)
    return tape.gradient(loss, w)
"""


def after(program: str) -> str:
    return tfnanlint.fix(HEAD + program, "a.py", settings=UNSAFE).after.removeprefix(HEAD)


def reasons(program: str) -> set[str]:
    found = tfnanlint.check(HEAD + program, "a.py", settings=UNSAFE).findings
    return {fix.suggested for finding in found for fix in finding.fixes}


def loss(*lines: str) -> str:
    return "\ndef made(x, y, p):\n" + "".join(f"    {line}\n" for line in lines) + STEP


def test_each_kind_that_is_not_applied_says_why():
    assert all(kind.because for kind in FIX_KINDS.values() if not kind.is_applied)
    assert FIX_KINDS[EQUIVALENT].is_applied
    assert set(TITLES) >= GUARDS


COMPILED = """
def made(y_true, y_pred):
    return tf.sqrt(tf.reduce_sum(tf.square({vector}), axis=-1))

net = keras.models.load_model("net.h5")
net.compile(optimizer="adam", loss=made)
net.fit(tf.ones((4, 8)), tf.ones((4, 8)))
"""
APPLIED = {
    "length": loss("return tf.reduce_sum(tf.norm(tf.nn.relu(p), axis=-1))"),
    "points": COMPILED.format(vector="y_pred[:, :2] - y_pred[:, 2:]"),
    "count": loss(
        "m = tf.cast(p > 0, tf.float32)",
        "return tf.reduce_sum(tf.square(p) * m) / tf.reduce_sum(m)",
    ),
    "softmax": loss("return -tf.reduce_sum(y * tf.math.log(tf.nn.softmax(p)))"),
}
SUGGESTED = {
    "prediction": COMPILED.format(vector="y_true - y_pred"),
    "deviation": loss("return tf.reduce_sum(tf.math.reduce_std(p, axis=-1))"),
    "logarithm": loss("return tf.reduce_sum(tf.math.log(tf.reduce_sum(p ** 2, axis=-1)))"),
    "positive": loss(
        "m = tf.reshape(tf.exp(-tf.square(p)), [2, 2, -1])",
        "m /= tf.sqrt(tf.reduce_sum(tf.square(m), axis=(0, 1), keepdims=True))",
        "return tf.reduce_sum(m)",
    ),
    "weights": """
class Score(keras.layers.Layer):
    def build(self, shape):
        self.v = self.add_weight("v", [self.units], initializer="glorot_uniform")
        self.g = self.add_weight("g", [], initializer="ones")

    def call(self, x):
        v = self.g * self.v * tf.math.rsqrt(tf.reduce_sum(tf.square(self.v)))
        return tf.reduce_sum(v * tf.tanh(x), [2])

score = Score()

def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(y - score(x)))
    return tape.gradient(loss, score.trainable_variables)
""",
    "squares": loss(
        "error = tf.reduce_sum(tf.square(p - y), axis=1)",
        "return tf.reduce_mean(error / tf.reduce_sum(tf.square(y), axis=1))",
    ),
    "sigmoid": loss("return tf.reduce_sum(1.0 / (1.0 + tf.exp(-p)))"),
    "digits": "def made(x):\n    return tf.nn.l2_loss(1.0 - tf.exp(-0.5 * tf.square(x)))\n",
}


@pytest.mark.parametrize("kind", APPLIED)
def test_zeros_that_a_program_makes_are_repaired(kind):
    assert after(APPLIED[kind]) != APPLIED[kind]


@pytest.mark.parametrize("kind", SUGGESTED)
def test_zeros_that_nothing_shows_are_only_suggested(kind):
    assert after(SUGGESTED[kind]) == SUGGESTED[kind]
    assert "" not in reasons(SUGGESTED[kind]) != set()


CRITIC = """
critic = keras.Sequential([{layers}])

def penalty(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        score = other(critic(x))
    return tf.reduce_mean((tf.norm(tape.gradient(score, x), axis=-1) - 1.0) ** 2)

def step(x):
    with tf.GradientTape() as tape:
        loss = penalty(x)
    return tape.gradient(loss, critic.trainable_variables)
"""


def test_a_network_that_leaks_and_shows_no_flat_part():
    leak, dense = "keras.layers.LeakyReLU(0.2)", "keras.layers.Dense(8{})"
    leaking = CRITIC.format(layers=f"{dense.format('')}, {leak}")
    flat = CRITIC.format(
        layers=f"{dense.format(', activation=chr(34)')}".replace("chr(34)", '"relu"')
    )
    for program, changes in ((leaking, False), (flat, True)):
        program = program.replace("other(", "tf.identity(tf.nn.conv1d(")
        program = program.replace("critic(x))", "critic(x), unknown, 1, 'SAME'))")
        assert (after(program) != program) is changes


LESSON = """
import numpy as np
X = {data}
Y = np.array([[0], [1], [1], [0]])
x = tf.compat.v1.placeholder(tf.float32, [None, 2])
t = tf.compat.v1.placeholder(tf.float32, [None, 1])
y = tf.nn.softmax(tf.matmul(x, tf.Variable(tf.zeros([2, 2]))))
loss = -tf.reduce_sum(t * tf.math.log(y))
train = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss)
"""


@pytest.mark.parametrize(
    "data, changes",
    [("np.array([[0, 0], [0, 1], [1, 0], [1, 1]])", False), ("load_data('x.csv')", True)],
)
def test_a_lesson_on_rows_of_its_own_is_left(data, changes):
    program = LESSON.format(data=data)
    assert (after(program) != program) is changes


def test_no_guard_beside_a_hazard_that_stays():
    both = loss(
        "m = tf.cast(p > 0, tf.float32)",
        "return tf.reduce_sum(m * tf.math.log(tf.square(p))) / tf.reduce_sum(m)",
    )
    assert after(both) == both
    assert any("of the same statement stays" in reason for reason in reasons(both))


def test_the_logarithm_of_a_quotient_is_a_difference():
    program = "def kl(v, s):\n    return tf.math.log(math.sqrt(s) / tf.sqrt(tf.exp(v)))\n"
    assert "tf.math.log(math.sqrt(s)) - 0.5 * v" in after(program)


def test_what_predict_gives_is_not_swapped():
    program = """
model = keras.Sequential([keras.layers.Dense(3, activation="softmax")])

def step(images, labels):
    logits = model{call}(images)
    return keras.backend.sparse_categorical_crossentropy(logits, labels)
"""
    assert "(labels, logits)" in after(program.replace("{call}", ""))
    assert "(logits, labels)" in after(program.replace("{call}", ".predict"))


def test_an_array_of_numpy_gets_no_function_of_tensorflow():
    program = """
def weights(y, n):
    totals = keras.utils.to_categorical(y, n).sum(axis=0)
    return totals.max() / totals
"""
    settings = {**UNSAFE, "rules": {"TFN102": {"fix": ["count_floor", "divide_no_nan"]}}}
    assert tfnanlint.fix(HEAD + program, "a.py", settings=settings).after == HEAD + program


def test_weights_that_start_at_random_are_not_guarded():
    quotient = "return tf.reduce_sum(x * v / tf.norm(v, axis=-1, keepdims=True))"
    of_input = loss("v = tf.nn.relu(p)", quotient)
    assert after(of_input) != of_input
    of_weights = loss("v = tf.matmul(w, w)", quotient)
    assert after(of_weights) == of_weights


LOGITS = """
model = keras.Sequential([keras.layers.Dense(3)])
criterion = keras.losses.SparseCategoricalCrossentropy()

def compare(x, y):
    return criterion(y, model(x))
"""
TRAINS = """
def step(x, y):
    with tf.GradientTape() as tape:
        loss = compare(x, y)
    return tape.gradient(loss, model.trainable_variables)
"""


def test_a_loss_with_which_nothing_trains_is_left():
    assert "from_logits=True" in after(LOGITS + TRAINS)
    assert after(LOGITS) == LOGITS


def test_the_logarithm_of_a_determinant_needs_a_definite_matrix_for_its_cholesky_factor():
    settings = {**UNSAFE, "target-tensorflow": "1.8"}
    text = "import tensorflow as tf\n\ndef volume(w):\n    return tf.log({})\n"
    for form in ("tf.matrix_determinant(w)", "tf.abs(tf.matrix_determinant(w))"):
        program = text.format(form)
        assert tfnanlint.fix(program, "a.py", settings=settings).after == program


@pytest.mark.parametrize(
    "pair, form", [("1, 0", "h / tf.maximum(h + m, 1)"), ("1.0, 0.0", "divide_no_nan(h, h + m)")]
)
def test_counts_of_integers_keep_the_form_that_takes_integers(pair, form):
    """`divide_no_nan` takes integers from TensorFlow 2.13 on."""
    h = f"tf.reduce_sum(tf.where((p > 0) & (y > 0), {pair}))"
    m = f"tf.reduce_sum(tf.where((p > 0) ^ (y > 0), {pair}))"
    assert form in after(f"def made(y, p):\n    h = {h}\n    m = {m}\n    return h / (h + m)\n")


def test_a_guard_under_a_root_is_no_larger_than_the_floor_above_it():
    root = "tf.sqrt(tf.nn.relu(tf.nn.softmax(p)))"
    program = loss(f"return tf.reduce_sum(tf.math.log(tf.maximum({root}, 1e-8)))")
    (finding,) = tfnanlint.check(HEAD + program, "a.py", settings=UNSAFE).findings
    written = [edit.text for fix in finding.fixes for edit in fix.edits]
    assert any("1e-16" in text for text in written)
    assert not any("1e-12" in text for text in written)
