"""What is analysed when: one sheet for each open file or notebook, brought up to date with as
little work as possible.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from tfnanlint.diagnostics import notices
from tfnanlint.lsp.analyst import Analyst, Died, Failed
from tfnanlint.lsp.documents import Snapshot
from tfnanlint.lsp.worker import Check, Outcome, Place
from tfnanlint.syntax.source import Source, Span

# Seconds. The analysis begins at once; if typing overtakes it and it takes longer than this, the
# next waits for a pause.
QUICK = 0.04
LONGEST_PAUSE = 0.2
# A change is answered at once by judging what was changed; after this long without another, all is
# judged again.
REST = 0.25


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found in a snapshot. The findings have their fixes only if `repaired` is set: most
    are never asked for.
    """

    snapshot: Snapshot
    outcome: Outcome
    repaired: bool = False


class Sheet:
    """A file or notebook and the newest answer about it.

    `read` takes the snapshot, `place` says where it belongs (None: it is not to be checked),
    `ready` is told of each new answer.
    """

    def __init__(
        self,
        uri: str,
        analyst: Analyst,
        read: Callable[[], Snapshot],
        place: Callable[[], Place | None],
        ready: Callable[[Sheet], None],
    ):
        self.uri = uri
        self.answer: Answer | None = None
        self.told: str | None = None  # what the client was last told, as the server remembers it
        self._analyst = analyst
        self._read = read
        self.place = place
        self._ready = ready
        self._wanted = 0
        self._done = 0
        self._seconds = 0.0  # that the last analysis took
        self._hasty = False  # whether the answer was given in haste, and waits to be confirmed
        self._touched = asyncio.Event()
        self._typed = False  # whether nothing but the text has changed since the last answer
        self._task: asyncio.Task | None = None
        self._asking: asyncio.Task | None = None
        self._waiting: list[asyncio.Future] = []
        self._closed = False

    def touch(self, typed: bool = False) -> None:
        """Something that its findings depend on has changed, only its own text if `typed`; an
        answer that is on the way is old.
        """
        self._typed = typed and (self._typed or self._done == self._wanted)
        self._wanted += 1
        self._touched.set()
        if self._asking is not None:
            self._asking.cancel()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def settled(self) -> Answer | None:
        """The answer about what is open now; None when the sheet was closed meanwhile."""
        while not self._closed and self._done != self._wanted:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting
        return self.answer if not self._closed else None

    def close(self) -> None:
        self._closed = True
        if self._task is not None:
            self._task.cancel()
        self._wake()

    async def _work(self) -> None:
        hurried = False
        while not self._closed and (self._done != self._wanted or self._hasty):
            confirming = self._done == self._wanted
            if confirming and await self._disturbed():
                continue
            if hurried and self._seconds > QUICK:
                await asyncio.sleep(min(self._seconds, LONGEST_PAUSE))
            wanted = self._wanted
            snapshot = self._read()
            start, outcome = (
                time.perf_counter(),
                await self._outcome(snapshot, self._typed and not confirming),
            )
            if not confirming:
                hurried = outcome is None or wanted != self._wanted
                self._seconds = max(
                    self._seconds if outcome is None else 0.0, time.perf_counter() - start
                )
            if outcome is not None and wanted == self._wanted and not self._closed:
                self._take(Answer(snapshot.placed(outcome.starts), outcome), wanted)

    async def _disturbed(self) -> bool:
        """Whether something changes while the sheet rests."""
        self._touched.clear()
        try:
            await asyncio.wait_for(self._touched.wait(), REST)
        except asyncio.TimeoutError:
            return False
        return True

    def _take(self, answer: Answer, wanted: int) -> None:
        """Make known what was found; not again when it was known."""
        known = (
            self.answer is not None
            and self._done == wanted
            and self.answer.outcome == replace(answer.outcome, hasty=True)
        )
        self._done, self._hasty, self.answer = wanted, answer.outcome.hasty, answer
        if not known:
            self._ready(self)
        self._wake()

    async def _outcome(self, snapshot: Snapshot, hasty: bool) -> Outcome | None:
        """What is found in a snapshot; None when that is no longer wanted."""
        place = self.place()
        if place is None:
            return Outcome()
        self._asking = asyncio.ensure_future(
            self._analyst.ask(Check(self._analyst.number(), place, snapshot.texts, hasty))
        )
        try:
            return await self._asking
        except asyncio.CancelledError:
            if self._closed:
                raise
            return None
        except (Died, Failed) as error:
            text = f"the analysis failed: {error}; this is a bug of tfnanlint, please report it"
            return Outcome(
                (notices.INTERNAL.finding(Source(place.path, ""), Span(0, 0), text),), text
            )
        finally:
            self._asking = None

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
