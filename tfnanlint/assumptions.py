"""What is assumed while a loop, a recursive function or a parameter is being settled, and what was computed on it.

A loop variable is found by trying values until one covers every round. What is computed during a try stands only as long
as the same try lasts: it is held with the assumptions that it read, and used again while each of them is still the same.
"""

from __future__ import annotations

from typing import Any, Callable, Final

from tfnanlint.interpreting import Interpreting


class Pending:
    """An answer that is being found, and what it is taken for by whoever asks meanwhile."""

    __slots__ = ("stamp", "meanwhile")

    def __init__(self, stamp: int, meanwhile: Any) -> None:
        self.stamp = stamp
        self.meanwhile = meanwhile


_MISSING: Final[Any] = object()


class Assumptions(Interpreting):
    """The part of the interpreter that keeps apart what is known for good and what holds under assumptions.

    An assumption is an object with a `stamp`, 0 while nothing is assumed of it and another number for every try.
    """

    def next_stamp(self) -> int:
        self._stamps += 1
        return self._stamps

    def hold(self, key: Any, value: Any, mark: int) -> None:
        """Keep a value together with what was read since `mark`."""
        if len(self.reads) == mark + 1:  # nearly always
            read = self.reads[mark]
            self.held[key] = (value, ((read, read.stamp),))
            return
        read = tuple(dict.fromkeys(self.reads[mark:]))
        self.reads[mark:] = read
        self.held[key] = (value, tuple((one, one.stamp) for one in read))

    def tentatively(self, key: Any) -> Any:
        """The value held for `key`, if everything it assumes is still assumed."""
        found = self.held.get(key)
        if found is None:
            return None
        nesting = self.nesting
        for one, stamp in found[1]:
            if one.stamp != stamp and (one is not nesting or one.stamp < stamp):
                return None
        self.reads += [one for one, _ in found[1]]
        return found[0]

    def once(self, table: dict[Any, Any], key: Any, meanwhile: Any, find: Callable[..., Any], *args: Any) -> Any:
        """What `table` keeps under a key; it is found when somebody asks, and kept if it assumes nothing."""
        known = table.get(key, _MISSING)
        if type(known) is Pending:
            self.reads.append(known)
            return known.meanwhile
        return known if known is not _MISSING else self._found_once(table, key, meanwhile, find, args)

    def _found_once(self, table: dict[Any, Any], key: Any, meanwhile: Any, find: Callable[..., Any], args: tuple) -> Any:
        tentative = self.tentatively((id(table), key))
        if tentative is not None:
            return tentative[0]
        mark, pending = len(self.reads), Pending(self.next_stamp(), meanwhile)
        table[key] = pending
        try:
            found = find(*args)
        finally:
            pending.stamp = 0
            del table[key]
        self.settled(pending, mark)
        if len(self.reads) == mark:
            table[key] = found
        else:
            self.hold((id(table), key), (found,), mark)
        return found

    def settled(self, assumption: Any, mark: int) -> None:
        """An assumption was settled: what was computed since `mark` stands, unless it read others as well."""
        self.reads[mark:] = [one for one in dict.fromkeys(self.reads[mark:]) if one is not assumption]
