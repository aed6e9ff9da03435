"""Line breaks of what a fix makes too long: where `ruff format` puts them."""

import subprocess
import sys

import pytest

from tfnanlint.diagnostics.findings import Edit
from tfnanlint.rewrite.line_breaks import line_breaks, style_of
from tfnanlint.syntax.edits import Shift, edits_apply
from tfnanlint.syntax.source import Source, Span

LONG = "a_name_of_some_length"
BEFORE = "".join(
    f"def f{number}(x, y):\n{body}\n\n\n"
    for number, body in enumerate(
        (
            "    value = OLD(x)\n    return value",
            f"    value = tf.math.log(OLD(x)) + {LONG}",
            f"    return OLD(x, {LONG}, axis=-1)",
            f"    {LONG} = tf.reduce_mean(OLD({LONG}))",
            f"    {LONG} = {LONG} * tf.reduce_mean(OLD(x))",
            f"    {LONG} = tf.reduce_mean(OLD(x), axis=-1)[:, {LONG}]",
            f"    self.{LONG} += OLD(x) / y",
            f"    value = tf.add(\n        OLD(x),\n        {LONG} + tf.reduce_sum({LONG}),\n    )",
            f"    value = tf.add(\n        OLD({LONG}) + tf.reduce_sum({LONG})\n    )",
            f"    value = (\n        OLD({LONG})\n        + OLD(x) * tf.reduce_sum({LONG})\n    )",
            f"    value = tf.concat([OLD(x), {LONG}, {LONG}])",
            f"    value = -OLD(x) if y else {LONG} / {LONG}",
            f"    log({LONG}, OLD(x))",
            f"    x, y = OLD(x), tf.reduce_sum({LONG})",
        )
    )
)


def replaced(text: str, new: str) -> str:
    edits, start = [], text.find("OLD")
    while start >= 0:
        edits.append(Edit(Span(start, start + 3), new))
        start = text.find("OLD", start + 1)
    shift = Shift(edits)
    source = Source("x.py", edits_apply(text, edits))
    style = style_of(Source("x.py", text))
    return edits_apply(source.text, line_breaks(source, shift.regions, style))


def formatted(text: str, width: int = 88) -> str:
    pytest.importorskip("ruff")
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", str(width)]
    run = subprocess.run([*command, "-"], input=text, capture_output=True, text=True, check=True)
    return run.stdout


@pytest.mark.parametrize(
    "name",
    [
        "tf.a_function_with_a_long_name",
        "tf.sqrt_of_maximum(tf.reduce_sum(tf.square(the_differences), axis=-1)) + tf.maximum",
        "tf.a_function_with_a_long_name * tf.another_function_of_such_a_name / tf.a_third",
        "tf.first_of_two_functions_with_long_names + tf.second_of_two_functions_with_long_names",
    ],
)
def test_lines_are_broken_where_formatters_break_them(name):
    text = formatted(BEFORE)
    assert replaced(text, name) == formatted(replaced(text, name))
    assert max(map(len, replaced(text, name).splitlines())) <= 95


def test_a_line_stays_where_the_code_has_longer_ones():
    text = f"x = f({LONG}, {LONG}, {LONG}, {LONG}, {LONG})\ny = OLD(x)\n"
    long = "tf.function_of_a_name(that_is_long_and_longer, and_longer_and_longer, and_so_on) * tf.f"
    assert replaced(text, long) == text.replace("OLD", long)


@pytest.mark.parametrize(
    "text",
    [
        "y = OLD(  # a comment\n    x)\n",
        "if x: y = OLD(x)\n",
        "y = OLD(x); z = 1\n",
        "y = OLD(p for p in x)\n",
        "y = OLD(lambda x: x)\n",
        "y = OLD(f'{x}')\n",
        "%time OLD(x)\n",
    ],
)
def test_what_has_no_safe_place_for_a_break_stays_on_its_line(text):
    long = "tf.function_of_a_name(that_is_long_and_longer, and_longer_and_longer, and_so_on) * tf.f"
    assert replaced(text, long) == text.replace("OLD", long)


def test_a_formatted_statement_over_several_lines_is_laid_out_anew():
    text = formatted(f"z = y / tf.reduce_sum({LONG} * tf.square({LONG}), axis=-1, keepdims=True)\n")
    assert text.count("\n") == 3
    for new, style in (
        (f"tf.divide(y, {text[8:-1]})\n", text),
        (f"tf.math.divide_no_nan(y, {text[8:-1]}, name=1)\n", text),
    ):
        source = Source("x.py", "z = " + new)
        whole = Span(0, len(source.text) - 1)
        edits = line_breaks(source, [whole], style_of(Source("x.py", style)))
        assert edits_apply(source.text, edits) == formatted(source.text)
        by_hand = Source("x.py", f"z = f({LONG},\n      {LONG}, a)\n")
        assert line_breaks(source, [whole], style_of(by_hand)) == []


def test_a_comment_behind_a_statement_stays_behind_it():
    text = f"y = OLD(x, {LONG}, {LONG}, {LONG})  # a comment\n"
    assert replaced(text, "tf.long_functions") == (
        f"y = tf.long_functions(\n    x, {LONG}, {LONG}, {LONG}\n)  # a comment\n"
    )


def test_line_ends_and_tabs_stay():
    text = f"def f(x):\r\n\ty = OLD(x, {LONG}, {LONG}, {LONG})\r\n"
    assert replaced(text, "tf.functions") == (
        f"def f(x):\r\n\ty = tf.functions(\r\n\t\tx, {LONG}, {LONG}, {LONG}\r\n\t)\r\n"
    )
