"""Kinds of evidence that reading has shown to be wrong too often for a warning.

A rule names the kind on which a finding rests. Readers judged findings of the kind on applications
for which nothing had been tuned; below `LEAST` they are notes, until a fact tells the right ones
from the wrong ones. The numbers are those of the samples `unread` to `unread14` and
`unread_kinds` in `benchmarks/verdicts/findings.tsv`. A kind that only one repository shows is none.
"""

from __future__ import annotations

from typing import Final, NamedTuple

LEAST: Final = 0.85  # of findings that are warnings


class Kind(NamedTuple):
    """A kind of evidence: why it is weak, in words that follow "a note because", and how many of
    its findings were right and wrong when they were read. Fixes that move values are only
    suggested for a weak kind, unless they are `judged_alone`: as `fix_kinds` says.
    """

    name: str
    because: str
    right: int
    wrong: int
    judged_alone: bool = False

    @property
    def is_note(self) -> bool:
        """Whether too few findings of this kind were right."""
        return self.right < LEAST * (self.right + self.wrong)


KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind(
            "padding",
            "the mask marks padding, and a whole batch of padding is rare",
            right=1,
            wrong=8,
        ),
        Kind(
            "token-mask",
            "the mask weighs the loss of tokens, and a batch or a row without tokens is rare",
            right=1,
            wrong=4,
        ),
        Kind(
            "data-mask",
            "the mask is made of data alone, and how the data is prepared seldom leaves it empty",
            right=1,
            wrong=11,
        ),
        Kind(
            "fed-rows",
            "the program feeds the rows itself, and how it prepares them seldom leaves one empty",
            right=0,
            wrong=1,
        ),
        Kind(
            "layer-output",
            "all outputs of a linear or recurrent layer would have to be 0, or equal to something "
            "else, at once",
            right=0,
            wrong=5,
        ),
        Kind(
            "error-of-output",
            "what a network gives would have to be what it is compared with, in each element",
            right=0,
            wrong=2,
        ),
        Kind(
            "bounded-sum",
            "more than 87 numbers between 0 and 1 would have to be added up",
            right=0,
            wrong=2,
        ),
        Kind(
            "counter",
            "the divisor counts elements, and is seldom read before the first are counted",
            right=0,
            wrong=2,
        ),
        Kind(
            "weights-off-zero",
            "weights that start at another number than 0 are added, and training would have to "
            "bring the sum to exactly 0",
            right=0,
            wrong=5,
        ),
        Kind(
            "weight-product",
            "weights that start with random numbers are multiplied, and training would have to "
            "bring all of them to 0",
            right=2,
            wrong=2,
        ),
        Kind(
            "weight-gradient",
            "the loss would have to depend on none of these weights",
            right=0,
            wrong=2,
        ),
        Kind(
            "two-networks",
            "two networks with weights of their own would have to give equal outputs",
            right=0,
            wrong=2,
        ),
        Kind(
            "ignored-labels",
            "the filter leaves out what is marked to be ignored, which is rarely everything",
            right=0,
            wrong=1,
        ),
        Kind(
            "tensorflow-1-only",
            "of the releases that run this file only TensorFlow 1.15 computes it so",
            right=5,
            wrong=7,
        ),
        Kind(
            "returns",
            "rewards come from an environment, and no weights are behind them",
            right=0,
            wrong=1,
        ),
        Kind(
            "normal-equations",
            "the columns of data are rarely dependent",
            right=0,
            wrong=2,
        ),
        Kind(
            "size-minus-one",
            "it is a size less 1, and an axis or a batch of one element is rare",
            right=0,
            wrong=3,
        ),
        # of divisors, by what gives them
        Kind(
            "count",
            "it adds up what a mask or weights leave, and data of which nothing is left is rare",
            right=10,
            wrong=23,
            judged_alone=True,
        ),
        Kind(
            "length",
            "it is 0 only where every element of a vector is 0, which data and networks seldom "
            "give",
            right=4,
            wrong=8,
            judged_alone=True,
        ),
        Kind(
            "deviation",
            "it is 0 only where all elements are equal, which data and networks seldom give",
            right=7,
            wrong=5,
            judged_alone=True,
        ),
        Kind(
            "variable",
            "it is a variable that starts at another number, and training would have to bring it "
            "to exactly 0",
            right=5,
            wrong=10,
            judged_alone=True,
        ),
        Kind(
            "own-length",
            "every element of the vector would have to be 0, which data and networks seldom give",
            right=2,
            wrong=9,
            judged_alone=True,
        ),
        # of other operations
        Kind(
            "edge",
            "the argument would have to be at the edge of the domain, and nothing shows that a "
            "gradient is taken there",
            right=0,
            wrong=3,
            judged_alone=True,
        ),
        Kind(
            "masked-nan",
            "nothing shows that what is masked becomes NaN where weights give it",
            right=1,
            wrong=12,
            judged_alone=True,
        ),
        Kind(
            "own-data",
            "the program trains on a few rows of its own, on which the logits stay small",
            right=3,
            wrong=7,
            judged_alone=True,
        ),
        Kind(
            "written-sigmoid",
            "the exponent seldom comes near 88, where the exponential overflows",
            right=3,
            wrong=7,
            judged_alone=True,
        ),
        Kind(
            "range-of-binary",
            "what the network gives outside of [0, 1] may be rare, or meant",
            right=7,
            wrong=11,
            judged_alone=True,
        ),
        Kind(
            "range-of-classes",
            "a layer of classes may follow that is not seen",
            right=1,
            wrong=7,
            judged_alone=True,
        ),
    )
}
