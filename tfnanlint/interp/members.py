"""Members: what attributes, methods and properties of the objects and classes of the program
are.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from tfnanlint.interp import calls, library_bases, records
from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp import names as resolution
from tfnanlint.interp.callgraph import callers
from tfnanlint.interp.records import MAX_BINDINGS, begins_last
from tfnanlint.ops.families.python import limit
from tfnanlint.ops.names import canonical
from tfnanlint.program import functions as callables
from tfnanlint.program.attributes import (
    attributes_in,
    changes_in,
    dicts_kept,
    is_changed,
    keeps_keywords,
    replaced,
    set_last,
    sets,
    spelled_names,
)
from tfnanlint.program.functions import Bound, ClassObject, Function, Instance, Parent
from tfnanlint.program.module import Module
from tfnanlint.program.mutation import Mutated
from tfnanlint.program.scope import (
    Assigned,
    Binding,
    Element,
    Fixed,
    Joined,
    Loop,
    Parameter,
    Point,
    unrefined,
)
from tfnanlint.syntax.access_paths import leaf, path_of, root_of
from tfnanlint.syntax.nodes import ATTRIBUTE, display, nodes_in
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.tuples import Fields
from tfnanlint.values.value import INF, NUMERIC_KINDS, Choice, Namespace, Note, Value, unknown

# what no program changes in an object that holds it
_LASTING: Final = frozenset(
    ("number", "none", "function", "layer", "instance", "class", "dtype", "string")
)


def member(ev: Evaluator, owner: Value, attr: str) -> Value | None:
    """`owner.attr` for instances, classes and tensors; None when nothing is known of it."""
    if isinstance(owner.obj, Instance):
        return instance_member(ev, owner, attr)
    if isinstance(owner.obj, Namespace):
        return resolution.named(ev, canonical(f"{owner.obj.name}.{attr}"))
    if owner.kind == "instance" and isinstance(owner.obj, Choice):
        of_each = [member(ev, option, attr) for option in owner.obj.options]
        held = [value for value in of_each if value is not None]
        return ev.joined(held) if len(held) == len(of_each) else None
    # those without the name would have raised
    if owner.kind == "module" and isinstance(owner.obj, Choice):
        values = [
            value for option in owner.obj.options if (value := member(ev, option, attr)) is not None
        ]
        return ev.joined(values) if values else None
    if isinstance(owner.obj, Parent):
        return _parents_method(ev, owner.obj, attr)
    if owner.kind == "module" and owner.obj is not None:
        binding = resolution.top_level(ev, owner.obj, attr)
        return binding.value(ev) if binding is not None else _submodule(ev, owner.obj, attr)
    if isinstance(owner.obj, ClassObject):
        return _class_member(ev, owner, owner.obj, attr)
    if isinstance(owner.obj, Fields):
        return owner.obj.get(attr)
    return _tensor_member(owner, attr)


def _class_member(ev: Evaluator, owner: Value, cls: ClassObject, attr: str) -> Value | None:
    """What the body of a class binds to a name; a class method with the class."""
    binding = cls.scope.at(attr)
    own = binding.value(ev) if binding is not None else None
    if own is None:
        return None
    if own.kind in NUMERIC_KINDS and cls.changed_outside(attr):
        return unknown()
    if isinstance(own.obj, Function) and "classmethod" in own.obj.decorators:
        return Value(kind="function", obj=Bound(own.obj, [Fixed(owner)]))
    return own


def _tensor_member(owner: Value, attr: str) -> Value | None:
    """An attribute of a tensor, an array, a data frame, or of the limits of a dtype."""
    if attr == "shape" and owner.kind in ("tensor", "array", "unknown", "number"):
        return Value(kind="shape", emptied=owner.emptied)
    if attr == "dtype" and owner.dtype:
        return Value(kind="dtype", const=owner.dtype)
    if owner.kind == "limits" or owner.kind == "dtype" and isinstance(owner.const, str):
        return limit(owner.const if isinstance(owner.const, str) else None, attr)
    if attr in ("T", "real") or owner.kind == "array" and attr in ("values", "iloc", "loc"):
        return owner.but()
    return None


def _submodule(ev: Evaluator, module: Module, name: str) -> Value | None:
    """`package.part` after `import package.part`."""
    if module.project is None or not module.source.path.endswith("__init__.py"):
        return None
    submodule, rest = module.project.find(name, 1, module.source.path)
    return Value(kind="module", obj=submodule) if submodule is not None and not rest else None


def parent(ev: Evaluator, node: ast.Call, point: Point) -> Value:
    """`super()` where it stands: in a method of a class that has bases in the program, or one that
    is a layer of a library.
    """
    function = point.scope.function
    if function is None or function.owner is None or not function.node.args.args:
        return unknown()
    if node.args and leaf(node.args[0]) not in (function.owner.name, "__class__"):
        return unknown()  # that of another class
    lineage = ev.lineage(function.owner)
    if len(lineage) < 2 and library_bases.named_base(ev, lineage) is None:
        return unknown()
    instance = point.lookup(function.node.args.args[0].arg)
    return (
        Value(kind="instance", obj=Parent(function.owner, instance))
        if instance is not None
        else unknown()
    )


def _parents_method(ev: Evaluator, parent: Parent, attr: str) -> Value | None:
    method = _after(ev, parent.cls, parent.cls, attr)
    instance = parent.instance.value(ev).obj
    if method is None:
        is_call = attr == "call" and isinstance(instance, Instance)
        return ev.library_layer(instance) if is_call else None
    concrete = instance.cls if isinstance(instance, Instance) else parent.cls
    classes = (
        [concrete]
        if isinstance(instance, Instance) and instance.node is not None
        else [concrete, *ev.heirs(concrete)]
    )
    methods = dict.fromkeys([_after(ev, parent.cls, one, attr) or method for one in classes])
    return ev.joined(
        [
            (
                calls.call(ev, one, [parent.instance], {})
                if one.is_property
                else Value(kind="function", obj=Bound(one, [parent.instance] if one.bound else []))
            )
            for one in methods
        ]
    )


def _after(ev: Evaluator, cls: ClassObject, concrete: ClassObject, name: str) -> Function | None:
    """The method that is next after those of `cls` for an object of the class `concrete`."""
    lineage = ev.lineage(concrete)
    behind = lineage[lineage.index(cls) + 1 :] if cls in lineage else []
    return next((one.methods[name] for one in behind if name in one.methods), None)


def instance_member(ev: Evaluator, owner: Value, attr: str) -> Value | None:
    cls = owner.obj.cls
    if attr == "iterations" and calls.is_a(ev, "optimizer", cls):
        return Value(
            0.0, INF, dtype="int64", origin=Note("the steps that an optimizer has counted")
        )
    if attr in ("compute_dtype", "_compute_dtype") and (dtype := ev.dtype_of(cls)):
        return Value(kind="dtype", const=dtype)
    classes = [cls] if owner.obj.node is not None else [cls, *ev.heirs(cls)]
    methods = [method for one in classes if (method := ev.method(one, attr)) is not None]
    if methods:
        if len(methods) > 1:
            methods = [m for m in methods if not m.abstract] or methods
        bound = [
            (
                calls.call(ev, m, [Fixed(owner)], {})
                if m.is_property
                else Value(kind="function", obj=Bound(m, [Fixed(owner)] if m.bound else []))
            )
            for m in dict.fromkeys(methods)
        ]
        is_partly = attr == "call" and any([ev.method(one, attr) is None for one in classes])
        layer = ev.library_layer(owner.obj) if is_partly else None
        return ev.joined([*bound, layer] if layer is not None else bound)
    if attr == "call" and all([ev.method(one, "__call__") is None for one in classes]):
        return ev.library_layer(owner.obj)
    field = records.field(ev, owner.obj, attr) if attr in cls.fields else None
    if field is not None:
        return field.value(ev)
    constructed = ev.constructed(owner.obj, attr)
    own = constructed.value(ev) if constructed is not None else None
    if own is not None and own.kind in _LASTING:
        return own
    assigned = ev.assigned_to(classes, attr)
    if assigned is None:
        return None
    mark = len(ev.reads)
    value = assigned.value(ev)
    return ev.of_one(owner.obj, attr, value) if len(ev.reads) == mark else value


def property_of(ev: Evaluator, owner: Value, attr: str) -> Value | None:
    """What a property of an object gives, whatever was assigned to it; None where the name is not
    one of a property.
    """
    method = ev.method(owner.obj.cls, attr) if isinstance(owner.obj, Instance) else None
    return (
        member(ev, owner, attr) or unknown() if method is not None and method.is_property else None
    )


def method(ev: Evaluator, cls: ClassObject, name: str) -> Function | None:
    """The method that instances of a class have."""
    if name in cls.methods:  # its bases may stand in other files, which would have to be read
        return cls.methods[name]
    return next((one.methods[name] for one in ev.lineage(cls) if name in one.methods), None)


def heirs(ev: Evaluator, cls: ClassObject) -> list[ClassObject]:
    """Classes of the same file that inherit from a class: `self` may be one of them."""
    if cls.name not in cls.module.base_names:
        return []
    return [one for one in cls.module.classes.values() if one is not cls and cls in ev.lineage(one)]


def find_attribute(ev: Evaluator, classes: list[ClassObject], attr: str) -> Binding | None:
    """Whatever any method or class body assigns; a loop, for one assignment may read what another
    one wrote.
    """
    whole = Loop(None)
    for cls in classes:
        nearest, mended = None, records.mended(ev, cls, attr)
        whole.rounds += [mended] if mended is not None else []
        settled = False
        for base in ev.lineage(cls):
            for method_name in base.assigners(attr):
                method = base.methods[method_name]
                if mended is not None and begins_last(method):
                    continue
                if settled and method_name == "__init__":
                    continue
                handed = _handed_to_base(ev, cls, base, method, attr)
                if handed:
                    whole.rounds += handed
                    continue
                owner_name = method.node.args.args[0].arg
                bindings = calls.bindings_of(ev.activation(method), f"{owner_name}.{attr}")
                passing = _passing(ev, bindings, method, attr)
                whole.rounds += _lasting(bindings, passing)
            settled = settled or _settles(base, attr)
            if mended is None:
                nearest = nearest or base.scope.at(attr)
                whole.rounds += records.made_with(ev, base, attr)
        whole.rounds += [nearest] if nearest is not None else []
        if nearest is not None and any(one.changed_outside(attr) for one in ev.lineage(cls)):
            whole.rounds.append(Fixed(unknown()))
    lineages = dict.fromkeys([one for cls in classes for one in ev.lineage(cls)])
    if not whole.rounds:
        whole.rounds += [
            binding
            for one in lineages
            if one.sets_by_name(attr) and _reads(one, attr)
            for method in one.methods.values()
            if sets(spelled_names(method.node), attr)
            for binding in _kept_from_dicts(ev, method, attr, whole) or ()
        ]
    else:
        whole.rounds += [
            binding for one in lineages for binding in ev.assigned_elsewhere(one, attr)
        ]
        whole.rounds += [
            binding
            for one in lineages
            if one.sets_by_name(attr)
            for binding in _set_by_name(ev, one, attr, whole)
        ]
    whole.rounds = list(dict.fromkeys(whole.rounds))
    if len(whole.rounds) == 1 and not _reads_itself(whole.rounds[0], attr):
        return whole.rounds[0]
    return (
        whole
        if 0 < len(whole.rounds) <= MAX_BINDINGS
        else None
        if not whole.rounds
        else Fixed(unknown())
    )


def _passing(ev: Evaluator, bindings: list[Binding], method: Function, attr: str) -> set[ast.expr]:
    """What sets an attribute only until a later statement of a method does. A method that changes
    it as well may run at any time, and is not known by its bindings.
    """
    if len(bindings) < 2:
        return set()
    by_calls = any([isinstance(one, Mutated) for one in bindings])
    return replaced(method.node, attr, by_calls and not _is_changed_elsewhere(ev, method, attr))


def _is_changed_elsewhere(ev: Evaluator, method: Function, attr: str) -> bool:
    """Whether the file may change what an attribute holds by calls outside of a method; what
    classes that have nothing to do with its own do with their objects is not counted.
    """
    own, owner = changes_in(method.node, attr), method.owner
    calls = [call for call in method.module.changes.get(attr, ()) if call not in own]
    if not calls or owner is None:
        return bool(calls)
    apart = [
        cls.node
        for cls in method.module.classes.values()
        if owner not in ev.lineage(cls) and cls not in ev.lineage(owner)
    ]
    return not all(
        [
            root_of(path_of(call.func) or "") == "self"
            and any([cls.lineno <= call.lineno <= (cls.end_lineno or 0) for cls in apart])
            for call in calls
        ]
    )


def _lasting(bindings: list[Binding], passing: set[ast.expr]) -> list[Binding]:
    """The bindings that last; what joins several of them says nothing that they do not say."""
    lasting = [one for one in bindings if _setter(one) not in passing]
    if len(lasting) == len(bindings):
        return bindings
    return [one for one in lasting if type(one) is not Joined] or lasting


def _setter(binding: Binding) -> ast.expr | None:
    """The value that is assigned, or the call by which what is held is changed; None for others."""
    if isinstance(binding, Mutated):
        return binding.call
    return binding.node if isinstance(binding, Assigned) else None


def _settles(cls: ClassObject, attr: str) -> bool:
    """Whether the `__init__` of a class sets an attribute in any case, after what it runs of its
    bases: what theirs set does not last.
    """
    method = cls.methods.get("__init__")
    if method is None or "__init__" not in cls.assigners(attr) or not method.node.args.args:
        return False
    return f"{method.node.args.args[0].arg}.{attr}" in set_last(method.node)


def _handed_to_base(
    ev: Evaluator, cls: ClassObject, base: ClassObject, method: Function, attr: str
) -> list[Binding]:
    """What the calls that make objects of a class, and no others, hand to an attribute that the
    `__init__` of its base keeps; [] where some may not be seen.
    """
    if (
        cls is base
        or method.name != "__init__"
        or ev.method(cls, "__init__") is not method
        or ev.escapes(method)
    ):
        return []
    family = [cls, *ev.heirs(cls)]
    if any(ev.method(one, "__init__") is not method for one in family):
        return []
    instances = [
        Instance(one, call, point)
        for one in family
        for call, point in callers.calls_in_project(ev, one, one.name)
    ]
    bindings = [ev.constructed(one, attr) for one in instances[: MAX_BINDINGS + 1]]
    return [one for one in bindings if one is not None] if None not in bindings else []


def _set_by_name(ev: Evaluator, cls: ClassObject, attr: str, whole: Loop) -> list[Binding]:
    """What the methods of a class set an attribute to under a name that is computed: what a call
    names for `**kwargs`, else nothing is known.
    """
    bindings: list[Binding] = []
    for method in cls.methods.values():
        if not sets(spelled_names(method.node), attr):
            continue
        if not keeps_keywords(method.node):
            kept = _kept_from_dicts(ev, method, attr, whole)
            bindings += kept if kept is not None else [Fixed(unknown())]
        elif attr not in callables.signature_of(method.node.args)[1]:
            bindings.append(Parameter(method, attr, whole))
    return bindings


def _reads(cls: ClassObject, attr: str) -> bool:
    """Whether a class reads an attribute of this name. What is never read need not be among the
    names that it is given: a hook that Keras asks for.
    """
    return attr in attributes_in(cls.node)


def _kept_from_dicts(
    ev: Evaluator, method: Function, attr: str, whole: Loop
) -> list[Binding] | None:
    """What the dicts hold under the name of an attribute of which a method makes attributes; None
    where that is not known. One that is empty by default adds nothing.
    """
    dicts = dicts_kept(method.node)
    if dicts is None:
        return None
    point = Point(ev.activation(method))
    defaults = callables.signature_of(method.node.args)[2]
    bindings: list[Binding] = []
    rest = method.node.args.kwarg
    for node in dicts:
        if rest is not None and isinstance(node, ast.Name) and node.id == rest.arg:
            if is_changed(method.node, rest.arg):
                return None
            bindings.append(Parameter(method, attr, whole))
            continue
        held = ev.evaluate(node, point).obj
        if isinstance(held, dict):
            bindings += [Fixed(held[attr])] if attr in held else []
        elif not _is_empty(defaults.get(node.id) if isinstance(node, ast.Name) else None):
            return None
    return bindings


def _is_empty(default: ast.expr | None) -> bool:
    """Whether a default is an empty dict, or None."""
    shown = display(default) if default is not None else None
    if shown is not None:
        return not shown.keys
    return isinstance(default, ast.Constant) and default.value is None


def foreign_bases(ev: Evaluator, cls: ClassObject) -> set[str]:
    """Canonical names of the bases that are not classes of the program (`keras.Model`)."""
    names: set[str] = set()
    for ancestor in ev.lineage(cls):
        for base in ancestor.node.bases:
            name = resolution.resolve(ev, base, ancestor.point)
            binding = (
                unrefined(ancestor.point.lookup(base.id))
                if name is None and isinstance(base, ast.Name)
                else None
            )
            # another one for another version of Keras
            options = binding.bindings if isinstance(binding, Joined) else ()
            names.update(
                filter(
                    None, [name, *(resolution.resolve_binding(ev, option, 0) for option in options)]
                )
            )
    return names


def _reads_itself(binding: Binding, attr: str) -> bool:
    """Whether an assignment, or an unpacking one, reads the attribute it assigns (`self.count +=
    1`).
    """
    while isinstance(binding, Element):
        binding = binding.whole
    return not isinstance(binding, Assigned) or any(
        [type(inner) is ATTRIBUTE and inner.attr == attr for inner in nodes_in(binding.node)]
    )


class Members:
    """What was found out about classes of the program and the attributes of their objects."""

    def __init__(self) -> None:
        self.attributes: dict[tuple[ClassObject, str, int], Binding | None] = {}
        self.lineages: dict[ClassObject, list[ClassObject]] = {}
        self._bases: dict[tuple[ClassObject, bool], library_bases.Base | None] = {}
        self._layers: dict[Any, Value | None] = {}
        self._members: dict[tuple[int, str], tuple[Any, Value]] = {}

    def assigned_to(self, ev: Evaluator, classes: list[ClassObject], attr: str) -> Binding | None:
        """What is assigned to an attribute of the objects of a class and those that inherit from
        it.
        """
        return assumptions.once(
            ev,
            self.attributes,
            (classes[0], attr, len(classes)),
            None,
            find_attribute,
            ev,
            classes,
            attr,
        )

    def library_layer(self, ev: Evaluator, instance: Instance) -> Value | None:
        """The layer of a library that an object of the program is."""
        is_exact = instance.node is not None
        base = assumptions.once(
            ev,
            self._bases,
            (instance.cls, is_exact),
            None,
            library_bases.base_of,
            ev,
            instance.cls,
            is_exact,
        )
        if base is None:
            return None
        key = (instance if is_exact else instance.cls, ev.session.sees_callers)
        return assumptions.once(
            ev, self._layers, key, None, library_bases.layer_of, ev, instance, base
        )

    def of_one(self, ev: Evaluator, instance: Instance, attr: str, value: Value) -> Value:
        """An attribute of one of several objects of a class: each holds a number of its own."""
        if (
            value.kind not in ("tensor", "array", "unknown")
            or value.obj is not None
            or instance.point is None
        ):
            return value
        if len(instance.point.module.calls_to(instance.cls.name, ev)) < 2:
            return value
        key = (id(instance), attr)
        if key not in self._members or self._members[key][0] is not instance:
            self._members[key] = (instance, value.but(origin=Note("", parent=value.origin)))
        return self._members[key][1]

    def stable(self, ev: Evaluator, path: str | None, point: Point) -> Value | None:
        """One unknown value for all reads of one path of one object."""
        if path is None:
            return None
        root = point.lookup(root_of(path))
        if root is None:
            return None
        key = (id(root), path)
        if key not in self._members:
            self._members[key] = (root, unknown(origin=Note(f"'{path}'", path=path)))
        return self._members[key][1]

    def lineage(self, ev: Evaluator, cls: ClassObject) -> list[ClassObject]:
        """A class and its bases inside the program, in the order in which Python looks for
        methods.
        """
        if cls in self.lineages:
            return self.lineages[cls]
        mark = len(ev.reads)
        self.lineages[cls] = [cls]  # should it be a base of itself
        bases: list[ClassObject] = []
        for base in cls.node.bases:
            value = (
                resolution.callee(ev, base, cls.point)
                if isinstance(base, (ast.Name, ast.Attribute))
                else None
            )
            if value is not None and isinstance(value.obj, ClassObject):
                bases.append(value.obj)
        order = (
            callables.in_order(cls, [*[self.lineage(ev, one) for one in bases], bases])
            if bases
            else [cls]
        )
        if len(ev.reads) == mark:
            self.lineages[cls] = order
        else:
            del self.lineages[cls]
        return order
