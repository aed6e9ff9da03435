"""Which functions a program reaches, by the names that its files load.

A program is the files below one folder, the notebooks among them. A function is reached if code
that runs loads its name; a method if its class is reached, too. Code runs that a script does when
it is run, and what it imports. Nothing is evaluated: a name that is loaded for something else of
that name counts, so that NO is said only where nothing can lead to a function.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from tfnanlint.conventions.files import holds_tests, is_below_tests
from tfnanlint.ops.frameworks import CALLED_BY_BASES
from tfnanlint.project.answers import NO, UNKNOWN, YES, Answer
from tfnanlint.project.outlines import TOP, Definition, Outline, Use, is_case, is_main
from tfnanlint.syntax.access_paths import is_special

MAX_FILES: Final = 24  # others that are read for one answer: what more may lead to is not judged
_INIT: Final = "__init__.py"
_FRAMEWORKS: Final = frozenset(("tensorflow", "keras", "tf_keras"))  # whose hooks are known
# Words by which a file may import modules of computed names, or load such attributes, each with
# the text that stands behind it then.
_Signs = tuple[tuple[bytes, re.Pattern[bytes]], ...]
_CALLED: Final = re.compile(rb"\s*\(")
# Not the attribute of a name that is written there.
_COMPUTED: Final = re.compile(rb"\s*\((?!\s*[\w.\[\]]+\s*,\s*\\?['\"][\w.]*\\?['\"]\s*[,)])")
_FINDING: Final[_Signs] = (
    *(
        (word.encode(), _CALLED)
        for word in (
            "import_module __import__ load_source exec_module run_path run_module locate "
            "instantiate find_module __subclasses__ Fire __init_subclass__ exec"
        ).split()
    ),
    (b"%run", re.compile(rb"\b")),
)
_GETTING: Final[_Signs] = (
    (b"getattr", _COMPUTED),
    (b"hasattr", _COMPUTED),
    (b"attrgetter", _CALLED),
    (b"methodcaller", _CALLED),
    (b"Fire", _CALLED),
)

_VARS: Final = re.compile(rb"(?<![\w.])vars\(")
_STAR: Final = re.compile(rb"import[ \t]*\*")
# A statement outside of all definitions that may do something when the file is run.
_SCRIPT: Final = re.compile(
    rb"""^(?:(?:if|try|for|while|with|async)\b|[\w.'"[({][\w.'"\[\](){}, -]*\()""", re.M
)
# A statement that may import a module, by the text of a file.
_IMPORTING: Final = (
    rb"\b(?:import|from)\b[^\n#]*(?:\\\n[^\n]*)?\b%(stem)s\b|\bimport\s*\([^)]*\b%(stem)s\b"
)

Node = tuple[str, str]  # a file, and the qualified name of a definition in it, or `TOP`


class Program:
    """The files below a folder `top`, by path, with their outlines."""

    def __init__(
        self,
        top: str,
        texts: Mapping[str, bytes],
        outline_of: Callable[[str], Outline],
    ):
        self.top = top
        self.texts = texts
        self._outline_of = outline_of
        self._holding: dict[str, list[str]] = {}
        self._importing: dict[str, list[str]] = {}
        self._starring: list[str] | None = None
        self._finding: list[str] | None = None
        self._flags: dict[str, bool] = {}
        self.words = {stem_of(path) for path in texts}
        for path in texts:
            self.words.update(os.path.relpath(path, top).split(os.sep)[:-1])

    def outline(self, path: str) -> Outline:
        return self._outline_of(path)

    def may_say_no(self, path: str) -> bool:
        """Whether there may be a definition in a file that nothing leads to: not in tests, and
        not where no file is a script.
        """
        return (
            not holds_tests(path)
            and not is_below_tests(os.path.relpath(path, self.top))
            and self._has_scripts
        )

    @property
    def _has_scripts(self) -> bool:
        """Whether some file may be a script, as the text tells."""
        known = self._flags.get("scripts")
        if known is None:
            known = self._flags["scripts"] = any(
                b"__main__" in data or not path.endswith(".py") or _SCRIPT.search(data) is not None
                for path, data in self.texts.items()
            )
        return known

    def holding(self, word: str) -> list[str]:
        """The files in whose text a word stands: only these may use it."""
        paths = self._holding.get(word)
        if paths is None:
            plain, whole = word.encode(), re.compile(rb"\b%s\b" % re.escape(word).encode())
            paths = self._holding[word] = [
                path
                for path, data in self.texts.items()
                if plain in data and whole.search(data) is not None
            ]
        return paths

    def defining(self, name: str) -> list[str]:
        """The files that may define a class of a name, as their text tells."""
        stated = re.compile(rb"\bclass\s+%s\b" % re.escape(name.encode()))
        return [path for path in self.holding(name) if stated.search(self.texts[path]) is not None]

    def may_import(self, stem: str) -> list[str]:
        """The files that may import what has a name, as their text tells."""
        paths = self._importing.get(stem)
        if paths is None:
            plain = stem.encode()
            named = re.compile(_IMPORTING % {b"stem": re.escape(plain)})
            paths = self._importing[stem] = [
                path
                for path, data in self.texts.items()
                if plain in data and named.search(data) is not None
            ]
        return paths

    @property
    def starring(self) -> list[str]:
        """The files that may import all of a module, as their text tells."""
        if self._starring is None:
            self._starring = [path for path, data in self.texts.items() if _STAR.search(data)]
        return self._starring

    @property
    def finds_modules(self) -> bool:
        """Whether some file imports modules by a computed name, or asks a class for its heirs."""
        return bool(self.finding)

    @property
    def finding(self) -> list[str]:
        """The files that import modules by computed names, or ask a class for its heirs."""
        if self._finding is None:
            self._finding = [path for path in self._with(_FINDING) if self.outline(path).finds]
        return self._finding

    @property
    def gets_attributes(self) -> bool:
        """Whether some file loads an attribute by a computed name."""
        known = self._flags.get("gets")
        if known is None:
            known = self._flags["gets"] = any(
                self.outline(path).gets for path in self._with(_GETTING)
            )
        return known

    @property
    def copies_attributes(self) -> bool:
        """Whether some file may take all attributes of an object at once, as the text tells."""
        known = self._flags.get("copies")
        if known is None:
            known = self._flags["copies"] = any(
                b"__dict__" in data or _VARS.search(data) is not None
                for data in self.texts.values()
            )
        return known

    def _with(self, signs: _Signs) -> Iterator[str]:
        for path, data in self.texts.items():
            if any(_stands(word, behind, data) for word, behind in signs):
                yield path


def _stands(word: bytes, behind: re.Pattern[bytes], data: bytes) -> bool:
    """Whether a word stands in a text, with some other text behind it."""
    place = data.find(word)
    while place >= 0:
        end = place + len(word)
        if behind.match(data, end) is not None:
            return True
        place = data.find(word, end)
    return False


class _TooMany(Exception):
    """Too many files may lead to a definition to say that none does."""


class Reach:
    """What leads to the definitions of one file of a program. `own` is the outline of that file."""

    def __init__(self, program: Program, path: str, own: Outline):
        self._program = program
        self._path = path
        self._own = own
        self._users: dict[Node, set[Node]] = {}
        self._reached: set[Node] = set()
        self._running: dict[str, bool] = {}
        self._read: set[str] = set()

    def answer(self, name: str) -> Answer:
        """Whether the program reaches the definition of a qualified name."""
        self._users, self._reached, self._running, self._read = {}, set(), {}, set()
        try:
            return self._answer(name)
        except (_TooMany, RecursionError):
            return UNKNOWN, ""

    def attribute(self, owner: str, name: str) -> Answer:
        """Whether the program reads an attribute that the methods of a class assign."""
        self._users, self._reached, self._running, self._read = {}, set(), {}, set()
        try:
            is_read = (
                owner not in self._own.definitions
                or self._own.lists_exports
                or self._program.gets_attributes
                or self._program.copies_attributes
                or self._may_base_call(self._path, owner, name, set())
                or any(self._reads(path, name) for path in self._program.holding(name))
            )
            if is_read or not self._is_in_program():
                return UNKNOWN, ""
        except (_TooMany, RecursionError):
            return UNKNOWN, ""
        return NO, f"nothing in this program reads `{name}`"

    def _reads(self, path: str, name: str) -> bool:
        """Whether a file may load an attribute: also by text that it evaluates."""
        outline = self._outline(path)
        return outline.looks_up or any(use.is_attribute for use in outline.uses(name))

    def _answer(self, name: str) -> Answer:
        if self._own.lists_exports or name and name not in self._own.definitions:
            return UNKNOWN, ""
        start = self._path, name
        if self._leads_to(start):
            return YES, ""
        if self._settle(start, leniently=True) or not self._is_in_program():
            return UNKNOWN, ""
        return NO, self._reason(start)

    def _outline(self, path: str) -> Outline:
        if path == self._path:
            return self._own
        self._read.add(path)
        if len(self._read) > MAX_FILES:
            raise _TooMany
        return self._program.outline(path)

    def _importers(self, path: str) -> Iterator[str]:
        """The files whose import statements have the name of a file."""
        stem = stem_of(path)
        for importer in self._program.may_import(stem):
            if importer != path and self._imports(importer, stem):
                yield importer

    def _imports(self, path: str, word: str) -> bool:
        """Whether a file imports something with a name from the program."""
        return any(map(self._is_own, self._outline(path).imported.get(word, ())))

    # The way back from a definition

    def _leads_to(self, start: Node) -> bool:
        """Whether code that runs leads to a definition: first by its own file, then by others."""
        waiting: list[Node] = []
        self._add(start, waiting)
        self._running[self._path] = self._runs(self._path, set())
        if not self._running[self._path] and not self._program.finds_modules:
            return False
        for node in waiting:  # it grows on the way
            self._expand(node, self._path, waiting)
        if self._settle(start):
            return True
        done: set[tuple[Node, str]] = set()
        for node in waiting:
            for path in self._candidates(node):
                if (node, path) in done:
                    continue
                done.add((node, path))
                before = len(self._users[node])
                self._expand(node, path, waiting)
                if len(self._users[node]) > before and self._settle(start):
                    return True
        return self._settle(start)

    def _add(self, node: Node, waiting: list[Node]) -> None:
        if node in self._users:
            return
        self._users[node] = set()
        waiting.append(node)
        if node[1] != TOP:
            definition = self._definition(node)
            if definition is not None:
                self._add((node[0], definition.parent), waiting)

    def _definition(self, node: Node) -> Definition | None:
        return self._outline(node[0]).definitions.get(node[1])

    def _candidates(self, node: Node) -> Iterator[str]:
        """The files that may use a definition."""
        definition = self._definition(node)
        if definition is not None:
            yield self._path
            yield from self._program.holding(definition.name)

    def _expand(self, node: Node, path: str, waiting: list[Node]) -> None:
        """Note what uses a definition in one file."""
        definition, outline = self._definition(node), self._outline(path)
        if definition is None:
            return
        inside = node[1] + "."
        for use in outline.uses(definition.name):
            if path == node[0] and f"{use.owner}.".startswith(inside):
                continue
            if path != node[0] and not self._is_use(use, node, definition, path):
                continue
            if use.package and not self._is_own(use.package):
                continue
            user = path, use.owner
            self._add(user, waiting)
            self._users[node].add(user)

    def _is_own(self, package: str) -> bool:
        return package == "." or package in self._program.words

    def _is_use(self, use: Use, node: Node, definition: Definition, path: str) -> bool:
        """Whether a name that another file loads may be a definition: a method of any object; else
        the file has to import it, or the module that has it.
        """
        if self._is_method(node[0], definition):
            return use.is_attribute
        if not use.is_attribute:
            return self._imports(path, definition.name) or bool(self._outline(path).stars)
        holders = self._holders(node[0], definition.name)
        return any(self._imports(path, one) or self._outline(path).uses(one) for one in holders)

    def _is_method(self, path: str, definition: Definition) -> bool:
        parent = self._definition((path, definition.parent)) if definition.parent else None
        return parent is not None and parent.is_class

    def _holders(self, path: str, name: str) -> set[str]:
        """The modules of which a function of a file may be an attribute."""
        stems = {stem_of(path)}
        for importer in self._program.holding(name):
            if self._imports(importer, name):
                stems.add(stem_of(importer))
        for importer in self._program.starring:
            if self._outline(importer).stars:
                stems.add(stem_of(importer))
        return stems

    # What is reached

    def _settle(self, start: Node, leniently: bool = False) -> bool:
        """Whether one definition is reached, by all that is noted up to now; `leniently`: if all is
        that may be found without its name.
        """
        changed = True
        while changed:
            changed = False
            for node, users in self._users.items():
                if node not in self._reached and self._is_reached(node, users, leniently):
                    self._reached.add(node)
                    changed = True
        return start in self._reached

    def _is_reached(self, node: Node, users: set[Node], leniently: bool) -> bool:
        path, name = node
        if name == TOP:
            self._running[path] = self._runs(path, set())
            return self._running[path] or leniently and self._program.finds_modules
        definition = self._definition(node)
        if definition is None:
            return True
        if (path, definition.parent) not in self._reached:
            return False
        return (
            not self._reached.isdisjoint(users)
            or self._is_called_unseen(path, definition)
            or leniently
            and self._may_be_found(path, definition)
        )

    def _is_called_unseen(self, path: str, definition: Definition) -> bool:
        """Whether code calls a definition that loads no name of it: Python, a framework, a runner
        of tests, what a decorator hands it to.
        """
        if definition.is_open or is_main(definition.name, self._outline(path)):
            return True
        if definition.is_class:
            return any(is_case(base) for base, _ in definition.bases)
        if not self._is_method(path, definition):
            return False
        name = definition.name
        return is_special(name) or self._may_base_call(path, definition.parent, name, set())

    def _may_base_call(self, path: str, name: str, method: str, seen: set[Node]) -> bool:
        """Whether a class inherits from one that no file of the program defines, and that may call
        a method by its name.
        """
        definition = self._definition((path, name))
        if definition is None or (path, name) in seen:
            return False
        seen.add((path, name))
        if definition.is_open:
            return True
        for base, package in definition.bases:
            if base == "object":
                continue
            if package and not self._is_own(package):
                if package not in _FRAMEWORKS or method.startswith("_"):
                    return True
                if method in CALLED_BY_BASES:
                    return True
                continue
            above = list(self._classes(path, base))
            if not above or any([self._may_base_call(*one, method, seen) for one in above]):
                return True
        return False

    def _classes(self, path: str, name: str) -> Iterator[Node]:
        """The classes of a name, in one file and in others."""
        for file in dict.fromkeys([path, *self._program.defining(name)]):
            definition = self._outline(file).definitions.get(name)
            if definition is not None and definition.is_class:
                yield file, name

    def _runs(self, path: str, seen: set[str]) -> bool:
        """Whether a file is a script, or one imports it."""
        known = self._running.get(path)
        if known is not None:
            return known
        if self._outline(path).is_script:
            self._running[path] = True
            return True
        seen.add(path)
        for importer in self._importers(path):
            if importer not in seen and self._runs(importer, seen):
                self._running[path] = True
                return True
        return False

    # What a NO needs

    def _is_in_program(self) -> bool:
        """Whether the file is part of a program: it is one, scripts import it, or they import
        others beside it.
        """
        if self._own.is_program:
            return True
        self._running.pop(self._path, None)
        if any(self._runs(other, {self._path}) for other in self._importers(self._path)):
            return True
        if self._own.is_script:
            return False
        if any(self._runs(other, {self._path}) for other in self._program.finding):
            return True
        folder = os.path.dirname(self._path)
        return any(
            os.path.dirname(other) == folder
            and os.path.basename(other) != _INIT
            and not self._outline(other).is_script
            and self._runs(other, set())
            for other in self._program.texts
            if other != self._path
        )

    def _may_be_found(self, path: str, definition: Definition) -> bool:
        """Whether code that does not load the name of a definition may have it all the same."""
        if self._outline(path).looks_up:
            return True
        if self._is_method(path, definition):  # who finds a module has none of an object in it
            return self._program.gets_attributes
        return definition.parent == TOP and (
            self._program.finds_modules or self._is_handed_on(path, definition.name)
        )

    def _is_handed_on(self, path: str, name: str, seen: tuple[str, ...] = ()) -> bool:
        """Whether a file hands on a module that has a name, of which others may take what they
        want, or looks names of imported modules up; or a package offers it in its `__init__.py`.
        """
        stem = stem_of(path)
        for importer in self._importers(path):
            outline = self._outline(importer)
            if outline.looks_up or any(map(self._is_own, outline.handed_on(stem))):
                return True
            is_named = self._imports(importer, name)
            if is_named and os.path.basename(importer) == _INIT:
                return True
            if importer in seen or not (is_named or outline.stars):
                continue
            if self._is_handed_on(importer, name, (*seen, path)):
                return True
        return False

    # In words

    def _reason(self, start: Node) -> str:
        """Why a definition is not reached."""
        path, name = start
        if (path, TOP) not in self._reached:
            return "nothing in this program imports this file"
        outer = name
        while outer:  # the outermost that is not reached
            definition = self._own.definitions[outer]
            if (path, definition.parent) in self._reached:
                break
            outer = definition.parent
        short = self._own.definitions[outer].name
        users = {user for user in self._users[path, outer] if user[1] != TOP}
        if users:
            return f"only code that this program never runs uses `{short}`"
        return f"nothing in this program calls `{short}`"


def stem_of(path: str) -> str:
    """The name by which other files import a file: its own, or that of its folder."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name == _INIT else os.path.splitext(name)[0]
