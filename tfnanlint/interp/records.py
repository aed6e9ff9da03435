"""Records: named tuples and dataclasses, what they are made with, and what `__post_init__` makes of
it.
"""

from __future__ import annotations

import ast

from tfnanlint.interp import arguments
from tfnanlint.interp.callgraph import callers, stores
from tfnanlint.interp.names import SMALL
from tfnanlint.ops.frameworks import RECORD_BASES, RECORD_COPIES
from tfnanlint.program.functions import ClassObject, Function, Instance
from tfnanlint.program.module import Module
from tfnanlint.program.scope import Assigned, Binding, Point, Scope
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import NOUGHT, nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Note, Value

_LAST = "__post_init__"  # what a dataclass runs when its fields are set
MAX_BINDINGS = 24  # assignments joined at one attribute


class Entry(Binding):
    """What a field of a dataclass holds when `__post_init__` begins."""

    __slots__ = ("cls", "name")

    def __init__(self, cls: ClassObject, name: str):
        self.kept = None
        self.cls = cls
        self.name = name

    def compute(self, interpreter: Evaluator) -> Value:
        return at_entry(interpreter, self)


def made_with(ev: Evaluator, cls: ClassObject, attr: str) -> list[Binding]:
    """What the calls of a dataclass or named tuple hand to one of its fields."""
    if attr not in cls.fields or ev.method(cls, "__init__"):
        return []
    calls = [
        (call, point)
        for one in (cls, *ev.heirs(cls))
        for call, point in callers.calls_in_project(ev, cls, one.name)
    ]
    bindings = [
        _handed_to_field(ev, Instance(cls, call, point), attr)
        for call, point in calls[: MAX_BINDINGS + 1]
    ]
    # all others, for any text has a `replace`, are too many to be read
    makers = dict.fromkeys([point.scope.module for _, point in calls])
    bindings += [one for module in makers for one in _copied_with(ev, cls, module, attr)]
    return [one for one in bindings if one is not None]


def _copied_with(ev: Evaluator, cls: ClassObject, module: Module, attr: str) -> list[Binding]:
    """What the calls in a file that copy an object of a class, or one of which nothing is known,
    put into a field.
    """
    bindings = []
    for call, point in [one for name in RECORD_COPIES for one in module.calls_to(name, ev)]:
        binding = _replacements(call, point).get(attr)
        record = call.args[0] if call.args else getattr(call.func, "value", None)
        if binding is not None and record is not None:
            held = ev.evaluate(record, point).obj
            if not isinstance(held, Instance) or held.cls is cls:
                bindings.append(binding)
    return bindings[:MAX_BINDINGS]


def copy(ev: Evaluator, record: Value, call: ast.Call, point: Point) -> Value | None:
    """`dataclasses.replace(config, eps=1e-6)` and `state._replace(mean=x)`: the same record with
    other fields; None for what is none.
    """
    held = record.obj
    if (
        not isinstance(held, Instance)
        or not _is_record(held.cls)
        or any([one.arg is None for one in call.keywords])
    ):
        return None
    copied = Instance(held.cls, held.node, held.point)
    copied.replaced = held.replaced | _replacements(call, point)
    return Value(kind="instance", obj=copied)


def field(ev: Evaluator, instance: Instance, attr: str) -> Binding | None:
    """What a named tuple or dataclass holds under a name because it was made with it; None where
    that is not seen, or changed.
    """
    if mended(ev, instance.cls, attr) is not None:
        return None
    if instance.point is None or _is_stored_again(ev, instance.cls, attr, instance.point):
        return None
    return instance.replaced.get(attr) or _handed_to_field(ev, instance, attr)


def _handed_to_field(ev: Evaluator, instance: Instance, attr: str) -> Binding | None:
    cls, node, point = instance.cls, instance.node, instance.point
    if node is None or point is None or "__init__" in cls.methods or not _is_record(cls):
        return None
    positional, keywords, complete = arguments.arguments_of(ev, node, point)
    return {**dict(zip(cls.fields, positional)), **keywords}.get(attr) if complete else None


def _is_stored_again(ev: Evaluator, cls: ClassObject, attr: str, point: Point) -> bool:
    """Whether a method of a dataclass, but for the last one that makes it, or the file where it
    stands or where an object is made assigns a field.
    """
    for base in ev.lineage(cls):
        if base.sets_by_name(attr) or any([name != _LAST for name in base.assigners(attr)]):
            return True
    return any([stores.is_assigned(ev, cls, attr, module) for module in (cls.module, point.module)])


def mended(ev: Evaluator, cls: ClassObject, attr: str) -> Binding | None:
    """What a field holds at the end of the `__post_init__` that objects of a class run, which tests
    or changes it; None where it does neither.
    """
    lineage = ev.lineage(cls)
    if not any([attr in one.fields for one in lineage]):
        return None
    for base in lineage:
        method = base.methods.get(_LAST)
        if method is None:
            continue
        scope = ev.activation(method) if method.node.args.args and _is_record(base) else None
        if scope is None or scope.returns:
            return None
        held = scope.at(f"{method.node.args.args[0].arg}.{attr}")
        if held is not None and not isinstance(held, Entry):
            return held
        if not _goes_on(method):
            return None
    return None


def enter(ev: Evaluator, function: Function, scope: Scope) -> None:
    """Bind the fields of a dataclass in its `__post_init__` before that is walked."""
    cls = function.owner
    if cls is not None and function.node.args.args and _is_record(cls):
        for name in dict.fromkeys([name for one in ev.lineage(cls) for name in one.fields]):
            scope.bind(f"{function.node.args.args[0].arg}.{name}", Entry(cls, name))


def at_entry(ev: Evaluator, entry: Entry) -> Value:
    """What a field was made with or is by default. Of one that is 0 in every call that is seen, it
    is not known how large it may be: the class has it for other calls.
    """
    cls, name = entry.cls, entry.name
    bindings: list[Binding] = []
    for relative in dict.fromkeys([*ev.lineage(cls), *ev.heirs(cls)]):
        default = relative.scope.at(name)
        bindings += ([default] if default is not None else []) + made_with(ev, relative, name)
    value = ev.joined([one.value(ev) for one in dict.fromkeys(bindings)])
    if not value.is_number or value.lo != 0:
        return value
    return Value(
        0.0,
        SMALL[1],
        kind="number",
        origin=Note(f"'{name}' is 0 by default", cls.node, cls.module.source, default=NOUGHT),
    )


def _replacements(call: ast.Call, point: Point) -> dict[str, Binding]:
    """The fields that a call hands over by their names."""
    return {one.arg: Assigned(one.value, point) for one in call.keywords if one.arg is not None}


def begins_last(function: Function) -> bool:
    """Whether a function is the one that a dataclass runs when its fields are set."""
    return function.name == _LAST


def _goes_on(method: Function) -> bool:
    """Whether a `__post_init__` runs that of a base: `super().__post_init__()`."""
    return any(
        [isinstance(node, ast.Call) and leaf(node.func) == _LAST for node in nodes_in(method.node)]
    )


def _is_record(cls: ClassObject) -> bool:
    return not {
        leaf(getattr(one, "func", one)) for one in [*cls.node.bases, *cls.node.decorator_list]
    }.isdisjoint(RECORD_BASES)
