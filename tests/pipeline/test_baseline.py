"""Adopting tfnanlint on an old code base: what is known already is kept in a baseline and not
reported.
"""

from __future__ import annotations

import json

import pytest

HEAD = "import tensorflow as tf\n"
ONE = HEAD + "y = tf.log(x)\n"
TWO = HEAD + "def f(x):\n    return tf.log(x)\ndef g(x):\n    return tf.log(x) + tf.log(x)\n"
FILE = "tfnanlint-baseline.json"


@pytest.fixture
def known(shell):
    """A project whose two findings in old.py and three in old2.py are known."""
    shell.write("old.py", HEAD + "y = tf.log(x)\nz = tf.sqrt(x)\n")
    shell.write("old2.py", TWO)
    made = shell.run("baseline", "create")
    assert made.code == 0 and made.text == f"{FILE}: 5 known findings (5 new, 0 gone).\n"
    return shell


def check(shell, *argv: str):
    return shell.check("--baseline", FILE, *argv)


def test_what_is_known_is_not_reported_and_counted(known):
    done = check(known)
    assert done.code == 0 and "\nNot shown: 5 in the baseline.\n" in done.text
    assert known.check().code == 1


def test_moved_lines_stay_known(known):
    known.write(
        "old2.py",
        HEAD
        + "# a comment\n\nimport os\n"
        + TWO.removeprefix(HEAD).replace("def g", "\n\n\ndef g"),
    )
    assert check(known).code == 0


def test_what_is_new_is_reported(known):
    known.write("old2.py", TWO + "def h(x):\n    return tf.log(x)\n")
    assert check(known).places == ["7 TFN101"]


def test_one_more_of_the_same_is_new(known):
    known.write("old2.py", TWO.replace("+ tf.log(x)", "+ tf.log(x) + tf.log(x)"))
    assert check(known).places == ["5 TFN101"]


def test_another_rule_at_the_same_place_is_new(known):
    known.write("old.py", HEAD + "y = tf.log(x)\nz = tf.sqrt(x) + tf.log(z)\n")
    assert check(known).places == ["3 TFN101"]


def test_known_findings_are_not_fixed(known):
    known.write("old2.py", TWO + "def h(x):\n    return tf.sqrt(x)\n")
    done = check(known, "--fix", "--unsafe-fixes")
    assert done.code == 0, done.text
    assert "tf.sqrt(x)\n" in (known.directory / "old.py").read_text()
    assert "tf.sqrt(x + 1e-12)\n" in (known.directory / "old2.py").read_text()


def test_a_configured_baseline_holds_for_its_directory(known, monkeypatch):
    known.write("tfnanlint.toml", f'baseline = "{FILE}"\n')
    assert known.check().code == 0
    assert known.check("--no-baseline").code == 1
    assert known.check("--isolated").code == 1
    known.write("sub/a.py", ONE)
    monkeypatch.chdir(known.directory / "sub")
    assert known.check("a.py", "../old.py").places == ["2 TFN101"]


def test_update_takes_in_what_is_new_and_prune_does_not(known):
    known.write("old.py", HEAD + "y = tf.log(new)\n")
    pruned = known.run("baseline", "prune")
    assert pruned.text == f"{FILE}: 3 known findings (0 new, 2 gone).\n"
    assert check(known).places == ["2 TFN101"]
    updated = known.run("baseline", "update")
    assert updated.text == f"{FILE}: 4 known findings (1 new, 0 gone).\n"
    assert check(known).code == 0


def test_a_file_that_is_gone_or_clean_now_leaves_the_baseline(known):
    (known.directory / "old.py").unlink()
    known.write("old2.py", "print(1)\n")
    assert known.run("baseline", "prune").text == f"{FILE}: 0 known findings (0 new, 5 gone).\n"
    assert json.loads((known.directory / FILE).read_text()) == {"version": 2, "files": {}}


def test_other_files_keep_their_entries(known):
    known.write("old.py", "print(1)\n")
    assert (
        known.run("baseline", "update", "old.py").text
        == f"{FILE}: 3 known findings (0 new, 2 gone).\n"
    )


def test_create_does_not_replace(known):
    before = (known.directory / FILE).read_bytes()
    refused = known.run("baseline", "create")
    assert refused.code == 2 and "--force" in refused.err
    assert (known.directory / FILE).read_bytes() == before
    assert known.run("baseline", "create", "--force", "--ignore", "TFN202").text.startswith(
        f"{FILE}: 4 known"
    )


def test_the_file_is_the_same_whoever_writes_it(known):
    before = (known.directory / FILE).read_bytes()
    known.run("baseline", "update", "--jobs", "2")
    assert (known.directory / FILE).read_bytes() == before


def test_what_was_not_checked_is_not_known(shell):
    shell.write("a.py", "import tensorflow\nprint 'a'\n")
    made = shell.run("baseline", "create")
    assert made.code == 1 and "not in the baseline: a.py: syntax error" in made.err
    assert shell.check("--baseline", FILE).places == ["2 TFN001"]


def test_a_file_that_does_not_parse_keeps_what_was_known_of_it(known):
    good = (known.directory / "old2.py").read_text()
    known.write("old2.py", good + "def h(:\n")
    assert known.run("baseline", "update").code == 1
    known.write("old2.py", good)
    assert check(known).code == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"version": 3, "files": {}}',
        '{"version": 1}',
        '{"version": 1, "files": {"a": 1}}',
        '{"version": 1, "files": {"a": {"b": 1}}}',
        "[" * 100_000,
        '{"version": 1, "files": []}',
    ],
)
def test_what_is_no_baseline_is_exit_2_and_one_line(shell, text):
    shell.write("a.py", ONE)
    shell.write(FILE, text)
    done = check(shell)
    assert done.code == 2 and done.err.count("\n") == 1 and "not a baseline" in done.err


def test_a_baseline_can_be_reviewed_and_one_of_the_first_version_is_read(shell):
    shell.write("a.py", ONE)
    assert shell.run("baseline", "create").code == 0
    written = json.loads((shell.directory / FILE).read_text())
    ((key, (code, line)),) = written["files"]["a.py"].items()
    assert code == "TFN101" and line in [one.strip() for one in ONE.splitlines()]
    shell.write(FILE, json.dumps({"version": 1, "files": {"a.py": {key: code}}}))
    assert check(shell).code == 0
    assert shell.run("baseline", "prune").code == 0
    assert json.loads((shell.directory / FILE).read_text()) == written


def test_a_missing_baseline_is_exit_2(shell):
    shell.write("a.py", ONE)
    done = check(shell)
    assert done.code == 2 and "tfnanlint baseline create" in done.err
    assert shell.run("baseline", "update").code == 2
    assert check(shell, "--no-baseline").code == 2


def test_names_on_windows(monkeypatch):
    """The same file has the same name in the baseline on every system; on another drive, its whole
    path.
    """
    import ntpath

    from tfnanlint.pipeline import baseline

    monkeypatch.setattr(baseline.os, "path", ntpath)
    monkeypatch.setattr(baseline.os, "sep", "\\")
    known = baseline.Baseline("C:\\work\\known.json")
    assert known.name_of("C:\\work\\sub\\a.py") == "sub/a.py"
    assert known.name_of("c:\\Work\\sub\\a.py") == "sub/a.py"
    assert known.name_of("C:\\other\\a.py") == "../other/a.py"
    assert known.name_of("D:\\work\\a.py") == "D:/work/a.py"
