"""Choices: the branches that a program never takes, because they depend on a parameter that is the
same constant in every call.

Nothing is evaluated but constants. A parameter is known of a function that is defined once, that
has no decorator, that never binds the parameter anew, and that the program calls by its name alone.
Attributes, names of the file and all other expressions are not known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final

from tfnanlint.project.branches import Branch, Layout
from tfnanlint.project.names import Names, Node, TooMany
from tfnanlint.project.outline_entries import Definition, Use
from tfnanlint.project.outlines import TOP

_MAX_WRITTEN: Final = 40  # characters of a condition in a reason
_CONSTANTS: Final = (type(None), bool, int, float, str)
_EITHER: Final = frozenset((True, False))

Value = tuple[type, Any]  # a constant, with its type: 0 is not False
Values = frozenset[Value]


class _Unknown(Exception):
    """Something is not seen on which a value depends."""


class Choices:
    """Which branches the program of a file never takes. `is_called_unseen` says whether code may
    call a definition that does not load its name.
    """

    def __init__(self, names: Names, is_called_unseen: Callable[[str, Definition], bool]):
        self._names = names
        self._is_called_unseen = is_called_unseen
        self._reasons: dict[Branch, str] = {}  # those of the branches around each, too
        self._parameters: dict[tuple[str, str, str], Values | None] = {}

    def never(self, path: str, row: int, column: int = 0) -> str:
        """Why the program never takes the branch that a place stands in; "" where it may. Of a row
        alone nothing is said where the condition stands on it, too.
        """
        passed: list[Branch] = []
        reason = ""
        try:
            for branch in self._layout(path).around((row, column)):
                known = self._reasons.get(branch)
                reason = known if known is not None else self._reason(path, branch)
                passed.append(branch)
                if reason or known is not None:
                    break
        except TooMany:
            return ""
        self._reasons.update(dict.fromkeys(passed, reason))
        return reason

    def _reason(self, path: str, branch: Branch) -> str:
        """Why a branch is never taken by itself; "" where it may be."""
        try:
            truths = self._truths(branch.test, (path, branch.owner))
        except _Unknown:
            return ""
        if branch.truth in truths:
            return ""
        word = "false" if branch.truth else "true"
        return f"in this program {_written(branch.test)} is always {word}"

    def _layout(self, path: str) -> Layout:
        """The branches of a file, found once for all questions."""
        outline = self._names.outline(path)
        if outline.layout is None:
            outline.layout = Layout(outline.tree)
        layout: Layout = outline.layout
        return layout

    # Conditions

    def _truths(self, test: ast.expr, place: Node) -> frozenset[bool]:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return frozenset(not one for one in self._truths(test.operand, place))
        if isinstance(test, ast.BoolOp):
            return self._joined(test, place)
        if isinstance(test, ast.Compare):
            return self._comparison(test, place)
        return frozenset(bool(value) for _, value in self._values(test, place))

    def _joined(self, test: ast.BoolOp, place: Node) -> frozenset[bool]:
        """What `a and b` or `a or b` comes to: one part may decide it."""
        settling = isinstance(test.op, ast.Or)
        known: list[frozenset[bool]] = []
        for part in test.values:
            try:
                truths = self._truths(part, place)
            except _Unknown:
                truths = _EITHER
            if truths == {settling}:
                return truths
            known.append(truths)
        return (
            _EITHER if any(settling in truths for truths in known) else frozenset((not settling,))
        )

    def _comparison(self, test: ast.Compare, place: Node) -> frozenset[bool]:
        if len(test.ops) > 1:
            raise _Unknown
        operator, right = test.ops[0], test.comparators[0]
        if isinstance(operator, (ast.Is, ast.IsNot)):
            if not isinstance(right, ast.Constant) or right.value is not None:
                raise _Unknown
        elif not isinstance(operator, (ast.Eq, ast.NotEq)):
            raise _Unknown
        negated = isinstance(operator, (ast.IsNot, ast.NotEq))
        pairs = product(self._values(test.left, place), self._values(right, place))
        return frozenset((first[1] == second[1]) is not negated for first, second in pairs)

    def _values(self, node: ast.expr, place: Node) -> Values:
        if not isinstance(node, ast.Name):
            return frozenset((_constant(node),))
        key = *place, node.id
        if key not in self._parameters:
            try:
                self._parameters[key] = self._received(place, node.id)
            except _Unknown:
                self._parameters[key] = None
        values = self._parameters[key]
        if values is None:
            raise _Unknown
        return values

    # Parameters

    def _received(self, place: Node, parameter: str) -> Values:
        """What the calls of a function pass for a parameter."""
        path, name = place
        node = self._layout(path).functions.get(name)
        definition = self._names.definition(place)
        if node is None or definition is None:
            raise _Unknown
        is_method = self._names.is_method(path, definition)
        if parameter not in _parameters(node.args)[is_method:] or _is_bound(node, parameter):
            raise _Unknown
        if not self._is_seen(path, definition, node):
            raise _Unknown
        values = {
            value
            for file, use in self._names.uses_of(place, definition)
            for value in self._passed(file, use, node, parameter, is_method)
        }
        if not values:
            raise _Unknown
        return frozenset(values)

    def _passed(
        self, path: str, use: Use, node: Any, parameter: str, is_method: bool
    ) -> Iterator[Value]:
        """What a call passes for a parameter. The call of a method may pass its object, as that of
        an attribute of a class does: each way counts that the signature allows.
        """
        call = use.call
        if call is None or _is_spread(call) or self._names.outline(path).is_words:
            raise _Unknown
        fitting = [
            passed
            for skipped in ((1, 0) if is_method else (0,))
            if (passed := _bound_by(node.args, call, skipped)) is not None
        ]
        if not fitting:
            raise _Unknown
        for passed in fitting:
            if parameter not in passed:
                yield _constant(_defaults(node.args)[parameter])
            elif use.owner == TOP:
                raise _Unknown  # a script, which people change from run to run
            else:
                yield _constant(passed[parameter])

    def _is_seen(self, path: str, definition: Definition, node: Any) -> bool:
        """Whether all calls of a function are those that load its name."""
        is_method = self._names.is_method(path, definition)
        if node.decorator_list or not is_method and definition.parent != TOP:
            return False
        files = self._names.holding(definition.name)
        layouts = [self._layout(one) for one in (files if is_method else [path])]
        if sum(layout.defined[definition.name] for layout in layouts) != 1:
            return False
        if any(self._names.outline(one).is_words for one in files):
            return False
        if is_method and not self._is_childless(path, definition.parent):
            return False
        return not self._is_called_unseen(path, definition)

    def _is_childless(self, path: str, name: str) -> bool:
        """Whether other code only makes objects of a class, so that nothing inherits from it."""
        definition = self._names.definition((path, name))
        if definition is None or definition.parent != TOP:
            return False
        return all(
            use.call is not None or file == path and f"{use.owner}.".startswith(f"{name}.")
            for file, use in self._names.uses_of((path, name), definition)
        )


def _written(test: ast.expr) -> str:
    text = ast.unparse(test)
    return f"`{text}`" if len(text) <= _MAX_WRITTEN else "the condition of this branch"


def _constant(node: ast.expr) -> Value:
    """The constant that is written there."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value: Any = getattr(node.operand, "value", None)
        if isinstance(node.operand, ast.Constant) and type(value) in (int, float):
            return type(value), -value
    if isinstance(node, ast.Constant) and isinstance(node.value, _CONSTANTS):
        return type(node.value), node.value
    raise _Unknown


def _parameters(args: ast.arguments) -> list[str]:
    """The parameters that a call may name or count, in order."""
    return [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def _defaults(args: ast.arguments) -> dict[str, ast.expr]:
    places = [one.arg for one in (*args.posonlyargs, *args.args)]
    defaults = dict(zip(reversed(places), reversed(args.defaults)))
    for argument, default in zip(args.kwonlyargs, args.kw_defaults):
        if default is not None:
            defaults[argument.arg] = default
    return defaults


def _is_spread(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Starred) for one in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def _bound_by(args: ast.arguments, call: ast.Call, skipped: int) -> dict[str, ast.expr] | None:
    """What a call passes by the names of parameters, the first ones skipped; None where the
    signature does not allow the call.
    """
    places = [one.arg for one in (*args.posonlyargs, *args.args)][skipped:]
    names = _parameters(args)[skipped:]
    if len(call.args) > len(places) and args.vararg is None:
        return None
    passed = dict(zip(places, call.args))
    for keyword in call.keywords:
        if keyword.arg in names[max(len(args.posonlyargs) - skipped, 0) :]:
            passed[str(keyword.arg)] = keyword.value
        elif args.kwarg is None:
            return None
    defaults = _defaults(args)
    return passed if all(name in passed or name in defaults for name in names) else None


def _is_bound(function: ast.AST, name: str) -> bool:
    """Whether something in a function may bind a name, beside its parameters."""
    return any(name in _bound_at(node) for node in ast.walk(function) if node is not function)


def _bound_at(node: Any) -> list[str | None]:
    """The names that a node binds, or declares to be those of others: all nodes but plain names
    have them as a text.
    """
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.alias):
        return [node.asname or node.name.partition(".")[0]]
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return [*node.names]
    return [getattr(node, "name", None), getattr(node, "rest", None)]
