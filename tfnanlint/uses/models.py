"""Models of Keras and what becomes of them: whether the loss that one is compiled with is used."""

from __future__ import annotations

import ast
from typing import Any, Final

from tfnanlint.ops.frameworks import TAKING_MODELS, TRAINING_CALLS, WITHOUT_LOSS
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in, parts_of

_HOLDING: Final = (ast.List, ast.Tuple)
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
    around: dict[ast.AST, ast.AST] = {part: one for one in nodes for part in parts_of(one)}
    uses = [
        one
        for one in nodes
        if isinstance(one, ast.Name) and one.id == model.id and isinstance(one.ctx, ast.Load)
    ]
    if not all([_is_without_loss(use, around) for use in uses]) or not any(map(_trains, nodes)):
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


def _is_without_loss(use: ast.AST, around: dict[ast.AST, ast.AST]) -> bool:
    """Whether where a model is named its loss is not computed."""
    outer = around.get(use)
    if isinstance(outer, ast.Attribute):
        return outer.attr in WITHOUT_LOSS
    if isinstance(outer, ast.Call) and outer.func is use:
        return True
    while isinstance(outer, _HOLDING):
        outer = around.get(outer)
    return isinstance(outer, ast.Call) and leaf(outer.func) in TAKING_MODELS
