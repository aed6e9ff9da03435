"""What `--diff` prints."""

from __future__ import annotations

import sys

from tfnanlint.report import escape


def write_patch(path: str, old: bytes, new: bytes) -> None:
    """A patch that `git apply -p0` and `patch -p0` take: bytes as they are in the file, lines
    ending at LF only.
    """
    import difflib

    name = escape(path).encode("utf-8")
    sys.stdout.flush()
    for line in difflib.diff_bytes(difflib.unified_diff, _lines(old), _lines(new), name, name):
        sys.stdout.buffer.write(
            line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
        )
    sys.stdout.buffer.flush()


def _lines(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
