"""Literals: sums of the rows of a matrix that is written out, number by number."""

from __future__ import annotations

import math
from typing import Any, Final

from tfnanlint.ops.relations.counts import axis_of
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer.core import Value

MAX_NUMBERS: Final = 64  # of a matrix that is summed up number by number


def literal_sum(site: Site, x: Value) -> Value | None:
    """The sums along one axis of a matrix of known numbers, some of which may be known by their
    bounds; None for anything else.
    """
    constant = made_by(x, "tf.constant", "tf.convert_to_tensor")
    axis = axis_of(site)
    if (
        constant is None
        or constant is not x.origin
        or axis not in (0, 1, -1, -2)
        or isinstance(axis, bool)
    ):
        return None
    matrix = _matrix(constant.value("x"))
    if matrix is None:
        return None
    rows = matrix if axis in (1, -1) else list(zip(*matrix))
    lows, highs = (
        [math.fsum(one.lo for one in row) for row in rows],
        [math.fsum(one.hi for one in row) for row in rows],
    )
    size = max(math.fsum(max(-one.lo, one.hi, 0.0) for one in row) for row in rows)
    if not size * 2 < t.limits_of(x.dtype).max:
        return None
    whole = all(one.exact and one.lo == int(one.lo) for row in rows for one in row)
    slack = 0.0 if whole else size * t.limits_of(x.dtype).eps * MAX_NUMBERS
    return Value(min(lows) - slack, max(highs) + slack, dtype=x.dtype)


def _matrix(value: Value) -> list[tuple[Value, ...]] | None:
    """The rows of a small matrix; with a number in each of them, so that the others are no
    vectors.
    """
    rows: Any = (
        [row.obj for row in value.obj]
        if value.kind == "sequence" and isinstance(value.obj, tuple)
        else []
    )
    if (
        not rows
        or not all(isinstance(row, tuple) for row in rows)
        or len({len(row) for row in rows}) != 1
    ):
        return None
    if not 0 < len(rows) * len(rows[0]) <= MAX_NUMBERS:
        return None
    known = all(
        math.isfinite(one.lo) and math.isfinite(one.hi) and not one.nan and not one.inf
        for row in rows
        for one in row
    )
    return rows if known and all(any(one.is_number for one in row) for row in rows) else None
