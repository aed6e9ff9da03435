"""Processes that check repositories, one at a time each: one that dies costs the file it was at."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any

from tfnanlint.batch import OUT_OF_MEMORY, Budget, FileRow, Judge, Repository, Row
from tfnanlint.pipeline.workers import limit_memory
from tfnanlint.scan.inputs import InputError, Reference, load

GRACE = 60.0  # seconds beyond the budget, for one file may take longer than what is left of it
MAX_REFUSED = 5  # files of a reference that may end a process before it is given up


@dataclass(frozen=True, slots=True)
class Orders:
    """What every process works by. `memory` is the number of bytes that one may
    use beyond what it starts with; 0: any.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget = Budget()
    memory: int = 2 << 30


@dataclass(frozen=True, slots=True)
class Place:
    """A file of a reference: the number of its repository in the reference, and its path."""

    repository: int
    path: str


Refused = Mapping[Place, str]  # files that have ended a process, with the reason


def rows_of(
    reference: Reference,
    judge: Judge,
    tell: Callable[[Place], object] = id,
    refused: Refused | None = None,
) -> list[Row]:
    """The rows of what a reference means; where it cannot be loaded, one that says so. `tell` hears
    of each file before it is checked; `refused` files are not.
    """
    rows: list[Row] = []
    try:
        for number, repository in enumerate(load(reference)):
            refusals = {
                place.path: reason
                for place, reason in (refused or {}).items()
                if place.repository == number
            }
            rows += _rows(repository, judge, partial(_placed, tell, number), refusals)
    except (InputError, OSError) as error:
        rows.append(judge.failed(reference.name, "", str(error)))
    except MemoryError:
        rows.append(judge.failed(reference.name, "", OUT_OF_MEMORY))
    return rows


def _placed(tell: Callable[[Place], object], repository: int, path: str) -> None:
    tell(Place(repository, path))


def _rows(
    repository: Repository, judge: Judge, tell: Callable[[str], object], refused: Mapping[str, str]
) -> list[Row]:
    """The rows of a repository without the refused files, and one for each of these."""
    kept = {path: data for path, data in repository.files.items() if path not in refused}
    rows = judge.rows(replace(repository, files=kept), tell)
    return rows + [
        judge.failed(repository.name, path, reason, repository.files.get(path, b""))
        for path, reason in sorted(refused.items())
    ]


def _out_of_memory(rows: Iterable[Row]) -> bool:
    return any(isinstance(row, FileRow) and row.reason == OUT_OF_MEMORY for row in rows)


@dataclass
class _Worker:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    used: bool = False  # it has checked another reference, and may hold memory of that
    index: int = -1  # of the reference that it checks
    since: float = 0.0  # when it began with the repository
    place: Place | None = None  # the file that it checks
    answer: list[Row] | None = None

    def hear(self) -> None:
        """Take what it has sent. Raises EOFError or OSError when it has died."""
        while self.answer is None and self.pipe.poll():
            message = self.pipe.recv()
            if not isinstance(message, Place):
                self.answer = message
                return
            if self.place is None or self.place.repository != message.repository:
                self.since = time.monotonic()
            self.place = message


class _Queue:
    """The references that no process has taken yet."""

    def __init__(self, asked: Sequence[tuple[int, Reference]]):
        self._references = dict(asked)
        self._waiting = [index for index, _ in reversed(asked)]
        self._refused: dict[int, dict[Place, str]] = {}

    def name(self, index: int) -> str:
        """The name of a reference."""
        return self._references[index].name

    def hand(self, worker: _Worker) -> None:
        """Give a process its next reference, if one is left."""
        worker.used = worker.index >= 0
        worker.index, worker.place, worker.answer = -1, None, None
        if not self._waiting:
            return
        worker.index, worker.since = self._waiting.pop(), time.monotonic()
        order = self._references[worker.index], self._refused.get(worker.index, {})
        with contextlib.suppress(BrokenPipeError):  # it has died, which the next look at it tells
            worker.pipe.send(order)

    def once_more(self, index: int) -> None:
        """Let a reference be checked again."""
        self._waiting.append(index)

    def again(self, index: int, place: Place | None, reason: str) -> bool:
        """Let a reference be checked without the file that has ended a process; False when that
        has not helped often enough.
        """
        refused = self._refused.setdefault(index, {})
        if place is None or len(refused) == MAX_REFUSED:
            return False
        refused[place] = reason
        self._waiting.append(index)
        return True


class Pool:
    """Checks references in `jobs` processes; `outcomes` gives their rows as they are ready."""

    def __init__(self, orders: Orders, jobs: int):
        self._orders = orders
        self._jobs = jobs
        self._judge = Judge(orders.settings, orders.budget)  # wrong settings fail here, at once
        self._context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")

    @property
    def judge(self) -> Judge:
        """What checks repositories, for work that needs no process of its own."""
        return self._judge

    def outcomes(self, asked: Sequence[tuple[int, Reference]]) -> Iterator[tuple[int, list[Row]]]:
        """The index and the rows of each reference, in the order in which they end.

        A file that ends its process is left out when its repository is checked again. What finds no
        memory has a second try in a new process, which holds nothing of other repositories.
        """
        queue = _Queue(asked)
        workers = [self._start() for _ in range(min(self._jobs, len(asked)))]
        try:
            for worker in workers:
                queue.hand(worker)
            while any(worker.index >= 0 for worker in workers):
                for number, reason in self._ended(workers):
                    worker = workers[number]
                    index, rows = worker.index, worker.answer
                    full = rows is not None and _out_of_memory(rows)
                    if reason or full:
                        _end(worker)
                        workers[number] = self._start()
                    if full and worker.used:
                        queue.once_more(index)
                        rows = None
                    elif reason and not queue.again(index, worker.place, reason):
                        rows = [self._judge.failed(queue.name(index), "", reason)]
                    queue.hand(workers[number])
                    if rows is not None:
                        yield index, rows
        finally:
            for worker in workers:
                _end(worker)

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(  # type: ignore[attr-defined]
            target=_work, args=(theirs, ours, self._orders), daemon=True
        )
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _ended(self, workers: Sequence[_Worker]) -> Iterator[tuple[int, str]]:
        """The processes that have an answer, and with a reason those that died or took too long."""
        limit = self._orders.budget.seconds + GRACE
        wait([worker.pipe for worker in workers if worker.index >= 0], timeout=1.0)
        for number, worker in enumerate(workers):
            if worker.index < 0:
                continue
            try:
                worker.hear()
            except (EOFError, OSError):
                worker.process.join()
                ending = _ending(worker.process.exitcode)
                yield number, f"the process that checked it died ({ending})"
                continue
            if worker.answer is not None:
                yield number, ""
            elif time.monotonic() - worker.since > limit:
                yield number, f"stopped after more than {limit:.0f} seconds"


def _end(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"


def _work(pipe: Connection, other_end: Connection, orders: Orders) -> None:
    """In a process: check what comes through the pipe until it is closed."""
    other_end.close()  # else the pipe stays open when the process that holds the other end dies
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the process that started this one
    if orders.memory:
        limit_memory(orders.memory)
    judge = Judge(orders.settings, orders.budget)
    try:
        while True:
            reference, refused = pipe.recv()
            pipe.send(rows_of(reference, judge, pipe.send, refused))
    except (EOFError, BrokenPipeError, ConnectionResetError):  # no one waits for more
        return
