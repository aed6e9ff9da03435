"""Exit codes, and the one line that says why a command could not be carried out."""

from __future__ import annotations

import sys

CLEAN, FOUND, FAILED = 0, 1, 2


def fail(*reasons: str) -> int:
    """Say on standard error why nothing was done; the exit code for it."""
    from tfnanlint.report import escape

    for reason in reasons:
        print(f"error: {escape(reason)}", file=sys.stderr)
    return FAILED
