"""`tfnanlint trace` and `ExplainNaN` on programs that meet NaN, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tfnanlint.dev import repository

pytestmark = pytest.mark.tensorflow
HEAD = "import numpy as np\nimport tensorflow as tf\n\n\n"
EAGER = HEAD + (
    "def loss_of(z):\n"
    "    p = tf.nn.softmax(z)\n"
    "    return -tf.reduce_sum(tf.math.log(p))\n\n\n"
    "print('started')\n"
    "loss_of(tf.constant([[0.0, 1000.0]]))\n"
)
GRADIENT = HEAD + (
    "w = tf.Variable([0.0, 0.0])\n\n\n"
    "@tf.function\n"
    "def step():\n"
    "    with tf.GradientTape() as tape:\n"
    "        loss = tf.sqrt(tf.reduce_sum(tf.square(w)))\n"
    "    return tape.gradient(loss, w)\n\n\n"
    "step()\n"
)
KERAS = HEAD + (
    "def risky(y_true, y_pred):\n"
    "    return -tf.reduce_mean(y_true * tf.math.log(tf.nn.relu(y_pred)))\n\n\n"
    "model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer='zeros')])\n"
    "model.compile('sgd', loss=risky)\n"
    "model.fit(-np.ones((8, 3)), np.ones((8, 2)), batch_size=4, verbose=0{more})\n"
)
SESSION = (
    "import tensorflow.compat.v1 as tf\n\n"
    "tf.disable_eager_execution()\n"
    "x = tf.placeholder(tf.float32, [None])\n"
    "loss = tf.reduce_sum(tf.log(tf.nn.softmax(x)))\n"
    "with tf.Session() as session:\n"
    "    session.run(loss, {x: [0.0, 1000.0]})\n"
)


def run(tmp_path, text: str, *words: str) -> subprocess.CompletedProcess:
    (tmp_path / "train.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "tfnanlint", "trace", "--isolated", "-n", *words, "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(repository.ROOT)},
        timeout=300,
    )


@pytest.mark.parametrize(
    ("text", "op", "row", "code", "counted"),
    [
        (EAGER, "Log", 7, "TFN301", False),
        (GRADIENT, "SqrtGrad", 12, "TFN202", False),
        (KERAS.format(more=""), "Log", 6, "TFN101", True),
        (SESSION, "Log", 5, "TFN301", False),
    ],
    ids=["eager", "gradient", "keras", "session"],
)
def test_a_program_is_led_to_the_line_and_the_finding(tmp_path, text, op, row, code, counted):
    done = run(tmp_path, text, "--output-format", "json")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout[done.stdout.index("{") :])
    assert (told["op"], told["file"]["row"]) == (op, row)
    assert told["findings"][0]["code"] == code
    # an optimizer may count the step at which a loss is not finite
    assert told["step"] in ((0, 1) if counted else (None,))


def test_what_the_program_prints_is_kept_and_the_fix_is_shown(tmp_path):
    done = run(tmp_path, EAGER)
    assert done.returncode == 1
    assert done.stdout.startswith("started\n")
    assert "tf.nn.log_softmax(z)" in done.stdout


def test_other_ends_of_a_program(tmp_path):
    unchecked = "tf.debugging.disable_check_numerics()\nprint(tf.math.log(0.0))\n"
    done = run(tmp_path, HEAD + unchecked)
    assert (done.returncode, "without NaN or Inf" in done.stderr) == (0, True)
    done = run(tmp_path, "raise SystemExit(3)\n")
    assert (done.returncode, "exit code 3" in done.stderr) == (2, True)


def test_the_callback_stops_and_explains(tmp_path):
    more = ", callbacks=[tfnanlint.callbacks.ExplainNaN()], epochs=3"
    text = "import tfnanlint.callbacks\n" + KERAS.format(more=more) + "print('done')\n"
    (tmp_path / "train.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(repository.ROOT)},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "The loss is inf in epoch 1, step 1." in done.stderr
    assert "train.py:7:" in done.stderr and "TFN101" in done.stderr
    assert done.stdout.endswith("done\n")


def test_an_error_that_is_its_own_cause_has_no_text():
    pytest.importorskip("tensorflow")
    from tfnanlint.trace.watched import text_of

    error = ValueError("of its own")
    error.__cause__ = error
    assert text_of(error) == ""
