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


def test_the_filters_of_the_wrapper_go_with_it():
    """Those of other sessions stay, and what is more than a statement."""
    name = "add_tensor_filter('a', tf_debug.has_inf_or_nan)"
    text = (
        "import tensorflow.compat.v1 as tf\nfrom tensorflow.python import debug as tf_debug\n\n"
        "sess = tf.Session()\nsess = tf_debug.LocalCLIDebugWrapperSession(sess)\n"
        f"sess.{name}\nother.{name}\nx = sess.{name}\n"
    )
    fixed = repository.fixed(Source("train.py", text)).source.text
    assert fixed.endswith(
        f"sess = tf.Session()\ntf.debugging.enable_check_numerics()\nother.{name}\nx = sess.{name}\n"
    )
