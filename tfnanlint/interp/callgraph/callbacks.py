"""Losses of the program that Keras calls: which functions and objects are given to `compile`, and
what arrives at them.
"""

from __future__ import annotations

import ast

from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp.callgraph import callers
from tfnanlint.ops.site import Site
from tfnanlint.program.functions import Bound, Function, Instance
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Fixed, Parameter
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Note, Value, unknown


class Callbacks:
    """The part of the interpreter that knows what models are compiled with."""

    def __init__(self) -> None:
        self._compiled: dict[Module, list[tuple[Value, Value]]] = {}

    def of_keras(self, ev: Evaluator, parameter: Parameter, names: list[str]) -> Value | None:
        """What Keras hands to a loss of the program, a function or an object given to `compile`:
        labels and predictions.
        """
        function = parameter.function
        names = names[1:] if function.bound else names
        if parameter.name not in names[:2] or function.bound and function.name != "call":
            return None
        models = self._models_with(ev, function)
        if not models:
            return None
        role = ("labels", "predictions")[names.index(parameter.name)]
        outer = Note(
            f"the {role} that Keras hands to {function.name}()",
            function.node,
            function.module.source,
            outer=True,
        )
        if role == "labels":
            return unknown(origin=outer)
        given = ev.joined([self._output(ev, model) for model in models])
        return given if given.known and given.kind == "tensor" else unknown(origin=outer)

    def _output(self, ev: Evaluator, model: Value) -> Value:
        """What a model gives for any input, with the place where the model is made in its
        origin.
        """
        made = getattr(model.obj, "site", None)
        where = (made.node, made.point) if isinstance(made, Site) else (None, None)
        return ev.apply(model, [Fixed(unknown("tensor"))], {}, *where)

    def is_compiled(self, ev: Evaluator, function: Function) -> bool:
        """Whether a function of the program is given to `compile` as a loss."""
        return bool(self._models_with(ev, function))

    def _models_with(self, ev: Evaluator, function: Function) -> list[Value]:
        """The models that are compiled with a function, or an object with that method, as a loss:
        in its file, and in those that import it, or the function that makes it.
        """
        outer = function
        while outer.point.scope.function is not None:
            outer = outer.point.scope.function
        return [
            model
            for module in callers.modules_with_calls(ev, outer, "compile")
            for loss, model in self.compiled(ev, module)
            if _is_loss(loss, function)
        ]

    def compiled(self, ev: Evaluator, module: Module) -> list[tuple[Value, Value]]:
        """(loss, model) for every loss that a `compile` in a file is given, alone or in a list or
        dict.
        """
        return assumptions.once(ev, self._compiled, module, [], self._found_compiled, ev, module)

    def _found_compiled(self, ev: Evaluator, module: Module) -> list[tuple[Value, Value]]:
        found = []
        for call, point in (
            module.calls_to("compile", ev) if ".compile(" in module.source.text else ()
        ):
            node = next(
                (k.value for k in call.keywords if k.arg == "loss"),
                call.args[1] if len(call.args) > 1 else None,
            )
            if node is None or not isinstance(call.func, ast.Attribute):
                continue
            loss, model = ev.evaluate(node, point), ev.evaluate(call.func.value, point)
            several = (
                loss.obj.values()
                if isinstance(loss.obj, dict)
                else loss.obj
                if isinstance(loss.obj, tuple)
                else (loss,)
            )
            found += [(one, model) for one in several]
        return found


def _is_loss(loss: Value, function: Function) -> bool:
    """Whether a loss is a function of the program, or an object with that method."""
    target = loss.obj.function if isinstance(loss.obj, Bound) else loss.obj
    if isinstance(target, Instance):
        return function.owner is target.cls
    return isinstance(target, Function) and target.node is function.node
