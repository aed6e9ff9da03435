"""A note has its fixes for who asks for notes only: nothing shows that its hazard occurs."""

from __future__ import annotations

import pytest
import reached

from tfnanlint.config.layers import Configuration, layer
from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.pipeline.linter import Linter

MASKED = """
import tensorflow as tf

PAD = 0


def masked_loss(tokens, loss):
    mask = tf.cast(tokens != PAD, loss.dtype)
    return tf.reduce_sum(loss * mask) / tf.reduce_sum(mask)
"""
UNCALLED = """
import tensorflow as tf


def loss(z):
    return tf.math.log(tf.nn.softmax(z))


def step(z):
    return z
"""
MAIN = """
from losses import step

if __name__ == "__main__":
    print(step(1.0))
"""


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("text", [MASKED, UNCALLED])
def test_a_note_has_fixes_for_who_asks_for_notes(tmp_path, text, asked):
    reached.put(tmp_path, {"main.py": MAIN, "losses.py": text})
    settings = {"certainty": "unknown"} if asked else {}
    configuration = Configuration(layer(settings, "settings", str(tmp_path)), (), True)
    checked = Linter(configuration).check(str(tmp_path / "losses.py"), text)
    (finding,) = checked.findings
    assert finding.certainty is Certainty.UNKNOWN
    assert bool(finding.fixes) is asked
    assert ("--certainty unknown" in finding.no_fix) is not asked
