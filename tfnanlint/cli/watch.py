"""`tfnanlint check --watch`: check, wait until something changes, check again."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence

from tfnanlint.cli.outcome import CLEAN, fail
from tfnanlint.config.keys import DEFAULT_EXCLUDE

# The process of one check: its modules are not looked for where it is started, and it ends with the
# process that watches.
_BOOT = """
import sys
sys.path[:] = {path!r}
from tfnanlint.pipeline.workers import end_with_parent
end_with_parent()
from tfnanlint.cli import main
sys.exit(main())
"""
_SETTINGS = frozenset(("tfnanlint.toml", "pyproject.toml", ".gitignore"))


def watch(arguments: argparse.Namespace) -> int:
    """Check again whenever a file changes, until Ctrl-C. Each check is a process of its own:
    nothing is remembered.
    """
    tops = _tops(arguments.paths or ["."])
    missing = [top for top in tops if not os.path.isdir(top)]
    if missing:
        return fail(f"{missing[0]}: there is no such file or directory")
    try:
        from watchfiles import watch as changes
    except ImportError:
        return fail("--watch needs the package watchfiles: pip install 'tfnanlint[watch]'")
    words = [word for word in arguments.words if word != "--watch"]
    command = [sys.executable, "-c", _BOOT.format(path=sys.path), *words]
    try:
        _check(command)
        for _ in changes(*tops, watch_filter=filter_below(tops), raise_interrupt=True):
            _check(command)
    except KeyboardInterrupt:
        pass
    return CLEAN


def _check(command: list[str]) -> None:
    if sys.stdout.isatty():
        print("\x1b[H\x1b[2J", end="", flush=True)
    subprocess.run(command, check=False)
    print("Watching for changes. Press Ctrl-C to stop.", file=sys.stderr, flush=True)


def _tops(paths: list[str]) -> list[str]:
    """The directories to watch. A file's whole directory counts: what is imported from there
    changes what is found.
    """
    return sorted(
        {
            os.path.abspath(path) if os.path.isdir(path) else os.path.dirname(os.path.abspath(path))
            for path in paths
        }
    )


def filter_below(tops: Sequence[str]) -> Callable[[object, str], bool]:
    """What says whether a change of a file can change what is found. Folders count by their names
    below the directory that is watched, whatever stands above it.
    """
    places = {os.path.join(place, "") for top in tops for place in (top, os.path.realpath(top))}
    return lambda _, path: any(
        path.startswith(place) and _matters(path.removeprefix(place)) for place in places
    )


def _matters(path: str) -> bool:
    """Whether a change of a file, named from the directory watched, can change what is found."""
    folder, name = os.path.split(path)
    if not name.endswith((".py", ".pyw", ".ipynb")) and name not in _SETTINGS:
        return False
    return not any(
        part in DEFAULT_EXCLUDE or part == "__pycache__" for part in folder.split(os.sep)
    )
