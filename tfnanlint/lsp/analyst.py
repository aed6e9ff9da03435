"""The near end of the worker: jobs wait here, the most urgent goes next, old ones are called off, a
dead worker is replaced.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfnanlint.lsp.worker import Cancel, Forget, Reply, Show, receive, send

# seconds for a job; one that takes longer never ends, as far as a person at an editor is concerned
TIME_LIMIT = 120.0
PATIENCE = 3.0  # seconds for a worker to heed a cancellation
# Not `-m`: that would import from the folder in which the editor was started, whatever lies there.
# The pipe is taken away from standard output first: whatever is imported may print.
_BOOT = """
import os, sys
out = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
sys.path[:] = sys.argv[1:]
from tfnanlint.lsp.worker import Worker
Worker(sys.stdin.buffer, out).run()
"""


class Died(Exception):
    """The worker ended, or had to be ended, in the middle of a job; the message says how."""


class Failed(Exception):
    """The worker could not do a job; the message says why."""


class Process:
    """A worker's process and the two threads that feed and read its pipes."""

    def __init__(self) -> None:
        path = [entry for entry in sys.path if entry]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, *path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._write, daemon=True).start()

    def listen(
        self, loop: asyncio.AbstractEventLoop, hear: Callable[[Process, Reply | None], None]
    ) -> None:
        """Have `hear` called in the loop with each reply, and with None when the process has
        ended.
        """
        threading.Thread(target=self._read, args=(loop, hear), daemon=True).start()

    def send(self, message: Any) -> None:
        """Send without waiting: a worker in the middle of a parser does not read."""
        self._outbox.put(message)

    def end(self) -> None:
        self._process.kill()
        self._outbox.put(None)

    def exit_code(self) -> int:
        return self._process.wait(timeout=10)

    def _write(self) -> None:
        while (message := self._outbox.get()) is not None:
            try:
                send(self._process.stdin, message)
            except OSError:
                return  # It has ended, which the reader tells.

    def _read(
        self, loop: asyncio.AbstractEventLoop, hear: Callable[[Process, Reply | None], None]
    ) -> None:
        reply: Reply | None = None
        while True:
            try:
                reply = receive(self._process.stdout)
            except (EOFError, OSError):
                reply = None
            try:
                loop.call_soon_threadsafe(hear, self, reply)
            except RuntimeError:
                return  # The server has stopped.
            if reply is None:
                return


@dataclass(slots=True)
class _Ticket:
    job: Any
    rank: tuple[int, int]
    answer: asyncio.Future
    dropped: bool = False


class Analyst:
    """Gives jobs to one worker, one at a time. Lives in one event loop; the process may be started
    before there is one, or where not `at_once`, with the first job.
    """

    def __init__(self, at_once: bool = True) -> None:
        self._process: Process | None = Process() if at_once else None
        self._heard = False
        self._numbers = itertools.count(1)
        self._waiting: list[_Ticket] = []
        self._current: _Ticket | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._shown: dict[str, str] = {}
        self._unsent: list[Show | Forget] = []

    @property
    def idle(self) -> bool:
        return self._current is None and not self._waiting

    def number(self) -> int:
        """A number for a job; later jobs have larger ones."""
        return next(self._numbers)

    def show(self, path: str, text: str | None) -> None:
        """From the next job on a text stands for a file; None: the file itself."""
        if text is None:
            self._shown.pop(path, None)
        else:
            self._shown[path] = text
        self._unsent = [
            one for one in self._unsent if not isinstance(one, Show) or one.path != path
        ]
        self._unsent.append(Show(path, text))

    def forget(self) -> None:
        """From the next job on files on disk are looked at anew."""
        if Forget() not in self._unsent:
            self._unsent.append(Forget())

    async def ask(self, job: Any, urgent: bool = False) -> Any:
        """The answer to a job. A caller that is cancelled calls the job off. Raises `Died`,
        `Failed`.
        """
        rank = (0 if urgent else 1, -job.number)
        ticket = _Ticket(job, rank, asyncio.get_running_loop().create_future())
        self._waiting.append(ticket)
        self._next()
        try:
            return await ticket.answer
        except asyncio.CancelledError:
            self._drop(ticket)
            raise

    def close(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        if self._process is not None:
            self._process.end()
            self._process = None

    def _drop(self, ticket: _Ticket) -> None:
        if ticket in self._waiting:
            self._waiting.remove(ticket)
        elif ticket is self._current and not ticket.dropped and self._process is not None:
            ticket.dropped = True
            self._process.send(Cancel(ticket.job.number))
            self._expect(PATIENCE)

    def _next(self) -> None:
        if self._current is not None or not self._waiting:
            return
        ticket = self._current = min(self._waiting, key=lambda ticket: ticket.rank)
        self._waiting.remove(ticket)
        process = self._ready()
        for message in self._unsent:
            process.send(message)
        self._unsent.clear()
        process.send(ticket.job)
        self._expect(TIME_LIMIT)

    def _ready(self) -> Process:
        if self._process is None:
            self._process = Process()
            self._heard = False
            self._unsent = [Show(path, text) for path, text in self._shown.items()]
        if not self._heard:
            self._process.listen(asyncio.get_running_loop(), self._hear)
            self._heard = True
        return self._process

    def _expect(self, seconds: float) -> None:
        """End the worker if it does not answer in time."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_later(
            seconds, self._late, self._current, seconds
        )

    def _late(self, ticket: _Ticket, seconds: float) -> None:
        if ticket is self._current and self._process is not None:
            self._process.end()
            self._lost(f"the analysis took longer than {seconds:.0f} seconds and was ended")

    def _hear(self, process: Process, reply: Reply | None) -> None:
        if process is not self._process:
            return  # The last words of one that was given up.
        if reply is None:
            self._lost(_ending(process.exit_code()))
            return
        ticket = self._done()
        if ticket is None or ticket.answer.done():
            pass
        elif reply.error:
            ticket.answer.set_exception(Failed(reply.error))
        else:
            ticket.answer.set_result(reply.value)
        self._next()

    def _lost(self, reason: str) -> None:
        self._process = None
        ticket = self._done()
        if ticket is not None and not ticket.answer.done():
            ticket.answer.set_exception(Died(reason))
        self._next()

    def _done(self) -> _Ticket | None:
        ticket, self._current = self._current, None
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        return ticket


def _ending(code: int) -> str:
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return (
        f"the process of the analysis ended {how} (memory, or a bug; process {os.getpid()}"
        " started it)"
    )
