"""What a stream can show: colour, links, and progress when a person is watching."""

from __future__ import annotations

import os
import sys
import time
from typing import TextIO

from tfnanlint.report import Paint

_NARROWEST = 40  # columns
_PATIENCE = 1.0  # seconds before progress is shown
_PAUSE = 0.1  # seconds between two showings


def paint(stream: TextIO, choice: str = "auto") -> Paint:
    """Colours and links for a stream: as `--color` says, else by NO_COLOR and FORCE_COLOR, else on
    a terminal.
    """
    return Paint(_coloured(stream, choice), _linked(stream, choice))


def columns(stream: TextIO, default: int) -> int:
    """The width of a stream: as COLUMNS says, else that of the terminal it is, else a default."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated) > 0:
        return max(_NARROWEST, int(stated))
    try:
        return max(_NARROWEST, os.get_terminal_size(stream.fileno()).columns)
    except (OSError, ValueError):
        return default


def _coloured(stream: TextIO, choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0" or os.environ.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _linked(stream: TextIO, choice: str) -> bool:
    """Whether links are shown: only by terminals that are known to, or where FORCE_HYPERLINK says
    so.
    """
    forced = os.environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    if not _coloured(stream, choice) or not stream.isatty():
        return False
    if os.environ.get("CI") or os.environ.get("TMUX") or os.environ.get("STY"):
        return False
    if os.environ.get("TERM_PROGRAM") in (
        "iTerm.app",
        "WezTerm",
        "vscode",
        "ghostty",
        "Hyper",
        "Tabby",
    ):
        return True
    if (
        os.environ.get("WT_SESSION")
        or os.environ.get("KITTY_WINDOW_ID")
        or os.environ.get("KONSOLE_VERSION")
    ):
        return True
    version = os.environ.get("VTE_VERSION", "")
    return version.isdecimal() and int(version) >= 5000


class Progress:
    """A line on standard error that counts files, on a terminal and when a run takes long; it
    leaves nothing behind.
    """

    def __init__(self, total: int, quiet: bool):
        self.total = total
        self._done = 0
        self._shown = False
        self._wanted = not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._next = time.monotonic() + _PATIENCE

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
        self._wanted = False

    def step(self) -> None:
        """One more file is done."""
        self._done += 1
        if self._wanted and (now := time.monotonic()) >= self._next:
            sys.stdout.flush()
            sys.stderr.write(f"\r\x1b[Kchecked {self._done} of {self.total} files")
            sys.stderr.flush()
            self._shown = True
            self._next = now + _PAUSE

    def clear(self) -> None:
        """Take the line away, before something else is printed."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
