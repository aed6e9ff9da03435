"""The language server as editors use it: with the capabilities of VS Code, Neovim and Emacs, and
over a bare pipe.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WHY = "the extra `test` is not installed: pip install 'tfnanlint[lsp]' pytest-lsp"
pytest.importorskip("pygls", reason=WHY)
pytest_lsp = pytest.importorskip("pytest_lsp", reason=WHY)
types = pytest.importorskip("lsprotocol.types", reason=WHY)

import tfnanlint  # noqa: E402
from tfnanlint.dev.wire import VERSIONED, Client  # noqa: E402

BAD = "import tensorflow as tf\n\n\ndef f(x):\n    s = '😀'; return tf.math.log(tf.nn.softmax(x))\n"
GOOD = BAD.replace("tf.math.log(tf.nn.softmax(x))", "tf.nn.log_softmax(x)")
HEAD = "import tensorflow as tf\n\n\ndef f(x):\n    "
COLUMN = {"utf-8": 23, "utf-16": 21, "utf-32": 20}  # of `tf.math.log` in BAD


def edited(text, edits, encoding="utf-16"):
    """A text after text edits of the protocol, as dictionaries."""
    from tfnanlint.lsp.text import Text, split

    lines = Text(split(text))
    for edit in reversed(edits):
        start, end = (
            lines.offset((at["line"], at["character"]), encoding)
            for at in (edit["range"]["start"], edit["range"]["end"])
        )
        text = text[:start] + edit["newText"] + text[end:]
    return text


# ---------------------------------------------------------------------------------------------------------
# The capabilities of real clients

PROFILES = {"visual_studio_code": "utf-16", "neovim": "utf-8", "emacs": "utf-32"}


@pytest_lsp.fixture(
    params=list(PROFILES),
    config=pytest_lsp.ClientServerConfig(server_command=[sys.executable, "-m", "tfnanlint", "lsp"]),
)
async def editor(request, lsp_client: pytest_lsp.LanguageClient, tmp_path):
    lsp_client.profile = request.param
    lsp_client.uri = (tmp_path / "a.py").as_uri()
    lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: None)
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=pytest_lsp.client_capabilities(request.param),
            root_uri=tmp_path.as_uri(),
            workspace_folders=[types.WorkspaceFolder(tmp_path.as_uri(), "here")],
        )
    )
    yield
    await lsp_client.shutdown_session()


async def seen(client, uri, version):
    """The diagnostics that an editor shows: pulled where it pulls, else those that were sent."""
    if client.capabilities.text_document.diagnostic is not None:
        answer = await client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        )
        return answer.items
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return client.diagnostics[uri]


def opened(client, text):
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(
            types.TextDocumentItem(client.uri, types.LanguageKind.Python, 1, text)
        )
    )


async def asked(client, only, range_):
    """The actions of a kind that edit, each with its edit."""
    found = await client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(client.uri), range_, types.CodeActionContext([], only=only)
        )
    )
    return [
        one if one.edit is not None else await client.code_action_resolve_async(one)
        for one in found
        if one.command is None
    ]


def after(client, action, text):
    changes = action.edit.document_changes
    if changes is None:
        edits = action.edit.changes[client.uri]
    else:
        assert changes[0].text_document.version == 1
        edits = changes[0].edits
    plain = [
        {
            "range": {"start": vars_of(one.range.start), "end": vars_of(one.range.end)},
            "newText": one.new_text,
        }
        for one in edits
    ]
    return edited(text, plain, PROFILES[client.profile])


def vars_of(position):
    return {"line": position.line, "character": position.character}


@pytest.mark.asyncio
async def test_see_explain_and_fix(editor):
    client = editor
    opened(client, BAD)
    (found,) = await seen(client, client.uri, 1)
    assert (found.code, found.source, found.range.start.line) == ("TFN301", "tfnanlint", 4)
    assert found.range.start.character == COLUMN[PROFILES[client.profile]]
    assert (
        found.code_description.href.startswith("file://")
        and "log-softmax" in found.code_description.href
    )
    fix, *_, hide = await asked(client, ["quickfix"], found.range)
    assert fix.title == "TFN301: use log_softmax of the logits (same result)" and fix.is_preferred
    assert after(client, fix, BAD) == GOOD
    assert hide.title == "TFN301: ignore on this line"
    assert after(client, hide, BAD).splitlines()[4].endswith("(x))  # tfn: ignore[TFN301]")
    for only in (["source"], ["source.fixAll"], ["source.fixAll.tfnanlint"]):
        (everything,) = await asked(
            client, only, types.Range(types.Position(0, 0), types.Position(0, 0))
        )
        assert (
            everything.kind == "source.fixAll.tfnanlint" and after(client, everything, BAD) == GOOD
        )
    assert await asked(client, ["refactor"], found.range) == []
    hover = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(client.uri), found.range.start)
    )
    for part in ("TFN301", "can underflow to 0", "between 0 and 1", "log\\_softmax", "line 5"):
        assert part in hover.contents.value or part.replace("\\", "") in hover.contents.value


CALLED = """import tensorflow as tf


def entropy(p):
    return -tf.reduce_sum(p * tf.math.log(p))


def step(x):
    return entropy(tf.nn.softmax(x))
"""


@pytest.mark.asyncio
async def test_the_hover_names_the_calls_of_a_step(editor):
    client = editor
    opened(client, CALLED)
    (found,) = await seen(client, client.uri, 1)
    hover = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(client.uri), found.range.start)
    )
    assert "between 0 and 1; through entropy() on line 9" in hover.contents.value


@pytest.mark.asyncio
async def test_follow_edits(editor):
    client = editor
    opened(client, BAD)
    (found,) = await seen(client, client.uri, 1)
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, client.uri),
            [types.TextDocumentContentChangePartial(found.range, "x")],
        )
    )
    assert list(await seen(client, client.uri, 2)) == []


# ---------------------------------------------------------------------------------------------------------
# Over a pipe


@pytest.fixture
def wire(tmp_path):
    with Client(tmp_path) as client:
        client.uri = (tmp_path / "a.py").as_uri()
        yield client


def codes(found):
    return [one["code"] for one in found]


def actions(client, uri, only=None, line=4):
    place = {"line": line, "character": 0}
    context = {"diagnostics": []} if only is None else {"diagnostics": [], "only": only}
    return client.request(
        "textDocument/codeAction",
        {"textDocument": {"uri": uri}, "range": {"start": place, "end": place}, "context": context},
    )


def test_alternatives_are_actions_of_their_own(wire):
    text = HEAD + "return tf.math.log(tf.reduce_sum(tf.exp(x)))\n"
    wire.open(wire.uri, text)
    _, found = wire.diagnostics(wire.uri, 1)
    titles = [
        one["title"]
        for one in actions(wire, wire.uri, ["quickfix"])
        if "ignore" not in one["title"] and "command" not in one
    ]
    assert titles and len(set(titles)) == len(titles)
    assert all(
        title.startswith("TFN")
        and title.rpartition("(")[2].split(":")[0].rstrip(")")
        in ("same result", "same result where finite", "changes results")
        for title in titles
    )


def test_the_configuration_chooses_among_the_fixes(wire, tmp_path):
    (tmp_path / "tfnanlint.toml").write_text('[rules.TFN305]\nfix = "logsumexp"\n')
    divided = HEAD + "return tf.reduce_sum(x) / tf.reduce_sum(tf.cast(x > 0, tf.float32))\n"
    wire.open(wire.uri, divided)
    _, found = wire.diagnostics(wire.uri, 1)
    assert codes(found) == ["TFN102"]
    (fix,) = [one["title"] for one in actions(wire, wire.uri, ["quickfix"]) if "edit" in one][:1]
    assert "keep the count" in fix or "return 0" in fix
    (tmp_path / "tfnanlint.toml").write_text('[rules.TFN102]\nfix = "epsilon"\n')
    wire.notify(
        "workspace/didChangeWatchedFiles",
        {"changes": [{"uri": (tmp_path / "tfnanlint.toml").as_uri(), "type": 2}]},
    )
    wait_for(
        lambda: all(
            "ignore" in one["title"] or "command" in one
            for one in actions(wire, wire.uri, ["quickfix"])
        )
    )


def test_fix_all_takes_safe_claims_only(wire, tmp_path):
    (tmp_path / "tfnanlint.toml").write_text("unsafe-fixes = true\n")
    shifted = HEAD + "return tf.math.log(tf.nn.relu(x))\n"
    wire.open(wire.uri, shifted)
    _, found = wire.diagnostics(wire.uri, 1)
    assert codes(found) == ["TFN101"]
    quick = actions(wire, wire.uri, ["quickfix"])
    assert any("(changes results" in one["title"] and not one.get("isPreferred") for one in quick)
    assert actions(wire, wire.uri, ["source.fixAll"]) == []
    both = shifted + "\n\ndef g(x):\n    return tf.math.log(tf.nn.softmax(x))\n"
    wire.change(wire.uri, 2, {"text": both})
    (everything,) = actions(wire, wire.uri, ["source.fixAll"])
    (change,) = everything["edit"]["documentChanges"]
    assert edited(both, change["edits"]) == both.replace(
        "tf.math.log(tf.nn.softmax(x))", "tf.nn.log_softmax(x)"
    )


def test_ignore_joins_the_comment_that_is_there(wire):
    for before, after in [
        (
            "return tf.math.log(tf.nn.softmax(x))  # tfn: ignore[TFN999]",
            "return tf.math.log(tf.nn.softmax(x))  # tfn: ignore[TFN999, TFN301]",
        ),
        (
            "return tf.math.log(tf.nn.softmax(x))  # a reason ",
            "return tf.math.log(tf.nn.softmax(x))  # a reason  # tfn: ignore[TFN301]",
        ),
        (
            "s = tf.math.log(tf.nn.softmax(x)); t = '''\n    '''",
            "s = tf.math.log(tf.nn.softmax(x)); t = '''\n    '''  # tfn: ignore[TFN301]",
        ),
        (
            "s = tf.math.log(tf.nn.softmax(x)) \\\n        + 1",
            "s = tf.math.log(tf.nn.softmax(x)) \\\n        + 1  # tfn: ignore[TFN301]",
        ),
    ]:
        text = HEAD + before + "\n"
        wire.open(wire.uri, text)
        _, found = wire.diagnostics(wire.uri, 1, lambda found: "TFN301" in codes(found))
        (hide,) = [
            one
            for one in actions(wire, wire.uri, ["quickfix"])
            if one["title"] == "TFN301: ignore on this line"
        ]
        (change,) = hide["edit"]["documentChanges"]
        new = edited(text, change["edits"])
        assert new == HEAD + after + "\n"
        wire.change(wire.uri, 2, {"text": new})
        _, left = wire.diagnostics(wire.uri, 2)
        assert "TFN301" not in codes(left)
        wire.notify("textDocument/didClose", {"textDocument": {"uri": wire.uri}})
        wire.diagnostics(wire.uri, until=lambda found: not found)


def test_links_lead_to_the_page_of_the_rule(wire):
    wire.open(wire.uri, HEAD + "return tf.math.log(tf.nn.softmax(x))  # tfn: ignore[TFN301]\n")
    (link,) = wire.request("textDocument/documentLink", {"textDocument": {"uri": wire.uri}})
    assert link["range"]["start"]["line"] == 4
    page = Path(link["target"].removeprefix("file://")).read_text("utf-8")
    assert page.startswith("# TFN301 log-softmax")


def test_versions_of_a_burst_end_with_the_last(wire):
    wire.open(wire.uri, BAD)
    wire.diagnostics(wire.uri, 1)
    for version in range(2, 52):
        wire.change(
            wire.uri,
            version,
            {
                "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
                "text": "#\n",
            },
        )
    _, found = wire.diagnostics(wire.uri, 51)
    assert [(one["code"], one["range"]["start"]["line"]) for one in found] == [("TFN301", 54)]


def test_a_change_is_confirmed_where_it_is_felt(wire):
    """What was typed is judged at once, what depends on it a moment later."""
    text = "import tensorflow as tf\n\nEPS = 2.0\n\n\ndef f(x):\n    return tf.math.log(tf.nn.relu(x) + EPS)\n"
    wire.open(wire.uri, text)
    assert wire.diagnostics(wire.uri, 1)[1] == []
    wire.change(wire.uri, 2, {"text": text.replace("2.0", "0.0")})
    (found,) = wire.diagnostics(wire.uri, until=bool)[1]
    assert found["range"]["start"]["line"] == 6


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_a_text_at_rest_has_the_findings_of_the_command_line(wire, tmp_path, seed):
    dice = random.Random(seed)
    programs = sorted((Path(__file__).parents[2] / "fixtures" / "programs").glob("*.py"))
    text, version = dice.choice(programs).read_text("utf-8") + BAD, 1
    wire.open(wire.uri, text)
    for _ in range(12):
        at, version = dice.randrange(len(text)), version + 1
        text = (
            text[:at]
            + dice.choice(("", "x", "\n", "# see\n", " + 1e-7", "    y = tf.math.log(x)\n"))
            + text[at + dice.choice((0, 0, 1, 9)) :]
        )
        wire.change(wire.uri, version, {"text": text})
        time.sleep(dice.choice((0.0, 0.05, 0.6)))
    checked = tfnanlint.check(text, str(tmp_path / "a.py"))
    expected = sorted(
        (one.code, checked.source.position(one.span.start)[0]) for one in checked.findings
    )
    shown = None
    while shown != expected:
        found = wire.diagnostics(wire.uri, version, timeout=10.0)[1]
        shown = sorted(
            (one["code"], one["range"]["start"]["line"] + 1)
            for one in found
            if "(before the syntax error)" not in one["message"]  # kept from an earlier text
        )
    time.sleep(1.0)
    assert wire.published.empty()


def test_pulled_diagnostics_say_when_nothing_changed(tmp_path):
    capabilities = {**VERSIONED, "textDocument": {"diagnostic": {"dynamicRegistration": False}}}
    with Client(tmp_path, capabilities) as client:
        uri = (tmp_path / "a.py").as_uri()
        client.open(uri, BAD)
        first = client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        assert first["kind"] == "full" and codes(first["items"]) == ["TFN301"]
        again = client.request(
            "textDocument/diagnostic",
            {"textDocument": {"uri": uri}, "previousResultId": first["resultId"]},
        )
        assert again == {"kind": "unchanged", "resultId": first["resultId"]}
        client.change(uri, 2, {"text": GOOD})
        last = client.request(
            "textDocument/diagnostic",
            {"textDocument": {"uri": uri}, "previousResultId": first["resultId"]},
        )
        assert (last["kind"], last["items"]) == ("full", [])
        assert client.published.empty(), "a client that pulls is not sent diagnostics, too"


USER = "import tensorflow as tf\nfrom helper import floor\n\n\ndef f(x):\n    return tf.math.log(floor(tf.nn.relu(x)))\n"
SAFE = "import tensorflow as tf\n\n\ndef floor(x):\n    return tf.maximum(x, 0.5)\n"
UNSAFE = SAFE.replace("tf.maximum(x, 0.5)", "x")


def test_another_buffer_changes_what_is_known(wire, tmp_path):
    (tmp_path / "helper.py").write_text(SAFE)
    helper = (tmp_path / "helper.py").as_uri()
    wire.open(wire.uri, USER)
    assert wire.diagnostics(wire.uri, 1)[1] == []
    wire.open(helper, SAFE)
    wire.change(helper, 2, {"text": UNSAFE})
    assert codes(wire.diagnostics(wire.uri, until=bool)[1]) == ["TFN101"]
    wire.notify("textDocument/didClose", {"textDocument": {"uri": helper}})
    wire.diagnostics(wire.uri, until=lambda found: not found)


def test_a_file_changes_on_disk(wire, tmp_path):
    wire.open(wire.uri, USER)
    wire.diagnostics(wire.uri, 1)
    for text, wanted in ((UNSAFE, ["TFN101"]), (SAFE, []), (UNSAFE, ["TFN101"])):
        (tmp_path / "helper.py").write_text(text)
        wire.notify(
            "workspace/didChangeWatchedFiles",
            {"changes": [{"uri": (tmp_path / "helper.py").as_uri(), "type": 2}]},
        )
        _, found = wire.diagnostics(wire.uri)
        assert codes(found) == wanted and not any(
            "nothing is known" in one["message"] for one in found
        )


def test_a_client_that_pulls_is_asked_to_pull_again(tmp_path):
    (tmp_path / "helper.py").write_text(SAFE)
    capabilities = {
        "workspace": {"diagnostics": {"refreshSupport": True}},
        "textDocument": {"diagnostic": {}},
    }
    with Client(tmp_path, capabilities) as client:
        uri = (tmp_path / "a.py").as_uri()
        client.open(uri, USER)
        assert (
            client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"] == []
        )
        (tmp_path / "helper.py").write_text(UNSAFE)
        client.notify("workspace/didChangeWatchedFiles", {"changes": []})
        wait_for(
            lambda: any(one["method"] == "workspace/diagnostic/refresh" for one in client.messages)
        )
        assert codes(
            client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})["items"]
        ) == ["TFN101"]


def wait_for(holds, seconds=20.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_each_folder_has_its_own_configuration(wire, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
    (other / "tfnanlint.toml").write_text('ignore = ["TFN301", "TFN101"]\n')
    wire.notify(
        "workspace/didChangeWorkspaceFolders",
        {
            "event": {
                "added": [
                    {"uri": one.as_uri(), "name": "one"},
                    {"uri": other.as_uri(), "name": "other"},
                ],
                "removed": [],
            }
        },
    )
    for folder, wanted in ((one, ["TFN301"]), (other, [])):
        uri = (folder / "a.py").as_uri()
        wire.open(uri, BAD)
        assert codes(wire.diagnostics(uri, 1)[1]) == wanted
    (other / "tfnanlint.toml").write_text("")
    wire.notify(
        "workspace/didChangeWatchedFiles",
        {"changes": [{"uri": (other / "tfnanlint.toml").as_uri(), "type": 2}]},
    )
    assert codes(wire.diagnostics((other / "a.py").as_uri(), until=bool)[1]) == ["TFN301"]


def test_settings_of_the_editor_change(wire):
    wire.open(wire.uri, BAD)
    assert codes(wire.diagnostics(wire.uri, 1)[1]) == ["TFN301"]
    wire.notify(
        "workspace/didChangeConfiguration",
        {"settings": {"tfnanlint": {"ignore": ["TFN3", "TFN1"]}}},
    )
    wire.diagnostics(wire.uri, until=lambda found: not found)
    wire.notify("workspace/didChangeConfiguration", {"settings": {"tfnanlint": {"enable": True}}})
    wire.diagnostics(wire.uri, until=bool)
    wire.notify("workspace/didChangeConfiguration", {"settings": {"tfnanlint": {"enable": False}}})
    wire.diagnostics(wire.uri, until=lambda found: not found)


def test_settings_are_asked_for_where_the_client_answers(tmp_path):
    capabilities = {"workspace": {"configuration": True}}
    with Client(tmp_path, capabilities, settings={"ignore": ["TFN3", "TFN1"]}) as client:
        uri = (tmp_path / "a.py").as_uri()
        client.open(uri, BAD)
        client.diagnostics(uri, until=lambda found: not found)
        client.settings = {"ignore": []}
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        assert codes(client.diagnostics(uri, until=bool)[1]) == ["TFN301"]


def complaints(client):
    return [
        one["params"]["message"] for one in client.messages if one["method"] == "window/showMessage"
    ]


def test_what_is_wrong_with_settings_is_said_once(wire, tmp_path):
    (tmp_path / "tfnanlint.toml").write_text('igmore = ["TFN3"]\n')
    wire.open(wire.uri, BAD)
    assert wire.diagnostics(wire.uri, 1)[1] == []
    wire.change(wire.uri, 2, {"text": BAD + "\n"})
    wire.diagnostics(wire.uri, 2)
    (complaint,) = complaints(wire)
    assert "unknown key `igmore`; did you mean `ignore`?" in complaint
    wire.notify(
        "workspace/didChangeConfiguration", {"settings": {"tfnanlint": {"certianty": "may"}}}
    )
    wait_for(lambda: len(complaints(wire)) == 2)
    assert "unknown key `certianty`; did you mean `certainty`?" in complaints(wire)[1]


def test_texts_that_were_never_saved(wire):
    wire.open("untitled:Untitled-1", BAD)
    assert codes(wire.diagnostics("untitled:Untitled-1", 1)[1]) == ["TFN301"]


def test_excluded_files_are_left_alone(wire, tmp_path):
    uri = (tmp_path / "build" / "a.py").as_uri()
    wire.open(uri, BAD)
    assert wire.diagnostics(uri, 1)[1] == []


CELLS = [
    "%matplotlib inline\nimport tensorflow as tf\n",
    "p = tf.nn.softmax(tf.random.normal([3]) * 100.0)",
    "def broken(:\n",
    "%%bash\nlog(",
    "s = '😀'; loss = tf.math.log(p)\n",
]


def test_what_the_baseline_knows_is_neither_shown_nor_fixed(wire, tmp_path):
    file = tmp_path / "a.py"
    file.write_text(BAD, "utf-8")
    (tmp_path / "tfnanlint.toml").write_text('baseline = "known.json"\n')
    command = [
        sys.executable,
        "-m",
        "tfnanlint",
        "baseline",
        "create",
        "--baseline",
        "known.json",
        "a.py",
    ]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    new = "\n\ndef g(x):\n    return tf.math.log(1.0 + tf.exp(x))\n"
    wire.open(file.as_uri(), "# moved down\n" + BAD + new)
    (found,) = wire.diagnostics(file.as_uri(), 1)[1]
    assert found["code"] == "TFN304" and found["range"]["start"]["line"] == 9
    (action,) = actions(wire, file.as_uri(), ["source.fixAll.tfnanlint"], 9)
    (change,) = action["edit"]["documentChanges"]
    text = edited("# moved down\n" + BAD + new, change["edits"])
    assert text == "# moved down\n" + BAD + new.replace(
        "tf.math.log(1.0 + tf.exp(x))", "tf.math.softplus(x)"
    )
    (tmp_path / "known.json").unlink()
    wire.notify("textDocument/didSave", {"textDocument": {"uri": file.as_uri()}})
    wait_for(lambda: any("baseline not found" in text for text in complaints(wire)))


def open_notebook(client, cells):
    uris = [f"vscode-notebook-cell:/n.ipynb#{at}" for at in range(len(cells))]
    client.notify(
        "notebookDocument/didOpen",
        {
            "notebookDocument": {
                "uri": "file:///nowhere/n.ipynb",
                "notebookType": "jupyter-notebook",
                "version": 0,
                "cells": [{"kind": 2, "document": uri} for uri in uris],
            },
            "cellTextDocuments": [
                {"uri": uri, "languageId": "python", "version": 3, "text": text}
                for uri, text in zip(uris, cells)
            ],
        },
    )
    return uris


def test_cells_of_a_notebook_know_each_other(wire):
    uris = open_notebook(wire, CELLS)
    _, broken = wire.diagnostics(uris[2], 3)
    assert codes(broken) == ["TFN001"], "a broken cell says so, and the others are checked"
    _, found = wire.diagnostics(uris[4], 3)
    (one,) = found
    assert one["code"] == "TFN301" and one["range"]["start"] == {"line": 0, "character": 17}
    assert one["relatedInformation"][0]["location"]["uri"] == uris[1]
    assert actions(wire, uris[4], ["source.fixAll"], 0) == []
    (everything,) = actions(wire, uris[4], ["notebook.source.fixAll.tfnanlint"], 0)
    changed = {
        one["textDocument"]["uri"]: edited(
            CELLS[uris.index(one["textDocument"]["uri"])], one["edits"]
        )
        for one in everything["edit"]["documentChanges"]
    }
    assert "log_softmax" in changed[uris[4]] and set(changed) <= {uris[1], uris[4]}
    assert {one["textDocument"]["version"] for one in everything["edit"]["documentChanges"]} == {3}
    assert "(same result" in actions(wire, uris[4], ["quickfix"], 0)[0]["title"]
    hover = wire.request(
        "textDocument/hover",
        {"textDocument": {"uri": uris[4]}, "position": {"line": 0, "character": 20}},
    )
    assert "TFN301" in hover["contents"]["value"]


def test_comments_that_ignore_go_into_their_cell(wire):
    uris = open_notebook(wire, CELLS)
    wire.diagnostics(uris[4], 3)
    hide = next(one for one in actions(wire, uris[4], ["quickfix"], 0) if "ignore" in one["title"])
    (change,) = hide["edit"]["documentChanges"]
    assert change["textDocument"]["uri"] == uris[4]
    assert edited(CELLS[4], change["edits"]) == CELLS[4].rstrip("\n") + "  # tfn: ignore[TFN301]\n"


# ---------------------------------------------------------------------------------------------------------
# What must not happen


def workers(client):
    """The processes that a server has started."""
    found = Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children")
    if not found.exists():
        pytest.skip("this system does not show the children of a process")
    return [int(pid) for pid in found.read_text().split()]


def test_a_worker_that_dies_is_said_and_replaced(wire):
    wire.open(wire.uri, BAD)
    wire.diagnostics(wire.uri, 1)
    (worker,) = workers(wire)
    os.kill(worker, signal.SIGSTOP)
    wire.change(wire.uri, 2, {"text": BAD + "\n"})
    time.sleep(0.3)
    os.kill(worker, signal.SIGKILL)
    _, found = wire.diagnostics(wire.uri, 2)
    assert codes(found) == ["TFN000"] and "signal 9" in found[0]["message"]
    wire.change(wire.uri, 3, {"text": BAD})
    assert codes(wire.diagnostics(wire.uri, 3)[1]) == ["TFN301"]
    assert workers(wire) != [worker]


def test_an_idle_worker_that_dies_is_not_missed(wire):
    wire.open(wire.uri, BAD)
    wire.diagnostics(wire.uri, 1)
    os.kill(workers(wire)[0], signal.SIGKILL)
    time.sleep(0.3)
    wire.change(wire.uri, 2, {"text": BAD + "\n"})
    assert codes(wire.diagnostics(wire.uri, 2)[1]) == ["TFN301"]


def test_the_worker_ends_with_the_server(tmp_path):
    with Client(tmp_path) as client:
        found = workers(client)
        client.process.kill()
        client.process.wait(10)
        wait_for(lambda: not any(alive(pid) for pid in found))


def alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_a_newer_version_interrupts_the_analysis(wire):
    """Thousands of findings take many seconds; a newer version is answered as if they had never
    been there.
    """
    wire.open(wire.uri, BAD)
    wire.diagnostics(wire.uri, 1)
    worker = workers(wire)
    wire.notify("textDocument/didClose", {"textDocument": {"uri": wire.uri}})
    wire.diagnostics(wire.uri, until=lambda found: not found)
    long = BAD + "".join(
        f"\n\ndef f{n}(x):\n    return tf.math.log(tf.nn.softmax(x))\n" for n in range(6000)
    )
    wire.open(wire.uri, long)
    time.sleep(1.0)
    start = time.perf_counter()
    wire.change(wire.uri, 2, {"text": BAD})
    moment, found = wire.diagnostics(wire.uri)
    assert codes(found) == ["TFN301"] and moment - start < 5.0
    assert workers(wire) == worker, "it was interrupted, not ended"


def test_a_cancelled_request_is_answered_as_cancelled(wire):
    wire.open(
        wire.uri,
        BAD
        + "".join(
            f"\n\ndef f{n}(x):\n    return tf.math.log(tf.nn.softmax(x))\n" for n in range(2000)
        ),
    )
    number = wire.ask(
        "textDocument/hover",
        {"textDocument": {"uri": wire.uri}, "position": {"line": 4, "character": 30}},
    )
    wire.notify("$/cancelRequest", {"id": number})
    with pytest.raises(RuntimeError, match="-32800"):
        wire.result(number, 10)


STRAY = """
import os, sys, threading, time

def shout():
    while True:
        if "tfnanlint.lsp.features" in sys.modules or "tfnanlint.lsp.worker" in sys.modules:
            print("stray")
            os.write(1, b"Content-Length: 7\\r\\n\\r\\nstray\\n")
        time.sleep(0.02)

threading.Thread(target=shout, daemon=True).start()
"""


def test_prints_do_not_reach_the_protocol(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(STRAY)
    path = os.pathsep.join([str(tmp_path / "site"), *(entry for entry in sys.path if entry)])
    with Client(tmp_path, env={"PYTHONPATH": path}) as client:
        uri = (tmp_path / "a.py").as_uri()
        client.open(uri, BAD)
        for version in range(2, 12):
            client.change(uri, version, {"text": BAD + "\n" * version})
            assert codes(client.diagnostics(uri, version)[1]) == ["TFN301"]
        assert not [one for one in client.messages if one["method"] == "garbage"]


def test_modules_in_the_working_directory_are_not_imported(tmp_path):
    """The server may be started anywhere, the worker must not import what lies there."""
    for name in ("struct", "pickle", "queue", "tfnanlint_rules"):
        (tmp_path / f"{name}.py").write_text(
            "import pathlib; pathlib.Path(__file__).with_suffix('.ran').write_text('')\n"
        )
    tool = Path(sys.executable).with_name("tfnanlint")
    if not tool.exists():
        pytest.skip("the console script is not installed beside the interpreter")
    request = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}'
    server = subprocess.Popen(
        [tool, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    )
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(request) + request)
    server.stdin.flush()
    assert server.stdout.readline().startswith(b"Content-Length")
    time.sleep(0.5)
    server.stdin.close()
    server.stdout.read()
    server.wait(10)
    assert list(tmp_path.glob("*.ran")) == []


def test_without_the_extra_it_says_what_to_install(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pygls'] = None\n")
    path = os.pathsep.join([str(tmp_path), *(entry for entry in sys.path if entry)])
    done = subprocess.run(
        [sys.executable, "-m", "tfnanlint", "lsp"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (done.returncode, done.stdout) == (
        2,
        "",
    ) and "pip install 'tfnanlint[lsp]'" in done.stderr


def test_jupyter_finds_the_server(tmp_path):
    """jupyter-lsp asks every package for its `spec`; what it names is what `Client` and with it all
    tests here start.
    """
    from tfnanlint.lsp.jupyter import spec

    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert (
        '[project.entry-points.jupyter_lsp_spec_v1]\ntfnanlint = "tfnanlint.lsp.jupyter:spec"\n'
        in text
    )
    (found,) = spec(None).values()
    assert "text/x-ipython" in found["mime_types"]
    package = tmp_path / "tfnanlint"
    package.mkdir()
    for name in ("__init__.py", "__main__.py"):
        (package / name).write_text("raise SystemExit('ran')\n")
    done = subprocess.run([*found["argv"], "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "language server" in done.stdout.lower(), done
