"""Programs that are long, deep or repeated (tests/support/hostile.py): every front end answers, with
the same findings, and what is given up is told. Work is counted, never timed.
"""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys

import hostile
import pytest

import tfnanlint
from tfnanlint.batch import FindingRow, Repository, lint
from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.diagnostics.findings import TOO_LONG, TOO_MANY_FIXES
from tfnanlint.diagnostics.notices import CUT_SHORT, INTERNAL, UNREAD
from tfnanlint.interp.callgraph import function_flow
from tfnanlint.lsp import worker
from tfnanlint.ops.table import load
from tfnanlint.pipeline import analysis, fix
from tfnanlint.pipeline.check import check_source
from tfnanlint.pipeline.linter import Linter
from tfnanlint.program.history import History
from tfnanlint.rule import registry
from tfnanlint.syntax import parse_limits
from tfnanlint.syntax.encodings import decode
from tfnanlint.syntax.nodes import function_at
from tfnanlint.syntax.source import Source, Unreadable

POLICY = Configuration(Layer(), (), True).for_directory("").policy("", registry.load())
FOUND = hostile.FOUND
FILLED_LIST = """import tensorflow as tf


class Net:
    def __init__(self):
        self.weights = []
        for _ in range(3):
            self.weights.append(tf.Variable(1.0))
"""


def few(name: str) -> str:
    """A case with few repetitions: what is slow only when there are many is measured, not tested."""
    case = hostile.CASES[name]
    return case.text(min(max(case.count // 25, 4), 60))


def codes(files: dict[str, bytes]) -> list[str]:
    rows = lint([Repository("r", files)])
    return sorted(row.code for row in rows if isinstance(row, FindingRow))


def notebook(text: str) -> bytes:
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": text,
    }
    whole = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole).encode()


def inputs() -> dict[str, bytes]:
    """All hostile inputs that are short, by name: a long run of a construct is as short as it may
    be, and what is hard because it is long is measured (benchmarks/growth.py) and not tested here.
    """
    from test_hostile import BYTES, SMALL, as_tensorflow

    chains = {name: as_tensorflow(text.encode()) for name, text in SMALL.items()}
    odd = {name: as_tensorflow(data) for name, data in BYTES.items() if len(data) < 10_000}
    return {**{name: few(name).encode() for name in hostile.CASES}, **chains, **odd}


def test_every_front_end_answers(tmp_path):
    """The command line, the API, the language server and notebooks, with the same findings."""
    texts, desk = inputs(), worker.Desk()
    assert len(texts) >= 200
    reported = of_command_line(texts, tmp_path)
    for name, data in texts.items():
        expected = codes({"a.py": data})
        assert INTERNAL.code not in expected, name
        assert reported[name] == expected, name
        text = decoded(data)
        if text is not None:
            place = worker.Place(str(tmp_path / "a.py"), str(tmp_path))
            outcome = desk.do(worker.Check(1, place, text))
            assert sorted(one.code for one in outcome.findings) == expected, name
            assert INTERNAL.code not in codes({"a.ipynb": notebook(text)}), name


def of_command_line(texts: dict[str, bytes], folder) -> dict[str, list[str]]:
    """The codes that one run of the command line finds in each of many files."""
    for number, data in enumerate(texts.values()):
        (folder / str(number)).mkdir()
        (folder / str(number) / "a.py").write_bytes(data)
    words = ["check", "--isolated", "--no-cache", "--jobs", "1", "--output-format", "json-lines"]
    done = subprocess.run(
        [sys.executable, "-m", "tfnanlint", *words, "."], cwd=folder, capture_output=True
    )
    assert done.returncode == 1 and not done.stderr, done.stderr
    names = list(texts)
    reported: dict[str, list[str]] = {name: [] for name in names}
    for finding in map(json.loads, done.stdout.splitlines()):
        number = int(os.path.basename(os.path.dirname(finding["filename"])))
        if finding["code"] != CUT_SHORT.code:  # of which rows of files tell
            reported[names[number]].append(finding["code"])
    return {name: sorted(found) for name, found in reported.items()}


def decoded(data: bytes) -> str | None:
    """The text that an editor holds of a file; None of one that is in no UTF-8."""
    try:
        text, encoding = decode(data)
    except Unreadable:
        return None
    return text if encoding.startswith("utf-8") else None


@pytest.mark.slow
def test_every_op_of_a_list_of_variables_is_judged():
    """Where an op is given a list that a loop filled, the algebra has no term for it."""
    names = sorted(name for name in load() if name.startswith("tf."))
    functions = [
        f"""
    def f{at}(self, x):
        with tf.GradientTape() as tape:
            y = {name}(self.weights)
            loss = x / tf.reduce_mean(y) + y / tf.reduce_mean(y)
            loss += tf.sqrt(tf.reduce_mean(y * y) - tf.reduce_mean(y) ** 2)
        return tape.gradient(loss, self.weights)
"""
        for at, name in enumerate(names)
    ]
    text = FILLED_LIST + "".join(functions)
    assert len(names) > 300
    assert INTERNAL.code not in codes({"a.py": text.encode()})


@pytest.mark.parametrize("name", ["asserts", "raises", "appends", "if", "try", "subscripts"])
def test_long_chains_are_followed_to_their_beginning(name):
    """Deeper than Python's stack: 1,000 tests or changes of one name."""
    checked = check_source(Source("a.py", hostile.CASES[name].text(1_000)), POLICY)
    assert INTERNAL.code not in [one.code for one in checked.findings]


def test_what_is_too_deep_for_the_stack_is_told(monkeypatch):
    """The function, and none of those around it."""
    functions = "".join(f"def {name}(x):\n    return {FOUND}\n" for name in "fgh")
    source = Source("a.py", f"import tensorflow as tf\n{functions}")
    assert len(check_source(source, POLICY).findings) == 3
    finding = registry.Context.finding

    def deep(self, site, *words, **options):
        if site.node.lineno == 5:
            raise RecursionError
        return finding(self, site, *words, **options)

    monkeypatch.setattr(registry.Context, "finding", deep)
    checked = check_source(source, POLICY)
    assert (len(checked.findings), checked.cut_short) == (2, ("g",))


def test_fixes_behind_too_many_others_are_told(monkeypatch):
    monkeypatch.setattr(analysis, "REPAIRS", 20_000)
    text = hostile.CASES["findings in a list"].text(60)
    findings = check_source(Source("a.py", text), POLICY).findings
    fixed = [bool(one.fixes) for one in findings]
    assert len(findings) == 60 and 1 < fixed.count(True) < 20
    assert fixed == sorted(fixed, reverse=True)  # those in front have theirs
    assert {one.no_fix for one in findings if not one.fixes} == {TOO_MANY_FIXES}


def test_findings_behind_too_many_others_are_told(monkeypatch):
    monkeypatch.setattr(analysis, "MOST_PLACES", 20)
    text = hostile.CASES["findings in functions"].text(60) + f"y = {FOUND} # tfn: ignore[TFN301]\n"
    checked = check_source(Source("a.py", text), POLICY)
    assert {one.code for one in checked.findings} == {"TFN301"}  # no comment is called idle
    assert len(checked.findings) == 20
    assert checked.cut_short == ("all behind line 41",)
    assert [row["code"] for row in tfnanlint.to_dict(checked)][0] == CUT_SHORT.code


@pytest.mark.parametrize("name", ["findings in functions", "findings in a list"])
def test_fixes_in_front_of_what_is_not_judged_hold(monkeypatch, name):
    """What comes within the limit when others are mended is no finding that their fixes make."""
    monkeypatch.setattr(analysis, "MOST_PLACES", 20)
    text = hostile.CASES[name].text(50)
    fixed = tfnanlint.fix(text)
    assert (fixed.problems, len(fixed.applied)) == ((), 50)
    assert not tfnanlint.check(fixed.after).findings


def test_places_behind_too_many_others_are_told(monkeypatch):
    """Also where hardly anything is found at them."""
    monkeypatch.setattr(analysis, "MOST_JUDGED", 20)
    text = hostile.CASES["divisions on one line"].text(10)
    quotients = "".join(f"y = x / {name}\n" for name in "abcdefghijklmno")
    checked = check_source(Source("a.py", f"{text}{quotients}y = {FOUND}\n"), POLICY)
    assert (checked.findings, checked.cut_short) == ((), ("all behind line 12",))


def work(text: str) -> int:
    """How many functions of tfnanlint are called, and generators taken up again, for a text."""
    count: collections.Counter = collections.Counter()

    def note(frame, event, arg):
        if event == "call":
            count[frame.f_code] += 1

    source = Source("a.py", text)
    sys.setprofile(note)
    try:
        check_source(source, POLICY)
    finally:
        sys.setprofile(None)
    return sum(count.values())


LINEAR = {
    "attributes of classes": 20,
    "cases": 60,
    "cases at the top": 60,
    "nested if": 24,
    "one attribute": 30,
    "findings chained in a function": 12,
    "findings in functions": 12,
    "findings in match": 30,
    "if": 60,
    "try": 60,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LINEAR)
def test_work_grows_with_the_count(name):
    text_of, count = hostile.CASES[name].text, LINEAR[name]
    check_source(Source("a.py", text_of(count)), POLICY)  # what is made once is there then
    once, four = work(text_of(count)), work(text_of(4 * count))
    assert four < 5.5 * once


def test_nested_choices_are_not_followed_anew_from_each_way():
    """The terms of a name after a tower of tests, which stands in the next tower."""
    text_of = hostile.CASES["nested if"].text
    check_source(Source("a.py", text_of(150)), POLICY)
    assert work(text_of(600)) < 10 * work(text_of(150))


def calls_at(text: str, file: str, name: str = "") -> int:
    """How often a function of a file is called; without a name, how many calls its functions make
    of what is built in.
    """
    count = 0

    def note(frame, event, arg):
        nonlocal count
        code = frame.f_code
        if event == ("call" if name else "c_call") and code.co_filename.endswith(file):
            count += not name or code.co_name == name

    source = Source("a.py", text)
    sys.setprofile(note)
    try:
        check_source(source, POLICY)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("case", "file", "name"),
    [
        ("findings chained in a function", "guards/dominating.py", ""),
        ("findings chained in a function", "syntax/source.py", "span"),
        ("a dict of lambdas", "syntax/enclosing.py", ""),
    ],
)
def test_what_stands_around_a_finding_is_read_once(case, file, name):
    """What is known before each of many findings, what else assigns its name, and where it is."""
    text_of = hostile.CASES[case].text
    check_source(Source("a.py", text_of(10)), POLICY)
    assert 0 < calls_at(text_of(40), file, name) < 5 * calls_at(text_of(10), file, name)


def test_a_table_of_functions_is_read_once(monkeypatch):
    """What stands around a name in it is asked for each of its functions."""
    walked: collections.Counter = collections.Counter()
    parts = function_flow.parts_of

    def noted(node):
        walked["nodes"] += 1
        return parts(node)

    monkeypatch.setattr(function_flow, "parts_of", noted)
    counts = []
    for count in (20, 80):
        walked.clear()
        check_source(Source("a.py", hostile.CASES["a dict of functions"].text(count)), POLICY)
        counts.append(walked["nodes"])
    assert 0 < counts[1] < 5.5 * counts[0]


def test_the_function_around_a_row_of_a_match():
    lines = ["class C:", "    def f(self, x):", "        match x:"]
    for number in range(5):
        lines += [
            f"            case {number}:",
            f"                def g{number}(): return {number}",
        ]
    source = Source("a.py", "\n".join([*lines, "        return x", "z = 1", ""]))
    around = [function_at(source.tree, row) for row in range(1, len(lines) + 3)]
    cases = [name for number in range(5) for name in ("C.f", f"C.f.g{number}")]
    assert around == ["C", "C.f", "C.f", *cases, "C.f", ""]


@pytest.mark.parametrize(
    "named, words",
    [
        (2, "for TFN301 at line 7, TFN301 at line 8 and 5 more"),
        (7, ", TFN301 at line 12, TFN301 at line 13"),
    ],
)
def test_more_fixes_than_one_run_makes_are_told(monkeypatch, named, words):
    monkeypatch.setattr(fix, "MOST_FIXES", 5)
    monkeypatch.setattr(fix, "MOST_NAMED", named)
    linter = Linter(Configuration(Layer(), (), True))
    text = hostile.CASES["findings fixed, in lines"].text(12)
    fixed = linter.fix("a.py", text)
    assert len(fixed.applied) == 5 and fixed.after.count("log_softmax") == 5
    (problem,) = fixed.problems
    assert "with fixes still on offer for TFN301 at line 7, " in problem
    assert problem.endswith(words)
    assert linter.fix("a.py", linter.fix("a.py", fixed.after).after).after.count(FOUND) == 0


def test_a_text_that_is_too_costly_to_parse_is_told(monkeypatch):
    """As a file that is not read, not as one with an error; nothing of it is parsed anew."""
    monkeypatch.setattr(parse_limits, "MOST_PIECES", 100)
    text = hostile.CASES["findings in functions"].text(60)
    (notice,) = tfnanlint.check(text).findings
    assert (notice.code, notice.span.start) == (UNREAD.code, 0)
    assert "statements, names, numbers and brackets" in notice.message


def test_fixes_of_a_file_that_is_too_long_are_told():
    text = hostile.CASES["findings in functions"].text(3) + "# a long comment\n" * 20_000
    fixed = tfnanlint.fix(text)
    assert (fixed.applied, fixed.problems) == ((), (f"not fixed: {TOO_LONG}",))
    assert {one.no_fix for one in tfnanlint.check(text).findings} == {TOO_LONG}


def test_places_behind_too_many_rounds_of_loops_are_told(monkeypatch):
    monkeypatch.setattr(analysis, "MOST_TRIED", 20)
    text = hostile.CASES["nested loops"].text(72) + f"y = {FOUND}\n"
    checked = check_source(Source("a.py", text), POLICY)
    assert checked.cut_short == ("all behind line 20",)
    assert not any(one.code == "TFN301" for one in checked.findings)


def test_the_bindings_since_a_time_are_found_by_halves():
    """Each `try` of many looks at what it assigned itself."""
    history = History(1, "a")
    for time, name in zip((3, 3, 5, 8), "bcde"):
        history.add(time, name)
    times, names = [1, 3, 3, 5, 8], "abcde"
    for begun in range(10):
        for until in (None, *range(begun, 10)):
            expected = [
                name
                for time, name in zip(times, names)
                if time > begun and (until is None or time <= until)
            ]
            end = None if until is None else history.index(until)
            assert history.since(history.index(begun), end) == expected
