"""Which files may hold findings, and how much of them is read."""

from __future__ import annotations


def relevant(data: bytes) -> bool:
    """Whether bytes name TensorFlow or Keras at all; else they cannot hold a finding and are
    neither decoded nor parsed.
    """
    return b"tensorflow" in data or b"keras" in data


NOTEBOOK = ".ipynb"
# How much larger than other files a notebook may be, for the pictures in it.
NOTEBOOK_ROOM = 50


def size_limit(path: str, limit: int) -> int:
    """How many bytes of the file at a path are read when `max-file-size` is `limit`."""
    return limit * NOTEBOOK_ROOM if path.endswith(NOTEBOOK) else limit
