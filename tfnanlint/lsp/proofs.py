"""Show me the NaN: findings proved in a process of their own, for which no editor waits, and the
witness opened in the editor.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import uuid
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.verdicts import Verdict, Witness
from tfnanlint.lsp.analyst import Analyst, Died, Failed
from tfnanlint.lsp.sheets import Answer
from tfnanlint.lsp.worker import Place, Prove, Texts
from tfnanlint.report import escape

COMMAND = "tfnanlint.showNaN"
IDLE = 600.0  # seconds after which TensorFlow is let go of
MOST_VERDICTS = 200
_FIND = "import importlib.util, sys; sys.exit(importlib.util.find_spec('tensorflow') is None)"
_WORD = re.compile(r"\W+")
_PREFIX = "tfnanlint-proofs-"  # of the folder of a server, which holds a lock on it


class Editor(Protocol):
    """What is asked of the connection to an editor."""

    work_done_progress: Any

    def can(self, path: str) -> Any: ...
    def window_show_message(self, params: types.ShowMessageParams) -> None: ...
    def window_show_document_async(self, params: types.ShowDocumentParams) -> Any: ...


@dataclass(frozen=True, slots=True)
class _Known:
    """What a verdict is about: a finding in a text."""

    path: str
    texts: Texts
    code: str
    start: int


class Proofs:
    """The verdicts of a connection and what makes them; `analyst` is started with the first."""

    def __init__(self) -> None:
        self.analyst = Analyst(at_once=False)
        self._verdicts: dict[_Known, Verdict] = {}
        self._tasks: set[asyncio.Task] = set()
        self._has_tensorflow: dict[str, bool] = {"": _is_here()}
        self._folder: Path | None = None
        self._rest: asyncio.TimerHandle | None = None
        _remove_left_folders()

    def close(self) -> None:
        """End the process, and remove the files that were shown."""
        self.analyst.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def wrote(self, path: str) -> bool:
        """Whether a file is a witness that was shown."""
        return self._folder is not None and Path(path).parent == self._folder

    # What can be proved

    def look(self, python: str) -> None:
        """Find out whether a Python has TensorFlow."""
        if python not in self._has_tensorflow:
            self._has_tensorflow[python] = False
            if sys.platform == "linux":
                self._run(self._looked(python))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done while the server goes on."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _looked(self, python: str) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                python, "-I", "-c", _FIND, stdin=asyncio.subprocess.DEVNULL
            )
        except OSError:
            return
        self._has_tensorflow[python] = await process.wait() == 0

    def available(self, place: Place | None) -> bool:
        """Whether findings at a place can be proved: its Python is known to have TensorFlow."""
        return place is not None and self._has_tensorflow.get(place.python, False)

    def verdict(self, place: Place | None, answer: Answer, finding: Finding) -> Verdict | None:
        """What was shown of a finding in this text."""
        if place is None:
            return None
        return self._verdicts.get(_known(place, answer, finding))

    # Proving

    def begin(self, editor: Editor, place: Place, answer: Answer, finding: Finding) -> None:
        """Prove a finding and show the outcome, while the server goes on."""
        self._run(self._shown(editor, place, answer, finding))

    async def _shown(self, editor: Editor, place: Place, answer: Answer, finding: Finding) -> None:
        verdict = self.verdict(place, answer, finding)
        if verdict is None:
            token = await _progress(editor, f"{finding.code}: searching for an input")
            try:
                verdict = await self._proved(place, answer, finding)
            except (Died, Failed) as error:
                _tell(editor, f"{finding.code}: {error}", types.MessageType.Error)
                return
            finally:
                _done(editor, token)
            self._keep(_known(place, answer, finding), verdict)
        if verdict.witness is None:
            _tell(editor, f"{finding.code}: {escape(verdict.words)}", types.MessageType.Info)
        else:
            await self._open(editor, finding, place, verdict, verdict.witness)

    async def _proved(self, place: Place, answer: Answer, finding: Finding) -> Verdict:
        if self._rest is not None:
            self._rest.cancel()
        job = Prove(self.analyst.number(), place, answer.snapshot.texts, finding)
        try:
            return await self.analyst.ask(job)
        finally:
            self._rest = asyncio.get_running_loop().call_later(IDLE, self._let_go)

    def _let_go(self) -> None:
        if self.analyst.idle:
            self.analyst.close()

    def _keep(self, known: _Known, verdict: Verdict) -> None:
        self._verdicts[known] = verdict
        while len(self._verdicts) > MOST_VERDICTS:
            del self._verdicts[next(iter(self._verdicts))]

    # Showing

    async def _open(
        self, editor: Editor, finding: Finding, place: Place, verdict: Verdict, witness: Witness
    ) -> None:
        """Show a witness in the editor; where that cannot, say where it is."""
        path = self._written(finding, place, verdict, witness)
        if editor.can("window.show_document.support"):
            wanted = types.ShowDocumentParams(path.as_uri(), external=False, take_focus=True)
            try:
                if (await editor.window_show_document_async(wanted)).success:
                    return
            except JsonRpcException:
                pass  # then it is said
        text = f"{finding.code}: {escape(verdict.words)}. The program that shows it: {path}"
        _tell(editor, text, types.MessageType.Info)

    def _written(self, finding: Finding, place: Place, verdict: Verdict, witness: Witness) -> Path:
        """The file of a witness."""
        if self._folder is None:
            self._folder = _new_folder()
        stem = _WORD.sub("_", Path(place.path).stem).strip("_") or "program"
        path = self._folder / f"{finding.code}_{stem}_{finding.span.start}.py"
        lines = [verdict.words, *([f"after the fix: {verdict.fix}"] if verdict.fix else [])]
        for result in witness.results:
            after = f"; after the fix: {result.after}" if result.after else ""
            lines.append(f"{result.name}: {result.before}{after}")
        told = "".join(f"# {escape(line)}\n" for line in lines)
        path.write_text(f"{told}\n{witness.program}", "utf-8", "backslashreplace")
        return path


def _new_folder() -> Path:
    """A folder for witnesses, locked for as long as this process lives."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    if _lock(folder) is not None and not folder.exists():
        return _new_folder()  # a server that began meanwhile took it for one that was left
    return folder


def _remove_left_folders() -> None:
    """Remove the folders of servers that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        handle = _lock(folder)
        if handle is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(handle)


def _lock(folder: Path) -> int | None:
    """The handle that locks a folder; None where another process has, or where it is not ours."""
    if sys.platform != "linux":  # nor is anything proved there
        return None
    import fcntl

    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
        if os.fstat(handle).st_uid == os.getuid():
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
        os.close(handle)
    return None


def _is_here() -> bool:
    """Whether the server's own Python can prove."""
    return sys.platform == "linux" and importlib.util.find_spec("tensorflow") is not None


def _known(place: Place, answer: Answer, finding: Finding) -> _Known:
    path = os.path.abspath(place.path)
    return _Known(path, answer.snapshot.texts, finding.code, finding.span.start)


def _tell(editor: Editor, text: str, kind: types.MessageType) -> None:
    editor.window_show_message(types.ShowMessageParams(kind, f"tfnanlint: {text}"))


async def _progress(editor: Editor, title: str) -> str:
    """The token of a progress that the editor shows; empty where it shows none."""
    if not editor.can("window.work_done_progress"):
        return ""
    token = f"tfnanlint-{uuid.uuid4()}"
    try:
        await editor.work_done_progress.create_async(token)
    except JsonRpcException:
        return ""
    editor.work_done_progress.begin(token, types.WorkDoneProgressBegin(title=title))
    return token


def _done(editor: Editor, token: Any) -> None:
    if token:
        editor.work_done_progress.end(token, types.WorkDoneProgressEnd())
