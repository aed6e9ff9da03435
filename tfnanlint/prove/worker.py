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
_MORE_SECONDS = 10  # to compute, beyond twice the time of a search: what is found is compared
_TOO_LONG = "the time ran out"
_IDLE_SECONDS, _LEAST_COMPUTED = 20.0, 0.1  # a process that computes less in this time is stuck


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
    for the next. One that breaks a limit is killed, and the next job gets another. A job that ends
    its process, or has too little memory, is done once more in a new one: jobs before it, or a
    busy machine, may be the reason.
    """

    def __init__(self) -> None:
        self._process = 0  # 0: none
        self._jobs = 0
        self._ends = -1, -1  # where answers are read, where jobs are written

    def answer(self, job: dict[str, Any]) -> str:
        """The answer to a job, as JSON."""
        answer = self._once(job)
        if answer.pop("broken", False):
            self.end()
            answer = self._once(job)
            answer.pop("broken", False)
        if answer.pop("last", False) or self._jobs == _MOST_JOBS:
            self.end()
        return json.dumps(answer)

    def _once(self, job: dict[str, Any]) -> dict[str, Any]:
        """The answer of a process to a job; `broken` where another process may give another one."""
        if not self._process:
            self._begin()
        self._jobs += 1
        is_first = self._jobs == 1
        try:
            self._send(job)
            text = self._awaited()
        except BrokenPipeError:
            text = ""
        if text:
            answer = dict(json.loads(text))
            answer["broken"] = answer["broken"] and not is_first
            return answer
        os.kill(self._process, signal.SIGKILL)
        reason = self.end()
        broken = not (is_first and reason == _TOO_LONG)
        return {"status": "unsupported", "reason": reason, "broken": broken}

    def _send(self, job: dict[str, Any]) -> None:
        """Write a job to the process. Raises `BrokenPipeError`."""
        waiting = (json.dumps(job) + "\n").encode()
        while waiting:
            waiting = waiting[os.write(self._ends[1], waiting) :]

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

    def _awaited(self) -> str:
        """A line of the child; empty where it ends, or waits for something."""
        chunks: list[bytes] = []
        computed = 0.0
        while not chunks or not chunks[-1].endswith(b"\n"):
            ready, _, _ = select.select([self._ends[0]], [], [], _IDLE_SECONDS)
            chunk = os.read(self._ends[0], _CHUNK) if ready else b""
            if not ready and _computed(self._process) - computed > _LEAST_COMPUTED:
                computed = _computed(self._process)
            elif not chunk:
                return ""
            else:
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
        return _TOO_LONG if killed else f"the process ended ({status})"


def _work(jobs: int, answers: int) -> None:
    """Do jobs within their limits until there are no more."""
    from tfnanlint.prove.search import searched

    before = _address_space()
    with os.fdopen(jobs) as lines, os.fdopen(answers, "w") as stream:
        for line in lines:
            job = json.loads(line)
            _limit(job)
            try:
                answer = searched(job)
            except MemoryError:
                reason = "the memory ran out"
                answer = {"status": "unsupported", "reason": reason, "exhausted": True}
            # whatever TensorFlow raises on a slice is the answer for that slice
            except Exception as error:
                said = str(error).strip().splitlines() or [""]
                answer = {
                    "status": "unsupported",
                    "reason": f"it failed: {type(error).__name__}: {said[0][:200]}",
                }
            exhausted = answer.pop("exhausted", False)
            answer["broken"] = exhausted and answer["status"] != "proved"
            # what is kept for later jobs is not to grow without end
            answer["last"] = exhausted or _address_space() - before > job["memory"] << 20
            stream.write(json.dumps(answer) + "\n")
            stream.flush()


def _limit(job: dict[str, Any]) -> None:
    """Limit what this process takes for a job, beyond what it has."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    size = _address_space() + (job["memory"] << 20)
    size = size if most == resource.RLIM_INFINITY else min(size, most)
    resource.setrlimit(resource.RLIMIT_AS, (size, most))
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    seconds = int(time.process_time() + 2 * job["seconds"]) + _MORE_SECONDS
    seconds = seconds if most == resource.RLIM_INFINITY else min(seconds, most)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))


def _address_space() -> int:
    """The address space that this process has, in bytes."""
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _computed(process: int) -> float:
    """The seconds that a process has computed."""
    with open(f"/proc/{process}/stat") as stream:
        fields = stream.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
