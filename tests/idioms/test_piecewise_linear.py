"""What is piecewise linear in an input, and how many ops bend it."""

from __future__ import annotations

import pytest

from tfnanlint.dev.reveal import reveals
from tfnanlint.idioms.piecewise_linear import pieces
from tfnanlint.syntax.source import Source

HEAD = """import tensorflow as tf
from tensorflow import keras

linear = keras.layers.Dense(3)
bent = keras.layers.Dense(3, activation="relu")
curved = keras.layers.Dense(3, activation="tanh")
inputs = keras.Input((2,))
network = keras.Model(inputs=inputs, outputs=linear(bent(inputs)))
smooth = keras.Model(inputs=inputs, outputs=curved(inputs))
aside = keras.Model(inputs=inputs, outputs=tf.ones((2, 3)))


def f(x, c, w):
    reveal(x)
    reveal({})
"""


@pytest.mark.parametrize(
    "text, depends, bends",
    [
        ("x", True, 0),
        ("2.0", False, 0),
        ("c", False, 0),
        ("tf.ones((2, 3))", False, 0),
        ("tf.random.normal((2, 3))", False, 0),
        ("x + c", True, 0),
        ("x * c", True, 0),
        ("c * w", False, 0),
        ("x / c", True, 0),
        ("c - tf.nn.relu(x)", True, 1),
        ("tf.nn.relu(c)", False, 0),
        ("tf.nn.relu(x) + tf.abs(x)", True, 2),
        ("tf.maximum(x, 0.0)", True, 1),
        ("tf.identity(x)", True, 0),
        ("tf.matmul(x, w)", True, 0),
        ("linear(x)", True, 0),
        ("bent(x)", True, 1),
        ("linear(bent(bent(x)))", True, 2),
        ("keras.layers.ReLU()(x)", True, 1),
        ("keras.layers.Activation('relu')(x)", True, 1),
        ("keras.layers.Activation('linear')(x)", True, 0),
        ("keras.layers.Dense(3, activation=None)(x)", True, 0),
        ("keras.layers.Dense(3, activation=tf.nn.relu)(x)", True, 1),
        ("network(x)", True, 1),
        ("network(bent(x))", True, 2),
        ("network(c)", False, 0),
        ("aside(x)", False, 0),
    ],
)
def test_what_is_piecewise_linear(text, depends, bends):
    x, whole = reveals(Source("a.py", HEAD.format(text)))
    found = pieces(whole.value, x.value)
    assert found is not None and (found.depends, len(found.bends)) == (depends, bends)


@pytest.mark.parametrize(
    "text",
    [
        "x * x",
        "tf.nn.relu(x) * bent(x)",
        "c / x",
        "tf.exp(x)",
        "tf.matmul(x, x)",
        "curved(x)",
        "keras.layers.Activation('tanh')(x)",
        "keras.layers.Dense(3, activation='softplus')(x)",
        "keras.layers.Dense(3, **w)(x)",
        "keras.layers.LayerNormalization()(x)",
        "smooth(x)",
        "x + tf.exp(x)",
        "unseen(x)",
    ],
)
def test_what_is_curved_or_not_known(text):
    x, whole = reveals(Source("a.py", HEAD.format(text)))
    assert pieces(whole.value, x.value) is None


def test_a_chain_is_followed_so_far():
    x, whole = reveals(Source("a.py", HEAD.format("tf.nn.relu(tf.nn.relu(tf.nn.relu(x)))")))
    assert [pieces(whole.value, x.value, depth) is None for depth in (2, 3)] == [True, False]


@pytest.mark.parametrize(
    "text, is_known", [("x[:, 1:2]", True), ("unseen(x)[:, 1:2]", False), ("c[:, 1:2]", True)]
)
def test_other_columns_of_the_points_do_not_depend_on_one(text, is_known):
    lines = f"x = points[:, 0:1]\n    reveal(x)\n    reveal({text.replace('x[', 'points[')})\n"
    text = "import tensorflow as tf\n\n\ndef f(read, c):\n    points = tf.exp(read)\n    " + lines
    x, whole = reveals(Source("a.py", text))
    found = pieces(whole.value, x.value)
    assert (found is not None) is is_known and (found is None or not found.depends)
