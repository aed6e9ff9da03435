"""Reports as the programs of their inventors judge them: SARIF Multitool with GitHub's rules,
reviewdog's validator.

They come from npm. `.ci/run` installs them, so that they belong to the ordinary run; elsewhere set
TFNANLINT_VALIDATORS to a `node_modules` made by: npm install --prefix DIR
@microsoft/sarif-multitool-linux@5.7.0 @umbrelladocs/rdformat-validator@1.0.1
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tfnanlint import report
from tfnanlint.cli import main

ROOT = Path(__file__).parents[2]
MODULES = os.environ.get("TFNANLINT_VALIDATORS", "")
pytestmark = pytest.mark.skipif(
    not MODULES, reason="TFNANLINT_VALIDATORS is not set: see the head of this file"
)

# Notes that stay: no message ids, for a finding is one sentence; no revision of the repository,
# which the upload knows; the schema's address, which is asked over the network; no page for a
# notice on a file.
KNOWN = {"SARIF2002", "SARIF2003", "SARIF2006", "SARIF2012"}
# A warning while `report.ADDRESS` is empty: the tool has no page to name.
WITHOUT_ADDRESS = {"SARIF2005"}


def complaints(path: Path) -> set[str]:
    """Rules of the multitool that a SARIF file breaks."""
    program = Path(MODULES, "@microsoft", "sarif-multitool-linux", "Sarif.Multitool")
    program.chmod(0o755)
    out = path.with_suffix(".judged")
    judged = subprocess.run(
        [
            program,
            "validate",
            path,
            "--rule-kind",
            "Sarif;Ghas",
            "--level",
            "Error;Warning;Note",
            "-o",
            out,
            "--log",
            "ForceOverwrite",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"},
    )
    assert out.exists(), judged.stdout + judged.stderr
    return {one["ruleId"] for one in json.loads(out.read_text("utf-8-sig"))["runs"][0]["results"]}


@pytest.fixture
def tree(tmp_path, monkeypatch) -> Path:
    """Real programs and hostile files, in the working directory."""
    shutil.copytree(ROOT / "fixtures" / "programs", tmp_path / "programs")
    for name in ("a\nb.py", "\u202e%0A::error::.py", "c d,e=f.py", "😀.py"):
        (tmp_path / name).write_text(
            "import tensorflow as tf\ns = '😀\x1b\u202e'; y = tf.math.log(tf.nn.softmax(z))\n"
        )
    (tmp_path / "broken.py").write_text("import tensorflow\nprint 'a'\n")
    code = ["import tensorflow as tf\n", "y = tf.math.log(tf.nn.softmax(z))"]
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": code,
    }
    (tmp_path / "n.ipynb").write_text(
        json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1)
    )
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(tree: Path, name: str) -> Path:
    target = tree / f"report.{name}"
    assert main(["check", "--isolated", "--output-format", f"{name}={target}"]) == 1
    return target


@pytest.mark.parametrize("address", ["", "https://example.org/tfnanlint/"])
def test_sarif_multitool_with_the_rules_of_github(tree, monkeypatch, address):
    monkeypatch.setattr(report, "ADDRESS", address)
    path = written(tree, "sarif")
    assert len(json.loads(path.read_text())["runs"][0]["results"]) > 40
    assert complaints(path) <= KNOWN | (set() if address else WITHOUT_ADDRESS)


def test_the_multitool_does_complain(tree):
    path = written(tree, "sarif")
    data = json.loads(path.read_text())
    data["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 10**6
    path.write_text(json.dumps(data))
    assert complaints(path) - KNOWN - WITHOUT_ADDRESS


def test_reviewdog(tree):
    path = written(tree, "rdjson")
    program = Path(MODULES, ".bin", "rdformat-validator")
    judged = subprocess.run(
        [program, "--strict", "--no-extra-fields", path],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert judged.returncode == 0 and "Total errors: 0" in judged.stdout, judged.stdout
    data = json.loads(path.read_text())
    del data["diagnostics"][0]["location"]["path"]
    path.write_text(json.dumps(data))
    assert (
        subprocess.run([program, "--strict", path], capture_output=True, timeout=120).returncode
        == 1
    )
