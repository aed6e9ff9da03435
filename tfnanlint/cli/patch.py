"""What `--diff` prints."""

from __future__ import annotations

import os
import sys

from tfnanlint.report import Paint, escape


def write_patch(path: str, old: bytes, new: bytes, paint: Paint) -> None:
    """A patch that `git apply -p0` and `patch -p0` take: bytes as they are in the file, lines
    ending at LF only. In colour it is for the eye: what acts on a terminal is escaped.
    """
    import difflib

    name = _quoted(os.fsencode(path))
    sys.stdout.flush()
    for line in difflib.diff_bytes(difflib.unified_diff, _lines(old), _lines(new), name, name):
        whole = line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
        sys.stdout.buffer.write(_painted(whole, paint) if paint.coloured else whole)
    sys.stdout.buffer.flush()


_ESCAPES = {0x22: b'\\"', 0x5C: b"\\\\", 0x09: b"\\t", 0x0A: b"\\n", 0x0D: b"\\r"}


def _quoted(name: bytes) -> bytes:
    """A file's name as Git writes it in a patch: in quotes where bytes of it are special."""
    parts = [_ESCAPES.get(byte) or _shown(byte) for byte in name]
    quoted = b"".join(parts)
    return name if quoted == name else b'"' + quoted + b'"'


def _shown(byte: int) -> bytes:
    return b"\\%03o" % byte if byte < 0x20 or byte == 0x7F else bytes([byte])


def _painted(line: bytes, paint: Paint) -> bytes:
    """A line of a patch in the colour of its kind."""
    shown = "\n".join(map(escape, line.decode("utf-8", "replace").rstrip("\n").split("\n")))
    kind = {"+": "plus", "-": "minus", "@": "mark"}.get(shown[:1], "")
    if shown.startswith(("+++", "---")):
        kind = "path"
    return ((paint(kind, shown) if kind else shown) + "\n").encode()


def _lines(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
