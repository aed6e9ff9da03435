"""The parser of want and ok comments."""

from __future__ import annotations

import pytest
from expectations import Expectation, Unclear, expectations


def test_every_kind_on_its_own_line():
    text = "a = 1  # want: TFN101\nb = 2  # ok: guarded\nc = 3  # todo-want: TFN801\nd = 4  # todo-ok: TFN102 a count\n"
    assert expectations(text) == [
        Expectation(1, "want", "TFN101"),
        Expectation(2, "ok", "", "guarded"),
        Expectation(3, "todo-want", "TFN801"),
        Expectation(4, "todo-ok", "TFN102", "TFN102 a count"),
    ]


def test_text_with_quotes_and_brackets():
    assert expectations(r'x = 1  # want: TFN101 "[0, 1] \"p\""') == [
        Expectation(1, "want", "TFN101", '[0, 1] "p"')
    ]


def test_offset_names_another_line():
    assert expectations("# want+1: TFN303\nloss = 1\n# ok-1: fine\n") == [
        Expectation(2, "ok", "", "fine"),
        Expectation(2, "want", "TFN303"),
    ]


def test_several_codes_and_several_clauses():
    text = 'x = 1  # want: TFN401 "reduce_max", TFN303 # todo-want: TFN806 # ok: TFN101'
    assert expectations(text) == [
        Expectation(1, "ok", "TFN101", "TFN101"),
        Expectation(1, "todo-want", "TFN806"),
        Expectation(1, "want", "TFN303"),
        Expectation(1, "want", "TFN401", "reduce_max"),
    ]


def test_the_same_code_may_be_wanted_twice():
    assert expectations("x = 1  # want: TFN302, TFN302") == [Expectation(1, "want", "TFN302")] * 2


def test_strings_are_not_comments():
    assert expectations('x = "# want: TFN101"  # a plain comment\n') == []


@pytest.mark.parametrize("body", ["", "TFN", "TFN101 and more", 'TFN101 "open', "tfn101"])
def test_an_unclear_want_is_refused(body):
    with pytest.raises(Unclear):
        expectations(f"x = 1  # want: {body}\n")
