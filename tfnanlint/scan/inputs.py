"""Where a scan finds repositories: Parquet, folders, archives, bare git repositories.

`references` lists what there is without its content, in an order that depends on the input alone.
A reference can be pickled; the process that checks it loads the content.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import IO, Any, Protocol

from tfnanlint.batch import Repository
from tfnanlint.config.revision import GIT_ENVIRONMENT, git_command

SUFFIXES = (".py", ".ipynb")
MAX_FILE_BYTES = (
    64 << 20
)  # larger members of archives and blobs are not read: notebooks hold pictures
MAX_REPOSITORY_BYTES = 1 << 30  # of sources that one repository may hold in memory
_PASSED = frozenset(".git .hg .svn .tox .venv venv node_modules site-packages __pycache__".split())


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
    groups of Parquet that hold it.
    """

    kind: str
    source: str
    name: str
    revision: str = ""
    pieces: tuple[tuple[str, int], ...] = ()
    columns: Columns = Columns()

    @property
    def identity(self) -> str:
        """What says that two runs mean the same by it."""
        return repr((self.kind, self.source, self.name, self.revision, self.pieces))


def references(
    inputs: list[str], columns: Columns = Columns(), each: bool = False, revision: str = "HEAD"
) -> list[Reference]:
    """All repositories of the inputs.

    A Parquet file, or a folder of such files, holds rows; any other folder, an archive or a bare
    git repository is one repository. With `each`, the folders, archives and git repositories
    directly in a folder are one each. Raises `InputError`.
    """
    found: list[Reference] = []
    for path in inputs:
        if not os.path.exists(path):
            raise InputError(f"{path}: there is no such file or folder")
        if each and os.path.isdir(path) and not _parquets(path):
            entries = [os.path.join(path, name) for name in sorted(os.listdir(path))]
            for entry in entries:
                if os.path.isdir(entry) or _archive(entry):
                    found += _references(entry, columns, revision)
        else:
            found += _references(path, columns, revision)
    return found


def _references(path: str, columns: Columns, revision: str) -> list[Reference]:
    absolute = os.path.abspath(path)
    name = os.path.basename(absolute)
    parquets = _parquets(absolute)
    if parquets:
        return _rows(parquets, columns)
    if os.path.isdir(absolute):
        if _is_bare(absolute):
            return [Reference("git", absolute, name.removesuffix(".git"), revision)]
        return [Reference("folder", absolute, name)]
    kind = _archive(absolute)
    if not kind:
        raise InputError(f"{path}: neither Parquet, a folder, an archive nor a git repository")
    return [Reference(kind, absolute, name)]


def _parquets(path: str) -> list[str]:
    """The Parquet files that a path means: itself, or all directly in a folder that has some."""
    if os.path.isfile(path):
        return [path] if path.endswith((".parquet", ".pq")) else []
    return sorted(
        os.path.join(directory, name)
        for directory, folders, names in os.walk(path)
        if not folders.sort() and directory.count(os.sep) <= path.count(os.sep) + 2
        for name in names
        if name.endswith((".parquet", ".pq"))
    )


def _archive(path: str) -> str:
    """The kind of an archive, "" for what is none."""
    if not os.path.isfile(path):
        return ""
    if zipfile.is_zipfile(path):
        return "zip"
    return "tar" if tarfile.is_tarfile(path) else ""


def _is_bare(path: str) -> bool:
    return all(os.path.exists(os.path.join(path, name)) for name in ("HEAD", "objects", "refs"))


def shard_of(reference: Reference, count: int) -> int:
    """Which of `count` shards a repository belongs to: always the same one."""
    digest = hashlib.blake2b(reference.identity.encode("utf-8", "surrogateescape"), digest_size=8)
    return int.from_bytes(digest.digest(), "big") % count


def load(reference: Reference) -> Iterator[Repository]:
    """The repositories that a reference means: one, or one a loose file. Raises OSError and
    `InputError`.
    """
    yield from _LOADERS[reference.kind](reference)


# Parquet


def _rows(paths: list[str], columns: Columns) -> list[Reference]:
    """The repositories of Parquet files, in the order in which they first appear."""
    pieces: dict[str, list[tuple[str, int]]] = {}
    loose: list[Reference] = []
    for path in paths:
        file = _parquet(path)
        names = file.schema_arrow.names
        for needed in (columns.path, columns.content):
            if needed not in names:
                raise InputError(f"{path}: no column `{needed}`; it has {', '.join(names)}")
        for group in range(file.num_row_groups):
            if not columns.repository or columns.repository not in names:
                loose.append(Reference("loose", path, "", "", ((path, group),), columns))
                continue
            column = file.read_row_group(group, [columns.repository]).column(0)
            for name in column.unique().to_pylist():
                pieces.setdefault(str(name or ""), []).append((path, group))
    return loose + [
        Reference("rows", paths[0], name, "", tuple(places), columns)
        for name, places in pieces.items()
    ]


@lru_cache(maxsize=4)
def _parquet(path: str) -> Any:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(f"{path}: Parquet needs pyarrow: pip install 'tfnanlint[scan]'") from None
    import pyarrow as pa

    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: not a Parquet file ({error})") from error


@lru_cache(maxsize=1)
def _group(path: str, group: int, columns: Columns) -> dict[str, dict[str, bytes]]:
    """The files of a row group by repository; one group is kept, for neighbours share it."""
    file = _parquet(path)
    wanted = [name for name in (columns.repository, columns.path, columns.content) if name]
    present = [name for name in wanted if name in file.schema_arrow.names]
    table = file.read_row_group(group, present)
    paths = table.column(columns.path).to_pylist()
    names = (
        table.column(columns.repository).to_pylist()
        if columns.repository in present
        else [""] * len(paths)
    )
    found: dict[str, dict[str, bytes]] = {}
    contents = table.column(columns.content)
    for row, (name, path_) in enumerate(zip(names, paths)):
        if path_ is not None and path_.endswith(SUFFIXES):
            data = contents[row].as_py()
            data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data or b""
            found.setdefault(str(name or ""), {})[path_] = data
    return found


def _load_rows(reference: Reference) -> Iterator[Repository]:
    files: dict[str, bytes] = {}
    for path, group in reference.pieces:
        files.update(_group(path, group, reference.columns).get(reference.name, {}))
    yield _bounded(reference.name, files)


def _load_loose(reference: Reference) -> Iterator[Repository]:
    for path, group in reference.pieces:
        for files in _group(path, group, reference.columns).values():
            for name in sorted(files):
                yield Repository("", {name: files[name]})


def _bounded(name: str, files: dict[str, bytes]) -> Repository:
    """A repository of these files; what goes beyond its room is not read."""
    kept: dict[str, bytes] = {}
    unread: dict[str, str] = {}
    room = MAX_REPOSITORY_BYTES
    for path in sorted(files):
        room -= len(files[path])
        if room < 0:
            unread[path] = _FULL
        else:
            kept[path] = files[path]
    return Repository(name, kept, unread)


_FULL = f"the repository holds more than {MAX_REPOSITORY_BYTES >> 20} MiB of sources"
_LARGE = f"larger than {MAX_FILE_BYTES >> 20} MiB"


class _Collected:
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
            self._files[path] = data
            self._room -= len(data)

    def refuse(self, path: str, reason: str) -> None:
        """Note why a file could not be read."""
        self._unread[path] = reason

    def repository(self) -> Repository:
        """The repository of all that was read."""
        return Repository(self._name, self._files, self._unread)


# Folders


def _load_folder(reference: Reference) -> Iterator[Repository]:
    collected = _Collected(reference.name)
    for directory, folders, names in os.walk(reference.source):
        folders[:] = sorted(name for name in folders if name not in _PASSED)
        for name in sorted(name for name in names if name.endswith(SUFFIXES)):
            path = os.path.join(directory, name)
            shown = os.path.relpath(path, reference.source).replace(os.sep, "/")
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            try:
                if collected.wants(shown, os.path.getsize(path)):
                    with open(path, "rb") as file:
                        collected.take(shown, file)
            except OSError as error:
                collected.refuse(shown, error.strerror or str(error))
    yield collected.repository()


# Archives


def _load_tar(reference: Reference) -> Iterator[Repository]:
    collected = _Collected(reference.name)
    try:
        with tarfile.open(reference.source) as archive:
            for member in archive:
                path = _member(member.name)
                if member.isfile() and path and collected.wants(path, member.size):
                    stream = archive.extractfile(member)
                    if stream is not None:
                        collected.take(path, stream)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise InputError(f"{reference.source}: a broken archive ({error})") from error
    yield collected.repository()


def _load_zip(reference: Reference) -> Iterator[Repository]:
    collected = _Collected(reference.name)
    try:
        with zipfile.ZipFile(reference.source) as archive:
            for member in sorted(archive.infolist(), key=lambda item: item.filename):
                path = _member(member.filename)
                if not path or member.is_dir() or not collected.wants(path, member.file_size):
                    continue
                try:
                    with archive.open(member) as stream:
                        collected.take(path, stream)
                except (RuntimeError, NotImplementedError) as error:  # encrypted, unknown method
                    collected.refuse(path, str(error))
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise InputError(f"{reference.source}: a broken archive ({error})") from error
    yield collected.repository()


def _member(name: str) -> str:
    """The path of a member of an archive that is of interest, else "". It cannot lead out: nothing
    is unpacked.
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not name.endswith(SUFFIXES) or any(part in _PASSED for part in parts):
        return ""
    return "/".join(part for part in parts if part not in ("/", "..", "."))


# Git


def _git(reference: Reference, *command: str, **options: Any) -> subprocess.Popen[bytes]:
    """Git on a bare repository: neither hooks, filters, fetches nor the user's settings."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **GIT_ENVIRONMENT,
    }
    trusted = ("-c", f"safe.directory={reference.source}", f"--git-dir={reference.source}")
    return subprocess.Popen(
        git_command(*trusted, *command),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def _load_git(reference: Reference) -> Iterator[Repository]:
    collected = _Collected(reference.name)
    blobs = _blobs(reference)
    asked = "".join(f"{name}\n" for name, _ in blobs).encode()
    process = _git(reference, "cat-file", "--batch", "--buffer", stdin=subprocess.PIPE)
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
        if process.stderr is not None:
            process.stderr.close()
    yield collected.repository()


def _feed(stream: IO[bytes], data: bytes) -> None:
    try:
        stream.write(data)
        stream.close()
    except BrokenPipeError:  # Git has ended, which the reader sees
        pass


def _take_blob(collected: _Collected, path: str, stream: IO[bytes]) -> None:
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
    process = _git(reference, "ls-tree", "-r", "-z", "--full-tree", reference.revision)
    out, err = process.communicate()
    if process.returncode:
        reason = err.decode("utf-8", "replace").strip()
        raise InputError(f"{reference.source}: git cannot read {reference.revision} ({reason})")
    found = []
    for line in out.split(b"\0"):
        head, _, path = line.partition(b"\t")
        mode, kind, name = (head.split() + [b""] * 3)[:3]
        shown = _member(path.decode("utf-8", "surrogateescape"))
        if kind == b"blob" and mode != b"120000" and shown:
            found.append((name.decode(), shown))
    return found


_LOADERS = {
    "rows": _load_rows,
    "loose": _load_loose,
    "folder": _load_folder,
    "tar": _load_tar,
    "zip": _load_zip,
    "git": _load_git,
}
