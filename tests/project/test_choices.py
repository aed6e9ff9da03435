"""Which branches a program never takes: those that depend on what is the same constant wherever the
program sets it. What is not seen, and what people set in a script, decides nothing.
"""

from __future__ import annotations

import pytest
from reached import HEAD, MAIN, put, reason

LOSS = (
    HEAD
    + "def loss(z, soft=False, kind='mean'):\n"
    + "    if {}:\n        return tf.math.log(tf.nn.softmax(z))\n    return z\n\n\n"
)
USER = "from losses import {}\n\n\ndef train(z, flag):\n    {}\n\n\n" + MAIN.format("train(1, 2)")
LAYER = (
    HEAD
    + "class Layer(tf.keras.layers.Layer):\n"
    + "    def __init__(self, soft=False, **kwargs):\n"
    + "        super().__init__(**kwargs)\n        self.soft = soft\n\n"
    + "    def call(self, z):\n        if self.soft:\n"
    + "            return tf.math.log(tf.nn.softmax(z))\n        return z\n\n\n"
)


def why(folder, losses, name, body):
    files = {"losses.py": losses, "train.py": USER.format(name, body)}
    return reason(folder, "losses.py", files)


@pytest.mark.parametrize(
    ("test", "call", "word"),
    [
        ("soft", "loss(z)", "false"),
        ("soft", "loss(z, False)", "false"),
        ("not soft", "loss(z, soft=True)", "false"),
        ("soft and z is not None", "loss(z)", "false"),
        ("kind == 'sum'", "loss(z)", "false"),
        ("kind in ('sum', 'max')", "loss(z, kind='min')", "false"),
        ("kind != 'mean'", "loss(z)", "false"),
        ("soft", "loss(z, True)", ""),
        ("soft", "loss(z, flag)", ""),
        ("soft", "loss(z, **flag)", ""),
        ("soft", "loss(*flag)", ""),
        ("soft", "print(loss)", ""),
        ("soft or z is None", "loss(z)", ""),
        ("kind == 'mean'", "loss(z)", ""),
        ("z > 0", "loss(z)", ""),
    ],
)
def test_a_branch_on_a_parameter_that_all_calls_set_alike(folder, test, call, word):
    expected = f"in this program `{test}` is always {word}" if word else ""
    assert why(folder, LOSS.format(test), "loss", call) == expected


def test_what_stands_behind_a_branch_that_is_always_left(folder):
    text = LOSS.format("not soft").replace("return tf", "return z\n    return tf")
    text = text.replace("        return z\n    return z", "        return z")
    assert why(folder, text, "loss", "loss(z)") == "in this program `not soft` is always true"
    assert why(folder, text, "loss", "loss(z, flag)") == ""


@pytest.mark.parametrize(
    ("make", "word"),
    [
        ("Layer()(z)", "false"),
        ("Layer(name='a')(z)", "false"),
        ("Layer(True)(z)", ""),
        ("Layer(soft=flag)(z)", ""),
        ("Layer().soft = flag", ""),
        ("apply(Layer)", ""),
    ],
)
def test_a_branch_on_an_attribute(folder, make, word):
    expected = "in this program `self.soft` is always false" if word else ""
    assert why(folder, LAYER, "Layer", make) == expected


def test_an_heir_sets_an_attribute(folder):
    heir = "class Soft(Layer):\n    def __init__(self):\n        super().__init__({})\n\n\n"
    for given, word in (("", "`self.soft`"), ("soft=True", "")):
        text = LAYER + heir.format(given) + "def make():\n    return Soft()\n\n\n"
        assert word in why(folder, text, "make, Layer", "make()(Layer()(z))")


def test_what_keras_assigns_is_not_known(folder):
    text = LAYER.replace("self.soft", "self.trainable")
    assert why(folder, text, "Layer", "Layer()(z)") == ""


def test_what_a_script_sets_is_changed_from_run_to_run(folder):
    files = {
        "losses.py": LOSS.format("kind == 'sum'"),
        "train.py": "from losses import loss\n\n\nloss(1, kind='mean')\n",
    }
    assert reason(folder, "losses.py", files) == ""


def test_a_function_that_is_called_in_such_a_branch_alone(folder):
    text = LOSS.format("soft").replace("return tf.math.log(tf.nn.softmax(z))", "return risky(z)")
    text = HEAD + "def risky(z):\n    return tf.math.log(tf.nn.softmax(z))\n\n\n" + text
    assert why(folder, text, "loss", "loss(z)") == "nothing in this program calls `risky`"
    assert why(folder, text, "loss", "loss(z, flag)") == ""
    assert why(folder, text, "loss", "loss(z, True)") == ""


def test_a_constant_of_the_file(folder):
    text = (
        "import tensorflow as tf\nfrom data import load\n\nKIND = {}\nz = load()\nif KIND == 'a':\n"
    )
    text += "    x = tf.math.log(tf.nn.softmax(z))\n" + MAIN.replace("{}", "print(z)")
    files = {"train.py": text.format("'b'")}
    assert reason(folder, "train.py", files) == "in this program `KIND == 'a'` is always false"
    files = {"train.py": text.format("input()")}
    assert reason(folder, "train.py", files) == ""
    more = "\n\ndef change():\n    global KIND\n    KIND = 'a'\n"
    files = {"train.py": text.format("'b'") + more}
    assert reason(folder, "train.py", files) == ""


def test_a_library_takes_all_branches(folder):
    put(folder, {"pyproject.toml": "[project]\nname = 'a'\n"})
    assert why(folder, LOSS.format("soft"), "loss", "loss(z)") == ""


def test_a_file_that_no_script_imports_takes_all_branches(folder):
    files = {"losses.py": LOSS.format("soft"), "user.py": "from losses import loss\n\nx = 1\n"}
    assert reason(folder, "losses.py", files) == ""


def test_a_file_that_python_does_not_run(folder):
    text = LOSS.format("z > 0") + "x = dict(a=1, a=2)\n"
    expected = "Python does not run this file: keyword argument repeated: a"
    assert reason(folder, "losses.py", {"losses.py": text}) == expected
