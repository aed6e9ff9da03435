"""Settings: where they are found, which wins, and what is said about those that cannot be followed."""

from __future__ import annotations

import pytest

from tfnanlint.diagnostics.findings import Silence

CODE = "import tensorflow as tf\na = tf.log(x)\nb = tf.sqrt(x)\nc = tf.log(unknown)\nd = tf.preview(x)\n"


@pytest.fixture
def project(shell):
    shell.write("a.py", CODE)
    return shell


def test_defaults_leave_preview_and_unknown_out(project):
    assert project.check().places == ["2 TFN101", "3 TFN202"]


@pytest.mark.parametrize(
    "argv, expected",
    [
        (["--select", "TFN101"], ["2 TFN101"]),
        (["--select", "log-of-nonpositive"], ["2 TFN101"]),
        (["--select", "tfn2"], ["3 TFN202"]),
        (["--select", "TFN1,TFN2"], ["2 TFN101", "3 TFN202"]),
        (["--select", "TFN1", "--select", "TFN202"], ["2 TFN101", "3 TFN202"]),
        (["--select", "ALL"], ["2 TFN101", "3 TFN202"]),
        (["--select", "TFN8"], ["5 TFN801"]),
        (["--preview"], ["2 TFN101", "3 TFN202", "5 TFN801"]),
        (["--select", "ALL", "--preview"], ["2 TFN101", "3 TFN202", "5 TFN801"]),
        (["--preview", "--ignore", "TFN8"], ["2 TFN101", "3 TFN202"]),
        (["--preview", "--no-preview"], ["2 TFN101", "3 TFN202"]),
        (["--config", "preview = true"], ["2 TFN101", "3 TFN202", "5 TFN801"]),
        (["--extend-select", "TFN801"], ["2 TFN101", "3 TFN202", "5 TFN801"]),
        (["--ignore", "TFN2"], ["2 TFN101"]),
        (["--ignore", "ALL"], []),
        (["--ignore", "TFN2", "--extend-select", "TFN202"], ["2 TFN101", "3 TFN202"]),
        (["--select", "TFN1", "--ignore", "TFN101"], []),
        (["--certainty", "unknown"], ["2 TFN101", "3 TFN202", "4 TFN101"]),
        (["--certainty", "must"], []),
        (["--per-file-ignores", "a.py:TFN1"], ["3 TFN202"]),
        (["--per-file-ignores", "!b.py:TFN1"], ["3 TFN202"]),
        (["--per-file-ignores", "b.py:TFN1"], ["2 TFN101", "3 TFN202"]),
    ],
)
def test_flags_choose_what_is_reported(project, argv, expected):
    assert project.check(*argv).places == expected


@pytest.mark.parametrize(
    "toml, expected",
    [
        ('select = ["TFN1"]', ["2 TFN101"]),
        ('ignore = ["TFN101"]', ["3 TFN202"]),
        ('extend-select = ["TFN8"]', ["2 TFN101", "3 TFN202", "5 TFN801"]),
        ('certainty = "unknown"', ["2 TFN101", "3 TFN202", "4 TFN101"]),
        ('[per-file-ignores]\n"*.py" = ["ALL"]', []),
        ('[per-file-ignores]\n"sub/*.py" = ["ALL"]', ["2 TFN101", "3 TFN202"]),
        ('exclude = ["a.py"]', []),
        ('extend-exclude = ["b.py"]', ["2 TFN101", "3 TFN202"]),
        ("max-file-size = 10", ["1 TFN002"]),
    ],
)
def test_files_choose_the_same_in_both_places(project, toml, expected):
    project.write("tfnanlint.toml", toml)
    assert project.check().places == expected
    (project.directory / "tfnanlint.toml").unlink()
    project.write(
        "pyproject.toml",
        "[tool.tfnanlint]\n" + toml.replace("[per-file", "[tool.tfnanlint.per-file"),
    )
    assert project.check().places == expected


@pytest.mark.parametrize(
    "argv, expected",
    [
        ([], ["2 TFN203"]),
        (["--certainty", "may"], ["2 TFN203", "3 TFN203"]),
        (["--config", 'certainty = "unknown"'], ["2 TFN203", "3 TFN203"]),
        (["--certainty", "must"], []),
    ],
)
def test_a_rule_withholds_a_grade_where_no_gradient_is_taken_unless_asked(shell, argv, expected):
    shell.write("a.py", "import tensorflow as tf\na = tf.norm(x)\nb = tf.norm(data)\n")
    done = shell.check(*argv)
    assert done.places == expected
    left_out = "Not shown: 1 often harmless (`--certainty unknown` shows them and more).\n"
    assert (left_out in done.text) == (not argv)
    only = "Only errors were asked for (`--certainty must`).\n"
    assert (only in done.text) == ("must" in argv)


@pytest.mark.parametrize(
    "name, argv, expected",
    [
        ("a.py", [], ["2 TFN203"]),
        ("a.py", ["--certainty", "unknown"], ["2 TFN203", "3 TFN203"]),
        # a project of one mode is told what shows in it
        ("a.py", ["--modes", "xla"], ["2 TFN203", "3 TFN203"]),
        ("a.py", ["--modes", "graph,xla"], ["2 TFN203"]),
        ("test_a.py", [], []),
        ("conftest.py", [], []),
        ("test_a.py", ["--certainty", "unknown"], ["2 TFN203", "3 TFN203"]),
    ],
)
def test_a_rule_withholds_what_shows_in_one_mode_and_what_stands_in_tests(
    shell, name, argv, expected
):
    shell.write(name, "import tensorflow as tf\na = tf.norm(x)\nb = tf.norm(compiled)\n")
    done = shell.check(*argv)
    assert done.places == expected
    left_out = 2 - len(expected)
    assert (
        f"Not shown: {left_out} often harmless (`--certainty unknown` shows them and more).\n"
        in done.text
    ) == bool(left_out)


@pytest.mark.parametrize("text", ["MAY/NO/EAGERLY", "MAY/NO/XLA/TESTS", "MAY/YES/DOUBTFUL/XLA"])
def test_a_class_of_findings_names_a_mode_or_tests(text):
    with pytest.raises(ValueError, match=text):
        Silence.parsed(text)


def test_the_nearest_file_wins_without_merging(project):
    project.write("sub/b.py", CODE)
    project.write("sub/deep/c.py", CODE)
    project.write("pyproject.toml", '[tool.tfnanlint]\nignore = ["TFN1"]\n')
    project.write("sub/tfnanlint.toml", 'ignore = ["TFN2"]\n')
    project.write("sub/deep/pyproject.toml", "[tool.other]\n# tfnanlint is not set up here\n")
    lines = project.check("--quiet").text.splitlines()
    assert [line.partition(" ")[0] + line.split()[2] for line in lines] == [
        "a.py:3:5:TFN202",
        "sub/b.py:2:5:TFN101",
        "sub/deep/c.py:2:5:TFN101",
    ]


def test_the_file_is_looked_up_from_the_checked_file_not_from_the_working_directory(
    project, monkeypatch
):
    project.write("tfnanlint.toml", 'ignore = ["TFN1"]\n')
    elsewhere = project.directory / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert project.check("../a.py").places == ["3 TFN202"]


def test_tfnanlint_toml_goes_before_pyproject(project):
    project.write("pyproject.toml", '[tool.tfnanlint]\nignore = ["TFN1"]\n')
    project.write("tfnanlint.toml", 'ignore = ["TFN2"]\n')
    assert project.check().places == ["2 TFN101"]


def test_select_on_the_command_line_starts_afresh(project):
    project.write("tfnanlint.toml", 'select = ["TFN2"]\nignore = ["TFN101"]\n')
    assert project.check("--select", "TFN1").places == ["2 TFN101"]
    assert project.check("--extend-select", "TFN101").places == ["2 TFN101", "3 TFN202"]


def test_isolated_reads_no_file(project):
    project.write("tfnanlint.toml", 'ignore = ["ALL"]\n')
    assert project.check().places == []
    assert project.check("--isolated").places == ["2 TFN101", "3 TFN202"]


def test_config_option_takes_a_file_or_toml(project):
    project.write("tfnanlint.toml", 'ignore = ["ALL"]\n')
    project.write("other.toml", 'ignore = ["TFN2"]\n')
    assert project.check("--config", "other.toml").places == ["2 TFN101"]
    assert project.check("--config", "other.toml", "--config", 'certainty = "unknown"').places == [
        "2 TFN101",
        "4 TFN101",
    ]
    assert project.check("--isolated", "--config", 'ignore = ["TFN1"]').places == ["3 TFN202"]


def test_flags_go_before_config_options(project):
    assert project.check("--config", 'certainty = "must"', "--certainty", "may").places == [
        "2 TFN101",
        "3 TFN202",
    ]


def test_per_file_ignores_are_relative_to_their_file(project):
    project.write("sub/tfnanlint.toml", '[per-file-ignores]\n"/a.py" = ["ALL"]\n')
    project.write("sub/a.py", CODE)
    project.write("sub/in/a.py", CODE)
    assert {line.split(":")[0] for line in project.check("-q").text.splitlines()} == {
        "a.py",
        "sub/in/a.py",
    }


@pytest.mark.parametrize(
    "toml, complaint",
    [
        ('selct = ["TFN1"]', "unknown key `selct`; did you mean `select`?"),
        ('select = ["TFN110"]', "unknown rule `TFN110`; did you mean `TFN101`?"),
        ('ignore = ["log-softmx"]', "unknown rule `log-softmx`; did you mean `log-softmax`?"),
        ('[per-file-ignores]\n"*" = ["TFN999"]', "per-file-ignores: unknown rule `TFN999`"),
        ('select = "TFN1"', "`select` must be a list of strings"),
        ("select = [1]", "`select` must be a list of strings"),
        ('per-file-ignores = ["a"]', "`per-file-ignores` must be a table"),
        ('certainty = "sure"', "`certainty` must be one of default, must, may, unknown"),
        ("certainty = 3", "`certainty` must be one of"),
        ('unsafe-fixes = "yes"', "`unsafe-fixes` must be true or false"),
        ("max-file-size = 0", "`max-file-size` must be a number of bytes between 1 and"),
        ("max-file-size = true", "`max-file-size` must be a number of bytes between 1 and"),
        ('epsilon = "1e-7"', "`epsilon` must be a number between 1e-19 and 0.01"),
        ("epsilon = 0", "`epsilon` must be a number between 1e-19 and 0.01"),
        ("epsilon = 1e-30", "between 1e-19 and 0.01: float32 would lose a smaller one"),
        ("epsilon = nan", "`epsilon` must be a number"),
        ('modes = ["eagr"]', "`modes`: unknown mode `eagr`; did you mean `eager`?"),
        ("modes = []", "`modes` needs at least one of eager, graph, xla, gpu"),
        (
            "target-tensorflow = 2.10",
            '`target-tensorflow` must be a release such as "2.10"; write it in quotes',
        ),
        ('target-tensorflow = "two"', "`target-tensorflow` must be a release"),
        (
            'target-tensorfow = "2.1"',
            "unknown key `target-tensorfow`; did you mean `target-tensorflow`?",
        ),
        ('ignore = ["TFN001"]', "`TFN001` can be neither selected nor ignored"),
        ("select = [", "not valid TOML"),
        (
            "[tool.tfnanlint]\n",
            "unknown key `tool`; in tfnanlint.toml the keys stand at the top level",
        ),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("max-file-size = " + "9" * 5_000, "tfnanlint.toml: not valid TOML"),
        ('exclude = ["*a*a*a*a*a*a*a*a*b"]', "too many stars"),
        ("# \xff".encode("latin-1"), "not valid UTF-8"),
        ("#" + "x" * (1 << 20), "larger than 1 MiB"),
    ],
)
def test_what_cannot_be_followed_is_exit_2_and_one_line(project, toml, complaint):
    project.write("tfnanlint.toml", toml)
    outcome = project.check()
    assert outcome.code == 2
    assert complaint in outcome.err
    assert outcome.err.startswith("error: ") and outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    "argv, complaint",
    [
        (["--epsilon", "small"], "--epsilon: `small` is not a number"),
        (
            ["--epsilon", "1e-40"],
            "--epsilon: `epsilon` must be a number between 1e-19 and 0.01: float32 would lose a smaller one",
        ),
        (["--modes", "eager,tpu"], "--modes: `modes`: unknown mode `tpu`"),
        (
            ["--target-tensorflow", "next"],
            '--target-tensorflow: `target-tensorflow` must be a release such as "2.10"',
        ),
        (["--select", "TFN11"], "command line: unknown rule `TFN11`; did you mean `TFN101`?"),
        (["--ignore", "E501"], "command line: unknown rule `E501`"),
        (["--config", "nowhere.toml"], "`nowhere.toml` is neither a file nor a setting"),
        (["--config", "selct = []"], "--config: unknown key `selct`; did you mean `select`?"),
        (["--config", "a.toml", "--config", "b.toml"], "more than one file: a.toml, b.toml"),
        (["--config", "a.toml", "--isolated"], "cannot be used together with --isolated"),
        (["--per-file-ignores", "a.py"], "`a.py` is not of the form GLOB:RULE"),
    ],
)
def test_wrong_flags_are_exit_2(project, argv, complaint):
    project.write("a.toml", "")
    project.write("b.toml", "")
    outcome = project.check(*argv)
    assert (outcome.code, outcome.out) == (2, b"")
    assert complaint in outcome.err


def test_a_wrong_rule_is_said_even_when_no_file_needs_the_rules(shell):
    shell.write("a.py", "x = 1\n")
    assert shell.check("--select", "TFN11").code == 2


def test_a_pyproject_of_others_may_be_broken(project):
    project.write("pyproject.toml", "[tool.other\nbroken")
    assert project.check().places == ["2 TFN101", "3 TFN202"]


def test_a_configuration_that_is_no_regular_file_is_refused(project):
    (project.directory / "tfnanlint.toml").mkdir()
    outcome = project.check()
    assert outcome.code == 2
    assert "not a regular file" in outcome.err or "Is a directory" in outcome.err


def test_a_rule_that_is_ignored_holds_its_place(shell):
    """What is switched off is off: a more general rule does not say the same in its place."""
    shell.write("a.py", "import tensorflow as tf\ny = tf.log(tf.nn.softmax(z))\nw = tf.log(x)\n")
    assert shell.check().places == ["2 TFN301", "3 TFN101"]
    assert shell.check("--ignore", "TFN301").places == ["3 TFN101"]
    assert shell.check("--per-file-ignores", "a.py:TFN301").places == ["3 TFN101"]
    assert shell.check("--config", 'ignore = ["TFN301"]').places == ["3 TFN101"]
    assert shell.check("--select", "TFN101").places == ["2 TFN101", "3 TFN101"]
    assert shell.check("--ignore", "TFN301,TFN101").places == []
    assert "TFN301" not in shell.run("config", "--show", ".", "--ignore", "TFN301").text
    shell.write(
        "a.py", "import tensorflow as tf\ny = tf.log(tf.nn.softmax(z))  # tfn: ignore[TFN301]\n"
    )
    assert shell.check("--ignore", "TFN301").places == []
