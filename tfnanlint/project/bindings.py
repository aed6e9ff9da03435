"""The bindings of a file: what each function, class and the file itself bind to a name, what is
assigned to attributes, and what functions return. Nothing is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final

from tfnanlint.project.outlines import TOP
from tfnanlint.syntax.nodes import CONSTANT, parts_of

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS: Final = (ast.Import, ast.ImportFrom)
# Nodes that bind names, return values or assign attributes.
_NOTED: Final = frozenset((
    *_FUNCTIONS, *_IMPORTS, ast.ClassDef, ast.Lambda, ast.Assign, ast.AnnAssign, ast.NamedExpr,
    ast.Call, ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension, ast.withitem, ast.Global,
    ast.Nonlocal, ast.Return, ast.Yield, ast.YieldFrom, ast.Attribute, ast.Name,
    ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping,
))  # fmt: skip
_LOADS_ALL: Final = frozenset(("__dict__", "__class__"))
_SETTER: Final = "setattr"


class Unknown(Exception):
    """Something is not followed that a value may come from."""


class Kind(Enum):
    """How something binds a name."""

    VALUE = "the value of an expression"
    CONTEXT = "what a `with` enters"
    PARAMETER = "what a call passes"
    IMPORT = "an import statement"
    DEFINITION = "a function or a class"
    UNSEEN = "anything"


class Binding:
    """What binds a name: a node, and the qualified name of the function in which it stands."""

    __slots__ = ("kind", "node", "owner")

    def __init__(self, kind: Kind, node: Any, owner: str):
        self.kind = kind
        self.node = node
        self.owner = owner


class Store:
    """What is assigned to an attribute: `receiver.name = value` in the function `owner`. None is a
    value that is not seen.
    """

    __slots__ = ("receiver", "value", "owner")

    def __init__(self, receiver: ast.expr, value: ast.expr | None, owner: str):
        self.receiver = receiver
        self.value = value
        self.owner = owner


class Frame:
    """The names of a function, a class, or of the file. `outer` is the frame around it, `owner` the
    function whose code stands in it. `returned` are the expressions that a function returns, None
    where a call of it gives something else.
    """

    __slots__ = ("name", "node", "outer", "owner", "bound", "shared", "returned")

    def __init__(self, name: str, node: Any, outer: Frame | None):
        self.name = name
        self.node = node
        self.outer = outer
        self.bound: dict[str, list[Binding]] = {}
        self.shared: dict[str, bool] = {}  # names of other frames, by whether of the file
        self.returned: list[ast.expr | None] | None = []
        self.owner: str = outer.owner if outer is not None and self.is_class else name

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, _FUNCTIONS)


class Bindings:
    """The frames of a file by qualified name, and the stores of attributes by name. `opened` are
    the functions that may assign attributes of any name.
    """

    def __init__(self, tree: ast.Module):
        self.tree = tree
        self.top = Frame(TOP, tree, None)
        self.frames: dict[str, list[Frame]] = {TOP: [self.top]}
        self.stores: dict[str, list[Store]] = {}
        self.opened: list[str] = []
        self._bound: list[tuple[Frame, str, Binding]] = []
        waiting: list[tuple[Any, Frame]] = [(one, self.top) for one in tree.body]
        for node, frame in waiting:  # it grows on the way
            kind = type(node)
            if kind in _NOTED:
                waiting += self._visit(node, frame)
            elif kind is not CONSTANT:
                waiting += [(part, frame) for part in parts_of(node)]
        self._in_classes: dict[tuple[str, str], list[Frame]] = {}  # by function around, and name
        for frame, name, binding in self._bound:
            for place in _places(frame, name):
                place.bound.setdefault(name, []).append(binding)
                if place.is_class:
                    self._in_classes.setdefault((place.owner, name), []).append(place)

    def function(self, name: str) -> Frame | None:
        """The frame of a function or class that is defined once."""
        frames = self.frames.get(name, ())
        return frames[0] if len(frames) == 1 else None

    def frame_of(self, owner: str, name: str, node: ast.AST) -> Frame | None:
        """The frame that binds a name which stands in a function; None where the file does not bind
        it.
        """
        frame = self.function(owner)
        if frame is None or self._is_in_class(frame, name, node):
            raise Unknown
        if name in frame.bound:
            return frame
        outer = frame.outer
        while outer is not None and (outer.is_class or name not in outer.bound):
            outer = outer.outer
        return outer

    def class_around(self, name: str) -> Frame | None:
        """The class of which a function is a method."""
        frame = self.function(name)
        outer = frame.outer if frame is not None else None
        return outer if outer is not None and outer.is_class else None

    def _is_in_class(self, frame: Frame, name: str, node: Any) -> bool:
        """Whether a name in the code of a function stands in the body of a class that binds it."""
        return any(
            inner.node.lineno <= node.lineno <= inner.node.end_lineno
            for inner in self._in_classes.get((frame.name, name), ())
        )

    # Nodes

    def _visit(self, node: Any, frame: Frame) -> Iterator[tuple[Any, Frame]]:
        """What stands inside of a node, each with its frame, after what it binds is noted."""
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            return self._definition(node, frame)
        if isinstance(node, ast.Lambda):
            self._bind_parameters(node.args, frame, Kind.UNSEEN)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value, frame)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            if node.value is not None:
                self._assign(node.target, node.value, frame)
        elif isinstance(node, ast.Call):
            self._call(node, frame)
        else:
            self._note(node, frame)
        return iter([(part, frame) for part in parts_of(node)])

    def _note(self, node: Any, frame: Frame) -> None:
        """Note what any other node binds or returns."""
        if isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension)):
            self._assign(node.target, None, frame)
        elif isinstance(node, ast.withitem):
            if node.optional_vars is not None:
                self._bind_context(node, frame)
        elif isinstance(node, _IMPORTS):
            for alias in node.names:
                self._bind(frame, alias.asname or alias.name.partition(".")[0], Kind.IMPORT, alias)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            frame.shared.update(dict.fromkeys(node.names, isinstance(node, ast.Global)))
        elif isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)):
            self._return(node, frame)
        elif isinstance(node, ast.Attribute):
            self._attribute(node, frame)
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Del):
                self._bind(frame, node.id, Kind.UNSEEN, node)
        else:
            self._bind_pattern(node, frame)

    def _return(self, node: Any, frame: Frame) -> None:
        if not isinstance(node, ast.Return):
            frame.returned = None  # a generator
        elif frame.returned is not None:
            frame.returned.append(node.value)

    def _attribute(self, node: ast.Attribute, frame: Frame) -> None:
        """Note an attribute that stands for all others, or that goes."""
        if node.attr in _LOADS_ALL:
            self.opened.append(frame.owner)
        if isinstance(node.ctx, ast.Del):
            self._store(node.attr, node.value, None, frame)

    def _definition(self, node: Any, frame: Frame) -> Iterator[tuple[Any, Frame]]:
        name = f"{frame.name}.{node.name}".lstrip(".")
        inner = Frame(name, node, frame)
        if isinstance(node, ast.AsyncFunctionDef):
            inner.returned = None
        self.frames.setdefault(name, []).append(inner)
        self._bind(frame, node.name, Kind.DEFINITION, name)
        for decorator in node.decorator_list:
            yield decorator, frame
        if isinstance(node, ast.ClassDef):
            for part in (*node.bases, *node.keywords):
                yield part, frame
        else:
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    yield default, frame
            self._bind_parameters(node.args, inner, Kind.PARAMETER)
        for statement in node.body:
            yield statement, inner

    def _call(self, node: ast.Call, frame: Frame) -> None:
        """Note a call that may assign an attribute."""
        if not isinstance(node.func, ast.Name) or node.func.id not in (_SETTER, "vars"):
            return
        sought: Any = node.args[1] if len(node.args) == 3 else None
        if node.func.id == _SETTER and isinstance(getattr(sought, "value", None), str):
            self._store(sought.value, node.args[0], node.args[2], frame)
        else:
            self.opened.append(frame.owner)

    # Names and attributes

    def _bind(self, frame: Frame, name: str, kind: Kind, node: Any) -> None:
        self._bound.append((frame, name, Binding(kind, node, frame.owner)))

    def _bind_parameters(self, args: ast.arguments, frame: Frame, kind: Kind) -> None:
        for parameter in (*args.posonlyargs, *args.args, *args.kwonlyargs):
            self._bind(frame, parameter.arg, kind, parameter)
        for rest in (args.vararg, args.kwarg):
            if rest is not None:
                self._bind(frame, rest.arg, Kind.UNSEEN, rest)

    def _bind_context(self, node: ast.withitem, frame: Frame) -> None:
        target = node.optional_vars
        if isinstance(target, ast.Name):
            self._bind(frame, target.id, Kind.CONTEXT, node.context_expr)
        elif target is not None:
            self._assign(target, None, frame)

    def _bind_pattern(self, node: Any, frame: Frame) -> None:
        """Note a name that an exception or a pattern is bound to."""
        if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            if node.name:
                self._bind(frame, node.name, Kind.UNSEEN, node)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            self._bind(frame, node.rest, Kind.UNSEEN, node)

    def _assign(self, target: ast.expr, value: ast.expr | None, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            kind = Kind.UNSEEN if value is None else Kind.VALUE
            self._bind(frame, target.id, kind, value)
        elif isinstance(target, ast.Attribute):
            self._store(target.attr, target.value, value, frame)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, None, frame)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for number, part in enumerate(target.elts):
                self._assign(part, _element(value, number, len(target.elts)), frame)

    def _store(self, name: str, receiver: ast.expr, value: ast.expr | None, frame: Frame) -> None:
        self.stores.setdefault(name, []).append(Store(receiver, value, frame.owner))


def _element(value: ast.expr | None, number: int, count: int) -> ast.expr | None:
    """An element of what is written as a tuple: `a, b = A(), B()`."""
    if not isinstance(value, (ast.Tuple, ast.List)) or len(value.elts) != count:
        return None
    return None if any(isinstance(one, ast.Starred) for one in value.elts) else value.elts[number]


def _places(frame: Frame, name: str) -> Iterator[Frame]:
    """The frames whose name something binds in a frame: that one, or the file; of what a function
    declares to be nonlocal each around it.
    """
    of_file = frame.shared.get(name)
    if of_file is None:
        yield frame
        return
    outer = frame.outer
    while outer is not None:
        if outer.outer is None if of_file else outer.is_function:
            yield outer
        outer = outer.outer
