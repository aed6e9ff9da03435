"""Callers: the calls that may run a function, in its own file and in those that import it, and what
they hand over.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Iterator, TypeGuard

from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp import names as resolution
from tfnanlint.interp.callgraph.hooks import called_elsewhere
from tfnanlint.ops.models.layers import Layer
from tfnanlint.program import functions as callables
from tfnanlint.program.functions import Bound, ClassObject, Function
from tfnanlint.program.scope import Assigned, Binding, Fixed, Joined, Point, unrefined
from tfnanlint.syntax.access_paths import is_special
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Choice, Value, unknown


class Calls:
    """The calls of one name in a file, by number. Many functions may have that name, and all ask:
    what a call runs is found out once, and looked up then by those it runs.
    """

    def __init__(self, calls: list[tuple[ast.Call, Point]]):
        self._found = calls  # it may still grow
        self._open: dict[int, tuple[ast.Call, Point]] = {}
        self._count = 0
        self._aimed: dict[ast.AST, dict[int, tuple[ast.Call, Point]]] = {}

    def of(self, function: Function) -> list[tuple[int, tuple[ast.Call, Point]]]:
        """The calls that may run a function, with their numbers."""
        if self._count < len(self._found):
            self._open.update(enumerate(self._found[self._count :], self._count))
            self._count = len(self._found)
        aimed = self._aimed.get(function.node)
        if aimed is None:
            return list(self._open.items())  # in order: they were found so
        return sorted((self._open | aimed).items(), key=_number)

    def settle(self, number: int, aims: frozenset[ast.AST]) -> None:
        """The functions that a call runs are known."""
        call = self._open.pop(number, None)
        if call is None:
            return
        for node in aims:
            self._aimed.setdefault(node, {})[number] = call


def _number(numbered: tuple[int, tuple[ast.Call, Point]]) -> int:
    return numbered[0]


def overlook(ev: Evaluator, called: Function | ClassObject, name: str) -> None:
    """Note for a draft that calls in other files were not looked for."""
    if ev.session.drafting:
        ev.session.overlooked.add((called.module.source.path, name))


def calls_in_project(
    ev: Evaluator, called: Function | ClassObject, name: str
) -> list[tuple[ast.Call, Point]]:
    """The calls that end in a name: in the file of what is called, and in files of the project
    that import it.
    """
    calls: list[tuple[ast.Call, Point]] = []
    for module in modules_with_calls(ev, called, name):
        calls += module.calls_to(name, ev)
    return calls


def modules_with_calls(ev: Evaluator, called: Function | ClassObject, name: str) -> Iterator[Any]:
    """The file of a function or class, and those of the project that import it and may call what
    ends in a name; while it is at these, no callers in other files are looked for.
    """
    yield called.module
    nested = isinstance(called.point.scope.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    project = called.module.project
    if project is None or nested:
        return
    if not ev.session.sees_callers:
        overlook(ev, called, name)
        return
    ev.session.abroad += 1
    try:
        yield from project.importers(called.module.source.path, name)
    finally:
        ev.session.abroad -= 1


def alternatives(ev: Evaluator, function: ast.expr, point: Point) -> Sequence[Value]:
    """What a name stands for in one branch or another, where of one nothing is known:
    `try: from fast_ops import f`, else `def f(x): ...`.
    """
    binding = unrefined(point.lookup(function.id)) if isinstance(function, ast.Name) else None
    return [one.value(ev) for one in binding.bindings] if isinstance(binding, Joined) else ()


def is_lambda_layer(target: Any) -> TypeGuard[Layer]:
    """Whether an object is a layer that applies a function to what it is called with."""
    return isinstance(target, Layer) and bool(target.site.op.applies)


def _aim(ev: Evaluator, callee: Value) -> tuple[Function | None, list[Binding]]:
    """The function of the program that is run when a value is called, and the arguments that go
    before those given.
    """
    target = callee.obj
    if isinstance(target, Bound):
        return (
            (target.function, target.args) if isinstance(target.function, Function) else (None, [])
        )
    if isinstance(target, ClassObject):
        return ev.method(target, "__init__"), [Fixed(unknown())]
    if is_lambda_layer(target) and not target.site.given("arguments"):
        return _aim(ev, target.site.value("function"))
    return (target, []) if isinstance(target, Function) else (None, [])


def targets(
    ev: Evaluator, call: ast.Call, point: Point
) -> list[tuple[Function | None, list[Binding], Value]]:
    """What a call may run, one entry for each branch that defines its callee: the function of the
    program (None for anything else), the arguments that go before those given, and the callee.
    [] where nothing is known of it.
    """
    callee = resolution.callee(ev, call.func, point)
    target = callee.obj if callee is not None else None
    options: Sequence[Value] = ()
    if isinstance(target, Choice):
        options = target.options
    elif callee is not None and target is not None:
        options = (callee,)
    else:
        options = alternatives(ev, call.func, point)
    return [(*_aim(ev, option), option) for option in options]


class Callers:
    """The part of the interpreter that goes from a function to its calls."""

    def __init__(self) -> None:
        self.handed: dict[ast.AST, list[dict[str, Binding]]] = {}
        self.named_calls: dict[tuple[Any, str], Calls] = {}
        self.aims: dict[ast.Call, frozenset[ast.AST]] = {}

    def calls_of_function(self, ev: Evaluator, function: Function) -> list[dict[str, Binding]]:
        """The arguments of every call of a function, by parameter."""
        return assumptions.once(
            ev, self.handed, function.node, [], self._found_calls_of, ev, function
        )

    def _found_calls_of(self, ev: Evaluator, function: Function) -> list[dict[str, Binding]]:
        names = [function.name]
        if function.name == "__init__" and function.owner is not None:
            heirs = ev.heirs(function.owner)
            names = [
                *dict.fromkeys(one.name for one in (function.owner, *heirs)),
                *(["__init__"] if heirs else []),
                "cls",
            ]
        return [bound for name in names for bound in self.handed_by(ev, function, name)]

    def handed_by(
        self, ev: Evaluator, function: Function, name: str
    ) -> Iterator[dict[str, Binding]]:
        """What the calls of a function that end in a name hand over, by parameter."""
        searched = [
            (module, module.calls_to(name, ev)) for module in modules_with_calls(ev, function, name)
        ]
        for module, calls in searched:
            if (module, name) not in self.named_calls:
                self.named_calls[module, name] = Calls(calls)
            named = self.named_calls[module, name]
            for number, (call, point) in named.of(function):
                bound = self.arguments_for(ev, function, call, point)
                if call in self.aims:
                    named.settle(number, self.aims[call])
                if bound is not None:
                    yield bound

    def handed_to(self, ev: Evaluator, function: Function, name: str) -> list[dict[str, Binding]]:
        """What the calls of a lambda hand over that has a name inside of a function; [] where some
        may not be seen.
        """
        around: Any = function.point.scope.node
        calls = [
            (call, point)
            for call, point in function.module.calls_to(name, ev)
            if around.lineno <= call.lineno <= around.end_lineno
        ]
        # it calls itself
        if any(isinstance(one, ast.Name) and one.id == name for one in nodes_in(function.node)):
            return []
        return (
            list(self.handed_by(ev, function, name))
            if all([resolution.callee(ev, call.func, point) is not None for call, point in calls])
            else []
        )

    def arguments_for(
        self, ev: Evaluator, function: Function, call: ast.Call, point: Point
    ) -> dict[str, Binding] | None:
        """The arguments of a call by parameter; None when it is not a call of this function."""
        if function.node not in self.aims.get(call, (function.node,)):
            return None
        mark = len(ev.reads)
        aims = targets(ev, call, point)
        if len(ev.reads) == mark:  # many functions may have one name, and all ask
            self.aims[call] = frozenset(aim.node for aim, _, _ in aims if aim is not None)
        for aim, leading, option in aims:
            if aim is not None and aim.node is function.node:
                positional, keywords, complete = ev.arguments(call, point)
                if isinstance(option.obj, Bound):
                    keywords = {**option.obj.keywords, **keywords}
                return callables.bind_parameters(
                    function, leading + positional, keywords, hidden=not complete
                )
        return None


def is_idle(ev: Evaluator, function: Function, depth: int = 4) -> bool:
    """Whether no call in the project leads to a function, no code hands it on and no library calls
    it: what it hands to others arrives only if code outside of the project calls it.
    """
    if (
        isinstance(function.node, ast.Lambda)
        or function.point.scope.function is not None
        or function.is_property
        or is_special(function.name)
        or called_elsewhere(function)
        or ev.is_compiled(function)
        or ev.escapes(function)
    ):
        return False
    return not _called_abroad(ev, function) and all(
        depth > 0
        and (caller := point.scope.function) is not None
        and (caller.node is function.node or is_idle(ev, caller, depth - 1))
        for call, point in function.module.calls_to(function.name, ev)
        if ev.arguments_at(function, call, point) is not None
    )


def _called_abroad(ev: Evaluator, function: Function) -> bool:
    """Whether another file of the project may call a function, as its text tells."""
    project = function.module.project
    if project is None:
        return False
    if not ev.session.sees_callers:
        overlook(ev, function, function.name)
        return False
    return bool(project.importing(function.module.source.path, function.name))


def local_name(function: Function) -> str:
    """The one name that a lambda has, inside of a function; "" for all others."""
    scope = function.point.scope
    if not isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ""
    names = [
        path
        for path, entry in scope.history.items()
        if any(
            [isinstance(one, Assigned) and one.node is function.node for one in entry.bindings()]
        )
    ]
    return names[0] if len(names) == 1 and names[0].isidentifier() else ""
