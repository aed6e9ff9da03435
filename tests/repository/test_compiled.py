"""What mypyc does not compile stands in no module that `setup.py` compiles."""

from __future__ import annotations

import ast
import importlib.util
import warnings

from tfnanlint.dev.repository import ROOT


def compiled_files():
    """The files that the compiled engine is made of."""
    spec = importlib.util.spec_from_file_location("tfnanlint_setup", ROOT / "setup.py")
    setup = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(setup)
    return [*map(ROOT.joinpath, setup.compiled()), *sorted((ROOT / "rules").glob("*.py"))]


def starred_memberships(text: str) -> list[int]:
    """The lines of `x in (A, *B)`: mypyc stops at them."""
    comparisons = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Compare)]
    return [
        node.lineno
        for node in comparisons
        for operator, container in zip(node.ops, node.comparators)
        if isinstance(operator, (ast.In, ast.NotIn))
        and isinstance(container, (ast.Tuple, ast.List, ast.Set))
        and any(isinstance(element, ast.Starred) for element in container.elts)
    ]


def test_memberships_are_tried_without_stars(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert starred_memberships("x in (a, *b)\nx in (a, b)\nx == (a, *b)\n") == [1]
    warnings.simplefilter("ignore")
    files = compiled_files()
    assert len(files) > 200
    where = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in files
        for line in starred_memberships(path.read_text(encoding="utf-8"))
    ]
    assert where == []
