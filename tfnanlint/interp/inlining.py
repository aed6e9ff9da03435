"""What the body of a function gives: one that calls itself, for whatever arrives at its parameters
on the way; a generator.
"""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.program import functions as callables
from tfnanlint.program.attributes import tested_attributes
from tfnanlint.program.builder import Walk
from tfnanlint.program.functions import Function, Handed, Instance
from tfnanlint.program.scope import Binding, Fixed, Point, Scope
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import NOTHING, Note, Value, covers, number, unknown, widen

FEW_STEPS: Final = 150  # evaluations per question, after what a file may cost
_TRIES: Final = 6  # assumptions about one function that are tried before nothing is said of it


def bounded_call(
    ev: Evaluator,
    function: Function,
    positional: list[Binding],
    keywords: dict[str, Binding],
    hidden: bool = False,
) -> Value:
    """The result of a call, on account."""
    if ev.session.inlined:
        return settled_call(ev, function, positional, keywords, hidden)
    begun = ev.session.steps
    result = settled_call(ev, function, positional, keywords, hidden)
    ev.session.allowance -= ev.session.steps - begun
    if ev.session.allowance <= 0:
        ev.session.limit = FEW_STEPS
    return result


def again(
    ev: Evaluator,
    function: Function,
    positional: list[Binding],
    keywords: dict[str, Binding],
    hidden: bool = False,
) -> Value:
    """What a call of a function gives that is being followed: what is assumed of it. The arguments
    are noted.
    """
    ev.reads.append(function)
    if function.assumed is not None:
        bound = callables.bind_parameters(function, positional, keywords, hidden=hidden)
        function.arguments.append({name: binding.value(ev) for name, binding in bound.items()})
    return function.assumed or NOTHING


def settled_call(
    ev: Evaluator,
    function: Function,
    positional: list[Binding],
    keywords: dict[str, Binding],
    hidden: bool,
) -> Value:
    """The result of a call; of a recursive function one that covers its inner calls, with what
    arrives there.
    """
    mark, outer = len(ev.reads), (function.assumed, function.arguments)
    function.assumed = None
    bound = callables.bind_parameters(function, positional, keywords, hidden=hidden)
    result = _followed(ev, function, bound)
    if function not in ev.reads[mark:]:
        function.assumed, function.arguments = outer
        return result
    try:
        result = _covering(ev, function, bound, result)
    finally:
        function.assumed, function.arguments = outer
    assumptions.settled(ev, function, mark)
    return unknown() if result is NOTHING else result.but(origin=Note("", parent=result.origin))


def _covering(ev: Evaluator, function: Function, bound: dict[str, Binding], result: Value) -> Value:
    """The result and the arguments are assumed together, wider with every try, until the inner
    calls show nothing new.
    """
    arriving = {name: binding.value(ev) for name, binding in bound.items()}
    for attempt in range(_TRIES):
        function.assumed, function.arguments = result, []
        again = _followed(ev, function, {name: Fixed(value) for name, value in arriving.items()})
        handed = {
            name: ev.joined([value, *(one[name] for one in function.arguments if name in one)])
            for name, value in arriving.items()
        }
        if covers(result, again) and all(
            covers(value, handed[name]) for name, value in arriving.items()
        ):
            return result
        result = (
            ev.joined([result, again])
            if attempt == 0
            else widen(result, ev.joined([result, again]))
        )
        arriving = {
            name: value if covers(value, handed[name]) else widen(value, handed[name])
            for name, value in arriving.items()
        }
    return unknown()


def _followed(ev: Evaluator, function: Function, bound: dict[str, Binding]) -> Value:
    """What the body gives with these bindings of its parameters."""
    outer, function.stamp = function.stamp, assumptions.next_stamp(ev)
    function.busy += 1
    ev.session.inlined = ev.session.nesting.stamp = ev.session.inlined + 1
    try:
        handed = {name: Handed(binding, function) for name, binding in bound.items()}
        if isinstance(function.node, ast.Lambda):
            return ev.evaluate(
                function.node.body,
                function.point.under(handed, later=getattr(function.node, "named", False)),
            )
        scope = ev.activated(function)
        _keep(ev, function, bound)
        for name, binding in handed.items():
            scope.bind(name, binding)
        ev.session.steps += len(function.node.body)
        live = Walk(scope).block(function.node.body)
        return ev.returned(scope, live)
    finally:
        function.busy -= 1
        function.stamp = outer
        ev.session.inlined = ev.session.nesting.stamp = ev.session.inlined - 1


def _keep(ev: Evaluator, function: Function, bound: dict[str, Binding]) -> None:
    """Look up what the tests in a method ask of its object: see `outcomes`."""
    spec = function.node.args.args
    owner = bound.get(spec[0].arg) if function.owner is not None and spec else None
    instance = owner.kept.obj if isinstance(owner, Fixed) and owner.kept is not None else None
    if isinstance(instance, Instance) and instance.node is not None:
        for attr in tested_attributes(function.node):
            ev.constructed(instance, attr)


def yielded(ev: Evaluator, scope: Scope) -> Value:
    """What a generator hands out, one after the other; nothing is said where a `yield` stands in
    another expression.
    """
    seen = {id(node) for node, _ in scope.yields}
    stack: list[ast.AST] = list(scope.node.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)) and id(node) not in seen:
            return unknown()
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack += ast.iter_child_nodes(node)
    values = []
    for node, time in scope.yields:
        value = (
            ev.evaluate(node.value, Point(scope, time)) if node.value is not None else number(None)
        )
        values.append(ev.iterated(value) if isinstance(node, ast.YieldFrom) else value)
    return ev.many(ev.joined(values))
