"""Shapes of values, where the program writes them: `tf.reshape(x, [1, -1])`, `tf.ones([5, 1])`,
`v[None, :]`; and which values are vectors, one row or one column of a matrix.
"""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.ops.frameworks import FUNCTIONAL_MODEL, TRANSPOSING
from tfnanlint.ops.relations.transposes import transposed_factor
from tfnanlint.ops.site import Site, same
from tfnanlint.ops.traits import POINTWISE, RESIZING, SHAPE_KEEPING
from tfnanlint.values.value import Note, Value

Shape = tuple[int | None, ...]  # None for a length that is not written

_DEPTH: Final = 8


def shape_of(value: Value, depth: int = _DEPTH) -> Shape | None:
    """The length of each axis of a value; None where not even their number is written."""
    site = _maker(value)
    if site is None or depth == 0:
        return _written(value) if value.kind in ("sequence", "tensor", "array") else None
    name = site.op.name
    if site.library == "layer":
        return _of_layer(site, depth)
    if site.name in site.op.flattening:
        return (None,)
    if site.op.shaped_by and site.given(site.op.shaped_by):
        return _lengths(site.value(site.op.shaped_by))
    if isinstance(site.node, ast.Subscript):
        return _indexed(site, depth)
    if name == "tf.expand_dims":
        return _expanded(site, depth)
    if name == "tf.transpose":
        inner = shape_of(site.value("x"), depth - 1)
        plain = inner is not None and len(inner) == 2 and not site.given("perm")
        return inner[::-1] if plain and inner is not None else None
    if site.op.starts:
        return shape_of(site.value(site.op.starts), depth - 1)
    if name == "tf.constant" and not site.given("shape") or name in SHAPE_KEEPING:
        main = "x" if site.given("x") else site.op.main
        return shape_of(site.value(main), depth - 1) if main in site.params else None
    return None


def _of_layer(call: Site, depth: int) -> Shape | None:
    """The shape of what a layer gives, or a functional model."""
    construction = getattr(call.value("layer").obj, "site", None)
    if not isinstance(construction, Site):
        return None
    if construction.op.name == FUNCTIONAL_MODEL and construction.given("outputs"):
        return shape_of(construction.value("outputs"), depth - 1)
    return (None,) * construction.op.rank or None


def last_length(value: Value, depth: int = _DEPTH) -> int | None:
    """The length of the last axis of a value, where it is written: of `tanh(x @ w + b)` that of the
    columns of `w`, if `b` has the same.
    """
    shape = shape_of(value)
    site = _maker(value) if not shape and depth else None
    if site is None:
        return shape[-1] if shape else None
    if site.op.name in POINTWISE and len(operands := _operands(site)) == 1:
        return last_length(site.value(operands[0]), depth - 1)
    if site.op.name == "tf.add":
        lengths = {last_length(site.value(param), depth - 1) for param in ("x", "y")}
        return lengths.pop() if len(lengths) == 1 else None
    is_plain = site.op.name == "tf.matmul" and site.complete and not site.name.endswith("batch_dot")
    if not is_plain or any(map(site.given, TRANSPOSING)):
        return None
    columns = shape_of(site.value("y"), depth - 1)
    return columns[-1] if columns is not None and len(columns) > 1 else None


def has_one_length(value: Value, depth: int = _DEPTH) -> bool:
    """Whether nothing that is seen gives the last axis of a value another length than what it is
    computed from has: no join of several values, no op that flattens or repeats its elements.
    """
    site = _maker(value)
    if site is None or depth == 0:
        one_origin = isinstance(value.origin, Note) and not value.origin.joined
        return one_origin or value.kind == "number"
    if site.name in site.op.flattening or site.op.name in RESIZING:
        return False
    operands = _operands(site)
    if site.op.name not in POINTWISE:
        operands = operands[:1]
    return all([has_one_length(site.value(param), depth - 1) for param in operands])


def _operands(site: Site) -> list[str]:
    return [p for p in site.params if p in ("x", "y", site.op.main) and site.given(p)]


def _maker(value: Value) -> Site | None:
    """The op that made a value, in the one way in which it can arise."""
    origin = value.origin
    while isinstance(origin, Note) and not origin.joined and origin.index is None:
        origin = origin.parent
    return origin if isinstance(origin, Site) else None


def _written(value: Value) -> Shape | None:
    """The shape of a list that is written."""
    items = value.obj
    if not isinstance(items, tuple) or not items:
        return None
    inner = [_written(item) if isinstance(item, Value) else None for item in items]
    first = items[0]
    if isinstance(first, Value) and first.kind == "number":
        return (len(items),)
    return (len(items), *inner[0]) if inner[0] is not None else None


def _lengths(shape: Value) -> Shape | None:
    """The lengths that a shape holds: -1 is worked out from the others."""
    if isinstance(shape.obj, tuple):
        lengths = [item.const if isinstance(item, Value) else None for item in shape.obj]
        return tuple([n if type(n) is int and n >= 0 else None for n in lengths])
    return (shape.const,) if type(shape.const) is int and shape.const >= 0 else None


def _expanded(site: Site, depth: int) -> Shape | None:
    inner = shape_of(site.value("x"), depth - 1)
    axis = site.const("axis")
    if inner is None or type(axis) is not int or not -len(inner) - 1 <= axis <= len(inner):
        return None
    place = axis if axis >= 0 else axis + len(inner) + 1
    return (*inner[:place], 1, *inner[place:])


def _indexed(site: Site, depth: int) -> Shape | None:
    """`v[None, :]`, `v[:, tf.newaxis]`: whole axes and new ones."""
    inner = shape_of(site.value(site.op.main), depth - 1)
    index = site.node.slice if isinstance(site.node, ast.Subscript) else None
    if inner is None or index is None:
        return None
    rest = list(inner)
    lengths: list[int | None] = []
    for entry in index.elts if isinstance(index, ast.Tuple) else [index]:
        if _is_new_axis(entry):
            lengths.append(1)
        elif _is_whole(entry) and rest:
            lengths.append(rest.pop(0))
        else:
            return None
    return (*lengths, *rest)


def _is_new_axis(entry: ast.expr) -> bool:
    if isinstance(entry, ast.Attribute):
        return entry.attr == "newaxis"
    return isinstance(entry, ast.Constant) and entry.value is None


def _is_whole(entry: ast.expr) -> bool:
    return isinstance(entry, ast.Slice) and not (entry.lower or entry.upper or entry.step)


# Products of a vector with itself


def is_squared_length(product: Site) -> bool:
    """Whether a product of matrices or vectors is the sum of the squares of one vector:
    `tf.tensordot(v, v, 1)`, one row times its transpose.
    """
    x, y = product.value("x"), product.value("y")
    if product.op.name == "tf.tensordot":
        return same(x, y) and (_is_vector(x) and _axes(product) in (1, (0,)))
    if product.op.name != "tf.matmul":
        return False
    if not product.complete:
        return False
    if _is_vector(x) and _is_vector(y):
        return same(x, y)
    turned = transposed_factor(product)
    if turned is not None:
        return _is_line(x, 0) and same(_elements(x), _elements(turned)) and _is_line(turned, 0)
    flags = [flag for flag in ("transpose_a", "adjoint_a") if product.given(flag)]
    if len(flags) == 1 and product.const(flags[0]) is True:
        return _is_line(x, 1) and _is_line(y, 1) and same(_elements(x), _elements(y))
    return not flags and _is_line(x, 0) and _is_line(y, 1) and same(_elements(x), _elements(y))


def _is_vector(value: Value) -> bool:
    shape = shape_of(value)
    return shape is not None and len(shape) == 1


def _is_line(value: Value, axis: int) -> bool:
    """Whether a value is a matrix of which an axis has the length 1: 0 of a row, 1 of a column."""
    shape = shape_of(value)
    return shape is not None and len(shape) == 2 and shape[axis] == 1


def _axes(product: Site) -> int | tuple[int, ...] | None:
    """The axes of a tensordot, of both factors where they are the same."""
    axes = product.value("axes")
    if type(axes.const) is int:
        return axes.const
    pair = axes.obj if isinstance(axes.obj, tuple) and len(axes.obj) == 2 else ()
    lists = [item.obj if isinstance(item.obj, tuple) else (item,) for item in pair]
    numbers = {tuple([one.const for one in items]) for items in lists}
    return numbers.pop() if len(numbers) == 1 else None


def _elements(value: Value) -> Value:
    """A line before its axes were made."""
    for _ in range(_DEPTH):
        site = _maker(value)
        if site is None or not _keeps_order(site):
            break
        value = site.value(site.op.passes)
    return value


def _keeps_order(site: Site) -> bool:
    """Whether an op hands on all elements in their order."""
    if isinstance(site.node, ast.Subscript):
        index = site.node.slice
        entries = index.elts if isinstance(index, ast.Tuple) else [index]
        return bool(site.op.passes) and all([_is_new_axis(e) or _is_whole(e) for e in entries])
    if site.op.name == "tf.transpose":
        return _is_line(site.value("x"), 0) or _is_line(site.value("x"), 1)
    return site.op.name in ("tf.reshape", "tf.expand_dims")
