"""`tfnanlint clean`: clear the result cache."""

from __future__ import annotations

import argparse

from tfnanlint.cli.caching import folder
from tfnanlint.cli.outcome import CLEAN
from tfnanlint.files.store import clear
from tfnanlint.report import escape


def run(arguments: argparse.Namespace) -> int:
    """Carry out `tfnanlint clean`."""
    directory = folder(arguments)
    removed = clear(directory)
    if not arguments.quiet:
        print(f"{escape(directory)}: {'cache cleared' if removed else 'cache is already empty'}.")
    return CLEAN
