"""Static conditions: what the tests in a function come to, where the call that is being followed
decides it.
"""

from __future__ import annotations

import ast
from typing import Any, Callable, Final

from tfnanlint.ops.frameworks import BACKENDS
from tfnanlint.ops.names import of_import
from tfnanlint.ops.table import TABLE
from tfnanlint.program.functions import Handed, Instance
from tfnanlint.program.scope import Assigned, Binding, Fixed, Imported, Point, unrefined
from tfnanlint.syntax.access_paths import path_of, root_of
from tfnanlint.syntax.nodes import ATTRIBUTE, CONSTANT, NAME

_WRITTEN = (
    ast.BinOp,
    ast.Compare,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Set,
    ast.JoinedStr,
    ast.ListComp,
    ast.DictComp,
    ast.SetComp,
)
_NEVER_NONE, _NEVER_CALLED = (*_WRITTEN, ast.Lambda), (*_WRITTEN, ast.Constant)
_TYPES = frozenset("str int float bool complex bytes list tuple dict set".split())
_MAY_GIVE_NONE = (
    "get",
    "constant_value",
    "dimension_value",
    "Dimension",
    "print",
    "assert",
    "next",
    "shuffle",
    "seed",
    "fill",
    "gradient",
)


def outcome(test: ast.expr, point: Point) -> bool | None:
    """What a test comes to, where what is written at the call being followed decides it:
    `mask is not None` where none is given.
    """
    of_kind = _OUTCOMES.get(type(test))
    return of_kind(test, point) if of_kind is not None else None


def _of_constant(test: ast.Constant, point: Point) -> bool | None:
    return bool(test.value)


def _of_inverse(test: ast.UnaryOp, point: Point) -> bool | None:
    truth = outcome(test.operand, point) if isinstance(test.op, ast.Not) else None
    return None if truth is None else not truth


def _of_both(test: ast.BoolOp, point: Point) -> bool | None:
    outcomes = [outcome(value, point) for value in test.values]
    settling = isinstance(test.op, ast.Or)
    return settling if settling in outcomes else None if None in outcomes else not settling


def _of_path(test: Any, point: Point) -> bool | None:
    argument = _handed(test, point)
    if argument is not None and isinstance(argument.node, ast.Constant):
        return bool(argument.node.value)
    return True if argument is not None and _function(argument) else None


def _of_comparison(test: ast.Compare, point: Point) -> bool | None:
    left: Any = test.left
    relation, right = type(test.ops[0]), test.comparators[0]
    if len(test.ops) > 1:
        return None
    if _names_backend(left, point):
        return _of_backend(relation, right, point)
    if type(left) not in _PATHS:
        return None
    if relation in _SAME and type(right) is CONSTANT:
        argument = _handed(left, point)
        same = _is(argument, right.value) if argument is not None else None
        return None if same is None else same is _SAME[relation]
    if relation in _AMONG:
        argument = _handed(left, point)
        stands = (
            argument is not None
            and isinstance(argument.node, ast.Constant)
            and argument.node.value in _listed(right, point)
        )
        return _AMONG[relation] if stands else None
    return None


def _of_backend(relation: type, right: Any, point: Point) -> bool | None:
    """What a test of the name of Keras's backend comes to under TensorFlow."""
    if relation in _SAME and isinstance(right, ast.Constant):
        return (right.value == "tensorflow") is _SAME[relation]
    names = _listed(right, point) if relation in _AMONG else []
    return ("tensorflow" in names) is _AMONG[relation] if names else None


def _names_backend(node: ast.expr, point: Point) -> bool:
    """Whether an expression is `K.backend()`, or the name that this has."""
    if type(node) is NAME:
        binding = unrefined(point.lookup(node.id))
        if not isinstance(binding, Assigned):
            return False
        node, point = binding.node, binding.point
    return isinstance(node, ast.Call) and _imported(node.func, point) in BACKENDS


def _of_call(test: ast.Call, point: Point) -> bool | None:
    args: list[Any] = test.args
    asked = test.func.id if type(test.func) is NAME else ""
    if (
        asked not in ("callable", "isinstance")
        or test.keywords
        or not args
        or type(args[0]) not in _PATHS
    ):
        return None
    argument, kinds = _handed(args[0], point) if point.lookup(asked) is None else None, args[1:]
    if argument is None or len(kinds) != (asked == "isinstance"):
        return None
    return _is_one_of(argument, kinds[0]) if kinds else _callable(argument)


_PATHS: Final = frozenset((ast.Name, ast.Attribute))
_SAME: Final[dict[type, bool]] = {ast.Is: True, ast.Eq: True, ast.IsNot: False, ast.NotEq: False}
_AMONG: Final[dict[type, bool]] = {ast.In: True, ast.NotIn: False}
_OUTCOMES: Final[dict[type, Callable[[Any, Point], bool | None]]] = {
    ast.Constant: _of_constant,
    ast.UnaryOp: _of_inverse,
    ast.BoolOp: _of_both,
    ast.Name: _of_path,
    ast.Attribute: _of_path,
    ast.Compare: _of_comparison,
    ast.Call: _of_call,
}


def _function(argument: Assigned) -> bool:
    return isinstance(argument.node, ast.Lambda) or _named_function(argument.node, argument.point)


def _callable(argument: Assigned) -> bool | None:
    """Whether what is written in a call can be called."""
    return (
        False if isinstance(argument.node, _NEVER_CALLED) else True if _function(argument) else None
    )


def _is_one_of(argument: Assigned, kinds: ast.expr) -> bool | None:
    """Whether what is written in a call is of a type that Python has: of what else there are,
    constants and functions may be, too.
    """
    named = [
        one.id if isinstance(one, ast.Name) else ""
        for one in (kinds.elts if isinstance(kinds, ast.Tuple) else [kinds])
    ]
    if isinstance(argument.node, ast.Constant):
        own = [kind.__name__ for kind in type(argument.node.value).__mro__[:-1]]  # True is an int
        if any(name in own for name in named):
            return True
    elif not _function(argument):
        return None
    return False if all(name in _TYPES for name in named) else None


def _listed(node: ast.expr, point: Point) -> list[Any]:
    """The constants that are written in a list, a tuple, a set or as the keys of a dict, under a
    name or there.
    """
    binding = unrefined(point.lookup(node.id)) if isinstance(node, ast.Name) else None
    written = binding.node if isinstance(binding, Assigned) else node
    keys = (
        written.keys
        if isinstance(written, ast.Dict)
        else written.elts
        if isinstance(written, (ast.List, ast.Tuple, ast.Set))
        else []
    )
    return [key.value for key in keys if isinstance(key, ast.Constant)]


def _is(argument: Assigned, value: Any) -> bool | None:
    """Whether what is written in a call is a constant."""
    node = argument.node
    if isinstance(node, ast.Constant) and (
        type(node.value) is type(value) or value is None or node.value is None
    ):
        return bool(node.value == value)
    return False if value is None and _never_none(node, argument.point) else None


def _never_none(node: ast.expr, point: Point) -> bool:
    """Whether an expression gives something, by its form: a function of TensorFlow or what that
    gives, a function or class of the program.
    """
    if isinstance(node, _NEVER_NONE):
        return True
    if not isinstance(node, ast.Call):
        return _named_function(node, point)
    name = _imported(node.func, point)
    return name in TABLE and not name.rpartition(".")[2].startswith(_MAY_GIVE_NONE)


def _named_function(node: ast.expr, point: Point) -> bool:
    """Whether an expression is the name of a function of TensorFlow, or of a function or class of
    the program.
    """
    if _imported(node, point) in TABLE:
        return True
    binding = unrefined(point.lookup(node.id)) if isinstance(node, ast.Name) else None
    value = binding.kept if isinstance(binding, Fixed) else None
    return value is not None and value.kind in ("function", "class")


def _imported(node: ast.expr, point: Point) -> str:
    """The canonical name that a name or attribute chain has by an import; "" without one."""
    path = path_of(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    binding = unrefined(point.lookup(root_of(path))) if path is not None else None
    if path is None or not isinstance(binding, Imported) or binding.level:
        return ""
    return of_import(binding.dotted + path[len(root_of(path)) :])


def _handed(name: ast.Name | ast.Attribute, point: Point) -> Assigned | None:
    """What a call that is being followed hands over under a name, or the call that made the object
    whose attribute this is, as it is written there; None where it is neither.
    """
    argument = _given(name, point)
    if not isinstance(argument, Assigned):
        return None
    # `self.norm = LayerNormalization() if norm else None`
    while isinstance(argument.node, ast.IfExp):
        chosen = outcome(argument.node.test, argument.point)
        if chosen is None:
            return argument
        argument = Assigned(argument.node.body if chosen else argument.node.orelse, argument.point)
    before = (
        _handed(argument.node, argument.point)
        if isinstance(argument.node, (ast.Name, ast.Attribute))
        else None
    )
    return before or argument


def _given(name: ast.Name | ast.Attribute, point: Point) -> Binding | None:
    node: Any = name.value if type(name) is ATTRIBUTE else name
    binding = unrefined(point.lookup(node.id)) if type(node) is NAME else None
    if not isinstance(binding, Handed):
        return None
    argument = unrefined(binding.binding)
    if node is name:
        return argument
    owner = argument.kept.obj if isinstance(argument, Fixed) and argument.kept is not None else None
    return unrefined(owner.given.get(name.attr)) if isinstance(owner, Instance) else None
