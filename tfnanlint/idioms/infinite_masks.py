"""Masks of -inf: `tf.where(mask, scores, -inf)`, a mask times -inf, and what is known to leave an
entry of a row open.
"""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms.vanishing import from_mask
from tfnanlint.interp.engine import Engine
from tfnanlint.ops.provenance import Walk, site_behind
from tfnanlint.ops.site import Site, both_orders, made_by, operands, same
from tfnanlint.ops.traits import ADDITIONS, CASTS, INCLUSIVE_ORDERS, MASKINGS, MASKS, OPEN_MASKS
from tfnanlint.program.module import Module
from tfnanlint.uses.uses import absorbed
from tfnanlint.values.value import INF, Value

_COMBINING: Final = (*MASKINGS, *ADDITIONS)
_OTHER_OPERAND: Final = (("x", "y"), ("y", "x"))
_MAX_MASKING: Final = 24  # values in which a mask is looked for
_MAX_CONDITION: Final = 60


def masking_of(value: Value) -> Site | None:
    """The `tf.where` that puts -inf into a value, or the product that makes it from a mask."""
    walk = Walk(value, limit=_MAX_MASKING)
    for part in walk:
        origin = part.origin
        if not isinstance(origin, Site):
            continue
        if origin.op.name == "tf.where" and infinite_branch(origin):
            return origin
        if origin.op.name == "tf.multiply" and origin.complete:
            if _is_mask_times_infinity(origin):
                return origin
        elif origin.op.name in ADDITIONS:
            walk.enter(origin, ("x", "y"))
        elif origin.op.passes and origin.library != "layer":
            walk.enter(origin, (origin.op.passes,))
    return None


def _is_mask_times_infinity(product: Site) -> bool:
    return any(
        is_infinite(infinity) and mask.zero and mask.kind != "number"
        for infinity, mask in both_orders(product)
    )


def infinite_branch(choice: Site) -> str:
    """The branch of a `tf.where` that is -inf, `"y"` before `"x"`; empty where none is."""
    return next(
        (param for param in ("y", "x") if choice.given(param) and _is_lowest(choice.value(param))),
        "",
    )


def _is_lowest(value: Value) -> bool:
    return value.lo == value.hi == -INF and not value.nan


def is_infinite(value: Value) -> bool:
    """Whether a value is inf or -inf and nothing else."""
    return value.lo == value.hi and value.lo in (INF, -INF) and not value.nan


def mask_times_infinity(product: Site) -> str:
    """The factor of `(1 - mask) * -inf` that is the mask; empty where none is."""
    for infinity, param in _OTHER_OPERAND:
        if not product.may_be_made_by(param, *MASKS, *CASTS):
            continue
        mask = product.value(param) if is_infinite(product.value(infinity)) else None
        if mask is None or not mask.zero or mask.kind in ("number", "array"):
            continue
        if from_mask(plain(mask)):
            return param
    return ""


def is_nan_taken_out(product: Site, outer: ast.AST | None, interpreter: Engine) -> bool:
    """Whether the call around a product, `outer`, removes its NaN: `nan_to_zero(-inf * (1 -
    mask))`. No gradient goes to a mask. False: it does not, or its function is not known.
    """
    if not isinstance(outer, ast.Call) or product.node not in outer.args or product.point is None:
        return False
    result = interpreter.ask(outer, product.point)
    return result.known and not result.nan


def is_always_open(choice: Site) -> bool:
    """Whether the mask of a `tf.where` is seen to leave an entry open in every row."""
    walk = Walk(choice.value("condition"), limit=_MAX_CONDITION)
    for part in walk:
        origin = site_behind(part)
        if origin is None:
            continue
        if origin.op.name in OPEN_MASKS or _compares_ranges(origin):
            return True
        walk.enter(origin, origin.args)
    return False


def _compares_ranges(site: Site) -> bool:
    """Whether a site is `tf.range(n)[:, None] >= tf.range(n)`."""
    return site.op.name in INCLUSIVE_ORDERS and all(_is_range(part) for part in operands(site))


def _is_range(value: Value, depth: int = 6) -> bool:
    origin = value.origin
    if not isinstance(origin, Site) or depth == 0:
        return False
    if origin.op.name == "tf.range":
        return True
    passes = origin.op.passes
    return bool(passes) and _is_range(origin.value(passes), depth - 1)


def is_chosen(x: Value) -> bool:
    """Whether a `tf.where` puts the -inf in, which lets no gradient back from there."""
    origin = x.origin
    while isinstance(origin, Site) and origin.op.passes and origin.op.name not in _COMBINING:
        origin = origin.value(origin.op.passes).origin
    return isinstance(origin, Site) and origin.op.name == "tf.where"


def is_absorbed(site: Site, x: Value) -> bool:
    """Whether the logsumexp of a masked row only goes into what is 0 at -inf:
    `softplus(logsumexp(positive) + logsumexp(negative))`.
    """
    return site.op.name == "tf.reduce_logsumexp" and is_chosen(x) and absorbed(site)


def is_replaced_later(site: Site, x: Value, module: Module, interpreter: Engine) -> bool:
    """Whether the NaN of masked rows is replaced later, where a `tf.where` that put -inf in stops
    the gradient, too.
    """
    masking = x.origin
    if not isinstance(masking, Site) or masking.op.name != "tf.where" or site.point is None:
        return False
    result = interpreter.ask(site.node, site.point)
    for call, point in module.calls_to("where", interpreter):
        patch = interpreter.site(call, point) if point.scope is site.point.scope else None
        if patch is not None and patch.op.name == "tf.where" and _replaces_nan(patch, result):
            return True
    return False


def _replaces_nan(patch: Site, result: Value) -> bool:
    """Whether a choice that asks for NaN keeps a value elsewhere."""
    if made_by(patch.value("condition"), "tf.math.is_nan") is None:
        return False
    return any(patch.given(p) and same(patch.value(p), result) for p in ("x", "y"))
