"""The outline of a file: what it defines, which names each definition uses, and what runs when the
file does. It is read from the tree; what stands in strings and comments is none of it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Any, Final

from tfnanlint.ops.frameworks import TRAINING_CALLS
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import blocks_of, nodes_in, statements_in

TOP: Final = ""  # the qualified name of the code outside of all definitions
_FUNCTIONS: Final = frozenset((ast.FunctionDef, ast.AsyncFunctionDef))
_DEFINITIONS: Final = _FUNCTIONS | {ast.ClassDef}
_WORK: Final = frozenset((*TRAINING_CALLS, "run"))
_IMPORTS: Final = frozenset((ast.Import, ast.ImportFrom))
_COMPOUND: Final = frozenset((ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith))
# Decorators that neither keep a function for others nor call it.
_PLAIN_DECORATORS: Final = frozenset(
    "function staticmethod classmethod property cached_property abstractmethod override lru_cache "
    "cache defun wraps tf_function setter recompute_grad custom_gradient".split()
)
# Calls that find a module, or anything else of the program, by a name that is computed.
_FINDERS: Final = frozenset(
    "import_module __import__ load_source exec_module run_path run_module locate instantiate "
    "find_module __subclasses__ Fire".split()
)
_HEIRS: Final = "__init_subclass__"  # a class that knows all that inherit from it
# Calls that look names of their own file up.
_LOOKUPS: Final = frozenset("globals eval exec locals".split())
_RUNNERS: Final = "app.run"  # calls `main` of the script
_MAIN: Final = "main"
_CASE: Final = "TestCase"  # the end of the name of a class whose heirs a runner of tests finds


class Definition:
    """A function or class of a file. `parent` is the qualified name of what it stands in, `bases`
    are the names that a class inherits from, each with the package that it is imported from.
    `is_open` says that code calls it that is not seen: a decorator or a metaclass has it.
    """

    __slots__ = ("name", "parent", "is_class", "bases", "is_open")

    def __init__(self, name: str, parent: str, is_class: bool):
        self.name = name
        self.parent = parent
        self.is_class = is_class
        self.bases: list[tuple[str, str]] = []
        self.is_open = False


class Use:
    """Where a name is loaded: in which definition, as an attribute or not, and of which imported
    package, "" where it is of none.
    """

    __slots__ = ("owner", "is_attribute", "package")

    def __init__(self, owner: str, is_attribute: bool, package: str):
        self.owner = owner
        self.is_attribute = is_attribute
        self.package = package


class Outline:
    """What a file defines and uses.

    `imported` are all words of its import statements, `stars` the modules of which it imports all,
    `handed` the words of imports whose names are loaded by themselves and not for an attribute.
    `is_script`: it does something when it is run, besides defining; `is_program`: it has a main
    part, trains something, or calls a function for what that does. `lists_exports`: it has
    `__all__`. `looks_up`: it finds its own names by text; `finds`: it finds modules so; `gets`: it
    finds attributes so. `starts_main`: it hands its `main` to a runner.

    Of a file that cannot be parsed, Python 2, the `words` are given: each may be used and imported.
    """

    __slots__ = (
        "definitions",
        "uses",
        "imported",
        "stars",
        "handed",
        "is_script",
        "is_program",
        "lists_exports",
        "looks_up",
        "finds",
        "gets",
        "starts_main",
        "_is_notebook",
        "_origins",
    )

    def __init__(self, tree: ast.Module, words: Collection[str] = (), is_notebook: bool = False):
        self.definitions: dict[str, Definition] = {}
        self.uses: dict[str, list[Use]] = {}
        self.imported: set[str] = set()
        self.stars: set[str] = set()
        self.handed: set[str] = set()
        self.is_script = False
        self.is_program = False
        self.lists_exports = False
        self.looks_up = False
        self.finds = False
        self.gets = False
        self.starts_main = False
        self._is_notebook = is_notebook
        self._origins: dict[str, tuple[str, str]] = {}  # of imported names: package and last word
        for word in words:
            self._use(word, TOP, False, "")
            self._use(word, TOP, True, "")
        self.imported.update(words)
        self.is_script = is_notebook or bool(words)
        for node in statements_in(tree):
            if type(node) in _IMPORTS:
                self._import(node)
        self._block(tree.body, TOP, "")
        self._read_top(tree.body)

    # Imports

    def _import(self, node: Any) -> None:
        module = getattr(node, "module", None) or ""
        words = module.split(".") if module else []
        relative = bool(getattr(node, "level", 0))
        self.imported.update(words)
        for alias in node.names:
            parts = alias.name.split(".")
            self.imported.update(parts)
            if alias.name == "*":
                self.stars.update(words[-1:] or ["."])
                continue
            plain = type(node) is ast.Import
            bound = alias.asname or parts[0]
            package = "." if relative else words[0] if words else parts[0]
            self._origins[bound] = package, parts[0] if plain and not alias.asname else parts[-1]
            if alias.asname and not plain and alias.asname != alias.name:
                self._use(alias.name, TOP, False, "")  # it goes on under another name

    # Definitions

    def _block(self, body: list[ast.stmt], owner: str, of_class: str) -> None:
        """Read some statements of a definition; `of_class` is the class whose body they are."""
        for statement in body:
            kind = type(statement)
            if kind in _FUNCTIONS:
                self._function(statement, owner, of_class)
            elif kind is ast.ClassDef:
                self._class(statement, owner, of_class)
            elif kind not in _IMPORTS:
                self._statement(statement, owner, of_class)

    def _define(self, node: Any, parent: str, is_class: bool) -> str:
        name = f"{parent}.{node.name}" if parent else node.name
        known = self.definitions.get(name)
        if known is None:
            known = self.definitions[name] = Definition(node.name, parent, is_class)
        self.finds = self.finds or node.name == _HEIRS
        known.is_open = known.is_open or not _PLAIN_DECORATORS.issuperset(
            [_decorator(one) for one in node.decorator_list]
        )
        return name

    def _function(self, node: Any, owner: str, of_class: str) -> None:
        name = self._define(node, of_class or owner, False)
        for part in (*node.decorator_list, node.args, node.returns):
            if part is not None:
                self._expression(part, owner)
        self._block(node.body, name, "")

    def _class(self, node: Any, owner: str, of_class: str) -> None:
        name = self._define(node, of_class or owner, True)
        definition = self.definitions[name]
        definition.bases += [(leaf(base), self._package(base)) for base in node.bases]
        definition.is_open = definition.is_open or bool(node.keywords)
        for one in node.decorator_list:
            self._expression(one, owner)
        for base in node.bases:
            self._expression(base, name)
        for keyword in node.keywords:
            self._expression(keyword.value, owner)
        self._block(node.body, owner, name)

    def _statement(self, node: Any, owner: str, of_class: str) -> None:
        blocks = blocks_of(node)
        if not blocks:
            self._expression(node, owner)
            return
        inner = {id(one) for block in blocks for one in block}
        for part in ast.iter_child_nodes(node):
            if id(part) not in inner and type(part) not in _HANDLING:
                self._expression(part, owner)
        for part in _handlers(node):
            self._expression(part, owner)
        for block in blocks:
            self._block(block, owner, of_class)

    # Uses

    def _use(self, name: str, owner: str, is_attribute: bool, package: str) -> None:
        self.uses.setdefault(name, []).append(Use(owner, is_attribute, package))

    def _expression(self, node: ast.AST, owner: str) -> None:
        based: set[int] = set()  # names that are loaded for an attribute
        for one in nodes_in(node):
            kind: Any = type(one)
            if kind is ast.Attribute:
                self._attribute(one, owner, based)
            elif kind is ast.Name:
                self._name(one, owner, based)
            elif kind is ast.Call:
                self._call(one, owner)

    def _attribute(self, node: Any, owner: str, based: set[int]) -> None:
        root = node.value
        if type(root) is ast.Name:
            based.add(id(root))
        if type(node.ctx) is not ast.Load:
            return
        self._use(node.attr, owner, True, self._package(root))

    def _package(self, node: Any) -> str:
        """The package that a name, or an attribute of it, is imported from."""
        while type(node) is ast.Attribute:
            node = node.value
        return self._origins.get(node.id, ("", ""))[0] if type(node) is ast.Name else ""

    def _name(self, node: Any, owner: str, based: set[int]) -> None:
        if type(node.ctx) is not ast.Load:
            self.lists_exports = self.lists_exports or node.id == "__all__"
            return
        self._use(node.id, owner, False, self._package(node))
        if node.id in self._origins and id(node) not in based:
            self.handed.add(self._origins[node.id][1])

    def _call(self, node: Any, owner: str) -> None:
        name = leaf(node.func)
        if name in _FINDERS:
            self.finds = True
        elif name in _LOOKUPS and type(node.func) is ast.Name:
            self.looks_up = True
        elif name == "vars" and not node.args:
            self.looks_up = True
        elif name in ("getattr", "hasattr", "attrgetter", "methodcaller") and node.args:
            self._look(node, owner)
        elif name == "run" and ast.unparse(node.func).endswith(_RUNNERS):
            self.starts_main = True

    def _look(self, node: Any, owner: str) -> None:
        """`getattr(model, "loss")` loads an attribute; with a name that is computed, any."""
        sought = node.args[1] if len(node.args) > 1 else node.args[0]
        if isinstance(sought, ast.Constant) and isinstance(sought.value, str):
            for part in sought.value.split("."):
                self._use(part, owner, True, "")
        else:
            self.gets = True

    # What runs

    def _read_top(self, body: list[ast.stmt]) -> None:
        for statement in body:
            kind = type(statement)
            if kind is ast.If and _asks_for_main(statement):
                self.is_script = self.is_program = True
            elif kind in _COMPOUND or kind is ast.Expr and _calls(statement):
                self.is_script = True
            elif kind in (ast.If, ast.Try) and any(
                type(one) is ast.Expr and _calls(one)
                for block in blocks_of(statement)
                for one in block
            ):
                self.is_script = True
        self.is_program = self.is_program or any(map(self._does_work, statements_of(body)))

    def _does_work(self, statement: ast.stmt) -> bool:
        """Whether a statement outside of all definitions trains something, or calls a function of
        the project for what it does.
        """
        for node in nodes_in(statement):
            if type(node) is not ast.Call:
                continue
            function: Any = node.func
            if type(function) is ast.Attribute and function.attr in _WORK:
                return True
            is_run = type(statement) is ast.Expr or self._is_notebook
            if is_run and type(function) is ast.Name:
                if function.id in self.definitions or function.id in self._origins:
                    return True
        return False


def statements_of(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body that hold no others, outside of definitions."""
    waiting = list(body)
    for statement in waiting:  # it grows on the way
        if type(statement) in _DEFINITIONS:
            continue
        blocks = blocks_of(statement)
        for block in blocks:
            waiting += block
        if not blocks:
            yield statement


_HANDLING: Final = frozenset((ast.ExceptHandler, ast.match_case))


def _handlers(node: Any) -> list[ast.AST]:
    """The expressions of the handlers and cases of a statement."""
    found: list[ast.AST] = [one.type for one in getattr(node, "handlers", ()) if one.type]
    for case in getattr(node, "cases", ()):
        found.append(case.pattern)
        found += [case.guard] if case.guard is not None else []
    return found


def _decorator(node: ast.expr) -> str:
    return leaf(node.func if isinstance(node, ast.Call) else node)


def _calls(statement: ast.stmt) -> bool:
    return any(type(one) is ast.Call for one in nodes_in(statement))


def _asks_for_main(node: Any) -> bool:
    """Whether a test compares `__name__`."""
    return any(isinstance(one, ast.Name) and one.id == "__name__" for one in nodes_in(node.test))


def is_case(base: str) -> bool:
    """Whether a runner of tests finds what inherits from a base."""
    return base.endswith(_CASE)


def is_main(name: str, outline: Outline) -> bool:
    """Whether a script calls a function of a name through `app.run()`."""
    return name == _MAIN and outline.starts_main
