"""Whether a gradient is taken through what is made of constants, of data or of weights."""

from __future__ import annotations

import pytest
from gradients_of import taken

from tfnanlint.diagnostics.findings import Differentiated

NO, YES = Differentiated.NO, Differentiated.YES
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
