#!/usr/bin/env python3
"""How fast the language server is: editor.py [--keys N] [--brief] [--editors]

Prints the start of the server, the time from a key to its diagnostics in a 1,000-line TensorFlow
file (median and p95), and how long a 5,000-line file takes to settle after a burst of 50 edits.
With `--editors` also the time of Neovim and Emacs, those that are installed, from their start to
the diagnostics and to the fixed file on disk, with `--brief` only the keys in an ordinary file.

Two kinds of files: `ordinary` has a finding in about every 100 lines, as real code has, `dense` one
in every five (1,000 lines only). Keys are typed in a function in the middle, 150 ms apart, each
when the one before was answered: a comment, or code with a finding in it. What a key costs is told
in CPU time, too, of the server and its worker together, beside that of parsing the file once: on a
machine that does other work nothing else can be compared.
"""

from __future__ import annotations

import argparse
import ast
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tfnanlint.dev.wire import Client

ROOT = Path(__file__).resolve().parent.parent
ORDINARY = '''
class Block{n}(tf.keras.layers.Layer):
    """A residual block: two dense layers with normalization and dropout."""

    def __init__(self, units, rate=0.1, **options):
        super().__init__(**options)
        self.units = units
        self.first = tf.keras.layers.Dense(units, activation="relu")
        self.second = tf.keras.layers.Dense(units)
        self.norm = tf.keras.layers.LayerNormalization(epsilon=1e-6)
        self.drop = tf.keras.layers.Dropout(rate)

    def build(self, shape):
        self.scale = self.add_weight(name="scale", shape=(shape[-1],), initializer="ones")
        super().build(shape)

    def call(self, x, training=False):
        h = self.first(x)
        h = self.drop(h, training=training)
        h = self.second(h)
        return self.norm(x + h) * self.scale

    def get_config(self):
        return {{"units": self.units, **super().get_config()}}


def metrics_{n}(labels, logits):
    predicted = tf.argmax(logits, axis=-1)
    right = tf.cast(tf.equal(predicted, labels), tf.float32)
    accuracy = tf.reduce_mean(right)
    confidence = tf.reduce_max(tf.nn.softmax(logits), axis=-1)
    return accuracy, tf.reduce_mean(confidence)


def dataset_{n}(paths, size, batch=32):
    data = tf.data.TFRecordDataset(paths)
    data = data.map(lambda record: tf.io.parse_single_example(record, {{"x": tf.io.FixedLenFeature([size], tf.float32)}}))
    data = data.shuffle(1000).batch(batch)
    for key, value in sorted({{"paths": len(paths), "size": size}}.items()):
        print(key, value)
    return data.prefetch(tf.data.AUTOTUNE)
'''
BAD = """

def loss_{n}(labels, logits, weight):
    p = tf.nn.softmax(logits)
    return -tf.reduce_sum(labels * tf.math.log(p), axis=-1) * weight
"""


def program(lines: int, dense: bool) -> str:
    """A TensorFlow file of a number of lines."""
    text, n = "import tensorflow as tf\n", 0
    while text.count("\n") < lines:
        if not dense:
            text += ORDINARY.format(n=n)
        if dense or n % 2 == 0:
            text += BAD.format(n=n)
        n += 1
    return "\n".join(text.split("\n")[:lines]) + "\n"


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms"


COMMENT = "# the quick brown fox jumps over the lazy dog "
CODE = "    q = tf.math.log(tf.nn.softmax(1234567890.0 * logits))"


def typed(client: Client, uri: str, text: str, keys: int, words: str) -> tuple[list[float], float]:
    """Seconds from each of some keys to its diagnostics, and the CPU seconds that a key takes of
    the server's processes.
    """
    lines = text.split("\n")
    row = next(at for at in range(len(lines) // 2, len(lines)) if lines[at].startswith("def ")) + 1
    if words is COMMENT:
        row -= 2
    else:  # an expression that is complete before and after every key
        lines.insert(row, CODE)
    client.open(uri, "\n".join(lines))
    client.diagnostics(uri, 1)
    time.sleep(1.0)
    found, before = [], used(client.process.pid)
    for key in range(keys):
        time.sleep(0.15)
        letter, column = (
            (words[key % len(words)], key)
            if words is COMMENT
            else (str(key % 10), CODE.index("1234") + 1)
        )
        place = {"line": row, "character": column}
        start = time.perf_counter()
        client.change(uri, key + 2, {"range": {"start": place, "end": place}, "text": letter})
        moment, _ = client.diagnostics(uri, key + 2)
        found.append(moment - start)
    return found, (used(client.process.pid) - before) / keys


def used(pid: int) -> float:
    """CPU seconds of a process and its children, as Linux counts them; 0 elsewhere."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rsplit(")", 1)[1].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(
        used(int(one)) for one in children
    )


def parsing(text: str) -> float:
    """CPU seconds that `ast.parse` takes."""
    times = []
    for _ in range(9):
        start = time.process_time()
        ast.parse(text)
        times.append(time.process_time() - start)
    return statistics.median(times)


def settled(client: Client, uri: str, text: str, edits: int = 50) -> tuple[float, float]:
    """Seconds from opening to diagnostics, and from the last edit of a burst to its diagnostics."""
    start = time.perf_counter()
    client.open(uri, text)
    opened = client.diagnostics(uri, 1)[0] - start
    time.sleep(1.0)
    for edit in range(edits):
        place = {"line": 1, "character": 0}
        client.change(
            uri,
            edit + 2,
            {"range": {"start": place, "end": place}, "text": "#" if edit % 2 else "\n"},
        )
        time.sleep(0.01)
    last = time.perf_counter()
    return opened, client.diagnostics(uri, edits + 1)[0] - last


def starts(folder: Path, count: int = 5) -> list[float]:
    """Seconds from the start of the process to the answer to `initialize`."""
    found = []
    for _ in range(count):
        start = time.perf_counter()
        with Client(folder):
            found.append(time.perf_counter() - start)
    return found


def in_editors() -> None:
    sys.path.insert(0, str(ROOT / "tests" / "lsp"))
    from editors import editors

    for editor in editors():
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            told = {one["step"]: one["ms"] for one in editor.run(Path(folder))}
            all_in_all = time.perf_counter() - start
        steps = {"ready": "server ready", "diagnostics": "diagnostics", "saved": "fixed on disk"}
        said = ", ".join(
            f"{words} {told[step]:.0f} ms" for step, words in steps.items() if step in told
        )
        print(f"{editor.name}: {said} after the script's start; process {milliseconds(all_in_all)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keys", type=int, default=40)
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--editors", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not arguments.brief:
            print(f"server start: median {milliseconds(statistics.median(starts(folder)))}")
        for kind in ("ordinary",) if arguments.brief else ("ordinary", "dense"):
            text = program(1000, kind == "dense")
            for name, words in (("comment", COMMENT), ("code", CODE)):
                with Client(folder) as client:
                    times, cpu = typed(
                        client, (folder / f"{kind}.py").as_uri(), text, arguments.keys, words
                    )
                p95 = statistics.quantiles(times, n=20)[-1]
                print(
                    f"key to diagnostics, {kind}, 1,000 lines, {name}: median {milliseconds(statistics.median(times))}, "
                    f"p95 {milliseconds(p95)}; CPU {milliseconds(cpu)} a key, {milliseconds(parsing(text))} to parse the file"
                )
            # 5,000 dense lines take longer than a user waits; no file is like that
            if kind == "dense" or arguments.brief:
                continue
            with Client(folder) as client:
                opened, burst = settled(
                    client, (folder / f"{kind}.py").as_uri(), program(5000, kind == "dense")
                )
            print(
                f"{kind}, 5,000 lines: opened {milliseconds(opened)}, settled {milliseconds(burst)} after the last of 50 edits"
            )
    if arguments.editors:
        in_editors()


if __name__ == "__main__":
    main()
