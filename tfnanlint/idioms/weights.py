"""Values that were computed with weights: a layer or variable stands in their origin, or the
function around them is applied to such as a Lambda layer.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, Final

from tfnanlint.conventions.roles import is_weighted_layer
from tfnanlint.diagnostics.findings import Differentiated
from tfnanlint.guards.post_guards import plain
from tfnanlint.interp.engine import Engine
from tfnanlint.ops.provenance import Walk, site_behind
from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import CHOICES, FED_OR_GRADIENTS, LAMBDAS, MATRIX_PRODUCTS, VARIABLES
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Point
from tfnanlint.values.value import Note, Value

Around = Callable[[ast.AST], list[ast.AST]]  # what stands around a node, innermost first

_FACTORS: Final = ("x", "y", "a", "b")
_MAX_VALUES: Final = 400


def is_computed_with_weights(
    site: Site, value: Value, module: Module, interpreter: Engine, around: Around
) -> bool:
    """Whether a value at a site was computed with weights: seen in its origin, or in what the
    function around the site is applied to as a Lambda layer.
    """
    lambdas = _Lambdas(site, module, interpreter, around)
    if has_weights(value) or any(map(has_weights, lambdas.inputs())) or lambdas.follow_weights():
        return True
    is_computed = isinstance(value.origin, Site) and value.origin.op.name not in FED_OR_GRADIENTS
    if not is_computed or _is_data(value):
        return False
    return site.differentiated is Differentiated.YES


def has_weights(value: Value) -> bool:
    """Whether a layer or variable stands in the origin of a value, or what evidently is any number;
    the elements of gradients do not count.
    """
    walk = Walk(value, limit=_MAX_VALUES)
    for operand in walk:
        origin = site_behind(operand)
        if not isinstance(origin, Site) or origin.op.name in FED_OR_GRADIENTS:
            continue
        if operand.evident:
            return True
        if origin.op.name in VARIABLES or _is_by_leaf(origin):
            return True
        if origin.library == "layer" and learns(origin.value("layer")):
            return True
        walk.enter(origin)
    return False


def _is_by_leaf(site: Site) -> bool:
    """Whether a site is a matrix product with a factor that nothing here computes, as `W` in
    `x @ W`; in the product of two computed matrices, such as a covariance, no weights need be.
    """
    if site.op.name not in MATRIX_PRODUCTS:
        return False
    factors = [plain(site.value(param)).origin for param in site.args if param in _FACTORS]
    return not factors or any(
        [factor is None or isinstance(factor, Note) and factor.given for factor in factors]
    )


def learns(layer: Value) -> bool:
    """Whether a layer has weights, or one of a model's layers does."""
    layers = getattr(layer.obj, "layers", None)
    if layers is not None:
        return any([learns(inner) for inner in layers])
    op = getattr(getattr(layer.obj, "site", None), "op", None)
    if layer.kind not in ("layer", "model") or op is None:
        return False
    name: str = getattr(layer.obj, "name", "")
    return "kernel_initializer" in op.params or is_weighted_layer(name)


def _is_data(value: Value, depth: int = 6) -> bool:
    """Whether a value is picked from data or a gradient without computing, or chosen from such and
    numbers.
    """
    origin = plain(value).origin
    if not isinstance(origin, Site) or origin.op.name in FED_OR_GRADIENTS:
        return True
    if origin.op.name not in CHOICES or depth == 0:
        return False
    branches = [origin.value(param) for param in origin.op.refines[1:] if origin.given(param)]
    return bool(branches) and all(
        [branch.lo == branch.hi or _is_data(branch, depth - 1) for branch in branches]
    )


class _Lambdas:
    """The Lambda layers that hold a site: `Lambda(lambda y: ...)`, `Lambda(patch_nans)`."""

    def __init__(self, site: Site, module: Module, interpreter: Engine, around: Around):
        self.site = site
        self.module = module
        self.interpreter = interpreter
        self.around = around
        function = site.point.scope.function if site.point is not None else None
        self.function: Any = function.node if function is not None else None

    def inputs(self) -> list[Value]:
        """What the layers are applied to: `x` of `Lambda(patch_nans)(x)`."""
        values = []
        for layer, point, outer in self._layers():
            if isinstance(outer, ast.Call) and outer.func is layer and outer.args:
                values.append(self.interpreter.ask(outer.args[0], point))
            elif isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Name):
                values += [
                    self.interpreter.ask(call.args[0], at)
                    for call, at in self.module.calls_to(outer.targets[0].id, self.interpreter)
                    if call.args
                ]
        return values

    def follow_weights(self) -> bool:
        """Whether one of the layers stands behind a layer with weights in a Sequential model."""
        for layer, point, outer in self._layers():
            if isinstance(outer, ast.List):
                before = outer.elts[: outer.elts.index(layer)]
                if any([learns(self.interpreter.ask(node, point)) for node in before]):
                    return True
            if isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute):
                if outer.func.attr == "add":
                    model = self.interpreter.ask(outer.func.value, point)
                    return any([learns(inner) for inner in getattr(model.obj, "layers", ())])
        return False

    def _layers(self) -> Iterator[tuple[ast.Call, Point, ast.AST | None]]:
        """The calls that make the layers, their points, and what stands around each."""
        for call, point in self.module.calls_to("Lambda", self.interpreter):
            row, _ = self.interpreter.row(call.func, point)
            if call.args and row is not None and row.name in LAMBDAS:
                if self._holds_site(call.args[0], point):
                    yield call, point, next(iter(self.around(call)), None)

    def _holds_site(self, function: ast.expr, point: Point) -> bool:
        """Whether the site stands in a function that is given to a Lambda layer."""
        if isinstance(function, ast.Lambda):
            span = self.module.source.span
            return span(self.site.node) in span(function)
        node = getattr(self.interpreter.ask(function, point).obj, "node", None)
        return self.function is not None and node is self.function
