"""Name resolution: which import or table row a name or attribute chain leads to."""

from __future__ import annotations

import ast
import builtins
from functools import lru_cache
from typing import Any, Final

from tfnanlint.conventions.identifiers import gives_size, is_epsilon
from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.ops.families.python import limit
from tfnanlint.ops.names import ROOTS, canonical, is_tensorflow, of_import
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import Op, namespaces
from tfnanlint.ops.traits import ARITHMETIC
from tfnanlint.program.module import Module
from tfnanlint.program.scope import (
    UNASKED,
    Assigned,
    Binding,
    Imported,
    Joined,
    Point,
    Refined,
    Scope,
    unrefined,
)
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import ATTRIBUTE, NAME, NOUGHT
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import NO_CONSTANT, Namespace, Note, Value, unknown

MAX_HOPS: Final = 6  # re-exports followed from one name
_BUILTINS: Final = frozenset(dir(builtins))
SMALL = (1e-7, 0.1)  # what an epsilon of which no number is known is taken to be
_CALLEES: Final = frozenset((ast.Name, ast.Call, ast.Attribute))


@lru_cache(maxsize=None)
def _namespace(name: str) -> Namespace:
    """One object for each module, so that two values that hold it are seen to be the same."""
    return Namespace(name)


def _bound_in(scope: Scope, node: ast.expr) -> bool:
    """Whether a name or attribute chain begins with a name that a scope binds, or with another
    expression; else it means the same in every call of the function.
    """
    while type(node) is ATTRIBUTE:
        node = node.value
    return type(node) is not NAME or node.id in scope.history or node.id in scope.shared


def asks_size(function: ast.expr, point: Point) -> bool:
    """Whether a function of another file, which could not be followed, says by its name that it
    gives sizes (`ps.shape(x)`).
    """
    if not gives_size(leaf(function)):
        return False
    owner = function.value if isinstance(function, ast.Attribute) else function
    return isinstance(owner, ast.Name) and isinstance(unrefined(point.lookup(owner.id)), Imported)


def is_supposed(value: Value) -> bool:
    """Whether a value is what `supposed` takes an epsilon for, of which only the name is known."""
    return (value.lo, value.hi) == SMALL and isinstance(value.origin, Note)


def settable(value: Value) -> bool:
    """Whether a value can be a setting: nothing is known of it."""
    return not value.known and value.obj is None and value.kind in ("unknown", "number", "none")


def small(value: Value) -> bool:
    """Whether a value is a number such as epsilons are."""
    return value.is_number and value.kind == "number" and 0 < value.lo <= SMALL[1]


def fallback(instead: Value, node: ast.expr, point: Point) -> Value:
    """A setting that an epsilon stands in for where it is not given (`smooth or 1e-7`,
    `eps if eps is not None else 1e-7`): taken for one itself, small and positive.
    """
    note = Note(
        f"'{point.module.source.segment(node)}' is taken for a small positive number by "
        "what stands in for it",
        node,
        point.module.source,
    )
    return Value(min(instead.lo, SMALL[0]), SMALL[1], kind="number", origin=note)


def resolve(ev: Evaluator, node: ast.expr, point: Point) -> str | None:
    """Canonical dotted name of a name or attribute chain that leads to an import;
    None otherwise.
    """
    if point.over is not None:
        return _resolve(ev, node, point, 0)
    scope = point.scope
    name = scope.callees.get(node, UNASKED)
    if name is not UNASKED:
        return name
    always = scope.function.callees if scope.function is not None else scope.callees
    name = always.get(node, UNASKED)
    if name is UNASKED:
        name = _resolve(ev, node, point, 0)
        if _bound_in(scope, node):
            always = scope.callees
        always[node] = name
    return name


def _resolve(ev: Evaluator, node: ast.expr, point: Point, depth: int) -> str | None:
    if type(node) is ATTRIBUTE:
        base = (
            resolve(ev, node.value, point)
            if depth == 0
            else _resolve(ev, node.value, point, depth + 1)
        )
        return canonical(f"{base}.{node.attr}") if base else _through_module(ev, node, point, depth)
    if type(node) is NAME and depth < 12:
        binding = point.lookup(node.id)
        if binding is None:
            return unbound(ev, node.id, point)
        return resolve_binding(ev, binding, depth)
    return None


def _through_module(ev: Evaluator, node: ast.Attribute, point: Point, depth: int) -> str | None:
    """`compat.cast` of a file of the project that stands for TensorFlow: `from tensorflow import *`
    and some names more.
    """
    held = point.lookup(node.value.id) if isinstance(node.value, ast.Name) else None
    module = exported(ev, held) if isinstance(held, Imported) and depth < MAX_HOPS else None
    if module is None or isinstance(module, Binding) or not module.stars:
        return None
    binding = top_level(ev, module, node.attr)
    if binding is None:
        return _star_import(ev, node.attr, module)
    return resolve_binding(ev, binding, depth + 1) or _copy_of(ev, node.attr, binding, module)


def _star_import(ev: Evaluator, name: str, module: Module) -> str | None:
    """The canonical name that a star import of TensorFlow gives a name."""
    names = (of_import(f"{base}.{name}") for base, level in module.stars if level == 0)
    return next((found for found in names if is_tensorflow(found)), None)


def _copy_of(ev: Evaluator, name: str, binding: Binding, module: Module) -> str | None:
    """`nn = copy_of(nn)` below a star import: the part of TensorFlow with that name, whatever
    copies it.
    """
    node = binding.node if isinstance(binding, Assigned) else None
    if not isinstance(node, ast.Call) or len(node.args) != 1 or leaf(node.args[0]) != name:
        return None
    canonical_name = _star_import(ev, name, module)
    return canonical_name if canonical_name in namespaces() else None


def resolve_binding(ev: Evaluator, binding: Binding, depth: int) -> str | None:
    if isinstance(binding, Imported):
        return _resolve_import(ev, binding, depth)
    if isinstance(binding, Assigned) and isinstance(binding.node, (ast.Name, ast.Attribute)):
        return _resolve(ev, binding.node, binding.point, depth + 1)
    if isinstance(binding, Refined):
        return resolve_binding(ev, binding.base, depth + 1) if depth < 12 else None
    if isinstance(binding, Joined) and depth < 12:
        # `try: import a as tf / except ImportError: tf = None`; two different functions are no
        # name.
        names = {resolve_binding(ev, option, depth + 1) for option in binding.bindings} - {None}
        return names.pop() if len(names) == 1 and _only_imports(ev, binding) else None
    return None


def _only_imports(ev: Evaluator, binding: Binding) -> bool:
    """Whether every option leads to an import or to None."""
    if isinstance(binding, Joined):
        return all(_only_imports(ev, option) for option in binding.bindings)
    if isinstance(binding, Assigned):
        return isinstance(binding.node, (ast.Name, ast.Attribute, ast.Constant))
    return isinstance(binding, (Imported, Refined))


def _resolve_import(ev: Evaluator, binding: Imported, depth: int) -> str | None:
    name = of_import(binding.dotted) if binding.level == 0 else None
    if name is not None and (binding.module is None or name in ev.table or name in ROOTS):
        return name
    target = exported(ev, binding) if depth < MAX_HOPS else None
    if isinstance(target, Binding):
        return resolve_binding(ev, target, depth + 1)
    return name if target is None else None


def exported(ev: Evaluator, binding: Imported) -> Any:
    """What an import of the project leads to: a module, or a binding at the top level of one; None
    outside.
    """
    if binding.target is not UNASKED:
        return binding.target
    project = binding.module.project if binding.module is not None else None
    if project is None:
        return None
    module, rest = project.find(binding.dotted, binding.level, binding.module.source.path)
    target = (
        module
        if module is None or not rest
        else top_level(ev, module, rest)
        if "." not in rest
        else None
    )
    if not project.busy:  # else a file is being walked, and not all of its names are bound
        binding.target = target
    return target


def top_level(ev: Evaluator, module: Module, name: str, hops: int = 0) -> Binding | None:
    """The binding of a name at the end of a module, star imports included."""
    binding = (
        module.scope.at(name)
        if name not in module.scope.shared
        else module.scope.shared_binding(name)
    )
    if binding is None and hops < MAX_HOPS and module.project is not None:
        for base, level in module.stars:
            exporter, rest = module.project.find(base, level, module.source.path)
            if exporter is not None and not rest and exporter is not module:
                binding = binding or top_level(ev, exporter, name, hops + 1)
    return binding


def unbound(ev: Evaluator, name: str, point: Point) -> str | None:
    for base, level in point.module.stars:
        if level == 0 and of_import(f"{base}.{name}") in ev.table:
            return of_import(f"{base}.{name}")
    return f"builtins.{name}" if name in _BUILTINS else None


def starred(ev: Evaluator, name: str, point: Point) -> Binding | None:
    """A name that a star import of a project file brings in."""
    return top_level(ev, point.module, name) if point.module.stars else None


def row(ev: Evaluator, function: ast.expr, point: Point) -> tuple[Op | None, str]:
    """The table row of a callee, and the canonical name it was spelled with."""
    name = resolve(ev, function, point)
    if name is not None:
        op = ev.table.get(name)
        if op is not None or type(function) is ATTRIBUTE:
            return op, name
    if name is None and type(function) in _CALLEES:
        value = callee(ev, function, point)
        if value is not None and isinstance(value.obj, Op):
            return value.obj, value.const if isinstance(value.const, str) else value.obj.name
    return None, name or ""


def callee(ev: Evaluator, function: ast.expr, point: Point) -> Value | None:
    """The value of a callee expression when it can be something of the program."""
    if type(function) is NAME:
        binding = point.lookup(function.id) or starred(ev, function.id, point)
        return binding.value(ev) if binding is not None else None
    return ev.evaluate(function, point)


def _is_computed(value: Value) -> bool:
    """Whether a value is computed from others none of which is an epsilon (`eps = target - output`,
    `eps = x * 0.5`): it has either sign, whatever it is called.
    """
    origin = value.origin
    return (
        isinstance(origin, Site)
        and origin.op.name in ARITHMETIC
        and not any(is_supposed(origin.value(name)) for name in ("x", "y"))
    )


def supposed(ev: Evaluator, value: Value, name: str, node: ast.expr, point: Point) -> Value:
    """A number of which only the name is known, when that says epsilon: small and positive, unless
    0 is written as its default.
    """
    kind = value.kind  # asked for first: that of most values is another one
    if (
        kind != "unknown"
        and kind != "number"
        or value.known
        or not is_epsilon(name)
        or _is_computed(value)
    ):
        return value
    if value.zero and isinstance(value.origin, Note) and value.origin.default == NOUGHT:
        note = Note(
            f"'{name}' is taken for a small number by its name, or for its default",
            node,
            point.module.source,
            default=NOUGHT,
        )
        return Value(
            0.0, SMALL[1], kind=value.kind, dtype=value.dtype, origin=note, token=value.token
        )
    note = Note(
        f"'{name}' is taken for a small positive number by its name", node, point.module.source
    )
    return Value(*SMALL, kind=value.kind, dtype=value.dtype, origin=note, token=value.token)


def named(ev: Evaluator, name: str) -> Value | None:
    """The value of a canonical name: a constant, an op as a function, or None."""
    constant = ev.constants.get(name)
    if constant is not None:
        return constant
    op = ev.table.get(name)
    if op is not None:
        return Value(kind="function", obj=op, const=name)
    base, _, attribute = name.rpartition(".")
    dtype = ev.constants.get(base)
    if dtype is not None and dtype.kind == "dtype":
        return limit(dtype.const, attribute)
    return Value(kind="module", obj=_namespace(name)) if name in namespaces() else None


class Names:
    """The part of the interpreter that reads names."""

    def __init__(self) -> None:
        self.importing: dict[Binding, Value] = {}

    def imported(self, ev: Evaluator, binding: Imported) -> Value:
        """What an import gives; packages that import a name from each other give nothing."""
        for _ in range(MAX_HOPS):
            name = of_import(binding.dotted) if binding.level == 0 else None
            known = named(ev, name) if name is not None else None
            if known is not None:
                return known
            target = exported(ev, binding) if name not in ROOTS else None
            if not isinstance(target, Imported):
                break
            binding = target
        if isinstance(target, Binding):
            return self._once(ev, target) if not isinstance(target, Imported) else unknown()
        if target is not None:
            return Value(kind="module", obj=target)
        return Value(
            kind="module", const=NO_CONSTANT, origin=Note(f"imported from {binding.dotted}")
        )

    def _once(self, ev: Evaluator, target: Binding) -> Value:
        """What a name of another file stands for; nothing where that waits for this import itself
        (`try: from b import x` in both of two files).
        """
        return assumptions.once(ev, self.importing, target, unknown(), target.value, ev)
