"""The call graph of a project: which functions a call may run, and which calls run a function.

It is never built as a whole. Each question is answered on demand, from the calls that end in the
name of a function (`callers`), from the flow of functions as values (`function_flow`), from the
calls of objects and layers (`instance_calls`) and from what Keras is handed (`callbacks`).
"""

from __future__ import annotations

import ast

from tfnanlint.interp.callgraph import registries, stores
from tfnanlint.interp.callgraph.callbacks import Callbacks
from tfnanlint.interp.callgraph.callers import Callers, calls_in_project, local_name, targets
from tfnanlint.interp.callgraph.function_flow import FunctionFlow
from tfnanlint.interp.callgraph.hooks import called_elsewhere
from tfnanlint.interp.callgraph.instance_calls import InstanceCalls
from tfnanlint.interp.names import exported, resolve
from tfnanlint.ops.frameworks import CALL_METHODS
from tfnanlint.ops.names import is_tensorflow
from tfnanlint.program.functions import ClassObject, Function, Instance
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Binding, Imported, Parameter, Point
from tfnanlint.project.answers import UNKNOWN, Answer
from tfnanlint.syntax.access_paths import is_special
from tfnanlint.syntax.nodes import function_at
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value


class CallGraph:
    """The part of the interpreter that goes from calls to functions and back."""

    def __init__(self) -> None:
        self._callers = Callers()
        self._function_flow = FunctionFlow()
        self._instance_calls = InstanceCalls()
        self._callbacks = Callbacks()

    # From a call to functions

    def targets(self, ev: Evaluator, call: ast.Call, point: Point) -> list[Function]:
        """The functions of the program that a call runs, one for each branch that defines its
        callee; [] where none is known.
        """
        return [target for target, _, _ in targets(ev, call, point) if target is not None]

    def may_run(self, ev: Evaluator, call: ast.Call, point: Point, function: Function) -> bool:
        """Whether a call that ends in the name of a function may run it: it runs nothing of
        TensorFlow or of another library, nor another function of the program.
        """
        if is_tensorflow(resolve(ev, call.func, point) or ""):
            return False
        if function.owner is None and _is_of_library(ev, call, point, function.module):
            return False
        known = targets(ev, call, point)
        return not known or any(
            target is None or target.node is function.node or _is_overridden(ev, target, function)
            for target, _, _ in known
        )

    # From a function to calls

    def call_sites(self, ev: Evaluator, function: Function) -> list[tuple[ast.Call, Point]]:
        """The calls in the project that may run a function under its own name, each with the point
        where it stands. Those in files that do not import the file of the function are left out.
        """
        return [
            (call, point)
            for call, point in calls_in_project(ev, function, function.name)
            if self.may_run(ev, call, point, function)
        ]

    def call_sites_of_entries(
        self, ev: Evaluator, function: Function
    ) -> list[tuple[ast.Call, Point]]:
        """The calls in files that take gradients of what dicts there hold, where a function is one
        of the values.
        """
        return registries.calls_of_entries(ev, function)

    def indirect_call_sites(
        self, ev: Evaluator, function: Function
    ) -> list[tuple[ast.Call, Point]]:
        """The calls that run a function under other names, `LOSSES[kind](x)`; [] where some may
        not be seen. Of a method that calls of its objects run, those that are seen.
        """
        if function.owner is not None and function.name in CALL_METHODS:
            return self._instance_calls.of_objects(ev, function.owner)
        return self._function_flow.called_as_another(ev, function)

    def runs_uncompiled(self, ev: Evaluator, function: Function, depth: int = 4) -> bool:
        """Whether all calls of a function are seen, and none is compiled on the way from the
        script: no decorator (`tf.function`), nothing that Keras calls or that is handed on.
        """
        if (
            depth == 0
            or function.decorators
            or isinstance(function.node, ast.Lambda)
            or called_elsewhere(function)
            or self.escapes(ev, function)
        ):
            return False
        callers = [point.scope.function for _, point in self.call_sites(ev, function)]
        return bool(callers) and all(
            caller is None
            or caller.node is not function.node
            and self.runs_uncompiled(ev, caller, depth - 1)
            for caller in callers
        )

    def reached(self, module: Module, row: int) -> Answer:
        """Whether the program that a file belongs to reaches the code of a row: YES, NO or UNKNOWN,
        and the reason for a NO in words.
        """
        if module.project is None:
            return UNKNOWN, ""
        return module.project.reached(module.source, function_at(module.source.tree, row))

    def never(self, module: Module, row: int) -> str:
        """Why the program that a file belongs to never takes the branch around a row; "" where it
        may.
        """
        return "" if module.project is None else module.project.never(module.source, row)

    def reads(self, module: Module, row: int, attribute: str) -> Answer:
        """Whether the program that a file belongs to reads an attribute that the method around a
        row assigns: YES, NO or UNKNOWN, and the reason for a NO in words.
        """
        if module.project is None:
            return UNKNOWN, ""
        owner = function_at(module.source.tree, row).rpartition(".")[0]
        return module.project.reads(module.source, owner, attribute)

    def escapes(self, ev: Evaluator, function: Function, name: str = "") -> bool:
        """Whether code calls a function whose call is not seen: Keras, a decorator, the function
        that it is handed to. `name` is the name of a lambda.
        """
        return self._function_flow.escapes(ev, function, name)

    def is_compiled(self, ev: Evaluator, function: Function) -> bool:
        """Whether a function is given to `compile` as a loss."""
        return self._callbacks.is_compiled(ev, function)

    # What calls hand over

    def arguments(self, ev: Evaluator, function: Function) -> list[dict[str, Binding]]:
        """What each call of a function hands over, by parameter; [] where some may not be seen."""
        if isinstance(function.node, ast.Lambda):
            name = local_name(function)
            named = self._callers.handed_to(ev, function, name) if name else []
            if named and not self.escapes(ev, function, name):
                return named
            return self._function_flow.handed_on(ev, function) or []
        by_python = is_special(function.name) and function.name != "__init__"
        if by_python or called_elsewhere(function):
            return []
        direct = self.direct_arguments(ev, function)
        if direct and not self.escapes(ev, function):
            return direct
        indirect = self._function_flow.handed_on(ev, function)
        return direct + indirect if indirect is not None else []

    def direct_arguments(self, ev: Evaluator, function: Function) -> list[dict[str, Binding]]:
        """What the calls hand over that run a function under its own name, by parameter."""
        return self._callers.calls_of_function(ev, function)

    def arguments_at(
        self, ev: Evaluator, function: Function, call: ast.Call, point: Point
    ) -> dict[str, Binding] | None:
        """What one call hands to a function, by parameter; None where it runs another one."""
        return self._callers.arguments_for(ev, function, call, point)

    def of_keras(self, ev: Evaluator, parameter: Parameter, names: list[str]) -> Value | None:
        """What Keras hands to a function or object given to `compile`."""
        return self._callbacks.of_keras(ev, parameter, names)

    def received(self, ev: Evaluator, function: Function, name: str) -> Value | None:
        """What arrives at a parameter of `call`, where all calls of the objects are seen."""
        return self._instance_calls.received(ev, function, name)

    def constructed(self, ev: Evaluator, instance: Instance, attr: str) -> Binding | None:
        """What one object keeps under a name, as the call that made it says."""
        return self._instance_calls.constructed(ev, instance, attr)

    def assigned_elsewhere(self, ev: Evaluator, cls: ClassObject, attr: str) -> list[Binding]:
        """What a file assigns to an attribute under other names than `self`."""
        return stores.assigned(ev, cls, attr)


def _is_of_library(ev: Evaluator, call: ast.Call, point: Point, module: Module) -> bool:
    """Whether a call in the file of a function is of something that the file imports from outside
    of the project: `K.l2_normalize(x)` beside a function `l2_normalize`.
    """
    root = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if root is call.func or not isinstance(root, ast.Name) or point.scope.module is not module:
        return False
    binding = point.lookup(root.id)
    return isinstance(binding, Imported) and exported(ev, binding) is None


def _is_overridden(ev: Evaluator, target: Function, function: Function) -> bool:
    """Whether a method overrides the one that a call names: the object may be of its class."""
    return (
        target.owner is not None
        and function.owner is not None
        and target.owner in ev.lineage(function.owner)
    )
