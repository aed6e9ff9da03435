"""Choices: the branches that a program never takes, because they depend on a parameter that is the
same constant in every call.

Nothing is evaluated but constants. A parameter is known of a function that is defined once, that
has no decorator, that never binds the parameter anew, and that the program calls by its name alone.
Attributes, names of the file and all other expressions are not known.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final

from tfnanlint.project.names import Names, Node, TooMany
from tfnanlint.project.outline_entries import Definition, Use
from tfnanlint.project.outlines import TOP
from tfnanlint.syntax.nodes import blocks_of

_MAX_WRITTEN: Final = 40  # characters of a condition in a reason
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_LEAVING: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_CONSTANTS: Final = (type(None), bool, int, float, str)
_EITHER: Final = frozenset((True, False))

Place = tuple[int, int]  # a row and a column
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
        self._layouts: dict[str, _Layout] = {}
        self._outcomes: dict[tuple[str, ast.expr], frozenset[bool]] = {}
        self._parameters: dict[tuple[str, str, str], Values | None] = {}

    def never(self, path: str, row: int, column: int = 0) -> str:
        """Why the program never takes the branch that a place stands in; "" where it may. Of a row
        alone nothing is said where the condition stands on it, too.
        """
        for branch in self._layout(path).around((row, column)):
            if branch.truth not in self._outcome(path, branch):
                word = "false" if branch.truth else "true"
                return f"in this program {_written(branch.test)} is always {word}"
        return ""

    def _layout(self, path: str) -> _Layout:
        tree = self._names.outline(path).tree
        layout = self._layouts.get(path)
        if layout is None or layout.tree is not tree:
            layout = self._layouts[path] = _Layout(tree)
        return layout

    def _outcome(self, path: str, branch: _Branch) -> frozenset[bool]:
        """What the condition of a branch may come to."""
        key = path, branch.test
        if key not in self._outcomes:
            try:
                self._outcomes[key] = self._truths(branch.test, (path, branch.owner))
            except _Unknown:
                self._outcomes[key] = _EITHER
            except TooMany:
                return _EITHER
        return self._outcomes[key]

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
        return frozenset((left[1] == other[1]) is not negated for left, other in pairs)

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
        files = self._names.holding(definition.name)
        layouts = [self._layout(one) for one in (files if is_method else [path])]
        if sum(layout.defined[definition.name] for layout in layouts) != 1:
            return False
        if node.decorator_list or any(self._names.outline(one).is_words for one in files):
            return False
        if is_method and not self._is_childless(path, definition.parent):
            return False
        if not is_method and definition.parent != TOP:
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


class _Branch:
    """What stands between two places and depends on a condition: what that has to be, and the
    function around it. `outer` is the number of the branch around it, -1 where there is none.
    """

    __slots__ = ("begin", "end", "test", "truth", "owner", "outer")

    def __init__(self, begin: ast.AST, end: ast.AST, test: ast.expr, truth: bool, owner: str):
        self.begin = _end_of(begin)
        self.end = _end_of(end)
        self.test = test
        self.truth = truth
        self.owner = owner
        self.outer = -1


class _Layout:
    """The branches of a file, its functions by their qualified names, and how often it defines a
    name.
    """

    def __init__(self, tree: ast.Module):
        self.tree = tree
        self.functions: dict[str, Any] = {}
        self.defined: Counter[str] = Counter()
        self._branches: list[_Branch] = []
        waiting: list[tuple[list[ast.stmt], str, str]] = [(tree.body, TOP, "")]
        for block, owner, of_class in waiting:  # it grows on the way
            for node in block:
                inside = owner, of_class
                if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                    inside = self._define(node, owner, of_class)
                waiting += [(inner, *inside) for inner in blocks_of(node)]
                self._branches += _branches(node, block[-1], owner)
        self._branches.sort(key=lambda branch: branch.begin)
        self._begins = [branch.begin for branch in self._branches]
        self._nest()

    def _define(self, node: Any, owner: str, of_class: str) -> tuple[str, str]:
        """Note a definition; the function and the class around what stands in it."""
        name = f"{of_class or owner}.{node.name}".lstrip(".")
        self.defined[node.name] += 1
        if isinstance(node, ast.ClassDef):
            return owner, name
        self.functions[name] = node
        return name, ""

    def _nest(self) -> None:
        around: list[int] = []
        for number, branch in enumerate(self._branches):
            while around and self._branches[around[-1]].end <= branch.begin:
                around.pop()
            branch.outer = around[-1] if around else -1
            around.append(number)

    def around(self, place: Place) -> Iterator[_Branch]:
        """The branches that a place stands in."""
        number = bisect_left(self._begins, place) - 1
        while number >= 0:
            branch = self._branches[number]
            if place <= branch.end:
                yield branch
            number = branch.outer


def _branches(node: ast.stmt, last: ast.stmt, owner: str) -> Iterator[_Branch]:
    """The branches of a statement, and what follows it in its block if its body leaves that."""
    if not isinstance(node, (ast.If, ast.While)):
        return
    yield _Branch(node.test, node.body[-1], node.test, True, owner)
    if node.orelse:
        yield _Branch(node.body[-1], node.orelse[-1], node.test, False, owner)
    elif isinstance(node, ast.If) and isinstance(node.body[-1], _LEAVING) and node is not last:
        yield _Branch(node, last, node.test, False, owner)


def _end_of(node: Any) -> Place:
    return node.end_lineno, node.end_col_offset


def _written(test: ast.expr) -> str:
    text = ast.unparse(test)
    return f"`{text}`" if len(text) <= _MAX_WRITTEN else "the condition of this branch"


def _constant(node: ast.expr) -> Value:
    """The constant that is written there."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = getattr(node.operand, "value", None)
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
