"""What is remembered is what would be found: after any change, with or without a cache, a run
reports the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
import shutil
import sys
from pathlib import Path

import pytest
from runs import BARE, CALLED, CALLS, HEAD, HELPED, RISKY, SAFE, Runs, package

from tfnanlint.cli import main
from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.files import store
from tfnanlint.pipeline import cache
from tfnanlint.pipeline.linter import Linter
from tfnanlint.project import index as project
from tfnanlint.report import FORMATS

ROOT = Path(__file__).resolve().parents[2]


# ---------------------------------------------------------------------------------------------------------
# When a result is remembered, and when it is not


def test_a_file_that_does_not_change_is_not_analysed_again(runs):
    package(runs)
    first = runs(at=runs.cache)
    assert len(runs.analysed) == 5
    assert runs(at=runs.cache) == first and runs.analysed == []
    assert "TFN301" in first[1]


@pytest.mark.parametrize(
    "name, text, again",
    [
        ("pkg/bounds.py", BARE, {"pkg/bounds.py", "pkg/model.py"}),
        ("pkg/risky.py", RISKY + "\n\nx = 1\n", {"pkg/risky.py"}),
        ("pkg/calls.py", CALLS.format("tf.nn.softmax(z)"), {"pkg/called.py", "pkg/calls.py"}),
        ("pkg/more.py", CALLS.format("tf.nn.softmax(z)"), {"pkg/called.py", "pkg/more.py"}),
        ("pkg/unrelated.py", "x = 1\n", set()),
        # the module `bounds.py` goes before the folder
        ("pkg/bounds/__init__.py", BARE, {"pkg/bounds/__init__.py"}),
        # a file beside the package may be a script that runs it
        ("bounds.py", BARE, {"bounds.py", "pkg/risky.py"}),
        (
            "tfnanlint.toml",
            "certainty = 'must'\n",
            {f"pkg/{name}.py" for name in ("bounds", "model", "risky", "called", "calls")},
        ),
        ("tfnanlint.toml", "exclude = ['pkg/risky.py']\n", set()),
    ],
)
def test_what_is_looked_at_again_after_a_change(runs, name, text, again):
    package(runs)
    runs(at=runs.cache)
    runs.write(name, text)
    warm = runs(at=runs.cache)
    assert set(runs.analysed) == again
    assert runs() == warm


def test_a_fix_is_made_again_after_the_papers_name_another_release(runs):
    runs.write(
        "mean.py",
        "import tensorflow as tf\n\ndef mean(x, y):\n    count = tf.reduce_sum(tf.cast(tf.nn.relu(x) > 1, tf.float32))\n"
        "    return tf.reduce_sum(tf.cast(x > 1, tf.float32) * y) / count\n",
    )
    for readme, form in (("TensorFlow 2.3", "divide_no_nan("), ("TensorFlow 1.8", "tf.maximum(")):
        runs.write("README.md", readme)
        assert form in runs.same("--output-format", "json")[1].partition('"no_fix"')[0]


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
    for name, text, hold in (
        ("pkg/more.py", "params.top = 1\n", True),
        ("pkg/sub/more.py", "params.floor = 0.5\n", False),
        ("pkg/sub/more.py", "", True),
        ("pkg/settings.py", "params.floor = 0.75\n", False),
    ):
        runs.write(name, text)
        project.forget()
        assert cache._hold(kept) == hold


def test_what_was_not_followed_to_the_end_is_remembered(runs):
    long = " + ".join(["1.0"] * 200)
    runs.write("long.py", f"{HEAD}x = {long}\ny = tf.math.log(x)\n")
    names = "Analysis cut short, it would cost more than a file may: "
    assert f"{names}long.py (top level).\n" in runs.same()[1]
    runs.write(
        "long.py",
        f"{HEAD}class Model:\n    def call(self):\n        x = {long}\n"
        "        return tf.math.log(x)\n\ndef f(x):\n    return tf.math.log(x)\n",
    )
    assert f"{names}long.py (Model.call).\n" in runs.same()[1]


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


@pytest.mark.parametrize(
    "setting",
    [
        "select = []",
        "ignore = ['TFN301']",
        "certainty = 'must'",
        "epsilon = 0.01",
        "modes = ['eager']",
        "unsafe-fixes = true",
        "per-file-ignores = { 'a.py' = ['TFN3'] }",
        "max-file-size = 10",
    ],
)
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
    from tfnanlint.pipeline import analysis as flow

    runs.write("a.py", RISKY)
    with monkeypatch.context() as broken:
        broken.setattr(flow.File, "judge", lambda *_: 1 / 0)
        assert runs(at=runs.cache)[0] == 2
    assert runs(at=runs.cache)[0] == 1
    runs.write("a.py", RISKY + "(")
    assert "TFN001" in runs.same("--output-format", "concise")[1]


def test_broken_rule_is_not_remembered(runs, monkeypatch):
    from tfnanlint.rule import registry as rules

    runs.write("a.py", RISKY)
    with monkeypatch.context() as broken:
        broken.setattr(rules.Context, "rewrite_all", lambda *_, **__: 1 / 0)
        assert runs(at=runs.cache)[0] == 2
    assert runs(at=runs.cache)[0] == 1


@pytest.mark.slow
def test_every_field_of_a_finding_is_remembered(tmp_path):
    """All fixtures of rules, and every field: also those that only `--fix` looks at."""
    paths = [str(path) for path in sorted((ROOT / "fixtures/rules").glob("*.py"))[::3]] + [
        str(path) for path in sorted((ROOT / "fixtures/programs").rglob("*.py"))[:6]
    ]
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
        assert found.findings == again.findings and (found.hidden, found.unsafe_fixes) == (
            again.hidden,
            again.unsafe_fixes,
        )
        for one, other in zip(found.findings, again.findings):
            assert one.data == other.data and hash(one) == hash(other)
            for name in (field.name for field in dataclasses.fields(one)):
                assert type(getattr(one, name)) is type(getattr(other, name))
            assert one.trace == other.trace and one.fixes == other.fixes
    assert sum(len(found.findings) for found in outcomes[0]) > 200
    assert any(one.fixes for found in outcomes[1] for one in found.findings)


@pytest.mark.slow
def test_every_format_reports_the_same(runs):
    for name in ("log_of_prob", "half_exp", "normalize_by_norm"):
        shutil.copy(ROOT / f"fixtures/rules/{name}.py", runs.directory)
    runs.write("book.ipynb", TEXTS["limits.ipynb"][0])
    runs.write("broken.ipynb", TEXTS["limits.ipynb"][2])
    runs.write(
        "idle.py",
        RISKY + "x = 1  # tfn: ignore[TFN101]\ny = tf.math.log(tf.nn.softmax(x))  # noqa: TFN301\n",
    )
    said = []
    for number, at in enumerate((None, runs.cache, runs.cache)):
        files = [runs.directory.parent / f"{number}.{name}" for name in FORMATS]
        flags = [f"--output-format={name}={path}" for name, path in zip(FORMATS, files)]
        runs("--certainty", "unknown", "--unsafe-fixes", "--jobs", "1", *flags, at=at)
        said.append([path.read_bytes() for path in files])
    assert not [path for path in runs.analysed if path.endswith("prob.py")]
    for plain, cold, warm, name in zip(*said, FORMATS):
        assert plain == cold == warm, name
    for flags in (
        ["--statistics"],
        ["--diff"],
        ["--ignore-noqa"],
        ["--select", "TFN3"],
        ["--exit-zero", "-q"],
    ):
        runs.same(*flags)


def test_a_baseline_sets_the_same_aside(runs):
    package(runs)
    assert main(["baseline", "create", "-q"]) == 0
    lines = json.loads(Path("tfnanlint-baseline.json").read_text())["files"]
    assert lines
    for flags in (
        ["--baseline", "tfnanlint-baseline.json"],
        [],
        ["--baseline", "tfnanlint-baseline.json"],
    ):
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
    "pkg/bounds.py": [
        SAFE,
        BARE,
        SAFE + "(",
        HEAD + "from pkg.limits import bounded\n",
        SAFE + "#" * (1 << 20),
    ],
    "pkg/limits.py": [SAFE, BARE],
    "pkg/bounds/__init__.py": [BARE],
    "pkg/model.py": [
        HELPED,
        HELPED.replace("pkg.bounds", ".bounds"),
        HELPED.replace("from pkg.bounds import bounded", "from pkg import bounded"),
    ],
    "pkg/called.py": [
        CALLED,
        CALLED.replace("log(p)", "log(p)  # tfn: ignore"),
        "# tfn: skip-file\n" + CALLED,
    ],
    "pkg/calls.py": [
        CALLS.format("tf.nn.softmax(z)"),
        CALLS.format("tf.exp(z) + 1.0"),
        CALLS.format("tf.nn.relu(z)"),
    ],
    "pkg/sub/calls.py": [CALLS.format("tf.nn.relu(z)"), CALLS.format("tf.nn.relu(z) + 2.0")],
    "main.py": [HELPED.replace("pkg.bounds", "bounds"), HELPED, RISKY],
    "bounds.py": [SAFE, BARE],
    "limits.ipynb": [
        json.dumps(
            {
                "nbformat": 4,
                "nbformat_minor": 5,
                "metadata": {},
                "cells": [
                    {"cell_type": "code", "source": [line], "metadata": {}, "outputs": []}
                    for line in (HEAD + text, "tf.math.log(bounded(tf.nn.sigmoid(z)))")
                ],
            }
        )
        for text in ("from bounds import bounded\n", "bounded = tf.identity\n", "bounded = (\n")
    ],
    "tfnanlint.toml": [
        "",
        "certainty = 'unknown'\n",
        "ignore = ['TFN301']\n",
        "select = ['TFN1', 'TFN3']\n",
        "select = []\n",
        "max-file-size = 100\n",
        "per-file-ignores = { 'main.py' = ['TFN1'] }\n",
        "epsilon = 0.01\nunsafe-fixes = true\n",
        "select = ['TFN9999']\n",
    ],
}
FLAGS = [["--output-format", name] for name in ("full", "json", "concise", "sarif")] + [
    ["--statistics"],
    ["--diff"],
    ["--diff", "--unsafe-fixes"],
    ["--ignore-noqa"],
    ["--certainty", "unknown"],
    ["pkg"],
    ["main.py", "pkg/called.py"],
]


def change(chance: random.Random, runs: Runs) -> str:
    """One random change of the tree, in words."""
    name = chance.choice(list(TEXTS))
    path = runs.directory / name
    kind = chance.choice(
        ["write", "write", "write", "remove", "touch", "sneak", "rename", "folder"]
    )
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
            path.write_bytes(
                text.replace(b"softmax", b"sigmoid")
                .replace(b"+ 1.0", b"- 1.0")
                .replace(b"1e-6", b"-1.0")
            )
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        elif kind == "rename":
            path.rename(path.with_name("moved" + path.suffix))
        else:
            shutil.rmtree(
                runs.directory / chance.choice(["pkg/sub", "pkg/bounds", "pkg/__init__.py"])
            )
    return f"{kind} {name}"


def restore(runs: Runs, paths: list[str]) -> None:
    """Write the files again that a command line names and that are no longer there."""
    for name in TEXTS:
        if name in paths and not (runs.directory / name).exists():
            runs.write(name, TEXTS[name][0])


@pytest.mark.slow
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
            (runs.directory / "tfnanlint.toml").unlink(missing_ok=True)
            restore(runs, flags)
    assert remembered > 10 and len(lines) > 10


def fixed(runs: Runs, *flags: str) -> tuple[int, str, str]:
    """What `--fix` reports; it is the same, and so are the files, with and without what was
    remembered before.
    """
    saved = runs.directory.parent / "saved"
    shutil.copytree(runs.directory, saved)
    runs(*flags, at=runs.cache)
    outcomes = []
    for at in (None, runs.cache):
        for path in sorted(saved.rglob("*")):
            if path.is_file():
                shutil.copy(path, runs.directory / path.relative_to(saved))
        said = runs("--fix", "--show-fixes", *flags, at=at)
        outcomes.append(
            (said, {path.name: path.read_bytes() for path in sorted(runs.directory.rglob("*.py"))})
        )
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
    for name, text in (
        ("pkg/__init__.py", ""),
        ("pkg/a.py", uses),
        ("pkg/risky.py", RISKY),
        ("pkg/z.py", uses),
    ):
        runs.write(name, text)
    said = fixed(runs, "--verbose")[1]
    assert (
        "pkg/a.py" in said and "tf.math.log(tf.nn.softmax(z)) is" in said.partition("pkg/z.py")[0]
    )
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
