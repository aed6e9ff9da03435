"""What stands around a place: found by halves, however many parts its holder has."""

from __future__ import annotations

import pytest

from tfnanlint.syntax.enclosing import enclosing
from tfnanlint.syntax.source import Source, Span

MANY = 2_000
HOLDERS = {
    "keywords": ("f(", "a{i}=x, ", ", last=HERE)"),
    "comparison": ("y = x", " < x", " < HERE"),
    "operands": ("y = x", " and x", " and HERE"),
    "defaults": ("def f(", "a{i}=x, ", "last=HERE): pass"),
    "managers": ("with (", "x as a{i}, ", "HERE as last): pass"),
    "handlers": ("try: pass\n", "except x: pass\n", "except HERE: pass"),
    "decorators": ("", "@x\n", "@HERE\ndef f(): pass"),
    "cases": ("match k:\n", "  case {i}: x\n", "  case 'last': HERE"),
    "loops": ("y = [x ", "for a{i} in x ", "for last in HERE]"),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_few_of_many_parts_are_looked_at(holder):
    before, part, behind = HOLDERS[holder]
    parts = "".join(part.replace("{i}", str(i)) for i in range(MANY))
    source = Source("a.py", before + parts.rstrip(", ") * (", " in behind[:2]) + behind)
    if ", " not in behind[:2]:
        source = Source("a.py", before + parts + behind)
    start = source.text.index("HERE")
    asked = 0

    def span(node):
        nonlocal asked
        asked += 1
        return source.span(node)

    around = enclosing(source.tree.body, Span(start, start + 4), span)
    assert source.segment(around[-1]) == "HERE"
    assert asked < 100
