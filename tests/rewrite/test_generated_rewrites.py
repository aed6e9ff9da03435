"""Rewrites in generated programs: the new tree is the old one with the template in the expression's
place.
"""

from __future__ import annotations

import ast
import copy
import random

import pytest
from test_rewriter import as_is, substitute

from tfnanlint.rewrite.rewriter import NoFix, edits_apply, rewrite
from tfnanlint.syntax.source import Source


class Programs:
    """Random expressions, written with random parentheses, line breaks and comments inside
    brackets.
    """

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def expression(self, depth: int = 4) -> str:
        pick = self.random.choice
        if depth == 0:
            return pick(["a", "b", "é", "1", "2.5", "'s'", "None", "a.b", "-1"])
        e = lambda: self.expression(depth - self.random.randint(1, 2) if depth > 1 else 0)  # noqa: E731
        gap = pick(["", "", " ", "\n  ", "  # c\n"])
        return pick(
            [
                lambda: f"({gap}{e()}{gap})",
                lambda: (
                    f"({e()}) {pick(['+', '-', '*', '**', '/', '@', '<', 'and', 'or', 'in'])} ({e()})"
                ),
                lambda: f"g({gap}{e()},{gap}{e()})",
                lambda: f"({e()}).shape",
                lambda: f"({e()})[{e()}]",
                lambda: f"-({e()})",
                lambda: f"[{e()},{gap}{e()}]",
                lambda: f"({e()}) if ({e()}) else ({e()})",
                lambda: f"(lambda q: ({e()}))",
                lambda: f"({e()},{gap}{e()})",
                lambda: f"not ({e()})",
                lambda: f"[({e()}) for q in ({e()}) if ({e()})]",
                lambda: f"a + b * {self.expression(0)}",
                lambda: f"a{pick(['', '.c'])} < {self.expression(0)}",
                lambda: f"(w := ({e()}))",
                lambda: f"g(p for p in ({e()}))",
                lambda: f"g(*a, k=({e()}))",
                lambda: f"{{{e()}: ({e()})}}",
            ]
        )()

    def program(self) -> str:
        frame = self.random.choice(
            [
                "y = ({0})\n",
                "if ({0}):\n    y = ({1})\nelif ({1}): pass\n",
                "def g(p=({0})):\n\treturn ({1})\n",
                "x = 1; y = ({0}); z = ({1})\n",
                "@g({0})\nclass C(({1})): pass\n",
                "for q in ({0}): y = ({1})\n",
                "assert ({0}), ({1})\n",
            ]
        )
        text = frame.replace("{0}", self.expression()).replace("{1}", self.expression())
        return text.replace("\n", "\r\n") if self.random.random() < 0.2 else text


TEMPLATES = [
    "tf.g({x})",
    "-{x}",
    "{x} ** 2",
    "1 - {x}",
    "tf.g({x}, axis={n}, y={y})",
    "{x}.dtype.min",
    "{x} / ({y} + 1)",
    "{x}",
    "tf.where({x} > 0, {x}, {y})",
    "({x}, {y})",
    "{x}[{y}]",
    "lambda z: z",
    "{x} if {y} else {x}",
    "{x}, {y}",
]


@pytest.mark.parametrize("seed", range(8))
def test_generated_programs(seed):
    programs = Programs(seed)
    made = 0
    for _ in range(150):
        text = programs.program()
        source = Source("x.py", text)
        nodes = [
            n
            for n in ast.walk(source.tree)
            if isinstance(n, ast.expr)
            and not isinstance(n, (ast.Starred, ast.Slice))
            and isinstance(getattr(n, "ctx", None), (ast.Load, type(None)))
        ]
        node = programs.random.choice(nodes)
        inner = [n for n in nodes if source.span(n) in source.span(node)]
        holes = {
            "x": programs.random.choice(inner),
            "y": programs.random.choice(programs.random.choice([inner, nodes])),
            "n": None,
        }
        template = programs.random.choice(TEMPLATES)
        before = ast.dump(source.tree)
        try:
            edits = rewrite(source, node, template, holes, as_is)
        except NoFix as reason:
            assert "comment" in str(reason) or "another function" in str(reason), (
                text,
                template,
                str(reason),
            )
            continue
        made += 1
        new = edits_apply(text, edits)
        meant = copy.deepcopy(source.tree)
        substitute(meant, node, filled_tree(template, holes))
        assert ast.dump(ast.parse(new)) == ast.dump(meant), (text, template, new)
        assert ast.dump(source.tree) == before
        if "{x}" in template:
            assert source.segment(holes["x"]) in new
    assert made > 90


def filled_tree(template: str, holes: dict) -> ast.expr:
    class Fill(ast.NodeTransformer):
        def visit_Name(self, name):
            return copy.deepcopy(holes[name.id[5:]]) if name.id.startswith("hole_") else name

    text = template.replace("axis={n}, ", "").format(x="hole_x", y="hole_y")
    return Fill().visit(ast.parse(f"({text})", mode="eval").body)
