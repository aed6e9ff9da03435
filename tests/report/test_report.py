"""What each output format prints, down to the column; and that nothing from a file reaches the
terminal unescaped.
"""

from __future__ import annotations

import ast
import json
import os
import re
import unicodedata
from dataclasses import replace

import pytest

from tfnanlint.diagnostics.findings import (
    Call,
    Certainty,
    Claim,
    Differentiated,
    Edit,
    Finding,
    Fix,
    Step,
)
from tfnanlint.diagnostics.grades import grade
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import MAX_MESSAGE, Paint, View, escape, message
from tfnanlint.report.frame import MAX_COLUMNS, Frame, frame, mini_diff, width
from tfnanlint.report.full import Full, deciding_steps
from tfnanlint.report.json import Json, as_dict
from tfnanlint.syntax.source import Source, Span

PLAIN = Paint(False)
VERBOSE = View(PLAIN, verbose=True, every_note=True)


def finding(source: Source, piece: str, **more) -> Finding:
    start = source.text.index(piece)
    settings = {"message": "m", "certainty": Certainty.MAY, **more}
    return Finding(
        "TFN101", "log-of-nonpositive", source.path, Span(start, start + len(piece)), **settings
    )


def framed(text: str, piece: str) -> list[str]:
    source = Source("a.py", text)
    start = source.text.index(piece)
    return frame(source, Span(start, start + len(piece)), Frame(1), PLAIN)


# ---------------------------------------------------------------------------------------------------------
# Frames


def test_the_expression_is_underlined():
    assert framed("x = 1\ny = log(x) + 1\n", "log(x)") == [
        "  |",
        "1 | x = 1",
        "2 | y = log(x) + 1",
        "  |     ^^^^^^",
        "  |",
    ]


def test_each_line_of_a_long_expression_is_underlined():
    assert framed("y = log(\n    # why\n    x + 1\n) + 2\n", "log(\n    # why\n    x + 1\n)") == [
        "  |",
        "1 | y = log(",
        "  |     ^^^^",
        "2 |     # why",
        "  |     ^^^^^",
        "3 |     x + 1",
        "  |     ^^^^^",
        "4 | ) + 2",
        "  | ^",
        "  |",
    ]


def test_the_middle_of_a_very_long_expression_is_left_out():
    text = "log(\n" + "  x,\n" * 50 + ")"
    lines = framed(text, text)
    assert "  ..." in lines
    assert len(lines) < 25
    assert lines[-3].startswith("52 | )") or lines[-3].endswith("| )")


@pytest.mark.parametrize(
    "before",
    ["é = 1; ", "中文 = 1; ", "e\u0301 = 1; ", "\tx = 1;\t", "s = '😀'; ", "s = '\x1b[2J'; "],
)
def test_the_underline_stands_under_the_expression(before):
    lines = framed(before + "log(x)", "log(x)")
    shown, marks = lines[1], lines[2]
    assert columns(shown.partition("log(x)")[0]) == len(marks.partition("^")[0])
    assert marks.count("^") == len("log(x)")


def test_wide_characters_are_underlined_in_full():
    assert framed("y = log(中文)", "log(中文)")[2] == "  |     ^^^^^^^^^"


def columns(text: str) -> int:
    """Terminal columns, counted apart from the code under test."""
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in ("W", "F"))
        for c in text
    )


def test_width_counts_terminal_columns():
    assert [width(text) for text in ("abc", "é", "e\u0301", "中文", "😀", "ｔｆ")] == [
        3,
        1,
        1,
        4,
        2,
        4,
    ]


def test_a_line_of_megabytes_is_shortened_around_the_expression():
    text = "x = '" + "a" * 3_000_000 + "' + log(y) + '" + "b" * 3_000_000 + "'"
    lines = framed(text, "log(y)")
    assert all(len(line) <= MAX_COLUMNS + 12 for line in lines)
    assert lines[1].index("log(y)") == lines[2].index("^^^^^^")
    assert lines[1].startswith("1 | ...") and lines[1].endswith("...")


def test_an_empty_span_is_shown_as_a_place():
    source = Source("a.py", "x = (1,\n")
    assert frame(source, Span(8, 8), Frame(1), PLAIN)[-2:] == ["  | ^", "  |"]


# ---------------------------------------------------------------------------------------------------------
# Mini diffs


def edited(text: str, *edits: tuple[str, str]) -> list[str]:
    source = Source("a.py", text)
    spans = [(Span(text.index(old), text.index(old) + len(old)), new) for old, new in edits]
    return mini_diff(source, [Edit(span, new) for span, new in spans], PLAIN)


def test_a_fix_is_shown_as_changed_lines():
    assert edited("a = 1\ny = log(softmax(z)) + 1\n", ("log(softmax(z))", "log_softmax(z)")) == [
        "- y = log(softmax(z)) + 1",
        "+ y = log_softmax(z) + 1",
    ]


def test_edits_on_one_line_are_shown_once_and_far_ones_apart():
    assert edited(
        "import tf\n\n\na = b + c\n",
        ("import tf\n", "import tf\nimport K\n"),
        ("b", "f(b)"),
        ("c", "f(c)"),
    ) == [
        "+ import K",
        "- a = b + c",
        "+ a = f(b) + f(c)",
    ]


def test_a_removed_line_and_unchanged_lines_of_an_edit():
    assert edited("a\nb\nc\n", ("b\n", "")) == ["- b"]
    assert edited("f(\n  a,\n  b,\n)\n", ("f(\n  a,\n  b,\n)", "f(\n  a,\n  c,\n)")) == [
        "- b,",
        "+ c,",
    ]


def test_a_long_replacement_is_shortened():
    lines = edited("a = b\n", ("b", "\n".join(f"x{i}" for i in range(100))))
    assert lines[-1] == "+ ..."
    assert len(lines) < 20


def test_crlf_does_not_show():
    assert edited("a = b\r\nc\r\n", ("b", "d")) == ["- a = b", "+ a = d"]


# ---------------------------------------------------------------------------------------------------------
# full


SOURCE = Source("model.py", "import tensorflow as tf\np = tf.nn.softmax(z)\ny = tf.math.log(p)\n")


def full(
    found: Finding, source: Source = SOURCE, unsafe: bool = False, view: View = VERBOSE
) -> str:
    return Full(view).file(Checked(source, (found,), 0, unsafe))


def a_story() -> Finding:
    start = SOURCE.text.index("tf.nn.softmax(z)")
    return finding(
        SOURCE,
        "tf.math.log(p)",
        message="log of a softmax, which reaches 0",
        differentiated=Differentiated.YES,
        range="between 0 and 1",
        trace=(
            Step(
                "model.py",
                Span(start, start + 16),
                2,
                "tf.nn.softmax(z) is between 0 and 1",
                "between 0 and 1",
                "f",
            ),
            Step("model.py", Span(start, start), 2, "z is unbounded", "unbounded"),
        ),
        fixes=(
            Fix(
                "use log_softmax",
                Claim.EQUAL,
                (Edit(finding(SOURCE, "tf.math.log(p)").span, "tf.nn.log_softmax(z)"),),
            ),
            Fix("floor it", Claim.SHIFTED, (Edit(Span(0, 0), ""),), "below 1e-7"),
        ),
    )


def test_full_says_what_decides():
    assert (
        full(a_story(), view=View(PLAIN))
        == """\
model.py:3:5: warning: TFN101 [*] log of a softmax, which reaches 0
  3 | y = tf.math.log(p)
    |     ^^^^^^^^^^^^^^ between 0 and 1
  from line 2 in f: tf.nn.softmax(z) is between 0 and 1
  fix: use log_softmax (same result)
    + y = tf.nn.log_softmax(z)

"""
    )


def test_verbose_tells_the_whole_story():
    assert (
        full(a_story())
        == """\
model.py:3:5: warning: TFN101 [*] log of a softmax, which reaches 0
  |
2 | p = tf.nn.softmax(z)
3 | y = tf.math.log(p)
  |     ^^^^^^^^^^^^^^
  |
  = value: between 0 and 1
  = grade: warning (may): some of the values that reach it are unsafe; a gradient is taken through
        it
  = trace, newest first:
      model.py:2 in f: p = tf.nn.softmax(z)
          tf.nn.softmax(z) is between 0 and 1
          z is unbounded
  = fix: use log_softmax (same result, at least as accurate)
      - y = tf.math.log(p)
      + y = tf.nn.log_softmax(z)
  = or: floor it (changes results: below 1e-7; needs --unsafe-fixes)
  = rule: tfnanlint explain TFN101

"""
    )


@pytest.mark.parametrize("columns", [50, 80, 120])
@pytest.mark.parametrize("verbose", [False, True])
def test_text_is_wrapped_and_no_word_is_broken(columns, verbose):
    message = " ".join(f"word{i}" for i in range(60))
    code = "tf.math.log(" + " + ".join(f"value{i}" for i in range(20)) + ")"
    source = Source("model.py", f"y = {code}\n")
    found = finding(
        source,
        code,
        message=message,
        help=message,
        fixes=(Fix("use it", Claim.EQUAL, (Edit(Span(0, 1), "new"),), message),),
    )
    text = full(found, source, view=View(PLAIN, columns, verbose))
    assert all(width(line) <= columns for line in text.splitlines())
    assert all(len(re.findall(rf"\b{word}\b", text)) == 3 for word in message.split())
    shown = code if verbose else "tf.math.log(value0 + value1 "
    assert f"new = {shown}" in re.sub(r"\n *\+ {3,}", " ", text)


def test_the_trailing_comment_goes_before_code_is_folded():
    text = "y = tf.math.log(p)  # " + "why " * 20 + "\n"
    source = Source("model.py", text)
    found = finding(
        source, "tf.math.log(p)", fixes=(Fix("f", Claim.EQUAL, (Edit(Span(0, 1), "z"),)),)
    )
    lines = full(found, source, view=View(PLAIN, 60)).splitlines()
    assert lines[1:3] == ["  1 | y = tf.math.log(p)  # ...", "    |     ^^^^^^^^^^^^^^"]
    assert lines[-2] == "    + z = tf.math.log(p)  # ..."
    quoted = Source("model.py", f"y = log('a  # {'b ' * 40}')\n")
    assert "# b" in full(finding(quoted, "log"), quoted, view=View(PLAIN, 60))


def test_steps_that_change_nothing_are_left_out():
    def step(row: int, value: str) -> Step:
        return Step("other.py", Span(0, 0), row, f"x{row} is {value}", value)

    def rows(*values: str) -> list[int]:
        trace = tuple(step(row, value) for row, value in enumerate(values, 1))
        return [step.row for step in deciding_steps(finding(SOURCE, "p", trace=trace))]

    assert rows("at least 0", "at least 0", "at most 5", "unbounded", "unbounded") == [2, 3]
    assert rows("unbounded", "unbounded") == []
    assert rows("between 0 and 1", "at least 0") == [1]
    assert rows("between 0 and 1", "between 0 and 2", "between 0 and 3") == [1, 2]
    assert rows("between 0 and 1", "unbounded", "between 0 and 5") == [1]  # softmax is never more
    layer = replace(step(1, "at least 0"), made=Call("other.py", 7, "Dense"))
    of_layers = finding(SOURCE, "p", trace=(layer, step(2, "at least 0"), step(3, "at least 2")))
    assert [one.row for one in deciding_steps(of_layers)] == [1]
    unknown = Step("other.py", Span(0, 0), 9, "nothing is known about parameter 'x' of f()")
    found = finding(SOURCE, "p", trace=(step(1, "unbounded"), unknown))
    assert [one.row for one in deciding_steps(found)] == [9]


def test_notes_are_wrapped_at_the_end():
    shape = Full()
    note = finding(SOURCE, "p", certainty=Certainty.UNKNOWN, message="m " * 100)
    found = (finding(SOURCE, "z"), *[note] * 12)
    text = shape.file(Checked(SOURCE, found))
    assert text.count("TFN101") == 1 and "note" not in text
    title, *notes, more, blank = shape.end().splitlines()
    assert (title, more, blank) == ("Worth a look", "  and 2 more", "")
    assert all(len(line) <= 100 for line in notes)
    assert [line for line in notes if "TFN101" in line] == notes[:: len(notes) // 10]
    assert "".join(notes).count("m ") + "".join(notes).count("m\n") >= 100 and len(notes) > 10
    assert "Worth a look" not in Full(View(PLAIN, verbose=True)).end()
    assert "= grade: note" in Full(View(PLAIN, verbose=True)).file(Checked(SOURCE, (note,)))
    assert Full().end() == ""
    assert "note: TFN101" in full(note)


def test_full_says_when_a_fix_needs_a_flag_and_when_there_is_none():
    shifted = Fix("floor it", Claim.SHIFTED, (Edit(Span(0, 6), "import"),))
    text = full(finding(SOURCE, "p", fixes=(shifted,)))
    assert "model.py:1:3: warning: TFN101 m\n" in text
    assert "= fix: floor it (changes results; needs --unsafe-fixes)" in text
    text = full(finding(SOURCE, "p", fixes=(shifted,)), unsafe=True)
    assert "model.py:1:3: warning: TFN101 [*] m\n" in text
    assert "needs --unsafe-fixes" not in text
    without = finding(
        SOURCE, "p", no_fix="a comment would be lost", help="see above", modes=("xla",)
    )
    text = full(without)
    assert "= no fix: a comment would be lost" in text
    assert "= help: see above" in text
    assert "= only in: XLA (jit_compile)" in text
    assert "  hint: see above\n" in full(without, view=View(PLAIN))
    no_help = finding(SOURCE, "p", no_fix="a comment would be lost")
    assert "  no fix: a comment would be lost\n" in full(no_help, view=View(PLAIN))


def test_a_grade_has_its_reason():
    doubtful = finding(SOURCE, "p", doubtful=True)
    assert "the page of the rule names cases like this one" in grade(doubtful).because
    assert "  hint: often harmless in cases like this one, see" in full(doubtful, view=View(PLAIN))
    assert (grade(doubtful).severity, grade(doubtful).counts()) == ("warning", True)
    assert not grade(doubtful).counts(Certainty.MUST)
    unknown = grade(finding(SOURCE, "p", certainty=Certainty.UNKNOWN))
    assert (unknown.severity, unknown.counts(Certainty.UNKNOWN)) == ("note", False)


def test_a_step_in_another_file_is_named():
    step = Step("layers.py", Span(900, 910), 77, "relu gives values from 0")
    assert "layers.py:77:\n          relu gives values from 0\n" in full(
        finding(SOURCE, "p", trace=(step,))
    )


def test_a_step_in_another_file_shows_its_line_and_a_path_from_here(tmp_path, monkeypatch):
    other = tmp_path / "model" / "layers.py"
    other.parent.mkdir()
    other.write_text("import tensorflow as tf\n\n    hidden = tf.nn.relu(z)\n")
    monkeypatch.chdir(tmp_path)
    step = Step(str(other), Span(30, 40), 3, "relu gives values from 0")
    text = full(finding(SOURCE, "p", trace=(step,)))
    assert f"{os.path.join('model', 'layers.py')}:3: hidden = tf.nn.relu(z)\n" in text
    monkeypatch.chdir(other.parent.parent.parent)
    assert f"{os.path.join(tmp_path.name, 'model', 'layers.py')}:3:" in full(
        finding(SOURCE, "p", trace=(step,))
    )
    missing = Step(str(tmp_path / "gone.py"), Span(0, 0), 3, "relu gives values from 0")
    assert "gone.py:3:\n" in full(finding(SOURCE, "p", trace=(missing,)))


# ---------------------------------------------------------------------------------------------------------
# json


def test_json_has_the_agreed_fields():
    text = "import tensorflow as tf\n中文 = '😀'; y = tf.log(\n  中文)\n"
    source = Source("pakiet/é.py", text)
    fix = Fix(
        "floor it", Claim.SHIFTED, (Edit(Span(24, 26), "x"), Edit(Span(27, 27), "y")), "below 1e-7"
    )
    found = finding(
        source,
        "tf.log(\n  中文)",
        range="between 0 and 1",
        modes=("xla",),
        fixes=(fix,),
        trace=(Step(source.path, Span(24, 26), 2, "a"), Step("other.py", Span(5, 6), 9, "b")),
    )
    shape = Json()
    out = (
        shape.start()
        + shape.file(Checked(source, (found, found)))
        + shape.file(Checked(source))
        + shape.end()
    )
    first, second = json.loads(out)
    assert first.pop("fingerprint") != second.pop("fingerprint")
    assert first == second
    here = first.pop("filename")
    assert here.endswith("/pakiet/é.py") and here.startswith("/")
    trace = first.pop("trace")
    assert [
        (step["filename"].rpartition("/")[2], step["location"], step["text"]) for step in trace
    ] == [
        ("é.py", {"row": 2, "column": 1}, "a"),
        ("other.py", {"row": 9, "column": 1}, "b"),
    ]
    assert first == {
        "code": "TFN101",
        "name": "log-of-nonpositive",
        "message": "m",
        "cell": None,
        "location": {"row": 2, "column": 15},
        "end_location": {"row": 3, "column": 6},
        "severity": "warning",
        "because": "some of the values that reach it are unsafe",
        "certainty": "may",
        "differentiated": "unknown",
        "range": "between 0 and 1",
        "modes": ["xla"],
        "fixed_in": None,
        "fixes": [
            {
                "title": "floor it (below 1e-7)",
                "claim": "shifted",
                "cost": "below 1e-7",
                "suggested": None,
                "edits": [
                    {
                        "content": "x",
                        "cell": None,
                        "location": {"row": 2, "column": 1},
                        "end_location": {"row": 2, "column": 3},
                    },
                    {
                        "content": "y",
                        "cell": None,
                        "location": {"row": 2, "column": 4},
                        "end_location": {"row": 2, "column": 4},
                    },
                ],
            }
        ],
        "suggestions": [],
        "no_fix": None,
        "help": None,
        "url": None,
    }


def test_json_says_why_there_is_no_fix_and_what_to_do():
    told = as_dict(finding(SOURCE, "p", no_fix="the value is unknown", help="cast"), SOURCE)
    assert (told["no_fix"], told["help"]) == ("the value is unknown", "cast")


def test_json_sets_apart_what_no_option_applies():
    """A tool that counts `fixes` counts what is applied."""
    applied = Fix("floor it", Claim.SHIFTED, (Edit(Span(0, 1), "x"),), "below 1e-7")
    suggested = replace(applied, title="mask it", suggested="the zero is a coincidence")
    told = as_dict(finding(SOURCE, "p", fixes=(applied, suggested)), SOURCE)
    assert [fix["title"] for fix in told["fixes"]] == ["floor it (below 1e-7)"]
    assert [fix["title"] for fix in told["suggestions"]] == ["mask it (below 1e-7)"]


def test_json_of_nothing_is_an_empty_list():
    shape = Json()
    assert json.loads(shape.start() + shape.file(Checked(SOURCE)) + shape.end()) == []


# ---------------------------------------------------------------------------------------------------------
# Hostile text

HOSTILE = [
    "\x1b[2J",
    "\u202e",
    "\u2066",
    "\u2028",
    "\x07",
    "\x85",
    "\u200b",
    "\ud83d",
    "\r",
    "\n",
    "\x00",
    "\x9b1m",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_escape_leaves_nothing_that_acts_and_is_readable(text):
    escaped = escape(f"a{text}b")
    assert re.fullmatch(r"[ -~]+", escaped)
    assert ast.literal_eval(f"'{escaped}'") == f"a{text}b"


def test_escape_leaves_ordinary_text_alone():
    assert escape("loss = 'Größe 中文 😀'") == "loss = 'Größe 中文 😀'"


@pytest.mark.parametrize("text", HOSTILE)
def test_no_place_of_a_report_lets_it_through(text):
    code = text.replace("\n", "").replace("\r", "").replace("\ud83d", "")
    source = Source(f"na{text}me.py", f"y = log('{code}')\n")
    found = finding(
        source,
        f"log('{code}')",
        message=f"m{text}",
        range=f"r{text}",
        trace=(Step(source.path, Span(0, 1), 1, f"t{text}"),),
        fixes=(Fix(f"f{text}", Claim.SHIFTED, (Edit(Span(4, 5), code),), f"c{text}"),),
        help=f"h{text}",
    )
    out = full(found, source)
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff]", out
    )
    assert out.count("\n") == full(
        finding(
            source,
            "y",
            **{
                name: getattr(found, name)
                for name in ("message", "range", "trace", "fixes", "help")
            },
        ),
        source,
    ).count("\n")


def test_messages_have_a_limit():
    text = message(finding(SOURCE, "p", message="x" * 10_000))
    assert len(text) == MAX_MESSAGE and text.endswith("...")
