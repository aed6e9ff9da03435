"""Which files are checked, and their bytes: directories walked, ignore files respected, only
regular files read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tfnanlint.config.keys import ConfigError
from tfnanlint.config.layers import Configuration
from tfnanlint.config.patterns import Patterns, bounded
from tfnanlint.config.revision import WorkTree
from tfnanlint.files.kinds import NOTEBOOK, relevant, size_limit

_CHUNK = 1 << 20
_SHEBANG = re.compile(rb"#![^\r\n]*?[ /](?:python[0-9.]*[w]?|uv run|pipx run)(?=[ \t\r\n]|$)")


class Unread(Exception):
    """The bytes of a file cannot be had, or are too many; the message says why."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """Paths to check, in order; paths asked for that cannot be checked, with reasons; and what was
    passed over.
    """

    files: list[str] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def discover(paths: Sequence[str], configuration: Configuration) -> Discovery:
    """The Python files at `paths`: named files as they are, directories walked for `.py`, `.pyw`,
    `.ipynb` and Python scripts.

    Paths are given as they are shown: relative to the working directory when inside it.
    """
    discovery = Discovery()
    here = os.getcwd()
    for path in paths:
        target = os.path.abspath(path)
        if excluded(target, configuration):
            continue
        if os.path.isdir(target):
            _Walk(target, configuration, discovery).run()
        elif os.path.lexists(target):
            discovery.files.append(target)
        else:
            discovery.failures.append((shown(target, here), "there is no such file or directory"))
    discovery.files[:] = sorted({shown(path, here) for path in discovery.files})
    return discovery


def shown(path: str, here: str) -> str:
    """An absolute path as people read it."""
    inside = here.rstrip(os.sep) + os.sep
    return path[len(inside) :] if path.startswith(inside) else path


def excluded(path: str, configuration: Configuration, forced: bool = False) -> bool:
    """Whether a path named on the command line falls to `--force-exclude`; `forced`: as if that
    were given.
    """
    target = os.path.abspath(path)
    return (forced or configuration.for_file(target).force_exclude) and _excluded_upward(
        target, configuration
    )


def _excluded_upward(target: str, configuration: Configuration) -> bool:
    """Whether a path or one of the directories above it, up to the configuration's own, is
    excluded.
    """
    settings = configuration.for_file(target)
    tops = {os.getcwd(), *(layer.root for layer in settings.layers)}
    inside = any(target.startswith(top.rstrip(os.sep) + os.sep) for top in tops)
    directory = os.path.isdir(target)
    while target not in tops:
        if settings.excludes_name(target) or settings.excludes_pattern(target, directory):
            return True
        if not inside:
            break
        target, directory = os.path.dirname(target), True
    return False


class _Walk:
    """The walk below one directory. Links to directories are not followed."""

    def __init__(self, top: str, configuration: Configuration, discovery: Discovery):
        self._top = top
        self._configuration = configuration
        self._found = discovery
        settings = configuration.for_directory(top)
        self._respect = settings.respect_gitignore
        self._of_revision = not isinstance(configuration.files, WorkTree)
        # A directory that is named is walked although patterns exclude it: they cannot speak of
        # what is in it.
        self._exclude = not settings.excludes_pattern(top, True)
        self._links: list[str] = []

    def run(self) -> None:
        files: list[str] = []
        ignores = self._ignores_above() if self._respect else ()
        waiting: list[tuple[str, tuple[Patterns, ...]]] = [(self._top, ignores)]
        while waiting:
            directory, ignores = waiting.pop()
            try:
                with os.scandir(directory) as listing:
                    entries = list(listing)
            except OSError as error:
                self._found.failures.append(
                    (
                        shown(directory, os.getcwd()),
                        f"the directory cannot be read: {error.strerror}",
                    )
                )
                continue
            if self._respect and (
                self._of_revision or any(entry.name == ".gitignore" for entry in entries)
            ):
                ignores = (
                    *ignores,
                    *self._ignore_file(os.path.join(directory, ".gitignore"), directory),
                )
            for entry, is_directory in self._entries(entries, directory, ignores):
                if is_directory:
                    waiting.append((entry.path, ignores))
                else:
                    files.append(entry.path)
        self._found.files.extend(files)
        met = {os.path.realpath(path) for path in files} if self._links else set()
        # A link to a file that the walk meets anyway would say everything twice.
        self._found.files.extend(link for link in self._links if os.path.realpath(link) not in met)

    def _entries(
        self, entries: list[os.DirEntry[str]], directory: str, ignores: tuple[Patterns, ...]
    ) -> Iterator[tuple[os.DirEntry[str], bool]]:
        """The entries to go on with, and whether each is a directory."""
        settings = self._configuration.for_directory(directory)
        for entry in entries:
            is_directory = entry.is_dir(follow_symlinks=False)
            if not is_directory and not _may_be_python(entry):
                continue
            if settings.excludes_name(entry.path) or _ignored(entry.path, is_directory, ignores):
                continue
            if self._exclude and settings.excludes_pattern(entry.path, is_directory):
                continue
            if is_directory:
                yield entry, True
            elif entry.is_symlink():
                self._link(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield entry, False
            else:
                self._found.notes.append(
                    f"{shown(entry.path, os.getcwd())}: skipped: not a regular file"
                )

    def _link(self, path: str) -> None:
        if os.path.isdir(path):
            return
        if os.path.isfile(path):
            self._links.append(path)
        else:
            self._found.notes.append(
                f"{shown(path, os.getcwd())}: skipped: a link that leads to no regular file"
            )

    def _ignores_above(self) -> tuple[Patterns, ...]:
        """The ignore files that hold for the top because it lies in a repository, outermost
        first.
        """
        above: list[Patterns] = []
        directory = self._top
        while not os.path.lexists(os.path.join(directory, ".git")):
            parent = os.path.dirname(directory)
            if parent == directory:
                return ()
            directory = parent
            above[:0] = self._ignore_file(os.path.join(directory, ".gitignore"), directory)
        above[:0] = self._ignore_file(os.path.join(directory, ".git", "info", "exclude"), directory)
        return () if _ignored(self._top, True, tuple(above)) else tuple(above)

    def _ignore_file(self, path: str, directory: str) -> list[Patterns]:
        try:
            data = self._configuration.files.read(path, _CHUNK)
        except ConfigError:
            return []
        if data is None:
            return []
        lines = data.decode("utf-8", "surrogateescape").splitlines()
        lines = [
            line for line in lines if line.strip() and not line.startswith("#") and bounded(line)
        ]
        if not lines:
            return []
        try:
            return [Patterns(directory, lines)]
        except ValueError as error:
            self._found.notes.append(f"{shown(path, os.getcwd())}: not respected: {error}")
            return []


def _may_be_python(entry: os.DirEntry[str]) -> bool:
    """Whether a file's name says that it is Python or, where the name says nothing, its first
    line.
    """
    if "." in entry.name:
        return entry.name.endswith((".py", ".pyw", NOTEBOOK))
    if not entry.is_file():
        return False
    try:
        with open(
            os.open(entry.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb", buffering=0
        ) as file:
            return bool(_SHEBANG.match(file.read(128)))
    except OSError:
        return False


def _ignored(path: str, directory: bool, ignores: tuple[Patterns, ...]) -> bool:
    for patterns in reversed(ignores):
        verdict = patterns.verdict(path, directory)
        if verdict is not None:
            return verdict
    return False


def read(path: str, limit: int) -> bytes:
    """The bytes of a regular file. Raises `Unread`.

    Nothing is waited for, so a FIFO does not stop the run. A file beyond `limit` bytes, of which a
    notebook may have more, counts as empty when it does not mention TensorFlow, and is refused when
    it does.
    """
    limit = size_limit(path, limit)
    try:
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
        )
    except OSError as error:
        if error.errno is not None and not os.path.exists(path) and os.path.islink(path):
            raise Unread("it is a link that leads nowhere") from None
        raise Unread(f"it cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL in the name
        raise Unread(f"it cannot be read: {error}") from None
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise Unread(f"it is {_kind(mode)}, not a regular file")
    with os.fdopen(handle, "rb", closefd=True, buffering=0) as file:
        try:
            data = _up_to(file, limit + 1)
            if len(data) <= limit:
                return data
            return _oversized(file, data, limit)
        except OSError as error:
            raise Unread(f"it cannot be read: {error.strerror}") from None


def _up_to(file, count: int) -> bytes:
    parts = []
    while count > 0 and (part := file.read(count)):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _oversized(file, data: bytes, limit: int) -> bytes:
    while data:
        if relevant(data):
            size = os.fstat(file.fileno()).st_size
            raise Unread(
                f"it is larger than the limit of {_size(limit)} ({_size(size)}); exclude it or"
                " raise `max-file-size`"
            )
        tail = data[-9:]  # one less than the longest word looked for
        more = _up_to(file, _CHUNK)
        data = tail + more if more else b""
    return b""


def _size(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB" if count >= 1 << 20 else f"{count} bytes"


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFDIR: "a directory",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "something else")


_MARKS = (".git", ".hg", "pyproject.toml", "tfnanlint.toml")


def project_root(path: str) -> str:
    """The directory inside which a fix to `path` may write: the project that it lies in by name,
    else its directory.

    A link leads out of a project even into another one: behind a link the project around the link
    counts, if there is one; without any, what lies around a link below the working directory.
    """
    start = os.path.dirname(os.path.abspath(path))
    below = os.getcwd().rstrip(os.sep) + os.sep
    root, outside = "", start
    behind_link = False
    for directory in _upwards(start):
        if (not root or behind_link) and is_project(directory):
            root, behind_link = directory, False
        if os.path.islink(directory):
            behind_link = True
            outside = os.path.dirname(directory) if directory.startswith(below) else outside
    return root or outside


def _upwards(directory: str) -> Iterator[str]:
    """A directory and all above it, as they are named."""
    while True:
        yield directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent


def is_project(directory: str) -> bool:
    """Whether a folder holds what the root of a project holds."""
    return any(os.path.lexists(os.path.join(directory, mark)) for mark in _MARKS)
