"""What is assumed while a loop, a recursive function or a parameter is being settled, and what was
computed on it.

A loop variable is found by trying values until one covers every round. What is computed during a
try stands only as long as the same try lasts: it is held with the assumptions that it read, and
used again while each of them is still the same. An assumption is an object with a `stamp`, 0 while
nothing is assumed of it and another number for every try.
"""

from __future__ import annotations

from typing import Any, Callable, Final

from tfnanlint.values.evaluator import Evaluator


class Pending:
    """An answer that is being found, and what those who ask meanwhile assume."""

    __slots__ = ("stamp", "meanwhile")

    def __init__(self, stamp: int, meanwhile: Any) -> None:
        self.stamp = stamp
        self.meanwhile = meanwhile


_MISSING: Final[Any] = object()


def next_stamp(ev: Evaluator) -> int:
    ev.session.stamps += 1
    return ev.session.stamps


def hold(ev: Evaluator, key: Any, value: Any, mark: int) -> None:
    """Keep a value together with what was read since `mark`."""
    if len(ev.reads) == mark + 1:  # nearly always
        read = ev.reads[mark]
        ev.held[key] = (value, ((read, read.stamp),))
        return
    read = tuple(dict.fromkeys(ev.reads[mark:]))
    ev.reads[mark:] = read
    ev.held[key] = (value, tuple((one, one.stamp) for one in read))


def tentatively(ev: Evaluator, key: Any) -> Any:
    """The value held for `key`, if everything it assumes is still assumed."""
    held = ev.held.get(key)
    if held is None:
        return None
    nesting = ev.session.nesting
    for assumption, stamp in held[1]:
        if assumption.stamp != stamp and (assumption is not nesting or assumption.stamp < stamp):
            return None
    ev.reads += [one for one, _ in held[1]]
    return held[0]


def once(
    ev: Evaluator,
    table: dict[Any, Any],
    key: Any,
    meanwhile: Any,
    find: Callable[..., Any],
    *args: Any,
) -> Any:
    """What `table` keeps under a key; it is found when it is asked for, and kept if it assumes
    nothing.
    """
    known = table.get(key, _MISSING)
    if type(known) is Pending:
        ev.reads.append(known)
        return known.meanwhile
    return known if known is not _MISSING else _found_once(ev, table, key, meanwhile, find, args)


def _found_once(
    ev: Evaluator,
    table: dict[Any, Any],
    key: Any,
    meanwhile: Any,
    find: Callable[..., Any],
    args: tuple,
) -> Any:
    tentative = tentatively(ev, (id(table), key))
    if tentative is not None:
        return tentative[0]
    mark, pending = len(ev.reads), Pending(next_stamp(ev), meanwhile)
    table[key] = pending
    try:
        result = find(*args)
    finally:
        pending.stamp = 0
        del table[key]
    settled(ev, pending, mark)
    if len(ev.reads) == mark:
        table[key] = result
    else:
        hold(ev, (id(table), key), (result,), mark)
    return result


def settled(ev: Evaluator, assumption: Any, mark: int) -> None:
    """An assumption was settled: what was computed since `mark` stands, unless it read others as
    well.
    """
    ev.reads[mark:] = [one for one in dict.fromkeys(ev.reads[mark:]) if one is not assumption]
