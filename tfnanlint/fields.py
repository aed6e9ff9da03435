"""Named tuples of TensorFlow. Apart from the other values, for no compiled class can be a tuple."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable

if TYPE_CHECKING:
    from tfnanlint.values import Value


class Fields(tuple):
    """The object of a named tuple of TensorFlow: its elements, which have names, too (`state.h` of LSTMStateTuple)."""

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, **elements: Value) -> Fields:
        return cls.named(tuple(elements), elements.values())

    @classmethod
    def named(cls, names: tuple[str, ...], elements: Iterable[Value]) -> Fields:
        made = cls(elements)
        made.names = names
        return made

    def get(self, name: str) -> Value | None:
        return self[self.names.index(name)] if name in self.names else None
