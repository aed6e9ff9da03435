"""Rules judge values; what is longer holds knowledge that belongs to `idioms/`, `guards/` or
`rule/`.
"""

from __future__ import annotations

import ast

from tfnanlint.dev.repository import ROOT

LIMIT = 125


def code_lines(text: str) -> int:
    """The lines of a rule besides its page, its imports, its declaration and blank ones."""
    left_out: set[int] = set()
    for index, node in enumerate(ast.parse(text).body):
        is_page = index == 0 and isinstance(node, ast.Expr)
        if is_page or isinstance(node, (ast.Import, ast.ImportFrom)):
            left_out.update(range(node.lineno, node.end_lineno + 1))
        for declaration in getattr(node, "decorator_list", ()):
            left_out.update(range(declaration.lineno, declaration.end_lineno + 1))
    rows = enumerate(text.splitlines(), 1)
    return sum(1 for row, line in rows if line.strip() and row not in left_out)


def test_rules_are_short():
    lengths = {path.stem: code_lines(path.read_text()) for path in (ROOT / "rules").glob("*.py")}
    assert {stem: length for stem, length in lengths.items() if length > LIMIT} == {}
