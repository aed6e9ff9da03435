"""Layers and losses of libraries as bases: an object of `class Head(layers.Dense)` is a Dense, and
what it does not override does what Dense does. It was made with what `__init__` hands on.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, Final, NamedTuple

from tfnanlint.interp import names as resolution
from tfnanlint.interp.callgraph import callers, stores
from tfnanlint.ops.frameworks import (
    APART_FROM_CALL,
    CALLED_BY_BASES,
    PARTS_OF_LAYERS,
    TRANSPARENT,
    WEIGHTS_OF_LAYERS,
)
from tfnanlint.ops.site import PartlySeen, Site
from tfnanlint.ops.table import SYNONYMS, Op
from tfnanlint.program import functions as callables
from tfnanlint.program.builder import Walk
from tfnanlint.program.decorators import decorator_leaf
from tfnanlint.program.functions import ClassObject, Function, Handed, Instance
from tfnanlint.program.scope import Binding, Fixed, Point, Scope
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value, unknown

_CALLS: Final = ("call", "__call__")
MAX_MADE: Final = 8  # calls that make objects of a class
# what a layer is called and whether it is trained says nothing about the range of what it gives
_WITHOUT_RANGE: Final = frozenset(("name", "dtype", "trainable"))


class Base(NamedTuple):
    """The layer of a library that a class inherits from: its row, the name that it was spelled
    with, and where the base stands; with `is_trained`, its weights are what it makes itself.
    """

    row: Op
    name: str
    node: ast.expr
    point: Point
    is_trained: bool = True


class Made(NamedTuple):
    """A call that makes an object, or hands on to the `__init__` of a base, without the object."""

    node: ast.Call
    point: Point
    instance: Instance


def base_of(ev: Evaluator, cls: ClassObject, is_exact: bool) -> Base | None:
    """The layer or loss of a library from which a class inherits, and to which it leaves all that
    `call` makes use of; unless `is_exact`, objects of its heirs are meant as well.
    """
    heirs = [] if is_exact else ev.heirs(cls)
    family = [*ev.lineage(cls), *heirs]
    base = named_base(ev, ev.lineage(cls))
    if base is None or any([named_base(ev, ev.lineage(heir)) is None for heir in heirs]):
        return None
    if not _is_kept(ev, family, base.row):
        return None
    return base._replace(is_trained=not any([_changes_weights(ev, one) for one in family]))


def layer_of(ev: Evaluator, instance: Instance, base: Base) -> Value | None:
    """The layer or loss of a library that an object of the program is where its class does not
    override it; None where it is not known what made it.
    """
    sites: list[Site | None]
    if instance.node is not None and instance.point is not None:
        construction = Made(instance.node, instance.point, instance)
        sites = [_made_by(ev, ev.lineage(instance.cls), construction, base)]
    else:
        sites = _seen(ev, instance.cls, base) or [_by_itself(ev, instance, base)]
    layers = [_layer(site, base.is_trained) if site is not None else None for site in sites]
    known = [one for one in layers if one is not None]
    return ev.joined(known) if len(known) == len(layers) else None


def named_base(ev: Evaluator, lineage: list[ClassObject]) -> Base | None:
    """The base of the last class of a line in which each has one base only."""
    for cls in lineage:
        plain = all([decorator_leaf(one) in TRANSPARENT for one in cls.node.decorator_list])
        if len(cls.node.bases) != 1 or cls.node.keywords or not plain:
            return None
    node, point = lineage[-1].node.bases[0], lineage[-1].point
    row, name = resolution.row(ev, node, point)
    return Base(row, name, node, point) if row is not None else None


def _is_kept(ev: Evaluator, family: list[ClassObject], row: Op) -> bool:
    """Whether classes leave to a layer what its `call` makes use of."""
    parts = {*row.params, *PARTS_OF_LAYERS} - _WITHOUT_RANGE
    parts |= {synonym for synonym, param in SYNONYMS.items() if param in row.params}
    hooks = CALLED_BY_BASES - APART_FROM_CALL | parts
    for cls in family:
        if any([_may_override(name, hooks) for name in cls.methods]):
            return False
        if any([_is_assigned(ev, cls, name) for name in parts]):
            return False
        # `call = ...` in the body of the class, `Head.call = ...` outside
        apart = [name for name in APART_FROM_CALL if name not in cls.methods]
        if any([_is_assigned(ev, cls, name) for name in apart]):
            return False
        if any([cls.changed_outside(name) or stores.assigned(ev, cls, name) for name in _CALLS]):
            return False
    return True


def _may_override(name: str, hooks: frozenset[str] | set[str]) -> bool:
    """Whether a library may have a method of that name, of which `call` makes use."""
    return name in hooks or name.startswith("_") and name not in APART_FROM_CALL


def _is_assigned(ev: Evaluator, cls: ClassObject, attr: str) -> bool:
    """Whether the file of a class assigns an attribute of its objects."""
    return (
        bool(cls.assigners(attr))
        or cls.scope.at(attr) is not None
        or cls.changed_outside(attr)
        or cls.sets_by_name(attr)
        or bool(stores.assigned(ev, cls, attr))
    )


def _changes_weights(ev: Evaluator, cls: ClassObject) -> bool:
    """Whether a class makes or changes the weights of its base: they may be of one sign."""
    return "build" in cls.methods or any(
        [name in cls.methods or _is_assigned(ev, cls, name) for name in WEIGHTS_OF_LAYERS]
    )


def _seen(ev: Evaluator, cls: ClassObject, base: Base) -> list[Site | None]:
    """How the calls in the project make objects of a class, and of those that inherit from it; []
    where none is seen, or too many.
    """
    sites: list[Site | None] = []
    for member in [cls, *ev.heirs(cls)]:
        for call, point in callers.calls_in_project(ev, member, member.name):
            callee = resolution.callee(ev, call.func, point)
            if callee is not None and callee.obj is member:
                construction = Made(call, point, Instance(member, call, point))
                sites.append(_made_by(ev, ev.lineage(member), construction, base))
            if len(sites) > MAX_MADE:
                return []
    return sites


def _by_itself(ev: Evaluator, instance: Instance, base: Base) -> Site | None:
    """What the first `__init__` hands on, with all of its callers; without one, all arguments are
    hidden.
    """
    method, rest = _initializer(ev.lineage(instance.cls))
    if method is None:
        site = PartlySeen(
            base.row, base.node, {}, ev, complete=False, library="keras", point=base.point
        )
        site.source, site.name, site.hidden = base.point.module.source, base.name, True
        return site
    handed = _handed_on(ev.activation(method), instance, rest, base)
    return _made_by(ev, rest, handed, base) if handed is not None else None


def _initializer(lineage: list[ClassObject]) -> tuple[Function | None, list[ClassObject]]:
    """The first `__init__` of a line of classes, and the classes behind it."""
    for place, cls in enumerate(lineage):
        if "__init__" in cls.methods:
            return cls.methods["__init__"], lineage[place + 1 :]
    return None, []


def _made_by(ev: Evaluator, lineage: list[ClassObject], call: Made, base: Base) -> Site | None:
    """The call of the library's constructor to which a call leads, through each `__init__`."""
    step: Made | None = call
    while step is not None:
        method, rest = _initializer(lineage)
        if method is None:
            return _constructor(ev, step, base)
        if not method.transparent or method.busy:
            return None
        positional, keywords, complete = ev.arguments(step.node, step.point)
        itself = Fixed(Value(kind="instance", obj=step.instance))
        bound = callables.bind_parameters(
            method, [itself, *positional], keywords, hidden=not complete
        )
        scope = _walked(ev, method, bound)
        step, lineage = _handed_on(scope, step.instance, rest, base), rest
    return None


def _walked(ev: Evaluator, method: Function, bound: dict[str, Binding]) -> Scope:
    scope = ev.activated(method)
    for name, binding in bound.items():
        scope.bind(name, Handed(binding, method))
    Walk(scope).block(method.node.body)
    return scope


def _handed_on(
    scope: Scope, instance: Instance, lineage: list[ClassObject], base: Base
) -> Made | None:
    """The one call of the `__init__` of a base in that of a class; None where there are more, or
    none that is known.
    """
    calls = [
        (node, time)
        for whole, time in scope.statements
        for node in nodes_in(whole)
        if isinstance(node, ast.Call) and leaf(node.func) == "__init__"
    ]
    if len(calls) != 1 or not isinstance(calls[0][0].func, ast.Attribute):
        return None
    (node, time), owner = calls[0], calls[0][0].func.value
    point = Point(scope, time)
    if isinstance(owner, ast.Call):
        cls = scope.function.owner if scope.function is not None else None
        return Made(node, point, instance) if _is_parent(owner, cls) else None
    following = lineage[0].name if lineage else leaf(base.node)
    if leaf(owner) != following or not node.args:
        return None
    # `layers.Dense.__init__(self, 10)` hands over the object as well
    handing = ast.Call(node.func, node.args[1:], node.keywords)
    return Made(ast.copy_location(handing, node), point, instance)


def _is_parent(node: ast.Call, cls: ClassObject | None) -> bool:
    """Whether a call is `super()`, or `super(Head, self)` in the class Head itself."""
    named = not node.args or cls is not None and leaf(node.args[0]) in (cls.name, "__class__")
    return leaf(node.func) == "super" and named


def _constructor(ev: Evaluator, call: Made, base: Base) -> Site:
    """A call as one of the constructor of the library."""
    args, complete = callables.bind_op(base.row, base.name, call.node)
    site = PartlySeen(
        base.row,
        call.node,
        args,
        ev,
        complete=complete,
        library="keras",
        point=call.point,
        source=call.point.module.source,
        name=base.name,
    )
    if complete:
        return site
    positional, keywords, known = ev.arguments(call.node, call.point)
    site.hidden = not known
    places = dict(zip(base.row.params, positional))
    for name, binding in {**places, **keywords}.items():
        param = name if name in base.row.params else SYNONYMS.get(name, name)
        if param in base.row.params and param not in site.args:
            site.values[param] = binding.value(ev)
    return site


def _layer(site: Site, is_trained: bool) -> Value | None:
    """What the row of a constructor gives, which says nothing where it asks for what is hidden."""
    value = site.op.gives(site)
    kept: Any = value.obj
    if value.kind not in ("layer", "loss") or not hasattr(kept, "out"):
        return None

    def out(x: Value, call: Site) -> Value:
        result = kept.out(x, call)
        if isinstance(site, PartlySeen) and site.asked - _WITHOUT_RANGE:
            return unknown("tensor")
        return result if is_trained else result.but(evident=False, token=result.token)

    return value.but(obj=replace(kept, out=out))
