"""Divisors that can be 0: what in the program shows it, and how rare that is.

`x / sum(m)` where the function multiplies with `m`: a mask, which can be all 0. Bounds alone show
it of a norm, which is 0 for a vector of zeros only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, NamedTuple

from tfnanlint.diagnostics.findings import Differentiated
from tfnanlint.gradients.tapes import opens_tape
from tfnanlint.guards.post_guards import Masks, plain
from tfnanlint.idioms import confusion_counts, densities, loop_counters, quantities, ratios
from tfnanlint.idioms.labels import truth_only
from tfnanlint.idioms.vanishing import (
    SUMS,
    counted,
    has_ones,
    not_counted,
    ordinary,
    running_average,
    set_to_zero,
    shows_zero,
    sums_cut_off,
    sums_squares_from_zero,
    unscaled,
    zero_factor,
)
from tfnanlint.ops.provenance import widest
from tfnanlint.ops.site import Site, complemented, made_by, operands, same
from tfnanlint.ops.traits import (
    DISPERSIONS,
    INVERSES,
    INVERTING,
    QUOTIENTS,
    ROUNDINGS,
    SIMPLE_POWERS,
    SIZES,
)
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import INF, Value, is_numeric, value_in_words

Around = Callable[[ast.AST], list[ast.AST]]  # what stands around a node, innermost first

# Of weights that add up to 1 these are above 0, too.
_TENSOR_LIBRARIES: Final = ("tf", "keras", "K")


class ZeroEvidence(NamedTuple):
    """What shows that a divisor can be 0, in `words`; `by_bounds`: nothing but its bounds does, and
    `of_mask`: it adds up a mask.
    """

    words: str
    by_bounds: bool = False
    of_mask: bool = False


def zero_evidence(
    division: Site, divisor: Value, masks: Masks, interpreter: Evaluator, around: Around
) -> ZeroEvidence | None:
    """What shows that a divisor can be 0, as in `x / reduce_sum(mask)`; None where nothing does."""
    if _is_total_of_tensor(division, divisor) and _is_by_mask(division, divisor, masks):
        return _of_mask(divisor)
    if divisor.kind != "tensor":
        return _of_number(division, divisor, interpreter, around)
    if not_counted(divisor):
        return ZeroEvidence("the number of elements that were not counted, which can be 0")
    if _is_by_whole_counts(division, divisor, masks):
        return ZeroEvidence("a sum of counts that can all be 0")
    if counted(divisor) or not is_numeric(divisor) or divisor.nonzero or divisor.guarded:
        return None
    if sums_squares_from_zero(divisor):
        return ZeroEvidence("a mean of squared gradients, 0 for a weight that has had none yet")
    if divisor.known and shows_zero(divisor):
        return ZeroEvidence("0") if divisor.exact else _by_bounds(divisor)
    return _of_sum(division, divisor, masks)


def _of_sum(division: Site, divisor: Value, masks: Masks) -> ZeroEvidence | None:
    """What shows that a divisor can be 0 which is made of a sum."""
    if not divisor.known and zero_factor(divisor):
        return ZeroEvidence("a multiple of a sum that can be 0")
    if _is_by_mask(division, divisor, masks):
        return _of_mask(divisor)
    if _is_size_of_class(division, divisor):
        return ZeroEvidence("a sum of labels, 0 for a class that does not occur")
    if divisor.known and not divisor.lo == -INF < INF == divisor.hi:
        return None
    for shows, text in _SUMS_THAT_VANISH:
        if shows(division, divisor, masks):
            return ZeroEvidence(text)
    return None


def form_evidence(division: Site, divisor: Value) -> ZeroEvidence | None:
    """What the form of a quotient says of its divisor: that of a cosine, a coefficient of
    variation, a ratio of probabilities; None where it says nothing.
    """
    if divisor.nonzero or divisor.guarded or not is_numeric(divisor):
        return None
    if not division.given("x") or not division.given("y"):
        return None
    if divisor.kind == "tensor" and ratios.is_cosine(division):
        return ZeroEvidence("a product of two lengths, each of which can be 0")
    if divisor.kind == "tensor" and ratios.is_variation(division):
        return ZeroEvidence("the mean of the same elements, which is 0 where they are 0 or cancel")
    if densities.is_ratio(division) and division.differentiated is Differentiated.YES:
        return ZeroEvidence("a probability or density, which underflows to 0")
    if is_relative_error(division) and division.differentiated is Differentiated.YES:
        return ZeroEvidence("a label, which can be 0")
    return None


def _is_total_of_tensor(division: Site, divisor: Value) -> bool:
    """Whether NumPy adds up what may be a tensor, for a tensor to be divided by."""
    is_unknown_array = divisor.kind == "array" and not divisor.known
    return is_unknown_array and division.value("x").kind == "tensor"


def _is_by_mask(division: Site, divisor: Value, masks: Masks) -> bool:
    if any(map(has_ones, quantities.sums(divisor))):
        return False
    return is_sum_of_mask(division) or sums_weights_used(division, divisor, masks)


def _is_size_of_class(division: Site, divisor: Value) -> bool:
    """Whether a divisor is a sum of labels, or a power of it, that is 0 for a class which does not
    occur: over several axes, those of an image, as in the weights `1 / square(sum(y, [1, 2]))` of a
    generalised Dice loss; or over all elements, of what is 0 or 1, `sum(1 - y)`, `sum(round(y))`.
    Sums over the last axis alone are 1 for one-hot labels.
    """
    total = made_by(quantities.power_of(divisor), "tf.reduce_sum")
    if total is None:
        return False
    labels = total.value("x")
    if total.given("axis"):
        axes = total.value("axis").obj
        is_of_class = isinstance(axes, tuple) and len(axes) > 1
    else:
        is_of_class = complemented(labels) is not None or made_by(labels, *ROUNDINGS) is not None
    return is_of_class and truth_only(labels, division.point)


def _of_mask(divisor: Value) -> ZeroEvidence:
    totals = quantities.sums(divisor)
    is_mean = bool(totals) and totals[0].op.name == "tf.reduce_mean"
    words = f"a {'mean' if is_mean else 'sum'} over a mask that can be all 0"
    return ZeroEvidence(words, of_mask=True)


def _by_bounds(divisor: Value) -> ZeroEvidence:
    return ZeroEvidence(value_in_words(divisor), by_bounds=True)


def _of_number(
    division: Site, divisor: Value, interpreter: Evaluator, around: Around
) -> ZeroEvidence | None:
    """What shows that a Python number by which a tensor is divided can be 0."""
    if divisor.const == 0 and divisor.is_number:
        return ZeroEvidence("0") if _divides_tensor(division) else None
    if loop_counters.runs_through_zero(division, divisor, around):
        return _by_bounds(divisor) if _divides_tensor(division) else None
    if set_to_zero(divisor) and (
        _divides_tensor(division) or _feeds_op(division, interpreter, around)
    ):
        return ZeroEvidence("a setting that is 0 by default")
    return None


def _divides_tensor(division: Site) -> bool:
    """Whether a tensor is divided: it costs more to know than whether the divisor can be 0."""
    return division.value("x").kind == "tensor"


def _feeds_op(division: Site, interpreter: Evaluator, around: Around) -> bool:
    """Whether a quotient of which nothing else is known goes into an op: it is a tensor, for Python
    would have complained.
    """
    if division.value("x").kind != "unknown" or division.point is None:
        return False
    outer = next(iter(around(division.node)), None)
    if not isinstance(outer, ast.Call):
        return False
    site = interpreter.site(outer, division.point)
    return (
        site is not None
        and site.library in _TENSOR_LIBRARIES
        and division.node in site.args.values()
    )


def is_rarely_zero(division: Site, divisor: Value) -> bool:
    """Whether 0 takes a vector of zeros, two points that coincide or an exponential that
    underflows, and nothing says that a gradient is taken.
    """
    return (
        divisor.kind != "number"
        and division.differentiated is not Differentiated.YES
        and not _is_part_of_gradient(division)
        and not _is_own_sign(division)
        and not ordinary(divisor)
        and not is_sum_of_mask(division)
    )


def _is_part_of_gradient(division: Site) -> bool:
    """Whether a quotient stands in the gradient that a function defines of itself
    (`@tf.custom_gradient`): what it gives is the gradient.
    """
    function = division.point.scope.function if division.point is not None else None
    around = function.point.scope.function if function is not None else None
    return around is not None and around.defines_gradient


def _is_own_sign(division: Site) -> bool:
    """Whether a quotient is `x / abs(x)`, element by element: one 0 among them is NaN."""
    magnitude = made_by(plain(division.value("y")), "tf.abs") if division.given("x") else None
    return magnitude is not None and same(plain(magnitude.value("x")), plain(division.value("x")))


def is_spread_of_whole(divisor: Value) -> bool:
    """Whether a divisor is the spread of a whole tensor (`reduce_std(x)`), a mean of roots over all
    of it, or a mean of squares: 0 only where all elements are equal.
    """
    root = made_by(plain(widest(plain(divisor))), "tf.sqrt")
    inner = divisor if root is None else root.value("x")
    site = made_by(inner, *DISPERSIONS, "tf.reduce_mean")
    if site is None:
        return False
    is_mean = site.op.name == "tf.reduce_mean"
    if is_mean and made_by(site.value("x"), "tf.square", "tf.pow") is not None:
        return True
    if site.const("axis", None) is not None:
        return False
    return not is_mean or made_by(site.value("x"), "tf.sqrt") is not None


def weakness_of_size(divisor: Value) -> str:
    """The kind of evidence that a divisor, or what a logarithm is taken of, is 0, as `kinds` names
    it: "size-minus-one" where a factor is the length of an axis less 1, or the logarithm of such a
    length; empty for others.
    """
    for factor in quantities.factors(divisor) or [divisor]:
        logarithm = made_by(plain(factor), "tf.math.log")
        if logarithm is not None and _is_size(logarithm.value("x")):
            return "size-minus-one"
        less = made_by(plain(factor), "tf.subtract")
        if less is not None and less.value("y").lo == less.value("y").hi == 1:
            size = plain(less.value("x"))
            is_number = size.kind == "number" and size.lo >= 0  # of Python: `x.shape[-1]`
            if is_number or made_by(size, "tf.shape") is not None:
                return "size-minus-one"
    return ""


def _is_size(value: Value) -> bool:
    """Whether a value is the length of an axis, of Python or a tensor, as any number type."""
    value = plain(widest(plain(value)))
    converted = made_by(value, "builtins.float", "builtins.int")
    inner = value if converted is None else plain(converted.value(converted.op.main))
    if inner.kind == "number":  # of Python: `x.shape[-1]`
        return inner.dtype == "int32" and inner.lo == 1 < inner.hi
    return made_by(inner, *SIZES) is not None


def is_same_in_each_step(division: Site, around: Around) -> bool:
    """Whether a divisor is computed before the loop in which each step takes a gradient of the
    quotient: with 0 the first step of any run would fail.
    """
    divisor, is_taped = division.value("y").origin if division.given("y") else None, False
    if not isinstance(divisor, Site) or divisor.source is not division.source:
        return False
    for outer in around(division.node):
        if isinstance(outer, ast.With):
            is_taped = is_taped or opens_tape(outer)
        elif isinstance(outer, (ast.For, ast.While)) and is_taped:
            return divisor.node.lineno < outer.lineno
    return False


def divides_by(division: Site, producer: Site) -> bool:
    """Whether a quotient divides by what a site gives, scaled or not."""
    if division.op.name not in QUOTIENTS or not division.given("y"):
        return False
    divisor = unscaled(plain(division.value("y"))).origin
    return isinstance(divisor, Site) and divisor.node is producer.node


def is_sum_of_mask(division: Site) -> bool:
    """Whether a quotient is `sum(x * m) / sum(m)`, `m @ x / sum(m)` or `sum(x * m / sum(m))`: the
    product shows that `m` is a mask, or weights. A running average is none.
    """
    if not division.given("y") or not division.given("x") or is_raised(division.value("y")):
        return False
    totals = quantities.sums(division.value("y"))
    if not totals:
        return False
    factors = quantities.weighed(division.value("x"))
    return any(
        same(summand, factor)
        for total in totals
        for summand in quantities.summands(total)
        if running_average(summand) is None
        for factor in factors
    )


def sums_weights_used(division: Site, divisor: Value, masks: Masks) -> bool:
    """Whether a quotient is `n / sum(m)`, `rsqrt(sum(m))` or `n / sum(m) ** 2` where the function
    multiplies with `m`, too: `m` is a mask, or weights. Of a sum with known bounds only the power
    tells more.
    """
    power = quantities.power_of(divisor)
    if divisor.known and power is plain(divisor):
        return False
    if division.op.name not in INVERTING or division.point is None:
        return False
    total = made_by(power, "tf.reduce_sum")
    if total is None:
        return False
    weight = plain(total.value("x"))
    is_input = not weight.known and not isinstance(weight.origin, Site)
    return is_input and masks.weighs(weight, division.point.scope)


def _is_normalised_weight(division: Site, divisor: Value, masks: Masks) -> bool:
    """Whether a quotient is `w / sum(w)`, and is multiplied with something else, which shows that
    `w` is a weight. Inverse distances cannot be 0, nor sums of a whole row, of which all would have
    to be.
    """
    if division.op.name != "tf.divide":
        return False
    total = made_by(plain(division.value("y")), *SUMS)
    if total is None:
        return False
    weight = plain(division.value("x"))
    if not any(same(weight, summand) for summand in quantities.summands(total)):
        return False
    power = made_by(weight, *SIMPLE_POWERS)
    base = weight if power is None else power.value("x")
    if made_by(base, *INVERSES, *SUMS) is not None:
        return False
    return any(
        product.value("y" if param == "x" else "x").kind != "number"
        for product, param, _ in masks.factors(division)
    )


def _is_harmonic_mean(division: Site, divisor: Value, masks: Masks) -> bool:
    """Whether a quotient is `2 * a * b / (a + b)`: precision and recall are both 0 where nothing is
    right.
    """
    total = made_by(plain(division.value("y")), "tf.add")
    if total is None or not division.given("x"):
        return False
    first, second = plain(total.value("x")), plain(total.value("y"))
    if same(first, second):
        return False
    factors = [plain(factor) for factor in quantities.factors(division.value("x"))]
    return all(any(same(summand, factor) for factor in factors) for summand in (first, second))


def _is_sum_of_counts(division: Site, divisor: Value, masks: Masks) -> bool:
    """Whether a quotient is by a sum of counts, such as `tp / (tp + fp)`."""
    return division.given("x") and confusion_counts.all_vanish(divisor, division)


def _is_by_counters(division: Site, divisor: Value, masks: Masks) -> bool:
    """Whether a quotient is by variables that count from 0: the result of a metric."""
    return confusion_counts.are_counters(divisor, division)


def _is_by_whole_counts(division: Site, divisor: Value, masks: Masks) -> bool:
    """Whether a quotient of whole numbers, of which `/` makes floats, is by a sum of counts, or by
    a number of elements that can be 0.
    """
    if division.op.name != "tf.divide" or divisor.dtype not in ("int32", "int64"):
        return False
    is_total = made_by(plain(widest(plain(divisor))), *SUMS) is not None
    is_empty = is_total and divisor.known and shows_zero(divisor) and not counted(divisor)
    return is_empty or _is_sum_of_counts(division, divisor, masks)


def _is_by_products_cut_off(division: Site, divisor: Value, masks: Masks) -> bool:
    """Whether a quotient is by a sum of products with relu outputs, `x / sum(relu(s) * w)`."""
    return sums_cut_off(divisor)


def _is_by_union(division: Site, divisor: Value, masks: Masks) -> bool:
    """Whether a quotient is an overlap by a union, `i / (a + b - i)`."""
    return division.given("x") and quantities.is_union(divisor, division.value("x"))


def _is_by_free_union(division: Site, divisor: Value, masks: Masks) -> bool:
    """Whether a quotient is an overlap by a union in which a network chooses an area freely."""
    return division.given("x") and quantities.is_free_union(divisor, division.value("x"))


def _is_by_both_areas(division: Site, divisor: Value, masks: Masks) -> bool:
    """Whether a quotient is an overlap by the areas of both, `sum(a * b) / sum(a + b)`."""
    return (
        division.given("x")
        and not is_raised(division.value("y"))
        and quantities.is_by_both_areas(division)
    )


def is_relative_error(division: Site) -> bool:
    """Whether a quotient is the error of a prediction as a share of its label, `(y - p) / y`, as in
    a mean absolute percentage error: nothing keeps labels off 0.
    """
    divisor = division.value("y")
    if divisor.known or not truth_only(divisor, division.point):
        return False
    dividend = plain(division.value("x"))
    magnitude = made_by(dividend, "tf.abs")
    error = made_by(dividend if magnitude is None else magnitude.value("x"), "tf.subtract")
    return any([same(plain(part), plain(divisor)) for part in operands(error)])


# What shows that a sum with unknown bounds can be 0, and how it is said.
_SUMS_THAT_VANISH: Final = (
    (_is_normalised_weight, "a sum of weights that can all be 0"),
    (
        _is_harmonic_mean,
        "the sum of two values that can both be 0",
    ),
    (_is_sum_of_counts, "a sum of counts that can all be 0"),
    (_is_by_counters, "what variables have added up, which start at 0"),
    (_is_by_products_cut_off, "a sum of products that can all be 0"),
    (_is_by_union, "the union of two areas that can both be 0"),
    (_is_by_free_union, "the union of two areas, one of which can be any number"),
    (_is_by_both_areas, "the sum of two areas that can both be 0"),
)


def is_raised(value: Value, depth: int = 8) -> bool:
    """Whether something positive is added to a sum, before or after it is scaled: `sum(m) + 1e-5`,
    `(sum(m) + 1e-5) * channels`, `sum(m) + sum(softmax(z)) + smooth`.
    """
    value = quantities.power_of(widest(plain(value)))
    total = made_by(value, "tf.add")
    if total is not None:
        parts = operands(total)
        is_one = any([part.positive for part in parts])
        return is_one or depth > 0 and any([is_raised(part, depth - 1) for part in parts])
    product = made_by(value, "tf.multiply") if depth else None
    if product is None:
        return False
    factors = operands(product)
    return any(plain(factor).guarded or is_raised(factor, depth - 1) for factor in factors)


def share_clipped_above_zero(clip: Site) -> Site | None:
    """The share `x / sum(x)` that a clip keeps above 0, as it comes; None for any other."""
    floor = clip.value("clip_value_min") if clip.given("clip_value_min") else None
    if floor is None or floor.lo <= 0:
        return None
    quotient = made_by(clip.value("x"), "tf.divide", aligned=True)
    return quotient if quotient is not None and _is_own_share(quotient) else None


def _is_own_share(quotient: Site) -> bool:
    """Whether a quotient is `x / sum(x)`, with a sum of which nothing else is known."""
    divisor = quotient.value("y")
    if divisor.known or divisor.guarded:
        return False
    total = made_by(plain(divisor), *SUMS)
    return total is not None and same(plain(total.value("x")), plain(quotient.value("x")))
