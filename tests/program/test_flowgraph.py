"""Which uses read which definition of a name."""

from __future__ import annotations

import ast

import pytest

from tfnanlint.program.flowgraph import FlowGraph
from tfnanlint.syntax.source import Source

FINALLY = """\
def f():
    try:
        y = first()
        y = second()
    finally:
        close(y)
"""
IN_A_LOOP = """\
def f(items):
    for item in items:
        y = 0
        try:
            y = first()
            y = second()
        except ValueError:
            pass
    return y
"""
HANDLED = """\
def f():
    try:
        y = first()
        y = second()
    except ValueError:
        return y
"""


def readers(text: str, name: str) -> dict[int, list[int]]:
    """The lines that define a name in a function, each with the lines that read what it gives."""
    function = Source("x.py", text).tree.body[0]
    graph = FlowGraph(function)
    return {
        definition.whole.lineno: sorted(use.node.lineno for use in definition.uses)
        for definition in graph.definitions[name]
    }


@pytest.mark.parametrize(
    "text, expected",
    [
        (FINALLY, {3: [6], 4: [6]}),
        (IN_A_LOOP, {3: [9], 5: [9], 6: [9]}),
        (HANDLED, {3: [6], 4: [6]}),
    ],
)
def test_what_an_exception_leaves_is_read(text, expected):
    assert readers(text, "y") == expected


def test_what_is_deleted_unread_is_dead():
    body = Source("f.py", "def f(x):\n    y = g(x)\n    z = h(y)\n    del y, z\n").tree.body[0]
    made = FlowGraph(body).definitions
    assert not made["y"][0].is_dead
    assert made["z"][0].is_dead


ADDED = """\
def f(items, given):
    steps = []
    parts = {}
    for item in items:
        steps.append(one(item))
        parts["last"] = two(item)
        given.append(three(item))
    steps.reverse()
    return steps, parts
"""


def test_what_is_put_into_a_new_container_is_given_to_its_name():
    graph = FlowGraph(Source("x.py", ADDED).tree.body[0])
    holders = {
        ast.unparse(whole): [definition.name for definition in definitions]
        for whole, definitions in graph.made.items()
        if isinstance(whole, ast.Call)
    }
    assert holders == {
        "steps.append(one(item))": ["steps"],
        "two(item)": ["parts"],
        "steps.reverse()": ["steps"],
    }


@pytest.mark.parametrize(
    "made",
    [
        "kept = steps = []",
        "self.steps = steps = []",
        "steps = self.steps",
        "kept, steps = [], []",
        "keep(steps := [])",
        "global steps; steps = []",
    ],
)
def test_what_is_put_into_a_container_that_something_else_may_hold_is_not_followed(made):
    text = f"def f(self, item):\n    {made}\n    steps.append(one(item))\n    return steps\n"
    graph = FlowGraph(Source("x.py", text).tree.body[0])
    assert not [whole for whole in graph.made if ast.unparse(whole).startswith("steps.append")]
