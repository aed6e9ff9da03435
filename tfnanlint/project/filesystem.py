"""Where the files of a project are read: on the disk, or from memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from typing import Final

from tfnanlint.conventions.files import is_passed_over, is_readme, lists_requirements

SOURCES: Final = (".py",)
# What stands at the top of a repository, or of an archive of one.
_TOP: Final = (".git", ".hg")
_PAPERS: Final = ("readme", "license", "requirements.txt", "setup.py", "pyproject.toml")
_MAX_GAP: Final = 2  # folders without files of a project between two with some

Stamp = tuple[int, ...]  # differs when the file differs; its second item is the size in bytes


class FileSystem:
    """What the analysis asks of the files around a linted one. Paths are absolute."""

    def is_file(self, path: str) -> bool:
        """Whether a regular file is there; links are followed."""
        raise NotImplementedError

    def stamp(self, path: str) -> Stamp | None:
        """What changes with a file; None where there is none."""
        raise NotImplementedError

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises OSError."""
        raise NotImplementedError

    def sources_below(self, top: str, suffixes: tuple[str, ...] = SOURCES) -> Iterator[str]:
        """The Python files below a folder in the order of their paths, or those with some other
        endings; links are left out.
        """
        raise NotImplementedError

    def sources_in(self, directory: str) -> list[str]:
        """The Python files directly in a folder, sorted; links are left out."""
        raise NotImplementedError

    def papers_in(self, directory: str) -> list[str]:
        """The files directly in a folder that say what its programs need, sorted."""
        raise NotImplementedError

    def project_around(self, directory: str) -> str:
        """The top folder of the project that a folder belongs to."""
        raise NotImplementedError


class Disk(FileSystem):
    """The files of this machine."""

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def stamp(self, path: str) -> Stamp | None:
        try:
            status = os.stat(path)
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino)

    def read(self, path: str) -> bytes:
        # whole trees are read: a buffer would take as long as the file
        with open(path, "rb", buffering=0) as file:
            return file.readall()

    def sources_below(self, top: str, suffixes: tuple[str, ...] = SOURCES) -> Iterator[str]:
        for directory, folders, names in os.walk(top):
            folders[:] = sorted(f for f in folders if not is_passed_over(f))
            for name in sorted(names):
                path = os.path.join(directory, name)
                if name.endswith(suffixes) and not os.path.islink(path):
                    yield path

    def sources_in(self, directory: str) -> list[str]:
        try:
            names = sorted(name for name in os.listdir(directory) if name.endswith(".py"))
        except OSError:
            return []
        paths = [os.path.join(directory, name) for name in names]
        return [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]

    def papers_in(self, directory: str) -> list[str]:
        return [
            os.path.join(directory, name) for name in sorted(_names(directory)) if _is_paper(name)
        ]

    def project_around(self, directory: str) -> str:
        """The folder of the repository; without one the outermost that holds files of a project,
        a README or sources, with few others between.
        """
        repository = _repository_around(directory)
        if repository:
            return repository
        outermost, gap, folder = directory, 0, directory
        home = os.path.expanduser("~")
        while gap <= _MAX_GAP and folder not in (home, os.path.dirname(folder)):
            names = _names(folder)
            is_paper = any(name.lower().startswith(_PAPERS) for name in names)
            is_source = gap == 0 and any(name.endswith(SOURCES) for name in names)
            gap = 0 if is_paper or is_source else gap + 1
            outermost = folder if gap == 0 else outermost
            folder = os.path.dirname(folder)
        return outermost


class Memory(FileSystem):
    """Files that are held as bytes, by absolute path. Nothing is read from the disk."""

    def __init__(self, files: Mapping[str, bytes]):
        self._files = files
        self._sorted = sorted(files, key=_walked)
        self._sources = [path for path in self._sorted if path.endswith(SOURCES)]

    def is_file(self, path: str) -> bool:
        return path in self._files

    def stamp(self, path: str) -> Stamp | None:
        data = self._files.get(path)
        return None if data is None else (hash(data), len(data))

    def read(self, path: str) -> bytes:
        try:
            return self._files[path]
        except KeyError:
            raise FileNotFoundError(path) from None

    def sources_below(self, top: str, suffixes: tuple[str, ...] = SOURCES) -> Iterator[str]:
        start = top.rstrip(os.sep) + os.sep
        for path in self._sources if suffixes == SOURCES else self._sorted:
            if not path.endswith(suffixes):
                continue
            folders = path[len(start) :].split(os.sep)[:-1] if path.startswith(start) else None
            if folders is not None and not any(map(is_passed_over, folders)):
                yield path

    def sources_in(self, directory: str) -> list[str]:
        start = directory.rstrip(os.sep) + os.sep
        return sorted(
            path
            for path in self._sources
            if path.startswith(start) and os.sep not in path[len(start) :]
        )

    def papers_in(self, directory: str) -> list[str]:
        paths = [path for path in self._sorted if os.path.dirname(path) == directory]
        return [path for path in paths if _is_paper(os.path.basename(path))]

    def project_around(self, directory: str) -> str:
        folders = {os.path.dirname(path) for path in self._files}
        return os.path.commonpath(folders) if folders else directory


def _is_paper(name: str) -> bool:
    return is_readme(name) or lists_requirements(name)


def _names(folder: str) -> set[str]:
    """What stands in a folder."""
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def _repository_around(folder: str) -> str:
    """The top folder of the repository around a folder; "" outside of one."""
    while not any(os.path.exists(os.path.join(folder, name)) for name in _TOP):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def _walked(path: str) -> tuple[tuple[bool, str], ...]:
    """Sorts paths as `os.walk` meets them: the files of a folder, then its folders."""
    *folders, name = path.split(os.sep)
    return (*((True, folder) for folder in folders), (False, name))
