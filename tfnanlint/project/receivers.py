"""Receivers: of which classes the object may be whose attribute code loads, by the flow of values
through names, attributes, parameters, returned values and imports. Nothing is evaluated.

What is not followed is `Unknown`: elements of containers, what other packages return, what a
function is passed that code calls unseen.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from tfnanlint.conventions.roles import makes_object
from tfnanlint.project.bindings import Binding, Bindings, Frame, Kind, Store, Unknown
from tfnanlint.project.names import FRAMEWORKS, Names, Node, TooMany
from tfnanlint.project.outline_entries import Definition, Import, Use
from tfnanlint.project.outlines import TOP
from tfnanlint.project.programs import Program, words_bound_by
from tfnanlint.syntax.access_paths import leaf

_BUILT: Final = (
    ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp,
    ast.SetComp, ast.GeneratorExp, ast.Compare, ast.Lambda,
)  # fmt: skip
# Packages whose objects have methods of their own alone, and hand no attributes on to others.
_CLOSED: Final = FRAMEWORKS | {"numpy", "pandas", ""} | sys.stdlib_module_names
_FORWARDING: Final = ("__getattr__", "__getattribute__")
_OF_CLASSES: Final = frozenset(("__new__", "__init_subclass__", "__class_getitem__"))
_MAX_STEPS: Final = 1000  # for one question
_MAX_ROUNDS: Final = 6  # until what flows in a circle is found
_NEVER: Final = 1 << 30


class Of(NamedTuple):
    """What a value may be: an `object` of a class, a `class`, a `function`, a `module`, or `super`
    of a class, by its file and qualified name; `foreign` of another package, or `built` by one.
    """

    what: str
    path: str
    name: str


Ofs = frozenset[Of]
_NONE: Final[Ofs] = frozenset()
_PLAIN: Final = frozenset((Of("built", "", ""),))  # an object of Python


class Receivers:
    """What expressions of a program may be. `passed` gives what calls pass for a parameter."""

    def __init__(self, program: Program, names: Names):
        self._program = program
        self._names = names
        self.passed: Callable[[Node, str], list[tuple[Node, ast.expr]]] = _unknown
        self.begin()

    def begin(self) -> None:
        """Read the files anew."""
        self._known: dict[tuple[Node, ast.AST], Ofs | None] = {}
        self._open: dict[tuple[Node, ast.AST], int] = {}
        self._assumed: dict[tuple[Node, ast.AST], Ofs] = {}
        self._cut = _NEVER  # the outermost open question whose answer was assumed
        self._families: dict[Node, list[Node]] = {}
        self._steps = 0

    def bindings(self, path: str) -> Bindings:
        outline = self._names.outline(path)
        if outline.is_words:
            raise Unknown
        if outline.bindings is None:
            outline.bindings = Bindings(outline.tree)
        bindings: Bindings = outline.bindings
        return bindings

    # Questions

    def may_use(self, path: str, use: Use, node: Node, definition: Definition) -> bool:
        """Whether what a file loads under the name of a definition may be that: an attribute by
        what has it, a name by what binds it. True where that is not known.
        """
        try:
            if isinstance(use.node, ast.Attribute):
                values = self.of(use.node.value, (path, use.owner))
                return any([self._has(value, node, definition) for value in values])
            if isinstance(use.node, ast.Name):
                return not self._is_bound_elsewhere(path, use.owner, use.node, node, definition)
        except (Unknown, TooMany):
            pass
        return True

    def _is_bound_elsewhere(
        self, path: str, owner: str, name: ast.Name, node: Node, definition: Definition
    ) -> bool:
        """Whether a name is that of something else than a definition: of a variable of the function
        in which it stands, or of what other functions and classes have.
        """
        bindings = self.bindings(path)
        frame = bindings.frame_of(owner, name.id, name)
        if frame is None:
            return False
        if path != node[0]:
            return not any([one.kind is Kind.IMPORT for one in frame.bound[name.id]])
        return frame.name != definition.parent and not self._is_around(
            bindings, definition.parent, name
        )

    def _is_around(self, bindings: Bindings, name: str, node: Any) -> bool:
        """Whether a node stands in the body of a class."""
        return any(
            frame.is_class and frame.node.lineno <= node.lineno <= frame.node.end_lineno
            for frame in bindings.frames.get(name, ())
        )

    def of(self, node: ast.expr, place: Node) -> Ofs:
        """What an expression may be that stands in a function of a file."""
        key = place, node
        if key in self._known:
            return _sure(self._known[key])
        if key in self._open:
            self._cut = min(self._cut, self._open[key])
            return self._assumed.get(key, _NONE)
        self._steps = self._steps + 1 if self._open else 0
        if self._steps > _MAX_STEPS:
            raise Unknown
        depth = self._open[key] = len(self._open)
        try:
            values = self._settled(key)
        except Unknown:
            self._known[key] = None
            raise
        finally:
            del self._open[key]
            self._assumed.pop(key, None)
        if self._cut >= depth:
            self._cut = _NEVER
            self._known[key] = values
        return values

    def _settled(self, key: tuple[Node, Any]) -> Ofs:
        """What an expression may be, asked again as long as more flows back into it."""
        place, node = key
        for _ in range(_MAX_ROUNDS):
            values = self._find(node, place)
            if values == self._assumed.get(key, _NONE) or self._cut > self._open[key]:
                return values
            self._assumed[key] = values
        raise Unknown

    def _find(self, node: Any, place: Node) -> Ofs:
        if isinstance(node, ast.Name):
            return self._name(node, place)
        if isinstance(node, ast.Attribute):
            return self._union(
                self._attribute(one, node.attr) for one in self.of(node.value, place)
            )
        if isinstance(node, ast.Call):
            return self._call(node, place)
        if isinstance(node, ast.IfExp):
            return self.of(node.body, place) | self.of(node.orelse, place)
        if isinstance(node, ast.BoolOp):
            return self._union(self.of(one, place) for one in node.values)
        if isinstance(node, ast.NamedExpr):
            return self.of(node.value, place)
        if isinstance(node, _BUILT):
            return _PLAIN
        raise Unknown

    def _union(self, parts: Iterator[Ofs]) -> Ofs:
        values = _NONE
        for part in parts:
            values |= part
        return values

    # Names

    def _name(self, node: ast.Name, place: Node) -> Ofs:
        path, owner = place
        frame = self.bindings(path).frame_of(owner, node.id, node)
        if frame is None:
            return self._unbound(path, node.id)
        return self._union(self._binding(path, node.id, one) for one in frame.bound[node.id])

    def _binding(self, path: str, name: str, binding: Binding) -> Ofs:
        place = path, binding.owner
        if binding.kind is Kind.VALUE:
            return self.of(binding.node, place)
        if binding.kind is Kind.CONTEXT:
            values = self.of(binding.node, place)
            if any(one.what != "built" for one in values):
                raise Unknown
            return values
        if binding.kind is Kind.IMPORT:
            return self._imported(path, name)
        if binding.kind is Kind.PARAMETER:
            return self._parameter(place, name)
        if binding.kind is Kind.DEFINITION:
            definition = self._names.definition((path, binding.node))
            is_class = definition is not None and definition.is_class
            return frozenset((Of("class" if is_class else "function", path, binding.node),))
        raise Unknown

    def _parameter(self, place: Node, name: str) -> Ofs:
        values = self.first(place, name)
        if values:
            return values
        return self._union(self.of(node, where) for where, node in self.passed(place, name))

    def first(self, place: Node, name: str) -> Ofs:
        """What a method has as its first parameter; nothing for all others."""
        path, function = place
        bindings = self.bindings(path)
        around = bindings.class_around(function)
        frame = bindings.function(function)
        if around is None or frame is None:
            return _NONE
        args = frame.node.args
        decorators = {leaf(one) for one in frame.node.decorator_list}
        if "staticmethod" in decorators or name != next(
            (one.arg for one in (*args.posonlyargs, *args.args)), ""
        ):
            return _NONE
        of_class = "classmethod" in decorators or frame.node.name in _OF_CLASSES
        what = "class" if of_class else "object"
        return frozenset(Of(what, *one) for one in self.family((path, around.name)))

    def _unbound(self, path: str, name: str) -> Ofs:
        """What a name is that a file does not bind: that of a module of which it imports all, or of
        Python.
        """
        values, is_foreign = _NONE, hasattr(builtins, name)
        for imported in self._names.outline(path).imports:
            if imported.name != "*":
                continue
            modules = self._program.modules(path, imported, imported.words)
            for module in modules:
                if name in self.bindings(module).top.bound:
                    values |= self.top_name(module, name)
            if not modules and not self._is_foreign(imported):
                raise Unknown
            is_foreign = is_foreign or not modules
        if not values and not is_foreign:
            raise Unknown
        return values or frozenset((Of("foreign", "", name),))

    def top_name(self, path: str, name: str) -> Ofs:
        """What a name of a module may be."""
        bound = self.bindings(path).top.bound.get(name)
        if bound is None:
            return self._unbound(path, name)
        return self._union(self._binding(path, name, one) for one in bound)

    def _imported(self, path: str, bound: str) -> Ofs:
        values = _NONE
        for imported in self._names.outline(path).imports:
            if imported.bound == bound and imported.name != "*":
                values |= self._bound_by(path, imported)
        if not values:
            raise Unknown
        return values

    def _bound_by(self, path: str, imported: Import) -> Ofs:
        modules = self._program.modules(path, imported, words_bound_by(imported))
        values = frozenset(Of("module", one, TOP) for one in modules)
        homes = self._program.modules(path, imported, imported.words) if imported.name else []
        for home in homes:
            if imported.name in self.bindings(home).top.bound or not modules:
                values |= self.top_name(home, imported.name)
        if values:
            return values
        if not self._is_foreign(imported):
            raise Unknown
        return frozenset((Of("foreign", imported.words[0], imported.name),))

    def _is_foreign(self, imported: Import) -> bool:
        return (
            bool(imported.words)
            and not imported.level
            and not self._names.is_own(imported.words[0])
        )

    # Attributes

    def _attribute(self, value: Of, name: str) -> Ofs:
        if value.what == "foreign":
            return frozenset((Of("foreign", value.path, name),))
        if value.what == "module":
            return self.top_name(value.path, name)
        if value.what == "class":
            return self._of_class((value.path, value.name), name)
        if value.what == "object":
            return self._of_object((value.path, value.name), name)
        raise Unknown

    def _of_class(self, node: Node, name: str) -> Ofs:
        values = _NONE
        for above in self.ancestors(node):
            frame = self.class_frame(above)
            for binding in frame.bound.get(name, ()):
                values |= self._binding(above[0], name, binding)
        if not values:
            raise Unknown
        return values

    def _of_object(self, node: Node, name: str) -> Ofs:
        """What an attribute of an object may be: what its class has, and what is assigned."""
        values = _NONE
        for path, store in self.stores(node, name):
            values |= self.of(seen(store.value), (path, store.owner))
        for above in self.ancestors(node):
            frame = self.class_frame(above)
            for binding in frame.bound.get(name, ()):
                part = self._binding(above[0], name, binding)
                values |= self._union(map(self._loaded, part))
        if not values:
            raise Unknown
        return values

    def _loaded(self, value: Of) -> Ofs:
        """What an object gives for an attribute of its class: of a property what that returns."""
        if value.what != "function":
            return frozenset((value,))
        frame = self.bindings(value.path).function(value.name)
        if frame is None:
            raise Unknown
        decorators = [leaf(one) for one in frame.node.decorator_list]
        if decorators in (["property"], ["cached_property"]):
            return self._returned(value.path, frame)
        return frozenset((value,))

    def stores(self, node: Node, name: str) -> Iterator[tuple[str, Store]]:
        """What may be assigned to an attribute of the objects of a class, with the files."""
        for above in self.ancestors(node):
            if self.bindings(above[0]).opened:
                raise Unknown
        sought = Of("object", *node)
        for path in self._names.holding(name):
            for store in self.bindings(path).stores.get(name, ()):
                try:
                    is_of = sought in self.of(store.receiver, (path, store.owner))
                except Unknown:
                    is_of = True
                if is_of:
                    yield path, store

    def _has(self, value: Of, node: Node, definition: Definition) -> bool:
        """Whether an attribute of a value may be a definition."""
        if value.what in ("object", "class"):
            return node in self.lookup((value.path, value.name), definition.name)
        if value.what == "module":
            return definition.parent == TOP and self._names.may_have(
                value.path, definition.name, node[0]
            )
        if value.what == "super":
            own, owner = (value.path, value.name), (node[0], definition.parent)
            return owner != own and any([owner in self.ancestors(one) for one in self.family(own)])
        return value.what == "foreign" and value.path not in _CLOSED

    def lookup(self, node: Node, name: str) -> set[Node]:
        """The definitions that an attribute of a class or its objects may be. Of several bases each
        counts.
        """
        nodes: set[Node] = set()
        waiting, seen = [node], {node}
        for owner in waiting:  # it grows on the way
            if any(method in self.class_frame(owner).bound for method in _FORWARDING):
                raise Unknown
            if name in self.class_frame(owner).bound:
                nodes.add((owner[0], f"{owner[1]}.{name}"))
                continue
            above = [base for base in self.bases(owner) if base not in seen]
            waiting += above
            seen.update(above)
        return nodes

    # Classes

    def class_frame(self, node: Node) -> Frame:
        """The frame of a class that is defined once."""
        frame = self.bindings(node[0]).function(node[1])
        if frame is None or not frame.is_class:
            raise Unknown
        return frame

    def is_open(self, node: Node) -> bool:
        """Whether objects of a class may have attributes that no code of the program assigns."""
        return any(
            [
                self.class_frame(above).node.decorator_list
                or self.class_frame(above).node.keywords
                or any(base != "object" for base in map(leaf, self._foreign_bases(above)))
                for above in self.ancestors(node)
            ]
        )

    def _foreign_bases(self, node: Node) -> list[ast.expr]:
        frame = self.class_frame(node)
        owner = frame.outer.owner if frame.outer is not None else TOP
        return [
            base
            for base in frame.node.bases
            if any(one.what != "class" for one in self.of(base, (node[0], owner)))
        ]

    def bases(self, node: Node) -> list[Node]:
        """The classes of the program from which a class inherits."""
        frame = self.class_frame(node)
        owner = frame.outer.owner if frame.outer is not None else TOP
        above: list[Node] = []
        for base in frame.node.bases:
            for value in self.of(base, (node[0], owner)):
                if value.what == "class":
                    above.append((value.path, value.name))
                elif value.what != "foreign" or value.path not in _CLOSED:
                    raise Unknown
        return above

    def ancestors(self, node: Node) -> list[Node]:
        """A class and those from which it inherits."""
        nodes = [node]
        for owner in nodes:  # it grows on the way
            nodes += [base for base in self.bases(owner) if base not in nodes]
        return nodes

    def family(self, node: Node) -> list[Node]:
        """A class and those that may inherit from it."""
        known = self._families.get(node)
        if known is None:
            known = [node]
            for owner in known:  # it grows on the way
                known += [heir for heir in self._heirs(owner) if heir not in known]
            self._families[node] = known
        return known

    def _heirs(self, node: Node) -> list[Node]:
        simple = node[1].rpartition(".")[2]
        heirs: list[Node] = []
        for path in self._names.holding(simple):
            for name, definition in self._names.outline(path).definitions.items():
                if definition.is_class and self._may_inherit((path, name), definition, node):
                    heirs.append((path, name))
        return heirs

    def _may_inherit(self, heir: Node, definition: Definition, node: Node) -> bool:
        simple = node[1].rpartition(".")[2]
        if not definition.bases or heir == node:
            return False
        try:
            return node in self.bases(heir)
        except Unknown:
            return any(base == simple for base, _ in definition.bases)

    # Calls

    def _call(self, node: ast.Call, place: Node) -> Ofs:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return self._super(node, place)
        return self._union(self._result(one) for one in self.of(node.func, place))

    def _super(self, node: ast.Call, place: Node) -> Ofs:
        if node.args:
            classes = [one for one in self.of(node.args[0], place) if one.what == "class"]
            return frozenset(Of("super", one.path, one.name) for one in classes)
        around = self.bindings(place[0]).class_around(place[1])
        if around is None:
            raise Unknown
        return frozenset((Of("super", place[0], around.name),))

    def _result(self, called: Of) -> Ofs:
        """What a call of a value gives."""
        if called.what == "class":
            node = called.path, called.name
            if self.lookup(node, "__new__"):
                raise Unknown
            return frozenset((Of("object", *node),))
        if called.what == "function":
            frame = self.bindings(called.path).function(called.name)
            if frame is None or frame.node.decorator_list:
                raise Unknown
            return self._returned(called.path, frame)
        if called.what == "foreign" and called.path in _CLOSED and makes_object(called.name):
            return frozenset((Of("built", called.path, called.name),))
        raise Unknown

    def _returned(self, path: str, frame: Frame) -> Ofs:
        if frame.returned is None:
            raise Unknown
        returned = [one for one in frame.returned if one is not None]
        values = self._union(self.of(one, (path, frame.name)) for one in returned)
        return values or _PLAIN


def _unknown(place: Node, parameter: str) -> list[tuple[Node, ast.expr]]:
    raise Unknown


def _sure(values: Ofs | None) -> Ofs:
    if values is None:
        raise Unknown
    return values


def seen(node: ast.expr | None) -> ast.expr:
    """What is assigned; Unknown where that does not stand there."""
    if node is None:
        raise Unknown
    return node
