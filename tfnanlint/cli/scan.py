"""`tfnanlint scan`: check more code than one run of `check` reads, into Parquet files."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

from tfnanlint.cli.outcome import CLEAN, FAILED, fail
from tfnanlint.config.layers import toml_table
from tfnanlint.config.revision import WorkTree
from tfnanlint.report import escape

_RULES = ("select", "ignore", "extend-select")
_INTERVAL = 0.5  # seconds between two lines of progress
_LOG_INTERVAL = 30.0  # the same where standard error is not a terminal
_SCATTERED = 3  # reads of each row group from which a warning says so


def run(arguments: argparse.Namespace) -> int:
    """Carry out `tfnanlint scan`: exit code 0 when all parts are written, whatever they hold."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return fail("a scan writes Parquet, which needs pyarrow: pip install 'tfnanlint[scan]'")
    from tfnanlint.batch import Budget
    from tfnanlint.scan.inputs import Columns, InputError, references
    from tfnanlint.scan.pool import Orders
    from tfnanlint.scan.run import Scan, Shard
    from tfnanlint.scan.summary import report

    columns = Columns(arguments.repository_column, arguments.path_column, arguments.content_column)
    try:
        shard = Shard.parsed(arguments.shard)
    except ValueError:
        return fail(f"--shard: `{arguments.shard}` is not of the form I/N, such as 2/8")
    orders = Orders(
        settings_of(arguments),
        Budget(seconds=arguments.repository_seconds),
        arguments.memory << 20,
    )
    progress = _Progress(arguments.quiet)
    try:
        listed = references(arguments.inputs, columns, arguments.each, arguments.revision)
        _warn_of_scattered(listed)
        scan = Scan(
            listed,
            arguments.out,
            orders,
            arguments.jobs,
            shard,
            arguments.resume,
            arguments.part_size,
        )
        scan.run(progress.show)
    except InputError as error:
        progress.clear()
        return fail(str(error))
    except KeyboardInterrupt:
        progress.clear()
        print("Stopped. What is complete stays; go on with --resume.", file=sys.stderr)
        return 130
    except OSError as error:
        progress.clear()
        where = f"{error.filename}: " if error.filename else ""
        fail(f"{where}{error.strerror or error}")
        print("What is complete stays; go on with --resume.", file=sys.stderr)
        return FAILED
    progress.clear()
    if not arguments.quiet:
        print(escape_lines(report(arguments.out)))
    return CLEAN


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that the flags state, under the names of `tfnanlint.toml`."""
    settings: dict[str, Any] = {}
    for text in arguments.config or ():
        settings.update(_table(text))
    for key in _RULES:
        values = getattr(arguments, key.replace("-", "_"))
        if values is not None:
            settings[key] = [part.strip() for value in values for part in value.split(",")]
    for key in ("certainty", "preview"):
        if getattr(arguments, key) is not None:
            settings[key] = getattr(arguments, key)
    return settings


def _table(text: str) -> dict[str, Any]:
    """The settings of a file, or of TOML itself. Raises `ConfigError`."""
    if not os.path.isfile(text):
        return toml_table(text, "--config")
    data = WorkTree().read(text) or b""
    table = toml_table(data.decode("utf-8", "replace"), text)
    return table.get("tool", {}).get("tfnanlint", {}) if "tool" in table else table


def escape_lines(text: str) -> str:
    """Lines with everything that could steer a terminal written out."""
    return "\n".join(map(escape, text.split("\n")))


def _warn_of_scattered(references: list[Any]) -> None:
    """Say so when rows of one repository are spread over a Parquet input."""
    from tfnanlint.scan.parquet import scattered

    times = scattered(references)
    if times >= _SCATTERED:
        print(
            f"warning: repositories are scattered: each part of the Parquet input is "
            f"read about {times:.0f} times. Sort it by repository.",
            file=sys.stderr,
        )


class _Progress:
    """How far the scan is: one line that changes on a terminal, now and then one in a log."""

    def __init__(self, quiet: bool):
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._interval = _INTERVAL if self._terminal else _LOG_INTERVAL
        self._last = 0.0 if self._terminal else time.monotonic()

    def show(self, progress: Any) -> None:
        """Tell it, when it was not told for some time."""
        now = time.monotonic()
        if self._quiet or now - self._last < self._interval:
            return
        self._last = now
        line = (
            f"{progress.done:,} of {progress.of:,} repositories, {progress.rate:.1f}/s, "
            f"{_duration(progress.left)} left"
        )
        text = f"\r\x1b[K{line}" if self._terminal else f"{line}\n"
        print(text, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave nothing on the terminal."""
        if self._terminal and not self._quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
