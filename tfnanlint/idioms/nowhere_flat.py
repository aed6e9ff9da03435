"""Networks that are nowhere flat: their gradient by the input is hardly ever 0 in every element.

Dense(1)(LeakyReLU()(Dense(64)(x)))        nowhere flat
Dense(1)(Dense(64, activation="relu")(x))  flat where all units are off
Dense(1, activation="sigmoid")(x)          flat where the sigmoid is exactly 0 or 1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from tfnanlint.idioms.derivatives import TAKERS
from tfnanlint.idioms.layer_outputs import gives_zeros_at_first
from tfnanlint.idioms.loss_pairs import unfolded
from tfnanlint.ops.frameworks import (
    FUNCTIONAL_MODEL,
    NOWHERE_FLAT_FUNCTIONS,
    NOWHERE_FLAT_LAYERS,
    SLOPED_ACTIVATIONS,
)
from tfnanlint.ops.site import Site, same
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import (
    LAMBDAS,
    MADE_OF_SHAPES,
    NOWHERE_FLAT,
    PLACEHOLDERS,
    VARIABLES,
    is_random,
)
from tfnanlint.values.value import Note, Value

_DEPTH: Final = 60
_SLOPES: Final = ("alpha", "negative_slope")
ACTIVATIONS: Final = ("activation", "activation_fn")


def is_nowhere_flat(gradient: Site) -> bool:
    """Whether what a site differentiates is known all the way to one of the sources, and no part of
    it is flat.
    """
    target, sources = (gradient.value(param) for param in TAKERS[gradient.op.name])
    inputs = elements([sources])
    return _all([_rises(part, inputs, _DEPTH) for part in elements([target])]) is True


def _all(ways: Iterable[bool | None]) -> bool | None:
    """Of several ways: None where one is flat or not known, else whether one depends on the
    input.
    """
    ways = list(ways)
    return None if None in ways else any(ways)


def _rises(value: Value, inputs: list[Value], depth: int) -> bool | None:
    """Whether a value depends on inputs and is nowhere flat; None where it may be flat, or that is
    not known.
    """
    if any([same(value, one) for one in inputs]):
        return True
    if not depth:
        return None
    if value.is_number or value.exact:
        return False
    note = unfolded(value).origin
    if isinstance(note, Note):
        return _of_note(note, inputs, depth)
    if not isinstance(note, Site):
        return None
    return _of_site(note, lambda inner: _rises(inner, inputs, depth - 1), depth)


def _of_note(note: Note, inputs: list[Value], depth: int) -> bool | None:
    if note.options:
        return _all([_rises(option, inputs, depth - 1) for option in note.options])
    if note.computed or note.index is not None:
        return None
    if isinstance(note.parent, (Note, Site)):
        return _rises(Value(origin=note.parent), inputs, depth - 1)
    return False if note.given else None


def _of_site(site: Site, inner: Callable[[Value], bool | None], depth: int) -> bool | None:
    name = site.op.name
    if name in LAMBDAS:
        return inner(site.values["computed"]) if "computed" in site.values else None
    if site.library == "layer":
        return _of_layer(site.value("layer"), elements([site.value("input")]), inner, depth)
    if name in VARIABLES or name in MADE_OF_SHAPES or is_random(name) or name in PLACEHOLDERS:
        return False
    if site.op.passes:
        return inner(site.value(site.op.passes))
    operands = elements(site.value(param) for param in site.args if param not in SETTINGS)
    if name in NOWHERE_FLAT:
        return _all([inner(operand) for operand in operands])
    if name in NOWHERE_FLAT_FUNCTIONS and has_sloped_activation(site):
        return inner(site.value(site.op.main))
    return None


def _of_layer(
    layer: Value, operands: list[Value], inner: Callable[[Value], bool | None], depth: int
) -> bool | None:
    return _all([inner(one) for one in operands]) if _is_sloped(layer, depth) else None


def _is_sloped(layer: Value, depth: int) -> bool:
    """Whether a layer or model is nowhere flat in its input."""
    stacked = getattr(layer.obj, "layers", None)
    if stacked is not None:
        is_complete = getattr(layer.obj, "complete", False) and bool(stacked)
        return is_complete and all([_is_sloped(one, depth - 1) for one in stacked])
    construction = getattr(layer.obj, "site", None)
    if not isinstance(construction, Site):
        return False
    if construction.op.name == FUNCTIONAL_MODEL:
        return _is_sloped_model(construction, depth)
    if construction.op.name not in NOWHERE_FLAT_LAYERS or gives_zeros_at_first(construction):
        return False
    return has_sloped_activation(construction)


def _is_sloped_model(model: Site, depth: int) -> bool:
    if depth <= 0 or not (model.given("inputs") and model.given("outputs")):
        return False
    inputs = elements([model.value("inputs")])
    outputs = elements([model.value("outputs")])
    return _all([_rises(output, inputs, depth - 1) for output in outputs]) is True


def has_no_slope(construction: Site) -> bool:
    """Whether a leaky layer leaks nothing, `LeakyReLU(0.0)`."""
    return any([construction.const(slope, 1) in (0, 0.0) for slope in _SLOPES])


def has_sloped_activation(construction: Site) -> bool:
    """Whether the activation of a layer, if it has one, is nowhere flat."""
    if has_no_slope(construction):
        return False
    names = [name for name in ACTIVATIONS if name in construction.params]
    if construction.hidden and not any(map(construction.given, names)):
        return False  # the activation may be among what is handed on as `**options`
    for name in names:
        if construction.given(name) and not _is_sloped_activation(construction.value(name)):
            return False
    return True


def _is_sloped_activation(activation: Value) -> bool:
    if activation.kind == "none":
        return True
    name = getattr(activation.obj, "name", activation.const)
    is_named = isinstance(name, str)
    return is_named and name.rpartition(".")[2].lower().replace("_", "") in SLOPED_ACTIVATIONS


def elements(values: Iterable[Value]) -> list[Value]:
    """Values, those of lists and tuples one by one."""
    return [
        inner
        for value in values
        for inner in (value.obj if isinstance(value.obj, tuple) else (value,))
        if isinstance(inner, Value)
    ]
