"""What the analysis knows decides findings: programs that were silent, or wrongly not, until the
engine knew a value.

A line with `# want: CODE` has to be found; every other line is safe.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.dev.reveal import reveals
from tfnanlint.interp.calls import MAX_INLINE
from tfnanlint.interp.engine import Engine
from tfnanlint.pipeline.check import check
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Point
from tfnanlint.project.settings import set_in
from tfnanlint.rule import registry as rules
from tfnanlint.syntax.source import Source

_WANT = re.compile(r"# want: (TFN\d+)")

METRIC = """
import tensorflow as tf

class Rmse(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(tf.reduce_sum(tf.square(y_true - y_pred)))
        self.count.assign_add(tf.cast(tf.size(y_true), tf.float32))

    def result(self):
        {result}
"""

OPTIMIZER = """
import tensorflow as tf

class Root(tf.keras.optimizers.Optimizer):
    def __init__(self, rho=0.9, name="Root", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("rho", rho)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "v")

    def _resource_apply_dense(self, grad, var, apply_state=None):
        rho = self._get_hyper("rho", var.dtype.base_dtype)
        v = self.get_slot(var, "v")
        v_t = v.assign(rho * v + (1.0 - rho) * tf.square(grad))
        return var.assign_sub(0.1 * grad / (tf.sqrt(v_t) + 1e-7))
"""

LAYERS = """
import tensorflow as tf

_module = None

def layers():
    global _module
    if _module is None:
        _module = tf.keras.layers
    return _module

def dense(x, units, **kwargs):
    return layers().Dense(units, **kwargs)(x)

def loss(x):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.math.log(dense(x, 1{activation})))  {want}
    return tape.gradient(y, x)
"""

PROGRAMS = {
    "metric-before-its-first-batch": METRIC.format(
        result="return tf.math.log(self.total)  # want: TFN101"
    ),
    "metric-over-no-nan": METRIC.format(
        result="return tf.sqrt(tf.math.divide_no_nan(self.total, self.count))"
    ),
    "second-moment": OPTIMIZER,
    "linear-layer-of-a-module": LAYERS.format(activation="", want="# want: TFN101"),
    "positive-layer-of-a-module": LAYERS.format(
        activation=", activation=lambda t: tf.exp(t) + 1.0", want=""
    ),
}


def found(text: str) -> set[tuple[int, str]]:
    # what is known, not what is shown by default
    loaded = [replace(rule, silent=frozenset()) for rule in rules.load()]
    policy = Configuration(Layer(), (), True).for_directory("").policy("", loaded)
    return {
        (text.count("\n", 0, one.span.start) + 1, one.code)
        for one in check("model.py", text.encode(), policy).findings
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    text = PROGRAMS[name]
    wanted = {
        (row, match[1])
        for row, line in enumerate(text.splitlines(), 1)
        for match in _WANT.finditer(line)
    }
    assert found(text) == wanted


def test_what_deep_calls_were_cut_off_from_is_asked_again():
    """A value that only deep inside other calls was not followed is known where it stands."""
    chain = "\n".join(
        f"def f{n}(x):\n    y = f{n - 1}(x)\n    return y" for n in range(1, MAX_INLINE)
    )
    text = (
        f"import tensorflow as tf\ndef f0(x):\n    return x * low\n{chain}\n"
        f"def positive(x):\n    return tf.nn.relu(x)\nlow = positive(1.5)\nhigh = f{MAX_INLINE - 1}(1.5)\n"
    )
    module, interpreter = Module(Source("deep.py", text)), Engine()
    calls = {name: module.scope.history[name].binding.node for name in ("high", "low")}
    assert not interpreter.ask(calls["high"], Point(module.scope)).known
    assert interpreter.ask(calls["low"], Point(module.scope)).lo == 1.5


SETTINGS = {
    "model.py": """
def loss(hparams, config, thing, args):
    reveal(hparams.smoothing)  # 0.1 to 0.2
    reveal(config.label_smoothing)  # 0.1 to 0.1
    reveal(hparams.computed)  # unknown
    reveal(thing.label_smoothing)  # unknown
    reveal(args.rate)  # 0.5 to 0.5
    reveal(config["depth"])  # 8.0 to 8.0
    reveal(config.model.share)  # 0.0 to 0.5
    reveal(config.nothing)  # 0.0 to 0.1
    reveal(args.dashed_eps)  # 0.0 to 0.1
    reveal(args.other_eps)  # 1e-07 to 0.1
    reveal(config.negative)  # unknown
""",
    "settings.py": """
import dataclasses, argparse

def base_hparams():
    hparams = HParams(smoothing=0.1, layers=(1, 2), width=3)
    hparams.add_hparam("unused", 3)
    hparams.smoothing = hparams.start
    hparams.start = 0.2
    hparams.computed = 2 * width()
    return hparams

@dataclasses.dataclass
class Config:
    label_smoothing: float = 0.1
    other: float = None

parser = argparse.ArgumentParser()
parser.add_argument("-r", "--rate", type=float, default=0.5)
parser.add_argument("--dashed-eps", type=float, default=0.0)
defaults = dict(lambda: None, depth=8, share=0.0)
more = dict(share=0.5, nothing=0.0, negative=-1.0)
""",
}


def test_settings_of_the_project(tmp_path):
    """What the project sets a setting to is what arrives, where an object is named for settings and
    all of them are numbers.
    """
    for name, text in SETTINGS.items():
        (tmp_path / name).write_text(text)
    text = SETTINGS["model.py"]
    said = {
        one.row: one.value
        for one in reveals(Source.from_bytes(str(tmp_path / "model.py"), text.encode()))
    }
    stated = {
        row: line.partition("# ")[2]
        for row, line in enumerate(text.splitlines(), 1)
        if "reveal(" in line
    }
    assert {
        row: f"{value.lo} to {value.hi}" if value.known else "unknown"
        for row, value in said.items()
    } == stated


def test_settings_that_are_set_to_each_other_give_one_answer_whoever_asks_first(tmp_path):
    from tfnanlint.project.index import Project, forget

    (tmp_path / "train.py").write_text(
        "hparams.first = hparams.second\nhparams.second = 0.5\n"
        "params.second = params.first\nparams.first = 2.0\n"
        "config.third = config.open\nconfig.open = load()\n"
    )
    answers = set()
    for order in (("first", "second"), ("second", "first"), ("first", "second", "first", "second")):
        forget()
        project = Project(str(tmp_path / "train.py"))
        given = [(name, tuple(sorted(project.settings(project.path, name)))) for name in order]
        answers.update(given)
    assert answers == {("first", (0.5, 2.0)), ("second", (0.5, 2.0))}
    assert project.settings(project.path, "third") == (), (
        "one of the settings behind it is not known"
    )


def test_a_default_far_from_its_name_is_read_as_it_is_written():
    """A search around the name cut such a line off: `0.25` became `0`, or was not seen."""
    text = (
        b'parser.add_argument("--far_rate", type=float, help="' + b"x" * 300 + b'", default=0.25)\n'
    )
    assert set_in(text)[b"far_rate"] == [b"0.25"]
    assert set_in(
        b"hparams.rate = 0.5\nclass C:\n    steps: int = 3  # of them\nHParams(a=1, b=f(c=2))\n"
    ) == {b"rate": [b"0.5"], b"steps": [b"3"], b"a": [b"1"], b"b": [b"f(c"], b"c": [b"2"]}


@pytest.mark.slow
def test_what_following_may_cost_grows_with_the_file():
    """After that only short ways are followed."""
    factor = " + ".join(f"tf.sigmoid(x + {n}.0)" for n in range(30))
    calls = "".join(
        f"tf.math.log(far(tf.nn.relu(x{n})))\ntf.math.log(near(tf.nn.relu(x{n})))\n"
        for n in range(40)
    )
    text = f"import tensorflow as tf\ndef near(x):\n    return tf.identity(x)\ndef far(x):\n    return ({factor}) * x\n{calls}"
    near, far = ({(row, "TFN101") for row in range(first, 86, 2)} for first in (7, 6))
    assert near < found(text) and (6, "TFN101") in found(text) and not far <= found(text)
    assert far | near <= found(text + "\n" * 5000), "a longer file may cost more"
