"""Availability: how a value made in an earlier statement can be had again at a site, in a rewrite.

As its expression stands, by a name that the program already has for it, or by a new name put before
its producer.
"""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any, Collection, Final, Iterator, NamedTuple, Sequence, cast

from tfnanlint.conventions.identifiers import without_probability
from tfnanlint.diagnostics.findings import Edit
from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import PROBABILITIES
from tfnanlint.program.attributes import assigned_attributes
from tfnanlint.program.functions import Function, Instance
from tfnanlint.program.scope import (
    Assigned,
    Binding,
    Element,
    Imported,
    Loop,
    Parameter,
    Point,
    Scope,
    unrefined,
)
from tfnanlint.rewrite import side_effects as mutations
from tfnanlint.rewrite.hole_test import NoFix
from tfnanlint.syntax.access_paths import path_of, root_of
from tfnanlint.syntax.edits import edits_apply
from tfnanlint.syntax.enclosing import enclosing, whole_span
from tfnanlint.syntax.nodes import blocks_of, nodes_in, statements_in
from tfnanlint.syntax.source import Source, Span
from tfnanlint.values.value import Value

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine as Interpreter
    from tfnanlint.program.module import Module

_CALL = 16  # what a call is in `Source.examined`
MAX_NAMES = 200  # names that are evaluated to find one for a value
_CHEAP = (
    ast.Name,
    ast.Attribute,
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.Subscript,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
    ast.Slice,
    ast.Tuple,
)
_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)
# A function that calls one of these may read any of its names.
_INSPECTING = frozenset(("locals", "vars", "eval", "exec", "globals"))
_CONDITIONAL = (
    ast.IfExp,
    ast.BoolOp,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.NamedExpr,
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
)

_SUSPENDING = (ast.Await, ast.Yield, ast.YieldFrom)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Outside(NamedTuple):
    """A hole whose expression may stand in an earlier statement; `value` is what it is worth,
    `word` a name for it.
    """

    node: ast.expr
    point: Any
    value: Value | None = None
    word: str = ""
    producer: Site | None = None


class Naming(NamedTuple):
    """`name = node` is to be put before `statement`, and `node` there to be replaced by the name.
    With `renames` the statement itself assigns `node`, and gets the name.
    """

    name: str
    node: ast.expr
    statement: ast.stmt
    renames: bool = False


class Named(NamedTuple):
    """A hole: a new name for what `template` with its holes gives, assigned before the statement in
    which the site stands; `word` is the name it gets if that is free.
    """

    word: str
    template: str
    holes: dict[str, Any]


def argument(site: Site, param: str, word: str = "") -> Outside | None:
    """The expression given for a parameter of a producer, for use as a hole; None when it was not
    given.

    `word` is the name it gets where it has none and must be kept for use again.
    """
    node = site.args.get(param)
    if node is None:
        return None
    return Outside(node, site.point, site.value(param), word, site)


class _Inside:
    """The names in a function: where each stands, the statements that assign it alone, and which
    it declares global or nonlocal.
    """

    def __init__(self, function: ast.AST, source: Source):
        self.function = function
        self.source = source
        self.uses: dict[str, list[ast.Name]] = {}
        self.assignments: dict[str, list[ast.Assign]] = {}
        self.outward: set[str] = set()
        self._assigning: dict[str, list[Span]] = {}
        names = [node for node in nodes_in(function) if isinstance(node, ast.Name)]
        self._places = sorted(
            [(source.span(name).start, place) for place, name in enumerate(names)]
        )
        self._names = names
        for name in names:
            self.uses.setdefault(name.id, []).append(name)
        for node in statements_in(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                if isinstance(target, ast.Name):
                    self.assignments.setdefault(target.id, []).append(node)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                self.outward.update(node.names)

    def assigning(self, name: str) -> list[Span]:
        """Where the statements stand that assign a name, ascending."""
        spans = self._assigning.get(name)
        if spans is None:
            nodes = self.assignments.get(name, ())
            spans = self._assigning[name] = sorted([self.source.span(node) for node in nodes])
        return spans

    def assigns(self, name: str, place: Span) -> bool:
        """Whether a place is in one of the statements that assign a name."""
        spans = self.assigning(name)
        begun = bisect_left(spans, Span(place.start + 1, 0))
        return begun > 0 and place in spans[begun - 1]

    def within(self, spans: list[Span]) -> list[ast.Name]:
        """The names that stand in one of some spans, in the order of the tree."""
        indices: set[int] = set()
        for span in spans:
            first = bisect_left(self._places, (span.start, 0))
            behind = bisect_left(self._places, (span.end, 0))
            indices.update([place for _, place in self._places[first:behind]])
        return [self._names[place] for place in sorted(indices)]


class Reach:
    """Answers for one module."""

    def __init__(self, module: Module, interpreter: Interpreter):
        self.module = module
        self.source = module.source
        self.interpreter = interpreter
        self._looked_into: _Inside | None = None

    def again(
        self, hole: Outside, site: Site, flagged: list[ast.expr], namings: list[Naming]
    ) -> ast.expr | str:
        """What to write at `site` for a hole; a name it needs is added to `namings`. Raises
        NoFix.
        """
        from tfnanlint.rewrite.bindings import ownership
        from tfnanlint.rewrite.definite_assignment import is_definite, is_unbound_between

        if hole.point is None:
            raise NoFix("tfnanlint does not know where the value is computed")
        local = hole.point.module is self.module
        if local and any(self.source.span(hole.node) in self.source.span(node) for node in flagged):
            return hole.node
        trail = _Trail(self.interpreter, site, hole.producer)
        self._check_way(hole, site)
        same_scope = local and hole.point.scope is site.point.scope
        changeable = mutations.changeable(hole.node, hole.point, self.interpreter) if local else []
        same = same_scope and cheap(hole.node) and steady(hole.node, hole.point, site.point)
        place = self.source.span(site.node)
        same = same and is_unbound_between(ownership(self.source), hole.node, place)
        if same and self._keeps(hole.node, changeable, hole, site):
            return hole.node
        if written_out(hole.node):
            return hole.point.module.source.segment(hole.node)
        for name in self.names_for(hole.value, site.point, trail.owners):
            definite = is_definite(ownership(self.source), name, site.point.scope.node, place)
            paths = [] if hole.value is not None and mutations.fixed(hole.value) else [name]
            if definite and self._keeps(ast.parse(name, mode="eval").body, paths, hole, site):
                return name
        if not local:
            raise NoFix("the value is computed in another file")
        if not same_scope:
            raise NoFix("the value is computed in another function")
        if isinstance(hole.node, _PLAIN) and self._mutated(changeable, hole, site):
            raise NoFix("its input may change in place before the fix uses it again")
        rebound = self._rebound(hole, flagged)
        name = getattr(hole.node, "id", "")
        if rebound is not None and (name or self._is_left(hole, site, changeable, rebound)):
            new = self.fresh(
                "probabilities", hole.point.scope.node, [naming.name for naming in namings]
            )
            namings.append(Naming(new, rebound.value, rebound, renames=True))
            return name or hole.node
        return self._new_name(hole, namings)

    def _rebound(self, hole: Outside, flagged: list[ast.expr]) -> ast.Assign | None:
        """The statement of a producer that takes a name which it is made of itself, such as
        `logits = softmax(logits / 2)`, where nothing but `flagged` reads that name afterwards: the
        statement can take another one. None where there is no such.
        """
        from tfnanlint.rewrite.bindings import inspected

        statement, scope = self._statement_of(hole), hole.point.scope.node
        target = (
            statement.targets[0]
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1
            else None
        )
        # other files may import it
        shown = isinstance(scope, ast.Module) and not self.source.path.endswith(".ipynb")
        if (
            not isinstance(statement, ast.Assign)
            or not isinstance(target, ast.Name)
            or target.id not in _read_in(hole.node)
            or shown
            or self._in_loop(statement)
        ):
            return None
        if inspected(scope) or _is_read_elsewhere(target.id, scope):
            return None
        end = self.source.span(statement).end
        later = [
            node
            for node in nodes_in(scope)
            if isinstance(node, ast.Name)
            and node.id == target.id
            and self.source.span(node).start >= end
        ]
        if any(
            not any(self.source.span(node) in self.source.span(one) for one in flagged)
            for node in later
        ):
            return None
        return statement

    def _is_left(
        self, hole: Outside, site: Site, changeable: list[str], statement: ast.Assign
    ) -> bool:
        """Whether arithmetic on names means the same at a site once a statement, which can go, no
        longer assigns one of them.
        """
        from tfnanlint.rewrite.bindings import ownership
        from tfnanlint.rewrite.definite_assignment import is_unbound_between

        if not cheap(hole.node) or not self.only_computes(statement, site):
            return False
        target = statement.targets[0]
        others = [
            node
            for node in nodes_in(hole.node)
            if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))
            and root_of(path_of(node) or "") != getattr(target, "id", "")
        ]
        place = self.source.span(site.node)
        return all(
            isinstance(node, ast.expr)
            and steady(node, hole.point, site.point)
            and is_unbound_between(ownership(self.source), node, place)
            for node in others
        ) and self._keeps(hole.node, changeable, hole, site)

    def _in_loop(self, statement: ast.stmt) -> bool:
        path = enclosing(self.source.tree.body, self.source.span(statement), self.source.span)
        return any(isinstance(node, (ast.For, ast.AsyncFor, ast.While)) for node in path)

    def _check_way(self, hole: Outside, site: Site) -> None:
        """Raise NoFix where what stands at a site may be something else than what the producer of a
        hole made.
        """
        if hole.producer is None or hole.producer is site:
            return
        read = list(site.args.values())
        if mutations.deferred(self.source, site) and not all(
            self._bound_once(node, site) for node in read
        ):
            raise NoFix(
                "a name in the expression is assigned again before the fix would compute it"
            )
        within = hole.point.scope is site.point.scope
        between = mutations.stretch(
            self.source, site.point.scope.node, hole.producer.node if within else None, site
        )
        for path in {
            path
            for node in read
            for path in mutations.changeable(node, site.point, self.interpreter, fixed_too=True)
        }:
            if mutations.handed_on(self.source, self.interpreter, path, site, between):
                raise NoFix(f"'{path}' may be changed by a call that gets its object")

    def _keeps(self, node: ast.expr, changeable: list[str], hole: Outside, site: Site) -> bool:
        """Whether what an expression reads is still the same at a site, where its names have the
        bindings they had.

        Nothing changes an object in place, and no name is bound again before a lambda runs.
        """
        if mutations.deferred(self.source, site) and not self._bound_once(node, site):
            return False
        return not self._mutated(changeable, hole, site)

    def _bound_once(self, node: ast.expr, site: Site) -> bool:
        from tfnanlint.rewrite.bindings import ownership

        scopes = ownership(self.source)
        body = scopes.around(self.source.span(site.node))
        owners = {
            (inner.id, body.owner(inner.id))
            for inner in nodes_in(node)
            if isinstance(inner, ast.Name)
        }
        return all(
            owner is None or sum(use.binds for use in scopes.owned(owner, name)) <= 1
            for name, owner in owners
        )

    def _mutated(self, changeable: list[str], hole: Outside, site: Site) -> bool:
        if not changeable:
            return False
        function = site.point.scope.node
        same_scope = hole.point.scope is site.point.scope
        between = mutations.stretch(self.source, function, hole.node if same_scope else None, site)
        return mutations.mutation(self.source, function, changeable, between) is not None

    def steady(self, node: ast.expr, then: Point, now: Point) -> bool:
        """Whether the names in an expression mean the same at two points, and nothing in the
        function changes what they hold.
        """
        if not steady(node, then, now):
            return False
        function = now.scope.node
        whole = Span(0, len(self.source.text))
        return (
            mutations.mutation(
                self.source, function, mutations.changeable(node, then, self.interpreter), whole
            )
            is None
        )

    # Names the program has

    def names_for(
        self, value: Value | None, point: Point, owners: list[tuple[str, Instance]]
    ) -> Iterator[str]:
        """The names that surely hold `value` at a point, as long as nothing changes it, and
        attributes of `owners`.
        """
        if value is None or value.is_number:
            return
        for path, binding in _names(point):
            if binding.value(self.interpreter).token == value.token:
                yield path
        for path, owner in owners:
            for attribute in self._attributes(owner):
                if self._held(owner, attribute) == value.token:
                    yield f"{path}.{attribute}"

    def _attributes(self, owner: Instance) -> list[str]:
        names = {
            name
            for one in self.interpreter.lineage(owner.cls)
            for method in one.methods.values()
            for name in assigned_attributes(method.node)
        }
        return sorted(names)[:MAX_NAMES]

    def _held(self, owner: Instance, attribute: str) -> Any:
        """The token of an attribute that is assigned in one place only."""
        bindings: dict[int, Binding] = {}
        for cls in self.interpreter.lineage(owner.cls):
            if attribute in cls.scope.history:
                return None
            for name in cls.assigners(attribute):
                method = cls.methods[name]
                entry = self.interpreter.activation(method).history.get(
                    f"{method.node.args.args[0].arg}.{attribute}"
                )
                bindings |= (
                    {id(b): b for b in map(unrefined, entry.bindings()) if b is not None}
                    if entry is not None
                    else {}
                )
        if len(bindings) != 1:
            return None
        return next(iter(bindings.values())).value(self.interpreter).token

    # A new name

    def statement_before(self, site: Site, holes: list[Any]) -> ast.stmt:
        """The statement before which something made of `holes` can be computed for use at `site`.
        Raises NoFix.
        """
        path = enclosing(self.source.tree.body, self.source.span(site.node), self.source.span)
        at = max(
            (index for index, node in enumerate(path) if isinstance(node, ast.stmt)), default=None
        )
        if at is None or site.node not in path or isinstance(site.point.scope.node, ast.ClassDef):
            raise NoFix(
                "no line can be added before it that computes its input: give that a name first"
            )
        around = path[at + 1 : path.index(site.node) + 1]
        simple = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
        if not isinstance(path[at], simple) or any(
            isinstance(node, _CONDITIONAL) for node in around[:-1]
        ):
            raise NoFix("its input is not computed in every case: give it a name first")
        before = [
            child for outer, inner in zip(around, around[1:]) for child in _before(outer, inner)
        ]
        before += [path[at].target] if isinstance(path[at], ast.AugAssign) else []
        read = [node for node in holes if isinstance(node, ast.expr)]
        if not all(map(_untroubled, before)):
            if any(self.acts(node, site.point) for node in read):
                raise NoFix(
                    "the fix would change the order of evaluation: give the input a name first"
                )
            if self._upset(before, read, site, self.source.span(path[at])):
                raise NoFix("its input changes in the same statement: give it a name first")
        return cast(ast.stmt, path[at])

    def _upset(
        self, before: list[ast.AST], read: list[ast.expr], site: Site, statement: Span
    ) -> bool:
        """Whether what is computed before a site in its statement may change what expressions read:
        `:=`, a method of an object.
        """
        bound = {
            node.target.id
            for part in before
            for node in nodes_in(part)
            if isinstance(node, ast.NamedExpr)
        }
        if any(
            isinstance(node, ast.Name) and node.id in bound
            for part in read
            for node in nodes_in(part)
        ):
            return True
        changeable = [
            path
            for node in read
            for path in mutations.changeable(node, site.point, self.interpreter)
        ]
        between = Span(statement.start, self.source.span(site.node).start)
        return (
            mutations.mutation(self.source, site.point.scope.node, changeable, between) is not None
        )

    # What a fix leaves behind

    def idle(self, site: Site, edits: list[Edit]) -> list[list[ast.Assign]]:
        """The assignments in the function of a site whose names only what `edits` replace has read,
        or other assignments of that name, and that compute a tensor, or give a number, and do
        nothing else: a group for each name, read by what stands before it. What has a comment is
        left to its reader, what has a name in the graph to the graph's.
        """
        function = site.point.scope.node if site.point is not None else None
        if site.source is not self.source or not isinstance(
            function, (ast.FunctionDef, ast.AsyncFunctionDef)
        ):
            return []
        inside = self._inside(function)
        if not _INSPECTING.isdisjoint(inside.uses):
            return []
        replaced = [edit.span for edit in edits if edit.span.start < edit.span.end]
        waiting = inside.within(replaced)
        groups: list[list[ast.Assign]] = []
        while waiting:
            name = waiting.pop().id
            assignments = inside.assignments.get(name, [])
            if not assignments or assignments in groups or name in inside.outward:
                continue
            written = any(re.search(rf"\b{name}\b", edit.text) for edit in edits)
            if written or self._is_read(name, inside, replaced):
                continue
            if not all(self.only_computes(node, site, edits, replaced) for node in assignments):
                continue
            groups.append(assignments)
            replaced += inside.assigning(name)
            waiting += [
                inner
                for node in assignments
                for inner in nodes_in(node.value)
                if isinstance(inner, ast.Name)
            ]
        return groups

    def _inside(self, function: ast.AST) -> _Inside:
        if self._looked_into is None or self._looked_into.function is not function:
            self._looked_into = _Inside(function, self.source)
        return self._looked_into

    def _is_read(self, name: str, inside: _Inside, gone: list[Span]) -> bool:
        """Whether a name stands somewhere outside of its assignments and of the text that goes."""
        for use in inside.uses[name]:
            place = self.source.span(use)
            if not inside.assigns(name, place) and not any([place in span for span in gone]):
                return True
        return False

    def only_computes(
        self,
        statement: ast.Assign,
        site: Site,
        edits: Sequence[Edit] = (),
        gone: Sequence[Span] = (),
    ) -> bool:
        """Whether an assignment only computes a tensor, which has no name in the graph, or gives a
        number that is written there, and has no comment. A comment above it is none of its own
        where one of some edits changes the line below, or that below lines that are `gone`: it then
        stands right above that line.
        """
        row = statement.lineno - 1
        text = self.source.text[self.source.line_starts[row] : self.source.span(statement).end]
        heads = row > 0 and self.source.line_text(row).lstrip().startswith("#")
        if "#" in text or heads and not self._changes_below(statement, edits, gone):
            return False
        if isinstance(statement.value, ast.Constant):
            return isinstance(statement.value.value, (int, float))
        inside = nodes_in(statement.value)
        named = any(isinstance(node, ast.keyword) and node.arg in ("name", None) for node in inside)
        computed = any(isinstance(node, (ast.Call, ast.BinOp)) for node in inside) and not any(
            isinstance(node, _CONDITIONAL) for node in inside
        )
        return computed and not named and not self.acts(statement.value, site.point)

    def _changes_below(
        self, statement: ast.Assign, edits: Sequence[Edit], gone: Sequence[Span]
    ) -> bool:
        """Whether one of some edits changes the line below a statement, and more lines stand below
        that one without a blank line between: a comment above them is one of all. So it is where
        all lines go between it and the line that changes.
        """
        row = statement.end_lineno or statement.lineno
        changed = self._row_below(row, gone)
        is_in_block = row < len(self.source.line_starts) and self.source.line_text(row + 1).strip()
        if changed is not None and changed > row + 1 and is_in_block:
            is_beside = _indent_of(self.source.line_text(changed)) == statement.col_offset
            begun = [self.source.position(edit.span.start)[0] for edit in edits]
            return is_beside and changed in begun
        if row + 2 > len(self.source.line_starts):
            return False
        lines = [self.source.line_text(below) for below in (row + 1, row + 2)]
        if any(_indent_of(line) != statement.col_offset for line in lines):
            return False
        return any(self.source.position(edit.span.start)[0] == row + 1 for edit in edits)

    def _row_below(self, row: int, gone: Sequence[Span]) -> int | None:
        """The first row below another that is neither blank nor in lines that go; None at the end
        of the file.
        """
        for below in range(row + 1, len(self.source.line_starts) + 1):
            start = self.source.line_starts[below - 1]
            text = self.source.line_text(below)
            place = start + len(text) - len(text.lstrip())
            if text.strip() and not any(Span(place, place + 1) in span for span in gone):
                return below
        return None

    def acts(self, node: ast.expr, point: Point) -> bool:
        """Whether an expression calls anything but ops that give the same result whenever they
        run.
        """
        return any(
            isinstance(inner, ast.Call) and self._does_more(inner, point)
            for inner in nodes_in(node)
        )

    def _does_more(self, call: ast.Call, point: Point, depth: int = 3) -> bool:
        """Whether a call may do anything but compute: what is no pure op, nor a function of the
        program that calls only such.
        """
        row, _ = self.interpreter.row(call.func, point)
        if row is not None:
            return not row.pure
        value = self.interpreter.callee(call.func, point)
        function = value.obj if value is not None and depth else None
        if not isinstance(function, Function) or not _only_binds_its_names(function.node):
            return True
        own = _bound_inside(function.node)
        return any(
            _leftmost(inner.func) in own or self._does_more(inner, function.point, depth - 1)
            for inner in _calls(function.node)
        )

    def check_calls(self, site: Site, edits: tuple[Edit, ...]) -> None:
        """Raise NoFix where edits let calls that do more than compute run more often, or in another
        order; or once where a statement has two that are written alike.

        The construction of a layer or loss is none of them: fixes replace such.
        """
        touched = [_calls(statement) for statement in self._touched(edits)]
        self.source.examined += _CALL * sum(map(len, touched))
        acting = [
            [
                call
                for call in calls
                if self._does_more(call, site.point) and not self._constructs(call, site.point)
            ]
            for calls in touched
        ]
        names = {ast.unparse(call.func) for calls in acting for call in calls}
        if not names:
            return
        old, new = self._trees(edits)
        alike = [Counter(map(ast.unparse, calls)) for calls in acting]
        repeated = {text for counts in alike for text, count in counts.items() if count > 1}
        if repeated:
            left = Counter(map(ast.unparse, _calls(new)))
            whole = Counter(map(ast.unparse, _calls(old)))
            if any(left[text] < whole[text] for text in repeated):
                raise NoFix("the fix would merge two calls: give the result of one a name first")
        before, after = (
            [name for call in _calls(tree) if (name := ast.unparse(call.func)) in names]
            for tree in (old, new)
        )
        counts = Counter(after)
        counts.subtract(before)
        if any(count > 0 for count in counts.values()) or (
            before != after and min(counts.values()) == 0
        ):
            raise NoFix(
                "a call would run more often or in another order: give its result a name first"
            )

    def _trees(self, edits: tuple[Edit, ...]) -> tuple[ast.Module, ast.Module]:
        """The statements of the innermost block in which edits are, from the first to the last that
        they touch, before and after; all of the file where their lines do not parse by themselves.
        """
        source = self.source
        place = Span(
            min([edit.span.start for edit in edits]), max([edit.span.end for edit in edits])
        )
        before = self._around(place)
        rows = self._lines(before) if before is not source.tree.body else Span(0, len(source.text))
        local = [
            Edit(Span(edit.span.start - rows.start, edit.span.end - rows.start), edit.text)
            for edit in edits
        ]
        text = source.slice(rows)
        lead = "if 1:\n" if text[:1] in " \t" else ""
        source.examined += len(text)
        try:
            return ast.Module(before, []), ast.parse(lead + edits_apply(text, local))
        except (SyntaxError, ValueError):
            source.examined += len(source.text)
            return source.tree, ast.parse(edits_apply(source.text, edits))

    def _around(self, place: Span) -> list[ast.stmt]:
        """The statements of the innermost block whose lines hold a place, from the first to the
        last that it touches; all of the file where no lines do.
        """
        around = block = self.source.tree.body
        while block:
            part = self._touched_of(block, place)
            if place not in self._lines(part):
                break
            around = part
            inner = [one for one in blocks_of(part[0]) if one and place in self._lines(one)]
            block = inner[0] if len(part) == 1 and inner and self._has_lines(inner[0]) else []
        return around

    def _touched_of(self, block: list[ast.stmt], place: Span) -> list[ast.stmt]:
        """The statements of a block from the first to the last that a place touches, with those
        that share their lines.
        """
        first = max(bisect_right(block, place.start, key=self._start) - 1, 0)
        behind = max(bisect_right(block, place.end, key=self._start), first + 1)
        while first and block[first - 1].end_lineno == _first_row(block[first]):
            first -= 1
        while behind < len(block) and block[behind - 1].end_lineno == _first_row(block[behind]):
            behind += 1
        return block[first:behind]

    def _start(self, statement: ast.stmt) -> int:
        return whole_span(statement, self.source.span).start

    def _lines(self, statements: list[ast.stmt]) -> Span:
        """The whole lines of neighbouring statements."""
        starts, last = self.source.line_starts, statements[-1].end_lineno or 0
        end = starts[last] if last < len(starts) else len(self.source.text)
        return Span(starts[_first_row(statements[0]) - 1], end)

    def _has_lines(self, block: list[ast.stmt]) -> bool:
        """Whether a block begins on a line of its own, and is no `elif`."""
        text, start = self.source.text, self._start(block[0])
        line = text[self._lines(block).start : start]
        return not line.strip(" \t@") and not text.startswith("elif", start)

    def _constructs(self, call: ast.Call, point: Point) -> bool:
        row, _ = self.interpreter.row(call.func, point)
        return row is not None and row.name.startswith("keras.")

    def _touched(self, edits: tuple[Edit, ...]) -> list[ast.stmt]:
        """The innermost statements in which edits replace something."""
        paths = [
            enclosing(self.source.tree.body, edit.span, self.source.span)
            for edit in edits
            if edit.span.start < edit.span.end
        ]
        inner = [
            next((node for node in reversed(path) if isinstance(node, ast.stmt)), None)
            for path in paths
        ]
        return [node for node in dict.fromkeys(inner) if node is not None]

    def fresh(self, word: str, scope: ast.AST, others: Collection[str] = ()) -> str:
        """`word`, or `word_2`, `word_3`, ...: a name that a scope and all inside it do not use, and
        that is not among `others`.
        """
        taken = getattr(scope, "taken", None)
        if taken is None:
            # kept with the tree: a file may ask for hundreds of names
            taken = scope.taken = _taken(scope)
            if isinstance(scope, ast.Module):
                taken |= _beside(self.source)
        name, count = word, 1
        while name in taken or name in others:
            count += 1
            name = f"{word}_{count}"
        return name

    def _new_name(self, hole: Outside, namings: list[Naming]) -> str:
        for naming in namings:
            if naming.node is hole.node:
                return naming.name
        statement = self._statement_of(hole)
        if statement is None:
            raise NoFix("the fix would compute it twice: give it a name first")
        used = [naming.name for naming in namings]
        naming = Naming(self._word(hole, statement, used), hole.node, statement)
        namings.append(naming)
        return naming.name

    def _word(self, hole: Outside, statement: ast.stmt, used: list[str]) -> str:
        """A name for a hole: its word, or where that is taken, or several probabilities in the
        scope have logits, that behind what the statement assigns (`mlp_logits`).
        """
        word, scope = hole.word or "value", hole.point.scope.node
        name = self.fresh(word, scope, used)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        owner = getattr(target, "attr", getattr(target, "id", ""))
        is_probability = hole.producer is not None and hole.producer.op.name in PROBABILITIES
        is_one_of_several = is_probability and _has_siblings(statement, scope)
        if not owner or name == word and not is_one_of_several:
            return name
        return self.fresh(_name_beside(owner, word), scope, used)

    def _statement_of(self, hole: Outside) -> ast.stmt | None:
        """The assignment in which a hole is the first thing computed, always; None when there is no
        such.
        """
        path = enclosing(self.source.tree.body, self.source.span(hole.node), self.source.span)
        at = max(
            (index for index, node in enumerate(path) if isinstance(node, ast.stmt)), default=None
        )
        if (
            at is None
            or hole.node not in path
            or hole.point.over is not None
            or isinstance(hole.point.scope.node, ast.ClassDef)
        ):
            return None
        around = path[at + 1 : path.index(hole.node) + 1]
        if not isinstance(path[at], (ast.Assign, ast.AnnAssign)) or any(
            isinstance(node, _CONDITIONAL) for node in around[:-1]
        ):
            return None
        first = all(
            _untroubled(child)
            for outer, inner in zip(around, around[1:])
            for child in _before(outer, inner)
        )
        return cast(ast.stmt, path[at]) if first or not self.acts(hole.node, hole.point) else None


class _Trail:
    """How a value came from its producer to a site: through which names, and as an attribute of
    what.

    Raises NoFix when what a name holds at the site may not be what the producer made last.
    """

    def __init__(self, interpreter: Interpreter, site: Site, producer: Site | None):
        self.interpreter = interpreter
        self.site = site
        self.producer = producer
        self.owners: list[tuple[str, Instance]] = []
        if producer is not None:
            self._follow()

    def _follow(self) -> None:
        queue: list[tuple[ast.AST, Point]] = [
            (node, self.site.point) for node in self.site.args.values()
        ]
        seen: set[int] = set()
        while queue and len(seen) < 400:
            node, point = queue.pop()
            for inner in nodes_in(node) if node is not self.producer.node else ():
                binding = self._binding(inner, point)
                if isinstance(inner, ast.Attribute):
                    self._owner(inner, point)
                if binding is None or id(binding) in seen:
                    continue
                seen.add(id(binding))
                queue += self._step(inner, unrefined(binding), point)

    def _step(
        self, node: ast.AST, binding: Binding | None, point: Point
    ) -> list[tuple[ast.AST, Point]]:
        if isinstance(binding, (Loop, Parameter)) and self._carries(binding):
            raise NoFix(
                "the value may come from an earlier iteration of the loop"
                if isinstance(binding, Loop)
                else "the value comes from the callers of this function"
            )
        if (
            isinstance(node, ast.Name)
            and binding is not None
            and _changes_outside(node.id, point)
            and self._carries(binding)
        ):
            raise NoFix(f"'{node.id}' is assigned more than once")
        while isinstance(binding, Element):
            binding = unrefined(binding.whole)
        if isinstance(binding, Assigned) and binding.point.scope is self.site.point.scope:
            return [(binding.node, binding.point)]
        return []

    def _binding(self, node: ast.AST, point: Point) -> Binding | None:
        if isinstance(node, ast.Name):
            return point.lookup(node.id)
        path = path_of(node) if isinstance(node, (ast.Attribute, ast.Subscript)) else None
        return point.path_binding(root_of(path), path) if path else None

    def _owner(self, node: ast.Attribute, point: Point) -> None:
        """Note `self` of `self.y` when `self.y` is what the producer made."""
        path = path_of(node.value)
        if path is None or self.interpreter.evaluate(node, point).origin is not self.producer:
            return
        owner = self.interpreter.evaluate(node.value, point).obj
        if isinstance(owner, Instance) and steady(node.value, point, self.site.point):
            self.owners.append((path, owner))

    def _carries(self, binding: Binding) -> bool:
        """Whether the value of a binding comes from the producer."""
        origin: Any = binding.value(self.interpreter).origin
        for _ in range(24):
            if origin is self.producer:
                return True
            if not isinstance(origin, Site):
                return False
            value = next(
                (origin.value(p) for p in origin.args if origin.value(p).origin is not None), None
            )
            origin = value.origin if value is not None else None
        return False


def _names(point: Point) -> Iterator[tuple[str, Binding]]:
    """Paths with the bindings that hold at a point, newest first; names of outer scopes only if
    bound once.
    """
    scope: Scope | None = point.scope
    left = MAX_NAMES
    while scope is not None:
        for path in reversed(scope.history):
            root = root_of(path)
            if scope is not point.scope and (scope.history[path].count() > 1 or path != root):
                continue
            binding = point.lookup(path) if path == root else point.path_binding(root, path)
            if (
                binding is None
                or isinstance(binding, Imported)
                or not path.replace(".", "").isidentifier()
            ):
                continue
            left -= 1
            if left < 0:
                return
            yield path, binding
        scope = scope.parent.scope if scope.parent is not None else None


def _changes_outside(name: str, point: Point) -> bool:
    """Whether a name belongs to an outer scope and is bound there more than once."""
    scope: Scope | None = point.scope
    while scope is not None:
        if name in scope.history:
            return scope is not point.scope and scope.history[name].count() > 1
        scope = scope.parent.scope if scope.parent is not None else None
    return False


def _name_beside(owner: str, word: str) -> str:
    """A name for what a value is made of: `actor_logits` for `actor_probs` and `logits`,
    `raw_fake_logits` where the value itself is called `fake_logits`.
    """
    stem = without_probability(owner)
    named_alike = stem.endswith((word, word.removesuffix("s")))
    return f"raw_{stem}" if named_alike else f"{stem}_{word}"


def _has_siblings(statement: ast.stmt, scope: ast.AST) -> bool:
    """Whether a scope assigns what the same function gives to another name, too:
    `fake = tf.sigmoid(..)` beside `real = tf.sigmoid(..)`.
    """
    name = _called_by(statement)
    names = {
        ast.dump(node.targets[0])
        for node in nodes_in(scope)
        if isinstance(node, ast.Assign) and _called_by(node) == name
    }
    return name != "" and len(names) > 1


def _called_by(statement: ast.stmt) -> str:
    """The last part of the name of the function whose result is assigned; empty for others."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    path = path_of(value.func) if isinstance(value, ast.Call) else None
    return (path or "").rpartition(".")[2]


def _read_in(node: ast.expr) -> set[str]:
    """The names that an expression reads."""
    return {inner.id for inner in nodes_in(node) if isinstance(inner, ast.Name)}


def cheap(node: ast.expr) -> bool:
    """Names, attributes, constants and arithmetic on them: nothing that runs code of its own."""
    return all(isinstance(inner, _CHEAP) for inner in nodes_in(node))


def written_out(node: ast.expr) -> bool:
    """Numbers, strings and tuples of them mean the same wherever they stand."""
    return all(
        isinstance(inner, (ast.Constant, ast.UnaryOp, ast.USub, ast.Tuple, ast.List, ast.Load))
        for inner in ast.walk(node)
    )


def steady(node: ast.expr, then: Point, now: Point) -> bool:
    """Whether every name in an expression still has the binding it had."""
    for inner in nodes_in(node):
        if isinstance(inner, ast.Name) and unrefined(then.lookup(inner.id)) is not unrefined(
            now.lookup(inner.id)
        ):
            return False
        if isinstance(inner, (ast.Attribute, ast.Subscript)):
            path = path_of(inner)
            if path and then.path_binding(root_of(path), path) is not now.path_binding(
                root_of(path), path
            ):
                return False
    return True


def _taken(scope: ast.AST) -> set[str]:
    """Every name that a scope and all inside it use, and Python's own."""
    taken = set(dir(builtins))
    for node in nodes_in(scope):
        for field in ("id", "arg", "name", "asname", "rest"):
            name = getattr(node, field, None)
            if isinstance(name, str) and not isinstance(node, ast.keyword):
                taken.add(name.split(".")[0])
        taken.update(
            getattr(node, "names", ()) if isinstance(node, (ast.Global, ast.Nonlocal)) else ()
        )
    return taken


def _beside(source: Source) -> set[str]:
    """The words of a notebook's lines that are not read as Python: magics, and cells that do not
    parse, share its names.
    """
    if source.written == source.text:
        return set()
    lines = zip(source.text.splitlines(), source.written.splitlines())
    return {
        word
        for read, written in lines
        if read != written
        for word in re.findall(r"[^\W\d]\w*", written)
    }


def _before(outer: ast.AST, inner: ast.AST) -> Iterator[ast.AST]:
    """The children of a node that are computed before the one that holds `inner`."""
    for child in ast.iter_child_nodes(outer):
        if any(node is inner for node in nodes_in(child)):
            return
        yield child


def _first_row(statement: ast.stmt) -> int:
    """The row of a statement's first decorator, or its own."""
    decorators = statement.__dict__.get("decorator_list")
    return decorators[0].lineno if decorators else statement.lineno


def _calls(node: ast.AST) -> list[ast.Call]:
    """The calls in a tree, in the order in which they run."""
    backwards: list[ast.Call] = []
    waiting: list[ast.AST] = [node]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, ast.Call):
            backwards.append(inner)
        waiting += ast.iter_child_nodes(inner)
    return backwards[::-1]


def _only_binds_its_names(function: ast.AST) -> bool:
    """Whether a function does nothing but assign to its own names, ask and return, apart from what
    it calls.
    """
    plain = (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr, ast.If, ast.Pass)
    if getattr(function, "decorator_list", None) or isinstance(function, ast.AsyncFunctionDef):
        return False
    inside = [node for node in ast.walk(function) if node is not function]
    stored = (
        node for node in inside if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
    )
    suspends = any(isinstance(node, _SUSPENDING) for node in inside)
    assigns = all(isinstance(node, plain) for node in inside if isinstance(node, ast.stmt))
    return (
        assigns and not suspends and all(isinstance(node, (ast.Name, ast.Tuple)) for node in stored)
    )


def _bound_inside(function: ast.AST) -> set[str]:
    """The names that a function binds itself."""
    return {
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(function)
        if isinstance(node, ast.arg)
        or isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
    }


def _leftmost(node: ast.expr) -> str:
    """The name with which an expression begins; empty where it begins otherwise."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _untroubled(node: ast.AST) -> bool:
    """Whether it does not matter if something else is computed before this."""
    return all(
        isinstance(
            inner,
            (
                *_PLAIN,
                ast.keyword,
                ast.Tuple,
                ast.List,
                ast.operator,
                ast.unaryop,
                ast.UnaryOp,
                ast.BinOp,
            ),
        )
        for inner in nodes_in(node)
    )


def _is_read_elsewhere(name: str, scope: ast.AST) -> bool:
    """Whether a variable of a scope belongs to another scope, or a function inside may read it,
    wherever that is written: it runs later.
    """
    for node in ast.walk(scope):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return True
        is_inside = isinstance(node, _FUNCTIONS) and node is not scope
        if is_inside and any(
            isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node)
        ):
            return True
    return False


def _indent_of(line: str) -> int:
    """The columns before what a line holds; -1 of a blank line."""
    text = line.lstrip(" ")
    return len(line) - len(text) if text.strip() else -1
