"""The hole test: the proof that edits changed nothing but the places at which they stand.

The rewriter asks it of each fix that it makes, `pipeline/fix.py` once more of all fixes that it
applies together. Edits themselves, and where they move what follows, are in `syntax/edits.py`.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Callable, Sequence

from tfnanlint.diagnostics.findings import Edit
from tfnanlint.syntax.edits import Shift
from tfnanlint.syntax.enclosing import enclosing, whole_span
from tfnanlint.syntax.source import Source, Span, Unreadable


class NoFix(Exception):
    """A repair cannot be made safely; the message says why, in plain words."""


# Cut the edited expressions out of the tree before and after; the rest is identical.


def same_tree(before: ast.AST | list, after: ast.AST | list, contexts: bool = True) -> bool:
    """Whether two trees say the same, wherever they stand. Works on trees deeper than the recursion
    limit.

    With `contexts` False it does not matter whether an expression is read or assigned to.
    """
    stack: list[tuple[object, object]] = [(before, after)]
    while stack:
        old, new = stack.pop()
        if not _same_here(old, new, stack, contexts):
            return False
    return True


def _same_here(
    old: object, new: object, stack: list[tuple[object, object]], contexts: bool = True
) -> bool:
    """Compare two nodes, lists or constants without their children, which go onto the stack."""
    if isinstance(old, ast.expr_context) and isinstance(new, ast.expr_context) and not contexts:
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, ast.AST):
        stack.extend(
            (getattr(old, field, None), getattr(new, field, None)) for field in old._fields
        )
        return True
    if isinstance(old, list):
        if len(old) != len(new):
            return False
        stack.extend(zip(old, new))
        return True
    return old == new


def expression(text: str) -> ast.expr | None:
    """The tree of an expression's text, which may be cut out of brackets; None if it is not one
    expression.
    """
    parsed = statement(f"({text}\n)")
    return parsed.value if isinstance(parsed, ast.Expr) else None


def statement(text: str) -> ast.stmt | None:
    """The tree of a statement's text; None if it is not one statement."""
    try:
        body = Source("", text).tree.body
    except Unreadable:
        return None
    return body[0] if len(body) == 1 else None


def only_edits_changed(
    before: Sequence[ast.stmt],
    source: Source,
    after: Sequence[ast.stmt],
    span_after: Callable[[ast.AST], Span],
    shift: Shift,
    statements: bool = True,
) -> bool:
    """The hole test on two statement lists: of `source`, and of its text after edits, where
    `span_after` finds nodes.

    An edit may replace an expression (by one expression), comments and blanks, or, with
    `statements`, whole statements; everything else in the two trees must be equal. The text outside
    the edits is taken to be the same.
    """
    return _HoleTest(source, span_after, shift, statements).passes(list(before), list(after))


class _HoleTest:
    def __init__(self, source: Source, span_after, shift: Shift, statements: bool):
        self.source = source
        self.span_before = source.span
        self.span_after = span_after
        self.shift = shift
        self.cut_before = [
            edit.span for edit in shift.edits if edit.span.start < edit.span.end and statements
        ]
        self.cut_after = shift.regions if statements else []
        # id of an expression before -> where its place is after, and the edit that replaces all of
        # it, if one does
        self.holes: dict[int, tuple[Span, Edit | None]] = {}

    def passes(self, before: list, after: list) -> bool:
        for edit, region in zip(self.shift.edits, self.shift.regions):
            self._dig(before, edit, region)
        stack: list[tuple[object, object]] = [(before, after)]
        while stack:
            old, new = stack.pop()
            if isinstance(old, list) and isinstance(new, list):
                old = _outside(old, self.span_before, self.cut_before)
                new = _outside(new, self.span_after, self.cut_after)
            if id(old) in self.holes:
                if not self._fills(new, *self.holes[id(old)]):
                    return False
            elif (
                isinstance(old, ast.stmt) and isinstance(new, ast.stmt) and self._unmoved(old, new)
            ):
                continue
            elif not _same_here(old, new, stack):
                return False
        return True

    def _dig(self, body: list[ast.stmt], edit: Edit, region: Span) -> None:
        """Note the innermost expression around an edit as a hole. Whole statements need none,
        comments have none.
        """
        edited = edit.span
        bare = self._without_parentheses(edited)
        for inner in reversed(enclosing(body, bare, self.span_before)):
            if not isinstance(inner, ast.expr):
                return
            span = self.span_before(inner)
            if span == bare != edited or span == edited:
                self.holes[id(inner)] = region, edit
                return
            if edited in span and (
                edited.start < edited.end or span.start < edited.start < span.end
            ):
                self.holes[id(inner)] = self.shift.span(span), None
                return

    def _without_parentheses(self, edited: Span) -> Span:
        """An edited span without a pair of parentheses right at its ends."""
        text = self.source.slice(edited)
        return (
            Span(edited.start + 1, edited.end - 1)
            if text[:1] == "(" and text[1:].endswith(")")
            else edited
        )

    def _fills(self, node: object, region: Span, edit: Edit | None) -> bool:
        """Whether a node is the one expression in a region, parentheses around it aside."""
        if not isinstance(node, ast.expr):
            return False
        span = self.span_after(node)
        if span == region or edit is None or span not in region:
            return span == region
        around = edit.text[: span.start - region.start] + edit.text[span.end - region.start :]
        return re.fullmatch(r"[()\s]*", around) is not None

    def _unmoved(self, before: ast.stmt, after: ast.stmt) -> bool:
        """Whether a statement has no edit inside and stands, with the same text, where the edits
        let expect it.
        """
        old = whole_span(before, self.span_before)
        if type(before) is not type(after) or self.shift.touching(old):
            return False
        return self.shift.span(old) == whole_span(after, self.span_after)


def _outside(nodes: list, span_of: Callable[[ast.AST], Span], cut: list[Span]) -> list:
    """A list without the statements that lie wholly inside edits."""
    if not cut or not nodes or not isinstance(nodes[0], ast.stmt):
        return nodes
    return [node for node in nodes if not _inside(span_of(node), cut)]


def _inside(span: Span, spans: list[Span]) -> bool:
    at = bisect.bisect_right(spans, span.start, key=lambda region: region.start) - 1
    return at >= 0 and span in spans[at]
