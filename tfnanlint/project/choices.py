"""Choices: the branches that a program never takes, because they depend on a parameter that is the
same constant in every call, on an attribute that such a parameter is assigned to, or on a constant
of a file.

Nothing is evaluated but constants. What calls pass is known of a function that is defined once,
that has no decorator, and that the program calls by its name alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from tfnanlint.project.bindings import Unknown
from tfnanlint.project.branches import Branch, Layout
from tfnanlint.project.names import Names, Node, TooMany
from tfnanlint.project.sources import Sources

_MAX_WRITTEN: Final = 40  # characters of a condition in a reason
_CONSTANTS: Final = (type(None), bool, int, float, str)
_EITHER: Final = frozenset((True, False))

Value = tuple[type, Any]  # a constant, with its type: 0 is not False
Values = frozenset[Value]


class Choices:
    """Which branches the program of a file never takes."""

    def __init__(self, names: Names, sources: Sources):
        self._names = names
        self._sources = sources
        self._layouts: dict[str, Layout] = {}
        self._reasons: dict[Branch, str] = {}  # those of the branches around each, too
        self._known: dict[tuple[Node, ast.expr], Values | None] = {}

    def never(self, path: str, row: int, column: int = 0) -> str:
        """Why the program never takes the branch that a place stands in; "" where it may. Of a row
        alone nothing is said where the condition stands on it, too.
        """
        passed: list[Branch] = []
        reason = ""
        try:
            for branch in self._layout(path).around((row, column)):
                known = self._reasons.get(branch)
                reason = known if known is not None else self._reason(path, branch)
                passed.append(branch)
                if reason or known is not None:
                    break
        except TooMany:
            return ""
        self._reasons.update(dict.fromkeys(passed, reason))
        return reason

    def _reason(self, path: str, branch: Branch) -> str:
        """Why a branch is never taken by itself; "" where it may be."""
        try:
            truths = self._truths(branch.test, (path, branch.owner))
        except Unknown:
            return ""
        if branch.truth in truths:
            return ""
        word = "false" if branch.truth else "true"
        return f"in this program {_written(branch.test)} is always {word}"

    def _layout(self, path: str) -> Layout:
        tree = self._names.outline(path).tree
        layout = self._layouts.get(path)
        if layout is None or layout.tree is not tree:
            layout = self._layouts[path] = Layout(tree)
        return layout

    # Conditions

    def _truths(self, test: ast.expr, place: Node) -> frozenset[bool]:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return frozenset(not one for one in self._truths(test.operand, place))
        if isinstance(test, ast.BoolOp):
            return self._joined(test, place)
        if isinstance(test, ast.Compare):
            return self._comparison(test, place)
        return frozenset(bool(value) for _, value in self._values(test, place))

    def _joined(self, test: ast.BoolOp, place: Node) -> frozenset[bool]:
        """What `a and b` or `a or b` comes to: one part may decide it."""
        settling = isinstance(test.op, ast.Or)
        known: list[frozenset[bool]] = []
        for part in test.values:
            try:
                truths = self._truths(part, place)
            except Unknown:
                truths = _EITHER
            if truths == {settling}:
                return truths
            known.append(truths)
        return (
            _EITHER if any(settling in truths for truths in known) else frozenset((not settling,))
        )

    def _comparison(self, test: ast.Compare, place: Node) -> frozenset[bool]:
        if len(test.ops) > 1:
            raise Unknown
        operator, right = test.ops[0], test.comparators[0]
        if isinstance(operator, (ast.Is, ast.IsNot)):
            if not isinstance(right, ast.Constant) or right.value is not None:
                raise Unknown
        elif not isinstance(operator, (ast.Eq, ast.NotEq)):
            raise Unknown
        negated = isinstance(operator, (ast.IsNot, ast.NotEq))
        pairs = product(self._values(test.left, place), self._values(right, place))
        return frozenset((first[1] == second[1]) is not negated for first, second in pairs)

    def _values(self, node: ast.expr, place: Node) -> Values:
        """The constants that an expression may be."""
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return frozenset((_constant(node),))
        key = place, node
        if key not in self._known:
            self._known[key] = None
            try:
                self._known[key] = frozenset(self._flowing(node, place))
            except Unknown:
                pass
        values = self._known[key]
        if not values:
            raise Unknown
        return values

    def _flowing(self, node: ast.expr, place: Node) -> Iterator[Value]:
        """The constants that flow into a name or an attribute."""
        waiting, seen = [(place, node)], {node}
        for where, source in waiting:  # it grows on the way
            if not isinstance(source, (ast.Name, ast.Attribute)):
                yield _constant(source)
                continue
            for above in self._sources.of(source, where):
                if above[1] not in seen:
                    seen.add(above[1])
                    waiting.append(above)


def _written(test: ast.expr) -> str:
    text = ast.unparse(test)
    return f"`{text}`" if len(text) <= _MAX_WRITTEN else "the condition of this branch"


def _constant(node: ast.expr) -> Value:
    """The constant that is written there."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value: Any = getattr(node.operand, "value", None)
        if isinstance(node.operand, ast.Constant) and type(value) in (int, float):
            return type(value), -value
    if isinstance(node, ast.Constant) and isinstance(node.value, _CONSTANTS):
        return type(node.value), node.value
    raise Unknown
