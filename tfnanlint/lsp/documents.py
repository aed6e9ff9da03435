"""What the editor shows, kept as the protocol's changes say: pygls splits lines where editors do
not, so this does it.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace as replace_field

from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from tfnanlint.diagnostics.findings import Edit
from tfnanlint.lsp.text import Text, replace, split
from tfnanlint.lsp.worker import Texts
from tfnanlint.syntax.source import Span


class Document(TextDocument):
    """An open text, as lines. Changes cost as much as the lines they touch."""

    def __init__(
        self,
        uri: str,
        source: str = "",
        version: int | None = None,
        language_id: str | None = None,
        encoding: str = "utf-16",
    ):
        super().__init__(uri, "", version, language_id)
        self._encoding = encoding
        self._lines = split(source)
        self._text: Text | None = None

    @property
    def text(self) -> Text:
        """The version that is open now."""
        if self._text is None:
            self._text = Text(self._lines)
        return self._text

    @property
    def source(self) -> str:
        return self.text.text

    @property
    def lines(self) -> tuple[str, ...]:
        return self.text.lines

    def apply_change(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Carry out one change event, of a range or of the whole text."""
        self._text = None
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = change.range.start, change.range.end
            replace(
                self._lines,
                (start.line, start.character),
                (end.line, end.character),
                change.text,
                self._encoding,
            )
        else:
            self._lines = split(change.text)


class Documents(Workspace):
    """The open documents; those that are not open are never read from disk."""

    @classmethod
    def instead_of(cls, workspace: Workspace) -> Documents:
        """A workspace with the folders and the encoding of one in which nothing is open yet."""
        return cls(
            workspace.root_uri,
            types.TextDocumentSyncKind.Incremental,
            list(workspace.folders.values()),
            workspace.position_encoding,
        )

    @property
    def encoding(self) -> str:
        encoding = self.position_encoding
        return str(getattr(encoding, "value", encoding))

    def _create_text_document(
        self,
        doc_uri: str,
        source: str | None = None,
        version: int | None = None,
        language_id: str | None = None,
    ) -> TextDocument:
        return Document(doc_uri, source or "", version, language_id, self.encoding)


@dataclass(frozen=True, slots=True)
class Part:
    """A document's version, and where it begins in the text that is analysed."""

    uri: str
    version: int | None
    text: Text
    start: int

    @property
    def end(self) -> int:
        return self.start + sum(map(len, self.text.lines))


class Snapshot:
    """What is analysed at once, at one moment: a file, or the code cells of a notebook. `texts`
    goes to the worker.

    Where cells begin in the text in which the worker counts is known when it has answered: see
    `placed`.
    """

    def __init__(self, texts: Texts, parts: Iterable[Part], encoding: str):
        self.texts = texts
        self.parts = tuple(parts)
        self._encoding = encoding
        self._starts = [part.start for part in self.parts]

    def placed(self, starts: tuple[int, ...]) -> Snapshot:
        """The same with each cell where it begins; unchanged when nothing is said."""
        if not starts:
            return self
        return Snapshot(
            self.texts,
            (replace_field(part, start=at) for part, at in zip(self.parts, starts)),
            self._encoding,
        )

    def locate(self, span: Span) -> tuple[Part, types.Range] | None:
        """The document that a span lies in, and its range there; None when it lies in none, or in
        several.
        """
        at = bisect.bisect_right(self._starts, span.start) - 1
        if at < 0 or span.end > self.parts[at].end:
            return None
        part = self.parts[at]
        start, end = part.text.range(
            Span(span.start - part.start, span.end - part.start), self._encoding
        )
        return part, types.Range(types.Position(*start), types.Position(*end))

    def offset(self, uri: str, position: types.Position) -> int | None:
        """Where a position of a document is in the text."""
        for part in self.parts:
            if part.uri == uri:
                return part.start + part.text.offset(
                    (position.line, position.character), self._encoding
                )
        return None

    def text_edits(self, edits: Iterable[Edit]) -> dict[Part, list[types.TextEdit]] | None:
        """Edits by document, each document's in order; None when one of them cannot be made in one
        document.
        """
        by_part: dict[Part, list[types.TextEdit]] = {}
        for edit in sorted(edits, key=lambda edit: edit.span):
            located = self.locate(edit.span)
            if located is None:
                return None
            part, range_ = located
            by_part.setdefault(part, []).append(types.TextEdit(range_, edit.text))
        return by_part


def file_snapshot(document: Document, encoding: str) -> Snapshot:
    """A file as it is open."""
    return Snapshot(
        document.source, [Part(document.uri, document.version, document.text, 0)], encoding
    )


def notebook_snapshot(documents: Iterable[Document], encoding: str) -> Snapshot:
    """The code cells of a notebook as they are open."""
    parts = [Part(document.uri, document.version, document.text, 0) for document in documents]
    return Snapshot(tuple(part.text.text for part in parts), parts, encoding)
