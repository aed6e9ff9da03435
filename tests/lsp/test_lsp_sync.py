"""The server's copy of a text is the editor's, after any edits: against a model of one line of
code, and over the wire.
"""

from __future__ import annotations

import random
import re

import pytest

from tfnanlint.lsp.text import Text, replace, split

ENCODINGS = ("utf-8", "utf-16", "utf-32")
# What lines end at and what they do not end at, characters of one to four bytes, a lone surrogate,
# a combining mark.
PIECES = [
    "a",
    "bc",
    " ",
    "\n",
    "\n",
    "\r",
    "\r\n",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    "é",
    "…",
    "😀",
    "e\u0301",
    "\ud83d",
]
_END = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")


def model_lines(text):
    return _END.split(text)


def position(text, offset, encoding):
    """The model: line and column of an offset, from the text before it alone."""
    before = model_lines(text[:offset])
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    codec = encoding if size == 1 else f"{encoding}-le"
    return len(before) - 1, len(before[-1].encode(codec, "surrogatepass")) // size


def random_text(chance, longest):
    return "".join(chance.choice(PIECES) for _ in range(chance.randrange(longest)))


def random_edit(chance, text):
    """Two places, neither inside of a line end, and the text to put between them."""
    places = [at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n" or at == 0]
    start, end = sorted((chance.choice(places), chance.choice(places)))
    if chance.random() < 0.4:
        end = start
    return start, end, random_text(chance, 4)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_random_edits_against_the_model(encoding):
    chance = random.Random(f"text {encoding}")
    for _ in range(4000):
        text = random_text(chance, 9)
        lines = split(text)
        assert lines == model_lines(text)
        for _ in range(3):
            start, end, new = random_edit(chance, text)
            assert Text(lines).place(start, encoding) == position(text, start, encoding)
            assert Text(lines).offset(position(text, end, encoding), encoding) == end
            replace(
                lines, position(text, start, encoding), position(text, end, encoding), new, encoding
            )
            text = text[:start] + new + text[end:]
            assert lines == model_lines(text)


def test_positions_outside_of_the_text_are_its_ends():
    text = Text(split("ab\r\ncd"))
    assert [text.offset(place, "utf-16") for place in ((0, 99), (1, 99), (7, 0), (0, 2))] == [
        2,
        6,
        6,
        2,
    ]


def test_a_place_inside_of_a_character_is_its_start():
    assert Text(split("😀b")).offset((0, 1), "utf-16") == 0
    assert Text(split("😀b")).offset((0, 3), "utf-8") == 0
    assert Text(split("😀b")).offset((0, 5), "utf-8") == 2


def cut(text, start, end, encoding):
    (row, column), (last_row, last_column) = (
        position(text, start, encoding),
        position(text, end, encoding),
    )
    return {
        "start": {"line": row, "character": column},
        "end": {"line": last_row, "character": last_column},
    }


@pytest.fixture(params=ENCODINGS)
def wire(request, tmp_path):
    pytest.importorskip(
        "pygls", reason="the extra `lsp` is not installed: pip install 'tfnanlint[lsp]'"
    )
    from tfnanlint.dev.wire import Client

    with Client(tmp_path, encoding=request.param) as client:
        assert client.capabilities["positionEncoding"] == request.param
        client.encoding = request.param
        yield client


def test_random_edits_over_the_wire(wire):
    chance = random.Random(f"wire {wire.encoding}")
    text = "".join(random_text(chance, 30) for _ in range(10))
    wire.open("file:///nowhere/a.py", text)
    for version in range(2, 150):
        changes = []
        for _ in range(chance.randrange(1, 4)):
            start, end, new = random_edit(chance, text)
            changes.append({"range": cut(text, start, end, wire.encoding), "text": new})
            text = text[:start] + new + text[end:]
        if chance.random() < 0.02:
            text = random_text(chance, 60)
            changes.append({"text": text})
        wire.change("file:///nowhere/a.py", version, *changes)
        if version % 10 == 0:
            assert wire.request("tfnanlint/text", {"uri": "file:///nowhere/a.py"}) == {
                "text": text,
                "version": version,
            }


def test_random_edits_of_cells_over_the_wire(wire):
    """Cells are edited, inserted, removed and moved; each keeps its own text."""
    chance = random.Random(f"cells {wire.encoding}")
    notebook, cells, made = "file:///nowhere/n.ipynb", [], 0
    texts = {}
    wire.notify(
        "notebookDocument/didOpen",
        {
            "notebookDocument": {
                "uri": notebook,
                "notebookType": "jupyter-notebook",
                "version": 0,
                "cells": [],
            },
            "cellTextDocuments": [],
        },
    )
    for version in range(1, 120):
        at = chance.randrange(len(cells) + 1)
        if not cells or chance.random() < 0.2:
            uri, made = f"vscode-notebook-cell:/nowhere/n.ipynb#{made}", made + 1
            texts[uri] = random_text(chance, 20)
            change = {
                "structure": {
                    "array": {
                        "start": at,
                        "deleteCount": 0,
                        "cells": [{"kind": 2, "document": uri}],
                    },
                    "didOpen": [
                        {"uri": uri, "languageId": "python", "version": 0, "text": texts[uri]}
                    ],
                }
            }
            cells.insert(at, uri)
        elif chance.random() < 0.1:
            at = chance.randrange(len(cells))
            change = {
                "structure": {
                    "array": {"start": at, "deleteCount": 1},
                    "didClose": [{"uri": cells[at]}],
                }
            }
            texts.pop(cells.pop(at))
        else:
            uri = chance.choice(cells)
            start, end, new = random_edit(chance, texts[uri])
            change = {
                "textContent": [
                    {
                        "document": {"uri": uri, "version": version},
                        "changes": [
                            {"range": cut(texts[uri], start, end, wire.encoding), "text": new}
                        ],
                    }
                ]
            }
            texts[uri] = texts[uri][:start] + new + texts[uri][end:]
        wire.notify(
            "notebookDocument/didChange",
            {
                "notebookDocument": {"uri": notebook, "version": version},
                "change": {"cells": change},
            },
        )
    assert len(texts) > 5
    assert {uri: wire.request("tfnanlint/text", {"uri": uri})["text"] for uri in texts} == texts
