"""Losses of the program that Keras calls: which functions and objects are given to `compile`, and
what arrives at them.
"""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp.callgraph import callers
from tfnanlint.ops.models.variables import starts_at_zero
from tfnanlint.ops.site import Site
from tfnanlint.program.functions import Bound, Function, Instance
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Fixed, Parameter, Point
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Note, Value, unknown

_CALLED: Final = ("call", "__call__")  # the methods of an object that is called as a loss
# the weights of layers, as their arguments name them
_WEIGHTS: Final = ("kernel", "bias", "depthwise", "pointwise", "recurrent", "embeddings", "alpha")
_ROLES: Final = ("labels", "predictions")


class CompiledLoss:
    """A loss that a `compile` is given, the model, and which of its outputs the loss gets: a place
    or a name, None for each of them.
    """

    __slots__ = ("loss", "model", "output")

    def __init__(self, loss: Value, model: Value, output: int | str | None):
        self.loss = loss
        self.model = model
        self.output = output


class Callbacks:
    """The part of the interpreter that knows what models are compiled with."""

    def __init__(self) -> None:
        self._compiled: dict[Module, list[CompiledLoss]] = {}
        self._at_zero: dict[Module, list[Value]] = {}

    def of_keras(self, ev: Evaluator, parameter: Parameter, names: list[str]) -> Value | None:
        """What Keras hands to a loss of the program, a function or an object given to `compile`:
        labels and predictions.
        """
        function = parameter.function
        names = names[1:] if function.bound else names
        if parameter.name not in names:
            return None
        if parameter.name == names[0] and (weight := self._of_weight(ev, function)) is not None:
            return weight
        compiled = self._compiled_with(ev, function)
        roles = {_role(one.loss, function, names, parameter.name) for one in compiled}
        role = roles.pop() if len(roles) == 1 else ""
        if not role:
            return None
        outer = Note(
            f"the {role} that Keras hands to {function.name}()",
            function.node,
            function.module.source,
            outer=True,
            data=role == "labels",
        )
        if role == "labels":
            return unknown(origin=outer)
        given = ev.joined([output for one in compiled for output in self._outputs(ev, one)])
        return given if given.known and given.kind == "tensor" else unknown(origin=outer)

    def _of_weight(self, ev: Evaluator, function: Function) -> Value | None:
        """The weight that a layer hands to a regularizer of the program, as it is before the first
        step, where it starts at 0; None where nothing is known of it.
        """
        module = function.module
        given = assumptions.once(ev, self._at_zero, module, [], _regularizers_at_zero, ev, module)
        if not any(_is_loss(ev, one, function) for one in given):
            return None
        note = Note(
            f"a weight that starts at 0, which a layer hands to {function.name}()",
            function.node,
            module.source,
        )
        return Value(0.0, 0.0, origin=note)

    def _outputs(self, ev: Evaluator, compiled: CompiledLoss) -> list[Value]:
        """The outputs of a model that a loss gets, for any input."""
        whole = self._output(ev, compiled.model)
        if isinstance(whole.obj, dict):
            named = whole.obj
            held = list(named.values())
            if isinstance(compiled.output, str):
                return [named.get(compiled.output, unknown())]
        elif isinstance(whole.obj, tuple):
            held = list(whole.obj)
        else:
            return [whole]
        if compiled.output is None:
            return held or [unknown()]
        place = compiled.output
        return [held[place] if isinstance(place, int) and place < len(held) else unknown()]

    def _output(self, ev: Evaluator, model: Value) -> Value:
        """What a model gives for any input, with the place where the model is made in its
        origin.
        """
        made = getattr(model.obj, "site", None)
        where = (made.node, made.point) if isinstance(made, Site) else (None, None)
        return ev.apply(model, [Fixed(unknown("tensor"))], {}, *where)

    def is_compiled(self, ev: Evaluator, function: Function) -> bool:
        """Whether a function of the program is given to `compile` as a loss."""
        return bool(self._compiled_with(ev, function))

    def _compiled_with(self, ev: Evaluator, function: Function) -> list[CompiledLoss]:
        """The losses of models that are a function, or an object with that method: in its file, and
        in those that import it, or the function that makes it.
        """
        outer = function
        while outer.point.scope.function is not None:
            outer = outer.point.scope.function
        return [
            compiled
            for module in callers.modules_with_calls(ev, outer, "compile")
            for compiled in self.compiled(ev, module)
            if _is_loss(ev, compiled.loss, function)
        ]

    def compiled(self, ev: Evaluator, module: Module) -> list[CompiledLoss]:
        """Every loss that a `compile` in a file is given, alone or in a list or dict."""
        return assumptions.once(ev, self._compiled, module, [], self._found_compiled, ev, module)

    def _found_compiled(self, ev: Evaluator, module: Module) -> list[CompiledLoss]:
        found: list[CompiledLoss] = []
        for call, point in (
            module.calls_to("compile", ev) if ".compile(" in module.source.text else ()
        ):
            positional, keywords, _ = ev.arguments(call, point)
            given = keywords.get("loss", positional[1] if len(positional) > 1 else None)
            if given is None or not isinstance(call.func, ast.Attribute):
                continue
            loss, model = given.value(ev), ev.evaluate(call.func.value, point)
            if isinstance(loss.obj, dict):
                found += [CompiledLoss(one, model, key) for key, one in loss.obj.items()]
            elif isinstance(loss.obj, tuple):
                found += [CompiledLoss(one, model, at) for at, one in enumerate(loss.obj)]
            else:
                found.append(CompiledLoss(loss, model, None))
        return found


def _regularizers_at_zero(ev: Evaluator, module: Module) -> list[Value]:
    """The regularizers that a file gives to layers for weights that start at 0."""
    found: list[Value] = []
    for row in module.source.rows_with("_regularizer="):
        for expression, point in module.expressions(row, ev):
            for call in [one for one in nodes_in(expression) if isinstance(one, ast.Call)]:
                given = {one.arg: one.value for one in call.keywords if one.arg is not None}
                found += [
                    ev.evaluate(given[f"{weight}_regularizer"], point)
                    for weight in _WEIGHTS
                    if f"{weight}_regularizer" in given
                    and _is_at_zero(ev, weight, given.get(f"{weight}_initializer"), point)
                ]
    return found


def _is_at_zero(ev: Evaluator, weight: str, initializer: ast.expr | None, point: Point) -> bool:
    """Whether a weight of a layer starts at 0: a bias does by default."""
    if initializer is None:
        return weight == "bias"
    return starts_at_zero(ev.evaluate(initializer, point))


def _is_loss(ev: Evaluator, loss: Value, function: Function) -> bool:
    """Whether a loss is a function of the program, or an object with that method."""
    target = loss.obj.function if isinstance(loss.obj, Bound) else loss.obj
    if isinstance(target, Instance):
        method = ev.method(target.cls, function.name) if function.name in _CALLED else None
        return method is not None and method.node is function.node
    return isinstance(target, Function) and target.node is function.node


def _role(loss: Value, function: Function, names: list[str], name: str) -> str:
    """What Keras hands to a parameter of a loss, whose first arguments a partial may have bound; ""
    for one that it leaves to its default.
    """
    free = names
    if isinstance(loss.obj, Bound):
        bound = len(loss.obj.args) - function.bound
        free = [one for one in names[max(bound, 0) :] if one not in loss.obj.keywords]
    return dict(zip(free, _ROLES)).get(name, "")
