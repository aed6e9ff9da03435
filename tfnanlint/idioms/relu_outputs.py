"""Outputs of a relu that arrive at a softmax or a loss: through ops that rearrange them, layers
that hand them on, and models.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final

from tfnanlint.ops import traits
from tfnanlint.ops.frameworks import HANDING_LAYERS
from tfnanlint.ops.models.variables import VARIABLES
from tfnanlint.ops.site import Site, made_by, operands
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value

Around = Callable[[ast.AST], list[ast.AST]]  # what stands around a node, innermost first

RELUS: Final = (*traits.RELUS, traits.RELU_OF_KERAS)
_WITH_RELU: Final = (*RELUS, *traits.RELU_LAYERS)
_ACTIVATIONS: Final = ("activation", "activation_fn")
_DEPTH: Final = 16


def relu_behind(value: Value) -> Site | None:
    """The op or layer with a relu that gives a value, seen through ops that rearrange it."""
    relu = made_by(value, *RELUS)
    if relu is not None:
        return relu if relu.library != "layer" and _is_plain(relu) else None
    for _ in range(_DEPTH):
        origin = value.origin
        if not isinstance(origin, Site):
            return None
        if origin.library == "layer":
            layer = origin.value("layer")
            construction = _construction(layer)
            if construction is None or construction.op.name not in HANDING_LAYERS:
                return relu_at_end(layer)
            value = origin.value("input")
        elif origin.op.passes:
            value = origin.value(origin.op.passes)
        else:
            return origin if _ends_in_relu(origin) else None
    return None


def closes_residual_block(relu: Site, interpreter: Evaluator, around: Around) -> bool:
    """Whether what a relu gets is the sum of the output of a layer and of another tensor, no
    weight: the end of a residual block, whose output is a feature map.
    """
    value = relu.value("x") if relu.given("x") else _given_to(relu, interpreter, around)
    if value is None:
        return False
    total = value.origin
    layer = _construction(total.value("layer")) if isinstance(total, Site) else None
    if made_by(value, *traits.SUMMING_LAYERS) is not None:
        return True
    if layer is not None and layer.op.name in traits.SUMMING_LAYERS:
        return True
    if not isinstance(total, Site) or total.op.name != "tf.add":
        return False
    addends = operands(total)
    is_weighed = any(made_by(addend, *VARIABLES) or addend.is_number for addend in addends)
    return not is_weighed and any(_is_output_of_layer(addend) for addend in addends)


def _is_output_of_layer(value: Value) -> bool:
    origin = value.origin
    return isinstance(origin, Site) and origin.library == "layer"


def _given_to(relu: Site, interpreter: Evaluator, around: Around) -> Value | None:
    """What the layer that a call constructs is applied to at once, `ReLU()(x)`; None elsewhere."""
    applied = next(iter(around(relu.node)), None)
    if not isinstance(applied, ast.Call) or applied.func is not relu.node or not applied.args:
        return None
    return interpreter.ask(applied.args[0], relu.point)


def relu_at_end(model: Value) -> Site | None:
    """The relu at the end of a model or layer."""
    layers = getattr(model.obj, "layers", None)
    if layers is not None:
        return _relu_of_last(layers)
    construction = _construction(model)
    if construction is None:
        return None
    if construction.op.name == "keras.Model":
        return relu_behind(construction.value("outputs"))
    return construction if _ends_in_relu(construction) else None


def relu_before_layer(site: Site, interpreter: Evaluator, around: Around) -> Site | None:
    """The relu before a softmax layer: that is applied to a value, or stands behind other layers in
    a Sequential.
    """
    if site.library == "layer":
        construction = _construction(site.value("layer"))
        is_softmax = construction is not None and _is_softmax(construction)
        return relu_behind(site.value("input")) if is_softmax else None
    if not _is_softmax(site):
        return None
    outer = [*around(site.node)[:3], None, None, None]
    if isinstance(outer[0], (ast.List, ast.Tuple)):
        before = outer[0].elts[: outer[0].elts.index(site.node)]
        is_joined = isinstance(outer[1], ast.BinOp) and isinstance(outer[1].op, ast.Add)
        call = outer[2 if is_joined else 1]
        model = interpreter.site(call, site.point) if isinstance(call, ast.Call) else None
        if before and model is not None and model.op.name == "keras.Sequential":
            return _relu_of_last([interpreter.ask(node, site.point) for node in before])
    method = _method_called(outer[0])
    if method is not None and method.attr == "add":
        model_value = interpreter.ask(method.value, site.point)
        return _relu_of_last(getattr(model_value.obj, "layers", ()))
    return None


def relu_before_loss(site: Site, interpreter: Evaluator, around: Around) -> Site | None:
    """The relu before a loss object with `from_logits=True`: that is called with predictions, or
    given to `compile`.
    """
    if site.library == "layer":
        construction = _construction(site.value("layer"))
        predictions = _predictions(site.node)
        if construction is None or construction.const("from_logits") is not True:
            return None
        if predictions is None:
            return None
        return relu_behind(interpreter.ask(predictions, site.point))
    method = _method_called(next(iter(around(site.node)), None))
    if method is None or method.attr != "compile" or site.const("from_logits") is not True:
        return None
    return relu_at_end(interpreter.ask(method.value, site.point))


def _predictions(call: ast.AST) -> ast.expr | None:
    """The second argument of a loss."""
    if not isinstance(call, ast.Call):
        return None
    named = [keyword.value for keyword in call.keywords if keyword.arg == "y_pred"]
    return next(iter([*call.args[1:2], *named]), None)


def _method_called(node: ast.AST | None) -> ast.Attribute | None:
    """`model.add` of `model.add(layer)`."""
    function = node.func if isinstance(node, ast.Call) else None
    return function if isinstance(function, ast.Attribute) else None


def _is_plain(relu: Site) -> bool:
    """Whether a relu has no slope below 0."""
    slope = relu.const("negative_slope", 0) if relu.op.name == "keras.activations.relu" else 0
    return slope in (0, 0.0)


def _construction(layer: Value) -> Site | None:
    """The call that constructs a layer."""
    site = getattr(layer.obj, "site", None)
    return site if isinstance(site, Site) else None


def _ends_in_relu(construction: Site) -> bool:
    """Whether a layer, or a layer function of TensorFlow 1, ends in a relu."""
    if construction.op.name in traits.RELU_LAYERS:
        return construction.const("negative_slope", 0) in (0, 0.0, None)
    for param in _ACTIVATIONS:
        if construction.given(param):
            return _is_relu(construction.value(param))
    is_slim = construction.op.name.startswith("slim.")
    # an `arg_scope` may set another one
    has_default = is_slim and "normalizer_fn" in construction.op.params
    return has_default and construction.op.gives(construction).lo >= 0


def _is_relu(activation: Value) -> bool:
    if isinstance(activation.const, str) and activation.kind == "string":
        return activation.const in ("relu", "relu6")
    name = getattr(activation.obj, "name", "")
    return activation.kind in ("function", "layer") and name in _WITH_RELU


def _is_softmax(construction: Site) -> bool:
    if construction.op.name == "keras.layers.Softmax":
        return True
    activation = construction.value("activation")
    name = getattr(activation.obj, "name", "")
    return activation.const == "softmax" or name == "tf.nn.softmax"


def _relu_of_last(layers: Sequence[Value]) -> Site | None:
    """The last of some layers, those that only hand values on left aside, if it ends in a relu."""
    for layer in reversed(layers):
        construction = _construction(layer)
        if construction is None or construction.op.name not in HANDING_LAYERS:
            is_relu = construction is not None and _ends_in_relu(construction)
            return construction if is_relu else None
    return None
