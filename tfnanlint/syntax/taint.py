"""What of a file rests on a part of it that cannot be parsed: the statements with names that this
part may bind, change or test, and with names that depend on those.

It is decided by names alone. What is bound in a function is of that function; attributes of all
objects count as one, and so do functions of one name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"(\.\s*)?\b([^\W\d]\w*)")
# Text in which names are bound: what stands behind some words, and before a sign.
_BINDING: Final = re.compile(
    r"\b(?:def|class|for|as|import|global|nonlocal)\b([^=:#\n]*)|^([^=(#\n]*?)(?:[^\w\s=!<>]*=(?!=)|:)",
    re.MULTILINE,
)
# What a function binds outside of itself.
_OUTER: Final = re.compile(r"\b(?:def|global|nonlocal)[^\S\n]+([^(=:#\n]*)")
# A name, with its dot, of which a part is replaced or a method called, which may change it.
_CHANGING: Final = re.compile(
    r"(\.\s*)?\b([^\W\d]\w*)\s*(?=\.\s*\w+\s*\(|(?:\[[^=\n]*\])?[^\w\s=!<>()\[\],.]*=(?!=))"
)
_ATTRIBUTE: Final = "."  # the scope of attributes, and of the names in the body of a class
_MODULE: Final = ""
Key = tuple[str, str]  # a scope and a name
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_ASSIGNING: Final = (ast.Assign, ast.AugAssign, ast.AnnAssign)
_ENDING: Final = (ast.Return, ast.Raise, ast.Assert, *_FUNCTIONS)
_DEFINITIONS: Final = (*_FUNCTIONS, ast.ClassDef)


class _Scope:
    """The module, or the body of a function or class, with the names that are bound there."""

    def __init__(self, label: str, above: _Scope | None, body: Iterable[ast.AST]):
        self.label = label
        self.above = above
        self.bound: set[str] = set()  # not by imports and definitions
        self.receiver = ""
        self.first, self.last = 0, 0
        self.owners: set[Key] = set()  # the definition, and those around it
        outer: set[str] = set()
        for node in _inside(body):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                outer.update(node.names)
            self.bound.update(_stored(node))
        self.outer = outer
        self.bound -= outer if above is not None else set()

    def key(self, name: str) -> Key | None:
        """Whose name it is; None for the object that a method belongs to."""
        if name == self.receiver:
            return None
        scope: _Scope | None = self
        while scope is not None and scope.above is not None:
            if name in scope.bound and (scope is self or scope.label != _ATTRIBUTE):
                return scope.label, name
            scope = scope.above
        return _MODULE, name


class _Statement:
    """A statement without those in it."""

    def __init__(self, first: int, last: int, scope: _Scope, around: _Statement | None):
        self.first, self.last, self.scope, self.around = first, last, scope, around
        self.names: set[Key] = set()
        self.stored: set[Key] = set()
        # whether it may test what it only loads, and whether it may end its function
        self.tests = self.ends = False
        self.tainted = False


class Cut(NamedTuple):
    """A text that was left out, by what can be said of it: functions, assignments, and all else."""

    functions: str
    assignments: str
    others: str


class Taint:
    """The statements of a tree that rest on a text that stood in 1-based rows of it: on what its
    functions and assignments bind and change, and on all that its other statements name.
    """

    def __init__(self, tree: ast.Module, cut: Cut, rows: Iterable[int]):
        self._statements: list[_Statement] = []
        self._scopes: list[_Scope] = []
        self._parameters: dict[str, set[Key]] = {}
        self._optional: dict[str, set[Key]] = {}  # those with defaults
        self._module = _Scope(_MODULE, None, tree.body)
        self._collect(tree.body, self._module, None)
        self._variables = self._module.bound.union(*(one.outer for one in self._scopes))
        self._attributes = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }.union(*(one.bound for one in self._scopes if one.label == _ATTRIBUTE))
        self._keys = self._bound_in(cut, set(rows))
        self._keys |= self._named_in(_CHANGING.findall(cut.assignments))
        self._keys |= self._named_in(_CHANGING.findall(cut.functions), cut.functions)
        self._keys |= self._named_in(_NAME.findall(cut.others))
        for _, name in _NAME.findall("".join(cut)):  # which may hand over another value
            self._keys |= self._optional.get(name, set())
        self._spread()

    def holds(self, first: int, last: int) -> bool:
        """Whether a statement that stands in some 1-based rows rests on the text."""
        return any(
            one.tainted and one.first <= last and first <= one.last for one in self._statements
        )

    def _bound_in(self, cut: Cut, rows: set[int]) -> set[Key]:
        """What a text binds, in the scopes around some rows too."""
        parts = [match[1] for match in _OUTER.finditer(cut.functions)]
        for text in (cut.assignments, cut.others):
            parts += [match[1] or match[2] or "" for match in _BINDING.finditer(text)]
        labels = {_MODULE}.union(
            scope.label
            for scope in self._scopes
            if any(scope.first <= row <= scope.last for row in rows)
        )
        return {
            (label, name)
            for part in parts
            for dot, name in _NAME.findall(part)
            for label in ((_ATTRIBUTE,) if dot else labels)
        }

    def _named_in(self, names: Iterable[tuple[str, str]], function: str = "") -> set[Key]:
        """The keys of names, each behind its dot, that stand for more than a definition and are
        no local name of a function.
        """
        own = {
            name
            for match in _BINDING.finditer(function)
            for dot, name in _NAME.findall(match[1] or match[2] or "")
            if not dot
        }
        keys = {
            (_ATTRIBUTE if dot else _MODULE, name) for dot, name in names if dot or name not in own
        }
        return {key for key in keys if self._varies(key)}

    def _spread(self) -> None:
        """Take what a statement binds, changes or tests for tainted where it holds such a name."""
        size = -1
        while size < len(self._keys):
            size = len(self._keys)
            for statement in self._statements:
                inside = statement.around is not None and statement.around.tainted
                if statement.tainted or not inside and self._keys.isdisjoint(statement.names):
                    continue
                statement.tainted = True
                if statement.ends:
                    self._keys |= statement.scope.owners
                self._keys |= statement.stored
                for key in statement.names:
                    if statement.tests and self._varies(key):
                        self._keys.add(key)
                    self._keys |= self._parameters.get(key[1], set())

    def _varies(self, key: Key) -> bool:
        """Whether a name stands for more than an import or a definition."""
        label, name = key
        if label == _MODULE:
            return name in self._variables
        return label != _ATTRIBUTE or name in self._attributes

    def _collect(self, body: Iterable[ast.AST], scope: _Scope, around: _Statement | None) -> None:
        for node in body:
            row = getattr(node, "lineno", 0)
            statement = _Statement(row, row, scope, around)
            statement.tests = not isinstance(node, (*_ASSIGNING, ast.Return))
            statement.ends = isinstance(node, _ENDING)
            self._statements.append(statement)
            inner: list[ast.AST] = []
            stack = list(ast.iter_child_nodes(node))
            for name in _stored(node):
                _add(statement.stored, scope.key(name))
            while stack:
                part = stack.pop()
                if isinstance(part, ast.stmt):
                    inner.append(part)
                    continue
                statement.last = max(statement.last, getattr(part, "end_lineno", 0))
                if not isinstance(part, ast.arg) or not isinstance(node, _FUNCTIONS):
                    statement.names.update(_keys(part, scope))
                if isinstance(getattr(part, "ctx", None), ast.Store):
                    statement.stored.update(_keys(part, scope))
                    statement.tests |= isinstance(part, ast.Subscript)
                stack += ast.iter_child_nodes(part)
            statement.names |= statement.stored
            if isinstance(node, _DEFINITIONS):
                self._enter(node, scope)
            else:
                self._collect(inner, scope, statement)

    def _enter(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, above: _Scope
    ) -> None:
        """Collect the body of a definition."""
        of_class = isinstance(node, ast.ClassDef)
        label = _ATTRIBUTE if of_class else f"{node.lineno}:{node.col_offset}"
        scope = _Scope(label, above, node.body)
        scope.first, scope.last = node.lineno, node.end_lineno or node.lineno
        scope.owners = {*above.owners, (_MODULE, node.name)}
        _add(scope.owners, above.key(node.name))
        if above.label == _ATTRIBUTE:
            scope.owners.add((_ATTRIBUTE, node.name))
        self._scopes.append(scope)
        if isinstance(node, _FUNCTIONS):
            parameters = [part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)]
            scope.bound.update(parameters)
            if above.label == _ATTRIBUTE and parameters:
                scope.receiver = parameters.pop(0)
            for name in (node.name, *(owner for _, owner in above.owners)):
                self._parameters.setdefault(name, set()).update(
                    (label, parameter) for parameter in parameters
                )
                self._optional.setdefault(name, set()).update(
                    (label, parameter) for parameter in _with_default(node.args)
                )
        self._collect(node.body, scope, None)


def _with_default(parameters: ast.arguments) -> list[str]:
    placed = [*parameters.posonlyargs, *parameters.args]
    first = len(placed) - len(parameters.defaults)
    named = [
        parameter
        for parameter, default in zip(parameters.kwonlyargs, parameters.kw_defaults)
        if default is not None
    ]
    return [parameter.arg for parameter in (*placed[first:], *named)]


def _add(keys: set[Key], key: Key | None) -> None:
    if key is not None:
        keys.add(key)


def _keys(part: ast.AST, scope: _Scope) -> Iterator[Key]:
    """The names that a part of a statement holds itself."""
    if isinstance(part, ast.Attribute):
        yield _ATTRIBUTE, part.attr
    for name in _named(part):
        key = scope.key(name)
        if key is not None:
            yield key


def _named(node: ast.AST) -> list[str]:
    return [node.id] if isinstance(node, ast.Name) else _stored(node)


def _stored(node: ast.AST) -> list[str]:
    """The names that a node binds itself, but for those of imports and definitions."""
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    return []


def _inside(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of a body without those of the bodies of definitions in it."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _DEFINITIONS):
            stack += ast.iter_child_nodes(node)
