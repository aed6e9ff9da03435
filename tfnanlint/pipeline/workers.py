"""Checking many files in several processes. The outcome is that of one process, in the same
order.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tfnanlint.files.discover import Unread, read
from tfnanlint.files.kinds import relevant
from tfnanlint.pipeline.linter import Fixed, Linter, failure

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

# bytes that mention TensorFlow: with less, starting processes costs more than it saves
WORTH_IT = 1 << 20
_CHUNKS = 8  # for each process, so that none waits long for the last
_LOOK = 1.0  # seconds between two looks for the process that started this one
_LIMIT = 8 << 20  # a larger file is passed on unseen

Maker = Callable[[Any], Linter]
# the outcomes of a chunk of files, and what is to be remembered
Work = tuple["list[Fixed | None]", "dict[str, bytes]"]
_linter: Linter | None = None


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
        """The outcome of each file, in order. A file at which a process dies is a finding,
        TFN000.
        """
        from concurrent.futures.process import BrokenProcessPool

        left = _chunked(files, self._count)
        while left:
            pool = self._pool(min(self._count, len(left)))
            try:
                waiting = [pool.submit(_work, chunk, self._fixing) for chunk in left]
                for future in waiting:
                    try:
                        work = future.result()
                    except BrokenProcessPool:
                        break
                    left.pop(0)
                    yield from self._delivered(work)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
            if left:
                yield from self._one_by_one(left.pop(0))

    def _one_by_one(self, chunk: list[str]) -> Iterator[Fixed | None]:
        """The files of a chunk at which a process died, each in a process of its own."""
        from concurrent.futures.process import BrokenProcessPool

        for path in chunk:
            pool = self._pool(1)
            try:
                yield from self._delivered(pool.submit(_work, [path], self._fixing).result())
            except BrokenProcessPool:
                yield Fixed(
                    failure(path, ChildProcessError("the process that checked it died")), b"", b""
                )
            finally:
                pool.shutdown(wait=True)

    def _delivered(self, work: Work) -> list[Fixed | None]:
        outcomes, entries = work
        if self._keep is not None:
            self._keep(entries)
        return outcomes

    def _pool(self, count: int) -> ProcessPoolExecutor:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        # Elsewhere than on Linux forking is not safe.
        context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        if sys.platform == "linux":
            # a forked process has it already
            import tfnanlint.pipeline.analysis  # noqa: F401
        return ProcessPoolExecutor(count, context, _begin, (self._make, self._orders))


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


def _begin(make: Maker, orders: Any) -> None:
    """In a new process: get ready."""
    global _linter
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a word.
    end_with_parent()
    _linter = make(orders)


def end_with_parent() -> None:
    """End this process soon after the one that started it has ended, however that happened."""
    import threading

    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _work(paths: list[str], fixing: bool) -> Work:
    assert _linter is not None
    outcomes = [_linter.file(path, fixing) for path in paths]
    return outcomes, _linter.cache.taken() if _linter.cache is not None else {}
