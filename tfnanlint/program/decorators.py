"""Decorators: which of them hand back what the function returns."""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.program.mutation import Bindings
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in, statements_in


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
    spec, decorated = inner.args, decorator.args.args[0].arg
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
        one for one in nodes_in(inner) if isinstance(one, ast.Call) and _named(one.func, decorated)
    ]
    handed = ", ".join([*names, *([f"*{more[0]}", f"**{more[1]}"] if more else [])])
    if len(passed) != 1 or ast.dump(passed[0]) != ast.dump(
        ast.parse(f"{decorated}({handed})", mode="eval").body
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
