"""The process that executes slices in TensorFlow: it loads TensorFlow once, and forks a child with
limits that does the jobs. Jobs and answers are lines of JSON on standard input and output.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from typing import Any

_CHUNK = 1 << 16
_MOST_JOBS = 40  # of one child


def serve() -> None:
    """Answer jobs until standard input closes."""
    answers = os.fdopen(os.dup(1), "w")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    # loaded here, so that no child has to
    import keras  # noqa: F401
    import tensorflow

    import tfnanlint.prove.search  # noqa: F401

    answers.write(json.dumps({"tensorflow": tensorflow.__version__}) + "\n")
    answers.flush()
    child = _Child()
    for line in sys.stdin:
        answers.write(child.answer(json.loads(line)) + "\n")
        answers.flush()
    child.end()


class _Child:
    """The process that does the jobs, one after the other: what it has loaded and traced is there
    for the next. One that breaks a limit is killed, and the next job gets another.
    """

    def __init__(self) -> None:
        self._process = 0  # 0: none
        self._jobs = 0
        self._ends = -1, -1  # where answers are read, where jobs are written

    def answer(self, job: dict[str, Any]) -> str:
        """The answer to a job, as JSON."""
        if not self._process:
            self._begin()
        self._jobs += 1
        try:
            os.write(self._ends[1], (json.dumps(job) + "\n").encode())
            text = self._awaited(time.monotonic() + 6 * job["seconds"] + 20.0)
        except BrokenPipeError:
            text = ""
        if not text:
            os.kill(self._process, signal.SIGKILL)
            return json.dumps({"status": "unsupported", "reason": self.end()})
        if self._jobs == _MOST_JOBS or json.loads(text).pop("last", False):
            self.end()
        return text

    def _begin(self) -> None:
        reads_job, writes_job = os.pipe()
        reads_answer, writes_answer = os.pipe()
        self._process = os.fork()
        if self._process:
            os.close(reads_job)
            os.close(writes_answer)
            self._ends, self._jobs = (reads_answer, writes_job), 0
            return
        os.close(writes_job)
        os.close(reads_answer)
        try:
            _work(reads_job, writes_answer)
        finally:
            # Leaving through the interpreter would run TensorFlow's exit handlers.
            os._exit(1)

    def _awaited(self, deadline: float) -> str:
        """A line of the child; empty where it ends, or takes too long."""
        chunks: list[bytes] = []
        while not chunks or not chunks[-1].endswith(b"\n"):
            ready, _, _ = select.select(
                [self._ends[0]], [], [], max(0.0, deadline - time.monotonic())
            )
            chunk = os.read(self._ends[0], _CHUNK) if ready else b""
            if not chunk:
                return ""
            chunks.append(chunk)
        return b"".join(chunks).decode().rstrip("\n")

    def end(self) -> str:
        """End the process; why it ended, in words."""
        if not self._process:
            return ""
        for end in self._ends:
            os.close(end)
        _, status = os.waitpid(self._process, 0)
        self._process = 0
        killed = os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXCPU)
        return "the time ran out" if killed else f"the process ended ({status})"


def _work(jobs: int, answers: int) -> None:
    """Do jobs within their limits until there are no more."""
    from tfnanlint.prove.search import searched

    size = _address_space()
    with os.fdopen(jobs) as lines, os.fdopen(answers, "w") as stream:
        for line in lines:
            job = json.loads(line)
            _limit(job, size)
            try:
                answer = searched(job)
            except MemoryError:
                answer = {"status": "unsupported", "reason": "the memory ran out", "last": True}
            # whatever TensorFlow raises on a slice is the answer for that slice
            except Exception as error:
                said = str(error).strip().splitlines() or [""]
                answer = {
                    "status": "unsupported",
                    "reason": f"it failed: {type(error).__name__}: {said[0][:200]}",
                }
            stream.write(json.dumps(answer) + "\n")
            stream.flush()


def _limit(job: dict[str, Any], before: int) -> None:
    """Limit this process for a job; `before` is the address space that it began with."""
    import resource

    size = before + (job["memory"] << 20)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    seconds = int(time.process_time() + 2 * job["seconds"]) + 3
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))


def _address_space() -> int:
    """The address space that this process has, in bytes."""
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
