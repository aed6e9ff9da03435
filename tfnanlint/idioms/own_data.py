"""Programs that train on data which they write out or draw themselves: a lesson on the XOR function
or on two clouds of points. Its logits stay small, and a softmax does not round to 0.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Final

from tfnanlint.conventions.identifiers import draws_array, reads_data
from tfnanlint.ops.frameworks import TRAINING_CALLS
from tfnanlint.syntax.access_paths import leaf, path_of

_LEAST_ROWS: Final = 2


@lru_cache(maxsize=1)
def trains_on_own_data(tree: ast.Module) -> bool:
    """Whether a file writes out or draws rows of numbers outside of functions, trains, and reads no
    data. Each fix of a file asks.
    """
    if not any(map(_makes_rows, tree.body)):
        return False
    trains = False
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if any([reads_data(name) for name in _imported(node)]):
                return False
        elif isinstance(node, ast.Call):
            name = leaf(node.func)
            if reads_data(name):
                return False
            trains |= name in TRAINING_CALLS
    return trains


def weakness_of_data(tree: ast.Module) -> str:
    """The kind of evidence that a softmax or sigmoid rounds to 0, as `kinds` names it: "own-data"
    in such a program; empty for others.
    """
    return "own-data" if trains_on_own_data(tree) else ""


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules and names that a statement imports."""
    module = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    names = [*module, *[alias.name for alias in node.names]]
    return [part for name in names for part in name.split(".")]


def _makes_rows(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign):
        return False
    return any([_is_matrix(node) or _is_draw(node) for node in ast.walk(statement.value)])


def _is_matrix(node: ast.AST) -> bool:
    """Whether an expression is a list of lists of numbers."""
    if not isinstance(node, (ast.List, ast.Tuple)) or len(node.elts) < _LEAST_ROWS:
        return False
    return all([isinstance(row, (ast.List, ast.Tuple)) and _has_numbers(row) for row in node.elts])


def _has_numbers(row: ast.List | ast.Tuple) -> bool:
    signless = [part.operand if isinstance(part, ast.UnaryOp) else part for part in row.elts]
    constants = [part.value for part in signless if isinstance(part, ast.Constant)]
    is_written = bool(row.elts) and len(constants) == len(signless)
    return is_written and all([isinstance(value, (int, float)) for value in constants])


def _is_draw(node: ast.AST) -> bool:
    """Whether an expression draws an array with NumPy, `np.random.randn(100, 2)`."""
    path = path_of(node.func) if isinstance(node, ast.Call) else None
    return path is not None and draws_array(path)
