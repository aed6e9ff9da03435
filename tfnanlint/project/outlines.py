"""The outline of a file: what it defines, which names each definition uses, and what runs when the
file does. It is read from the tree; what stands in strings and comments is none of it.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from typing import Any, Final

from tfnanlint.ops.frameworks import CUSTOM_GRADIENT, GRAPH_DECORATORS, TRAINING_CALLS
from tfnanlint.project.outline_entries import Definition, Import, Use
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import blocks_of, nodes_in

TOP: Final = ""  # the qualified name of the code outside of all definitions
_FUNCTIONS: Final = frozenset((ast.FunctionDef, ast.AsyncFunctionDef))
_DEFINITIONS: Final = _FUNCTIONS | {ast.ClassDef}
_WORK: Final = frozenset((*TRAINING_CALLS, "run"))
_IMPORTS: Final = frozenset((ast.Import, ast.ImportFrom))
# Statements that hold no others, and no names either that are defined or imported.
_SIMPLE: Final = frozenset((ast.Expr, ast.Assign, ast.AugAssign, ast.Return))
_COMPOUND: Final = frozenset((ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith))
# Decorators that neither keep a function for others nor call it.
_PLAIN_DECORATORS: Final = GRAPH_DECORATORS | frozenset(
    f"{CUSTOM_GRADIENT} staticmethod classmethod property cached_property abstractmethod "
    "override lru_cache cache wraps setter recompute_grad".split()
)
# Calls that find a module, or what stands in one, by a name that is computed.
_MODULE_FINDERS: Final = frozenset("import_module __import__ load_source".split())
FINDERS: Final = _MODULE_FINDERS | frozenset(
    "exec_module load_module walk_packages iter_modules run_path run_module locate instantiate "
    "find_module __subclasses__ Fire exec".split()
)
_NOTHING: Final[frozenset[str]] = frozenset()
# By the name of what is called, the flags of an outline that the call sets.
_SAID: Final = {name: frozenset(("finds",)) for name in FINDERS} | {
    "Fire": frozenset(("finds", "gets", "gets_any"))  # the command line names a method
}
HEIRS: Final = "__init_subclass__"  # a class that knows all that inherit from it
# Calls that look names of their own file up.
_LOOKUPS: Final = frozenset("globals eval exec locals".split())
_GETTERS: Final = frozenset("getattr hasattr attrgetter methodcaller".split())
_RUNNERS: Final = "app.run"  # calls `main` of the script
_MAIN: Final = "main"
_METACLASS: Final = "metaclass"
_CASE: Final = "TestCase"  # the end of the name of a class whose heirs a runner of tests finds


_GETTING: Final = re.compile(rf"\b(?:{'|'.join(_GETTERS)}|Fire)\b")
# By a flag of an outline, the text that stands in the statements which may set it.
_SIGNS: Final = {
    "lists_exports": re.compile(r"\b__all__\b"),
    "looks_up": re.compile(rf"\b(?:{'|'.join((*_LOOKUPS, 'vars'))})\b"),
    "finds": re.compile(rf"\b(?:{'|'.join(FINDERS)})\b"),
    "gets": _GETTING,
    "gets_any": _GETTING,
    "starts_main": re.compile(r"app\.run\b"),
}


class Outline:
    """What a file defines and uses.

    `imported` are all words of its import statements, each with the packages from which these
    import, `imports` what these bind, `stars` the modules of which it imports all.
    `is_script`: it does something when it is run, besides defining. Only what it defines and
    imports is read at once. Of all else those statements are read in which a name stands that is
    asked for: most files are asked for a few.
    """

    __slots__ = (
        "text",
        "tree",
        "definitions",
        "imported",
        "imports",
        "stars",
        "is_script",
        "is_words",
        "layout",
        "bindings",
        "_line_starts",
        "_is_notebook",
        "_origins",
        "_uses",
        "_calls",
        "_sought",
        "_read_rows",
        "_read_nodes",
        "_handed",
        "_found",
        "_flags",
        "_evaluated",
        "_is_program",
    )

    def __init__(
        self, text: str, tree: ast.Module, line_starts: list[int], is_notebook: bool = False
    ):
        self.text = text
        self.definitions: dict[str, Definition] = {}
        self.imported: dict[str, set[str]] = {}
        self.imports: list[Import] = []
        self.stars: set[str] = set()
        self.tree = tree
        self.is_words = False
        self.layout: Any = None  # its branches, as long as they were not asked for
        self.bindings: Any = None  # how often it binds which name, likewise
        self._line_starts = line_starts
        self._is_notebook = is_notebook
        self._origins: dict[str, tuple[str, str]] = {}  # of imported names: package and last word
        self._uses: dict[str, list[Use]] = {}
        self._calls: dict[ast.expr, ast.Call] = {}  # by what is called
        self._sought: set[str] = set()
        self._read_rows: set[int] = set()
        self._read_nodes: set[ast.AST] = set()
        self._handed: set[str] = set()
        self._found: set[tuple[str, bool]] = set()  # begins of modules' names, or whole ones
        self._flags: set[str] = set()
        self._evaluated: set[str] = set()
        self._is_program: bool | None = None
        self._read_definitions(tree.body)
        self.is_script = is_notebook or any(map(_runs_something, tree.body))

    # Imports

    def _import(self, node: Any) -> None:
        dotted = getattr(node, "module", None) or ""
        words = dotted.split(".") if dotted else []
        level = getattr(node, "level", 0) or 0
        for alias in node.names:
            parts = alias.name.split(".")
            package = "." if level else words[0] if words else parts[0]
            for word in (*words, *parts):
                self.imported.setdefault(word, set()).add(package)
            plain = type(node) is ast.Import
            bound = alias.asname or parts[0]
            module, name = (parts, "") if plain else (words, alias.name)
            self.imports.append(Import(level, tuple(module), name, bound))
            if alias.name == "*":
                self.stars.update(words[-1:] or ["."])
                continue
            self._origins[bound] = package, parts[0] if plain and not alias.asname else parts[-1]
            if alias.asname and not plain and alias.asname != alias.name:
                self._use(alias.name, TOP, False, "")  # it goes on under another name

    # Definitions

    def _read_definitions(self, body: list[ast.stmt]) -> None:
        """Read what is defined and imported in some statements and inside of them."""
        classes: list[tuple[Any, str]] = []
        waiting: list[tuple[list[ast.stmt], str, str]] = [(body, TOP, "")]
        for block, owner, of_class in waiting:  # it grows on the way
            for node in block:
                kind = type(node)
                if kind in _IMPORTS:
                    self._import(node)
                elif kind in _DEFINITIONS:
                    name = self._define(node, of_class or owner)
                    is_class = kind is ast.ClassDef
                    if is_class:
                        classes.append((node, name))
                    waiting.append((_body_of(node), *_inside(name, owner, is_class)))
                elif kind not in _SIMPLE:
                    waiting += [(inner, owner, of_class) for inner in blocks_of(node)]
        for node, name in classes:
            definition = self.definitions[name]
            metaclasses = [one.value for one in node.keywords if one.arg == _METACLASS]
            above = [*node.bases, *metaclasses]
            definition.bases += [(leaf(base), self._package(base)) for base in above]
            definition.is_open = definition.is_open or len(node.keywords) > len(metaclasses)

    def _define(self, node: Any, parent: str) -> str:
        name = f"{parent}.{node.name}" if parent else node.name
        known = self.definitions.get(name)
        if known is None:
            is_class = type(node) is ast.ClassDef
            known = self.definitions[name] = Definition(node.name, parent, is_class)
        if node.name == HEIRS:
            self._flags.add("finds")
        known.is_open = known.is_open or not _PLAIN_DECORATORS.issuperset(
            [_decorator(one) for one in node.decorator_list]
        )
        return name

    # Uses

    def uses(self, name: str) -> list[Use]:
        """Where a name is loaded."""
        if name not in self._sought:
            self._sought.add(name)
            for place in _places(self.text, name):
                self._read(bisect_right(self._line_starts, place))
        return self._uses.get(name, [])

    def hands_on(self, bound: str) -> bool:
        """Whether an imported name is loaded by itself, and not for an attribute."""
        self.uses(bound)
        return bound in self._handed

    def exports(self, name: str) -> bool:
        """Whether its `__all__` names a definition, or may."""
        if "__all__" not in self.text or not self._is("lists_exports"):
            return False
        listed = _listed(self.tree) if self.text.count("__all__") == 1 else None
        outer = name.partition(".")[0]
        return listed is None or not outer or outer in listed

    @property
    def looks_up(self) -> bool:
        """Whether it finds its own names by text."""
        return self._is("looks_up") or bool(self._evaluated)

    @property
    def evaluated(self) -> set[str] | None:
        """The attributes whose texts it evaluates: `eval(options.sizes)`; None where it finds names
        by other texts, too.
        """
        return None if self._is("looks_up") else self._evaluated

    @property
    def finds(self) -> bool:
        """Whether it finds modules by text, or a class asks for its heirs."""
        return self._is("finds") or bool(self._found)

    @property
    def finds_any(self) -> bool:
        """Whether nothing is known of the modules that it finds by text."""
        return self._is("finds")

    def may_find(self, words: tuple[str, ...]) -> bool:
        """Whether it may find a module by text that is written there: all words at the end of the
        module's, or what a text begins with that is computed.
        """
        dotted = f".{'.'.join(words)}."
        return self.finds and any(
            dotted.endswith(f".{text}.") if is_whole else f".{text}" in dotted
            for text, is_whole in self._found
        )

    @property
    def gets(self) -> bool:
        """Whether it finds attributes by text that is computed."""
        return self._is("gets")

    @property
    def gets_any(self) -> bool:
        """Whether it finds attributes by text that comes from outside or is put together: what is
        typed, an option, `"fit_" + name`. A variable that names one holds a name that is written
        somewhere, as that of a loop over names does.
        """
        return self._is("gets_any")

    @property
    def starts_main(self) -> bool:
        """Whether it hands its `main` to a runner."""
        return self._is("starts_main")

    @property
    def is_program(self) -> bool:
        """Whether it has a main part, trains something, or calls a function for what that does."""
        if self._is_program is None:
            body = self.tree.body
            self._is_program = any(map(_is_main_part, body)) or any(
                map(self._does_work, statements_of(body))
            )
        return self._is_program

    def run_file(self, path: str) -> None:
        """Note that a magic runs a file, as it is written: `../losses.py`."""
        stem = re.split(r"[/\\]", path.strip("\"'"))[-1].removesuffix(".py")
        if stem.isidentifier():
            self._found.add((stem, True))
        else:
            self._flags.add("finds")

    def _is(self, flag: str) -> bool:
        if flag not in self._sought:  # no name that is asked for is one of these
            self._sought.add(flag)
            for place in _SIGNS[flag].finditer(self.text):
                self._read(bisect_right(self._line_starts, place.start()))
        return flag in self._flags

    def _read(self, row: int) -> None:
        """Read the statements on a row."""
        if row in self._read_rows:
            return
        self._read_rows.add(row)
        waiting: list[tuple[list[ast.stmt], str, str]] = [(self.tree.body, TOP, "")]
        for block, owner, of_class in waiting:  # it grows on the way
            at = bisect_right(block, row, key=_first_row) - 1
            while at >= 0 and (block[at].end_lineno or row) >= row:
                node = block[at]
                at -= 1
                kind = type(node)
                if kind in _DEFINITIONS:
                    name = f"{of_class or owner}.{node.name}".lstrip(".")  # type: ignore[attr-defined]
                    waiting.append((_body_of(node), *_inside(name, owner, kind is ast.ClassDef)))
                elif kind not in _SIMPLE:
                    waiting += [(inner, owner, of_class) for inner in blocks_of(node)]
                if node not in self._read_nodes:
                    self._read_nodes.add(node)
                    self._statement(node, owner, of_class)

    def _statement(self, node: Any, owner: str, of_class: str) -> None:
        """Read one statement without those inside of it."""
        kind = type(node)
        if kind in _DEFINITIONS:
            self._head(node, owner, f"{of_class or owner}.{node.name}".lstrip("."))
            return
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

    def _head(self, node: Any, owner: str, name: str) -> None:
        """Read what stands around the body of a definition."""
        for decorator in node.decorator_list:
            self._expression(decorator, owner)
        if type(node) is ast.ClassDef:
            for base in node.bases:
                self._expression(base, name)
            for keyword in node.keywords:
                self._expression(keyword.value, owner)
            return
        for part in filter(None, (node.args, node.returns)):
            # what is only named there is used by those alone that call the function
            self._expression(part, owner if _calls(part) else name)

    def _use(
        self,
        name: str,
        owner: str,
        is_attribute: bool,
        package: str,
        node: ast.expr | None = None,
    ) -> None:
        call = self._calls.get(node) if node is not None else None
        self._uses.setdefault(name, []).append(Use(owner, is_attribute, package, node, call))

    def _expression(self, node: ast.AST, owner: str) -> None:
        based: set[int] = set()  # names that are loaded for an attribute
        for part in nodes_in(node):
            kind: Any = type(part)
            if kind is ast.Attribute:
                self._attribute(part, owner, based)
            elif kind is ast.Name:
                self._name(part, owner, based)
            elif kind is ast.Call:
                self._call(part, owner)

    def _attribute(self, node: Any, owner: str, based: set[int]) -> None:
        root = node.value
        if type(root) is ast.Name:
            based.add(id(root))
        if type(node.ctx) is not ast.Load:
            return
        self._use(node.attr, owner, True, self._package(root), node)

    def _package(self, node: Any) -> str:
        """The package that a name, or an attribute of it, is imported from."""
        while type(node) is ast.Attribute:
            node = node.value
        return self._origins.get(node.id, ("", ""))[0] if type(node) is ast.Name else ""

    def _name(self, node: Any, owner: str, based: set[int]) -> None:
        if type(node.ctx) is not ast.Load:
            if node.id == "__all__":
                self._flags.add("lists_exports")
            return
        self._use(node.id, owner, False, self._package(node), node)
        if node.id in self._origins and id(node) not in based:
            self._handed.add(node.id)

    def _call(self, node: Any, owner: str) -> None:
        self._calls[node.func] = node
        name = leaf(node.func)
        if type(node.func) is ast.Name and name in self.definitions:
            return  # the file's own
        text, is_whole = _begin_of(node.args[0]) if node.args else ("", False)
        if name in _MODULE_FINDERS and text.strip("."):
            self._found.add((text, is_whole))
        else:
            self._flags |= _SAID.get(name, _NOTHING)
        if name == "eval" and len(node.args) == 1 and type(node.args[0]) is ast.Attribute:
            self._evaluated.add(node.args[0].attr)
        elif name in _LOOKUPS and type(node.func) is ast.Name:
            self._flags.add("looks_up")
        elif name == "vars" and not node.args:
            self._flags.add("looks_up")
        elif name in _GETTERS and node.args:
            self._look(node, owner)
        elif name == "run" and ast.unparse(node.func).endswith(_RUNNERS):
            self._flags.add("starts_main")

    def _look(self, node: Any, owner: str) -> None:
        """`getattr(model, "loss")` loads an attribute; with a name that is computed, any; but of a
        module that was found, none of an object.
        """
        sought = node.args[1] if len(node.args) > 1 else node.args[0]
        if isinstance(sought, ast.Constant) and isinstance(sought.value, str):
            for part in sought.value.split("."):
                self._use(part, owner, True, "")
        elif len(node.args) < 2 or not self._is_found_module(node.args[0]):
            self._flags.add("gets")
            if not isinstance(sought, ast.Name):
                self._flags.add("gets_any")

    def _is_found_module(self, node: ast.expr) -> bool:
        """Whether an expression is a module that a call finds by a computed name, or a name that
        the file binds to nothing else.
        """
        if isinstance(node, ast.Call):
            return leaf(node.func) in _MODULE_FINDERS
        if not isinstance(node, ast.Name):
            return False
        bound = self._bound_to(node.id)
        return bool(bound) and all(
            [isinstance(one, ast.Call) and self._is_found_module(one) for one in bound]
        )

    def _bound_to(self, name: str) -> list[ast.expr | None]:
        """What a name is bound to by the assignments of the file; None is what is not seen."""
        bound: list[ast.expr | None] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    names = [one for one in nodes_in(target) if isinstance(one, ast.Name)]
                    if any(one.id == name for one in names):
                        bound.append(node.value if isinstance(target, ast.Name) else None)
            elif isinstance(node, ast.arg) and node.arg == name:
                bound.append(None)
        return bound

    # What runs

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


class Words(Outline):
    """The outline of a file that cannot be parsed, Python 2: each of its words may be imported,
    those outside of import statements may be used, and it runs.
    """

    __slots__ = ("_used",)

    def __init__(self, words: Collection[str], used: Collection[str]):
        super().__init__("", ast.Module([], []), [0])
        self._used = used
        self.is_words = True
        self.imported = {word: {"."} for word in words}
        self.is_script = True

    def uses(self, name: str) -> list[Use]:
        return [Use(TOP, False, ""), Use(TOP, True, "")] if name in self._used else []


def _listed(tree: ast.Module) -> list[Any] | None:
    """The names that a file lists in `__all__`; None where these are not written there."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Tuple)):
            if leaf(node.targets[0]) == "__all__":
                return [getattr(one, "value", "") for one in node.value.elts]
    return None


def _begin_of(node: ast.expr) -> tuple[str, bool]:
    """The text that an expression begins with, and whether that is all of it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value, True
    if isinstance(node, ast.JoinedStr) and node.values:
        return _begin_of(node.values[0])[0], False
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        text, is_whole = _begin_of(node.left)
        more, is_all = _begin_of(node.right) if is_whole else ("", False)
        return text + more, is_all
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _begin_of(node.left)[0].partition("%")[0], False
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_format = node.func.attr == "format"
        return (_begin_of(node.func.value)[0].partition("{")[0] if is_format else ""), False
    return "", False


def _body_of(node: Any) -> list[ast.stmt]:
    return node.body


def _inside(name: str, owner: str, is_class: bool) -> tuple[str, str]:
    """The owner of what stands in the body of a definition, and the class whose body it is: what a
    class has in its body runs where the class is defined.
    """
    return (owner, name) if is_class else (name, "")


def _first_row(node: Any) -> int:
    """The row on which a statement begins, that of its first decorator."""
    decorators = getattr(node, "decorator_list", None)
    return min(node.lineno, decorators[0].lineno) if decorators else node.lineno


def _places(text: str, name: str) -> Iterator[int]:
    """Where a name stands in a text by itself: not inside of a longer one."""
    place = text.find(name)
    while place >= 0:
        end = place + len(name)
        if not _is_in_name(text[place - 1 : place]) and not _is_in_name(text[end : end + 1]):
            yield place
        place = text.find(name, end)


def _is_in_name(char: str) -> bool:
    return char.isalnum() or char == "_"


def _runs_something(statement: ast.stmt) -> bool:
    """Whether a statement outside of all definitions does something besides defining."""
    kind = type(statement)
    if kind is ast.If and _asks_for_main(statement):
        return True
    if kind in _COMPOUND or kind is ast.Expr and _calls(statement):
        return True
    return kind in (ast.If, ast.Try) and any(
        type(one) is ast.Expr and _calls(one) for block in blocks_of(statement) for one in block
    )


def _is_main_part(statement: ast.stmt) -> bool:
    return type(statement) is ast.If and _asks_for_main(statement)


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
    expressions: list[ast.AST] = [one.type for one in getattr(node, "handlers", ()) if one.type]
    for case in getattr(node, "cases", ()):
        expressions.append(case.pattern)
        expressions += [case.guard] if case.guard is not None else []
    return expressions


def _decorator(node: ast.expr) -> str:
    return leaf(node.func if isinstance(node, ast.Call) else node)


def _calls(node: ast.AST) -> bool:
    return any(type(one) is ast.Call for one in nodes_in(node))


def _asks_for_main(node: Any) -> bool:
    """Whether a test compares `__name__`."""
    return any(isinstance(one, ast.Name) and one.id == "__name__" for one in nodes_in(node.test))


def is_case(base: str) -> bool:
    """Whether a runner of tests finds what inherits from a base."""
    return base.endswith(_CASE)


def is_main(name: str, outline: Outline) -> bool:
    """Whether a script calls a function of a name through `app.run()`."""
    return name == _MAIN and outline.starts_main
