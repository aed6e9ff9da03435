"""The dtype that a constant beside a value has to survive in, also where that may be float16 in
some runs only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tfnanlint.ops.site import Site
from tfnanlint.project.half_precision import half_wanted_in
from tfnanlint.values.value import FLOATS, HALVES, Note, Value

if TYPE_CHECKING:
    from tfnanlint.program.module import Module

_MOST = 200  # values that are looked at


class Precision(NamedTuple):
    """A dtype of floats; not `sure` where other runs, or other callers,
    may compute in another one.
    """

    dtype: str
    sure: bool = True


def wanted_around(module: Module) -> str:
    """The dtype of 16 bits that a file, or another one of its project, asks Keras to compute in; ""
    where none does.
    """
    own = half_wanted_in(module.source.tree) if "float16" in module.source.text else ""
    return own or (module.project.half(module.source.path) if module.project is not None else "")


def precision(value: Value, wanted: str) -> Precision:
    """The least precise dtype that a value may have. `wanted` is that which the project asks of
    Keras somewhere, or "".

    `y = tf.cast(y, tf.float16)` in one branch of two leaves it open, and so does a parameter in a
    project with a mixed policy.
    """
    if value.dtype is not None:
        return Precision(value.dtype if value.dtype in FLOATS else "float32")
    queue, seen, has_input = [value], {value.token}, False
    while queue and len(seen) < _MOST:
        current = queue.pop()
        if current.dtype in HALVES:
            return Precision(current.dtype, sure=False)
        if (
            current.dtype is not None
            or current.exact
            or current.kind in ("number", "string", "none")
        ):
            continue
        joined, site = _behind(current.origin)
        if joined:
            return Precision(joined, sure=False)
        parts = (
            [site.value(param) for param in site.args]
            if site is not None
            else [*current.obj]
            if isinstance(current.obj, tuple)
            else []
        )
        has_input = has_input or not parts
        queue += [part for part in parts if isinstance(part, Value) and part.token not in seen]
        seen.update(part.token for part in parts if isinstance(part, Value))
    return Precision(wanted, sure=False) if has_input and wanted else Precision("float32")


def _behind(origin: Any) -> tuple[str, Site | None]:
    """(half, the op application that a value came from): half is the small dtype of one of the
    values that were joined on the way.
    """
    while isinstance(origin, Note):
        if origin.half:
            return origin.half, None
        origin = origin.parent
    return "", origin if isinstance(origin, Site) else None
