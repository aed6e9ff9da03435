"""Runs fixture programs in TensorFlow: one host imports it once and forks a child for every
program.

`Host.run` (in the test's process) sends a job; the host (this file as a script) forks, so that each
program has a process, a TF1 or TF2 mode and a time limit of its own, and the 4 s of importing
TensorFlow are paid once.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass

SETTINGS = {"PYTHONHASHSEED": "0", "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}


@dataclass(frozen=True)
class Run:
    """What a program's `main()` returned. `error` holds a traceback, or says that the time ran out."""

    losses: tuple[float, ...] = ()
    accuracy: float | None = None
    bad_weights: int = 0
    all_weights: int = 0
    seconds: float = 0.0
    error: str = ""


class Host:
    """The process that has TensorFlow loaded. Use as a context manager."""

    def __enter__(self) -> Host:
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **SETTINGS},
        )
        return self

    def __exit__(self, *_) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()

    def run(
        self, *paths: str, seconds: float = 60.0, environment: dict[str, str] | None = None
    ) -> list[Run]:
        """Run the programs side by side; one `Run` for each path, in order."""
        job = {
            "paths": [str(path) for path in paths],
            "seconds": seconds,
            "environment": environment or {},
        }
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the TensorFlow host ended with exit code {self.process.wait()}")
        return [
            Run(**{**fields, "losses": tuple(fields.get("losses", ()))})
            for fields in json.loads(answer)
        ]


def _summary(result: dict) -> dict:
    """The result of `main()` as plain numbers; weights only as counts of entries and of non-finite
    ones.
    """
    import numpy

    weights = [numpy.asarray(w, dtype="float64") for w in result.get("weights", ())]
    accuracy = result.get("accuracy")
    return {
        "losses": [float(loss) for loss in result["losses"]],
        "accuracy": None if accuracy is None else float(accuracy),
        "bad_weights": int(sum((~numpy.isfinite(w)).sum() for w in weights)),
        "all_weights": int(sum(w.size for w in weights)),
    }


def _child(path: str, environment: dict[str, str], output: int) -> None:
    """Load the program as a module of its own, call its main, write the summary, end."""
    os.environ.update(environment)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    start = time.monotonic()
    try:
        spec = importlib.util.spec_from_file_location("program", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["program"] = module
        spec.loader.exec_module(module)
        fields = _summary(module.main())
    # whatever ends a program, its exit included, is the result of that program
    except BaseException:
        fields = {"error": traceback.format_exc()}
    fields["seconds"] = time.monotonic() - start
    with os.fdopen(output, "w") as stream:
        json.dump(fields, stream)
    # Leaving through the interpreter would run TensorFlow's exit handlers in a forked process.
    os._exit(0)


def _start(path: str, environment: dict[str, str]) -> tuple[int, int]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        _child(path, environment, write)
    os.close(write)
    return pid, read


def _finish(pid: int, read: int, deadline: float) -> dict:
    """The child's summary; a child past its deadline is killed."""
    chunks = []
    while True:
        ready, _, _ = select.select([read], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(pid, signal.SIGKILL)
            chunks = [json.dumps({"error": "the time ran out"}).encode()]
            break
        chunk = os.read(read, 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
    os.close(read)
    _, status = os.waitpid(pid, 0)
    text = b"".join(chunks)
    return json.loads(text) if text else {"error": f"the program's process died, status {status}"}


def serve() -> None:
    """Read jobs from standard input until it closes; answer each with one line of JSON."""
    import tensorflow  # noqa: F401  loaded here, so that no child has to

    for line in sys.stdin:
        job = json.loads(line)
        deadline = time.monotonic() + job["seconds"]
        children = [_start(path, job["environment"]) for path in job["paths"]]
        answers = [_finish(pid, read, deadline) for pid, read in children]
        sys.__stdout__.write(json.dumps(answers) + "\n")
        sys.__stdout__.flush()


if __name__ == "__main__":
    serve()
