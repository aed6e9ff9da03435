"""Logarithms that a distribution takes of the probabilities that it is made with."""

from __future__ import annotations

from typing import Iterator

from tfnanlint.diagnostics.findings import Certainty, Differentiated, Finding
from tfnanlint.idioms import distributions
from tfnanlint.ops.site import Site
from tfnanlint.rule.registry import Context


def of_probabilities(log_prob: Site, here: Context, producer: str) -> Iterator[Finding]:
    """The finding at log_prob of a distribution that is made with `probs=tf.nn.softmax(logits)`;
    `producer` is the op that makes the probabilities, tf.nn.softmax or tf.sigmoid.
    """
    probabilities = distributions.probabilities_of(log_prob, producer)
    name = producer.rpartition(".")[2]
    if probabilities is not None and log_prob.differentiated is not Differentiated.NO:
        yield here.finding(
            log_prob,
            "self",
            "log_prob of a distribution that is made with probs takes the logarithm of a "
            f"{name}, which can underflow to 0: the loss is inf and its gradient NaN",
            Certainty.MAY,
            help=f"make the distribution with logits=, with what arrives at the {name}",
        )
