"""Repositories of Git at a revision, read from its objects: no work tree, no hooks, no filters."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from typing import IO, Any

from tfnanlint.batch import Repository
from tfnanlint.config.revision import GIT_ENVIRONMENT, GIT_SECONDS, git_command
from tfnanlint.scan.collect import Collected, InputError, Reference, member_path


def is_bare(path: str) -> bool:
    """Whether a folder is a git directory, such as a bare repository or the `.git` of another."""
    return all(os.path.exists(os.path.join(path, name)) for name in ("HEAD", "objects", "refs"))


def commit_of(path: str, revision: str) -> str:
    """The commit that a revision means now; the revision itself where there is no such commit."""
    process = _git(path, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    try:
        out, _ = process.communicate(timeout=GIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return revision
    return out.decode().strip() or revision


def _git(directory: str, *command: str, **options: Any) -> subprocess.Popen[bytes]:
    """Git on a bare repository: neither hooks, filters, fetches nor the user's settings."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **GIT_ENVIRONMENT,
    }
    trusted = ("-c", f"safe.directory={directory}", f"--git-dir={directory}")
    return subprocess.Popen(
        git_command(*trusted, *command),
        env=environment,
        stdout=subprocess.PIPE,
        **{"stderr": subprocess.DEVNULL, **options},
    )


def load_git(reference: Reference) -> Iterator[Repository]:
    """The repository of a commit. Raises `InputError` where Git cannot read it."""
    collected = Collected(reference.name)
    blobs = _blobs(reference)
    asked = "".join(f"{name}\n" for name, _ in blobs).encode()
    process = _git(reference.source, "cat-file", "--batch", "--buffer", stdin=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    try:
        # Git answers while it is asked: both pipes are served at once
        writer = threading.Thread(target=_feed, args=(process.stdin, asked))
        writer.start()
        for _, path in blobs:
            _take_blob(collected, path, process.stdout)
        writer.join()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    yield collected.repository()


def _feed(stream: IO[bytes], data: bytes) -> None:
    try:
        stream.write(data)
        stream.close()
    except BrokenPipeError:  # Git has ended, which the reader sees
        pass


def _take_blob(collected: Collected, path: str, stream: IO[bytes]) -> None:
    header = stream.readline().split()
    if len(header) != 3:
        collected.refuse(path, "the object is missing")
        return
    size = int(header[2])
    if collected.wants(path, size):
        collected.take(path, _Limited(stream, size))
    else:
        while size > 0:
            size -= len(stream.read(min(size, 1 << 20))) or size
    stream.read(1)


class _Limited:
    """The next `size` bytes of a stream."""

    def __init__(self, stream: IO[bytes], size: int):
        self._stream = stream
        self._size = size

    def read(self, size: int = -1, /) -> bytes:
        """All of them."""
        return self._stream.read(self._size)


def _blobs(reference: Reference) -> list[tuple[str, str]]:
    """Names and paths of the sources of a revision. Raises `InputError`."""
    listing = ("ls-tree", "-r", "-z", "--full-tree", reference.revision)
    process = _git(reference.source, *listing, stderr=subprocess.PIPE)
    out, err = process.communicate()
    if process.returncode:
        reason = err.decode("utf-8", "replace").strip()
        raise InputError(f"{reference.source}: git cannot read {reference.revision} ({reason})")
    blobs = []
    for line in out.split(b"\0"):
        head, _, path = line.partition(b"\t")
        mode, kind, name = (head.split() + [b""] * 3)[:3]
        shown = member_path(path.decode("utf-8", "surrogateescape"))
        if kind == b"blob" and mode != b"120000" and shown:
            blobs.append((name.decode(), shown))
    return blobs
