"""The trace of a finding, in words."""

import json
import os
import subprocess
import sys

import pytest

from tfnanlint.pipeline import analysis as flow
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source


def test_an_expression_in_a_loop_gives_what_its_rounds_were_seen_to_leave():
    text = """import tensorflow as tf

def share(values, marks):
    total = 0.0
    for mark in marks:
        total = total + tf.cast(mark > 0, tf.float32)
    return tf.math.log(total)
"""
    (finding,) = [
        one for one in flow.analyse(Source("share.py", text), rules.load()) if one.code == "TFN101"
    ]
    assert [(step.row, step.text) for step in finding.trace] == [
        # not between 0 and 1, as after one round
        (6, "total + tf.cast(mark > 0, tf.float32) is at least 0"),
        (6, "tf.cast(mark > 0, tf.float32) is between 0 and 1"),
    ]


LAYERS = """import tensorflow as tf

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.out = tf.keras.layers.Dense(10, activation="softmax")

    def call(self, x):
        return self.out(x)

def attention(q, k):
    return tf.nn.softmax(q @ k)
"""
LOSSES = """import tensorflow as tf

def entropy(p):
    return -tf.reduce_sum(p * tf.math.log(p), axis=-1)
"""
TRAIN = """import tensorflow as tf
from layers import Net, attention
from losses import entropy

net = Net()

def step(x, h):
    w = attention(h, h)
    loss = entropy(w)
    y = net(x)
    return loss + tf.reduce_mean(tf.math.log(y))
"""


@pytest.fixture
def project(tmp_path):
    for name, text in (("layers", LAYERS), ("losses", LOSSES), ("train", TRAIN)):
        (tmp_path / f"{name}.py").write_text(text)

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "tfnanlint", "check", ".", "--isolated", *arguments]
        wide = {**os.environ, "COLUMNS": "100"}
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=wide
        ).stdout

    return run


def test_a_step_names_the_calls_through_which_its_value_gets_on(project):
    report = project("--no-cache")
    assert (
        "  from layers.py:12 in attention: tf.nn.softmax(q @ k) is between 0 and 1\n"
        "      through attention() at train.py:8 and entropy() at train.py:9\n"
    ) in report
    assert (
        "  from layers.py:9 in Net.call: self.out(x) is between 0 and 1\n"
        "      made by Dense() at layers.py:6; through net() on line 10\n"
    ) in report


def test_the_calls_of_a_step_are_remembered_and_told_to_programs(project):
    for _ in range(2):  # the second time from the cache
        found = json.loads(project("--output-format", "json", "--cache-dir", "kept"))
        steps = {finding["code"]: finding["trace"][0] for finding in found}
        calls = [(one["function"], one["row"]) for one in steps["TFN301"]["calls"]]
        assert calls == [("entropy", 9), ("attention", 8)]
        assert steps["TFN101"]["made"]["function"] == "Dense"


def test_sarif_tells_the_calls_of_a_step(project):
    found = json.loads(project("--no-cache", "--output-format", "sarif"))["runs"][0]["results"]
    told = {
        one["location"]["message"]["text"]
        for result in found
        for one in result["codeFlows"][0]["threadFlows"][0]["locations"]
    }
    assert (
        "tf.nn.softmax(q @ k) is between 0 and 1; through attention() at train.py:8 and entropy() "
        "at train.py:9"
    ) in told
    assert any(
        text.endswith("; made by Dense() at layers.py:6; through net() on line 10") for text in told
    )
