"""Repairs of quotients, chosen by what the divisor is (`Quantity`)."""

from __future__ import annotations

import ast
from typing import Callable, Final, Iterable, Iterator

from tfnanlint.conventions.identifiers import SMOOTHING_NAMES
from tfnanlint.diagnostics.findings import Claim, Differentiated, Fix
from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import densities
from tfnanlint.idioms.quantities import (
    Quantity,
    areas_of_union,
    complement,
    is_integer,
    is_overlap,
    is_standardised,
    is_variance,
    quantity,
    scale,
    vanishes_with,
    zero_meant,
)
from tfnanlint.idioms.root_kinds import roots_in
from tfnanlint.idioms.trained_weights import trained
from tfnanlint.idioms.vanishing import not_counted
from tfnanlint.ops.provenance import Walk, site_behind
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import (
    ADDITIONS,
    CLIPS,
    LINEAR,
    LOGARITHMS,
    NAN_TESTS,
    QUOTIENTS,
    SAFE_DIVISIONS,
    WHOLE_DIVISIONS,
)
from tfnanlint.program.scope import Point
from tfnanlint.rewrite.availability import Named
from tfnanlint.rule import recipes as repairs
from tfnanlint.rule.registry import Context, Part
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.value import INF, WHOLE, Note, Value

Repair = Callable[[Context, Site, str], list[Fix]]
# The forms that are 0 where the divisor is 0.
_NO_NAN: Final = {
    "tf.divide": "tf.math.divide_no_nan({x}, {y})",
    "tf.math.reciprocal": "tf.math.reciprocal_no_nan({x})",
}
_USES: Final = {
    **dict.fromkeys((Quantity.SQUARES, Quantity.PROBABILITY, Quantity.WEIGHTS), "squares"),
    Quantity.COMPLEMENT: "complement",
}
_SIMPLE: Final = (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)
_COUNTED: Final = "keep the count at or above 1"
# Why there is no fix where the numerator stays away from 0.
NO_VALUE: Final = (
    "what the quotient should be where the divisor is 0 is not known: keep the divisor away from 0 "
    "where it is computed"
)


def fixes_of(here: Context, division: Site, param: str = "y") -> list[Fix]:
    """The fixes of a division by what arrives at a parameter, the best first; [] where nothing
    keeps what the program means.
    """
    divisor = division.value(param)
    # a counter, which is no tensor: where it should begin only its author knows
    if divisor.kind == "number":
        return []
    masked = here.masked(division)
    if masked is not None and masked.by_result or _is_tested(here, division):
        return []  # the program asks whether the result is finite
    if _has_guarded_twin(here, division, divisor):
        here.no_fix = "the other branch gives 0 there: callers choose between the two"
        return []
    name = _empty_guard(here, divisor)
    if name:
        here.no_fix = f"'{name}' is its guard and is 0: give it a value above 0"
        return []
    overlap = overlap_beside(here, division) if param == "y" and divisor.nonnegative else None
    if overlap is not None:
        return with_overlap(here, division, overlap)
    if division.op.name == "tf.math.rsqrt" and quantity(divisor) is not Quantity.COUNT:
        return repairs.under_the_root(here, [division])
    inside = roots_in(divisor) if division.op.name != "tf.math.rsqrt" else []
    if inside and division.differentiated is not Differentiated.NO:
        return repairs.under_the_root(here, inside, division)
    if (
        masked is not None and masked.choice.op.name in CLIPS or _absorbed(here, division)
    ) and not _is_nan_at_zero(division, param):
        # of Inf the program makes a finite number, and still does
        return floor(here, division, param)
    return _BY_QUANTITY[quantity(divisor)](here, division, param)


def _is_tested(here: Context, division: Site) -> bool:
    """Whether a quotient is only asked whether it is finite, as in `is_nan(a / n)`: with a floor it
    would be, and the one that the program keeps beside the test would not.
    """
    outer = next(iter(here.around(division.node)), None)
    test = here.site(outer, division.point) if isinstance(outer, ast.Call) else None
    return test is not None and test.op.name in NAN_TESTS


def _has_guarded_twin(here: Context, division: Site, divisor: Value) -> bool:
    """Whether a division stands in one branch of an `if` of which the other divides by the same
    without NaN: the `else` of `if self.no_nan:`.
    """
    inner: ast.AST = division.node
    for outer in here.around(division.node):
        if isinstance(outer, ast.If) and inner is not outer.test:
            twin = outer.orelse if inner in outer.body else outer.body
            if any(_is_safe_division(here, call, division, divisor) for call in _calls(twin)):
                return True
        inner = outer
    return False


def _calls(statements: Iterable[ast.stmt]) -> Iterator[ast.Call]:
    for statement in statements:
        yield from (node for node in ast.walk(statement) if isinstance(node, ast.Call))


def _is_safe_division(here: Context, call: ast.Call, division: Site, divisor: Value) -> bool:
    """Whether a call divides by a value, and gives 0 where that is 0."""
    place = here.standing(call, division.point) if division.point is not None else None
    site = here.site(call, place) if place is not None else None
    if site is None or site.op.name not in SAFE_DIVISIONS:
        return False
    return any(same(site.value(param), divisor) for param in site.args if param in ("x", "y"))


def _is_logged(here: Context, division: Site) -> bool:
    """Whether the logarithm of a quotient is taken at once, which is -inf where that is 0."""
    outer = next(iter(here.around(division.node)), None)
    if not isinstance(outer, ast.Call) or division.point is None:
        return False
    log = here.site(outer, division.point)
    return log is not None and log.op.name in LOGARITHMS


def _empty_guard(here: Context, divisor: Value) -> str:
    """The name of a guard that a divisor adds and that is 0 (`eps=0` among the parameters); empty
    where there is none.
    """
    total = here.made_by(divisor, "tf.add")
    for param in ("x", "y") if total is not None else ():
        node, value = total.args.get(param), total.value(param)
        if isinstance(node, ast.Name) and node.id in SMOOTHING_NAMES and value.is_number:
            return node.id if value.const == 0 else ""
    return ""


def floor(here: Context, division: Site, param: str = "y") -> list[Fix]:
    """A floor under a divisor that is never negative, far below its ordinary values; none in
    float16, which has no room for one.
    """
    eps = least(here, division, param)
    if not eps or param not in division.args:
        return []
    return repairs.named_if_long(
        here,
        division,
        division.args[param],
        f"tf.maximum({{x}}, {eps})",
        {"x": division.args[param]},
        "divisor",
        title=f"keep the divisor at or above {eps}",
        claim=Claim.SHIFTED,
        cost=f"divisors below {eps} become {eps}",
    )


def least(here: Context, division: Site, param: str = "y") -> str:
    """The constant of such a floor; "" where there is none."""
    divisor, rsqrt = division.value(param), division.op.name == "tf.math.rsqrt"
    if not divisor.nonnegative or divisor.hi == 0 or of_half(division) and not rsqrt:
        return ""
    if division.op.name in WHOLE_DIVISIONS:
        return ""  # how often 1e-7 goes into a number is no answer to how often 0 does
    return here.epsilon(
        divisor, "inverse root" if rsqrt else _USES.get(quantity(divisor), "divisor")
    )


def zeros(here: Context, division: Site, param: str = "y") -> list[Fix]:
    """The form that is 0 where the divisor is 0:
    the quotient stays as it is wherever it is finite.
    """
    template = _NO_NAN.get(division.op.name)
    if (
        template is None
        or is_integer(division.value(param))
        or any(one not in division.args for one in {"x", param})
    ):
        return []
    if _is_logged(here, division):
        here.no_fix = "the logarithm of 0 is -inf: subtract the logarithms of both"
        return []
    if here.speller.library(division) == "K" and not here.speller.can(template, division):
        return []  # a file of Keras alone gets no import of TensorFlow for it
    return here.rewrite(
        division,
        template,
        title="return 0 where the divisor is 0",
        claim=Claim.EQUAL_WHERE_FINITE,
        x=division.args["x"],
        y=division.args[param],
    )


def overlap_beside(here: Context, division: Site) -> Site | None:
    """The overlap of two areas by their union that a quotient is added to or subtracted from, where
    the union may be 0 as far as is known: what the quotient divides by is 0 only with it (the box
    around both).
    """
    inner: ast.AST = division.node
    for outer in here.around(division.node) if division.point is not None else ():
        site = here.site(outer, division.point) if isinstance(outer, ast.expr) else None
        if site is None or site.op.name not in LINEAR:
            return None
        addend = "y" if site.args.get("x") is inner else "x"
        for value in repairs.terms(here, site.value(addend)) if site.op.name in ADDITIONS else ():
            term = made_by(plain(value), "tf.divide")
            if term is not None and _may_be_empty(term):
                return term
        inner = outer
    return None


def _may_be_empty(overlap: Site) -> bool:
    """Whether a quotient is the overlap of two areas by their union, of which nothing shows that it
    is not 0.
    """
    union = overlap.value("y")
    safe = union.nonzero or union.guarded
    return not safe and areas_of_union(union, overlap.value("x")) is not None


def with_overlap(here: Context, division: Site, overlap: Site) -> list[Fix]:
    """The forms of a quotient and of the overlap beside it that are 0 where they divide by 0."""
    scopes = [site.point.scope for site in (division, overlap) if site.point is not None]
    if overlap.source is not here.source or len(scopes) < 2 or scopes[0] is not scopes[1]:
        here.no_fix = "the overlap next to it is 0 / 0 there as well: repair both"
        return []
    parts: list[Part] = [
        (site.node, _NO_NAN["tf.divide"], {"x": site.args["x"], "y": site.args["y"]})
        for site in (division, overlap)
        if site.op.name in _NO_NAN and site.complete
    ]
    if len(parts) < 2:
        return []
    return here.rewrite_all(
        division,
        parts,
        title="0 where the divisor is 0, in the overlap beside it, too",
        claim=Claim.EQUAL_WHERE_FINITE,
    )


def later_divisors(here: Context, site: Site) -> Iterator[Site]:
    """The divisions further down in the function of a site whose divisors are made of what it gives
    and of which nothing shows that they are not 0: a repair of the site alone may leave NaN there.
    """
    scope = site.point.scope if site.point is not None else None
    if scope is None or scope.function is None:
        return
    for whole, time in scope.statements:
        if whole.lineno <= (site.node.end_lineno or site.node.lineno):
            continue
        for node in nodes_in(whole):
            if not isinstance(node, (ast.Call, ast.BinOp)):
                continue
            quotient = here.site(node, Point(scope, time))
            if quotient is None or quotient.op.name != "tf.divide":
                continue
            divisor = quotient.value("y")
            safe = divisor.nonzero or divisor.guarded or not here.numeric(divisor)
            if not safe and divisor.kind != "number" and _made_from(divisor, site):
                yield quotient


def _made_from(value: Value, site: Site, most: int = 80) -> bool:
    """Whether a value is made of what a site gives, and no setting is added on the way."""
    walk = Walk(value, limit=most)
    for part in walk:
        origin = site_behind(part)
        if origin is None or part.kind == "number":
            continue
        if origin.node is site.node:
            return True
        if origin.op.name == "tf.add" and any(
            [_setting(origin.value(param)) for param in origin.args]
        ):
            continue
        walk.enter(origin, origin.args)
    return False


def _setting(value: Value) -> bool:
    """Whether a value is a number, no small one as guards are made of, or a parameter."""
    if value.kind == "number":
        return not (value.exact and 0 < value.lo < 1e-3)
    return isinstance(value.origin, Note) and bool(value.origin.parameter)


# One for each kind of quantity


def _by_count(here: Context, division: Site, param: str) -> list[Fix]:
    """0 where the numerator is a sum over what is counted; else a count of at least 1, which no
    other count is below. What only measures does not get a wrong number for an estimate that takes
    two elements.
    """
    if division.differentiated is Differentiated.NO and _of_pairs(division.value(param)):
        here.no_fix = "a single element forms no pair: skip such a batch"
        return []
    unit = "1" if division.value(param).dtype in (None, *WHOLE) else "1.0"
    if param not in division.args:
        return zeros(here, division, param)
    beside = _by_same_divisor(here, division)
    if beside and not all(map(_vanishes, [division, *beside])):
        return _counted_together(here, [division, *beside], unit)
    counted = repairs.named_if_long(
        here,
        division,
        division.args[param],
        f"tf.maximum({{x}}, {unit})",
        {"x": division.args[param]},
        "count",
        title=_COUNTED,
        claim=Claim.EQUAL_WHERE_FINITE,
    )
    nothing = zeros(here, division, param)
    # the first releases of TensorFlow have no quotient that is 0
    zero_first = division.op.name == "tf.divide" and not here.speller.first_version
    return nothing + counted if zero_first and _vanishes(division) else counted + nothing


def _by_same_divisor(here: Context, division: Site) -> list[Site]:
    """The other quotients in the statement of a quotient that divide by the same expression."""
    statement = next(
        (node for node in here.around(division.node) if isinstance(node, ast.stmt)), None
    )
    divisor = division.args.get("y")
    if not isinstance(statement, _SIMPLE) or divisor is None or division.point is None:
        return []
    quotients = []
    for node in ast.walk(statement):
        if not isinstance(node, (ast.BinOp, ast.Call)) or node is division.node:
            continue
        place = here.standing(node, division.point)
        site = here.site(node, place) if place is not None else None
        if site is None or site.op.name != "tf.divide" or "y" not in site.args or not site.complete:
            continue
        if ast.dump(site.args["y"]) == ast.dump(divisor):
            quotients.append(site)
    return quotients


def _counted_together(here: Context, divisions: list[Site], unit: str) -> list[Fix]:
    """One count of at least 1 for the quotients of a statement that divide by the same count."""
    divisions = sorted(divisions, key=lambda division: here.source.span(division.node).start)
    count = Named("count", f"tf.maximum({{x}}, {unit})", {"x": divisions[0].args["y"]})
    return here.rewrite_all(
        divisions[0],
        [(division.args["y"], "{v}", {"v": count}) for division in divisions],
        title=_COUNTED,
        claim=Claim.EQUAL_WHERE_FINITE,
    )


def _of_pairs(value: Value) -> bool:
    """Whether a value is how many ordered pairs there are among n elements, n * (n - 1)."""
    product = made_by(plain(value), "tf.multiply")
    for param, count in (("x", "y"), ("y", "x")) if product is not None else ():
        rest = made_by(plain(product.value(param)), "tf.subtract")
        if (
            rest is not None
            and rest.value("y").const == 1
            and same(rest.value("x"), product.value(count))
        ):
            return True
    return False


def _by_weights(here: Context, division: Site, param: str) -> list[Fix]:
    """0 where nothing weighed means nothing to divide, and where the file's library has no such
    form a floor under the quotient, which is 0 there all the same.
    """
    if not division.given("x") or not _vanishes(division):
        here.no_fix = NO_VALUE
        return []
    return zeros(here, division, param) + _smoothed(here, division) + floor(here, division, param)


def _by_root(here: Context, division: Site, param: str) -> list[Fix]:
    """0 where 0 / 0 is meant: a vector by its length, elements by their deviation."""
    if not division.given("x") or not (_vanishes(division) or is_standardised(division)):
        here.no_fix = NO_VALUE
        return []
    return zeros(here, division, param)


def _by_magnitude(here: Context, division: Site, param: str) -> list[Fix]:
    """0, or a floor, where 0 / 0 is meant. Of a number that stays away from 0 a floor would make
    one that is 1e7 times as large as any other.
    """
    if division.op.name != "tf.divide" or not _vanishes(division):
        here.no_fix = NO_VALUE
        return []
    surely = vanishes_with(division.value("x"), division.value(param))
    return zeros(here, division, param) + (floor(here, division, param) if surely else [])


def _by_squares(here: Context, division: Site, param: str) -> list[Fix]:
    """The same, and a floor under what squares are divided by, but not under a variance: of the
    share of it that is explained nothing is known where it is 0.
    """
    both = division.given("x") and quantity(division.value("x")) is Quantity.SQUARES
    both = both and not is_variance(division.value(param))
    return floor(here, division, param) if both else _by_magnitude(here, division, param)


def _by_complement(here: Context, division: Site, param: str) -> list[Fix]:
    """A floor under 1 minus a probability that the function itself computes, below all other values
    that it can have.
    """
    here.no_fix = NO_VALUE
    taken = complement(division.value(param))
    if taken is not None and trained(taken.value(taken.op.main)) is not None:
        here.no_fix = "training would have to move a weight far to bring the probability to 1"
        return []
    own = [site.point.scope for site in (division, taken) if site is not None and site.point]
    return floor(here, division, param) if len(own) == 2 and own[0] is own[1] else []


def _by_scale(here: Context, division: Site, param: str) -> list[Fix]:
    """A small number added where the scale is made, so that all that reads it is safe."""
    producer = scale(division.value(param))
    if (
        producer is None
        or producer.source is not here.source
        or not here.visible(producer, division)
        or of_half(division)
    ):
        return []
    eps = here.epsilon(division.value(param), "divisor")
    return here.rewrite(
        producer,
        f"{{made}} + {eps}",
        made=here.text(producer.node),
        title=f"add {eps} where the scale is computed",
        claim=Claim.SHIFTED,
        cost=f"the scale grows by {eps}",
    )


def _by_anything(here: Context, division: Site, param: str) -> list[Fix]:
    """No floor: it would turn the sign of what lies below it."""
    return (
        zeros(here, division, param)
        if division.op.name == "tf.divide" and zero_meant(division)
        else []
    )


_BY_QUANTITY: Final[dict[Quantity, Repair]] = {
    Quantity.COUNT: _by_count,
    Quantity.WEIGHTS: _by_weights,
    Quantity.SQUARES: _by_squares,
    Quantity.ROOT: _by_root,
    Quantity.SCALE: _by_scale,
    Quantity.PROBABILITY: floor,
    Quantity.COMPLEMENT: _by_complement,
    Quantity.MAGNITUDE: _by_magnitude,
    Quantity.SIGNED: _by_anything,
    Quantity.UNKNOWN: _by_anything,
}


def _absorbed(here: Context, division: Site) -> bool:
    """Whether an infinite quotient becomes a finite number in the same expression: as a divisor
    (`x / (a / n)` is 0), or as the argument of what has bounds (sigmoid, exp of what is never
    positive).
    """
    if division.point is None or _bounded(here.value(division.node, division.point)):
        return False
    inner: ast.AST = division.node
    for outer in here.around(division.node):
        if isinstance(outer, ast.Call):
            site = here.site(outer, division.point)
            if site is not None and site.op.name in QUOTIENTS:
                return site.args.get("y") is inner
            return site is not None and _bounded(here.value(outer, division.point))
        if not isinstance(outer, ast.UnaryOp) and not (
            isinstance(outer, ast.BinOp) and isinstance(outer.op, (ast.Mult, ast.Div))
        ):
            return False
        if isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Div) and outer.right is inner:
            return True
        inner = outer
    return False


def _bounded(value: Value) -> bool:
    return value.lo > -INF and value.hi < INF


def _is_nan_at_zero(division: Site, param: str) -> bool:
    """Whether a quotient by 0 is surely 0 / 0, of which nothing makes a finite number."""
    return division.op.name == "tf.divide" and vanishes_with(
        division.value("x"), division.value(param)
    )


def _vanishes(division: Site) -> bool:
    """Whether nothing to divide by means nothing to divide."""
    meant = quantity(division.value("y")) is not Quantity.SQUARES and zero_meant(division)
    return meant or vanishes_with(division.value("x"), division.value("y"))


def _smoothed(here: Context, division: Site) -> list[Fix]:
    """Dice and IoU with a small number above and below, the one that the file has for it where it
    has one.
    """
    if division.op.name != "tf.divide" or not is_overlap(division):
        return []
    eps = _own_constant(here, division) or here.epsilon(division.value("y"), "divisor")
    return here.rewrite(
        division,
        f"({{x}} + {eps}) / ({{y}} + {eps})",
        title="add an epsilon to numerator and denominator",
        claim=Claim.SHIFTED,
        cost=f"0 / 0 becomes 1; other values change by about {eps} / divisor",
        x=division.args["x"],
        y=division.args["y"],
    )


def _own_constant(here: Context, division: Site) -> str:
    """The name of a positive number that smooths quotients where a division stands; "" where there
    is none.
    """
    for name in SMOOTHING_NAMES if division.point is not None else ():
        binding = division.point.lookup(name)
        value = binding.value(here.interpreter) if binding is not None else None
        if value is not None and value.is_number and value.positive:
            return name
    return ""


def of_half(division: Site) -> bool:
    """Whether a quotient is one of float16, of which one operand is known to be."""
    return any(
        division.value(param).dtype == "float16"
        for param in division.op.params
        if division.given(param)
    )


def advice(division: Site, divisor: Value) -> str:
    """What to do where no fix is offered; empty where the reason says it."""
    if divisor.nonnegative and of_half(division) and not zero_meant(division):
        return "in float16 every usable floor is too close to ordinary values: divide in float32"
    if densities.is_ratio(division):
        return "subtract logarithms instead: tf.exp(log_p - log_q), from log_softmax or log_prob"
    if divisor.nonnegative or roots_in(divisor) or not_counted(divisor):
        return ""
    if not divisor.known:
        return (
            "the sign of the divisor is unknown, so no floor is offered; if it is never "
            "negative, use tf.maximum(divisor, eps)"
        )
    return (
        "the divisor can be positive or negative, so no floor keeps it away from 0: make it "
        "positive, e.g. tf.nn.softplus(v) + eps"
    )


def keeps_axis(reduction: Site, quotient: Site) -> bool:
    """Whether the reduced axis stays for the division: all axes, the first one, keepdims, or the
    last axis that is put back.
    """
    axis = reduction.const("axis", None)
    if axis is None or axis == 0 and axis is not False or reduction.const("keepdims", None) is True:
        return True
    back = (
        made_by(quotient.value("y"), "tf.expand_dims", aligned=True)
        if axis == -1 and quotient.op.name == "tf.divide"
        else None
    )
    return back is not None and _is_last_axis(back)


def _is_last_axis(added: Site) -> bool:
    """Whether an axis is added behind all others: `x[..., None]`, `tf.expand_dims(x, -1)`."""
    if not isinstance(added.node, ast.Subscript):
        return added.const("axis", None) == -1
    parts = added.node.slice.elts if isinstance(added.node.slice, ast.Tuple) else []
    return len(parts) == 2 and isinstance(parts[0], ast.Constant) and parts[0].value is Ellipsis
