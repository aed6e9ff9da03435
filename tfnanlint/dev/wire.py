"""A language client that is nothing but a pipe: for tests and benchmarks that must not share code
with the server.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

VERSIONED = {"workspace": {"workspaceEdit": {"documentChanges": True}}}


class Client:
    """A server in a process of its own, started in `folder`. Closes with the `with` statement."""

    def __init__(
        self,
        folder: Path,
        capabilities: dict | None = None,
        encoding: str = "utf-16",
        env: dict[str, str] | None = None,
        settings: Any = None,
        **parameters: Any,
    ):
        self.settings = settings
        self.messages: list[dict] = []  # notifications other than diagnostics
        self.published: queue.Queue[tuple[float, dict]] = queue.Queue()
        self._answers: dict[int, queue.Queue] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tfnanlint", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, **(env or {})},
        )
        threading.Thread(target=self._read, daemon=True).start()
        uri = folder.as_uri()
        answer = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": folder.name}],
                "capabilities": {
                    "general": {"positionEncodings": [encoding]},
                    **(VERSIONED if capabilities is None else capabilities),
                },
                **parameters,
            },
        )
        self.capabilities = answer["capabilities"]
        self.notify("initialized", {})

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.request("shutdown", None)
            self.notify("exit", None)
            self.process.wait(10)
        self.process.stdin.close()
        self.process.stdout.close()

    def request(self, method: str, params: Any, timeout: float = 60.0) -> Any:
        """The result of a request. Raises RuntimeError on an error, queue.Empty when there is no
        answer in time.
        """
        return self.result(self.ask(method, params), timeout)

    def ask(self, method: str, params: Any) -> int:
        """Send a request; its number."""
        number = next(self._numbers)
        self._answers[number] = queue.Queue()
        self._send({"id": number, "method": method, "params": params})
        return number

    def result(self, number: int, timeout: float = 60.0) -> Any:
        message = self._answers[number].get(timeout=timeout)
        del self._answers[number]
        if "error" in message:
            raise RuntimeError(message["error"])
        return message["result"]

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def open(self, uri: str, text: str, version: int = 1) -> None:
        self.notify(
            "textDocument/didOpen",
            {
                "textDocument": {
                    "uri": uri,
                    "languageId": "python",
                    "version": version,
                    "text": text,
                }
            },
        )

    def change(self, uri: str, version: int, *changes: dict) -> None:
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)},
        )

    def diagnostics(
        self,
        uri: str,
        version: int | None = None,
        until: Callable[[list], bool] = lambda reported: True,
        timeout: float = 60.0,
    ) -> tuple[float, list[dict]]:
        """When the next diagnostics of a document came (of a version, and such as `until` wants),
        and what they are.
        """
        end = time.monotonic() + timeout
        while True:
            moment, params = self.published.get(timeout=max(0.01, end - time.monotonic()))
            if (
                params["uri"] == uri
                and version in (None, params.get("version"))
                and until(params["diagnostics"])
            ):
                return moment, params["diagnostics"]

    def _send(self, message: dict) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with self._lock:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
            self.process.stdin.flush()

    def _read(self) -> None:
        while True:
            length = 0
            while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() != b"content-length" and name.lower() != b"content-type":
                    self.messages.append(
                        {"method": "garbage", "params": line.decode("utf-8", "replace")}
                    )
                length = int(value) if name.lower() == b"content-length" else length
            if not line:
                return
            self._heard(json.loads(self.process.stdout.read(length)))

    def _heard(self, message: dict) -> None:
        if "method" not in message:
            self._answers[message["id"]].put(message)
        elif "id" in message:
            self.messages.append(message)
            wanted = message.get("params")
            result = (
                [self.settings for _ in wanted["items"]]
                if message["method"] == "workspace/configuration"
                else None
            )
            self._send({"id": message["id"], "result": result})
        elif message["method"] == "textDocument/publishDiagnostics":
            self.published.put((time.perf_counter(), message["params"]))
        else:
            self.messages.append(message)
