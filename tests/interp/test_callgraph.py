"""The call graph: which calls run a function, and whether a program compiles it on the way."""

from __future__ import annotations

import pytest

from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.syntax.source import Source

LOOP = """
import tensorflow as tf

critic = tf.keras.Sequential([tf.keras.layers.Dense(1, activation="sigmoid")])


def step(x):
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(tf.math.log(1 - critic(x) + 1e-12))
    return tape.gradient(loss, critic.trainable_variables)


def train(data):
    for x in data:
        step(x)


train([tf.ones([2, 3])])
"""


def codes(text: str) -> list[str]:
    return [finding.code for finding in repository.findings(Source("loop.py", text))]


def test_what_only_a_compiler_loses_is_kept_in_a_loop_that_nobody_compiles():
    assert codes(LOOP) == []
    assert codes(LOOP.replace("def step", "# no Session, no placeholder\ndef step")) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def step", "@tf.function\ndef step"),
        ("def train", "@tf.function\ndef train"),
        ("train([", "train = tf.function(train)\ntrain(["),
        ("        step(x)", "        tf.function(step)(x)"),
        ("train([tf.ones([2, 3])])", ""),  # an importer may compile it
    ],
)
def test_it_is_lost_where_the_loop_is_compiled(old, new):
    assert LOOP.count(old) == 1
    assert codes(LOOP.replace(old, new)) == ["TFN402"]


OF_A_LIBRARY = """
import numpy as np
from toolkit.backend import K, keras


def cosine_loss(y_true, y_pred):
    return K.sum({callee}(y_pred, axis=1), axis=1)


def unit(vectors, axis=1):
    lengths = (vectors**2).sum(axis=axis, keepdims=True) ** 0.5
    return vectors / np.clip(lengths, 1e-8, np.inf)


encoder = keras.models.Sequential([keras.layers.Dense(3)])
encoder.compile(loss=cosine_loss, optimizer="adam")


class Evaluator(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        x = unit(encoder.predict(np.ones((3, 3))))
        print((x[::2] * x[1::2]).sum(1))


encoder.fit(np.ones((3, 3)), np.ones((3, 3)), callbacks=[Evaluator()])
"""


@pytest.mark.parametrize(("callee", "found"), [("K.unit", []), ("unit", ["TFN104"])])
def test_a_function_of_a_library_is_none_of_the_file_that_has_its_name(callee, found):
    assert codes(OF_A_LIBRARY.format(callee=callee)) == found


SHARES = """
import tensorflow as tf

net = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="relu")])
rest = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])


def shares(net, x):
    h = net(x)
    return h / tf.reduce_sum(h)
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SHARES, ["TFN102"]),
        (SHARES.replace("(net, x)", "(model, x)").replace("h = net", "h = model"), []),
        (SHARES.replace("net = tf", "def net(y):\n    return tf", 1), []),
        (SHARES + "\n\nshares(rest, tf.ones([2, 3]))\n", []),
        (SHARES + "\n\nSTEPS = [shares]\n", []),
    ],
)
def test_a_parameter_of_what_nothing_calls_is_the_model_of_its_name(text, found):
    warnings = [
        finding.code
        for finding in repository.findings(Source("shares.py", text))
        if finding.certainty is Certainty.MAY
    ]
    assert warnings == found
