"""Programs: the files below one folder, the notebooks among them, and which of them the words of an
import statement may mean. Nothing is evaluated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from tfnanlint.conventions.files import holds_tests, is_below_tests
from tfnanlint.project.outline_entries import Import
from tfnanlint.project.outlines import FINDERS, HEIRS, Outline

INIT: Final = "__init__.py"
# Words by which a file may import modules of computed names, or load such attributes, each with
# the text that stands behind it then.
_Signs = tuple[tuple[bytes, re.Pattern[bytes]], ...]
_CALLED: Final = re.compile(rb"\s*\(")
# Not the attribute of a name that is written there.
_COMPUTED: Final = re.compile(rb"\s*\((?!\s*[\w.\[\]]+\s*,\s*\\?['\"][\w.]*\\?['\"]\s*[,)])")
_FINDING: Final[_Signs] = (
    *((word.encode(), _CALLED) for word in (*sorted(FINDERS), HEIRS)),
    (b"%run", re.compile(rb"\b")),
)
_GETTING: Final[_Signs] = (
    (b"getattr", _COMPUTED),
    (b"hasattr", _COMPUTED),
    (b"attrgetter", _CALLED),
    (b"methodcaller", _CALLED),
    (b"Fire", _CALLED),
)
_LOOKING: Final[_Signs] = tuple(
    (word.encode(), _CALLED) for word in "globals eval exec locals vars".split()
)

# What may bind names of modules and classes anew, and what may change where modules are found.
_BY_TEXT: Final = (
    rb"\b__setattr__\b|\bsetattr\s*\((?!\s*self\b)|\b(?:mock|mocker|monkeypatch|reload)\b|__dict__"
)
_PATCHING: Final = re.compile(_BY_TEXT + rb"|\bvars\s*\(\s*(?:(?P<object>\w+)\s*\)|\w)")
# That a file imports a name: only `vars(module)` binds names of a module.
_BOUND_BY_IMPORT: Final = rb"\bimport\b(?:[^\n(]*|\s*\([^)]*)\b%s\b"
# What may set names of modules, or options, by text: `vars` alone only reads them.
_REBINDING: Final = re.compile(
    _BY_TEXT
    + rb"|=\s*vars\s*\(\s*\w"
    + rb"|\bvars\s*\([^()]*\)\s*(?:\.\s*(?:update|setdefault)\b|\[[^\]\n]*\]\s*=(?!=))"
)
# What may assign an attribute by text, with the name if that is written there, or makes an object
# of the class of another one, or one anew.
_SETTING: Final = re.compile(
    rb"(?P<plain>\bsuper\s*\([^()]*\)\s*\.\s*__init__\b|\.\s*__init__\s*\(\s*self\b)"
    rb"|\.\s*__init__\b|\b__class__\b(?!\s*\.\s*__name__)|\btype\s*\(\s*\w+\s*\)\s*\(|=\s*type\s*\("
    rb"|(?:\bsetattr|__setattr__|\bpatch\.object)\s*\((?:[^,()]*,\s*['\"](?P<name>\w+)['\"]\s*[,)])?"
)
# What may import the class of an object that it reads.
_RESTORING: Final = re.compile(
    rb"\b(?:\w*[pP]ickle|joblib|dill|shelve|model_from_\w+|deserialize\w*)\b"
    rb"|\b(?:models|saving|keras)\s*\.\s*load_model\b|\bimport\b[^\n]*\bload_model\b"
    rb"|^[ \t]*load_model[ \t]*[,)]?[ \t]*$",
    re.M,
)
# By patterns that begin with a word, which is found fast.
_STATED: Final = tuple(
    re.compile(word + rb"(?<!\w" + word + rb")[ \t]+([^\s(:\[]+)") for word in (b"class", b"def")
)
_MAIN: Final = re.compile(rb"^if\b[^\n]*\b__name__\b[^\n]*\b__main__\b", re.M)
# An option of a command line, and the text that it has by itself, if that is one of numbers.
_OPTION: Final = (
    rb"add_argument\(\s*(?:['\"]-\w['\"]\s*,\s*)?['\"]--%s['\"]"
    rb"(?:[^)'\"]*?default\s*=\s*(?P<numbers>(?P<quote>['\"])[\d\s\[\](),.eE+-]+(?P=quote)))?"
)
_PATHS: Final = re.compile(rb"\bsys\s*\.\s*(?:path|modules|meta_path)\b|\bimport_hooks?\b")

_VARS: Final = re.compile(rb"(?<![\w.])vars\(")
_STAR: Final = re.compile(rb"import[ \t]*\*")
_QUOTED: Final = rb"['\"](?:[\w./:]*[./:])?%s(?:\.py)?['\"]"
# A statement outside of all definitions that may do something when the file is run.
_SCRIPT: Final = re.compile(
    rb"""^(?:(?:if|try|for|while|with|async)\b|[\w.'"[({][\w.'"\[\](){}, -]*\()""", re.M
)
# A statement that may import a module, by the text of a file: patterns that begin with a word.
_IMPORTING: Final = (
    rb"import(?<!\wimport)\b[^\n#]*(?:\\\n[^\n]*)?\b%(stem)s\b",
    rb"from(?<!\wfrom)\b[^\n#]*(?:\\\n[^\n]*)?\b%(stem)s\b",
    rb"import(?<!\wimport)\s*\([^)]*\b%(stem)s\b",
)

# A word by itself: the pattern begins with the word, which is found fast.
_WHOLE: Final = rb"%(word)s(?<!\w%(word)s)(?!\w)"

_Words = tuple[str, ...]


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
        self._imported: dict[str, bool] = {}
        self._starring: list[str] | None = None
        self._finding: list[str] | None = None
        self._found: dict[str, bool] = {}
        self._setters: list[bytes] | None = None
        self._restoring: list[str] | None = None
        self._stated: set[bytes] | None = None
        self._written: dict[str, bool] = {}
        self._flags: dict[str, bool] = {}
        self.words = {stem_of(path) for path in texts}
        self._by_stem: dict[str, list[str]] = {}
        self._dotted = {path: _dotted(path) for path in texts}
        self._modules: set[_Words] = set()
        for path, parts in self._dotted.items():
            self.words.update(os.path.relpath(path, top).split(os.sep)[:-1])
            self._by_stem.setdefault(stem_of(path), []).append(path)
            while len(parts) > 1 and parts not in self._modules:
                self._modules.add(parts)
                parts = parts[:-1]

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
            plain = _bytes_of(word)
            whole = re.compile(_WHOLE % {b"word": re.escape(plain)})
            paths = self._holding[word] = [
                path
                for path, data in self.texts.items()
                if plain in data and whole.search(data) is not None
            ]
        return paths

    def defining(self, name: str) -> list[str]:
        """The files that may define a class of a name, as their text tells."""
        stated = re.compile(rb"\bclass\s+%s\b" % re.escape(_bytes_of(name)))
        return [path for path in self.holding(name) if stated.search(self.texts[path]) is not None]

    def states(self, name: str) -> bool:
        """Whether some file may define a function or class of a name, as its text tells."""
        if self._stated is None:
            self._stated = {
                name
                for data in self.texts.values()
                for stated in _STATED
                for name in stated.findall(data)
            }
        return _bytes_of(name) in self._stated

    def may_import(self, stem: str) -> list[str]:
        """The files that may import what has a name, as their text tells."""
        paths = self._importing.get(stem)
        if paths is None:
            plain = _bytes_of(stem)
            named = [re.compile(one % {b"stem": re.escape(plain)}) for one in _IMPORTING]
            paths = self._importing[stem] = [
                path
                for path in self.holding(stem)
                if any([one.search(self.texts[path]) for one in named])
            ]
        return paths

    def modules(self, importer: str, imported: Import, words: _Words) -> list[str]:
        """The files that words of an import statement may name, as a module: of a relative one the
        file at that place, of another each that has these words at its end. Where nothing imports
        the importer, it is run from its own folder, whose modules are the first that Python finds.
        """
        if not words:
            here = self._folder(importer, imported.level)
            return [one for one in self._by_stem.get(here[-1], ()) if self._dotted[one] == here]
        named = self._by_stem.get(words[-1], ())
        if imported.level:
            whole = (*self._folder(importer, imported.level), *words)
            return [one for one in named if self._dotted[one] == whole]
        return [
            one
            for one in named
            if self._dotted[one][-len(words) :] == words
            and not self._is_hidden(importer, words, self._dotted[one][: -len(words)])
        ]

    def run_by(self, importer: str, imported: Import) -> Iterator[str]:
        """The modules that an import statement may run: those around what it names, too."""
        whole = words_of(imported)
        for count in range(0 if imported.level else 1, len(whole) + 1):
            for module in self.modules(importer, imported, whole[:count]):
                if count >= len(imported.words) or os.path.basename(module) == INIT:
                    yield module

    def imports(self, importer: str, path: str, outline: Outline) -> bool:
        """Whether an import statement of a file, which has an outline, may run another one."""
        if outline.is_words:
            return stem_of(path) in outline.imported
        return any([path in self.run_by(importer, one) for one in outline.imports])

    def has_main_part(self, is_apart: Callable[[str], bool]) -> bool:
        """Whether a file is started, a notebook or one with a main part: not one that is apart."""
        return any(
            (not path.endswith(".py") or _MAIN.search(data) is not None)
            and not is_apart(os.path.relpath(path, self.top))
            for path, data in self.texts.items()
        )

    @property
    def restoring(self) -> list[str]:
        """The files that may make objects of classes that they do not import: of what other runs
        have written.
        """
        if self._restoring is None:
            self._restoring = [path for path, data in self.texts.items() if _RESTORING.search(data)]
        return self._restoring

    def is_module_file(self, path: str) -> bool:
        """Whether a file is the only one that its dotted name may mean, and is no package, whose
        modules may be built of other files.
        """
        folder, name = os.path.split(path)
        inside = os.path.join(folder, stem_of(path)) + os.sep
        return name != INIT and not any(other.startswith(inside) for other in self.texts)

    def is_first(self, importer: str, module: str, words: _Words) -> bool:
        """Whether Python finds a module by some words, and no other one: it is the only one of the
        program, it stands beside a script that nothing imports, and nothing changes the paths of
        import.
        """
        named = self._by_stem.get(words[-1], ())
        count = sum(self._dotted[one][-len(words) :] == words for one in named)
        is_beside = self._dotted[module][: -len(words)] == _folders(importer)
        is_only = is_beside and count == 1
        return is_only and not self._is_imported(importer) and not self._changes_paths

    @property
    def _changes_paths(self) -> bool:
        """Whether some file may change where Python looks for modules, as the text tells."""
        return self._is(
            "paths", lambda: any(_PATHS.search(data) is not None for data in self.texts.values())
        )

    def sets_attribute(self, name: str) -> bool:
        """Whether some file may assign an attribute by text, as its own text tells, or make an
        object of the class of another one.
        """
        if self.copies_attributes or self.looks_up:
            return True
        return self._is(f"sets {name}", lambda: any(map(self._setter_of(name), self._setting)))

    @property
    def _setting(self) -> list[bytes]:
        """The texts in which attributes may be assigned by text."""
        if self._setters is None:
            self._setters = [data for data in self.texts.values() if _SETTING.search(data)]
        return self._setters

    def _setter_of(self, name: str) -> Callable[[bytes], bool]:
        written = _bytes_of(name)

        def sets(data: bytes) -> bool:
            return any(
                place["plain"] is None and place["name"] in (None, written)
                for place in _SETTING.finditer(data)
            )

        return sets

    def is_called_through(self, name: str) -> bool:
        """Whether a file calls a method of a class by the name of the class, for any object."""
        called = re.compile(rb"\b%s\s*\.\s*\w+\s*\(" % re.escape(_bytes_of(name)))
        return any(called.search(self.texts[path]) for path in self.holding(name))

    def may_patch(self, path: str, name: str) -> bool:
        """Whether some file may bind a name of a module anew from outside, or change what it is:
        `losses.loss = f`, `Loss.__init__ = f`, `setattr(losses, name, f)`.
        """
        key = f"patches {stem_of(path)}.{name}"
        return self._is(key, lambda: self._patches(stem_of(path), name))

    def _patches(self, stem: str, name: str) -> bool:
        plain = re.escape(_bytes_of(name))
        stores = re.compile(
            rb"\.\s*%s\b\s*[^\w\s.()]|\b%s(?:\s*\.\s*\w+)+\s*(?:\[|=(?!=))" % (plain, plain)
        )
        holding = dict.fromkeys([*self.holding(name), *self.holding(stem)])
        return (
            self._patches_any
            and self.is_written(name)
            or any(stores.search(self.texts[one]) or _may_patch(self.texts[one]) for one in holding)
        )

    def may_set(self, path: str, name: str) -> bool:
        """Whether some file may set a name of a module from outside, or by text."""
        key = f"sets {stem_of(path)}.{name}"
        return self._is(key, lambda: self._sets(stem_of(path), name))

    def _sets(self, stem: str, name: str) -> bool:
        plain = re.escape(_bytes_of(name))
        stores = re.compile(rb"\.\s*%s\b\s*(?:=(?!=)|[-+*/%%|&^@<>]{1,2}=)" % plain)
        option = re.compile(rb"--%s\b" % plain.replace(b"_", b"[-_]"))
        holding = self.holding(name)
        if any(stores.search(self.texts[one]) for one in holding):
            return True
        if self.rebinds_any and (
            self.is_written(name) or any(option.search(data) for data in self.texts.values())
        ):
            return True
        holding = [*dict.fromkeys([*holding, *self.holding(stem)])]
        return any(_REBINDING.search(self.texts[one]) for one in holding)

    @property
    def rebinds_any(self) -> bool:
        """Whether some file may set names of modules, or options, by text."""
        return self._is(
            "rebinds", lambda: any(_REBINDING.search(data) for data in self.texts.values())
        )

    @property
    def _patches_any(self) -> bool:
        """Whether some file may bind names of modules by text that may stand elsewhere."""
        return self._is("patches", lambda: any(map(_may_patch, self.texts.values())))

    def _folder(self, importer: str, level: int) -> _Words:
        """The folder that a relative import begins at."""
        parts = _folders(importer)
        return parts[: len(parts) - level + 1] or parts[:1]

    def _is_hidden(self, importer: str, words: _Words, root: _Words) -> bool:
        """Whether a script has another module of a name beside it than that below a folder."""
        own = _folders(importer)
        return (
            root != own
            and (*own, words[0]) in self._modules
            and b"sys.path" not in self.texts.get(importer, b"")
            and not self._is_imported(importer)
        )

    def _is_imported(self, path: str) -> bool:
        """Whether some file may import another one, by its name."""
        known = self._imported.get(path)
        if known is None:
            stem = stem_of(path)
            known = self._imported[path] = any(
                not self.words.isdisjoint(self.outline(one).imported.get(stem, ()))
                or "." in self.outline(one).imported.get(stem, ())
                for one in self.may_import(stem)
                if one != path
            )
        return known

    @property
    def starring(self) -> list[str]:
        """The files that may import all of a module, as their text tells."""
        if self._starring is None:
            self._starring = [path for path, data in self.texts.items() if _STAR.search(data)]
        return self._starring

    def may_find(self, path: str) -> bool:
        """Whether some file may import another one by text that is written there."""
        known = self._found.get(path)
        if known is None:
            words = _dotted(path)
            known = any([self.outline(one).may_find(words) for one in self.finding])
            self._found[path] = known
        return known

    def is_written(self, name: str) -> bool:
        """Whether a name stands in quotes somewhere, by itself or behind those of modules."""
        known = self._written.get(name)
        if known is None:
            quoted = re.compile(_QUOTED % re.escape(_bytes_of(name)))
            known = any(quoted.search(self.texts[path]) for path in self.holding(name))
            self._written[name] = known
        return known

    def names_file(self, path: str) -> bool:
        """Whether a text in some other file is the path of a file: `module_file="trainer.py"`."""
        name = os.path.basename(path)
        named = re.compile(rb"['\"][^'\"\n]*(?<!\w)%s['\"]" % re.escape(_bytes_of(name)))
        return any(
            named.search(self.texts[one]) is not None
            for one in self.holding(stem_of(path))
            if one != path
        )

    @property
    def finds_any(self) -> bool:
        """Whether some file may import any module by a computed name, or ask a class for its
        heirs.
        """
        known = self._flags.get("finds")
        if known is None:
            known = self._flags["finds"] = any(self.outline(one).finds_any for one in self.finding)
        return known

    @property
    def finding(self) -> list[str]:
        """The files that import modules by computed names, or ask a class for its heirs."""
        if self._finding is None:
            self._finding = [path for path in self._with(_FINDING) if self.outline(path).finds]
        return self._finding

    @property
    def looks_up(self) -> bool:
        """Whether some file finds names, its own or those of a module, by text."""
        return self._is("looks_up", self._finds_names)

    def _finds_names(self) -> bool:
        holds = any(b"__dict__" in data for data in self.texts.values())
        return holds or any(self.looks_up_in(self.outline(path)) for path in self._with(_LOOKING))

    def looks_up_in(self, outline: Outline) -> bool:
        """Whether a file finds names by text, and not only numbers in the text of an option."""
        evaluated = outline.evaluated
        return evaluated is None or not all(map(self._is_option_of_numbers, evaluated))

    def _is_option_of_numbers(self, name: str) -> bool:
        """Whether an option of a name has a text of numbers where none is typed, wherever a file
        states it: `parser.add_argument("--sizes", default="[64, 64]")`.
        """
        stated = re.compile(_OPTION % re.escape(_bytes_of(name)))
        options = [one for path in self.holding(name) for one in stated.finditer(self.texts[path])]
        return bool(options) and all(one["numbers"] is not None for one in options)

    @property
    def gets_attributes(self) -> bool:
        """Whether some file loads an attribute by a computed name."""
        return self._is(
            "gets", lambda: any(self.outline(path).gets for path in self._with(_GETTING))
        )

    @property
    def gets_any_attribute(self) -> bool:
        """Whether some file loads an attribute by a name that may be written nowhere."""
        return self._is(
            "gets_any", lambda: any(self.outline(path).gets_any for path in self._with(_GETTING))
        )

    @property
    def copies_attributes(self) -> bool:
        """Whether some file may take all attributes of an object at once, as the text tells."""
        return self._is(
            "copies",
            lambda: any(
                b"__dict__" in data or _VARS.search(data) is not None
                for data in self.texts.values()
            ),
        )

    def _is(self, flag: str, find: Callable[[], bool]) -> bool:
        """What holds of the program, found when it is asked for the first time."""
        known = self._flags.get(flag)
        if known is None:
            known = self._flags[flag] = find()
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


def _may_patch(data: bytes) -> bool:
    """Whether a text may bind names of modules and classes anew: not by `vars(options)`."""
    return any(
        place["object"] is None or re.search(_BOUND_BY_IMPORT % place["object"], data) is not None
        for place in _PATCHING.finditer(data)
    )


def _bytes_of(word: str) -> bytes:
    """A word as it stands in a file, which may be the name of a file that is no UTF-8."""
    return word.encode("utf-8", "surrogateescape")


def stem_of(path: str) -> str:
    """The name by which other files import a file: its own, or that of its folder."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name == INIT else os.path.splitext(name)[0]


def _folders(path: str) -> _Words:
    return tuple(os.path.dirname(path).split(os.sep))


def _dotted(path: str) -> _Words:
    """The folders and the name by which other files import a file."""
    folders, name = _folders(path), os.path.basename(path)
    return folders if name == INIT else (*folders, os.path.splitext(name)[0])


def words_of(imported: Import) -> _Words:
    """All words of an import statement: the last one may be a module or what stands in one."""
    return (*imported.words, imported.name) if imported.name.strip("*") else imported.words


def words_bound_by(imported: Import) -> _Words:
    """The words of the module that an imported name is, if it is one."""
    words = words_of(imported)
    return words[:1] if not imported.name and imported.bound == words[0] else words
