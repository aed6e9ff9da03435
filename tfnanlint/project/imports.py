"""Which files of a program import which, by the dotted names of their import statements."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import Any, Final

from tfnanlint.project.reach import Program, stem_of
from tfnanlint.syntax.nodes import nodes_in

_IMPORTS: Final = frozenset((ast.Import, ast.ImportFrom))
_INIT: Final = "__init__.py"
_MOVES: Final = b"sys.path.insert"  # where modules are looked for, before all else


class Imports:
    """The import statements of the files of a program. Where several files may be meant, all of
    them are; a file that cannot be parsed imports all whose names stand in it.
    """

    def __init__(self, program: Program):
        self._program = program
        self._importers: dict[str, frozenset[str]] = {}
        self._named: dict[str, list[str]] = {}
        for path in program.texts:
            self._named.setdefault(stem_of(path), []).append(path)
        # the dotted names of all files and folders, by their last words
        self._modules: dict[str, set[str]] = {}
        for path in program.texts:
            words = os.path.splitext(os.path.relpath(path, program.top))[0].split(os.sep)
            for count in range(1, len(words) + 1):
                self._modules.setdefault(words[count - 1], set()).add(".".join(words[:count]))
        self._moves = any(_MOVES in data for data in program.texts.values())

    def importers(self, path: str) -> frozenset[str]:
        """The files that may import a file, or something that stands in it."""
        if path not in self._importers:
            self._importers[path] = frozenset(self._find_importers(path))
        return self._importers[path]

    def all_importers(self, path: str, limit: int) -> set[str] | None:
        """A file and all that may import it, or a file that does; None where they are more than
        some limit.
        """
        reached = {path}
        queue = [path]
        while queue:
            more = self.importers(queue.pop()) - reached
            reached |= more
            queue += more
            if len(reached) > limit:
                return None
        return reached

    def _find_importers(self, path: str) -> Iterator[str]:
        stem = stem_of(path)
        for importer in self._program.may_import(stem):
            if importer != path and self._may_import(importer, path, stem):
                yield importer
        if os.path.basename(path) == _INIT:  # `from . import name` does not name the folder
            inside = os.path.dirname(path) + os.sep
            yield from [one for one in self._program.texts if one != path and inside in one]

    def _may_import(self, importer: str, path: str, stem: str) -> bool:
        outline = self._program.outline(importer)
        return not outline.is_parsed or any(
            path in self._files(importer, getattr(node, "level", 0), parts)
            for node in nodes_in(outline.tree)
            if type(node) in _IMPORTS
            for parts in _parts(node, stem)
        )

    def _files(self, importer: str, level: int, parts: list[str]) -> list[str]:
        """The files that a dotted name may lead to: seen from the folder of the importer and from
        those around it; where that leads to none, all that have the last name.
        """
        named = self._named[parts[-1]]
        folder = _above(os.path.dirname(importer), level - 1)
        folders = [folder] if level else _around(folder, self._program.top)
        places = {
            place
            for one in folders
            for base in [os.path.join(one, *parts)]
            for place in (f"{base}.py", os.path.join(base, _INIT))
        }
        near = [] if self._moves else [path for path in named if path in places]
        return near or _longest(named, parts)

    def unseen(self, path: str) -> set[str]:
        """The packages from which a file imports what no file of the program holds: "." for its
        own, and where the file cannot be parsed.
        """
        outline = self._program.outline(path)
        packages = set() if outline.is_parsed else {"."}
        for node in nodes_in(outline.tree):
            if type(node) is ast.Import:
                dotted = [alias.name for alias in node.names]
                packages.update(name.split(".")[0] for name in dotted if not self._has(name))
            elif type(node) is ast.ImportFrom and node.level == 0:
                module = node.module or ""
                packages.update([] if self._has(module) else [module.split(".")[0]])
            elif type(node) is ast.ImportFrom and node.module:
                folder = _above(os.path.dirname(path), node.level - 1)
                module = os.path.relpath(folder, self._program.top).replace(os.sep, ".")
                packages.update([] if self._has(f"{module}.{node.module}".lstrip(".")) else ["."])
        return packages

    def _has(self, module: str) -> bool:
        """Whether a dotted name is that of a file of the program or of a folder, from the top of
        the project or from any folder in it.
        """
        return any(
            f".{one}.".endswith(f".{module}.")
            for one in self._modules.get(module.rpartition(".")[2], ())
        )


def _parts(node: Any, stem: str) -> Iterator[list[str]]:
    """The dotted names of an import statement up to a word, wherever that is part of them."""
    module = getattr(node, "module", None)
    before = module.split(".") if module else []
    for alias in node.names:
        parts = [*before, *alias.name.split(".")]
        yield from [parts[: place + 1] for place, part in enumerate(parts) if part == stem]


def _longest(paths: list[str], parts: list[str]) -> list[str]:
    """Those of some paths that end in most of a dotted name."""
    most = max([_common(path, parts) for path in paths])
    return [path for path in paths if _common(path, parts) == most]


def _common(path: str, parts: list[str]) -> int:
    """How many of the last words of a dotted name are those of a path."""
    folder = os.path.dirname(path) if os.path.basename(path) == _INIT else os.path.splitext(path)[0]
    words = folder.split(os.sep)
    count = 0
    while count < min(len(words), len(parts)) and words[-1 - count] == parts[-1 - count]:
        count += 1
    return count


def _above(folder: str, count: int) -> str:
    """The folder that lies so many folders further up."""
    for _ in range(count):
        folder = os.path.dirname(folder)
    return folder


def _around(folder: str, top: str) -> list[str]:
    """A folder and those around it, up to the top of the project."""
    folders = [folder]
    while folders[-1] != top and len(folders[-1]) > len(top):
        folders.append(os.path.dirname(folders[-1]))
    return folders
