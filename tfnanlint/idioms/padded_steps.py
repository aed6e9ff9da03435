"""Averages over the steps of a sequence of which a layer below has masked the padding: Keras
divides by the number of the other steps, of which a sequence may have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tfnanlint.ops.frameworks import MASK_HANDING_LAYERS
from tfnanlint.ops.models.layers import Layer, Stack
from tfnanlint.ops.provenance import Walk
from tfnanlint.ops.site import Site
from tfnanlint.values.value import Value

_AVERAGES: Final = ("GlobalAveragePooling1D", "GlobalAvgPool1D")


def masked_averages(model: Value) -> Iterator[Site]:
    """The constructors of such averages in a Sequential model or a functional one."""
    if isinstance(model.obj, Stack):
        masked = False
        for layer in model.obj.layers:
            site = layer.obj.site if isinstance(layer.obj, Layer) else None
            if masked and site is not None and _word(site) in _AVERAGES:
                yield site
            masked = site is not None and (
                _masks(site) or masked and _word(site) in MASK_HANDING_LAYERS
            )
        return
    construction = getattr(model.obj, "site", None)
    if not isinstance(construction, Site) or not construction.given("outputs"):
        return
    walk = Walk(construction.value("outputs"))
    for value in walk:
        walk.add(value.obj if isinstance(value.obj, tuple) else ())
        origin = value.origin
        if not isinstance(origin, Site):
            continue
        average = _constructor(origin)
        if average is not None and _word(average) in _AVERAGES and _is_masked(origin):
            yield average
        walk.enter(origin, ["input"] if origin.library == "layer" else origin.args)


def _is_masked(call: Site) -> bool:
    """Whether the input of a layer's call carries a mask."""
    below: Site | None = call
    while below is not None:
        origin = below.value("input").origin
        below = origin if isinstance(origin, Site) else None
        layer = _constructor(below) if below is not None else None
        if layer is None or _masks(layer):
            return layer is not None
        if _word(layer) not in MASK_HANDING_LAYERS:
            return False
    return False


def _constructor(call: Site) -> Site | None:
    """The constructor of the layer that a site calls."""
    layer = call.value("layer").obj if call.library == "layer" else None
    return layer.site if isinstance(layer, Layer) else None


def _masks(layer: Site) -> bool:
    """Whether a layer's output carries a mask of its own."""
    return _word(layer) == "Masking" or layer.const("mask_zero", False) is True


def _word(layer: Site) -> str:
    return layer.name.rpartition(".")[2]
