"""Notebooks go along with baselines, comments, changed lines and several processes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow  # each starts processes

FILE = "tfnanlint-baseline.json"
CELLS = [
    "import tensorflow as tf\n%matplotlib inline\nz = tf.placeholder(tf.float32, [3])",
    "y = tf.math.log(tf.nn.softmax(z))\nprint(y)",
]


def run(directory, *argv: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "tfnanlint", *argv],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=60,
    )


def found(directory, *argv: str) -> list[str]:
    lines = run(directory, "check", "-q", "--output-format", "concise", *argv).stdout.splitlines()
    return [" ".join(line.split()[:4]) for line in lines]


@pytest.fixture
def project(tmp_path):
    """A directory with one notebook, in which there is one finding."""
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": text.splitlines(True),
        }
        for text in CELLS
    ]
    text = json.dumps(
        {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )
    (tmp_path / "a.ipynb").write_text(text)
    assert found(tmp_path) == ["a.ipynb:cell 2:1:5: warning: TFN301"]
    return tmp_path


def test_a_baseline(project):
    assert run(project, "baseline", "create").returncode == 0
    assert found(project, "--baseline", FILE) == []
    path = project / "a.ipynb"
    path.write_text(
        path.read_text().replace(
            '"y = tf', '"# more\\n",\n    "q = tf.nn.softmax(x) / 0.0\\n",\n    "y = tf'
        )
    )
    assert [line for line in found(project, "--baseline", FILE) if "TFN301" in line] == []


def test_comments(project):
    before = (project / "a.ipynb").read_text()
    done = run(project, "check", "--add-ignore", "inherited")
    assert done.returncode == 0, done.stdout
    after = (project / "a.ipynb").read_text()
    assert after == before.replace(
        "softmax(z))\\n", "softmax(z))  # tfn: ignore[TFN301] inherited\\n"
    )
    assert found(project) == []


def test_changed_notebooks(project):
    def git(*argv: str) -> None:
        identity = [
            "-c",
            "user.name=test",
            "-c",
            "user.email=test@example.org",
            "-c",
            "commit.gpgsign=false",
        ]
        subprocess.run(["git", *identity, *argv], cwd=project, check=True, capture_output=True)

    git("init", "-q", ".")
    git("add", "-A")
    git("commit", "-q", "-m", "all")
    assert found(project, "--diff-base", "HEAD") == []
    path = project / "a.ipynb"
    path.write_text(path.read_text().replace("print(y)", "print(y, z)"))
    assert found(project, "--diff-base", "HEAD") == []
    path.write_text(path.read_text().replace("softmax(z)", "softmax(2 * z)"))
    assert found(project, "--diff-base", "HEAD") == ["a.ipynb:cell 2:1:5: warning: TFN301"]


def test_several_processes(project):
    for number in range(10):
        (project / f"b{number}.ipynb").write_text((project / "a.ipynb").read_text())
    assert found(project, "--jobs", "2") == found(project, "--jobs", "1") != []


def test_the_library(project):
    import tfnanlint

    text = (project / "a.ipynb").read_text()
    assert [one.code for one in tfnanlint.check(text, "a.ipynb").findings] == ["TFN301"]
    assert tfnanlint.fix(text, "a.ipynb").after == text.replace(
        "tf.math.log(tf.nn.softmax(z))", "tf.nn.log_softmax(z)"
    )
