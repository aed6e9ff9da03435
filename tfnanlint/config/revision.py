"""The files that steer a run, as they are on disk or as they were in a git revision; and which
lines changed since one.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import dataclass, field

from tfnanlint.config.keys import ConfigError

_MAX_SIZE = 64 << 20
_HUNK = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {
    b"n": b"\n",
    b"t": b"\t",
    b"r": b"\r",
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"v": b"\v",
}


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
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ConfigError(f"{path}: cannot be read: not a regular file")
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ConfigError(f"{path}: not read: larger than {limit >> 20} MiB")
        return data


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
        self._changes: dict[str, Rows] | None = None

    def _git(self, *arguments: str, missing: tuple[int, ...] = ()) -> bytes:
        """What a git command prints; b"" when it ends with one of the `missing` codes."""
        import subprocess

        # A repository's own configuration must not have programs run for reading it.
        command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments]
        environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command,
                cwd=self._directory,
                env=environment,
                capture_output=True,
                stdin=subprocess.DEVNULL,
            )
        except FileNotFoundError:
            raise ConfigError(f"{self._flag}: git is not installed") from None
        if done.returncode and done.returncode not in missing:
            said = (
                done.stderr.decode("utf-8", "replace")
                .strip()
                .removeprefix("fatal: ")
                .partition("\n")[0]
            )
            raise ConfigError(f"{self._flag} {self.name}: {said or 'git knows no such revision'}")
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
        data = self._git("cat-file", "blob", f"{self.commit}:{relative}")
        if len(data) > limit:
            raise ConfigError(f"{path} in {self.name}: not read: larger than {limit >> 20} MiB")
        return data

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
        """The bytes that a file had when the histories parted; None when there was no such file."""
        relative = self._relative(path)
        return (
            None
            if relative is None
            else self._git("cat-file", "blob", f"{self.parted}:{relative}", missing=(128,)) or None
        )

    def changes(self, path: str) -> Rows:
        """The lines of a file on disk that changed since the revision or, where histories part,
        since they parted.
        """
        if self._changes is None:
            self._changes = self._changed()
        relative = self._relative(path)
        return Rows(everything=True) if relative is None else self._changes.get(relative, Rows())

    def _changed(self) -> dict[str, Rows]:
        patch = self._git(
            "diff",
            "--unified=0",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            "--ignore-submodules",
            "--no-relative",
            "--text",
            self.parted,
            "--",
        )
        found = _changed_rows(patch)
        # Untracked files are listed from the directory that git runs in.
        new = self._git("-C", self.top, "ls-files", "--others", "--exclude-standard", "-z").split(
            b"\0"
        )
        found.update((os.fsdecode(name), Rows(everything=True)) for name in new if name)
        return found


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


def _changed_rows(patch: bytes) -> dict[str, Rows]:
    """The changed lines of each file of a patch without context. Where lines were only taken out,
    the next one counts.
    """
    found: dict[str, Rows] = {}
    rows = Rows()
    left = 0  # lines of the hunk still to come: they can look like anything
    for line in patch.split(b"\n"):
        if left and line[:1] in (b"+", b"-"):
            left -= 1
        elif line.startswith(b"+++ "):
            rows = found.setdefault(_patch_name(line[4:]), Rows())
        elif match := _HUNK.match(line):
            start, count = int(match[1]), int(match[2] or 1)
            rows.rows.update(range(start, start + count) if count else (start + 1,))
            removed = re.match(rb"@@ -\d+(?:,(\d+))?", line)
            left = count + int(removed[1] or 1)
    return found


def _patch_name(name: bytes) -> str:
    name = name.rstrip(b"\t")  # git ends a name with spaces by a tab
    if name.startswith(b'"'):
        name = _ESCAPE.sub(_unescaped, name[1:-1])
    return os.fsdecode(name.removeprefix(b"b/"))


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if len(code) == 3 else _ESCAPED.get(code, code)
