"""Outcomes: what the tests in a function come to, where the call that is being followed decides it."""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.calls import Handed, Instance
from tfnanlint.scopes import Assigned, Binding, Fixed, Point, unrefined

_NEVER_NONE = (ast.BinOp, ast.Compare, ast.Lambda, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr, ast.ListComp, ast.DictComp, ast.SetComp)


def outcome(test: ast.expr, point: Point) -> bool | None:
    """What a test comes to, where what is written at the call being followed decides it: `mask is not None` where none is given."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            found = outcome(inner, point)
            return None if found is None else not found
        case ast.BoolOp(op=operator, values=values):
            outcomes = [outcome(value, point) for value in values]
            settling = isinstance(operator, ast.Or)
            return settling if settling in outcomes else None if None in outcomes else not settling
        case ast.Compare(left=ast.Name() | ast.Attribute() as name, ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq() as relation], comparators=[ast.Constant(value=value)]):
            given = _handed(name, point)
            same = _is(given, value) if given is not None else None
            return None if same is None else same is isinstance(relation, (ast.Is, ast.Eq))
        case ast.Name() | ast.Attribute():
            given = _handed(test, point)
            return bool(given.value) if isinstance(given, ast.Constant) else None
    return None


def _is(given: ast.expr, value: Any) -> bool | None:
    """Whether what is written in a call is a constant."""
    if isinstance(given, ast.Constant) and (type(given.value) is type(value) or value is None or given.value is None):
        return bool(given.value == value)
    return False if value is None and isinstance(given, _NEVER_NONE) else None


def _handed(name: ast.Name | ast.Attribute, point: Point) -> ast.expr | None:
    """What a call that is being followed hands over under a name, or the call that made the object whose attribute this is, as it is
    written there; None where it is neither."""
    given = _given(name, point)
    if not isinstance(given, Assigned):
        return None
    before = _handed(given.node, given.point) if isinstance(given.node, (ast.Name, ast.Attribute)) else None
    return before or given.node


def _given(name: ast.Name | ast.Attribute, point: Point) -> Binding | None:
    node = name.value if isinstance(name, ast.Attribute) else name
    binding = unrefined(point.lookup(node.id)) if isinstance(node, ast.Name) else None
    given = unrefined(binding.binding) if isinstance(binding, Handed) else None
    if not isinstance(name, ast.Attribute):
        return given
    owner = given._value.obj if isinstance(given, Fixed) and given._value is not None else None
    return unrefined(owner.given.get(name.attr)) if isinstance(owner, Instance) else None
