"""Which fixes a note has: forms that compute the same, and guards only for who asks for notes."""

from __future__ import annotations

import pytest
import reached

from tfnanlint.config.layers import Configuration, layer
from tfnanlint.diagnostics.findings import Certainty, Claim
from tfnanlint.pipeline.linter import Linter

GUARDED = """
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


def checked(text, path="/notes/losses.py", **settings):
    configuration = Configuration(layer(settings, "settings", "/notes"), (), True)
    (finding,) = Linter(configuration).check(path, text).findings
    assert finding.certainty is Certainty.UNKNOWN
    return finding


@pytest.mark.parametrize("asked", [False, True])
def test_a_note_has_a_guard_for_who_asks_for_notes(asked):
    finding = checked(GUARDED, **{"certainty": "unknown"} if asked else {})
    assert bool(finding.fixes) is asked
    assert ("--certainty unknown" in finding.no_fix) is not asked


def test_a_note_has_the_form_that_computes_the_same(tmp_path):
    reached.put(tmp_path, {"main.py": MAIN, "losses.py": UNCALLED})
    finding = checked(UNCALLED, str(tmp_path / "losses.py"))
    assert finding.unreached
    assert [fix.claim for fix in finding.fixes] == [Claim.EQUAL]
