"""Parts: which of the tensors that a concatenation joins an index along their axis can take, by
numbers that are written.
"""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.ops.site import Site
from tfnanlint.values.value import INF, NUMERIC_KINDS, Value

_JOINING = ("concat", "concatenate", "concat_v2")


def taken(whole: Value, index: ast.expr) -> list[Value] | None:
    """The parts of a concatenation of which an index may take elements; None where it may take some
    of all, or that is not told.
    """
    site = whole.origin
    if (
        not isinstance(site, Site)
        or site.op.name != "tf.concat"
        or site.name.rpartition(".")[2] not in _JOINING
        or not site.given("axis")
    ):
        return None
    parts, axis = site.value("values").obj, site.const("axis")
    span = _span(_along(index, axis)) if isinstance(parts, tuple) and type(axis) is int else None
    if span is None or not all([part.kind in NUMERIC_KINDS for part in parts]):
        return None
    first, last, from_end = span
    reached: list[Value] = []
    least = most = 0.0  # elements before a part, counted from the end that the index is
    written = list(zip(parts, _written(site, len(parts))))
    for part, node in reversed(written) if from_end else written:
        narrow, wide = _width(part, node, axis)
        if first < most + wide and last >= least:
            reached.append(part)
        least, most = least + narrow, most + wide
    return reached if 0 < len(reached) < len(parts) else None


def _along(index: ast.expr, axis: int) -> ast.expr | None:
    """What an index says of one axis: of the last ones behind `...`, of the first ones behind
    slices.
    """
    entries = index.elts if isinstance(index, ast.Tuple) else [index]
    if axis < 0:
        behind = (
            entries[1:] if isinstance(entries[0], ast.Constant) and entries[0].value is ... else []
        )
        place = len(behind) + axis
        return behind[place] if place >= 0 and all([_of_one_axis(one) for one in behind]) else None
    return (
        entries[axis]
        if axis < len(entries) and all([isinstance(one, ast.Slice) for one in entries[:axis]])
        else None
    )


def _of_one_axis(entry: ast.expr) -> bool:
    """Whether an entry of an index stands for an axis that was there before: not `None`,
    `tf.newaxis`.
    """
    return isinstance(entry, ast.Slice) or _whole(entry) is not None


def _whole(node: ast.expr | None) -> int | None:
    sign = -1 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1
    written: Any = node.operand if isinstance(node, ast.UnaryOp) and sign < 0 else node
    return (
        sign * written.value
        if isinstance(written, ast.Constant) and type(written.value) is int
        else None
    )


def _span(entry: ast.expr | None) -> tuple[float, float, bool] | None:
    """(first, last, from the end) of the places that an entry of an index takes."""
    place = _whole(entry)
    if place is not None:
        return (place, place, False) if place >= 0 else (-place - 1, -place - 1, True)
    if not isinstance(entry, ast.Slice) or entry.step is not None:
        return None
    lower, upper = _whole(entry.lower) if entry.lower is not None else 0, _whole(entry.upper)
    if lower is None or entry.upper is not None and upper is None:
        return None
    if lower < 0:
        return (0, -lower - 1, True) if upper is None else None
    if upper is None:
        return (lower, INF, False)
    return (lower, upper - 1, False) if upper > lower else None


def _width(part: Value, node: ast.expr | None, axis: int) -> tuple[float, float]:
    """The fewest and the most elements that a part can have along the axis: a slice of a short
    tensor has fewer than it says.
    """
    site = part.origin
    if (
        isinstance(site, Site)
        and site.op.name == "tf.expand_dims"
        and not isinstance(site.node, ast.Subscript)
    ):
        return (1.0, 1.0) if site.const("axis", None) == axis else (0.0, INF)
    index = node.slice if isinstance(node, ast.Subscript) else None
    if index is None:
        return 0.0, INF
    if _axis_made(index) == axis:
        return 1.0, 1.0
    entry = _along(index, axis)
    span = _span(entry) if isinstance(entry, ast.Slice) else None
    return (0.0, span[1] - span[0] + 1) if span is not None else (0.0, INF)


def _written(site: Site, count: int) -> list[ast.expr | None]:
    """What is written for each of the joined tensors, also behind a name; of slices of what nothing
    is known of no value tells.
    """
    listed = site.args.get("values")
    nodes = listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else []
    expressions: list[ast.expr | None] = []
    for node in nodes if len(nodes) == count and site.point is not None else []:
        assigned = (
            site.interpreter.assigned_expression(node.id, site.point)
            if isinstance(node, ast.Name)
            else None
        )
        expressions.append(assigned or node)
    return expressions or [None] * count


def _axis_made(index: ast.expr) -> int | None:
    """The last axis that `x[..., None]` makes."""
    entries = index.elts if isinstance(index, ast.Tuple) else []
    behind_ellipsis = (
        len(entries) == 2
        and isinstance(entries[0], ast.Constant)
        and entries[0].value is ...
        and not _of_one_axis(entries[1])
    )
    return (
        -1
        if behind_ellipsis
        and (
            isinstance(entries[1], ast.Constant)
            or isinstance(entries[1], ast.Attribute)
            and entries[1].attr == "newaxis"
        )
        else None
    )
