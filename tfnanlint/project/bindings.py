"""What binds names in a file: assignments, parameters, imports and all else."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any


def is_bound(function: ast.AST, name: str) -> bool:
    """Whether something in a function may bind a name, beside its parameters."""
    return any(name in bound_at(node) for node in ast.walk(function) if node is not function)


def bound_at(node: Any) -> list[str | None]:
    """The names that a node binds, or declares to be those of others: all nodes but plain names
    have them as a text.
    """
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.alias):
        return [node.asname or node.name.partition(".")[0]]
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return [*node.names]
    return [getattr(node, "name", None), getattr(node, "rest", None)]


class Bindings:
    """How often something in a file binds a name, in whichever function: parameters, too."""

    def __init__(self) -> None:
        self._counted: dict[str, tuple[ast.Module, Counter[str]]] = {}

    def count(self, path: str, tree: ast.Module, name: str) -> int:
        """How often a file, which has a tree, binds a name."""
        known = self._counted.get(path)
        if known is None or known[0] is not tree:
            known = self._counted[path] = tree, _counted(tree)
        return known[1][name]


def _counted(tree: ast.AST) -> Counter[str]:
    counted: Counter[str] = Counter()
    for node in ast.walk(tree):
        counted.update([name for name in bound_at(node) if name])
        if isinstance(node, ast.arg):
            counted[node.arg] += 1
    return counted
