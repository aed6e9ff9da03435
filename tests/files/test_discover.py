"""Which files are found, which are left out, and what is said of those that cannot be read."""

from __future__ import annotations

import os
import socket

import pytest

CODE = "import tensorflow as tf\ny = tf.log(x)\n"


def found(shell, *argv: str) -> list[str]:
    return [line.split(":")[0] for line in shell.check("-q", *argv).text.splitlines()]


def tree(shell, *names: str) -> None:
    for name in names:
        shell.write(name, CODE)


def test_directories_are_walked_in_a_fixed_order(shell):
    tree(shell, "b.py", "a.py", "sub/c.py", "sub/d/e.py", ".hidden/f.py", "notes.txt", "stub.pyi")
    everything = [".hidden/f.py", "a.py", "b.py", "sub/c.py", "sub/d/e.py"]
    assert found(shell) == everything
    assert found(shell, ".") == everything
    assert found(shell, "sub", "b.py", "a.py", "./a.py") == [
        "a.py",
        "b.py",
        "sub/c.py",
        "sub/d/e.py",
    ]
    assert found(shell, str(shell.directory)) == everything


def test_a_file_outside_the_working_directory_keeps_its_full_path(shell, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "a.py"
    outside.write_text(CODE)
    assert found(shell, str(outside)) == [str(outside)]


def test_named_files_are_checked_whatever_they_are_called(shell):
    tree(shell, "script", "build/x.py")
    assert found(shell, "script", "build/x.py") == ["build/x.py", "script"]


def test_directories_of_others_are_left_out(shell):
    tree(
        shell,
        "a.py",
        ".venv/b.py",
        "node_modules/c.py",
        "lib/site-packages/d.py",
        "build/e.py",
        ".git/f.py",
    )
    assert found(shell) == ["a.py"]
    assert found(shell, "--exclude", "a.py") == [
        ".git/f.py",
        ".venv/b.py",
        "build/e.py",
        "lib/site-packages/d.py",
        "node_modules/c.py",
    ]
    assert found(shell, "build") == ["build/e.py"]


def test_exclusions(shell):
    tree(shell, "a.py", "gen/b.py", "src/gen/c.py", "src/c_pb2.py")
    assert found(shell, "--extend-exclude", "gen") == ["a.py", "src/c_pb2.py"]
    assert found(shell, "--extend-exclude", "/gen,*_pb2.py") == ["a.py", "src/gen/c.py"]
    assert found(shell, "--extend-exclude", "gen", "gen", "src/c_pb2.py") == [
        "gen/b.py",
        "src/c_pb2.py",
    ]


def test_force_exclude_holds_for_named_files(shell):
    tree(shell, "a.py", "gen/deep/b.py", ".venv/c.py")
    shell.write("tfnanlint.toml", 'extend-exclude = ["gen"]\n')
    paths = ["a.py", "gen/deep/b.py", ".venv/c.py"]
    assert found(shell, *paths) == [".venv/c.py", "a.py", "gen/deep/b.py"]
    assert found(shell, "--force-exclude", *paths) == ["a.py"]
    assert found(shell, "--force-exclude", "gen") == []


def test_force_exclude_does_not_look_above_the_working_directory(shell, monkeypatch):
    tree(shell, "build/project/a.py")
    monkeypatch.chdir(shell.directory / "build" / "project")
    assert found(shell, "--force-exclude", "a.py") == ["a.py"]


def test_gitignore_is_respected(shell):
    (shell.directory / ".git" / "info").mkdir(parents=True)
    shell.write(".git/info/exclude", "private.py\n")
    shell.write(".gitignore", "# comment\n*.gen.py\n/out/\n!keep.gen.py\n")
    shell.write("sub/.gitignore", "only_here.py\n!b.gen.py\n")
    tree(
        shell,
        "a.py",
        "a.gen.py",
        "keep.gen.py",
        "out/x.py",
        "sub/out/y.py",
        "private.py",
        "only_here.py",
    )
    tree(shell, "sub/only_here.py", "sub/b.gen.py", "sub/c.gen.py")
    assert found(shell) == ["a.py", "keep.gen.py", "only_here.py", "sub/b.gen.py", "sub/out/y.py"]
    assert found(shell, "sub") == ["sub/b.gen.py", "sub/out/y.py"]
    assert found(shell, "a.gen.py", "out") == ["a.gen.py", "out/x.py"]
    assert len(found(shell, "--no-respect-gitignore")) == 10
    assert len(found(shell, "--config", "respect-gitignore = false")) == 10


def test_gitignore_above_a_directory_that_is_no_repository_does_not_hold(shell, monkeypatch):
    shell.write(".gitignore", "*.py\n")
    tree(shell, "sub/a.py")
    assert found(shell) == []
    monkeypatch.chdir(shell.directory / "sub")
    assert found(shell) == ["a.py"]


def test_a_costly_pattern_in_gitignore_is_passed_over(shell):
    shell.write(".gitignore", "*a" * 40 + "b\nreal.py\n")
    tree(shell, "a" * 200 + ".py", "real.py")
    assert found(shell) == ["a" * 200 + ".py"]


def test_links(shell, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x.py").write_text(CODE)
    tree(shell, "a.py", "sub/b.py")
    os.symlink(outside, shell.directory / "linked_directory")
    os.symlink(shell.directory, shell.directory / "sub" / "loop")
    os.symlink(outside / "x.py", shell.directory / "linked.py")
    os.symlink(shell.directory / "a.py", shell.directory / "twice.py")
    os.symlink("nowhere.py", shell.directory / "dangling.py")
    outcome = shell.check()
    assert [line.split(":")[0] for line in outcome.text.splitlines()[:-2]] == [
        "a.py",
        "linked.py",
        "sub/b.py",
    ]
    assert outcome.err == "warning: dangling.py: skipped: a link that leads to no regular file\n"
    assert found(shell, "linked_directory") == ["linked_directory/x.py"]


def test_what_is_no_regular_file_is_passed_over_in_a_walk_and_said_when_named(shell):
    tree(shell, "a.py", "directory.py/b.py")
    os.mkfifo(shell.directory / "fifo.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(shell.directory / "socket.py"))
        outcome = shell.check()
        assert [line.split(":")[0] for line in outcome.text.splitlines()[:-2]] == [
            "a.py",
            "directory.py/b.py",
        ]
        assert "fifo.py: skipped: not a regular file" in outcome.err
        assert "socket.py: skipped: not a regular file" in outcome.err
        outcome = shell.check("fifo.py", "socket.py")
    assert (outcome.code, outcome.places) == (1, ["1 TFN002", "1 TFN002"])
    assert "it is a FIFO, not a regular file" in outcome.text


def test_what_cannot_be_read_is_said(shell):
    os.symlink("nowhere", shell.directory / "dangling.py")
    outcome = shell.check("missing.py", "dangling.py")
    assert (outcome.code, outcome.places) == (2, ["1 TFN002"] * 2)
    assert shell.check("missing.py", "--exit-zero").code == 2
    assert "missing.py:1:1: error: TFN002 there is no such file or directory" in outcome.text
    assert "dangling.py:1:1: error: TFN002 it is a link that leads nowhere" in outcome.text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_said(shell):
    tree(shell, "a.py", "sub/b.py")
    (shell.directory / "a.py").chmod(0)
    (shell.directory / "sub").chmod(0)
    outcome = shell.check()
    (shell.directory / "sub").chmod(0o755)
    assert outcome.places == ["1 TFN002", "1 TFN002"]
    assert "Permission denied" in outcome.text


@pytest.mark.slow
def test_a_large_file_is_said_only_when_it_mentions_tensorflow(shell):
    filling = b"x = 1  # a number, with a remark beside it\n" * 12_500
    shell.write("large.py", filling * 4)
    assert found(shell) == []
    shell.write("large.py", filling * 4 + CODE.encode())
    outcome = shell.check()
    assert (outcome.code, outcome.places) == (1, ["1 TFN002"])
    assert (
        "larger than the limit of 2.0 MiB (2.1 MiB); exclude it or raise `max-file-size`"
        in outcome.text
    )
    assert shell.check("--config", "max-file-size = 3000000").places == ["50002 TFN101"]


def test_the_word_is_found_across_the_pieces_a_large_file_is_read_in(shell):
    piece = 1 << 20
    for shift in range(11):
        shell.write("large.py", b"#" * (2 * piece + 1 - shift) + b"tensorflow" + b"#" * piece)
        assert shell.check().places == ["1 TFN002"], shift


def test_nothing_to_check_is_a_warning(shell):
    outcome = shell.check()
    assert (outcome.code, outcome.err) == (
        0,
        "warning: no Python files or notebooks found under the given paths\n",
    )


def test_a_pattern_speaks_of_no_other_drive(monkeypatch):
    import ntpath

    from tfnanlint.config import patterns

    monkeypatch.setattr(patterns.os, "path", ntpath)
    monkeypatch.setattr(patterns.os, "sep", "\\")
    some = patterns.Patterns("C:\\work", ["tests/*.py"])
    assert some.verdict("C:\\work\\tests\\a.py") is True
    assert some.verdict("c:\\Work\\tests\\a.py") is True
    assert some.verdict("D:\\work\\tests\\a.py") is None


@pytest.mark.parametrize(
    "pattern, excluded, left",
    [
        ("tests\\old", "tests/old/a.py", "testsold/a.py"),
        ("**\\_made_*.py", "sub/_made_a.py", "sub/made_a.py"),
        ("\\*.py", "*.py", "a.py"),
        ("\\#a.py", "#a.py", "a.py"),
        ("a\\\\b.py", "a\\b.py", "a/b.py"),
    ],
)
def test_a_backslash_before_a_name_separates(shell, pattern, excluded, left):
    """As on Windows, on every system, in a configuration; elsewhere it escapes, as git has it."""
    tree(shell, excluded, left)
    assert found(shell, "--exclude", pattern) == [left]
