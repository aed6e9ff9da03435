"""Names that nothing binds: to load one raises NameError, to import one from a module ImportError.

Nothing is evaluated. What may bind names that are not written in a file leaves nothing known of it:
star imports, text that is evaluated, patches from other files. A name that no file of the program
defines is no mistake of one: the file may be a part of a program that is not here.
"""

from __future__ import annotations

import ast
import builtins
from typing import Final

from tfnanlint.project.bindings import bindings_of
from tfnanlint.project.names import Names
from tfnanlint.project.outline_entries import Import, Use
from tfnanlint.project.outlines import TOP
from tfnanlint.project.programs import Program
from tfnanlint.syntax.access_paths import leaf

# Names that Python binds, in some version or another, or a shell in which files may be run.
_ALWAYS: Final = frozenset(dir(builtins)) | frozenset(
    "aiter anext BaseExceptionGroup ExceptionGroup EncodingWarning PythonFinalizationError "
    "apply basestring buffer cmp coerce execfile file intern long raw_input reduce reload unichr "
    "unicode xrange StandardError WindowsError exit quit copyright credits license "
    "get_ipython display In Out profile spark sc sqlContext dbutils reveal_type".split()
)
# Functions that may bind names by text, and attributes that hold all names of a module.
_BINDING: Final = ("globals", "exec", "execfile", "vars")
_NAMESPACES: Final = ("__dict__", "modules")
_BUILTINS: Final = ("builtins", "__builtin__", "__builtins__")


class Unbound:
    """Which names the files of a program do not bind."""

    def __init__(self, program: Program, names: Names):
        self._program = program
        self._names = names
        self._closed: dict[str, bool] = {}

    def is_name(self, path: str, name: str) -> bool:
        """Whether to load a name raises NameError wherever it stands in a file: that of a function
        or class of another file, which is not imported.
        """
        if name in _ALWAYS or name.startswith("_") or not path.endswith(".py"):
            return False  # the cells of a notebook are run in any order, and those that are lost
        outline = self._names.outline(path)
        if name in outline.definitions or any(one.bound == name for one in outline.imports):
            return False  # as most are
        if not self._program.states(name) or self._count(path, name):
            return False
        return self._binds_all(path) and not self._program.may_patch(path, name)

    def missing(self, path: str, statement: ast.ImportFrom) -> str:
        """The name that an import statement does not find in a module of the program."""
        outline = self._names.outline(path)
        if outline.is_words:
            return ""
        words = tuple((statement.module or "").split(".")) if statement.module else ()
        for alias in statement.names:
            if alias.name == "*" or alias.name.startswith("__"):
                continue
            imported = Import(statement.level, words, alias.name, alias.asname or alias.name)
            module = self._only_module(path, imported)
            if module and self._lacks(module, alias.name):
                return alias.name
        return ""

    def _only_module(self, path: str, imported: Import) -> str:
        """The one file that a statement can import from; "" where it may be another."""
        modules = self._program.modules(path, imported, imported.words)
        if len(modules) != 1 or modules[0] == path:
            return ""
        module = modules[0]
        if not imported.level and not self._program.is_first(path, module, imported.words):
            return ""
        return module

    def _lacks(self, module: str, name: str) -> bool:
        """Whether a module has no such name: none that it binds, and no module inside of it."""
        if self._count(module, name) or self._count(module, "__getattr__"):
            return False
        if not self._binds_all(module) or self._names.outline(module).finds:
            return False
        if not self._program.is_module_file(module):  # one inside may be compiled, or generated
            if name in self._program.words or not self._program.states(name):
                return False
        return not self._program.may_patch(module, name)

    def _binds_all(self, path: str) -> bool:
        """Whether all names of a file are bound by its statements."""
        known = self._closed.get(path)
        if known is None:
            outline = self._names.outline(path)
            known = self._closed[path] = not (
                outline.is_words
                or outline.stars
                or self.binds_by_text(path)
                or self._program.names_file(path)
                or any(map(self._program.holding, _BUILTINS))
            )
        return known

    def binds_by_text(self, path: str) -> bool:
        """Whether a file may bind its own names by text. `eval` and the `locals()` of a function
        only look names up; `vars` may be the name of something else, and of an object that is no
        module it holds attributes.
        """
        outline = self._names.outline(path)
        modules = {one.bound for one in outline.imports}
        return (
            any(
                not self._count(path, word) and not all(_is_of_object(use, modules) for use in uses)
                for word in _BINDING
                if (uses := outline.uses(word))
            )
            or any(use.is_attribute for word in _NAMESPACES for use in outline.uses(word))
            or any(use.owner == TOP for use in outline.uses("locals"))
        )

    def _count(self, path: str, name: str) -> int:
        return bindings_of(self._names.outline(path))[name]


def _is_of_object(use: Use, modules: set[str]) -> bool:
    """Whether `vars(options)` is asked for the attributes of an object, and not of a module."""
    arguments = use.call.args if use.call is not None and leaf(use.call.func) == "vars" else []
    return (
        len(arguments) == 1
        and isinstance(arguments[0], ast.Name)
        and arguments[0].id not in modules
    )
