"""What binds names in a file: assignments, parameters, imports and all else."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tfnanlint.project.outlines import Outline
from tfnanlint.syntax.nodes import nodes_in


def is_bound(function: ast.AST, name: str) -> bool:
    """Whether something in a function may bind a name, beside its parameters."""
    return any(name in bound_at(node) for node in inside(function))


def inside(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, those of the functions inside of it too."""
    return (node for node in ast.walk(function) if node is not function)


def values_bound(nodes: Iterable[ast.AST], name: str) -> list[ast.expr] | None:
    """What the assignments among some nodes bind a name to; None where something else binds it."""
    values: list[ast.expr] = []
    assigned: dict[ast.AST, ast.expr] = {}
    bound: list[ast.AST] = []
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                assigned.update(_targets(target, node.value))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            assigned[node.target] = node.value
        if name in bound_at(node):
            bound.append(node)
    for node in bound:
        if node not in assigned:
            return None
        values.append(assigned[node])
    return values


def _targets(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment, each with what it is assigned: `a, b = 1, 2` has two."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
    elif isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
        if not any(isinstance(part, ast.Starred) for part in (*target.elts, *value.elts)):
            for inner, part in zip(target.elts, value.elts):
                yield from _targets(inner, part)


def outside_definitions(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a file, or of the body of a class, outside of the definitions in it."""
    waiting: list[ast.AST] = [*body]
    for node in waiting:  # it grows on the way
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)


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
