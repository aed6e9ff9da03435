"""Write the files on which `.ci/editors` tries editors: samples.py FOLDER"""

import json
import sys
from pathlib import Path

BAD = """import tensorflow as tf

NOTE = "a\u2028b"
\x0c

def f(x):
    s = "\U0001f600"; return tf.math.log(tf.nn.softmax(x)), s


def g(x):
    return tf.math.log(1.0 + tf.exp(x))
"""
FIXED = BAD.replace("tf.math.log(tf.nn.softmax(x))", "tf.nn.log_softmax(x)").replace(
    "tf.math.log(1.0 + tf.exp(x))", "tf.math.softplus(x)"
)
CELLS = [
    "import tensorflow as tf",
    "%time\nx = tf.random.normal([3]) * 100.0",
    "s = '\U0001f600'; y = tf.math.log(tf.nn.softmax(x))",
]


def main(folder: Path) -> None:
    (folder / "a.py").write_text(BAD, "utf-8")
    (folder / "a.fixed").write_text(FIXED, "utf-8")
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell{at}",
            "metadata": {},
            "outputs": [],
            "source": text.splitlines(keepends=True),
        }
        for at, text in enumerate(CELLS)
    ]
    notebook = {
        "cells": cells,
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (folder / "n.ipynb").write_text(json.dumps(notebook, indent=1), "utf-8")


main(Path(sys.argv[1]))
