"""What losses of Keras do to predictions outside of the range that they expect."""

from __future__ import annotations

import ast
from typing import Final, NamedTuple

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms.loss_pairs import Pairing, linear, maker
from tfnanlint.ops.provenance import widest
from tfnanlint.ops.site import made_by
from tfnanlint.values.value import words

CLASSES: Final = ("categorical", "sparse")
_DEPTH: Final = 8
_ROUNDING: Final = 1e-3  # sums and products of probabilities go a little beyond their bounds


class Misfit(NamedTuple):
    """What a loss does to predictions outside its range, in words; `only_stops`: they get no
    gradient, and that is all. `kind` is that of the evidence, as `kinds` names it.
    """

    text: str
    only_stops: bool = False
    kind: str = ""


def _stopped(text: str, kind: str = "") -> Misfit:
    return Misfit(f"{text} get no gradient", only_stops=True, kind=kind)


def misfit(pair: Pairing) -> Misfit | None:
    """What the loss does to predictions outside its range; None when they fit."""
    p, family = pair.predictions, pair.family
    if not p.known or (family == "binary" or family in CLASSES) and linear(p):
        return None  # any number: TFN503
    folded = made_by(widest(plain(p)), "tf.sqrt", "K.sqrt", "tf.abs", "tf.square")
    if folded is not None and not folded.value("x").known:
        return None  # the op shows where it begins, and nothing where it ends
    reach = f"the predictions are {'unbounded' if linear(p) else words(p)}"
    below, above = p.lo < -_ROUNDING, p.hi > 1 + _ROUNDING
    if family == "binary" and (below or above):
        return _stopped(
            f"{reach}, but the loss expects probabilities: values outside [0, 1] are clipped and",
            "range-of-binary",
        )
    if family == "log_loss" and (below or above):
        return Misfit(
            f"{reach}, but log_loss takes log(p) and log(1 - p) without clipping: outside "
            "[0, 1] the loss is NaN"
        )
    if family in CLASSES:
        return _of_classes(pair, reach, below, above)
    if family == "poisson" and below:
        return Misfit(f"{reach}, but poisson takes their logarithm: below 0 the loss is NaN")
    if family in ("msle", "kld") and below:
        return _stopped(f"{reach}, but the loss clips them at 0: values below 0")
    return None


def _of_classes(pair: Pairing, reach: str, below: bool, above: bool) -> Misfit | None:
    """What a loss of exclusive classes of Keras does to its predictions; None when they fit."""
    if not pair.keras:
        return None
    # it clips and never divides: sigmoids are compared by their logarithms there
    if pair.family == "sparse":
        clipped = f"{reach}, but the loss clips them to [1e-7, 1 - 1e-7]: values outside"
        return _stopped(clipped, "range-of-classes") if below or above else None
    if below or above:
        return Misfit(
            f"{reach}, but the loss divides them by their sum: where the sum is 0, the loss is NaN",
            kind="range-of-classes",
        )
    if is_sigmoid(pair):
        return Misfit(
            "the loss expects probabilities that sum to 1, but gets sigmoids: it divides them "
            "by their sum, which gives NaN where all of them are 0"
        )
    return None


def is_sigmoid(pair: Pairing) -> bool:
    """Whether the predictions are sigmoids, one for each class."""
    producer = maker(pair.predictions)
    return producer is not None and producer.op.name == "tf.sigmoid"


def may_end_in_softmax(call: ast.Call) -> bool:
    """Whether a call is given an activation, and none with another name is written there."""
    stated = [word.value for word in call.keywords if word.arg in ("activation", None)]
    return any(
        not isinstance(node, ast.Constant) or node.value == "softmax"
        for node in (*stated, *call.args[1:2])
    ) or any(isinstance(node, ast.Starred) for node in call.args[:1])
