"""Slices: the program of table ops between free inputs and a finding. Nothing is executed here."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tfnanlint.dev import repository
from tfnanlint.ops.table import load
from tfnanlint.prove.places import Slices, slices
from tfnanlint.prove.program import Program
from tfnanlint.prove.slices import MOST_STEPS, Unsupported
from tfnanlint.prove.spell import reached
from tfnanlint.syntax.source import Source
from tfnanlint.syntax.spans import Edit

HEAD = "import numpy as np\nimport tensorflow as tf\nfrom tensorflow import keras\n\n\n"


def of(text: str, code: str, index: int = 0) -> list[Slices]:
    source = Source("/nowhere/program.py", HEAD + text)
    found = [finding for finding in repository.findings(source) if finding.code == code]
    return slices(source, found[index])


def code_of(program: Program | None) -> list[str]:
    assert program is not None
    return [f"{step.name} = {step.spellings[0]}" for step in program.steps]


def test_a_slice_goes_from_parameters_to_the_result_of_the_function():
    made = of("def loss(z):\n    p = tf.nn.softmax(z)\n    return 2.0 * tf.math.log(p)\n", "TFN301")
    original = made[0].original
    assert [one.name for one in original.inputs] == ["z"]
    assert code_of(original) == [
        "softmax = tf.nn.softmax(z)",
        "log = tf.math.log(softmax)",
        "multiply = 2.0 * log",
    ]
    assert (original.site, original.sink) == ("log", "multiply")
    assert [step.name for step in original.steps if step.inside] == ["log"]


def test_the_slice_of_the_fix_has_the_same_inputs():
    made = of("def loss(z):\n    p = tf.nn.softmax(z)\n    return 2.0 * tf.math.log(p)\n", "TFN301")
    fixed = made[0].fixed
    assert code_of(fixed) == [
        "log_softmax = tf.nn.log_softmax(z)",
        "multiply = 2.0 * log_softmax",
    ]
    assert fixed.inputs == made[0].original.inputs


def test_helpers_attributes_and_layers_are_followed():
    text = (
        "class Head(keras.layers.Layer):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.dense = keras.layers.Dense(3, activation='softmax')\n"
        "        self.factor = 3.0\n\n"
        "    def call(self, x):\n"
        "        return scaled(tf.math.log(self.dense(x)), self.factor)\n\n\n"
        "def scaled(x, by):\n"
        "    return by * x\n"
    )
    original = of(text, "TFN101")[0].original
    assert code_of(original) == [
        "softmax = tf.nn.softmax(linear)",
        "log = tf.math.log(softmax)",
        "multiply = 3.0 * log",
    ]
    assert original.inputs[0].said == "the linear part of keras.layers.Dense"


@pytest.mark.parametrize(
    "layer",
    [
        "tf.compat.v1.layers.dense(x, 3, tf.nn.softmax)",
        "keras.layers.Dense(3, activation=tf.nn.softmax)(x)",
        "keras.layers.Dense(3, activation='softmax')(x)",
    ],
)
def test_the_activation_of_a_layer_is_a_step(layer):
    original = of(f"def f(x):\n    return tf.math.log({layer})\n", "TFN101")[0].original
    assert code_of(original) == ["softmax = tf.nn.softmax(linear)", "log = tf.math.log(softmax)"]


def test_random_numbers_are_an_input():
    text = (
        "def f(x):\n    u = tf.random.uniform([3])\n    return tf.reduce_sum(x * tf.math.log(u))\n"
    )
    original = of(text, "TFN101")[0].original
    assert [one.range.lo for one in original.inputs] == [-float("inf"), 0.0]
    assert not any("random" in step.op for step in original.steps)


def test_what_stands_in_something_that_cannot_be_run_is_run_alone():
    text = "def f(s, m):\n    return s.run([m.x, tf.math.log(tf.nn.relu(m.y))])\n"
    original = of(text, "TFN101")[0].original
    assert code_of(original) == ["relu = tf.nn.relu(y)", "log = tf.math.log(relu)"]


def test_the_caller_is_the_second_slice():
    text = (
        "def entropy(p):\n    return tf.math.log(p)\n\n\n"
        "def main(z):\n    return entropy(tf.nn.sigmoid(z))\n"
    )
    local, whole = of(text, "TFN302")[:2]
    assert code_of(local.original) == ["log = tf.math.log(p)"]
    assert code_of(whole.original) == ["sigmoid = tf.nn.sigmoid(z)", "log = tf.math.log(sigmoid)"]


def test_each_branch_has_a_slice():
    text = (
        "def f(x, flag):\n"
        "    y = tf.nn.relu(x)\n"
        "    if flag:\n        y = tf.square(x)\n"
        "    return tf.math.log(y)\n"
    )
    texts = {code_of(one.original)[0] for one in of(text, "TFN101")}
    assert texts == {"relu = tf.nn.relu(x)", "square = tf.square(x)"}


def test_ranges_of_tests_hold_for_inputs():
    text = "def f(x):\n    y = tf.nn.relu(x)\n    return 1.0 / y\n"
    assert of(text, "TFN102")[0].original.steps[0].range.lo == 0.0


def test_a_slice_ends_where_it_is_too_long():
    sums = [
        " + ".join(f"tf.sin({n}.0 * x)" for n in range(start, start + 60)) for start in range(10)
    ]
    text = f"def f(x):\n    return tf.math.log(tf.nn.relu(tf.add_n([{', '.join(sums)}])))\n"
    original = of(text, "TFN101")[0].original
    assert len(original.steps) <= MOST_STEPS + 2
    assert (original.site, original.steps[-1].name) == ("log", "log")


def test_arguments_stay_where_they_are_written():
    text = "def f(x):\n    return tf.sqrt(tf.reduce_sum(x * x, axis=[1, 2], keepdims=True))\n"
    assert code_of(of(text, "TFN202")[0].original) == [
        "multiply = x * x",
        "reduce_sum = tf.reduce_sum(multiply, axis=[1, 2], keepdims=True)",
        "sqrt = tf.sqrt(reduce_sum)",
    ]


def test_a_guard_that_is_thrown_away_is_shown_by_what_the_function_returns():
    text = "def f(x):\n    tf.maximum(tf.nn.relu(x), 1e-6)\n    return tf.math.log(tf.nn.relu(x))\n"
    original = of(text, "TFN406")[0].original
    assert original.sink == "log"


def test_what_is_no_operation_is_not_supported():
    text = (
        "model = keras.Sequential([keras.layers.Dense(3)])\n"
        "model.compile(keras.optimizers.SGD(10.0), loss='mse')\n"
    )
    with pytest.raises(Unsupported):
        of(text, "TFN801")


def test_an_op_without_effects_of_its_own_is_never_written_that_has_them():
    text = (
        "def f(path):\n"
        "    x = tf.io.decode_raw(tf.io.read_file(path), tf.float32)\n"
        "    return tf.math.log(tf.nn.relu(x))\n"
    )
    original = of(text, "TFN101")[0].original
    assert code_of(original) == ["relu = tf.nn.relu(x)", "log = tf.math.log(relu)"]


def test_a_program_survives_json():
    original = of("def f(x):\n    return tf.math.log(tf.nn.relu(x))\n", "TFN101")[0].original
    assert Program.of_dict(original.as_dict()) == original


def test_limits_of_a_dtype_are_no_inputs():
    text = (
        "def f(mask, scores):\n"
        "    return tf.math.log(tf.nn.softmax(tf.where(mask, scores, scores.dtype.min)))\n"
    )
    original = of(text, "TFN301")[0].original
    assert [one.name for one in original.inputs] == ["mask", "scores"]
    assert any("scores.dtype.min" in step.spellings[0] for step in original.steps)


def test_no_op_that_runs_touches_files_or_the_network():
    outside = re.compile(
        r"load|read|save|write|open|fetch|get_file|dataset|summary|delete|print|rewrite"
    )
    runnable = {
        name
        for row in load().values()
        if row.pure
        for name in row.aliases
        if reached(name) and outside.search(name)
    }
    assert runnable == set()


def test_a_loss_that_compile_names_is_run_on_what_the_model_gives():
    text = (
        "model = keras.Sequential([keras.layers.Dense(8, 'relu'), keras.layers.Dense(3)])\n"
        "model.compile('sgd', loss='categorical_crossentropy')\n"
    )
    (shown,) = of(text, "TFN503")
    assert code_of(shown.original) == [
        "loss = keras.losses.CategoricalCrossentropy()(y_true, linear)"
    ]
    assert code_of(shown.fixed) == [
        "loss = keras.losses.CategoricalCrossentropy(from_logits=True)(y_true, linear)"
    ]
    assert [one.said for one in shown.original.inputs] == [
        "the linear part of keras.layers.Dense",
        "the labels",
    ]


def test_a_loss_object_that_is_called_is_a_step():
    text = (
        "entropy = keras.losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.1)\n\n\n"
        "def loss(z, y):\n    return entropy(y, tf.sigmoid(z))\n"
    )
    made = of(text, "TFN502")[0]
    callee = "keras.losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.1)"
    assert [one.name for one in made.original.inputs] == ["y", "z"]
    assert code_of(made.original) == [
        "sigmoid = tf.sigmoid(z)",
        f"binarycrossentropy = {callee}(y, sigmoid)",
    ]
    assert code_of(made.fixed) == [f"binarycrossentropy = {callee}(y, z)"]


def test_a_loss_object_gets_what_a_model_gives():
    text = (
        "model = keras.Sequential([keras.layers.Dense(4)])\n"
        "entropy = keras.losses.CategoricalCrossentropy()\n\n\n"
        "def loss(x, y):\n    return entropy(y, model(x))\n"
    )
    made = of(text, "TFN503")[0]
    assert code_of(made.original) == [
        "categoricalcrossentropy = keras.losses.CategoricalCrossentropy()(y, linear)"
    ]


def test_a_finding_about_a_constant_is_about_what_takes_it():
    text = "def loss(p):\n    q = tf.minimum(p, 1.0 - 1e-8)\n    return tf.math.log1p(-q)\n"
    original = of(text, "TFN402")[0].original
    assert code_of(original)[0] == "minimum = tf.minimum(p, 0.99999999)"
    assert (original.site, original.sink) == ("minimum", "log1p")


def test_a_finding_about_a_name_is_about_what_it_stands_for():
    text = (
        "class Scored(keras.layers.Layer):\n"
        "    def call(self, x):\n"
        "        spread = tf.math.reduce_std(x) + 1e-6\n"
        "        return (x - tf.reduce_mean(x)) / spread\n"
    )
    original = of(text, "TFN404")[0].original
    assert {step.name: step.spellings[0] for step in original.steps}[original.site] == (
        "reduce_std + 1e-06"
    )


def test_a_fix_after_which_nothing_is_computed_is_not_run():
    text = "def f(x):\n    y = tf.math.log(tf.nn.softmax(x))\n    return y\n"
    source = Source("/nowhere/program.py", HEAD + text)
    (finding,) = [one for one in repository.findings(source) if one.code == "TFN301"]
    fix = replace(finding.fixes[0], edits=(Edit(finding.span, "None"),))
    assert slices(source, replace(finding, fixes=(fix,)))[0].fixed is None
