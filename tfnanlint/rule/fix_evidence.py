"""Which kind of `FIX_KINDS` a fix is, by what shows that its hazard occurs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from tfnanlint.diagnostics.findings import Certainty, Differentiated, Fix
from tfnanlint.diagnostics.fix_kinds import EQUIVALENT, FIX_KINDS
from tfnanlint.diagnostics.fix_names import GUARDS, name_of
from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import ratios
from tfnanlint.idioms.chance_zeros import ERROR, GRADIENT, OUTPUT
from tfnanlint.idioms.own_data import trains_on_own_data
from tfnanlint.idioms.quantities import (
    Quantity,
    is_standardised,
    quantity,
    sums,
    vanishes_with,
    zero_meant,
)
from tfnanlint.idioms.root_kinds import is_of_weights, kind_of_root, roots_in
from tfnanlint.idioms.vanishing import sums_squares_from_zero
from tfnanlint.ops.models.variables import VARIABLES, begins_at_zero
from tfnanlint.ops.site import Site, made_by, operands
from tfnanlint.ops.traits import ROOTS
from tfnanlint.values.value import Value

_ROOTS: Final = ("TFN201", "TFN202", "TFN203")
_SATURATING: Final = ("TFN301", "TFN302", "TFN303")
_BY_CODE: Final = {
    **dict.fromkeys(("TFN101", "TFN207", "TFN301", "TFN302", "TFN303"), "logarithm"),
    "TFN105": "edge",
    "TFN107": "nothing-left",
    "TFN108": "jitter",
    "TFN402": "lost-number",
    "TFN404": "late-guard",
}
#: Of roots that are 0 by chance only, also where something is divided by them.
_COINCIDENCES: Final = (GRADIENT, OUTPUT, ERROR, "weights", "slopes-of-a-batch")
#: What no mask adds up to.
_NO_COUNTS: Final = (Quantity.SIGNED, Quantity.SQUARES)
#: Of fixes that are no guards.
_REWRITES: Final = {
    "activation": "loss-setting",
    "remove_relu": "other-activation",
    "swap": "loss-setting",
    "pass_logits": "loss-setting",
    "from_logits": "loss-setting",
    "no_from_logits": "loss-setting",
}


def judged(
    code: str,
    site: Site,
    param: str | None,
    certainty: Certainty,
    fixes: tuple[Fix, ...],
    weak: str = "",
) -> tuple[Fix, ...]:
    """The fixes of a finding; those of a kind that is seldom fit to merge are only suggested, and
    where the best one is, so are the others. Evidence that is `weak`, in words that follow
    "because", is enough for fixes that keep values: those that move them are left out beside such
    ones, and else only suggested.
    """
    exact = tuple([fix for fix in fixes if fix.claim.safe])
    fixes = exact if weak and exact else fixes
    each = [_judged(fix, kind_of(code, site, param, certainty, fix)) for fix in fixes]
    if weak and not exact:
        each = [replace(fix, suggested=fix.suggested or weak) for fix in each]
    because = each[0].suggested if each else ""
    return tuple([replace(fix, suggested=fix.suggested or because) for fix in each])


def suggested(fixes: Iterable[Fix], kind: str) -> list[Fix]:
    """Fixes of one kind, which a rule names itself."""
    return [_judged(fix, kind) for fix in fixes]


def _judged(fix: Fix, kind: str) -> Fix:
    row = FIX_KINDS[kind]
    return fix if fix.suggested or row.is_applied else replace(fix, suggested=row.because)


def kind_of(code: str, site: Site, param: str | None, certainty: Certainty, fix: Fix) -> str:
    """The kind of a fix that a rule makes at a site, whose value at `param` is unsafe."""
    name = name_of(fix.title)
    if name not in GUARDS:
        return _kind_of_rewrite(site, code, certainty, name)
    if code in _BY_CODE:
        return _BY_CODE[code]
    if code in _ROOTS:
        return _kind_of_roots(site, [site])
    if code == "TFN102" and param is not None:
        return _kind_of_quotient(site, site.value(param))
    if code == "TFN314":
        return _kind_of_length(site)
    return _kind_of_power(site) if code == "TFN104" else EQUIVALENT


def _kind_of_rewrite(site: Site, code: str, certainty: Certainty, name: str) -> str:
    if code == "TFN311":
        return "written-sigmoid"
    if code in _SATURATING and trains_on_own_data(site.source.tree):
        return "own-data"
    if code == "TFN404":
        return "late-guard"
    if name == "l2_normalize" and is_of_weights(site.value("x")):
        return "weights"
    if code == "TFN504" and certainty is not Certainty.MUST:
        return "other-activation"
    if name == "from_logits" and site.differentiated is Differentiated.UNKNOWN:
        return "untrained-loss"
    return _REWRITES.get(name, EQUIVALENT)


def _kind_of_roots(site: Site, roots: list[Site]) -> str:
    """Of several roots the kind of one that is applied, which the guard is needed for."""
    if site.differentiated is not Differentiated.YES:
        return "no-gradient"
    kinds = [kind_of_root(root) for root in roots]
    return next((kind for kind in kinds if FIX_KINDS[kind].is_applied), kinds[0])


def _kind_of_length(quotient: Site) -> str:
    """The kind of a guard of the length by which a vector is divided."""
    if is_of_weights(quotient.value("x")):
        return "weights"
    factors = [quotient.value(param) for param in ("y", "x") if quotient.given(param)]
    roots = [root for factor in factors for root in roots_in(factor)]
    return kind_of_root(roots[0]) if roots else "length"


def _kind_of_power(power: Site) -> str:
    base = power.value("x")
    inside = roots_in(base)
    if inside:
        return _kind_of_roots(power, inside)
    return "score" if ratios.is_error_of_prediction(base) else "radicand"


def _kind_of_quotient(division: Site, divisor: Value) -> str:
    is_root = division.op.name == "tf.math.rsqrt"
    kinds = [kind_of_root(root) for root in ([division] if is_root else roots_in(divisor))]
    if kinds and all([kind in _COINCIDENCES for kind in kinds]):
        return kinds[0]
    for applies, kind in _QUOTIENTS:
        if applies(division, divisor):
            return kind
    return kinds[0] if is_root else "divisor"


def _has_vanishing_numerator(division: Site, divisor: Value) -> bool:
    return division.given("y") and vanishes_with(division.value("x"), divisor)


def _is_state(division: Site, divisor: Value) -> bool:
    """Whether a variable that starts at 0 is the divisor."""
    variable = made_by(plain(divisor), *VARIABLES)
    return variable is not None and begins_at_zero(variable)


def _is_cosine(division: Site, divisor: Value) -> bool:
    return division.given("x") and division.given("y") and ratios.is_cosine(division)


def _has_squared_gradients(division: Site, divisor: Value) -> bool:
    return sums_squares_from_zero(divisor)


def _is_standardised(division: Site, divisor: Value) -> bool:
    return division.given("x") and division.given("y") and is_standardised(division)


def _is_counted_in_loss(division: Site, divisor: Value) -> bool:
    return division.differentiated is Differentiated.YES and _is_counted(division, divisor)


def _is_mean_in_loss(division: Site, divisor: Value) -> bool:
    return quantity(divisor) is Quantity.COUNT and _is_counted_in_loss(division, divisor)


def _is_counted(division: Site, divisor: Value) -> bool:
    """Whether a divisor is a count, or a sum over a mask to which the numerator adds nothing."""
    if made_by(plain(divisor), *ROOTS) is not None:
        return False
    if division.given("x") and _is_smoothed(division.value("x")):
        return False
    if quantity(divisor) is Quantity.COUNT:
        return True
    return quantity(divisor) not in _NO_COUNTS and _is_of_sums(division, divisor)


def _is_of_sums(division: Site, divisor: Value) -> bool:
    """Whether a numerator is 0 with the sum that it is divided by, as far as is known."""
    return division.given("y") and bool(sums(divisor)) and zero_meant(division)


def _is_smoothed(numerator: Value) -> bool:
    """Whether a number is added to a numerator, which then stays away from 0."""
    total = made_by(plain(numerator), "tf.add")
    return total is not None and any([part.is_number for part in operands(total)])


_QUOTIENTS: Final[tuple[tuple[Callable[[Site, Value], bool], str], ...]] = (
    (_is_state, "state"),
    (_has_squared_gradients, "squared-gradients"),
    (_is_cosine, "cosine"),
    (_is_standardised, "standardised"),
    (_is_mean_in_loss, "counted-in-a-loss"),
    (_has_vanishing_numerator, "own-share"),
    (_is_counted_in_loss, "counted-in-a-loss"),
    (_is_counted, "counted"),
    (_is_of_sums, "unlike-sums"),
)
