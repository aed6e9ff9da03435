"""Repairs of a quotient of which the program makes a NaN 0."""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.diagnostics.findings import Claim, Fix
from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import softmax_by_hand
from tfnanlint.idioms.exponents import cannot_overflow
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.traits import UNDERFLOWING
from tfnanlint.rewrite.availability import argument
from tfnanlint.rule.registry import Context


def quotient_or_0(here: Context, choice: Site, quotient: Site) -> list[Fix]:
    """The quotient that is 0 where the divisor is 0, in place of the choice that makes NaN 0."""
    if _has_infinite_quotient(quotient):
        here.no_fix = "the exponentials can overflow, too: use tf.nn.softmax of masked logits"
        return []
    if made_by(plain(quotient.value("y")), *UNDERFLOWING) is not None:
        here.no_fix = (
            "the divisor underflows little by little: the gradient is infinite before it is 0"
        )
        return []
    said: dict[str, Any] = dict(
        title="return 0 where the divisor is 0",
        claim=Claim.SHIFTED,
        cost="Inf of a divisor of 0 becomes 0 as well; NaN that dividend or divisor have stays",
    )
    template = "tf.math.divide_no_nan({x}, {y})"
    name, statement = _bound_again(here, choice, quotient)
    if statement is not None:
        holes: dict[str, Any] = {"x": quotient.args["x"], "y": quotient.args["y"]}
        fixes = here.restate(choice, f"{name} = {template}", without=[statement], **holes, **said)
        if fixes:
            return fixes
    x, y = argument(quotient, "x", "dividend"), argument(quotient, "y", "divisor")
    return here.rewrite(choice, template, x=x, y=y, **said)


def _bound_again(here: Context, choice: Site, quotient: Site) -> tuple[str, ast.stmt | None]:
    """The name and the first statement of `y = a / b` and the `y = tf.where(..)` right below it;
    no statement for others.
    """
    first, second = (next(iter(here.around(site.node)), None) for site in (quotient, choice))
    if not isinstance(first, ast.Assign) or not isinstance(second, ast.Assign):
        return "", None
    names = {here.text(target) for target in (*first.targets, *second.targets)}
    name, end = here.text(first.targets[0]), first.end_lineno or 0
    between = "".join(here.source.text.splitlines()[end : second.lineno - 1])
    is_next = second.lineno > end and not between.strip()
    return name, first if is_next and names == {name} and name.isidentifier() else None


def _has_infinite_quotient(quotient: Site) -> bool:
    """Whether a quotient is a softmax written out, with or without a mask, whose exponentials can
    overflow: inf / inf is NaN for what no mask covers.
    """
    total, _, _ = softmax_by_hand.denominator(quotient)
    exp, _ = softmax_by_hand.numerator(quotient.value("x"))
    return total is not None and exp is not None and not cannot_overflow(exp.value("x"))
