"""Domains: where an op and its derivative are finite, and whether what arrives at a site surely
lies there.

The domains of values are those that the rows of the table name (`needs`); those of derivatives are
narrower for roots and exponentials.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Iterator, NamedTuple

from tfnanlint.ops.site import Site
from tfnanlint.ops.table import load
from tfnanlint.ops.traits import SQUARE_ROOTS
from tfnanlint.values.value import FLOATS, INF, NO_CONSTANT, Value


class Domain(NamedTuple):
    """Numbers between `lo` and `hi`, the ends excluded if `open`, 0 excluded if `punctured`;
    `outside` in words.
    """

    lo: float
    hi: float
    outside: str
    open: bool = True
    punctured: bool = False

    def holds(self, value: Value) -> bool:
        """Whether every element surely lies inside (NaN left aside)."""
        if self.punctured:
            return value.nonzero or value.guarded
        if value.guarded and self.lo == 0 and self.hi == INF:
            return True
        return self._above(value) and self._below(value)

    def _above(self, value: Value) -> bool:
        if self.lo == 0 and value.lo == 0:
            return not self.open or not value.zero
        return value.lo > self.lo or self.lo == -INF or (not self.open and value.lo == self.lo)

    def _below(self, value: Value) -> bool:
        return value.hi < self.hi or self.hi == INF or (not self.open and value.hi == self.hi)

    def fails(self, value: Value) -> bool:
        """Whether every element surely lies outside."""
        if self.punctured:
            return value.lo == value.hi == 0
        return (
            value.hi < self.lo
            or value.lo > self.hi
            or self.open
            and self.lo in (value.hi,)
            and value.hi > -INF
        )

    def clear(self, value: Value) -> bool:
        """Whether something is known of a value that admits a number outside."""
        return value.known and not self.holds(value)


_NAMED = {
    "positive": Domain(0.0, INF, "0 or below"),
    "nonnegative": Domain(0.0, INF, "below 0", open=False),
    "nonzero": Domain(-INF, INF, "0", punctured=True),
    "above -1": Domain(-1.0, INF, "-1 or below"),
    "above 1": Domain(1.0, INF, "1 or below"),
    "inside (-1, 1)": Domain(-1.0, 1.0, "-1 or 1, or beyond"),
    "inside (0, 1)": Domain(0.0, 1.0, "0 or 1, or beyond"),
    "inside (0, 2)": Domain(0.0, 2.0, "0 or 2, or beyond"),
}
_EXPONENTIALS = {"tf.exp": 1.0, "tf.math.expm1": 1.0, "ops.exp2": 1.0 / math.log(2.0)}
# Something inside the domain, as an expression of {x}, for the elements that do not count.
_FILLERS = {
    "nonnegative": "tf.ones_like({x})",
    "positive": "tf.ones_like({x})",
    "nonzero": "tf.ones_like({x})",
    "above -1": "tf.zeros_like({x})",
    "above 1": "2.0 * tf.ones_like({x})",
    "inside (-1, 1)": "tf.zeros_like({x})",
    "inside (0, 1)": "0.5 * tf.ones_like({x})",
    "inside (0, 2)": "tf.ones_like({x})",
}


def domain(site: Site, param: str) -> Domain | None:
    """Where a parameter must lie for the op's value and derivative to be finite; None when it may
    be anything.
    """
    name = site.op.name
    if name == "tf.pow":
        return _of_power(site, param)
    if name in SQUARE_ROOTS and param == site.op.main:
        return _NAMED["positive"]
    if name in _EXPONENTIALS and param == site.op.main:
        largest = FLOATS.get(site.value(param).dtype or "float32", FLOATS["float32"]).max
        return Domain(
            -INF, math.log(largest) * _EXPONENTIALS[name], "so large that the result overflows"
        )
    return _NAMED.get(site.op.needs.get(param, ""))


def _of_power(site: Site, param: str) -> Domain | None:
    """The base of a power with a constant exponent."""
    exponent = site.const("y", NO_CONSTANT)
    if param != "x" or not isinstance(exponent, (int, float)) or isinstance(exponent, bool):
        return None
    if float(exponent).is_integer():
        return _NAMED["nonzero"] if exponent <= 0 else None
    return _NAMED["positive" if exponent < 1 else "nonnegative"]


def domains(site: Site) -> Iterator[tuple[str, Domain]]:
    """The parameters of a site that must lie somewhere, each with its domain."""
    params = dict.fromkeys([site.op.main, *site.op.needs])
    for param in params:
        allowed = domain(site, param) if site.given(param) else None
        if allowed is not None:
            yield param, allowed


@cache
def with_domains() -> frozenset[str]:
    """The ops of which some parameter must lie somewhere."""
    return frozenset(
        [
            name
            for name, op in load().items()
            if not _NAMED.keys().isdisjoint(op.needs.values())
            or name == "tf.pow"
            or name in SQUARE_ROOTS
            or name in _EXPONENTIALS
        ]
    )


def filler(site: Site, param: str) -> str:
    """A template for something inside the domain of a parameter, made from `{x}`."""
    if site.op.name in _EXPONENTIALS:
        return "tf.zeros_like({x})"
    return _FILLERS.get(site.op.needs.get(param, ""), "tf.ones_like({x})")
