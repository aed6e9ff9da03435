"""The engine: answers what value arrives where, by parts that know of it only as an `Evaluator`.

A value is computed when it is asked for, and remembered. Work per question is bounded; beyond
the bound the answer is "unknown", never a guess. Names lead to definitions, op calls to rows of the
table, calls of the program's own functions are followed with the values of their arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, Final

from tfnanlint.interp import arguments, calls, expressions, members, records, subexpressions
from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp import indirect_sites as standins
from tfnanlint.interp import names as resolution
from tfnanlint.interp import trip_counts as lengths
from tfnanlint.interp.callgraph import callers
from tfnanlint.interp.callgraph import constant_arguments as agreements
from tfnanlint.interp.callgraph.graph import CallGraph
from tfnanlint.interp.containers import Containers
from tfnanlint.interp.members import Members
from tfnanlint.interp.names import Names
from tfnanlint.interp.precision import Precision
from tfnanlint.interp.settings import ProjectSettings
from tfnanlint.interp.variables import Variables
from tfnanlint.ops.families import python
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import last_names, load
from tfnanlint.program.scope import Assigned, Fixed, unrefined
from tfnanlint.project.answers import NO
from tfnanlint.project.index import Project
from tfnanlint.syntax.nodes import ATTRIBUTE, CALL, NAME
from tfnanlint.values.evaluator import (
    Binding,
    ClassObject,
    Evaluator,
    FieldNames,
    Function,
    Imported,
    Instance,
    Loop,
    Module,
    Op,
    Parameter,
    Point,
    Refined,
    Scope,
    Shared,
)
from tfnanlint.values.session import Session
from tfnanlint.values.value import INF, Value, join, unknown

MAX_DEPTH: Final = 90  # nested evaluations; about ten Python frames each
# evaluations per question, as long as the file has an allowance; benchmarks/lockstep.py sets it
MAX_STEPS = 1000
_LEAVES: Final = frozenset((ast.Constant, ast.Lambda, ast.JoinedStr))


class Engine(Evaluator):
    """Answers what values arrive; one for all modules of a run."""

    def __init__(self, callers_abroad: bool = True, allowance: float = INF) -> None:
        """`callers_abroad`: whether calls in other files count at parameters (it means searching
        the project); `allowance`: how many evaluations in callees there may be before each
        question is answered with few. `cut_short`: one was given up.
        """
        self.table = load()
        self.leaves = last_names()
        self.constants = python.CONSTANTS
        self.session = Session(not callers_abroad, allowance, MAX_STEPS)
        self.reads = []
        self._forget()

    def _forget(self) -> None:
        """Begin with nothing found out."""
        self.held = {}
        self.scopes = []
        self._given: list[Site] = []  # the sites that hold what they gave
        self._sites: dict[tuple[ast.expr, int], Site | None] = {}
        self._tentative: set[ast.AST] = set()  # the expressions of which something is held
        self._make_parts()

    def _make_parts(self) -> None:
        """Make the parts that keep what they find out, with nothing in them."""
        self.variables = Variables()
        self.members = Members()
        self.precision = Precision()
        self.containers = Containers()
        self.call_graph = CallGraph()
        self.project_settings = ProjectSettings()
        self.names = Names()

    def suffices(self, project: Project) -> bool:
        """Whether a draft would have answered the same with the callers and settings in other
        files in view: there are none.
        """
        return not (
            self.session.cut_short
            or any(project.importing(*one) for one in self.session.overlooked)
            or any(project.settings(*one) for one in self.session.unset)
        )

    def finish(self, allowance: float) -> None:
        """Go on from a draft that suffices."""
        self.session.finish(allowance)

    def close(self) -> None:
        """Forget everything; see `Module.close`. What was found out refers to itself in circles,
        which are not collected.
        """
        for scope in self.scopes:
            scope.close()
            scope.function.activation = None
        for site in self._given:
            site.result = None
        for note in self.session.loop_notes:
            note.joined = ()
        self.session.loop_notes.clear()
        self.reads.clear()
        self.session.terms.clear()
        self.session.option_terms.clear()
        self.session.calls.clear()
        self._forget()

    # Questions

    def ask(self, node: ast.expr, point: Point) -> Value:
        """`evaluate` with a fresh budget."""
        self.session.steps = 0
        return self.evaluate(node, point)

    def evaluate(self, node: Any, point: Point) -> Value:
        """The value of an expression at a point."""
        memo = point.memo
        value = memo.get(node)
        if value is not None:
            return value
        kind = type(node)
        handler = _HANDLERS.get(kind)
        if handler is None:
            return unknown()
        session = self.session
        session.steps += 1
        if session.depth >= MAX_DEPTH or session.steps > session.limit:
            session.cut_short = True
            return unknown()  # and so for good: asking again would cost as much again
        reads = self.reads
        if kind in _LEAVES:  # it assumes nothing
            value = memo[node] = handler(self, node, point)
            return value
        if node in self._tentative:
            tentative = self.tentatively((node, id(memo)))
            if tentative is not None:
                return tentative
        mark = len(reads)
        session.depth += 1
        try:
            if kind is NAME:  # these are most of all, and called by name they take less
                value = expressions.name(self, node, point)
            elif kind is CALL:
                value = expressions.invocation(self, node, point)
            elif kind is ATTRIBUTE:
                value = expressions.attribute(self, node, point)
            else:
                value = handler(self, node, point)
        finally:
            session.depth -= 1
        if len(reads) == mark:
            memo[node] = value
        else:
            self._keep_assumed(node, memo, value, mark)
        return value

    def _keep_assumed(
        self, node: ast.AST, memo: dict[ast.AST, Value], value: Value, mark: int
    ) -> None:
        """Keep a value that was computed under assumptions: those of `reads` from `mark` on."""
        session = self.session
        if session.inlined == 0:
            self.settled(session.nesting, mark)  # no question further outside waits for it
        if len(self.reads) == mark:
            memo[node] = value
        elif type(node) is not NAME:  # what a name stands for is held with its binding
            self.hold((node, id(memo)), value, mark)
            self._tentative.add(node)

    def site(self, node: ast.expr, point: Point) -> Site | None:
        """The op application that an expression is, or None. The same object as the origin of
        its value.
        """
        self.session.steps = 0
        value = point.memo.get(node)
        key = (node, id(point.memo))
        if value is not None:
            origin = value.origin
            site = (
                origin
                if isinstance(origin, Site) and origin.node is node
                else expressions.application(self, node, point) or self._sites.get(key)
            )
            if site is not None:
                return site
        elif key in self._sites:
            return self._sites[key]
        else:
            site = self._sites[key] = expressions.application(
                self, node, point
            )  # the value, when it is asked for, has this origin
        if site is None and isinstance(node, ast.Call):
            site = self._sites[key] = self.stood_for(node, point)
        return site

    def asked_for(self, row: Op, node: ast.expr, point: Point) -> Site | None:
        """The site that was asked for before its value, to be the origin of that. Not while
        something is assumed: it would keep what arrives. And what was asked of it before must
        not tell: a result depends on the arguments that its row looks at.
        """
        session = self.session
        if session.active_loops or session.asking or session.inlined:
            return None
        site = self._sites.get((node, id(point.memo)))
        if site is None or site.op is not row:
            return None
        site.forget()
        return site

    def gave(self, site: Site, value: Value) -> None:
        site.result = value
        self._given.append(site)

    def joined(self, values: list[Value]) -> Value:
        return join(values) if values else unknown()

    # Asked from above only

    def operation(self, node: ast.BinOp, point: Point) -> Site | None:
        return expressions.operation(self, node, point)

    def compared(self, node: ast.Compare, point: Point) -> Site:
        return expressions.compared(self, node, point)

    def stood_for(self, node: ast.Call, point: Point) -> Site | None:
        return standins.stood_for(self, node, point)

    def sequence(self, node: Any, point: Point) -> Value:
        return self.containers.sequence(self, node, point)

    def subscript(self, node: ast.Subscript, point: Point) -> Value:
        return self.containers.subscript(self, node, point)

    def comprehension(self, node: Any, point: Point) -> Value:
        return self.containers.comprehension(self, node, point)

    def overlook(self, called: Function | ClassObject, name: str) -> None:
        return callers.overlook(self, called, name)

    def resolve(self, node: ast.expr, point: Point) -> str | None:
        return resolution.resolve(self, node, point)

    def row(self, function: ast.expr, point: Point) -> tuple[Op | None, str]:
        return resolution.row(self, function, point)

    def callee(self, function: ast.expr, point: Point) -> Value | None:
        return resolution.callee(self, function, point)

    def parts(self, node: Any, point: Point) -> list[tuple[ast.AST, Point]]:
        return subexpressions.parts(self, node, point)

    def settled(self, assumption: Any, mark: int) -> None:
        return assumptions.settled(self, assumption, mark)

    # Expressions

    def maker(self, node: ast.expr, point: Point) -> Op | None:
        return expressions.maker(self, node, point)

    def assuming(self, test: ast.expr, truth: bool, point: Point) -> Point:
        return expressions.assuming(self, test, truth, point)

    def clamped(self, value: Value, path: str, test: ast.expr, truth: bool, point: Point) -> Value:
        return expressions.clamped(self, value, path, test, truth, point)

    def calls_in(
        self, expression: ast.AST, name: str, point: Point
    ) -> Iterator[tuple[ast.Call, Point]]:
        return subexpressions.calls_in(self, expression, name, point)

    # Definitions

    def imported(self, binding: Imported) -> Value:
        return self.names.imported(self, binding)

    def refined(self, binding: Refined) -> Value:
        return expressions.refined(self, binding)

    def parameter(self, parameter: Parameter) -> Value:
        return calls.parameter(self, parameter)

    def unseen(self, parameter: Parameter) -> Value:
        return agreements.unseen(self, parameter)

    def shared(self, binding: Shared) -> Loop:
        return calls.shared(self, binding)

    def settle(self, loop: Loop) -> Value:
        return expressions.settle(self, loop)

    # Assumptions

    def hold(self, key: Any, value: Any, mark: int) -> None:
        return assumptions.hold(self, key, value, mark)

    def tentatively(self, key: Any) -> Any:
        return assumptions.tentatively(self, key)

    # Branches and loops

    def agreed(self, parameter: Parameter) -> bool | None:
        return agreements.agreed_on(self, parameter)

    def has_rounds(self, iterable: ast.expr, point: Point) -> bool:
        return lengths.has_rounds(self, iterable, point)

    # Calls

    def apply(
        self,
        callee: Value,
        positional: list[Binding],
        keywords: dict[str, Binding],
        node: ast.Call | None = None,
        point: Point | None = None,
        hidden: bool = False,
    ) -> Value:
        return calls.apply(self, callee, positional, keywords, node, point, hidden)

    def call_with(self, callee: Value, values: list[Value]) -> Value:
        return calls.apply(self, callee, [Fixed(value) for value in values], {})

    def assigned_expression(self, name: str, point: Point) -> ast.expr | None:
        definition = unrefined(point.lookup(name))
        return definition.node if isinstance(definition, Assigned) else None

    def activation(self, function: Function) -> Scope:
        return calls.activation(self, function)

    def activated(self, function: Function) -> Scope:
        return calls.activated(self, function)

    def returned(self, scope: Scope, live: bool) -> Value:
        return calls.returned(self, scope, live)

    def arguments(
        self, call: ast.Call, point: Point
    ) -> tuple[list[Binding], dict[str, Binding], bool]:
        return arguments.arguments_of(self, call, point)

    # The call graph

    def targets(self, call: ast.Call, point: Point) -> list[Function]:
        return self.call_graph.targets(self, call, point)

    def may_run(self, call: ast.Call, point: Point, function: Function) -> bool:
        return self.call_graph.may_run(self, call, point, function)

    def call_sites(self, function: Function) -> list[tuple[ast.Call, Point]]:
        return self.call_graph.call_sites(self, function)

    def call_sites_of_entries(self, function: Function) -> list[tuple[ast.Call, Point]]:
        return self.call_graph.call_sites_of_entries(self, function)

    def indirect_call_sites(self, function: Function) -> list[tuple[ast.Call, Point]]:
        return self.call_graph.indirect_call_sites(self, function)

    def escapes(self, function: Function, name: str = "") -> bool:
        return self.call_graph.escapes(self, function, name)

    def unreached(self, module: Module, row: int) -> str:
        """Why the program of a file never runs the code of a row; "" where it may."""
        if module.source.refusal:
            return module.source.refusal
        answer, reason = self.call_graph.reached(module, row)
        return reason if answer == NO else self.call_graph.never(module, row)

    def unread(self, module: Module, row: int, attribute: str) -> str:
        """Why what the method around a row assigns to an attribute becomes nothing; "" where the
        program of the file may read it.
        """
        answer, reason = self.call_graph.reads(module, row, attribute)
        return reason if answer == NO else ""

    def runs_uncompiled(self, function: Function) -> bool:
        return self.call_graph.runs_uncompiled(self, function)

    def is_compiled(self, function: Function) -> bool:
        return self.call_graph.is_compiled(self, function)

    def arguments_of(self, function: Function) -> list[dict[str, Binding]]:
        return self.call_graph.arguments(self, function)

    def direct_arguments(self, function: Function) -> list[dict[str, Binding]]:
        return self.call_graph.direct_arguments(self, function)

    def arguments_at(
        self, function: Function, call: ast.Call, point: Point
    ) -> dict[str, Binding] | None:
        return self.call_graph.arguments_at(self, function, call, point)

    def of_keras(self, parameter: Parameter, names: list[str]) -> Value | None:
        return self.call_graph.of_keras(self, parameter, names)

    def received(self, function: Function, name: str) -> Value | None:
        return self.call_graph.received(self, function, name)

    # Classes and members

    def lineage(self, cls: ClassObject) -> list[ClassObject]:
        return self.members.lineage(self, cls)

    def heirs(self, cls: ClassObject) -> list[ClassObject]:
        return members.heirs(self, cls)

    def foreign_bases(self, cls: ClassObject) -> set[str]:
        return members.foreign_bases(self, cls)

    def method(self, cls: ClassObject, name: str) -> Function | None:
        return members.method(self, cls, name)

    def member(self, owner: Value, attr: str) -> Value | None:
        return members.member(self, owner, attr)

    def property_of(self, owner: Value, attr: str) -> Value | None:
        return members.property_of(self, owner, attr)

    def assigned_to(self, classes: list[ClassObject], attr: str) -> Binding | None:
        return self.members.assigned_to(self, classes, attr)

    def assigned_elsewhere(self, cls: ClassObject, attr: str) -> list[Binding]:
        return self.call_graph.assigned_elsewhere(self, cls, attr)

    def find_attribute(self, classes: list[ClassObject], attr: str) -> Binding | None:
        return members.find_attribute(self, classes, attr)

    def constructed(self, instance: Instance, attr: str) -> Binding | None:
        return self.call_graph.constructed(self, instance, attr)

    def library_layer(self, instance: Instance) -> Value | None:
        return self.members.library_layer(self, instance)

    def of_one(self, instance: Instance, attr: str, value: Value) -> Value:
        return self.members.of_one(self, instance, attr, value)

    def stable(self, path: str | None, point: Point) -> Value | None:
        return self.members.stable(self, path, point)

    def copy(self, record: Value, call: ast.Call, point: Point) -> Value | None:
        return records.copy(self, record, call, point)

    # Containers

    def dictionary(self, node: ast.Dict, point: Point) -> Value:
        return self.containers.dictionary(self, node, point)

    def sequence_of(self, items: tuple[Value, ...]) -> Value:
        return self.containers.sequence_of(self, items)

    def many(self, element: Value) -> Value:
        return self.containers.many(self, element)

    def record(
        self, fields: FieldNames, positional: list[Binding], keywords: dict[str, Binding]
    ) -> Value:
        return self.containers.record(self, fields, positional, keywords)

    def element(self, whole: Value, index: int | slice) -> Value:
        return self.containers.element(self, whole, index)

    def iterated(self, whole: Value) -> Value:
        return self.containers.iterated(self, whole)

    def filled(self, value: Value) -> Value:
        return self.containers.filled(self, value)

    def stored(self, base: Value, key: Any, item: Value) -> Value:
        return self.containers.stored(self, base, key, item)

    def mutated(self, base: Value, call: ast.Call, point: Point, growing: bool) -> Value:
        return self.containers.mutated(self, base, call, point, growing)

    def filled_by(self, base: Value, call: ast.Call, point: Point) -> Value:
        return self.containers.filled_by(self, base, call, point)

    def fetched(self, node: ast.Call, point: Point) -> Value | None:
        return self.containers.fetched(self, node, point)

    def built_in(self, node: ast.Call, name: str, point: Point) -> Value | None:
        return self.containers.built_in(self, node, name, point)

    def container_operator(self, node: ast.BinOp, left: Value, point: Point) -> Value:
        return self.containers.container_operator(self, node, left, point)

    # Variables, settings and precision

    def kept(self, node: ast.Call, point: Point) -> Value | None:
        return self.variables.kept(self, node, point)

    def remembered(self, site: Site, value: Value) -> Value:
        return self.variables.remembered(self, site, value)

    def assigned(self, variable: Site) -> list[Value]:
        return self.variables.assigned(self, variable)

    def increments(self, variable: Site) -> list[Value] | None:
        return self.variables.increments(self, variable)

    def assigns(self, variable: Site, scope: Scope, above: float = INF) -> bool:
        return self.variables.assigns(self, variable, scope, above)

    def configured(self, value: Value, name: str, owner: ast.expr, point: Point) -> Value:
        return self.project_settings.configured(self, value, name, owner, point)

    def policies(self, module: Module) -> list[tuple[str, ast.Call]]:
        return self.precision.policies(self, module)

    def policies_of_program(self, module: Module) -> Iterator[tuple[str, ast.Call, Module]]:
        return self.precision.policies_of_program(self, module)

    def policy_of_program(self, module: Module) -> str:
        return self.precision.policy_of_program(self, module)

    def dtype_of(self, cls: ClassObject) -> str | None:
        return self.precision.dtype_of(self, cls)

    def dtype_of_lambda(self, call: ast.Call, module: Module) -> str | None:
        return self.precision.dtype_of_lambda(self, call, module)

    def entering(self, function: Function, value: Value) -> Value:
        return self.precision.entering(self, function, value)

    def in_floatx(self, site: Any, value: Value) -> Value:
        return self.precision.in_floatx(self, site, value)

    def in_its_dtype(self, layer: Any, argument: Value) -> Value:
        return self.precision.in_its_dtype(self, layer, argument)


_HANDLERS: Final[dict[type, Callable[..., Value]]] = {
    ast.Name: expressions.name,
    ast.Constant: expressions.literal,
    ast.Call: expressions.invocation,
    ast.BinOp: expressions.binary,
    ast.Attribute: expressions.attribute,
    ast.UnaryOp: expressions.unary,
    ast.Subscript: Engine.subscript,
    ast.Tuple: Engine.sequence,
    ast.List: Engine.sequence,
    ast.Dict: Engine.dictionary,
    ast.Compare: expressions.comparison,
    ast.BoolOp: expressions.boolean,
    ast.IfExp: expressions.conditional,
    ast.Lambda: expressions.lambda_,
    ast.ListComp: Engine.comprehension,
    ast.GeneratorExp: Engine.comprehension,
    ast.SetComp: Engine.comprehension,
    ast.DictComp: Engine.comprehension,
    ast.NamedExpr: expressions.walrus,
    ast.JoinedStr: expressions.text,
    ast.Await: expressions.await_,
}
