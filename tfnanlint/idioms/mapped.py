"""Functions that an op applies to one row of a tensor after the other, `tf.map_fn(f, x)`."""

from __future__ import annotations

from tfnanlint.ops.site import Site
from tfnanlint.program.scope import Iterated


def runs_on_rows(site: Site) -> bool:
    """Whether a site stands in a function that is handed the elements of a tensor one by one: what
    is whole there is a row.
    """
    point = site.point
    if point is None or site.interpreter is None:
        return False
    if point.over is not None:
        return any([isinstance(one, Iterated) for one in point.over.values()])
    function = point.scope.function
    handed = site.interpreter.arguments_of(function) if function is not None else []
    return bool(handed) and all(
        [any([isinstance(one, Iterated) for one in bound.values()]) for bound in handed]
    )
