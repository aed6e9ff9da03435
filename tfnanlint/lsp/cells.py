"""A notebook that an editor holds, as one text: its Python cells in order, what is no Python in them blanked in place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tfnanlint.lsp.documents import Document, Part, Snapshot
from tfnanlint.source import Source, Unreadable

# Cells of another language, or whose code runs elsewhere. After the other `%%` magics stands Python.
_FOREIGN = re.compile(r"\s*%%(?!(?:time|timeit|capture|prun|debug|tensorflow_version)\b)")
_MAGIC = re.compile(r"^([ \t]*)([%!?])([^\r\n]*)", re.M)
_ASSIGNED = re.compile(r"^([ \t]*[\w.,\[\] \t]+=[ \t]*)([%!])([^\r\n=][^\r\n]*)", re.M)
_QUESTION = re.compile(r"^([ \t]*[\w.]+)(\?\??)([ \t]*)$", re.M)


def notebook_snapshot(documents: Iterable[Document], encoding: str) -> Snapshot:
    """The cells of a notebook. One that is no Python, or cannot be parsed, is there as blank lines: it silences only itself."""
    texts, parts, start = [], [], 0
    for document in documents:
        parts.append(Part(document.uri, document.version, document.text, start))
        source = document.source
        code = python_of(source)
        end = "" if code.endswith(("\n", "\r")) else "\n"
        texts.append(code + end)
        start += len(code) + len(end)
    return Snapshot("".join(texts), parts, encoding)


def python_of(cell: str) -> str:
    """The Python of a cell, every character where it was."""
    if _FOREIGN.match(cell):
        return _blank(cell)
    code = cell
    if any(mark in cell for mark in "%!?"):
        # `0#` is a statement and a comment wherever a magic may stand, also alone in an indented block.
        code = _MAGIC.sub(lambda found: found[1] + _masked(found[2] + found[3]), code)
        code = _ASSIGNED.sub(lambda found: found[1] + _masked(found[2] + found[3]), code)
        code = _QUESTION.sub(lambda found: found[1] + "#" * len(found[2]) + found[3], code)
    try:
        Source("", code).tree
    except Unreadable:
        return _blank(cell)
    return code


def _masked(text: str) -> str:
    return "0" if len(text) == 1 else "0#" + text[2:]


def _blank(cell: str) -> str:
    return re.sub(r"[^\r\n]", " ", cell)
