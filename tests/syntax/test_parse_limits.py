"""Texts that are too costly to parse, and the same in parts that are not."""

from __future__ import annotations

import pytest

from tfnanlint.syntax import parse_limits
from tfnanlint.syntax.parse_limits import TooCostly, refuse_many_pieces, refuse_slow_fields

LONG = 200_000


@pytest.mark.parametrize(
    "before, behind",
    [("f'", "'"), ('rF"', '"'), ("f'''\n", "'''"), ('f"""""', '"""'), (r"f'\'", "'")],
)
def test_fields_of_a_long_string(monkeypatch, before, behind):
    monkeypatch.setattr(parse_limits, "IS_QUADRATIC", True)
    fields = "{x}" * (LONG // 3)
    with pytest.raises(TooCostly) as raised:
        refuse_slow_fields(f"a = 1\ny = {before}{fields}{behind}\n")
    assert raised.value.row == 2 and f"{LONG // 3} fields" in str(raised.value)
    refuse_slow_fields(f"y = {before}{'x' * LONG}{behind}\n")  # a long string is read once
    refuse_slow_fields("y = [" + f"f'{fields[:300]}', " * (LONG // 300) + "]")
    refuse_slow_fields(f"y = '{fields}'\n")
    monkeypatch.setattr(parse_limits, "IS_QUADRATIC", False)
    refuse_slow_fields(f"y = {before}{fields}{behind}\n")


@pytest.mark.parametrize("piece", ["a, ", "1,", "[],", "a\n", "a;", "a()+", "...,", "a\r", "a.b;"])
def test_many_pieces_of_code(monkeypatch, piece):
    monkeypatch.setattr(parse_limits, "MOST_PIECES", 1_000)
    with pytest.raises(TooCostly, match=r"its code has \d+ statements"):
        refuse_many_pieces(piece * 1_001)
    refuse_many_pieces(piece * 200)


@pytest.mark.parametrize("piece", ["# a b c\n", "\n", "'a b c'\n", "          \n", "\r\n"])
def test_what_is_no_code_counts_for_little(monkeypatch, piece):
    monkeypatch.setattr(parse_limits, "MOST_PIECES", 1_000)
    refuse_many_pieces("a\n" + piece * 450)
