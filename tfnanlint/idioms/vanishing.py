"""Evidence: whether the program itself shows that a value can be 0.

Bounds alone do not: the square of an unknown number, `1 - b ** n`, an exponential that must
underflow leave 0 open.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache

from tfnanlint.conventions.identifiers import is_kernel
from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import moments
from tfnanlint.idioms.derivatives import is_gradient
from tfnanlint.idioms.exponents import (
    compares_each_with_all,
    is_kernel_matrix,
    is_off_the_grid,
    on_a_grid,
)
from tfnanlint.ops.frameworks import ANY_WEIGHT
from tfnanlint.ops.models.variables import (
    VARIABLES,
    CallableObject,
    begins_at_zero,
    moved_by_training,
    starts_at_random,
)
from tfnanlint.ops.provenance import Walk, behind, site_behind, widest
from tfnanlint.ops.relations.grams import is_gram
from tfnanlint.ops.relations.picks import chosen
from tfnanlint.ops.site import Site, both_orders, complemented, made_by, operands, same
from tfnanlint.ops.table import ROWS
from tfnanlint.ops.traits import (
    ADDITIONS,
    BRANCHES,
    CEILINGS,
    CLASS_TOTALS,
    CONSTANTS,
    DENSITIES,
    DISPERSIONS,
    EXTREMES,
    FALLING_WITH,
    KERNEL_KEEPING,
    LOGARITHMS,
    MAGNITUDES,
    MASKINGS,
    MASKS,
    MATRIX_PRODUCTS,
    ONE_HOTS,
    PARTS,
    PICKING_REDUCTIONS,
    POWERS,
    PROBABILITIES,
    REDUCED_SUMS,
    SIZES,
    SPREADS,
    SQUARED_LENGTHS,
    SQUARES,
    SUM_AND_PRODUCT,
    SUMS,
    TOTALS,
    UNDERFLOWING,
    VANISHING_AT_ZERO,
    ZERO_IF_INSIDE,
    is_random,
)
from tfnanlint.syntax.access_paths import path_of
from tfnanlint.syntax.nodes import NOUGHT
from tfnanlint.values.value import INF, NUMERIC_KINDS, WHOLE, Many, Note, Value

_CLASSES = ("indices", "segment_ids", "x")  # where they are given the class of each element
_DECAYING = tuple(
    f"tf.train.{name}_decay" for name in ("exponential", "natural_exp", "inverse_time")
)
_UPDATES = ("tf.assign", "method.assign")
_SMALL = 1e-3
_GUARD = 0.1  # what is added beyond this is a term, not a guard
_LONG = 2.0**31  # the length of an axis is below it


def reaches(value: Value, number: float) -> bool:
    """Whether a value is the result of an op that is exactly `number` for many arguments, as its
    row says.
    """
    return made_by(value, *_reaching(number)) is not None


@cache
def _reaching(number: float) -> tuple[str, ...]:
    return tuple([row.name for row in ROWS if number in row.reaches])


def held(value: Value, limit: int = 60) -> bool:
    """Whether a value is made of numbers and of what objects hold: no argument of a function, no
    weight and no call is behind it.
    """
    walk, stored = Walk(value, limit=limit), False
    for part in walk:
        if part.kind not in NUMERIC_KINDS or part.kind == "number":
            continue
        origin = behind(part)
        if isinstance(origin, Site):
            if origin.op.starts or not origin.args:
                return False
            walk.enter(origin, [origin.op.passes] if origin.op.passes else origin.args)
        elif (
            origin is None
            or part.evident
            or origin.parameter
            or origin.passed
            or origin.computed
            or origin.outer
        ):
            return False
        else:
            stored = True
    return stored and walk.is_complete


def counted(divisor: Value) -> bool:
    """A Python number or a size made a tensor (Python itself would have complained about 0), what
    lies within lengths of at least 1, or what is not 0 where every row is given such an element.
    """
    bare = unscaled(plain(divisor))
    square = made_by(bare, *SQUARES)
    if square is not None and (
        square.op.name != "tf.multiply" or same(square.value("x"), square.value("y"))
    ):
        return counted(square.value("x"))  # the square of a size
    # of the size of a head: `tf.sqrt(tf.cast(channels // heads, tf.float32))`
    root = made_by(bare, "tf.sqrt")
    bare = bare if root is None else plain(root.value("x"))
    measured = made_by(bare, *SIZES) if bare.lo == 0 else None
    # how many are left of those that a test chose; that of a shape is a rank
    if measured is not None:
        return made_by(measured.value("x"), "tf.shape") is not None
    minus = made_by(bare, "tf.subtract")
    if minus is not None and not_counted(bare):
        return False
    size = plain(minus.value("x")) if minus is not None else bare
    whole = size.kind == "number" and not size.is_number or bare.dtype in ("int32", "int64")
    if bare.kind == "number" or minus is not None and (whole or _extent(size)):
        return True
    cast = made_by(divisor, *CONSTANTS)
    if cast is not None:
        return cast.value("x").kind == "number"
    total = made_by(bare, "tf.reduce_sum")
    if total is not None and (has_marks(total) or has_hits(total)):
        return True
    within = made_by(total.value("x"), "tf.sequence_mask") if total is not None else None
    return within is not None and within.value("x").lo >= 1


def not_counted(value: Value) -> bool:
    """How many elements a test does not hold of, or which share of them: their number, or a sum of
    ones, less the sum of a mask. It may hold of all.
    """
    minus = made_by(plain(widest(plain(value))), "tf.subtract")
    if minus is None:
        return False
    size, taken = plain(minus.value("x")), plain(minus.value("y"))
    share = made_by(taken, "tf.divide") if size.is_number and size.const == 1 else None
    if share is not None:  # 1 - n / N
        size, taken = plain(share.value("y")), plain(share.value("x"))
    total = made_by(taken, *SUMS)
    if total is None:
        return False
    counted = total.value(total.op.main)
    if total.op.name != "tf.math.count_nonzero" and not _mask(counted):
        return _is_size_of(size, plain(counted))
    ones = made_by(size, "tf.reduce_sum")
    return (
        _extent(size)
        or size.kind == "number"
        and not size.is_number
        or ones is not None
        and plain(ones.value("x")).lo == plain(ones.value("x")).hi == 1
    )


def set_to_zero(value: Value) -> bool:
    """Whether a value is a setting that is 0 by default."""
    return (
        isinstance(value.origin, Note)
        and value.origin.default == NOUGHT
        and value.lo == 0
        and value.zero
    )


def _is_size_of(size: Value, elements: Value) -> bool:
    """Whether a value is how many elements a tensor has: what is summed up of that one, to be taken
    from its size, is a mask.
    """
    measured = made_by(size, "tf.size")
    return measured is not None and same(plain(measured.value("x")), elements)


def _mask(value: Value) -> bool:
    """Whether a condition was cast, and nothing else: 0 and 1 only."""
    return plain(value).dtype == "bool"


def unscaled(value: Value) -> Value:
    """A value without a number that it is multiplied by (`2 * n`)."""
    product = made_by(value, "tf.multiply")
    for part, scaled in both_orders(product):
        if part.is_number and part.const:
            return plain(scaled)
    return value


def _extent(value: Value) -> bool:
    """The length of an axis, halved or cast: no other values have such bounds."""
    return value.lo >= 0 and _LONG / 8 <= value.hi <= _LONG


def shows_zero(divisor: Value, depth: int = 4) -> bool:
    """Whether the program shows that 0 occurs: not where only the shape of an op leaves it open
    (`1 - b ** n`, the square of an unknown number, an exponential or a sigmoid that must underflow,
    a floor of which nothing is known, the spread of a whole NumPy array), and not where two random
    draws would have to be 0 at once.
    """
    if _counts_itself(divisor):
        return False
    divisor = widest(plain(divisor))
    constant = made_by(divisor, *CONSTANTS)
    if constant is not None and divisor.known and depth:
        return shows_zero(constant.value("x"), depth - 1)
    if not divisor.known or any(is_left_open(divisor) for is_left_open in _LEFT_OPEN):
        return False
    site = made_by(divisor, *ZERO_IF_INSIDE, *EXTREMES, *PARTS, *UNDERFLOWING) if depth else None
    if site is None:
        if divisor.lo == -INF and divisor.hi == INF:
            return _moved(divisor)
        return divisor.lo > -INF and (divisor.hi < INF or divisor.lo == 0)
    if site.op.name in UNDERFLOWING or site.op.name == "tf.pow" and not _exponent(site):
        return False
    if site.op.name == "tf.add":
        shown = _sum_shows_zero(site, divisor)
        if shown is not None:
            return shown
    if site.op.name == "tf.maximum" and _is_relu(site):
        return True
    if site.op.name not in PARTS:
        return site.value("x").zero and shows_zero(site.value("x"), depth - 1)
    parts = [part for part in (site.value("x"), site.value("y")) if part.zero or not part.known]
    inner = [shows_zero(part, depth - 1) for part in parts]
    return any(inner) if site.op.name == "tf.multiply" else all(inner) and bool(inner)


def _quotient_of_scale(divisor: Value) -> bool:
    """Whether a quotient of no negative values is one of a scale, or falls with its divisor."""
    quotient = made_by(divisor, "tf.divide")
    if quotient is None or not divisor.nonnegative:
        return False
    return falling(divisor) or _scale(quotient.value("x"))


def _sum_above_zero(divisor: Value) -> bool:
    """Whether a value is a sum, mean or norm of elements of which some are hardly ever 0."""
    mean = made_by(divisor, "tf.reduce_mean")
    if mean is not None and falling(mean.value("x")):
        return True
    total = made_by(divisor, *SUMS, "tf.norm")
    if total is None:
        return False
    return any(of_elements(total.value("x")) for of_elements in _ELEMENTS_ABOVE_ZERO) or any(
        of_sum(total) for of_sum in _SUMS_ABOVE_ZERO
    )


def _sum_shows_zero(total: Site, divisor: Value) -> bool | None:
    """Whether the program shows that a sum of two reaches 0; None where its parts must tell."""
    x, y = total.value("x"), total.value("y")
    if (x.lo > 0 or y.lo > 0) and (x.lo < 0 or y.lo < 0):
        # An epsilon and something that would have to be just as negative; elu is -1 below -17, and
        # what is cut off gets to its end.
        return divisor.lo == 0 and any(reaches(part, -1.0) or _cut_off(part) for part in (x, y))
    fresh = running_average(divisor)
    if fresh is not None and (fresh.positive or fresh.guarded):
        return False  # it is 0 before its first value only
    # a variance of noise and another one: both would have to be 0
    return False if handed_in(divisor) else None


def _is_relu(maximum: Site) -> bool:
    """Whether a maximum is relu, written out: of 0 and something that may be negative."""
    x, y = maximum.value("x"), maximum.value("y")
    return any(zero.exact and zero.lo == 0 and other.lo < 0 for zero, other in ((x, y), (y, x)))


def running_average(value: Value) -> Value | None:
    """The x in b * average + (1 - b) * x, also where that is what a variable is set to; None for
    anything else.
    """
    value = plain(widest(plain(value)))
    update = made_by(value, *_UPDATES)
    if update is not None:
        value = plain(update.value("value"))
    total = made_by(value, "tf.add")
    for part, average in both_orders(total):
        fresh = made_by(plain(part), "tf.multiply")
        kept = made_by(plain(average), "tf.multiply")
        if fresh is None or kept is None:
            continue
        for weight, x in both_orders(fresh):
            rest = made_by(plain(weight), "tf.subtract")
            if (
                rest is not None
                and rest.value("x").const == 1
                and any([_one_weight(rest, kept, one) for one in ("x", "y")])
            ):
                return x
    return None


def sums_squares_from_zero(value: Value) -> bool:
    """Whether a value is a running average of squared gradients, a variable that starts at 0 and
    adds up squares, or the root of such: 0 for a weight that has had no gradient yet, behind a dead
    unit or at an input of zeros.
    """
    root = made_by(value, "tf.sqrt", "tf.pow")
    total = value if root is None else root.value("x")
    corrected = made_by(plain(total), "tf.divide")
    total = total if corrected is None else corrected.value("x")
    variable = made_by(plain(widest(plain(total))), *VARIABLES)
    if variable is None or variable.interpreter is None:
        fresh = running_average(total)
        square = made_by(fresh, *SQUARES) if fresh is not None else None
        return square is not None and is_gradient(square.value("x"))
    updates = variable.interpreter.assigned(variable) if begins_at_zero(variable) else []
    return bool(updates) and all([_adds_square(update) for update in updates])


def _adds_square(value: Value, depth: int = 4) -> bool:
    """Whether a value is a square, a multiple of one, or a sum with such."""
    value = plain(widest(plain(value)))
    if moments.squared(value) is not None:
        return True
    parts = operands(made_by(value, *SUM_AND_PRODUCT)) if depth else ()
    return any([_adds_square(part, depth - 1) for part in parts])


def _one_weight(rest: Site, kept: Site, param: str) -> bool:
    """Whether the weight taken from 1 is a factor of a product, by value or by its name."""
    path = path_of(rest.args["y"]) if "y" in rest.args else None
    return (
        same(rest.value("y"), kept.value(param))
        or path is not None
        and param in kept.args
        and path_of(kept.args[param]) == path
    )


def picked(value: Value) -> bool:
    """Whether a value is an element that one_hot picks along the last axis, or along its own, of
    values above 0: it is 0 for an index out of range only, which no program means.
    """
    total = made_by(plain(widest(plain(value))), *PICKING_REDUCTIONS)
    choice = chosen(total, aligned=False) if total is not None else None
    return (
        choice is not None
        and choice[0].positive
        and not choice[0].emptied
        and total.const("axis", None) != 0
    )


def _counts_itself(value: Value) -> bool:
    """How often the class of an element occurs among all of them, looked up for each
    (`tf.gather(counts, labels)`): it is one itself.
    """
    handed = made_by(value, "tf.gather") if value.lo == 0 else None
    total = made_by(plain(handed.value("x")), *CLASS_TOTALS) if handed is not None else None
    if handed is None or total is None or total.given("weights"):
        return False
    listed: Site | None = total
    if total.op.name == "tf.reduce_sum":
        listed = (
            made_by(plain(total.value("x")), *ONE_HOTS) if total.const("axis", None) == 0 else None
        )
    elif total.op.name == "tf.math.unsorted_segment_sum" and not total.value("data").positive:
        return False
    return listed is not None and any(
        [
            same(plain(listed.value(param)), plain(handed.value("indices")))
            for param in _CLASSES
            if param in listed.op.params
        ]
    )


def _has_counted(total: Site) -> bool:
    """The sum of all of a variable to which its function has just added how often each class occurs
    (the codebook of a VQ-VAE): some class does.
    """
    variable = (
        made_by(total.value("x"), *VARIABLES)
        if total.point is not None and not total.given("axis")
        else None
    )
    if (
        variable is None
        or variable.interpreter is None
        or not variable.interpreter.assigns(variable, total.point.scope, total.node.lineno)
    ):
        return False
    updates = variable.interpreter.assigned(variable)
    return bool(updates) and all([_with_counts(one) for one in updates])


def _of_all_examples(total: Site) -> bool:
    """The sum of a whole confusion matrix, or of the sums of its rows:
    how many examples there are.
    """
    inner = plain(total.value("x"))
    rows = made_by(inner, *SUMS)
    if rows is None and total.given("axis"):
        return False
    counts = made_by(
        plain(rows.value("x")) if rows is not None else inner, "tf.math.confusion_matrix"
    )
    return counts is not None and not counts.given("weights")


def _with_counts(value: Value, depth: int = 4) -> bool:
    """The sum over a batch of one_hot, scaled, beside what is not negative."""
    site = (
        made_by(widest(plain(value)), "tf.add", "tf.multiply", "tf.reduce_sum") if depth else None
    )
    if site is None:
        return False
    if site.op.name == "tf.reduce_sum":
        return (
            site.const("axis", None) == 0 and made_by(plain(site.value("x")), *ONE_HOTS) is not None
        )
    fits = both_orders(site)
    if site.op.name == "tf.add":
        return any([beside.lo >= 0 and _with_counts(counts, depth - 1) for counts, beside in fits])
    return any([factor.positive and _with_counts(counts, depth - 1) for counts, factor in fits])


def _is_count_up(divisor: Value) -> bool:
    """Whether a value is a range, or its logarithm: the first element is the least, and occurs."""
    logarithm = made_by(divisor, *LOGARITHMS)
    counted = logarithm.value("x") if logarithm is not None else divisor
    return made_by(counted, "tf.range", "builtins.range") is not None


def ordinary(divisor: Value, depth: int = 5) -> bool:
    """Whether 0 is what ordinary data give: nothing was counted, elements are equal or cut off, a
    state has not moved yet; and not only where a whole vector is 0, two points are one, or an
    exponential underflows.
    """
    divisor = widest(plain(divisor))
    if made_by(divisor, *VARIABLES) is not None:
        return True
    origin = divisor.origin
    if isinstance(origin, Note) and isinstance(origin.parent, Site) and origin.index is not None:
        return origin.parent.op.name in SPREADS
    if isinstance(origin, Note) and origin.default == NOUGHT:
        return True  # a setting that is 0 by default
    if not isinstance(origin, Site) or depth == 0:
        return False
    total = made_by(divisor, *SUMS, "tf.reduce_mean")
    if total is not None:
        part = _signless(plain(total.value(total.op.main)))
        return (
            total.op.name == "tf.reduce_mean"
            or made_by(part, *MAGNITUDES, *UNDERFLOWING) is None
            and not _squared(part)
        )
    if reaches(divisor, 0.0) or divisor.lo == 0 and _is_count_up(divisor):
        return True
    site = made_by(
        divisor,
        *SIZES,
        *SPREADS,
        *PARTS,
        *EXTREMES,
        *CONSTANTS,
        "tf.sqrt",
        "tf.divide",
        "tf.minimum",
        "tf.clip_by_value",
        "tf.subtract",
        "tf.matmul",
        "method.numpy",
    )
    if site is None:
        return False
    if site.op.name == "tf.subtract":
        power = made_by(site.value("y"), "tf.pow")
        if power is not None:
            return _counted_none(power)
        return (
            reaches(site.value("y"), 1.0)
            or _all_of_it(site.value("y"), depth)
            or _share_of_ones(site.value("y"))
        )
    if site.op.name == "tf.add" and any(
        reaches(part, -1.0) or _cut_off(part) for part in operands(site)
    ):
        return True
    if site.op.name in SIZES + SPREADS:
        return True
    parts = [
        ordinary(site.value(param), depth - 1)
        for param in ("x", "y")
        if site.given(param) and (site.op.name != "tf.divide" or param == "x")
    ]
    return (all if site.op.name == "tf.add" else any)(parts)


def _signless(value: Value) -> Value:
    """The argument of an absolute value that is not negative itself: `tf.abs(tf.nn.relu(x))`."""
    magnitude = made_by(value, "tf.abs")
    return (
        plain(magnitude.value("x"))
        if magnitude is not None and magnitude.value("x").lo >= 0
        else value
    )


def _all_of_it(value: Value, depth: int) -> bool:
    """A share of a sum of two, a / (a + b), which is 1 where b is 0, if that is ordinary: all of
    what was counted was of one kind.
    """
    share = made_by(value, "tf.divide")
    total = made_by(share.value("y"), "tf.add") if share is not None else None
    return any(
        same(part, share.value("x")) and other.zero and ordinary(other, depth - 1)
        for part, other in both_orders(total)
    )


def of_labels(value: Value) -> bool:
    """How often a condition holds, or a class occurs, in a batch, as a share or a number: nothing
    else is as easily 0.
    """
    value = plain(widest(plain(value)))
    less = made_by(value, "tf.subtract")
    if less is not None:
        return less.value("x").exact and _share_of_ones(less.value("y"))
    share = made_by(value, "tf.divide")
    total = made_by(
        plain(share.value("x")) if share is not None else value, *SUMS, "tf.reduce_mean"
    )
    if total is None:
        return False
    part = plain(total.value(total.op.main))
    chosen_from = made_by(part, *ONE_HOTS)
    return _truth(part) or chosen_from is not None and total.const("axis", None) == 0


def _share_of_ones(value: Value) -> bool:
    """The mean of a mask, or of its complement: 1 in a batch in which all labels are the same."""
    mean = made_by(plain(value), "tf.reduce_mean")
    return mean is not None and _truth(plain(mean.value("x")))


def _truth(value: Value) -> bool:
    """A condition that was cast, or 1 less that."""
    less = made_by(value, "tf.subtract")
    return (
        value.dtype == "bool"
        or less is not None
        and less.value("x").exact
        and plain(less.value("y")).dtype == "bool"
    )


def _squared(value: Value) -> bool:
    """Whether a value is a square, written out, or the diagonal of a Gram matrix."""
    diagonal = made_by(value, "tf.linalg.diag_part")
    if diagonal is not None:
        return is_gram(plain(diagonal.value(diagonal.op.main)))
    product = made_by(value, "tf.multiply")
    return product is not None and same(product.value("x"), product.value("y"))


def _spread(value: Value) -> bool:
    """The standard deviation or variance that NumPy computes over a whole array: a constant, not
    that of each feature.
    """
    spread = made_by(value, *DISPERSIONS)
    return spread is not None and spread.library == "np" and not spread.given("axis")


def zero_factor(divisor: Value, depth: int = 4) -> bool:
    """Whether a product of which nothing else is known has a sum in it that can be 0:
    `tf.reduce_sum(mask) * channels`.
    """
    divisor = widest(plain(divisor))
    site = made_by(divisor, "tf.multiply") if depth else None
    if site is None:
        return made_by(divisor, *SUMS) is not None and shows_zero(divisor)
    return any(zero_factor(part, depth - 1) for part in operands(site))


def sums_cut_off(divisor: Value) -> bool:
    """Whether a value is a sum of products with what is exactly 0 for ordinary data, such as a
    relu: of the other factors nothing need be known.
    """
    total = made_by(plain(widest(plain(divisor))), *SUMS)
    return total is not None and _of_cut_off(total.value(total.op.main))


def _of_cut_off(elements: Value, depth: int = 6) -> bool:
    """Whether elements are 0 where something is that is exactly 0 for ordinary data: products with
    it, `1 - exp(-relu(x))`, `tanh(relu(x))`.
    """
    factor = plain(widest(plain(elements)))
    product = made_by(factor, "tf.multiply") if depth else None
    if product is not None:
        return any(_of_cut_off(part, depth - 1) for part in operands(product))
    rarely = made_by(factor, *ONE_HOTS, *MAGNITUDES, *UNDERFLOWING, *PROBABILITIES) is not None
    if factor.lo == 0 and not rarely and not _squared(factor) and shows_zero(factor):
        return True
    complement = complemented(factor)
    curve = made_by(factor, *VANISHING_AT_ZERO) or made_by(complement or factor, "tf.exp")
    is_zero_at_zero = curve is not None and (curve.op.name != "tf.exp" or complement is not None)
    return depth > 0 and is_zero_at_zero and _of_cut_off(curve.value(curve.op.main), depth - 1)


def _decayed(value: Value) -> bool:
    """1 - b ** n, which corrects the bias of an average: but where n is a count that can be 0."""
    power = _taken_from_one(value)
    return power is not None and not power.value("y").is_number and not _counted_none(power)


def _taken_from_one(value: Value) -> Site | None:
    """The power in 1 - b ** n."""
    minus = made_by(value, "tf.subtract")
    return made_by(minus.value("y"), "tf.pow") if minus is not None else None


def _counted_none(power: Site) -> bool:
    """Whether an exponent counts what there may be none of (the examples of a class), or steps from
    0 that are counted only afterwards.
    """
    exponent = plain(widest(plain(power.value("y"))))
    if exponent.lo != 0 or not exponent.zero:
        return False
    if made_by(exponent, *SUMS, "tf.math.bincount") is not None:
        return ordinary(exponent)
    step = made_by(exponent, *VARIABLES)
    return (
        step is not None
        and power.point is not None
        and power.interpreter is not None
        and power.interpreter.assigns(step, power.point.scope)
    )


def _scale(value: Value) -> bool:
    """A power of a known positive number (`10 ** (decibels / 10)`), a rate that decays by a factor:
    0 only by underflow.
    """
    value = plain(widest(plain(value)))
    rate = made_by(value, "tf.train.exponential_decay")
    if rate is not None:
        return rate.name in _DECAYING and rate.value("learning_rate").lo > 0
    constant = made_by(value, *CONSTANTS)
    if constant is not None:
        return _scale(constant.value("x"))
    quotient = made_by(value, "tf.divide")
    if quotient is not None:
        return _scale(quotient.value("x"))
    power = made_by(value, *POWERS)
    return power is not None and power.value("x").is_number and power.value("x").const > 0


def _on_a_kernel(divisor: Value) -> bool:
    """The sum of exponentials, reciprocals or densities of a fixed range of numbers, of products of
    such, or of their shares: the middle of a blur kernel is no 0.
    """
    total = made_by(divisor, *SUMS)
    return total is not None and _kernel(total.value("x"))


def _kernel(value: Value, depth: int = 3) -> bool:
    part = made_by(
        value,
        "tf.exp",
        "tf.math.reciprocal",
        "method.prob",
        "tf.einsum",
        "tf.multiply",
        "tf.matmul",
        "tf.tensordot",
        *KERNEL_KEEPING,
    )
    if part is None or depth == 0:
        return False
    if part.op.name in KERNEL_KEEPING:
        return _kernel(part.value("x"), depth - 1)
    if part.op.name in DENSITIES:
        exponent = part.value(part.op.main)
        return on_a_grid(exponent) and not is_off_the_grid(exponent)
    parts = (
        part.value("inputs").obj
        if part.op.name == "tf.einsum"
        else tuple(part.value(param) for param in part.args if param in ("a", "b", "x", "y"))
    )
    return (
        isinstance(parts, tuple)
        and len(parts) > 1
        and all(_kernel(one, depth - 1) for one in parts)
    )


def random_weight(vector: Value, depth: int = 4) -> bool:
    """Whether a vector is a weight that starts with random numbers, its magnitudes or its powers:
    not all of them come to be 0.
    """
    site = widest(plain(vector)).origin
    if not isinstance(site, Site) or depth == 0:
        return False
    if site.op.name == "tf.multiply":
        return same(site.value("x"), site.value("y")) and random_weight(site.value("x"), depth - 1)
    return (
        starts_at_random(site)
        or site.op.name in MAGNITUDES
        and random_weight(site.value("x"), depth - 1)
    )


def is_total_of_weights(value: Value) -> bool:
    """Whether a value is the sum of the squares of all that a model trains, weight by weight: not
    all of them come to be 0. Of one of them alone, such as a bias, this is not known.
    """
    total = made_by(value, *TOTALS, "tf.add_n")
    parts = total.value(total.op.main) if total is not None else None
    if parts is None or not isinstance(parts.obj, Many) or parts.obj.is_chosen:
        return False
    part = plain(parts.obj.element)
    for _ in range(3):
        origin = part.origin
        if isinstance(origin, Note):
            return origin.path == ANY_WEIGHT
        if not isinstance(origin, Site) or origin.op.name not in SQUARED_LENGTHS:
            return False
        part = plain(origin.value(origin.op.main))
    return False


def of_draws(value: Value) -> bool:
    """Whether a value is computed of random draws and numbers only: no weight can be reached
    through it, but it goes into what is trained.
    """
    walk, is_drawn = Walk(value), False
    for part in walk:
        maker = site_behind(part)
        if maker is None:
            if part.kind not in ("number", "shape"):
                return False
        elif is_random(maker.op.name):
            is_drawn = True
        else:
            walk.enter(maker)
    return is_drawn and walk.is_complete


def drawn_below_zero(value: Value, depth: int = 6) -> bool:
    """Whether a value is a random draw of which about half is below 0, or a variable that starts
    with such a draw, with a small number added (`w + 1e-5`) or not.
    """
    site = widest(plain(value)).origin
    if not isinstance(site, Site) or depth == 0 or value.lo >= 0:
        return False
    if site.op.name in SUM_AND_PRODUCT:
        return any(
            number.is_number
            and 0 < number.lo <= (_GUARD if site.op.name == "tf.add" else INF)
            and drawn_below_zero(drawn, depth - 1)
            for number, drawn in both_orders(site)
        )
    if not site.op.starts:
        return is_random(site.op.name) and _centred(site)
    start = site.value(site.op.starts) if site.given(site.op.starts) else None
    if start is None or start.kind == "string":
        return starts_at_random(site)
    if isinstance(start.obj, CallableObject):
        return start.obj.out(Value(), site).lo < 0 and _centred(start.obj.site)
    return drawn_below_zero(start, depth - 1)


def _centred(draw: Site) -> bool:
    """Whether the mean of a draw lies so near to 0 that many of its numbers are below 0."""
    mean, spread = draw.const("mean", 0.0), draw.const("stddev", 0.05)
    return isinstance(mean, (int, float)) and isinstance(spread, (int, float)) and mean <= spread


def trained_from_zero(value: Value) -> bool:
    """Whether a value is a variable that training moves and that starts with nothing but 0."""
    site = plain(value).origin
    if not isinstance(site, Site) or not site.op.starts or not moved_by_training(site):
        return False
    return begins_at_zero(site)


def made_by_keras(value: Value) -> bool:
    """An attribute that the program never assigns and that Keras calls a kernel: what its own
    layers begin with, at random. (Who adds a small number to its norm reckons with 0 all the same.)
    """
    note = value.origin
    if not isinstance(note, Note) or not note.given or note.parameter:
        return False
    owner, _, attribute = note.path.rpartition(".")
    return bool(owner) and is_kernel(attribute)


def _drawn(divisor: Value, depth: int = 6) -> int:
    """How many random draws are added up in a divisor; 0 where something else is in it, and for
    draws of whole numbers. A weight that starts with random numbers counts as one of them: training
    does not move all of them to 0.
    """
    drawn = widest(plain(divisor))
    site = drawn.origin
    if isinstance(site, Note) and made_by_keras(plain(divisor)):
        return 1
    if isinstance(site, Note):
        site = (
            widest(plain(Value(origin=site.parent))).origin
            if isinstance(site.parent, Site)
            else None
        )
    if not isinstance(site, Site) or depth == 0:
        return 0
    name = site.op.name
    if is_random(name) or starts_at_random(site):
        return 0 if drawn.dtype in WHOLE else 1
    if name in REDUCED_SUMS + ("tf.norm", "tf.reduce_max"):
        return 2 * _drawn(site.value(site.op.main), depth - 1)
    if name in ADDITIONS:  # something else that is added to a draw leaves it one
        x, y = site.value("x"), site.value("y")
        return (
            0
            if name == "tf.subtract" and same(x, y)
            else _drawn(x, depth - 1) + _drawn(y, depth - 1)
        )
    if name == "tf.multiply":
        parts = [_drawn(part, depth - 1) for part in operands(site)]
        return min(parts)
    if name in CONSTANTS:
        return _drawn(site.value("x"), depth - 1)
    if name in DISPERSIONS:  # no two draws are equal
        return 2 * min(1, _drawn(site.value("x"), depth - 1))
    if name == "tf.concat":
        parts = site.value("values").obj
        is_listed = isinstance(parts, tuple) and bool(parts)
        return min(_drawn(part, depth - 1) for part in parts) if is_listed else 0
    return _drawn(site.value("x"), depth - 1) if name in ZERO_IF_INSIDE + ("tf.abs",) else 0


def has_hits(total: Site) -> bool:
    """How many of the rows of a tensor are equal to each one of them (`y[:, None] == y[None, :]`):
    that one is.
    """
    test = made_by(plain(total.value("x")), "tf.equal")
    axis = total.const("axis", None)
    return test is not None and axis in (None, 0, 1) and compares_each_with_all(test)


def has_ones(total: Site) -> bool:
    """A sum or norm of a unit matrix, also of one that was added to what is not negative as far as
    is known (the loops of a graph), of a kernel of points and themselves, or of the rows or columns
    of one on whose diagonal a number was put: none of them is 0.
    """
    plus = made_by(total.value("x"), "tf.add")
    for unit, summand in both_orders(plus):
        if made_by(unit, "tf.eye") is not None and (summand.nonnegative or not summand.known):
            return True
    if is_kernel_matrix(total.value("x")):
        return True
    filled = made_by(total.value("x"), "tf.eye", "tf.linalg.set_diag", aligned=True)
    if filled is None or filled.op.name == "tf.eye":
        return filled is not None
    diagonal = filled.value("diagonal")
    return diagonal.known and diagonal.nonzero and total.const("axis", None) in (None, -1, -2)


def has_constant_part(total: Site) -> bool:
    """The length, or sum of squares, of a vector to which something that is never 0 was joined
    along the axis that is summed: homogeneous coordinates, a column of ones for a bias.
    """
    vector = total.value(total.op.main or "x")
    square = made_by(vector, *SQUARES) if total.op.name in TOTALS else None
    if total.op.name in TOTALS and square is None:
        return False
    whole = made_by(square.value("x") if square is not None else vector, "tf.concat", aligned=True)
    if whole is None or not _is_along(whole, total):
        return False
    parts = whole.value("values").obj
    return isinstance(parts, tuple) and any(
        isinstance(part, Value) and part.known and part.nonzero for part in parts
    )


def _is_along(whole: Site, total: Site) -> bool:
    """Whether a sum is over all axes, or over the axis along which tensors were joined."""
    axis = total.const("axis", None)
    return axis is None or axis == whole.const("axis", 0)


def has_marks(total: Site) -> bool:
    """The sum of a mask of what is not 0 (`tf.cast(labels > 0, tf.float32)`), where the program
    puts something that is not 0 into every row: an end symbol by a one_hot or behind the others.
    """
    test = made_by(plain(total.value("x")), "tf.greater", "tf.not_equal")
    if test is None or not test.value("y").exact or test.value("y").lo != 0:
        return False
    return _is_marked(test.value("x"))


def _is_marked(value: Value, depth: int = 4) -> bool:
    """Whether every row of what is counted has an element above 0."""
    site = made_by(plain(value), "tf.add", "tf.multiply", "tf.one_hot", "tf.concat")
    if site is None or depth == 0:
        return False
    if site.op.name == "tf.one_hot":
        return site.value("on_value").lo > 0 if site.given("on_value") else True
    if site.op.name == "tf.concat":
        parts = site.value("values").obj
        return isinstance(parts, tuple) and any(
            part.known and part.lo > 0 or _is_marked(part, depth - 1) for part in parts
        )
    ways = both_orders(site)
    if site.op.name == "tf.multiply":
        return any(by.lo > 0 and _is_marked(part, depth - 1) for part, by in ways)
    return any(_is_marked(part, depth - 1) and (by.lo >= 0 or not by.evident) for part, by in ways)


def _of_free_exponents(value: Value) -> bool:
    """Whether elements are exponentials, sigmoids or softmaxes of weighted sums, which are as
    likely to be large as small: not all of them underflow at once. Of distances or masked scores
    they may.
    """
    exponential = made_by(plain(widest(plain(value))), *UNDERFLOWING, "tf.nn.softmax")
    return exponential is not None and _is_free(exponential)


def _of_modulating_factors(value: Value) -> bool:
    """Whether elements are powers of the complements of probabilities, or products with such."""
    factors = made_by(plain(value), "tf.multiply")
    if factors is not None:
        parts = operands(factors)
        return any(_of_modulating_factors(part) for part in parts)
    power = made_by(plain(value), *POWERS)
    if power is None or not power.value("y").lo > 0:
        return False
    probability = complemented(plain(power.value("x")))
    return probability is not None and _of_probabilities(probability)


def _of_probabilities(value: Value) -> bool:
    """Whether a value is a sigmoid or softmax, its complement, or a choice of such."""
    walk, probabilities = Walk(value, limit=20), 0
    for part in walk:
        site = made_by(part, *PROBABILITIES, *BRANCHES, "tf.subtract")
        if site is None:
            if not part.is_number:
                return False
        elif site.op.name in PROBABILITIES:
            probabilities += 1
        else:
            walk.enter(site, ("x", "y"))
    return probabilities > 0 and walk.is_complete


def _is_free(site: Site) -> bool:
    """Whether what an op is taken of is a weighted sum."""
    return made_by(plain(site.value(site.op.main)), *MATRIX_PRODUCTS) is not None


def from_mask(value: Value) -> bool:
    """`1.0 - mask`, a mask that was cast, or one that is known to lie within 0 and 1 and was tested
    or counted.
    """
    site = made_by(value, *MASKS)
    return site is not None and (site.op.name != "tf.subtract" or site.value("x").exact)


def handed_in(value: Value, depth: int = 4) -> bool:
    """A variable that starts with a value of which nothing is known, or what it is added to:
    the caller who hands a variance in knows that it is positive, and has it trained so.
    """
    producer = made_by(widest(plain(value)), *VARIABLES, "tf.add")
    if producer is None or depth == 0:
        return False
    if producer.op.name == "tf.add":
        parts = [producer.value("x"), producer.value("y")]
        inside = [handed_in(part, depth - 1) for part in parts]
        return any(inside) and all(
            one or part.lo >= 0 or not part.known for one, part in zip(inside, parts)
        )
    param = producer.op.starts
    start = producer.value(param) if producer.given(param) else None
    # What is computed may be anything.
    return (
        start is not None
        and not isinstance(start.origin, Site)
        and start.obj is None
        and not start.known
        and start.kind in NUMERIC_KINDS
    )


def called(value: Value, depth: int = 4) -> bool:
    """What a call gives that could not be followed, or a sum or product of it: degrees of nodes,
    gains of labels; whether any weight is behind it nothing says.
    """
    origin = behind(plain(value))
    if (
        not isinstance(origin, Site)
        or depth == 0
        or origin.op.name not in ("tf.reduce_sum", "tf.multiply")
    ):
        return isinstance(origin, Note) and origin.computed
    return any(
        called(origin.value(param), depth - 1) for param in ("x", "y") if param in origin.args
    )


def worked_out(value: Value) -> bool:
    """What a method of some other object gave that could not be followed:
    `expert.variance_at(x)`.
    """
    note = behind(widest(plain(value)))
    path = (
        path_of(note.node.func)
        if isinstance(note, Note) and note.computed and isinstance(note.node, ast.Call)
        else None
    )
    return path is not None and "." in path and not path.startswith("self.")


def passed(value: Value) -> bool:
    """Whether a value is, as it is, what callers in the project pass and could not be followed."""
    note = behind(value)
    return isinstance(note, Note) and note.passed


def _moved(value: Value) -> bool:
    """Whether a value is a variable that starts with what the program says, from where training may
    move it; what was handed in or computed and put into one is a setting, or an operand that a
    gradient is asked for.
    """
    variable = made_by(value, *VARIABLES)
    if variable is None:
        return False
    param = variable.op.starts
    start = variable.value(param) if variable.given(param) else None
    return (
        start is None
        or start.known
        or start.kind not in ("tensor", "unknown")
        or _difference(start)
    )


def _difference(value: Value) -> bool:
    """A difference of values of which nothing is known, scaled or not: its sign is open."""
    site = made_by(widest(plain(value)), "tf.subtract", "tf.divide", "tf.multiply")
    return site is not None and (site.op.name == "tf.subtract" or _difference(site.value("x")))


def falling(value: Value, depth: int = 8) -> bool:
    """A negative power, or a positive number divided by what is not negative (the kernels of
    Student and Cauchy): 0 at Inf only; its positive powers, products of such and of positive
    numbers, and its share of something (`q ** 2 / sum(q)`).
    """
    value = plain(widest(value))
    site = made_by(value, *POWERS, *FALLING_WITH) if value.lo >= 0 and depth else None
    if site is None:
        return False
    if site.op.name in POWERS:
        base, exponent = site.value("x"), site.value("y")
        return exponent.hi < 0 or exponent.lo > 0 and falling(base, depth - 1)
    if site.op.name in MASKINGS:
        return all([part.positive or falling(part, depth - 1) for part in operands(site)])
    if site.op.name == "tf.divide":
        return site.value("x").positive or falling(site.value("x"), depth - 1)
    return site.op.name == "tf.math.reciprocal" or falling(site.value("x"), depth - 1)


def _cut_off(value: Value) -> bool:
    """A negative number times what is kept at or below a number: the share of a schedule that is
    over, in its last steps 1.
    """
    scaled = made_by(value, "tf.multiply") if value.hi <= 0 else None
    return any(
        part.exact and made_by(plain(other), *CEILINGS) is not None
        for part, other in both_orders(scaled)
    )


def _exponent(power: Site) -> bool:
    """Whether a power is that of its base by a known number:
    otherwise only underflow makes it 0.
    """
    return power.value("y").is_number and power.value("y").const > 0


def _of_several_draws(divisor: Value) -> bool:
    """Whether two random draws would have to be 0 at once."""
    return _drawn(divisor) > 1


# Values whose bounds leave 0 open although no program comes to it, each by a question about the
# value (`shows_zero`), about the elements of a sum, and about the sum.
_LEFT_OPEN: tuple[Callable[[Value], bool], ...] = (
    _spread,
    picked,
    _on_a_kernel,
    _of_several_draws,
    _scale,
    _decayed,
    _quotient_of_scale,
    _sum_above_zero,
)
_ELEMENTS_ABOVE_ZERO: tuple[Callable[[Value], bool], ...] = (
    _scale,
    falling,
    _of_free_exponents,
    _of_modulating_factors,
)
_SUMS_ABOVE_ZERO: tuple[Callable[[Site], bool], ...] = (
    has_ones,
    has_hits,
    _has_counted,
    _of_all_examples,
)
