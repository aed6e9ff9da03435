"""The functions of the program that Keras layers are made with, in a file that trains a model:
those are differentiated as its layers are.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tfnanlint.ops.frameworks import (
    FUNCTION_LAYERS,
    FUNCTION_PARAMETERS,
    INPUT_LAYERS,
    INPUT_SHAPES,
    TRAINING_METHODS,
)
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import SETTINGS
from tfnanlint.program.functions import Bound, Function
from tfnanlint.program.scope import Point
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import CALL, SEQUENCES, nodes_in
from tfnanlint.values.value import Choice, Note, Value

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine
    from tfnanlint.program.module import Module
    from tfnanlint.syntax.source import Source

_TRAINING: Final = tuple(f".{name}(" for name in TRAINING_METHODS)
# on the rows that may give a layer a function
_MADE_WITH: Final = ("Lambda(", "Activation(", "activation=", "_regularizer=")
_WEIGHTLESS: Final = tuple(
    f"keras.layers.{name}" for name in (*FUNCTION_LAYERS, "Reshape", "Flatten")
)


def layered(module: Module, interpreter: Engine) -> frozenset[ast.AST]:
    """The functions that layers of a file apply to what weights have made, or to weights."""
    functions: set[ast.AST] = set()
    for row in _rows(module.source) if _trains(module.source) else ():
        for expression, point in module.expressions(row, interpreter):
            nodes = nodes_in(expression)
            for call in nodes:
                if type(call) is CALL and (interpreter.resolve(call.func, point) or "").startswith(
                    "keras.layers."
                ):
                    for argument in _given(call):
                        if leaf(call.func) not in FUNCTION_LAYERS or not _of_data(
                            call, nodes, interpreter, point
                        ):
                            functions.update(_functions(interpreter.ask(argument, point)))
    return frozenset(functions)


def _trains(source: Source) -> bool:
    """Whether a file trains a model by its methods: `model.fit(x)`, but not `re.compile(x)`."""
    return source.holds(_TRAINING) and any([_is_training(node) for node in nodes_in(source.tree)])


def _is_training(node: ast.AST) -> bool:
    if type(node) is not CALL or not isinstance(node.func, ast.Attribute):
        return False
    method, owner = node.func.attr, node.func.value
    return method in TRAINING_METHODS and not (isinstance(owner, ast.Name) and owner.id == "re")


def _rows(source: Source) -> list[int]:
    return sorted({row for piece in _MADE_WITH for row in source.rows_with(piece)})


def _given(call: ast.Call) -> list[ast.expr]:
    """What a layer is made with that may be a function."""
    own = FUNCTION_LAYERS.get(leaf(call.func), "")
    arguments = [
        keyword.value
        for keyword in call.keywords
        if keyword.arg in FUNCTION_PARAMETERS or own and keyword.arg == own
    ]
    return arguments + call.args[:1] if own else arguments


def _functions(value: Value) -> list[ast.AST]:
    target = value.obj
    if isinstance(target, Choice):
        return [node for option in target.options for node in _functions(option)]
    if isinstance(target, Bound):
        target = target.function
    return [target.node] if isinstance(target, Function) else []


def _of_data(layer: ast.Call, nodes: list[ast.AST], interpreter: Engine, point: Point) -> bool:
    """Whether a layer is the first one of its model: it prepares what is handed in, and nothing
    before it is trained.
    """
    if any(keyword.arg in INPUT_SHAPES for keyword in layer.keywords):
        return True
    for call in nodes:
        if type(call) is not CALL or not call.args:
            continue
        first = call.args[0]
        if call.func is layer:
            parts = first.elts if type(first) in SEQUENCES else [first]
            return all(_is_input(interpreter.ask(part, point)) for part in parts)
        if leaf(call.func) == "Sequential" and type(first) in SEQUENCES and layer in first.elts:
            return all(
                type(before) is CALL and leaf(before.func) in INPUT_LAYERS
                for before in first.elts[: first.elts.index(layer)]
            )
    return False


def _is_input(value: Value, depth: int = 12) -> bool:
    """Whether a value is an input of a model, or made of one without a weight: by ops and by
    functions that layers apply.
    """
    if value.exact or value.kind in ("number", "string", "shape", "none"):
        return True
    site = value.origin
    while isinstance(site, Note) and site.index is not None:
        site = site.parent
    if not isinstance(site, Site) or depth == 0:
        return False
    if site.op.name == "keras.Input":
        return True
    if site.op.name in _WEIGHTLESS and site.given("input"):
        return _is_input(site.value("input"), depth - 1)
    return (
        site.op.pure
        and bool(site.args)
        and all(
            _is_input(site.value(param), depth - 1) for param in site.args if param not in SETTINGS
        )
    )
