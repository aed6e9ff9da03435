"""Parameters of distributions that a network gives: outside of the range that a distribution
expects, or probabilities where it takes their logarithm.
"""

from __future__ import annotations

from typing import Final, Iterator, NamedTuple

from tfnanlint.idioms.loss_pairs import linear, maker, unfolded
from tfnanlint.idioms.relu_outputs import relu_behind
from tfnanlint.ops.families.distributions import (
    OF_CLASSES,
    OF_PROBABILITIES,
    POSITIVE_PARAMETERS,
)
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.traits import PROBABILITIES
from tfnanlint.values.value import Value

MADE: Final = (*POSITIVE_PARAMETERS, *OF_PROBABILITIES)


class Misplaced(NamedTuple):
    """A parameter that a network gives outside of its range, what becomes of it, and what helps."""

    param: str
    text: str
    help: str


def misplaced(site: Site) -> Iterator[Misplaced]:
    """The parameters of a distribution that lie outside of their range for some input."""
    name = site.op.name.rsplit(".", 1)[-1]
    for param in POSITIVE_PARAMETERS.get(site.op.name, ()):
        reach, where = _reach(site.value(param))
        if reach:
            yield Misplaced(
                param,
                f"{param} of {name} is {reach}: {where}, log_prob or what is drawn is NaN or Inf",
                f"make it positive: tf.math.softplus({param}) + 1e-6",
            )
    if site.op.name in OF_PROBABILITIES and linear(unfolded(site.value("probs"))):
        yield Misplaced(
            "probs",
            f"probs of {name} is {_ANY}, not a probability: log_prob may be NaN or Inf",
            "give it to the parameter logits",
        )


_ANY: Final = "the output of a layer without an activation"


def _reach(value: Value) -> tuple[str, str]:
    """What a network gives that is not always positive, in words, and where it is not; '' where it
    is, or something else gives it.
    """
    value = unfolded(value)
    producer = maker(value)
    if linear(value):
        return _ANY, "from 0 down"
    if producer is not None and producer.op.name == "tf.tanh":
        return "a tanh", "from 0 down"
    if value.lo == 0 and relu_behind(value) is not None:
        return "the output of a relu", "at 0"
    return "", ""


def probabilities_of(log_prob: Site, producer: str) -> Site | None:
    """The softmax or sigmoid of which log_prob takes the logarithm: a distribution is made with it,
    `Categorical(probs=tf.nn.softmax(logits))`.
    """
    dist = made_by(log_prob.value("self"), *OF_PROBABILITIES)
    if dist is None or not dist.given("probs"):
        return None
    site = maker(unfolded(dist.value("probs")))
    is_right = PROBABILITIES[dist.op.name not in OF_CLASSES] == producer
    return site if is_right and site is not None and site.op.name == producer else None
