"""What a sum or the largest of a product with one_hot is: one element of the other factor, or 0
where the index is out of range.
"""

from __future__ import annotations

from tfnanlint.ops.relations.counts import axis_of
from tfnanlint.ops.site import Site, both_orders, made_by
from tfnanlint.ops.traits import CASTS, ONE_HOTS
from tfnanlint.values.value import NO_CONSTANT, Value


def chosen(reduction: Site, aligned: bool = True) -> tuple[Value, Site] | None:
    """Of what a reduction picks one element, and the one_hot that says which."""
    product = made_by(reduction.value("x"), "tf.multiply", aligned=aligned)
    for part, factor in both_orders(product):
        mask = made_by(part, *ONE_HOTS, *CASTS, aligned=aligned)
        if mask is not None and mask.op.name in CASTS:
            mask = made_by(mask.value("x"), *ONE_HOTS, aligned=aligned)
        if (
            mask is not None
            and not mask.given("on_value")
            and not mask.given("off_value")
            and mask.name != "ops.multi_hot"
        ):
            return factor, mask
    return None


def picked(total: Site, x: Value) -> Value | None:
    """The sum of a product with one_hot along its axis: one element, and zeros."""
    if x.inf or not x.known:
        return None
    choice = chosen(total)
    if choice is None:
        return None
    axes = axis_of(total), axis_of(choice[1], -1)
    if NO_CONSTANT in axes or axes[0] is None or axes[0] != axes[1]:
        return None
    return Value(min(x.lo, 0.0), max(x.hi, 0.0), True, nan=x.nan, dtype=x.dtype)
