"""Pipelines of tf.data: what their elements hold, through the methods that arrange or map them."""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.data_sets import elements
from tfnanlint.ops.site import Site, another
from tfnanlint.ops.table import op
from tfnanlint.values.value import Many, Value, join, unknown

_UNTESTED: Final = "makes a data set"
# Methods whose elements are those of the data set, in another order, number or grouping.
_ARRANGING: Final = {
    "batch": "self batch_size drop_remainder num_parallel_calls deterministic name",
    "cache": "self filename name",
    "filter": "self predicate name",
    "prefetch": "self buffer_size name",
    "ragged_batch": "self batch_size drop_remainder row_splits_dtype name",
    "repeat": "self count name",
    "shard": "self num_shards index name",
    "shuffle": "self buffer_size seed reshuffle_each_iteration name",
    "skip": "self count name",
    "take": "self count name",
    "unbatch": "self name",
    "with_options": "self options name",
}


def data_set(element: Value) -> Value:
    """A data set of which each element is one like `element`."""
    return Value(kind="dataset", obj=Many(element))


def _of_slices(site: Site) -> Value:
    """Elements have the range of what they are cut from; a dict keeps its keys."""
    return data_set(_slice(site.value("tensors")))


def _slice(whole: Value) -> Value:
    if whole.kind == "sequence" and isinstance(whole.obj, tuple) and whole.obj:
        if all(part.kind == "number" for part in whole.obj):
            return join(list(whole.obj)).but(kind="tensor", origin=None)
        return Value(kind="sequence", obj=tuple([_slice(part) for part in whole.obj]))
    if whole.kind == "dict" and isinstance(whole.obj, dict):
        return Value(kind="dict", obj={key: _slice(part) for key, part in whole.obj.items()})
    if whole.kind in ("tensor", "array"):
        return another(whole, kind="tensor")
    return unknown()


op(
    "tf.data.Dataset.from_tensor_slices",
    "",
    "tensors name",
    _of_slices,
    untested=_UNTESTED,
)
op(
    "tf.data.Dataset.from_tensors",
    "",
    "tensors name",
    lambda site: data_set(site.value("tensors")),
    untested=_UNTESTED,
)


def _images(site: Site) -> Value:
    """Pixels from 0 to 255 in float32, with labels unless `labels=None`."""
    pixels = Value(0.0, 255.0, True, dtype="float32")
    if site.given("labels") and site.value("labels").kind == "none":
        return data_set(pixels)
    return data_set(Value(kind="sequence", obj=(pixels, unknown("tensor"))))


op(
    "keras.utils.image_dataset_from_directory",
    "keras.preprocessing.image_dataset_from_directory",
    "directory labels label_mode class_names color_mode batch_size image_size shuffle seed",
    _images,
    main="",
    untested=_UNTESTED,
    pure=False,
)


def _mapped(site: Site) -> Value:
    """What a function gives for the parts of an element."""
    element = elements(site.value("self"))
    if element is None or not site.given("map_func"):
        return unknown()
    parts = (
        element.obj if element.kind == "sequence" and isinstance(element.obj, tuple) else (element,)
    )
    return data_set(site.apply(site.value("map_func"), *parts))


op(
    "dataset.map",
    "",
    "self map_func num_parallel_calls deterministic name",
    _mapped,
    main="self",
    untested=_UNTESTED,
    pure=False,
)
for _name, _params in _ARRANGING.items():
    op(
        f"dataset.{_name}",
        "",
        _params,
        lambda site: site.value("self"),
        main="self",
        passes="" if _name == "batch" else "self",
        untested=_UNTESTED,
    )
