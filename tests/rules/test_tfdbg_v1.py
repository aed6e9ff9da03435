"""TFN901 where the debugger of TensorFlow 1 works, and where it is left over."""

from __future__ import annotations

import pytest

from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

PROGRAM = """
from tensorflow.python import debug as tf_debug

hooks = []
if debug:
    hooks.append(tf_debug.LocalCLIDebugHook())
"""


@pytest.mark.parametrize(
    ("start", "codes"),
    [
        ("import tensorflow as tf\nx = tf.placeholder(tf.float32)", []),  # TensorFlow 1 itself
        ("import tensorflow.compat.v1 as tf\nx = tf.placeholder(tf.float32)", ["TFN901"]),
        ("import tensorflow as tf", ["TFN901"]),
    ],
)
def test_the_version_decides(start, codes):
    findings = repository.findings(Source("train.py", start + PROGRAM))
    assert [finding.code for finding in findings] == codes
