"""Fixtures shared by the test modules."""

import os
import sys

import pytest

pytest_plugins = ("toy", "runs")
# Here and in what the tests start: they replace parts of the engine, and the user's own results are
# none of theirs.
os.environ["TFNANLINT_NO_CACHE"] = "1"
# The same on a pipeline as at a desk: there tfnanlint says more on standard error and keeps no cache.
os.environ.pop("CI", None)
# Hundreds of tests start a process, which would compile the whole package each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_addoption(parser):
    parser.addoption(
        "--slow", action="store_true", help='with -m "not tensorflow": also what is marked slow'
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """The run of every day uses all processors, unless `-n` says how many: the tests with
    TensorFlow, which take a GiB a process, are not in it.
    """
    is_of_every_day = config.option.markexpr == "not tensorflow"
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    if is_of_every_day and not is_worker and config.getoption("numprocesses", 0) is None:
        config.option.numprocesses = os.cpu_count()


def pytest_collection_modifyitems(config, items):
    """`-m "not tensorflow"` is the run of every day: it leaves out what is slow, too. Everything
    else, a run without `-m` for one, has the slow tests.
    """
    if config.option.markexpr != "not tensorflow" or config.getoption("--slow"):
        return
    slow = [item for item in items if item.get_closest_marker("slow") is not None]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item.get_closest_marker("slow") is None]


@pytest.fixture
def suggestions_applied(monkeypatch):
    """Fixes that are only suggested are made as well: for tests of what a fix writes."""
    from tfnanlint.diagnostics.findings import Fix

    monkeypatch.setattr(Fix, "applies", lambda fix, unsafe: fix.claim.safe or unsafe)


@pytest.fixture(autouse=True)
def settings_of_tensorflow_as_they_were(request):
    """A test that needs TensorFlow leaves its settings, which belong to the process, as by default:
    the tests that follow in this process look at what graphs compute.
    """
    yield
    tf = sys.modules.get("tensorflow")
    if tf is None or request.node.get_closest_marker("tensorflow") is None:
        return
    options = tf.config.optimizer.get_experimental_options()
    assert {name for name, on in options.items() if on is name.startswith("disable_")} == set()
    assert not tf.config.functions_run_eagerly()
    assert not tf.config.optimizer.get_jit()


def pytest_terminal_summary(terminalreporter):
    """Print what tests have counted, also those of xdist's workers."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    for report in reports:
        for name, text in report.user_properties:
            if name == "summary":
                terminalreporter.write_line(text)
