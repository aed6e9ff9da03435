"""Whether anything that runs a function takes a gradient, as far as its callers are seen.

They are followed through the files of the project to the scripts that start them. What a caller
keeps may still be differentiated by others: an answer makes a note of a warning, nothing more.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tfnanlint.conventions.roles import takers_of_gradients, takes_training_step
from tfnanlint.gradients.forward import modules_with
from tfnanlint.program.functions import Function
from tfnanlint.program.scope import Point, Scope
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.uses.uses import calls_of

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine
    from tfnanlint.program.module import Module

_MAX_FUNCTIONS: Final = 40  # that lead from scripts to one site


def untaken(point: Point, interpreter: Engine) -> str:
    """Why no gradient is in sight of what stands at a point; "" where one may be taken, or where
    no script of another file is seen to run it.
    """
    start = _function_of(point.scope)
    if start is None or not interpreter.session.sees_callers:
        return ""
    scripts: set[str] = set()
    queue, seen = [start], {start.node}
    while queue:
        function = queue.pop()
        if len(seen) > _MAX_FUNCTIONS or _may_take(function.module, function.node, interpreter):
            return ""
        if _is_handed_on(function, interpreter):
            return ""
        for _, where in calls_of(function, interpreter):
            caller, module = _function_of(where.scope), where.scope.module
            if caller is None:
                if _may_take(module, module.source.tree, interpreter):
                    return ""
                scripts.add(module.source.path)
            elif caller.node not in seen:
                seen.add(caller.node)
                queue.append(caller)
    if scripts <= {start.module.source.path}:
        return ""
    return f"nothing that calls `{start.name}` takes a gradient, as far as its callers are seen"


def _function_of(scope: Scope | None) -> Function | None:
    """The function of a scope; of a lambda, the one around it."""
    while scope is not None and isinstance(scope.node, ast.Lambda):
        scope = scope.parent.scope if scope.parent is not None else None
    return scope.function if scope is not None else None


def _is_handed_on(function: Function, interpreter: Engine) -> bool:
    """Whether others may call a function: those of a library, or what is handed it as a value."""
    if function.owner is not None and interpreter.foreign_bases(function.owner):
        return True
    modules, are_all = modules_with(function.name, function.module)
    return (
        modules is None
        or not are_all
        or interpreter.escapes(function)
        or any(loads_uncalled(one, function.name) for one in modules)
    )


def loads_uncalled(module: Module, name: str) -> bool:
    """Whether a file loads a name that it imports, or an attribute of that name, and does not call
    it, or gives it another name.
    """
    nodes = nodes_in(module.source.tree) if module.source.rows_using(name) else ()
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    imports = [node for node in nodes if isinstance(node, ast.alias) and node.name == name]
    return any([node.asname for node in imports]) or any(
        (isinstance(node, ast.Name) and imports or isinstance(node, ast.Attribute))
        and isinstance(node.ctx, ast.Load)
        and leaf(node) == name
        and id(node) not in called
        for node in nodes
    )


def _may_take(module: Module, code: ast.AST, interpreter: Engine) -> bool:
    """Whether a file names what takes gradients, or some code in it hands something on to what may
    take one: a function of such a file, or one that is not seen and named for it.
    """
    if _names_taker(module):
        return True
    calls = [node for node in nodes_in(code) if isinstance(node, ast.Call)]
    names = {leaf(call.func) or "" for call in calls if call.args or call.keywords}
    return any(
        call in calls and _is_taker(interpreter.targets(call, point))
        for name in filter(takes_training_step, names)
        for call, point in module.calls_to(name, interpreter)
    )


def _is_taker(targets: list[Function]) -> bool:
    return not targets or any(_names_taker(target.module) for target in targets)


def _names_taker(module: Module) -> bool:
    takers = takers_of_gradients(module.source.text)
    return bool(takers) and not module.source.names.isdisjoint(takers)
