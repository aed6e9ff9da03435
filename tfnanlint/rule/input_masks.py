"""Repairs of a choice behind an op: its input gets the mask of the choice, too, and something
harmless in the place of what does not count.
"""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.diagnostics.findings import Claim, Fix
from tfnanlint.guards.post_guards import Masked, read_by_choice_only
from tfnanlint.ops.domains import filler
from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import BY_CONDITION, EXPONENTIALS
from tfnanlint.program.predicates import facts
from tfnanlint.rewrite.availability import Named, argument
from tfnanlint.rule import recipes as repairs
from tfnanlint.rule.registry import Changed, Context, Part
from tfnanlint.values.value import WHOLE

_TITLE = "mask the input too"
_BOUND: Final = "bound the exponent by what the choice tests"
_MOST: Final = 1.0  # whose exponential no dtype loses
_SHARED: Final = (
    "where the input is masked, other users of the result get a finite number instead of Inf or NaN"
)
# What the domain itself asks of {x}, for tests that cannot be written at the operation.
_INSIDE: Final = {
    "0 or below": "{x} > 0",
    "-1 or below": "{x} > -1",
    "1 or below": "{x} > 1",
    "-1 or 1, or beyond": "tf.abs({x}) < 1",
    "0": "tf.not_equal({x}, 0)",
    "below 0": "{x} > 0",
}


def repaired(here: Context, masked: Masked) -> list[Fix]:
    """The choice stays; the input gets the same mask, and something harmless in the place of what
    does not count.
    """
    site, choice = masked.site, masked.choice
    x = site.args.get(masked.param)
    if x is None or not masked.direct or masked.test.node is None:
        return []
    if not _is_beside(site, choice):
        here.no_fix = "the choice stands in another function: choose the input there"
        return []
    alone = read_by_choice_only(masked)
    if _is_nested(site, choice, here):
        claim = Claim.EQUAL
    else:
        claim = Claim.EQUAL_WHERE_FINITE if alone else Claim.SHIFTED
    cost = "" if alone else _SHARED
    hole = x if here.repeatable(x) else Named("inner", "{x}", {"x": x})
    if choice.op.name == "tf.boolean_mask":
        return _mask_first(masked, here, x)
    if masked.by_result:
        return _with_both(masked, here, x, hole, cost)
    # What something else reads, too, may be another only where it is not finite: it may still
    # become something finite there.
    fixes = _with_bound(masked, here, x, claim) if alone else []
    if fixes:
        return fixes
    fixes = _with_test(masked, here, x, hole, claim) if alone else []
    if fixes and not repairs.brief(here, site, fixes):
        fixes = _without_nan(masked, here, x, claim) or fixes
    if not fixes and site.op.name != "tf.divide" and masked.domain.outside in _INSIDE:
        fixes = repairs.named_if_long(
            here,
            site,
            x,
            f"tf.where({_INSIDE[masked.domain.outside]}, {{x}}, {filler(site, masked.param)})",
            {"x": hole},
            _safe(x),
            title=_TITLE,
            claim=claim,
            cost=cost,
        )
    return fixes


def _without_nan(masked: Masked, here: Context, x: ast.expr, claim: Claim) -> list[Fix]:
    """The quotient that is 0 where the divisor is 0, if the choice asks for that alone."""
    site, test = masked.site, masked.test.node
    if site.op.name != "tf.divide" or test is None or here.speller.first_version:
        return []
    relations = [
        relation.rstrip("?")
        for node, relation, limit in facts(test, masked.test.truth)
        if _is_difference(x, node, limit)
    ]
    divisor = site.value("y")
    is_exact = "!=" in relations or ">" in relations and divisor.nonnegative
    if not is_exact or divisor.dtype in WHOLE:
        return []
    return here.rewrite(
        site,
        "tf.math.divide_no_nan({x}, {y})",
        title=_TITLE,
        claim=claim,
        x=site.args["x"],
        y=site.args["y"],
    )


def _is_difference(x: ast.expr, node: ast.expr, limit: ast.expr | float) -> bool:
    """Whether an expression is what is compared with 0, or that minus the number with which it is
    compared: `n - 1.0` where `n` is compared with 1.
    """
    bound = limit.value if isinstance(limit, ast.Constant) else limit
    if ast.dump(x) == ast.dump(node):
        return bound == 0
    is_minus = isinstance(x, ast.BinOp) and isinstance(x.op, ast.Sub)
    if not is_minus or not isinstance(x.right, ast.Constant):
        return False
    return ast.dump(x.left) == ast.dump(node) and x.right.value == bound


def _is_beside(site: Site, choice: Site) -> bool:
    """Whether a choice stands in the function of what it chooses from, or in one around that: what
    a helper gives to others is theirs to choose.
    """
    if site.point is None or choice.point is None:
        return True
    scope, wanted = site.point.scope, choice.point.scope.node
    while scope.node is not wanted and scope.parent is not None:
        scope = scope.parent.scope
    return scope.node is wanted and (scope.function is not None or scope is site.point.scope)


def _mask_first(masked: Masked, here: Context, x: ast.expr) -> list[Fix]:
    """f(x) of all elements and then the mask: the mask first."""
    site, choice = masked.site, masked.choice
    if (
        choice.args.get("x") is not site.node
        or not site.complete
        or set(site.args) - {"name"} != {masked.param}
    ):
        return []
    mask, axis = choice.args["mask"], choice.args.get("axis")
    tested = written_again(x, mask) if not here.repeatable(x) else []
    # What is tested and computed from is written twice: it gets a name for both.
    hole = Named("inner", "{x}", {"x": x}) if tested else x
    kept = (
        Changed(mask, [(node, "{inner}", {"inner": hole}) for node in tested])
        if tested
        else here.text(mask)
    )
    call = Changed(
        site.node,
        [
            (
                x,
                "tf.boolean_mask({x}, {mask}, axis={axis})",
                {"x": hole, "mask": kept, "axis": here.text(axis) if axis is not None else None},
            )
        ],
    )
    return here.rewrite(
        choice, "{call}", title="mask the input instead", claim=Claim.EQUAL, call=call
    )


def _with_bound(masked: Masked, here: Context, x: ast.expr, claim: Claim) -> list[Fix]:
    """The exponent bounded by the number that the choice compares it with: `tf.minimum(x, 0.0)` in
    `tf.where(x > 0, x, tf.exp(x) - 1)`.
    """
    test = masked.test.node
    if masked.site.op.name not in EXPONENTIALS or test is None:
        return []
    point = masked.site.point
    bound = _upper_bound(x, test, masked.test.truth)
    if bound is None or point is None or not here.steady(test, masked.test.point, point):
        return []
    return here.rewrite(
        masked.site, f"tf.minimum({{x}}, {bound})", node=x, title=_BOUND, claim=claim, x=x
    )


def _upper_bound(x: ast.expr, test: ast.expr, truth: bool) -> float | None:
    """The number near 0 that an expression is at most where a test is true or is not."""
    for node, relation, limit in facts(test, truth):
        bound = limit.value if isinstance(limit, ast.Constant) else limit
        is_below = relation.rstrip("?") in ("<", "<=") and ast.dump(node) == ast.dump(x)
        if is_below and isinstance(bound, (int, float)) and abs(bound) <= _MOST:
            return float(bound)
    return None


def _with_test(
    masked: Masked, here: Context, x: ast.expr, hole: ast.expr | Named, claim: Claim
) -> list[Fix]:
    """The input under the choice's own condition."""
    site, choice, test = masked.site, masked.choice, masked.test.node
    if test is None:
        return []
    fill = filler(site, masked.param)
    template = (
        f"tf.where({{test}}, {{x}}, {fill})"
        if masked.test.truth
        else f"tf.where({{test}}, {fill}, {{x}})"
    )
    if repairs.short(here, test, masked.test.point) and here.steady(
        test, masked.test.point, site.point
    ):
        holes = {"x": hole, "test": here.text(test)}
        return repairs.named_if_long(
            here, site, x, template, holes, _safe(x), title=_TITLE, claim=claim
        )
    if (
        not _is_nested(site, choice, here)
        or choice.op.name not in BY_CONDITION
        or not _is_inside(test, choice, here)
    ):
        return []
    tested = written_again(x, test) if isinstance(hole, Named) else []
    if tested:
        # What is tested and computed from is written twice: it gets a name for both.
        parts: list[Part] = [(node, "{inner}", {"inner": hole}) for node in tested]
        return here.rewrite_all(
            choice,
            [*parts, (x, template, {"x": hole, "test": Changed(test, parts)})],
            title=_TITLE,
            claim=claim,
        )
    keep = Named("keep", "{test}", {"test": test})
    return here.rewrite_all(
        choice,
        [(test, "{keep}", {"keep": keep}), (x, template, {"x": hole, "test": keep})],
        title=_TITLE,
        claim=claim,
    )


def _safe(x: ast.expr) -> str:
    """A name for an input that got a mask: `safe_total` for `total`."""
    return f"safe_{x.id}" if isinstance(x, ast.Name) else "safe"


def _with_both(
    masked: Masked, here: Context, x: ast.expr, hole: ast.expr | Named, cost: str
) -> list[Fix]:
    """A test of the result for NaN and Inf sees nothing once the input is masked: the choice tests
    the input too.
    """
    site, choice, test = masked.site, masked.choice, masked.test.node
    keep = _INSIDE.get(masked.domain.outside)
    again = argument(site, masked.param)
    if (
        keep is None
        or test is None
        or not masked.test.truth
        or not _is_inside(test, choice, here)
        or not here.repeatable(x)
        or again is None
    ):
        return []
    parts: list[Part] = [
        (test, f"tf.logical_and({{test}}, {keep})", {"test": test, "x": again}),
        (x, f"tf.where({keep}, {{x}}, {filler(site, masked.param)})", {"x": hole}),
    ]
    return here.rewrite_all(
        choice,
        parts,
        title="mask the input, and test the input as well as the result",
        claim=Claim.SHIFTED if cost else Claim.EQUAL_WHERE_FINITE,
        cost=cost,
    )


def written_again(x: ast.expr, test: ast.expr) -> list[ast.expr]:
    """The places in a test at which an expression stands as it does elsewhere."""
    return [
        node
        for node in ast.walk(test)
        if isinstance(node, ast.expr) and ast.dump(node) == ast.dump(x)
    ]


def _is_inside(inner: ast.expr, choice: Site, here: Context) -> bool:
    """Whether an expression stands in the text of a choice."""
    return here.source.span(inner) in here.source.span(choice.node)


def _is_nested(site: Site, choice: Site, here: Context) -> bool:
    """Whether an op stands in the text of the choice that masks it."""
    return here.source is choice.source and _is_inside(site.node, choice, here)
