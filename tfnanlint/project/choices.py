"""Choices: the branches that a program never takes, because they depend on a parameter that is the
same constant in every call, on an attribute that `__init__` makes of one, or on a name that is set
to constants alone, in a function or a module.

Nothing is evaluated but constants, and what a caller passes on. A parameter is known of a function
that its file defines once, and that the program calls by its name or hands to Keras, and in the
functions inside of it; an attribute of a class that the program does nothing with but make objects.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final

from tfnanlint.ops.frameworks import GRAPH_DECORATORS
from tfnanlint.project.arguments import (
    bound_by,
    defaults_of,
    every_parameter,
    is_spread,
    parameters,
)
from tfnanlint.project.assignments import Assigned, Assignments
from tfnanlint.project.attributes import INIT, Attributes, parameter_of
from tfnanlint.project.bindings import inside, is_bound, values_bound
from tfnanlint.project.branches import FUNCTIONS, Branch, Layout, layout_of
from tfnanlint.project.handed import handed_in, keeps_default
from tfnanlint.project.names import Names, Node, TooMany
from tfnanlint.project.options import Options
from tfnanlint.project.outline_entries import Definition, Use
from tfnanlint.project.outlines import TOP
from tfnanlint.project.programs import Program
from tfnanlint.project.records import Records, root_of
from tfnanlint.syntax.access_paths import leaf

_MAX_WRITTEN: Final = 40  # characters of a condition in a reason
_CONSTANTS: Final = (type(None), bool, int, float, str)
_MAKERS: Final = frozenset(("__new__", "__init_subclass__", "__setattr__", "__getattribute__"))
_STATIC: Final = "staticmethod"
# Decorators that leave the values of arguments alone.
_PLAIN_DECORATORS: Final = GRAPH_DECORATORS | {_STATIC}
_EITHER: Final = frozenset((True, False))
_COMPARED: Final[dict[type, Callable[[Any, Any], bool]]] = {
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

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
        self._program = program
        self._names = names
        self._attributes = Attributes(program, names)
        self._assignments = Assignments(program, names)
        self._options = Options(program, names, self._assignments)
        self._records = Records(program, names, self._assignments)
        self._is_called_unseen = is_called_unseen
        self._reasons: dict[Branch, str] = {}  # those of the branches around each, too
        self._handed: dict[str, set[ast.AST]] = {}  # by the path of a file
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
        kind, right = type(test.ops[0]), test.comparators[0]
        if kind in (ast.In, ast.NotIn):
            return self._membership(test, place)
        if kind in (ast.Is, ast.IsNot):
            if not isinstance(right, ast.Constant) or right.value is not None:
                raise _Unknown
        compare = _COMPARED[kind]
        pairs = product(self._values(test.left, place), self._values(right, place))
        try:
            return frozenset(compare(first[1], second[1]) for first, second in pairs)
        except TypeError as error:
            raise _Unknown from error

    def _membership(self, test: ast.Compare, place: Node) -> frozenset[bool]:
        """What `kind in ("sum", "mean")` comes to."""
        options = test.comparators[0]
        if not isinstance(options, (ast.Tuple, ast.List, ast.Set)) or not options.elts:
            raise _Unknown
        negated = isinstance(test.ops[0], ast.NotIn)
        values = self._values(test.left, place)
        listed = [self._values(option, place) for option in options.elts]
        if any(len(option) != 1 for option in listed):
            raise _Unknown
        plain = [value for option in listed for _, value in option]
        return frozenset((value in plain) is not negated for _, value in values)

    def _values(self, node: ast.expr, place: Node) -> Values:
        if isinstance(node, ast.IfExp):
            return self._values(node.body, place) | self._values(node.orelse, place)
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
        path, root = place[0], root_of(node)
        if not root or not self._is_free(root, place):
            return self._kept(place, node)
        if isinstance(node.value, ast.Name):
            offered = self._options.of_attribute(path, root, node.attr)
            if offered:
                return frozenset(_constant(one) for _, one in offered)
        assigned = self._records.of_attribute(path, root, node)
        if not assigned and isinstance(node.value, ast.Name):
            assigned = self._assignments.of_attribute(path, root, node.attr)
        return self._joined_values(assigned)

    def _is_free(self, name: str, place: Node) -> bool:
        """Whether a name is that of a module: no function around a place binds it."""
        path, owner = place
        while owner != TOP:
            function = self._layout(path).functions.get(owner)
            if function is None or name in every_parameter(function.args):
                return False
            if is_bound(function, name):
                return False
            owner = self._names.function_around(path, owner)
        return True

    def _received(self, place: Node, name: str) -> Values:
        """What a name may be in a function: what calls pass for a parameter, and what assignments
        bind it to.
        """
        path, function = place
        node = self._layout(path).functions.get(function)
        definition = self._names.definition(place)
        if function == TOP:
            return self._joined_values(self._assignments.of_name(path, name))
        if node is None or definition is None:
            raise _Unknown
        assigned = values_bound(inside(node), name)
        if assigned is None:
            raise _Unknown
        values = {value for one in assigned for value in self._values(one, place)}
        if name in parameters(node.args)[self._takes_object(path, definition, node) :]:
            values |= self._called_with(place, definition, node, name)
        elif name in every_parameter(node.args):
            raise _Unknown
        elif not assigned:
            outer = self._names.function_around(path, function)  # of which this is a closure
            return self._received((path, outer), name)
        return frozenset(values)

    def _joined_values(self, assigned: list[Assigned]) -> Values:
        if not assigned:
            raise _Unknown
        return frozenset(value for path, one in assigned for value in self._at_top(one, path))

    def _at_top(self, node: ast.expr, path: str) -> Values:
        """What an expression outside of definitions may be. A text that stands in a script names
        one of the ways that the program offers, which people change from run to run.
        """
        values = self._values(node, (path, TOP))
        is_written = not isinstance(node, (ast.Name, ast.Attribute))
        if is_written and self._names.outline(path).is_script:
            if any(kind is str for kind, _ in values):
                raise _Unknown
        return values

    def _called_with(
        self, place: Node, definition: Definition, node: Any, parameter: str
    ) -> Values:
        """What the calls of a function pass for a parameter."""
        path = place[0]
        if definition.name == INIT and self._names.is_method(path, definition):
            if self._program.sets_attribute(INIT) or node.decorator_list:
                raise _Unknown
            return self._constructed((path, definition.parent), parameter)
        if not self._is_seen(path, definition, node):
            raise _Unknown
        skips = (1, 0) if self._takes_object(path, definition, node) else (0,)
        is_inner = definition.parent != TOP and not self._names.is_method(path, definition)
        values = {
            value
            for file, use in self._names.uses_of(place, definition)
            if not is_inner or file == path
            for value in self._passed(file, use, place, parameter, skips)
        }
        if not values:
            raise _Unknown
        return frozenset(values)

    def _kept(self, place: Node, node: ast.Attribute) -> Values:
        """What calls of a class pass for the parameter that an attribute of its objects is."""
        path, function = place
        owner, parameter = parameter_of(node, function, self._layout(path))
        cls = path, owner
        if not parameter:
            raise _Unknown
        values = self._constructed(cls, parameter)
        if not self._attributes.is_parameter(cls, node.attr):
            raise _Unknown
        return values

    def _constructed(self, cls: Node, parameter: str) -> Values:
        """What calls of a class pass for a parameter of its `__init__`."""
        path, owner = cls
        definition = self._names.definition(cls)
        if definition is None or not self._is_made_here(cls, definition):
            raise _Unknown
        init = path, f"{owner}.{INIT}"
        values = {
            value
            for file, use in self._names.uses_of(cls, definition)
            if use.call is not None
            for value in self._passed(file, use, init, parameter, (1,))
        }
        if not values:
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
        self, path: str, use: Use, home: Node, parameter: str, skips: tuple[int, ...]
    ) -> Iterator[Value]:
        """What a call passes for a parameter. The call of a method may pass its object, as that of
        an attribute of a class does: each way counts that the signature allows.
        """
        call, node = use.call, self._layout(home[0]).functions[home[1]]
        if call is None and use.node in self._handed_in(path):
            if not keeps_default(node, parameter, skips[0]):
                raise _Unknown
            yield from self._default(home, node, parameter)
            return
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
                yield from self._default(home, node, parameter)
            elif use.owner == TOP:
                yield from self._at_top(passed[parameter], path)
            else:
                yield from self._values(passed[parameter], (path, use.owner))

    def _default(self, home: Node, node: Any, parameter: str) -> Values:
        default = defaults_of(node.args).get(parameter)
        if default is None:
            raise _Unknown
        path, name = home
        return self._values(default, (path, self._names.function_around(path, name)))

    def _handed_in(self, path: str) -> set[ast.AST]:
        if path not in self._handed:
            self._handed[path] = handed_in(self._names.outline(path))
        return self._handed[path]

    def _is_seen(self, path: str, definition: Definition, node: Any) -> bool:
        """Whether all calls of a function are those that load its name."""
        is_method = self._names.is_method(path, definition)
        if not _PLAIN_DECORATORS.issuperset(_called(one) for one in node.decorator_list):
            return False
        if self._layout(path).defined[definition.name] != 1:
            return False
        if any(self._names.outline(one).is_words for one in self._names.holding(definition.name)):
            return False
        if not is_method and definition.parent != TOP:
            return not self._names.outline(path).looks_up  # no other file has its name
        if is_method and not self._is_childless(path, definition.parent):
            return False
        return not self._is_called_unseen(path, definition)

    def _takes_object(self, path: str, definition: Definition, node: Any) -> bool:
        """Whether the first parameter of a function is the object that it is called of."""
        is_static = any(leaf(one) == _STATIC for one in node.decorator_list)
        return self._names.is_method(path, definition) and not is_static

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


def _called(decorator: ast.expr) -> str:
    return leaf(decorator.func if isinstance(decorator, ast.Call) else decorator)


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
