"""The files that steer a run, as they are on disk or as they were in a git revision; and which
lines changed since one.
"""

from __future__ import annotations

import errno
import os
import stat
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from tfnanlint.config.keys import ConfigError

_MAX_SIZE = 64 << 20
GIT_SECONDS = 60.0  # that a command of Git may take
_MAX_PAIRS = 100_000  # of equal lines, one of each text: comparing takes a multiple of their number


class WorkTree:
    """The files on disk."""

    def read(self, path: str, limit: int = _MAX_SIZE) -> bytes | None:
        """The bytes of a regular file, None where there is none. Raises `ConfigError` when it
        cannot be read.
        """
        try:
            handle = os.open(
                path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
            )
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return None
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise ConfigError(f"{path}: cannot be read: not a regular file")
        with os.fdopen(handle, "rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ConfigError(f"{path}: not read: larger than {limit >> 20} MiB")
        return data


# Git reads: it neither locks, fetches nor asks, and says what it has to say in English.
GIT_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # unlike `protocol.allow`, over what the repository allows
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def git_command(*arguments: str) -> list[str]:
    """A command of Git that runs no program which the settings of a repository name."""
    settings = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never")
    options = [part for setting in settings for part in ("-c", setting)]
    return [_git_program(), *options, *arguments]


def _git_program() -> str:
    """The path of Git. Raises FileNotFoundError.

    Relative folders of the search path, and the working directory, which Windows searches first,
    are left out: a repository could bring a program of that name.
    """
    name = "git.exe" if os.name == "nt" else "git"
    for folder in os.get_exec_path():
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(errno.ENOENT, "no such program", name)


class Revision:
    """A commit of the git repository around a directory. Raises `ConfigError` when there is no such
    thing.

    Files outside of the repository are read from disk.
    """

    def __init__(self, name: str, directory: str, flag: str):
        self.name = name
        self._flag = flag
        self._directory = directory
        self.top = os.fsdecode(self._git("rev-parse", "--show-toplevel").rstrip(b"\n"))
        self.commit = (
            self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
            .decode()
            .strip()
        )
        self._parted = ""
        self._names: set[bytes] | None = None
        self._changes: dict[str, Rows] = {}

    def _git(self, *arguments: str, missing: tuple[int, ...] = ()) -> bytes:
        """What a git command prints; b"" when it ends with one of the `missing` codes."""
        import subprocess

        try:
            done = subprocess.run(
                git_command(*arguments),
                cwd=self._directory,
                env={**os.environ, **GIT_ENVIRONMENT},
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=GIT_SECONDS,
            )
        except FileNotFoundError:
            raise ConfigError(f"{self._flag}: git is not installed") from None
        except subprocess.TimeoutExpired:
            words = f"git {arguments[0]} did not end within {GIT_SECONDS:.0f} seconds"
            raise ConfigError(f"{self._flag} {self.name}: {words}") from None
        if done.returncode and done.returncode not in missing:
            said = (
                done.stderr.decode("utf-8", "replace")
                .strip()
                .removeprefix("fatal: ")
                .partition("\n")[0]
            )
            raise ConfigError(f"{self._flag} {self.name}: {said or 'unknown git revision'}")
        return b"" if done.returncode else done.stdout

    def _relative(self, path: str) -> str | None:
        """The name of a file inside of the repository; None when it lies outside."""
        folder, name = os.path.split(path)
        real = os.path.join(os.path.realpath(folder), name)
        try:
            relative = os.path.relpath(real, os.path.realpath(self.top))
        except ValueError:  # on another drive
            return None
        return (
            None
            if relative == ".." or relative.startswith(".." + os.sep)
            else relative.replace(os.sep, "/")
        )

    def read(self, path: str, limit: int = _MAX_SIZE) -> bytes | None:
        """The bytes that an absolute path had in the revision, None where there was no file."""
        relative = self._relative(path)
        if relative is None:
            return WorkTree().read(path, limit)
        if self._names is None:
            # Only regular files: a link is not followed, for what it leads to may be of another
            # revision.
            listing = self._git("ls-tree", "-r", "-z", "--full-tree", self.commit).split(b"\0")
            self._names = {
                entry.partition(b"\t")[2] for entry in listing if entry.startswith(b"100")
            }
        if os.fsencode(relative) not in self._names:
            return None
        blob = f"{self.commit}:{relative}"
        if self._size(blob) > limit:
            raise ConfigError(f"{path} in {self.name}: not read: larger than {limit >> 20} MiB")
        return self._git("cat-file", "blob", blob)

    def _size(self, blob: str) -> int:
        """How many bytes a blob has; 0 for one that is not there."""
        return int(self._git("cat-file", "-s", blob, missing=(128,)) or 0)

    @property
    def parted(self) -> str:
        """The commit where the history of what is checked out and that of the revision part; mostly
        the revision itself.
        """
        if not self._parted:
            self._parted = (
                self._git("merge-base", self.commit, "HEAD", missing=(1, 128)).decode().strip()
                or self.commit
            )
        return self._parted

    def before(self, path: str) -> bytes | None:
        """The bytes that a file had when the histories parted; None when there was no such file, or
        too large a one.
        """
        relative = self._relative(path)
        if relative is None:
            return None
        blob = f"{self.parted}:{relative}"
        if not 0 < self._size(blob) <= _MAX_SIZE:
            return None
        return self._git("cat-file", "blob", blob, missing=(128,)) or None

    def changes(self, path: str) -> Rows:
        """The lines of a file on disk that changed since the revision or, where histories part,
        since they parted.

        Git is not asked to compare: for that it would run the filters that the repository names.
        """
        relative = self._relative(path)
        if relative is None:
            return Rows(everything=True)
        if relative not in self._changes:
            self._changes[relative] = self._changed(path, relative)
        return self._changes[relative]

    def _changed(self, path: str, relative: str) -> Rows:
        name = os.fsencode(relative)
        blob = self._blobs.get(name)
        if blob is None:
            return Rows(everything=name in self._listed)
        data = WorkTree().read(path)
        if data is None or blob == _blob_name(data, len(blob)):
            return Rows()
        if self._size(blob) > _MAX_SIZE:
            return Rows(everything=True)
        return _changed_rows(self._git("cat-file", "blob", blob), data)

    @cached_property
    def _blobs(self) -> dict[bytes, str]:
        """The regular files where the histories parted, each with the name of its content."""
        listing = self._git("ls-tree", "-r", "-z", "--full-tree", self.parted).split(b"\0")
        entries = (entry.partition(b"\t") for entry in listing if entry.startswith(b"100"))
        return {name: head.split()[2].decode() for head, _, name in entries}

    @cached_property
    def _listed(self) -> frozenset[bytes]:
        """The files that Git tracks, and those that it would."""
        kinds = ("--cached", "--others", "--exclude-standard")
        return frozenset(self._git("-C", self.top, "ls-files", *kinds, "-z").split(b"\0"))


@dataclass(slots=True)
class Rows:
    """1-based lines of a file; or all of them."""

    rows: set[int] = field(default_factory=set)
    everything: bool = False

    def meets(self, first: int, last: int) -> bool:
        """Whether one of the lines from `first` to `last` is among them."""
        return self.everything or any(row in self.rows for row in range(first, last + 1))

    def __bool__(self) -> bool:
        return self.everything or bool(self.rows)


def _blob_name(data: bytes, length: int) -> str:
    """The name that Git gives a content; `length` tells which hash the repository uses."""
    import hashlib

    state = hashlib.sha1(usedforsecurity=False) if length == 40 else hashlib.sha256()
    state.update(b"blob %d\0" % len(data) + data)
    return state.hexdigest()


def _changed_rows(before: bytes, after: bytes) -> Rows:
    """The lines of `after` that are not those of `before`. Where lines were only taken out, the
    next one counts. Line ends do not count: Git may have changed them.
    """
    old, new = _lines(before), _lines(after)
    rows: set[int] = set()
    start = 0, 0
    for end in (*_landmarks(old, new), (len(old), len(new))):
        parts = old[start[0] : end[0]], new[start[1] : end[1]]
        rows.update(start[1] + row for row in _changed_part(*parts))
        start = end
    return Rows(rows)


def _changed_part(old: list[bytes], new: list[bytes]) -> set[int]:
    """The rows of `new`, from 1, that are not lines of `old`; what both begin and end with is left
    out before they are compared.
    """
    start = len(os.path.commonprefix([old, new]))
    end = len(os.path.commonprefix([old[start:][::-1], new[start:][::-1]]))
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    rows: set[int] = set()
    if _pairs(left, right) > _MAX_PAIRS:
        return set(range(start + 1, start + len(right) + 1))
    import difflib

    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for tag, _, _, first, last in matcher.get_opcodes():
        if tag != "equal":
            rows.update(range(start + first + 1, start + max(last, first + 1) + 1))
    return rows


def _pairs(old: list[bytes], new: list[bytes]) -> int:
    """How many pairs of equal lines there are, one of each text."""
    counts = Counter(old)
    return sum(counts[line] for line in new)


def _landmarks(old: list[bytes], new: list[bytes]) -> list[tuple[int, int]]:
    """Rows of lines that stand once in each text, as many as are in the same order in both. Texts
    that cost little to compare need none.
    """
    if _pairs(old, new) <= _MAX_PAIRS:
        return []
    in_old, in_new = Counter(old), Counter(new)
    rows = {line: row for row, line in enumerate(new) if in_new[line] == in_old[line] == 1}
    return _longest_rise([(row, rows[line]) for row, line in enumerate(old) if line in rows])


def _longest_rise(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most of some pairs, in their order, whose second numbers rise."""
    ends: list[int] = []  # of the rises of each length: the least last number
    last: list[int] = []  # and the index of its pair
    before: list[int] = []  # of each pair: the index of the one in front of it
    for index, (_, number) in enumerate(pairs):
        length = bisect_left(ends, number)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [number]
        last[length : length + 1] = [index]
    index = last[-1] if last else -1
    rise = []
    while index >= 0:
        rise.append(pairs[index])
        index = before[index]
    return rise[::-1]


def _lines(data: bytes) -> list[bytes]:
    return data.replace(b"\r\n", b"\n").split(b"\n")
