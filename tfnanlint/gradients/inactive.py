"""What no gradient flows through: values that are made of constants, of integers and of what is not
trained.
"""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.conventions.identifiers import holds_numbers
from tfnanlint.ops.provenance import site_behind
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import SETTINGS
from tfnanlint.ops.traits import NO_GRADIENT, PLACEHOLDERS, draws_tensor
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.values.value import NO_FLOATS, Many, Note, Value

_IN_NUMPY = frozenset(("numpy_function", "py_func"))  # what runs there has no gradient


def rigid(
    value: Value,
    site: Site,
    smooth: set[Site],
    fed: tuple[str, ...] = PLACEHOLDERS,
    limit: int = 60,
) -> bool:
    """Whether a value is made of booleans, integers, constants, variables that are not trained and
    the like only, or of what the ops `fed` give: no gradient flows through it. If not, the op that
    made it is added to those `smooth`: what is made of it is not rigid either.
    """
    queue: list[Value] = [value]
    seen: dict[Site, bool] = {}
    while queue:
        part = queue.pop()
        if part.kind in ("number", "string", "shape") or part.dtype in NO_FLOATS:
            continue
        origin = site_behind(part)
        parts = (part.obj.element,) if isinstance(part.obj, Many) else part.obj
        if (
            part.kind == "sequence"
            and part.origin is None
            and isinstance(parts, tuple)
            and len(parts) <= limit
            and (not parts or _computed(parts))
        ):
            queue += parts
            continue
        if _fed(part.origin, fed):
            continue
        if isinstance(part.origin, Note) and part.origin.options and len(queue) < limit:
            queue += part.origin.options  # one of several branches or returns: each of them counts
            continue
        if isinstance(part.origin, Note) and part.origin.joined and len(queue) < limit:
            queue += [Value(origin=arriving) for arriving in part.origin.joined]  # as in a loop
            continue
        if origin is not None and (
            origin in seen
            or origin.op.name in NO_GRADIENT
            or draws_tensor(origin.op.name)
            or origin.op.starts
            and origin.const("trainable", True) is False
            or part.known
            and origin is part.origin
            and _own_array(origin, site)
            or _handed_array(origin, site)
        ):
            continue
        if (
            origin is not None
            and origin.op.name == "tf.py_function"
            and leaf(getattr(origin.node, "func", origin.node)) in _IN_NUMPY
        ):
            continue
        if (
            origin is None
            or len(seen) > limit
            or origin in smooth
            or not origin.args
            or not origin.op.pure
        ):
            smooth.update(list(seen)[:1])  # others may stand beside what is smooth
            return False
        seen[origin] = True
        queue += [
            origin.value(param)
            for param in ([origin.op.passes] if origin.op.passes else origin.args)
            if param not in SETTINGS
            and not (origin.library != "np" and _written(origin.args.get(param)))
        ]
    return True


def _fed(origin: Any, fed: tuple[str, ...], depth: int = 6) -> bool:
    """Whether a value is data: what ops `fed` give, the labels that Keras hands to a loss, what an
    iterator of a dataset gives, a number of the settings, or, where several arrive, each of them.
    `Gradients` knows of which data a gradient is asked.
    """
    while isinstance(origin, Note) and depth:
        if origin.data or holds_numbers(origin.path):
            return True
        if origin.joined:
            return all([_fed(one, fed, depth - 1) for one in origin.joined])
        if origin.computed:
            call = origin.node
            return isinstance(call, ast.Call) and leaf(call.func) == "get_next"
        origin, depth = origin.parent, depth - 1
    return isinstance(origin, Site) and origin.op.name in fed


def _written(node: ast.expr | None) -> bool:
    """Whether an argument is a list of numbers that stands there."""
    return isinstance(node, (ast.List, ast.Tuple)) and all(
        isinstance(one, ast.Constant) or _written(one) for one in node.elts
    )


def _computed(parts: tuple[Value, ...]) -> bool:
    """Whether something in a list was computed: mere numbers may be what one caller of many passes,
    a test.
    """
    return any(
        isinstance(part.origin, (Site, Note))
        or part.kind == "sequence"
        and isinstance(part.obj, tuple)
        and _computed(part.obj)
        for part in parts
    )


def _own_array(array: Site, site: Site) -> bool:
    """Whether NumPy makes an array in the function or the class in which a site stands: what a
    caller hands in may be a tensor, and of what is not known it may be that.
    """
    if array.library not in ("np", "math") or array.point is None or site.point is None:
        return False
    here, there = site.point.scope, array.point.scope
    return (
        here is there
        or None not in (here.function, there.function)
        and None is not here.function.owner is there.function.owner
    )


def _handed_array(array: Site, site: Site) -> bool:
    """Whether a method makes an array of what it is given, perhaps for another one of its class.
    What `__init__` makes one of may start a variable.
    """
    function = (
        array.point.scope.function
        if array.op.name == "np.array" and array.point is not None
        else None
    )
    return function is not None and function.name != "__init__" and _own_array(array, site)
