"""Kinds of evidence that reading has shown to be wrong too often for a warning.

A rule names the kind on which a finding rests. On code that nobody had tuned the analysis for,
readers judged findings of the kind; below `LEAST` they are notes until a fact tells the right ones
from the wrong ones. The numbers are counts of `benchmarks/verdicts/findings.tsv`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LEAST: Final = 0.85  # of findings that are warnings


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of evidence: why it is weak, in words that follow "a note because", and how many of
    its findings were right and wrong when they were read.
    """

    name: str
    because: str
    right: int
    wrong: int

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
            wrong=6,
        ),
        Kind(
            "token-mask",
            "the mask weighs the loss of tokens, and a batch without tokens is rare",
            right=0,
            wrong=2,
        ),
        Kind(
            "layer-output",
            "all outputs of a linear or recurrent layer would have to be 0 at once",
            right=0,
            wrong=4,
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
            wrong=5,
        ),
        Kind(
            "returns",
            "rewards come from an environment, and no weights are behind them",
            right=0,
            wrong=1,
        ),
        Kind(
            "gram-matrix",
            "the product is singular only for data with dependent columns",
            right=2,
            wrong=3,
        ),
        Kind(
            "unseen-gradient-of-mask",
            "nothing shows that the value is trained, or where its NaN comes from",
            right=4,
            wrong=11,
        ),
    )
}
