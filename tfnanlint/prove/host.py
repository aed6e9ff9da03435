"""The worker process, from the side of tfnanlint: started when the first slice is to be run."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from typing import Any

MEMORY = 4096  # MiB beyond what TensorFlow takes
MISSING = "this needs TensorFlow in the environment of tfnanlint: pip install tensorflow"
_SETTINGS = {
    "PYTHONHASHSEED": "0",
    "CUDA_VISIBLE_DEVICES": "-1",
    "KERAS_BACKEND": "tensorflow",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_NUM_INTRAOP_THREADS": "1",
}
# Nothing is imported from where the linted program is.
_START = "import sys; sys.path[:] = {path!r}; from tfnanlint.prove.worker import serve; serve()"
_START_ELSEWHERE = _START.replace("sys.path[:] = {path!r}", "sys.path.append({path!r})")


class Unavailable(Exception):
    """Why nothing can be executed here."""


class Host:
    """The process that has TensorFlow loaded: of this Python, or of the one at a path. Use as a
    context manager. Raises `Unavailable`.
    """

    def __init__(self, seconds: float, python: str = ""):
        self.seconds = seconds
        self._python = python
        self.started = 0.0  # seconds that loading TensorFlow took
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Host:
        if importlib.util.find_spec("tensorflow") is None:
            raise Unavailable(MISSING)
        # the worker forks, and reads in /proc how much memory it holds
        if sys.platform != "linux":
            raise Unavailable("this needs Linux")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None and process.stdout is not None:
            process.stdin.close()
            process.stdout.close()
            process.wait(timeout=30)

    def kill(self) -> None:
        """End the process, whatever it does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def run(self, job: dict[str, Any]) -> dict[str, Any]:
        """The answer to a job."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        line = json.dumps({"seconds": self.seconds, "memory": MEMORY, **job}) + "\n"
        try:
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._process = None
            raise Unavailable(f"TensorFlow's process ended with exit code {process.wait()}")
        return dict(json.loads(answer))

    def _start(self) -> str:
        """What the process runs. Another Python has its own modules, and tfnanlint from here."""
        if self._python:
            return _START_ELSEWHERE.format(path=_own_path())
        return _START.format(path=_path())

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            begun = time.monotonic()
            self._process = subprocess.Popen(
                [self._python or sys.executable, "-I", "-c", self._start()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, **_SETTINGS},
            )
            assert self._process.stdout is not None
            if not self._process.stdout.readline():
                process, self._process = self._process, None
                raise Unavailable(f"TensorFlow cannot be loaded (exit code {process.wait()})")
            self.started = time.monotonic() - begun
        return self._process


def _own_path() -> str:
    """Where the package lies."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _path() -> list[str]:
    """Where modules are looked for: not in the working directory."""
    here = os.path.realpath(os.getcwd())
    own = _own_path()
    return [
        path
        for path in dict.fromkeys([*sys.path, own])
        if path and (os.path.realpath(path) != here or path == own)
    ]
