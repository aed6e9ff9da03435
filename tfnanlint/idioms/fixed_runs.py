"""Training of which every run is the same: weights that start at 0, and numbers that stand in the
program for data. The first run shows what all others do.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.models.variables import started
from tfnanlint.ops.provenance import Walk, site_behind
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import (
    DIFFERENCE_SQUARES,
    FED_TO_LOSSES,
    PLACEHOLDERS,
    PROBABILITIES,
    READERS,
    VARIABLES,
    draws_tensor,
)
from tfnanlint.values.value import Note, Value

_MOST: Final = 60  # values that are looked at, apart from the elements of written lists
_ELEMENTS: Final = 2000
_WORDS: Final = frozenset(("string", "shape", "none", "dtype"))


def weakness_of_run(value: Value) -> str:
    """The kind of evidence that a value leaves a domain, as `kinds` names it: "fixed-run" where it
    is computed from probabilities or exponentials of what is computed from weights that start at 0
    and numbers of the program, and from nothing else; empty for others.
    """
    curves: list[Site] = []
    if not _is_computed_alike([value], set(), curves) or not curves:
        return ""
    weights: set[int] = set()
    inner = [curve.value(curve.op.main) for curve in curves]
    is_fixed = _is_computed_alike(inner, weights, None)
    return "fixed-run" if is_fixed and weights else ""


def _is_computed_alike(values: list[Value], weights: set[int], curves: list[Site] | None) -> bool:
    """Whether values are computed from numbers of the program and weights that start at 0 alone;
    the weights are added to `weights`. With `curves` no weights are allowed but behind a
    probability or an exponential, which are added there.
    """
    walk = Walk(*values, limit=_MOST)
    for part in walk:
        origin, maker = part.origin, site_behind(part)
        if part.kind in _WORDS or _is_written(part):
            continue
        if isinstance(origin, Note) and origin.options:
            walk.add(origin.options)
        elif maker is None:
            return False
        elif curves is not None and _is_curve(maker):
            curves.append(maker)
        elif curves is None and maker.op.name in VARIABLES and _starts_at_zero(maker):
            weights.add(id(maker))
        elif _is_computed(maker) and (curves is None or _is_inside_at_start(maker)):
            walk.enter(maker)
        else:
            return False
    return walk.is_complete


def _is_curve(site: Site) -> bool:
    """Whether an op gives a probability or an exponential: of 0 it is neither 0 nor infinite."""
    return site.op.name in PROBABILITIES or site.op.name == "tf.exp"


def _starts_at_zero(variable: Site) -> bool:
    start = started(variable)
    return start.exact and start.lo == 0


def _is_written(value: Value) -> bool:
    """Whether a value is a number or a list of numbers that stands in the program, or one of these;
    what a library gives has a dtype.
    """
    values, left = [value], _ELEMENTS
    while values:
        part, left = values.pop(), left - 1
        if isinstance(part.obj, tuple) and left > 0:
            values += [item for item in part.obj if isinstance(item, Value)]
        elif part.exact:
            continue
        elif part.origin is not None or part.dtype is not None or not part.known:
            return False
    return True


def _is_computed(site: Site) -> bool:
    """Whether an op computes from numbers that it is given: it reads and draws none."""
    name = site.op.name
    if not site.op.pure or draws_tensor(name):
        return False
    if any(name in names for names in (VARIABLES, PLACEHOLDERS, READERS, FED_TO_LOSSES)):
        return False
    return any([site.value(p).kind not in _WORDS for p in site.args if p not in SETTINGS])


def _is_inside_at_start(site: Site) -> bool:
    """Whether an op of probabilities, which are no 0 and no 1 at the start, cannot make 0 of them:
    no difference but that of 1 and one of them.
    """
    if site.op.name != "tf.subtract":
        return site.op.name not in DIFFERENCE_SQUARES
    whole, share = site.value("x"), site.value("y")
    is_share = 0 <= share.lo <= share.hi <= 1 and made_by(share, "tf.multiply") is None
    return whole.exact and whole.lo == 1 and is_share
