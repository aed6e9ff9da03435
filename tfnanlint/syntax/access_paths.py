"""Access paths: the text of a name or of what follows one (`x`, `self.x`, `w['k']`), and its
root.
"""

from __future__ import annotations

import ast

from tfnanlint.syntax.nodes import ATTRIBUTE, CONSTANT, NAME, NAMED_EXPR, SUBSCRIPT


def path_of(node: ast.AST) -> str | None:
    """`x`, `self.x`, `w['k']`, `a[0]` as a key for histories; None for anything else."""
    kind = type(node)
    if kind is NAME:
        return node.id
    if kind is ATTRIBUTE:
        base = path_of(node.value)
        return f"{base}.{node.attr}" if base else None
    if kind is NAMED_EXPR:
        return node.target.id
    if kind is SUBSCRIPT and type(node.slice) is CONSTANT:
        base = path_of(node.value)
        return (
            f"{base}[{node.slice.value!r}]"
            if base and isinstance(node.slice.value, (str, int))
            else None
        )
    return None


def root_of(path: str) -> str:
    """The name that a path starts with."""
    end = path.find(".")
    bracket = path.find("[", 0, end if end >= 0 else len(path))
    end = bracket if bracket >= 0 else end
    return path[:end] if end >= 0 else path


def leaf(function: ast.expr) -> str:
    """The last name of a callee: `greater` of `tf.math.greater`."""
    kind = type(function)
    return function.attr if kind is ATTRIBUTE else function.id if kind is NAME else ""


def is_special(name: str) -> bool:
    """Whether Python calls a method of this name itself: `__call__`, but not `__private`."""
    return name.startswith("__") and name.endswith("__")
