"""Halts: statements that raise whenever they run, so that what follows them in their block never
does: calls that the signature of a function or class of the program does not allow.

Which file a name comes from has to be certain for that: code that patches names, or finds them by
text, and paths of import that are not seen decide nothing. A call alone that a definition does not
allow never enters it, whichever else it may call.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from tfnanlint.ops.frameworks import GRAPH_DECORATORS
from tfnanlint.project.arguments import bound_by, is_spread
from tfnanlint.project.bindings import bindings_of
from tfnanlint.project.branches import Layout, layout_of
from tfnanlint.project.names import INERT, KNOWN_FRAMEWORKS, Names, Node, TooMany
from tfnanlint.project.outline_entries import Import, Use
from tfnanlint.project.programs import Program
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import blocks_of

_SIMPLE: Final = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)
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
_INIT: Final = "__init__"
_MAKERS: Final = frozenset(("__new__", "__init_subclass__"))

Place = tuple[int, int]  # a row and a column


class Halts:
    """Which statements of the files of a program raise whenever they run."""

    def __init__(self, program: Program, names: Names):
        self._program = program
        self._names = names
        self._bindings: dict[str, tuple[ast.Module, Counter[str]]] = {}
        # of a block, how many of its statements were read, and why the last of these raises
        self._read: dict[int, tuple[list[ast.stmt], int, str]] = {}

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
            block = _block_at(block[number], (row, column))
        return ""

    def _halt(self, path: str, block: list[ast.stmt], number: int) -> str:
        """What raises in a block before one of its statements."""
        _, read, reason = self._read.get(id(block), (block, 0, ""))
        while read < number and not reason:
            try:
                reason = next(self._raised(path, block[read]), "")
            except TooMany:
                reason = ""
            read += 1
        self._read[id(block)] = block, read, reason
        return reason if read <= number else ""

    def _raised(self, path: str, statement: ast.stmt) -> Iterator[str]:
        """What a statement raises whenever it runs."""
        row = statement.lineno
        if not isinstance(statement, _SIMPLE):
            return
        for node in _surely_run(statement):
            if isinstance(node, ast.Call) and self._is_refused(path, node):
                name = leaf(node.func)
                yield f"line {row} raises TypeError: `{name}` does not take these arguments"

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
        if outline.stars or outline.looks_up or self._count(path, name) != 1:
            return False
        return self._is_sure(home) and (imported is None or self._is_sure_of(path, imported))

    def _is_sure(self, node: Node) -> bool:
        """Whether a name of a file is a definition that nothing replaces or changes."""
        path, name = node
        outline = self._names.outline(path)
        if name not in outline.definitions or self._count(path, name) != 1:
            return False
        return not (outline.stars or outline.looks_up or self._program.may_patch(path, name))

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
        tree = self._names.outline(path).tree
        known = self._bindings.get(path)
        if known is None or known[0] is not tree:
            known = self._bindings[path] = tree, bindings_of(tree)
        return known[1][name]


def _surely_run(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement that are evaluated whenever it runs."""
    waiting: list[ast.AST] = [statement]
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
