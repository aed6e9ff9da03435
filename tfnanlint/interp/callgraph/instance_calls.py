"""Instance calls: what the calls of the objects of a class hand over, `layer(x)`, where the project
shows all of them.

Keras calls a layer as well, and so does code that imports it: what the calls seen here hand over is
believed only where all of them are seen, and of each it is known what it hands over.
"""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp import names as resolution
from tfnanlint.interp.callgraph import callers, stores
from tfnanlint.ops.frameworks import CALL_METHODS
from tfnanlint.program import functions as callables
from tfnanlint.program.attributes import stored_as_given
from tfnanlint.program.functions import ClassObject, Function, Handed, Instance, Recast
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Assigned, Binding, Fixed, Point, Scope
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import NUMERIC_KINDS, Value, unknown

# they are given a class, and make no instance of it
_ASKED: Final = frozenset(("super", "isinstance", "issubclass", "type"))
MAX_CALLS: Final = 24  # calls joined at one parameter


class Reads:
    """Where a file reads what ends in a name, by number, and the call of it that stands there. Many
    classes have an attribute of one name: what was found out about a read for one of them is kept
    for all, so that each is looked at once and not for every class.
    """

    def __init__(self, reads: list[tuple[ast.expr, ast.Call | None, Point]]):
        self.open = dict(enumerate(reads))
        self.settled: dict[ClassObject, dict[int, tuple[ast.Call | None, Point]]] = {}
        self.lost = False  # of some read nothing is known: it may be of any class

    def settle(self, number: int, cls: ClassObject | None) -> None:
        """A read is of an instance of a class, and of nothing that matters to others; None: of
        nothing that matters at all.
        """
        read = self.open.pop(number, None)
        if read is not None and cls is not None:
            self.settled.setdefault(cls, {})[number] = read[1:]


class InstanceCalls:
    """The part of the interpreter that goes from a class to the calls of its instances, and to the
    calls that made them.
    """

    def __init__(self) -> None:
        self.instance_calls: dict[tuple[ClassObject, bool], list[tuple[ast.Call, Point]]] = {}
        self.name_reads: dict[tuple[Module, str], Reads] = {}

    def constructed(self, ev: Evaluator, instance: Instance, attr: str) -> Binding | None:
        """What one object keeps under a name, as the call that made it says; None where more than
        that may be there.
        """
        if instance.node is None or instance.point is None:
            return None
        if attr in instance.given:
            return instance.given[attr]
        mark = len(ev.reads)
        binding = self._find_constructed(ev, instance, instance.node, instance.point, attr)
        if len(ev.reads) == mark:
            instance.given[attr] = binding
        return binding

    def _find_constructed(
        self, ev: Evaluator, instance: Instance, node: ast.Call, point: Point, attr: str
    ) -> Binding | None:
        method = ev.method(instance.cls, "__init__")
        stored = (
            stored_as_given(method.node).get(attr)
            if method is not None and method.transparent
            else None
        )
        if (
            method is None
            or stored is None
            or self._assigned_again(ev, instance.cls, attr, method, point)
        ):
            return None
        positional, keywords, complete = ev.arguments(node, point)
        if not complete:
            return None
        bound = callables.bind_parameters(
            method, [Fixed(Value(kind="instance", obj=instance)), *positional], keywords
        )
        around = method.point
        while isinstance(around.scope.node, ast.ClassDef) and around.scope.parent is not None:
            around = around.scope.parent  # class bodies are not visible from methods
        return Assigned(
            stored,
            around.under(
                {name: Handed(binding, method) for name, binding in bound.items()}, later=True
            ),
        )

    def _assigned_again(
        self, ev: Evaluator, cls: ClassObject, attr: str, method: Function, point: Point
    ) -> bool:
        """Whether anything but a method, `__init__`, assigns an attribute: a class, or the file
        where it stands or where an object is made.
        """
        lineage = ev.lineage(cls)
        # `__init__` may have returned before
        if any(one.scope.at(attr) is not None for one in lineage):
            return True
        if [(one, name) for one in lineage for name in one.assigners(attr)] != [
            (method.owner, "__init__")
        ] or ev.method(cls, attr) is not None:
            return True
        return (
            any(one.changed_outside(attr) or one.sets_by_name(attr) for one in lineage)
            or stores.is_assigned(ev, cls, attr, cls.module)
            or stores.is_assigned(ev, cls, attr, point.module)
        )

    def received(self, ev: Evaluator, function: Function, name: str) -> Value | None:
        """What arrives at a parameter of `call`, where every call in the project hands over
        something that is known.
        """
        if function.owner is None or function.name not in CALL_METHODS or not function.transparent:
            return None
        values = []
        for call, point in self._instance_calls(ev, function.owner):
            positional, keywords, complete = ev.arguments(call, point)
            if not complete:
                return None
            instance: list[Binding] = [Fixed(Value(kind="instance", obj=Instance(function.owner)))]
            handed: list[Binding] = [
                Recast(binding, function.owner, function.module)
                if function.name == "call"
                else binding
                for binding in positional
            ]
            argument = callables.bind_parameters(function, instance + handed, keywords).get(name)
            # it is read from `**kwargs`
            value = argument.value(ev) if argument is not None else unknown()
            if value.kind not in NUMERIC_KINDS or not value.known:
                return None
            values.append(value)
        return ev.joined(values) if values else None

    def of_objects(self, ev: Evaluator, cls: ClassObject) -> list[tuple[ast.Call, Point]]:
        """The calls of objects of a class, in the files that make some, by the names that these are
        given there; there may be others.
        """
        calls: dict[ast.Call, Point] = {}
        names: dict[tuple[Module, str], None] = {}
        for construction, point in callers.calls_in_project(ev, cls, cls.name):
            names.update(
                [
                    ((point.module, path.rsplit(".", 1)[-1]), None)
                    for path in _paths(construction, point.scope)
                ]
            )
        for module, name in names:
            for call, point in module.calls_to(name, ev):
                callee = resolution.callee(ev, call.func, point)
                target = callee.obj if callee is not None else None
                if isinstance(target, Instance) and cls in ev.lineage(target.cls):
                    calls[call] = point
        return list(calls.items())

    def _instance_calls(self, ev: Evaluator, cls: ClassObject) -> list[tuple[ast.Call, Point]]:
        """Every call of an instance of a class; [] where some may not be seen."""
        return assumptions.once(
            ev, self.instance_calls, (cls, ev.session.sees_callers), [], self._found_calls, ev, cls
        )

    def _found_calls(self, ev: Evaluator, cls: ClassObject) -> list[tuple[ast.Call, Point]]:
        all_made = callers.calls_in_project(ev, cls, cls.name)
        modules = dict.fromkeys([cls.module, *(point.scope.module for _, point in all_made)])
        if not all_made or any(
            cls.name in one.base_names or self._handed_out(ev, cls, one) for one in modules
        ):
            return []
        calls: list[tuple[ast.Call, Point]] = []
        for construction, point in all_made:
            value = resolution.callee(ev, construction.func, point)
            if value is None or value.obj is not cls:
                return []
            called = self._calls_of_one(ev, construction, point, cls)
            if called is None or len(calls) + len(called) > MAX_CALLS:
                return []
            calls += called
        return calls

    def _handed_out(self, ev: Evaluator, cls: ClassObject, module: Module) -> bool:
        """Whether a file uses a class for anything but to make an instance."""
        for row in module.source.rows_naming(cls.name):
            for expression, _ in module.expressions(row, ev):
                nodes = nodes_in(expression)
                used = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
                used |= {
                    id(arg)
                    for node in nodes
                    if isinstance(node, ast.Call) and leaf(node.func) in _ASKED
                    for arg in node.args
                }
                if any(
                    isinstance(node, (ast.Name, ast.Attribute))
                    and leaf(node) == cls.name
                    and id(node) not in used
                    for node in nodes
                ):
                    return True
        return False

    def _calls_of_one(
        self, ev: Evaluator, construction: ast.Call, point: Point, cls: ClassObject
    ) -> list[tuple[ast.Call, Point]] | None:
        """The calls of the instance that one call makes; None where it may go on to other code."""
        for whole, time in point.scope.statements:
            for node in nodes_in(whole):
                if isinstance(node, ast.Call) and node.func is construction:
                    return [(node, Point(point.scope, time))] if point.over is None else None
        paths = _paths(construction, point.scope)
        if not paths or point.scope.parent is None:
            return None  # a name of the module: other files may have it
        calls: list[tuple[ast.Call, Point]] = []
        for path in paths:
            called = self._calls_through(ev, path.rsplit(".", 1)[-1], point.scope, cls)
            if called is None:
                return None
            calls += called
        return calls

    def _calls_through(
        self, ev: Evaluator, name: str, scope: Scope, cls: ClassObject
    ) -> list[tuple[ast.Call, Point]] | None:
        """The calls of what a name or an attribute holds, in its file; None where it is used for
        something else.
        """
        reads = self._reads(ev, name, scope.module)
        mine: dict[int, tuple[ast.Call | None, Point]] = {}
        for number, (node, call, point) in list(reads.open.items()) if not reads.lost else ():
            value = ev.evaluate(node, point)
            final = point.memo.get(node) is value  # not under an assumption
            if not value.known and value.obj is None:
                reads.lost = reads.lost or final
                return None
            owner = value.obj.cls if isinstance(value.obj, Instance) and not value.known else None
            if final:
                reads.settle(number, owner)
            if owner is cls:
                if call is None:
                    return None
                mine[number] = call, point
        mine |= reads.settled.get(cls, {})
        if reads.lost or any(call is None for call, _ in mine.values()):
            return None
        return list(
            {
                call: point
                for _, (call, point) in sorted(mine.items(), key=lambda numbered: numbered[0])
                if call is not None
            }.items()
        )

    def _reads(self, ev: Evaluator, name: str, module: Module) -> Reads:
        """Where a file reads what ends in a name: once for all classes with such an attribute."""
        if (module, name) not in self.name_reads:
            reads: list[tuple[ast.expr, ast.Call | None, Point]] = []
            for row in module.source.rows_naming(name):
                for expression, point in module.expressions(row, ev):
                    nodes = nodes_in(expression)
                    outer = {id(node.func): node for node in nodes if isinstance(node, ast.Call)}
                    asked = {
                        id(node.value)
                        for node in nodes
                        if isinstance(node, ast.Attribute) and node.attr not in CALL_METHODS
                    }
                    reads += [
                        (node, outer.get(id(node)), point)
                        for node in nodes
                        if isinstance(node, (ast.Name, ast.Attribute))
                        and leaf(node) == name
                        and id(node) not in asked
                    ]
            self.name_reads[module, name] = Reads(reads)
        return self.name_reads[module, name]


def _paths(construction: ast.Call, scope: Scope) -> list[str]:
    """The names and attributes that are assigned exactly what a call makes."""
    return [
        path
        for path, entry in scope.history.items()
        if any(isinstance(one, Assigned) and one.node is construction for one in entry.bindings())
    ]
