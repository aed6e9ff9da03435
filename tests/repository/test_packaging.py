"""The package as it is installed: nothing forgotten, nothing listed that is not there."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


def copied(copy: Path) -> Path:
    """A folder with what a build reads."""
    for name in ("tfnanlint", "rules"):
        shutil.copytree(HERE / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "docs/tfnanlint.1"):
        (copy / name).parent.mkdir(exist_ok=True)
        shutil.copy(HERE / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel that pip builds from a copy of this tree, without a network."""
    copy = copied(tmp_path_factory.mktemp("tree"))
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


BUILD = """
import os, sys
from setuptools import build_meta
_, umask, build, folder = sys.argv
os.umask(int(umask, 8))
getattr(build_meta, build)(folder)
"""


@pytest.mark.slow
def test_two_builds_have_the_same_bytes(tmp_path):
    """In other folders, at other times, of files with other times and permissions."""
    stated = 1_700_000_000
    archives = []
    for number, name in enumerate(("a", "somewhere/else")):
        copy, out = copied(tmp_path / name), tmp_path / f"out{number}"
        out.mkdir()
        for path in copy.rglob("*"):
            os.utime(path, (1e9 + 1e6 * number,) * 2)
            path.chmod(0o755 if path.is_dir() else (0o600, 0o664)[number])
        env = {**os.environ, "PYTHONHASHSEED": str(number), "SOURCE_DATE_EPOCH": str(stated)}
        for build in ("build_sdist", "build_wheel"):
            command = [sys.executable, "-c", BUILD, ("077", "002")[number], build, str(out)]
            subprocess.run(command, cwd=copy, check=True, timeout=300, env=env, capture_output=True)
        archives.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert sorted(path.rpartition(".")[2] for path in archives[0]) == ["gz", "whl"]
    assert archives[0] == archives[1]
    sdist, wheel = sorted(archives[0].values(), key=lambda data: data[:2] == b"PK")
    with tarfile.open(fileobj=io.BytesIO(sdist)) as archive:
        assert {member.mtime for member in archive.getmembers()} == {stated}
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        assert archive.testzip() is None
        assert {member.date_time[0] for member in archive.infolist()} == {2023}


def needed(names: list[str]) -> set[str]:
    """Distributions that these ones need here, with those that they need, as names of an index."""
    waiting, seen = [Requirement(name) for name in names], set()
    while waiting:
        requirement = waiting.pop()
        name, extras = canonicalize_name(requirement.name), {"", *requirement.extras}
        fresh = {(name, extra) for extra in extras} - seen
        seen |= fresh
        if not fresh:
            continue
        try:
            lines = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # of another platform
            continue
        for line in lines:
            below = Requirement(line)
            if below.marker is None or any(below.marker.evaluate({"extra": e}) for _, e in fresh):
                waiting.append(below)
    return {name for name, _ in seen}


def test_the_tests_run_with_stated_versions():
    """Of everything that is installed for them, on this Python; the commands use them."""
    lines = (HERE / "constraints.txt").read_text("utf-8").splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    here = {
        canonicalize_name(pin.name): pin for pin in pins if not pin.marker or pin.marker.evaluate()
    }
    assert all(str(pin.specifier).startswith("==") for pin in pins)
    assert needed(["tfnanlint[test]"]) - here.keys() == {"tfnanlint"}
    for line in metadata.requires("tfnanlint"):
        asked = Requirement(line)
        if asked.marker is not None and asked.marker.evaluate({"extra": "test"}):
            pin = here.get(canonicalize_name(asked.name))
            assert pin is None or asked.specifier.contains(str(pin.specifier)[2:]), line
    for name in ("README.md", "CONTRIBUTING.md", ".ci/run"):
        text = (HERE / name).read_text("utf-8")
        assert "install -q -c constraints.txt -e" in text, name


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
