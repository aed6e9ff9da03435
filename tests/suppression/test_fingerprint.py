"""The identity of a finding: kept by everything that is no new finding, and unique in its file."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from tfnanlint.diagnostics.findings import Certainty, Finding
from tfnanlint.suppression.fingerprint import fingerprints, plain
from tfnanlint.syntax.source import Source, Span


def marked(
    text: str, piece: str = "tf.log(p)", path: str = "a.py", message: str = "m"
) -> list[str]:
    """The fingerprints of one finding at each place of `piece`."""
    source = Source(path, text)
    starts = [at for at in range(len(text)) if text.startswith(piece, at)]
    spans = [Span(at, at + len(piece)) for at in starts]
    return fingerprints(
        source, [Finding("TFN101", "s", path, span, message, Certainty.MAY) for span in spans]
    )


BASE = "class A:\n    def f(self, p):\n        return tf.log(p)\n"


@pytest.mark.parametrize(
    "other",
    [
        "import os\n\n\n" + BASE,
        "def f(p):\n    return 1\n\n" + BASE,
        BASE.replace("        return", "        if p:\n            return 0\n        return"),
        BASE.replace("return tf.log(p)", "x = 1 + tf.log(p)  # why"),
        BASE.replace("\n", "\r\n"),
        BASE.replace("    ", "  "),
        BASE.replace("    def", "    @cached\n    def"),
    ],
)
def test_what_is_around_a_finding_may_change(other):
    assert marked(other) == marked(BASE)


def test_path_and_message_may_change():
    assert marked(BASE, path="b/c.py") == marked(BASE) == marked(BASE, message="reworded")


@pytest.mark.parametrize(
    "text, piece",
    [
        (
            BASE.replace("tf.log(p)", "tf.log(\n            p,  # a probability\n        )"),
            "tf.log(\n            p,  # a probability\n        )",
        ),
        (BASE.replace("tf.log(p)", "tf.log( p )"), "tf.log( p )"),
    ],
)
def test_the_layout_of_the_finding_may_change(text, piece):
    assert marked(text, piece) == marked(BASE)


@pytest.mark.parametrize(
    "text, piece",
    [
        (BASE.replace("(p)", "(q)"), "tf.log(q)"),
        (BASE.replace("def f", "def g"), "tf.log(p)"),
        (BASE.replace("class A", "class B"), "tf.log(p)"),
    ],
)
def test_another_expression_or_function_is_another_finding(text, piece):
    assert marked(text, piece) != marked(BASE)


def test_equal_findings_are_told_apart_and_the_first_ones_keep_theirs():
    once, twice = marked("y = tf.log(p)\n"), marked("y = tf.log(p)\nz = tf.log(p)\n")
    assert twice[:1] == once and len(set(twice)) == 2
    both = marked(BASE + "\ndef g(p):\n    return tf.log(p)\n")
    assert both[:1] == marked(BASE) and len(set(both)) == 2


def test_the_order_given_is_the_order_returned():
    source = Source("a.py", "tf.log(p); tf.log(p)\n")
    first, second = (
        Finding("TFN101", "s", "a.py", Span(at, at + 9), "m", Certainty.MAY) for at in (0, 11)
    )
    assert fingerprints(source, [second, first]) == fingerprints(source, [first, second])[::-1]


def test_strings_keep_their_spaces_and_a_hash_in_them_is_no_comment():
    assert plain('f( \'a  # b\', """c \n d""" )  # e') == 'f(\'a  # b\',"""c \n d""")'
    assert plain("f(\\\n  a, [b, ],\n)") == "f(a,[b])"
    assert plain(" # tfn: ignore ") == "# tfn: ignore"


def test_a_file_that_does_not_parse_has_fingerprints_too():
    source = Source("a.py", "def f(:\n")
    found = Finding("TFN001", "invalid-syntax", "a.py", Span(6, 7), "m", Certainty.MUST)
    assert len(fingerprints(source, [found])) == len(set(fingerprints(source, [found]))) == 1
    empty = Finding("TFN002", "unread-file", "\udcff.py", Span(0, 0), "m", Certainty.MUST)
    assert len(fingerprints(Source("\udcff.py", ""), [empty])[0]) == 32


def test_lone_surrogates_and_deep_code_do_no_harm():
    assert marked("x = '\ud83d'; tf.log(p)\n")
    deep = (
        "if x:\n"
        + "".join("    " * n + "if x:\n" for n in range(1, 60))
        + "    " * 60
        + "tf.log(p)\n"
    )
    assert len(marked(deep)) == 1


def test_every_process_computes_the_same():
    """Baselines are written on one machine and read on another: this value may not change within a
    release.
    """
    code = f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); import test_fingerprint as t; print(*t.marked({BASE!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONHASHSEED": "7"},
        timeout=60,
    )
    assert done.stdout.split() == marked(BASE) == ["510ee3b3675d3b310b2c321f6c862d7d"], done.stderr
