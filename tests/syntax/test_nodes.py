"""Nodes of a tree: where one stands."""

from __future__ import annotations

import ast

import pytest

from tfnanlint.syntax.nodes import function_at

TEXT = """\
x = 1
class Model:
    y = 2
    def call(self):
        try:
            z = 3
        except ValueError:
            z = 4
        def inner():
            return [
                5
            ]
        return inner

async def f(match):
    match match:
        case 1:
            if match:
                def g(): return 6
"""


@pytest.mark.parametrize(
    "piece, name",
    [
        ("x = 1", ""),
        ("y = 2", "Model"),
        ("z = 3", "Model.call"),
        ("z = 4", "Model.call"),
        ("  5", "Model.call.inner"),
        ("return inner", "Model.call"),
        ("case 1", "f"),
        ("return 6", "f.g"),
    ],
)
def test_the_function_around_a_row(piece, name):
    row = TEXT.count("\n", 0, TEXT.index(piece)) + 1
    assert function_at(ast.parse(TEXT), row) == name
    assert function_at(ast.parse(TEXT), 100) == ""
