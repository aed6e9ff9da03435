"""Repairs of cross-entropies that are written by hand: the loss ops that take logits, and the
stable logarithms.
"""

from __future__ import annotations

import ast
import math
from typing import Any

from tfnanlint.conventions.identifiers import names_likelihood
from tfnanlint.diagnostics.findings import Claim, Fix
from tfnanlint.idioms.cross_entropy import BinaryCrossEntropy, LinearContext
from tfnanlint.idioms.probabilities import Probability
from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import TOTALS
from tfnanlint.rewrite.availability import argument
from tfnanlint.rule import recipes as repairs
from tfnanlint.rule.registry import Changed, Context, Part
from tfnanlint.values.value import number_text

_CAPPED = (
    "where a probability is within {guard} of 0 or 1 the loss is no longer capped, and has a "
    "gradient again"
)
_ADDED = (
    "without the added {guard} the loss changes by {guard} / p, {part} at p = 1e-3; for p "
    "below {guard} the loss has a gradient again"
)
_RIGHT_FOR = "the gradient is right only for labels that sum to 1 along the classes"
_NO_LABELS = ("number", "array", "sequence")


def _cost_of(probabilities: tuple[Probability, ...]) -> tuple[Claim, str]:
    """What a repair claims, and what it costs, when the guards of some probabilities go."""
    guard = max([probability.guard for probability in probabilities])
    if not guard:
        return Claim.EQUAL, ""
    is_added = any(probability.added for probability in probabilities)
    text = _ADDED if is_added else _CAPPED
    part = number_text(math.log1p(guard / 1e-3))
    return Claim.SHIFTED, text.format(guard=number_text(guard), part=part)


# Binary


def binary(here: Context, log: Site, loss: BinaryCrossEntropy, outer: LinearContext) -> list[Fix]:
    """The loss op on the logits, and stable forms of the two logarithms; none where these logits
    stay inside a layer.
    """
    if any(probability.layer is not None for probability in loss.probabilities):
        return []
    whole, halves = _sigmoid_loss(here, log, loss, outer), _stable_halves(here, log, loss)
    return [*halves, *whole] if _keeps_minus(here, loss, outer) else [*whole, *halves]


def _keeps_minus(here: Context, loss: BinaryCrossEntropy, outer: LinearContext) -> bool:
    """Whether the program writes the sum as a likelihood, and takes its negative elsewhere: the
    loss op would need a minus, which that negates again.
    """
    if loss.negative or outer.sign_above(loss.whole) is not None:
        return False
    return _sign_of_name(here, loss.whole, outer) is None


def _sigmoid_loss(
    here: Context, log: Site, loss: BinaryCrossEntropy, outer: LinearContext
) -> list[Fix]:
    """The loss op on the logits for the whole sum; the sign around it is folded in."""
    whole, labels = loss.whole, loss.labels
    if labels is None or here.value(labels, log.point).kind in _NO_LABELS:
        return []
    template = "tf.nn.sigmoid_cross_entropy_with_logits(labels={labels}, logits={logits})"
    holes: dict[str, Any] = {"labels": labels, "logits": argument(loss.sigmoid, "x", "logits")}
    new: Part = (whole, template, holes)
    sign = None if loss.negative else outer.sign_above(whole)
    later = _sign_of_name(here, whole, outer) if not loss.negative and sign is None else None
    parts = [new]
    if later is not None:
        parts.append((later, "{inner}", {"inner": later.operand}))
    elif not loss.negative and sign is None:
        parts = [_negated(new, outer)]
    elif sign is not None and sign.operand is whole:
        parts = [(sign, template, holes)]
    elif sign is not None:
        parts = [(sign, "{inner}", {"inner": Changed(sign.operand, [new])})]
    claim, cost = _cost_of(loss.probabilities)
    return here.rewrite_all(
        log, parts, title="use the cross-entropy of the logits", claim=claim, cost=cost
    )


def _sign_of_name(here: Context, whole: ast.expr, outer: LinearContext) -> ast.UnaryOp | None:
    """The minus sign before the only use of the name that a sum is assigned to, sums and means in
    between; None where there is none, or the name says that it is a likelihood.
    """
    scope, statement = outer.log.point.scope, _beyond_sums(here, whole, outer)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or names_likelihood(target.id):
        return None
    uses = [
        node
        for node in ast.walk(scope.node)
        if isinstance(node, ast.Name) and node.id == target.id and node is not target
    ]
    if scope.function is None or len(uses) != 1:
        return None
    sign = _beyond_sums(here, uses[0], outer)
    return sign if isinstance(sign, ast.UnaryOp) and isinstance(sign.op, ast.USub) else None


def _beyond_sums(here: Context, node: ast.expr, outer: LinearContext) -> ast.AST | None:
    """What stands around an expression and the sums and means of it."""
    for around in here.around(node):
        if not isinstance(around, ast.Call):
            return around
        place = here.standing(around, outer.log.point)
        site = here.site(around, place) if place is not None else None
        if site is None or site.op.name not in TOTALS:
            return around
    return None


def _negated(part: Part, outer: LinearContext) -> Part:
    """A replacement with a minus sign before the sums and means around it."""
    whole, template, holes = part
    top = outer.reduced(whole)
    if top is whole:
        return whole, "-" + template, holes
    return top, "-{inner}", {"inner": Changed(top, [part])}


def _stable_halves(here: Context, log: Site, loss: BinaryCrossEntropy) -> list[Fix]:
    """Each logarithm replaced by a stable form, whatever stands around it."""
    first, second = loss.halves
    complement, plain = (first, second) if first.probability.complement else (second, first)
    z = argument(loss.sigmoid, "x", "logits")
    claim, cost = _cost_of(loss.probabilities)
    return repairs.minus_softplus(
        here,
        complement.log,
        z,
        [(plain.log.node, "tf.math.log_sigmoid({z})", {"z": z})],
        title="use log_sigmoid and softplus of the logits",
        claim=claim,
        cost=cost,
    )


# Categorical


def categorical(
    here: Context, log: Site, probability: Probability, outer: LinearContext
) -> list[Fix]:
    """The stable logarithm of the softmax, and the loss op on the logits; none where these logits
    stay inside a layer.
    """
    if probability.layer is not None:
        return []
    softmax = probability.producer
    claim, cost = _cost_of((probability,))
    stable = here.rewrite(
        log,
        "tf.nn.log_softmax({z}, axis={axis})",
        title="use log_softmax of the logits",
        claim=claim,
        cost=cost,
        z=argument(softmax, "logits", "logits"),
        axis=argument(softmax, "axis"),
    )
    return [*stable, *_softmax_loss(here, log, softmax, outer, cost)]


def _softmax_loss(
    here: Context, log: Site, softmax: Site, outer: LinearContext, cost: str
) -> list[Fix]:
    """The loss op on the logits for `-reduce_sum(y * log(p), axis=-1)` and
    `-reduce_sum(y * log(p))`.
    """
    if len(outer.chain) < 3 or softmax.const("axis", -1) not in (-1, None):
        return []
    negative, factors = outer.factors(outer.chain[1])
    labels = [factor for factor in factors if factor is not log.node]
    position = 2
    if isinstance(outer.chain[2], ast.UnaryOp):
        negative, position = not negative, 3
    total = outer.site(outer.chain[position]) if position < len(outer.chain) else None
    if total is None or total.op.name != "tf.reduce_sum" or len(labels) != 1:
        return []
    if total.given("keepdims") or not total.complete:
        return []
    sign = None if negative else outer.sign_above(total.node)
    if negative and isinstance(labels[0], ast.UnaryOp) or not negative and sign is None:
        return []
    part = _over_classes(softmax, total, sign, labels[0], outer.chain[position - 1])
    if part is None:
        return []
    return here.rewrite_all(
        log,
        [part],
        title="use softmax_cross_entropy_with_logits",
        claim=Claim.SHIFTED,
        cost="; ".join(filter(None, [cost, _RIGHT_FOR])),
    )


def _over_classes(
    softmax: Site, total: Site, sign: ast.UnaryOp | None, labels: ast.expr, product: ast.expr
) -> Part | None:
    """The loss op for a sum over classes, or for the products in a sum over all; None for a sum
    over other axes.
    """
    if total.given("axis") and total.const("axis") != -1:
        return None
    template = "tf.nn.softmax_cross_entropy_with_logits(labels={labels}, logits={logits})"
    holes: dict[str, Any] = {"labels": labels, "logits": argument(softmax, "logits", "logits")}
    place = total.node if total.given("axis") else product
    whole = sign.operand if sign is not None else total.node
    if place is whole:
        return sign or whole, template, holes
    return sign or whole, "{inner}", {"inner": Changed(whole, [(place, template, holes)])}
