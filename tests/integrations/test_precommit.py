"""The pre-commit hooks, run by the real pre-commit from this repository: installed by pip, on files
it chooses.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("pre_commit")

HERE = Path(__file__).parents[2]
RISKY = "import tensorflow as tf\n\n\ndef loss(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
FIXED = "import tensorflow as tf\n\n\ndef loss(z):\n    return tf.nn.log_softmax(z)\n"
NOTEBOOK = '{"cells": [{"cell_type": "code", "source": %s}],\n    "nbformat": 4}'
BROKEN = "import tensorflow as tf\nprint 'loss'\n"


def git(*argv: str, cwd: Path) -> str:
    identity = [
        "-c",
        "user.name=test",
        "-c",
        "user.email=test@example.org",
        "-c",
        "commit.gpgsign=false",
    ]
    return subprocess.run(
        ["git", *identity, *argv], cwd=cwd, check=True, capture_output=True, text=True
    ).stdout.strip()


def repository(path: Path) -> Path:
    git("init", "-q", ".", cwd=path)
    git("add", "-A", cwd=path)
    git("commit", "-q", "-m", "all", cwd=path)
    return path


@pytest.fixture(scope="module")
def hooks(tmp_path_factory) -> Path:
    """A repository that holds this working tree as one commit, and a pre-commit store of its own."""
    top = tmp_path_factory.mktemp("hooks")
    for name in ("tfnanlint", "rules", "docs"):
        shutil.copytree(HERE / name, top / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(HERE / name, top / name)
    return repository(top)


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def project(tmp_path) -> Path:
    (tmp_path / "risky.py").write_text(RISKY)
    (tmp_path / "book.ipynb").write_text(NOTEBOOK % json.dumps(RISKY))
    (tmp_path / "script").write_text("#!/usr/bin/env python3\n" + RISKY)
    (tmp_path / "script").chmod(0o755)
    (tmp_path / "notes.md").write_text("import tensorflow as tf\n")
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated" / "left_out.py").write_text(RISKY)
    (tmp_path / "pyproject.toml").write_text('[tool.tfnanlint]\nextend-exclude = ["generated"]\n')
    return repository(tmp_path)


def pre_commit(*argv: str, cwd: Path, store: Path) -> subprocess.CompletedProcess:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "PRE_COMMIT"))
    }
    environment["PRE_COMMIT_HOME"] = str(store)
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *argv],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )


def test_the_manifest_is_valid(store):
    done = pre_commit("validate-manifest", ".pre-commit-hooks.yaml", cwd=HERE, store=store)
    assert done.returncode == 0, done.stdout


def test_try_repo(hooks, store, project):
    """Both hooks of the manifest in its order: the first one checks, the second one fixes."""
    done = pre_commit("try-repo", str(hooks), "--all-files", cwd=project, store=store)
    assert done.returncode == 1, done.stdout
    assert "exit code: 1" in done.stdout
    assert "risky.py:5:12: warning: TFN301 [*]" in done.stdout
    assert "script:6:12: warning: TFN301 [*]" in done.stdout
    assert "book.ipynb:cell 1:5:12: warning: TFN301 [*]" in done.stdout
    assert "left_out.py" not in done.stdout
    assert "files were modified by this hook" in done.stdout
    assert (project / "risky.py").read_text() == FIXED
    assert (project / "script").read_text().endswith(FIXED)
    assert (project / "book.ipynb").read_text() == NOTEBOOK % json.dumps(FIXED)
    assert os.access(project / "script", os.X_OK)
    assert (project / "generated" / "left_out.py").read_text() == RISKY


def test_a_configuration_that_points_at_the_repository(hooks, store, project):
    revision = git("rev-parse", "HEAD", cwd=hooks)
    (project / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n  - id: tfnanlint-fix\n  - id: tfnanlint\n"
    )
    git("add", "-A", cwd=project)
    first = pre_commit("run", "--all-files", cwd=project, store=store)
    assert first.returncode == 1, first.stdout
    assert first.stdout.count("Failed") == 1 and first.stdout.count("Passed") == 1, first.stdout
    assert (project / "risky.py").read_text() == FIXED
    git("add", "-A", cwd=project)
    second = pre_commit("run", "--all-files", cwd=project, store=store)
    assert second.returncode == 0, second.stdout
    (project / "broken.py").write_text(BROKEN)
    git("add", "-A", cwd=project)
    third = pre_commit("run", cwd=project, store=store)
    assert third.returncode == 1 and third.stdout.count("Failed") == 2, third.stdout
    assert third.stdout.count("broken.py:2:1: error: TFN001 syntax error") == 2


def test_the_block_of_the_readme_prints_each_finding_once(hooks, store, project):
    """One hook that fixes what it can: `git commit` stops, and what is left is told once."""
    block = (HERE / "README.md").read_text().split("## pre-commit")[1].split("```")[1]
    stated = block.removeprefix("yaml\n").replace("path/or/address/of/this/repository", str(hooks))
    stated = stated.replace("v0.1.0", git("rev-parse", "HEAD", cwd=hooks))
    (project / ".pre-commit-config.yaml").write_text(stated)
    left = "\n\ndef ratio(x):\n    return 1.0 / tf.nn.relu(x)\n"
    (project / "risky.py").write_text(RISKY + left)
    (project / "script").unlink()
    git("add", "-A", cwd=project)
    first = pre_commit("run", "--all-files", cwd=project, store=store)
    assert first.returncode == 1, first.stdout
    assert "files were modified by this hook" in first.stdout
    assert first.stdout.count("risky.py:9:12: warning: TFN102") == 1, first.stdout
    assert "TFN301" not in first.stdout and first.stdout.count("division by") == 1
    assert (project / "risky.py").read_text() == FIXED + left
    (project / "risky.py").write_text(FIXED + left + "    # tfn: skip-file\n")
    git("add", "-A", cwd=project)
    assert pre_commit("run", "--all-files", cwd=project, store=store).returncode == 0


def configured(project: Path, hooks: Path) -> None:
    revision = git("rev-parse", "HEAD", cwd=hooks)
    (project / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n  - id: tfnanlint-fix\n  - id: tfnanlint\n"
    )


def test_a_partially_staged_file(hooks, store, project):
    """What is not staged is neither checked nor lost, whether the fix meets it or not."""
    configured(project, hooks)
    staged = "import tensorflow as tf\n\n\ndef first(z):\n    return tf.math.log(tf.nn.softmax(z))\n\n\ndef last():\n    pass\n"
    (project / "part.py").write_text(staged)
    git("add", "-A", cwd=project)
    (project / "part.py").write_text(
        staged.replace("    pass", "    return tf.math.log(tf.nn.softmax(1.0))")
    )
    (project / "risky.py").write_text(RISKY + "# not staged\n")
    apart = pre_commit("run", cwd=project, store=store)
    assert apart.returncode == 1 and "part.py:9" not in apart.stdout, apart.stdout
    assert "Unstaged files detected" in apart.stdout
    text = (project / "part.py").read_text()
    assert (
        "def first(z):\n    return tf.nn.log_softmax(z)\n" in text
        and "return tf.math.log(tf.nn.softmax(1.0))" in text
    )
    assert (project / "risky.py").read_text() == RISKY + "# not staged\n"

    (project / "part.py").write_text(staged)
    git("add", "-A", cwd=project)
    unstaged = staged.replace("tf.nn.softmax(z)", "tf.nn.softmax(2 * z)")
    (project / "part.py").write_text(unstaged)
    conflict = pre_commit("run", cwd=project, store=store)
    assert conflict.returncode == 1 and "Rolling back fixes" in conflict.stdout, conflict.stdout
    assert (project / "part.py").read_text() == unstaged


def test_prek_runs_the_same_hooks(hooks, project, tmp_path_factory):
    pytest.importorskip("prek")
    configured(project, hooks)
    git("add", "-A", cwd=project)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE"))
    }
    environment["PREK_HOME"] = str(tmp_path_factory.mktemp("prek"))

    def run() -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "prek", "run", "--all-files"],
            cwd=project,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )

    first = run()
    assert first.returncode == 1, first.stdout
    assert (project / "risky.py").read_text() == FIXED and (
        project / "generated" / "left_out.py"
    ).read_text() == RISKY
    git("add", "-A", cwd=project)
    assert run().returncode == 0
