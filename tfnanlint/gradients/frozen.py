"""Models of Keras that a program does not train: `model.trainable = False`, before anything is
compiled or differentiated, and never anything else.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from tfnanlint.gradients.forward import modules_with
from tfnanlint.ops.frameworks import WEIGHT_TAKERS, WHOLE_WEIGHTS
from tfnanlint.ops.site import Site
from tfnanlint.syntax.access_paths import leaf, path_of
from tfnanlint.syntax.nodes import nodes_in

_FLAG: Final = "trainable"


def is_frozen(call: Site) -> bool:
    """Whether a call applies a model that its file freezes, and in which no file of the program
    trains any model again.
    """
    function = getattr(call.node, "func", None)
    path = path_of(function) if function is not None else None
    if call.op.name != "keras.Model" or path is None or call.point is None:
        return False
    module = call.point.scope.module
    if f".{_FLAG}" not in module.source.text:
        return False
    tree = module.source.tree
    if not _freezes(tree.body, path) or _names_weights(tree, path):
        return False  # before other files are read
    modules, are_all = modules_with(_FLAG, module)
    return (
        modules is not None
        and are_all
        and not any(_sets_otherwise(one.source.tree) for one in modules)
    )


def _freezes(body: list[ast.stmt], path: str) -> bool:
    """Whether a statement outside of all definitions freezes what a path names, or its layers one
    by one, before any weights are taken.
    """
    for statement in body:
        if any(map(_takes_weights, nodes_in(statement))):
            return False
        if isinstance(statement, ast.For):
            is_its = path_of(statement.iter) == f"{path}.layers"
            if is_its and any(_is_flag(one, path_of(statement.target)) for one in statement.body):
                return True
        elif _is_flag(statement, path):
            return True
    return False


def _takes_weights(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in WEIGHT_TAKERS


def _is_flag(statement: ast.stmt, path: str | None) -> bool:
    """Whether a statement assigns to the flag of what a path names."""
    return isinstance(statement, ast.Assign) and any(
        path_of(target) == f"{path}.{_FLAG}" for target in statement.targets
    )


def _sets_otherwise(tree: ast.Module) -> bool:
    """Whether a file assigns something else than False to a flag, or may do so by a text."""
    return any(
        isinstance(node, ast.Constant)
        and node.value == _FLAG
        or isinstance(node, ast.Name)
        and node.id == "setattr"
        or isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign))
        and any(leaf(target) == _FLAG for target in _targets(node))
        and getattr(node.value, "value", None) is not False
        for node in nodes_in(tree)
    )


def _targets(statement: Any) -> list[Any]:
    """What a statement assigns to, parts of tuples, too."""
    targets = getattr(statement, "targets", None) or [statement.target]
    return [node for target in targets for node in nodes_in(target)]


def _names_weights(tree: ast.Module, path: str) -> bool:
    """Whether a file reads all weights of what a path names, which a gradient may be asked for."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in WHOLE_WEIGHTS
        and path_of(node.value) == path
        for node in nodes_in(tree)
    )
