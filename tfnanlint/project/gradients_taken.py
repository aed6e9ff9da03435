"""Whether a program takes a gradient of what one of its files computes.

What a file computes may be held by the file and by all that import it. Where none of these takes a
gradient, nor imports a file that does, none is taken. A library, a file by itself and what is
tried out in the file that defines it are no such program: their users may take one. Nor is one of
which a file is missing.
"""

from __future__ import annotations

import sys
from typing import Final

from tfnanlint.conventions.files import holds_tests, takes_no_gradient
from tfnanlint.conventions.roles import takers_of_gradients
from tfnanlint.ops.frameworks import INFERENCE_CALLS
from tfnanlint.project.answers import NO, UNKNOWN
from tfnanlint.project.imports import Imports
from tfnanlint.project.programs import Program

_MAX_HOLDERS: Final = 24  # files that are read for one answer
_MAX_FILES: Final = 500  # of a program whose files are all searched for what takes gradients


class GradientsTaken:
    """The gradients that the files of a program take."""

    def __init__(self, program: Program):
        self._program = program
        self._imports = Imports(program)
        self._takes: dict[str, bool] = {}
        self._found_takers: list[str] | None = None

    def answer(self, path: str) -> str:
        """NO where no gradient is taken of what a file computes, else UNKNOWN."""
        texts = self._program.texts
        holders = self._holders(path) if path in texts and len(texts) <= _MAX_FILES else set()
        if not holders or not self._is_used(path, holders):
            return UNKNOWN
        is_taken = any(
            self._takes_gradient(one) or self._hands_on(one) or self._is_by_text(one)
            for one in holders
        )
        if is_taken or self._meets_taker(path, holders):
            return UNKNOWN
        return UNKNOWN if any(map(self._imports.lacks_files, texts)) else NO

    def _holders(self, path: str) -> set[str]:
        """The files that may hold what a file computes; none where they are too many."""
        holders: set[str] = set()
        for start in (path, *self._program.finding):
            importers = self._imports.all_importers(start, _MAX_HOLDERS)
            if importers is None:
                return set()
            holders |= importers
        return holders

    def _takes_gradient(self, path: str) -> bool:
        """Whether a file loads a name that may take a gradient."""
        known = self._takes.get(path)
        if known is None:
            text = self._program.texts[path].decode("utf-8", "replace")
            words = takers_of_gradients(text)
            outline = self._program.outline(path) if words else None
            known = self._takes[path] = outline is not None and any(map(outline.uses, words))
        return known

    def _is_by_text(self, path: str) -> bool:
        """Whether a file may take a gradient by a text: `getattr(model, name)`, `exec(text)`."""
        outline = self._program.outline(path)
        return outline.gets or outline.looks_up

    def _hands_on(self, path: str) -> bool:
        """Whether a file imports what may take gradients of what it is given, from a distribution
        or from files that are not there.
        """
        unseen = self._imports.unseen(path) - sys.stdlib_module_names
        return not all(map(takes_no_gradient, unseen))

    def _is_used(self, path: str, holders: set[str]) -> bool:
        """Whether a program uses what a file computes, and not only tries it out."""
        scripts = [
            one for one in holders if not holds_tests(one) and self._program.outline(one).is_script
        ]
        return any(one != path or self._infers(one) for one in scripts)

    def _infers(self, path: str) -> bool:
        """Whether a file runs a model that was trained before."""
        return any(map(self._program.outline(path).uses, INFERENCE_CALLS))

    def is_run_trained(self, path: str) -> bool:
        """Whether a file that may hold what another one computes runs a model that was trained
        before.
        """
        return path in self._program.texts and any(map(self._infers, self._holders(path)))

    def _meets_taker(self, path: str, holders: set[str]) -> bool:
        """Whether a file that takes gradients is imported by one of some files, or loads a name
        that the first of them defines.
        """
        definitions = self._program.outline(path).definitions.values()
        names = {one.name for one in definitions if not one.parent}
        for taker in self._takers:
            outline = self._program.outline(taker)
            own = {one.name for one in outline.definitions.values()}
            if any(map(outline.uses, names - own)):
                return True
            importers = self._imports.all_importers(taker, len(self._program.texts))
            if importers is None or not importers.isdisjoint(holders):
                return True
        return False

    @property
    def _takers(self) -> list[str]:
        if self._found_takers is None:
            self._found_takers = list(filter(self._takes_gradient, self._program.texts))
        return self._found_takers
