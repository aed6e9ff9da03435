"""Values that are piecewise linear in an input: what a network of dense and relu layers gives.

Their second derivative by that input is 0 on every piece. The first one steps at each bend.

    u = dense(relu(dense(x)))             piecewise linear in x, bent by one relu
    u = dense(tanh(dense(x)))             curved
    u = relu(dense(x)) * relu(dense(x))   curved: a product of two values that depend on x
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from tfnanlint.idioms.loss_pairs import unfolded
from tfnanlint.ops.frameworks import FUNCTIONAL_MODEL, LAYERS, LINEAR_FUNCTIONS, LINEAR_LAYERS
from tfnanlint.ops.provenance import behind
from tfnanlint.ops.site import Site, same
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import (
    BEND_NAMES,
    BENDING_LAYERS,
    BENDS,
    LINEAR_SUMS,
    LINEAR_TIMES_CONSTANT,
    MADE_OF_SHAPES,
    SLICES,
    VARIABLES,
    is_random,
)
from tfnanlint.values.value import NO_CONSTANT, Note, Value

_DEPTH: Final = 40
_ACTIVATION: Final = LAYERS + "Activation"


class Pieces(NamedTuple):
    """What is piecewise linear: whether it depends on the input at all, and the ops and layers
    that bend it.
    """

    depends: bool
    bends: tuple[Site, ...] = ()


CONSTANT: Final = Pieces(False)


def pieces(value: Value, x: Value, depth: int = _DEPTH) -> Pieces | None:
    """How a value depends on `x`, where it is piecewise linear in it, or is in one of several ways
    in which it can arise; None where it is curved, or that is not known.
    """
    if same(value, x):
        return Pieces(True)
    if value.is_number or value.const is not NO_CONSTANT:
        return CONSTANT
    whole = unfolded(value)
    if isinstance(whole.origin, Note) and whole.origin.options and depth:
        ways = [pieces(one, x, depth - 1) for one in whole.origin.options]
        return next((one for one in ways if one is not None and one.bends), ways[0])
    origin = behind(whole)
    if not isinstance(origin, Site):
        # A parameter or an attribute beside x is taken for constant; what a call gives that is not
        # followed may be made of x.
        return CONSTANT if isinstance(origin, Note) and origin.given else None
    if depth == 0:
        return None
    dependence = _of_site(origin, lambda inner: pieces(inner, x, depth - 1), depth)
    return CONSTANT if dependence is None and _is_upstream(value, x) else dependence


def _is_upstream(value: Value, x: Value) -> bool:
    """Whether a value is made of what `x` is made of too, and of nothing else: what lies before `x`
    does not depend on it. (The other columns of the points of which `x` is one.)
    """
    roots = _roots(x)
    return bool(roots) and _roots(value) == roots and not same(value, x)


def _roots(value: Value) -> frozenset[Site]:
    """The op that made the array of which a value is a part; none where it is no part."""
    origin = behind(value)
    if not isinstance(origin, Site) or origin.op.name not in SLICES:
        return frozenset()
    whole = behind(origin.value(origin.op.passes))
    return frozenset((whole,)) if isinstance(whole, Site) else frozenset()


def _of_site(site: Site, inner: Callable[[Value], Pieces | None], depth: int) -> Pieces | None:
    if site.library == "layer":
        return _of_layer(site, inner, depth)
    name = site.op.name
    operands = _elements(site.value(param) for param in site.args if param not in SETTINGS)
    if name in VARIABLES or is_random(name) or name in MADE_OF_SHAPES:
        return CONSTANT
    if site.op.passes:
        return inner(site.value(site.op.passes))
    if name in LINEAR_FUNCTIONS:
        return _activated(site, inner(site.value(site.op.main)))
    if name in LINEAR_SUMS:
        return _joined(map(inner, operands))
    if name in BENDS:
        return _bent(site, _joined(map(inner, operands)))
    if name in LINEAR_TIMES_CONSTANT:
        return _product([inner(operand) for operand in operands])
    if name == "tf.divide":
        divisor = inner(site.value("y"))
        return inner(site.value("x")) if divisor == CONSTANT else None
    return None


def _of_layer(site: Site, inner: Callable[[Value], Pieces | None], depth: int) -> Pieces | None:
    construction = getattr(site.value("layer").obj, "site", None)
    if not isinstance(construction, Site):
        return None
    incoming = _joined(map(inner, _elements([site.value("input")])))
    name = construction.op.name
    if name == FUNCTIONAL_MODEL:
        return _of_model(construction, incoming, depth)
    if name in BENDING_LAYERS:
        return _bent(construction, incoming)
    if name not in LINEAR_LAYERS and name != _ACTIVATION:
        return None
    return _activated(construction, incoming)


def _of_model(model: Site, incoming: Pieces | None, depth: int) -> Pieces | None:
    """The output of a functional model as it depends on its input, applied to `incoming`."""
    if incoming is None or not (model.given("inputs") and model.given("outputs")):
        return None
    through = pieces(model.value("outputs"), model.value("inputs"), depth - 1)
    if through is None or not through.depends:
        return through
    return Pieces(incoming.depends, (*incoming.bends, *through.bends) if incoming.depends else ())


def _activated(site: Site, incoming: Pieces | None) -> Pieces | None:
    """What is `incoming`, behind the activation of a layer; None where that may be curved."""
    if not site.given("activation"):
        return incoming if site.complete and site.op.name != _ACTIVATION else None
    activation = site.value("activation")
    if activation.kind == "none" or activation.const == "linear":
        return incoming
    name = getattr(activation.obj, "name", activation.const)
    is_bend = name in BEND_NAMES or name in BENDS or name in BENDING_LAYERS
    return _bent(site, incoming) if is_bend else None


def _bent(site: Site, incoming: Pieces | None) -> Pieces | None:
    if incoming is None or not incoming.depends:
        return incoming
    return Pieces(True, (*incoming.bends, site))


def _joined(parts: Iterable[Pieces | None]) -> Pieces | None:
    """A sum of parts."""
    depends = False
    bends: list[Site] = []
    for part in parts:
        if part is None:
            return None
        depends = depends or part.depends
        bends += part.bends
    return Pieces(depends, tuple(bends))


def _product(factors: list[Pieces | None]) -> Pieces | None:
    """A product, in which at most one factor may depend on the input."""
    whole = _joined(factors)
    is_linear = whole is not None and sum(one.depends for one in factors if one is not None) <= 1
    return whole if is_linear else None


def _elements(values: Iterable[Value]) -> list[Value]:
    """Values, those of lists and tuples one by one."""
    return [
        inner
        for value in values
        for inner in (value.obj if isinstance(value.obj, tuple) else (value,))
        if isinstance(inner, Value)
    ]
