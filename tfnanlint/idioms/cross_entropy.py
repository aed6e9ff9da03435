"""Cross-entropies written by hand: what stands around the logarithm of a probability.

`-reduce_sum(y * log(softmax(z)))` is one, and so are the two halves of
`y * log(p) + (1 - y) * log(1 - p)`. `p * log(p)` is an entropy, and no cross-entropy.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tfnanlint.idioms.probabilities import Probability, logged, probability
from tfnanlint.ops.site import Site, same
from tfnanlint.ops.traits import ADDITIONS, FACTORS, LINEAR, NATURAL_LOGARITHMS, NEGATIONS, TOTALS
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value

_NEGATING: Final = (*TOTALS, *NEGATIONS)
_SCALING: Final = (*TOTALS, *FACTORS)
_LINEAR: Final = (*TOTALS, *LINEAR)

Around = Callable[[ast.AST], list[ast.AST]]  # what stands around a node, innermost first


@dataclass(slots=True)
class Half:
    """A term `factors * log(probability)` of a sum, with the site of its logarithm."""

    log: Site
    probability: Probability
    negative: bool
    factors: list[ast.expr]


@dataclass(slots=True)
class BinaryCrossEntropy:
    """The two halves of a binary cross-entropy in the sum `whole`, in the order of the text.
    `labels` are those of the half without complement; None when the halves are no plain pair.
    """

    whole: ast.expr
    halves: tuple[Half, Half]
    labels: ast.expr | None
    negative: bool

    @property
    def probabilities(self) -> tuple[Probability, Probability]:
        return self.halves[0].probability, self.halves[1].probability

    @property
    def sigmoid(self) -> Site:
        return self.halves[0].probability.producer


class LinearContext:
    """What stands around a logarithm: factors, signs, sums and means, up to the statement; `chain`
    begins with the logarithm.
    """

    def __init__(self, log: Site, interpreter: Evaluator, around: Around):
        self.log = log
        self.interpreter = interpreter
        self.chain: list[ast.expr] = [log.node]
        for node in around(log.node):
            if not isinstance(node, ast.expr) or not self._is_linear(node, self.chain[-1]):
                break
            self.chain.append(node)

    def site(self, node: ast.expr) -> Site | None:
        """The op application that an expression is, at the logarithm."""
        return self.interpreter.site(node, self.log.point)

    def value(self, node: ast.expr) -> Value:
        """What an expression is worth at the logarithm."""
        return self.interpreter.ask(node, self.log.point)

    def _is_linear(self, node: ast.expr, inner: ast.expr) -> bool:
        """Whether a node is a sum, difference, product, mean or negation of what is inside it."""
        site = self.site(node)
        if site is None:
            return is_negation(node)
        if site.op.name == "tf.divide":
            return site.args.get("x") is inner
        return site.op.name in _LINEAR

    def products(self) -> list[ast.expr]:
        """The products around the logarithm, innermost first."""
        return [node for node in self.chain[1:] if self._name(node) == "tf.multiply"]

    def _name(self, node: ast.expr) -> str:
        site = self.site(node)
        return site.op.name if site is not None else ""

    def is_loss(self, logarithm: Probability) -> bool:
        """Whether the logarithm is multiplied with labels, and the product summed or negated.

        `p * log(p)` is an entropy and `p * (log(p) - log(q))` a divergence: they are none.
        """
        is_labelled = is_reduced = is_sum = False
        for node, inner in zip(self.chain[1:], self.chain):
            site = self.site(node)
            name = site.op.name if site is not None else "tf.negative"
            is_sum = is_sum or name in ADDITIONS
            if site is not None and name == "tf.multiply" and not is_sum:
                factor = site.args["y"] if site.args.get("x") is inner else site.args.get("x")
                if factor is not None and self._is_label(factor, logarithm):
                    is_labelled = True
            is_reduced = is_reduced or name in _NEGATING
        return is_labelled and (is_reduced or self._has_negated_factor())

    def _is_label(self, node: ast.expr, logarithm: Probability) -> bool:
        """Whether a factor is neither a number nor the probability itself."""
        value = self.value(_without_sign(node))
        factor = probability(value)
        return not value.is_number and (factor is None or factor.output is not logarithm.output)

    def _has_negated_factor(self) -> bool:
        return len(self.chain) > 1 and any(map(is_negation, ast.walk(self.chain[1])))

    # Linear combinations

    def terms(self, node: ast.expr, negative: bool = False) -> list[tuple[bool, ast.expr]]:
        """The terms of a sum, each with whether it is negative."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.terms(node.operand, not negative)
        site = self.site(node)
        if site is None:
            return [(negative, node)]
        if is_minus(site):
            return self.terms(site.args["y"], not negative)
        if site.op.name in ADDITIONS and {"x", "y"} <= site.args.keys():
            is_difference = site.op.name == "tf.subtract"
            return [
                *self.terms(site.args["x"], negative),
                *self.terms(site.args["y"], negative ^ is_difference),
            ]
        if site.op.name == "tf.negative" and "x" in site.args:
            return self.terms(site.args["x"], not negative)
        return [(negative, node)]

    def factors(self, node: ast.expr) -> tuple[bool, list[ast.expr]]:
        """Whether a product is negative, and its factors."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            negative, factors = self.factors(node.operand)
            return not negative, factors
        site = self.site(node)
        if site is not None and is_minus(site):
            negative, factors = self.factors(site.args["y"])
            return not negative, factors
        if site is None or site.op.name != "tf.multiply" or not {"x", "y"} <= site.args.keys():
            return False, [node]
        (negative, left), (negates, right) = (
            self.factors(site.args["x"]),
            self.factors(site.args["y"]),
        )
        return negative ^ negates, left + right

    def binary(self, logarithm: Probability) -> BinaryCrossEntropy | None:
        """The smallest sum around the logarithm that holds the other half of a binary
        cross-entropy.
        """
        for whole in self.chain[1:]:
            if self._name(whole) not in ADDITIONS:
                continue
            terms = self.terms(whole)
            halves = [self._half(negative, term, logarithm) for negative, term in terms]
            pair = [half for half in halves if half is not None]
            if len(pair) != 2:
                continue
            if pair[0].probability.complement != pair[1].probability.complement:
                return self._paired(whole, pair[0], pair[1], is_plain=len(terms) == 2)
        return None

    def _half(self, negative: bool, term: ast.expr, logarithm: Probability) -> Half | None:
        """A term with one logarithm of the same producer, and something beside it."""
        negates, factors = self.factors(term)
        logarithms = []
        for factor in factors:
            site = self.site(factor)
            inner = (
                logged(site) if site is not None and site.op.name in NATURAL_LOGARITHMS else None
            )
            if site is not None and inner is not None and inner.output is logarithm.output:
                logarithms.append((site, inner))
        if len(logarithms) != 1 or len(factors) < 2:
            return None
        site, inner = logarithms[0]
        rest = [factor for factor in factors if factor is not site.node]
        return Half(site, inner, negative ^ negates, rest)

    def _paired(
        self, whole: ast.expr, left: Half, right: Half, is_plain: bool
    ) -> BinaryCrossEntropy:
        """Two halves of a binary cross-entropy, with the labels if one half has those and the other
        1 minus them.
        """
        labels = None
        if is_plain and left.negative == right.negative:
            if len(left.factors) == len(right.factors) == 1:
                mine, rest = left.factors[0], right.factors[0]
                if left.probability.complement:
                    mine, rest = rest, mine
                if self._is_complement(rest, mine) or self._is_complement(mine, rest):
                    labels = mine
        start = self.log.source.span
        is_in_order = start(left.log.node).start <= start(right.log.node).start
        halves = (left, right) if is_in_order else (right, left)
        return BinaryCrossEntropy(whole, halves, labels, left.negative)

    def _is_complement(self, node: ast.expr, subtrahend: ast.expr) -> bool:
        """Whether an expression is 1 minus another."""
        difference = self.value(node).origin
        if not isinstance(difference, Site) or difference.op.name != "tf.subtract":
            return False
        minuend = difference.value("x")
        return (
            minuend.exact
            and minuend.lo == 1
            and same(difference.value("y"), self.value(subtrahend))
        )

    # Signs and sums around a part

    def sign_above(self, node: ast.expr) -> ast.UnaryOp | None:
        """The minus sign around means, sums and products of `node`; None when the next is something
        else.
        """
        for outer in self.chain[self.chain.index(node) + 1 :]:
            if isinstance(outer, ast.UnaryOp):
                return outer
            if self._name(outer) not in _SCALING:
                return None
        return None

    def reduced(self, node: ast.expr) -> ast.expr:
        """The outermost of the sums and means that stand directly around `node`."""
        top = node
        for outer in self.chain[self.chain.index(node) + 1 :]:
            if self._name(outer) not in TOTALS:
                break
            top = outer
        return top


def is_minus(site: Site) -> bool:
    """Whether an op is `0 - x`."""
    zero = site.value("x") if site.op.name == "tf.subtract" else None
    return zero is not None and zero.exact and zero.lo == 0 and "y" in site.args


def is_negation(node: ast.AST) -> bool:
    """Whether a node is `-x`."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _without_sign(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    return node
