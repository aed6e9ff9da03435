"""The command line: exit codes, streams, fixing, standard input, `rule`, colour. ruff's conventions
throughout.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys

import pytest

CLEAN = "import tensorflow as tf\ny = tf.exp(x)\n"
EQUAL = "import tensorflow as tf\ny = tf.log(tf.nn.softmax(z))\n"
EQUAL_FIXED = "import tensorflow as tf\ny = tf.nn.log_softmax(z)\n"
SHIFTED = "import tensorflow as tf\ny = tf.sqrt(x)\n"
SHIFTED_FIXED = "import tensorflow as tf\ny = tf.sqrt(x + 1e-12)\n"
READ = "1 file read, 1 uses TensorFlow or Keras"
NO_FIX = "import tensorflow as tf\ny = tf.log(x)\n"


# ---------------------------------------------------------------------------------------------------------
# Exit codes and closing lines


@pytest.mark.parametrize(
    "text, argv, code",
    [
        (CLEAN, [], 0),
        (EQUAL, [], 1),
        (EQUAL, ["--exit-zero"], 0),
        (EQUAL, ["-e", "-q"], 0),
        (EQUAL, ["--fix"], 0),
        (EQUAL, ["--fix", "--exit-non-zero-on-fix"], 1),
        (EQUAL, ["--diff"], 1),
        (EQUAL, ["--diff", "--exit-zero"], 0),
        (EQUAL, ["--statistics"], 1),
        (CLEAN, ["--fix", "--exit-non-zero-on-fix"], 0),
        (CLEAN, ["--diff"], 0),
        (SHIFTED, ["--fix"], 1),
        (SHIFTED, ["--fix", "--unsafe-fixes"], 0),
        (SHIFTED, ["--fix", "--config", "unsafe-fixes = true"], 0),
        (SHIFTED, ["--fix", "--config", "unsafe-fixes = true", "--no-unsafe-fixes"], 1),
        (SHIFTED, ["--diff"], 0),
        (SHIFTED, ["--diff", "--unsafe-fixes"], 1),
        (NO_FIX, ["--fix", "--unsafe-fixes"], 1),
        (NO_FIX, ["--diff"], 0),
        ("import tensorflow\nprint 'a'\n", [], 1),
        ("import tensorflow\nprint 'a'\n", ["--exit-zero"], 0),
        ("import tensorflow as tf\ntf.crash()\n", [], 2),
        ("import tensorflow as tf\ntf.crash()\n", ["--exit-zero"], 2),
        (CLEAN, ["--no-such-flag"], 2),
        (CLEAN, ["--output-format", "xml"], 2),
        (CLEAN, ["--fi"], 2),
    ],
)
def test_exit_codes(shell, text, argv, code):
    shell.write("a.py", text)
    assert shell.check("a.py", *argv).code == code


@pytest.mark.parametrize(
    "text, argv, closing",
    [
        (CLEAN, [], f"All checks passed! ({READ})\n"),
        (NO_FIX, [], f"Found 1 warning ({READ}).\n"),
        (
            EQUAL + "z = tf.log(x)\n",
            [],
            f"Found 2 warnings ({READ}).\n[*] 1 fixable with `--fix`.\n",
        ),
        (
            EQUAL + "z = tf.sqrt(x)\n",
            [],
            f"Found 2 warnings ({READ}).\n"
            "[*] 1 fixable with `--fix`, 1 more with `--unsafe-fixes`.\n",
        ),
        (
            SHIFTED,
            [],
            f"Found 1 warning ({READ}).\n1 fixable with `--fix --unsafe-fixes`.\n",
        ),
        (EQUAL, ["--fix"], f"Fixed 1 finding; nothing remains ({READ}).\n"),
        (EQUAL + "z = tf.log(x)\n", ["--fix"], f"Fixed 1 finding; 1 warning remains ({READ}).\n"),
    ],
)
def test_closing_lines(shell, text, argv, closing):
    shell.write("a.py", text)
    closing += "Not run: 1 rule in preview (`--preview`).\n"
    assert shell.check("a.py", *argv).text.endswith(closing)
    assert closing not in shell.check("a.py", "--quiet", *argv).text


def test_paths_may_stand_between_flags(tmp_path):
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(EQUAL)
    command = [
        sys.executable,
        "-m",
        "tfnanlint",
        "check",
        "a.py",
        "--isolated",
        "b.py",
        "--select",
        "TFN301",
        "c.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "Found 3 warnings" in done.stdout, done


def test_quiet_prints_findings_only(shell):
    shell.write("a.py", NO_FIX)
    os.symlink("nowhere", shell.directory / "b.py")
    outcome = shell.check("--quiet")
    assert (outcome.text, outcome.err) == ("a.py:2:5: warning: TFN101 log of x\n", "")


def test_all_formats_go_through(shell):
    shell.write("a.py", EQUAL)
    assert "  |     ^^^^^" in shell.run("check").text
    assert json.loads(shell.run("check", "--output-format", "json").text)[0]["code"] == "TFN301"
    assert shell.check().text.startswith("a.py:2:5: warning: TFN301 [*] log of a softmax\n")


def test_json_is_json_whatever_else_is_asked(shell):
    shell.write("a.py", EQUAL)
    outcome = shell.run("check", "--output-format", "json", "--fix", "--show-fixes")
    assert json.loads(outcome.text) == []
    assert shell.run("check", "--output-format", "json", "--statistics").text == "[]\n"


def test_statistics(shell):
    shell.write("a.py", EQUAL + "tf.log(tf.nn.softmax(x))\n" + "tf.sqrt(x)\n" * 12)
    assert shell.check("--statistics", "--quiet").text == (
        "12\tTFN202\t[ ] sqrt-gradient-at-zero\n 2\tTFN301\t[*] log-softmax\n"
        "14\ttotal: 14 warnings ([*] `--fix` repairs all)\n"
    )
    assert json.loads(shell.run("check", "--statistics", "--output-format", "json").text) == [
        {"code": "TFN202", "name": "sqrt-gradient-at-zero", "count": 12, "fixable": False},
        {"code": "TFN301", "name": "log-softmax", "count": 2, "fixable": True},
    ]


def test_a_syntax_error_is_a_finding_at_its_place(shell):
    shell.write("a.py", "import tensorflow\nx = (1,\n  2]\n")
    shell.write("b.py", NO_FIX)
    outcome = shell.check()
    assert outcome.places == ["3 TFN001", "2 TFN101"]


BROKEN = (
    "import tensorflow as tf\n\n\ndef f(x):\n    return tf.math.log(tf.nn.softmax(x))\n\n\n"
    "def g(x):\n    y = (x +\n    return tf.math.log(tf.nn.softmax(x))\n\n\n"
    "def h(x):\n    return x  # tfn: ignore[TFN301] nothing, if g is right\n"
)


def test_the_functions_without_a_syntax_error_are_checked(shell):
    shell.write("a.py", BROKEN)
    outcome = shell.check()
    assert outcome.code == 1 and outcome.places == ["5 TFN301", "9 TFN001"]
    assert "'(' was never closed; lines 8 to 10 are not" in outcome.text
    assert outcome.text.endswith("Checked in part: 1 file with a syntax error.\n")
    assert "1 file read, 1 uses TensorFlow or Keras" in outcome.text


@pytest.mark.parametrize(
    "how", [["--fix", "--unsafe-fixes"], ["--diff", "--unsafe-fixes"], ["--add-ignore", "known"]]
)
def test_a_file_with_a_syntax_error_is_not_written(shell, how):
    path = shell.write("a.py", BROKEN)
    outcome = shell.run("check", *how)
    assert path.read_text() == BROKEN and "log_softmax" not in outcome.text


def test_a_syntax_error_is_new_wherever_it_stands(shell):
    shell.write("a.py", BROKEN)
    baseline = shell.run("baseline", "create")
    assert "not in the baseline: a.py: syntax error" in baseline.err
    assert shell.check("--baseline", "tfnanlint-baseline.json").places == ["5 TFN301", "9 TFN001"]


def test_a_syntax_error_in_a_file_without_tensorflow_is_not_our_business(shell):
    shell.write("a.py", "print 'a'\n")
    assert shell.check("a.py").code == 0


def test_a_failure_costs_one_file(shell):
    shell.write("a.py", "import tensorflow as tf\ntf.crash()\n")
    shell.write("b.py", NO_FIX)
    for argv in ([], ["--fix"]):
        outcome = shell.check(*argv)
        assert (outcome.code, outcome.places) == (2, ["1 TFN000", "2 TFN101"])
        assert "ZeroDivisionError: toy failure (toy.py:" in outcome.text


def test_rules_that_cannot_be_loaded_are_no_clean_result(shell, monkeypatch):
    import toy

    shell.write("a.py", NO_FIX)
    monkeypatch.setattr(sys.modules["tfnanlint.rule.registry"], "load", lambda: toy.missing)
    for argv in (["check"], ["rule", "--all"]):
        outcome = shell.run(*argv)
        assert (outcome.code, outcome.out) == (2, b"")
        assert "error: the rules cannot be loaded: AttributeError: " in outcome.err


# ---------------------------------------------------------------------------------------------------------
# Fixing


@pytest.mark.parametrize(
    "before, after, argv", [(EQUAL, EQUAL_FIXED, []), (SHIFTED, SHIFTED_FIXED, ["--unsafe-fixes"])]
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "head", [b"", b"\xef\xbb\xbf", "# é\n".encode(), "# coding: latin-1\n# é\n".encode("latin-1")]
)
def test_fix_changes_the_expression_and_no_other_byte(shell, before, after, argv, newline, head):
    def data(text: str) -> bytes:
        return (head + text.encode()).replace(b"\n", newline.encode())

    path = shell.write("a.py", data(before))
    assert shell.check("--fix", *argv).code == 0
    assert path.read_bytes() == data(after)
    assert shell.check("--fix", *argv).text.startswith("All checks passed! (1 file read")
    assert path.read_bytes() == data(after)


def test_fix_leaves_what_it_may_not_fix(shell):
    path = shell.write("a.py", SHIFTED)
    assert shell.check("--fix").places == ["2 TFN202"]
    assert path.read_text() == SHIFTED


def test_show_fixes(shell):
    shell.write("a.py", EQUAL + "z = tf.log(tf.nn.softmax(y))\n")
    shell.write("b.py", EQUAL)
    assert shell.check("--fix", "--show-fixes").text == (
        "Fixed 3 findings:\n- a.py:\n    2 x TFN301 (log-softmax)\n- b.py:\n    1 x TFN301 (log-softmax)\n"
        "Fixed 3 findings; nothing remains (2 files read, 2 use TensorFlow or Keras).\n"
        "Not run: 1 rule in preview (`--preview`).\n"
    )


def test_suppressed_findings_are_not_fixed(shell):
    text = EQUAL.rstrip() + "  # noqa: TFN301\n"
    path = shell.write("a.py", text)
    assert shell.check("--fix").code == 0
    assert path.read_text() == text


def test_fix_does_not_write_through_a_link_that_leaves_the_project(shell, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "victim.py"
    outside.write_text(EQUAL)
    shell.write("pyproject.toml", "")
    os.symlink(outside, shell.directory / "a.py")
    outcome = shell.check("--fix")
    assert (outcome.code, outcome.places) == (1, ["2 TFN301"])
    assert "error: a.py: not written: " in outcome.err
    assert outside.read_text() == EQUAL


def test_an_encoding_that_hides_code_is_checked_but_not_fixed(shell):
    data = b"# coding: unicode_escape\nimport tensorflow as tf\ny = tf.log(tf.nn.softmax(z))\n"
    path = shell.write("a.py", data)
    outcome = shell.check("--fix")
    assert outcome.places == ["3 TFN301"]
    assert "its encoding unicode_escape cannot be written back" in outcome.err
    assert path.read_bytes() == data


def test_diff_writes_nothing_and_prints_a_patch(shell):
    path = shell.write("a.py", "# é\n" + EQUAL)
    outcome = shell.check("--diff")
    assert path.read_text() == "# é\n" + EQUAL
    assert outcome.text == (
        "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n # é\n import tensorflow as tf\n"
        "-y = tf.log(tf.nn.softmax(z))\n+y = tf.nn.log_softmax(z)\n"
    )
    assert outcome.err == "Would fix 1 finding.\n"


@pytest.mark.parametrize(
    "data",
    [
        EQUAL.encode(),
        EQUAL.rstrip().encode(),
        EQUAL.replace("\n", "\r\n").encode(),
        EQUAL.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf" + EQUAL.encode(),
        b"# coding: latin-1\n# \xe9\n" + EQUAL.encode(),
        EQUAL.encode() + b"\x0c\n# \xe2\x80\xa8\n",
    ],
)
def test_the_patch_does_what_fix_does(shell, data):
    path = shell.write("with space.py", data)
    patch = shell.check("--diff").out
    shell.check("--fix")
    fixed = path.read_bytes()
    assert fixed != data
    path.write_bytes(data)
    subprocess.run(["git", "init", "-q", "."], check=True)
    subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "-p0", "-"], input=patch, check=True
    )
    assert path.read_bytes() == fixed


# ---------------------------------------------------------------------------------------------------------
# Standard input


def test_standard_input_is_checked(shell):
    outcome = shell.check("-", stdin=NO_FIX.encode())
    assert (outcome.code, outcome.text.splitlines()[0]) == (1, "-:2:5: warning: TFN101 log of x")
    outcome = shell.check("--stdin-filename", "sub/b.py", stdin=NO_FIX.encode())
    assert outcome.text.startswith("sub/b.py:2:5: warning: TFN101")
    assert shell.check("-", stdin=b"x = 1\n").code == 0


def test_settings_for_standard_input_come_from_its_name(shell):
    shell.write(
        "sub/tfnanlint.toml", 'ignore = ["TFN101"]\n[per-file-ignores]\n"b.py" = ["TFN202"]\n'
    )
    text = (NO_FIX + "tf.sqrt(x)\n").encode()
    assert shell.check("-", stdin=text).places == ["2 TFN101", "3 TFN202"]
    assert shell.check("-", "--stdin-filename", "sub/a.py", stdin=text).places == ["3 TFN202"]
    assert shell.check("-", "--stdin-filename", "sub/b.py", stdin=text).places == []


def test_fixing_standard_input_prints_the_source_and_findings_beside_it(shell):
    outcome = shell.check("-", "--fix", stdin=(EQUAL + "tf.log(x)\n").encode())
    assert outcome.text == EQUAL_FIXED + "tf.log(x)\n"
    assert outcome.err == (
        f"-:3:1: warning: TFN101 log of x\nFixed 1 finding; 1 warning remains ({READ}).\n"
        "Not run: 1 rule in preview (`--preview`).\n"
    )
    assert outcome.code == 1


def test_fixing_standard_input_always_prints_the_source(shell):
    for data in (
        b"",
        b"x = 1",
        CLEAN.encode(),
        b"\xff tensorflow",
        "print 'tensorflow'\r\n".encode(),
    ):
        assert shell.check("-", "--fix", stdin=data).out == data
    argv = [
        "-",
        "--fix",
        "--stdin-filename",
        "gen/a.py",
        "--force-exclude",
        "--extend-exclude",
        "gen",
    ]
    assert shell.check(*argv, stdin=EQUAL.encode()).out == EQUAL.encode()


def test_diff_of_standard_input(shell):
    outcome = shell.check("-", "--diff", "--stdin-filename", "b.py", stdin=EQUAL.encode())
    assert (outcome.code, outcome.text[:20]) == (1, "--- b.py\n+++ b.py\n@@")


# ---------------------------------------------------------------------------------------------------------
# Colour


@pytest.mark.parametrize(
    "environment, coloured",
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_only_when_forced_off_a_terminal(shell, monkeypatch, environment, coloured):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    shell.write("a.py", EQUAL)
    for argv in (["check"], ["check", "--output-format", "concise"], ["check", "--statistics"]):
        assert (b"\x1b[" in shell.run(*argv).out) == coloured
    assert b"\x1b[" not in shell.run("check", "--output-format", "json").out


def test_colour_on_a_terminal(shell, monkeypatch):
    shell.write("a.py", EQUAL)
    real = sys.stdout
    monkeypatch.setattr(type(real), "isatty", lambda self: True)
    monkeypatch.setenv("TERM", "xterm")
    assert b"\x1b[" in shell.check().out
    monkeypatch.setenv("TERM", "dumb")
    assert b"\x1b[" not in shell.check().out


def test_colour_changes_nothing_but_the_colour(shell, monkeypatch):
    shell.write("a.py", EQUAL + SHIFTED)
    plain = shell.run("check").text
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert re.sub(r"\x1b\[[0-9;]*m", "", shell.run("check").text) == plain


# ---------------------------------------------------------------------------------------------------------
# tfnanlint rule


def test_rule_explains(shell):
    for word in ("TFN101", "tfn101", "log-of-nonpositive"):
        outcome = shell.run("rule", word)
        assert outcome.code == 0
        assert outcome.text.startswith(
            "# log-of-nonpositive (TFN101)\n\n## What it finds\n\nThe log of a value that can be 0.\n"
        )
    assert (
        "Replaces at the same place: TFN101 log-of-nonpositive." in shell.run("rule", "TFN301").text
    )
    assert "In preview" in shell.run("rule", "TFN801").text
    assert (
        "Reported with `--certainty unknown` only: warnings where no gradient is taken, warnings in "
        "test files where a gradient is taken, warnings in XLA only where a gradient is taken."
    ) in " ".join(shell.run("rule", "TFN203").text.split())


def test_rule_all(shell):
    text = shell.run("rule", "--all").text
    assert re.findall(r"^# .*\((TFN\d+)\)$", text, re.M) == [
        *(
            "TFN000",
            "TFN001",
            "TFN002",
            "TFN003",
            "TFN004",
            "TFN101",
            "TFN202",
            "TFN203",
            "TFN301",
            "TFN801",
        ),
    ]
    described = json.loads(shell.run("rule", "--all", "--output-format", "json").text)
    assert {"code": "TFN301", "name": "log-softmax", "over": ["TFN101"]}.items() <= described[
        -2
    ].items()
    assert json.loads(shell.run("rule", "TFN101", "--output-format", "json").text)["default"] == [
        "must",
        "may",
    ]
    assert json.loads(shell.run("rule", "TFN203", "--output-format", "json").text)["silent"] == [
        "may/no",
        "may/yes/tests",
        "may/yes/xla",
    ]


@pytest.mark.parametrize(
    "argv, complaint",
    [
        (["TFN11"], "unknown rule `TFN11`; did you mean `TFN101`?"),
        (["log-of-nonpositve"], "did you mean `log-of-nonpositive`?"),
        ([], "name one rule, or give --all"),
        (["TFN101", "--all"], "name one rule, or give --all"),
    ],
)
def test_wrong_rule_is_exit_2(shell, argv, complaint):
    outcome = shell.run("rule", *argv)
    assert (outcome.code, outcome.out) == (2, b"")
    assert complaint in outcome.err


# ---------------------------------------------------------------------------------------------------------
# The process, with the real engine


REAL = (
    "import tensorflow as tf\nz = tf.keras.Input((3,))\np = tf.nn.softmax(z)\ny = tf.math.log(p)\n"
)


def process(*argv: str, directory, python: tuple[str, ...] = ("-m", "tfnanlint"), **more):
    return subprocess.run(
        [sys.executable, *python, *argv], cwd=directory, capture_output=True, timeout=60, **more
    )


def test_the_module_runs_and_needs_no_tensorflow(tmp_path):
    (tmp_path / "a.py").write_text(REAL)
    (tmp_path / "tensorflow.py").write_text("raise SystemExit('imported')\n")
    done = process("check", "a.py", directory=tmp_path)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"a.py:4:5: warning: TFN301" in done.stdout


def test_the_module_does_not_import_from_the_working_directory(tmp_path):
    for name in (
        "ast",
        "json",
        "dataclasses",
        "argparse",
        "tfnanlint_rules",
        "tomllib",
        "pathspec",
        "difflib",
        "enum",
    ):
        (tmp_path / f"{name}.py").write_text(
            f"raise SystemExit('{name} of the project was imported')\n"
        )
    (tmp_path / "tfnanlint.toml").write_text('exclude = ["x"]\n')
    (tmp_path / "a.py").write_text(REAL)
    done = process("check", "--output-format", "json", directory=tmp_path)
    assert (done.returncode, done.stderr) == (1, b"")
    assert [found["code"] for found in json.loads(done.stdout)] == ["TFN301"]


def test_a_closed_pipe_is_no_error(tmp_path):
    (tmp_path / "a.py").write_text(
        "import tensorflow as tf\n" + "x = 1  # tfn: ignore[TFN101]\n" * 2000
    )
    command = f"{sys.executable} -m tfnanlint check a.py | head -n 1"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.stdout.startswith(b"a.py:2:8: warning: TFN003")
    assert done.stderr == b""


@pytest.mark.parametrize(
    "environment", [{"PYTHONIOENCODING": "ascii"}, {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}]
)
def test_output_that_the_terminal_cannot_encode_is_escaped(tmp_path, environment):
    (tmp_path / "größe.py").write_text(REAL.replace("p = ", "größe = p = "), encoding="utf-8")
    done = process("check", ".", directory=tmp_path, env={**os.environ, **environment})
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"TFN301" in done.stdout


def test_no_heavy_import_on_a_clean_run(tmp_path):
    (tmp_path / "a.py").write_text("import tensorflow as tf\ny = tf.exp(x)\n")
    script = (
        "import sys; from tfnanlint.cli import main; code = main(['check', 'a.py'])\n"
        "heavy = {'tensorflow', 'numpy', 'libcst', 'pathspec', 'tomllib', 'tomli', 'tokenize_rt', 'difflib', 'json',"
        " 'rich', 'pygls', 'multiprocessing', 'asyncio', 'subprocess', 'unicodedata'}\n"
        "print(code, sorted(heavy & set(sys.modules)))"
    )
    done = process(directory=tmp_path, python=("-c", script))
    assert done.stdout.decode().splitlines()[-1] == "0 []", done


def test_start_to_exit_takes_little(tmp_path):
    (tmp_path / "a.py").write_text(
        "import tensorflow as tf\n\n\ndef f(x):\n" + "    x = tf.sqrt(tf.exp(x) + 1.0)\n" * 6
    )
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }

    def cpu(*argv: str) -> float:
        times = []
        for _ in range(6):  # the first one compiles
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = process(directory=tmp_path, python=argv, env=environment)
            assert done.returncode == 0, done
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(times)

    assert cpu("-m", "tfnanlint", "check", "a.py") <= 10 * cpu("-c", "pass")
