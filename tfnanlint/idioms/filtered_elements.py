"""Elements chosen by a condition, of which none may be left: `tf.boolean_mask(x, mask)`,
`x[mask]`, `tf.gather(x, tf.where(mask))`, and what is computed from such element by element, or
row by row.
"""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms.data_masks import keeps_lengths
from tfnanlint.idioms.vanishing import SUMS
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import (
    DIFFERENCE_SQUARES,
    DISPERSIONS,
    EXTREMES,
    FILTERS,
    GATHERS,
    LOGARITHMS,
    LOGICAL,
    NAN_TESTS,
    NORMS,
    ONE_BY_ONE,
    POINTWISE,
    PROBABILITIES,
    QUOTIENTS,
    TOTALS,
    UNDERFLOWING,
)
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.value import Value

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)

ELEMENTWISE: Final = frozenset(
    (
        *POINTWISE,
        *ONE_BY_ONE,
        *UNDERFLOWING,
        *LOGARITHMS,
        *DIFFERENCE_SQUARES,
        *PROBABILITIES,
        "tf.nn.sparse_softmax_cross_entropy_with_logits",
        "tf.nn.softmax_cross_entropy_with_logits",
        "tf.nn.sigmoid_cross_entropy_with_logits",
    )
)

# One element of the result for each row, where they reduce an axis inside the rows.
ROW_BY_ROW: Final = frozenset((*TOTALS, *NORMS, *EXTREMES, *DISPERSIONS))

# Comparisons by which what is above 0, or is not 0, is kept: the side of it and that of the 0.
_NOT_ZERO: Final = {
    "tf.greater": (("x", "y"),),
    "tf.less": (("y", "x"),),
    "tf.not_equal": (("x", "y"), ("y", "x")),
}


def filter_of(value: Value, depth: int = 8) -> Site | None:
    """The op by which a condition chose the elements of a value, or of what it is computed from
    element by element or row by row.
    """
    site = value.origin
    if not isinstance(site, Site) or depth == 0:
        return None
    if site.op.name in FILTERS or site.by_mask or _picks_by_test(site):
        return site
    if site.op.passes:
        return filter_of(site.value(site.op.passes), depth - 1)
    if _is_by_rows(site):
        return filter_of(site.value(site.op.main), depth - 1)
    for param in site.args if site.op.name in ELEMENTWISE else ():
        chosen = filter_of(site.value(param), depth - 1)
        if chosen is not None:
            return chosen
    return None


def _is_by_rows(site: Site) -> bool:
    """Whether a reduction leaves the first axis of elements that a condition chose, and adds up or
    measures each row: `tf.norm(kept, axis=1)`.
    """
    if site.op.name not in ROW_BY_ROW:
        return False
    axis = site.const("axis")
    return type(axis) is int and axis != 0 and filtered_axis(site.value(site.op.main)) == 0


def leaves_out_zero_rows(value: Value) -> bool:
    """Whether rows that are all 0 were left out: `tf.boolean_mask(x, tf.norm(x, axis=1) > 0)`."""
    chosen = made_by(value, "tf.boolean_mask")
    test = made_by(chosen.value("mask"), *_NOT_ZERO) if chosen is not None else None
    if chosen is None or test is None:
        return False
    rows = plain(chosen.value(chosen.op.main))
    for side, bound in _NOT_ZERO[test.op.name]:
        total, zero = made_by(test.value(side), *SUMS, *NORMS), test.value(bound)
        if total is None or zero.lo != 0 or zero.hi != 0:
            continue
        inner = plain(total.value("x"))
        magnitude = made_by(inner, "tf.abs", "tf.square")
        if same(rows, inner if magnitude is None else plain(magnitude.value("x"))):
            return True
    return False


def filtered_axis(value: Value, depth: int = 8) -> int | None:
    """The axis of what a condition chose, which is the first one, counted with the axes that were
    put before it: 1 in `kept[None, :]`; None where that is not seen.
    """
    site = value.origin
    if not isinstance(site, Site) or depth == 0:
        return None
    if site.op.name in FILTERS or site.by_mask or site.op.name in GATHERS:
        return 0
    if site.op.name == "tf.expand_dims":
        inner = filtered_axis(site.value("x"), depth - 1)
        before = _new_axes_before(site)
        return None if inner is None or before is None else inner + before
    params = [site.op.passes] if site.op.passes else [*site.args]
    inside = [filtered_axis(site.value(param), depth - 1) for param in params]
    return next((axis for axis in inside if axis is not None), None)


def _new_axes_before(site: Site) -> int | None:
    """How many axes an index or `tf.expand_dims` puts before all others."""
    if not isinstance(site.node, ast.Subscript):
        axis = site.const("axis", None)
        return None if not isinstance(axis, int) or axis < 0 else int(axis == 0)
    index = site.node.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    slices = [number for number, part in enumerate(parts) if isinstance(part, ast.Slice)]
    return slices[0] if slices else len(parts)


def _picks_by_test(site: Site) -> bool:
    """Whether a site is `tf.gather(x, tf.where(mask))`."""
    if site.op.name not in GATHERS or not site.given("indices"):
        return False
    return _is_found_by_test(site.value("indices"))


def _is_found_by_test(indices: Value, depth: int = 4) -> bool:
    """Whether indices are a `tf.where` with a condition only, as it is or rearranged."""
    site = indices.origin
    if not isinstance(site, Site) or depth == 0:
        return False
    if site.op.name == "tf.where":
        return not site.given("x")
    param = site.op.passes or ("x" if site.op.name == "tf.cast" else "")
    return bool(param) and _is_found_by_test(site.value(param), depth - 1)


def is_divided_by_count(chosen: Site, division: Site) -> bool:
    """Whether a quotient is by the number of the elements that a filter chose."""
    if division.op.name not in QUOTIENTS or not division.given("y"):
        return False
    condition = _condition_of(chosen)
    total = made_by(plain(division.value("y")), *SUMS)
    if condition is None or total is None:
        return False
    return same(plain(total.value(total.op.main)), condition)


def _condition_of(chosen: Site) -> Value | None:
    """The condition by which elements were chosen."""
    if chosen.given("mask"):
        return plain(chosen.value("mask"))
    if chosen.mask is not None:
        return plain(chosen.mask)
    if not chosen.given("indices"):
        return None
    indices = made_by(plain(chosen.value("indices")), "tf.where")
    if indices is None or not indices.given("condition"):
        return None
    return plain(indices.value("condition"))


def weakness_of_filter(chosen: Site) -> str:
    """The kind of evidence that a filter leaves nothing, as `kinds` names it: "ignored-labels"
    where it leaves out labels of a negative number, as -1 marks what is to be ignored
    (`tf.where(tf.not_equal(labels, -1))`), "padding" where it is made of the lengths of sequences;
    empty for other filters.
    """
    condition = _condition_of(chosen)
    if condition is None:
        return ""
    if keeps_lengths(condition):
        return "padding"
    test = made_by(condition, "tf.not_equal")
    is_ignored = test is not None and test.value("y").is_number and test.value("y").hi < 0
    return "ignored-labels" if is_ignored else ""


def nan_tests_of(mask: Value, depth: int = 4) -> set[ast.AST]:
    """The tests for NaN of which a mask is made: they choose the elements, and say nothing of what
    is made of them.
    """
    site = mask.origin
    if not isinstance(site, Site) or depth == 0:
        return set()
    if site.op.name in NAN_TESTS:
        return {site.node}
    return {
        node
        for param in site.args
        if site.op.name in LOGICAL or site.op.passes == param
        for node in nan_tests_of(site.value(param), depth - 1)
    }


def nan_tests_of_choices(around: list[ast.AST]) -> set[ast.AST]:
    """The tests for NaN by which a function replaces elements of what it tests: `where(is_nan(x),
    0, x)`. They say nothing of other values.
    """
    function = next((one for one in around if isinstance(one, _FUNCTIONS)), None)
    tests: set[ast.AST] = set()
    for call in nodes_in(function) if function is not None else ():
        if type(call) is not ast.Call or leaf(call.func) != "where" or len(call.args) != 3:
            continue
        branches = [ast.dump(branch) for branch in call.args[1:]]
        tests.update(
            test
            for test in nodes_in(call.args[0])
            if type(test) is ast.Call and test.args and ast.dump(test.args[0]) in branches
        )
    return tests
