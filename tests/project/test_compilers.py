"""Whether XLA may compile what a file computes: it is asked for, or Keras 3 trains the model."""

from __future__ import annotations

import pytest

from tfnanlint.pipeline import analysis as flow
from tfnanlint.project import index as project
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

LAYER = """\
import tensorflow as tf
from tensorflow import keras


class Unit(keras.layers.Layer):
    def call(self, x):
        x = self.dense(x)
        return x / (tf.norm(x) + 1e-8)
"""
TRAIN = "from layers import Unit\nfrom tensorflow import keras\n\nmodel.compile({})\nmodel.fit(x)\n"
LOOP = "from layers import Unit\n\nfor x in batches:\n    optimizer.minimize(lambda: Unit()(x))\n"
RULES = [rule for rule in rules.load() if rule.code == "TFN404"]


def doubts(folder, files, layer=LAYER):
    """Whether the findings of a file of a program, of which XLA alone makes a NaN, are doubtful."""
    for path, text in {"layers.py": layer, **files}.items():
        (folder / path).write_text(text)
    project.forget()
    findings = flow.analyse(Source(str(folder / "layers.py"), layer), RULES)
    project.forget()
    return [one.doubtful for one in findings if "nowhere" not in one.modes]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"other.py": "import keras\n\nmodel.fit_generator(x)\n", "pyproject.toml": "[project]\n"},
        {"train.py": TRAIN},
        {"train.py": TRAIN, "other.py": "model.fit_generator(x)\n"},
        {"train.py": LOOP.replace("Unit()", "tf.function(Unit(), jit_compile=True)")},
        {"train.py": LOOP, "run.py": "tf.config.optimizer.set_jit(True)\n"},
        {"train.py": LOOP, "run.py": "os.environ['TF_XLA_FLAGS'] = flags\n"},
        {"train.py": LOOP, "run.py": "strategy = tf.distribute.TPUStrategy(resolver)\n"},
        {"train.py": LOOP, "run.py": "set_jit ="},
        {"train.py": TRAIN, "old.py": TRAIN.format("Adam(lr=1)"), "run.py": "use(jit_compile=x)\n"},
        {"train.py": TRAIN, "model.py": "torch.optim.Adam(parameters, lr=0.1)\n"},
    ],
)
def test_what_xla_may_compile(tmp_path, files):
    assert doubts(tmp_path, files) == [False]


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": LOOP},
        {"train.py": LOOP, "run.py": "# set_jit\n"},
        {"train.py": TRAIN.format("optimizer=SGD(lr=0.1)")},
        {"train.py": TRAIN + "model.fit_generator(x)\n"},
        {"train.py": TRAIN, "old.py": "import train\nimport tensorflow_addons\n"},
    ],
)
def test_what_it_does_not(tmp_path, files):
    assert doubts(tmp_path, files) == [True]


def test_a_file_for_older_libraries(tmp_path):
    layer = LAYER + "\nmodel.compile(keras.optimizers.SGD(lr=0.1))\n"
    assert doubts(tmp_path, {}, layer) == []
    assert doubts(tmp_path, {"run.py": "import layers\nset_jit(True)\n"}, layer) == [False]
