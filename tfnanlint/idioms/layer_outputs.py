"""Vectors that are rarely 0 as a whole, and tensors that are rarely equal: outputs of layers that
no activation cuts off, and two networks with weights of their own. And what reads the output of a
layer first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Final

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import trained_weights
from tfnanlint.idioms.loss_pairs import unfolded
from tfnanlint.ops.frameworks import (
    LINEAR_FUNCTIONS,
    SLOPED_LAYERS,
    VARIABLE_SCOPE,
    WEIGHING_LAYERS,
)
from tfnanlint.ops.models.layers import activated, linear
from tfnanlint.ops.models.variables import starts_at_random, starts_at_zero
from tfnanlint.ops.provenance import behind
from tfnanlint.ops.site import Site, made_by, operands, same
from tfnanlint.ops.traits import (
    DIFFERENCE_SQUARES,
    DIFFERENCES,
    FED_TO_LOSSES,
    LEAKING,
    REARRANGEMENTS,
    RECURRENT_FUNCTIONS,
    SLOPED,
    SQUARE_ROOTS,
    SQUARES,
    TOTALS,
    VARIABLES,
    WEIGHED_SUMS,
)
from tfnanlint.syntax.access_paths import path_of
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import INF, Note, Value, unknown

Around = Callable[[ast.AST], list[ast.AST]]  # what stands around a node, innermost first

_DEPTH: Final = 8
_NARROW: Final = 3  # coordinates, colours, the two components of a flow
_WIDTHS: Final = ("units", "filters")
_FACTORS: Final = ("x", "y", "a", "b", "filters")


def activated_by(layer: Site) -> Value:
    """What the activation that a layer's constructor is given makes of any number."""
    return activated(layer.value("activation"), linear(unknown("tensor")), layer)


def weakness_of_length(radicand: Value, interpreter: Evaluator, around: Around) -> str:
    """The kind of evidence that a sum or mean of squares, or its root, is 0, as `kinds` names it:
    that of a vector, "two-networks" of the difference of two networks' outputs; empty for others.
    """
    root = made_by(plain(radicand), *SQUARE_ROOTS)
    radicand = radicand if root is None else root.value(root.op.main or "x")
    total = made_by(plain(radicand), *TOTALS, "tf.nn.l2_loss")
    if total is None:
        return ""
    elements = total.value(total.op.main or "x")
    vector = elements if total.op.name == "tf.nn.l2_loss" else _squared(elements)
    if vector is None:
        return ""
    if not total.given("axis"):
        return trained_weights.weakness_of_product(vector)
    if _is_of_two_networks(vector, interpreter, around):
        return "two-networks"
    return weakness_of_vector(vector)


def weakness_of_vector(vector: Value) -> str:
    """The kind of evidence that a vector is 0, as `kinds` names it: "layer-output" of a layer's
    outputs and of what they differ by from something else, and those of `trained_weights`; empty
    for others.
    """
    apart = made_by(plain(vector), *DIFFERENCES)
    sides = [vector] if apart is None else operands(apart)
    if sum([free_layer(side) is not None for side in sides]) == 1:
        return "layer-output"
    return trained_weights.weakness_of_vector(vector)


def weakness_of_error(divisor: Value) -> str:
    """The kind of evidence that a mean or sum of squares is 0: "error-of-output" where what a
    network gives would have to be what the program is fed, element by element; empty for others.
    """
    total = made_by(plain(divisor), *TOTALS)
    vector = _squared(total.value(total.op.main or "x")) if total is not None else None
    apart = made_by(vector, *DIFFERENCES) if vector is not None else None
    if apart is None:
        return ""
    origins = [behind(part) for part in operands(apart)]
    sites = [origin for origin in origins if isinstance(origin, Site)]
    is_fed = [site.op.name in FED_TO_LOSSES for site in sites]
    is_given = [site.library == "layer" for site in sites]
    return "error-of-output" if any(is_fed) and any(is_given) else ""


def _squared(value: Value) -> Value | None:
    """What a square is made of; None for anything else."""
    apart = made_by(value, *DIFFERENCE_SQUARES)
    if apart is not None:
        return Value(origin=apart)
    square = made_by(value, *SQUARES)
    return None if square is None else plain(square.value("x"))


def _is_of_two_networks(vector: Value, interpreter: Evaluator, around: Around) -> bool:
    """Whether a vector is the difference of what two layers give that have weights of their own."""
    apart = made_by(vector, *DIFFERENCES)
    if apart is None:
        return False
    layers = [free_layer(part) for part in operands(apart)]
    if any(layer is None for layer in layers):
        return False
    scopes = [list(_scopes(layer, interpreter, around)) for layer in layers if layer is not None]
    return all(scopes) and scopes[0] != scopes[1]


def _scopes(layer: Site, interpreter: Evaluator, around: Around) -> Iterator[str]:
    """The names of the variable scopes in whose block a layer is called, where they are known."""
    if layer.point is None:
        return
    for outer in around(layer.node):
        for item in outer.items if isinstance(outer, ast.With) else ():
            call = item.context_expr
            if not isinstance(call, ast.Call) or not call.args:
                continue
            name = interpreter.ask(call.args[0], layer.point).const
            if (path_of(call.func) or "").endswith(VARIABLE_SCOPE) and isinstance(name, str):
                yield name


def free_layer(value: Value, narrow: bool = False, depth: int = _DEPTH) -> Site | None:
    """The linear or recurrent layer that gives a value, or a row of it, normalised and with a slope
    on either side of 0 or not; None for other values and where an activation may have cut off what
    is below 0. With `narrow` also one whose rows are of one to three numbers.
    """
    value = unfolded(plain(value))
    origin = behind(value)
    if isinstance(origin, Note) and isinstance(origin.parent, Site):
        return origin.parent if _runs_to_the_end(origin.parent) else None
    if not isinstance(origin, Site) or value.lo >= 0 or value.hi <= 0 or depth == 0:
        return None
    name = origin.op.name
    if origin.library == "layer":
        return _layer_of_keras(origin, narrow, depth)
    if name in LINEAR_FUNCTIONS:
        return None if _is_narrow(origin) and not narrow else origin
    sloped = _sloped(origin)
    if sloped is not None:
        return free_layer(sloped, narrow, depth - 1)
    if name in WEIGHED_SUMS:
        return origin if _is_by_weights(origin) else None
    if name == "tf.add":
        is_by_bias = made_by(plain(origin.value("y")), *VARIABLES) is not None
        return free_layer(origin.value("x"), narrow, depth - 1) if is_by_bias else None
    if name not in REARRANGEMENTS:
        return None
    parts = _operands(origin)
    return next(filter(None, [free_layer(part, narrow, depth - 1) for part in parts]), None)


def _layer_of_keras(call: Site, narrow: bool, depth: int) -> Site | None:
    """The linear layer of Keras behind a call of a layer, as `free_layer` says; None where its
    weights start at 0.
    """
    construction = getattr(call.value("layer").obj, "site", None)
    if not isinstance(construction, Site):
        return None
    name = construction.op.name
    if gives_zeros_at_first(construction):
        return None
    if name in WEIGHING_LAYERS:
        is_free = _is_linear(construction) and (narrow or not _is_narrow(construction))
        return call if is_free else None
    if name not in SLOPED_LAYERS:
        return None
    return free_layer(call.value("input"), narrow, depth - 1)


def gives_zeros_at_first(construction: Site) -> bool:
    """Whether the weights that a layer multiplies by start at 0."""
    weights = ("kernel_initializer", "gamma_initializer")
    return any(
        [starts_at_zero(construction.value(name)) for name in weights if construction.given(name)]
    )


def _is_narrow(layer: Site) -> bool:
    """Whether a layer gives rows of so few numbers that they are all 0 sooner or later."""
    widths = [layer.value(param) for param in _WIDTHS if layer.given(param)]
    return any([width.is_number and width.lo <= _NARROW for width in widths])


def _is_linear(construction: Site) -> bool:
    """Whether a layer has no activation."""
    if not construction.given("activation"):
        return not construction.hidden
    activation = construction.value("activation")
    return activation.kind == "none" or activation.const == "linear"


def _sloped(site: Site) -> Value | None:
    """What a leaky relu, also one written as a maximum, or a normalisation is given; None for other
    ops.
    """
    if site.op.name in SLOPED:
        return site.value(site.op.main or "x")
    for scaled, bare in (("x", "y"), ("y", "x")) if site.op.name == "tf.maximum" else ():
        product = made_by(plain(site.value(scaled)), "tf.multiply")
        factors = operands(product)
        if any([0 < one.lo <= one.hi < 1 for one in factors]) and any(
            [same(one, site.value(bare)) for one in factors]
        ):
            return site.value(bare)
    return None


def leaks(value: Value) -> bool:
    """Whether a value surely is the output of a leaky relu, of which any number below 0 is one."""
    origin = value.origin
    return value.lo == -INF and isinstance(origin, Site) and origin.op.name in LEAKING


def _runs_to_the_end(site: Site) -> bool:
    """Whether a recurrent network is run over all steps; behind the end of a shorter sequence its
    outputs are 0.
    """
    return site.op.name in RECURRENT_FUNCTIONS and not site.given("sequence_length")


def _operands(site: Site) -> tuple[Value, ...]:
    """What the rows of a value are taken from."""
    operand = site.value(site.op.main or "x")
    parts = operand.obj if isinstance(operand.obj, tuple) else (operand,)
    return tuple(part for part in parts if isinstance(part, Value))


def _is_by_weights(product: Site) -> bool:
    """Whether a factor of a matrix product or a convolution is a variable that starts with random
    numbers.
    """
    factors = [product.value(param).origin for param in _FACTORS if product.given(param)]
    return any([isinstance(factor, Site) and starts_at_random(factor) for factor in factors])


def is_read_of_object(layer: Site, around: Around) -> bool:
    """Whether a layer is an attribute of an object whose methods do more with its output than to
    return it: `weights = self.score(x)`.
    """
    assigned = next(iter(around(layer.node)), None)
    function = layer.point.scope.function if layer.point is not None else None
    if not isinstance(assigned, ast.Assign) or function is None or function.owner is None:
        return False
    names = {one.attr for one in assigned.targets if isinstance(one, ast.Attribute)}
    returned = {
        node.value for node in ast.walk(function.owner.node) if isinstance(node, ast.Return)
    }
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in names
        and node not in returned
        for node in ast.walk(function.owner.node)
    )


def first_reader(target: ast.expr, layer: Site, row: int) -> ast.Call | None:
    """The first call below a row of the function of a layer that takes the value of a name."""
    if not isinstance(target, ast.Name) or layer.point is None:
        return None
    calls = [
        node
        for node in ast.walk(layer.point.scope.node)
        if isinstance(node, ast.Call) and node.lineno > row and _takes(node, target.id)
    ]
    return min(calls, key=lambda call: call.lineno, default=None)


def _takes(call: ast.Call, name: str) -> bool:
    """Whether a name is an argument of a call, or stands in a list that is."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    parts = [part for value in values for part in getattr(value, "elts", [value])]
    return any(isinstance(part, ast.Name) and part.id == name for part in parts)
