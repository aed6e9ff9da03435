"""Functions that take lists, tuples and dicts apart or put them together: named tuples, tf.nest,
functools.
"""

from __future__ import annotations

from typing import Any, Final

from tfnanlint.ops.families.arrays import each_passed, passed
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import op
from tfnanlint.ops.transfer.promotion import handed_on
from tfnanlint.values.tuples import FieldNames
from tfnanlint.values.value import (
    INF,
    NOTHING,
    NUMERIC_KINDS,
    Many,
    Note,
    Value,
    covers,
    join,
    number,
    renewed,
    unknown,
    widen,
)

_STRUCTURES: Final = "takes lists and dicts; fixtures/flow/structures.py"
_DEPTH: Final = 4  # of lists in lists
_ARRAYS: Final = ("tensor", "array")
_MANY: Final = 64  # elements that are gone through one by one
_ROUNDS: Final = 5  # the first as it comes; when it is widened a bound moves to 0 and to infinity
_NAMES: Final = "x second third fourth"


def _named_tuple(site: Site) -> Value:
    """`collections.namedtuple("State", "mean scale")`, and
    `typing.NamedTuple("State", [("mean", tf.Tensor)])`.
    """
    names = _field_names(site.value("names"))
    if names is None:
        return unknown()
    defaults = site.value("defaults").obj if site.given("defaults") else ()
    return Value(
        kind="function",
        obj=FieldNames(
            names, defaults if isinstance(defaults, tuple) else (unknown(),) * len(names)
        ),
    )


def _field_names(argument: Value) -> tuple[str, ...] | None:
    if isinstance(argument.const, str):
        return tuple(argument.const.replace(",", " ").split())
    if not isinstance(argument.obj, tuple):
        return None
    names = [
        one.obj[0].const if isinstance(one.obj, tuple) and one.obj else one.const
        for one in argument.obj
    ]
    return tuple(names) if all(isinstance(name, str) for name in names) else None


def _mapped(site: Site) -> Value:
    return handed_on(
        _over(site, [site.value(param) for param in _NAMES.split() if site.given(param)], _DEPTH)
    )


def _over(site: Site, structures: list[Value], depth: int) -> Value:
    """A function of the elements that stand at the same place of structures alike, in such a
    structure.
    """
    objects = [one.obj for one in structures]
    first: Any = objects[0] if objects else None
    if depth == 0 or not structures:
        return unknown()
    if (
        isinstance(first, tuple)
        and len(first) <= _MANY
        and all(isinstance(one, tuple) and len(one) == len(first) for one in objects)
    ):
        return _sequence(
            renewed(first, [_over(site, list(parts), depth - 1) for parts in zip(*objects)])
        )
    if (
        isinstance(first, dict)
        and len(first) <= _MANY
        and all(isinstance(one, dict) and one.keys() == first.keys() for one in objects)
    ):
        return Value(
            kind="dict",
            obj={key: _over(site, [one[key] for one in objects], depth - 1) for key in first},
        )
    if all(isinstance(one, Many) for one in objects):
        return Value(
            kind=structures[0].kind,
            obj=Many(_over(site, [one.element for one in objects], depth - 1)),
        )
    if all(one.kind in ("tensor", "array", "number") for one in structures):
        return site.apply(site.value("function"), *structures)
    return unknown()


def _sequence(items: tuple[Value, ...]) -> Value:
    if not items or any(one.kind not in NUMERIC_KINDS for one in items):
        return Value(kind="sequence", obj=items)
    return Value(
        min(one.lo for one in items),
        max(one.hi for one in items),
        any(one.zero for one in items),
        nan=any(one.nan for one in items),
        inf=any(one.inf for one in items),
        kind="sequence",
        obj=items,
    )


def _flattened(site: Site) -> Value:
    """The leaves of a structure in one list; those of a dict by its keys in order."""
    leaves = _leaves(site.value("x"), _DEPTH)
    return (
        _sequence(tuple(leaves))
        if leaves is not None and len(leaves) <= _MANY
        else each_passed(site.value("x"))
    )


def _leaves(value: Value, depth: int) -> list[Value] | None:
    if value.kind in ("tensor", "array", "number"):
        return [value]
    held = value.obj
    if isinstance(held, dict) and all(isinstance(key, str) for key in held):
        held = tuple(held[key] for key in sorted(held))
    if not isinstance(held, tuple) or depth == 0:
        return None
    parts = [_leaves(one, depth - 1) for one in held]
    return None if None in parts else [one for part in parts for one in part or ()]


def _batch(site: Site) -> Value:
    """What Keras hands to `train_step`, as inputs, labels and weights; of those that are left out,
    None.
    """
    data = site.value("data")
    if isinstance(data.obj, tuple):
        return Value(kind="sequence", obj=(*data.obj, number(None), number(None))[:3])
    if data.kind in NUMERIC_KINDS and data.kind != "unknown":
        return Value(kind="sequence", obj=(data, number(None), number(None)))
    origin = data.origin if isinstance(data.origin, Note) else None
    return Value(
        kind="sequence",
        obj=(unknown(origin=origin), unknown(origin=origin), unknown(origin=origin)),
    )


def _reduced(site: Site) -> Value:
    """A function of all elements of a list, from the left."""
    whole = site.value("x").obj
    if isinstance(whole, Many) and site.complete and _is_array(whole.element):
        return _reduced_many(site, whole.element)
    if not isinstance(whole, tuple) or len(whole) > _MANY or not site.complete:
        return unknown()
    items = [*([site.value("initial")] if site.given("initial") else []), *whole]
    if not items:
        return unknown()
    result = items[0]
    for item in items[1:]:
        result = site.apply(site.value("function"), result, item)
    return result


def _is_array(element: Value) -> bool:
    """Whether a value is a tensor or an array, as what has bounds and is no number must be."""
    return element.kind in _ARRAYS or element.kind == "unknown" and element.known


def _reduced_many(site: Site, element: Value) -> Value:
    """A function of all elements of a list of unknown length: what holds for the first, and for
    each result if it holds for the one before.
    """
    result = site.value("initial") if site.given("initial") else passed(element)
    for turn in range(_ROUNDS):
        step = site.apply(site.value("function"), passed(result), passed(element))
        if not _is_array(step):
            return unknown()
        every = join([result, step])
        if covers(result, every):
            return passed(result)
        result = widen(result, every) if turn else every
    return unknown()


op(
    "collections.namedtuple",
    "typing.NamedTuple",
    "typename names rename defaults module",
    _named_tuple,
    main="names",
    untested=_STRUCTURES,
)
op(
    "tf.nest.map_structure",
    "tf.contrib.framework.nest.map_structure keras.tree.map_structure tree.map_structure",
    f"function {_NAMES} check_types expand_composites",
    _mapped,
    main="function",
    untested=_STRUCTURES,
    pure=False,
)
op(
    "tf.nest.flatten",
    "tf.contrib.framework.nest.flatten keras.tree.flatten tree.flatten",
    "x expand_composites",
    _flattened,
    untested=_STRUCTURES,
)
op(
    "tf.nest.assert_same_structure",
    "keras.tree.assert_same_structure tree.assert_same_structure",
    "x y check_types expand_composites",
    lambda site: number(None),
    untested=_STRUCTURES,
    pure=False,
)
op("keras.utils.unpack_x_y_sample_weight", "", "data", _batch, main="data", untested=_STRUCTURES)
op(
    "tf.TensorArray",
    "",
    "dtype size dynamic_size clear_after_read tensor_array_name handle flow infer_shape"
    " element_shape colocate_with_first_write_call name",
    lambda site: Value(INF, -INF, False, kind="sequence", obj=Many(NOTHING)),
    untested=_STRUCTURES,
    pure=False,
)
op(
    "dataclasses.field",
    "",
    "default default_factory init repr hash compare metadata kw_only",
    lambda site: (
        site.value("default")
        if site.given("default")
        else (
            site.apply(site.value("default_factory"))
            if site.given("default_factory")
            else unknown()
        )
    ),
    main="default",
    untested=_STRUCTURES,
)
op(
    "functools.reduce",
    "",
    "function x initial",
    _reduced,
    main="function",
    untested=_STRUCTURES,
    pure=False,
    hands_on=True,
)
