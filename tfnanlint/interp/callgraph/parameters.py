"""What arrives at a parameter: the join over all that may be handed to it.

The decorators of a test, what Keras hands over, and the calls in the project, of which those that
are not run count only for what they surely hand over.
"""

from __future__ import annotations

import ast
from itertools import chain
from typing import Final

from tfnanlint.conventions.identifiers import is_any_model, namesake_of, object_name
from tfnanlint.interp.callgraph.callers import is_idle
from tfnanlint.interp.names import top_level
from tfnanlint.ops.frameworks import MODEL_BASES, PARAMETRIZING
from tfnanlint.ops.models.layers import Layer, Stack
from tfnanlint.program.functions import ClassObject, Collected, Function, Instance
from tfnanlint.program.mutation import InPlace
from tfnanlint.program.scope import Assigned, Binding, Fixed, Parameter, Point, heard
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value, unknown

_TRAINED: Final = (Layer, Stack, Instance)
MAX_CLASSES: Final = 24  # of which a parameter may be an object; of more it is of none
MAX_CALLERS: Final = 24  # calls joined at one parameter; with more, nothing is said of it


def joined_arguments(ev: Evaluator, parameter: Parameter) -> Value | None:
    """The join of what the program hands to a parameter; None where it is not seen."""
    function = parameter.function
    tried = _tried(ev, parameter) if PARAMETRIZING.intersection(function.decorators) else None
    if tried is not None:
        return tried
    received = ev.received(function, parameter.name)
    if received is not None:
        return received
    handed = ev.arguments_of(function)
    if not handed:
        return _of_its_name(ev, parameter)
    if len(handed) > MAX_CALLERS:
        return None
    return ev.joined(heard(_of_running_callers(ev, parameter, handed), ev))


def _of_its_name(ev: Evaluator, parameter: Parameter) -> Value | None:
    """The model, layer or variable that the file has at its top level under the name of a
    parameter, for a function that nothing calls: `net = Sequential(...)` beside `def step(net, x)`;
    else an object of the class that it is named for. None for any other.
    """
    function = parameter.function
    if function.owner is not None or function.point.scope.function is not None:
        return None
    binding = top_level(ev, function.module, namesake_of(parameter.name))
    if isinstance(binding, Assigned):
        is_kept = binding.point.scope.function is None
        value = binding.value(ev) if is_kept and not _is_used(ev, function) else None
        return value if value is not None and isinstance(value.obj, _TRAINED) else None
    cls = _class_of_its_name(ev, parameter) if binding is None else None
    if cls is None or _is_used(ev, function):
        return None
    return Value(kind="instance", obj=Instance(cls))


def _is_used(ev: Evaluator, function: Function) -> bool:
    """Whether something calls a function or hands it on."""
    return ev.escapes(function) or bool(ev.call_sites(function))


def _class_of_its_name(ev: Evaluator, parameter: Parameter) -> ClassObject | None:
    """The class that a file defines or imports and that a parameter is named for, or the only one
    of models, for a parameter that is named for any.
    """
    module, is_any = parameter.function.module, is_any_model(parameter.name)
    by_object = module.class_names
    own = by_object.get(object_name(parameter.name), [])
    names = list(chain.from_iterable(by_object.values())) if is_any else own
    if not 0 < len(names) <= MAX_CLASSES or not _is_called(parameter):
        return None
    bindings = [top_level(ev, module, name) for name in names]
    classes = [binding.value(ev).obj for binding in bindings if binding is not None]
    fitting = [
        cls
        for cls in classes
        if isinstance(cls, ClassObject)
        and (not is_any or any([base.startswith(MODEL_BASES) for base in ev.foreign_bases(cls)]))
    ]
    return fitting[0] if len(fitting) == 1 else None


def _is_called(parameter: Parameter) -> bool:
    """Whether a function calls what it is given for a parameter, or a method of that."""
    for node in nodes_in(parameter.function.node):
        called = node.func if isinstance(node, ast.Call) else None
        called = called.value if isinstance(called, ast.Attribute) else called
        if isinstance(called, ast.Name) and called.id == parameter.name:
            return True
    return False


def _of_running_callers(
    ev: Evaluator, parameter: Parameter, calls: list[dict[str, Binding]]
) -> list[Binding]:
    """What calls hand over, without what is unknown because no call leads to the function where the
    call stands: all of it, unless a call that is run hands over something known.

    A default that a call leaves as it is belongs to that call.
    """
    function = parameter.function
    arguments = [handed_over(call, parameter) for call in calls]
    idle = [_is_from_idle(ev, function, call) for call in calls]
    running = [
        binding
        for binding, is_idle_call in zip(arguments, idle)
        if not (is_idle_call or _is_recursive(function, binding))
    ]
    if not any(idle) or not any([binding.value(ev).known for binding in running]):
        return arguments
    return [
        binding
        for binding, is_idle_call in zip(arguments, idle)
        if not is_idle_call or binding.value(ev).known
    ]


def _caller(argument: Binding) -> Function | None:
    """The function in which the call stands that hands over an argument."""
    while isinstance(argument, InPlace):  # what the function called changes
        argument = argument.base
    return argument.point.scope.function if isinstance(argument, Assigned) else None


def _is_recursive(function: Function, argument: Binding) -> bool:
    """Whether an argument stands in a call of a function by itself: another call runs it first."""
    caller = _caller(argument)
    return caller is not None and caller.node is function.node


def _is_from_idle(ev: Evaluator, function: Function, call: dict[str, Binding]) -> bool:
    """Whether an argument of a call of a function stands in another one that is never called."""
    callers = dict.fromkeys([_caller(argument) for argument in call.values()])  # mostly the same
    for caller in callers:
        if (
            caller is not None
            and caller.module is function.module
            and caller.node is not function.node
            and is_idle(ev, caller)
        ):
            return True
    return False


def _tried(ev: Evaluator, parameter: Parameter) -> Value | None:
    """What the decorators of a test hand to a parameter:
    `@parameterized.parameters((1, 2), (3, 4))`.
    """
    function = parameter.function
    names = [arg.arg for arg in function.node.args.args][function.bound :]
    values = []
    for node, kind in zip(function.node.decorator_list, function.decorators):
        if not isinstance(node, ast.Call) or kind not in PARAMETRIZING:
            continue
        arguments = node.args
        if kind == "parametrize" and len(arguments) > 1 and isinstance(arguments[0], ast.Constant):
            names, arguments = (
                [name.strip() for name in str(arguments[0].value).split(",")],
                [ast.Starred(arguments[1])],
            )
        skipped = ["", *names] if kind == "named_parameters" else names
        for case in _cases(ev, arguments, function.point):
            if isinstance(case.obj, dict):
                values.append(case.obj.get(parameter.name))
            else:
                items = case.obj if isinstance(case.obj, tuple) and (len(skipped) > 1) else (case,)
                values.append(dict(zip(skipped, items)).get(parameter.name))
    known = [value for value in values if value is not None]
    return ev.joined(known) if known else None


def _cases(ev: Evaluator, arguments: list[ast.expr], point: Point) -> list[Value]:
    """The values of arguments, with starred lists spread out."""
    values: list[Value] = []
    for node in arguments:
        if isinstance(node, ast.Starred):
            whole = ev.evaluate(node.value, point).obj
            values += whole if isinstance(whole, tuple) else (unknown(),)
        else:
            values.append(ev.evaluate(node, point))
    return values


def handed_over(bound: dict[str, Binding], parameter: Parameter) -> Binding:
    """What a call hands to a parameter, or by that name to the `**kwargs` of the function."""
    if parameter.name in bound:
        return bound[parameter.name]
    rest = bound[parameter.function.node.args.kwarg.arg]
    missing = parameter.default or Fixed(unknown())
    return (
        rest.items.get(parameter.name, missing) if isinstance(rest, Collected) else Fixed(unknown())
    )
