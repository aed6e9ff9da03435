"""Name resolution: which import or table row a name or attribute chain leads to."""

from __future__ import annotations

import ast
import builtins

from tfnanlint.names import canonical
from tfnanlint.ops import Op
from tfnanlint.scopes import Assigned, Binding, Imported, Joined, Point, Refined
from tfnanlint.values import NO_CONSTANT, Note, Value

_BUILTINS = frozenset(dir(builtins))


class Resolution:
    """The part of the interpreter that reads names."""

    table: dict[str, Op]
    constants: dict[str, Value]

    def resolve(self, node: ast.expr, point: Point) -> str | None:
        """Canonical dotted name of a name or attribute chain that leads to an import; None otherwise."""
        cache = point.scope.callees if point.over is None else None
        if cache is not None and node in cache:
            return cache[node]
        found = self._resolve(node, point, 0)
        if cache is not None:
            cache[node] = found
        return found

    def _resolve(self, node: ast.expr, point: Point, depth: int) -> str | None:
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value, point) if depth == 0 else self._resolve(node.value, point, depth + 1)
            return canonical(f"{base}.{node.attr}") if base else None
        if isinstance(node, ast.Name) and depth < 12:
            binding = point.lookup(node.id)
            if binding is None:
                return self._unbound(node.id, point)
            return self._resolve_binding(binding, depth)
        return None

    def _resolve_binding(self, binding: Binding, depth: int) -> str | None:
        if isinstance(binding, Imported):
            return canonical(binding.dotted) if binding.level == 0 else None
        if isinstance(binding, Assigned) and isinstance(binding.node, (ast.Name, ast.Attribute)):
            return self._resolve(binding.node, binding.point, depth + 1)
        if isinstance(binding, Refined):
            return self._resolve_binding(binding.base, depth + 1) if depth < 12 else None
        if isinstance(binding, Joined) and depth < 12:
            for option in binding.bindings:
                found = self._resolve_binding(option, depth + 1)
                if found:
                    return found
        return None

    def _unbound(self, name: str, point: Point) -> str | None:
        for base, level in point.module.stars:
            if level == 0 and canonical(f"{base}.{name}") in self.table:
                return canonical(f"{base}.{name}")
        return f"builtins.{name}" if name in _BUILTINS else None

    def row(self, function: ast.expr, point: Point) -> tuple[Op | None, str]:
        """The table row of a callee, and the canonical name it was spelled with."""
        name = self.resolve(function, point)
        if name is not None:
            found = self.table.get(name)
            if found is not None or isinstance(function, ast.Attribute):
                return found, name
        if isinstance(function, (ast.Name, ast.Call, ast.Attribute)) and name is None:
            callee = self.callee(function, point)
            if callee is not None and isinstance(callee.obj, Op):
                return callee.obj, callee.const if isinstance(callee.const, str) else callee.obj.name
        return None, name or ""

    def callee(self, function: ast.expr, point: Point) -> Value | None:
        """The value of a callee expression when it can be something of the program."""
        if isinstance(function, ast.Name):
            binding = point.lookup(function.id)
            return binding.value(self) if binding is not None else None
        return self.evaluate(function, point)

    def imported(self, binding: Imported) -> Value:
        name = canonical(binding.dotted) if binding.level == 0 else None
        if name is not None:
            known = self.named(name)
            if known is not None:
                return known
        return Value(kind="module", const=NO_CONSTANT, origin=Note(f"imported from {binding.dotted}"))

    def named(self, name: str) -> Value | None:
        """The value of a canonical name: a constant, an op as a function, or None."""
        constant = self.constants.get(name)
        if constant is not None:
            return constant
        found = self.table.get(name)
        if found is not None:
            return Value(kind="function", obj=found, const=name)
        return None
