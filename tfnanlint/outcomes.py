"""Outcomes: what the tests in a function come to, where the call that is being followed decides it."""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.calls import Handed, Instance
from tfnanlint.conditions import path_of, root_of
from tfnanlint.names import canonical
from tfnanlint.ops import TABLE
from tfnanlint.scopes import Assigned, Binding, Fixed, Imported, Point, unrefined

_NEVER_NONE = (ast.BinOp, ast.Compare, ast.Lambda, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr, ast.ListComp, ast.DictComp, ast.SetComp)

_MAY_GIVE_NONE = ("get", "constant_value", "dimension_value", "Dimension", "print", "assert", "next", "shuffle", "seed", "fill", "gradient")


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
            if given is not None and isinstance(given.node, ast.Constant):
                return bool(given.node.value)
            return True if given is not None and (isinstance(given.node, ast.Lambda) or _named_function(given.node, given.point)) else None
    return None


def _is(given: Assigned, value: Any) -> bool | None:
    """Whether what is written in a call is a constant."""
    node = given.node
    if isinstance(node, ast.Constant) and (type(node.value) is type(value) or value is None or node.value is None):
        return bool(node.value == value)
    return False if value is None and _never_none(node, given.point) else None


def _never_none(node: ast.expr, point: Point) -> bool:
    """Whether an expression gives something, by its form: a function of TensorFlow or what that gives, a function or class of the program."""
    if isinstance(node, _NEVER_NONE):
        return True
    if not isinstance(node, ast.Call):
        return _named_function(node, point)
    name = _imported(node.func, point)
    return name in TABLE and not name.rpartition(".")[2].startswith(_MAY_GIVE_NONE)


def _named_function(node: ast.expr, point: Point) -> bool:
    """Whether an expression is the name of a function of TensorFlow, or of a function or class of the program."""
    if _imported(node, point) in TABLE:
        return True
    binding = unrefined(point.lookup(node.id)) if isinstance(node, ast.Name) else None
    made = binding._value if isinstance(binding, Fixed) else None
    return made is not None and made.kind in ("function", "class")


def _imported(node: ast.expr, point: Point) -> str:
    """The canonical name that a name or attribute chain has by an import; "" without one."""
    path = path_of(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    binding = unrefined(point.lookup(root_of(path))) if path is not None else None
    if path is None or not isinstance(binding, Imported) or binding.level:
        return ""
    return canonical(binding.dotted + path[len(root_of(path)):])


def _handed(name: ast.Name | ast.Attribute, point: Point) -> Assigned | None:
    """What a call that is being followed hands over under a name, or the call that made the object whose attribute this is, as it is
    written there; None where it is neither."""
    given = _given(name, point)
    if not isinstance(given, Assigned):
        return None
    before = _handed(given.node, given.point) if isinstance(given.node, (ast.Name, ast.Attribute)) else None
    return before or given


def _given(name: ast.Name | ast.Attribute, point: Point) -> Binding | None:
    node = name.value if isinstance(name, ast.Attribute) else name
    binding = unrefined(point.lookup(node.id)) if isinstance(node, ast.Name) else None
    given = unrefined(binding.binding) if isinstance(binding, Handed) else None
    if not isinstance(name, ast.Attribute):
        return given
    owner = given._value.obj if isinstance(given, Fixed) and given._value is not None else None
    return unrefined(owner.given.get(name.attr)) if isinstance(owner, Instance) else None
