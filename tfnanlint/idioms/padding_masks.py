"""Masks of padding: they leave out steps that a batch was filled up with, and a whole batch of such
steps is rare. Of a single row it is not: a sentence may be empty.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.conventions.identifiers import names_mask, names_padding, names_weights
from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import quantities
from tfnanlint.ops.frameworks import FAMILIES
from tfnanlint.ops.provenance import widest
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.traits import (
    CASTS,
    CONSTANTS,
    EQUALITIES,
    GREATER,
    LESS,
    MASK_LAYOUTS,
    RESHAPES,
    SUMS,
)
from tfnanlint.syntax.access_paths import path_of
from tfnanlint.values.value import Note, Value

_FILL: Final = 1e4  # beyond this a number marks what is filled up
_TESTS: Final = (*EQUALITIES, *GREATER, *LESS)
_DEPTH: Final = 6


def weakness_of_total(division: Site, divisor: Value) -> str:
    """The kind of evidence that the total of a mask is 0, as `kinds` names it: "padding" where the
    mask marks padding, "token-mask" where it weighs a cross-entropy of whole-number labels; empty
    for the total of each row, and for other masks.
    """
    total = made_by(plain(widest(plain(divisor))), *SUMS, "tf.reduce_mean")
    if total is None:
        return ""
    mask = plain(total.value(total.op.main))
    inner = made_by(mask, *SUMS)
    if inner is not None and not total.given("axis"):
        total, mask = inner, plain(inner.value(inner.op.main))
    elif total.given("axis") and total.const("axis", 0) is not None:
        return ""
    if _marks_padding(mask):
        return "padding"
    written = path_of(total.args[total.op.main]) if total.op.main in total.args else None
    return "token-mask" if _weighs_tokens(division, mask, written or "") else ""


def _marks_padding(mask: Value) -> bool:
    """Whether a mask is made of the lengths of sequences, leaves out the elements of what the
    function is given that are one number, or those near a number that only fills up.
    """
    leaves_out = False
    for _ in range(_DEPTH):
        layout = made_by(mask, *MASK_LAYOUTS)
        if layout is None:
            break
        leaves_out ^= layout.op.name == "tf.logical_not"
        inner = plain(layout.value(layout.op.main or "x"))
        if layout.op.name in CASTS and mask.dtype == "bool":
            return inner.dtype != "bool" and _is_given(inner)
        mask = inner
    test = made_by(mask, *_TESTS, "tf.sequence_mask")
    if test is None or test.op.name == "tf.sequence_mask":
        return test is not None
    bound = test.value("y")
    if test.op.name not in EQUALITIES:
        return bound.is_number and abs(bound.lo) >= _FILL
    leaves_out ^= test.op.name == "tf.not_equal"
    if not leaves_out:
        return False
    return (
        bound.is_number
        and _is_given(test.value("x"))
        or _is_padding(bound)
        or _is_padding(test.value("x"))
    )


def _is_padding(value: Value) -> bool:
    """Whether a value is a number of the program whose name says that it fills up sequences."""
    constant = made_by(value, *CONSTANTS)
    note = _bare(value if constant is None else constant.value(constant.op.main)).origin
    return isinstance(note, Note) and names_padding(note.path or note.parameter)


def _is_given(value: Value) -> bool:
    """Whether a value is what the function is given, cast and reshaped or not, and not weights of
    its samples, which a user may set to 0.
    """
    note = _bare(value).origin
    return isinstance(note, Note) and not names_weights(note.path or note.parameter)


def _weighs_tokens(division: Site, mask: Value, written: str) -> bool:
    """Whether a mask that the function is given under such a name is multiplied with a
    cross-entropy of whole-number labels.
    """
    if not isinstance(mask.origin, Note) or not names_mask(written):
        return False
    return any(FAMILIES[loss.op.name] == "sparse" for loss in _losses(division))


def _losses(division: Site) -> list[Site]:
    """The losses that stand as factors in the sums of a dividend."""
    if not division.given("x"):
        return []
    dividend = division.value("x")
    parts = [dividend, *(total.value("x") for total in quantities.sums(dividend))]
    factors = [plain(factor) for part in parts for factor in quantities.factors(part)]
    losses = [made_by(factor, *FAMILIES) for factor in map(_bare, factors)]
    return [loss for loss in losses if loss is not None]


def _bare(value: Value) -> Value:
    """A value as it was before casts and reshapes."""
    value = plain(value)
    for _ in range(_DEPTH):
        layout = made_by(value, *RESHAPES, *CASTS)
        if layout is None:
            break
        value = plain(layout.value(layout.op.main or "x"))
    return value
