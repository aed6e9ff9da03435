"""`pytest --tfnanlint-trace` on tests that meet NaN, in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

from tfnanlint.dev import repository

pytest_plugins = ["pytester"]
WITHOUT = importlib.util.find_spec("tensorflow") is None

PROGRAM = """
import tensorflow as tf


def loss_of(z):
    p = tf.nn.softmax(z)
    return -tf.reduce_sum(tf.math.log(p))


@tf.function
def slope(w):
    with tf.GradientTape() as tape:
        tape.watch(w)
        length = tf.sqrt(tf.reduce_sum(tf.square(w)))
    return tape.gradient(length, w)
"""
TESTS = """
import pytest
import tensorflow as tf

import losses


def test_loss():
    assert losses.loss_of(tf.constant([0.0, 1000.0])) > 0


def test_gradient():
    losses.slope(tf.zeros([2]))


def test_wrapped():
    try:
        losses.loss_of(tf.constant([0.0, 1000.0]))
    except tf.errors.InvalidArgumentError as error:
        raise RuntimeError("training failed") from error


@pytest.mark.tfnanlint_allow_nan
def test_of_nan_itself():
    assert not bool(tf.math.is_finite(losses.loss_of(tf.constant([0.0, 1000.0]))))


def test_ordinary():
    assert losses.loss_of(tf.constant([0.0, 1.0])) > 0


def test_another_error():
    raise ValueError("Detected Infinity or NaN")
"""


@pytest.fixture
def run(pytester):
    """What runs tests with the plugin; in a folder that is not named after a test."""
    pytester.makepyfile(losses=PROGRAM)

    def run(*words: str) -> pytest.RunResult:
        path = os.pathsep.join([str(repository.ROOT), str(pytester.path)])
        pytester._monkeypatch.setenv("PYTHONPATH", path)
        plugin = ("-p", "no:tfnanlint", "-p", "tfnanlint.pytest_plugin", "-p", "no:xdist")
        return pytester.runpytest_subprocess(*plugin, *words, timeout=300)

    return run


@pytest.mark.tensorflow
@pytest.mark.skipif(WITHOUT, reason="TensorFlow is not installed")
def test_a_failing_test_is_explained(run, pytester):
    pytester.makepyfile(test_losses=TESTS)
    done = run("--tfnanlint-trace", "--strict-markers")
    done.assert_outcomes(passed=2, failed=4)
    out = done.stdout.str()
    assert out.count("- tfnanlint -") == 3
    assert out.count("place: losses.py:6 in loss_of") == 2
    done.stdout.re_match_lines(
        [
            r".*op: .*Log",
            r".*place: .*losses\.py:6 in loss_of",
            r".*line: return -tf\.reduce_sum\(tf\.math\.log\(p\)\)",
            r".*losses\.py:6:\d+: .*TFN301 .*",
            r".*tf\.nn\.log_softmax\(z\).*",
        ]
    )
    assert "TFN202" in out and "place: losses.py:14 in slope" in out
    assert "No finding is at or upstream" not in out  # also of the error that another hides


@pytest.mark.tensorflow
@pytest.mark.skipif(WITHOUT, reason="TensorFlow is not installed")
def test_what_is_met_while_tests_are_collected_is_explained(run, pytester):
    pytester.makepyfile(
        test_early="import tensorflow as tf\nimport losses\n\n"
        "START = losses.loss_of(tf.constant([0.0, 1000.0]))\n\n\ndef test_it():\n    pass\n"
    )
    done = run("--tfnanlint-trace", "--tfnanlint-paths", "losses.py")
    done.assert_outcomes(errors=1)
    assert "TFN301" in done.stdout.str()


def test_without_the_option_nothing_is_loaded(run, pytester):
    pytester.makepyfile(
        test_quiet="import sys\n\n\ndef test_it():\n"
        "    heavy = {'tensorflow', 'libcst', 'numpy', 'tfnanlint.trace', 'tfnanlint.pipeline'}\n"
        "    assert 'tfnanlint.pytest_plugin' in sys.modules and not heavy & set(sys.modules)\n"
    )
    run().assert_outcomes(passed=1)


def test_without_tensorflow_one_line_says_so(run, pytester):
    pytester.makepyfile(test_it="def test_it():\n    pass\n")
    hidden = pytester.mkdir("hidden")
    (hidden / "sitecustomize.py").write_text(
        "import importlib.util\nfound = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: (\n"
        "    None if name == 'tensorflow' else found(name, *more))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(hidden), str(repository.ROOT)])}
    command = [sys.executable, "-m", "pytest", "-p", "no:tfnanlint", "-p", "no:xdist"]
    command += ["-p", "tfnanlint.pytest_plugin", "--tfnanlint-trace", str(pytester.path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 4
    assert (
        "--tfnanlint-trace: this needs TensorFlow in the environment of tfnanlint: " in done.stderr
    )


def test_pytest_finds_the_plugin():
    tomllib = pytest.importorskip("tomllib")
    table = tomllib.loads((repository.ROOT / "pyproject.toml").read_text("utf-8"))
    module = table["project"]["entry-points"]["pytest11"]["tfnanlint"]
    assert importlib.util.find_spec(module) is not None
