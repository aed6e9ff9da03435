"""What may stand behind an expression, as its text tells: what is said to be impossible must be so,
else findings are lost.
"""

import ast

import pytest

from tfnanlint.interp.engine import Engine
from tfnanlint.ops.domains import with_domains
from tfnanlint.program.module import Module
from tfnanlint.syntax.source import Source
from tfnanlint.uses.producers import may_stem

PROGRAM = """
import numpy as np
import tensorflow as tf


def unused(x):
    return tf.maximum(x, 1.0)


def helper(x, y=2.0):
    return tf.maximum(x, y)


def program(a, b, layer):
    logs = tf.math.log(a)
    pair = tf.abs(a), tf.math.log(b)
    first, second = pair
    helper(-logs)
    self = layer
    self.kept = tf.math.log(b)
    self.other = tf.abs(b)
    t = a
    for _ in range(3):
        t = t + t
    u = a
    for _ in range(3):
        u = tf.math.log(u)
    return [{sought}]
"""
# Arguments of `tf.maximum`, and whether a logarithm may stand behind them, with signs, sums and the
# like between.
CASES = {
    "logs": True,
    "-logs": True,
    "a": False,
    "tf.abs(logs)": False,
    "logs[0]": True,
    "a[..., 0]": False,
    "a.shape[0]": False,
    "first": True,  # which element it is is not looked at
    "tf.split(logs, 2)[0]": True,
    "(logs if a else b)": True,
    "(a if a else b)": False,
    "tf.stack([a, logs])": True,
    "tf.stack([a, b])": False,
    "t": False,
    "u": True,
    "self.kept": True,
    "self.other": False,
    "layer.anything": True,
    "layer(a)": True,
    "np.pi": False,
    "tf.int32": False,
    "a + b": False,
    "a + logs": True,
}


def _sites(text: str):
    """The applications of `tf.maximum`, by their rows, and what answers for them."""
    module, interpreter = Module(Source("program.py", text)), Engine()
    for row, line in enumerate(text.splitlines(), 1):
        if "tf.maximum(" in line:
            for expression, point in module.expressions(row, interpreter):
                for node in ast.walk(expression):
                    if isinstance(node, ast.Call) and ast.unparse(node.func) == "tf.maximum":
                        yield row, interpreter, interpreter.site(node, point)


def _may(interpreter, site, param="x") -> bool:
    through = frozenset(("tf.negative", "tf.add", "tf.stack", "tf.split"))
    return may_stem(interpreter, site, param, frozenset(("tf.math.log",)), through)


@pytest.mark.parametrize("sought", CASES)
def test_what_may_stand_behind_an_argument(sought):
    text = PROGRAM.replace("{sought}", f"tf.maximum({sought}, 1.0)")
    assert [_may(interpreter, site) for _, interpreter, site in _sites(text)][2:] == [CASES[sought]]


def test_parameters_hold_what_the_calls_hand_over():
    found = [
        (_may(interpreter, site), _may(interpreter, site, "y"))
        for _, interpreter, site in _sites(PROGRAM.replace("{sought}", "logs"))
    ]
    assert found == [(False, False), (True, False)]


def test_every_op_is_looked_through_where_none_is_named():
    text = PROGRAM.replace(
        "{sought}",
        "tf.maximum(tf.abs(tf.reduce_sum(tf.exp(logs))), 1.0), tf.maximum(tf.abs(tf.exp(a)), 1.0)",
    )
    names = frozenset(("tf.math.log",))
    assert [may_stem(interpreter, site, "x", names, None) for _, interpreter, site in _sites(text)][
        2:
    ] == [True, False]


def test_ops_with_domains_are_those_that_can_leave_one():
    assert {"tf.math.log", "tf.divide", "tf.sqrt", "tf.pow", "tf.exp", "tf.acos"} <= with_domains()
    # a mean needs elements, not numbers
    assert with_domains().isdisjoint({"tf.reduce_max", "tf.reduce_mean", "tf.abs", "tf.add"})
