"""What a value came from: one step back, or a walk over all that it was made of."""

from __future__ import annotations

from typing import Any, Iterable

from tfnanlint.ops.site import Site
from tfnanlint.ops.table import SETTINGS
from tfnanlint.values.value import Note, Value


def behind(value: Value) -> Site | Note | None:
    """What a value came from; of one that is one of several (branches, returns), what the one that
    admits most came from.
    """
    note = value.origin
    while (
        isinstance(note, Note)
        and not note.text
        and note.index is None
        and isinstance(note.parent, (Note, Site))
    ):
        note = note.parent
    return note


def widest(value: Value) -> Value:
    """Of a value that is one of several (branches, returns), the one that admits most, where it
    stands for them all.
    """
    note = behind(value)
    if note is value.origin or not isinstance(note, Site) or note.result is None:
        return value
    result = note.result
    return (
        result if (result.lo, result.hi, result.zero) == (value.lo, value.hi, value.zero) else value
    )


def first_origin(value: Value) -> Any:
    """The op application or the last note that a value came from, behind all notes in between."""
    origin = value.origin
    while isinstance(origin, Note) and origin.parent is not None:
        origin = origin.parent
    return origin


def site_behind(value: Value) -> Site | None:
    """The op application that made a value, in one of several branches at least; None where it
    came from outside.
    """
    origin = first_origin(value)
    return origin if isinstance(origin, Site) else None


class Walk:
    """A walk from values back to what they were made of, depth first: gives each value, and goes on
    only where it is told to.

        walk = Walk(x)
        for value in walk:
            site = site_behind(value)
            if site is not None and site.op.name not in STEPS:
                walk.enter(site)

    After `limit` values it ends; `is_complete` is False then. A site is entered once.
    """

    __slots__ = ("_queue", "_left", "_entered")

    def __init__(self, *values: Value, limit: int = 60):
        self._queue = list(values)
        self._left = limit
        self._entered: set[int] = set()

    def __iter__(self) -> Walk:
        return self

    def __next__(self) -> Value:
        if not self._queue or self._left <= 0:
            raise StopIteration
        self._left -= 1
        return self._queue.pop()

    @property
    def is_complete(self) -> bool:
        """Whether no value is left to look at."""
        return not self._queue

    def add(self, values: Iterable[Value]) -> None:
        """Look at these values, too."""
        self._queue += values

    def enter(self, site: Site, params: Iterable[str] | None = None) -> None:
        """Look at what `site` was given, of all parameters that take numbers, or of `params`."""
        if id(site) in self._entered:
            return
        self._entered.add(id(site))
        self._queue += [
            site.value(param)
            for param in (site.params if params is None else params)
            if param not in SETTINGS
        ]


def made_here(site: Site, param: str) -> bool:
    """Whether an op in the function of a site made what a parameter of it is given."""
    maker = site_behind(site.value(param))
    return (
        maker is not None
        and maker.point is not None
        and site.point is not None
        and maker.point.scope.function is site.point.scope.function
    )
