"""A softmax that is written out: `exp(x) / sum(exp(x))`, with a mask, an epsilon or an axis that is
put in behind the sum.
"""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.idioms.exponents import exponential_of
from tfnanlint.ops.provenance import widest
from tfnanlint.ops.site import Site, both_orders, made_by, same
from tfnanlint.ops.traits import AXIS_INSERTIONS, FLOORS
from tfnanlint.values.value import NO_CONSTANT, Value

_LARGEST_EPSILON: Final = 0.01


def numerator(value: Value) -> tuple[Site | None, bool]:
    """(the exponential that makes a value, whether it is multiplied with something that is no
    number: a mask).
    """
    exp = exponential_of(value)
    times = made_by(value, "tf.multiply") if exp is None else None
    for part, mask in both_orders(times):
        inner = exponential_of(widest(part))
        if inner is not None and mask.kind in ("tensor", "unknown"):
            return inner, True
    return exp, False


def denominator(quotient: Site) -> tuple[Site | None, bool, int | None]:
    """(the sum that is divided by, whether an epsilon is added to it, the axis that is put in
    behind the sum).
    """
    site, axis = quotient.value("y").origin, None
    # Keras code casts it to floatx
    while isinstance(site, Site) and (site.op.name == "tf.cast" or site.op.name in AXIS_INSERTIONS):
        if site.op.name != "tf.cast":
            axis = _axis_put_in(site)
            if axis is None:
                return None, False, None
        site = site.value(site.op.main).origin
    if not isinstance(site, Site):
        return None, False, None
    if site.op.name == "tf.reduce_sum":
        return site, False, axis
    total = _guarded_sum(site)
    return (None, False, None) if total is None else (total, True, axis)


def written(quotient: Site) -> tuple[Site, int] | None:
    """The exponential and the axis of `exp(x) / sum(exp(x))`; None where a quotient is none, or
    more than that.
    """
    total, _, put_in = denominator(quotient)
    exp, masked = numerator(widest(quotient.value("x")))
    if total is None or exp is None or masked or not is_along_one_axis(total, put_in):
        return None
    axis = total.const("axis", None)
    return (
        (exp, axis) if type(axis) is int and same(total.value("x"), quotient.value("x")) else None
    )


def _guarded_sum(site: Site) -> Site | None:
    """The sum that a small number is added to, or that is kept at or above one."""
    if site.op.name not in FLOORS:
        return None
    for part, eps in both_orders(site):
        total = part.origin
        is_small = eps.exact and 0 < eps.lo < _LARGEST_EPSILON
        if is_small and isinstance(total, Site) and total.op.name == "tf.reduce_sum":
            return total
    return None


def _axis_put_in(site: Site) -> int | None:
    """The axis of length 1 that `tf.expand_dims(s, axis)`, `s[:, None]` or `s[..., tf.newaxis]`
    puts in, if that is all they do.
    """
    if site.given("axis"):
        axis = site.const("axis")
        return axis if type(axis) is int else None
    index = getattr(site.node, "slice", None)
    if index is None:
        return None
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    written = [ast.unparse(part).rpartition(".")[2] or "..." for part in parts]
    new = [at for at, part in enumerate(written) if part in ("None", "newaxis")]
    if len(new) != 1 or not set(written) <= {":", "...", written[new[0]]}:
        return None
    return new[0] - len(parts) if "..." in written[: new[0]] else new[0]


def is_along_one_axis(total: Site, put_in: int | None) -> bool:
    """Whether dividing by the sum divides every element by the sum along one axis."""
    axis = total.const("axis", None)
    if not total.complete or total.library == "method" or type(axis) is not int:
        return False
    kept = total.const("keepdims", NO_CONSTANT) is True
    return (axis == 0 or kept) if put_in is None else put_in == axis and not kept
