"""Choices that replace NaN after it was made, `tf.where(tf.math.is_nan(y), 0, y)`, and what is
known not to be NaN there.
"""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.guards.post_guards import plain
from tfnanlint.ops.domains import domains
from tfnanlint.ops.provenance import behind, widest
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import NAN_TESTS, NEVER_NAN
from tfnanlint.values.value import INF, Value

_MOST: Final = 200  # values that are looked at
_BRANCHES: Final = ("x", "y", "then_expression", "else_expression")


def patched_value(choice: Site) -> tuple[Value, str] | None:
    """The value that a choice tests for NaN and keeps where it has none, with the name of the test:
    `y` of `tf.where(tf.math.is_nan(y), 0.0, y)`. `y != y` is such a test, too.
    """
    if choice.op.name == "ops.nan_to_num":
        return choice.value("x"), choice.op.name
    if not choice.given("condition") or not _may_test(choice):
        return None
    condition = choice.value("condition")
    inverted = made_by(condition, "tf.logical_not")
    if inverted is not None:
        condition = inverted.value("x")
    test = made_by(condition, *NAN_TESTS, "tf.not_equal")
    if test is None:
        return None
    if test.op.name == "tf.not_equal" and not same(test.value("x"), test.value("y")):
        return None
    tested = plain(test.value("x"))
    for param in _BRANCHES:
        if choice.given(param) and same(plain(choice.value(param)), tested):
            return choice.value(param), test.op.name
    return None


def _may_test(choice: Site) -> bool:
    """Whether a condition may be a test for NaN, as far as its form tells: `x > 0` is none."""
    node = choice.args.get("condition")
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and isinstance(node.ops[0], ast.NotEq)
    return choice.may_be_made_by("condition", *NAN_TESTS, "tf.not_equal", "tf.logical_not")


def is_never_nan(kept: Value, test: str) -> bool:
    """Whether nothing that a patch is meant for can have become of a value: its gradient is
    finite, or Inf passes the test for NaN.
    """
    if test == "tf.math.is_nan" and _is_infinite_only(kept):
        return True
    return _divides_safely(kept) or _is_inside_domain(kept) or _is_softmax_of_masked(kept)


def _divides_safely(kept: Value) -> bool:
    """Whether a value is `divide_no_nan(x, y)` or a similar op, of numbers that are not NaN."""
    safe = made_by(plain(kept), *NEVER_NAN)
    return safe is not None and not any(safe.value(param).nan for param in safe.args)


def _is_infinite_only(kept: Value) -> bool:
    """Whether a value is `1 / x` of an `x` that is not NaN: at 0 it is Inf, which a test for NaN
    lets through.
    """
    quotient = made_by(widest(plain(kept)), "tf.divide")
    if quotient is None:
        return False
    dividend, divisor = quotient.value("x"), quotient.value("y")
    return dividend.exact and dividend.nonzero and divisor.known and not divisor.nan


def _is_inside_domain(kept: Value) -> bool:
    """Whether an op is kept inside its domain: the root of `tf.maximum(x, 1e-12)` leaves nothing to
    hide.
    """
    site = plain(kept).origin
    if not isinstance(site, Site) or not any(domains(site)):
        return False
    is_bounded = -INF < kept.lo and kept.hi < INF
    return is_bounded and not kept.nan and not kept.inf


def _is_softmax_of_masked(kept: Value) -> bool:
    """Whether a value is the softmax of `tf.where(masked, -inf, x)`: a row is NaN where all of it
    is masked, and the gradient of `tf.where` is 0 there. With a finite number there is no NaN.
    """
    softmax = made_by(plain(kept), "tf.nn.softmax")
    # Where nothing is masked in one branch, the other is the one that can be -inf.
    masking = behind(plain(softmax.value("logits"))) if softmax is not None else None
    if not isinstance(masking, Site) or masking.op.name != "tf.where":
        return False
    scores = [
        score
        for score in (masking.value("x"), masking.value("y"))
        if not (score.lo == score.hi and score.lo < 0)
    ]
    return len(scores) == 1 and not scores[0].inf
