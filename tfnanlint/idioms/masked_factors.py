"""Factors that are 0: whether the factor of a logarithm is 0 where that is -inf, and whether one
mask leaves whole vectors 0.
"""

from __future__ import annotations

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms.quantities import factors
from tfnanlint.idioms.vanishing import counted, falling, picked
from tfnanlint.ops.site import Site, made_by, operands, same
from tfnanlint.ops.traits import ADDITIONS, FED_TO_LOSSES
from tfnanlint.values.value import Value


def is_entropy_term(log: Site, factor: Value) -> bool:
    """Whether a product is `p * log(p)` of a p from 0 to 1: where p is 0, which a softmax comes to,
    the value itself is NaN, whether a gradient is taken or not.
    """
    p = log.value("x")
    return p.lo == 0 and p.hi <= 1 and same(plain(factor), plain(p))


def may_vanish_with(log: Site, factor: Value, masks: bool = False) -> bool:
    """Whether a factor may be 0 where a logarithm is infinite: what the logarithm is taken of,
    something that comes to 0 by itself, or (`masks`) what is known to mask the logarithm.
    """
    x = log.value("x")
    if picked(x) or falling(x):
        return False
    return masks or same(plain(factor), plain(x)) or _comes_to_zero(factor)


def is_masked_as_a_whole(vector: Value) -> bool:
    """Whether a mask multiplies all elements of a vector, so that some vectors are 0: both sides of
    `mask * target - mask * output`.
    """
    apart = made_by(plain(vector), *ADDITIONS)
    if apart is None:
        return False
    left, right = [factors(part) for part in operands(apart)]
    return any(
        [_is_mask(one) and any([same(plain(one), plain(two)) for two in right]) for one in left]
    )


def _is_mask(factor: Value) -> bool:
    """Whether a factor is a truth value that was cast, or what the program is fed."""
    origin = plain(factor).origin
    is_fed = isinstance(origin, Site) and origin.op.name in FED_TO_LOSSES
    return plain(factor).dtype == "bool" or is_fed


def _comes_to_zero(factor: Value) -> bool:
    """Whether a factor is known to come to 0, and is no number, no count and no value of which only
    the shape of an op leaves 0 open.
    """
    if factor.kind == "number" or factor.evident or not (factor.known and factor.zero):
        return False
    return not (counted(factor) or falling(factor))
