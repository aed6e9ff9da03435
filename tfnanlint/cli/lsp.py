"""`tfnanlint lsp`: the language server on standard input and output."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys

from tfnanlint.cli.outcome import CLEAN, fail


def run(arguments: argparse.Namespace) -> int:
    """Serve until the editor goes. Without pygls nothing is served."""
    if any(importlib.util.find_spec(name) is None for name in ("pygls", "lsprotocol")):
        return fail("the language server needs pygls: pip install 'tfnanlint[lsp]'")
    stdout = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # The protocol has standard output to itself: a stray print, also of a library in C, goes to
    # standard error.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = sys.stderr
    import gc

    from tfnanlint.lsp.analyst import Analyst

    analyst = Analyst()  # Its process loads the analysis while this one loads the protocol.
    gc.enable()  # The command line switches it off, for runs that end soon.
    from tfnanlint.lsp.features import serve

    serve(analyst, sys.stdin.buffer, stdout)
    return CLEAN
