"""A file of results in the user's cache folder: bytes by key, shared by processes that run at once,
of bounded size.

Whatever happens to the file, the worst is that a result is not there. It holds bytes and nothing
that could be run. It lies in a folder that no other user can write to, for one who writes there can
have a finding left out.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL as well
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    import sqlite3

FOLDER, NAME = "results-1", "results.db"  # the number changes with the form of the file
MAX_BYTES = 128 << 20
WAIT = 5.0  # seconds for another process that is writing
_DAY = 24 * 60 * 60
_PENDING = 4 << 20  # bytes held before they are written
_MARK = 16  # bytes of the digest before each body
_TABLE = (
    "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, used INTEGER NOT NULL, body BLOB NOT"
    " NULL)"
)


def user_folder() -> str:
    """The folder for what can be made again, as each system has it."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        base = base if os.path.isabs(base) else "~/.cache"  # so the standard wants it
    return os.path.join(os.path.expanduser(base), "tfnanlint")


class Unusable(Exception):
    """Nothing can be kept in a folder, or it would not be safe; the message says why."""


class Store:
    """Bodies by keys, in a folder that is made when it is needed.

    Nothing is raised: what cannot be read is not there, and what cannot be written is lost.
    `problem` says why, if the folder is not safe, or the user has `named` it and it cannot be used.
    """

    def __init__(self, directory: str, named: bool = False):
        self.folder = os.path.join(directory, FOLDER)
        self.path = os.path.join(self.folder, NAME)
        self.problem = ""
        self._named = named
        self._connection: sqlite3.Connection | None = None
        self._readable = self._writable = True
        self._pending: dict[str, bytes] = {}
        self._held = 0
        self._touched: list[str] = []

    def get(self, key: str) -> bytes | None:
        """The body that was kept under a key."""
        if key in self._pending:
            return self._pending[key]
        row = self._asked(key) if self._readable else None
        if row is None or not isinstance(row[0], bytes) or not isinstance(row[1], int):
            return None
        body = row[0][_MARK:]
        if row[0][:_MARK] != _mark(key, body):
            return None
        if row[1] < time.time() - _DAY:
            self._touched.append(key)
        return body

    def put(self, entries: Mapping[str, bytes]) -> None:
        """Keep bodies. They are written when there are many, and by `close`."""
        self._pending.update(entries)
        self._held += sum(map(len, entries.values()))
        if self._held > _PENDING:
            self._flush()

    def close(self) -> None:
        """Write what is to be kept, and let go of the file; it can be used again."""
        self._flush()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _asked(self, key: str) -> tuple | None:
        try:
            return (
                self._opened()
                .execute("SELECT body, used FROM results WHERE key = ?", (key,))
                .fetchone()
            )
        except Exception as error:
            self._readable = False
            self._writable = self._failed(error)
            return None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            import sqlite3

            _prepare(self.folder)
            with suppress(PermissionError):  # a file that can only be read is good for that
                os.close(
                    os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
                )
            self._connection = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
            # After a loss of power the file may be broken. That is found out, and what was in it
            # can be made again.
            self._connection.execute("PRAGMA synchronous = OFF")
            self._connection.execute(_TABLE)
        return self._connection

    def _flush(self) -> None:
        if not self._writable or not (self._pending or self._touched):
            return
        now = int(time.time())
        rows = [(key, now, _mark(key, body) + body) for key, body in self._pending.items()]
        try:
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", rows)
            connection.executemany(
                "UPDATE results SET used = ? WHERE key = ?", [(now, key) for key in self._touched]
            )
            _evict(connection)
            connection.execute("COMMIT")
        except Exception as error:
            self._writable = False
            self._readable = not self._failed(error) and self._connection is not None
        self._pending.clear()
        self._touched.clear()
        self._held = 0

    def _failed(self, error: Exception) -> bool:
        """Whether the file was broken: it is taken away, and made anew. Notes other failures;
        raises what is none of a file.
        """
        import sqlite3

        if not isinstance(error, (sqlite3.Error, OSError, Unusable)):
            raise error
        if not isinstance(error, sqlite3.DatabaseError) or isinstance(
            error, sqlite3.OperationalError
        ):
            if self._named or isinstance(error, Unusable):
                self.problem = self.problem or str(error)
            return False
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        with suppress(OSError):
            os.remove(self.path)
        return True


def clear(directory: str) -> bool:
    """Take away what a store keeps in a folder, and the folder if nothing else is in it. Whether
    there was anything.

    Raises OSError.
    """
    folder = os.path.join(directory, FOLDER)
    if not os.path.isdir(folder) or os.path.islink(folder):
        return False
    names = [name for name in os.listdir(folder) if name.startswith(NAME)]
    for name in names:
        os.remove(os.path.join(folder, name))
    with suppress(OSError):  # what others have put there stays
        os.rmdir(folder)
        os.rmdir(directory)
    return bool(names)


def _mark(key: str, body: bytes) -> bytes:
    """What shows that a body is whole, and is that of its key."""
    return blake2b(body, digest_size=_MARK, key=key.encode()[:64]).digest()


def _evict(connection: sqlite3.Connection) -> None:
    """Make room by taking out what has not been used for the longest time."""
    while _used_bytes(connection) > MAX_BYTES:
        (count,) = connection.execute("SELECT count(*) FROM results").fetchone()
        connection.execute(
            "DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY used LIMIT ?)",
            (count // 4 + 1,),
        )


def _used_bytes(connection: sqlite3.Connection) -> int:
    (pages,), (free,), (size,) = (
        connection.execute(f"PRAGMA {name}").fetchone()
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _prepare(folder: str) -> None:
    """Make a folder that is the user's alone. Raises `Unusable` or OSError."""
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise Unusable(f"{folder} is no folder")
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise Unusable(f"{folder} belongs to another user")
    if sys.platform != "win32" and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Unusable(f"other users can write to {folder}")
