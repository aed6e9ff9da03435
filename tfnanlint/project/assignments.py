"""What the names of modules are set to: `KIND = "mean"` in a script, or in a file of settings that
others import. Nothing is evaluated.
"""

from __future__ import annotations

import ast

from tfnanlint.project.bindings import bound_at, outside_definitions, values_bound
from tfnanlint.project.names import Names
from tfnanlint.project.outline_entries import Import
from tfnanlint.project.outlines import Outline
from tfnanlint.project.programs import Program, words_bound_by

Assigned = tuple[str, ast.expr]  # a file, and an expression outside of its definitions


class Assignments:
    """What the modules of a program assign to their names."""

    def __init__(self, program: Program, names: Names):
        self._program = program
        self._names = names
        self._known: dict[tuple[str, str], list[Assigned]] = {}

    def of_name(self, path: str, name: str) -> list[Assigned]:
        """All that a name of a module may be; nothing where that is not seen."""
        key = path, name
        if key not in self._known:
            self._known[key] = []  # for what imports itself
            self._known[key] = self._of_name(path, name)
        return self._known[key]

    def of_attribute(self, path: str, root: str, name: str) -> list[Assigned]:
        """All that a name of a module may be which a file imports under another one."""
        outline = self._names.outline(path)
        imports = [one for one in outline.imports if one.bound == root]
        if not imports or not _is_only_imported(outline, root):
            return []
        modules = [self._program.modules(path, one, words_bound_by(one)) for one in imports]
        return self._joined(modules, name)

    def _of_name(self, path: str, name: str) -> list[Assigned]:
        outline = self._names.outline(path)
        if outline.is_words or outline.looks_up or _is_global(outline, name):
            return []
        imports = [one for one in outline.imports if one.bound == name]
        if imports:
            return self._imported(path, imports) if _is_only_imported(outline, name) else []
        values = values_bound(outside_definitions(outline.tree.body), name)
        if values is None or self._program.may_set(path, name):
            return []
        if values:
            return [(path, value) for value in values]
        return self._starred(path, name)

    def _imported(self, path: str, imports: list[Import]) -> list[Assigned]:
        """What the names may be that some import statements bind to one."""
        name = imports[0].name
        if not name or any(one.name != name for one in imports):
            return []
        return self._joined([self._program.modules(path, one, one.words) for one in imports], name)

    def _starred(self, path: str, name: str) -> list[Assigned]:
        """What a name may be that modules have of which a file imports all."""
        stars = [one for one in self._names.outline(path).imports if one.name == "*"]
        modules = [
            [one]
            for star in stars
            for one in self._program.modules(path, star, star.words)
            if name in self._names.outline(one).text
        ]
        return self._joined(modules, name)

    def _joined(self, modules: list[list[str]], name: str) -> list[Assigned]:
        """What a name may be of modules, each of which one of several files may be."""
        values: list[Assigned] = []
        for path in [path for paths in modules for path in paths] if all(modules) else []:
            part = self.of_name(path, name)
            if not part:
                return []
            values += part
        return values


def _is_only_imported(outline: Outline, name: str) -> bool:
    """Whether nothing but import statements binds a name outside of definitions."""
    return not _is_global(outline, name) and not any(
        name in bound_at(node)
        for node in outside_definitions(outline.tree.body)
        if not isinstance(node, ast.alias)
    )


def _is_global(outline: Outline, name: str) -> bool:
    """Whether a function may bind a name of its file."""
    return "global" in outline.text and any(
        isinstance(node, ast.Global) and name in node.names for node in ast.walk(outline.tree)
    )
