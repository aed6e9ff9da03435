"""Two fixes in one scope, made in an editor: all at once, one after the other, and in the cells of
a notebook.
"""

from __future__ import annotations

import pytest
from test_lsp import actions, edited, open_notebook
from two_heads import CELLS, DISTILLATION, DISTILLED, NAMED

from tfnanlint.dev.wire import Client


@pytest.fixture
def wire(tmp_path):
    with Client(tmp_path) as client:
        client.uri = (tmp_path / "a.py").as_uri()
        yield client


def test_in_an_editor_all_at_once(wire):
    wire.open(wire.uri, DISTILLATION)
    wire.diagnostics(wire.uri, 1)
    (everything,) = actions(wire, wire.uri, ["source.fixAll"])
    assert edited(DISTILLATION, everything["edit"]["documentChanges"][0]["edits"]) == DISTILLED


def test_in_an_editor_one_after_the_other(wire):
    text = DISTILLATION
    wire.open(wire.uri, text)
    for version in (1, 2):
        wire.diagnostics(wire.uri, version)
        line = next(number for number, one in enumerate(text.splitlines()) if "math.log" in one)
        quick = next(
            one
            for one in actions(wire, wire.uri, ["quickfix"], line)
            if "log_softmax" in one["title"]
        )
        text = edited(text, quick["edit"]["documentChanges"][0]["edits"])
        wire.change(wire.uri, version + 1, {"text": text})
    assert text == DISTILLED


def test_in_an_open_notebook(wire):
    uris = open_notebook(wire, [f"{cell}\n" for cell in CELLS])
    wire.diagnostics(uris[1], 3)
    (everything,) = actions(wire, uris[1], ["notebook.source.fixAll.tfnanlint"], 0)
    changed = {
        one["textDocument"]["uri"]: one["edits"] for one in everything["edit"]["documentChanges"]
    }
    assert [edited(f"{CELLS[at]}\n", changed[uris[at]]) for at in (1, 2)] == [
        f"{cell}\n" for cell in NAMED
    ]
