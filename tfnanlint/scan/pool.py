"""Processes that check repositories, one at a time each: one that dies costs one repository."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from tfnanlint.batch import Budget, Judge, Row, failed
from tfnanlint.scan.inputs import InputError, Reference, load

GRACE = 60.0  # seconds beyond the budget, for one file may take longer than what is left of it


@dataclass(frozen=True, slots=True)
class Orders:
    """What every process works by. `memory` is the number of bytes that one may use; 0: any."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget = Budget()
    memory: int = 2 << 30


def rows_of(reference: Reference, judge: Judge) -> list[Row]:
    """The rows of what a reference means; where it cannot be loaded, one that says so."""
    rows: list[Row] = []
    try:
        for repository in load(reference):
            rows += judge.rows(repository)
    except (InputError, OSError) as error:
        rows.append(failed(reference.name, "", str(error), judge))
    except MemoryError:
        rows.append(failed(reference.name, "", "it needs more memory than is allowed", judge))
    return rows


@dataclass
class _Worker:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    index: int = -1  # of the reference that it checks
    since: float = 0.0


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
        """The index and the rows of each reference, in the order in which they end."""
        waiting = list(reversed(asked))
        references = dict(asked)
        workers = [self._start() for _ in range(min(self._jobs, len(waiting)))]
        try:
            for worker in workers:
                self._hand(worker, waiting)
            while any(worker.index >= 0 for worker in workers):
                for place, worker in self._ended(workers):
                    index = worker.index
                    rows = self._answer(worker, references[index])
                    if not worker.process.is_alive():
                        worker.pipe.close()
                        worker = workers[place] = self._start()
                    self._hand(worker, waiting)
                    yield index, rows
        finally:
            for worker in workers:
                worker.process.kill()
                worker.process.join()
                worker.pipe.close()

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(  # type: ignore[attr-defined]
            target=_work, args=(theirs, self._orders), daemon=True
        )
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _hand(self, worker: _Worker, waiting: list[tuple[int, Reference]]) -> None:
        """Give a process its next reference, if one is left."""
        worker.index = -1
        if waiting:
            worker.index, reference = waiting.pop()
            worker.since = time.monotonic()
            worker.pipe.send(reference)

    def _ended(self, workers: Sequence[_Worker]) -> Iterator[tuple[int, _Worker]]:
        """The processes that have an answer, died, or took too long."""
        limit = self._orders.budget.seconds + GRACE
        ready = wait([worker.pipe for worker in workers if worker.index >= 0], timeout=1.0)
        for place, worker in enumerate(workers):
            late = worker.index >= 0 and time.monotonic() - worker.since > limit
            if worker.pipe in ready or late:
                yield place, worker

    def _answer(self, worker: _Worker, reference: Reference) -> list[Row]:
        """The rows that a process has sent; one row that says why there are none."""
        if not worker.pipe.poll():
            worker.process.kill()
            worker.process.join()
            reason = f"stopped after {time.monotonic() - worker.since:.0f} seconds"
            return [failed(reference.name, "", reason, self._judge)]
        try:
            return worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            worker.process.join()
            reason = f"the process that checked it died ({_ending(worker.process.exitcode)})"
            return [failed(reference.name, "", reason, self._judge)]


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"


def _work(pipe: Connection, orders: Orders) -> None:
    """In a process: check what comes through the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the process that started this one
    _limit(orders.memory)
    judge = Judge(orders.settings, orders.budget)
    while True:
        try:
            reference = pipe.recv()
        except EOFError:
            return
        pipe.send(rows_of(reference, judge))


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # there is none on Windows
        return
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
