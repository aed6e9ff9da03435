"""Rows of whose code a convention holds, found without asking it of each of them."""

from __future__ import annotations

from tfnanlint.syntax.source import Source

LINES = 400


def test_a_convention_is_asked_of_few_lines():
    asked = []

    def holds(text):
        asked.append(text)
        return "1e9" in text

    lines = [f"x{row} = {row}" for row in range(LINES)]
    lines[7] += " + 1e9"
    lines[300] += "  # 1e9"
    source = Source("a.py", "\n".join(lines) + "\n")
    assert source.rows_where(holds) == [8]
    assert source.rows_where(holds, range(9, LINES)) == []
    assert len(asked) < LINES / 4


def test_nothing_is_blanked_to_deny_a_piece_of_text():
    source = Source("a.py", "x = 'def f('  # class A\ndef g(): pass\n")
    assert not source.codes("def h(")
    assert "code" not in source.__dict__
    assert not source.codes("def f(") and not source.codes("class A") and source.codes("def g(")
