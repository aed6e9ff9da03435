"""Two names of one object: `b = a` and then `b.append(x)` changes what `a` stands for. And what the statements of a loop bind."""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.conditions import path_of
from tfnanlint.scopes import Assigned, Binding, Joined, Loop, Stored, unrefined

CHANGING = frozenset("append extend insert add update pop remove clear setdefault appendleft".split())
_MAX = 64  # bindings looked at for the object that a name stands for

Copies = dict[str, set[str]]


def objects(binding: Binding | None) -> set[Binding]:
    """The bindings that made the object which a binding stands for: of several when branches or rounds leave several."""
    found: set[Binding] = set()
    stack, seen = [binding], set()
    while stack and len(seen) < _MAX:
        one = unrefined(stack.pop())
        if one is None or one in seen:
            continue
        seen.add(one)
        sources = copied(one.node) if isinstance(one, Assigned) else []
        if isinstance(one, (Joined, Loop)):
            stack += one.bindings if isinstance(one, Joined) else [one.entry]
        stack += [one.point.binding(path) for path in sources]
        if not sources or isinstance(one.node, ast.IfExp):  # one of its branches may make an object
            found.add(one)
    return found


def copied(node: ast.expr) -> list[str]:
    """The names and attributes of which one is what an expression gives: `x`, `x if c else y`."""
    if isinstance(node, ast.IfExp):
        return copied(node.body) + copied(node.orelse)
    path = path_of(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    return [path] if path else []


def viewed(binding: Binding | None) -> str | None:
    """The name of the array of which a binding holds a part that shares its memory (`row = table[i]`), also after stores into it."""
    binding = unrefined(binding)
    while isinstance(binding, Stored):
        binding = unrefined(binding.base)
    return whole(binding.node) if isinstance(binding, Assigned) else None


def whole(node: ast.expr) -> str | None:
    """`table` of `table[i]`."""
    return path_of(node.value) if isinstance(node, ast.Subscript) else None


def extends(node: ast.AugAssign) -> bool:
    """Whether it changes a list in place: `b += [x]`."""
    return isinstance(node.op, ast.Add) and isinstance(node.value, (ast.List, ast.ListComp))


def copy(copies: Copies, path: str | None, sources: list[str]) -> None:
    """Note that `path` may be another name of what one of `sources` stands for."""
    for source in sources if path else ():
        copies.setdefault(path, set()).add(source)
        copies.setdefault(source, set()).add(path)


def connected(paths: set[str], *copies: Copies) -> set[str]:
    """Paths with those that copies may have made names of the same objects."""
    found, stack = set(paths), list(paths)
    while stack:
        path = stack.pop()
        for pairs in copies:
            more = pairs.get(path, found) - found
            found |= more
            stack += more
    return found


class Bindings:
    """What the statements of a body (not those of nested functions) bind: `paths`; of these, `changed` are objects that are
    changed in place, `parts` attributes and elements with their owners, `copies` names of one object, `views` names of parts of arrays."""

    def __init__(self, body: list[ast.stmt]):
        self.paths: set[str] = set()
        self.changed: set[str] = set()
        self.parts: set[tuple[str, str]] = set()
        self.copies: Copies = {}
        self.views: list[tuple[str, str]] = []
        stack: list[Any] = list(body)
        while stack:
            node = stack.pop()
            match node:
                case ast.Assign(targets=targets, value=value):
                    self._bind(targets)
                    for target in targets:
                        copy(self.copies, path_of(target), copied(value))
                        if isinstance(target, ast.Name) and (viewed := whole(value)) is not None:
                            self.views.append((target.id, viewed))
                case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                    self._bind([target])
                    if isinstance(node, ast.AugAssign) and extends(node):
                        self._change(target)
                case ast.For() | ast.AsyncFor():
                    self._bind([node.target])
                    stack += node.body + node.orelse
                case ast.While() | ast.If():
                    stack += node.body + node.orelse
                case ast.With() | ast.AsyncWith():
                    self._bind([i.optional_vars for i in node.items if i.optional_vars is not None])
                    stack += node.body
                case ast.Try():
                    stack += node.body + node.orelse + node.finalbody
                    for handler in node.handlers:
                        stack += handler.body
                case ast.Match():
                    for one in node.cases:
                        stack += one.body
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=attr))) if attr in CHANGING:
                    self._bind([value])
                    self._change(value)

    def _bind(self, targets: list[ast.expr]) -> None:
        for target in targets:
            if isinstance(target, (ast.Tuple, ast.List)):
                self._bind(target.elts)
            elif isinstance(target, ast.Starred):
                self._bind([target.value])
            else:
                for node in (target, target.value) if isinstance(target, ast.Subscript) else (target,):
                    path = path_of(node)
                    if path is not None:
                        self.paths.add(path)
                if isinstance(target, ast.Subscript):
                    self._change(target.value)
                path = path_of(target)
                if path is not None and not isinstance(target, ast.Name):
                    self.parts.add((path_of(target.value), path))

    def with_aliases(self, copies: Copies) -> set[str]:
        """The paths, and other names of the objects that are changed, which `copies` made before or the body makes."""
        changed = self.changed | {array for view, array in self.views if view in self.changed}
        found = self.paths | connected(changed, copies, self.copies)
        for owner, path in self.parts:
            found.update(alias + path[len(owner):] for alias in connected({owner}, copies, self.copies))
        return found

    def _change(self, node: ast.expr) -> None:
        path = path_of(node)
        if path is not None:
            self.changed.add(path)
