"""Which files of a program import which, directly or through others, and what they import that no
file of the program holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from tfnanlint.project.outline_entries import Import
from tfnanlint.project.programs import INIT, Program, stem_of, words_of

_MAX_READERS: Final = 200  # files that import a file, also through others


class Imports:
    """The import statements of the files of a program. Where several files may be meant, all of
    them are; a file that cannot be parsed imports all whose names stand in it.
    """

    def __init__(self, program: Program):
        self._program = program
        self._importers: dict[str, frozenset[str]] = {}
        # the dotted names of all files and folders, by their last words
        self._modules: dict[str, set[str]] = {}
        for path in program.texts:
            words = os.path.splitext(os.path.relpath(path, program.top))[0].split(os.sep)
            for count in range(1, len(words) + 1):
                self._modules.setdefault(words[count - 1], set()).add(".".join(words[:count]))

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

    def may_be_read(self, path: str, name: str) -> bool:
        """Whether another file may read a name that a file binds outside of its functions: one that
        may import the file, or import that, and names it or finds names by text.
        """
        program = self._program
        if program.finds_any or program.may_find(path):
            return True
        importers = self.all_importers(path, _MAX_READERS)
        if importers is None:
            return True
        others = importers - {path}
        if not others:
            return False
        by_text = program.looks_up or program.gets_attributes or program.copies_attributes
        return by_text or not others.isdisjoint(program.holding(name))

    def _find_importers(self, path: str) -> Iterator[str]:
        for importer in self._program.may_import(stem_of(path)):
            if importer != path and self._may_import(importer, path):
                yield importer
        if os.path.basename(path) == INIT:  # `from . import name` does not name the folder
            inside = os.path.dirname(path) + os.sep
            yield from [one for one in self._program.texts if one != path and inside in one]

    def _may_import(self, importer: str, path: str) -> bool:
        """Whether a file may import another one: by its place, or by its name alone, where the
        words of a statement name no place in the program.
        """
        outline = self._program.outline(importer)
        stem = stem_of(path)
        return self._program.imports(importer, path, outline) or any(
            stem in words_of(one) and not self._is_placed(importer, one) for one in outline.imports
        )

    def _is_placed(self, importer: str, imported: Import) -> bool:
        return any(True for _ in self._program.run_by(importer, imported))

    def unseen(self, path: str) -> set[str]:
        """The packages from which a file imports what no file of the program holds: "." for its
        own, and where the file cannot be parsed.
        """
        is_words = self._program.outline(path).is_words
        return self._absent(path) | ({"."} if is_words else set())

    def lacks_files(self, path: str) -> bool:
        """Whether a file imports a module of the program that is not there."""
        return any(one == "." or one in self._program.words for one in self._absent(path))

    def _absent(self, path: str) -> set[str]:
        return {
            "." if imported.level else imported.words[0]
            for imported in self._program.outline(path).imports
            if not self._is_seen(path, imported)
        }

    def _is_seen(self, path: str, imported: Import) -> bool:
        """Whether what a statement imports from is a file of the program or a folder of it, seen
        from the top of the project or from any folder in it.
        """
        if not imported.words or imported.level and self._is_placed(path, imported):
            return True
        module = ".".join(imported.words)
        return any(
            f".{one}.".endswith(f".{module}.") for one in self._modules.get(imported.words[-1], ())
        )
