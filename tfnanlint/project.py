"""Imports inside the linted project: from a dotted name to the file on disk that it means.

Files are read and parsed when a value is asked for, never imported. What is found depends on the files alone, not on
which of them are linted together.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tfnanlint.source import Source, Unreadable

if TYPE_CHECKING:
    from tfnanlint.module import Module

MAX_FILE_BYTES = 1 << 20  # larger files are generated tables: reading them costs more than they tell
MAX_SOURCES = 48  # parsed files kept for the next question
MAX_HOPS = 6  # re-exports followed from one import
# Distributions that are never part of the linted project, whatever lies beside it.
_FOREIGN = frozenset("tensorflow keras numpy scipy math os sys typing abc collections functools absl gin six tf_keras "
                     "tensorflow_probability tensorflow_datasets torch jax pandas matplotlib sklearn".split())

_sources: OrderedDict[str, tuple[tuple, Source | None]] = OrderedDict()


def source_of(path: str) -> Source | None:
    """The parsed source of a file, kept while the file does not change; None when it cannot be read or parsed."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
    kept = _sources.get(path)
    if kept is not None and kept[0] == stamp:
        _sources.move_to_end(path)
        return kept[1]
    source = _read(path) if status.st_size <= MAX_FILE_BYTES else None
    _sources[path] = (stamp, source)
    if len(_sources) > MAX_SOURCES:
        _sources.popitem(last=False)
    return source


def _read(path: str) -> Source | None:
    try:
        with open(path, "rb") as file:
            source = Source.from_bytes(path, file.read())
        source.tree  # parsed now, so that a broken file is simply not known
    except (OSError, Unreadable):
        return None
    return source


@lru_cache(maxsize=4096)
def _is_file(path: str) -> bool:
    return os.path.isfile(path)


@lru_cache(maxsize=4096)
def _package_root(directory: str) -> tuple[str, str]:
    """The folder above the outermost package around a folder, and the package's dotted name from there."""
    parts: list[str] = []
    while _is_file(os.path.join(directory, "__init__.py")):
        directory, name = os.path.split(directory)
        if not name:
            break
        parts.append(name)
    return directory, ".".join(reversed(parts))


class Project:
    """The files around one linted file; modules are made anew for every linted file, so that answers do not depend on order."""

    def __init__(self, path: str):
        self.path = os.path.abspath(path) if path and path != "-" else ""
        self.modules: dict[str, Any] = {}
        self.busy: set[str] = set()

    def module(self, path: str) -> Module | None:
        """The module of a file, walked at its top level."""
        if path == self.path or path in self.busy:
            return self.modules.get(path)
        if path not in self.modules:
            from tfnanlint.module import Module

            source = source_of(path)
            self.busy.add(path)
            try:
                self.modules[path] = Module(source, self) if source is not None else None
            except RecursionError:
                self.modules[path] = None
            finally:
                self.busy.discard(path)
        return self.modules[path]

    def find(self, dotted: str, level: int, importer: str) -> tuple[Module | None, str]:
        """The module an import path leads into, and the rest of the path inside it; (None, "") when outside."""
        if not self.path or not importer:
            return None, ""
        directory = os.path.dirname(os.path.abspath(importer))
        if level:
            for _ in range(level - 1):
                directory = os.path.dirname(directory)
            return self._descend(directory, dotted)
        root, package = _package_root(directory)
        first = dotted.split(".", 1)[0]
        if first in _FOREIGN and package.split(".", 1)[0] != first:
            return None, ""
        found = self._descend(root, dotted)
        return found if found[0] is not None or root == directory else self._descend(directory, dotted)

    def _descend(self, directory: str, dotted: str) -> tuple[Module | None, str]:
        parts = dotted.split(".") if dotted else []
        for count in range(len(parts), -1, -1):
            base = os.path.join(directory, *parts[:count])
            for path in ((base + ".py", os.path.join(base, "__init__.py")) if count else (os.path.join(base, "__init__.py"),)):
                if _is_file(path):
                    module = self.module(path)
                    if module is not None:
                        return module, ".".join(parts[count:])
        return None, ""
