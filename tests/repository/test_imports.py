"""The contracts of import-linter in `pyproject.toml` hold. It counts imports for annotations and
inside functions, too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter")

ROOT = Path(__file__).parents[2]
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def linted(folder: Path) -> subprocess.CompletedProcess:
    """What import-linter says of the package in a folder, with the configuration there."""
    return subprocess.run(
        [sys.executable, "-c", LINT, "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_contracts_hold():
    done = linted(ROOT)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


CONFIGURATION = """
[tool.importlinter]
root_package = "house"
exclude_type_checking_imports = false
[[tool.importlinter.contracts]]
name = "no circles"
type = "acyclic_siblings"
ancestors = ["house"]
"""
BACK = {
    "annotation": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.above import X\n",
    "late": "def f():\n    from house.above import X\n",
    "none": "",
}


@pytest.mark.parametrize("kind, code", [("annotation", 1), ("late", 1), ("none", 0)])
def test_a_circle_of_any_kind_breaks_the_contract(tmp_path, kind, code):
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION)
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "above.py").write_text("from house.below import Y\nX = Y\n")
    (package / "below.py").write_text("Y = 1\n" + BACK[kind])
    done = linted(tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
