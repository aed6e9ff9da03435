"""What a file with `set_floatx` computes in, against Keras itself: the dtype and the numbers of
what no dtype was asked for.
"""

from __future__ import annotations

import os

import pytest
from later import Later
from random_programs import settle

from tfnanlint.dev.reveal import reveals
from tfnanlint.ops.table import ROWS, load
from tfnanlint.syntax.source import Source

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
tf = Later("tensorflow")
np = Later("numpy")
keras = Later("keras")
pytestmark = pytest.mark.tensorflow

HEAD = "import keras\nimport numpy as np\nimport tensorflow as tf\nfrom keras import ops\nfrom tensorflow.keras import backend as K\n"
# An expression for each row that Keras computes in its floatx, by the spelling of Keras; some of
# the other rows and of TensorFlow's.
MADE = {
    "K.constant": "K.constant(0.1)",
    "ops.zeros": "ops.zeros([3])",
    "ops.ones": "ops.ones([3])",
    "ops.full": "ops.full([3], 0.1)",
    "K.eye": "K.eye(3)",
    "ops.eye": "ops.eye(3)",
    "ops.identity": "ops.identity(3)",
    "K.cast_to_floatx": "K.cast_to_floatx(np.full([3], 0.1))",
    "K.variable": "K.variable(0.1)",
    "K.zeros": "K.zeros([3])",
    "K.ones": "K.ones([3])",
    "K.random_uniform": "K.random_uniform([3])",
    "K.random_normal": "K.random_normal([3])",
    "K.truncated_normal": "K.truncated_normal([3])",
    "keras.random.uniform": "keras.random.uniform([3])",
    "keras.random.normal": "keras.random.normal([3])",
    "keras.random.truncated_normal": "keras.random.truncated_normal([3])",
}
OTHERS = (
    "keras.random.gamma([3], 2.0)",
    "keras.random.binomial([3], 5.0, 0.5)",
    "K.random_bernoulli([3])",
    "tf.ones([3])",
    "tf.random.uniform([3])",
    "tf.constant(0.1)",
    "K.constant(0.1, dtype='float32')",
    "ops.zeros_like(tf.constant([0.1]))",
    "ops.full_like(tf.constant([0.1]), 2.0)",
    "keras.random.normal([3], dtype='float32')",
    "tf.cast(0.1, K.floatx())",
    "tf.ones([3], dtype=K.floatx())",
    "keras.layers.Rescaling(0.1)(tf.ones([3]))",
    "keras.layers.ReLU()(tf.ones([3]))",
    "keras.layers.Softmax(dtype='float32')(tf.ones([3]))",
    "ops.cast(tf.ones([3]), 'float32')",
    "ops.add(tf.ones([3]), 0.5)",
    "ops.cbrt(tf.ones([3]))",
    "ops.i0(tf.ones([3]))",
    "tf.math.bessel_i0(tf.ones([3]))",
)
# Spellings that TensorFlow 2.16 and later have no more, or never had: nothing to compare with.
GONE = {"K.random_uniform_variable", "K.random_normal_variable"}


def _of(text: str, dtype: str):
    """What the analysis says of an expression in a file that sets a floatx, and what Keras
    computes.
    """
    file = f"{HEAD}K.set_floatx({dtype!r})\nmade = {text}\n"
    said = [one.value for one in reveals(Source("file.py", f"{file}reveal(made)\n"))]
    space: dict = {}
    try:
        exec(file, space)
    finally:
        settle()
    return said[0], np.asarray(tf.convert_to_tensor(space["made"]))


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("text", [*MADE.values(), *OTHERS])
def test_dtype(text, dtype):
    said, made = _of(text, dtype)
    assert said.dtype in (str(made.dtype), None)
    assert said.dtype is not None or text in OTHERS
    assert all(said.admits(float(one)) for one in made.flat), f"{made} is not in {said!r}"


def test_every_row_is_tried():
    load()
    keras_spelled = {
        alias
        for row in ROWS
        if row.floatx
        for alias in row.aliases
        if alias.startswith(("K.", "ops.", "keras."))
    }
    assert keras_spelled - GONE - {"K.floatx", "keras.config.floatx"} == set(MADE)


@pytest.mark.parametrize(
    "text",
    [
        "if flag:\n    K.set_floatx('float16')",
        "K.set_floatx('float16')\nK.set_floatx('float64')",
        "def half():\n    K.set_floatx('float16')",
        "tf.keras.mixed_precision.set_global_policy('mixed_float16')",
    ],
)
def test_settings_that_may_not_hold(text):
    """Of what only may be set, or is set twice, or by a policy, nothing is said."""
    [said] = reveals(Source("file.py", f"{HEAD}{text}\nreveal(K.constant(0.1))\n"))
    assert said.value.dtype is None


def test_what_stands_before():
    [before, after] = reveals(
        Source(
            "file.py",
            f"{HEAD}reveal(K.constant(0.1))\nK.set_floatx('float16')\nreveal(K.constant(0.1))\n",
        )
    )
    assert (before.value.dtype, after.value.dtype) == (None, "float16")
