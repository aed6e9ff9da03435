"""Derivatives that multiply: roots and logarithms in a row, each with a finite derivative, whose
product is beyond the largest float16 number.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.provenance import site_behind
from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import ADDITIONS, CLIPS, NEGATIONS
from tfnanlint.values.value import FLOATS, Value

# The derivative of an op at x as (factor, exponent): that of sqrt is 0.5 * x ** -0.5.
_DERIVATIVES: Final = {
    "tf.sqrt": (0.5, -0.5),
    "K.sqrt": (0.5, -0.5),
    "tf.math.rsqrt": (0.5, -1.5),
    "tf.math.log": (1.0, -1.0),
    "tf.math.reciprocal": (1.0, -2.0),
}
STEEP_OPS: Final = frozenset(_DERIVATIVES)
# What hands a gradient on as it is, or cuts it off.
_STRAIGHT: Final = frozenset((*ADDITIONS, *CLIPS, *NEGATIONS, "tf.abs", "tf.nn.relu"))
_MAX_STEPS: Final = 24


def steep_before(site: Site) -> Site | None:
    """The first op of a chain of float16 ops that ends at a site and in which the derivatives
    multiply beyond 65504; None where there is none, or one of them alone is not bounded.
    """
    if site.op.name not in STEEP_OPS or site.value("x").dtype != "float16":
        return None
    own = _derivative(site)
    if not own:
        return None
    product, first = _steepest(site.value("x"), own, site, _MAX_STEPS)
    return first if first is not site and product > FLOATS["float16"].max else None


def _derivative(site: Site) -> float:
    """The largest derivative of an op on what reaches it; 0 where that is not bounded."""
    factor, exponent = _DERIVATIVES[site.op.name]
    least = site.value("x").lo
    return factor * least**exponent if least > 0 else 0.0


def _steepest(value: Value, product: float, first: Site, steps: int) -> tuple[float, Site]:
    """The largest product of derivatives on the ways back from a value, and where it begins."""
    site = site_behind(value)
    if site is None or not steps or value.dtype != "float16":
        return product, first
    if site.op.name in STEEP_OPS:
        own = _derivative(site)
        return (
            _steepest(site.value("x"), product * max(own, 1.0), site, steps - 1)
            if own
            else (product, first)
        )
    params = [site.op.passes] if site.op.passes else []
    if site.op.name in _STRAIGHT:
        params = [param for param in site.args if param in ("x", "y", "features")]
    ways = [_steepest(site.value(param), product, first, steps - 1) for param in params]
    return max(ways, key=lambda way: way[0], default=(product, first))
