"""Quantities: what kind of thing a value is, from which a repair chooses its form and its constant.

Bounds alone do not tell: a count, a sum of squares and a standard deviation are all at least 0, but
below 1 the first has no value, the second has most of its ordinary ones below 1e-7, and the third
is repaired under its root.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import moments
from tfnanlint.idioms.vanishing import shows_zero
from tfnanlint.ops.models.variables import VARIABLES, begins_at_zero
from tfnanlint.ops.provenance import behind, widest
from tfnanlint.ops.site import Site, both_orders, complemented, made_by, operands, same
from tfnanlint.ops.traits import (
    ADDING_UP,
    ADDITIONS,
    CASTS,
    DEVIATIONS,
    EXTREMES,
    LAMBDAS,
    LINEAR_IN_FIRST,
    MATRIX_MULTIPLICATIONS,
    NORMS,
    OF_FIRST,
    ONE_HOTS,
    POSITIVE_SCALES,
    PROBABILITIES,
    REDUCED_SUMS,
    ROOTS,
    SQUARE_ROOTS,
    SQUARED_DIFFERENCES,
    SQUARES,
    STEPS,
    SUM_AND_PRODUCT,
    SUMS,
    TALLIES,
    VARIANCES,
    ZERO_AT_ZERO,
)
from tfnanlint.ops.transfer.promotion import whole_number
from tfnanlint.values.value import INF, WHOLE, Note, Value


class Quantity(Enum):
    """A kind of quantity; its text says what an ordinary value is."""

    COUNT = "a whole number of things, 0 or at least 1"
    WEIGHTS = (
        "a sum or mean of numbers that are never negative (soft labels, probabilities, weights), "
        "of any size"
    )
    SQUARES = "a square, or a sum or mean of squares: ordinary values lie far below 1e-7"
    ROOT = (
        "a root, norm or standard deviation: its derivative is infinite at 0, "
        "so that the guard belongs inside"
    )
    SCALE = (
        "what exp or softplus make positive, and what underflows to 0: "
        "the guard belongs to the producer"
    )
    PROBABILITY = "an output of softmax or sigmoid: ordinary values lie far below 1e-7"
    COMPLEMENT = (
        "1 minus such an output: 0, or no smaller than the distance of the numbers beside 1"
    )
    MAGNITUDE = "any other value that is never negative (relu, abs, a maximum)"
    SIGNED = "a value that may be on both sides of 0: no floor keeps its sign"
    UNKNOWN = "nothing is known of its sign"


_KEEPING: Final = {
    "tf.add": ("x", "y"),
    "tf.subtract": ("x", "y"),
    "tf.multiply": ("x", "y"),
    "tf.negative": ("x",),
    "tf.abs": ("x",),
    "tf.square": ("x",),
    "tf.maximum": ("x", "y"),
    "tf.minimum": ("x", "y"),
    "tf.where": ("x", "y"),
    "tf.reduce_sum": ("x",),
    "method.sum": ("self",),
    "tf.reduce_max": ("x",),
    "tf.reduce_min": ("x",),
    "tf.reduce_prod": ("x",),
    "tf.linalg.set_diag": ("input", "diagonal"),
    "tf.math.segment_sum": ("data",),
    "tf.math.unsorted_segment_sum": ("data",),
    "tf.cumsum": ("x",),
}
_DEPTH: Final = 8


def quantity(value: Value) -> Quantity:
    """What kind of quantity a value is: of the sum of a cast comparison `Quantity.COUNT`."""
    value = plain(widest(plain(value)))
    if value.nonnegative and whole(value):
        return Quantity.COUNT
    if made_by(value, *ROOTS) is not None:
        return Quantity.ROOT
    if not value.nonnegative:
        return Quantity.SIGNED if value.known and value.hi > 0 else Quantity.UNKNOWN
    if scale(value) is not None:
        return Quantity.SCALE
    if _of_squares(value):
        return Quantity.SQUARES
    if made_by(value, *PROBABILITIES) is not None:
        return Quantity.PROBABILITY
    if complement(value) is not None:
        return Quantity.COMPLEMENT
    return Quantity.WEIGHTS if _added_up(power_of(value)) else Quantity.MAGNITUDE


def whole(value: Value, depth: int = _DEPTH) -> bool:
    """Whether every element is a whole number: of casts of comparisons, rounded numbers, labels,
    and what is added up of them.
    """
    if _of_truths(value):
        return True
    value = plain(widest(plain(value)))
    if value.dtype in WHOLE or value.exact and value.lo == int(value.lo):
        return True
    site = value.origin
    if not isinstance(site, Site) or depth == 0:
        return False
    name = site.op.name
    if name in STEPS:
        return name not in ONE_HOTS or value.lo == 0 and value.hi == 1
    if name in TALLIES:
        return not site.given("weights")
    if name == "tf.linalg.diag_part":
        return whole(site.value(site.op.main), depth - 1)
    params = _KEEPING.get(name, ())
    return bool(params) and all(
        [not site.given(param) or whole(site.value(param), depth - 1) for param in params]
    )


def is_integer(value: Value, depth: int = _DEPTH) -> bool:
    """Whether a value has a dtype of integers, also where only the numbers that it is made of tell
    that: `tf.reduce_sum(tf.where(c, 1, 0))`.
    """
    if value.dtype is not None or value.kind == "number":
        return whole_number(value)
    site = value.origin
    params = _KEEPING.get(site.op.name, ()) if isinstance(site, Site) and depth else ()
    return bool(params) and all(
        [not site.given(param) or is_integer(site.value(param), depth - 1) for param in params]
    )


def _of_truths(value: Value) -> bool:
    """Whether a value is true or false, as a number or not:
    `tf.to_float(tf.cast(ids, tf.bool))`.
    """
    for _ in range(_DEPTH):
        site = value.origin
        if value.dtype == "bool" or not isinstance(site, Site):
            break
        if site.op.name in LAMBDAS and "computed" in site.values:
            value = site.values["computed"]
            continue
        param = site.op.passes or ("x" if site.op.name in CASTS else "")
        if not site.given(param):
            break
        value = site.value(param)
    return value.dtype == "bool"


def complement(value: Value) -> Site | None:
    """The softmax or sigmoid that a value is 1 minus; None for any other value."""
    probability = complemented(value)
    return None if probability is None else made_by(plain(probability), *PROBABILITIES)


def scale(value: Value, depth: int = 4) -> Site | None:
    """The exponential or softplus that a value is, scaled by positive numbers, squared or not; None
    where it is made of anything else.
    """
    site = made_by(value, *POSITIVE_SCALES, *SQUARES) if depth else None
    if site is None or site.op.name in POSITIVE_SCALES:
        return site
    if site.op.name == "tf.multiply" and not same(site.value("x"), site.value("y")):
        factors = [part for part in operands(site) if not part.is_number]
        return scale(factors[0], depth - 1) if len(factors) == 1 else None
    return scale(site.value("x"), depth - 1)


def _of_squares(value: Value, depth: int = 4) -> bool:
    """A square, a variance, or what is added up of such and of nothing else."""
    value = plain(value)
    square = moments.squared(value)
    if square is not None:
        # the square of a sum of weights is no smaller than ordinary sums are
        return not _added_up(square.value("x"))
    if made_by(value, *SQUARED_DIFFERENCES) is not None or _variance(value):
        return True
    site = made_by(value, *REDUCED_SUMS, *EXTREMES, *SUM_AND_PRODUCT) if depth else None
    if site is None:
        return False
    if site.op.name in SUM_AND_PRODUCT:
        parts = [part for part in operands(site) if not part.is_number]
        return bool(parts) and all([_of_squares(part, depth - 1) for part in parts])
    return _of_squares(site.value(site.op.main), depth - 1)


def _variance(value: Value) -> bool:
    """The variance of `mean, variance = tf.nn.moments(x, axes)`."""
    note = behind(value)
    return (
        isinstance(note, Note)
        and note.index == 1
        and isinstance(note.parent, Site)
        and note.parent.op.name == "tf.nn.moments"
    )


def is_variance(value: Value) -> bool:
    """Whether a value is a variance: it is 0 where nothing varies,
    and nothing is to be compared.
    """
    return _variance(plain(value)) or made_by(plain(value), *VARIANCES) is not None


def _added_up(value: Value, depth: int = 4) -> bool:
    """A sum or mean, a variable that begins at 0, or what is added and scaled of such."""
    value = plain(widest(plain(value)))
    site = (
        made_by(value, *ADDING_UP, *VARIABLES, "tf.add", "tf.multiply", "tf.divide")
        if depth
        else None
    )
    if site is None:
        return False
    if site.op.name in VARIABLES:
        return begins_at_zero(site)
    if site.op.name == "tf.divide":
        return _added_up(site.value("x"), depth - 1)
    if site.op.name in SUM_AND_PRODUCT:
        return any([_added_up(part, depth - 1) for part in operands(site)])
    return True


def vanishes_with(numerator: Value, divisor: Value) -> bool:
    """Whether a numerator is surely 0 wherever the divisor is: a part of a sum of what is never
    negative (`w / sum(w)`, `(a - b) / (a + b)`, `q ** 2 / sum(q)`), or an element beside the
    largest of all (`x / max(x)`).
    """
    parts = _parts(divisor, 4)
    return bool(parts) and _made_of(numerator, parts, 6)


def _parts(divisor: Value, depth: int) -> list[Value]:
    """What is 0 wherever a divisor is: the summands of sums of which none is negative; [] where one
    may be.
    """
    divisor = plain(widest(plain(divisor)))
    if not divisor.nonnegative:
        return []
    parts = [divisor]
    square = moments.squared(divisor)
    if square is not None:
        return parts + [plain(square.value("x"))]
    site = (
        made_by(
            divisor,
            *SUMS,
            *NORMS,
            "tf.reduce_mean",
            "tf.reduce_max",
            "tf.add",
            "tf.abs",
            "tf.sqrt",
            "tf.multiply",
        )
        if depth
        else None
    )
    if site is None:
        return parts
    if site.op.name == "tf.add":
        summands = operands(site)
        return (
            parts + [part for one in summands for part in _parts(one, depth - 1)]
            if all([one.nonnegative for one in summands])
            else parts
        )
    if site.op.name == "tf.multiply":
        scaled = [other for part, other in both_orders(site) if part.is_number and part.positive]
        return parts + [part for one in scaled for part in _parts(one, depth - 1)]
    inner = plain(site.value(site.op.main))
    if site.op.name in ("tf.abs", *NORMS):
        return parts + [inner]
    return parts + (_parts(inner, depth - 1) if inner.nonnegative else [])


def _made_of(value: Value, parts: list[Value], depth: int) -> bool:
    """Whether a value is 0 where all of some parts are: one of them, a product with one, a sum or
    difference of such.
    """
    value = plain(widest(plain(value)))
    if any([same(value, part) for part in parts]):
        return True
    site = value.origin
    if not isinstance(site, Site) or depth == 0:
        return False
    name = site.op.name
    if name in ADDITIONS:
        return _made_of(site.value("x"), parts, depth - 1) and _made_of(
            site.value("y"), parts, depth - 1
        )
    if name == "tf.multiply":
        return _made_of(site.value("x"), parts, depth - 1) or _made_of(
            site.value("y"), parts, depth - 1
        )
    if name == "tf.pow":
        return site.value("y").lo > 0 and _made_of(site.value("x"), parts, depth - 1)
    if name in (
        "tf.square",
        "tf.abs",
        "tf.negative",
        "tf.nn.relu",
        "tf.sqrt",
        *SUMS,
        "tf.reduce_mean",
        "tf.reduce_max",
        "tf.reduce_min",
    ):
        return _made_of(site.value(site.op.main), parts, depth - 1)
    return False


def is_standardised(division: Site) -> bool:
    """Whether a quotient is `(x - mean) / std(x)`:
    all elements are equal where the deviation is 0.
    """
    minus = made_by(plain(division.value("x")), "tf.subtract")
    spread = _spread_of(division.value("y"))
    return minus is not None and spread is not None and same(plain(minus.value("x")), spread)


def _spread_of(root: Value) -> Value | None:
    """The elements of which a value is the standard deviation; None for any other value."""
    deviation = made_by(plain(root), *DEVIATIONS)
    under = made_by(plain(root), *SQUARE_ROOTS) if deviation is None else None
    variance = under.value("x") if under is not None else None
    if variance is not None and _variance(variance):
        note = behind(variance)
        deviation = note.parent if isinstance(note, Note) else None
    elif variance is not None:
        deviation = made_by(plain(variance), *VARIANCES)
    return plain(deviation.value("x")) if isinstance(deviation, Site) else None


# What quotients are made of


def power_of(value: Value) -> Value:
    """What a value is a positive power of; the value itself where it is none."""
    value = plain(value)
    power = moments.squared(value) or made_by(value, "tf.sqrt", "tf.pow")
    return (
        plain(power.value("x"))
        if power is not None and (power.op.name != "tf.pow" or power.value("y").lo > 0)
        else value
    )


def summands(total: Site) -> list[Value]:
    """What is summed up, at once or axis by axis."""
    terms: list[Value] = []
    inner: Site | None = total
    while inner is not None and len(terms) < 3:
        terms.append(plain(inner.value("x")))
        inner = made_by(terms[-1], *SUMS)
    return terms


def areas_in(total: Site) -> list[Value]:
    """What a sum adds up of each element, and of its squares: a and b of sum(a + b ** 2)."""
    terms = [summands(total)[-1]]
    areas: list[Value] = []
    while terms and len(areas) < 4:
        term = terms.pop()
        added = made_by(term, "tf.add")
        if added is None:
            areas.append(power_of(term))
        else:
            terms += [plain(added.value(param)) for param in ("x", "y")]
    return areas


def sums(value: Value, depth: int = 4) -> list[Site]:
    """The sums and means that a value is made of by adding and scaling."""
    value = widest(plain(value))
    total = made_by(plain(value), *SUMS, "tf.reduce_mean")
    if total is not None:
        return [total]
    base = power_of(value)
    if base is not value and depth:
        return sums(base, depth - 1)
    outer = made_by(base, *LINEAR_IN_FIRST) if depth else None
    if outer is None:
        return []
    return [
        site
        for param in (("x",) if outer.op.name in OF_FIRST else ("x", "y"))
        for site in sums(outer.value(param), depth - 1)
    ]


def factors(value: Value, depth: int = 4) -> list[Value]:
    """The factors of a product, and products that are factors of it; more than one, or none."""
    site = (
        made_by(plain(widest(plain(value))), "tf.multiply", "tf.pow", *ZERO_AT_ZERO)
        if depth
        else None
    )
    if site is None or site.op.name == "tf.pow" and not site.value("y").lo > 0:
        return []
    if site.op.name != "tf.multiply":
        inner = [
            factors(site.value(param), depth - 1)
            for param in ("x", "y", "features")
            if site.given(param)
        ]
        return next((found for found in inner if found), [])
    return [
        part
        for param in ("x", "y")
        for part in (site.value(param), *factors(site.value(param), depth - 1))
    ]


def weighed(dividend: Value) -> list[Value]:
    """The factors of a product, of each product that is added up, and of a matrix product: `x` and
    `m` of `x * m`, `sum(x * m)` and `m @ x`.
    """
    parts = [dividend, *(total.value("x") for total in sums(dividend))]
    product = made_by(plain(widest(plain(dividend))), *MATRIX_MULTIPLICATIONS)
    return [plain(factor) for part in parts for factor in (*factors(part), *operands(product))]


def is_union(value: Value, overlap: Value) -> bool:
    """Whether a value is the union of two areas, a + b - i, of which the overlap i is given."""
    total = areas_of_union(value, overlap)
    return total is not None and all(
        [part.lo == 0 and shows_zero(part) for part in operands(total)]
    )


def is_free_union(value: Value, overlap: Value) -> bool:
    """Whether a value is the union a + b - i of two areas of which one is any number: that of a box
    whose sides are taken as a network gives them.
    """
    total = areas_of_union(value, overlap)
    parts = operands(total)
    return any([part.evident and part.lo == -INF and part.hi == INF for part in parts])


def areas_of_union(value: Value, overlap: Value) -> Site | None:
    """The sum a + b of a value a + b - i, of which i is given; None for any other value."""
    minus = made_by(plain(widest(plain(value))), "tf.subtract")
    if minus is None or not same(plain(minus.value("y")), plain(overlap)):
        return None
    return made_by(plain(minus.value("x")), "tf.add")


def is_overlap(division: Site) -> bool:
    """Whether a quotient is a Dice or IoU: the sum of a product over sums of both factors."""
    totals = sums(division.value("y"))
    parts = [part for total in sums(division.value("x")) for part in factors(total.value("x"))]
    return (
        sum(
            [
                any([same(plain(total.value("x")), plain(part)) for total in totals])
                for part in parts
            ]
        )
        >= 2
    )


def is_by_both_areas(division: Site) -> bool:
    """Whether the sum of a product is divided by nothing but sums of both of its factors, or of
    their squares, from which it may be taken off: Dice and Jaccard.
    """
    overlaps = [plain(total.value("x")) for total in sums(division.value("x"))]
    multiplied = [plain(part) for overlap in overlaps for part in factors(overlap)]
    areas = [
        area
        for total in sums(division.value("y"))
        if not any(same(plain(total.value("x")), overlap) for overlap in overlaps)
        for area in areas_in(total)
    ]
    return any(not same(areas[0], area) for area in areas) and all(
        any(same(area, factor) for factor in multiplied) for area in areas
    )


def _begins_at_zero(value: Value) -> bool:
    """Whether a value is a variable that begins at 0, as the total and the count of a metric do."""
    variable = made_by(plain(widest(plain(value))), *VARIABLES)
    return variable is not None and begins_at_zero(variable)


def zero_meant(division: Site) -> bool:
    """Whether a sum is divided by a sum or count over the same elements, values or what they weigh
    by their own sum, an overlap by a union, or what a variable has gathered by another one: nothing
    counted means a result of 0.
    """
    value, total = plain(division.value("x")), made_by(plain(division.value("y")), *SUMS)
    own = (
        [value, *map(plain, factors(value))]
        if value.nonnegative or not value.known
        else map(plain, factors(value))
    )
    if total is not None and any(
        [same(part, summand) for part in own for summand in summands(total)]
    ):
        return True
    if total is None and is_union(division.value("y"), value):
        return True
    if _begins_at_zero(value) and _begins_at_zero(division.value("y")):
        return True
    return value.kind != "number" and bool(sums(division.value("y"))) and bool(sums(value))
