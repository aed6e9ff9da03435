"""What binds names in a file: assignments, parameters, imports and all else."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from tfnanlint.project.outlines import Outline
from tfnanlint.syntax.nodes import nodes_in


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


def bindings_of(outline: Outline) -> Counter[str]:
    """How often something in a file binds a name, in whichever function: parameters, too. It is
    counted once for all questions.
    """
    if outline.bindings is None:
        outline.bindings = _counted(outline.tree)
    bindings: Counter[str] = outline.bindings
    return bindings


def _counted(tree: ast.AST) -> Counter[str]:
    counted: Counter[str] = Counter()
    for node in nodes_in(tree):
        counted.update([name for name in bound_at(node) if name])
        if isinstance(node, ast.arg):
            counted[node.arg] += 1
    return counted
