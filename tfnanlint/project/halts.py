"""Halts: statements that raise whenever they run, so that what follows them in their block never
does: an import of a name that its module does not have, a name that nothing binds, an attribute
that no class of the object has.
"""

from __future__ import annotations

import ast
import builtins
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Final

from tfnanlint.project.bindings import Unknown
from tfnanlint.project.names import Names, Node, TooMany
from tfnanlint.project.outline_entries import Import
from tfnanlint.project.outlines import TOP, first_row
from tfnanlint.project.programs import Program, words_of
from tfnanlint.project.receivers import Of, Receivers
from tfnanlint.syntax.access_paths import is_special
from tfnanlint.syntax.nodes import blocks_of

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE: Final = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Import, ast.ImportFrom)
# Where code stands that may not run although the statement around it does.
_LAZY: Final = (
    ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
_BUILTINS: Final = frozenset(dir(builtins)) | frozenset(
    "apply basestring buffer cmp coerce execfile file intern long raw_input reduce reload unichr "
    "unicode xrange get_ipython display _".split()
)
_MODULE_HOOK: Final = "__getattr__"


class Halts:
    """Which statements of the files of a program raise whenever they run."""

    def __init__(self, program: Program, names: Names, receivers: Receivers):
        self._program = program
        self._names = names
        self._receivers = receivers
        self.begin()

    def begin(self) -> None:
        """Read the files anew."""
        # By block, how many of its statements were read, and what the last of these raises.
        self._read: dict[int, tuple[int, str]] = {}

    def before(self, path: str, row: int) -> str:
        """Why a row is never reached: what raises before it; "" where nothing is known to."""
        outline = self._names.outline(path)
        if outline.is_words:
            return ""
        block, owner, of_class = outline.tree.body, TOP, TOP
        while True:
            number = bisect_right(block, row, key=first_row) - 1
            reason = self._halt(block, number, (path, owner)) if number >= 0 else ""
            if reason or number < 0:
                return reason
            inside: Any = block[number]
            if isinstance(inside, (*_FUNCTIONS, ast.ClassDef)):
                name = f"{of_class or owner}.{inside.name}".lstrip(".")
                is_class = isinstance(inside, ast.ClassDef)
                owner, of_class = (owner, name) if is_class else (name, TOP)
            block = _block_at(inside, row)

    def _halt(self, block: list[ast.stmt], number: int, place: Node) -> str:
        """What raises in a block before one of its statements."""
        read, reason = self._read.get(id(block), (0, ""))
        while read < number and not reason:
            reason = self._reason(block[read], place)
            read += 1
        self._read[id(block)] = read, reason
        return reason if read <= number else ""

    def _reason(self, statement: ast.stmt, place: Node) -> str:
        if not isinstance(statement, _SIMPLE):
            return ""
        try:
            return next(self._reasons(statement, place), "")
        except (Unknown, TooMany):
            return ""

    def _reasons(self, statement: ast.stmt, place: Node) -> Iterator[str]:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for imported in self._names.outline(place[0]).imports:
                if imported.node is statement and self._fails(place[0], imported):
                    yield f"line {statement.lineno} imports `{imported.name}`, defined nowhere"
            return
        for node in _surely_run(statement):
            if isinstance(node, ast.Name) and self._is_unbound(node, place):
                yield f"line {statement.lineno} uses `{node.id}`, which is defined nowhere"
            if isinstance(node, ast.Attribute) and self._is_missing(node, place):
                yield f"line {statement.lineno} uses `{ast.unparse(node)}`, which no class defines"

    # Imports

    def _fails(self, path: str, imported: Import) -> bool:
        """Whether a module does not have a name that a file imports from it."""
        if imported.name in ("", "*"):
            return False
        homes = self._program.modules(path, imported, imported.words)
        if len(homes) != 1 or self._program.modules(path, imported, words_of(imported)):
            return False
        if homes[0] == path or imported.name in self._program.words:
            return False  # itself, or a folder
        return not self._may_have(homes[0], imported.name)

    def _may_have(self, path: str, name: str) -> bool:
        outline = self._names.outline(path)
        if outline.is_words or outline.stars or outline.looks_up:
            return True
        bound = self._receivers.bindings(path).top.bound
        return name in bound or _MODULE_HOOK in bound or is_special(name)

    # Names and attributes

    def _is_unbound(self, node: ast.Name, place: Node) -> bool:
        """Whether nothing binds a name that is loaded."""
        path = place[0]
        outline = self._names.outline(path)
        if node.id in _BUILTINS or is_special(node.id) or not isinstance(node.ctx, ast.Load):
            return False
        if not path.endswith(".py") or outline.stars or outline.looks_up:
            return False
        return self._receivers.bindings(path).frame_of(place[1], node.id, node) is None

    def _is_missing(self, node: ast.Attribute, place: Node) -> bool:
        """Whether an object has no attribute that is loaded, whichever it is."""
        if not isinstance(node.ctx, ast.Load) or is_special(node.attr):
            return False
        if not isinstance(node.value, ast.Name):
            return False
        try:
            values = self._receivers.of(node.value, place)
            return bool(values) and all([self._has_not(value, node.attr) for value in values])
        except Unknown:
            return False

    def _has_not(self, value: Of, name: str) -> bool:
        if value.what != "object":
            return False
        node = value.path, value.name
        if self._receivers.is_open(node) or self._receivers.lookup(node, name):
            return False
        return not any(True for _ in self._receivers.stores(node, name))


def _block_at(statement: ast.stmt, row: int) -> list[ast.stmt]:
    """The block of a compound statement that a row stands in."""
    for block in blocks_of(statement):
        if block and block[0].lineno <= row <= (block[-1].end_lineno or row):
            return block
    return []


def _surely_run(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement that are evaluated whenever it runs."""
    waiting: list[ast.AST] = [statement]
    for node in waiting:  # it grows on the way
        if isinstance(node, _LAZY) or isinstance(node, ast.AnnAssign):
            continue
        yield node
        waiting += ast.iter_child_nodes(node)
