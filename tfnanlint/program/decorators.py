"""Decorators: which of them hand back what the function returns."""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.program.mutation import Bindings
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in, statements_in

# Those of libraries.
TRANSPARENT = frozenset(
    "function staticmethod classmethod property cached_property custom_gradient abstractmethod"
    " override lru_cache cache defun tf_export keras_export configurable"
    " register_keras_serializable wraps recompute_grad do_not_convert experimental deprecated jit"
    " tf_function check_shapes inherit_check_shapes typechecked beartype add_dispatch_support"
    " do_not_generate_docs do_not_doc_inheritable for_subclass_implementers"
    " no_automatic_dependency_tracking filter_traceback shape_type_conversion add_name_scope"
    " with_name_scope name_scope add_arg_scope add_var_scope inject_mesh allow_initializer_layout"
    " dispatch_for_types deprecated_endpoints deprecated_args default".split()
)


def decorator_leaf(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.args[0] if leaf(node.func) == "partial" and node.args else node.func
    return leaf(node)


def hands_on(decorator: Any) -> bool:
    """Whether a function gives one of its own that calls what it was given, with all that it is
    given itself, and gives what that gives:
    `def timed(f): def inner(*args, **kwargs): return f(*args, **kwargs); return inner`.
    """
    known = getattr(decorator, "hands_on", None)
    if known is None:  # kept with the tree
        known = decorator.hands_on = _hands_on(decorator)
    return known


def given_back(function: Any) -> Any:
    """The one function that is defined in another one, which returns it; None where there are more,
    or it returns something else.
    """
    inner = (
        [one for one in function.body if isinstance(one, ast.FunctionDef)]
        if isinstance(function, ast.FunctionDef)
        else []
    )
    last = function.body[-1] if len(inner) == 1 else None
    return (
        inner[0]
        if isinstance(last, ast.Return) and _named(last.value or last, inner[0].name)
        else None
    )


def _hands_on(decorator: Any) -> bool:
    inner = given_back(decorator)
    if inner is None or len(decorator.args.args) != 1:
        return False
    spec, given = inner.args, decorator.args.args[0].arg
    names = [one.arg for one in (*spec.posonlyargs, *spec.args)]
    more = [one.arg for one in (spec.vararg, spec.kwarg) if one is not None]
    if (
        spec.kwonlyargs
        or spec.defaults
        or len(more) == 1
        or not (names or more)
        or not Bindings(inner.body).paths.isdisjoint([*names, *more])
    ):
        return False
    passed = [
        one for one in nodes_in(inner) if isinstance(one, ast.Call) and _named(one.func, given)
    ]
    handed = ", ".join([*names, *([f"*{more[0]}", f"**{more[1]}"] if more else [])])
    if len(passed) != 1 or ast.dump(passed[0]) != ast.dump(
        ast.parse(f"{given}({handed})", mode="eval").body
    ):
        return False
    kept = {
        one.targets[0].id
        for one in statements_in(inner)
        if isinstance(one, ast.Assign)
        and one.value is passed[0]
        and isinstance(one.targets[0], ast.Name)
    }
    stored = [
        one.id
        for one in nodes_in(inner)
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
    ]
    kept = {
        name
        for name in kept
        if stored.count(name) == 1 and name not in Bindings(inner.body).changed
    }
    returned = [one.value for one in statements_in(inner) if isinstance(one, ast.Return)]
    cache = _cached(inner, passed[0])
    return bool(returned) and all(
        [
            one is passed[0]
            or isinstance(one, ast.Name)
            and one.id in kept
            or one is not None
            and ast.dump(one) == cache
            for one in returned
        ]
    )


def _cached(inner: Any, passed: ast.Call) -> str:
    """How what a call gave is read again after `setattr(self, name, function(self))`; "" where it
    is not kept so.
    """
    for node in nodes_in(inner):
        if (
            isinstance(node, ast.Call)
            and _named(node.func, "setattr")
            and len(node.args) == 3
            and node.args[2] is passed
        ):
            read = ast.Call(ast.Name("getattr", ast.Load()), node.args[:2], [])
            return ast.dump(read)
    return ""


def _named(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
