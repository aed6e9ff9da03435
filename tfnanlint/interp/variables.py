"""Variables: what those that training does not move hold; slots, hyperparameters of optimizers.

A variable holds what it was made with or what some assignment in its file left. Which variable an
assignment means is read from names and attributes; where one cannot be told, nothing is said.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from tfnanlint.conventions.roles import is_kind
from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp import names as resolution
from tfnanlint.ops.families.arrays import as_tensor
from tfnanlint.ops.frameworks import (
    OPTIMIZER_BASES,
    OPTIMIZER_DEFAULTS,
    SLOT_MAKERS,
    STEP_METHODS,
    TRAINING_METHODS,
    VARIABLE_CHANGES,
)
from tfnanlint.ops.models.variables import moved_by_training, started
from tfnanlint.ops.provenance import site_behind
from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.transfer import core as t
from tfnanlint.program.functions import Function, Handed, Instance
from tfnanlint.program.module import Module
from tfnanlint.program.scope import (
    Assigned,
    Binding,
    Element,
    Fixed,
    Iterated,
    Joined,
    Loop,
    Parameter,
    Point,
    Scope,
    unrefined,
)
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import INF, NO_CONSTANT, Note, Value, number, unknown

_MODULES: Final = frozenset("tf state_ops K backend ops moving_averages training_util".split())
# What trains, as text.
_TRAINS: Final = tuple([f".{name}(" for name in (*STEP_METHODS, *TRAINING_METHODS)])
MAX_CHANGES: Final = 24  # assignments joined at one variable
_CONTAINERS: Final = (ast.Subscript, ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)
_DEPTH: Final = 8  # names followed from a target to the call that made the variable


class Change(Binding):
    """What one assignment leaves in a variable: the value given, or the sum or difference with what
    it held.
    """

    __slots__ = ("state", "sign", "given")

    def __init__(self, state: Loop, sign: str, operand: Binding):
        self.kept = None
        self.state = state
        self.sign = sign
        self.given = operand

    def compute(self, interpreter: Evaluator) -> Value:
        operand = as_tensor(self.given.value(interpreter))
        if self.sign == "":
            return operand
        before = self.state.value(interpreter)
        if self.sign == "~":  # between what it held and what is given
            return interpreter.joined([before, operand])
        return t.add(before, operand) if self.sign == "+" else t.subtract(before, operand)


def _is_of_demonstration(start: Value, node: ast.expr, point: Point) -> bool:
    """Whether a variable starts with a number that is written in a script or notebook which takes
    gradients and trains nothing, `x = tf.Variable(2.0)`, and no function reads it, as it reads the
    weights of a model: it holds what the script assigns.
    """
    scope = point.scope
    return (
        (start.is_number or start.exact)
        and scope.function is None
        and bool(scope.tapes)
        and not scope.module.source.holds(_TRAINS)
        and not _is_read_in_function(node, scope.module)
    )


def _is_read_in_function(call: ast.expr, module: Module) -> bool:
    """Whether a function or lambda of a file reads a name that a call is assigned to."""
    names: set[str] = set()
    read: set[str] = set()
    for node in nodes_in(module.source.tree):
        if isinstance(node, ast.Assign) and node.value is call:
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            read |= {inner.id for inner in nodes_in(node) if isinstance(inner, ast.Name)}
    return not names or not names.isdisjoint(read)


def _added_to(variable: Site, value: Value) -> Value | None:
    """The other operand of a sum with what a variable holds, as `v.assign(v + x)` leaves."""
    total = made_by(value, "tf.add")
    for param, operand in (("x", "y"), ("y", "x")) if total is not None else ():
        held = site_behind(total.value(param))
        if held is not None and held.node is variable.node:
            return total.value(operand)
    return None


class Variables:
    """The part of the interpreter that knows what is kept from one step to the next."""

    def __init__(self) -> None:
        self.states: dict[Any, Loop | None] = {}
        self.changes: dict[Module, list] = {}

    def kept(self, ev: Evaluator, node: ast.Call, point: Point) -> Value | None:
        """What a method of an optimizer of the program gives that reads its state; None where
        nothing is known of it.
        """
        name = node.func.attr
        owner = ev.evaluate(node.func.value, point).obj
        if not isinstance(owner, Instance):
            return None
        if name == "_fallback_apply_state":
            return self._prepared(ev, owner)
        key = next(
            (
                a
                for a in [*node.args, *(k.value for k in node.keywords)]
                if isinstance(a, ast.Constant) and isinstance(a.value, str)
            ),
            None,
        )
        if key is None:
            return None
        if name == "_get_hyper":
            return self._hyperparameter(ev, owner, str(key.value))
        slot = self._slot(
            ev,
            owner,
            str(key.value),
            "_create_non_slot_variable" if name == "_get_non_slot_variable" else "add_slot",
        )
        return None if slot is None else self._as_state(ev, slot, node, point)

    def _as_state(self, ev: Evaluator, state: Loop, node: ast.Call, point: Point) -> Value | None:
        value = state.value(ev)
        if not value.known or value.lo > value.hi:
            return None
        note = Note(
            "a variable, by what its file assigns to it", node, point.module.source, value.origin
        )
        return value.but(kind="tensor", const=NO_CONSTANT, obj=None, origin=note)

    # Hyperparameters

    def _hyperparameter(self, ev: Evaluator, owner: Instance, name: str) -> Value | None:
        values = []
        for call, point in self._calls_in(ev, owner, "_set_hyper"):
            if (
                len(call.args) == 2
                and isinstance(call.args[0], ast.Constant)
                and call.args[0].value == name
            ):
                values.append(ev.evaluate(call.args[1], point))
        if not values and any(
            base.startswith(OPTIMIZER_BASES) for base in ev.foreign_bases(owner.cls)
        ):
            values = [number(OPTIMIZER_DEFAULTS[name])] if name in OPTIMIZER_DEFAULTS else []
        value = ev.joined(values) if values else None
        return (
            value.but(kind="tensor", const=NO_CONSTANT, dtype=None)
            if value is not None and value.known
            else None
        )

    def _calls_in(self, ev: Evaluator, owner: Instance, name: str) -> list[tuple[ast.Call, Point]]:
        """The calls of a method in the classes that an instance inherits from."""
        classes = ev.lineage(owner.cls)
        modules = dict.fromkeys(cls.module for cls in classes)
        calls = [call for module in modules for call in module.calls_to(name, ev)]
        return [
            (call, point)
            for call, point in calls
            if point.scope.function is not None and point.scope.function.owner in classes
        ]

    def _prepared(self, ev: Evaluator, owner: Instance) -> Value | None:
        """The numbers that `_prepare_local` of an optimizer computes
        for all variables of a step.
        """
        items: dict[str, Value] = {}
        for cls in reversed(ev.lineage(owner.cls)):
            method = cls.methods.get("_prepare_local")
            if method is not None:
                end = Point(ev.activation(method))
                items |= {key: ev.evaluate(node, end) for key, node in _stored(method.node)}
        return Value(kind="dict", obj=items) if items else None

    # Variables

    def remembered(self, ev: Evaluator, site: Site, value: Value) -> Value:
        """The value of a variable that training does not move: what it starts with, or any
        assignment leaves.
        """
        state = assumptions.once(ev, self.states, site.node, None, self._kept_in, ev, site, value)
        held = state.value(ev) if state is not None else None
        if held is None or not held.known or held.lo > held.hi:
            return Value(dtype=value.dtype) if state is not None else value
        return Value(
            held.lo,
            held.hi,
            held.zero,
            nan=held.nan,
            inf=held.inf,
            dtype=value.dtype,
            evident=held.evident,
        )

    def _kept_in(self, ev: Evaluator, site: Site, value: Value) -> Loop | None:
        start, node, point = started(site), site.node, site.point
        if not start.known:
            return None
        is_shown = _is_of_demonstration(start, node, point)
        if (
            not is_shown
            and moved_by_training(site, self._of_metric(ev, site))
            and not self._counts(ev, start, node, point)
        ):
            return None
        changes = self._changes(ev, node, point.module)
        if changes and point.over is not None and not self._are_told(ev, point.module):
            return None
        if is_shown and not changes:
            return Loop(Fixed(as_tensor(start, value.dtype)))
        return self._loop(ev, as_tensor(start, value.dtype), changes)

    def _counts(self, ev: Evaluator, start: Value, node: ast.expr, point: Point) -> bool:
        """Whether a variable starts with a number and its file only adds positive numbers to it:
        no program trains a counter.
        """
        changes = self._changes(ev, node, point.module) if start.is_number or start.exact else []
        return bool(changes) and all(
            sign == "+" and (value := given.value(ev)).is_number and value.lo > 0
            for sign, given in changes
        )

    def _of_metric(self, ev: Evaluator, site: Site) -> bool:
        owner = site.value("self").obj if "self" in site.args else None
        return isinstance(owner, Instance) and any(
            is_kind("metric", base) for base in ev.foreign_bases(owner.cls)
        )

    def _loop(self, ev: Evaluator, start: Value, changes: list[tuple[str, Binding]]) -> Loop | None:
        """The state as a loop over its changes; None when there is none, or too many."""
        if not 0 < len(changes) <= MAX_CHANGES:
            return None
        state = Loop(Fixed(start))
        state.rounds = [Change(state, sign, given) for sign, given in changes]
        return state

    def _changes(self, ev: Evaluator, node: ast.expr, module: Module) -> list[tuple[str, Binding]]:
        """The assignments in a file to the variable that a call made."""
        return [
            (sign, given)
            for target, sign, given, point in self._all_changes(ev, module)
            if node in self._makers(ev, target, point, _DEPTH)
        ]

    def _are_told(self, ev: Evaluator, module: Module) -> bool:
        """Whether the file tells of each assignment which variable it means: one of those that a
        comprehension makes has no name of its own.
        """
        changes = self._all_changes(ev, module)
        return all([self._makers(ev, target, point, _DEPTH) for target, _, _, point in changes])

    def assigned(self, ev: Evaluator, variable: Site) -> list[Value]:
        """What a file assigns to the variable that a site makes, one value for each place that does
        so.
        """
        if variable.point is None or not isinstance(variable.node, ast.Call):
            return []
        return [
            given.value(ev) for _, given in self._changes(ev, variable.node, variable.point.module)
        ]

    def increments(self, ev: Evaluator, variable: Site) -> list[Value] | None:
        """What a file adds to the variable that a site makes, which it sets back to 0 at most; None
        where it leaves something else in it.
        """
        if variable.point is None or not isinstance(variable.node, ast.Call):
            return None
        added: list[Value] = []
        for sign, operand in self._changes(ev, variable.node, variable.point.module):
            value = operand.value(ev)
            if sign == "" and value.exact and value.lo == 0:
                continue
            summand = _added_to(variable, value) if sign == "" else value
            if summand is None or sign not in ("", "+"):
                return None
            added.append(summand)
        return added

    def assigns(self, ev: Evaluator, variable: Site, scope: Scope, above: float = INF) -> bool:
        """Whether a function assigns something to the variable that a site makes, in a row above
        another one.
        """
        if variable.point is None or not isinstance(variable.node, ast.Call):
            return False
        return any(
            [
                point.scope is scope
                and target.lineno < above
                and variable.node in self._makers(ev, target, point, _DEPTH)
                for target, _, _, point in self._all_changes(ev, variable.point.module)
            ]
        )

    def _slot(self, ev: Evaluator, owner: Instance, name: str, maker: str) -> Loop | None:
        """A slot of an optimizer: what it starts with, or any assignment leaves; None where it is
        handed to an op as it is.
        """
        return assumptions.once(
            ev, self.states, (owner.cls, name), None, self._found_slot, ev, owner, name, maker
        )

    def _found_slot(self, ev: Evaluator, owner: Instance, name: str, maker: str) -> Loop | None:
        classes, changes = ev.lineage(owner.cls), []
        for module in dict.fromkeys(cls.module for cls in classes):
            for target, sign, operand, point in self._all_changes(ev, module):
                of_class = (
                    point.scope.function is not None and point.scope.function.owner in classes
                )
                if of_class and any(
                    _slot_name(made) == name for made in self._makers(ev, target, point, _DEPTH)
                ):
                    changes.append((sign, operand))
        return self._loop(ev, self._slot_start(ev, owner, name, maker), changes)

    def _slot_start(self, ev: Evaluator, owner: Instance, name: str, maker: str) -> Value:
        for call, point in self._calls_in(ev, owner, maker):
            if _slot_name(call) == name:
                keywords = {k.arg: k.value for k in call.keywords}
                initial = (
                    keywords.get("initial_value")
                    or keywords.get("initializer")
                    or (call.args[2] if len(call.args) > 2 else None)
                )
                if initial is not None:
                    start = ev.evaluate(initial, point)
                    return as_tensor(
                        start.obj.out(unknown(), start.obj.site)
                        if hasattr(start.obj, "out")
                        else start
                    )
        return number(0.0, "tensor")

    def _all_changes(
        self, ev: Evaluator, module: Module
    ) -> list[tuple[ast.expr, str, Binding, Point]]:
        """Every assignment to a variable in a file: its target, how it combines,
        and what is given.
        """
        if module not in self.changes:
            changes = self.changes[module] = []
            for name, sign in VARIABLE_CHANGES.items():
                for call, point in module.calls_to(name, ev):
                    parts = _parts(call, name, resolution.resolve(ev, call.func, point) is not None)
                    if parts is not None:
                        changes.append((parts[0], sign, Assigned(parts[1], point), point))
        return self.changes[module]

    def _makers(self, ev: Evaluator, target: Any, point: Point, depth: int) -> set[ast.Call]:
        """The calls that may have made what an expression stands for,
        as names and attributes tell.
        """
        if isinstance(target, ast.Call):
            return {target}
        if isinstance(target, ast.Name):
            return self._bound_makers(ev, point.lookup(target.id), depth)
        if isinstance(target, _CONTAINERS) and depth:
            parts = _elements_of(target)
            return set().union(*(self._makers(ev, part, point, depth - 1) for part in parts))
        if isinstance(target, ast.Attribute) and depth:
            if target.attr in ("handle", "read_value"):
                return self._makers(ev, target.value, point, depth - 1)
            owner = self._owner(ev, target.value, point)
            if owner is not None:
                return self._bound_makers(
                    ev, ev.find_attribute([owner, *ev.heirs(owner)], target.attr), depth - 1
                )
        return set()

    def _owner(self, ev: Evaluator, node: ast.expr, point: Point) -> Any:
        """The class whose instance `self` is."""
        function = point.scope.function
        spec = function.node.args.args if function is not None and function.bound else ()
        return (
            function.owner
            if spec and isinstance(node, ast.Name) and node.id == spec[0].arg
            else None
        )

    def _bound_makers(self, ev: Evaluator, binding: Any, depth: int) -> set[ast.Call]:
        binding = unrefined(binding)
        if binding is None or depth == 0:
            return set()
        if isinstance(binding, Assigned):
            return self._makers(ev, binding.node, binding.point, depth - 1)
        if isinstance(binding, (Element, Iterated)):
            return self._element_makers(ev, binding, depth - 1)
        if isinstance(binding, Handed):
            return self._bound_makers(ev, binding.binding, depth - 1)
        if isinstance(binding, Joined):
            return set().union(
                *(self._bound_makers(ev, one, depth - 1) for one in binding.bindings)
            )
        if isinstance(binding, Loop):
            return set().union(
                *(
                    self._bound_makers(ev, one, depth - 1)
                    for one in [binding.entry, *binding.rounds]
                )
            )
        if isinstance(binding, Parameter):
            function: Function = binding.function
            handed = ev.direct_arguments(function)
            return set().union(
                *(self._bound_makers(ev, bound.get(binding.name), depth - 1) for bound in handed)
            )
        return set()

    def _element_makers(
        self, ev: Evaluator, binding: Element | Iterated, depth: int
    ) -> set[ast.Call]:
        """The calls that may have made what a loop takes from a list, from one of those that `zip`
        runs through, or from what `enumerate` counts.
        """
        whole: Any = binding.whole if isinstance(binding, Element) else binding
        listed = unrefined(whole.iterable if isinstance(whole, Iterated) else whole)
        if not isinstance(listed, Assigned):
            return self._bound_makers(ev, listed, depth)
        node, index = listed.node, binding.index if isinstance(binding, Element) else 0
        if isinstance(node, ast.Call) and isinstance(index, int):
            place = {"zip": index, "enumerate": index - 1}.get(leaf(node.func), -1)
            if not 0 <= place < len(node.args):
                return set()
            node = node.args[place]
        return self._makers(ev, node, listed.point, depth)


def _elements_of(container: ast.expr) -> list[ast.expr]:
    """What the elements of a container are, as it is written, or the container they are read from:
    `f(v)` of `[f(v) for v in x]`, `a` and `b` of `(a, b)`, `x` of `x[i]`.
    """
    if isinstance(container, (ast.List, ast.Tuple)):
        return container.elts
    return [container.value if isinstance(container, ast.Subscript) else container.elt]


def _slot_name(call: ast.Call) -> str | None:
    if leaf(call.func) not in SLOT_MAKERS and "non_slot" not in leaf(call.func):
        return None
    for node in [*call.args, *(keyword.value for keyword in call.keywords)]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
    return None


def _parts(call: ast.Call, name: str, of_library: bool) -> tuple[ast.expr, ast.expr] | None:
    """The target of an assignment and what it is given: `v.assign(x)`, `tf.assign(v, x)`, which is
    a function `of_library`, `self._resource_scatter_add(v, i, x)`.
    """
    args = call.args
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if "scatter" in name:
        return (args[0], args[2]) if len(args) > 2 else None
    if (
        isinstance(call.func, ast.Attribute)
        and not of_library
        and leaf(call.func.value) not in _MODULES
        and not name.startswith(("update", "moving"))
    ):
        value = args[0] if args else keywords.get("value") or keywords.get("delta")
        return (call.func.value, value) if value is not None else None
    target = (
        args[0] if args else keywords.get("ref") or keywords.get("variable") or keywords.get("x")
    )
    value = args[1] if len(args) > 1 else keywords.get("value")
    return (target, value) if target is not None and value is not None else None


def _stored(method: ast.FunctionDef) -> list[tuple[str, ast.expr]]:
    """What `_prepare_local` puts into the state of a device: `apply_state[...].update(dict(a=1))`,
    `apply_state[...]["a"] = 1`.
    """
    entries: list[tuple[str, ast.expr]] = []
    for node in nodes_in(method):
        if (
            isinstance(node, ast.Call)
            and leaf(node.func) == "update"
            and isinstance(node.func.value, ast.Subscript)
            and node.args
        ):
            mapping = node.args[0]
            if isinstance(mapping, ast.Call):
                entries += [
                    (keyword.arg, keyword.value) for keyword in mapping.keywords if keyword.arg
                ]
            elif isinstance(mapping, ast.Dict):
                entries += [
                    (str(key.value), value)
                    for key, value in zip(mapping.keys, mapping.values)
                    if isinstance(key, ast.Constant)
                ]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            if isinstance(target.value, ast.Subscript) and isinstance(target.slice, ast.Constant):
                entries.append((str(target.slice.value), node.value))
            elif isinstance(node.value, ast.Call) and leaf(node.value.func) == "dict":
                entries += [
                    (keyword.arg, keyword.value) for keyword in node.value.keywords if keyword.arg
                ]
    return entries
