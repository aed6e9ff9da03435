"""Comments, docstrings and strings that are statements never change a finding or its fix, whatever
words are in them. `benchmarks/invariance.py DIR` asks the same of any folder.
"""

from __future__ import annotations

import pytest
from added_text import findings, with_added_text

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.dev.repository import ROOT
from tfnanlint.rule import registry as rules

RULES = ROOT / "fixtures" / "rules"

LOSS = """
import tensorflow as tf

def ratio(y, p):
    return tf.math.log(tf.reduce_sum(y * p)) / tf.reduce_sum(tf.abs(p))

def length(params, x):
    if params.size > 3:
        x = tf.nn.relu(x)
    return tf.norm(x) / tf.reduce_sum(tf.sqrt(x * x)) * params.scale

def clipped(x):
    return tf.acos(tf.clip_by_value(x, -1 + 1e-7, 1 - 1e-7)) + 1.0 / (tf.norm(x) + 1e-8)
"""
TRAINED = """
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation=lambda x: tf.sqrt(tf.nn.relu(x)))])
images = np.random.randint(0, 256, (8, 8))
model.optimizer = tf.keras.optimizers.Adam(5.0)

def root(x):
    return tf.math.log(tf.nn.relu(x)) / tf.nn.relu(x)
"""
# Each once changed a finding or a fix of one of the programs.
TEXTS = (
    "model.compile(loss=ratio, metrics=[length])",
    "model.compile(loss=[length, ratio])",
    "metrics=[ratio, root]",
    "dataset.map(ratio).map(length).map(root)",
    "K.in_train_phase(noised, ratio)",
    "custom_gradient(vjp_fwd=ratio, jvp_fn=length)",
    "mixed_precision.set_global_policy('mixed_float16')",
    "keras runs this under XLA: jit_compile=True",
    "model.compile(optimizer); model.fit(images)",
    "tf.placeholder(tf.float32); tf.Session()",
    "dropna fillna isfinite Dense( fit( BatchNormalization Rescaling",
    "params.scale = 0.0",
)


@pytest.fixture(scope="module")
def policy():
    layer = Layer(certainty="unknown", unsafe_fixes=True, preview=True)
    return Configuration(layer, (), True).for_directory(str(ROOT)).policy("", rules.load())


@pytest.mark.parametrize("program", [LOSS, TRAINED], ids=["losses", "training"])
def test_words_in_comments_and_strings_change_nothing(program, policy, tmp_path):
    path = str(tmp_path / "program.py")
    before = findings(path, program, policy)
    assert before
    for text in TEXTS:
        for prose in (f"# {text}", f'"""{text}"""'):
            assert findings(path, f"{program}\n{prose}\n", policy) == before, prose


@pytest.mark.parametrize(
    "stem",
    [
        "angle_at_origin",
        "log_of_prob",
        "epsilon_absorbed",
        "norm_gradient_at_zero",
    ],
)
def test_added_text_changes_nothing(stem, policy):
    path = RULES / f"{stem}.py"
    program = path.read_text()
    before = findings(str(path), program, policy)
    added = with_added_text(program, seed=1, texts=12)
    assert findings(str(path), added.text, policy, added.rows) == before, added.texts


def test_other_files_of_a_project_are_read_as_code(policy, tmp_path):
    program, before = "import settings\n" + LOSS, {}
    for name, text in (
        ("nothing", ""),
        ("docstring", '"""\nset_global_policy("mixed_float16")\nparams.scale = 0.0\n"""\n'),
        ("comment", "# set_global_policy('mixed_float16')\n"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "model.py").write_text(program)
        (folder / "settings.py").write_text(f"{text}import tensorflow as tf\n")
        before[name] = findings(str(folder / "model.py"), program, policy)
    assert before["nothing"]
    assert before["docstring"] == before["comment"] == before["nothing"]
