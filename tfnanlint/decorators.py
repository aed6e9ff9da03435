"""Decorators: which of them hand back what the function returns."""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.aliases import Bindings
from tfnanlint.conditions import leaf
from tfnanlint.nodes import nodes_in, statements_in

# Those of libraries.
TRANSPARENT = frozenset("function staticmethod classmethod property cached_property custom_gradient abstractmethod override "
                        "lru_cache cache defun tf_export keras_export configurable register_keras_serializable wraps "
                        "recompute_grad do_not_convert experimental deprecated jit tf_function check_shapes inherit_check_shapes "
                        "typechecked beartype add_dispatch_support do_not_generate_docs do_not_doc_inheritable "
                        "for_subclass_implementers no_automatic_dependency_tracking filter_traceback shape_type_conversion "
                        "add_name_scope with_name_scope name_scope add_arg_scope add_var_scope inject_mesh "
                        "allow_initializer_layout dispatch_for_types deprecated_endpoints deprecated_args default".split())


def decorator_leaf(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.args[0] if leaf(node.func) == "partial" and node.args else node.func
    return leaf(node)


def hands_on(decorator: Any) -> bool:
    """Whether a function gives one of its own that calls what it was given, with all that it is given itself, and gives what that gives:
    `def timed(f): def inner(*args, **kwargs): return f(*args, **kwargs); return inner`."""
    known = getattr(decorator, "hands_on", None)
    if known is None:  # kept with the tree
        known = decorator.hands_on = _hands_on(decorator)
    return known


def _hands_on(decorator: Any) -> bool:
    inner = [one for one in getattr(decorator, "body", ()) if isinstance(one, ast.FunctionDef)] if isinstance(decorator, ast.FunctionDef) else []
    last = decorator.body[-1] if inner else None
    if len(inner) != 1 or len(decorator.args.args) != 1 or not isinstance(last, ast.Return) or not _named(last.value or last, inner[0].name):
        return False
    spec = inner[0].args
    if spec.vararg is None or spec.kwarg is None or spec.args or spec.kwonlyargs or not Bindings(inner[0].body).paths.isdisjoint({spec.vararg.arg, spec.kwarg.arg}):
        return False
    passed = [one for one in nodes_in(inner[0]) if isinstance(one, ast.Call) and _named(one.func, decorator.args.args[0].arg)]
    if len(passed) != 1 or ast.dump(passed[0]) != ast.dump(ast.parse(f"{decorator.args.args[0].arg}(*{spec.vararg.arg}, **{spec.kwarg.arg})", mode="eval").body):
        return False
    kept = {one.targets[0].id for one in statements_in(inner[0]) if isinstance(one, ast.Assign) and one.value is passed[0] and isinstance(one.targets[0], ast.Name)}
    stored = [one.id for one in nodes_in(inner[0]) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)]
    kept = {name for name in kept if stored.count(name) == 1 and name not in Bindings(inner[0].body).changed}
    given = [one.value for one in statements_in(inner[0]) if isinstance(one, ast.Return)]
    return bool(given) and all(one is passed[0] or isinstance(one, ast.Name) and one.id in kept for one in given)


def _named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
