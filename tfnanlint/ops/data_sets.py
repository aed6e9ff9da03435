"""The value of a pipeline of tf.data."""

from __future__ import annotations

from tfnanlint.values.value import Many, Value


def elements(value: Value) -> Value | None:
    """What each element of a data set is like; None for another value."""
    return value.obj.element if value.kind == "dataset" and isinstance(value.obj, Many) else None
