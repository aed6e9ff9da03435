"""The statements and expressions around a place of a text."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tfnanlint.syntax.spans import Span


def whole_span(stmt: ast.stmt, span_of: Callable[[ast.AST], Span]) -> Span:
    """The span of a statement from its first decorator, without the `@`."""
    span = span_of(stmt)
    decorators = stmt.__dict__.get("decorator_list")  # few have one
    return Span(span_of(decorators[0]).start, span.end) if decorators else span


def enclosing(
    body: list[ast.stmt], place: Span, span_of: Callable[[ast.AST], Span]
) -> list[ast.AST]:
    """The statements and expressions around a place, outermost first."""
    path: list[ast.AST] = []
    holder = _holding(body, place, span_of)
    while holder is not None:
        path.append(holder)
        below: Iterable[Sequence[ast.AST]]
        if isinstance(holder, ast.JoinedStr):
            below = [_formatted(holder, place, span_of)]
        elif isinstance(holder, ast.Dict):
            below = _item(holder, place, span_of)
        else:
            below = (
                []
                if isinstance(holder, TEMPLATE_STRING)
                else _placed_children(holder, place, span_of)
            )
        holder = next(filter(None, (_holding(nodes, place, span_of) for nodes in below)), None)
    return path


# keeps the text of its expressions, which no edit may change
TEMPLATE_STRING = getattr(ast, "TemplateStr", ())


# The fields of nodes that are lists of expressions only, which may be long.
_EXPRESSIONS = frozenset(
    (
        "elts",
        "args",
        "targets",
        "comparators",
        "bases",
        "ifs",
        "values",
        "defaults",
        "decorator_list",
    )
)
# Those that are lists of other parts, each with what it begins with.
_PARTS: dict[str, Callable[[Any], ast.AST]] = {
    "args": lambda parameter: parameter,
    "cases": lambda case: case.pattern,
    "generators": lambda comprehension: comprehension.target,
    "handlers": lambda handler: handler,
    "items": lambda item: item.context_expr,
    "keywords": lambda keyword: keyword,
    "kwonlyargs": lambda parameter: parameter,
    "posonlyargs": lambda parameter: parameter,
}
_WITHOUT_PARTS = frozenset(("ctx", "op", "ops", "names"))


def _part(
    parts: list[ast.AST],
    first: Callable[[Any], ast.AST],
    place: Span,
    span_of: Callable[[ast.AST], Span],
) -> ast.AST:
    """The last of some parts that begins at or before a place; the first where none does."""
    begun = bisect.bisect_right(parts, place.start, key=lambda part: span_of(first(part)).start)
    return parts[max(begun - 1, 0)]


def _item(
    held: ast.Dict, place: Span, span_of: Callable[[ast.AST], Span]
) -> list[Sequence[ast.AST]]:
    """The key and the value of a dict that may hold a place; `**more` has no key."""
    begun = bisect.bisect_right(held.values, place.start, key=lambda value: span_of(value).start)
    parts = [*held.keys[begun : begun + 1], *held.values[max(begun - 1, 0) : begun]]
    return [[part] for part in parts if part is not None]


def _formatted(
    string: ast.JoinedStr, place: Span, span_of: Callable[[ast.AST], Span]
) -> list[ast.expr]:
    """The last expression of an f-string that begins at or before a place, and those of its format;
    before Python 3.12 all else in it claims to be as long as the string.
    """
    parts = [part for part in string.values if isinstance(part, ast.FormattedValue)]
    begun = bisect.bisect_right(parts, place.start, key=lambda part: span_of(part.value).start)
    if not begun:
        return []
    nearest = parts[begun - 1]
    if isinstance(nearest.format_spec, ast.JoinedStr):
        return [nearest.value, *_formatted(nearest.format_spec, place, span_of)]
    return [nearest.value]


def _holding(
    nodes: Sequence[ast.AST], place: Span, span_of: Callable[[ast.AST], Span]
) -> ast.AST | None:
    """Which of some nodes, in the order of the text, a place lies in."""
    at = bisect.bisect_right(nodes, place.start, key=lambda node: _whole(node, span_of).start) - 1
    return nodes[at] if at >= 0 and place in _whole(nodes[at], span_of) else None


def _whole(node: ast.AST, span_of: Callable[[ast.AST], Span]) -> Span:
    return whole_span(node, span_of) if isinstance(node, ast.stmt) else span_of(node)


def _is_placed(field: str, first: ast.AST) -> bool:
    """Whether a field whose list has that first node is a block or holds expressions only."""
    return isinstance(first, ast.stmt) or (field in _EXPRESSIONS and isinstance(first, ast.expr))


def _placed_children(
    node: ast.AST, place: Span, span_of: Callable[[ast.AST], Span]
) -> Iterator[Sequence[ast.AST]]:
    """The nearest statements and expressions below a node that may hold a place, in lists that
    follow the text.
    """
    waiting = [node]
    while waiting:
        for name, value in ast.iter_fields(waiting.pop()):
            if name in _WITHOUT_PARTS or value == []:
                continue
            if isinstance(value, list) and _is_placed(name, value[0]):
                yield value  # it may be long, and is handed on as it is
            elif isinstance(value, list) and name in _PARTS:
                waiting.append(_part(value, _PARTS[name], place, span_of))
            else:
                children = value if isinstance(value, list) else [value]
                placed = [child for child in children if isinstance(child, (ast.stmt, ast.expr))]
                if placed:
                    yield placed
                else:  # Nodes without a place of their own, such as patterns.
                    waiting.extend(child for child in children if isinstance(child, ast.AST))
