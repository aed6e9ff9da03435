"""Where what a function computes goes: into comparisons and summaries only, or on to somebody."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Any

from tfnanlint.conditions import leaf
from tfnanlint.nodes import nodes_in, parts_of
from tfnanlint.scopes import Assigned, Scope

# What asks how a value stands to others, and gives no part of it on: -Inf is a right answer to these, NaN is "no".
COMPARISONS = frozenset("less less_equal greater greater_equal equal not_equal isclose "
                        "is_nan is_inf is_finite isnan isinf isfinite categorical shape size rank zeros_like ones_like".split())
# What lets no gradient back, too.
CUTS = COMPARISONS | frozenset("argmax argmin argsort searchsorted sorted sign round floor ceil int bool "
                               "stop_gradient assign assign_add assign_sub".split())
_SINKS = frozenset("gradient gradients jacobian batch_jacobian minimize compute_gradients get_gradients".split())
_ASKED = frozenset("shape dtype name ndim".split())
_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Endings:
    """What the statements of a scope assign, and where that goes: found once, for the questions of every site in it."""

    def __init__(self, scope: Scope, module: Any):
        self._scope = scope
        self._module = module
        self._rows: dict[int, list[tuple[str, ast.AST]]] = {}
        self._onward: dict[frozenset[str], set[str]] = {}
        for path, (_, bindings) in scope.history.items():
            for binding in bindings:
                if isinstance(binding, Assigned) and binding.point.scope is scope and hasattr(binding.node, "lineno"):
                    for row in range(binding.node.lineno, (binding.node.end_lineno or binding.node.lineno) + 1):
                        self._rows.setdefault(row, []).append((path, binding.node))

    @cached_property
    def _shown(self) -> dict[ast.AST, bool]:
        """For each expression that is assigned to a name: whether every way from there ends in a summary. Last statement first,
        so that what reads a name is known before what writes it."""
        found: dict[ast.AST, bool] = {}
        ways: dict[str, set[bool]] = {}  # by name: how what the later statements make of it ends
        for _, _, node, _ in sorted(self._scope.statements, key=lambda one: -one[0]):
            into = self.assigned(node)
            shown = into if into is not None else self._module.source.segment(node) if node in self._module.discarded else ""
            if "summar" in shown.lower():
                ends = {True}
            else:
                ends = set(ways.get(into, ())) if into is not None and into.isidentifier() else {False}
            found[node] = ends == {True}
            for name in {inner.id for inner in nodes_in(node) if isinstance(inner, ast.Name)}:
                ways.setdefault(name, set()).update(ends)
        return found

    def only_shown(self, node: ast.AST) -> bool:
        """Whether the name that an expression is assigned to goes into summaries only."""
        return any(self._shown.get(whole, False) for _, whole in self._rows.get(node.lineno, ())
                   if any(one is node for one in nodes_in(whole)))

    def paths(self, node: ast.AST) -> set[str]:
        """The names and attributes that are assigned an expression with `node` in it."""
        return {path for path, whole in self._rows.get(node.lineno, ()) if any(one is node for one in nodes_in(whole))}

    def assigned(self, node: ast.AST) -> str | None:
        """The one path that the statement around an expression assigns; None for several or none."""
        found = self.paths(node)  # a branch and what follows it may hold one binding both
        return found.pop() if len(found) == 1 else None

    def only_into(self, node: ast.AST, calls: frozenset[str]) -> bool:
        """Whether every way from an expression ends in a comparison, or in a call of one of `calls`."""
        whole = next((one for one in self._on_row.get(node.lineno, ()) if any(inner is node for inner in nodes_in(one))), None)
        if whole is None:
            return False
        if _ends(whole, node, calls):
            return True
        into = self.assigned(whole)
        return into is not None and self._later(into, whole) and into not in self._going_on(calls)

    @cached_property
    def _on_row(self) -> dict[int, list[ast.AST]]:
        """The expressions that touch each row."""
        found: dict[int, list[ast.AST]] = {}
        for first, last, one, _ in self._scope.statements:
            for row in range(first, last + 1):
                found.setdefault(row, []).append(one)
        return found

    def _later(self, name: str, whole: ast.AST) -> bool:
        """Whether a name is read further down: what ends here goes on where nobody sees it."""
        return any(read.lineno > whole.end_lineno for _, read, _ in self._read.get(name, ()))

    @cached_property
    def _read(self) -> dict[str, list[tuple[ast.AST, ast.Name, str | None]]]:
        """For each name: where it is read, and what is assigned there. What a function inside reads is read by nobody knows whom."""
        found: dict[str, list[tuple[ast.AST, ast.Name, str | None]]] = {}
        seen: set[ast.AST] = set()
        for _, _, whole, _ in self._scope.statements:
            if whole not in seen:  # a loop is walked more than once
                seen.add(whole)
                into = self.assigned(whole)
                for name in nodes_in(whole):
                    if isinstance(name, ast.Name):
                        found.setdefault(name.id, []).append((whole, name, into))
        for inner in nodes_in(self._scope.node):
            if isinstance(inner, _BODIES) and inner is not self._scope.node:
                for name in nodes_in(inner):
                    if isinstance(name, ast.Name):
                        found.setdefault(name.id, []).append((inner, name, None))
        return found

    def _going_on(self, calls: frozenset[str]) -> set[str]:
        """The names from which some way leads on: out of the function, into an object, or where nobody follows it."""
        if calls not in self._onward:
            into: dict[str, set[str]] = {}  # by name: the names that lead into it
            queue: list[str] = []
            for name, reads in self._read.items():
                for whole, node, target in reads:
                    if isinstance(whole, _BODIES) or not _ends(whole, node, calls):
                        if target is None or not self._later(target, whole) or _within(whole, node, _SINKS):
                            queue.append(name)
                        else:
                            into.setdefault(target, set()).add(name)
            found: set[str] = set()
            while queue:
                name = queue.pop()
                if name not in found:
                    found.add(name)
                    queue += into.get(name, ())
            self._onward[calls] = found
        return self._onward[calls]


def endings_of(scope: Scope, module: Any) -> Endings:
    """The answers for one scope, found once."""
    if scope not in module.endings:
        module.endings[scope] = Endings(scope, module)
    return module.endings[scope]


def goes_into(site: Any, module: Any, calls: frozenset[str]) -> bool:
    """Whether what a site gives only ends in comparisons and in `calls`, all inside of its own function."""
    point = site.point
    if point is None or point.over is not None or point.scope.function is None or not hasattr(site.node, "lineno"):
        return False
    return endings_of(point.scope, module).only_into(site.node, calls)


def _ends(whole: ast.AST, node: ast.AST, calls: frozenset[str]) -> bool:
    """Whether inside of an expression a part of it ends in a comparison or as an argument of one of `calls`, or is asked for its
    shape or dtype only."""
    for outer, inner in _above(whole, node):
        if isinstance(outer, ast.Compare) or isinstance(outer, ast.Attribute) and outer.attr in _ASKED:
            return True
        if isinstance(outer, ast.Call) and inner is not outer.func and leaf(outer.func) in calls:
            return True
    return False


def _within(whole: ast.AST, node: ast.AST, calls: frozenset[str]) -> bool:
    return any(isinstance(outer, ast.Call) and leaf(outer.func) in calls for outer, _ in _above(whole, node))


def _above(whole: ast.AST, node: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """(expression, the part of it that holds `node`) from `whole` inwards."""
    path: list[tuple[ast.AST, ast.AST]] = []
    while whole is not node:
        inner = next((child for child in parts_of(whole) if any(one is node for one in nodes_in(child))), None)
        if inner is None:
            return path
        path.append((whole, inner))
        whole = inner
    return path
