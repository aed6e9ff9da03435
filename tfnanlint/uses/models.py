"""Models of Keras and what becomes of them: whether the loss that one is compiled with is used."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any, Final

from tfnanlint.ops.frameworks import TAKING_MODELS, TRAINING_CALLS, WITHOUT_LOSS
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in, parts_of

_HOLDING: Final = (ast.List, ast.Tuple)
_DEPTH: Final = 3  # of functions that hand a model on
_COMPILED: Final = "compile"


def is_never_trained(site: Any) -> bool:
    """Whether nothing computes the loss with which a call of `compile` sets a model up: the name of
    the model is never asked to train or evaluate, nor handed on, in code that trains others.
    """
    call, point = site.node, site.point
    if point is None or point.over is not None or not isinstance(call, ast.Call):
        return False
    model = getattr(call.func, "value", None)
    if not isinstance(model, ast.Name):
        return False
    scope = point.scope
    whole = scope.node if scope.function is not None else point.module.source.tree
    nodes = nodes_in(whole)
    if any(isinstance(one, (ast.Global, ast.Nonlocal)) and model.id in one.names for one in nodes):
        return False
    around, uses = _uses(nodes, model.id)
    functions = _functions(point.module.source.tree)
    if not all([_is_without_loss(use, around, functions) for use in uses]):
        return False
    if not any(map(_trains, nodes)):
        return False
    return scope.function is not None or not _is_trained_elsewhere(point.module)


def _is_trained_elsewhere(module: Any) -> bool:
    """Whether files that import a module train or evaluate something."""
    return module.project is not None and any(
        [module.project.importing(module.source.path, name) for name in TRAINING_CALLS]
    )


def _trains(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in TRAINING_CALLS
        and node.func.attr != _COMPILED
    )


def _uses(nodes: list[ast.AST], name: str) -> tuple[dict[ast.AST, ast.AST], list[ast.AST]]:
    """What stands around each of some nodes, and where among them a name is loaded."""
    around = {part: node for node in nodes for part in parts_of(node)}
    loads = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    return around, [load for load in loads if isinstance(load.ctx, ast.Load)]


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """The functions at the top level of a file that are defined once, by name."""
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    names = Counter(function.name for function in found)
    return {function.name: function for function in found if names[function.name] == 1}


def _is_without_loss(
    use: ast.AST,
    around: dict[ast.AST, ast.AST],
    functions: dict[str, ast.FunctionDef],
    depth: int = _DEPTH,
) -> bool:
    """Whether where a model is named its loss is not computed, nor in the functions of the file
    that are handed the model.
    """
    outer = around.get(use)
    if isinstance(outer, ast.Attribute):
        return outer.attr in WITHOUT_LOSS
    if isinstance(outer, ast.Call) and outer.func is use:
        return True
    parameter = _parameter(use, outer, functions) if depth else None
    if parameter is not None:
        function, name = parameter
        inner, uses = _uses(nodes_in(function), name)
        return all([_is_without_loss(one, inner, functions, depth - 1) for one in uses])
    while isinstance(outer, _HOLDING):
        outer = around.get(outer)
    return isinstance(outer, ast.Call) and leaf(outer.func) in TAKING_MODELS


def _parameter(
    use: ast.AST, call: ast.AST | None, functions: dict[str, ast.FunctionDef]
) -> tuple[ast.FunctionDef, str] | None:
    """The function of the file, and its parameter, that an argument by position is given for."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    function = functions.get(call.func.id)
    if function is None or use not in call.args:
        return None
    before = call.args[: call.args.index(use)]
    parameters = [*function.args.posonlyargs, *function.args.args]
    if len(before) >= len(parameters) or any(isinstance(one, ast.Starred) for one in before):
        return None
    return function, parameters[len(before)].arg
