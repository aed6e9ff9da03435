"""Whether a gradient is taken of what optimizers are made with, and of what is a metric."""

from __future__ import annotations

import pytest

from tfnanlint.diagnostics.findings import Differentiated
from tfnanlint.pipeline import analysis as flow
from tfnanlint.project import index as project
from tfnanlint.rule.registry import Rule
from tfnanlint.syntax.source import Source

HEAD = "import tensorflow as tf\n\n\n"


def taken(path, text):
    """Whether a gradient is taken through the root in a file."""
    answers = []

    def look(site, here):
        if here.draft:
            yield here.remark(site.node, "", None)
        else:
            answers.append(site.differentiated)

    path.write_text(text)
    project.forget()
    rule = Rule("TFN000", "probe", ("tf.sqrt",), look, "")
    flow.analyse(Source(str(path), text), [rule])
    (answer,) = set(answers)
    return answer


@pytest.mark.parametrize(
    ("made", "answer"),
    [
        ("tf.train.MomentumOptimizer(rate * 10, 0.9)", Differentiated.NO),
        ("WarmupSchedule(rate)", Differentiated.NO),
        ("Trainer(rate)", Differentiated.UNKNOWN),
        ("optimizer(rate)", Differentiated.UNKNOWN),
    ],
)
def test_what_an_optimizer_is_made_with(tmp_path, made, answer):
    text = (
        HEAD
        + f"def f(step):\n    rate = tf.sqrt(step)\n    g = tf.gradients(l, v)\n    return {made}\n"
    )
    assert taken(tmp_path / "train.py", text) is answer


@pytest.mark.parametrize(
    ("loss", "answer"),
    [
        ("def loss(y, p):\n    return root(y, p) + 1\n", Differentiated.YES),
        ("def loss(y, p):\n    return y - p\n", Differentiated.NO),
        ("def other(y, p):\n    return root(y, p)\n\n\nloss = 'mse'\n", Differentiated.NO),
    ],
)
def test_a_metric_that_is_a_part_of_the_loss(tmp_path, loss, answer):
    text = HEAD + "def root(y, p):\n    return tf.sqrt(y - p)\n\n\n" + loss
    text += "\n\nmodel.compile(loss=loss, metrics=[root])\nmodel.fit(x, y)\n"
    assert taken(tmp_path / "train.py", text) is answer


PENALTY = (
    HEAD
    + "def gradient_penalty(f, x):\n    with tf.GradientTape() as tape:\n        tape.watch(x)\n"
    + "        y = f(x)\n    slopes = tape.gradient(y, x)\n"
    + "    return tf.sqrt(tf.reduce_sum(slopes ** 2))\n"
)
STEP = (
    HEAD
    + "import {module} as gan\n\n\ndef step(net, x, optimizer):\n"
    + "    with tf.GradientTape() as tape:\n        loss = tf.reduce_mean(net(x))\n"
    + "        penalty = gan.gradient_penalty(net, x)\n        {more}\n"
    + "    slopes = tape.gradient(loss, net.trainable_variables)\n"
    + "    optimizer.apply_gradients(zip(slopes, net.trainable_variables))\n"
    + "    return penalty\n\n\nstep(1, 2, 3)\n"
)


@pytest.mark.parametrize(
    ("more", "answer"),
    [
        ("pass", Differentiated.NO),
        ("loss += penalty", Differentiated.YES),
        ("print(gan.gradient_penalty)", Differentiated.YES),
        ("net.penalty = gan.gradient_penalty", Differentiated.YES),
    ],
)
@pytest.mark.parametrize("offered", [False, True])
def test_a_penalty_of_another_file_that_is_only_shown(tmp_path, more, answer, offered):
    folder = tmp_path / "nets" if offered else tmp_path
    folder.mkdir(exist_ok=True)
    if offered:
        (folder / "__init__.py").write_text("from nets.losses import *\n")
    module = "nets" if offered else "losses"
    (tmp_path / "train.py").write_text(STEP.format(module=module, more=more))
    assert taken(folder / "losses.py", PENALTY) is answer


@pytest.mark.parametrize(
    ("asked", "answer"),
    [("x", Differentiated.UNKNOWN), ("w", Differentiated.YES), ("[x, w]", Differentiated.YES)],
)
def test_what_made_the_point_at_which_a_gradient_is_asked(tmp_path, asked, answer):
    text = (
        HEAD
        + "w = tf.Variable(2.0)\n\n\ndef slope(a, b):\n    x = tf.sqrt(w * a) + b\n"
        + f"    y = tf.square(x) * w\n    return tf.gradients(y, {asked})\n"
    )
    assert taken(tmp_path / "train.py", text) is answer
