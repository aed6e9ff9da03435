"""Which scope of a text each name belongs to, and what a fix may do to names: bind new ones,
capture none.

A fix states the names that it binds (`Fix.binds`, made by `bindings`). `misnamed` proves it on the
trees before and after. It follows Python's rules: a class body is not seen from its methods, a
comprehension has a scope of its own but for its first iterable, `:=` binds in the function around
it, `global` and `nonlocal` bind further out.
"""

from __future__ import annotations

import ast
import bisect
import builtins
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

from tfnanlint.diagnostics.findings import Bound, Edit
from tfnanlint.rewrite.hole_test import NoFix
from tfnanlint.syntax.edits import Shift
from tfnanlint.syntax.nodes import LEAVES, parts_of
from tfnanlint.syntax.source import Source, Span, Unreadable

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MATCHED = (ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.ExceptHandler)
# they see the names around them whatever they are given
_ALWAYS_SEEING = ("eval", "exec", "globals")
_SEEING_ALONE = ("locals", "vars", "dir")  # without arguments
_BUILTINS = frozenset(
    (
        *dir(builtins),
        "__name__",
        "__file__",
        "__doc__",
        "__class__",
        "__path__",
        "__spec__",
        "__package__",
    )
)


@dataclass(eq=False)
class Body:
    """A scope: the module, a function, class, lambda or comprehension; `start` is where its node
    begins.
    """

    node: ast.AST
    start: int
    parent: Body | None = None
    bound: set[str] = field(default_factory=set)
    outward: dict[str, type] = field(default_factory=dict)  # what it declares global or nonlocal

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1

    @property
    def qualified(self) -> str:
        """The names of the definitions around, those of lambdas and comprehensions left out."""
        name = getattr(self.node, "name", "")
        return (
            ""
            if self.parent is None
            else f"{self.parent.qualified}.{name}"
            if name
            else self.parent.qualified
        )

    @property
    def module(self) -> Body:
        return self if self.parent is None else self.parent.module

    @property
    def function(self) -> Body:
        """The scope in which `:=` binds."""
        return (
            self.parent.function
            if isinstance(self.node, _COMPREHENSIONS) and self.parent is not None
            else self
        )

    def target(self, name: str) -> Body:
        """The scope in which an assignment that stands here binds a name."""
        declared = self.outward.get(name)
        if declared is ast.Global:
            return self.module
        outer = self.parent
        while declared is ast.Nonlocal and outer is not None:
            if name in outer.bound and not isinstance(outer.node, ast.ClassDef):
                return outer
            outer = outer.parent
        return self

    def owner(self, name: str) -> Body | None:
        """The scope whose name is read here; None for one that the text does not bind."""
        if name in self.outward:
            return self.target(name)
        if name in self.bound:
            return self
        outer = self.parent
        while outer is not None:
            if name in outer.outward:
                return outer.target(name)
            if name in outer.bound and not isinstance(outer.node, ast.ClassDef):
                return outer
            outer = outer.parent
        return None


class Use(NamedTuple):
    """A name at a place, in the scope where it stands."""

    name: str
    start: int
    body: Body
    binds: bool
    unbinds: bool = False  # `del`, and `except ... as`, which does so at its end

    @property
    def owner(self) -> Body | None:
        return self.body.target(self.name) if self.binds else self.body.owner(self.name)


# The nodes that bind names or declare them, and those whose parts stand in several scopes.
_NOTED = frozenset(
    (*_FUNCTIONS, ast.ClassDef, ast.arg, ast.alias, *_MATCHED, ast.Global, ast.Nonlocal)
)
_SCOPING = frozenset((*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS, ast.NamedExpr))


class Ownership:
    """The scopes of a text and every use of a name in it."""

    def __init__(self, source: Source):
        self.source = source
        self.module = Body(source.tree, 0)
        self.bodies = [self.module]
        self.uses: list[Use] = []
        self.stars: list[int] = []  # where a star import stands
        waiting: list[tuple[ast.AST, Body]] = [(source.tree, self.module)]
        while waiting:
            node, body = waiting.pop()
            kind = type(node)
            if kind is ast.Name or kind in _NOTED:
                self._note(node, body)
            if kind in _SCOPING:
                waiting += self._below(node, body)
            elif kind not in LEAVES:
                waiting += [(part, body) for part in parts_of(node)]
        for use in self.uses:
            if use.binds and use.body.outward.get(use.name) is not ast.Nonlocal:
                use.body.target(use.name).bound.add(use.name)
        self._by_name: dict[str, list[Use]] = {}
        for use in self.uses:
            self._by_name.setdefault(use.name, []).append(use)

    def _note(self, node: ast.AST, body: Body) -> None:
        if isinstance(node, ast.Name):
            self._use(node.id, node, body, not isinstance(node.ctx, ast.Load))
        elif isinstance(node, ast.arg):
            self._use(node.arg, node, body, True)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._use(node.name, node, body, True)
        elif isinstance(node, ast.alias):
            if node.name == "*":
                self.stars.append(self.source.span(node).start)
            else:
                self._use(node.asname or node.name.partition(".")[0], node, body, True)
        elif isinstance(node, _MATCHED):
            name = node.rest if isinstance(node, ast.MatchMapping) else node.name
            if name:
                self._use(name, node, body, True)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            body.outward.update(dict.fromkeys(node.names, type(node)))

    def _use(self, name: str, node: ast.AST, body: Body, binds: bool) -> None:
        unbinds = binds and (
            isinstance(node, ast.ExceptHandler) or isinstance(getattr(node, "ctx", None), ast.Del)
        )
        start = self.source.offset(node.lineno, node.col_offset)
        self.uses.append(Use(name, start, body, binds, unbinds))

    def _inner(self, node: ast.AST, body: Body) -> Body:
        inner = Body(node, self.source.span(node).start, body)
        self.bodies.append(inner)
        return inner

    def _below(self, node: Any, body: Body) -> Iterator[tuple[ast.AST, Body]]:
        """The parts of a node with scopes of its own, each with that in which it stands."""
        if isinstance(node, _FUNCTIONS):
            inner, parameters = self._inner(node, body), node.args
            own = [
                *parameters.posonlyargs,
                *parameters.args,
                *parameters.kwonlyargs,
                *filter(None, (parameters.vararg, parameters.kwarg)),
            ]
            outer = [one.annotation for one in own] + parameters.defaults + parameters.kw_defaults
            outer += [*getattr(node, "decorator_list", ()), getattr(node, "returns", None)]
            for parameter in own:
                self._note(parameter, inner)
            yield from ((one, body) for one in outer if one is not None)
            yield from (
                (one, inner) for one in (node.body if isinstance(node.body, list) else [node.body])
            )
        elif isinstance(node, ast.ClassDef):
            inner = self._inner(node, body)
            yield from ((one, body) for one in (*node.decorator_list, *node.bases, *node.keywords))
            yield from ((one, inner) for one in node.body)
        elif isinstance(node, _COMPREHENSIONS):
            inner, first = self._inner(node, body), node.generators[0]
            yield first.iter, body
            yield from ((one, inner) for one in (first.target, *first.ifs, *node.generators[1:]))
            results = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
            yield from ((one, inner) for one in results)
        elif isinstance(node, ast.NamedExpr):
            yield node.target, body.function
            yield node.value, body

    # Questions

    def named(self, name: str) -> list[Use]:
        return self._by_name.get(name, [])

    def owned(self, owner: Body, name: str) -> list[Use]:
        """The uses of a name that belong to a scope."""
        return [use for use in self.named(name) if use.owner is owner]

    def around(self, place: Span) -> Body:
        """The innermost function, class or module around a place."""
        innermost = self.module
        for body in self.bodies[1:]:
            if (
                not isinstance(body.node, _COMPREHENSIONS)
                and place in self.source.span(body.node)
                and body.start >= innermost.start
            ):
                innermost = body
        return innermost

    def at(self, start: int | None) -> Body | None:
        """The scope whose node begins at a place; the module for None."""
        if start is None:
            return self.module
        return next(
            (
                body
                for body in self.bodies[1:]
                if body.start == start and not isinstance(body.node, _COMPREHENSIONS)
            ),
            None,
        )

    def binds(self, name: str) -> bool:
        """Whether any scope of the text binds a name."""
        return any(use.binds for use in self.named(name))

    def unknown(self) -> set[tuple[str, str]]:
        """Names that are read although the text does not bind them, each with the function where;
        empty with a star import.
        """
        if self.stars:
            return set()
        return {
            (use.body.qualified, use.name)
            for name in self._by_name
            if name not in _BUILTINS
            for use in self._by_name[name]
            if use.owner is None
        }


@lru_cache(maxsize=4)
def ownership(source: Source) -> Ownership:
    """The scopes of a text; kept for the few that are asked for again and again. Raises
    `Unreadable`.
    """
    return Ownership(source)


def inspected(scope: ast.AST) -> bool:
    """Whether code in a scope looks at the names of the scope itself: `locals()`, `vars()`,
    `eval(text)`.
    """
    return any(_inspects(node) for node in ast.walk(scope))


def _inspects(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    alone = not node.args and not node.keywords
    return node.func.id in _ALWAYS_SEEING or alone and node.func.id in _SEEING_ALONE


# --------------------------------------------------------------------------------------------------
# What a fix states


def bindings(source: Source, edits: Iterable[Edit]) -> tuple[Bound, ...]:
    """The names that edits bind, each with its scope. Raises NoFix for a new name that would not be
    the fix's alone.
    """
    edits = list(edits)
    bounds: dict[Bound, None] = {}
    for edit in edits:
        for name in _bound_by(edit.text, _indent_before(source, edit.span.start)):
            scopes = ownership(source)
            owner = scopes.around(edit.span).function.target(name)
            scope = None if owner is scopes.module else source.span(owner.node)
            line = edit.text.strip() if _IMPORT.match(edit.text) else ""
            used = [use for use in scopes.owned(owner, name) if not line or use.binds]
            bound = Bound(name, scope, line, new=not used)
            bounds[bound] = None
            reason = _objection(scopes, owner, bound, edit.span.start) if bound.new else ""
            if reason:
                raise NoFix(reason)
    return tuple(bounds)


_IMPORT = re.compile(r"\s*(import|from)\s")
# what binds has one of these
_BINDING = re.compile(r"=|\bimport\b|\bas\b|\bfor\b|\bdef\b|\bclass\b|\bdel\b")


@lru_cache(maxsize=256)
def _bound_by(text: str, indent: str) -> tuple[str, ...]:
    """The names that a piece of text binds: statements, the first of them perhaps behind its
    indent, or an expression.
    """
    if not _BINDING.search(text):
        return ()
    for whole in (text, f"if 1:\n{text}", f"if 1:\n{indent}{text}", f"(\n{text}\n)"):
        try:
            return tuple(sorted(Ownership(Source("", whole)).module.bound))
        except Unreadable:
            continue
    return ()


def _indent_before(source: Source, place: int) -> str:
    start = source.line_starts[bisect.bisect_right(source.line_starts, place) - 1]
    before = source.text[start:place]
    return before if not before.strip() else ""


def _objection(scopes: Ownership, owner: Body, bound: Bound, place: int) -> str:
    """Why a new name cannot be bound in a scope, in words; empty when it can."""
    name = bound.name
    captured = next(
        (
            use
            for use in scopes.named(name)
            if _inside(use.body, owner) and not _inside(use.owner, owner)
        ),
        None,
    )
    if captured is not None and (not bound.line or scopes.stars):
        return (
            f"the name {name!r} is read in line {scopes.source.position(captured.start)[0]}, and"
            " would refer to something else there"
        )
    if not bound.line and inspected(owner.node):
        return f"a new name {name!r} would be seen by what asks for all names, such as locals()"
    if not bound.line and owner is scopes.module and any(star > place for star in scopes.stars):
        return f"an import of * that comes later may bind {name!r}, too"
    return ""


def _inside(body: Body | None, owner: Body) -> bool:
    """Whether a scope is another one or stands in it."""
    while body is not None and body is not owner:
        body = body.parent
    return body is owner


def clash(first: Bound, second: Bound) -> bool:
    """Whether two fixes that bind these cannot be made together: one name in one scope, or in one
    inside the other.
    """
    if first.name != second.name or first.line and first.line == second.line:
        return False
    if first.scope is None or second.scope is None:
        return True
    return first.scope.start < second.scope.end and second.scope.start < first.scope.end


def moved(bound: Bound, shift: Shift) -> Bound:
    """A binding in the text that edits make."""
    return bound if bound.scope is None else replace(bound, scope=shift.span(bound.scope))


def back(bound: Bound, shift: Shift) -> Bound:
    """A binding of the text that edits make, in the text before."""
    return bound if bound.scope is None else replace(bound, scope=shift.old(bound.scope))


# --------------------------------------------------------------------------------------------------
# What must hold after a step


def misnamed(
    old: Source, new: Source, shift: Shift, stated: Iterable[Bound], earlier: Iterable[Bound]
) -> str:
    """What edits break among names, in words; empty when nothing.

    `stated` are the names that the fixes of this step bind, `earlier` the new ones of all steps
    before, both with scopes in the old text.
    """
    before, after = ownership(old), ownership(new)
    stated = [moved(bound, shift) for bound in stated]
    return (
        _captured(before, after, shift)
        or _unstated(before, after, shift, stated)
        or next(filter(None, (_shared(after, bound, shift) for bound in stated if bound.new)), "")
        or next(filter(None, (_twice(after, moved(bound, shift)) for bound in earlier)), "")
        or _unknown(before, after)
    )


def _captured(before: Ownership, after: Ownership, shift: Shift) -> str:
    """A name outside of the edits that would belong to another scope."""
    edited = [edit.span for edit in shift.edits]
    was = {
        (shift.span(Span(use.start, use.start + 1)).start, use.name): _depth(use)
        for use in before.uses
        if not _within(use.start, edited)
    }
    for use in after.uses:
        depth = was.get((use.start, use.name), ...)
        if (
            depth is ...
            or depth == _depth(use)
            or depth is None
            and use.owner is after.module
            and not before.stars
        ):
            continue
        row = after.source.location(use.start).words
        return f"the name {use.name!r} at {row} would mean something else"
    return ""


def _depth(use: Use) -> int | None:
    owner = use.owner
    return None if owner is None else owner.depth


def _unstated(before: Ownership, after: Ownership, shift: Shift, stated: list[Bound]) -> str:
    """A name that edits bind more often than what they replace did, and that no fix states."""
    cut = Counter(
        use.name
        for use in before.uses
        if use.binds and _within(use.start, [edit.span for edit in shift.edits])
    )
    said = {bound.name for bound in stated}
    for use in after.uses:
        if (
            use.binds
            and _within(use.start, shift.regions)
            and not isinstance(use.owner.node, (*_COMPREHENSIONS, ast.Lambda))
        ):
            cut[use.name] -= 1
            if cut[use.name] < 0 and use.name not in said:
                return f"it would bind the name {use.name!r} without saying so"
    return ""


def _shared(after: Ownership, bound: Bound, shift: Shift) -> str:
    """How a new name is not the fix's alone."""
    owner = after.at(None if bound.scope is None else bound.scope.start)
    if owner is None or not any(use.binds for use in after.owned(owner, bound.name)):
        return f"the new name {bound.name!r} would not belong to the function that it is for"
    outside = [
        use for use in after.owned(owner, bound.name) if not _within(use.start, shift.regions)
    ]
    if outside and not bound.line:
        return (
            f"the new name {bound.name!r} is used at"
            f" {after.source.location(outside[0].start).words} already"
        )
    if not bound.line and inspected(owner.node):
        return (
            f"a new name {bound.name!r} would be seen by what asks for all names, such as locals()"
        )
    return _twice(after, bound)


def _twice(after: Ownership, bound: Bound) -> str:
    """Whether a name that fixes introduced is bound other than once, or not at all where it is
    still read.
    """
    owner = after.at(None if bound.scope is None else bound.scope.start)
    uses = after.owned(owner, bound.name) if owner is not None else []
    binding = [use for use in uses if use.binds]
    if len(binding) > 1 and not bound.line:
        places = " and ".join(after.source.location(use.start).words for use in binding[:2])
        return f"two values would get the name {bound.name!r} (at {places})"
    return (
        f"nothing would bind the name {bound.name!r} any more, which is still read"
        if uses and not binding
        else ""
    )


def _unknown(before: Ownership, after: Ownership) -> str:
    """A name that is read where it has not been and nothing binds it, although another scope does,
    or did.
    """
    if before.stars:
        return ""
    unknown = sorted(
        {
            name
            for _, name in after.unknown() - before.unknown()
            if after.binds(name) or before.binds(name)
        }
    )
    return f"nothing is called {unknown[0]!r} where it would be written" if unknown else ""


def _within(place: int, spans: list[Span]) -> bool:
    """Whether a place lies in one of some spans, which are in order."""
    at = bisect.bisect_right(spans, place, key=lambda span: span.start) - 1
    return at >= 0 and place < spans[at].end
