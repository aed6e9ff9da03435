"""Where a scan finds repositories: Parquet, folders, archives, git repositories.

`references` lists what there is without its content, in an order that depends on the input alone.
A reference can be pickled; the process that checks it loads the content.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from tfnanlint.batch import Repository
from tfnanlint.scan.collect import Columns, InputError, Reference
from tfnanlint.scan.git import commit_of, is_bare, load_git
from tfnanlint.scan.parquet import load_loose, load_rows, parquet_files, row_references
from tfnanlint.scan.trees import archive_kind, load_folder, load_tar, load_zip

__all__ = ["Columns", "InputError", "Reference", "load", "references", "shard_of"]

HEAD = "HEAD"
_GROUPS = 3  # folders that bare repositories may lie deep: group/subgroup/name.git


def references(
    inputs: list[str], columns: Columns = Columns(), each: bool = False, revision: str = ""
) -> list[Reference]:
    """All repositories of the inputs, each under a name of its own.

    A Parquet file, or a folder of such files alone, holds rows; any other folder, an archive or a
    bare git repository is one repository. With `each`, the folders, archives and git repositories
    in a folder are one each. With a `revision`, a folder with a `.git` is read from there. Raises
    `InputError`.
    """
    tables: dict[str, None] = {}  # rows of one repository may lie in files of several inputs
    listed: list[Reference] = []
    for path in inputs:
        if not os.path.exists(path):
            raise InputError(f"{path}: there is no such file or folder")
        top = os.path.abspath(path)
        parquets = parquet_files(top)
        if parquets:
            tables.update(dict.fromkeys(parquets))
        elif each and os.path.isdir(top):
            for entry in _entries(top):
                name = os.path.relpath(entry, top).replace(os.sep, "/")
                listed.append(_reference(entry, name, revision))
        else:
            listed.append(_reference(top, os.path.basename(top), revision))
    rows = row_references(list(tables), columns) if tables else []
    return _named_apart(rows, listed)


def _entries(folder: str, depth: int = _GROUPS) -> Iterator[str]:
    """What is a repository in a folder of many; a folder of bare repositories is a group."""
    for name in sorted(os.listdir(folder)):
        entry = os.path.join(folder, name)
        if archive_kind(entry):
            yield entry
        elif os.path.isdir(entry):
            if not is_bare(entry) and _is_group(entry, depth):
                yield from _entries(entry, depth - 1)
            else:
                yield entry


def _is_group(folder: str, depth: int) -> bool:
    """Whether a folder holds bare repositories and nothing else, at some depth."""
    if not depth:
        return False
    entries = [os.path.join(folder, name) for name in os.listdir(folder)]
    return bool(entries) and all(
        os.path.isdir(entry) and (is_bare(entry) or _is_group(entry, depth - 1))
        for entry in entries
    )


def _reference(path: str, name: str, revision: str) -> Reference:
    if os.path.isdir(path):
        hidden = os.path.join(path, ".git")
        if is_bare(path) or (revision and is_bare(hidden)):
            source = path if is_bare(path) else hidden
            commit = commit_of(source, revision or HEAD)
            name = name.removesuffix("/.git").removesuffix(".git")
            return Reference("git", source, name, commit, stamp=commit)
        return Reference("folder", path, name)
    kind = archive_kind(path)
    if not kind:
        raise InputError(f"{path}: neither Parquet, a folder, an archive nor a git repository")
    return Reference(kind, path, name, stamp=str(os.path.getsize(path)))


def _named_apart(rows: list[Reference], listed: list[Reference]) -> list[Reference]:
    """All references, under names that differ: those that share one say the folder before it."""
    counts = Counter(reference.key for reference in [*rows, *listed])
    apart = list(rows)
    taken = {reference.key for reference in rows}
    for reference in listed:
        if counts[reference.key] > 1:
            folder = os.path.dirname(reference.source.removesuffix(os.sep + ".git"))
            reference = replace(reference, name=f"{os.path.basename(folder)}/{reference.name}")
        if reference.key in taken:
            raise InputError(f"{reference.source}: a second repository named {reference.name}")
        taken.add(reference.key)
        apart.append(reference)
    return apart


def shard_of(reference: Reference, count: int) -> int:
    """Which of `count` shards a repository belongs to: always the same one, on each machine."""
    digest = hashlib.blake2b(reference.key.encode("utf-8", "surrogateescape"), digest_size=8)
    return int.from_bytes(digest.digest(), "big") % count


def load(reference: Reference) -> Iterator[Repository]:
    """The repositories that a reference means: one, or one a loose file. Raises OSError and
    `InputError`.
    """
    yield from _LOADERS[reference.kind](reference)


_LOADERS = {
    "rows": load_rows,
    "loose": load_loose,
    "folder": load_folder,
    "tar": load_tar,
    "zip": load_zip,
    "git": load_git,
}
