"""What a program shows of a gradient, and what rests on a guess: that goes for the grade of a
finding, and reports say that it is unknown.
"""

from __future__ import annotations

import json

import pytest
from gradients_of import taken

from tfnanlint.cli import main
from tfnanlint.diagnostics.findings import Differentiated

NO, YES, UNKNOWN = Differentiated.NO, Differentiated.YES, Differentiated.UNKNOWN
HEAD = "import tensorflow as tf\n\n\n"
TAPED = """\
def step(model, x, labels, scale):
    with tf.GradientTape() as tape:
        y = model(x)
        loss = tf.reduce_mean({})
    return tape.gradient(loss, model.trainable_variables)


class Trainer:
    def __init__(self, scale):
        self.scale = scale

    def run(self, model, x, labels, opt):
        return step(model, x, labels, self.scale * opt.width)
"""
LAYER = """\
class Wide(tf.keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight("w", shape=shape[-1:])

    def call(self, x):
        return {}
"""
OWN = """\
class Net(tf.keras.Model):
    def objective(self, x):
        return tf.sqrt(x)
"""
CALLED = "\n    def train_step(self, x):\n        return self.objective(x)\n"
HANDED = "\n    def call(self, x):\n        return tf.map_fn(self.objective, x)\n"
SHOWN = [
    (TAPED.format("tf.sqrt(y)"), YES),
    (TAPED.format("y / tf.sqrt(scale)"), UNKNOWN),
    (LAYER.format("x * tf.sqrt(self.w)"), YES),
    (LAYER.format("x + tf.sqrt(x)"), UNKNOWN),
    (OWN, UNKNOWN),
    (OWN + CALLED, YES),
    (OWN + HANDED, YES),
    ("def my_loss(y_true, y):\n    return tf.sqrt(y)\n", YES),
    ("def my_loss(y_true, y):\n    return y * tf.sqrt(y_true)\n", UNKNOWN),
    (
        "def my_loss(x):\n    return tf.sqrt(x)\n\n\nprint(my_loss(net(data)))\n",
        UNKNOWN,
    ),
]


@pytest.mark.parametrize(("text", "answer"), SHOWN)
def test_a_gradient_that_the_program_shows(tmp_path, text, answer):
    assert taken(tmp_path / "a.py", HEAD + text, is_seen=True) is answer


@pytest.mark.parametrize("text", [text for text, answer in SHOWN if answer is UNKNOWN])
def test_a_guess_counts_for_the_rules(tmp_path, text):
    assert taken(tmp_path / "a.py", HEAD + text) is YES


def test_what_reports_say_of_a_guess(tmp_path, capsys):
    path = tmp_path / "a.py"
    text = (
        "def my_loss(x):\n    return tf.sqrt(tf.reduce_sum(x**2))\n\n\nprint(my_loss(net(data)))\n"
    )
    path.write_text(HEAD + text)
    main(["check", "--isolated", "--no-cache", "--output-format", "json", str(path)])
    (finding,) = json.loads(capsys.readouterr().out)
    assert finding["differentiated"] == "unknown"
    assert "probably a gradient is taken" in finding["because"]


OLD_ORDER = """\
def build(x):
    y = tf.layers.dense(x, 8)
    a, b = tf.split(1, 2, {})
    loss = tf.reduce_sum(tf.sqrt(tf.concat(1, [a, b])))
    return tf.train.AdamOptimizer().minimize(loss)


session.run(build(x))
"""


@pytest.mark.parametrize(("what", "answer"), [("y", YES), ("[1.0, 2.0]", NO)])
def test_an_axis_that_stands_first(tmp_path, what, answer):
    assert taken(tmp_path / "a.py", HEAD + OLD_ORDER.format(what)) is answer


UPDATED = """\
def near(y, ids):
    centers = tf.get_variable("centers", [10, 8], trainable=False)
    moved = tf.sqrt(y)
    {}
    return tf.reduce_sum(y), centers
"""
USED = """\
import tensorflow as tf
import a


class Net:
    def __init__(self, x, ids):
        self.loss, _ = a.near(tf.layers.dense(x, 8), ids)


class Trainer:
    def run(self, net):
        self.step = tf.train.AdamOptimizer().minimize(net.loss)
        session.run(self.step)


Trainer().run(Net(x, ids))
"""


@pytest.mark.parametrize(
    ("line", "answer"),
    [("centers = tf.scatter_sub(centers, ids, moved)", NO), ("y = y + moved", YES)],
)
def test_what_only_updates_rows_of_a_variable(tmp_path, line, answer):
    (tmp_path / "train.py").write_text(USED)
    assert taken(tmp_path / "a.py", HEAD + UPDATED.format(line)) is answer


APPLIED = """\
def cost(y):
    return tf.reduce_sum(tf.sqrt(y))


def main(x):
    y = tf.layers.dense(x, 8)
    loss = 1.0 + cost(y)
    train = {}(tf.train.AdamOptimizer(), losses=[loss])
    with tf.Session() as session:
        session.run(train)


main(x)
"""


@pytest.mark.parametrize(("call", "answer"), [("pt.apply_optimizer", UNKNOWN), ("round", NO)])
def test_a_loss_given_to_what_applies_an_optimizer(tmp_path, call, answer):
    assert taken(tmp_path / "a.py", HEAD + APPLIED.format(call)) is answer


STARTED = """\
def {}(x):
    return tf.sqrt(x)


class Model:
    def run(self, x):
        self.loss = tf.reduce_sum({}(tf.layers.dense(x, 8)))
        self.start()

    def start(self):
        self.step = tf.train.AdamOptimizer().minimize(self.loss)
"""


@pytest.mark.parametrize("name", ["init_ops", "starts"])
def test_a_function_named_for_initial_values(tmp_path, name):
    text = HEAD + STARTED.format(name, name)
    assert taken(tmp_path / "a.py", text, is_seen=True) is not NO
