"""Choices: the branches that a program never takes, because what they depend on is the same
constant wherever it is set.

Nothing is evaluated but constants. A parameter is what the calls hand over that name its function,
or its default; an attribute is what the methods of its class assign; a name what its assignments
say. Where one of them is not seen, nothing is known.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final

from tfnanlint.ops.frameworks import ASSIGNED_BY_BASES
from tfnanlint.project.names import Names, Node, TooMany
from tfnanlint.project.outline_entries import Definition, Store, Use
from tfnanlint.project.outlines import TOP
from tfnanlint.syntax.nodes import blocks_of, nodes_in, parts_of

_MAX_STEPS: Final = 400  # expressions that are looked at for one answer
_MAX_CALLS: Final = 40
_MAX_VALUES: Final = 12
_MAX_WRITTEN: Final = 40  # characters of a condition in a reason
_INIT: Final = "__init__"
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_LEAVING: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_COMPARED: Final[dict[type, Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_SEQUENCES: Final = (ast.List, ast.Tuple, ast.Set)

Values = frozenset[Any]  # the constants that something may be
Test = tuple[ast.expr, bool, str]  # a condition, what it has to be, and the function around it


class _Unknown(Exception):
    """Something is not seen on which a value depends."""


class Choices:
    """Which branches the program of a file never takes."""

    def __init__(self, names: Names):
        self._names = names
        self._nodes: dict[str, dict[str, Any]] = {}
        self._bound: dict[tuple[str, int], dict[str, list[ast.expr | None]]] = {}
        self._open: set[tuple[Any, ...]] = set()
        self._outcomes: dict[tuple[str, ast.expr, bool], Values | None] = {}
        self._with_settings = True
        self._steps = 0

    def never(self, path: str, row: int, with_settings: bool = True) -> str:
        """Why the program never takes the branch that a row stands in; "" where it may.
        `with_settings`: also where that follows from what stands outside of all functions, which
        people change from run to run.
        """
        self._with_settings = with_settings
        for test, truth, owner in tests_around(self._names.outline(path).tree, row):
            outcomes = self._outcome(path, test, owner)
            if outcomes is not None and truth not in outcomes:
                word = "false" if truth else "true"
                return f"in this program {_written(test)} is always {word}"
        return ""

    def _outcome(self, path: str, test: ast.expr, owner: str) -> Values | None:
        """What a condition may come to; None where that is not known."""
        if not _may_be_known(test):
            return None
        key = path, test, self._with_settings
        if key not in self._outcomes:
            is_first = not self._open
            self._steps = 0 if is_first else self._steps
            try:
                outcomes = self._truths(test, (path, owner))
            except (_Unknown, TooMany, RecursionError):
                outcomes = None
            if not is_first:
                return outcomes
            self._outcomes[key] = outcomes or None
        return self._outcomes[key]

    # Conditions

    def _truths(self, test: ast.expr, place: Node) -> Values:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return frozenset(not one for one in self._truths(test.operand, place))
        if isinstance(test, ast.BoolOp):
            return self._both(test, place)
        if isinstance(test, ast.Compare):
            return self._comparison(test, place)
        return frozenset(bool(one) for one in self._values(test, place))

    def _both(self, test: ast.BoolOp, place: Node) -> Values:
        """What `a and b` or `a or b` comes to: one part may decide it."""
        settling = isinstance(test.op, ast.Or)
        known: list[Values] = []
        for part in test.values:
            try:
                known.append(self._truths(part, place))
            except _Unknown:
                continue
            if known[-1] == {settling}:
                return known[-1]
        if len(known) < len(test.values):
            raise _Unknown
        join = any if settling else all
        return frozenset(join(one) for one in product(*known))

    def _comparison(self, test: ast.Compare, place: Node) -> Values:
        compare = _COMPARED.get(type(test.ops[0]))
        if len(test.ops) > 1 or compare is None:
            raise _Unknown
        pairs = product(self._values(test.left, place), self._values(test.comparators[0], place))
        try:
            return frozenset(bool(compare(left, right)) for left, right in pairs)
        except TypeError:
            raise _Unknown from None

    # Values

    def _values(self, node: ast.expr | None, place: Node) -> Values:
        self._steps += 1
        if node is None or self._steps > _MAX_STEPS:
            raise _Unknown
        if isinstance(node, ast.Constant):
            return frozenset((node.value,))
        if isinstance(node, _SEQUENCES):
            return self._written(node.elts, place)
        if isinstance(node, (ast.UnaryOp, ast.Compare)):
            return self._truths(node, place)
        values = self._of_path(node, place)
        if len(values) > _MAX_VALUES:
            raise _Unknown
        return values

    def _written(self, elements: list[ast.expr], place: Node) -> Values:
        """A sequence as it is written: one value, where each element has one."""
        values = [self._values(one, place) for one in elements]
        if any(len(one) != 1 for one in values):
            raise _Unknown
        return frozenset((tuple(next(iter(one)) for one in values),))

    def _of_path(self, node: ast.expr, place: Node) -> Values:
        if isinstance(node, ast.Name):
            return self._once(("name", node.id, *place), self._of_name, node.id, place)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = self._class_of(node.value.id, place)
            if owner is not None:
                return self._once(("attribute", node.attr, *owner), self._kept, owner, node.attr)
        if isinstance(node, ast.IfExp):
            return self._chosen(node, place)
        raise _Unknown

    def _chosen(self, node: ast.IfExp, place: Node) -> Values:
        try:
            truths = self._truths(node.test, place)
        except _Unknown:
            truths = frozenset((True, False))
        return frozenset(
            value
            for truth in truths
            for value in self._values(node.body if truth else node.orelse, place)
        )

    def _once(
        self, key: tuple[Any, ...], values_of: Callable[..., Values], *arguments: Any
    ) -> Values:
        """Values, without those that come from themselves."""
        if key in self._open:
            return frozenset()
        self._open.add(key)
        try:
            return values_of(*arguments)
        finally:
            self._open.discard(key)

    # Names

    def _of_name(self, name: str, place: Node) -> Values:
        """What a name may be inside of a function: of this, of one around it, of the file."""
        path, owner = place
        definitions = self._names.outline(path).definitions
        while owner != TOP:
            node = self._node(path, owner)
            if isinstance(node, _FUNCTIONS):
                bound = self._bindings(path, node)
                is_parameter = name in _parameters(node)
                if is_parameter or name in bound:
                    values = self._assigned(bound.get(name, []), (path, owner))
                    return values | self._handed(path, owner, name) if is_parameter else values
            owner = definitions[owner].parent if owner in definitions else TOP
        return self._of_file(path, name)

    def _of_file(self, path: str, name: str) -> Values:
        outline = self._names.outline(path)
        bound = self._bindings(path, outline.tree)
        if not self._with_settings or self._is_set_elsewhere(name):
            raise _Unknown
        if name in bound and name not in outline.definitions:
            return self._assigned(bound[name], (path, TOP))
        homes = self._names.homes(path, name)
        if name in bound or len(homes) != 1:
            raise _Unknown
        home, last = homes[0]
        return self._once(("file", home, last), self._of_file, home, last)

    def _is_set_elsewhere(self, name: str) -> bool:
        """Whether some file assigns to an attribute of a module that has a name."""
        return any(
            isinstance(store.target.value, ast.Name)
            and any(one.bound == store.target.value.id for one in outline.imports)
            for outline in map(self._names.outline, self._names.holding(name))
            for store in outline.stores(name)
        )

    def _assigned(self, nodes: list[ast.expr | None], place: Node) -> Values:
        return frozenset(value for node in nodes for value in self._values(node, place))

    def _bindings(self, path: str, node: Any) -> dict[str, list[ast.expr | None]]:
        """What the statements of a body bind its names to; None is what is not written there."""
        key = path, id(node)
        if key not in self._bound:
            self._bound[key] = _bound_in(node)
        return self._bound[key]

    def _node(self, path: str, name: str) -> Any:
        """The definition of a qualified name; None where there are several."""
        if path not in self._nodes:
            self._nodes[path] = _definitions(self._names.outline(path).tree)
        return self._nodes[path].get(name)

    # Parameters

    def _handed(self, path: str, name: str, parameter: str) -> Values:
        """What the calls of a function hand to a parameter."""
        node = self._node(path, name)
        definition = self._names.outline(path).definitions[name]
        if node is None or definition.is_open or _is_rest(node.args, parameter):
            raise _Unknown
        values: set[Any] = set()
        count = 0
        for caller, call, skipped in self._calls(path, name, definition):
            count += 1
            if count > _MAX_CALLS:
                raise _Unknown
            argument = _argument(node.args, call, parameter, skipped)
            if argument is None:
                around = path, self._around(path, name)
                values |= self._values(_default(node.args, parameter), around)
            elif caller[1] == TOP:
                raise _Unknown  # a script, which people change from run to run
            else:
                values |= self._values(argument, caller)
        if not count:
            raise _Unknown
        return frozenset(values)

    def _around(self, path: str, name: str) -> str:
        """The function around a definition."""
        definitions = self._names.outline(path).definitions
        parent = definitions[name].parent
        while parent != TOP and definitions[parent].is_class:
            parent = definitions[parent].parent
        return parent

    def _calls(
        self, path: str, name: str, definition: Definition
    ) -> Iterator[tuple[Node, ast.Call, int]]:
        """The calls of a function, each with where it stands and how many parameters go before
        what it hands over.
        """
        if not self._names.is_method(path, definition):
            yield from self._named(path, name, definition, 0)
        elif definition.name == _INIT:
            yield from self._constructions(path, definition.parent, set())
        elif definition.name.startswith("__") or self._names.may_base_call(
            path, definition.parent, definition.name
        ):
            raise _Unknown
        else:
            is_static = _is_decorated(self._node(path, name), "staticmethod")
            yield from self._named(path, name, definition, 0 if is_static else 1)

    def _named(
        self, path: str, name: str, definition: Definition, skipped: int
    ) -> Iterator[tuple[Node, ast.Call, int]]:
        for file, use in self._names.uses_of((path, name), definition):
            if use.call is None:
                raise _Unknown
            yield (file, use.owner), use.call, skipped

    def _constructions(
        self, path: str, name: str, seen: set[Node]
    ) -> Iterator[tuple[Node, ast.Call, int]]:
        """The calls that make an object of a class, or of one that inherits its constructor."""
        definition = self._names.outline(path).definitions[name]
        if (path, name) in seen:
            return
        seen.add((path, name))
        if definition.is_open or self._makes_itself(path, name):
            raise _Unknown
        for file, use in self._names.uses_of((path, name), definition):
            heir = self._node(file, use.owner) if use.owner else None
            if use.call is not None:
                yield (file, use.owner), use.call, 1
            elif isinstance(heir, ast.ClassDef) and use.node in heir.bases:
                yield from self._of_heir(file, use.owner, seen)
            elif not self._is_plain(use, file, heir):
                raise _Unknown

    def _of_heir(
        self, path: str, name: str, seen: set[Node]
    ) -> Iterator[tuple[Node, ast.Call, int]]:
        own = f"{name}.{_INIT}"
        if own not in self._names.outline(path).definitions:
            yield from self._constructions(path, name, seen)
            return
        for node in ast.walk(self._node(path, own) or ast.Module([], [])):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                base = node.func.value
                if node.func.attr == _INIT:
                    yield (path, own), node, 1 if isinstance(base, ast.Call) else 0

    def _is_plain(self, use: Use, path: str, owner: Any) -> bool:
        """Whether a use of a class neither makes an object nor hands it on: the first argument of
        `super`, the base of an attribute, the second argument of `isinstance`.
        """
        around = owner if owner is not None else self._names.outline(path).tree
        for node in ast.walk(around):
            if isinstance(node, ast.Attribute) and node.value is use.node:
                return True
            if isinstance(node, ast.Call) and any(one is use.node for one in node.args):
                return isinstance(node.func, ast.Name) and node.func.id in _ASKING
        return False

    def _makes_itself(self, path: str, name: str) -> bool:
        """Whether a method of a class makes objects of it, `cls(...)`."""
        node = self._node(path, name)
        return node is None or any(
            isinstance(one, ast.Call)
            and isinstance(one.func, ast.Name)
            and one.func.id == "cls"
            and not any(keyword.arg is None for keyword in one.keywords)
            for one in ast.walk(node)
        )

    # Attributes

    def _class_of(self, name: str, place: Node) -> Node | None:
        """The class whose object a name is inside of a method: its first parameter."""
        path, owner = place
        definitions = self._names.outline(path).definitions
        while owner != TOP and owner in definitions:
            definition = definitions[owner]
            if self._names.is_method(path, definition):
                node = self._node(path, owner)
                is_self = node is not None and _parameters(node)[:1] == [name]
                return (path, definition.parent) if is_self else None
            owner = definition.parent
        return None

    def _kept(self, owner: Node, attribute: str) -> Values:
        """What the methods of a class, of those above it and of its heirs assign to an attribute;
        what others assign to one of that name, too.
        """
        path = owner[0]
        if attribute in ASSIGNED_BY_BASES or self._names.sets_by_text(path):
            raise _Unknown
        line = self._names.above(owner)
        values = set(self._of_bodies(line, attribute))
        count = 0
        for file in self._names.holding(attribute):
            for store in self._names.outline(file).stores(attribute):
                if self._is_of(store, file, owner, line):
                    count += 1
                    values |= self._values(store.value, (file, store.owner))
        if not count and not values:
            raise _Unknown
        return frozenset(values)

    def _is_of(self, store: Store, path: str, owner: Node, line: list[Node]) -> bool:
        """Whether an attribute that is assigned may be one of an object of a class."""
        target = store.target.value
        if not isinstance(target, ast.Name):
            return True
        cls = self._class_of(target.id, (path, store.owner))
        return cls is None or cls in line or owner in self._names.above(cls)

    def _of_bodies(self, line: list[Node], attribute: str) -> Iterator[Any]:
        """What the bodies of classes assign to an attribute."""
        for path, name in line:
            if f"{name}.{attribute}" in self._names.outline(path).definitions:
                raise _Unknown  # a property
            node = self._node(path, name)
            bound = self._bindings(path, node) if node is not None else {}
            if attribute in bound:
                yield from self._assigned(bound[attribute], (path, self._around(path, name)))


_ASKING: Final = frozenset(("super", "isinstance", "issubclass"))


def tests_around(tree: ast.Module, row: int) -> Iterator[Test]:
    """The conditions on which it depends whether a row is reached."""
    block, owner, of_class = tree.body, TOP, ""
    while block:
        node = None
        for statement in block:
            if _begin(statement) > row:
                break
            node = statement
            if _leaves(statement) and (statement.end_lineno or 0) < row:
                yield statement.test, False, owner  # type: ignore[attr-defined]
        if node is None or (node.end_lineno or row) < row:
            return
        block = next((one for one in blocks_of(node) if _holds(one, row)), [])
        if isinstance(node, (ast.If, ast.While)) and block:
            yield node.test, block is node.body, owner
        elif isinstance(node, ast.ClassDef):
            of_class = f"{of_class or owner}.{node.name}".lstrip(".")
        elif isinstance(node, _FUNCTIONS):
            owner, of_class = f"{of_class or owner}.{node.name}".lstrip("."), ""


def _begin(node: Any) -> int:
    decorators = getattr(node, "decorator_list", None)
    return min(node.lineno, decorators[0].lineno) if decorators else node.lineno


def _holds(block: list[ast.stmt], row: int) -> bool:
    return bool(block) and _begin(block[0]) <= row <= (block[-1].end_lineno or row)


def _leaves(statement: ast.stmt) -> bool:
    """Whether what follows a statement runs only where its test is false."""
    return (
        isinstance(statement, ast.If)
        and not statement.orelse
        and isinstance(statement.body[-1], _LEAVING)
    )


def _may_be_known(test: ast.expr) -> bool:
    """Whether a condition may depend on constants alone: most are computed."""
    waiting: list[ast.AST] = [test]
    for node in waiting:  # it grows on the way
        if isinstance(node, (ast.Name, ast.Attribute, ast.Constant)):
            return True
        if isinstance(node, (ast.UnaryOp, ast.BoolOp, ast.Compare)):
            waiting += parts_of(node)
    return False


def _written(test: ast.expr) -> str:
    text = ast.unparse(test)
    return f"`{text}`" if len(text) <= _MAX_WRITTEN else "the condition of this branch"


def _definitions(tree: ast.Module) -> dict[str, Any]:
    """The definitions of a file by their qualified names; None for a name that has several."""
    nodes: dict[str, Any] = {}
    waiting: list[tuple[list[ast.stmt], str]] = [(tree.body, TOP)]
    for block, around in waiting:  # it grows on the way
        for node in block:
            name = around
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                name = f"{around}.{node.name}".lstrip(".")
                nodes[name] = None if name in nodes else node
            waiting += [(inner, name) for inner in blocks_of(node)]
    return nodes


def _bound_in(body: Any) -> dict[str, list[ast.expr | None]]:
    """What the statements of a body bind its names to, without those of definitions in it."""
    bound: dict[str, list[ast.expr | None]] = {}
    waiting = list(body.body)
    for node in waiting:  # it grows on the way
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            for name in _declared(node):
                bound.setdefault(name, []).append(None)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names if not isinstance(body, ast.Module) else ():
                bound.setdefault(alias.asname or alias.name, []).append(None)
            continue
        blocks = blocks_of(node)
        for block in blocks:
            waiting += block
        written = _assignment(node)
        for target in written:
            bound.setdefault(target.id, []).append(node.value)
        inner = {id(one) for block in blocks for one in block}
        for part in parts_of(node):
            if id(part) not in inner and part not in written:
                for name in _stored(part):
                    bound.setdefault(name, []).append(None)
    return bound


def _assignment(node: ast.stmt) -> list[Any]:
    """The plain names that a statement gives a value."""
    if isinstance(node, ast.Assign):
        return [one for one in node.targets if isinstance(one, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target]
    return []


def _stored(node: ast.AST) -> Iterator[str]:
    for part in nodes_in(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            yield part.id


def _declared(node: ast.AST) -> Iterator[str]:
    """The names of others that a definition says it assigns."""
    for part in ast.walk(node):
        if isinstance(part, (ast.Global, ast.Nonlocal)):
            yield from part.names


def _parameters(node: Any) -> list[str]:
    args = node.args
    named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    return [one.arg for one in (*named, args.vararg, args.kwarg) if one is not None]


def _is_rest(args: ast.arguments, name: str) -> bool:
    return any(one is not None and one.arg == name for one in (args.vararg, args.kwarg))


def _is_decorated(node: Any, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in node.decorator_list)


def _argument(args: ast.arguments, call: ast.Call, parameter: str, skipped: int) -> ast.expr | None:
    """What a call hands to a parameter; None where it leaves it out."""
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    places = [one.arg for one in (*args.posonlyargs, *args.args)]
    place = places.index(parameter) - skipped if parameter in places else len(call.args)
    if place < 0 or any(isinstance(one, ast.Starred) for one in call.args[: place + 1]):
        raise _Unknown
    if place < len(call.args):
        return call.args[place]
    if any(keyword.arg is None for keyword in call.keywords):
        raise _Unknown
    return None


def _default(args: ast.arguments, parameter: str) -> ast.expr | None:
    """The default of a parameter; None where it has none."""
    places = [*args.posonlyargs, *args.args]
    for argument, value in zip(reversed(places), reversed(args.defaults)):
        if argument.arg == parameter:
            return value
    for argument, default in zip(args.kwonlyargs, args.kw_defaults):
        if argument.arg == parameter:
            return default
    return None
