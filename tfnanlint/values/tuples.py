"""Named tuples. Apart from the other values, for no compiled class can be a tuple."""

from __future__ import annotations

from typing import Any, Iterable

Value = Any  # a `values.Value`: nothing here looks into it


class Fields(tuple):
    """The object of a named tuple: its elements, which have names, too (`state.h` of TensorFlow's
    LSTMStateTuple).
    """

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, **elements: Value) -> Fields:
        return cls.named(tuple(elements), elements.values())

    @classmethod
    def named(cls, names: tuple[str, ...], elements: Iterable[Value]) -> Fields:
        fields = cls(elements)
        fields.names = names
        return fields

    def get(self, name: str) -> Value | None:
        return self[self.names.index(name)] if name in self.names else None


class FieldNames:
    """What `collections.namedtuple` gives, or a class that inherits from it: the names of the
    elements, and the values of the last ones that may be left out.
    """

    __slots__ = ("names", "defaults")

    def __init__(self, names: tuple[str, ...], defaults: tuple[Value, ...] = ()):
        self.names = names
        self.defaults = defaults

    def arranged(
        self, positional: list[Value], keywords: dict[str, Value], missing: Value
    ) -> tuple[Value, ...]:
        """The elements of a tuple that is made of these, in order."""
        count = min(len(self.defaults), len(self.names))
        held = dict(
            zip(self.names[len(self.names) - count :], self.defaults[len(self.defaults) - count :])
        )
        held.update(zip(self.names, positional))
        held.update(keywords)
        return tuple(held.get(name, missing) for name in self.names)
