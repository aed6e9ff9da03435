"""What the names mean by which the files of a program use one another: an import statement means
the files that may lie there, a name that is loaded the definitions that may have come there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tfnanlint.ops.frameworks import CALLED_BY_BASES
from tfnanlint.project.outline_entries import Definition, Import, Use
from tfnanlint.project.outlines import TOP, Outline
from tfnanlint.project.programs import Program, stem_of, words_bound_by

KNOWN_FRAMEWORKS: Final = frozenset(("tensorflow", "keras", "tf_keras"))  # whose hooks are known
# Bases and metaclasses that call no method by its name.
INERT: Final = frozenset(("object", "type", "ABC", "ABCMeta"))
MAX_FILES: Final = 64  # others that are read for one answer: what more may lead to is not judged

Node = tuple[str, str]  # a file, and the qualified name of a definition in it, or `TOP`


class TooMany(Exception):
    """Too many files may lead to a definition to say that none does."""


class Names:
    """What names mean in the files of a program. `own` is the outline of one file, which may differ
    from what is on the disk.
    """

    def __init__(self, program: Program, path: str, own: Outline):
        self._program = program
        self._path = path
        self._own = own
        self._outlines: dict[str, Outline] = {}  # of the files that are read for an answer

    def begin(self) -> None:
        """Read the files anew."""
        self._outlines = {self._path: self._own}

    def outline(self, path: str) -> Outline:
        outline = self._outlines.get(path)
        if outline is None:
            if len(self._outlines) > MAX_FILES:
                raise TooMany
            outline = self._outlines[path] = self._program.outline(path)
        return outline

    def importers(self, path: str) -> Iterator[str]:
        """The files that may import a file."""
        stem = stem_of(path)
        for importer in self._program.may_import(stem):
            if importer != path and self.imports(importer, path):
                yield importer

    def imports(self, importer: str, path: str) -> bool:
        """Whether an import statement of a file may run another one."""
        return self._program.imports(importer, path, self.outline(importer))

    def may_find(self, path: str) -> bool:
        """Whether a file may be found without an import statement that names it: by text that is
        written for it, or, if no statement names it, by text that is computed.
        """
        if self._program.may_find(path) or self._program.names_file(path):
            return True
        if self.is_written(stem_of(path)):
            return True
        return self._program.finds_any and not any(True for _ in self.importers(path))

    def is_written(self, name: str) -> bool:
        """Whether modules are found by computed text, and a name stands in a text."""
        return self._program.finds_any and self._program.is_written(name)

    def may_have(self, path: str, name: str, home: str) -> bool:
        """Whether a name of a module may be what another one defines under that name."""
        waiting, seen = [path], {path}
        for module in waiting:  # it grows on the way
            if module == home:
                return True
            outline = self.outline(module)
            if outline.is_words:
                if name in outline.imported:
                    return True
                continue
            importing = [one for one in outline.imports if one.name in (name, "*")]
            if name in outline.definitions and all([one.name == "*" for one in importing]):
                continue  # its own
            for imported in importing:
                modules = self._program.modules(module, imported, imported.words)
                if imported.name == name and self._is_unseen(imported, modules, seen):
                    return True
                waiting += [one for one in modules if one not in seen]
                seen.update(modules)
        return False

    def _is_unseen(self, imported: Import, modules: list[str], seen: set[str]) -> bool:
        """Whether a name is imported from a module of the program that is not found: of those that
        lead back to themselves another one is meant.
        """
        if modules:
            return not seen.isdisjoint(modules)
        return not imported.words or self.is_own(imported.words[0])

    def definition(self, node: Node) -> Definition | None:
        return self.outline(node[0]).definitions.get(node[1])

    def is_own(self, package: str) -> bool:
        return package == "." or package in self._program.words

    def is_use(self, use: Use, node: Node, definition: Definition, path: str) -> bool:
        """Whether a name that another file loads may be a definition: a method of any object; else
        the file has to import it, or the module that has it.
        """
        if self.is_method(node[0], definition):
            return use.is_attribute
        if not use.is_attribute:
            return self.may_have(path, definition.name, node[0])
        outline = self.outline(path)
        if outline.is_words:
            return True
        modules = self._modules_of(path, use.root) if use.root else None
        if modules:
            return any([self.may_have(one, definition.name, node[0]) for one in modules])
        holders = self._holders(node[0], definition.name)
        return any(one in outline.imported or outline.uses(one) for one in holders)

    def _modules_of(self, path: str, bound: str) -> list[str]:
        """The modules that a name may be which a file imports."""
        return [
            module
            for one in self.outline(path).imports
            if one.bound == bound
            for module in self._program.modules(path, one, words_bound_by(one))
        ]

    def is_method(self, path: str, definition: Definition) -> bool:
        parent = self.definition((path, definition.parent)) if definition.parent else None
        return parent is not None and parent.is_class

    def function_around(self, path: str, name: str) -> str:
        """The function in which a definition stands, `TOP` outside of all."""
        definition = self.definition((path, name))
        while definition is not None and definition.parent:
            name = definition.parent
            definition = self.definition((path, name))
            if definition is not None and not definition.is_class:
                return name
        return TOP

    def _holders(self, path: str, name: str) -> set[str]:
        """The names of the modules of which a function of a file may be an attribute."""
        stems = {stem_of(path)}
        for importer in dict.fromkeys([*self._program.holding(name), *self._program.starring]):
            if importer != path and self.may_have(importer, name, path):
                stems.add(stem_of(importer))
        return stems

    def classes(self, path: str, name: str) -> Iterator[Node]:
        """The classes of a name, in one file and in others."""
        for file in dict.fromkeys([path, *self._program.defining(name)]):
            definition = self.outline(file).definitions.get(name)
            if definition is not None and definition.is_class:
                yield file, name

    def may_base_call(self, path: str, name: str, method: str) -> bool:
        """Whether a class, or one that inherits from it, has a base that no file of the program
        defines, and that may call a method by its name: `class Net(Mixin, keras.layers.Layer)`.
        """
        family: list[Node] = [(path, name)]
        for node in family:  # it grows on the way
            family += [heir for heir in self.heirs(node) if heir not in family]
        seen: set[Node] = set()
        return any([self._may_base_call(*node, method, seen) for node in family])

    def heirs(self, owner: Node) -> list[Node]:
        """The classes that inherit from one of a name, whichever that is."""
        simple = owner[1].rpartition(".")[2]
        return [
            (path, qualified)
            for path in self._program.holding(simple)
            for qualified, definition in self.outline(path).definitions.items()
            if definition.is_class and any(base == simple for base, _ in definition.bases)
        ]

    def _may_base_call(self, path: str, name: str, method: str, seen: set[Node]) -> bool:
        definition = self.definition((path, name))
        if definition is None or (path, name) in seen:
            return False
        seen.add((path, name))
        if definition.is_open:
            return True
        for base, package in definition.bases:
            if base in INERT:
                continue
            if package and not self.is_own(package):
                if package not in KNOWN_FRAMEWORKS or method.startswith("_"):
                    return True
                if method in CALLED_BY_BASES:
                    return True
                continue
            above = list(self.classes(path, base))
            if not above or any([self._may_base_call(*one, method, seen) for one in above]):
                return True
        return False

    def holding(self, word: str) -> list[str]:
        """The files in whose text a word stands."""
        return self._program.holding(word)

    def uses_of(self, node: Node, definition: Definition) -> Iterator[tuple[str, Use]]:
        """Where the files of the program load the name of a definition, for what it may be: in its
        own file for anything.
        """
        home = node[0]
        for path in dict.fromkeys([home, *self._program.holding(definition.name)]):
            for use in self.outline(path).uses(definition.name):
                if use.package and not self.is_own(use.package):
                    continue
                if path == home or self.is_use(use, node, definition, path):
                    yield path, use

    def hands_on(self, importer: str, path: str) -> bool:
        """Whether a file hands on a module that it imports."""
        outline = self.outline(importer)
        return any(
            [
                path in self._program.modules(importer, one, words_bound_by(one))
                and outline.hands_on(one.bound)
                for one in outline.imports
            ]
        )
