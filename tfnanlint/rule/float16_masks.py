"""Repairs of masks that are added as a large number: `x + (1.0 - mask) * -1e9` in float16."""

from __future__ import annotations

import ast

from tfnanlint.diagnostics.findings import Claim, Fix
from tfnanlint.ops.site import Site
from tfnanlint.rule.registry import Context


def fixes_of(here: Context, product: Site, constant: str, mask: str) -> list[Fix]:
    """The fix of a product of a mask and a number that float16 does not have. `x + (1.0 - mask) *
    -1e9` becomes a choice; where that sum is not in sight, the number becomes one that float16 has.
    The two strings are names of parameters of the product.
    """
    total = _sum_around(here, product)
    kept = _mask_subtracted_from_one(product, mask)
    if total is not None and kept is not None and here.broadcasts(product):
        scores = next(total.args[p] for p in ("x", "y") if total.args[p] is not product.node)
        if product.value(constant).lo < 0 and here.repeatable(scores):
            return here.rewrite(
                total,
                "tf.where(tf.cast({mask}, tf.bool), {x}, {low})",
                x=scores,
                mask=kept,
                low=f"{here.text(scores)}.dtype.min",
                title="select with the mask instead of adding",
                claim=Claim.SHIFTED,
                cost="masked entries become the lowest number of the dtype",
            )
    node = product.args.get(constant)
    if node is None:
        return []
    largest = "-6e4" if product.value(constant).lo < 0 else "6e4"
    return here.rewrite(
        product,
        largest,
        node=node,
        title=f"use {largest}, which float16 can represent",
        claim=Claim.SHIFTED,
        cost="masked entries change by 60000 instead",
    )


def _sum_around(here: Context, product: Site) -> Site | None:
    """The sum that a product is written in."""
    outer = next(iter(here.around(product.node)), None)
    if not isinstance(outer, ast.BinOp) or not isinstance(outer.op, ast.Add):
        return None
    return here.site(outer, product.point)


def _mask_subtracted_from_one(product: Site, param: str) -> ast.expr | None:
    """The `mask` of `1.0 - mask`, where that is written in a product as the argument `param`."""
    difference = product.value(param).origin
    if not isinstance(difference, Site) or difference.op.name != "tf.subtract":
        return None
    is_written_here = difference.node is product.args.get(param)
    minuend = difference.value("x")
    is_complement = minuend.exact and minuend.const in (1, 1.0)
    return difference.args["y"] if is_written_here and is_complement else None
