"""The process that executes slices in TensorFlow: it loads TensorFlow once, and forks a child with
limits for every job. Jobs and answers are lines of JSON on standard input and output.
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
    for line in sys.stdin:
        answers.write(_answered(json.loads(line)) + "\n")
        answers.flush()


def _answered(job: dict[str, Any]) -> str:
    """The answer of a child that does a job; one past its limits is killed."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            _work(job, write)
        finally:
            os._exit(1)
    os.close(write)
    text = _awaited(child, read, time.monotonic() + 6 * job["seconds"] + 20.0)
    os.close(read)
    _, status = os.waitpid(child, 0)
    if status == 0 and text:
        return text
    killed = (signal.SIGKILL, signal.SIGXCPU)
    reason = (
        "the time ran out" if os.WTERMSIG(status) in killed else f"the process ended ({status})"
    )
    return json.dumps({"status": "unsupported", "reason": reason})


def _awaited(child: int, read: int, deadline: float) -> str:
    chunks: list[bytes] = []
    while True:
        ready, _, _ = select.select([read], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            return ""
        chunk = os.read(read, _CHUNK)
        if not chunk:
            return b"".join(chunks).decode()
        chunks.append(chunk)


def _work(job: dict[str, Any], output: int) -> None:
    """Do a job within its limits, write the answer, end."""
    _limit(job)
    try:
        from tfnanlint.prove.search import searched

        answer = searched(job)
    except MemoryError:
        answer = {"status": "unsupported", "reason": "the memory ran out"}
    # whatever TensorFlow raises on a slice is the answer for that slice
    except Exception as error:
        said = str(error).strip().splitlines() or [""]
        answer = {
            "status": "unsupported",
            "reason": f"it failed: {type(error).__name__}: {said[0][:200]}",
        }
    with os.fdopen(output, "w") as stream:
        stream.write(json.dumps(answer))
    # Leaving through the interpreter would run TensorFlow's exit handlers in a forked process.
    os._exit(0)


def _limit(job: dict[str, Any]) -> None:
    import resource

    size = _address_space() + (job["memory"] << 20)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    seconds = int(time.process_time() + 2 * job["seconds"]) + 3
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _address_space() -> int:
    """The address space that this process has, in bytes."""
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
