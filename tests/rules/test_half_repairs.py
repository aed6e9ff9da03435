"""A repair covers all places that share a defect, or it is not offered."""

from __future__ import annotations

import pytest

import tfnanlint

pytestmark = pytest.mark.usefixtures("suggestions_applied")

UNSAFE = {"unsafe-fixes": True}
HEAD = "import tensorflow as tf\nfrom tensorflow import keras\n\n"


def fixed(text: str) -> str:
    return tfnanlint.fix(HEAD + text, "a.py", settings=UNSAFE).after.removeprefix(HEAD)


STYLE = """
class Style(keras.Model):
    def loss(self, x, y):
        x = tf.nn.relu(x)
        y = tf.nn.relu(y)
        _, x_var = tf.nn.moments(x, axes=[1, 2])
        _, y_var = tf.nn.moments(y, axes=[1, 2])
        x_std = tf.sqrt(x_var)
        y_std = tf.sqrt(y_var)
        return {compared}

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self.loss(self(data), data)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {{"loss": loss}}
"""


def test_two_roots_that_are_compared_get_the_same_epsilon():
    for compared in ("self.mse(x_std, y_std)", "tf.reduce_mean(tf.square(x_std - y_std))"):
        after = fixed(STYLE.format(compared=compared))
        assert "tf.sqrt(x_var + 1e-12)" in after and "tf.sqrt(y_var + 1e-12)" in after


def test_a_root_that_is_not_compared_is_left():
    after = fixed(STYLE.format(compared="tf.reduce_sum(x_std)"))
    assert "tf.sqrt(x_var + 1e-12)" in after and "tf.sqrt(y_var)" in after


SWAPPED = """
bce = keras.losses.BinaryCrossentropy()

def first(y_true, y_pred):
    return bce(y_pred, y_true)

def second({parameters}):
    return bce({arguments})
"""


def test_arguments_are_swapped_in_all_calls_of_a_loss_or_in_none():
    both = SWAPPED.format(parameters="y_true, y_pred", arguments="y_pred, y_true")
    assert fixed(both).count("bce(y_true, y_pred)") == 2
    unclear = SWAPPED.format(parameters="a, b", arguments="a, b")
    assert fixed(unclear) == unclear
    in_order = SWAPPED.format(parameters="y_true, y_pred", arguments="y_true, y_pred")
    assert fixed(in_order).count("bce(y_true, y_pred)") == 2


EXERCISE = """
x = tf.compat.v1.placeholder(tf.float32, [None, 2])
y_ = tf.compat.v1.placeholder(tf.float32, [None, 2])
w = tf.compat.v1.get_variable("w", [2, 2])
first = tf.matmul(x, w)
y = tf.nn.softmax(first)  # {comment}

loss = -tf.reduce_sum(y_ * tf.math.log(y), axis=1)
tf.compat.v1.train.AdamOptimizer().minimize(loss)
"""


def test_a_loss_follows_what_an_exercise_changes():
    for comment in ("change to second", "TODO: use the second layer"):
        lesson = EXERCISE.format(comment=comment)
        assert fixed(lesson) == lesson
    assert "log_softmax(first)" in fixed(EXERCISE.format(comment="no change is needed"))
