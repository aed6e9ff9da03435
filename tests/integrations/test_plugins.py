"""The plugin of docs/plugins, installed and run; and who may let one run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ACME = Path(__file__).parents[2] / "docs" / "plugins" / "acme"
CODE = "import tensorflow as tf\ny = tf.exp(x)\nz = tf.exp(x)  # noqa: ACM101\n"
CONCISE = ("check", "--output-format", "concise", "-q")
FOUND = "a.py:2:5: warning: ACM101 exponential of a value without bound\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with the plugin as pip installs it."""
    copy = tmp_path_factory.mktemp("acme") / "acme"
    shutil.copytree(ACME, copy)
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--no-index", "--target", target, copy], check=True, timeout=300)
    return target


@pytest.fixture
def run(installed, tmp_path):
    """What runs tfnanlint in a folder with a file that the plugin has to do with."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text(CODE)

    def runs(*argv: str, site: Path = installed, **more: str) -> subprocess.CompletedProcess:
        clean = {key: value for key, value in os.environ.items() if key != "CI"}
        home = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "PYTHONPATH": str(site)}
        return subprocess.run(
            [sys.executable, "-m", "tfnanlint", *argv],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            env={**clean, **home, **more},
        )

    runs.folder = folder
    runs.user_file = tmp_path / "config" / "tfnanlint" / "tfnanlint.toml"
    return runs


def test_an_allowed_plugin_runs(run):
    assert run(*CONCISE).stdout == ""
    done = run(*CONCISE, "--plugins", "acme")
    assert (done.returncode, done.stdout, done.stderr) == (1, FOUND, "")
    assert run(*CONCISE, "--config", 'plugins = ["acme"]').stdout == FOUND
    assert run(*CONCISE, TFNANLINT_PLUGINS="acme").stdout == FOUND
    run.user_file.parent.mkdir(parents=True)
    run.user_file.write_text('plugins = ["acme"]\n')
    assert run(*CONCISE).stdout == FOUND
    assert run(*CONCISE, "--isolated").stdout == ""
    run.user_file.write_text('plugins = ["acme"]\nignore = ["TFN1"]\n')
    assert "only `plugins` is allowed in this file, not `ignore`" in run(*CONCISE).stderr


def test_a_repository_alone_runs_no_plugin(run):
    for name, text in (
        ("tfnanlint.toml", 'plugins = ["acme"]\n'),
        ("pyproject.toml", '[tool.tfnanlint]\nplugins = ["acme"]\n'),
    ):
        (run.folder / name).write_text(text)
        done = run(*CONCISE)
        assert (done.returncode, done.stdout) == (2, "")
        assert "the plugin `acme` runs code of its own, and you have not allowed it" in done.stderr
        assert run(*CONCISE, "--plugins", "acme").stdout == FOUND
        (run.folder / name).unlink()


def test_codes_of_a_plugin_are_codes(run):
    allowed = ("--plugins", "acme")
    for selector in ("ACM", "ACM1", "ACM101", "exp-without-bound"):
        assert run(*CONCISE, *allowed, "--select", selector).stdout == FOUND
        assert run(*CONCISE, *allowed, "--ignore", selector).stdout == ""
    assert run(*CONCISE, *allowed, "--select", "TFN").stdout == ""
    assert "unknown rule `ACM`" in run(*CONCISE, "--select", "ACM").stderr
    assert (
        "Exponential of a value that has no upper bound."
        in run("explain", "ACM101", *allowed).stdout
    )
    assert "ACM101" in run("rules", *allowed).stdout and "ACM101" not in run("rules").stdout
    assert run("explain", "ACM101").returncode == 2


def test_what_is_remembered_hangs_on_the_code_of_plugins(run, installed, tmp_path):
    changed = tmp_path / "changed"
    shutil.copytree(installed, changed)
    module = changed / "acme_rules.py"
    module.write_text(module.read_text().replace("without bound", "that is large"))
    shutil.rmtree(changed / "__pycache__", ignore_errors=True)
    cache = {"TFNANLINT_CACHE_DIR": str(tmp_path / "cache"), "TFNANLINT_NO_CACHE": ""}
    for site, plugins, expected in (
        (installed, (), ""),
        (installed, ("--plugins", "acme"), FOUND),
        (installed, ("--plugins", "acme"), FOUND),
        (changed, ("--plugins", "acme"), FOUND.replace("without bound", "that is large")),
        (changed, (), ""),
    ):
        done = run(*CONCISE, *plugins, site=site, **cache)
        assert (done.stdout, done.stderr) == (expected, "")


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ("TFNANLINT_API = 1", "TFNANLINT_API = 9", "is made for version 9 of tfnanlint.api"),
        ("ACM101", "TFN999", "`TFN999` is no code for a rule of a plugin"),
        ("ACM101", "acme1", "`acme1` is no code for a rule of a plugin"),
        ("exp-without-bound", "log-softmax", "`ACM101 log-softmax` is taken"),
    ],
)
def test_a_plugin_that_does_not_fit_is_refused(run, installed, tmp_path, old, new, complaint):
    changed = tmp_path / "changed"
    shutil.copytree(installed, changed)
    module = changed / "acme_rules.py"
    module.write_text(module.read_text().replace(old, new))
    done = run(*CONCISE, "--plugins", "acme", site=changed)
    assert done.returncode == 2 and complaint in done.stderr


def test_a_plugin_that_is_not_installed_is_told(run):
    done = run(*CONCISE, "--plugins", "acmee")
    assert done.returncode == 2
    assert done.stderr == "error: the plugin `acmee` is not installed; installed are: acme\n"
