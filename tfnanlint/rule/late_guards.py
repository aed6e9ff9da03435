"""Repairs of a root that is guarded too late: the guard moved under it, or `l2_normalize`."""

from __future__ import annotations

import ast

from tfnanlint.diagnostics.findings import Claim, Fix
from tfnanlint.idioms.common_zeros import are_zero_together
from tfnanlint.idioms.late_guards import (
    LateGuard,
    guarded_root,
    is_small_constant,
)
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.traits import FLOORS, QUOTIENTS
from tfnanlint.rewrite.availability import argument
from tfnanlint.rule import recipes as repairs
from tfnanlint.rule.registry import Context
from tfnanlint.values.value import NO_CONSTANT


def repaired(here: Context, site: Site, guard: LateGuard) -> list[Fix]:
    """`l2_normalize` for a vector divided by its own norm, and what guards under the roots."""
    alone = guard.roots[0] if len(guard.roots) == 1 else None
    normalized = _normalized(here, site, alone) if alone is not None else []
    if site.op.name == "tf.math.divide_no_nan":
        if not are_zero_together(site.value("x"), guard.roots[0]):
            return normalized  # a floor would turn a quotient that is 0 into a huge one
    moved = _moved_inside(here, site, guard)
    if not moved and alone is not None:
        moved = repairs.own_epsilon(here, alone)
    return normalized + (moved or _floored(here, site, guard.roots))


def _floored(here: Context, site: Site, roots: list[Site]) -> list[Fix]:
    """A small number under each of the roots; nothing where one stands in another file."""
    own = [root for root in roots if root.point is not None and root.point.module is here.module]
    floored = [repairs.floored_root(here, root) for root in own]
    parts = [part for part in floored if part is not None]
    if len(parts) < len(roots):
        return []
    eps = repairs.root_epsilon(here, roots[0], roots[0].op.main)
    fixes = here.rewrite_all(
        site,
        parts,
        title=f"guard under the root with {eps}",
        claim=Claim.SHIFTED,
        cost=f"the root of 0 becomes {repairs.rooted(eps)}; other results change by less",
    )
    return repairs.brief(here, site, fixes, most=3) if len(parts) > 1 else fixes


def _moved_inside(here: Context, site: Site, guard: LateGuard) -> list[Fix]:
    """The number that stands beside a single root, squared, under it."""
    if not isinstance(guard.node, (ast.BinOp, ast.Call)):
        return []
    outer = here.site(guard.node, site.point)
    if outer is None or outer.op.name not in FLOORS or not outer.complete:
        return []
    param = next((param for param in ("x", "y") if _is_written_epsilon(outer, param)), None)
    if param is None:
        return []
    root, operand = guard.roots[0], outer.args.get("x" if param == "y" else "y")
    is_named = isinstance(operand, ast.Name) and (
        guarded_root(here.value(operand, outer.point)) is root
    )
    is_beside = root.source is here.source and (operand is root.node or is_named)
    return repairs.moved_inside(here, outer, root, param) if is_beside else []


def _is_written_epsilon(site: Site, param: str) -> bool:
    """Whether a small number is written for a parameter."""
    return isinstance(site.args.get(param), ast.Constant) and is_small_constant(site.value(param))


def _normalized(here: Context, site: Site, norm: Site) -> list[Fix]:
    """`l2_normalize` for a vector divided by its own norm."""
    x = norm.args.get("x")
    if site.op.name not in QUOTIENTS or norm.op.name != "tf.norm":
        return []
    if x is None or not norm.complete or here.precision(norm.value("x")).dtype == "float16":
        return []
    if norm.given("axis") and norm.const("keepdims", NO_CONSTANT) is not True:
        return []
    if norm.value("axis").kind == "sequence" or not here.same(site.value("x"), norm.value("x")):
        return []
    if not here.only_reader(site, norm):
        return []  # the norm needs a repair of its own, which is one of this quotient as well
    eps = _named_epsilon(site)
    return here.rewrite(
        site,
        "tf.math.l2_normalize({x}, axis={axis}, epsilon={eps})"
        if eps is None
        else "tf.math.l2_normalize({x}, axis={axis}, epsilon={eps} ** 2)",
        title="use l2_normalize",
        claim=Claim.SHIFTED,
        cost="vectors shorter than 1e-6 are scaled by 1e6 instead; others change by 2 units in the "
        "last place"
        if eps is None
        else repairs.COST_OF_ITS_EPSILON,
        x=site.args["x"],
        axis=argument(norm, "axis", "axis"),
        eps=eps,
    )


def _named_epsilon(quotient: Site) -> ast.expr | None:
    """The parameter of the function that is added to the divisor, of which the square is there in
    every float but float16; None for a number that is written there.
    """
    total = made_by(quotient.value("y"), "tf.add")
    if total is None or quotient.args.get("y") is not total.node:
        return None
    for param in ("x", "y"):
        node, value = total.args.get(param), total.value(param)
        if isinstance(node, ast.Name) and value.is_number and 1e-12 <= value.lo < 0.1:
            return node
    return None
