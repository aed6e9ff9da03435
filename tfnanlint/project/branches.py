"""The branches of a file: what stands between two places and depends on a condition."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from tfnanlint.project.outlines import TOP, Outline
from tfnanlint.syntax.nodes import blocks_of

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
LEAVING: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)

Place = tuple[int, int]  # a row and a column


class Branch:
    """What stands between two places and depends on a condition: what that has to be, and the
    function around it. `outer` is the branch around it.
    """

    __slots__ = ("begin", "end", "test", "truth", "owner", "outer")

    def __init__(self, begin: ast.AST, end: ast.AST, test: ast.expr, truth: bool, owner: str):
        self.begin = _end_of(begin)
        self.end = _end_of(end)
        self.test = test
        self.truth = truth
        self.owner = owner
        self.outer: Branch | None = None


class Layout:
    """The branches of a file, its functions and classes by their qualified names, those of them
    that it defines more than once, and how often it defines a name.
    """

    def __init__(self, tree: ast.Module):
        self.functions: dict[str, Any] = {}
        self.classes: dict[str, Any] = {}
        self.repeated: set[str] = set()
        self.defined: Counter[str] = Counter()
        branches: list[Branch] = []
        waiting: list[tuple[list[ast.stmt], str, str]] = [(tree.body, TOP, "")]
        for block, owner, of_class in waiting:  # it grows on the way
            for node in block:
                inside = owner, of_class
                if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                    inside = self._define(node, owner, of_class)
                waiting += [(inner, *inside) for inner in blocks_of(node)]
                branches += _branches(node, block[-1], owner)
        self._places: list[Place] = []  # where a branch begins or ends
        self._innermost: list[Branch | None] = []  # behind each of them
        self._nest(sorted(branches, key=lambda branch: branch.begin))

    def _define(self, node: Any, owner: str, of_class: str) -> tuple[str, str]:
        """Note a definition; the function and the class around what stands in it."""
        name = f"{of_class or owner}.{node.name}".lstrip(".")
        self.defined[node.name] += 1
        if name in self.functions or name in self.classes:
            self.repeated.add(name)
        if isinstance(node, ast.ClassDef):
            self.classes[name] = node
            return owner, name
        self.functions[name] = node
        return name, ""

    def _nest(self, branches: list[Branch]) -> None:
        inner: Branch | None = None
        for branch in branches:
            inner = self._close(inner, branch.begin)
            branch.outer = inner
            inner = self._enter(branch.begin, branch)
        self._close(inner, None)

    def _close(self, inner: Branch | None, place: Place | None) -> Branch | None:
        """Leave the branches that end at a place or before it; all if there is none."""
        while inner is not None and (place is None or inner.end <= place):
            inner = self._enter(inner.end, inner.outer)
        return inner

    def _enter(self, place: Place, branch: Branch | None) -> Branch | None:
        self._places.append(place)
        self._innermost.append(branch)
        return branch

    def around(self, place: Place) -> Iterator[Branch]:
        """The branches that a place stands in, the innermost first."""
        number = bisect_left(self._places, place) - 1
        branch = self._innermost[number] if number >= 0 else None
        while branch is not None:
            yield branch
            branch = branch.outer


def layout_of(outline: Outline) -> Layout:
    """The layout of a file, found once for all questions."""
    if outline.layout is None:
        outline.layout = Layout(outline.tree)
    layout: Layout = outline.layout
    return layout


def _branches(node: ast.stmt, last: ast.stmt, owner: str) -> Iterator[Branch]:
    """The branches of a statement, and what follows it in its block if its body leaves that."""
    if not isinstance(node, (ast.If, ast.While)):
        return
    yield Branch(node.test, node.body[-1], node.test, True, owner)
    if node.orelse:
        yield Branch(node.body[-1], node.orelse[-1], node.test, False, owner)
    elif isinstance(node, ast.If) and isinstance(node.body[-1], LEAVING) and node is not last:
        yield Branch(node, last, node.test, False, owner)


def _end_of(node: Any) -> Place:
    return node.end_lineno, node.end_col_offset
