"""Registries: dicts in which decorators of the program keep functions (`@loss("wing")`), and what
is read from them (`LOSSES[name]`), in one file or in several.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tfnanlint.interp import names as resolution
from tfnanlint.program.functions import Function
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Assigned, Imported, Point, unrefined
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in, statements_in
from tfnanlint.values.evaluator import Evaluator

_DEPTH: Final = 3  # names and functions between a registry and what is read from it
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


class Entry(NamedTuple):
    """A place in a dict at the top level of a file; the key is None where it may be any."""

    module: Module
    name: str
    key: str | None

    def may_be(self, place: Entry) -> bool:
        """Whether two places may be the same."""
        if (self.module.source.path, self.name) != (place.module.source.path, place.name):
            return False
        return self.key == place.key or None in (self.key, place.key)


def entries_of(ev: Evaluator, function: Function) -> list[Entry]:
    """Where the decorators of a function keep it."""
    if function.owner is not None or isinstance(function.node, ast.Lambda):
        return []
    entries: list[Entry] = []
    for decorator in function.node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        registering = ev.evaluate(call.func if call is not None else decorator, function.point).obj
        if isinstance(registering, Function) and registering.point.scope.function is None:
            entries += _kept_by(ev, registering, call, function)
    return entries


def _kept_by(
    ev: Evaluator, registering: Function, call: ast.Call | None, function: Function
) -> list[Entry]:
    """Where a decorator, or what its call gives, keeps the function that it is handed."""
    if isinstance(registering.node, ast.Lambda):
        return []
    keepers = (
        [registering.node]
        if call is None
        else [one for one in registering.node.body if isinstance(one, _FUNCTIONS)]
    )
    stored = [
        (target, keeper)
        for keeper in keepers
        for statement in statements_in(keeper)
        if isinstance(statement, ast.Assign) and _is_first_parameter(statement.value, keeper)
        for target in statement.targets
        if isinstance(target, ast.Subscript)
    ]
    entries: list[Entry] = []
    for target, keeper in stored:
        held = _dict_at(ev, target.value, registering.point, (registering.node, keeper))
        if held is not None:
            entries.append(Entry(*held, _key(target.slice, registering, call, function)))
    return entries


def _is_first_parameter(value: ast.expr, keeper: Any) -> bool:
    names = [one.arg for one in keeper.args.args[:1]]
    return isinstance(value, ast.Name) and value.id in names


def _key(
    written: ast.expr, registering: Function, call: ast.Call | None, function: Function
) -> str | None:
    """The key under which a decorator keeps a function, where its text shows it."""
    if isinstance(written, ast.Attribute) and written.attr == "__name__":
        return function.name
    if call is None or not isinstance(written, ast.Name):
        return None
    arguments = {word.arg: word.value for word in call.keywords}
    arguments |= dict(zip([one.arg for one in registering.node.args.args], call.args))
    return _constant(arguments.get(written.id))


def _constant(node: ast.expr | None) -> str | None:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None


def calls_of_kept(ev: Evaluator, module: Module, name: str) -> Iterator[tuple[ast.Call, Point]]:
    """The calls in a file of what it looks up in a dict at its top level that holds something of a
    name: `LOSSES[kind](x)`, also by a name for what was looked up.
    """
    tables = {
        target.id
        for statement in module.source.tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict)
        if any([value is not None and leaf(value) == name for value in statement.value.values])
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for table in sorted(tables):
        yield from _calls_of_table(ev, module, table)


def _calls_of_table(ev: Evaluator, module: Module, table: str) -> Iterator[tuple[ast.Call, Point]]:
    for row in module.source.rows_using(table):
        for expression, point in module.expressions(row, ev):
            for node in nodes_in(expression):
                if isinstance(node, ast.Call) and _is_read_from(node.func, table):
                    yield node, point
    for node in nodes_in(module.source.tree):
        if isinstance(node, ast.Assign) and _is_read_from(node.value, table):
            for target in node.targets:
                yield from module.calls_to(leaf(target), ev) if leaf(target) else ()


def _is_read_from(node: ast.expr, table: str) -> bool:
    return isinstance(node, ast.Subscript) and leaf(node.value) == table


def looked_up(ev: Evaluator, read: ast.expr, point: Point, depth: int = _DEPTH) -> list[Entry]:
    """The places that an expression may be read from: `LOSSES[name]`, `LOSSES.get(name)`, a name
    for it, what a function of the program returns.
    """
    if isinstance(read, ast.Subscript):
        return _read(ev, read.value, read.slice, point)
    if isinstance(read, ast.Name):
        bound = unrefined(point.lookup(read.id))
        is_named = isinstance(bound, Assigned) and depth > 0
        return looked_up(ev, bound.node, bound.point, depth - 1) if is_named else []
    if not isinstance(read, ast.Call):
        return []
    if isinstance(read.func, ast.Attribute) and read.func.attr == "get" and read.args:
        return _read(ev, read.func.value, read.args[0], point)
    giving = ev.evaluate(read.func, point).obj
    if not isinstance(giving, Function) or isinstance(giving.node, ast.Lambda) or depth == 0:
        return []
    return [
        entry
        for returned in statements_in(giving.node)
        if isinstance(returned, ast.Return) and returned.value is not None
        for entry in looked_up(ev, returned.value, giving.point, depth - 1)
    ]


def _read(ev: Evaluator, holder: ast.expr, key: ast.expr, point: Point) -> list[Entry]:
    held = _dict_at(ev, holder, point, ())
    return [Entry(*held, _constant(key))] if held is not None else []


def _dict_at(
    ev: Evaluator, holder: ast.expr, point: Point, around: tuple[Any, ...]
) -> tuple[Module, str] | None:
    """The file at whose top level a dict stands, and its name there; `around` are the functions in
    which it is named, none of which may bind the name.
    """
    if isinstance(holder, ast.Attribute) and isinstance(holder.value, ast.Name):
        imported = unrefined(point.lookup(holder.value.id))
        module = resolution.exported(ev, imported) if isinstance(imported, Imported) else None
        return _at_top(ev, module, holder.attr) if isinstance(module, Module) else None
    if not isinstance(holder, ast.Name) or any(_binds(one, holder.id) for one in around):
        return None
    scope = point.scope
    while scope.parent is not None:
        if holder.id in scope.history:
            return None
        scope = scope.parent.scope
    return _at_top(ev, point.module, holder.id)


def _binds(function: Any, name: str) -> bool:
    spec = function.args
    parameters = (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
    return any(one.arg == name for one in parameters) or any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)
        for one in nodes_in(function)
    )


def _at_top(
    ev: Evaluator, module: Module, name: str, hops: int = _DEPTH
) -> tuple[Module, str] | None:
    """Where a name of a file is bound, through imports of the project."""
    bound = unrefined(module.scope.at(name)) if name in module.scope.history else None
    if not isinstance(bound, Imported):
        return (module, name) if bound is not None else None
    project = bound.module.project if bound.module is not None else None
    if project is None or hops == 0:
        return None
    exporter, rest = project.find(bound.dotted, bound.level, module.source.path)
    return _at_top(ev, exporter, rest, hops - 1) if exporter is not None and rest else None
