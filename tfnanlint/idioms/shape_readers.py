"""Readers of a name that take nothing but the shape or dtype of its value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final

from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import OF_SHAPES
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.evaluator import Evaluator

Around = Callable[[ast.AST], Sequence[ast.AST]]  # what stands around a node, innermost first

_OF_TENSORS: Final = ("shape", "dtype")


def others(
    reader: ast.expr, producer: Site, interpreter: Evaluator, around: Around
) -> list[ast.expr] | None:
    """The other readers of a name that a function assigns once, to what a producer gives, which all
    take its shape or dtype: that in `tf.ones_like(p)` beside `loss(logits=p)`. None where one takes
    its values, or the name is no such.
    """
    statement = next(iter(around(producer.node)), None)
    point = producer.point
    if point is None or point.scope.function is None or not isinstance(reader, ast.Name):
        return None
    if not isinstance(statement, ast.Assign) or statement.value is not producer.node:
        return None
    target = statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name) or target.id != reader.id:
        return None
    if any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in ast.walk(point.scope.node)):
        return None
    uses = [node for node in nodes_in(point.scope.node) if isinstance(node, ast.Name)]
    readers: list[ast.expr] = [
        node for node in uses if node.id == reader.id and node is not reader and node is not target
    ]
    takes_shape = [_takes_shape(node, producer, interpreter, around) for node in readers]
    return readers if all(takes_shape) else None


def _takes_shape(node: ast.expr, producer: Site, interpreter: Evaluator, around: Around) -> bool:
    """Whether what stands around a name takes the shape or dtype of its value."""
    outer = next(iter(around(node)), None)
    if isinstance(outer, ast.Attribute):
        return outer.attr in _OF_TENSORS
    site = interpreter.site(outer, producer.point) if isinstance(outer, ast.Call) else None
    return site is not None and site.op.name in OF_SHAPES
