"""The file of results: broken, foreign, shared, full, out of reach; when there is one, and where."""

from __future__ import annotations

import contextlib
import io
import os
import random
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from runs import CALLED, RISKY, Runs, package

from tfnanlint.cli import main
from tfnanlint.files import store
from tfnanlint.pipeline import cache
from tfnanlint.project import index as project

# ---------------------------------------------------------------------------------------------------------
# The file of results


def command(directory: Path, at: Path, *argv: str, **more) -> subprocess.CompletedProcess:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("TFNANLINT_NO_CACHE", "CI")
    }
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "tfnanlint",
            "check",
            "--isolated",
            "--output-format",
            "concise",
            "--cache-dir",
            str(at),
            *argv,
        ],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        **more,
    )


def test_four_processes_at_once(runs):
    for number in range(24):
        runs.write(f"m{number:02}.py", RISKY.replace("loss", f"loss{number}"))
    plain = runs("--isolated", "--output-format", "concise")
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("TFNANLINT_NO_CACHE", "CI")
    }
    for _ in range(2):  # all of them make the file; then all of them use it
        started = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tfnanlint",
                    "check",
                    "--isolated",
                    "--output-format",
                    "concise",
                    "--cache-dir",
                    str(runs.cache),
                ],
                cwd=runs.directory,
                env=environment,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in range(4)
        ]
        for process in started:
            out, err = process.communicate(timeout=120)
            assert (process.returncode, out, err) == plain
    assert (
        runs("--isolated", "--output-format", "concise", at=runs.cache) == plain
        and runs.analysed == []
    )


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
    assert (
        runs("--isolated", "--output-format", "concise", at=runs.cache) == plain
        and runs.analysed == []
    )


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
        file.execute(
            "UPDATE OR IGNORE results SET body = ?",
            (body.decode() if body == b"text" else body if body is not None else 0,),
        )
    assert runs(at=runs.cache) == plain
    assert len(runs.analysed) >= 4


def test_a_body_that_says_something_else_is_none(runs):
    """As another program, or another version with the same key, might have written it."""
    import zlib

    runs.write("a.py", RISKY)
    plain = runs(at=runs.cache)
    for body in (
        b"",
        b"[]",
        zlib.compress(b"[]"),
        zlib.compress(b"{"),
        zlib.compress(b'[0, false, [[true, ["TFN101"]]], []]'),
        zlib.compress(b'[0, false, [], [["mood", "a", "b"]]]'),
    ):
        with contextlib.closing(sqlite3.connect(results(runs))) as file, file:
            for (key,) in file.execute("SELECT key FROM results").fetchall():
                file.execute(
                    "UPDATE results SET body = ? WHERE key = ?",
                    (store._mark(key, body) + body, key),
                )
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


@pytest.mark.parametrize(
    "kind, reason",
    [
        ("link", "is no folder"),
        ("writable", "other users can write"),
        ("file", "is no folder"),
        ("link to a file", "symbolic links"),
    ],
)
def test_a_folder_that_is_not_safe_is_not_used(runs, kind, reason):
    package(runs)
    other_folder(runs, kind)
    plain = runs()
    for _ in range(2):
        code, out, err = runs(at=runs.cache)
        assert (code, out) == plain[:2]
        assert (
            err.startswith("warning: results are not cached: ")
            and reason in err
            and err.count("\n") == 1
        )
    elsewhere = runs.cache.parent / "elsewhere"
    assert (
        not elsewhere.exists()
        or elsewhere.is_file()
        and elsewhere.read_text() == "mine"
        or not list(elsewhere.iterdir())
    )


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away"
)
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
    """A folder that the user has named is reported; the default one is left out silently."""
    package(runs)
    plain = runs()
    (runs.cache).write_text("a file")
    code, out, err = runs(at=runs.cache)
    assert (code, out) == plain[:2] and err.startswith("warning: results are not cached: ")
    assert runs("-q", at=runs.cache)[2] == ""
    monkeypatch.setenv("XDG_CACHE_HOME", str(runs.cache))
    project.forget()
    assert (main(["check"]), *runs.capture.readouterr()) == plain


def test_results_that_can_only_be_read(runs, monkeypatch):
    package(runs)
    plain = runs(at=runs.cache)
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda path, **more: connect(f"file:{path}?mode=ro", uri=True, **more)
    )
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
    assert main(["clean"]) == 0 and "cache cleared" in runs.capture.readouterr().out
    assert not home.exists()
    assert main(["clean"]) == 0 and "cache is already empty" in runs.capture.readouterr().out
    assert sorted(path.name for path in runs.directory.rglob("*")) == ["a.py"]


def test_a_named_folder(runs, monkeypatch):
    runs.write("a.py", RISKY)
    monkeypatch.setenv("TFNANLINT_CACHE_DIR", str(runs.cache))
    monkeypatch.setenv("CI", "true")  # a folder that is named is used there, too
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
    assert (
        code == 2
        and "is inside the git repository" in err
        and not (runs.directory / "kept").exists()
    )
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
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env={
            **os.environ,
            "TFNANLINT_NO_CACHE": "",
            "XDG_CACHE_HOME": str(tmp_path / "home"),
            "CI": "",
        },
    )
    assert done.stdout.splitlines()[-1] == "", done.stderr
    assert not (tmp_path / "home").exists()


def test_a_remembered_file_loads_no_rules(runs):
    runs.write("a.py", RISKY)
    command(runs.directory, runs.cache)
    script = (
        "import sys; from tfnanlint.cli import main; main(['check', '--isolated', '--cache-dir', sys.argv[1]]);"
        "print(*sorted({'tfnanlint_rules', 'tfnanlint.pipeline.analysis', 'libcst'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(runs.cache)],
        cwd=runs.directory,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "TFNANLINT_NO_CACHE": ""},
    )
    assert "TFN301" in done.stdout and done.stdout.splitlines()[-1] == "", done.stdout
