"""Following calls: what functions, methods, instances and layers of the program give, and what
arrives at parameters.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from tfnanlint.conventions.roles import is_kind
from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp import inlining as recursion
from tfnanlint.interp import names as resolution
from tfnanlint.interp import records
from tfnanlint.interp.callgraph.hooks import weights_of_samples
from tfnanlint.interp.callgraph.parameters import joined_arguments
from tfnanlint.interp.records import MAX_BINDINGS, begins_last
from tfnanlint.ops.frameworks import OPTIMIZER_UPDATES
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import Op
from tfnanlint.ops.traits import LAMBDAS
from tfnanlint.ops.transfer.core import several
from tfnanlint.program import functions as callables
from tfnanlint.program.builder import Walk
from tfnanlint.program.functions import (
    Bound,
    ClassObject,
    Function,
    Instance,
    Keywords,
    Recast,
)
from tfnanlint.program.scope import (
    COMPUTING,
    Assigned,
    Binding,
    Fixed,
    Loop,
    Parameter,
    Point,
    Refined,
    Scope,
    Shared,
    adds,
)
from tfnanlint.syntax.nodes import NOUGHT, default_text
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.tuples import FieldNames
from tfnanlint.values.value import INF, NUMERIC_KINDS, Choice, Note, Value, number, unknown

MAX_CALLERS: Final = 24  # calls joined at one parameter; with more, nothing is said of it
MAX_INLINE: Final = 6  # calls inside calls
# calls around one of a long function: what one further inside gives is hardly ever known, and takes
# most of the time
MAX_LONG: Final = 3


def apply(
    ev: Evaluator,
    callee: Value,
    positional: list[Binding],
    keywords: dict[str, Binding],
    node: ast.Call | None = None,
    point: Point | None = None,
    hidden: bool = False,
) -> Value:
    """What calling a value gives: functions of the program are followed, layers give their range.
    With `hidden`, `*` or `**` hands over more than is written in the call: then only functions of
    the program, layers and models are followed.
    """
    target = callee.obj
    if isinstance(target, Bound):
        positional = target.args + positional
        keywords = {**target.keywords, **keywords}
        if isinstance(target.function, Op):
            return (
                unknown() if hidden else _op(ev, target.function, positional, keywords, node, point)
            )
        inner = Value(kind="function", obj=target.function)
        return apply(ev, inner, positional, keywords, node, point, hidden)
    if isinstance(target, Choice):
        return ev.joined(
            [
                apply(ev, option, positional, keywords, node, point, hidden)
                for option in target.options
            ]
        )
    if isinstance(target, Function):
        return call(ev, target, positional, keywords, hidden)
    if isinstance(target, FieldNames):
        return unknown() if hidden else ev.record(target, positional, keywords)
    if isinstance(target, ClassObject):
        return Value(
            kind="instance", obj=Instance(target) if hidden else Instance(target, node, point)
        )
    if isinstance(target, Instance):
        method, positional = _method_called(ev, callee, target, positional)
        if method is None:
            return unknown("tensor")
        return apply(ev, method, positional, keywords, node, point, hidden)
    if hidden and not (positional and callee.kind in ("layer", "model")):
        return unknown()
    if isinstance(target, Op):
        return _op(ev, target, positional, keywords, node, point)
    inputs = positional or ([keywords["inputs"]] if "inputs" in keywords else [])
    if not hasattr(target, "out") or not inputs:
        return unknown("tensor" if callee.kind in ("layer", "model") else "unknown")
    return _layer(ev, callee, _inputs_of(ev, callee, inputs), node, point)


def _op(
    ev: Evaluator,
    row: Op,
    positional: list[Binding],
    keywords: dict[str, Binding],
    node: ast.Call | None,
    point: Point | None,
) -> Value:
    """A row applied to values instead of expressions."""
    values = {param: b.value(ev) for param, b in zip(row.params, positional)}
    values |= {k: b.value(ev) for k, b in keywords.items() if k in row.params}
    if (
        "x" in values
        and "y" in values
        and values["x"].kind == "number"
        and values["y"].kind == "array"
    ):
        # the number is made a tensor first; see `before_meeting`
        values["y"] = values["y"].but(dtype=None)
    site = Site.of_values(row, values)
    site.interpreter = ev
    if node is not None and point is not None:
        site.node, site.point, site.source, site.complete = node, point, point.module.source, False
    value = site.give()
    value.origin = site
    ev.gave(site, value)
    return value


def _method_called(
    ev: Evaluator, callee: Value, instance: Instance, positional: list[Binding]
) -> tuple[Value | None, list[Binding]]:
    """The method that a call of an instance calls, if it has one, with what that gets: Keras casts
    the inputs of a layer.
    """
    method = ev.member(callee, "call")
    if method is None:
        return ev.member(callee, "__call__"), positional
    if ev.library_layer(instance) is not None:
        for binding in positional:  # a chain of such layers is no chain of calls inside calls
            binding.value(ev)
    return method, [Recast(b, instance.cls, instance.cls.module) for b in positional]


def _inputs_of(ev: Evaluator, callee: Value, bindings: list[Binding]) -> Value:
    """The input of a layer; labels and predictions of a loss, as one value."""
    if callee.kind == "loss" and len(bindings) > 1:
        return several(bindings[0].value(ev), bindings[1].value(ev))
    return bindings[0].value(ev)


def partial(ev: Evaluator, positional: list[Binding], keywords: dict[str, Binding]) -> Value:
    """functools.partial(f, ...): f with its first arguments."""
    return Value(kind="function", obj=Bound(positional[0].value(ev).obj, positional[1:], keywords))


def _layer(
    ev: Evaluator, callee: Value, argument: Value, node: ast.Call | None, point: Point | None
) -> Value:
    layer = callee.obj
    site = layer.site
    of_keras = (
        site.op.name.startswith("keras.")
        and callee.kind != "loss"
        and not site.op.name.startswith(("keras.constraints.", "keras.initializers."))
    )
    value = ev.in_its_dtype(layer, argument) if of_keras else layer.out(argument, site)
    if argument.emptied and not value.emptied and value.kind in NUMERIC_KINDS:
        value = value.but(emptied=True)
    if node is None or point is None:
        return value
    call_site = Site(
        site.op,
        node,
        {},
        None,
        complete=False,
        library="layer",
        point=point,
        source=point.module.source,
        name=site.op.name,
    )
    call_site.values[site.op.main] = argument
    call_site.values["layer"] = callee
    call_site.values.setdefault("input", argument)
    if site.op.name in LAMBDAS:
        call_site.values["computed"] = value  # by the function of the layer
    result = value.but(origin=call_site, kind="tensor" if value.kind == "array" else value.kind)
    ev.gave(call_site, result)
    return result


def call(
    ev: Evaluator,
    function: Function,
    positional: list[Binding],
    keywords: dict[str, Binding],
    hidden: bool = False,
) -> Value:
    """The value a function returns for these arguments."""
    if not function.transparent:
        return unknown()
    if function.busy > 0:
        return recursion.again(ev, function, positional, keywords, hidden)
    if ev.session.inlined >= (MAX_INLINE if function.short else MAX_LONG):
        ev.reads.append(ev.session.nesting)
        return unknown()
    return recursion.bounded_call(ev, function, positional, keywords, hidden)


def activated(ev: Evaluator, function: Function) -> Scope:
    scope = Scope(function.node, function.point, function.module, function)
    ev.scopes.append(scope)
    return scope


def returned(ev: Evaluator, scope: Scope, live: bool) -> Value:
    if scope.yields:
        return recursion.yielded(ev, scope)
    if not scope.returns:
        return number(None) if live else unknown()
    values: list[Value] = []
    for node, time in scope.returns:
        if node is not None and adds(type(node) in COMPUTING, values):
            values.append(ev.evaluate(node, Point(scope, time)))
    if not values:
        return number(None)
    result, function = ev.joined(values), scope.function
    is_pair = function is not None and function.defines_gradient
    return ev.element(result, 0) if is_pair else result


def activation(ev: Evaluator, function: Function) -> Scope:
    """The walked body of a function with its parameters as its callers leave them."""
    if function.activation is None:
        scope = activated(ev, function)
        function.activation = scope
        spec = function.node.args
        _, names, defaults = callables.signature_of(spec)
        for name in names:
            default = defaults.get(name)
            scope.bind(
                name,
                Parameter(
                    function,
                    name,
                    Assigned(default, function.point) if default is not None else None,
                ),
            )
        if spec.vararg:
            scope.bind(
                spec.vararg.arg, Parameter(function, spec.vararg.arg, Fixed(Value(kind="sequence")))
            )
        if spec.kwarg:
            scope.bind(spec.kwarg.arg, Keywords(function))
        if begins_last(function):
            records.enter(ev, function, scope)
        Walk(scope).block(function.node.body)
    return function.activation


def parameter(ev: Evaluator, parameter: Parameter) -> Value:
    """What arrives at a parameter: the join over the calls in the project, else the default, else
    unknown.
    """
    function = parameter.function
    spec = function.node.args
    names = callables.signature_of(spec)[0]
    if function.bound and names and parameter.name == names[0]:
        if "classmethod" in function.decorators:
            return Value(kind="class", obj=function.owner)
        return Value(kind="instance", obj=Instance(function.owner))
    whose = "a lambda" if function.name == "<lambda>" else f"{function.name}()"
    written = (
        default_text(parameter.default.node) if isinstance(parameter.default, Assigned) else ""
    )
    note = Note(
        f"parameter '{parameter.name}' of {whose}",
        function.node,
        function.module.source,
        default=written,
        parameter=parameter.name,
    )
    by_keras = _handed_by_keras(ev, parameter, names, note) if function.bound else None
    if by_keras is not None:
        return by_keras
    if parameter.stamp:
        ev.reads.append(parameter)
        return unknown(origin=note)
    arriving = _asked_of_callers(ev, parameter, names)
    vague = arriving is None or (
        not arriving.known and arriving.obj is None and arriving.kind in ("unknown", "none")
    )
    weights = weights_of_samples(ev, parameter) if vague else None
    if weights is not None:
        return weights
    annotated = _annotated(ev, function, parameter.name) if vague else None
    if annotated is not None:
        return annotated
    # what is left out everywhere is not handed over by any call
    if arriving is None or arriving.kind == "none" and _public(function):
        return _not_handed(ev, parameter, names, note)
    if arriving.known or arriving.kind not in ("unknown", "tensor") or arriving.guarded:
        return arriving
    if isinstance(arriving.origin, Site):
        return arriving.but(zero=True, origin=arriving.origin)
    outer = isinstance(arriving.origin, Note) and arriving.origin.outer
    return arriving.but(
        zero=True,
        origin=Note(
            note.text,
            note.node,
            note.source,
            arriving.origin,
            passed=not outer,
            outer=outer,
            parameter=note.parameter,
        ),
    )


def _handed_by_keras(
    ev: Evaluator, parameter: Parameter, names: list[str], note: Note
) -> Value | None:
    """What Keras hands to the method of an optimizer or of a schedule; None for other methods."""
    function = parameter.function
    if function.name in OPTIMIZER_UPDATES and parameter.name in names[1:3]:
        return Value(evident=True, origin=note)  # a gradient and its variable
    if function.name != "__call__" or names[1:2] != [parameter.name]:
        return None
    if is_a(ev, "schedule", function.owner):
        note.default = NOUGHT  # a number of steps, which a training counts from 0
        return Value(0.0, INF, dtype="int64", origin=note)
    return None


def _asked_of_callers(ev: Evaluator, parameter: Parameter, names: list[str]) -> Value | None:
    """What arrives at a parameter, with the parameter marked as being asked for."""
    mark, parameter.stamp = len(ev.reads), assumptions.next_stamp(ev)
    ev.session.asking += 1
    try:
        arriving = ev.of_keras(parameter, names) or joined_arguments(ev, parameter)
    finally:
        parameter.stamp = 0
        ev.session.asking -= 1
    assumptions.settled(ev, parameter, mark)
    return arriving


def _not_handed(ev: Evaluator, parameter: Parameter, names: list[str], note: Note) -> Value:
    """What a parameter holds that no call in the project hands over: a default that says
    something, else anything.
    """
    function = parameter.function
    default = parameter.default.value(ev) if parameter.default is not None else None
    if default is not None and (default.kind == "instance" or parameter.rest):
        return default  # `config=Config()`: what its fields hold by default; `*rest`
    if default is not None and default.is_number and default.lo > 0:
        text = f"default of parameter '{parameter.name}'"
        return Value(
            default.lo,
            default.hi,
            default.zero,
            kind="number",
            const=default.const,
            origin=Note(text, function.node, function.module.source),
        )
    is_number = callables.says_number(function.node.args, parameter.name)
    nothing = unknown("number" if is_number else "unknown", note)
    is_input = function.name == "call" and names[1:2] == [parameter.name]
    return ev.entering(function, nothing) if is_input else nothing


def _annotated(ev: Evaluator, function: Function, name: str) -> Value | None:
    """An instance of the class of the program that a parameter is annotated with."""
    spec = function.node.args
    for arg in spec.posonlyargs + spec.args + spec.kwonlyargs:
        if arg.arg == name and isinstance(
            note := callables.without_none(arg.annotation), (ast.Name, ast.Attribute)
        ):
            annotated = resolution.callee(ev, note, function.point)
            if annotated is not None and isinstance(annotated.obj, ClassObject):
                return Value(kind="instance", obj=Instance(annotated.obj))
    return None


def is_a(ev: Evaluator, kind: str, cls: ClassObject) -> bool:
    """Whether a class is an optimizer or a schedule, by its own name or that of a base."""
    names = {one.name for one in ev.lineage(cls)} | ev.foreign_bases(cls)
    return any(is_kind(kind, name) for name in names)


def shared(ev: Evaluator, binding: Shared) -> Loop:
    """All assignments to a global in its file, or to a nonlocal in its function: a loop, for one
    may read what another one wrote.
    """
    module, outer, whole = binding.scope.module, binding.scope, Loop(None)
    if outer is module.scope:
        scopes = [module.scope_of_row(row, ev) for row in module.source.rows_with("global ")]
    else:
        scopes = [_scope_inside(ev, outer, row) for row in module.source.rows_with("nonlocal ")]
    for scope in dict.fromkeys([outer, *scopes]):
        bindings = bindings_of(scope, binding.path) if scope is not None else []
        whole.rounds += [one for one in bindings if not isinstance(one, (Shared, Refined))]
    if not 0 < len(whole.rounds) <= MAX_BINDINGS:
        whole.rounds = [Fixed(unknown())]
    return whole


def _scope_inside(ev: Evaluator, outer: Scope, row: int) -> Scope | None:
    """The scope of the innermost function at a row, of those that a call of an outer one defines;
    None where there is none.
    """
    chain = outer.module.chain(row)
    scope: Scope | None = outer
    for node in chain[chain.index(outer.node) + 1 :] if outer.node in chain else ():
        scope = _defined_in(ev, scope, node) if scope is not None else None
    return scope


def _defined_in(ev: Evaluator, scope: Scope, node: Any) -> Scope | None:
    """The scope of a function that stands in another one, of those that this one defines."""
    entry = scope.history.get(node.name)
    for binding in entry.bindings() if entry is not None else ():
        function = (
            binding.kept.obj if isinstance(binding, Fixed) and binding.kept is not None else None
        )
        if isinstance(function, Function) and function.node is node:
            return activation(ev, function)
    return None


def bindings_of(scope: Scope, path: str) -> list[Binding]:
    entry = scope.history.get(path)
    return (
        [b for b in entry.bindings() if b is not None and not isinstance(b, Loop)]
        if entry is not None
        else []
    )


def _public(function: Function) -> bool:
    """Whether code outside of the project may call a function or make an object of its class."""
    name = (
        function.owner.name
        if function.owner is not None and function.name == "__init__"
        else function.name
    )
    return not name.startswith("_")
