"""The state of one connection: open sheets, settings, what the client can do, and what is sent to
it. The messages that it gets are handled in `features`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.verdicts import Verdict
from tfnanlint.lsp import answers, proofs
from tfnanlint.lsp.analyst import Analyst, Died, Failed
from tfnanlint.lsp.documents import Document, Documents, Snapshot, file_snapshot, notebook_snapshot
from tfnanlint.lsp.settings import EditorSettings, editor_settings
from tfnanlint.lsp.sheets import Answer, Sheet
from tfnanlint.lsp.worker import Ignore, Offer, Place, Repair
from tfnanlint.version import __version__

# seconds without a change after which what depends on the changed files is looked at again
AFTERTHOUGHT = 0.25
CONTENT_MODIFIED = -32801
WATCHED = ("**/*.py", "**/pyproject.toml", "**/tfnanlint.toml")
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithCells(
            notebook="jupyter-notebook", cells=[types.NotebookCellLanguage(language="python")]
        )
    ],
    save=True,
)


class Server(LanguageServer):
    """The state of one connection: open sheets, settings, and what the client can do."""

    def __init__(self, analyst: Analyst):
        super().__init__("tfnanlint", __version__, notebook_document_sync=_NOTEBOOKS)
        self.analyst = analyst
        self.proofs = proofs.Proofs()
        self.sheets: dict[str, Sheet] = {}
        # by folder; "" for all others
        self.settings: dict[str, EditorSettings] = {"": EditorSettings()}
        self._said: set[str] = set()
        self._changed: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None

    # What the client can do

    def can(self, path: str) -> Any:
        """A capability of the client by its path, such as `text_document.diagnostic`; None where it
        has none.
        """
        capability: Any = self.client_capabilities
        for name in path.split("."):
            capability = getattr(capability, name, None)
        return capability

    @property
    def pulled(self) -> bool:
        """Whether the client asks for diagnostics; then they are not sent, too."""
        return self.can("text_document.diagnostic") is not None

    @property
    def versioned(self) -> bool:
        return bool(self.can("workspace.workspace_edit.document_changes"))

    @property
    def resolves(self) -> bool:
        support = self.can("text_document.code_action.resolve_support")
        return support is not None and "edit" in support.properties

    @property
    def markdown(self) -> bool:
        return types.MarkupKind.Markdown in (self.can("text_document.hover.content_format") or ())

    @property
    def documents(self) -> Documents:
        return self.workspace

    # Sheets

    def open(self, uri: str) -> Sheet:
        """The sheet of a file that has just been opened."""
        document = self.documents.get_text_document(uri)
        sheet = Sheet(
            uri,
            self.analyst,
            lambda: file_snapshot(document, self.documents.encoding),
            lambda: self.place(uri),
            self.ready,
        )
        return self._opened(sheet)

    def open_notebook(self, uri: str) -> Sheet:
        sheet = Sheet(
            uri,
            self.analyst,
            lambda: notebook_snapshot(self.cells(uri), self.documents.encoding),
            lambda: self.place(uri),
            self.ready,
        )
        return self._opened(sheet)

    def _opened(self, sheet: Sheet) -> Sheet:
        former = self.sheets.get(sheet.uri)
        if former is not None:
            former.close()
        self.sheets[sheet.uri] = sheet
        return sheet

    def cells(self, uri: str) -> Iterator[Document]:
        """The documents of a notebook's Python cells, in order."""
        notebook = self.documents.get_notebook_document(notebook_uri=uri)
        for cell in notebook.cells if notebook is not None else ():
            document = self.documents.get_text_document(cell.document)
            if cell.kind is types.NotebookCellKind.Code and document.language_id == "python":
                yield document

    def sheet_of(self, uri: str) -> Sheet | None:
        """The sheet that shows a document: its own, or that of the notebook it is a cell of."""
        notebook = self.documents.get_notebook_document(cell_uri=uri)
        return self.sheets.get(notebook.uri if notebook is not None else uri)

    async def answer(self, uri: str) -> Answer | None:
        """What is found in a document as it is now; None when it is not open."""
        sheet = self.sheet_of(uri)
        return await sheet.settled() if sheet is not None else None

    async def repaired(self, uri: str) -> Answer | None:
        """What is found in a document as it is now, with all fixes; None when it is not open."""
        sheet = self.sheet_of(uri)
        while sheet is not None and (answer := await sheet.settled()) is not None:
            place = sheet.place()
            if answer.repaired or place is None or not answer.outcome.findings:
                return answer
            job = Offer(
                self.analyst.number(), place, answer.snapshot.texts, answer.outcome.findings
            )
            findings = await self._told(job)
            if sheet.answer is answer:
                sheet.answer = replace(
                    answer, outcome=replace(answer.outcome, findings=findings), repaired=True
                )
        return None

    def changed(self, uri: str) -> None:
        """A file's own findings are looked for at once, those of files that may depend on it when
        it comes to rest.
        """
        sheet = self.sheets.get(uri)
        if sheet is None:
            return
        path = to_fs_path(uri)
        if path is not None and path.endswith(".py"):
            self.show(path, self.documents.get_text_document(uri).source)
        sheet.touch(typed=True)
        self._changed.add(uri)
        self._think_again()

    def show(self, path: str, text: str | None) -> None:
        """From now on a text stands for a file; None: the file itself."""
        self.analyst.show(path, text)
        self.proofs.analyst.show(path, text)

    def forget(self) -> None:
        """Files on disk are looked at anew."""
        self.analyst.forget()
        self.proofs.analyst.forget()

    def all_changed(self, at_once: bool = False) -> None:
        """Something that every finding may depend on has changed."""
        self._changed.update(("", "*"))  # two that are not any sheet
        self._think_again(0.0 if at_once else AFTERTHOUGHT)

    def _think_again(self, seconds: float = AFTERTHOUGHT) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._touch_others)

    def _touch_others(self) -> None:
        changed, self._changed = self._changed, set()
        for uri, sheet in self.sheets.items():
            if changed != {uri}:
                sheet.touch()

    def ready(self, sheet: Sheet) -> None:
        """A new answer: send it, or let a client that asks know when it differs from what it was
        told.
        """
        problem = sheet.answer.outcome.problem
        if problem:
            self.complain(problem)
        by_document = answers.diagnostics(sheet.answer)
        if not self.pulled:
            self._publish(sheet, by_document)
            return
        name = answers.identity(one for part in by_document.values() for one in part)
        if (
            sheet.told is not None
            and sheet.told != name
            and self.can("workspace.diagnostics.refresh_support")
        ):
            self.workspace_diagnostic_refresh(None)
        sheet.told = name

    def _publish(self, sheet: Sheet, by_document: dict[str, list[types.Diagnostic]]) -> None:
        for part in sheet.answer.snapshot.parts:
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(part.uri, by_document[part.uri], part.version)
            )

    def withdraw(self, uris: list[str]) -> None:
        """Closed documents have no diagnostics."""
        if not self.pulled:
            for uri in uris:
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def complain(self, text: str) -> None:
        """Say once in the editor what is wrong."""
        if text not in self._said:
            self._said.add(text)
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Error, f"tfnanlint: {text}")
            )

    # Places and settings

    def place(self, uri: str) -> Place | None:
        """Where a document belongs; None when tfnanlint is switched off there."""
        path = to_fs_path(uri)
        folder = self.folder(path)
        settings = self.settings.get(folder, self.settings[""])
        if not settings.enable:
            return None
        if path is not None and self.proofs.wrote(path):
            return None
        if path is None:  # It was never saved: it stands in the first folder, beside no file.
            folder = next(iter(self.folders()), os.getcwd())
            path = os.path.join(folder, os.path.basename(uri.rpartition(":")[2]) or "untitled")
        return Place(
            path,
            folder or os.path.dirname(path),
            settings.table,
            settings.options,
            settings.python,
        )

    def folders(self) -> list[str]:
        paths = (to_fs_path(folder.uri) for folder in self.documents.folders.values())
        return [path for path in paths if path is not None] or (
            [self.documents.root_path] if self.documents.root_path else []
        )

    def folder(self, path: str | None) -> str:
        """The innermost folder of the workspace around a path; "" when there is none."""
        name = os.path.normcase(path or "")  # Windows takes capitals for small letters
        around = [
            folder
            for folder in self.folders()
            if name.startswith(os.path.normcase(folder).rstrip(os.sep) + os.sep)
        ]
        return max(around, key=len, default="")

    def take_settings(self, folder: str, value: Any) -> None:
        settings, problems = editor_settings(value)
        self.settings[folder] = settings
        self.proofs.look(settings.python)
        for problem in problems:
            self.complain(problem)

    async def fetch_settings(self) -> None:
        """Ask the client for the settings of each folder."""
        folders = list(self.documents.folders.values())
        items = [types.ConfigurationItem(section="tfnanlint")]
        items += [
            types.ConfigurationItem(scope_uri=folder.uri, section="tfnanlint") for folder in folders
        ]
        try:
            values = await self.workspace_configuration_async(types.ConfigurationParams(items))
        except JsonRpcException as error:
            self.complain(f"the editor does not tell its settings: {error}")
            return
        before = dict(self.settings)
        for path, value in zip(["", *(to_fs_path(folder.uri) or "" for folder in folders)], values):
            if value is not None:
                self.take_settings(path, value)
        if self.settings != before:
            self.all_changed(at_once=True)

    # Edits

    async def fix_all(self, uri: str) -> types.WorkspaceEdit | None:
        """The edit that makes every fix whose claim is safe, in a file or in all cells of a
        notebook.
        """
        sheet = self.sheets.get(uri)
        place = sheet.place() if sheet is not None else None
        answer = await sheet.settled() if place is not None else None
        if answer is None:
            return None
        repaired = await self._asked(
            answer, Repair(self.analyst.number(), place, answer.snapshot.texts)
        )
        for problem in repaired.problems:
            self.window_log_message(
                types.LogMessageParams(types.MessageType.Info, f"{place.path}: {problem}")
            )
        return (
            answers.workspace_edit(answer.snapshot, repaired.edits, self.versioned)
            if repaired.edits
            else None
        )

    async def hide(self, uri: str, data: dict) -> types.WorkspaceEdit | None:
        """The edit that adds a comment which hides a finding."""
        sheet = self.sheet_of(uri)
        answer = await sheet.settled() if sheet is not None else None
        if answer is None:
            return None
        if data["version"] != _versions(answer.snapshot):
            raise JsonRpcException("the text has changed since", CONTENT_MODIFIED)
        job = Ignore(
            self.analyst.number(), answer.snapshot.texts, data["code"], answers.span_of(data)
        )
        edit = await self._asked(answer, job)
        return (
            answers.workspace_edit(answer.snapshot, [edit], self.versioned)
            if edit is not None
            else None
        )

    async def prove(self, data: dict) -> None:
        """Begin to show the NaN of a finding."""
        sheet = self.sheet_of(data["uri"])
        answer = await sheet.settled() if sheet is not None else None
        place = sheet.place() if sheet is not None else None
        if answer is None or place is None:
            return
        wanted = data["code"], answers.span_of(data)
        for finding in answer.outcome.findings:
            if (finding.code, finding.span) == wanted:
                self.proofs.begin(self, place, answer, finding)
                return
        raise JsonRpcException("the text has changed since", CONTENT_MODIFIED)

    def verdict(self, uri: str, answer: Answer, finding: Finding) -> Verdict | None:
        """What executing a finding of a document has shown."""
        sheet = self.sheet_of(uri)
        return self.proofs.verdict(sheet.place() if sheet is not None else None, answer, finding)

    async def _told(self, job: Offer | Repair | Ignore) -> Any:
        try:
            return await self.analyst.ask(job, urgent=True)
        except (Died, Failed) as error:
            raise JsonRpcException(f"tfnanlint: {error}", -32803) from None

    async def _asked(self, answer: Answer, job: Repair | Ignore) -> Any:
        value = await self._told(job)
        current = [
            self.documents.get_text_document(part.uri).version for part in answer.snapshot.parts
        ]
        if current != _versions(answer.snapshot):
            raise JsonRpcException("the text has changed meanwhile", CONTENT_MODIFIED)
        return value


def _versions(snapshot: Snapshot) -> list[int | None]:
    return [part.version for part in snapshot.parts]


def actions(
    server: Server, answer: Answer, params: types.CodeActionParams
) -> Iterator[types.CodeAction]:
    """Actions for a range, those whose edit takes an analysis still without it."""
    uri, only = params.text_document.uri, params.context.only
    notebook = server.documents.get_notebook_document(cell_uri=uri)
    sheet = server.sheet_of(uri)
    can_prove = server.proofs.available(sheet.place() if sheet is not None else None)
    if answers.asked_for("quickfix", only):
        for finding, range_ in answers.here(answer, uri, params.range):
            shown = answers.diagnostic(finding, range_, answer)
            yield from answers.quick_fixes(answer, finding, shown, server.versioned)
            if answers.hideable(finding):
                data = {
                    "uri": uri,
                    "code": finding.code,
                    "span": [finding.span.start, finding.span.end],
                    "version": _versions(answer.snapshot),
                }
                if can_prove:
                    yield _showing(finding, shown, data)
                yield types.CodeAction(
                    title=f"{finding.code}: ignore on this line",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[shown],
                    data=data,
                )
    if not answers.safely_fixable(answer):
        return
    title = "tfnanlint: Fix all safe problems"
    if notebook is None and answers.asked_for(answers.FIX_ALL, only):
        yield types.CodeAction(title=title, kind=answers.FIX_ALL, data={"uri": uri})
    # Cells are asked for one by one, but all are fixed together, once.
    if notebook is not None and answers.asked_for(answers.NOTEBOOK_FIX_ALL, only):
        yield types.CodeAction(
            title=f"{title}, in all cells",
            kind=answers.NOTEBOOK_FIX_ALL,
            data={"uri": notebook.uri},
        )


def _showing(finding: Finding, shown: types.Diagnostic, data: dict) -> types.CodeAction:
    """The action that executes a finding and opens what shows it."""
    title = f"{finding.code}: show me the NaN"
    return types.CodeAction(
        title=title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[shown],
        command=types.Command(title, command=proofs.COMMAND, arguments=[data]),
    )


async def resolved(server: Server, action: types.CodeAction) -> types.CodeAction:
    """An action with its edit."""
    if action.edit is None and action.command is None and isinstance(action.data, dict):
        data = action.data
        action.edit = await (
            server.hide(data["uri"], data) if "code" in data else server.fix_all(data["uri"])
        )
    return action
