"""Repositories in folders and in tar and zip archives, which are not unpacked to the disk."""

from __future__ import annotations

import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from tfnanlint.batch import SUFFIXES, Repository
from tfnanlint.scan.collect import PASSED, Collected, InputError, Reference, member_path

# What tarfile, zipfile and the decoders raise on damaged bytes, beside OSError.
_DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    EOFError,
    UnicodeDecodeError,  # a name in a zip that is marked as UTF-8
    lzma.LZMAError,
    zlib.error,
)


def archive_kind(path: str) -> str:
    """`zip` or `tar`, "" for what is no archive."""
    if not os.path.isfile(path):
        return ""
    if zipfile.is_zipfile(path):
        return "zip"
    try:
        return "tar" if tarfile.is_tarfile(path) else ""
    except EOFError:  # compressed, and cut off before the first member: it cannot be loaded
        return "tar"


def load_folder(reference: Reference) -> Iterator[Repository]:
    """The repository of a folder; links are not followed."""
    collected = Collected(reference.name)
    for directory, folders, names in os.walk(reference.source):
        folders[:] = sorted(name for name in folders if name not in PASSED)
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


@contextmanager
def _told(reference: Reference) -> Iterator[None]:
    """Raises `InputError` with the reason where an archive is damaged."""
    try:
        yield
    except _DAMAGE as error:
        raise InputError(f"{reference.source}: a broken archive ({error})") from error


def load_tar(reference: Reference) -> Iterator[Repository]:
    """The repository of a tar archive. Raises `InputError` where it is broken."""
    collected = Collected(reference.name)
    with _told(reference), tarfile.open(reference.source) as archive:
        for member in archive:
            path = member_path(member.name)
            if member.isfile() and path and collected.wants(path, member.size):
                stream = archive.extractfile(member)
                if stream is not None:
                    collected.take(path, stream)
    yield collected.repository()


def load_zip(reference: Reference) -> Iterator[Repository]:
    """The repository of a zip archive. Raises `InputError` where it is broken."""
    collected = Collected(reference.name)
    with _told(reference), _opened_zip(reference) as archive:
        for member in sorted(archive.infolist(), key=lambda item: item.filename):
            path = member_path(member.filename)
            if not path or member.is_dir() or not collected.wants(path, member.file_size):
                continue
            try:
                with archive.open(member) as stream:
                    collected.take(path, stream)
            except RuntimeError as error:  # encrypted, or an unknown method of compression
                collected.refuse(path, str(error))
    yield collected.repository()


def _opened_zip(reference: Reference) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(reference.source)
    except NotImplementedError as error:  # it needs a later version of the format
        raise InputError(f"{reference.source}: {error}") from error
