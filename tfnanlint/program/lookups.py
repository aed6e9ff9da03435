"""Whether a file only looks things up in a dict of its own: nothing is put into it, and it is not
handed to code that may do so.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from tfnanlint.program.module import Module
from tfnanlint.program.mutation import CHANGING
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.occurrences import Occurrence
from tfnanlint.syntax.source import Source

_READING: Final = frozenset("get copy keys items values".split())
_FOLLOWED: Final = frozenset(("update", "setdefault"))  # stores that the interpreter follows
_EMPTYING: Final = frozenset(("popitem", "popleft", "discard"))
# Builtins that look at the keys of a dict.
_ASKING: Final = frozenset("len list sorted set tuple frozenset iter bool min max any all".split())


def is_only_read(module: Module, name: str, whole: Any = None, imports: bool = False) -> bool:
    """Whether all uses of a dict in a file, or in a function of it (`whole`, whose own stores the
    interpreter follows), only look things up; `self.heads` stands for any object's. With `imports`
    the file imports the dict under that name.
    """
    key = name, whole, imports
    if key not in module.only_read:
        module.only_read[key] = _only_reads(module.source, name, whole, imports)
    return module.only_read[key]


def _only_reads(source: Source, name: str, whole: Any, imports: bool) -> bool:
    of_object, last = name.startswith("self."), name.removeprefix("self.")
    return all(
        [
            _is_harmless(place, whole is not None, imports)
            for place in source.occurrences(last, whole)
            if not of_object or isinstance(place.node, ast.Attribute)
        ]
    )


def _is_harmless(place: Occurrence, stores: bool, imports: bool) -> bool:
    node, around = place.node, place.around
    if isinstance(node, (ast.arg, ast.keyword)):
        return True  # another variable, whose uses are looked at, too
    if isinstance(node, (ast.alias, ast.ImportFrom)):
        return imports
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    if isinstance(node.ctx, ast.Load):
        return _is_lookup(node, around, stores) or _is_asked(node, around)
    outer = around[0]
    return isinstance(node.ctx, ast.Store) and (
        isinstance(outer, ast.Assign) or isinstance(outer, ast.AnnAssign) and outer.target is node
    )


def _is_lookup(node: ast.expr, around: list[ast.AST], stores: bool) -> bool:
    """Whether what stands around a dict takes something out of it: `d[k]`, `d.get(k)`."""
    outer = around[0]
    if isinstance(outer, ast.Attribute):
        return outer.attr in _READING or stores and outer.attr in _FOLLOWED
    element, depth = node, 0
    while _is_value_of(element, around[depth]):
        element, depth = around[depth], depth + 1  # type: ignore[assignment]
    method = around[depth]
    if not depth or isinstance(method, ast.Attribute) and method.attr in CHANGING | _EMPTYING:
        return False
    return stores or isinstance(element.__dict__.get("ctx"), ast.Load)


def _is_value_of(node: ast.AST, outer: ast.AST) -> bool:
    return isinstance(outer, ast.Subscript) and outer.value is node


def _is_asked(node: ast.AST, around: list[ast.AST]) -> bool:
    """Whether something is only asked of a dict: `k in d`, `if d:`, `len(d)`, or its pairs are
    copied by `**d`.
    """
    outer = around[0]
    if isinstance(outer, (ast.Compare, ast.keyword)):
        return isinstance(outer, ast.Compare) or outer.arg is None
    if isinstance(outer, ast.Call):
        return node in outer.args and leaf(outer.func) in _ASKING
    if isinstance(outer, ast.Dict):
        return any([key is None and value is node for key, value in zip(outer.keys, outer.values)])
    if isinstance(outer, (ast.For, ast.comprehension)) and outer.iter is node:
        return True
    return _is_test(node, around)


def _is_test(node: ast.AST, around: list[ast.AST]) -> bool:
    """Whether a value is only asked whether it is true: `if d and x:`."""
    outer, depth = around[0], 0
    while isinstance(outer, ast.BoolOp):
        node, depth = outer, depth + 1
        outer = around[depth]
    if isinstance(outer, ast.UnaryOp):
        return isinstance(outer.op, ast.Not)
    if isinstance(outer, ast.comprehension):
        return node in outer.ifs
    return getattr(outer, "test", None) is node
