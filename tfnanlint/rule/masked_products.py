"""Repairs of a product with a mask: the product as one function, or the mask on the input."""

from __future__ import annotations

from typing import Final

from tfnanlint.diagnostics.findings import Claim, Fix
from tfnanlint.guards.post_guards import Masked
from tfnanlint.ops.domains import filler
from tfnanlint.ops.site import Site
from tfnanlint.rewrite.availability import Named, argument
from tfnanlint.rule import recipes as repairs
from tfnanlint.rule.input_masks import written_again
from tfnanlint.rule.registry import Changed, Context

# The function that is the product of a factor and a logarithm, and 0 where the factor is 0.
PRODUCTS: Final = {"tf.math.log": "tf.math.xlogy", "tf.math.log1p": "tf.math.xlog1py"}


def xlogy(here: Context, times: Site, factor: str, log: Site, negated: bool = False) -> list[Fix]:
    """A product of the factor at a parameter and a logarithm as one function."""
    product, sign = PRODUCTS.get(log.op.name, ""), "-" if negated else ""
    if not product or factor not in times.args:
        return []
    return here.rewrite(
        times,
        f"{sign}{PRODUCTS[log.op.name]}({{m}}, {{x}})",
        claim=Claim.EQUAL_WHERE_FINITE,
        title=f"use {product.rpartition('.')[2]}, which is 0 where the factor is 0",
        m=times.args[factor],
        x=argument(log, "x"),
    )


def masked_input(here: Context, masked: Masked) -> list[Fix]:
    """The input where the mask's condition holds, something harmless elsewhere."""
    site, test = masked.site, masked.test
    x = site.args.get(masked.param)
    if x is None or not masked.direct or test.node is None:
        return []
    if not repairs.short(here, test.node, test.point) or not here.steady(
        test.node, test.point, site.point
    ):
        return []
    again = [] if here.repeatable(x) else written_again(x, test.node)
    hole = x if here.repeatable(x) else Named("inner", "{x}", {"x": x})
    return here.rewrite(
        site,
        f"tf.where({{test}}, {{x}}, {filler(site, masked.param)})",
        node=x,
        title="mask the input",
        claim=Claim.EQUAL_WHERE_FINITE,
        x=hole,
        # what is tested and computed from is named once for both
        test=Changed(test.node, [(node, "{x}", {"x": hole}) for node in again])
        if again
        else here.text(test.node),
    )
