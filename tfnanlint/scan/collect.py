"""What a scan reads: references to repositories, and the files of one within its room."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from tfnanlint.batch import SUFFIXES, Repository

MAX_FILE_BYTES = 64 << 20  # larger members of archives and blobs are not read
MAX_REPOSITORY_BYTES = 1 << 30  # of sources that one repository may hold in memory
PASSED = frozenset(".git .hg .svn .tox .venv venv node_modules site-packages __pycache__".split())

_FULL = f"the repository holds more than {MAX_REPOSITORY_BYTES >> 20} MiB of sources"
_LARGE = f"larger than {MAX_FILE_BYTES >> 20} MiB"
_TWICE = "the input holds another file at this path, which is checked"


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes."""
        ...


class InputError(ValueError):
    """An input that cannot be scanned, with the reason in words."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns of a Parquet input; "" for `repository` where it has none."""

    repository: str = "repository"
    path: str = "path"
    content: str = "content"


@dataclass(frozen=True, slots=True)
class Reference:
    """A repository, or a run of loose files, that can be loaded. `pieces` are the files and row
    groups of Parquet that hold it; `stamp` says which version of a file or repository is meant.
    """

    kind: str
    source: str
    name: str
    revision: str = ""
    pieces: tuple[tuple[str, int], ...] = ()
    columns: Columns = Columns()
    stamp: str = ""

    @property
    def key(self) -> str:
        """What tells it from the others of a scan, on whatever machine and under whatever path."""
        groups = ",".join(str(group) for _, group in self.pieces)
        return self.name if self.kind != "loose" else f"{self.name}:{groups}"

    @property
    def identity(self) -> str:
        """What says that two runs mean the same by it."""
        return repr((self.kind, self.key, self.stamp))


class Collected:
    """Files of one repository as they are read, within its room."""

    def __init__(self, name: str):
        self._name = name
        self._files: dict[str, bytes] = {}
        self._unread: dict[str, str] = {}
        self._room = MAX_REPOSITORY_BYTES

    def wants(self, path: str, size: int) -> bool:
        """Whether a file is to be read; when it is not, the reason is kept."""
        if size > MAX_FILE_BYTES:
            self._unread[path] = _LARGE
        elif size > self._room:
            self._unread[path] = _FULL
        return path not in self._unread

    def take(self, path: str, stream: Readable) -> None:
        """Read a file; what it holds decides, not what an archive says of its size."""
        data = stream.read(min(MAX_FILE_BYTES, self._room) + 1)
        if self.wants(path, len(data)):
            self._room -= len(data) - len(self._files.get(path, b""))
            self._files[path] = data

    def refuse(self, path: str, reason: str) -> None:
        """Note why a file could not be read."""
        self._unread[path] = reason

    def repository(self) -> Repository:
        """The repository of all that was read."""
        return Repository(self._name, self._files, self._unread)


def gathered(name: str, rows: Iterable[tuple[str, bytes]]) -> Repository:
    """The repository of these paths and contents, whatever order they come in.

    Of different files at one path the first in the order of bytes is kept. What goes beyond the
    room of a repository is not read. `unread` tells both.
    """
    files: dict[str, bytes] = {}
    unread: dict[str, str] = {}
    for path, data in rows:
        if files.setdefault(path, data) != data:
            files[path] = min(data, files[path])
            unread[path] = _TWICE
    room = MAX_REPOSITORY_BYTES
    for path in sorted(files):
        room -= len(files[path])
        if room < 0:
            unread[path] = _FULL
            del files[path]
    return Repository(name, files, unread)


def member_path(name: str) -> str:
    """The path of a member of an archive or tree that is of interest, else "". It cannot lead out:
    nothing is unpacked.
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not name.endswith(SUFFIXES) or any(part in PASSED for part in parts):
        return ""
    return "/".join(part for part in parts if part not in ("/", "..", "."))
