"""Repairs of epsilons that are rounded away: a softplus of the logits, a floor that survives; and
whether the program runs where they are.
"""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.diagnostics.findings import Claim, Fix
from tfnanlint.idioms.absorbed_epsilons import AbsorbedEpsilon, is_of_tensorflow
from tfnanlint.idioms.probabilities import logged
from tfnanlint.ops.frameworks import SESSION_CALLS
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.rewrite.availability import argument
from tfnanlint.rule import recipes as repairs
from tfnanlint.rule.registry import Context, Part
from tfnanlint.values.value import SMALLEST, number_text, rounded


def runs_in_first_version(here: Context) -> bool:
    """Whether a file runs in TensorFlow 1 only, of which only 1.15 reorders sums so."""
    if here.calls("GradientTape"):
        return False
    calls = [place for name in SESSION_CALLS for place in here.calls(name)]
    return any(is_of_tensorflow(call, point) for call, point in calls)


def repaired(here: Context, site: Site, lost: AbsorbedEpsilon) -> list[Fix]:
    """Minus the softplus for the logarithm of `1 - sigmoid(z) + eps`, and a floor.

    The floor is the first where the logits need a new name, or where another statement takes the
    logarithm of the sigmoid with its epsilon: one loss keeps one form.
    """
    stable, floor = _with_softplus(here, site, lost), _with_floor(here, site, lost)
    alone = not any(fix.binds for fix in stable) and not _is_logged_elsewhere(here, site)
    return [*stable, *floor] if alone else [*floor, *stable]


def _with_softplus(here: Context, site: Site, lost: AbsorbedEpsilon) -> list[Fix]:
    """Minus the softplus of the logits, with the logarithm of the sigmoid beside it if it can be
    replaced, too.
    """
    probability = logged(site) if site.op.name == "tf.math.log" else None
    if probability is None or not probability.complement:
        return []
    sigmoid = probability.producer
    if sigmoid.op.name != "tf.sigmoid" or not sigmoid.complete:
        return []
    beside = repairs.log_sigmoids_beside(here, site)
    for others in [beside, []] if beside else [[]]:
        fixes = repairs.minus_softplus(
            here,
            site,
            argument(sigmoid, "x", "logits"),
            others,
            title="use minus the softplus of the logits",
            claim=Claim.SHIFTED,
            cost=f"where 1 - p is about {epsilon_text(lost.eps)} the value decreases further, and "
            "its gradient is no longer 0",
        )
        if fixes:
            return fixes
    return []


def _is_logged_elsewhere(here: Context, log: Site) -> bool:
    """Whether another statement of the function takes the logarithm of the sigmoid that is
    complemented here, and guards it.
    """
    complement = logged(log) if log.op.name == "tf.math.log" and log.point is not None else None
    if complement is None:
        return False
    statement = next((node for node in here.around(log.node) if isinstance(node, ast.stmt)), None)
    inside = set(map(id, ast.walk(statement))) if statement is not None else set()
    for node, point in here.calls("log"):
        if id(node) in inside or point.scope is not log.point.scope:
            continue
        site = here.site(node, point)
        if site is None or site.op.name != "tf.math.log":
            continue
        prob = logged(site)
        same_producer = prob is not None and prob.producer is complement.producer
        if same_producer and not prob.complement and prob.guard:
            return True
    return False


def _with_floor(here: Context, site: Site, lost: AbsorbedEpsilon) -> list[Fix]:
    """`tf.maximum(1 - p, eps)` in the place of the sum."""
    total, eps = lost.total, epsilon_text(lost.eps)
    if total.node is None or not total.complete:
        return []
    if total.op.name == "tf.subtract" and not lost.folded:
        return []
    holes = {"left": lost.left, "p": total.args.get("y"), "eps": _surviving(here, lost)}
    template = "tf.maximum(1.0 - {p}, {eps})" if lost.folded else "tf.maximum({left}, {eps})"
    part: Part = (total.node, template, holes)
    beside = [] if lost.beside else _other_half(here, site, lost)
    for others in [beside, []] if beside else [[]]:
        fixes = here.rewrite_all(
            site,
            [part, *others],
            title="use a floor instead of a sum: tf.maximum("
            + ("a - b" if lost.beside else "1 - p")
            + ", eps)",
            claim=Claim.SHIFTED,
            cost=f"no gradient below {eps}",
        )
        if fixes:
            return fixes
    return []


def _other_half(here: Context, site: Site, lost: AbsorbedEpsilon) -> list[Part]:
    """The same floor under p where its logarithm stands in the statement, with the same epsilon
    added: both halves of a loss keep one form.
    """
    statement = next((node for node in here.around(site.node) if isinstance(node, ast.stmt)), None)
    parts: list[Part] = []
    for node in ast.walk(statement) if statement is not None and site.point is not None else ():
        log = here.site(node, site.point) if isinstance(node, ast.Call) else None
        if log is None or log.op.name != "tf.math.log" or log.node is site.node:
            continue
        total = made_by(log.value("x"), "tf.add", aligned=True)
        if total is None or total.node is not log.args.get("x"):
            continue
        for param, eps in (("x", "y"), ("y", "x")):
            if total.value(eps).lo == lost.eps and same(total.value(param), lost.x):
                holes: dict[str, Any] = {"p": total.args[param], "eps": total.args[eps]}
                parts.append((total.node, "tf.maximum({p}, {eps})", holes))
    return parts


def _surviving(here: Context, lost: AbsorbedEpsilon) -> Any:
    """The epsilon as it is written, if its dtype has it; else one that it has."""
    smallest = SMALLEST.get(lost.x.dtype or "float32", SMALLEST["float32"])
    if rounded(lost.eps, lost.x.dtype) < smallest:
        return here.epsilon(lost.x)
    if not lost.folded:
        return lost.eps_node if lost.eps_node is not None else here.epsilon(lost.x)
    written = [
        node
        for node in ast.walk(lost.total.args["x"])
        if isinstance(node, (ast.Constant, ast.Name, ast.Attribute))
        and 0 < here.value(node, lost.total.point).lo < 0.1
    ]
    return written[0] if len(written) == 1 else here.epsilon(lost.x)


def epsilon_text(eps: float) -> str:
    """An epsilon as it is mostly written: `1e-8`."""
    return number_text(eps).replace("e-0", "e-")
