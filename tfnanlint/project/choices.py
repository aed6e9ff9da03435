"""Choices: the branches that a program never takes, because they depend on a parameter that is the
same constant in every call, or on an attribute that `__init__` makes of one.

Nothing is evaluated but constants, and parameters that a caller passes on. A parameter is known of
a function that its file defines once, that has no decorator, that never binds the parameter anew,
and that the program calls by its name alone, and in the functions inside of it; an attribute of a
class that the program does nothing with but make objects. Names of the file and all other
expressions are not known.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final

from tfnanlint.project.arguments import bound_by, defaults_of, is_spread, parameters
from tfnanlint.project.attributes import INIT, Attributes, parameter_of
from tfnanlint.project.bindings import is_bound
from tfnanlint.project.branches import FUNCTIONS, Branch, Layout, layout_of
from tfnanlint.project.names import Names, Node, TooMany
from tfnanlint.project.outline_entries import Definition, Use
from tfnanlint.project.outlines import TOP
from tfnanlint.project.programs import Program
from tfnanlint.syntax.access_paths import leaf

_MAX_WRITTEN: Final = 40  # characters of a condition in a reason
_CONSTANTS: Final = (type(None), bool, int, float, str)
_MAKERS: Final = frozenset(("__new__", "__init_subclass__", "__setattr__", "__getattribute__"))
_EITHER: Final = frozenset((True, False))

Value = tuple[type, Any]  # a constant, with its type: 0 is not False
Values = frozenset[Value]


class _Unknown(Exception):
    """Something is not seen on which a value depends."""


class Choices:
    """Which branches the program of a file never takes. `is_called_unseen` says whether code may
    call a definition that does not load its name.
    """

    def __init__(
        self,
        program: Program,
        names: Names,
        is_called_unseen: Callable[[str, Definition], bool],
    ):
        self._names = names
        self._attributes = Attributes(program, names)
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
        return layout_of(self._names.outline(path))

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
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return frozenset((_constant(node),))
        key = *place, ast.unparse(node)
        if key not in self._parameters:
            self._parameters[key] = None  # for what it is passed on to itself
            try:
                self._parameters[key] = self._found(node, place)
            except _Unknown:
                pass
        values = self._parameters[key]
        if values is None:
            raise _Unknown
        return values

    # Parameters

    def _found(self, node: ast.Name | ast.Attribute, place: Node) -> Values:
        """What calls pass for what a function loads."""
        if isinstance(node, ast.Name):
            return self._received(place, node.id)
        return self._kept(place, node)

    def _received(self, place: Node, parameter: str) -> Values:
        """What the calls of a function pass for a parameter."""
        path, name = place
        node = self._layout(path).functions.get(name)
        definition = self._names.definition(place)
        if node is None or definition is None:
            raise _Unknown
        if is_bound(node, parameter):
            raise _Unknown
        is_method = self._names.is_method(path, definition)
        if parameter not in parameters(node.args)[is_method:]:
            outer = self._names.function_around(path, name)  # of which this is a closure
            return self._received((path, outer), parameter)
        if not self._is_seen(path, definition, node):
            raise _Unknown
        skips = (1, 0) if is_method else (0,)
        values = {
            value
            for file, use in self._names.uses_of(place, definition)
            for value in self._passed(file, use, node, parameter, skips)
        }
        if not values:
            raise _Unknown
        return frozenset(values)

    def _kept(self, place: Node, node: ast.Attribute) -> Values:
        """What calls of a class pass for the parameter that an attribute of its objects is."""
        path, function = place
        owner, parameter = parameter_of(node, function, self._layout(path))
        cls = path, owner
        definition = self._names.definition(cls)
        if not parameter or definition is None or not self._is_made_here(cls, definition):
            raise _Unknown
        init = self._layout(path).functions[f"{owner}.{INIT}"]
        values = {
            value
            for file, use in self._names.uses_of(cls, definition)
            if use.call is not None
            for value in self._passed(file, use, init, parameter, (1,))
        }
        if not values or not self._attributes.is_parameter(cls, node.attr):
            raise _Unknown
        return frozenset(values)

    def _is_made_here(self, cls: Node, definition: Definition) -> bool:
        """Whether objects of a class are those that calls of its name make."""
        path, name = cls
        node = self._layout(path).classes[name]
        methods = [one for one in node.body if isinstance(one, FUNCTIONS)]
        if node.decorator_list or node.keywords or name in self._layout(path).repeated:
            return False
        if any(one.name in _MAKERS or _is_of_class(one) for one in methods):
            return False
        files = self._names.holding(definition.name)
        if any(self._names.outline(one).is_words for one in files):
            return False
        if sum(self._layout(one).defined[definition.name] for one in files) != 1:
            return False
        if self._is_called_unseen(path, definition):
            return False
        named = _named_in_super(node)
        return definition.parent == TOP and all(
            use.call is not None or use.node in named
            for _, use in self._names.uses_of(cls, definition)
        )

    def _passed(
        self, path: str, use: Use, node: Any, parameter: str, skips: tuple[int, ...]
    ) -> Iterator[Value]:
        """What a call passes for a parameter. The call of a method may pass its object, as that of
        an attribute of a class does: each way counts that the signature allows.
        """
        call = use.call
        if call is None or is_spread(call) or self._names.outline(path).is_words:
            raise _Unknown
        fitting = [
            passed
            for skipped in skips
            if (passed := bound_by(node.args, call, skipped)) is not None
        ]
        if not fitting:
            raise _Unknown
        for passed in fitting:
            if parameter not in passed:
                yield _constant(defaults_of(node.args)[parameter])
            elif use.owner == TOP:
                raise _Unknown  # a script, which people change from run to run
            else:
                yield from self._values(passed[parameter], (path, use.owner))

    def _is_seen(self, path: str, definition: Definition, node: Any) -> bool:
        """Whether all calls of a function are those that load its name."""
        is_method = self._names.is_method(path, definition)
        if node.decorator_list or not is_method and definition.parent != TOP:
            return False
        files = self._names.holding(definition.name)
        if self._layout(path).defined[definition.name] != 1:
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


def _is_of_class(method: Any) -> bool:
    """Whether a method gets the class itself, of which it may make objects."""
    return any("classmethod" in ast.unparse(one) for one in method.decorator_list)


def _named_in_super(cls: ast.ClassDef) -> set[ast.expr]:
    """Where a class names itself to find what it inherits: `super(Layer, self)`."""
    return {
        node.args[0]
        for node in ast.walk(cls)
        if isinstance(node, ast.Call) and node.args and leaf(node.func) == "super"
    }


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
