"""Whether a name surely holds, at a place of a function, what its last binding in the text gave it.

It does where that binding always runs before the place, and nothing binds the name again in
between: no branch, no round of a loop, no `del`, no function inside. The questions are about trees;
what the bindings give is another matter.
"""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.rewrite.bindings import Body, Ownership, Use
from tfnanlint.syntax.access_paths import path_of, root_of
from tfnanlint.syntax.enclosing import enclosing
from tfnanlint.syntax.nodes import blocks_of, nodes_in
from tfnanlint.syntax.source import Source, Span

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_WITH = (ast.With, ast.AsyncWith)
_OWNERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_MAYBE = (
    ast.BoolOp,
    ast.IfExp,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
_SIMPLE = (
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Expr,
    ast.Return,
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.If,
    ast.While,
    *_WITH,
)


def is_definite(scopes: Ownership, path: str, function: ast.AST, place: Span) -> bool:
    """Whether what `path` (`h`, `self.h`) was last bound to before a place is surely what it stands
    for there.

    False also where it is not known.
    """
    body = scopes.around(place)
    owner = body.owner(root_of(path))
    if owner is None:
        return False
    bindings = scopes.owned(owner, root_of(path))
    if not _alone(bindings, owner):
        return False
    if owner is not body.function:
        return _bound_at_once(scopes, [use for use in bindings if use.binds], owner)
    names = [(use.start, use.unbinds) for use in bindings if use.binds]
    stored = _stored(scopes.source, function, path) if path != root_of(path) else []
    return all(_holds(scopes.source, starts, place) for starts in (names, stored) if starts)


def is_unbound_between(scopes: Ownership, node: ast.expr, place: Span) -> bool:
    """Whether no name that an expression reads is bound anew between it and a place behind it in
    the same function.
    """
    source = scopes.source
    start = source.span(node).start
    body = scopes.around(source.span(node))
    loop = _loop_without(source, place, start)
    end = loop.end if loop is not None else place.start
    for name in {inner.id for inner in nodes_in(node) if isinstance(inner, ast.Name)}:
        owner = body.owner(name)
        bindings = scopes.owned(owner, name) if owner is not None else []
        if owner is body and not _alone(bindings, owner):
            return False
        if any(
            use.binds
            and use.body.function is body
            and start <= use.start < end
            and not _is_target_of(source, use.start, place)
            for use in bindings
        ):
            return False
    return True


def _alone(bindings: list[Use], owner: Body) -> bool:
    """Whether no function inside binds a name of the scope around it (`nonlocal`, `global`)."""
    return all(use.body.function is owner for use in bindings if use.binds)


def _bound_at_once(scopes: Ownership, bindings: list[Use], owner: Body) -> bool:
    """Whether an outer name has one binding, which always runs."""
    if len(bindings) != 1 or bindings[0].unbinds:
        return False
    path = enclosing(
        scopes.source.tree.body, Span(bindings[0].start, bindings[0].start + 1), scopes.source.span
    )
    inside = path[path.index(owner.node) + 1 :] if owner.node in path else path
    return not inside or _always(inside)


def _stored(source: Source, function: ast.AST, path: str) -> list[tuple[int, bool]]:
    """Where a function assigns or deletes an attribute or element."""
    return [
        (source.span(node).start, isinstance(node.ctx, ast.Del))
        for node in nodes_in(function)
        if isinstance(node, (ast.Attribute, ast.Subscript))
        and not isinstance(node.ctx, ast.Load)
        and path_of(node) == path
    ]


def _holds(source: Source, bindings: list[tuple[int, bool]], place: Span) -> bool:
    before = sorted(
        one for one in bindings if one[0] < place.start and not _is_target_of(source, one[0], place)
    )
    if not before or before[-1][1]:
        return False
    last = before[-1][0]
    loop = _loop_without(source, place, last)
    if loop is not None and any(loop.start <= start < loop.end for start, _ in bindings):
        return False
    return _dominates(source, last, place)


def _loop_without(source: Source, place: Span, start: int) -> Span | None:
    """The outermost loop around a place that does not hold another one."""
    spans = [
        source.span(node)
        for node in enclosing(source.tree.body, place, source.span)
        if isinstance(node, _LOOPS)
    ]
    return next((span for span in spans if not span.start <= start < span.end), None)


def _is_target_of(source: Source, start: int, place: Span) -> bool:
    """Whether a binding is a target of the statement around a place: it is bound after all else is
    computed.
    """
    binding_path, place_path = _apart(source, start, place)
    return (
        bool(binding_path)
        and bool(place_path)
        and isinstance(binding_path[0], ast.expr)
        and isinstance(place_path[0], ast.expr)
        and not any(isinstance(node, ast.NamedExpr) for node in binding_path)
    )


def _apart(source: Source, start: int, place: Span) -> tuple[list[Any], list[Any]]:
    """What stands around a binding and around a place, from where they part."""
    binding_path = enclosing(source.tree.body, Span(start, start + 1), source.span)
    place_path = enclosing(source.tree.body, place, source.span)
    at = next(
        (index for index, (a, b) in enumerate(zip(binding_path, place_path)) if a is not b),
        min(len(binding_path), len(place_path)),
    )
    return binding_path[at:], place_path[at:]


def _dominates(source: Source, start: int, place: Span) -> bool:
    """Whether a binding always runs before a place behind it."""
    binding_path, place_path = _apart(source, start, place)
    around = enclosing(source.tree.body, place, source.span)
    around = around[: len(around) - len(place_path)]
    parent: Any = around[-1] if around else source.tree
    if not binding_path:  # a parameter
        return isinstance(parent, _OWNERS)
    if not place_path:
        return False
    if isinstance(binding_path[0], ast.stmt) and isinstance(place_path[0], ast.stmt):
        return any(
            binding_path[0] in block and place_path[0] in block for block in blocks_of(parent)
        ) and _always(binding_path)
    return (
        isinstance(binding_path[0], ast.expr)
        and place_path[0] in getattr(parent, "body", ())
        and not any(isinstance(node, _MAYBE) for node in binding_path)
    )


def _always(path: list[Any]) -> bool:
    """Whether what the first of some nodes, each inside the one before, holds always runs with
    it.
    """
    statements = [node for node in path if isinstance(node, ast.stmt)]
    return (
        isinstance(statements[-1], _SIMPLE)
        and all(isinstance(node, _WITH) for node in statements[:-1])
        and not any(isinstance(node, _MAYBE) for node in path[len(statements) :])
    )
