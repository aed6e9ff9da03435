"""What a person asks next: what was checked, what was left out, which rules there are, what to type."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

from tfnanlint import __version__
from tfnanlint.cli.markdown import folded
from tfnanlint.cli.watch import filter_below
from tfnanlint.config.keys import hint
from tfnanlint.diagnostics.findings import Certainty
from tfnanlint.pipeline.check import Checked
from tfnanlint.report.closing import Tally, set_aside
from tfnanlint.syntax.source import Source

HEAD = "import tensorflow as tf\n"
WARNING = HEAD + "y = tf.log(x)\n"
NOTE = HEAD + "y = tf.log(unknown)\n"
UNKNOWN = ["--certainty", "unknown"]


# ---------------------------------------------------------------------------------------------------------
# Grades and the exit code


@pytest.mark.parametrize(
    "text, argv, code",
    [
        (WARNING, [], 1),
        (WARNING, ["--fail-on", "may"], 1),
        (WARNING, ["--fail-on", "must"], 0),
        (NOTE, UNKNOWN, 0),
        (NOTE + "z = tf.log(x)\n", UNKNOWN, 1),
        (NOTE, [*UNKNOWN, "--fail-on", "may"], 0),
        ("import tensorflow\nprint 'a'\n", ["--fail-on", "must"], 1),
        (HEAD + "x = 1  # tfn: ignore[TFN101]\n", [], 1),
        (HEAD + "x = 1  # tfn: ignore[TFN101]\n", ["--fail-on", "must"], 0),
        (WARNING, ["--fail-on", "unknown"], 2),
    ],
)
def test_what_makes_a_run_fail(shell, text, argv, code):
    shell.write("a.py", text)
    assert shell.check(*argv).code == code


def test_notes_are_in_full_only_when_asked_for(shell):
    shell.write("a.py", NOTE + "z = tf.sqrt(unknown)\n")
    done = shell.run("check", "--config", 'certainty = "unknown"')
    assert "a.py:2:5: note: TFN101 log of unknown\n" in done.text
    assert "Worth a look" not in done.text
    assert "Found 1 warning and 1 note (1 file read" in done.text


# ---------------------------------------------------------------------------------------------------------
# What was checked, and what was not


def test_nothing_passes_where_nothing_was_checked(shell):
    shell.write("a.py", "import torch\n")
    shell.write("b.py", "x = (\n")
    done = shell.check()
    assert (done.code, done.text) == (
        0,
        "Nothing to check: 2 files read, 0 use TensorFlow or Keras.\n",
    )


def test_the_closing_lines_count_what_was_read(shell):
    shell.write("a.py", HEAD)
    shell.write("b.py", "import torch\n")
    shell.write("c.py", "import tensorflow\nprint 'a'\n")
    text = shell.check().text
    assert "Found 1 error (3 files read, 2 use TensorFlow or Keras).\n" in text
    assert "Checked in part: 1 file with a syntax error.\n" in text
    os.unlink(shell.directory / "c.py")
    assert shell.check("--preview").text == (
        "All checks passed! (2 files read, 1 uses TensorFlow or Keras)\n"
    )


def test_functions_that_were_cut_short_are_named():
    tally = Tally()
    tally.add(Checked(Source("a.py", HEAD), cut_short=("Model.call", "")))
    assert set_aside(tally) == (
        "Analysis cut short, it would cost more than a file may: a.py (Model.call), a.py (top level).\n"
    )
    tally.add(Checked(Source("b\x1b.py", HEAD), cut_short=("f", "g", "h")))
    assert set_aside(tally).endswith("b\\x1b.py (f) and 2 more.\n")
    assert set_aside(Tally(fail_on=Certainty.MUST)) == ""


def test_a_missing_path_is_exit_2_whatever_else_is_asked(shell):
    shell.write("a.py", HEAD)
    for more in ([], ["--exit-zero"], ["--fail-on", "must"], ["--statistics"]):
        assert shell.check("a.py", "trian.py", *more).code == 2


@pytest.mark.parametrize(
    "text, asked",
    [(HEAD + "y = tf.exp(x)\n", True), (HEAD + "y = tf.math.log(tf.nn.softmax(x))\n", False)],
)
def test_what_to_try_when_nothing_is_found(tmp_path, text, asked):
    (tmp_path / "a.py").write_text(text)
    command = [sys.executable, "-m", "tfnanlint", "check", "--isolated", "a.py"]
    more = {name: value for name, value in os.environ.items() if name not in ("CI", "COLUMNS")}
    master, slave = pty.openpty()
    subprocess.run(command, cwd=tmp_path, stdout=slave, stderr=slave, env=more, timeout=120)
    os.close(slave)
    shown = os.read(master, 1 << 16).decode()
    os.close(master)
    assert ("If the loss is still NaN: `--preview`" in shown) == asked
    plain = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=more)
    assert "still NaN" not in plain.stdout


def test_a_terminal_says_how_wide_text_is(tmp_path):
    (tmp_path / "a.py").write_text(HEAD + "y = tf.math.log(tf.nn.softmax(x))\n")
    command = [sys.executable, "-m", "tfnanlint", "check", "--isolated", "a.py"]
    for columns in (50, 120):
        environment = {**os.environ, "COLUMNS": str(columns)}
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=environment
        )
        finding = done.stdout.partition("\n\n")[0]
        assert max(map(len, finding.splitlines())) <= columns
        assert finding.count("\n") > (5 if columns == 50 else 3)


# ---------------------------------------------------------------------------------------------------------
# What to type


def test_a_path_alone_is_checked(shell):
    shell.write("sub/a.py", WARNING)
    for words in ([".", "-q"], ["sub", "-q"], [os.path.join("sub", "a.py"), "-q"]):
        done = shell.run(*words, "--output-format", "concise")
        assert (done.code, done.text) == (
            1,
            f"{os.path.join('sub', 'a.py')}:2:5: warning: TFN101 log of x\n",
        )
    assert shell.run("nosuch").code == 2
    assert shell.run("nosuch.py").code == 2


def test_no_words_at_all_are_answered_with_help(shell):
    done = shell.run()
    assert done.code == 2 and done.text == ""
    assert "usage: tfnanlint" in done.err and "check files or directories" in done.err


def test_a_wrong_flag_is_told_in_two_lines(shell):
    done = shell.run("check", "--no-such-flag")
    assert done.code == 2
    assert done.err == (
        "error: unknown argument `--no-such-flag`\n"
        "usage: tfnanlint check [OPTIONS] ...; see tfnanlint check --help\n"
    )


def test_what_may_be_left_out_is_not_said_to_be_missing(shell):
    assert shell.run("baseline").err.startswith(
        "error: the following arguments are required: action\n"
    )


@pytest.mark.parametrize(
    "path, matters",
    [
        ("/w/build/p/a.py", True),
        ("/w/build/p/sub/a.ipynb", True),
        ("/w/build/p/pyproject.toml", True),
        ("/w/build/p/build/a.py", False),
        ("/w/build/p/sub/.venv/a.py", False),
        ("/w/build/p/a.txt", False),
        ("/w/build/other/a.py", False),
    ],
)
def test_changes_count_by_what_is_below_the_watched_folder(path, matters):
    assert filter_below(["/w/build/p"])(None, path) == matters


def test_the_rules_are_listed(shell):
    done = shell.run("rules")
    assert done.code == 0
    assert [line.split()[0] for line in done.text.splitlines()] == [
        *("TFN000", "TFN001", "TFN002", "TFN003", "TFN004"),
        *("TFN101", "TFN202", "TFN203", "TFN301", "TFN801"),
    ]
    assert re.search(r"TFN101  error, warning +log-of-nonpositive +The log of", done.text)
    assert re.search(r"TFN801  preview +learning-rate-too-high", done.text)
    assert '"code": "TFN801"' in shell.run("rules", "--output-format", "json").text


def test_explain_is_rule(shell):
    assert shell.run("explain", "TFN101").text == shell.run("rule", "TFN101").text
    assert "Reports: error, warning." in shell.run("explain", "TFN101").text


def test_a_page_is_as_wide_as_the_terminal():
    text = "# t\n\nword word word\nword `a b`\n\n- one two three four\n  before: a b c d e f\n"
    text += "\nBad:\n    a_line_of_code_stays_as_it_is = 1\n"
    assert folded(text, 18) == (
        "# t\n\nword word word\nword `a b`\n\n- one two three\n  four\n  before: a b c d\n  e f\n"
        "\nBad:\n    a_line_of_code_stays_as_it_is = 1\n"
    )
    assert folded("a b\nc d\n\ne", 80) == "a b c d\n\ne"
    assert folded("one two `a = 1`", 12) == "one two\n`a = 1`"


@pytest.mark.parametrize(
    "word, known, near",
    [
        ("selct", ("select", "ignore"), "select"),
        ("TFN1O1", ("TFN101", "TFN102"), "TFN101"),
        ("TFN110", ("TFN101", "TFN102"), "TFN101"),
        ("per_file_ignores", ("per-file-ignores",), "per-file-ignores"),
        ("E501", ("TFN501",), ""),
        ("TFN999", ("TFN902", "TFN101"), ""),
        ("xml", ("full", "json"), ""),
        ("", ("full",), ""),
    ],
)
def test_a_word_is_suggested_only_when_it_is_near(word, known, near):
    assert hint(word, known) == (f"; did you mean `{near}`?" if near else "")


# ---------------------------------------------------------------------------------------------------------
# Configuration


def test_all_errors_of_a_configuration_are_told_at_once_with_their_lines(shell):
    shell.write("a.py", WARNING)
    path = shell.write(
        "pyproject.toml",
        '[tool.other]\nselct = []\n\n[tool.tfnanlint]\nselct = []\n"epsilon" = 0\n'
        '[tool.tfnanlint.per-file-ignores]\n"a.py" = 3\n',
    )
    done = shell.check()
    assert done.code == 2
    assert done.err == (
        f"error: {path}:5: unknown key `selct`; did you mean `select`?\n"
        f"error: {path}:6: `epsilon` must be a number between 1e-19 and 0.01\n"
        f'error: {path}:7: `per-file-ignores.a.py` must be a list of strings such as ["..."]\n'
    )
    path = shell.write("tfnanlint.toml", '# select\nselect = [\n  "TFN1O1",\n  "E501"]\n')
    assert shell.check().err == (
        f"error: {path}:2: unknown rule `TFN1O1`; did you mean `TFN101`?\n"
        f"error: {path}:2: unknown rule `E501`\n"
    )


def test_a_configuration_extends_another(shell):
    shell.write("a.py", WARNING + "z = tf.sqrt(x)\nw = tf.norm(x)\n")
    shell.write("base/all.toml", 'extend = "more.toml"\nignore = ["TFN203"]\n')
    shell.write("base/more.toml", 'certainty = "must"\nignore = ["TFN202"]\n')
    shell.write("tfnanlint.toml", 'extend = "base/all.toml"\ncertainty = "may"\n')
    assert shell.check().places == ["2 TFN101"]
    assert shell.check("--config", "base/all.toml").places == []
    shell.write("base/more.toml", 'extend = "../tfnanlint.toml"\n')
    assert "`extend` forms a cycle: it leads back to" in shell.check().err
    shell.write("base/more.toml", 'extend = "nosuch.toml"\n')
    done = shell.check()
    assert done.code == 2 and "more.toml:1: `extend`: there is no file" in done.err
    shell.write("base/more.toml", "\nselct = []\n")
    assert "more.toml:2: unknown key `selct`" in shell.check().err


@pytest.mark.parametrize(
    "wanted, fits",
    [
        (f"=={__version__}", True),
        (__version__, True),
        (">=0.1, <1", True),
        (">0.1,<1", False),
        (">=9", False),
        (f"!={__version__}", False),
    ],
)
def test_a_version_can_be_required(shell, wanted, fits):
    shell.write("a.py", WARNING)
    path = shell.write("tfnanlint.toml", f'new-key = 1\nrequired-version = "{wanted}"\n')
    done = shell.check()
    reason = f"tfnanlint {wanted} is required, but this is tfnanlint {__version__}"
    expected = f"{path}:1: unknown key `new-key`" if fits else f"{path}:2: {reason}"
    assert (done.code, done.err) == (2, f"error: {expected}\n")


def test_what_is_no_version_is_refused(shell):
    shell.write("a.py", WARNING)
    for value in ('"next"', "1", '""', '">=a"'):
        shell.write("tfnanlint.toml", f"required-version = {value}\n")
        assert "`required-version` must be a version such as" in shell.check().err


EQUAL = HEAD + "y = tf.log(tf.nn.softmax(z))\nz = tf.sqrt(s)\n"


@pytest.mark.parametrize(
    "toml, argv, fixed",
    [
        ("", [], {"TFN301", "TFN202"}),
        ('unfixable = ["TFN2"]', [], {"TFN301"}),
        ('fixable = ["TFN2"]', [], {"TFN202"}),
        ('fixable = ["ALL"]\nunfixable = ["log-softmax"]', [], {"TFN202"}),
        ('unfixable = ["TFN2"]', ["--fixable", "TFN301", "--unfixable", "TFN3"], set()),
        ("fixable = []", [], set()),
    ],
)
def test_rules_whose_findings_are_left_to_the_user(shell, toml, argv, fixed):
    path = shell.write("a.py", EQUAL)
    shell.write("tfnanlint.toml", toml)
    before = shell.check(*argv)
    assert before.places == ["2 TFN301", "3 TFN202"]
    assert before.text.count("[*] log of") == ("TFN301" in fixed)
    shell.check("--fix", "--unsafe-fixes", *argv)
    assert ("log_softmax" in path.read_text()) == ("TFN301" in fixed)
    assert ("1e-12" in path.read_text()) == ("TFN202" in fixed)


def test_fix_only_says_nothing_of_what_remains(shell):
    path = shell.write("a.py", EQUAL)
    done = shell.check("--fix-only", "--quiet")
    assert (done.code, done.text) == (0, "")
    assert "log_softmax" in path.read_text()
    assert "Fixed" not in done.text


def test_a_patch_is_coloured_and_says_what_remains(shell):
    shell.write("a.py", EQUAL + "w = tf.log(x)  # \x1b[2J\n")
    plain = shell.check("--diff")
    assert "\x1b[3" not in plain.text
    assert plain.err == (
        "Would fix 1 finding; 2 warnings would remain (1 fixable with `--unsafe-fixes`).\n"
    )
    coloured = shell.check("--diff", "--color", "always").text
    assert "\x1b[31m-y = tf.log(tf.nn.softmax(z))\x1b[0m\n" in coloured
    assert "\x1b[32m+y = tf.nn.log_softmax(z)\x1b[0m\n" in coloured
    assert "\x1b[2J" not in coloured and "\\x1b[2J" in coloured
