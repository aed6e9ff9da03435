"""Writing a fixed file: whole or not at all, only over what was read, and only inside the
project.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from contextlib import suppress

from tfnanlint.syntax.encodings import decode, encode, fixable
from tfnanlint.syntax.source import Source, Unreadable

_VERSION_CONTROL = frozenset((".git", ".hg", ".svn", ".jj", ".bzr"))
PREFIX, SUFFIX = ".tfnanlint-", ".tmp"
# A file that is being written exists for milliseconds; one this old was left by a run that was
# killed.
LEFT_BEHIND = 60.0


class Refused(Exception):
    """A file was not written, and is as it was unless the message says otherwise; the message says
    why.
    """


def encoded(source: Source, data: bytes, text: str) -> bytes:
    """The bytes to write for a new text of a source that was read from `data`.

    Raises `Refused` when the encoding cannot be written back faithfully, or would be read
    differently afterwards.
    """
    if not fixable(source.encoding):
        raise Refused(
            f"its encoding {source.encoding} cannot be written back without changing its meaning"
        )
    try:
        if encode(source.text, source.encoding) != data:
            raise Refused("its bytes are not what its text encodes to")
        new = encode(text, source.encoding)
        if decode(new) != (text, source.encoding):
            raise Refused("it would be read in another encoding")
    except UnicodeEncodeError:
        raise Refused(f"the new text does not fit its encoding {source.encoding}") from None
    except Unreadable as error:
        raise Refused(str(error)) from None
    return new


def write(path: str | os.PathLike, expected: bytes, new: bytes, root: str | os.PathLike) -> None:
    """Replace the content `expected` of a file under `root` by `new`.

    The new content is written beside the file, read back and moved over it in one step; mode,
    owner, extended attributes and hard links are kept. Raises `Refused` when the file is not a
    regular, writable file inside `root` once links are followed, when it no longer holds
    `expected`, and when the disk does not take it.
    """
    try:
        real = _inside(path, root)
        status = _check(real, expected)
        _sweep(os.path.dirname(real))
        _replace(real, status, expected, new)
    except OSError as error:
        raise Refused(_reason(error)) from None


def create(path: str | os.PathLike, new: bytes) -> None:
    """Write a file that is not there yet, whole or not at all. Raises `Refused`."""
    directory = os.path.dirname(os.path.abspath(path))
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=directory)
        with open(handle, "w+b") as file:
            _store(file, new)
            os.chmod(temporary, 0o666 & ~_umask())
        _link(temporary, path)
        _sync_directory(directory)
    except FileExistsError:
        raise Refused("it came to be meanwhile") from None
    except OSError as error:
        raise Refused(_reason(error)) from None
    finally:
        if temporary:
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def _link(temporary: str, path: str | os.PathLike) -> None:
    """Give a file its name, which nothing may have yet: unlike a move, a link replaces nothing."""
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
            raise
        if os.path.lexists(path):  # a file system without hard links
            raise FileExistsError(path) from None
        os.rename(temporary, path)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "there is no space for it on the disk"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "the permission for it, or for its directory, is missing"
    return f"the system says: {error.strerror}"


def _inside(path: str | os.PathLike, root: str | os.PathLike) -> str:
    """The real path of a file. A link may lead anywhere within the project, but not out of it."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    if not _under(top, real):
        linked = _under(os.path.abspath(root), os.path.abspath(path))
        raise Refused(
            "a link leads out of the project" if linked else "it is outside of the project"
        )
    if in_version_control(os.path.relpath(real, top)):
        raise Refused("it belongs to the version control of the project")
    return real


def in_version_control(path: str) -> bool:
    """Whether a path leads into a folder of version control, whose name is the same in capitals on
    some systems.
    """
    folders = os.path.dirname(path).split(os.sep)
    return not _VERSION_CONTROL.isdisjoint([name.lower() for name in folders])


def _under(top: str, path: str) -> bool:
    try:
        return os.path.commonpath([top, path]) == top
    except ValueError:
        return False  # Different drives.


def _check(real: str, expected: bytes) -> os.stat_result:
    """The file's status, once it is known to be a regular, writable file that holds `expected`."""
    _check_regular(os.lstat(real))
    # Between the look and the opening it may have become a link or a pipe: neither is followed, nor
    # waited for.
    flags = (
        os.O_RDONLY
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_NONBLOCK", 0)
        | getattr(os, "O_BINARY", 0)
    )
    with open(os.open(real, flags), "rb") as file:
        status = os.fstat(file.fileno())
        _check_regular(status)
        if not os.access(real, os.W_OK):
            raise Refused("it is read-only")
        if status.st_size != len(expected) or file.read(len(expected) + 1) != expected:
            raise Refused("it changed after it was read")
    return status


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Refused("it is not a regular file")


def _sweep(directory: str) -> None:
    """Remove temporary files that an earlier run left when it was killed."""
    with os.scandir(directory) as entries:
        for entry in entries:
            if not (entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX)):
                continue
            with suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                own = stat.S_ISREG(status.st_mode) and (
                    not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
                )
                if own and time.time() - status.st_mtime > LEFT_BEHIND:
                    os.unlink(entry.path)


def _replace(real: str, status: os.stat_result, expected: bytes, new: bytes) -> None:
    directory, name = os.path.split(real)
    rescue = os.path.join(directory, f"{PREFIX}{name}.rescue")
    _check_rescue(rescue, expected)
    handle, temporary = tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=directory)
    try:
        with open(handle, "w+b") as file:
            _store(file, new)
            movable = status.st_nlink == 1 and _dress(file.fileno(), temporary, real, status)
        now = _check(real, expected)
        if (now.st_dev, now.st_ino, now.st_mtime_ns) != (
            status.st_dev,
            status.st_ino,
            status.st_mtime_ns,
        ):
            raise Refused("it changed while it was being written")
        os.replace(temporary, real if movable else rescue)
        temporary = ""
        _sync_directory(directory)
    finally:
        if temporary:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
    if not movable:
        _overwrite(real, expected, new, rescue)


def _check_rescue(rescue: str, content: bytes) -> None:
    """Remove the copy that an interrupted `_overwrite` left if the file holds the same; else a
    person must judge.
    """
    if not os.path.lexists(rescue):
        return
    _check_regular(os.lstat(rescue))
    with open(rescue, "rb") as file:
        if file.read() != content:
            raise Refused(
                "an earlier run was stopped while writing it; its whole new content is in"
                f" {rescue}: compare the two, and delete the copy"
            )
    os.unlink(rescue)


def _store(file, content: bytes) -> None:
    """Write the whole content, bring it to the disk, and read it back."""
    file.write(content)
    file.truncate()
    file.flush()
    os.fsync(file.fileno())
    file.seek(0)
    if file.read() != content:
        raise OSError(errno.EIO, "the content read back is not what was written")


def _dress(handle: int, temporary: str, real: str, status: os.stat_result) -> bool:
    """Give a new file the owner, attributes and mode of the old one; False when that is not
    permitted.
    """
    created = os.fstat(handle)
    try:
        if hasattr(os, "fchown") and (created.st_uid, created.st_gid) != (
            status.st_uid,
            status.st_gid,
        ):
            os.fchown(handle, status.st_uid, status.st_gid)
        for attribute in _attributes(real):
            os.setxattr(handle, attribute, os.getxattr(real, attribute, follow_symlinks=False))
        # Last, for a change of owner takes away special bits.
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES, errno.ENOTSUP):
            return False
        raise
    return True


def _attributes(real: str) -> list[str]:
    if not hasattr(os, "listxattr"):
        return []
    try:
        return os.listxattr(real, follow_symlinks=False)
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return []
        raise


def _overwrite(real: str, expected: bytes, new: bytes, rescue: str) -> None:
    """Write into the file itself, as its other links or its owner demand; meanwhile `rescue` has
    the new content.
    """
    done = False
    with open(real, "r+b", buffering=0) as file:
        try:
            _reserve(file.fileno(), len(new))
            _fill(file, new)
            done = True
        finally:
            if not done:
                _restore(file, expected, rescue)
            os.unlink(rescue)


def _restore(file, expected: bytes, rescue: str) -> None:
    try:
        _fill(file, expected)
    except OSError as error:
        raise Refused(
            f"writing it failed half-way ({error.strerror}); its whole new content is in {rescue}"
        ) from None


def _reserve(handle: int, size: int) -> None:
    """Find out about a full disk before a byte is changed, on file systems that can tell."""
    if not hasattr(os, "posix_fallocate") or not size:
        return
    try:
        os.posix_fallocate(handle, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise


def _fill(file, content: bytes) -> None:
    file.seek(0)
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]
    file.truncate(len(content))
    os.fsync(file.fileno())


def _sync_directory(directory: str) -> None:
    """Make the move itself last through a power cut, where directories can be opened."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
