"""Edits in an editor, against a model: for `fuzz.py edits`.

A document is opened in the language server and edited at random: texts typed, removed, pasted,
undone and replaced as a whole, one or more changes to a notification, with line ends and characters
of all kinds, in each of the three encodings of positions. The model is a string of Python and
`tests/lsp/test_lsp_sync.py`'s account of positions. A violation is an answer that does not come, an
internal error, or diagnostics other than those of a document that is opened with the model's text.
"""

from __future__ import annotations

import pathlib
import queue
import random
import sys
import tempfile
import time

from tfnanlint.dev.repository import ROOT
from tfnanlint.dev.wire import Client

sys.path.insert(0, str(ROOT / "tests" / "lsp"))

from test_lsp_sync import ENCODINGS, cut  # noqa: E402

PIECES = (
    *"x1 #()\n:",
    '"',
    '"""',
    "    ",
    "\r\n",
    "\r",
    "\x0c",
    "\u2028",
    "é",
    "😀",
    "import tensorflow as tf\n",
    "y = tf.math.log(tf.nn.relu(x))\n",
    "    z = tf.sqrt(tf.reduce_sum(tf.square(x)))\n",
    "# tfn: ignore[TFN101]\n",
    "def f(x):\n    return tf.math.log(tf.nn.softmax(x))\n",
    "return x / tf.norm(x)\n",
)
NOTIFICATIONS = 12  # of one document
WAIT = 60.0


def texts() -> list[str]:
    """What documents hold when they are opened."""
    folders = ("programs", "reports")
    paths = [path for name in folders for path in sorted((ROOT / "fixtures" / name).rglob("*.py"))]
    return [path.read_text("utf-8") for path in paths]


def edit(text: str, dice: random.Random) -> tuple[int, int, str]:
    """Two places, neither inside of a line end, and the text to put between them."""
    start = dice.randrange(len(text) + 1)
    size = dice.choice((0, 0, 0, 1, 2, 5, 40))
    end = min(start + size, len(text))
    start, end = (at - (text[at - 1 : at + 1] == "\r\n" and at > 0) for at in (start, end))
    if dice.random() < 0.1:
        pasted = dice.randrange(len(text) + 1)
        return start, end, text[pasted : pasted + 200]
    return start, end, dice.choice(("", dice.choice(PIECES), dice.choice(PIECES)))


def edited(client: Client, uri: str, text: str, encoding: str, dice: random.Random) -> str:
    """The model's text after some notifications, which the server got, too."""
    before = [text]
    for version in range(2, NOTIFICATIONS + 2):
        changes: list[dict] = []
        for _ in range(dice.choice((1, 1, 2, 4))):
            kind = dice.random()
            if kind < 0.05:
                text = dice.choice(before)
                changes.append({"text": text})
                continue
            start, end, new = edit(text, dice)
            changes.append({"range": cut(text, start, end, encoding), "text": new})
            text = text[:start] + new + text[end:]
        client.change(uri, version, *changes)
        before.append(text)
        if dice.random() < 0.5:
            time.sleep(dice.random() * 0.05)
    return text


def shown(client: Client, uri: str, version: int) -> list[tuple]:
    """The diagnostics of a version, once they do not change any more."""
    _, last = client.diagnostics(uri, version, timeout=WAIT)
    while True:
        try:
            _, last = client.diagnostics(uri, version, timeout=0.7)
        except queue.Empty:
            break
    return sorted(
        (str(one.get("code")), *one["range"]["start"].values(), one["message"]) for one in last
    )


def violation(client: Client, folder: pathlib.Path, number: int, dice: random.Random) -> str:
    """What is wrong after the edits of a document; empty where nothing is."""
    encoding = client.capabilities["positionEncoding"]
    uri, fresh = ((folder / f"{name}{number}.py").as_uri() for name in ("edited", "opened"))
    text = dice.choice(texts())
    try:
        client.open(uri, text)
        text = edited(client, uri, text, encoding, dice)
        after = shown(client, uri, NOTIFICATIONS + 1)
        client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        client.open(fresh, text)
        wanted = shown(client, fresh, 1)
        client.notify("textDocument/didClose", {"textDocument": {"uri": fresh}})
    except (queue.Empty, RuntimeError, OSError) as error:
        return f"no answer: {error!r}"
    if any(code == "TFN000" for code, *_ in after):
        return "TFN000"
    return "" if after == wanted else f"{after}\n  but opened with this text: {wanted}\n{text!r}"


def edited_documents(seconds: float, seed: int) -> int:
    """How many documents differ from the model, of as many as there is time for. Prints them."""
    dice = random.Random(seed)
    documents = violations = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        encoding = ENCODINGS[documents % len(ENCODINGS)]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            with Client(folder, encoding=encoding) as client:
                for _ in range(10):
                    if time.monotonic() > end:
                        break
                    documents += 1
                    wrong = violation(client, folder, documents, dice)
                    if wrong:
                        violations += 1
                        print(f"{seed}_{documents} ({encoding}): {wrong}", flush=True)
    print(f"{documents} documents, {violations} violations", flush=True)
    return violations
