"""Derivatives that multiply: roots and logarithms in a row, each with a finite derivative, whose
product is beyond the largest float16 number.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.provenance import site_behind
from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import RISING
from tfnanlint.values.value import FLOATS, Value

_MAX_STEPS: Final = 24


def steep_before(site: Site) -> Site | None:
    """The first op of a chain of float16 ops that ends at a site and in which the derivatives
    multiply beyond 65504; None where there is none, or one of them alone is not bounded.
    """
    if site.op.derivative is None or site.value("x").dtype != "float16":
        return None
    own = _derivative(site)
    if not own:
        return None
    product, first = _Chains().behind(site.value("x"))
    return first if own * product > FLOATS["float16"].max else None


def _derivative(site: Site) -> float:
    """The largest derivative of an op on what reaches it; 0 where that is not bounded."""
    factor, exponent = site.op.derivative or (0.0, 0.0)
    least = site.value("x").lo
    return factor * least**exponent if least > 0 else 0.0


def _is_plain_magnitude(site: Site) -> bool:
    """Whether an op is the magnitude of what is not negative."""
    return site.op.name == "tf.abs" and site.value("x").lo >= 0


class _Chains:
    """The steepest chains on the ways back from values, each looked for once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[float, Site | None]] = {}

    def behind(self, value: Value, steps: int = _MAX_STEPS) -> tuple[float, Site | None]:
        """The largest product of derivatives on a way back from a value, and the op where that way
        begins; None where no op on it has a derivative of interest.
        """
        site = site_behind(value)
        if site is None or not steps or value.dtype != "float16":
            return 1.0, None
        if id(site) not in self._known:
            self._known[id(site)] = self._through(site, steps)
        return self._known[id(site)]

    def _through(self, site: Site, steps: int) -> tuple[float, Site | None]:
        if site.op.derivative is not None:
            own = _derivative(site)
            if not own:
                return 1.0, None
            product, first = self.behind(site.value("x"), steps - 1)
            return product * max(own, 1.0), first or site
        params = [site.op.passes] if site.op.passes else []
        # the derivatives before and after it are largest on the same input
        if site.op.name in RISING or _is_plain_magnitude(site):
            params = [param for param in site.args if param in ("x", "y", "features")]
        ways = [self.behind(site.value(param), steps - 1) for param in params]
        return max(ways, key=lambda way: way[0], default=(1.0, None))
