"""Runs of the command line in one directory, with and without the results of those before."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from pathlib import Path

import pytest

from tfnanlint.cli import main
from tfnanlint.pipeline import linter
from tfnanlint.project import index as project

HEAD = "import tensorflow as tf\n"
RISKY = HEAD + "\n\ndef loss(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
HELPED = (
    HEAD
    + "from pkg.bounds import bounded\n\n\ndef f(z):\n    return tf.math.log(bounded(tf.nn.sigmoid(z)))\n"
)
SAFE = HEAD + "\n\ndef bounded(p):\n    return tf.clip_by_value(p, 1e-6, 1.0)\n"
BARE = HEAD + "\n\ndef bounded(p):\n    return tf.identity(p)\n"
CALLED = HEAD + "\n\ndef entropy(p):\n    return tf.math.log(p)\n"
CALLS = HEAD + "from pkg.called import entropy\n\n\ndef g(z):\n    return entropy({})\n"


@dataclasses.dataclass
class Runs:
    """Command lines in one directory; each run forgets what the one before has read, as a new
    process would.
    """

    directory: Path
    cache: Path
    analysed: list[str]
    capture: pytest.CaptureFixture

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def __call__(self, *argv: str, at: Path | None = None) -> tuple[int, str, str]:
        """Exit code and output of `tfnanlint check`, with the cache in a folder; without one where
        that is None.
        """
        project.forget()
        project._sources.clear()
        self.analysed.clear()
        kept = ["--no-cache"] if at is None else ["--cache-dir", str(at)]
        try:
            code = main(["check", *kept, *argv])
        except SystemExit as end:
            code = end.code
        return code, *self.capture.readouterr()

    def same(self, *argv: str) -> tuple[int, str, str]:
        """What a run reports; the same without a cache, with an empty one, with what is there, and
        with that once more.
        """
        plain = self(*argv)
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.directory.parent / "empty")
        assert self(*argv, at=self.directory.parent / "empty") == plain
        assert self(*argv, at=self.cache) == plain
        assert self(*argv, at=self.cache) == plain
        return plain


@pytest.fixture
def runs(tmp_path, monkeypatch, capsys):
    """A `Runs` that lists the files which were analysed."""
    directory = tmp_path / "code"
    directory.mkdir()
    monkeypatch.chdir(directory)
    for name in (
        "TFNANLINT_NO_CACHE",
        "TFNANLINT_CACHE_DIR",
        "CI",
        "TFNANLINT_OUTPUT_FORMAT",
        "TFNANLINT_OUTPUT_FILE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    analysed: list[str] = []
    check = linter.check

    def counted(path, *arguments):
        analysed.append(path)
        return check(path, *arguments)

    monkeypatch.setattr(linter, "check", counted)
    return Runs(directory, tmp_path / "cache", analysed, capsys)


def package(runs: Runs) -> None:
    for name, text in (
        ("pkg/__init__.py", ""),
        ("pkg/bounds.py", SAFE),
        ("pkg/model.py", HELPED),
        ("pkg/risky.py", RISKY),
        ("pkg/called.py", CALLED),
        ("pkg/calls.py", CALLS.format("tf.nn.relu(z) + 1.0")),
    ):
        runs.write(name, text)
