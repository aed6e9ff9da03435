"""Checking many files in several processes. The outcome is that of one process, in the same
order.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tfnanlint.files.discover import Unread, read
from tfnanlint.files.kinds import relevant
from tfnanlint.pipeline.linter import Fixed, Linter, failure

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

# bytes that mention TensorFlow: with less, starting processes costs more than it saves
WORTH_IT = 1 << 20
_CHUNKS = 8  # for each process, so that none waits long for the last
PATIENCE = 300.0  # seconds that a file may take in one of several processes
MEMORY = 4 << 30  # bytes that such a process may use beyond what it starts with
_LOOK = 1.0  # seconds between two looks for the process that started this one
_LIMIT = 8 << 20  # a larger file is passed on unseen

Maker = Callable[[Any], Linter]
# the outcome of a file, and what is to be remembered
Work = tuple["Fixed | None", "dict[str, bytes]"]


def cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def contents(paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The files that are worth a look, with their bytes: what mentions TensorFlow, and, without
    any, what cannot be read.
    """
    for path in paths:
        try:
            data = read(path, _LIMIT)
        except Unread:
            yield path, b""
            continue
        if relevant(data):
            yield path, data


@dataclass
class _Worker:
    """A process that checks files, and what it has been given and has not answered yet."""

    process: BaseProcess
    pipe: Connection
    chunk: int = 0
    files: list[str] = field(default_factory=list)
    since: float = 0.0  # when it began with the first of its files

    def give(self, chunk: int, files: list[str]) -> None:
        """Let it check the files of a chunk."""
        self.chunk, self.files, self.since = chunk, files, time.monotonic()
        with suppress(BrokenPipeError):  # it has died, which the next look at it tells
            self.pipe.send(files)

    def answers(self) -> Iterator[Work]:
        """What it has found in its files, as far as it has. Raises EOFError or OSError when it has
        died.
        """
        while self.files and self.pipe.poll():
            work = self.pipe.recv()
            self.files.pop(0)
            self.since = time.monotonic()
            yield work

    def end(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Crew:
    """Processes that check files. `make` builds a `Linter` from `orders` in each of them; both can
    be pickled. `keep` gets what the linters' caches are to keep.
    """

    def __init__(
        self,
        make: Maker,
        orders: Any,
        fixing: bool,
        count: int,
        keep: Callable[[dict[str, bytes]], None] | None = None,
    ):
        self._make, self._orders, self._fixing, self._count, self._keep = (
            make,
            orders,
            fixing,
            count,
            keep,
        )

    def outcomes(self, files: Sequence[tuple[str, int]]) -> Iterator[Fixed | None]:
        """The outcome of each file, in order. A file at which a process dies, or that takes too
        long, is a finding, TFN000. When the caller stops early, no process is left.
        """
        chunks = _chunked(files, self._count)
        waiting = deque(enumerate(chunks))
        ready: list[deque[Fixed | None]] = [deque() for _ in chunks]
        workers: list[_Worker] = []
        try:
            workers += [self._start() for _ in range(min(self._count, len(chunks)))]
            for number, chunk in enumerate([list(chunk) for chunk in chunks]):
                for _ in chunk:
                    while not ready[number]:
                        self._listen(workers, waiting, ready)
                    yield ready[number].popleft()
        finally:
            for worker in workers:
                worker.end()

    def _listen(
        self,
        workers: list[_Worker],
        waiting: deque[tuple[int, list[str]]],
        ready: list[deque[Fixed | None]],
    ) -> None:
        """Take what the processes have to say, and give new work to those that have none."""
        from multiprocessing.connection import wait

        for worker in workers:
            if not worker.files and waiting:
                worker.give(*waiting.popleft())
        busy = [worker for worker in workers if worker.files]
        wait([worker.pipe for worker in busy], timeout=_LOOK)
        for worker in busy:
            chunk = ready[worker.chunk]
            reason = self._reason(worker, chunk)
            if reason:
                path, *left = worker.files
                chunk.append(Fixed(failure(path, ChildProcessError(reason)), b"", b""))
                worker.end()
                workers[workers.index(worker)] = new = self._start()
                if left:
                    new.give(worker.chunk, left)

    def _reason(self, worker: _Worker, chunk: deque[Fixed | None]) -> str:
        """Why a process is given up after its answers were taken; empty where it is not."""
        try:
            for outcome, entries in worker.answers():
                chunk.append(outcome)
                if self._keep is not None:
                    self._keep(entries)
        except (EOFError, OSError):
            return "the process that checked it died"
        late = bool(worker.files) and time.monotonic() - worker.since > PATIENCE
        return f"stopped after more than {PATIENCE:.0f} seconds" if late else ""

    def _start(self) -> _Worker:
        import multiprocessing

        # Elsewhere than on Linux forking is not safe.
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        if sys.platform == "linux":
            # a forked process has it already
            import tfnanlint.pipeline.analysis  # noqa: F401
        ours, theirs = context.Pipe()
        process = context.Process(  # type: ignore[attr-defined]
            target=_serve, args=(theirs, self._make, self._orders, self._fixing), daemon=True
        )
        process.start()
        theirs.close()
        return _Worker(process, ours)


def _chunked(files: Sequence[tuple[str, int]], count: int) -> list[list[str]]:
    """Files in runs of about equal size. Neighbours stay together: they import each other."""
    room = max(1, sum(size for _, size in files) // (count * _CHUNKS))
    chunks: list[list[str]] = []
    filled = room
    for path, size in files:
        if filled >= room:
            chunks.append([])
            filled = 0
        chunks[-1].append(path)
        filled += size
    return chunks


def _serve(pipe: Connection, make: Maker, orders: Any, fixing: bool) -> None:
    """In a new process: check the files that come through a pipe, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the process that started this one
    end_with_parent()
    limit_memory(MEMORY)
    linter = make(orders)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # no one waits for more
        while True:
            for path in pipe.recv():
                outcome = linter.file(path, fixing)
                pipe.send((outcome, linter.cache.taken() if linter.cache is not None else {}))


def limit_memory(memory: int) -> None:
    """Let this process have so many bytes more than it has now."""
    try:
        import resource
    except ImportError:  # there is none on Windows
        return
    mapped = _address_space()
    if not mapped:  # macOS refuses a limit below what is mapped, and does not tell how much that is
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = mapped + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit if most < 0 else min(limit, most), most))


def _address_space() -> int:
    """The bytes that are mapped now, most of them libraries; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def end_with_parent() -> None:
    """End this process soon after the one that started it has ended, however that happened."""
    import threading

    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
