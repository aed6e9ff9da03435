"""`--add-ignore`: comments that hide what is found, written where Python allows a comment, and
nothing else changed.
"""

from __future__ import annotations

import io
import tokenize

import pytest

HEAD = "import tensorflow as tf\n"


def added(shell, body: str, *argv: str, reason: str = "inherited") -> str:
    """The body of a file after `--add-ignore`; a second run must find nothing and change nothing."""
    path = shell.write("a.py", HEAD + body)
    done = shell.check("a.py", "--add-ignore", reason, *argv)
    assert done.code == 0, (done.text, done.err)
    text = path.read_bytes().decode()
    assert shell.check("a.py", *argv).code == 0
    shell.check("a.py", "--add-ignore", reason, *argv)
    assert path.read_bytes().decode() == text
    return text.removeprefix(HEAD)


@pytest.mark.parametrize(
    "before, after",
    [
        ("y = tf.log(x)\n", "y = tf.log(x)  # tfn: ignore[TFN101] inherited\n"),
        ("y = tf.log(x)", "y = tf.log(x)  # tfn: ignore[TFN101] inherited"),
        (
            "y = tf.log(x)   \r\nz = 1\r\n",
            "y = tf.log(x)  # tfn: ignore[TFN101] inherited\r\nz = 1\r\n",
        ),
        ("y = tf.log(x)  # why\n", "y = tf.log(x)  # why  # tfn: ignore[TFN101] inherited\n"),
        (
            "y = tf.log(x)  # type: ignore\n",
            "y = tf.log(x)  # type: ignore  # tfn: ignore[TFN101] inherited\n",
        ),
        (
            "y = tf.log(x) + tf.sqrt(x)\n",
            "y = tf.log(x) + tf.sqrt(x)  # tfn: ignore[TFN101, TFN202] inherited\n",
        ),
        (
            "y = tf.log(x) + tf.sqrt(x)  # tfn: ignore[TFN202] so it is\n",
            "y = tf.log(x) + tf.sqrt(x)  # tfn: ignore[TFN202, TFN101] so it is\n",
        ),
        (
            "y = f(\n    tf.log(x),\n    2)\n",
            "y = f(\n    tf.log(x),  # tfn: ignore[TFN101] inherited\n    2)\n",
        ),
        ("y = tf.log(\n    x\n)\n", "y = tf.log(  # tfn: ignore[TFN101] inherited\n    x\n)\n"),
        (
            "y = tf.log(x) + \\\n    2\n",
            "y = tf.log(x) + \\\n    2  # tfn: ignore[TFN101] inherited\n",
        ),
        (
            "y = f(tf.log(x), '''a\n  # b\n''')\n",
            "y = f(tf.log(x), '''a\n  # b\n''')  # tfn: ignore[TFN101] inherited\n",
        ),
        (
            "y = tf.log('''a\n''') + \\\n  1\n",
            "y = tf.log('''a\n''') + \\\n  1  # tfn: ignore[TFN101] inherited\n",
        ),
        ("if tf.log(x): pass\n", "if tf.log(x): pass  # tfn: ignore[TFN101] inherited\n"),
        ("a = tf.log(x); b = 1\n", "a = tf.log(x); b = 1  # tfn: ignore[TFN101] inherited\n"),
        (
            "class A:\n\ty = tf.log(x)\n",
            "class A:\n\ty = tf.log(x)  # tfn: ignore[TFN101] inherited\n",
        ),
    ],
)
def test_where_the_comment_goes(shell, before, after):
    assert added(shell, before) == after


def test_a_string_is_never_written_into(shell):
    body = 'y = f"""\n{tf.log(x)}\n{tf.sqrt(x)} \\\n"""\nz = """\n  tf.log(x)\n"""\n'
    text = added(shell, body)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    assert (
        sum("tfn: ignore" in token.string for token in tokens if token.type == tokenize.COMMENT)
        >= 1
    )
    assert not any(
        "tfn: ignore" in token.string for token in tokens if token.type == tokenize.STRING
    )


def test_only_what_is_reported_is_hidden(shell):
    text = added(shell, "y = tf.log(x) + tf.sqrt(x)\nz = tf.log(unknown)\n", "--select", "TFN101")
    assert (
        text == "y = tf.log(x) + tf.sqrt(x)  # tfn: ignore[TFN101] inherited\nz = tf.log(unknown)\n"
    )


def test_what_it_says(shell):
    shell.write("a.py", HEAD + "y = tf.log(x)\nz = tf.log(x)\n")
    shell.write("b.py", "import tensorflow\nprint 'a'\n")
    done = shell.check("--add-ignore", "see #12")
    assert done.code == 1 and done.places == ["2 TFN001"]
    assert "Added comments for 2 findings in 1 file." in done.err
    assert "  # tfn: ignore[TFN101] see #12\n" in (shell.directory / "a.py").read_text()


@pytest.mark.parametrize(
    "argv, complaint",
    [
        (["--add-ignore", " "], "say why"),
        (["--add-ignore", "a\nb"], "one line"),
        (["--add-ignore", "\x1b[1m"], "plain text"),
        (["--add-ignore", "a", "--fix"], "together"),
        (["--add-ignore", "a", "-"], "needs files"),
    ],
)
def test_what_is_refused(shell, argv, complaint):
    path = shell.write("a.py", HEAD + "y = tf.log(x)\n")
    before = path.read_bytes()
    done = shell.run("check", *argv)
    assert done.code == 2 and complaint in done.err
    assert path.read_bytes() == before


def test_a_reason_that_the_file_cannot_hold_leaves_it_alone(shell):
    path = shell.write("a.py", ("# coding: latin-1\n" + HEAD + "y = tf.log(x)\n").encode("latin-1"))
    before = path.read_bytes()
    done = shell.check("a.py", "--add-ignore", "неважно")
    assert done.code == 1 and "no comments written: the new text does not fit" in done.err
    assert path.read_bytes() == before


def test_it_does_not_write_through_a_link_that_leaves_the_project(shell, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "b.py"
    outside.write_text(HEAD + "y = tf.log(x)\n")
    (shell.directory / "a.py").symlink_to(outside)
    done = shell.check("a.py", "--add-ignore", "inherited")
    assert done.code == 1 and "not written" in done.err
    assert outside.read_text() == HEAD + "y = tf.log(x)\n"


def test_what_comments_hide_is_counted_and_shown_on_demand(shell, monkeypatch):
    shell.write("a.py", HEAD + "y = tf.log(x)  # tfn: ignore[TFN101] so it is\n")
    text = shell.check().text
    assert text.startswith("All checks passed! (1 file read, 1 uses TensorFlow or Keras)\n")
    assert "\nNot shown: 1 hidden by comments.\n" in text
    assert shell.check("--quiet").text == ""
    assert shell.check("--ignore-noqa").places == ["2 TFN101"]
    monkeypatch.delenv("CI", raising=False)
    assert shell.run("check", "--output-format", "json").err == ""
    monkeypatch.setenv("CI", "true")
    done = shell.run("check", "--output-format", "json")
    assert (done.text, done.err) == (
        "[]\n",
        "Not shown: 1 hidden by comments.\nNot run: 1 rule in preview (`--preview`).\n",
    )


def test_the_number_of_an_issue_belongs_to_the_comment(shell):
    shell.write("a.py", HEAD + "y = tf.log(x)\n")
    shell.check("--add-ignore", "see #12 # noqa")
    text = (shell.directory / "a.py").read_text()
    assert text.endswith("y = tf.log(x)  # tfn: ignore[TFN101] see #12  noqa\n")
    shell.write("a.py", text.replace("tf.log", "tf.exp"))
    shell.check("--fix")
    assert (shell.directory / "a.py").read_text() == HEAD + "y = tf.exp(x)\n"


def test_skip_file_is_shown_on_demand(shell):
    shell.write("a.py", "# tfn: skip-file\n" + HEAD + "y = tf.log(x)\n")
    assert shell.check().code == 0
    assert shell.check("--ignore-noqa").places == ["3 TFN101"]
