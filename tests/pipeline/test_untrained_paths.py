"""Whether a gradient is taken of what optimizers are made with, and of what is a metric."""

from __future__ import annotations

import pytest
from gradients_of import taken

from tfnanlint.diagnostics.findings import Differentiated

HEAD = "import tensorflow as tf\n\n\n"


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


LAYER = (
    HEAD
    + "class Root(tf.keras.layers.Layer):\n    def call(self, x):\n        return tf.sqrt(x)\n\n\n"
)
STEP = (
    "from layers import Root\n\nmodel = tf.keras.Sequential([{}])\nmodel.compile(loss='mse')\n"
    "model.fit(x, y)\n"
)


@pytest.mark.parametrize("used", ["Root()", "tf.keras.layers.Dense(2)"])
def test_what_the_program_never_runs_is_judged_as_if_it_did(tmp_path, used):
    (tmp_path / "train.py").write_text("import tensorflow as tf\n" + STEP.format(used))
    assert taken(tmp_path / "layers.py", LAYER) is Differentiated.YES


@pytest.mark.parametrize(
    ("scale", "answer"),
    [
        ("np.array([tf.sqrt(i / units) for i in range(8)])", Differentiated.UNKNOWN),
        ("tf.stack([tf.sqrt(i / units) for i in range(8)])", Differentiated.YES),
    ],
)
def test_what_becomes_an_array_is_a_constant_of_the_loss(tmp_path, scale, answer):
    text = (
        "import numpy as np\nimport tensorflow as tf\n\n\ndef build(w, units):\n"
        f"    loss = tf.reduce_sum(w * {scale})\n"
        "    return tf.compat.v1.train.AdamOptimizer().minimize(loss)\n"
    )
    assert taken(tmp_path / "train.py", text) is answer


LOADED = (
    "from layers import Root\n\nmodel = tf.keras.Sequential([Root()])\nmodel.load_weights('w')\n"
)


@pytest.mark.parametrize(
    ("used", "more", "answer"),
    [
        ("print(model.predict(x))\n", "", Differentiated.NO),
        ("print(model.predict(x))\n", "import layers\n\nlayers.model.fit(x)\n", Differentiated.YES),
        (
            "print(model.predict(x))\n",
            "from main import model\n\nmodel.fit(x)\n",
            Differentiated.YES,
        ),
        ("model.fit(x, y)\n", "", Differentiated.YES),
        ("exec(text)\n", "", Differentiated.YES),
        ("train(model)\n", "def train(model):\n    model.fit(x, y)\n", Differentiated.YES),
    ],
)
def test_a_layer_of_a_model_that_only_predicts(tmp_path, used, more, answer):
    (tmp_path / "main.py").write_text("import tensorflow as tf\n" + LOADED + used)
    (tmp_path / "other.py").write_text(more)
    assert taken(tmp_path / "layers.py", LAYER) is answer


def test_a_layer_of_a_model_that_nothing_runs(tmp_path):
    built = "import tensorflow as tf\n" + LOADED.replace("model.load_weights('w')\n", "")
    (tmp_path / "main.py").write_text(built + "model.summary()\n")
    assert taken(tmp_path / "layers.py", LAYER) is Differentiated.YES
