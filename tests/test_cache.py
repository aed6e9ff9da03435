"""What is remembered is what would be found: after any change, with or without a cache, a run reports the same."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tfnanlint import cache, linter, project, store
from tfnanlint.cli import main
from tfnanlint.config import Configuration, Layer
from tfnanlint.linter import Linter
from tfnanlint.report import FORMATS

ROOT = Path(__file__).resolve().parent.parent
HEAD = "import tensorflow as tf\n"
RISKY = HEAD + "\n\ndef loss(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
HELPED = HEAD + "from pkg.bounds import bounded\n\n\ndef f(z):\n    return tf.math.log(bounded(tf.nn.sigmoid(z)))\n"
SAFE = HEAD + "\n\ndef bounded(p):\n    return tf.clip_by_value(p, 1e-6, 1.0)\n"
BARE = HEAD + "\n\ndef bounded(p):\n    return tf.identity(p)\n"
CALLED = HEAD + "\n\ndef entropy(p):\n    return tf.math.log(p)\n"
CALLS = HEAD + "from pkg.called import entropy\n\n\ndef g(z):\n    return entropy({})\n"


@dataclasses.dataclass
class Runs:
    """Command lines in one directory; each run forgets what the one before has read, as a new process would."""

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
        """Exit code and output of `tfnanlint check`, with the cache in a folder; without one where that is None."""
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
        """What a run reports; the same without a cache, with an empty one, with what is there, and with that once more."""
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
    for name in ("TFNANLINT_NO_CACHE", "TFNANLINT_CACHE_DIR", "CI", "TFNANLINT_OUTPUT_FORMAT", "TFNANLINT_OUTPUT_FILE"):
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
    for name, text in (("pkg/__init__.py", ""), ("pkg/bounds.py", SAFE), ("pkg/model.py", HELPED), ("pkg/risky.py", RISKY),
                       ("pkg/called.py", CALLED), ("pkg/calls.py", CALLS.format("tf.nn.relu(z) + 1.0"))):
        runs.write(name, text)


# ---------------------------------------------------------------------------------------------------------
# When a result is remembered, and when it is not


def test_a_file_that_does_not_change_is_not_analysed_again(runs):
    package(runs)
    first = runs(at=runs.cache)
    assert len(runs.analysed) == 5
    assert runs(at=runs.cache) == first and runs.analysed == []
    assert "TFN301" in first[1]


@pytest.mark.parametrize("name, text, again", [
    ("pkg/bounds.py", BARE, {"pkg/bounds.py", "pkg/model.py"}),
    ("pkg/risky.py", RISKY + "\n\nx = 1\n", {"pkg/risky.py"}),
    ("pkg/calls.py", CALLS.format("tf.nn.softmax(z)"), {"pkg/called.py", "pkg/calls.py"}),
    ("pkg/more.py", CALLS.format("tf.nn.softmax(z)"), {"pkg/called.py", "pkg/more.py"}),
    ("pkg/unrelated.py", "x = 1\n", set()),
    ("pkg/bounds/__init__.py", BARE, {"pkg/bounds/__init__.py"}),  # the module `bounds.py` goes before the folder
    ("bounds.py", BARE, {"bounds.py"}),
    ("tfnanlint.toml", "certainty = 'must'\n", {f"pkg/{name}.py" for name in ("bounds", "model", "risky", "called", "calls")}),
    ("tfnanlint.toml", "exclude = ['pkg/risky.py']\n", set()),
])
def test_what_is_looked_at_again_after_a_change(runs, name, text, again):
    package(runs)
    runs(at=runs.cache)
    runs.write(name, text)
    warm = runs(at=runs.cache)
    assert set(runs.analysed) == again
    assert runs() == warm


def test_a_finding_comes_and_goes_with_a_helper_in_another_file(runs):
    package(runs)
    assert "model.py" not in runs.same("--output-format", "concise")[1]
    runs.write("pkg/bounds.py", BARE)
    assert "model.py" in runs.same("--output-format", "concise")[1]
    (runs.directory / "pkg/bounds.py").unlink()
    runs.same("--output-format", "concise")


def test_a_module_that_appears_is_noticed(runs):
    runs.write("main.py", HELPED.replace("pkg.bounds", "bounds"))
    assert "main.py" not in runs.same("--output-format", "concise")[1]
    runs.write("bounds.py", BARE)
    assert "main.py" in runs.same("--output-format", "concise")[1]
    os.rename("bounds.py", "limits.py")
    assert "main.py" not in runs.same("--output-format", "concise")[1]
    runs.write("bounds/__init__.py", BARE)
    assert "main.py" in runs.same("--output-format", "concise")[1]


def test_a_setting_that_another_file_states_counts(runs):
    facts: project.Facts = {}
    path = str(runs.write("pkg/a.py", "import tensorflow as tf\n"))
    runs.write("pkg/__init__.py", "")
    runs.write("pkg/settings.py", "params.floor = 0.25\n")
    assert project.Project(path, facts).settings(path, "floor") == (0.25,)
    kept = json.loads(json.dumps(cache._listed(facts)))
    for name, text, hold in (("pkg/more.py", "params.top = 1\n", True), ("pkg/sub/more.py", "params.floor = 0.5\n", False),
                             ("pkg/sub/more.py", "", True), ("pkg/settings.py", "params.floor = 0.75\n", False)):
        runs.write(name, text)
        project.forget()
        assert cache._hold(kept) == hold


def test_times_count_for_nothing(runs):
    """ruff believes the time of change: new content with the old time was still clean to it."""
    path = runs.write("a.py", RISKY.replace("tf.nn.softmax(z)", "tf.nn.relu(z) + 2.0"))
    assert runs(at=runs.cache)[0] == 0
    before = path.stat()
    path.write_text(RISKY.replace("tf.nn.softmax(z)", "tf.nn.relu(z) - 2.0"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert runs.same("--output-format", "concise")[0] == 1
    os.utime(path, ns=(1, 1))
    runs(at=runs.cache)
    assert runs.analysed == []


@pytest.mark.parametrize("setting", ["select = []", "ignore = ['TFN301']", "certainty = 'must'", "epsilon = 0.01", "modes = ['eager']",
                                     "unsafe-fixes = true", "per-file-ignores = { 'a.py' = ['TFN3'] }", "max-file-size = 10"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_settings_count(runs, setting, jobs):
    runs.write("a.py", RISKY)
    runs.write("b.py", RISKY)
    before = runs.same("--output-format", "json", "--jobs", jobs)
    runs.write("tfnanlint.toml", setting)
    after = runs.same("--output-format", "json", "--jobs", jobs)
    assert after != before or setting.startswith(("epsilon", "modes", "unsafe"))


def test_the_name_of_a_file_counts(runs):
    text = RISKY.replace("def loss", "def run")
    runs.write("a.py", text)
    runs.same("--output-format", "json")
    os.rename("a.py", "test_a.py")  # what tests compute is not differentiated
    runs.same("--output-format", "json")
    shutil.copy("test_a.py", "b.py")
    runs.same("--output-format", "json")


def test_what_failed_is_not_remembered(runs, monkeypatch):
    from tfnanlint import flow

    runs.write("a.py", RISKY)
    with monkeypatch.context() as broken:
        broken.setattr(flow.File, "judge", lambda *_: 1 / 0)
        assert runs(at=runs.cache)[0] == 2
    assert runs(at=runs.cache)[0] == 1
    runs.write("a.py", RISKY + "(")
    assert "TFN001" in runs.same("--output-format", "concise")[1]


def test_broken_rule_is_not_remembered(runs, monkeypatch):
    from tfnanlint import rules

    runs.write("a.py", RISKY)
    with monkeypatch.context() as broken:
        broken.setattr(rules.Context, "rewrite_all", lambda *_, **__: 1 / 0)
        assert runs(at=runs.cache)[0] == 2
    assert runs(at=runs.cache)[0] == 1


def test_every_field_of_a_finding_is_remembered(tmp_path):
    """All fixtures of rules, and every field: also those that only `--fix` looks at."""
    paths = [str(path) for path in sorted((ROOT / "fixtures/rules").glob("*.py"))[::3]] + [
        str(path) for path in sorted((ROOT / "fixtures/programs").rglob("*.py"))[:6]]
    assert len(paths) > 20
    configuration = Configuration(Layer(certainty="unknown"), (), True)
    outcomes = []
    for _ in range(2):
        kept = Linter(configuration, cache=lambda: cache.Cache(store.Store(str(tmp_path))))
        outcomes.append([kept.file(path).checked for path in paths])
        kept.close()
    recalled = kept.recalled(paths[0], Path(paths[0]).read_bytes())
    assert recalled is not None and kept._rules is None  # nothing was analysed the second time
    plain = [Linter(configuration).file(path).checked for path in paths[:8]]
    for found, again in zip((*outcomes[0], *plain), (*outcomes[1], *outcomes[1])):
        assert found.findings == again.findings and (found.hidden, found.unsafe_fixes) == (again.hidden, again.unsafe_fixes)
        for one, other in zip(found.findings, again.findings):
            assert one.data == other.data and hash(one) == hash(other)
            for name in (field.name for field in dataclasses.fields(one)):
                assert type(getattr(one, name)) is type(getattr(other, name))
            assert one.trace == other.trace and one.fixes == other.fixes
    assert sum(len(found.findings) for found in outcomes[0]) > 200
    assert any(one.fixes for found in outcomes[1] for one in found.findings)


def test_every_format_reports_the_same(runs):
    for name in ("log_of_prob", "sqrt_gradient_at_zero", "division_by_zero", "where_guards_value_only"):
        shutil.copy(ROOT / f"fixtures/rules/{name}.py", runs.directory)
    runs.write("book.ipynb", TEXTS["limits.ipynb"][0])
    runs.write("broken.ipynb", TEXTS["limits.ipynb"][2])
    runs.write("idle.py", RISKY + "x = 1  # tfn: ignore[TFN101]\ny = tf.math.log(tf.nn.softmax(x))  # noqa: TFN301\n")
    said = []
    for number, at in enumerate((None, runs.cache, runs.cache)):
        files = [runs.directory.parent / f"{number}.{name}" for name in FORMATS]
        flags = [f"--output-format={name}={path}" for name, path in zip(FORMATS, files)]
        runs("--certainty", "unknown", "--unsafe-fixes", "--jobs", "1", *flags, at=at)
        said.append([path.read_bytes() for path in files])
    assert not [path for path in runs.analysed if path.endswith("prob.py")]
    for plain, cold, warm, name in zip(*said, FORMATS):
        assert plain == cold == warm, name
    for flags in (["--statistics"], ["--diff"], ["--ignore-noqa"], ["--select", "TFN3"], ["--exit-zero", "-q"]):
        runs.same(*flags)


def test_a_baseline_sets_the_same_aside(runs):
    package(runs)
    assert main(["baseline", "create", "-q"]) == 0
    lines = json.loads(Path("tfnanlint-baseline.json").read_text())["files"]
    assert lines
    for flags in (["--baseline", "tfnanlint-baseline.json"], [], ["--baseline", "tfnanlint-baseline.json"]):
        runs.same("--certainty", "unknown", *flags)
    # Findings that the baseline held have no fixes in the cache: without it they must have.
    runs.write("pkg/risky.py", RISKY + "\n")
    runs("--baseline", "tfnanlint-baseline.json", at=runs.cache)
    assert "[*]" in runs("--output-format", "concise", at=runs.cache)[1]
    runs.same("--output-format", "concise")


# ---------------------------------------------------------------------------------------------------------
# Random changes


TEXTS = {
    "pkg/__init__.py": ["", "from pkg.bounds import bounded\n"],
    "pkg/bounds.py": [SAFE, BARE, SAFE + "(", HEAD + "from pkg.limits import bounded\n", SAFE + "#" * (1 << 20)],
    "pkg/limits.py": [SAFE, BARE],
    "pkg/bounds/__init__.py": [BARE],
    "pkg/model.py": [HELPED, HELPED.replace("pkg.bounds", ".bounds"), HELPED.replace("from pkg.bounds import bounded", "from pkg import bounded")],
    "pkg/called.py": [CALLED, CALLED.replace("log(p)", "log(p)  # tfn: ignore"), "# tfn: skip-file\n" + CALLED],
    "pkg/calls.py": [CALLS.format("tf.nn.softmax(z)"), CALLS.format("tf.exp(z) + 1.0"), CALLS.format("tf.nn.relu(z)")],
    "pkg/sub/calls.py": [CALLS.format("tf.nn.relu(z)"), CALLS.format("tf.nn.relu(z) + 2.0")],
    "main.py": [HELPED.replace("pkg.bounds", "bounds"), HELPED, RISKY],
    "bounds.py": [SAFE, BARE],
    "limits.ipynb": [json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
        {"cell_type": "code", "source": [line], "metadata": {}, "outputs": []} for line in (HEAD + text, "tf.math.log(bounded(tf.nn.sigmoid(z)))")]})
        for text in ("from bounds import bounded\n", "bounded = tf.identity\n", "bounded = (\n")],
    "tfnanlint.toml": ["", "certainty = 'unknown'\n", "ignore = ['TFN301']\n", "select = ['TFN1', 'TFN3']\n", "select = []\n", "max-file-size = 100\n",
                       "per-file-ignores = { 'main.py' = ['TFN1'] }\n", "epsilon = 0.01\nunsafe-fixes = true\n", "select = ['TFN9999']\n"],
}
FLAGS = [["--output-format", name] for name in ("full", "json", "concise", "sarif")] + [
    ["--statistics"], ["--diff"], ["--diff", "--unsafe-fixes"], ["--ignore-noqa"], ["--certainty", "unknown"], ["pkg"], ["main.py", "pkg/called.py"]]


def change(chance: random.Random, runs: Runs) -> str:
    """One random change of the tree, in words."""
    name = chance.choice(list(TEXTS))
    path = runs.directory / name
    kind = chance.choice(["write", "write", "write", "remove", "touch", "sneak", "rename", "folder"])
    if not path.is_file() and kind != "folder":
        kind = "write"
    with contextlib.suppress(OSError):  # a file where a folder was, or the other way round
        if kind == "write":
            runs.write(name, chance.choice(TEXTS[name]))
        elif kind == "remove":
            path.unlink()
        elif kind == "touch":
            os.utime(path)
        elif kind == "sneak":  # as many bytes, at the same time
            before, text = path.stat(), path.read_bytes()
            path.write_bytes(text.replace(b"softmax", b"sigmoid").replace(b"+ 1.0", b"- 1.0").replace(b"1e-6", b"-1.0"))
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        elif kind == "rename":
            path.rename(path.with_name("moved" + path.suffix))
        else:
            shutil.rmtree(runs.directory / chance.choice(["pkg/sub", "pkg/bounds", "pkg/__init__.py"]))
    return f"{kind} {name}"


@pytest.mark.parametrize("seed", range(3))
def test_random_changes(runs, seed):
    chance = random.Random(seed)
    package(runs)
    runs(at=runs.cache)
    story, remembered, lines = [], 0, set()
    for _ in range(40):
        story += [change(chance, runs) for _ in range(chance.randint(1, 2))]
        flags = chance.choice(FLAGS)
        warm = runs(*flags, at=runs.cache)
        remembered += len(runs.analysed) < 3
        assert runs(*flags) == warm, (story, flags)
        lines.add(warm[1])
        if warm[0] == 2:  # else all that follows fails in the same way
            (runs.directory / "tfnanlint.toml").unlink()
    assert remembered > 10 and len(lines) > 10


def fixed(runs: Runs, *flags: str) -> tuple[int, str, str]:
    """What `--fix` reports; it is the same, and so are the files, with and without what was remembered before."""
    saved = runs.directory.parent / "saved"
    shutil.copytree(runs.directory, saved)
    runs(*flags, at=runs.cache)
    outcomes = []
    for at in (None, runs.cache):
        for path in sorted(saved.rglob("*")):
            if path.is_file():
                shutil.copy(path, runs.directory / path.relative_to(saved))
        said = runs("--fix", "--show-fixes", *flags, at=at)
        outcomes.append((said, {path.name: path.read_bytes() for path in sorted(runs.directory.rglob("*.py"))}))
    assert outcomes[0] == outcomes[1]
    return outcomes[0][0]


@pytest.mark.parametrize("seed", range(2))
def test_fixing_is_the_same(runs, seed):
    chance = random.Random(seed)
    package(runs)
    for _ in range(4):
        change(chance, runs)
    fixed(runs, "--unsafe-fixes")


def test_what_was_fixed_is_seen_in_the_files_after_it(runs):
    uses = HEAD + "from pkg.risky import loss\n\n\ndef h(z):\n    return tf.math.log(loss(z))\n"
    for name, text in (("pkg/__init__.py", ""), ("pkg/a.py", uses), ("pkg/risky.py", RISKY), ("pkg/z.py", uses)):
        runs.write(name, text)
    said = fixed(runs)[1]
    assert "pkg/a.py" in said and "tf.math.log(tf.nn.softmax(z)) is" in said.partition("pkg/z.py")[0]
    assert "tf.nn.log_softmax(z) is" in said.partition("pkg/z.py")[2]


# ---------------------------------------------------------------------------------------------------------
# Code that changes


def test_changed_code_of_a_rule_or_of_the_engine_counts(tmp_path, monkeypatch):
    package = tmp_path / "my_rules"
    package.mkdir()
    (package / "__init__.py").write_text("")
    rule = package / "rule.py"
    rule.write_text("LIMIT = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(cache, "RULE_PACKAGES", (*cache.RULE_PACKAGES, "my_rules"))
    kept = store.Store(str(tmp_path / "cache"))
    first = cache.Cache(kept).engine
    assert cache.Cache(kept).engine == first
    for text in ("LIMIT = 2\n", "LIMIT = 3\n"):
        before = rule.stat()
        rule.write_text(text)
        os.utime(rule, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert cache.Cache(kept).engine != first
    (package / "other.py").write_text("")
    second = cache.Cache(kept).engine
    rule.write_text("LIMIT = 1\n")
    assert second != cache.Cache(kept).engine != first
    (package / "other.py").unlink()
    assert cache.Cache(kept).engine == first  # wherever and whenever the same code was installed


def test_the_digest_of_code_at_rest_is_remembered(tmp_path, monkeypatch):
    """But not that of code that has just changed, which may change again at the same time."""
    kept = store.Store(str(tmp_path))
    put: list[str] = []
    monkeypatch.setattr(kept, "put", lambda entries: put.extend(entries))
    monkeypatch.setattr(cache, "_FRESH", 10**18)
    cache.Cache(kept).engine
    assert put == []
    monkeypatch.setattr(cache, "_FRESH", 0)
    digest = cache.Cache(kept).engine
    assert len(put) == 1
    monkeypatch.setattr(kept, "get", {put[0]: b"remembered"}.get)
    assert cache.Cache(kept).engine == "remembered" != digest


def test_other_settings_and_another_python_are_other_entries(tmp_path, monkeypatch):
    kept = cache.Cache(store.Store(str(tmp_path)))
    keys = [kept.entry("a.py", b"x", settings)._key for settings in ("1", "2")]
    keys += [kept.entry("b.py", b"x", "1")._key, kept.entry("a.py", b"y", "1")._key]
    monkeypatch.setattr(sys, "version", "4.0")
    keys.append(cache.Cache(store.Store(str(tmp_path))).entry("a.py", b"x", "1")._key)
    assert len(set(keys)) == 5


# ---------------------------------------------------------------------------------------------------------
# The file of results


def command(directory: Path, at: Path, *argv: str, **more) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name not in ("TFNANLINT_NO_CACHE", "CI")}
    return subprocess.run([sys.executable, "-m", "tfnanlint", "check", "--isolated", "--output-format", "concise", "--cache-dir", str(at), *argv],
                          cwd=directory, capture_output=True, text=True, timeout=120, env=environment, **more)


def test_four_processes_at_once(runs):
    for number in range(24):
        runs.write(f"m{number:02}.py", RISKY.replace("loss", f"loss{number}"))
    plain = runs("--isolated", "--output-format", "concise")
    environment = {name: value for name, value in os.environ.items() if name not in ("TFNANLINT_NO_CACHE", "CI")}
    for _ in range(2):  # all of them make the file; then all of them use it
        started = [subprocess.Popen([sys.executable, "-m", "tfnanlint", "check", "--isolated", "--output-format", "concise",
                                     "--cache-dir", str(runs.cache)], cwd=runs.directory, env=environment, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
        for process in started:
            out, err = process.communicate(timeout=120)
            assert (process.returncode, out, err) == plain
    assert runs("--isolated", "--output-format", "concise", at=runs.cache) == plain and runs.analysed == []


def test_several_processes_of_one_run(runs):
    for number in range(6):
        runs.write(f"m{number}.py", RISKY.replace("loss", f"loss{number}"))
    plain = runs("--isolated", "--output-format", "concise")
    for jobs in ("2", "2", "1"):
        done = command(runs.directory, runs.cache, "--jobs", jobs)
        assert (done.returncode, done.stdout, done.stderr) == plain
    runs.write("m3.py", CALLED)
    plain = runs("--isolated", "--output-format", "concise")
    done = command(runs.directory, runs.cache, "--jobs", "3")
    assert (done.returncode, done.stdout, done.stderr) == plain
    assert runs("--isolated", "--output-format", "concise", at=runs.cache) == plain and runs.analysed == []


def results(runs: Runs) -> Path:
    return runs.cache / store.FOLDER / store.NAME


def test_a_broken_file_is_made_anew(runs):
    package(runs)
    plain = runs(at=runs.cache)
    whole = results(runs).read_bytes()
    chance = random.Random(0)
    broken = [b"", b"no database", whole[:100], whole[: len(whole) // 2], b"\0" * len(whole)]
    for _ in range(12):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 40, 400))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        broken.append(bytes(damaged))
    for text in broken:
        results(runs).write_bytes(text)
        assert runs(at=runs.cache) == plain
        assert runs(at=runs.cache) == plain
    runs("clean")
    results(runs).unlink(missing_ok=True)
    assert runs(at=runs.cache) == plain
    assert runs(at=runs.cache) == plain and runs.analysed == []


@pytest.mark.parametrize("body", [b"", b"x", b"text", None, 5])
def test_a_foreign_entry_is_none(runs, body):
    package(runs)
    plain = runs(at=runs.cache)
    with contextlib.closing(sqlite3.connect(results(runs))) as file, file:
        if body == b"x":  # the body of another entry
            body = file.execute("SELECT max(body) FROM results").fetchone()[0]
        file.execute("UPDATE OR IGNORE results SET body = ?", (body.decode() if body == b"text" else body if body is not None else 0,))
    assert runs(at=runs.cache) == plain
    assert len(runs.analysed) >= 4


def test_a_body_that_says_something_else_is_none(runs):
    """As another program, or another version with the same key, might have written it."""
    import zlib

    runs.write("a.py", RISKY)
    plain = runs(at=runs.cache)
    for body in (b"", b"[]", zlib.compress(b"[]"), zlib.compress(b"{"), zlib.compress(b'[0, false, [[true, ["TFN101"]]], []]'),
                 zlib.compress(b'[0, false, [], [["mood", "a", "b"]]]')):
        with contextlib.closing(sqlite3.connect(results(runs))) as file, file:
            for (key,) in file.execute("SELECT key FROM results").fetchall():
                file.execute("UPDATE results SET body = ? WHERE key = ?", (store._mark(key, body) + body, key))
        kept = cache.Cache(store.Store(str(runs.cache)), "engine")
        kept._store.get = lambda key, body=body: body
        assert kept.entry("a.py", RISKY.encode(), "").checked(lambda checked: checked) is None
    (runs.cache / store.FOLDER / store.NAME).unlink()
    assert runs(at=runs.cache) == plain


def test_old_entries_make_room(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MAX_BYTES", 1 << 20)
    kept = store.Store(str(tmp_path))
    clock = 1_000_000
    monkeypatch.setattr(store.time, "time", lambda: clock)
    for number in range(100):
        clock += 2 * 24 * 60 * 60
        kept.put({f"{number}": bytes(50_000)})
        assert kept.get("0") == bytes(50_000), number  # what is used stays
        kept.close()
    assert os.path.getsize(kept.path) < 3 << 19
    assert kept.get("99") is not None and kept.get("1") is None


def test_nobody_else_can_look_in(runs):
    os.umask(os.umask(0))
    package(runs)
    runs(at=runs.cache)
    assert stat.S_IMODE(results(runs).parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(results(runs).stat().st_mode) == 0o600


def other_folder(runs: Runs, kind: str) -> None:
    folder = runs.cache / store.FOLDER
    runs.cache.mkdir()
    if kind == "link":
        (runs.cache.parent / "elsewhere").mkdir()
        folder.symlink_to(runs.cache.parent / "elsewhere")
    elif kind == "writable":
        folder.mkdir()
        folder.chmod(0o777)
    elif kind == "file":
        folder.write_text("")
    elif kind == "link to a file":
        folder.mkdir(mode=0o700)
        (runs.cache.parent / "elsewhere").write_text("mine")
        (folder / store.NAME).symlink_to(runs.cache.parent / "elsewhere")


@pytest.mark.parametrize("kind, reason", [("link", "is no folder"), ("writable", "other users can write"), ("file", "is no folder"),
                                          ("link to a file", "symbolic links")])
def test_a_folder_that_is_not_safe_is_not_used(runs, kind, reason):
    package(runs)
    other_folder(runs, kind)
    plain = runs()
    for _ in range(2):
        code, out, err = runs(at=runs.cache)
        assert (code, out) == plain[:2]
        assert err.startswith("warning: what was found is not remembered: ") and reason in err and err.count("\n") == 1
    elsewhere = runs.cache.parent / "elsewhere"
    assert not elsewhere.exists() or elsewhere.is_file() and elsewhere.read_text() == "mine" or not list(elsewhere.iterdir())


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_not_used(runs):
    package(runs)
    (runs.cache / store.FOLDER).mkdir(parents=True, mode=0o700)
    os.chown(runs.cache / store.FOLDER, 12345, -1)
    assert "belongs to another user" in runs(at=runs.cache)[2]


def test_a_link_to_the_users_own_disk_is_followed(runs):
    package(runs)
    (runs.cache.parent / "scratch").mkdir()
    runs.cache.symlink_to(runs.cache.parent / "scratch")
    runs(at=runs.cache)
    assert runs(at=runs.cache)[2] == "" and runs.analysed == []


def test_a_folder_that_cannot_be_written(runs, monkeypatch):
    """It is said where somebody has named it; the default is done without."""
    package(runs)
    plain = runs()
    (runs.cache).write_text("a file")
    code, out, err = runs(at=runs.cache)
    assert (code, out) == plain[:2] and err.startswith("warning: what was found is not remembered: ")
    assert runs("-q", at=runs.cache)[2] == ""
    monkeypatch.setenv("XDG_CACHE_HOME", str(runs.cache))
    project.forget()
    assert (main(["check"]), *runs.capture.readouterr()) == plain


def test_results_that_can_only_be_read(runs, monkeypatch):
    package(runs)
    plain = runs(at=runs.cache)
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **more: connect(f"file:{path}?mode=ro", uri=True, **more))
    assert runs(at=runs.cache) == plain and runs.analysed == []
    runs.write("pkg/risky.py", RISKY + "\n")
    code, out, err = runs(at=runs.cache)
    assert runs.analysed == ["pkg/risky.py"] and (code, out) == runs()[:2] and "readonly" in err


def test_a_process_that_holds_the_file_is_not_waited_for_again_and_again(runs, monkeypatch):
    package(runs)
    plain = runs(at=runs.cache)
    monkeypatch.setattr(store, "WAIT", 0.05)
    with contextlib.closing(sqlite3.connect(results(runs), isolation_level=None)) as file:
        file.execute("BEGIN EXCLUSIVE")
        code, out, err = runs(at=runs.cache)
        assert (code, out) == plain[:2] and "locked" in err
    assert runs(at=runs.cache) == plain and runs.analysed == []


# ---------------------------------------------------------------------------------------------------------
# When there is a cache, and where


def kept_at(path: Path) -> bool:
    return (path / store.FOLDER / store.NAME).is_file()


def test_the_default_is_the_users_folder(runs, monkeypatch):
    runs.write("a.py", RISKY)
    home = runs.directory.parent / "home" / "tfnanlint"
    for name, value in (("CI", "true"), ("TFNANLINT_NO_CACHE", "1")):
        with monkeypatch.context() as context:
            context.setenv(name, value)
            main(["check", "-q"])
        assert not kept_at(home)
    main(["check", "-q", "--no-cache"])
    main(["check", "-q", "-n"])
    assert not kept_at(home)
    main(["check", "-q"])
    assert kept_at(home)
    runs.capture.readouterr()
    assert main(["clean"]) == 0 and "are removed" in runs.capture.readouterr().out
    assert not home.exists()
    assert main(["clean"]) == 0 and "nothing is remembered" in runs.capture.readouterr().out
    assert sorted(path.name for path in runs.directory.rglob("*")) == ["a.py"]


def test_a_named_folder(runs, monkeypatch):
    runs.write("a.py", RISKY)
    monkeypatch.setenv("TFNANLINT_CACHE_DIR", str(runs.cache))
    monkeypatch.setenv("CI", "true")  # whoever names one wants it there, too
    main(["check", "-q"])
    assert kept_at(runs.cache)
    (runs.cache / "mine").write_text("")
    main(["clean", "-q"])
    assert [path.name for path in runs.cache.iterdir()] == ["mine"]
    monkeypatch.setenv("TFNANLINT_NO_CACHE", "0")
    main(["check", "-q"])
    assert kept_at(runs.cache)
    main(["clean", "-q", "--cache-dir", str(runs.cache.parent / "other")])
    assert kept_at(runs.cache)


def test_a_folder_that_could_come_with_the_code_is_refused(runs):
    (runs.directory / ".git").mkdir()
    runs.write("a.py", RISKY)
    code, out, err = runs(at=runs.directory / "kept")
    assert code == 2 and "lies in the git repository" in err and not (runs.directory / "kept").exists()
    link = runs.directory.parent / "link"
    link.symlink_to(runs.directory)
    assert runs(at=link / "kept")[0] == 2
    assert runs("--cache-dir", "")[0] == 2


def test_no_configuration_names_one(runs):
    runs.write("a.py", RISKY)
    runs.write("tfnanlint.toml", "cache-dir = 'x'\n")
    code, _, err = runs(at=runs.cache)
    assert code == 2 and "unknown key `cache-dir`" in err


def test_standard_input_leaves_nothing_behind(runs, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RISKY.encode())))
    assert runs("-", at=runs.cache)[0] == 1
    assert not runs.cache.exists()


def test_a_rule_that_does_not_exist_is_said_every_time(runs):
    runs.write("a.py", "x = 1\n")
    for select, code in (("TFN101", 0), ("TFN999", 2), ("TFN101", 0)):
        runs.write("tfnanlint.toml", f"select = ['{select}']\n")
        for _ in range(2):
            assert runs(at=runs.cache)[0] == code


def test_nothing_is_loaded_for_files_without_tensorflow(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    script = "import sys; from tfnanlint.cli import main; main(['check', '--isolated']); print(*sorted({'sqlite3', 'json', 'hashlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          env={**os.environ, "TFNANLINT_NO_CACHE": "", "XDG_CACHE_HOME": str(tmp_path / "home"), "CI": ""})
    assert done.stdout.splitlines()[-1] == "", done.stderr
    assert not (tmp_path / "home").exists()


def test_a_remembered_file_loads_no_rules(runs):
    runs.write("a.py", RISKY)
    command(runs.directory, runs.cache)
    script = ("import sys; from tfnanlint.cli import main; main(['check', '--isolated', '--cache-dir', sys.argv[1]]);"
              "print(*sorted({'tfnanlint_rules', 'tfnanlint.flow', 'libcst'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", script, str(runs.cache)], cwd=runs.directory, capture_output=True, text=True,
                          timeout=60, env={**os.environ, "TFNANLINT_NO_CACHE": ""})
    assert "TFN301" in done.stdout and done.stdout.splitlines()[-1] == "", done.stdout
