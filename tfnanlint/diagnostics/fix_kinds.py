"""Kinds of fixes, and which of them `--fix` and `--unsafe-fixes` apply.

A fix belongs to one kind, by what shows that its hazard occurs. Readers judged applied fixes as the
maintainer of the program would: fit to merge, or poor (needless, half, clumsy, wrong). A kind of
which fewer than `LEAST_FIT` were fit is only suggested: it is shown with its reason, an editor
applies it, and the configuration can name it. The numbers are the verdicts in
`benchmarks/verdicts/fixes.tsv`, without those on a form that is no longer written and on programs
of which the verdict does not tell the kind.
"""

from __future__ import annotations

from typing import Final, NamedTuple

LEAST_FIT: Final = 0.85  # of the fixes that are applied, as of the findings that are warnings


class FixKind(NamedTuple):
    """A kind of fixes, `of` what; why it may be needless, in words that follow "because"; and how
    many readers found fit and poor.
    """

    name: str
    of: str
    because: str
    fit: int
    poor: int

    @property
    def is_applied(self) -> bool:
        """Whether enough of this kind were fit to merge."""
        return self.fit >= LEAST_FIT * (self.fit + self.poor)


#: A fix that no other kind covers: the same computation in a stable form.
EQUIVALENT: Final = "equivalent"

FIX_KINDS: Final = {
    kind.name: kind
    for kind in (
        # the same in another form
        FixKind(
            EQUIVALENT,
            "the same computation in a stable form: log_softmax, softplus, logsumexp, "
            "exp(v / 2), the loss that takes logits",
            "",
            fit=128,
            poor=19,
        ),
        FixKind(
            "own-data",
            "a stable form of a loss in a program that writes out or draws its data itself",
            "the program trains on a few rows of its own, on which the logits stay small",
            fit=0,
            poor=9,
        ),
        FixKind(
            "loss-setting",
            "`from_logits`, the logits, the activation or the order of arguments that a loss takes",
            "",
            fit=21,
            poor=2,
        ),
        FixKind(
            "untrained-loss",
            "`from_logits` of a loss with which nothing shows that the program trains",
            "nothing shows that the program trains with this loss",
            fit=0,
            poor=2,
        ),
        FixKind(
            "other-activation",
            "another activation of the last layer than the one that is written",
            "which activation is meant only its author knows",
            fit=2,
            poor=8,
        ),
        FixKind(
            "written-sigmoid",
            "a sigmoid or tanh that is written out with exponentials",
            "the exponent seldom comes near 88, where the exponential overflows",
            fit=0,
            poor=4,
        ),
        FixKind(
            "small-digits",
            "exp(x) - 1 or log(1 + x) whose last digits are lost",
            "nothing divides by the result or takes its logarithm, so that the digits that are "
            "lost hardly matter",
            fit=0,
            poor=1,
        ),
        # guards of roots, norms and deviations, where a gradient is taken
        FixKind(
            "points",
            "the distance of two points that one tensor or one network gives",
            "",
            fit=11,
            poor=1,
        ),
        FixKind(
            "length",
            "the length of a vector, or the root of a sum of squares",
            "",
            fit=27,
            poor=2,
        ),
        FixKind(
            "slopes",
            "the length of a gradient for each example, as in gradient penalties, of a network "
            "with a flat part: a relu, a sigmoid",
            "",
            fit=3,
            poor=0,
        ),
        FixKind(
            "leaking-slopes",
            "the same of a network that leaks below 0, of which no flat part is seen",
            "the network leaks below 0, and no flat part of it is seen",
            fit=7,
            poor=2,
        ),
        FixKind(
            "unseen-slopes",
            "the same of a network that is not seen",
            "the network is not seen, and few critics have a gradient of 0 in every element",
            fit=2,
            poor=4,
        ),
        FixKind(
            "slopes-of-a-batch",
            "the length of the gradient of a whole batch",
            "the gradient of a whole batch is hardly ever 0",
            fit=0,
            poor=1,
        ),
        FixKind(
            "flat-nowhere",
            "the length of the gradient of a network without a flat part",
            "no part of the network is flat: its gradient is hardly ever 0 in every element",
            fit=0,
            poor=5,
        ),
        FixKind(
            "network-output",
            "the length of the output of a layer",
            "the output of the network is hardly ever exactly 0 in every element",
            fit=0,
            poor=2,
        ),
        FixKind(
            "error-by-chance",
            "the error of a network whose weights are known to be free",
            "what the network gives is hardly ever exactly what it is compared with in every "
            "element",
            fit=4,
            poor=7,
        ),
        FixKind(
            "prediction-error",
            "the distance of a prediction from its label",
            "a prediction is hardly ever exactly its label in every element",
            fit=9,
            poor=12,
        ),
        FixKind(
            "weights",
            "the length of weights, or of their products",
            "weights that start with random numbers are hardly ever all 0",
            fit=4,
            poor=5,
        ),
        FixKind(
            "positive",
            "the length of what exponentials give",
            "exponentials are 0 only where they underflow",
            fit=0,
            poor=6,
        ),
        FixKind(
            "deviation",
            "the standard deviation of activations or of data",
            "equal elements take a dead channel or constant data, and nothing shows that these "
            "occur",
            fit=6,
            poor=4,
        ),
        FixKind(
            "radicand",
            "a floor under another root or power",
            "nothing shows that the radicand comes to 0",
            fit=2,
            poor=5,
        ),
        FixKind(
            "score",
            "a power of 1 minus a score",
            "",
            fit=1,
            poor=0,
        ),
        FixKind(
            "late-guard",
            "a guard that is moved under its root",
            "the guard that is written already keeps the value finite",
            fit=3,
            poor=11,
        ),
        FixKind(
            "no-gradient",
            "a root of which nothing shows that a gradient is taken",
            "nothing shows that a gradient is taken, and the value is finite",
            fit=0,
            poor=3,
        ),
        # guards of quotients
        FixKind(
            "state",
            "what a variable has gathered, divided by another one",
            "",
            fit=5,
            poor=0,
        ),
        FixKind(
            "standardised",
            "elements divided by their own deviation",
            "",
            fit=12,
            poor=1,
        ),
        FixKind(
            "own-share",
            "a part divided by its sum, its largest element or its length",
            "",
            fit=16,
            poor=2,
        ),
        FixKind(
            "cosine",
            "a product divided by two lengths",
            "",
            fit=2,
            poor=0,
        ),
        FixKind(
            "squared-gradients",
            "a step divided by the root of a mean of squared gradients",
            "",
            fit=2,
            poor=0,
        ),
        FixKind(
            "counted-in-a-loss",
            "a sum over a mask, of which a gradient is taken, divided by its count",
            "",
            fit=29,
            poor=5,
        ),
        FixKind(
            "counted",
            "a count of which no gradient is taken",
            "a count of 0 takes data without any such element",
            fit=8,
            poor=8,
        ),
        FixKind(
            "unlike-sums",
            "a sum divided by a sum of squares, or of what takes both signs: by no count",
            "nothing shows that the divisor comes to 0",
            fit=0,
            poor=3,
        ),
        FixKind(
            "divisor",
            "a floor under any other divisor",
            "nothing shows that the divisor comes to 0",
            fit=9,
            poor=24,
        ),
        # guards of other operations
        FixKind(
            "logarithm",
            "a floor under a logarithm",
            "a floor leaves no gradient, and nothing shows that the argument comes to 0",
            fit=8,
            poor=15,
        ),
        FixKind(
            "lost-number",
            "a floor for a number that is lost beside 1",
            "",
            fit=6,
            poor=1,
        ),
        FixKind(
            "edge",
            "a margin at the edge of a domain",
            "an argument at the edge itself is rare",
            fit=0,
            poor=3,
        ),
        FixKind(
            "nothing-left",
            "the mean of what a filter leaves",
            "a filter hardly ever leaves nothing",
            fit=0,
            poor=2,
        ),
        FixKind(
            "jitter",
            "a multiple of the identity added to a matrix",
            "the columns of data are rarely dependent",
            fit=0,
            poor=2,
        ),
    )
}
