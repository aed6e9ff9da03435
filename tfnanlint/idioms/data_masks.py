"""Masks that are made of data alone: of labels, of lengths, of what a program is fed. Who prepares
the data decides whether such a mask can leave out everything, and nearly always it cannot. A mask
that is computed from outputs of a network leaves out what the network decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tfnanlint.conventions.identifiers import (
    is_label,
    names_mask,
    names_padding,
    names_weights,
    says_predicted,
)
from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import quantities
from tfnanlint.idioms.divisors import is_sum_of_mask
from tfnanlint.ops.frameworks import FAMILIES
from tfnanlint.ops.provenance import Walk, site_behind, widest
from tfnanlint.ops.site import Site, complemented, made_by, same
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import (
    CASTS,
    COMPLEMENTS,
    CONSTANTS,
    DATA_TESTS,
    EQUALITIES,
    FED_TO_LOSSES,
    GATHERS,
    GREATER,
    LAMBDAS,
    LESS,
    MASK_LAYOUTS,
    NUMPY_INTEGERS,
    ONE_HOTS,
    PLACEHOLDERS,
    READERS,
    RESHAPES,
    SLICES,
    SUMS,
    draws_tensor,
)
from tfnanlint.syntax.access_paths import path_of
from tfnanlint.values.value import NO_CONSTANT, WHOLE, Note, Value

_FILL: Final = 1e4  # beyond this a number marks what is filled up
_TESTS: Final = (*EQUALITIES, *GREATER, *LESS)
_DEPTH: Final = 6
_MOST: Final = 60  # values that are looked at
_NUMBERS: Final = frozenset(("number", "string", "shape", "none", "dtype"))


def weakness_of_total(division: Site, divisor: Value) -> str:
    """The kind of evidence that the total of a mask is 0, as `kinds` names it: "padding" where the
    mask marks padding, "token-mask" where it weighs a cross-entropy of tokens, "data-mask" where it
    is made of data alone, "fed-rows" where that is a row of what the program feeds itself; empty
    for other masks.
    """
    total = made_by(plain(widest(plain(divisor))), *SUMS, "tf.reduce_mean")
    if total is not None:
        is_of_rows = _is_of_rows(total)
        mask = plain(total.value(total.op.main))
        inner = made_by(mask, *SUMS)
        if inner is not None and not total.given("axis"):
            total, mask = inner, plain(inner.value(inner.op.main))
        is_padding = _marks_padding(mask)
        if is_padding and not is_of_rows:
            return "padding"
        written = path_of(total.args[total.op.main]) if total.op.main in total.args else None
        is_named = isinstance(mask.origin, Note) and names_mask(written or "")
        if (is_padding or is_named) and _weighs_tokens(division, is_of_rows):
            return "token-mask"
    if not _are_of_data(divisor, division):
        return ""
    totals = quantities.sums(divisor)
    if not any(map(_is_of_rows, totals)):
        return "data-mask"
    is_fed = all([_is_fed(total.value(total.op.main)) for total in totals])
    return "fed-rows" if is_fed else ""


def _is_fed(value: Value) -> bool:
    """Whether a program itself feeds what a mask is made of."""
    walk, is_fed = Walk(value, limit=_MOST), False
    for part in walk:
        site = site_behind(part)
        if site is not None and site.op.name in PLACEHOLDERS:
            is_fed = True
        elif site is not None:
            walk.enter(site)
        elif part.kind not in _NUMBERS and not part.exact:
            return False
    return is_fed and walk.is_complete


def keeps_lengths(mask: Value) -> bool:
    """Whether a mask is made of the lengths of sequences, or is one rearranged."""
    layouts = (*RESHAPES, *CASTS)
    for _ in range(_DEPTH):
        layout = made_by(mask := plain(mask), *layouts, "tf.sequence_mask")
        if layout is None or layout.op.name not in layouts:
            return layout is not None
        mask = layout.value(layout.op.main or "x")
    return False


def _is_of_rows(total: Site) -> bool:
    """Whether a total is taken of each row: of a single one padding is not rare."""
    return total.given("axis") and total.const("axis", 0) is not None


def _are_of_data(divisor: Value, division: Site) -> bool:
    """Whether a divisor adds up whole masks that are made of data alone: whole numbers, or what the
    dividend is multiplied with.
    """
    totals = quantities.sums(divisor)
    if made_by(plain(widest(plain(divisor))), "tf.subtract") is not None:
        return False
    masks = [total.value(total.op.main) for total in totals]
    if _are_classes_of_one(masks):
        return True
    is_weight = is_sum_of_mask(division)
    return bool(masks) and all([_is_mask(mask, is_weight) and _is_of_data(mask) for mask in masks])


def _are_classes_of_one(masks: list[Value]) -> bool:
    """Whether masks mark several classes of the same labels: one is absent from many a batch, and
    all of them from hardly any.
    """
    tests = [made_by(_bare(mask), "tf.equal") for mask in masks]
    labels = [test.value("x") for test in tests if test is not None]
    classes = {test.value("y").const for test in tests if test is not None}
    return (
        len(labels) == len(masks) == len(classes) > 1
        and NO_CONSTANT not in classes
        and all([same(labels[0], one) for one in labels[1:]])
        and _is_data(_bare(labels[0]))
    )


def _is_mask(value: Value, is_weight: bool) -> bool:
    """Whether a value is a mask: whole numbers, or what is multiplied with or named like one."""
    note = value.origin
    is_named = isinstance(note, Note) and names_mask(note.path or note.parameter)
    return is_weight or is_named or quantities.whole(value)


def _is_of_data(value: Value) -> bool:
    """Whether a value is computed from data and numbers of the program alone: no weights, no random
    numbers, nothing of which it is not known where it comes from. What is left out of a mask is
    none: a batch without padding, or without the first class, is ordinary.
    """
    walk = Walk(value, limit=_MOST)
    for part in walk:
        if part.kind in _NUMBERS or part.exact:
            continue
        origin = part.origin
        handed = _handed_on(origin)
        if handed:
            walk.add(handed)
        elif isinstance(part.obj, tuple):
            walk.add([element for element in part.obj if isinstance(element, Value)])
        elif (site := site_behind(part)) is None:
            if not _is_data(part):
                return False
        elif site.op.name in DATA_TESTS:
            marks = [site.value(param) for param in site.args if param not in SETTINGS]
            if site.op.name == "tf.equal" or not all(map(_may_be_mark, marks)):
                return False
            walk.add([mark for mark in marks if site_behind(mark) is not None])
        elif site.op.name in LAMBDAS and "computed" in site.values:
            walk.add([site.values["computed"]])
        elif site.op.name not in FED_TO_LOSSES and site.op.name not in READERS:
            if not _hands_data_on(site):
                return False
            # rows of data are data, and those of weights are none
            walk.enter(site, [site.op.main] if site.op.name in GATHERS else None)
    return walk.is_complete


def _handed_on(origin: object) -> Sequence[Value]:
    """What a parameter or a branch is one of, where callers show it."""
    if not isinstance(origin, Note):
        return ()
    is_shown = origin.passed and isinstance(origin.parent, Note)
    return origin.options or ([Value(origin=origin.parent)] if is_shown else ())


def _hands_data_on(site: Site) -> bool:
    """Whether an op makes a mask of data of such a mask: no variable, no random numbers, and not
    what the mask leaves out.
    """
    if site.op.name in COMPLEMENTS or draws_tensor(site.op.name):
        return False
    return site.op.pure and not site.op.starts


def _may_be_mark(value: Value) -> bool:
    """Whether what is compared for equality may be labels, ids, marks or lengths: not weights of
    samples, predictions, or what a call gives that was not followed.
    """
    note, name = value.origin, _name(value)
    if names_weights(name) or says_predicted(name):
        return False
    return not isinstance(note, Note) or not (note.computed or note.passed)


def _is_data(value: Value) -> bool:
    """Whether what nothing in the program computes is data: whole numbers, what Keras or a data set
    hands in, and parameters and attributes whose names say mask or label.
    """
    note, name = value.origin, _name(value)
    if not isinstance(note, Note) or note.computed or note.passed:
        return False
    if names_weights(name) or says_predicted(name):
        return False
    if value.dtype in WHOLE or note.data:
        return True
    return names_mask(name) or is_label(name)


def _name(value: Value) -> str:
    """The name of the parameter or attribute that a value is; empty for others."""
    note = value.origin
    return (note.path or note.parameter).rpartition(".")[2] if isinstance(note, Note) else ""


def _marks_padding(mask: Value) -> bool:
    """Whether a mask is made of the lengths of sequences, leaves out the elements of what the
    function is given that are one number, or those near a number that only fills up.
    """
    leaves_out = False
    for _ in range(_DEPTH):
        layout = made_by(mask, *MASK_LAYOUTS, *SLICES)  # or `1 - mask`
        inner = complemented(mask) if layout is None else layout.value(layout.op.main or "x")
        if inner is None:
            break
        leaves_out ^= layout is None or layout.op.name == "tf.logical_not"
        inner = plain(inner)
        if layout is not None and layout.op.name in CASTS and mask.dtype == "bool":
            return inner.dtype != "bool" and _is_given(inner)
        mask = inner
    test = made_by(mask, *_TESTS, *ONE_HOTS, "tf.sequence_mask")
    if test is None or test.op.name == "tf.sequence_mask":
        return test is not None and not leaves_out
    if test.op.name in ONE_HOTS:
        return leaves_out and _is_given(test.value(test.op.main or "x"))
    bound = test.value("y")
    if test.op.name not in EQUALITIES:
        return bound.is_number and abs(bound.lo) >= _FILL
    leaves_out ^= test.op.name == "tf.not_equal"
    sides = (test.value("x"), bound)
    return leaves_out and (_is_padding_of(*sides) or _is_padding_of(*reversed(sides)))


def _is_padding_of(elements: Value, mark: Value) -> bool:
    """Whether elements are compared with what marks padding: a number beside what the function or
    the program is given, or what is named so.
    """
    return _is_padding(mark) or mark.is_number and _is_given(elements)


def _is_padding(value: Value) -> bool:
    """Whether a value is a number of the program whose name says that it fills up sequences."""
    constant = made_by(value, *CONSTANTS, *NUMPY_INTEGERS)
    note = _bare(value if constant is None else constant.value(constant.op.main)).origin
    return isinstance(note, Note) and names_padding(note.path or note.parameter)


def _is_given(value: Value) -> bool:
    """Whether a value is what the function or the program is given, cast and rearranged or not,
    and not weights of its samples, which a user may set to 0.
    """
    note = _bare(value).origin
    if isinstance(note, Site):
        return note.op.name in PLACEHOLDERS
    return isinstance(note, Note) and not names_weights(note.path or note.parameter)


def _weighs_tokens(division: Site, is_of_rows: bool) -> bool:
    """Whether the loss of tokens is divided: a cross-entropy of whole-number labels, or any that is
    added up row by row.
    """
    losses = [FAMILIES[loss.op.name] for loss in _losses(division)]
    return "sparse" in losses or is_of_rows and "categorical" in losses


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
    """A value as it was before casts, reshapes and slices."""
    value = plain(value)
    for _ in range(_DEPTH):
        layout = made_by(value, *RESHAPES, *CASTS, *SLICES)
        if layout is None:
            break
        value = plain(layout.value(layout.op.main or "x"))
    return value
