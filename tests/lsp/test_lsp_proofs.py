"""Show me the NaN: the action, what it opens or says, and the verdict in the hover."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

import pytest

WHY = "the extra `test` is not installed: pip install 'tfnanlint[lsp,prove]'"
pytest.importorskip("pygls", reason=WHY)

from tfnanlint.dev.wire import VERSIONED, Client  # noqa: E402
from tfnanlint.lsp import proofs  # noqa: E402

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason=WHY),
]
TEXT = (
    "import tensorflow as tf\n\n\n"
    "def f(x):\n    return tf.math.log(tf.nn.softmax(x))\n\n\n"
    "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
    'model.compile(optimizer=tf.keras.optimizers.Adam(0.5), loss="mse")\n'
)
LOG, RATE = 4, 8  # rows


def actions(client: Client, uri: str, row: int) -> dict[str, dict]:
    at = {"line": row, "character": 11}
    found = client.request(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": uri},
            "range": {"start": at, "end": at},
            "context": {"diagnostics": []},
        },
    )
    return {one["title"]: one for one in found}


def run(client: Client, action: dict) -> None:
    command = action["command"]
    params = {"command": command["command"], "arguments": command["arguments"]}
    begun = time.monotonic()
    assert client.request("workspace/executeCommand", params) is None
    assert time.monotonic() - begun < 5  # it does not wait for the proof


def told(client: Client, method: str, seconds: float = 120.0) -> dict:
    """The parameters of the first message of a kind, which is taken."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for message in client.messages:
            if message["method"] == method:
                client.messages.remove(message)
                return message["params"]
        time.sleep(0.05)
    raise AssertionError(f"no {method}: {client.messages}")


def hover(client: Client, uri: str, row: int) -> str:
    at = {"line": row, "character": 14}
    shown = client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": at})
    return shown["contents"]["value"]


@pytest.fixture
def folder(tmp_path_factory):
    """A folder that is not named after a test, in which learning rates may be anything."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "tfnanlint.toml").write_text("preview = true\n")
    (folder / "a.py").write_text(TEXT)
    return folder


@pytest.fixture
def uri(folder):
    return (folder / "a.py").as_uri()


def test_a_finding_is_proved_while_the_server_answers(uri, folder):
    with Client(folder, {**VERSIONED, "window": {"workDoneProgress": True}}) as client:
        client.open(uri, TEXT)
        show = actions(client, uri, LOG)["TFN301: show me the NaN"]
        assert "proved" not in hover(client, uri, LOG)
        run(client, show)
        begun = time.monotonic()
        hover(client, uri, LOG)
        assert time.monotonic() - begun < 5
        said = told(client, "window/showMessage")["message"]
        assert said.startswith("tfnanlint: TFN301: proved: the value is -inf. The program that")
        witness = Path(said.rpartition("shows it: ")[2])
        text = witness.read_text()
        assert text.startswith("# proved: the value is -inf\n") and "def repaired(x):" in text
        compile(text, "witness", "exec")
        shown = hover(client, uri, LOG)
        assert "- proved: the value is -inf; " in shown and "Inf before, finite after" in shown
        kinds = [
            one["params"]["value"]["kind"]
            for one in client.messages
            if one["method"] == "$/progress"
        ]
        assert kinds == ["begin", "end"]
        client.open(witness.as_uri(), text)  # a witness is not linted itself
        assert not actions(client, witness.as_uri(), text.count("\n"))
        assert client.diagnostics(witness.as_uri(), 1)[1] == []

        client.change(uri, 2, {"text": TEXT.replace("softmax(x)", "softmax(2.0 * x)")})
        assert "proved" not in hover(client, uri, LOG)  # of another text nothing is known

        run(client, actions(client, uri, RATE)["TFN801: show me the NaN"])
        said = told(client, "window/showMessage")["message"]
        assert said.startswith("tfnanlint: TFN801: unsupported: ")
    assert not witness.exists()


@pytest.mark.parametrize("accepts", [True, False])
def test_an_editor_that_can_opens_the_witness(uri, folder, accepts, monkeypatch):
    heard = Client._heard

    def answering(self, message):
        if message.get("method") == "window/showDocument":
            self.messages.append(message)
            self._send({"id": message["id"], "result": {"success": accepts}})
        else:
            heard(self, message)

    monkeypatch.setattr(Client, "_heard", answering)
    window = {"window": {"showDocument": {"support": True}}}
    with Client(
        folder, {**VERSIONED, **window}, initializationOptions={"python": sys.executable}
    ) as client:
        client.open(uri, TEXT)
        end = time.monotonic() + 60
        while "TFN301: show me the NaN" not in (found := actions(client, uri, LOG)):
            assert time.monotonic() < end
            time.sleep(0.2)
        run(client, found["TFN301: show me the NaN"])
        asked = told(client, "window/showDocument")
        assert asked["uri"].endswith(".py") and asked["takeFocus"] and not asked["external"]
        if not accepts:
            assert "shows it: " in told(client, "window/showMessage", 10)["message"]


def test_without_tensorflow_it_is_not_offered(uri, folder):
    settings = {"python": "/nonexistent/python"}
    with Client(folder, VERSIONED, initializationOptions=settings) as client:
        client.open(uri, TEXT)
        found = actions(client, uri, LOG)
        assert "TFN301: ignore on this line" in found and "TFN301: show me the NaN" not in found


def test_folders_of_servers_that_were_killed_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / "tfnanlint-proofs-left"
    left.mkdir()
    (left / "witness.py").write_text("")
    alive = proofs._new_folder()
    proofs.Proofs()
    assert list(tmp_path.iterdir()) == [alive]
