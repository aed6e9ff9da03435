"""Spelling: how a file writes the canonical names of a rewrite, in a library that has them, with
the words of its parameters.

`tfnanlint.ops.spellings` says which library has which spelling. Which library an import leads to is
read from its path; of `tensorflow`, `tf.keras` and `keras` the text and the project's oldest
TensorFlow tell the versions, and a name must be in all that remain.
"""

from __future__ import annotations

import ast
import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final, Iterator, NamedTuple

from tfnanlint.conventions.releases import is_second_version
from tfnanlint.conventions.texts import is_first_version, is_old_keras, may_be_first_version
from tfnanlint.diagnostics.findings import Setup, release
from tfnanlint.interp.names import exported, starred
from tfnanlint.ops.names import inside, of_import
from tfnanlint.ops.site import Site
from tfnanlint.ops.spellings import INTERNAL, KERAS3_BACKEND, SINCE, SPELLINGS
from tfnanlint.ops.table import SYNONYMS, Op
from tfnanlint.ops.traits import WITH_GRADIENT_SINCE
from tfnanlint.program.scope import Assigned, Binding, Imported, Joined, Refined
from tfnanlint.rewrite.hole_test import NoFix
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.value import FLOATS

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine as Interpreter
    from tfnanlint.program.module import Module

DTYPES: Final = frozenset((*FLOATS, "bool", "int32", "int64"))
# The library of a path of modules, longest prefix first. "tensorflow", "tf.keras" and "keras" have
# versions: see `Speller._versions`.
_LIBRARIES: Final = (
    ("tensorflow.compat.v1.keras.", "tf.keras"),
    ("tensorflow.compat.v2.keras.", "tf.keras"),
    ("tensorflow.keras.", "tf.keras"),
    ("tensorflow.python.keras.", "keras2"),
    ("tensorflow.experimental.numpy.", "tnp"),
    ("tensorflow.compat.v2.experimental.numpy.", "tnp"),
    ("tensorflow.compat.v1.", "v1"),
    ("tensorflow.compat.v2.", "tf2"),
    ("tensorflow.contrib.", "slim"),
    ("tensorflow.python.", "internal"),
    ("tensorflow.", "tensorflow"),
    ("tf_keras.", "keras2"),
    ("keras.", "keras"),
    ("tf_slim.", "slim"),
    ("numpy.", "np"),
    ("tensorflow_probability.", "tfp"),
)
_LOSS_CLASS: Final = re.compile(r"keras\.losses\.[A-Z]")
_OPS_OF_KERAS: Final = re.compile(
    r"\bkeras(?:\.src|\.api)?(?:\.ops\b|\s+import\s+\(?[^\n)]*\bops\b)"
)
_KERAS3_IN_TF: Final = (2, 16)  # the first release whose tf.keras is Keras 3
_EVERY: Final = (1, 0)
_FIRST: Final = (1, 8)
_SECOND: Final = (2, 0)
_HOLE: Final = re.compile(r"\{([A-Za-z_]\w*)\}")
_NAME: Final = re.compile(r"(?:tf|K|keras|ops|np|tnp|tfp)(?:\.\w+)+")
# What to import when a fix needs a root that the file does not have.
IMPORTS: Final = {"tf": "import tensorflow as tf", "np": "import numpy as np"}
# Libraries whose functions work on numbers outside of the graph, or take arguments by name only.
_APART: Final = frozenset(("raw", "np", "math", "tnp", "builtins", "method"))
# The same in other names, for libraries that have not the first one.
FORMS: Final = {
    "tf.nn.softmax_cross_entropy_with_logits": (
        "ops.categorical_crossentropy({labels}, {logits}, from_logits=True)",
        "K.categorical_crossentropy({labels}, {logits}, from_logits=True)",
    ),
    "tf.nn.sigmoid_cross_entropy_with_logits": (
        "ops.binary_crossentropy({labels}, {logits}, from_logits=True)",
        "K.binary_crossentropy({labels}, {logits}, from_logits=True)",
    ),
    "tf.math.log_sigmoid": ("-tf.math.softplus(-{x})",),
}
_HOPS: Final = 6
_TIED: Final = (
    "the fix needs '{}', which Keras alone does not have; "
    "TensorFlow would tie this file to one backend"
)


class Use(NamedTuple):
    """A canonical name in a template, with the arguments of its call: how many stand in their
    place, the keywords of the others, and `given`, with which keywords the texts of these are given
    where they come from: empty for an argument in its place, None where that is not known. There
    are none for a name that is not called.
    """

    name: str
    positional: int = 0
    keywords: tuple[str, ...] = ()
    given: tuple[str | None, ...] = ()


class Spelling(NamedTuple):
    """How a file writes a canonical name, the import line that must be added for it, if any, and
    the words for its keywords where they differ; an empty word stands for none, in the argument's
    place.
    """

    text: str
    needs: str = ""
    words: tuple[tuple[str, str], ...] = ()


class Import(NamedTuple):
    """A name of the file for a canonical one, and the paths of modules that it may stand for
    (`try: import a as x / except: import b as x`).
    """

    local: str
    target: str
    paths: tuple[str, ...]


def _is_tensorflow(path: str) -> bool:
    """Whether a path of modules leads into TensorFlow, and not to `keras` or `keras.ops` in it."""
    inner = path.partition(".")[2]
    return path.split(".", 1)[0] == "tensorflow" and not re.fullmatch(r"keras(\.ops.*)?", inner)


@lru_cache(maxsize=None)
def signatures(alias: str) -> dict[str, tuple[str, ...]]:
    """The parameters of a spelling in each library that has it."""
    parts = [part.split() for part in SPELLINGS.get(alias, "").split(",") if part]
    return {library: tuple(words) for library, *words in parts}


def since(alias: str) -> tuple[int, int]:
    """The first release of TensorFlow that has a spelling, and its gradient; (1, 0) for all that
    1.8 has.
    """
    if alias in WITH_GRADIENT_SINCE:
        return release(WITH_GRADIENT_SINCE[alias])
    return release(SINCE[alias]) if alias in SINCE else (1, 0)


@lru_cache(maxsize=2)
def _is_first_version(text: str) -> bool:
    """`is_first_version`, which each rule has asked of the same text."""
    return is_first_version(text)


def _first_release(row: Op, alias: str) -> tuple[int, int]:
    """The first release of TensorFlow that has a function of an internal module: it is no younger
    than any public name of it.
    """
    leaf = alias.rpartition(".")[2]
    public = [name for name in row.aliases if name.startswith("tf.")]
    return min([since(name) for name in public if name.rpartition(".")[2] == leaf])


class Speller:
    """Spells names for one file."""

    def __init__(self, module: Module, interpreter: Interpreter, setup: Setup):
        self.module = module
        self.interpreter = interpreter
        self.setup = setup
        self._found_roots: dict[Any, tuple[int, list[str]]] = {}
        self._backends: dict[int, bool] = {}

    @property
    def text(self) -> str:
        return self.module.source.code

    @cached_property
    def first_version(self) -> bool:
        """Whether the file is written for TensorFlow 1."""
        target = self.setup.tensorflow
        return target is not None and target < _SECOND or _is_first_version(self.text)

    @property
    def only_first_version(self) -> bool:
        """Whether it is written for TensorFlow 1 itself, not for `tf.compat.v1` of a later one."""
        names = self.module.source.names
        return self.first_version and not ("compat" in names and "v1" in names)

    def spell(self, use: Use, site: Site) -> Spelling:
        """How the file writes a name at a site: through an import that it has, else with a new one.
        Raises NoFix.
        """
        row = self.interpreter.table.get(use.name)
        imports = self.imports(site)
        any_backend = self._is_for_any_backend(site)
        if any_backend:
            imports = [one for one in imports if not any(map(_is_tensorflow, one.paths))]
        roots = _roots(site.node)
        used = next((one for root in roots for one in imports if one.local == root), None)
        aliases = self._preferred(use, row, site)
        alone = (
            used is not None
            and used.target in self.interpreter.table
            or use.name.rsplit(".", 1)[-1][:1].isupper()
        )
        lacking = ""
        for alias in aliases:
            reaching = [
                (one, text) for one in imports if (text := inside(alias, one.target)) is not None
            ]
            for imported, text in sorted(
                reaching,
                key=lambda pair: (
                    pair[0] is not used,
                    (pair[1] == "") is not alone,
                    pair[1].count("."),
                ),
            ):
                words = self._words(
                    use, row, alias, [self._library(path + text) for path in imported.paths]
                )
                if words is not None:
                    return Spelling(imported.local + text, words=words)
                lacking = lacking or imported.local + text
        if use.name.startswith("tf.") and use.name[3:] in DTYPES:
            return Spelling(self.quoted(use.name[3:]))
        if lacking:
            raise NoFix(
                f"the fix needs '{use.name}', and the libraries imported here{self._of_release} "
                f"have no '{lacking}' that takes its arguments"
            )
        if any_backend and use.name.startswith("tf."):
            raise NoFix(_TIED.format(use.name))
        return self._with_import(use, aliases, site)

    @property
    def _of_release(self) -> str:
        """The oldest TensorFlow of the file, in words."""
        return "" if self.oldest is None else " (TensorFlow {}.{})".format(*self.oldest)

    def _is_for_any_backend(self, site: Site) -> bool:
        """Whether a site and all around it in its class or function compute with `keras.ops`: the
        TensorFlow that the file imports may be there for the data.
        """
        scope, around = site.point.scope if site.point is not None else None, None
        while scope is not None and not isinstance(scope.node, ast.Module):
            around, scope = scope.node, scope.parent.scope if scope.parent is not None else None
        if around is None or self.library(site) != "ops":
            return False
        if id(around) not in self._backends:
            self._backends[id(around)] = not any(
                isinstance(node, ast.Name) and _is_tensorflow(path)
                for node in nodes_in(around)
                for path in self.paths(site.point.lookup(getattr(node, "id", "")))
            )
        return self._backends[id(around)]

    def chooses_of_numbers(self, site: Site) -> bool:
        """Whether the `where` that the file has takes numbers beside a tensor, in its dtype: that
        of TensorFlow 2 and Keras 3, not of TensorFlow 1 (operands of one shape) and NumPy.
        """
        try:
            text = self.spell(Use("tf.where", 3), site).text
        except NoFix:
            return False
        local = text.split(".", 1)[0]
        paths = [
            path + text[len(local) :]
            for one in self.imports(site)
            if one.local == local
            for path in one.paths
        ]
        libraries = {
            version
            for path in paths or ["tensorflow.where"]
            for version in self._versions(self._library(path))
        }
        return libraries <= {"tf2", "keras3"}

    def reworded(self, template: str, site: Site) -> str:
        """A template without the names that cannot be spelled at a site,
        where one of `FORMS` can.
        """
        for name, forms in FORMS.items():
            if name in template:
                for form in (template, *[in_form(template, name, form) for form in forms]):
                    if self.can(form, site):
                        template = form
                        break
        return template

    def can(self, template: str, site: Site) -> bool:
        """Whether all names of a template can be spelled at a site without an import."""
        try:
            return not any([self.spell(use, site).needs for use in uses(template)])
        except NoFix:
            return False

    def _with_import(self, use: Use, aliases: list[str], site: Site) -> Spelling:
        """A name with the import that it needs. Raises NoFix."""
        root = use.name.split(".", 1)[0]
        line = IMPORTS.get(root)
        if root == "tf" and "tensorflow" not in self.text:
            raise NoFix(_TIED.format(use.name))
        if line is None or site.point.lookup(root) is not None:
            raise NoFix(f"'{use.name}' is needed for the fix: import TensorFlow in this file first")
        row = self.interpreter.table.get(use.name)
        path = line.split()[1]
        for alias in aliases:
            text = inside(alias, root)
            words = (
                self._words(use, row, alias, [self._library(path + text)])
                if text is not None
                else None
            )
            if words is not None:
                return Spelling(root + text, line, words)
        raise NoFix(f"the TensorFlow release of this project has no '{use.name}'")

    def quoted(self, text: str) -> str:
        """A string in the quotes that the file prefers."""
        quote = self.module.source.quote
        return f"{quote}{text}{quote}"

    # Which spelling

    def _preferred(self, use: Use, row: Op | None, site: Site) -> list[str]:
        """The spellings of a name, best first: of the library that is used there; in a file for
        TensorFlow 1 the oldest.
        """
        if row is None:
            return [use.name]
        library = self.library(site)
        aliases = [
            alias
            for alias in row.aliases
            if alias == use.name
            or (root := alias.split(".", 1)[0]) == library
            or root not in _APART
        ]
        if self.first_version:
            return sorted(
                aliases,
                key=lambda alias: (
                    alias.split(".", 1)[0] != library,
                    since(alias),
                    alias != use.name,
                    alias.count("."),
                ),
            )
        return sorted(
            aliases, key=lambda alias: (alias.split(".", 1)[0] != library, alias != use.name)
        )

    def library(self, site: Site) -> str:
        """The canonical root of the functions that are used at a site: its own, else that of the
        first call in it or in what it is made of.
        """
        if site.library not in ("", "operator", "method", "layer"):
            return site.library
        nodes: list[tuple[ast.AST, Any]] = [(site.node, site.point)]
        for param in site.args:
            origin = site.value(param).origin
            if (
                isinstance(origin, Site)
                and origin.point is not None
                and origin.point.module is self.module
            ):
                nodes.append((origin.node, origin.point))
        if site.point is not None and site.point.scope.function is not None:
            nodes.append((site.point.scope.node, site.point))
        for node, point in nodes:
            for inner in nodes_in(node):
                if isinstance(inner, ast.Call):
                    row, name = self.interpreter.row(inner.func, point)
                    root = name.split(".", 1)[0]
                    is_of_tensors = row is not None and bool(row.params)  # not `K.epsilon()`
                    if is_of_tensors and root in ("tf", "K", "ops", "tnp"):
                        return root
        return ""

    def _words(
        self, use: Use, row: Op | None, alias: str, libraries: list[str]
    ) -> tuple[tuple[str, str], ...] | None:
        """The words for the keywords of a use in a spelling that all of some libraries have; None
        when one has not that spelling, or an argument of the use.
        """
        if not self._there(alias, row, libraries):
            return None
        if row is None or alias not in SPELLINGS:
            return ()
        by_version = signatures(alias)
        known = [
            by_version[version]
            for library in libraries
            for version in self._versions(library)
            if version in by_version
        ]
        own = row.params_of(alias)
        if own[: use.positional] != row.params[: use.positional]:
            return None
        words: dict[str, str] = {}
        for place, (keyword, original) in enumerate(
            zip(use.keywords, use.given or (None,) * len(use.keywords)), use.positional
        ):
            in_place = (
                original == ""
                and own[place : place + 1] == (keyword,)
                and all([not word for word in words.values()])
            )
            word = (
                ""
                if in_place
                else self._word(keyword, [_meaning(params, keyword) for params in known], original)
            )
            if word is None:
                return None
            words[keyword] = word
        return tuple([(keyword, word) for keyword, word in words.items() if word != keyword])

    def _word(self, keyword: str, choices: list[list[str]], original: str | None) -> str | None:
        """The word for a keyword that each of some functions knows: the original one before the
        one that stands oftenest in the file.
        """
        if not choices:
            return keyword
        common = [word for word in choices[0] if all([word in words for words in choices])]
        if len(common) < 2:
            return common[0] if common else None
        return max(
            common,
            key=lambda word: (
                word == original,
                len(re.findall(rf"\b{word}\s*=(?!=)", self.text)),
                word == keyword,
            ),
        )

    def _there(self, alias: str, row: Op | None, libraries: list[str]) -> bool:
        """Whether each library, in each version that the file may run with, has a spelling. What no
        row and no table speaks of is there.
        """
        if alias.startswith("tf."):
            inner = row is not None and any(name.startswith("internal ") for name in libraries)
            first = _first_release(row, alias) if inner else since(alias)
            if first > _EVERY and self.oldest is not None and first > self.oldest:
                return False
        if row is None or alias not in SPELLINGS:
            return (row is None or row.name not in SPELLINGS) and not any(
                [library.startswith("internal ") for library in libraries]
            )
        if "keras" in libraries and _LOSS_CLASS.match(alias) and self._keras_has_functions_only:
            return False
        by_version = signatures(alias)
        return all(
            [
                self._in(version, alias, by_version)
                for library in libraries
                for version in self._versions(library)
            ]
        )

    @staticmethod
    def _in(version: str, alias: str, by_version: dict[str, tuple[str, ...]]) -> bool:
        if version.startswith("internal "):
            return (
                version.split()[1] in INTERNAL
                and alias.rsplit(".", 1)[1] in INTERNAL[version.split()[1]].split()
            )
        return version in by_version

    # Which library

    @cached_property
    def oldest(self) -> tuple[int, int] | None:
        """The oldest TensorFlow that the file runs with: the project's; of a file for TensorFlow 1,
        or one that may be, the first that has what it uses.
        """
        if self.setup.tensorflow is not None:
            return self.setup.tensorflow
        may_be_old = self.first_version or may_be_first_version(self.text)
        least = self._named or (_FIRST if may_be_old and "compat" not in self.text else None)
        if least is None:
            return None
        used = [name for name in SINCE if re.search(rf"\b{re.escape(name)}\b", self.text)]
        return max([least, *map(since, used)])

    @cached_property
    def _named(self) -> tuple[int, int] | None:
        """The release that the file or the papers of its project name; None where they name none
        or, as its own words show, another file is meant.
        """
        project = self.module.project
        if project is None:
            return None
        required, described = project.release_named(self.module.source.path)
        release = required or described
        if release is None or release >= _SECOND and self.first_version:
            return None
        is_of_other = required is None and release < _SECOND and is_second_version(self.text)
        return None if is_of_other else release

    @staticmethod
    def _library(path: str) -> str:
        """The library of a path of modules; of an internal one the path as well."""
        name = next((library for prefix, library in _LIBRARIES if path.startswith(prefix)), "")
        return f"internal {path.rpartition('.')[0]}" if name == "internal" else name

    def _versions(self, library: str) -> tuple[str, ...]:
        """The versions of a library that the file may run with."""
        if library == "tensorflow":
            target = self.setup.tensorflow or self._named
            if target is not None and target < _SECOND and not is_first_version(self.text):
                return ("v1", "tf2")
            if not self.first_version:
                return ("tf2",)
            return ("v1",) if self.only_first_version else ("v1", "tf2")
        if library == "tf.keras":
            if self.first_version:
                return ("keras2",)
            target = self.setup.tensorflow
            later = target is not None and target >= _KERAS3_IN_TF or "keras.ops" in self.text
            return ("tf.keras3",) if later else ("keras2", "tf.keras3")
        return self._keras if library == "keras" else (library,)

    @property
    def _keras(self) -> tuple[str, ...]:
        """The versions of Keras: its functions that another version lacks tell them."""
        if _OPS_OF_KERAS.search(self.text):
            return ("keras3",)
        backends = {
            one.local
            for one in self._imported(self.module.scope)
            if one.paths == ("keras.backend",)
        } | {"keras.backend"}
        used = {
            name
            for local in backends
            for name in re.findall(rf"\b{re.escape(local)}\.(\w+)", self.text)
        }
        return ("keras2",) if self.first_version or used - KERAS3_BACKEND else ("keras2", "keras3")

    @property
    def _keras_has_functions_only(self) -> bool:
        """Whether the Keras of the file may be one without classes of losses, before 2.3."""
        return (
            "keras2" in self._keras
            and "tensorflow.keras" not in self.text
            and is_old_keras(self.text)
        )

    # What is imported

    def imports(self, site: Site) -> list[Import]:
        """The imports that hold at a site."""
        imports: list[Import] = []
        scope = site.point.scope
        while scope is not None:
            for local in self._roots(scope):
                paths = tuple(dict.fromkeys(self.paths(site.point.lookup(local))))
                if paths:
                    imports.append(Import(local, of_import(paths[0]), paths))
            scope = scope.parent.scope if scope.parent is not None else None
        imports += self._starred({one.local for one in imports}, site)
        return sorted(imports, key=lambda imported: (len(imported.target), imported.local))

    def _roots(self, scope: Any) -> list[str]:
        """The names of a scope that may stand for modules, in order: asked for at every site."""
        size, roots = self._found_roots.get(scope, (-1, []))
        if size != len(scope.history):
            roots = [
                local
                for local, entry in scope.history.items()
                if "." not in local
                and "[" not in local
                and any(map(_may_be_module, entry.bindings()))
            ]
            self._found_roots[scope] = len(scope.history), roots
        return roots

    def _starred(self, known: set[str], site: Site) -> list[Import]:
        """The imports of files of the project that the file imports all names of:
        `from ops import *`, where that imports `tf`.
        """
        module, imports = self.module, {}
        for base, level in module.stars if module.project is not None else ():
            exporter, rest = module.project.find(base, level, module.source.path)
            for local in exporter.scope.history if exporter is not None and not rest else ():
                if local in known or "." in local or "[" in local or site.point.lookup(local):
                    continue
                binding = starred(self.interpreter, local, site.point)
                paths = tuple(dict.fromkeys(self.paths(binding)))
                if paths:
                    imports[local] = Import(local, of_import(paths[0]), paths)
        return list(imports.values())

    def _imported(self, scope: Any) -> Iterator[Import]:
        for local in scope.history:
            paths = (
                tuple(dict.fromkeys(self.paths(scope.at(local))))
                if "." not in local and "[" not in local
                else ()
            )
            if paths:
                yield Import(local, of_import(paths[0]), paths)

    def is_of_keras_alone(self, site: Site) -> bool:
        """Whether the function that a call names may be one of the Keras that was no part of
        TensorFlow: `from keras import backend as K`.
        """
        return any(
            path.partition(".")[0] == "keras"
            for root in (_roots(site.node) if site.point is not None else ())
            for path in self.paths(site.point.lookup(root))
        )

    def paths(self, binding: Binding | None, hops: int = 0) -> list[str]:
        """The paths of modules that a name may stand for; none where it may be anything else but
        None.
        """
        if isinstance(binding, Refined):
            binding = binding.base
        if isinstance(binding, Imported):
            # has not the functions of K
            there = binding.level == 0 and binding.dotted not in ("keras.src.backend", "tf")
            return [binding.dotted] if there and exported(self.interpreter, binding) is None else []
        if isinstance(binding, Joined) and hops < _HOPS:
            options = [self.paths(one, hops + 1) for one in binding.bindings if not _is_none(one)]
            return [path for found in options for path in found] if all(options) else []
        if isinstance(binding, Assigned) and hops < _HOPS:
            return self._assigned(binding, hops)
        return []

    def _assigned(self, binding: Assigned, hops: int) -> list[str]:
        """The paths of `K = tf.keras.backend`."""
        node, rest = binding.node, ""
        while isinstance(node, ast.Attribute):
            node, rest = node.value, f".{node.attr}{rest}"
        if not isinstance(node, ast.Name):
            return []
        return [path + rest for path in self.paths(binding.point.lookup(node.id), hops + 1)]


def uses(template: str) -> set[Use]:
    """The canonical names of a template, with the arguments of those that are called."""
    tree = ast.parse(_HOLE.sub("_hole_", template).strip())
    calls = {node.func: node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    used: set[Use] = set()
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        name = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
        if "_hole_" in name and _NAME.fullmatch(name) is not None:
            continue  # a part of the name stands in the hole
        if _NAME.fullmatch(name) is not None:
            call = calls.get(node)
            used.add(
                Use(name)
                if call is None
                else Use(
                    name, len(call.args), tuple([word.arg for word in call.keywords if word.arg])
                )
            )
        else:
            stack += ast.iter_child_nodes(node)
    return used


def in_call(template: str) -> bool:
    """Whether a template is the call of a canonical name."""
    node = ast.parse(_HOLE.sub("_hole_", template), mode="eval").body
    return isinstance(node, ast.Call) and _NAME.fullmatch(ast.unparse(node.func)) is not None


def in_form(template: str, name: str, form: str) -> str:
    """A template with another form for the calls of a name, whose arguments all have keywords or
    are one.
    """
    text = _HOLE.sub(lambda match: f"_hole_{match[1]}_", template)

    class Reworded(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            if ast.unparse(node.func) != name:
                return node
            arguments = {word.arg: word.value for word in node.keywords} | (
                {"x": node.args[0]} if node.args else {}
            )
            written = _HOLE.sub(lambda match: f"({ast.unparse(arguments[match[1]])})", form)
            return ast.parse(written, mode="eval").body

    tree = Reworded().visit(ast.parse(text, mode="eval"))
    return re.sub(r"_hole_(\w+?)_\b", r"{\1}", ast.unparse(tree))


def means(word: str, keyword: str) -> bool:
    """Whether a parameter of a function is what the rows call `keyword`."""
    return (
        word == keyword
        or SYNONYMS.get(word) == keyword
        or {SYNONYMS.get(word), keyword} == {"x", "logits"}
        or (word, keyword) in (("target", "labels"), ("output", "logits"))
    )


def _meaning(params: tuple[str, ...], keyword: str) -> list[str]:
    """The parameters of a function that are what the rows call `keyword`; it itself where a
    function takes any.
    """
    return [one for one in params if means(one, keyword)] or [keyword] * ("**" in params)


def _may_be_module(binding: Binding | None) -> bool:
    """Whether `Speller.paths` may give something for a binding."""
    if isinstance(binding, Refined):
        binding = binding.whole
    if isinstance(binding, Assigned):
        return isinstance(binding.node, (ast.Attribute, ast.Name))
    return isinstance(binding, (Imported, Joined))


def _roots(node: ast.AST) -> list[str]:
    """The name with which the callee of a call begins; of an operator those of the calls in it."""
    if isinstance(node, ast.Call):
        callee: ast.AST = node.func
        while isinstance(callee, ast.Attribute):
            callee = callee.value
        return [callee.id] if isinstance(callee, ast.Name) else []
    calls = [inner for inner in nodes_in(node) if isinstance(inner, ast.Call)]
    return [root for call in calls for root in _roots(call)]


def _is_none(binding: Binding) -> bool:
    return (
        isinstance(binding, Assigned)
        and isinstance(binding.node, ast.Constant)
        and binding.node.value is None
    )
