#!/usr/bin/env python3
"""Time of `tfnanlint check` on a 10-line file, from process start to exit, next to
`python -c pass`: startup.py [--runs N]

The two run in turn; the median of the pairwise ratios is printed, for a file with a finding and for
a clean one.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

CLEAN = """import tensorflow as tf


def loss(labels, logits):
    losses = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    scale = tf.cast(tf.shape(labels)[0], tf.float32)
    total = tf.reduce_sum(losses)
    mean = total / scale
    return mean
# ten lines
"""
HAZARD = CLEAN.replace(
    "total = tf.reduce_sum(losses)",
    "total = -tf.reduce_sum(labels * tf.math.log(tf.nn.softmax(logits)))",
)


def seconds(command: list[str], folder: str) -> float:
    """The time of a command, which may keep bytecode, as an installed program does."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    subprocess.run(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        env=environment,
    )
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=15)
    args = parser.parse_args()
    script = pathlib.Path(sys.executable).with_name("tfnanlint")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("clean file", CLEAN), ("file with a finding and its fix", HAZARD)):
            path = pathlib.Path(folder, "ten.py")
            path.write_text(text)
            lint, nothing = (
                [str(script), "check", "--isolated", "--no-cache", str(path)],
                [sys.executable, "-c", "pass"],
            )
            seconds(lint, folder), seconds(nothing, folder)
            pairs = [(seconds(lint, folder), seconds(nothing, folder)) for _ in range(args.runs)]
            ratio = statistics.median(a / b for a, b in pairs)
            print(
                f"{name}: {statistics.median(a for a, _ in pairs) * 1000:.0f} ms, python -c pass "
                f"{statistics.median(b for _, b in pairs) * 1000:.0f} ms, ratio {ratio:.1f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
