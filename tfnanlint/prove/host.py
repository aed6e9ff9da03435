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
MISSING = "this needs TensorFlow: pip install 'tfnanlint[prove]'"
_SETTINGS = {
    "PYTHONHASHSEED": "0",
    "CUDA_VISIBLE_DEVICES": "-1",
    "KERAS_BACKEND": "tensorflow",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_NUM_INTRAOP_THREADS": "1",
}
# Nothing is imported from where the linted program is.
_START = "import sys; sys.path[:] = {path!r}; from tfnanlint.prove.worker import serve; serve()"


class Unavailable(Exception):
    """Why nothing can be executed here."""


class Host:
    """The process that has TensorFlow loaded. Use as a context manager. Raises `Unavailable`."""

    def __init__(self, seconds: float):
        self.seconds = seconds
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

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            begun = time.monotonic()
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _START.format(path=_path())],
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


def _path() -> list[str]:
    """Where modules are looked for: not in the working directory."""
    here = os.path.realpath(os.getcwd())
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [
        path
        for path in dict.fromkeys([*sys.path, own])
        if path and (os.path.realpath(path) != here or path == own)
    ]
