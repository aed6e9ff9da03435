"""What a value came from."""

from __future__ import annotations

from tfnanlint.ops.site import Site
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
    found = note.result
    return found if (found.lo, found.hi, found.zero) == (value.lo, value.hi, value.zero) else value
