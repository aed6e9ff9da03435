"""What a stream can show: colour, and whether a person is watching."""

from __future__ import annotations

import os
from typing import TextIO

from tfnanlint.report import Paint


def paint(stream: TextIO) -> Paint:
    """Colours for a stream, by the conventions of NO_COLOR and FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return Paint(False)
    if os.environ.get("FORCE_COLOR", "0") != "0" or os.environ.get("CLICOLOR_FORCE", "0") != "0":
        return Paint(True)
    return Paint(stream.isatty() and os.environ.get("TERM") != "dumb")
