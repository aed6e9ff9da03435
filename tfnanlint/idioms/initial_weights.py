"""Initial weights: what variables and layers begin with, all 0 or drawn so large that the signal
grows from layer to layer.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import INITIAL_VALUES, NORMAL_DRAWS, NORMAL_INITIALIZERS, ZEROS
from tfnanlint.values.value import Value

_WIDE: Final = 32  # inputs
_WIDE_LAYER: Final = 256  # units
_MOST: Final = 1e6  # what has more rows is a table


def _start(weights: Site) -> Site | None:
    """What makes the initial value of a variable."""
    origin = weights.value(INITIAL_VALUES[weights.op.name]).origin
    return origin if isinstance(origin, Site) else None


def is_zero(weights: object) -> bool:
    """Whether a variable begins with nothing but 0."""
    initial = (
        _start(weights) if isinstance(weights, Site) and weights.op.name in INITIAL_VALUES else None
    )
    return initial is not None and initial.op.name in ZEROS


def is_loud(weights: Site) -> bool:
    """Whether a variable with many inputs begins with normal numbers of deviation 1."""
    initial = _start(weights)
    if initial is None or initial.op.name not in NORMAL_DRAWS:
        return False
    deviation = initial.const("stddev", initial.const("scale", 1.0))
    shape = initial.value("shape").obj if initial.given("shape") else None
    rows = shape[0] if isinstance(shape, tuple) and len(shape) == 2 else None
    return deviation in (1, 1.0) and isinstance(rows, Value) and _WIDE <= rows.lo < _MOST


def is_drawn_loud(site: Site) -> bool:
    """Whether a wide layer that is trained begins with normal numbers of deviation 1 or more."""
    units = site.value("units" if "units" in site.op.params else "filters")
    initializer = getattr(site.value("kernel_initializer").obj, "site", None)
    if not units.is_number or units.lo < _WIDE_LAYER or not isinstance(initializer, Site):
        return False
    is_normal = initializer.op.name in NORMAL_INITIALIZERS
    deviation = initializer.value("stddev") if is_normal else Value(0.0, 0.0)
    is_trained = site.const("trainable", True) is not False
    return is_trained and deviation.is_number and 1 <= deviation.lo
