"""The command line: flags, exit codes and streams, after ruff's conventions. One module a command.

Exit code 0: nothing found, or everything found was fixed. 1: findings remain, or `--diff` has a
change to show. 2: a wrong flag or configuration, or a failure of tfnanlint itself.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from tfnanlint.cli.outcome import CLEAN, FAILED, fail
from tfnanlint.version import __version__

VERSION = ("--version", "-V")  # told without a parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if argv is None:
        # Trees have no cycles, so in a process of our own the collector only costs time.
        gc.disable()
        gc.freeze()
    if not _streams_are_open():
        return FAILED
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    return _carried_out(list(sys.argv[1:] if argv is None else argv), argv is None)


def _carried_out(words: list[str], alone: bool) -> int:
    """The exit code of a command, in a process of its own or not."""
    try:
        if words and words[0] in VERSION:
            print(f"tfnanlint {__version__}", flush=True)
            return CLEAN
        return _obeyed(words, alone)
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLEAN
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        return fail(f"{error.strerror}: {error.filename}" if error.filename else str(error))


def _obeyed(words: list[str], alone: bool) -> int:
    """The exit code of a command. Raises what reading and writing raise."""
    from tfnanlint.cli.flags import names_files, parser
    from tfnanlint.config.layers import ConfigError

    try:
        if not words:
            parser("").print_help(sys.stderr)
            return FAILED
        if names_files(words[0]):
            words.insert(0, "check")
        arguments = parser(_command_in(words[0])).parse_args(words)
        arguments.words = words
        code = arguments.run(arguments)
        sys.stdout.flush()
        if alone:
            # Python collects once more when it ends, switched off or not: there is nothing to find.
            gc.freeze()
        return code
    except ConfigError as error:
        return fail(*error.args)


def _command_in(word: str) -> str | None:
    """The command whose flags a first word asks for: "" for none of them, None for all."""
    if word in ("-h", "--help"):
        return ""
    return None if word.startswith("-") or not word else word


def _streams_are_open() -> bool:
    """Whether there is somewhere to print to. A closed standard stream is `None` in Python; the
    next file that is opened would get its number, and what is printed.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    if sys.stdout is None:
        fail("standard output is closed")
        return False
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")
    return True
