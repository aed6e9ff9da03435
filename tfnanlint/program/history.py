"""What a name or path has been bound to in a scope, and when."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any


class History:
    """The bindings of one path in the order of their times: the last one, and lists of those before
    it, which most paths do not have.
    """

    __slots__ = ("time", "binding", "_times", "_before")

    def __init__(self, time: int, binding: Any):
        self.time = time  # of the last binding
        self.binding = binding
        self._times: list[int] | None = None
        self._before: list[Any] | None = None

    def add(self, time: int, binding: Any) -> None:
        if self._times is None or self._before is None:
            self._times, self._before = [self.time], [self.binding]
        else:
            self._times.append(self.time)
            self._before.append(self.binding)
        self.time = time
        self.binding = binding

    def at(self, time: int) -> Any:
        """The binding that holds at a time; None before the first."""
        index = self.index(time)
        return self.nth(index) if index else None

    def index(self, time: int) -> int:
        """Which binding holds at a time, counted from 1; 0 before the first."""
        if self._times is None:
            return 1 if self.time <= time else 0
        return len(self._times) + 1 if self.time <= time else bisect_right(self._times, time)

    def nth(self, index: int) -> Any:
        """One of the bindings, counted from 1."""
        return (
            self.binding
            if self._before is None or index > len(self._before)
            else self._before[index - 1]
        )

    def made(self, index: int) -> int:
        """When one of the bindings was made; 0 for none."""
        if index == 0:
            return 0
        return (
            self.time if self._times is None or index > len(self._times) else self._times[index - 1]
        )

    def count(self) -> int:
        """How often the path was bound."""
        return 1 if self._times is None else len(self._times) + 1

    def bindings(self) -> list[Any]:
        """All of them, None where the path was deleted."""
        return [self.binding] if self._before is None else [*self._before, self.binding]

    def since(self, index: int, until: int | None = None) -> list[Any]:
        """The bindings behind one of them, counted from 1, up to another one, or to the last."""
        before = self._before or []
        last = len(before) + 1 if until is None else until
        bindings = before[index:last]
        return [*bindings, self.binding] if index <= len(before) < last else bindings

    def times(self) -> list[int]:
        """When each was made."""
        return [self.time] if self._times is None else [*self._times, self.time]
