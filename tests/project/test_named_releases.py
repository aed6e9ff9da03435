"""The release of TensorFlow that the papers around a file name, and what fixes write for it."""

from __future__ import annotations

import json

import pytest

from tfnanlint.cli import main
from tfnanlint.program.module import Module
from tfnanlint.project.filesystem import Memory
from tfnanlint.project.index import Project, reading

MEAN = """import tensorflow as tf

def loss(y, p):
    mask = tf.cast(tf.nn.relu(y) > 0.5, tf.float32)
    return tf.reduce_sum(p * mask) / tf.reduce_sum(mask)
"""
OF_FIRST = "/ tf.maximum(tf.reduce_sum(mask), 1.0)"
OF_SECOND = "tf.math.divide_no_nan("


def fixed(folder, text=MEAN, name="sub/a.py", **papers):
    for paper, content in papers.items():
        (folder / paper.replace("__", ".")).write_text(content)
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    (folder / ".git").mkdir(exist_ok=True)
    path.write_text(text)
    main(["check", "--isolated", "--no-cache", "--unsafe-fixes", "--fix", "--exit-zero", str(path)])
    return path.read_text()


@pytest.mark.parametrize(
    ("papers", "form"),
    [
        ({}, OF_SECOND),
        ({"README__md": "* Keras 2.1.6\n* Tensorflow 1.8.0\n"}, OF_FIRST),
        ({"README__md": "needs TensorFlow 2.3"}, OF_SECOND),
        ({"requirements__txt": "tensorflow==1.13.1\n"}, OF_FIRST),
        ({"requirements__txt": "tensorflow==2.4\n", "README__md": "after TF 1.4"}, OF_SECOND),
        ({"requirements__txt": "numpy\ntensorflow\n", "README__md": "TensorFlow 1.4"}, OF_FIRST),
        ({"environment__yml": "dependencies:\n  - tensorflow-gpu=1.4.0\n"}, OF_FIRST),
        ({"NOTES__md": "TensorFlow 1.8"}, OF_SECOND),
    ],
)
def test_a_fix_writes_what_the_release_of_the_project_has(folder, papers, form):
    assert form in fixed(folder, **papers)


def test_a_readme_that_names_the_first_version_is_not_about_a_file_of_the_second(folder):
    eager = MEAN.replace("def loss", "@tf.function\ndef loss")
    assert OF_SECOND in fixed(folder, eager, README__md="Historically I used TensorFlow 1.0")
    assert OF_FIRST in fixed(folder, eager, requirements__txt="tensorflow==1.13\n")


@pytest.mark.parametrize(("named", "is_written"), [("1.8", False), ("1.15", True)])
def test_a_fix_writes_nothing_that_has_no_gradient_yet(folder, named, is_written):
    """TensorFlow 1.8 has slogdet, and no gradient of it."""
    text = """import tensorflow as tf

def volume(w):
    return tf.log(tf.abs(tf.matrix_determinant(w)))
"""
    after = fixed(folder, text, requirements__txt=f"tensorflow=={named}\n")
    assert ("slogdet" in after) is is_written


def test_the_release_of_the_settings_goes_before_that_of_the_papers(folder):
    (folder / "tfnanlint.toml").write_text('target-tensorflow = "2.4"\n')
    path = folder / "a.py"
    path.write_text(MEAN)
    (folder / "README.md").write_text("TensorFlow 1.8")
    config = str(folder / "tfnanlint.toml")
    main(["check", "--config", config, "--no-cache", "--fix", "--exit-zero", str(path)])
    assert OF_SECOND in path.read_text()


def test_what_a_file_uses_is_there(folder):
    text = MEAN.replace("(y)", "(tf.math.divide_no_nan(y, y))")
    assert OF_SECOND in fixed(folder, text, README__md="TensorFlow 1.8")


def notebook(*cells):
    return json.dumps(
        {
            "cells": [
                {"cell_type": "code", "metadata": {}, "outputs": outputs, "source": source}
                for source, outputs in cells
            ],
            "metadata": {"language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
    )


def stream(text):
    return [{"output_type": "stream", "name": "stdout", "text": [text]}]


def result(text):
    return [{"output_type": "execute_result", "data": {"text/plain": [text]}, "metadata": {}}]


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        ([("print(tf.__version__)", stream("1.8.0\n"))], OF_FIRST),
        ([("import tensorflow as tf\ntf.__version__", result("'1.13.1'"))], OF_FIRST),
        ([("print(tf.__version__)", stream("2.3.0\n"))], OF_SECOND),
        ([("print(np.__version__)", stream("1.8.0\n"))], OF_SECOND),
        ([("print(tf.__version__, np.__version__)", stream("2.3.0 1.8.0\n"))], OF_SECOND),
        ([("print(tf.__version__)", [])], OF_SECOND),
        ([("!pip install tensorflow==1.8.0", [])], OF_FIRST),
        ([("%tensorflow_version 1.x", [])], OF_SECOND),
        (
            [("!pip install tensorflow==1.8.0", []), ("tf.__version__", result("'2.1.0'"))],
            OF_SECOND,
        ),
    ],
)
def test_a_notebook_shows_the_release_that_it_was_run_with(folder, cells, form):
    text = fixed(folder, notebook(*cells, (MEAN, [])), "sub/a.ipynb")
    assert form in text


def test_a_notebook_says_more_than_the_papers_around_it(folder):
    cells = [("!pip install tensorflow==2.0.0", []), (MEAN, [])]
    text = fixed(folder, notebook(*cells), "sub/a.ipynb", README__md="TensorFlow 1.8")
    assert OF_SECOND in text


@pytest.mark.parametrize("text", ["", "{}", '{"cells": 1}', '{"cells": [{}]}', '{"cells": [1]}'])
def test_what_is_no_notebook_names_no_release(text):
    with reading(Memory({"/p/a.ipynb": text.encode()})):
        assert Project("/p/a.ipynb", None, Module).release_named("/p/a.ipynb") == (None, None)


def test_the_nearest_papers_are_read_from_memory(folder):
    files = {
        "/p/README.md": b"TensorFlow 1.4",
        "/p/requirements.txt": b"tensorflow==1.8",
        "/p/sub/requirements.txt": b"tensorflow==2.1",
        "/p/sub/a.py": b"",
        "/p/b.py": b"",
    }
    with reading(Memory(files)):
        assert Project("/p/sub/a.py", None, Module).release_named("/p/sub/a.py")[0] == (2, 1)
        assert Project("/p/b.py", None, Module).release_named("/p/b.py") == ((1, 8), (1, 4))
