"""Exponents: whether an exponential of them can overflow or underflow, and whether their maximum
was subtracted.
"""

from __future__ import annotations

import ast
import math
from typing import TypeGuard

from tfnanlint.conventions.identifiers import says_maximum
from tfnanlint.ops.families.reductions import without_nan
from tfnanlint.ops.provenance import widest
from tfnanlint.ops.site import Site, both_orders, made_by, operands, same
from tfnanlint.ops.traits import (
    CONSTANTS,
    FACTORS,
    GRIDS,
    NEGATIONS,
    OF_DISTANCES,
    OF_GRIDS,
    SCALINGS,
    SLICES,
    SUMS,
    TOTALS,
)
from tfnanlint.syntax.nodes import adds_axes, nodes_in
from tfnanlint.terms.build import term_of
from tfnanlint.terms.term import added
from tfnanlint.values.value import INF, Note, Value

_MOST_EPSILON = 0.01
MARGIN = 0.9  # of the exponents that fit: sums of some thousand exponentials fit too
_WHOLE_AXIS = ast.dump(ast.Slice())
_EPSILON = 1e-3  # more is no epsilon
_NEARLY_ONE = 1.001  # 1 with what is lost by rounding


def tame(x: Value) -> bool:
    """Whether exp(x) and sums of a row of them neither overflow nor underflow."""
    return math.log(x.limits.tiny) * MARGIN <= x.lo and sum_stays_finite(x)


def sum_stays_finite(x: Value) -> bool:
    """Whether exp(x) and sums of a row of them do not overflow."""
    return x.hi <= math.log(x.limits.max) * MARGIN


def shifted_by_maximum(x: Value, depth: int = 6) -> bool:
    """Whether exponents are differences to their maximum, scaled or not: no exponential overflows,
    one of them is 1.

    A difference to something unknown whose name says that it is a maximum counts as one.
    """
    site = without_nan(x).origin
    if not isinstance(site, Site) or depth == 0:
        return False
    if site.op.name == "tf.subtract":
        peak = made_by(
            site.value("y"), "tf.reduce_max", "tf.math.unsorted_segment_max", "tf.math.segment_max"
        )
        if peak is not None:
            return "segment" in peak.op.name or same(peak.value("x"), site.value("x"))
        return not site.value("y").known and _says_maximum(site.args.get("y"))
    param = "x" if site.op.name in SCALINGS else None
    if param is None:
        return False
    return any(shifted_by_maximum(site.value(p), depth - 1) for p in (param, "y") if site.given(p))


def on_a_grid(x: Value, depth: int = 10) -> bool:
    """Whether exponents are computed from a range of numbers (a Gaussian kernel): they are what
    they are, not data.
    """
    if x.kind in ("sequence", "array"):
        return not (x.known and x.lo == -INF and x.hi == INF)  # drawn at random
    site = x.origin
    if isinstance(site, Note) and site.index is not None:
        site = site.parent
    if not isinstance(site, Site) or depth == 0:
        return False
    if site.op.name in GRIDS:
        return True
    return any([on_a_grid(part, depth - 1) for part in _laid_out(site)])


def _laid_out(site: Site) -> list[Value]:
    """What lies on a grid where the result of an op does: an operand, or a part that is joined; not
    the numbers of a written list.
    """
    if site.given("values"):
        whole = site.value("values")
        return [*whole.obj] if isinstance(whole.obj, tuple) else [Value(origin=whole.origin)]
    params = [site.op.passes] if site.op.passes else ["x", "y"] if site.op.name in OF_GRIDS else []
    parts = [site.value(param) for param in params if site.given(param)]
    is_written = site.op.name in CONSTANTS and parts[0].known and parts[0].origin is None
    return [] if is_written else parts


def is_off_the_grid(x: Value, depth: int = 10) -> bool:
    """Whether exponents are computed of differences between a grid and something else of which
    nothing is known, such as the output of a network: all of them may be far from 0.
    """
    site = x.origin
    if not isinstance(site, Site) or depth == 0:
        return False
    if site.op.name == "tf.subtract" and any(
        on_a_grid(site.value(one)) and _is_free(site, beside)
        for one, beside in (("x", "y"), ("y", "x"))
    ):
        return True
    return any([is_off_the_grid(part, depth - 1) for part in _laid_out(site)])


def _is_free(site: Site, param: str) -> bool:
    """Whether a value without bounds is surely a tensor, such as `centre[:, None]`, and not
    computed from a grid.
    """
    value, node = site.value(param), site.args.get(param)
    is_tensor = value.kind == "tensor" or isinstance(node, ast.Subscript) and adds_axes(node.slice)
    return is_tensor and not value.known and not on_a_grid(value)


def of_itself(x: Value, depth: int = 8) -> bool:
    """Whether exponents are multiples of the distances between the points of one set, each of which
    is at distance 0 from itself: one of the exponentials in every row and column is 1.
    """
    site = x.origin
    if not isinstance(site, Site) or depth == 0:
        return False
    if site.op.name == "tf.subtract":
        minuend, subtrahend = _spread_out(site, "x"), _spread_out(site, "y")
        return (
            minuend is not None
            and subtrahend is not None
            and same(minuend, subtrahend)
            and ast.dump(site.args["x"]) != ast.dump(site.args["y"])
        )
    # another one than that of the features
    if site.op.name == "tf.reduce_sum" and site.const("axis", None) not in (-1, 2, 3):
        return False
    if site.op.name == "tf.multiply":
        return any([of_itself(part, depth - 1) for part in operands(site)])
    if site.op.name == "tf.pow" and not site.value("y").positive:
        return False
    return site.op.name in OF_DISTANCES and of_itself(site.value(site.op.main), depth - 1)


def compares_each_with_all(test: Site) -> bool:
    """Whether a test compares each row of a tensor with every row of it, `y[:, None] ==
    y[None, :]`: each is equal to itself, so that no row or column of the two first axes is without
    a hit.
    """
    rows = [_spread_out(test, param) for param in ("x", "y")]
    if rows[0] is None or rows[1] is None or not same(rows[0], rows[1]):
        return False
    return {_added_axis(test, param) for param in ("x", "y")} == {0, 1}


def _added_axis(site: Site, param: str) -> int | None:
    """Which of the two first axes is the new one of what arrives at a parameter; None where it is
    another one, or cannot be told.
    """
    node = site.args.get(param)
    if isinstance(node, ast.Call):
        expansion = made_by(site.value(param), "tf.expand_dims", aligned=True)
        axis = expansion.const("axis", None) if expansion is not None else None
        return axis if isinstance(axis, int) else None
    parts = node.slice.elts if _has_two_parts(node) else []
    kinds = [isinstance(part, ast.Constant) and part.value is None for part in parts]
    whole = [isinstance(part, ast.Slice) and ast.dump(part) == _WHOLE_AXIS for part in parts]
    return kinds.index(True) if sorted(kinds) == [False, True] and any(whole) else None


def _has_two_parts(node: ast.expr | None) -> TypeGuard[ast.Subscript]:
    """Whether an expression takes parts of its two first axes."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Tuple)
        and len(node.slice.elts) == 2
    )


def is_kernel_matrix(value: Value, depth: int = 3) -> bool:
    """Whether a matrix holds the exponentials of the distances of points to each other, perhaps
    times numbers of at least 0, with nothing added to its diagonal.
    """
    value = widest(value)
    scaled = both_orders(made_by(value, "tf.multiply") if depth else None)
    if any([scale.lo >= 0 and is_kernel_matrix(part, depth - 1) for scale, part in scaled]):
        return True
    kernel = exponential_of(value)
    return kernel is not None and kernel.value("x").hi <= 0 and of_itself(kernel.value("x"))


def _spread_out(site: Site, param: str) -> Value | None:
    """What is given new axes and nothing else where it arrives at a difference: `x[:, None]`,
    `tf.expand_dims(x, 1)`.
    """
    node = site.args.get(param)
    if (
        isinstance(node, ast.Subscript)
        and site.interpreter is not None
        and site.point is not None
        and adds_axes(node.slice)
    ):
        return site.interpreter.evaluate(node.value, site.point)
    expansion = (
        made_by(site.value(param), "tf.expand_dims", aligned=True)
        if isinstance(node, ast.Call)
        else None
    )
    return expansion.value("x") if expansion is not None else None


def opposite(a: Value, b: Value) -> bool:
    """Whether one of two values is the other with its sign changed."""
    return added([term_of(a), term_of(b)]).constant == 0


def tanh_by_hand(quotient: Site) -> Site | None:
    """The exp(x) of (exp(x) - exp(-x)) / (exp(x) + exp(-x)); None for any other quotient."""
    difference, total = _parts_of_tanh(quotient)
    if difference is None or total is None:
        return None
    rising, falling = difference.value("x"), difference.value("y")
    up, down = exponential_of(rising), exponential_of(falling)
    if up is None or down is None or not opposite(up.value("x"), down.value("x")):
        return None
    x, y = total.value("x"), total.value("y")
    straight = same(x, rising) and same(y, falling)
    return up if straight or same(y, rising) and same(x, falling) else None


def _parts_of_tanh(quotient: Site) -> tuple[Site | None, Site | None]:
    """The difference above and the sum below a quotient."""
    names = (("x", "tf.subtract"), ("y", "tf.add"))
    if not all(quotient.may_be_made_by(param, name) for param, name in names):
        return None, None
    return made_by(quotient.value("x"), "tf.subtract"), made_by(quotient.value("y"), "tf.add")


def exponential_beside_one(total: Value) -> Site | None:
    """The exponential that 1 is added to; None for any other value."""
    site = total.origin
    if not isinstance(site, Site) or site.op.name != "tf.add":
        return None
    for part, constant in both_orders(site):
        exp = exponential_of(part)
        if exp is not None and constant.exact and constant.lo == 1:
            return exp
    return None


def total_with_epsilon(value: Value) -> tuple[Site | None, ast.expr | None]:
    """The sum or mean that a value is, and the expression of an epsilon that is added to a sum."""
    site = value.origin
    if not isinstance(site, Site):
        return None, None
    if site.op.name in TOTALS:
        return site, None
    for param, eps_param in (("x", "y"), ("y", "x")) if site.op.name == "tf.add" else ():
        inner, eps = site.value(param).origin, site.value(eps_param)
        if not isinstance(inner, Site) or inner.op.name != "tf.reduce_sum":
            continue
        if eps.exact and 0 < eps.lo < _MOST_EPSILON:
            return inner, site.args.get(eps_param)
    return None, None


def added_exponentials(total: Value, depth: int = 6) -> list[Site]:
    """The exponentials of a sum that is written out, `exp(x) + exp(-x)`, each of them and the whole
    scaled by numbers or not, with positive numbers beside them or not; none where the sum holds
    anything else.
    """
    total = _unscaled(total)
    exp = exponential_of(total)
    if exp is not None or depth == 0:
        return [exp] if exp is not None else []
    add = made_by(total, "tf.add")
    exponentials: list[Site] = []
    for param in ("x", "y") if add is not None else ():
        summand = add.value(param)
        if summand.exact and summand.lo > 0:
            continue
        inside = added_exponentials(summand, depth - 1)
        if not inside:
            return []
        exponentials += inside
    return exponentials


def _unscaled(value: Value) -> Value:
    """A value without a positive number that it is multiplied or divided by."""
    scaled = made_by(value, *FACTORS)
    if scaled is None:
        return value
    pairs = (("x", "y"), ("y", "x")) if scaled.op.name == "tf.multiply" else (("y", "x"),)
    for number, inner in pairs:
        factor = scaled.value(number)
        if factor.exact and factor.lo > 0:
            return scaled.value(inner)
    return value


def cannot_overflow(x: Value) -> bool:
    """Whether the exponential of a value is finite."""
    return x.hi < math.log(x.limits.max) or x.kind == "number"


def exponential_of(value: Value) -> Site | None:
    """The site of tf.exp that made a value; NumPy's does not count."""
    site = value.origin
    return (
        site
        if isinstance(site, Site)
        and site.op.name == "tf.exp"
        and site.given("x")
        and site.library not in ("np", "math")
        else None
    )


def softplus_of(value: Value, constant: float) -> tuple[Site, float] | None:
    """The exponential to which a constant is added, in any order, and what is added to that: 1e-8
    in `1 + exp(x) + 1e-8`, where the constant is 1; None for more than an epsilon.
    """
    parts = _added(value)
    exponentials = [site for part in parts if (site := exponential_of(part)) is not None]
    constants = [part.lo for part in parts if part.exact]
    if len(exponentials) != 1 or len(constants) != len(parts) - 1:
        return None
    rest = math.fsum([*constants, -constant])
    return (exponentials[0], rest) if 0.0 <= rest <= _EPSILON else None


def _added(value: Value, depth: int = 4) -> list[Value]:
    """What a value is the sum of, without changes of shape or dtype in between."""
    total = value.origin
    if value.exact or not depth or not isinstance(total, Site) or total.op.name != "tf.add":
        return [value]
    return [part for param in ("x", "y") for part in _added(total.value(param), depth - 1)]


def weakness_of_exponential(value: Value) -> str:
    """The kind of evidence that an exponential, or a sum of such, is 0, as `kinds` names it:
    "bounded-sum" where a row of numbers between 0 and 1 would have to add up to more than 87; empty
    for others.
    """
    total = made_by(value, *TOTALS)
    value = value if total is None else total.value(total.op.main or "x")
    part = made_by(value, *SLICES)
    exponential = exponential_of(value if part is None else part.value(part.op.main or "x"))
    exponent = exponential.value("x") if exponential is not None else None
    negative = made_by(exponent, *NEGATIONS) if exponent is not None else None
    row = made_by(negative.value("x"), *SUMS) if negative is not None else None
    elements = row.value(row.op.main) if row is not None and row.given("axis") else None
    return (
        "bounded-sum"
        if elements is not None and 0 <= elements.lo <= elements.hi <= _NEARLY_ONE
        else ""
    )


def _says_maximum(node: ast.expr | None) -> bool:
    return node is not None and any(
        says_maximum(name)
        for inner in nodes_in(node)
        for name in [getattr(inner, "id", getattr(inner, "attr", ""))]
    )
