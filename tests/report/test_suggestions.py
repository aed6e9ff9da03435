"""Suggestions in reviews on GitHub: what reviewdog makes of `rdjson`, applied as GitHub applies it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tfnanlint
from tfnanlint.report import applicable
from tfnanlint.report.rdjson import MAX_SUGGESTED_ROWS, Rdjson
from tfnanlint.syntax.edits import edits_apply

PROGRAMS = sorted((Path(__file__).parents[2] / "fixtures" / "programs").glob("*.py"))
BYTES = "import tensorflow as tf\n\n\ndef f(z):\n    s = 'é😀'; return s, tf.math.log(tf.nn.softmax(z))\n"
LINES = "import tensorflow as tf\n\n\ndef f(z):\n    return tf.math.log(\n        tf.nn.softmax(z)\n    )\n"
FENCED = 'import tensorflow as tf\n\n\ndef f(z):\n    return "```", tf.math.log(tf.nn.softmax(z))\n'


def block(diagnostic: dict, lines: list[bytes]) -> tuple[int, int, str]:
    """The comment that reviewdog writes for a suggestion: its first and last line, and the block
    (reviewdog, service/github, buildSuggestions): GitHub replaces whole lines, so what stands on
    them before and behind the range is written again.
    """
    (suggestion,) = diagnostic["suggestions"]
    start, end = suggestion["range"]["start"], suggestion["range"]["end"]
    head = lines[start["line"] - 1][: start["column"] - 1].decode()
    tail = lines[end["line"] - 1][end["column"] - 1 :].decode()
    text = head + suggestion["text"] + tail
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return start["line"], end["line"], f"{fence}suggestion\n{text}\n{fence}"


def applied(text: str, first: int, last: int, comment: str) -> str:
    """A file after "Commit suggestion": the lines of the comment are what stands in the fence."""
    fence = re.match("`+", comment)[0]
    inside = re.fullmatch(rf"{fence}suggestion\n(.*)\n{fence}", comment, re.S)[1]
    assert fence not in inside
    lines = text.split("\n")
    return "\n".join([*lines[: first - 1], *inside.split("\n"), *lines[last:]])


def suggestions(text: str, unsafe_fixes: bool) -> list[tuple[str, str]]:
    """The file after each suggestion, and after the fix that it stands for."""
    checked = tfnanlint.check(text, "a.py", settings={"unsafe-fixes": unsafe_fixes})
    report = Rdjson()
    written = json.loads(report.start() + report.file(checked) + report.end())
    lines = text.encode().split(b"\n")
    pairs = []
    for finding, diagnostic in zip(checked.findings, written["diagnostics"], strict=True):
        if "suggestions" in diagnostic:
            first, last, comment = block(diagnostic, lines)
            assert first <= last < first + MAX_SUGGESTED_ROWS
            fix = applicable(finding, unsafe_fixes)
            pairs.append((applied(text, first, last, comment), edits_apply(text, fix.edits)))
    return pairs


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_committed_suggestion_is_the_fix(path):
    for suggested, fixed in suggestions(path.read_text("utf-8"), True):
        assert suggested == fixed


@pytest.mark.parametrize("text", [BYTES, LINES, FENCED])
def test_bytes_lines_and_fences(text):
    ((suggested, fixed),) = suggestions(text, False)
    assert suggested == fixed == tfnanlint.fix(text, "a.py").after


@pytest.mark.slow
def test_only_fixes_that_are_allowed_are_suggested():
    text = (
        "import tensorflow as tf\n\n\ndef f(y, z):\n    p = tf.nn.softmax(z)\n"
        "    return tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=p)\n"
    )
    assert suggestions(text, False) == [] != suggestions(text, True)
    assert sum(len(suggestions(path.read_text("utf-8"), True)) for path in PROGRAMS) >= 20
