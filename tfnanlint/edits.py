"""Edits of a text: applying them, carrying positions across them, and proving that nothing else changed."""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from tfnanlint.findings import Edit
from tfnanlint.source import Source, Span, Unreadable


class NoFix(Exception):
    """A repair cannot be made safely; the message says why, in plain words."""


def edits_apply(text: str, edits: Iterable[Edit]) -> str:
    """`text` with all edits made, in any order of giving; insertions at one place keep the order given.

    The same edit given twice is made once: two repairs may need the same import. Raises ValueError when edits
    overlap or leave the text.
    """
    parts = []
    at = 0
    for edit in in_order(edits):
        if edit.span.end > len(text):
            raise ValueError(f"an edit at {edit.span.start} leaves the text, which has {len(text)} characters")
        parts += (text[at : edit.span.start], edit.text)
        at = edit.span.end
    parts.append(text[at:])
    return "".join(parts)


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """Edits by position, each once. Raises ValueError when two overlap."""
    ordered = sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.start, edit.span.end))
    at = 0
    for edit in ordered:
        if not at <= edit.span.start <= edit.span.end:
            raise ValueError(f"edits overlap at {edit.span.start}")
        at = edit.span.end
    return ordered


class Shift:
    """Where places of a text are after edits. Insertions at the border of a span stay outside of it."""

    def __init__(self, edits: Iterable[Edit]):
        self.edits = in_order(edits)
        self._starts = [edit.span.start for edit in self.edits]
        self._grown = [0]
        for edit in self.edits:
            self._grown.append(self._grown[-1] + len(edit.text) - (edit.span.end - edit.span.start))
        # What each edit's text occupies in the new text.
        self.regions = [
            Span(edit.span.start + grown, edit.span.start + grown + len(edit.text))
            for edit, grown in zip(self.edits, self._grown)
        ]

    def span(self, old: Span) -> Span:
        """The new place of a span that no edit cuts through."""
        first = bisect.bisect_left(self._starts, old.start)
        while first < len(self.edits) and self.edits[first].span.end <= old.start:
            first += 1  # Insertions right before it.
        last = bisect.bisect_left(self._starts, old.end)
        return Span(old.start + self._grown[first], old.end + self._grown[max(first, last)])

    def old(self, new: Span) -> Span:
        """The old place of a span of the new text, which covers every region that it touches."""
        touched = [index for index, region in enumerate(self.regions) if region.start <= new.end and new.start <= region.end]
        first = touched[0] if touched else sum(region.end < new.start for region in self.regions)
        last = touched[-1] + 1 if touched else first
        return Span(new.start - self._grown[first], new.end - self._grown[last])

    def touching(self, old: Span) -> list[int]:
        """The indexes of the edits that change something inside a span."""
        first = bisect.bisect_left(self._starts, old.start)
        if first and self.edits[first - 1].span.end > old.start:
            first -= 1
        found = []
        for index in range(first, len(self.edits)):
            span = self.edits[index].span
            if span.start >= old.end:
                break
            if span.end > old.start:
                found.append(index)
        return found


def composed(text: str, first: Iterable[Edit], second: Iterable[Edit]) -> list[Edit]:
    """Edits of `text` that do what `first` does and then `second`, which are edits of what `first` makes of it."""
    shift, second = Shift(first), in_order(second)
    between = edits_apply(text, shift.edits)
    # What both change, as stretches of the text between them that do not touch each other.
    changed: list[tuple[int, int]] = []
    for start, end in sorted((span.start, span.end) for span in (*shift.regions, *(edit.span for edit in second))):
        if changed and start <= changed[-1][1]:
            changed[-1] = changed[-1][0], max(end, changed[-1][1])
        else:
            changed.append((start, end))
    found = []
    for start, end in changed:
        inside = [Edit(Span(edit.span.start - start, edit.span.end - start), edit.text) for edit in second
                  if start <= edit.span.start and edit.span.end <= end]
        new = edits_apply(between[start:end], inside)
        found.append(Edit(shift.old(Span(start, end)), new))
    return found


# ---------------------------------------------------------------------------------------------------------
# The hole test: cut the edited expressions out of the tree before and after; the rest is identical.


def same_tree(before: ast.AST | list, after: ast.AST | list, contexts: bool = True) -> bool:
    """Whether two trees say the same, wherever they stand. Works on trees deeper than the recursion limit.

    With `contexts` False it does not matter whether an expression is read or assigned to.
    """
    stack: list[tuple[object, object]] = [(before, after)]
    while stack:
        one, other = stack.pop()
        if not _same_here(one, other, stack, contexts):
            return False
    return True


def _same_here(one: object, other: object, stack: list[tuple[object, object]], contexts: bool = True) -> bool:
    """Compare two nodes, lists or constants without their children, which go onto the stack."""
    if isinstance(one, ast.expr_context) and isinstance(other, ast.expr_context) and not contexts:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, ast.AST):
        stack.extend((getattr(one, field, None), getattr(other, field, None)) for field in one._fields)
        return True
    if isinstance(one, list):
        if len(one) != len(other):
            return False
        stack.extend(zip(one, other))
        return True
    return one == other


def expression(text: str) -> ast.expr | None:
    """The tree of an expression's text, which may be cut out of brackets; None if it is not one expression."""
    found = statement(f"({text}\n)")
    return found.value if isinstance(found, ast.Expr) else None


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
    """The hole test on two statement lists: of `source`, and of its text after edits, where `span_after` finds nodes.

    An edit may replace an expression (by one expression), comments and blanks, or, with `statements`, whole
    statements; everything else in the two trees must be equal. The text outside the edits is taken to be the same.
    """
    return _HoleTest(source, span_after, shift, statements).passes(list(before), list(after))


class _HoleTest:
    def __init__(self, source: Source, span_after, shift: Shift, statements: bool):
        self.source = source
        self.span_before = source.span
        self.span_after = span_after
        self.shift = shift
        self.cut_before = [edit.span for edit in shift.edits if edit.span.start < edit.span.end and statements]
        self.cut_after = shift.regions if statements else []
        # id of an expression before -> where its place is after, and the edit that replaces all of it, if one does
        self.holes: dict[int, tuple[Span, Edit | None]] = {}

    def passes(self, before: list, after: list) -> bool:
        for edit, region in zip(self.shift.edits, self.shift.regions):
            self._dig(before, edit, region)
        stack: list[tuple[object, object]] = [(before, after)]
        while stack:
            one, other = stack.pop()
            if isinstance(one, list) and isinstance(other, list):
                one = _outside(one, self.span_before, self.cut_before)
                other = _outside(other, self.span_after, self.cut_after)
            if id(one) in self.holes:
                if not self._fills(other, *self.holes[id(one)]):
                    return False
            elif isinstance(one, ast.stmt) and isinstance(other, ast.stmt) and self._unmoved(one, other):
                continue
            elif not _same_here(one, other, stack):
                return False
        return True

    def _dig(self, body: list[ast.stmt], edit: Edit, region: Span) -> None:
        """Note the innermost expression around an edit as a hole. Whole statements need none, comments have none."""
        edited = edit.span
        bare = self._without_parentheses(edited)
        for inner in reversed(enclosing(body, bare, self.span_before)):
            if not isinstance(inner, ast.expr):
                return
            span = self.span_before(inner)
            if span == bare != edited or span == edited:
                self.holes[id(inner)] = region, edit
                return
            if edited in span and (edited.start < edited.end or span.start < edited.start < span.end):
                self.holes[id(inner)] = self.shift.span(span), None
                return

    def _without_parentheses(self, edited: Span) -> Span:
        """An edited span without a pair of parentheses right at its ends."""
        text = self.source.slice(edited)
        return Span(edited.start + 1, edited.end - 1) if text[:1] == "(" and text[1:].endswith(")") else edited

    def _fills(self, other: object, region: Span, edit: Edit | None) -> bool:
        """Whether a node is the one expression in a region, parentheses around it aside."""
        if not isinstance(other, ast.expr):
            return False
        span = self.span_after(other)
        if span == region or edit is None or span not in region:
            return span == region
        around = edit.text[: span.start - region.start] + edit.text[span.end - region.start :]
        return re.fullmatch(r"[()\s]*", around) is not None

    def _unmoved(self, one: ast.stmt, other: ast.stmt) -> bool:
        """Whether a statement has no edit inside and stands, with the same text, where the edits let expect it."""
        old = whole_span(one, self.span_before)
        if type(one) is not type(other) or self.shift.touching(old):
            return False
        return self.shift.span(old) == whole_span(other, self.span_after)


def _outside(nodes: list, span_of: Callable[[ast.AST], Span], cut: list[Span]) -> list:
    """A list without the statements that lie wholly inside edits."""
    if not cut or not nodes or not isinstance(nodes[0], ast.stmt):
        return nodes
    return [node for node in nodes if not _inside(span_of(node), cut)]


def _inside(span: Span, spans: list[Span]) -> bool:
    at = bisect.bisect_right(spans, span.start, key=lambda one: one.start) - 1
    return at >= 0 and span in spans[at]


def whole_span(stmt: ast.stmt, span_of: Callable[[ast.AST], Span]) -> Span:
    """The span of a statement from its first decorator, without the `@`."""
    span = span_of(stmt)
    decorators = stmt.__dict__.get("decorator_list")  # few have one
    return Span(span_of(decorators[0]).start, span.end) if decorators else span


def enclosing(body: list[ast.stmt], place: Span, span_of: Callable[[ast.AST], Span]) -> list[ast.AST]:
    """The statements and expressions around a place, outermost first."""
    path: list[ast.AST] = []
    found = _holding(body, place, span_of)
    while found is not None:
        path.append(found)
        if isinstance(found, ast.JoinedStr):
            below = [sorted(_formatted(found), key=lambda node: span_of(node).start)]
        else:
            below = [] if isinstance(found, TEMPLATE_STRING) else _placed_children(found)
        found = next(filter(None, (_holding(nodes, place, span_of) for nodes in below)), None)
    return path


TEMPLATE_STRING = getattr(ast, "TemplateStr", ())  # keeps the text of its expressions, which no edit may change


def _formatted(string: ast.JoinedStr) -> Iterator[ast.expr]:
    """The expressions in an f-string; before Python 3.12 all else in it claims to be as long as the string."""
    for part in string.values:
        if isinstance(part, ast.FormattedValue):
            yield part.value
            if isinstance(part.format_spec, ast.JoinedStr):
                yield from _formatted(part.format_spec)


def _holding(nodes: list[ast.AST], place: Span, span_of: Callable[[ast.AST], Span]) -> ast.AST | None:
    """Which of some nodes, in the order of the text, a place lies in."""
    at = bisect.bisect_right(nodes, place.start, key=lambda node: _whole(node, span_of).start) - 1
    return nodes[at] if at >= 0 and place in _whole(nodes[at], span_of) else None


def _whole(node: ast.AST, span_of: Callable[[ast.AST], Span]) -> Span:
    return whole_span(node, span_of) if isinstance(node, ast.stmt) else span_of(node)


def _placed_children(node: ast.AST) -> Iterable[list[ast.AST]]:
    """The nearest statements and expressions below a node, in lists that follow the text."""
    waiting = [node]
    while waiting:
        for _, value in ast.iter_fields(waiting.pop()):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value  # a block, which may be long, is handed on as it is
                continue
            children = value if isinstance(value, list) else [value]
            placed = [child for child in children if isinstance(child, (ast.stmt, ast.expr))]
            if placed:
                yield placed
            else:  # Nodes without a place of their own, such as arguments and handlers.
                waiting.extend(child for child in children if isinstance(child, ast.AST))
