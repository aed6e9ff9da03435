"""What the output of a layer or model ends with."""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.site import Site
from tfnanlint.values.value import Value

_DEPTH: Final = 4  # of models in models


def ending(value: Value, depth: int = _DEPTH) -> Site | None:
    """The op application that a layer's output ends with: softmax for what Dense(10,
    activation="softmax") gives.

    None when `value` does not come from a layer, or from one without activation.
    """
    origin = value.origin
    if not isinstance(origin, Site):
        return None
    layer = origin.value("layer").obj if origin.given("layer") else None
    out = getattr(layer, "out", None)
    if out is not None:
        result = out(origin.value("input"), layer.site)
    elif origin.given("x") and not {"activation", "activation_fn"}.isdisjoint(origin.op.params):
        result = origin.op.gives(origin)
    else:
        return None
    inner = result.origin
    if depth and isinstance(inner, Site) and inner.library == "layer":
        return ending(result, depth - 1)  # the last layer of a model
    return inner if isinstance(inner, Site) and inner is not origin else None
