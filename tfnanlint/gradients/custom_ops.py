"""Ops of libraries that a program loads, and which of their operands no gradient is taken of.

    module = tf.load_op_library("interpolate.so")

    @tf.RegisterGradient("Interpolate")
    def _interpolate_grad(op, grad):
        return [module.interpolate_grad(op.inputs[0], grad), None]

has none for the second operand of `module.interpolate(points, weights)`.
"""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.ops.frameworks import (
    GRADIENT_OVERRIDE,
    GRADIENT_REGISTRY,
    OP_LIBRARY,
    WITHOUT_GRADIENT,
)
from tfnanlint.program.scope import Point
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import SEQUENCES, nodes_in
from tfnanlint.uses.uses import endings_of

_INNER = (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)


def has_no_gradient(call: ast.Call, operand: ast.AST, point: Point) -> bool:
    """Whether a call applies an op of a library that the file loads, and the gradient that the file
    registers for it gives none for an operand.
    """
    module, method = point.scope.module, call.func
    if OP_LIBRARY not in module.source.names or GRADIENT_OVERRIDE in module.source.names:
        return False
    if not isinstance(method, ast.Attribute) or not isinstance(method.value, ast.Name):
        return False
    library = method.value.id
    if library in endings_of(point.scope, module).flow.definitions or operand not in call.args:
        return False
    if not _is_library(module.source.tree.body, library):
        return False
    place = call.args.index(operand)
    if any(isinstance(one, ast.Starred) for one in call.args[:place]):
        return False
    return _has_none(module.source.tree.body, method.attr.replace("_", ""), place)


def _is_library(body: list[ast.stmt], name: str) -> bool:
    """Whether the statements of a file bind a name once, to a library that they load."""
    values = [
        node.value
        for node in body
        if isinstance(node, ast.Assign)
        and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
    ]
    return (
        len(values) == 1 and isinstance(values[0], ast.Call) and leaf(values[0].func) == OP_LIBRARY
    )


def _has_none(body: list[ast.stmt], op: str, place: int) -> bool:
    """Whether what a file registers for an op gives no gradient for the operand at a place."""
    for node in body:
        if isinstance(node, ast.Expr) and _names(node.value, WITHOUT_GRADIENT, op):
            return True
        if isinstance(node, ast.FunctionDef) and any(
            _names(decorator, (GRADIENT_REGISTRY,), op) for decorator in node.decorator_list
        ):
            return _gives_none(node, place)
    return False


def _names(node: ast.AST, functions: tuple[str, ...], op: str) -> bool:
    """Whether a call of one of some functions names an op: `RegisterGradient("ThreeNN")` that of
    `three_nn`.
    """
    if not isinstance(node, ast.Call) or leaf(node.func) not in functions or not node.args:
        return False
    name: Any = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
    return isinstance(name, str) and name.lower() == op.lower()


def _gives_none(function: ast.FunctionDef, place: int) -> bool:
    """Whether each return of a function gives a list with None at a place."""
    nodes = [node for statement in function.body for node in nodes_in(statement)]
    if any(isinstance(node, _INNER) for node in nodes):
        return False
    returned: list[Any] = [node.value for node in nodes if isinstance(node, ast.Return)]
    return bool(returned) and all(
        type(value) in SEQUENCES
        and len(value.elts) > place
        and not any(isinstance(one, ast.Starred) for one in value.elts)
        and isinstance(value.elts[place], ast.Constant)
        and value.elts[place].value is None
        for value in returned
    )
