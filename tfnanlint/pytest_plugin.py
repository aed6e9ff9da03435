"""A pytest plugin: `--tfnanlint-trace` checks every TensorFlow operation during the tests, and
names the finding that explains the NaN or Inf of a test. Importing this loads nothing else.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tfnanlint.pipeline.linter import Linter

MARK = "tfnanlint_allow_nan"
_SECTION = "tfnanlint"
_MOST = 10  # explanations of a run: each test that fails so may be led to the same line


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tfnanlint", "NaN in TensorFlow")
    group.addoption(
        "--tfnanlint-trace",
        action="store_true",
        help="check every operation of TensorFlow, and explain the first NaN or Inf of a test",
    )
    group.addoption(
        "--tfnanlint-paths",
        action="append",
        metavar="PATH",
        help="where the program's files are looked for (default: the root of the tests)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{MARK}: NaN and Inf are meant in this test: they are not checked"
    )
    if config.getoption("tfnanlint_trace"):
        config.pluginmanager.register(Tracer(config), "tfnanlint-tracer")


class Tracer:
    """Checks the operations of all tests of a run, and explains what they meet."""

    def __init__(self, config: pytest.Config):
        paths = config.getoption("tfnanlint_paths")
        self._paths = list(paths or [str(config.rootpath)])
        self._explained = 0
        self._linter: Linter | None = None

    def pytest_sessionstart(self) -> None:
        if importlib.util.find_spec("tensorflow") is None:
            from tfnanlint.prove.host import MISSING

            raise pytest.UsageError(f"--tfnanlint-trace: {MISSING}")
        # before the tests are imported: what they make then is checked, too
        from tfnanlint.trace.watched import begin

        begin()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        from tfnanlint.trace.watched import unchecked

        meant = item.get_closest_marker(MARK) is not None
        with unchecked() if meant else nullcontext():
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[None]:
        outcome: Any = yield
        self._explain(call, outcome.get_result())

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self) -> Iterator[None]:
        outcome: Any = yield
        report = outcome.get_result()
        self._explain(getattr(report, "call", None), report)

    def _explain(self, call: pytest.CallInfo[Any] | None, report: Any) -> None:
        """Add to a report what explains the error of a call, where that was NaN or Inf."""
        if call is None or call.excinfo is None or self._explained == _MOST:
            return
        from tfnanlint.trace.watched import text_of

        text = text_of(call.excinfo.value)
        if text:
            self._explained += 1
            report.sections.append((_SECTION, self._told(text)))

    def pytest_unconfigure(self) -> None:
        if self._linter is not None:
            self._linter.close()

    def _told(self, text: str) -> str:
        """What explains an error of a test."""
        from tfnanlint.cli.explain_log import explanations
        from tfnanlint.config.keys import ConfigError
        from tfnanlint.config.layers import Configuration, Layer
        from tfnanlint.pipeline.linter import Linter
        from tfnanlint.report import PLAIN
        from tfnanlint.trace.log import incidents
        from tfnanlint.trace.shown import told

        if self._linter is None:
            self._linter = Linter(Configuration(Layer("pytest", "")))
        try:
            explained = explanations(incidents(text)[:1], self._linter, self._paths)
            return "\n".join(line for one in explained for line in told(one, PLAIN))
        except ConfigError as error:
            return f"tfnanlint's configuration is wrong, so that nothing is explained: {error}"
