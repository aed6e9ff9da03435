"""Repairs of roots whose zero is a coincidence are suggested, and those of ordinary zeros made."""

from __future__ import annotations

import pytest

import tfnanlint
from tfnanlint.cli import main

HEAD = """import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras import layers, models

"""
CRITIC = """
image = layers.Input(shape=(64, 64, 3))
x = layers.Conv2D(64, 4, 2)(image)
x = layers.{middle}(x)
x = layers.Dropout(0.3)(x)
critic = models.Model(image, layers.Dense(1{end})(layers.Flatten()(x)))

def penalty(mixed):
    with tf.GradientTape() as tape:
        tape.watch(mixed)
        score = critic(mixed)
    slopes = tape.gradient(score, mixed)
    return tf.reduce_mean((tf.norm(slopes, axis=-1) - 1.0) ** 2)

def step(mixed):
    with tf.GradientTape() as tape:
        loss = penalty(mixed)
    return tape.gradient(loss, critic.trainable_variables)
"""
STACK = """
critic = models.Sequential()
critic.add(layers.Conv2D(64, 4, input_shape=(28, 28, 1)))
critic.add(layers.{middle})
critic.add(layers.Flatten())
critic.add(layers.Dense(1))
""" + CRITIC[CRITIC.index("\ndef penalty") :]
ERROR = """
net = models.Sequential([layers.Dense(32, activation="tanh"), layers.Dense(1{end})])

def step(x, y):
    with tf.GradientTape() as tape:
        error = net(x) - y
        loss = {loss}
    return tape.gradient(loss, net.trainable_variables)
"""
COMPILED = """
def rmse(y_true, y_pred):
    return K.sqrt(K.mean(K.square(y_pred - y_true){axis}))

net = models.load_model("net.h5")
net.compile(optimizer="adam", loss=rmse)
net.fit(tf.ones((4, 8)), tf.ones((4, 8)))
"""
PAIR = """
class Distance(layers.Layer):
    def __init__(self):
        super().__init__()
        self.left = layers.Dense(16)
        self.right = layers.Dense(16)

    def call(self, x):
        apart = self.left(x) - self.{second}(x[::-1])
        return {loss}
"""
WHOLE = "tf.sqrt(tf.reduce_mean(tf.square(error)))"


def fixes(program: str) -> list:
    findings = tfnanlint.check(HEAD + program, "a.py").findings
    assert findings, "nothing is reported"
    return [fix for finding in findings for fix in finding.fixes]


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(CRITIC.format(middle="LeakyReLU(0.2)", end=""), id="leaky critic"),
        pytest.param(CRITIC.format(middle="ELU()", end=', activation="linear"'), id="elu"),
        pytest.param(STACK.format(middle="LeakyReLU()"), id="stack"),
        pytest.param(ERROR.format(end="", loss=WHOLE), id="error of a batch"),
        pytest.param(ERROR.format(end="", loss="tf.norm(tf.abs(error))"), id="norm of it"),
        pytest.param(ERROR.format(end="", loss=WHOLE.replace("error", "2.0 * error")), id="scaled"),
        pytest.param(COMPILED.format(axis=""), id="loss over a batch"),
        pytest.param(
            PAIR.format(second="right", loss="tf.sqrt(tf.reduce_sum(apart ** 2, -1))"),
            id="two layers",
        ),
        pytest.param(
            CRITIC.format(middle="LeakyReLU(0.2)", end="").replace(
                "score = critic(mixed)", "score = judge(mixed)"
            ),
            id="unknown critic",
        ),
        pytest.param(
            ERROR.format(end="", loss="tf.reduce_mean(tf.sqrt(tf.square(error)))"), id="one by one"
        ),
        pytest.param(COMPILED.format(axis=", axis=-1"), id="loss of one example"),
        pytest.param(
            COMPILED.format(axis="").replace(
                'models.load_model("net.h5")',
                'models.Sequential([layers.Dense(8, activation="relu")])',
            ),
            id="compiled relu",
        ),
    ],
)
def test_what_is_zero_by_chance_is_suggested(program):
    offered = fixes(program)
    assert offered and all(fix.suggested for fix in offered)
    for settings in ({}, {"unsafe-fixes": True}):
        assert tfnanlint.fix(HEAD + program, "a.py", settings=settings).after == HEAD + program


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(CRITIC.format(middle="ReLU()", end=""), id="relu critic"),
        pytest.param(
            CRITIC.format(middle="LeakyReLU(0.2)", end=', activation="sigmoid"'), id="sigmoid"
        ),
        pytest.param(CRITIC.format(middle="LeakyReLU(alpha=0.0)", end=""), id="no slope"),
        pytest.param(
            CRITIC.format(middle="LeakyReLU(0.2)", end=', kernel_initializer="zeros"'),
            id="flat at first",
        ),
        pytest.param(STACK.format(middle="ReLU()"), id="relu in a stack"),
        pytest.param(ERROR.format(end=', activation="relu"', loss=WHOLE), id="relu at the end"),
        pytest.param(
            ERROR.format(end="", loss=WHOLE.replace("error", "tf.sign(y) * error")), id="mask"
        ),
        pytest.param(ERROR.format(end="", loss=WHOLE).replace("- y", "- net(y)"), id="siamese"),
        pytest.param(
            PAIR.format(second="left", loss="tf.sqrt(tf.reduce_sum(apart ** 2, -1))"),
            id="one layer twice",
        ),
    ],
)
def test_what_is_zero_as_a_rule_is_repaired(program):
    offered = fixes(program)
    assert offered and not any(fix.suggested for fix in offered)
    fixed = tfnanlint.fix(HEAD + program, "a.py", settings={"unsafe-fixes": True})
    assert fixed.after != HEAD + program


def test_a_fix_that_the_configuration_names_is_made():
    program = HEAD + CRITIC.format(middle="LeakyReLU(0.2)", end="")
    settings = {"unsafe-fixes": True, "rules": {"TFN201": {"fix": ["epsilon_inside"]}}}
    assert "+ 1e-30" in tfnanlint.fix(program, "a.py", settings=settings).after


def test_a_suggestion_says_why(tmp_path, capsys):
    path = tmp_path / "a.py"
    path.write_text(HEAD + CRITIC.format(middle="LeakyReLU(0.2)", end=""))
    main(["check", "--isolated", "--no-cache", "--unsafe-fixes", str(path)])
    assert "suggestion: add 1e-30 under the root" in capsys.readouterr().out
    main(["check", "--isolated", "--no-cache", "--verbose", str(path)])
    out = " ".join(capsys.readouterr().out.split())
    assert "not applied, because no part of the network is flat" in out
    assert "fixable with" not in out
