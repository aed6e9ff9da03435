"""Which comments hide which findings, and which comments are said to be idle."""

from __future__ import annotations

import pytest

HEAD = "import tensorflow as tf\n"


def places(shell, body: str, *flags: str) -> list[str]:
    shell.write("a.py", HEAD + body)
    return shell.check("a.py", *flags).places


@pytest.mark.parametrize(
    "line",
    [
        "y = tf.log(x)  # tfn: ignore[TFN101]",
        "y = tf.log(x)  # tfn: ignore[TFN101] x is a count of at least one",
        "y = tf.log(x)  # tfn:ignore[ TFN101 ]",
        "y = tf.log(x)  # tfn: ignore[tfn101]",
        "y = tf.log(x)  # tfn: ignore[log-of-nonpositive]",
        "y = tf.log(tf.sqrt(x))  # tfn: ignore[TFN101, sqrt-gradient-at-zero]",
        "y = tf.log(tf.sqrt(x))  # tfn: ignore[TFN101]  # tfn: ignore[TFN202]",
        "y = tf.log(x)  # noqa",
        "y = tf.log(x)  # NOQA",
        "y = tf.log(x)  # noqa: TFN101",
        "y = tf.log(x)  # noqa:tfn101",
        "y = tf.log(x)  # noqa : TFN101",
        "y = tf.log(x)  # noqa: E501, TFN101",
        "y = tf.log(x)  # noqa: TFN101 E501 because",
        "y = tf.log(x)  # type: ignore # noqa: TFN101",
        "x = 'é中文😀'; y = tf.log(x)  # tfn: ignore[TFN101]",
        "# tfn: ignore[TFN101]\ny = tf.log(x)",
        "# tfn: ignore[TFN101]\n\n# why\ny = (1,\n     tf.log(x))",
        "if a:\n    # tfn: ignore[TFN101]\n    y = tf.log(x)",
        "y = f(\n    # tfn: ignore[TFN101]\n    tf.log(x),\n)",
    ],
)
def test_a_comment_hides_what_it_names(shell, line):
    assert places(shell, line + "\n") == []


@pytest.mark.parametrize("comment", ["# tfn: ignore[TFN101]", "# noqa: TFN101", "# noqa"])
@pytest.mark.parametrize(
    "statement",
    [
        "y = f({},\n      tf.log(x),\n      1)",  # first line of the statement
        "y = f(1,{}\n      tf.log(x),\n      1)".replace("1,{}", "1,").replace(
            "tf.log(x),", "tf.log(x),  {}"
        ),
        "y = f(1,\n      tf.log(x),\n      1)  {}",  # last line of the statement
        "y = f(tf.log(  {}\n    x\n))",  # first line of the finding
        "y = f(1,\n      tf.log(\n    x\n), 2,  {}\n  3)",  # last line of the finding
        "y = '''\na\n''' + tf.log(x)  {}",
        "with f(tf.log(x)) as y:  {}\n    pass",
    ],
)
def test_where_on_a_statement_it_may_stand(shell, statement, comment):
    assert (
        places(shell, statement.replace("{},", "  " + comment).replace("{}", comment) + "\n") == []
    )


@pytest.mark.parametrize(
    "body, expected",
    [
        ("y = tf.log(x)  # tfn: ignore[TFN202]", ["2 TFN101", "2 TFN003"]),
        ("y = tf.log(x)  # noqa: E501", ["2 TFN101"]),
        ("y = tf.log(x)  # noqa: because I say so", ["2 TFN101"]),
        ("y = tf.log(x)  # tfn: ignore", ["2 TFN101", "2 TFN003"]),
        ("# noqa: TFN101\ny = tf.log(x)", ["2 TFN003", "3 TFN101"]),
        ("# noqa\ny = tf.log(x)", ["3 TFN101"]),
        ("# tfn: ignore[TFN101]\nz = 1\ny = tf.log(x)", ["2 TFN003", "4 TFN101"]),
        ("y = f(1,\n  2,  # noqa\n  tf.log(x))", ["4 TFN101"]),
        ("s = '# tfn: ignore[TFN101]'; y = tf.log(x)", ["2 TFN101"]),
        ("s = '''\n# tfn: ignore[TFN101]\n'''\ny = tf.log(x)", ["5 TFN101"]),
        ("while y:  # noqa\n    y = tf.log(x)", ["3 TFN101"]),
    ],
)
def test_what_it_does_not_hide(shell, body, expected):
    assert places(shell, body + "\n") == expected


@pytest.mark.parametrize(
    "comment, complaint",
    [
        ("# tfn: ignore[TFN101]", "TFN101 is not found here"),
        ("# tfn: ignore[TFN202, TFN101]", "TFN202 is not found here, TFN101 is not found here"),
        ("# tfn: ignore[log-of-nonpositive]", "log-of-nonpositive is not found here"),
        ("# tfn: ignore[TFN102]", "`TFN102` is not a rule code; did you mean `TFN101`?"),
        ("# tfn: ignore[]", "names no rule"),
        ("# tfn: disable=TFN301", "write `# tfn: ignore[TFN101]`"),
        ("# tfnanlint: ignore[TFN301]", "write `# tfn: ignore[TFN101]`"),
        ("# noqa: TFN101", "TFN101 is not found here"),
        ("# noqa: TFN199, E501", "`TFN199` is not a rule code"),
    ],
)
def test_an_idle_comment_is_reported(shell, comment, complaint):
    shell.write("a.py", HEAD + f"y = tf.exp(x)  {comment}\n")
    outcome = shell.check("a.py")
    assert (outcome.code, outcome.places) == (1, ["2 TFN003"])
    assert complaint in outcome.text


@pytest.mark.parametrize(
    "comment, flags",
    [
        ("# noqa", []),
        ("# noqa: E501", []),
        ("# tfn: ignore[TFN101]", ["--ignore", "TFN101"]),  # its rule did not run
        ("# tfn: ignore[TFN101]", ["--select", "TFN2"]),
        ("# tfn: ignore[TFN101]", ["--ignore", "TFN003"]),
        ("# tfn: ignore[TFN801]", []),  # in preview
    ],
)
def test_a_comment_that_cannot_be_judged_is_not(shell, comment, flags):
    assert places(shell, f"y = tf.exp(x)  {comment}\n", *flags) == []


def test_hiding_a_finding_too_unsure_to_be_shown_is_not_idle(shell):
    body = "y = tf.log(unknown)  # tfn: ignore[TFN101]\n"
    assert places(shell, body) == []
    assert places(shell, body, "--certainty", "unknown") == []


def test_a_hidden_specific_finding_does_not_bring_the_general_one_back(shell):
    assert places(shell, "y = tf.log(tf.nn.softmax(z))  # tfn: ignore[TFN301]\n") == []


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_all_line_ends_count_alike(shell, newline):
    body = "x = '''\n\n'''\ny = tf.log(x)  # noqa: TFN101\nz = tf.log(y)\n"
    shell.write("a.py", (HEAD + body).replace("\n", newline))
    assert shell.check("a.py").places == ["6 TFN101"]


@pytest.mark.parametrize(
    "comment", ["# tfn: skip-file", "#tfn:skip-file", "    # tfn: skip-file generated"]
)
def test_skip_file(shell, comment):
    assert places(shell, f"if 1:\n{comment}\n    y = tf.log(x)\n") == []


def test_skip_file_holds_for_what_does_not_parse(shell):
    assert places(shell, "# tfn: skip-file\nprint 'python 2'\n") == []


def test_skip_file_in_a_string_or_behind_code_is_none(shell):
    assert places(shell, "s = '''\n# tfn: skip-file\n'''\ny = tf.log(x)  # tfn: skip-file\n") == [
        "5 TFN101"
    ]


def test_a_failure_of_tfnanlint_cannot_be_hidden(shell):
    shell.write("a.py", HEAD + "tf.crash()  # noqa\n")
    assert shell.check("a.py").code == 2


@pytest.mark.parametrize(
    "before, after",
    [
        ("y = tf.exp(x)  # tfn: ignore[TFN101]\n", "y = tf.exp(x)\n"),
        ("y = tf.exp(x)  # noqa: TFN101\n", "y = tf.exp(x)\n"),
        ("y = tf.exp(x)  # noqa: TFN101 # type: int\n", "y = tf.exp(x)  # type: int\n"),
        ("y = tf.exp(x)  # noqa: TFN101, E501\n", "y = tf.exp(x)  # noqa: E501\n"),
        ("if y:\n    # tfn: ignore[TFN101] why\n    y = 1\n", "if y:\n    y = 1\n"),
        (
            "y = tf.log(x)  # tfn: ignore[TFN101, TFN202]\n",
            "y = tf.log(x)  # tfn: ignore[TFN101]\n",
        ),
        ("y = 1  # tfn: ignore[TFN101]", "y = 1"),
        ("y = 1\r\n# tfn: ignore[TFN101]\r\ny = 2\r\n", "y = 1\r\ny = 2\r\n"),
    ],
)
def test_the_fix_takes_out_what_is_idle_and_nothing_else(shell, before, after):
    path = shell.write("a.py", HEAD + before)
    outcome = shell.check("a.py", "--fix")
    assert path.read_bytes().decode() == HEAD + after
    assert outcome.code == 0
