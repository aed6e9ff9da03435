"""Cross-entropy written by hand on a softmax or sigmoid.

`-sum(y * log(softmax(z)))` and `-(y * log(p) + (1 - y) * log(1 - p))` are infinite as soon as the
softmax or sigmoid rounds to 0 or 1, which float32 does on outputs that are merely confident (a
logit 87 below the largest; a sigmoid above
16.6). A clip or an epsilon around `p` makes the loss finite, but its gradient is 0 (or shrinks to nothing) exactly where
the network is wrong with confidence: it stops learning there. Losses computed from the logits have
neither problem.

Bad:
    p = tf.nn.softmax(logits)
    loss = -tf.reduce_mean(tf.reduce_sum(labels * tf.math.log(tf.clip_by_value(p, 1e-8, 1.0)), axis=-1))
    q = tf.sigmoid(z)
    loss += -tf.reduce_mean(y * tf.math.log(q) + (1.0 - y) * tf.math.log(1.0 - q))

Good:
    loss = -tf.reduce_mean(tf.reduce_sum(labels * tf.nn.log_softmax(logits), axis=-1))
    loss += tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z))

For a softmax the safe fix puts `tf.nn.log_softmax` in the place of the logarithm: it is equal for
all labels, weights and axes. `tf.nn.softmax_cross_entropy_with_logits` is offered besides, but its
gradient is right only for labels that sum to 1 along the classes (rows masked with zeros get a
wrong one), and in TensorFlow 1 no gradient reaches the labels.

Nothing is reported where no gradient is taken, as in a metric, and the value is finite: guarded, or
selected by `tf.where`.

See also: https://www.tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits

Seen in the wild:
https://stackoverflow.com/questions/33712178 (the question most often asked),
https://github.com/tensorflow/models/pull/181 (an example that went NaN after 90 epochs),
https://github.com/keras-team/keras/issues/9664 (the gradient behind the clip)
"""

import math
from dataclasses import dataclass

from tfnanlint.api import (
    Any,
    Certainty,
    Changed,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Part,
    Probability,
    Site,
    argument,
    ast,
    identifiers,
    logged,
    number_text,
    one_hot_choice,
    probability,
    repairs,
    rule,
    traits,
)

SUMS = traits.TOTALS
OUTER = (*SUMS, *traits.NEGATIONS)
SCALED = (*SUMS, *traits.FACTORS)
LINEAR = (*SUMS, *traits.LINEAR)
COST = "where a probability is within {guard} of 0 or 1 the loss is no longer capped, and its gradient comes back to life"
ADDED = "without the {guard} that is added the loss moves by {guard} / p, {part} at p = 1e-3; for p below it the gradient comes back to life"


@rule(
    "TFN303",
    "hand-cross-entropy",
    on="tf.math.log tf.math.log1p",
    over="TFN101 TFN207 TFN301 TFN302 TFN402 TFN307 TFN405",
)
def check(log: Site, here: Context) -> Iterator[Finding]:
    found = logged(log)
    if found is None or not found.producer.complete:
        yield from picked(log, here)
        return
    valued = log.differentiated is Differentiated.NO  # no gradient that could be gone
    if not found.guard and log.value("x").positive or valued and (found.guard or here.hidden(log)):
        return  # finite
    outer = Outer(log, here)
    pair = outer.pair(found) if found.producer.op.name == "tf.sigmoid" else None
    if pair is not None:
        if pair.first is log:
            yield from binary(log, pair, outer, here)
    elif (
        found.producer.op.name == "tf.nn.softmax" and not found.complement and outer.is_loss(found)
    ):
        yield from categorical(log, found, outer, here)


# Where the logarithm stands


@dataclass
class Pair:
    """The two halves of a binary cross-entropy in the sum `whole`; `first` stands first in the
    text.
    """

    whole: ast.expr
    first: Site
    second: Site
    found: tuple[Probability, Probability]
    # of the half without complement; None when the halves are no plain pair
    labels: ast.expr | None
    negative: bool


class Outer:
    """What stands around a logarithm: factors, signs, sums, up to the statement."""

    def __init__(self, log: Site, here: Context):
        self.log, self.here, self.point = log, here, log.point
        self.chain: list[ast.expr] = [log.node]
        for node in here.around(log.node):
            if not isinstance(node, ast.expr) or not self.linear(node, self.chain[-1]):
                break
            self.chain.append(node)

    def linear(self, node: ast.expr, inner: ast.expr) -> bool:
        """Whether a node is a sum, difference, product, mean or negation of what is inside it."""
        site = self.site(node)
        if site is None:
            return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        if site.op.name == "tf.divide":
            return site.args.get("x") is inner
        return site.op.name in LINEAR

    def site(self, node: ast.expr) -> Site | None:
        return self.here.site(node, self.point)

    def is_loss(self, found: Probability) -> bool:
        """A product with labels that is summed or negated.

        p * log(p) is an entropy and p * (log(p) - log(q)) a divergence: they stay with TFN301.
        """
        labelled = reduced = alone = False
        for node, inner in zip(self.chain[1:], self.chain):
            site = self.site(node)
            name = site.op.name if site is not None else "tf.negative"
            alone = alone or name in ("tf.add", "tf.subtract")
            if name == "tf.multiply" and not alone:
                other = site.args["y"] if site.args.get("x") is inner else site.args.get("x")
                labelled = labelled or other is not None and self.is_label(other, found)
            reduced = reduced or name in OUTER
        return labelled and (reduced or self.negated_factor())

    def is_label(self, node: ast.expr, found: Probability) -> bool:
        node = (
            node.operand
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
            else node
        )
        value = self.here.value(node, self.point)
        inner = probability(value)
        return not value.is_number and (inner is None or inner.producer is not found.producer)

    def negated_factor(self) -> bool:
        return len(self.chain) > 1 and any(
            isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub)
            for n in ast.walk(self.chain[1])
        )

    # Linear combinations

    def terms(self, node: ast.expr, negative: bool = False) -> list[tuple[bool, ast.expr]]:
        """(negative, term) of a sum."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.terms(node.operand, not negative)
        site = self.site(node)
        name = site.op.name if site is not None else ""
        if name in ("tf.add", "tf.subtract") and {"x", "y"} <= site.args.keys():
            return [
                *self.terms(site.args["x"], negative),
                *self.terms(site.args["y"], negative ^ (name == "tf.subtract")),
            ]
        if name == "tf.negative" and "x" in site.args:
            return self.terms(site.args["x"], not negative)
        return [(negative, node)]

    def factors(self, node: ast.expr) -> tuple[bool, list[ast.expr]]:
        """(negative, factors) of a product."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            negative, found = self.factors(node.operand)
            return not negative, found
        site = self.site(node)
        if site is not None and site.op.name == "tf.multiply" and {"x", "y"} <= site.args.keys():
            (a, left), (b, right) = self.factors(site.args["x"]), self.factors(site.args["y"])
            return a ^ b, left + right
        return False, [node]

    def pair(self, found: Probability) -> Pair | None:
        """The smallest sum around the logarithm that holds the other half of a binary
        cross-entropy.
        """
        for whole in self.chain[1:]:
            site = self.site(whole)
            if site is None or site.op.name not in ("tf.add", "tf.subtract"):
                continue
            halves = [
                half
                for sign, term in self.terms(whole)
                for half in [self.half(sign, term, found)]
                if half
            ]
            if len(halves) == 2 and halves[0][1].complement != halves[1][1].complement:
                return self.paired(whole, halves, exact=len(self.terms(whole)) == 2)
        return None

    def half(self, negative: bool, term: ast.expr, found: Probability):
        """(logarithm, its probability, negative, other factors) for a term with one logarithm of
        the same producer.
        """
        sign, factors = self.factors(term)
        logs = []
        for factor in factors:
            site = self.site(factor)
            inner = (
                logged(site)
                if site is not None and site.op.name in ("tf.math.log", "tf.math.log1p")
                else None
            )
            if inner is not None and inner.producer is found.producer:
                logs.append((site, inner))
        if len(logs) != 1 or len(factors) < 2:
            return None
        ((site, inner),) = logs
        return (
            site,
            inner,
            negative ^ sign,
            [factor for factor in factors if factor is not site.node],
        )

    def paired(self, whole: ast.expr, halves: list, exact: bool) -> Pair:
        (one, p, a, left), (two, q, b, right) = halves
        labels = None
        if exact and a == b and len(left) == len(right) == 1:
            mine, other = (right[0], left[0]) if p.complement else (left[0], right[0])
            if self.complements(other, mine) or self.complements(mine, other):
                labels = mine
        first, second = sorted((one, two), key=lambda site: self.here.source.span(site.node).start)
        return Pair(whole, first, second, (p, q) if first is one else (q, p), labels, a)

    def complements(self, node: ast.expr, other: ast.expr) -> bool:
        """Whether one is 1 minus the other."""
        origin = self.here.value(node, self.point).origin
        if not isinstance(origin, Site) or origin.op.name != "tf.subtract":
            return False
        one = origin.value("x")
        return (
            one.exact
            and one.lo == 1
            and self.here.same(origin.value("y"), self.here.value(other, self.point))
        )

    def sign_above(self, node: ast.expr) -> ast.UnaryOp | None:
        """The minus sign around means, sums and products of `node`; None when the next is something
        else.
        """
        for outer in self.chain[self.chain.index(node) + 1 :]:
            if isinstance(outer, ast.UnaryOp):
                return outer
            if self.site(outer) is None or self.site(outer).op.name not in SCALED:
                return None
        return None


def cost_of(*found: Probability) -> tuple[Claim, str]:
    guards = [one.guard for one in found if one.guard]
    if not guards:
        return Claim.EQUAL, ""
    text = ADDED if any(one.added for one in found) else COST
    return Claim.SHIFTED, text.format(
        guard=number_text(max(guards)), part=number_text(math.log1p(max(guards) / 1e-3))
    )


def why(*found: Probability) -> str:
    if any(one.guard for one in found):
        return "its guard keeps the loss finite, but where the output is wrong with confidence the gradient is gone"
    return "it becomes inf, and its gradient NaN, as soon as the output rounds to 0 or 1"


# Binary


def binary(log: Site, pair: Pair, outer: Outer, here: Context) -> Iterator[Finding]:
    sigmoid = pair.found[0].producer
    claim, cost = cost_of(*pair.found)
    if claim is Claim.SHIFTED and own(pair, log, here):
        return  # the entropy of p: its gradient is 0 at the ends in truth, and no answer is wrong

    def fixes() -> list[Fix]:
        return [
            *with_logits(log, pair, outer, here, claim, cost),
            *stable_halves(log, pair, here, claim, cost),
        ]

    if not here.visible(sigmoid, log) and not here.possible(fixes):
        return
    covers = [
        pair.first.node,
        pair.second.node,
        *(node for node in ast.walk(pair.whole) if isinstance(node, (ast.BinOp, ast.Call))),
    ]
    yield here.finding(
        log,
        "x",
        f"binary cross-entropy written by hand on a sigmoid: {why(*pair.found)}",
        Certainty.MAY,
        fixes(),
        node=pair.whole,
        covers=covers,
    )


def own(pair: Pair, log: Site, here: Context) -> bool:
    """Whether the labels are the probability itself."""
    labels = probability(here.value(pair.labels, log.point)) if pair.labels is not None else None
    return labels is not None and labels.producer is pair.found[0].producer


def with_logits(
    log: Site, pair: Pair, outer: Outer, here: Context, claim: Claim, cost: str
) -> list[Fix]:
    """The loss op on the logits for the whole sum; the sign around it is folded in."""
    labels, sigmoid = pair.labels, pair.found[0].producer
    if labels is None or here.value(labels, log.point).kind in ("number", "array", "sequence"):
        return []
    loss = "tf.nn.sigmoid_cross_entropy_with_logits(labels={labels}, logits={logits})"
    holes: dict[str, Any] = {"labels": labels, "logits": argument(sigmoid, "x", "logits")}
    sign = None if pair.negative else outer.sign_above(pair.whole)
    later = None if pair.negative or sign is not None else sign_of_name(pair.whole, outer, here)
    part: Part
    if pair.negative:
        part = (pair.whole, loss, holes)
    elif later is not None:
        parts = [(pair.whole, loss, holes), (later, "{inner}", {"inner": later.operand})]
        return here.rewrite_all(
            log, parts, title="use the cross-entropy of the logits", claim=claim, cost=cost
        )
    elif sign is None:
        part = negated(pair.whole, (pair.whole, loss, holes), outer)
    elif sign.operand is pair.whole:
        part = (sign, loss, holes)
    else:
        part = (sign, "{inner}", {"inner": Changed(sign.operand, [(pair.whole, loss, holes)])})
    return here.rewrite_all(
        log, [part], title="use the cross-entropy of the logits", claim=claim, cost=cost
    )


def sign_of_name(whole: ast.expr, outer: Outer, here: Context) -> ast.UnaryOp | None:
    """The minus sign before the only use of the name that a sum is assigned to, sums and means in
    between; None where there is none, or the name says that it is a likelihood.
    """
    scope, statement = outer.point.scope, beyond_sums(whole, outer)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or identifiers.names_likelihood(target.id):
        return None
    uses = [
        node
        for node in ast.walk(scope.node)
        if isinstance(node, ast.Name) and node.id == target.id and node is not target
    ]
    sign = beyond_sums(uses[0], outer) if scope.function is not None and len(uses) == 1 else None
    return sign if isinstance(sign, ast.UnaryOp) and isinstance(sign.op, ast.USub) else None


def beyond_sums(node: ast.expr, outer: Outer) -> ast.AST | None:
    """What stands around an expression and the sums and means of it."""
    for around in outer.here.around(node):
        site = outer.site(around) if isinstance(around, ast.Call) else None
        if site is None or site.op.name not in SUMS:
            return around
    return None


def negated(whole: ast.expr, part: Part, outer: Outer) -> Part:
    """The loss with a minus sign before the sums and means around it."""
    top = whole
    for node in outer.chain[outer.chain.index(whole) + 1 :]:
        if outer.site(node) is None or outer.site(node).op.name not in SUMS:
            break
        top = node
    return (
        (whole, "-" + part[1], part[2])
        if top is whole
        else (top, "-{inner}", {"inner": Changed(top, [part])})
    )


def stable_halves(log: Site, pair: Pair, here: Context, claim: Claim, cost: str) -> list[Fix]:
    """Each logarithm replaced by a stable form, whatever stands around it."""
    (one, two), halves = pair.found, (pair.first, pair.second)
    complement, other = halves if one.complement else halves[::-1]
    z = argument(one.producer, "x", "logits")
    return repairs.minus_softplus(
        here,
        complement,
        z,
        [(other.node, "tf.math.log_sigmoid({z})", {"z": z})],
        title="use log_sigmoid and softplus of the logits",
        claim=claim,
        cost=cost,
    )


# Categorical


def categorical(log: Site, found: Probability, outer: Outer, here: Context) -> Iterator[Finding]:
    softmax = found.producer
    claim, cost = cost_of(found)
    holes: dict[str, Any] = {
        "z": argument(softmax, "logits", "logits"),
        "axis": argument(softmax, "axis"),
    }

    def stable() -> list[Fix]:
        return here.rewrite(
            log,
            "tf.nn.log_softmax({z}, axis={axis})",
            title="use log_softmax of the logits",
            claim=claim,
            cost=cost,
            **holes,
        )

    def on_logits() -> list[Fix]:
        return [*stable(), *loss_op(log, softmax, outer, here, cost)]

    # Where the logits are out of reach the logarithm is repaired (TFN301), not the loss.
    if not (here.visible(softmax, log) and found.guard) and not here.possible(on_logits):
        return
    products = [
        node
        for node in outer.chain[1:]
        if outer.site(node) is not None and outer.site(node).op.name == "tf.multiply"
    ]
    yield here.finding(
        log,
        "x",
        f"cross-entropy written by hand on a softmax: {why(found)}",
        Certainty.MAY,
        on_logits(),
        node=products[-1],
        covers=[log.node, *products],
    )


def loss_op(log: Site, softmax: Site, outer: Outer, here: Context, cost: str) -> list[Fix]:
    """softmax_cross_entropy_with_logits for `-reduce_sum(y * log(p), axis=-1)` and
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
    if (
        total is None
        or total.op.name != "tf.reduce_sum"
        or len(labels) != 1
        or total.given("keepdims")
        or not total.complete
    ):
        return []
    sign = None if negative else outer.sign_above(total.node)
    if not negative and sign is None or negative and isinstance(labels[0], ast.UnaryOp):
        return []
    return _replaced(log, softmax, total, sign, labels[0], outer.chain[position - 1], here, cost)


def _replaced(
    log: Site,
    softmax: Site,
    total: Site,
    sign: ast.UnaryOp | None,
    labels: ast.expr,
    product: ast.expr,
    here: Context,
    cost: str,
) -> list[Fix]:
    loss = "tf.nn.softmax_cross_entropy_with_logits(labels={labels}, logits={logits})"
    holes: dict[str, Any] = {"labels": labels, "logits": argument(softmax, "logits", "logits")}
    if total.given("axis") and total.const("axis") != -1:
        return []
    place = total.node if total.given("axis") else product
    whole = sign.operand if sign is not None else total.node
    new: Part = (place, loss, holes)
    part: Part = (
        (sign or whole, "{inner}", {"inner": Changed(whole, [new])})
        if place is not whole
        else (sign or whole, loss, holes)
    )
    costs = [cost, "the gradient is right only for labels that sum to 1 along the classes"]
    return here.rewrite_all(
        log,
        [part],
        title="use softmax_cross_entropy_with_logits",
        claim=Claim.SHIFTED,
        cost="; ".join(filter(None, costs)),
    )


# One probability picked by a one-hot mask


def picked(log: Site, here: Context) -> Iterator[Finding]:
    """log(reduce_sum(softmax * one_hot, axis=-1)): the mask picks one probability, so it may pick
    the logarithm.
    """
    total = log.value("x").origin
    if (
        log.op.name != "tf.math.log"
        or not isinstance(total, Site)
        or total.op.name != "tf.reduce_sum"
    ):
        return
    chosen = one_hot_choice(total) if total.const("axis") == -1 else None
    softmax = chosen[0].value(chosen[1]).origin if chosen is not None else None
    if not isinstance(softmax, Site) or softmax.op.name != "tf.nn.softmax" or not softmax.complete:
        return

    def fixes() -> list[Fix]:
        return repairs.logarithm(here, log)

    if here.visible(softmax, log) or here.possible(
        lambda: [fix for fix in fixes() if fix.claim.safe]
    ):
        yield here.finding(
            log,
            "x",
            "logarithm of one probability of a softmax, which underflows to 0: the loss becomes "
            "inf and its gradient NaN",
            Certainty.MAY,
            fixes(),
        )
