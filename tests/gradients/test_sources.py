"""Whether a gradient is taken through what is made of constants, of data or of weights."""

from __future__ import annotations

import pytest
from gradients_of import taken

from tfnanlint.diagnostics.findings import Differentiated

NO, YES, UNKNOWN = Differentiated.NO, Differentiated.YES, Differentiated.UNKNOWN
HEAD = "import numpy as np\nimport tensorflow as tf\n\n\n"
STARTS = [
    ("init_scale = tf.sqrt(s)\n    v = tf.Variable(init_scale)", "v * y", NO),
    ("first = tf.sqrt(s)\n    v = tf.Variable(first)", "v * y", NO),
    ("init_scale = tf.sqrt(s)", "init_scale * y", YES),
]


@pytest.mark.parametrize(("start", "loss", "answer"), STARTS)
def test_what_a_variable_starts_with(tmp_path, start, loss, answer):
    text = f"""\
def build(x, optimizer):
    y = tf.layers.dense(x, 10)
    s = tf.reduce_sum(tf.layers.dense(x, 1))
    {start}
    loss = {loss}
    return optimizer.minimize(loss)


session.run(build(x, optimizer))
"""
    assert taken(tmp_path / "a.py", HEAD + text) is answer


WEIGHED = """\
def step(model, x, weight):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) * tf.sqrt(weight))
    return tape.gradient(loss, model.trainable_variables)


def table(d):
    return np.array([d["a"], d["b"]])


def run(model, x, d, configs, optimizer):
    {given}
    optimizer.apply_gradients(step(model, x, given))


run(build(), x, d, configs, optimizer)
"""
GIVEN = [
    ("given = table(d)", NO),
    ("given = tf.convert_to_tensor(table(d)[:, 0], tf.float32)", NO),
    ("given = d['width'] // 2", NO),
    ("given = min(len(d), configs.width)", NO),
    ("given = tf.random.uniform([3], 0.0, 1.0)", NO),
    ("given = tf.random.normal([3], model(x))", YES),
    ("given = model(x)", YES),
    ("given = table(d) * model(x)", YES),
    ("given = table(d)\n    optimizer.apply_gradients(step(model, x, model(x)))", YES),
    ("given = d['weight']", YES),
    ("given = [table(d), model(x)][len(d)]", YES),
    ("given = tf.Variable(table(d))", YES),
    ("given = table(d)\n    for _ in d:\n        given = given + model(x)", YES),
]


@pytest.mark.parametrize(("given", "answer"), GIVEN)
def test_what_a_caller_hands_over(tmp_path, given, answer):
    assert taken(tmp_path / "a.py", HEAD + WEIGHED.format(given=given)) is answer


def test_a_package_that_others_may_call(tmp_path):
    (tmp_path / "setup.py").write_text("from setuptools import setup\n\nsetup(packages=['a'])\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "__init__.py").write_text("")
    text = HEAD + WEIGHED.format(given="given = table(d)")
    assert taken(tmp_path / "a" / "step.py", text) is YES


RADIUS = HEAD + "def radius(x):\n    return tf.sqrt(tf.reduce_sum(x**2))\n"
TABLE = "import numpy as np\n\n\ndef table(path):\n    return np.array(read(path))\n"
TRAIN = """\
import tensorflow as tf
from a import radius
from data import table


def run(path, w):
    x = tf.convert_to_tensor(table(path), tf.float32)
    with tf.GradientTape() as tape:
        {watched}
        y = radius(x) * w
    return tape.gradient(y, {operand})


print(run("table.csv", tf.Variable(1.0)))
"""


@pytest.mark.parametrize(
    ("watched", "operand", "answer"), [("pass", "w", NO), ("tape.watch(x)", "x", YES)]
)
def test_what_another_file_watches(tmp_path, watched, operand, answer):
    (tmp_path / "data.py").write_text(TABLE)
    (tmp_path / "train.py").write_text(TRAIN.format(watched=watched, operand=operand))
    assert taken(tmp_path / "a.py", RADIUS) is answer


SQUARED = "def root(x):\n    return tf.reduce_sum(tf.sqrt(x))\n"
KEPT = "KEPT = {{'w': np.array([1.0])}}\nW = np.array([1.0])\n\n\ndef root():\n    return tf.sqrt({})\n"
ARRAY = "import numpy as np\nimport tensorflow as tf\nimport a\n\n\n"
WATCHED = ARRAY + "x = tf.constant(np.array([1.0]))\nwith tf.GradientTape() as tape:\n    {}\n"
TRAINED = ARRAY + "w = tf.Variable([1.0])\n{}\nwith tf.GradientTape() as tape:\n    y = {}\n"
GIVES = "print(tape.gradient(y, {}))\n"


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (SQUARED, WATCHED.format("tape.watch(x)\n    y = a.root(x)") + GIVES.format("x")),
        (SQUARED, WATCHED.format("look = tape.watch; look(x)\n    y = a.root(x)")),
        (SQUARED, WATCHED.format("for z in [x]: tape.watch(z)\n    y = a.root(x)")),
        (SQUARED, ARRAY + "def g(x): return tf.gradients(a.root(x), [x])\ng(np.array([1.0]))\n"),
        (SQUARED, ARRAY + "def g(x): return tf.hessians(a.root(x), x)\ng(np.array([1.0]))\n"),
        (
            SQUARED,
            ARRAY + "x = tf.constant(np.array([1.0]))\n"
            "with tf.autodiff.ForwardAccumulator(x, x) as acc:\n    print(acc.jvp(a.root(x)))\n",
        ),
        (
            SQUARED,
            TRAINED.format("a.root(np.array([1.0]))", "getattr(a, name)(w)") + GIVES.format("w"),
        ),
        (KEPT.format("KEPT['w']"), TRAINED.format("a.KEPT['w'] = w", "a.root()")),
        (KEPT.format("W"), TRAINED.format("a.W = w", "a.root()")),
    ],
)
def test_arrays_that_are_exchanged_or_asked_for(tmp_path, text, other):
    (tmp_path / "train.py").write_text(other)
    assert taken(tmp_path / "a.py", HEAD + text) is not NO


def test_a_class_that_divides_as_it_likes(tmp_path):
    text = (
        "class Part:\n    def __init__(self, w):\n        self.w = w\n\n"
        "    def __floordiv__(self, n):\n        return self.w / n\n\n\n"
        "def step(w):\n    with tf.GradientTape() as tape:\n"
        "        y = tf.sqrt(Part(w) // 2.0)\n    return tape.gradient(y, w)\n"
    )
    assert taken(tmp_path / "a.py", HEAD + text) is not NO


@pytest.mark.parametrize(
    ("step", "answer"),
    [("optimizer.minimize(-likelihood(a, y))", UNKNOWN), ("print(likelihood(a, y))", NO)],
)
def test_a_test_that_trains(tmp_path, step, answer):
    text = (
        "def run(likelihood, y, optimizer):\n    a = tf.sqrt(tf.Variable(tf.ones([1])))\n"
        f"    session.run({step})\n\n\nrun(likelihood, y, optimizer)\n"
    )
    assert taken(tmp_path / "test_a.py", HEAD + text) is answer


AGENT = """\
class Agent(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.net = tf.keras.layers.Dense(3)

    def call(self, x):
        return {called}

    def spread(self, x):
        return tf.sqrt(tf.nn.relu(self.net(x)))
"""


@pytest.mark.parametrize(("called", "answer"), [("self.net(x)", YES), ("self.spread(x)", YES)])
def test_an_own_method_of_a_model(tmp_path, called, answer):
    """Also where nothing calls it: code of other projects may."""
    assert taken(tmp_path / "a.py", HEAD + AGENT.format(called=called)) is answer


@pytest.mark.parametrize(
    ("used", "answer"),
    [("1.0 - spread_metric()(y, p)", YES), ("tf.reduce_mean(y - p)", NO)],
)
def test_a_metric_that_a_loss_is_made_of(tmp_path, used, answer):
    text = (
        "def spread_metric():\n    def spread(y, p):\n        return tf.sqrt(tf.reduce_sum(y * p))\n\n"
        "    return spread\n\n\ndef dice_loss(y, p):\n    return " + used + "\n\n\n"
        "model.compile('adam', loss=dice_loss, metrics=[spread_metric()])\n"
    )
    assert taken(tmp_path / "metrics.py", HEAD + text) is answer


@pytest.mark.parametrize("base", ["Model", "models.Model", "Sequential"])
def test_the_batches_of_a_model_with_a_step_of_its_own(tmp_path, base):
    text = f"""\
class Residual(tf.keras.{base}):
    def call(self, inputs):
        x, y = inputs
        return tf.reduce_mean(tf.sqrt(x) - self.net(y))

    def train_step(self, inputs):
        with tf.GradientTape() as tape:
            loss = self(inputs)
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        return loss
"""
    assert taken(tmp_path / "a.py", HEAD + text) is NO
