"""Losses and the predictions that they get: a loss function applied, a loss object called, or a
loss given to `compile`.

Keras spells a loss as a string, a function, an object with `from_logits`, or a list or dict of
them, one for each output.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

from tfnanlint.guards.post_guards import plain
from tfnanlint.ops.frameworks import (
    COMPILE,
    FAMILIES,
    HANDING_LAYERS,
    LABEL_PARAMETERS,
    MODEL_ATTRIBUTES,
    PREDICTION_PARAMETERS,
    WEIGHTED_LAYERS,
)
from tfnanlint.ops.models.layers import Layer, Stack, called
from tfnanlint.ops.models.variables import CallableObject
from tfnanlint.ops.provenance import Walk
from tfnanlint.ops.relations.outputs import ending
from tfnanlint.ops.relations.shapes import last_length, shape_of
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.table import TABLE, Op
from tfnanlint.ops.traits import CONVERSIONS, LAMBDAS, PROBABILITIES, UNPACKINGS, WEIGHTED_SUMS
from tfnanlint.ops.transfer.core import elements
from tfnanlint.program.functions import Instance
from tfnanlint.syntax.access_paths import path_of
from tfnanlint.syntax.enclosing import enclosing
from tfnanlint.syntax.nodes import display, nodes_in
from tfnanlint.uses.uses import endings_of
from tfnanlint.values.value import INF, Note, Value, unknown

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine
    from tfnanlint.program.module import Module


class Pairing(NamedTuple):
    """A loss that meets predictions.

    `logits` tells whether the loss applies softmax or sigmoid itself (None: not known). `node` is
    where to report. `loss` is the application or construction that holds `from_logits`; None for a
    loss that is only named. `compiled`: by `compile`.
    """

    family: str
    logits: bool | None
    labels: Value
    predictions: Value
    node: ast.expr
    site: Site
    loss: Site | None = None
    compiled: bool = False
    keras: bool = True
    labels_node: ast.expr | None = None
    predictions_node: ast.expr | None = None


def pairings(site: Site, interpreter: Engine) -> Iterator[Pairing]:
    """The losses that a site brings together with predictions."""
    pairs: Iterator[Pairing] = iter(())
    if site.op.name == COMPILE:
        pairs = _compiled(site)
    elif site.library == "layer":
        pairs = _called(site, interpreter)
    elif site.op.name in FAMILIES and not site.op.name.rsplit(".", 1)[-1][0].isupper():
        pairs = _applied(site)
    return pairs


def called_alike(loss: Site, interpreter: Engine) -> list[Site]:
    """The other calls in a file of the loss object that a site calls, by the same name."""
    path = path_of(loss.node.func) if isinstance(loss.node, ast.Call) else None
    if path is None or loss.library != "layer" or loss.point is None:
        return []
    calls = loss.point.module.calls_to(
        path.rpartition(".")[2], interpreter, lambda call: path_of(call.func) == path
    )
    sites = [interpreter.site(call, point) for call, point in calls if call is not loss.node]
    return [site for site in sites if site is not None]


def _applied(site: Site) -> Iterator[Pairing]:
    """A loss function with its arguments."""
    name = site.op.name
    labels = next((p for p in LABEL_PARAMETERS if p in site.op.params), "")
    predictions = next((p for p in PREDICTION_PARAMETERS if p in site.op.params), "")
    if not site.given(predictions):
        return
    keras = name.startswith(("keras.", "K."))
    yield Pairing(
        FAMILIES[name],
        _from_logits(site) if keras else predictions == "logits",
        site.value(labels),
        unfolded(site.value(predictions)),
        site.node,
        site,
        site,
        False,
        keras,
        site.args.get(labels),
        site.args.get(predictions),
    )


def _called(site: Site, interpreter: Engine) -> Iterator[Pairing]:
    """A loss object called with labels and predictions."""
    construction = getattr(site.value("layer").obj, "site", None)
    if (
        not isinstance(construction, Site)
        or construction.op.name not in FAMILIES
        or not isinstance(site.node, ast.Call)
    ):
        return
    arguments = dict(zip(("y_true", "y_pred"), site.node.args)) | {
        k.arg: k.value for k in site.node.keywords
    }
    if {"y_true", "y_pred"} <= arguments.keys() and not any(
        isinstance(node, ast.Starred) for node in arguments.values()
    ):
        labels, predictions = arguments["y_true"], arguments["y_pred"]
        yield Pairing(
            FAMILIES[construction.op.name],
            _from_logits(construction),
            interpreter.ask(labels, site.point),
            unfolded(interpreter.ask(predictions, site.point)),
            site.node,
            site,
            construction,
            False,
            True,
            labels,
            predictions,
        )


def _from_logits(site: Site) -> bool | None:
    from_logits = site.const("from_logits", False)
    return from_logits if isinstance(from_logits, bool) else None


# compile


def _compiled(site: Site) -> Iterator[Pairing]:
    """Each loss of `model.compile(loss=...)` with the output that it is for."""
    node = site.args.get("loss")
    if node is None or _never_trained(site):
        return
    outputs = output(site, site.value("self"))
    for part, value, predictions in _each(node, site.value("loss"), outputs):
        loss = _named(value)
        if loss is not None:
            name, construction = loss
            logits = _from_logits(construction) if construction is not None else False
            yield Pairing(
                FAMILIES[name], logits, unknown(), predictions, part, site, construction, True
            )


def _never_trained(site: Site) -> bool:
    """Whether a model is compiled and then called or looked at only, in a function, or where a
    script runs by itself.
    """
    model, scope = site.args.get("self"), site.point.scope if site.point is not None else None
    if not isinstance(model, ast.Name) or scope is None or site.point.over is not None:
        return False
    if scope.function is None and not _by_itself(site):
        return False
    return endings_of(scope, scope.module).only_run(model.id, MODEL_ATTRIBUTES)


def _by_itself(site: Site) -> bool:
    """Whether a site stands below `if __name__ == "__main__":`, where no other file sees a name."""
    return any(
        isinstance(node, ast.If)
        and any(
            isinstance(inner, ast.Name) and inner.id == "__name__" for inner in nodes_in(node.test)
        )
        for node in enclosing(site.source.tree.body, site.source.span(site.node), site.source.span)
    )


def _each(node: ast.expr, loss: Value, outputs: Value) -> Iterator[tuple[ast.expr, Value, Value]]:
    """(expression, loss, output) of a loss, of a list of them, or of a dict by names of outputs."""
    parts = outputs.obj if outputs.kind == "sequence" and isinstance(outputs.obj, tuple) else None
    if isinstance(loss.obj, tuple) and loss.kind == "sequence":
        nodes = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node] * len(loss.obj)
        if len(loss.obj) == len(parts or (outputs,)):
            yield from zip(nodes, loss.obj, parts or (outputs,))
    elif isinstance(loss.obj, dict):
        shown = display(node)
        written = (
            {getattr(key, "value", None): value for key, value in zip(shown.keys, shown.values)}
            if shown is not None
            else {}
        )
        for name, named_loss in loss.obj.items():
            predictions = _output_named(name, outputs, parts)
            if predictions is not None:
                yield written.get(name, node), named_loss, predictions
    elif parts is None:
        yield node, loss, outputs
    else:
        for predictions in parts:
            yield node, loss, predictions


def _output_named(name: Any, outputs: Value, parts: tuple[Value, ...] | None) -> Value | None:
    """The output with a name: of a dict of outputs, or that of the layer called so."""
    if isinstance(outputs.obj, dict):
        return outputs.obj.get(name)
    for part in parts if parts is not None else (outputs,):
        layer = _layer(part)
        if layer is not None and layer.site.const("name") == name:
            return part
    return None


def _named(loss: Value) -> tuple[str, Site | None] | None:
    """(row, construction) of a loss: its name, the function, or an object; None for the program's
    own.
    """
    if isinstance(loss.obj, CallableObject):
        return (loss.obj.name, loss.obj.site) if loss.obj.name in FAMILIES else None
    row = loss.obj if isinstance(loss.obj, Op) else None
    if isinstance(loss.const, str) and loss.kind == "string":
        row = TABLE.get(f"keras.losses.{loss.const}")
    return (
        (row.name, None)
        if row is not None and row.name in FAMILIES and row.name.startswith("keras.")
        else None
    )


def output(site: Site, model: Value) -> Value:
    """What a model gives for any input."""
    if isinstance(model.obj, Stack):
        return _stepwise(model.obj, unknown("tensor"), site)
    if hasattr(model.obj, "out"):
        return model.obj.out(unknown("tensor"), site)
    return unfolded(site.apply(model, unknown("tensor"))) if model.kind == "instance" else unknown()


def unfolded(value: Value) -> Value:
    """What a Sequential model gives, with its layers one by one in the origin."""
    origin = value.origin
    if (
        isinstance(origin, Site)
        and origin.library == "layer"
        and isinstance(origin.value("layer").obj, Stack)
    ):
        return _stepwise(origin.value("layer").obj, origin.value("input"), origin)
    return value


def _stepwise(stack: Stack, x: Value, call: Site) -> Value:
    if not stack.complete or not stack.layers:
        x = unknown("tensor")
    for layer in stack.layers:
        construction = getattr(layer.obj, "site", None)
        result = called(layer, x, call)
        if isinstance(construction, Site):
            step = Site(
                construction.op,
                call.node,
                {},
                None,
                complete=False,
                library="layer",
                point=call.point,
                source=call.source,
                name=construction.op.name,
            )
            step.values.update({"layer": layer, "input": x})
            if construction.op.name in LAMBDAS:
                step.values["computed"] = result
            result = result.but(origin=step)
        x = unfolded(result)
    return x


def output_layers(module: Module, interpreter: Engine) -> list[Site]:
    """The constructions of the last layers of the models which a file builds or compiles."""
    constructions: dict[ast.AST, Site] = {}
    for site, model in _models(module, interpreter):
        outputs = output(site, model) if model.kind in ("model", "instance") else unknown()
        for value in outputs.obj if isinstance(outputs.obj, tuple) else (outputs,):
            layer = _layer(value)
            if layer is not None and layer.site.source is module.source:
                constructions.setdefault(layer.site.node, layer.site)
    return list(constructions.values())


def _models(module: Module, interpreter: Engine) -> Iterator[tuple[Site, Value]]:
    """The models which a file builds or compiles, each with a site that makes or compiles it: also
    what each call gives of a function that builds one of the layers it is handed.
    """
    builders: set[str] = set()
    for name in ("compile", "Model", "Sequential"):
        for node, point in module.calls_to(name, interpreter):
            site = interpreter.site(node, point)
            if site is None:
                continue
            is_compiled = site.op.name == COMPILE
            yield site, site.value("self") if is_compiled else interpreter.ask(node, point)
            around = point.scope.function
            builders |= {around.name} if around is not None and not is_compiled else set()
    for name in sorted(builders):
        for node, point in module.calls_to(name, interpreter):
            model = interpreter.ask(node, point)
            site = getattr(model.obj, "site", None)
            if isinstance(site, Site):
                yield site, model


# What predictions are


def maker(value: Value) -> Site | None:
    """The op that made predictions: softmax, sigmoid, tanh, the activation of the last layer; seen
    through layers that hand values on, ops that rearrange or convert them, and `p * 1`.
    """
    for _ in range(16):
        origin = value.origin
        inner = ending(value)
        if inner is not None and inner.op.name != "keras.layers.Lambda":
            return inner
        if not isinstance(origin, Site):
            return None
        if origin.library == "layer":
            value = origin.value("input")
            if getattr(origin.value("layer").obj, "name", "") not in HANDING_LAYERS:
                return None
        elif origin.op.passes or origin.op.name in CONVERSIONS:
            value = origin.value(origin.op.passes or origin.op.main)
        elif (handed := plain(value)) is not value:
            value = handed
        else:
            return origin
    return None


def _layer(value: Value) -> Layer | None:
    """The layer that gave a value."""
    origin = value.origin
    layer = (
        origin.value("layer").obj
        if isinstance(origin, Site) and origin.library == "layer"
        else None
    )
    return layer if isinstance(layer, Layer) else None


def last_layer(pairing: Pairing) -> Site | None:
    """The construction of the layer that gives the predictions of a pairing."""
    layer = _layer(pairing.predictions)
    return layer.site if layer is not None else None


def rescued(pairing: Pairing) -> bool:
    """Whether Keras notices the softmax or sigmoid and goes back to the logits: it does for what a
    layer's named activation gives, and in a graph for the op itself, not when anything stands in
    between.
    """
    layer = last_layer(pairing)
    if layer is None:
        return (
            pairing.compiled
            and made_by(pairing.predictions, *PROBABILITIES, aligned=True) is not None
        )
    if layer.op.name == "keras.layers.Softmax":
        return True
    if layer.op.name in HANDING_LAYERS or layer.op.name == "keras.layers.Lambda":
        return pairing.compiled and layer.op.name == "keras.layers.Lambda"
    activation = layer.value("activation")
    return (
        pairing.compiled
        or activation.kind == "string"
        or getattr(activation.obj, "name", "").startswith("keras.")
    )


def linear(value: Value) -> bool:
    """Whether a value is the output of weights, trained or written down, without an activation: any
    number.
    """
    if value.lo != -INF or value.hi != INF:
        return False
    origin = value.origin
    for _ in range(8):
        if isinstance(origin, Note) and isinstance(origin.parent, Site):
            if origin.parent.op.name not in UNPACKINGS:
                return False
            value = origin.parent.value(origin.parent.op.main or "x")
            origin = value.origin
        if not isinstance(origin, Site):
            return False
        if origin.library == "layer" or origin.op.name.startswith(WEIGHTED_LAYERS):
            return value.evident
        if origin.op.name in WEIGHTED_SUMS:
            return value.evident or any(
                one.evident or made_by(one, "tf.constant") is not None
                for param in origin.args
                for one in elements(origin.value(param))
            )
        if origin.op.name == "tf.add":
            origin = next(
                (
                    one
                    for one in (origin.value("x").origin, origin.value("y").origin)
                    if isinstance(one, Site) and one.op.name in WEIGHTED_SUMS
                ),
                None,
            )
        elif origin.op.passes:
            value = origin.value(origin.op.passes)
            origin = value.origin
        else:
            return False
    return False


def units(value: Value) -> int | None:
    """How many classes the layer that gave a value tells apart, where it is written."""
    for _ in range(8):
        origin = value.origin
        if not isinstance(origin, Site):
            return None
        shape = shape_of(value)
        length = shape[-1] if shape else last_length(value)
        if shape or length is not None:
            return length
        layer = origin.value("layer").obj if origin.library == "layer" else None
        construction = layer.site if isinstance(layer, Layer) else origin
        for param in ("units", "num_outputs"):
            if construction.given(param):
                count = construction.const(param)
                return count if type(count) is int else None
        if layer is not None:
            value = origin.value("input")
        elif origin.op.name in PROBABILITIES or origin.op.name == "tf.nn.log_softmax":
            value = origin.value(origin.op.main)
        else:
            return None
    return None


def layer_names(model: Value) -> set[str]:
    """Names of the layers that a model is seen to be made of, without their module (`LSTM`).

    Of a Sequential model they are listed, a functional one is followed from its outputs, and a
    class of the program makes them somewhere in its body.
    """
    if isinstance(model.obj, Stack):
        return {_bare(layer) for layer in model.obj.layers}
    if isinstance(model.obj, Instance):
        functions = (
            inner.func for inner in nodes_in(model.obj.cls.node) if isinstance(inner, ast.Call)
        )
        return {
            func.attr if isinstance(func, ast.Attribute) else func.id
            for func in functions
            if isinstance(func, (ast.Attribute, ast.Name))
        }
    site = getattr(model.obj, "site", None)
    if not isinstance(site, Site) or not site.given("outputs"):
        return set()
    walk, names = Walk(site.value("outputs")), set()
    for value in walk:
        walk.add(value.obj if isinstance(value.obj, tuple) else ())
        origin = value.origin
        if isinstance(origin, Site) and origin.library == "layer":
            names.add(_bare(origin.value("layer")))
            walk.enter(origin, ["input"])
        elif isinstance(origin, Site):
            walk.enter(origin, origin.args)
    return names


def _bare(layer: Value) -> str:
    return getattr(layer.obj, "name", "").rsplit(".", 1)[-1]
