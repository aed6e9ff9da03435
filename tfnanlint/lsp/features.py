"""The handlers of the protocol's messages, which ask `server`, `sheets` and `answers`; and the
start of the server.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tfnanlint.lsp import answers
from tfnanlint.lsp.analyst import Analyst
from tfnanlint.lsp.documents import Documents
from tfnanlint.lsp.proofs import COMMAND
from tfnanlint.lsp.server import WATCHED, Server, actions, resolved


def server_of(analyst: Analyst) -> Server:
    """A server with all its features, not yet connected."""
    server = Server(analyst)
    for register in (_lifecycle, _texts, _notebooks, _workspace, _requests):
        register(server)
    return server


def _lifecycle(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        # pygls has no other way to give it one
        ls.protocol._workspace = Documents.instead_of(ls.workspace)
        options = params.initialization_options
        if isinstance(options, dict):
            ls.take_settings("", options.get("settings", options))

    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, params: types.InitializedParams) -> None:
        wanted = []
        if ls.can("workspace.did_change_watched_files.dynamic_registration"):
            watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
            wanted.append(
                types.Registration(
                    "tfnanlint-files",
                    types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                    types.DidChangeWatchedFilesRegistrationOptions(watchers),
                )
            )
        if ls.can("workspace.did_change_configuration.dynamic_registration"):
            wanted.append(
                types.Registration(
                    "tfnanlint-settings",
                    types.WORKSPACE_DID_CHANGE_CONFIGURATION,
                    types.DidChangeConfigurationRegistrationOptions(section="tfnanlint"),
                )
            )
        try:
            if wanted:
                await ls.client_register_capability_async(types.RegistrationParams(wanted))
        except JsonRpcException as error:  # Then changes on disk are seen when something is saved.
            ls.window_log_message(
                types.LogMessageParams(types.MessageType.Warning, f"not registered: {error}")
            )
        if ls.can("workspace.configuration"):
            await ls.fetch_settings()

    @server.feature(types.SHUTDOWN)
    def shutdown(ls: Server, params: None) -> None:
        for sheet in ls.sheets.values():
            sheet.close()
        ls.analyst.close()
        ls.proofs.close()


def _texts(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        ls.open(params.text_document.uri)
        ls.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        ls.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        ls.forget()  # Clients that watch no files tell of changes on disk only so.
        ls.all_changed()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        _close(ls, params.text_document.uri, [params.text_document.uri])


def _close(server: Server, uri: str, shown: list[str]) -> None:
    sheet = server.sheets.pop(uri, None)
    if sheet is None:
        return
    sheet.close()
    place = sheet.place()
    if place is not None and uri.startswith("file:"):
        server.show(place.path, None)
    server.withdraw(shown)
    server.all_changed()


def _notebooks(server: Server) -> None:
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def did_open(ls: Server, params: types.DidOpenNotebookDocumentParams) -> None:
        ls.open_notebook(params.notebook_document.uri).touch()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change(ls: Server, params: types.DidChangeNotebookDocumentParams) -> None:
        sheet = ls.sheets.get(params.notebook_document.uri)
        if sheet is not None:
            structure = params.change.cells.structure if params.change.cells is not None else None
            if structure is not None and structure.did_close:
                ls.withdraw([cell.uri for cell in structure.did_close])
            sheet.touch()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def did_save(ls: Server, params: types.DidSaveNotebookDocumentParams) -> None:
        ls.forget()
        ls.all_changed()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close(ls: Server, params: types.DidCloseNotebookDocumentParams) -> None:
        _close(ls, params.notebook_document.uri, [cell.uri for cell in params.cell_text_documents])


def _workspace(server: Server) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(
        ls: Server, params: types.DidChangeConfigurationParams
    ) -> None:
        if ls.can("workspace.configuration"):
            await ls.fetch_settings()
        elif isinstance(params.settings, dict):
            ls.take_settings("", params.settings)
            ls.all_changed(at_once=True)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        ls.forget()
        ls.all_changed()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_workspace_folders(
        ls: Server, params: types.DidChangeWorkspaceFoldersParams
    ) -> None:
        if ls.can("workspace.configuration"):
            await ls.fetch_settings()
        ls.all_changed(at_once=True)


def _requests(server: Server) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(
            identifier=answers.SOURCE, inter_file_dependencies=True, workspace_diagnostics=False
        ),
    )
    async def pull(
        ls: Server, params: types.DocumentDiagnosticParams
    ) -> types.DocumentDiagnosticReport:
        uri = params.text_document.uri
        answer = await ls.answer(uri)
        items = answers.diagnostics(answer).get(uri, []) if answer is not None else []
        name = answers.identity(items)
        if params.previous_result_id == name:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=name)
        return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=name)

    kinds = [types.CodeActionKind.QuickFix, answers.FIX_ALL, answers.NOTEBOOK_FIX_ALL]

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True),
    )
    async def code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        answer = await ls.answer(params.text_document.uri)
        if answer is not None and answers.about_fixes(answer, params):
            answer = await ls.repaired(params.text_document.uri)
        offered = list(actions(ls, answer, params)) if answer is not None else []
        if ls.resolves:
            return offered
        return [
            action
            for action in [await resolved(ls, one) for one in offered]
            if action.edit is not None or action.command is not None
        ]

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(ls: Server, params: types.CodeAction) -> types.CodeAction:
        return await resolved(ls, params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        answer = await ls.answer(params.text_document.uri)
        if answer is not None and answers.at(answer, params.text_document.uri, params.position):
            answer = await ls.repaired(params.text_document.uri)
        return (
            answers.hover(
                answer,
                params.text_document.uri,
                params.position,
                ls.markdown,
                lambda finding: ls.verdict(params.text_document.uri, answer, finding),
            )
            if answer is not None
            else None
        )

    @server.command(COMMAND)
    async def show_nan(ls: Server, data: dict) -> None:
        await ls.prove(data)

    @server.feature(
        types.TEXT_DOCUMENT_DOCUMENT_LINK, types.DocumentLinkOptions(resolve_provider=False)
    )
    async def document_link(
        ls: Server, params: types.DocumentLinkParams
    ) -> list[types.DocumentLink]:
        answer = await ls.answer(params.text_document.uri)
        return list(answers.links(answer, params.text_document.uri)) if answer is not None else []

    @server.feature("tfnanlint/text")
    def text(ls: Server, params: Any) -> dict[str, Any]:
        """What the server takes a document to be: for reports of bugs, and for tests that compare
        it with an editor's.
        """
        document = ls.documents.get_text_document(params.uri)
        return {"text": document.source, "version": document.version}


def serve(analyst: Analyst, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serve one client until it is gone. What is logged goes to standard error, where editors keep
    it.
    """
    logging.basicConfig(
        stream=sys.stderr,
        level=os.environ.get("TFNANLINT_LSP_LOG", "ERROR").upper(),
        format="%(asctime)s %(name)s %(levelname)s %(message)s",
    )
    server = server_of(analyst)
    try:
        server.start_io(stdin, stdout)
    finally:
        server.proofs.close()
        analyst.close()
