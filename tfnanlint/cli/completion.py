"""`tfnanlint completion`: a script that completes commands, flags and their values in a shell."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from tfnanlint.cli.outcome import CLEAN

SHELLS: Final = ("bash", "zsh", "fish")


def script(shell: str) -> Path:
    """The script for a shell, which `python -m tfnanlint.dev.docs` writes."""
    return Path(__file__).with_name(f"tfnanlint.{shell}")


def run(arguments: argparse.Namespace) -> int:
    """Print the script for a shell."""
    sys.stdout.write(script(arguments.shell).read_text("utf-8"))
    return CLEAN
