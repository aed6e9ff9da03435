"""Stores: what a file assigns to an attribute of the objects of a class under other names than
`self`: `model.floor = 0.0`, `setattr(model, name, value)`, `vars(model).update(settings)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from tfnanlint.program.functions import ClassObject, Instance
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Assigned, Binding, Fixed, Point
from tfnanlint.syntax.access_paths import path_of
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value, unknown

_SETTERS: Final = ("setattr", "__setattr__")
_DICTS: Final = ("vars", "__dict__")


def assigned(ev: Evaluator, cls: ClassObject, attr: str) -> list[Binding]:
    """What the file of a class assigns to an attribute of its objects, or of something that may be
    one, under other names than `self`.
    """
    stores = [*_by_statements(ev, cls, attr), *_by_setters(ev, cls, attr, cls.module)]
    return list(dict.fromkeys(stores))


def is_assigned(ev: Evaluator, cls: ClassObject, attr: str, module: Module) -> bool:
    """Whether a file assigns an attribute of that name under other names than `self`."""
    return module.source.assigns_outside(attr) or any(_by_setters(ev, cls, attr, module))


def _by_statements(ev: Evaluator, cls: ClassObject, attr: str) -> Iterator[Binding]:
    module = cls.module
    for target in module.source.assigned_outside(attr):
        scope = module.scope_of_row(target.lineno, ev)
        if scope is None:
            continue
        owner = path_of(target.value)
        if owner is None:
            if _may_hold(ev, target.value, Point(scope), cls):
                yield Fixed(unknown())
            continue
        entry = scope.history.get(f"{owner}.{attr}")
        for binding in entry.bindings() if entry is not None else ():
            if isinstance(binding, Assigned) and _may_hold(ev, target.value, binding.point, cls):
                yield binding


def _by_setters(ev: Evaluator, cls: ClassObject, attr: str, module: Module) -> Iterator[Binding]:
    """What calls set that compute, or hold in a text, the name of an attribute."""
    source = module.source
    for name in _SETTERS if source.holds(_SETTERS) else ():
        for call, point in module.calls_to(name, ev):
            owner, *rest = _set_by(call)
            if len(rest) != 2 or not _is_another(ev, owner, point, cls):
                continue
            if not isinstance(rest[0], ast.Constant):
                yield Fixed(unknown())
            elif rest[0].value == attr:
                yield Assigned(rest[1], point)
    if module.opened is None:  # every attribute of its classes asks
        module.opened = list(_opened(ev, module))
    for owner, point in module.opened:
        if _is_another(ev, owner, point, cls):
            yield Fixed(unknown())


def _opened(ev: Evaluator, module: Module) -> Iterator[tuple[ast.expr, Point]]:
    """The objects whose `__dict__` a file names, as `x.__dict__` or `vars(x)`."""
    source = module.source
    for name in _DICTS if source.holds(_DICTS) else ():
        for place in source.occurrences(name):
            node: Any = place.node
            around: Any = place.around[0] if place.around else node
            if isinstance(node, ast.Attribute):
                owner = node.value
            elif isinstance(around, ast.Call) and around.func is node and len(around.args) == 1:
                owner = around.args[0]
            else:
                continue
            points = [
                point
                for expression, point in module.expressions(node.lineno, ev)
                if expression is node or node in nodes_in(expression)
            ]
            scope = module.scope_of_row(node.lineno, ev)
            points += [Point(scope)] if scope is not None and not points else []
            yield from [(owner, point) for point in points]


def _set_by(call: ast.Call) -> list[ast.expr]:
    """The object, the name and the value of `setattr(x, name, value)`, of
    `x.__setattr__(name, value)` and of `object.__setattr__(x, name, value)`.
    """
    if isinstance(call.func, ast.Attribute) and len(call.args) == 2:
        return [call.func.value, *call.args]
    return call.args or [call.func]


def _is_another(ev: Evaluator, owner: ast.expr, point: Point, cls: ClassObject) -> bool:
    """Whether an expression is an object of a class, seen from outside of its methods."""
    if isinstance(owner, ast.Name) and owner.id == "self":
        return False
    return _is_of(ev, ev.evaluate(owner, point), cls)


def _may_hold(ev: Evaluator, owner: ast.expr, point: Point, cls: ClassObject) -> bool:
    """Whether an expression is an object of a class, or something of which nothing is known."""
    value = ev.evaluate(owner, point)
    is_open = value.obj is None and value.kind == "unknown" and not value.known
    return is_open or _is_of(ev, value, cls)


def _is_of(ev: Evaluator, value: Value, cls: ClassObject) -> bool:
    """Whether a value is an object of a class, of one that inherits from it or of a base."""
    held = value.obj
    return isinstance(held, Instance) and (
        cls in ev.lineage(held.cls) or held.cls in ev.lineage(cls)
    )
