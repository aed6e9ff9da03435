"""The package as it is installed: nothing forgotten, nothing listed that is not there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tfnanlint.pipeline.rule_page import page
from tfnanlint.rule.registry import load

HERE = Path(__file__).parents[2]


def test_every_package_is_listed_and_exists():
    text = (HERE / "pyproject.toml").read_text()
    listed = set(
        re.findall(r'"([\w.]+)"', re.search(r"^packages = \[(.*?)\]", text, re.M | re.S)[1])
    )
    there = {
        ".".join(path.parent.relative_to(HERE).parts)
        for path in (HERE / "tfnanlint").rglob("__init__.py")
    }
    assert listed == there | {"tfnanlint_rules"}


def test_the_version_is_stated_once():
    from tfnanlint import __version__

    assert f'version = "{__version__}"' in (HERE / "pyproject.toml").read_text()


def test_the_licence_is_whole():
    text = (HERE / "LICENSE").read_text()
    assert "Apache License" in text and "END OF TERMS AND CONDITIONS" in text


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel that pip builds from a copy of this tree, without a network."""
    copy = tmp_path_factory.mktemp("tree")
    for name in ("tfnanlint", "rules"):
        shutil.copytree(HERE / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "docs/tfnanlint.1"):
        (copy / name).parent.mkdir(exist_ok=True)
        shutil.copy(HERE / name, copy / name)
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--no-index", "-w", folder, copy], check=True, timeout=300)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def explained(wheel, tmp_path_factory):
    """What a command prints that runs from the wheel alone: no repository, no other package."""
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    code += "from tfnanlint.cli import main; sys.exit(main(sys.argv[1:]))"
    clean = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "CI")}

    def run(*argv: str) -> str:
        command = [sys.executable, "-I", "-S", "-c", code, str(site), *argv]
        done = subprocess.run(
            command, cwd=elsewhere, capture_output=True, text=True, timeout=120, env=clean
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@pytest.mark.slow
def test_the_wheel_has_what_pages_are_made_of(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"tfnanlint_rules/{path.name}" for path in (HERE / "rules").glob("*.py")} <= names
    assert {"tfnanlint/pipeline/repairs.json", "tfnanlint/html/page.html.j2"} <= names
    assert {f"tfnanlint/cli/tfnanlint.{shell}" for shell in ("bash", "zsh", "fish")} <= names


@pytest.mark.slow
def test_every_page_is_explained_from_the_wheel(explained):
    rules = load()
    printed = explained("explain", "--all")
    for rule in rules:
        assert page(rule, rules, plain=True) in printed
    assert explained("explain", "TFN102").startswith("# division-by-zero (TFN102)\n")
    assert "| `divide_no_nan`: " in explained("explain", "TFN102", "--output-format", "markdown")


@pytest.mark.slow
def test_completion_is_printed_from_the_wheel(explained):
    for shell in ("bash", "zsh", "fish"):
        script = explained("completion", shell)
        assert "TFN301" in script and "unsafe-fixes" in script
