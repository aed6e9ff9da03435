"""Losses and metrics of the program that Keras calls: which functions and objects are given to
`compile`, and what arrives at them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeGuard

from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp.callgraph import callers, registries
from tfnanlint.interp.callgraph.parameters import MAX_CALLERS, handed_over
from tfnanlint.ops.models.variables import starts_at_zero
from tfnanlint.ops.site import Site
from tfnanlint.program.functions import Bound, Function, Instance
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Assigned, Binding, Fixed, Iterated, Parameter, Point
from tfnanlint.syntax.access_paths import path_of
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Choice, Note, Value, unknown

_CALLED: Final = ("call", "__call__")  # the methods of an object that is called as a loss
# the weights of layers, as their arguments name them
_WEIGHTS: Final = ("kernel", "bias", "depthwise", "pointwise", "recurrent", "embeddings", "alpha")
# what layers are given for a weight, and call with it
_OF_WEIGHTS: Final = ("_regularizer", "_constraint")
# what they are given for their outputs, and call with those
_OF_OUTPUTS: Final = "activity_regularizer"
_ROLES: Final = ("labels", "predictions")
_PLACES: Final = {"loss": 1, "metrics": 2}  # among the arguments of `compile`


class CompiledLoss:
    """A loss or metric that a `compile` is given, the model, and which of its outputs that gets: a
    place or a name, None for each of them; `entries` are the places of registries that it may be
    read from.
    """

    __slots__ = ("loss", "model", "output", "entries")

    def __init__(
        self,
        loss: Value,
        model: Value,
        output: int | str | None,
        entries: Sequence[registries.Entry] = (),
    ):
        self.loss = loss
        self.model = model
        self.output = output
        self.entries = entries


class Callbacks:
    """The part of the interpreter that knows what models are compiled with."""

    def __init__(self) -> None:
        self._compiled: dict[Module, list[CompiledLoss]] = {}
        self._metrics: dict[Module, list[CompiledLoss]] = {}
        self._at_zero: dict[Module, list[tuple[str, Value]]] = {}
        self._of_outputs: dict[Module, list[tuple[ast.Call, Point, Value]]] = {}
        self._entries: dict[ast.AST, list[registries.Entry]] = {}

    def of_keras(self, ev: Evaluator, parameter: Parameter, names: list[str]) -> Value | None:
        """What Keras hands to a loss of the program, a function or an object given to `compile`:
        labels and predictions.
        """
        function = parameter.function
        names = names[1:] if function.bound else names
        if parameter.name not in names:
            return None
        if parameter.name == names[0]:
            by_layer = self._of_weight(ev, function) or self._of_layer_outputs(ev, function)
            if by_layer is not None:
                return by_layer
        compiled = self._compiled_with(ev, function)
        if not compiled:
            return self._of_metric(ev, parameter, names)
        roles = {_role(one.loss, function, names, parameter.name) for one in compiled}
        role = roles.pop() if len(roles) == 1 else ""
        if not role:
            return _bound_by_partials(ev, compiled, parameter.name)
        outer = Note(
            f"the {role} that Keras hands to {function.name}()",
            function.node,
            function.module.source,
            outer=True,
            data=role == "labels",
        )
        if role == "labels":
            return unknown(origin=outer)
        if _is_read_by_key(parameter):
            return self._named_outputs(ev, compiled) or unknown(origin=outer)
        return self._predictions(ev, compiled) or unknown(origin=outer)

    def _of_metric(self, ev: Evaluator, parameter: Parameter, names: list[str]) -> Value | None:
        """The predictions that Keras hands to a metric of the program, a function; None where
        nothing is known of them, and for its labels.
        """
        function = parameter.function
        if function.owner is not None or parameter.name not in names[1:2]:
            return None
        metrics = self._compiled_with(ev, function, self.metrics)
        roles = {_role(one.loss, function, names, parameter.name) for one in metrics}
        return self._predictions(ev, metrics) if roles == {"predictions"} else None

    def _predictions(self, ev: Evaluator, compiled: list[CompiledLoss]) -> Value | None:
        """The outputs of models that a loss or metric gets; None where nothing is known of them."""
        predictions = ev.joined([output for one in compiled for output in self._outputs(ev, one)])
        return predictions if predictions.known and predictions.kind == "tensor" else None

    def _named_outputs(self, ev: Evaluator, compiled: list[CompiledLoss]) -> Value | None:
        """The outputs of the model by their names, for a loss that picks among them; None where
        several models or none give such.
        """
        wholes = [self._output(ev, one.model) for one in compiled]
        return wholes[0] if len(wholes) == 1 and isinstance(wholes[0].obj, dict) else None

    def _of_weight(self, ev: Evaluator, function: Function) -> Value | None:
        """The weight that a layer hands to a regularizer or constraint of the program, where it
        starts at 0; None where nothing is known of it. A regularizer sees it before the first step
        and a constraint only after one, which may not have moved all of it.
        """
        module = function.module
        regularizers = assumptions.once(
            ev, self._at_zero, module, [], _given_zero_weights, ev, module
        )
        kinds = {kind for kind, one in regularizers if _is_loss(ev, one, function)}
        if not kinds:
            return None
        if "_regularizer" not in kinds:
            start = Value(kind="string", const="zeros")
            site = Site.of_values(ev.table["method.add_weight"], {"initializer": start})
            return Value(kind="tensor", zero=True, evident=True, origin=site)
        note = Note(
            f"a weight that starts at 0, which a layer hands to {function.name}()",
            function.node,
            module.source,
        )
        return Value(0.0, 0.0, origin=note)

    def _of_layer_outputs(self, ev: Evaluator, function: Function) -> Value | None:
        """The outputs that layers hand to an activity regularizer of the program; None where
        nothing is known of them, or no layer hands it any.
        """
        module = function.module
        regularizers = assumptions.once(
            ev, self._of_outputs, module, [], _given_with_outputs, ev, module
        )
        outputs = [
            ev.apply(ev.evaluate(layer, point), [Fixed(unknown("tensor"))], {}, layer, point)
            for layer, point, one in regularizers
            if _is_loss(ev, one, function)
        ]
        joined = ev.joined(outputs) if outputs else None
        return joined if joined is not None and joined.known else None

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
        site = getattr(model.obj, "site", None)
        where = (site.node, site.point) if isinstance(site, Site) else (None, None)
        return ev.apply(model, [Fixed(unknown("tensor"))], {}, *where)

    def is_compiled(self, ev: Evaluator, function: Function) -> bool:
        """Whether a function of the program is given to `compile` as a loss."""
        return bool(self._compiled_with(ev, function))

    def _compiled_with(
        self,
        ev: Evaluator,
        function: Function,
        listed: Callable[[Evaluator, Module], list[CompiledLoss]] | None = None,
    ) -> list[CompiledLoss]:
        """The losses of models, or what else is `listed` of them, that are a function, or an object
        with that method: in its file, and in those that import it, or the function that makes it.
        """
        outer = function
        while outer.point.scope.function is not None:
            outer = outer.point.scope.function
        compiled = [
            compiled
            for module in callers.modules_with_calls(ev, outer, "compile")
            for compiled in (listed or self.compiled)(ev, module)
            if _is_loss(ev, compiled.loss, function)
        ]
        return compiled or self._read_from_registries(ev, function, listed or self.compiled)

    def _read_from_registries(
        self,
        ev: Evaluator,
        function: Function,
        listed: Callable[[Evaluator, Module], list[CompiledLoss]],
    ) -> list[CompiledLoss]:
        """The losses, or what else is `listed`, that are read where decorators keep a function."""
        return [
            CompiledLoss(Value(obj=function), one.model, one.output)
            for entry in self._entries_of(ev, function)
            for module in _modules_reading(ev, entry)
            for one in listed(ev, module)
            if any(entry.may_be(place) for place in one.entries)
        ]

    def _entries_of(self, ev: Evaluator, function: Function) -> list[registries.Entry]:
        return assumptions.once(
            ev, self._entries, function.node, [], registries.entries_of, ev, function
        )

    def compiled(self, ev: Evaluator, module: Module) -> list[CompiledLoss]:
        """Every loss that a `compile` in a file is given, alone or in a list or dict."""
        return assumptions.once(ev, self._compiled, module, [], _given, ev, module, "loss")

    def metrics(self, ev: Evaluator, module: Module) -> list[CompiledLoss]:
        """Every metric that a `compile` in a file is given, in a list or a dict of them."""
        return assumptions.once(ev, self._metrics, module, [], _given, ev, module, "metrics")


def _given(ev: Evaluator, module: Module, name: str) -> list[CompiledLoss]:
    """What each `compile` in a file is given as its loss or its metrics, one by one."""
    losses: list[CompiledLoss] = []
    is_there = ".compile(" in module.source.text and name in module.source.text
    for call, point in module.calls_to("compile", ev) if is_there else ():
        positional, keywords, _ = ev.arguments(call, point)
        place = _PLACES[name]
        argument = keywords.get(name, positional[place] if len(positional) > place else None)
        if argument is None or not isinstance(call.func, ast.Attribute):
            continue
        model = ev.evaluate(call.func.value, point)
        read = argument.node if isinstance(argument, Assigned) else None
        entries = registries.looked_up(ev, read, point) if read is not None else []
        if entries:
            losses.append(CompiledLoss(unknown(), model, None, entries))
        for loss in _options(ev, argument):
            losses += [
                CompiledLoss(option, model, output)
                for output, one in _placed(loss, name)
                for option in (one.obj.options if isinstance(one.obj, Choice) else (one,))
            ]
    return losses


def _modules_reading(ev: Evaluator, entry: registries.Entry) -> Iterator[Module]:
    """The file of a registry and those that import it, where they compile models."""
    yield entry.module
    project = entry.module.project
    if project is None or not ev.session.sees_callers:
        return
    ev.session.abroad += 1
    try:
        yield from project.importers(entry.module.source.path, "compile")
    finally:
        ev.session.abroad -= 1


def _placed(whole: Value, name: str) -> list[tuple[int | str | None, Value]]:
    """Losses or metrics one by one, each with the output that it is for. A list has a loss for each
    output, and metrics for all of them.
    """
    if isinstance(whole.obj, dict):
        return list(whole.obj.items())
    if not isinstance(whole.obj, tuple):
        return [(None, whole)]
    return [(None if name == "metrics" else place, one) for place, one in enumerate(whole.obj)]


def _options(ev: Evaluator, argument: Binding, depth: int = 4) -> list[Value]:
    """What an argument may be, one by one: what each caller hands to the parameter that it is, each
    element that a loop runs over, each entry of a dict that it is read from under any key, else the
    options of a choice.
    """
    read = argument.point.lookup(argument.node.id) if _is_name(argument) else argument
    if isinstance(read, Parameter) and depth:
        handed = ev.arguments_of(read.function)[:MAX_CALLERS]
        if handed:
            return [
                option
                for call in handed
                for option in _options(ev, handed_over(call, read), depth - 1)
            ]
    if isinstance(read, Iterated):
        whole = read.iterable.value(ev)
        if whole.kind == "sequence" and isinstance(whole.obj, tuple):
            return list(whole.obj)
    value = argument.value(ev)
    if value.obj is None and isinstance(argument, Assigned):
        return registries.values_read(ev, argument.node, argument.point) or [value]
    return list(value.obj.options) if isinstance(value.obj, Choice) else [value]


def _is_name(argument: Binding) -> TypeGuard[Assigned]:
    return isinstance(argument, Assigned) and isinstance(argument.node, ast.Name)


def _given_zero_weights(ev: Evaluator, module: Module) -> list[tuple[str, Value]]:
    """The regularizers and constraints that a file gives to layers for weights that start at 0,
    each with the word for which it is.
    """
    rows = {row for suffix in _OF_WEIGHTS for row in module.source.rows_with(f"{suffix}=")}
    return [
        (suffix, ev.evaluate(given[f"{weight}{suffix}"], point))
        for row in sorted(rows)
        for expression, point in module.expressions(row, ev)
        for given in _keywords_in(expression)
        for weight in _WEIGHTS
        for suffix in _OF_WEIGHTS
        if f"{weight}{suffix}" in given
        and _is_at_zero(ev, weight, given.get(f"{weight}_initializer"), point)
    ]


def _is_read_by_key(parameter: Parameter) -> bool:
    """Whether a function picks from what it is given by a name: `y_pred["path"]`."""
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
        and path_of(node.value) == parameter.name
        for node in nodes_in(parameter.function.node)
    )


def _given_with_outputs(ev: Evaluator, module: Module) -> list[tuple[ast.Call, Point, Value]]:
    """The layers of a file that are given an activity regularizer of the program, and that."""
    regularized = [
        (layer, point, ev.evaluate(word.value, point))
        for row in sorted(module.source.rows_with(f"{_OF_OUTPUTS}="))
        for expression, point in module.expressions(row, ev)
        for layer in nodes_in(expression)
        if isinstance(layer, ast.Call)
        for word in layer.keywords
        if word.arg == _OF_OUTPUTS
    ]
    return [one for one in regularized if isinstance(one[2].obj, (Function, Bound, Instance))]


def _keywords_in(expression: ast.AST) -> list[dict[str, ast.expr]]:
    """What each call of an expression is given by name."""
    return [
        {one.arg: one.value for one in call.keywords if one.arg is not None}
        for call in nodes_in(expression)
        if isinstance(call, ast.Call)
    ]


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


def _bound_by_partials(ev: Evaluator, compiled: list[CompiledLoss], name: str) -> Value | None:
    """What partials, as which a loss is given, bind to a parameter; None where not all do."""
    partials = [one.loss.obj for one in compiled if isinstance(one.loss.obj, Bound)]
    bound = [one.keywords[name].value(ev) for one in partials if name in one.keywords]
    return ev.joined(bound) if len(bound) == len(compiled) else None


def _role(loss: Value, function: Function, names: list[str], name: str) -> str:
    """What Keras hands to a parameter of a loss, whose first arguments a partial may have bound; ""
    for one that it leaves to its default.
    """
    free = names
    if isinstance(loss.obj, Bound):
        bound = len(loss.obj.args) - function.bound
        free = [one for one in names[max(bound, 0) :] if one not in loss.obj.keywords]
    return dict(zip(free, _ROLES)).get(name, "")
