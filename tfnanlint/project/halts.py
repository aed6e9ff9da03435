"""Halts: statements that raise whenever they run, so that what follows them in their block never
does: calls that the signature of a function or class of the program does not allow.

Which file a name comes from has to be certain for that: code that patches names, or finds them by
text, and paths of import that are not seen decide nothing. A call alone that a definition does not
allow never enters it, whichever else it may call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from tfnanlint.ops.frameworks import BUILT_IN_EXITS, EXITS, GRAPH_DECORATORS
from tfnanlint.project.arguments import bound_by, is_spread
from tfnanlint.project.bindings import bindings_of
from tfnanlint.project.branches import FUNCTIONS, LEAVING, Layout, layout_of
from tfnanlint.project.names import INERT, KNOWN_FRAMEWORKS, Names, Node, TooMany
from tfnanlint.project.outline_entries import Import, Use
from tfnanlint.project.programs import Program
from tfnanlint.project.unbound import Unbound
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import blocks_of

_SIMPLE: Final = (
    *(ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign),
    *(ast.Return, ast.Raise),
)
# What may not be evaluated although the statement around it runs.
_LAZY: Final = (
    ast.Lambda,
    ast.IfExp,
    ast.BoolOp,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
# Decorators that change nothing of what a call may pass.
_FAITHFUL: Final = GRAPH_DECORATORS | {"staticmethod", "classmethod"}
_OF_CLASSES: Final = frozenset(("staticmethod", "classmethod"))
_INIT: Final = "__init__"
_MAKERS: Final = frozenset(("__new__", "__init_subclass__"))

Place = tuple[int, int]  # a row and a column


class Halts:
    """Which statements of the files of a program raise whenever they run."""

    def __init__(self, program: Program, names: Names):
        self._program = program
        self._names = names
        self._unmade: dict[Node, str] = {}
        self._unbound = Unbound(program, names)
        # of a block, how many of its statements were read, and why the last of these raises
        self._read: dict[int, tuple[list[ast.stmt], int, str]] = {}
        self._raising: dict[int, tuple[ast.stmt, str]] = {}  # of a statement, what it raises

    # What a call enters

    def refuses(self, node: Node, use: Use) -> bool:
        """Whether what a name is loaded for is a call that a definition does not allow."""
        call = use.call
        if call is None or is_spread(call):
            return False
        definition = self._names.definition(node)
        if definition is None:
            return False
        skips = (1, 0) if self._names.is_method(node[0], definition) else (0,)
        return self._refuses(node, call, skips)

    def _refuses(self, node: Node, call: ast.Call, skips: tuple[int, ...]) -> bool:
        """Whether a definition allows a call in none of the ways to skip its first parameters."""
        path, name = node
        layout = self._layout(path)
        if name in layout.classes:
            name, skips = f"{name}.{_INIT}", (1,)
            if not self._is_plain((path, node[1]), set()):
                return False
        function = layout.functions.get(name)
        if function is None or name in layout.repeated:
            return False
        if not _FAITHFUL.issuperset(map(leaf, function.decorator_list)):
            return False
        return all(bound_by(function.args, call, skipped) is None for skipped in skips)

    def _is_plain(self, node: Node, seen: set[Node]) -> bool:
        """Whether a call of a class does nothing but hand its arguments to `__init__`."""
        path, name = node
        layout, definition = self._layout(path), self._names.definition(node)
        if definition is None or definition.is_open or name in layout.repeated:
            return False
        if any(f"{name}.{maker}" in layout.functions for maker in _MAKERS):
            return False
        seen.add(node)
        return not layout.classes[name].keywords and all(
            [self._is_plain_base(path, *base, seen) for base in definition.bases]
        )

    def _is_plain_base(self, path: str, base: str, package: str, seen: set[Node]) -> bool:
        if package and not self._names.is_own(package):
            return package in KNOWN_FRAMEWORKS or base in INERT
        if base in INERT:
            return True
        classes = list(self._names.classes(path, base))
        return bool(classes) and all([one in seen or self._is_plain(one, seen) for one in classes])

    def unmade(self, node: Node) -> str:
        """Why no object of a class is ever made: its `__init__` raises. None inherits from it."""
        if node not in self._unmade:
            self._unmade[node] = self._raised_in_init(node)
        return self._unmade[node]

    def _raised_in_init(self, node: Node) -> str:
        path, name = node
        layout = self._layout(path)
        init = layout.functions.get(f"{name}.{_INIT}")
        if init is None or init.decorator_list or name in layout.repeated:
            return ""
        reason = self._halt(path, init.body, len(init.body))
        if not reason:
            return ""
        if not self._is_sure(node) or not self._is_plain(node, set()):
            return ""
        if self._names.heirs(node) or self._program.is_called_through(name):
            return ""
        if any("__new__" in self._names.outline(one).text for one in self._names.holding(name)):
            return ""
        return reason

    def is_of_object(self, path: str, name: str) -> bool:
        """Whether a method needs an object: no decorator of the program may call it otherwise."""
        function = self._layout(path).functions.get(name)
        return function is not None and all(
            leaf(one) not in _OF_CLASSES and self._is_known(path, one)
            for one in function.decorator_list
        )

    def _is_known(self, path: str, decorator: ast.expr) -> bool:
        node: Any = decorator.func if isinstance(decorator, ast.Call) else decorator
        while isinstance(node, ast.Attribute):
            node = node.value
        name = getattr(node, "id", "")
        imports = [one for one in self._names.outline(path).imports if one.bound == name]
        return bool(imports) and all(one.words[0] in KNOWN_FRAMEWORKS for one in imports)

    # What stands behind a statement that raises

    def before(self, path: str, row: int, column: int = 0) -> str:
        """Why code at a place never runs: what raises before it in a block around it."""
        outline = self._names.outline(path)
        if outline.is_words:
            return ""
        block = outline.tree.body
        is_rerun = not path.endswith(".py")  # the cells of a notebook, one by one
        while block:
            number = _index_at(block, (row, column))
            reason = "" if is_rerun else self._halt(path, block, number)
            if reason or number == len(block):
                return reason
            is_rerun = False
            around, block = block[number], _block_at(block[number], (row, column))
            reason = self._raised_by(path, around) if block else ""
            if reason:
                return reason
        return ""

    def _halt(self, path: str, block: list[ast.stmt], number: int) -> str:
        """What raises in a block before one of its statements."""
        _, read, reason = self._read.get(id(block), (block, 0, ""))
        while read < number and not reason:
            reason = self._halted(path, block[read])
            read += 1
        self._read[id(block)] = block, read, reason
        return reason if read <= number else ""

    def _halted(self, path: str, statement: ast.stmt) -> str:
        """Why what follows a statement in its block never runs."""
        reason = self._raised_by(path, statement)
        if not reason and isinstance(statement, LEAVING):
            return f"line {statement.lineno} leaves what is around it"
        if not reason and isinstance(statement, ast.Expr) and self._ends(path, statement.value):
            return f"line {statement.lineno} ends the program"
        return reason

    def _raised_by(self, path: str, statement: ast.stmt) -> str:
        """What a statement raises whenever it runs, before those inside of it do."""
        known = self._raising.get(id(statement))
        if known is None:
            try:
                reason = next(self._raised(path, statement), "")
            except TooMany:
                reason = ""
            known = self._raising[id(statement)] = statement, reason
        return known[1]

    def _raised(self, path: str, statement: ast.stmt) -> Iterator[str]:
        line = f"line {statement.lineno} raises"
        if isinstance(statement, ast.ImportFrom):
            missing = self._unbound.missing(path, statement)
            if missing:
                yield f"{line} ImportError: its module has no `{missing}`"
        for node in _surely_run(_computed_first(statement)):
            if isinstance(node, ast.Call) and self._is_refused(path, node):
                yield f"{line} TypeError: `{leaf(node.func)}` does not take these arguments"
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                if self._unbound.is_name(path, node.id):
                    yield f"{line} NameError: nothing binds `{node.id}`"
        if isinstance(statement, ast.ClassDef):
            for inner in statement.body:
                yield from self._raised(path, inner)

    def _ends(self, path: str, node: ast.expr) -> bool:
        """Whether an expression is a call that ends the program: `sys.exit()`. That of `exit()` in
        a notebook goes on to the end of the cell.
        """
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Name):
            outline = self._names.outline(path)
            is_bound = self._count(path, function.id) or self._unbound.binds_by_text(path)
            is_bound = is_bound or any(map(self._names.is_own, outline.stars))
            return function.id in BUILT_IN_EXITS and path.endswith(".py") and not is_bound
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return False
        name = function.value.id
        imports = [one for one in self._names.outline(path).imports if one.bound == name]
        are_plain = all(one.words[:1] == (name,) and not one.name for one in imports)
        return (
            f"{name}.{function.attr}" in EXITS
            and are_plain
            and self._count(path, name) == len(imports) > 0
        )

    def _is_refused(self, path: str, call: ast.Call) -> bool:
        """Whether it is certain that a call is one that a definition does not allow. Most calls are
        allowed: the signature is looked at first.
        """
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if not name or is_spread(call):
            return False
        outline = self._names.outline(path)
        imported = None
        home = path, name
        if name not in outline.definitions:
            imported = next((one for one in outline.imports if one.bound == name), None)
            if imported is None or not imported.name:
                return False
            modules = self._program.modules(path, imported, imported.words)
            home = next(iter(modules), ""), imported.name
        if not home[0] or not self._refuses(home, call, (0,)):
            return False
        if outline.stars or self._unbound.binds_by_text(path) or self._count(path, name) != 1:
            return False
        return self._is_sure(home) and (imported is None or self._is_sure_of(path, imported))

    def _is_sure(self, node: Node) -> bool:
        """Whether a name of a file is a definition that nothing replaces or changes."""
        path, name = node
        outline = self._names.outline(path)
        if name not in outline.definitions or self._count(path, name) != 1:
            return False
        return not (
            outline.stars
            or self._unbound.binds_by_text(path)
            or self._program.may_patch(path, name)
        )

    def _is_sure_of(self, path: str, imported: Import) -> bool:
        """Whether one file alone, a plain module, may be what a statement imports from."""
        modules = self._program.modules(path, imported, imported.words)
        if len(modules) != 1 or modules[0] == path or not imported.words:
            return False
        if not self._program.is_module_file(modules[0]):
            return False
        return bool(imported.level) or self._program.is_first(path, modules[0], imported.words)

    # Files

    def _layout(self, path: str) -> Layout:
        return layout_of(self._names.outline(path))

    def _count(self, path: str, name: str) -> int:
        """How often a file binds a name."""
        return bindings_of(self._names.outline(path))[name]


def _computed_first(statement: Any) -> list[ast.AST]:
    """What a statement computes whenever it runs, before the statements inside of it do."""
    if isinstance(statement, _SIMPLE):
        return [statement]
    if isinstance(statement, (ast.If, ast.While)):
        return [statement.test]
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return [statement.iter]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [statement.items[0].context_expr]  # it may suppress what the others raise
    if isinstance(statement, ast.ClassDef):
        return [*statement.decorator_list, *statement.bases]
    if isinstance(statement, FUNCTIONS):
        defaults = (*statement.args.defaults, *filter(None, statement.args.kw_defaults))
        return [*statement.decorator_list, *defaults]
    return []


def _surely_run(parts: list[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of some parts of a statement that are evaluated whenever these are."""
    waiting = list(parts)
    for node in waiting:  # it grows on the way
        if isinstance(node, _LAZY) or isinstance(node, ast.Compare) and len(node.ops) > 1:
            continue
        yield node
        if isinstance(node, ast.AnnAssign):
            waiting += [node.value] if node.value else []
        else:
            waiting += ast.iter_child_nodes(node)


def _index_at(block: list[ast.stmt], place: Place) -> int:
    """Which statement of a block a place stands in: the first that ends behind it."""
    low, high = 0, len(block)
    while low < high:
        middle = (low + high) // 2
        if _end_of(block[middle]) > place:
            high = middle
        else:
            low = middle + 1
    return low


def _block_at(statement: ast.stmt, place: Place) -> list[ast.stmt]:
    """The block inside of a statement that a place stands in."""
    for block in blocks_of(statement):
        if block and _begin_of(block[0]) <= place < _end_of(block[-1]):
            return block
    return []


def _begin_of(node: Any) -> Place:
    decorators = getattr(node, "decorator_list", None)
    first = decorators[0] if decorators else node
    return first.lineno, 0


def _end_of(node: Any) -> Place:
    return node.end_lineno, node.end_col_offset
