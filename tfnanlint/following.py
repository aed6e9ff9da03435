"""Following calls: what functions, methods, instances and layers of the program give, and what arrives at parameters."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from tfnanlint import assumptions, callers, calls, records, recursion, resolution
from tfnanlint.evaluator import Evaluator
from tfnanlint.attributes import keeps_keywords, replaced, sets, spelled_names
from tfnanlint.calls import Bound, ClassObject, Collected, Function, Instance, Keywords, Parent, Recast
from tfnanlint.callers import local_name
from tfnanlint.fields import FieldNames, Fields
from tfnanlint.names import canonical, is_tensorflow
from tfnanlint.nodes import ATTRIBUTE, default_text, nodes_in
from tfnanlint.ops import Op
from tfnanlint.ops.python import limit
from tfnanlint.ops.transfer import several
from tfnanlint.records import MAX_BINDINGS, begins_last
from tfnanlint.routes import called_elsewhere
from tfnanlint.conditions import root_of
from tfnanlint.scopes import COMPUTING, Assigned, Binding, Fixed, Joined, Loop, Parameter, Point, Refined, Scope, Shared, adds, heard, unrefined
from tfnanlint.site import Site
from tfnanlint.statements import Walk
from tfnanlint.values import INF, NUMERIC_KINDS, Choice, Namespace, Note, Value, number, unknown

if TYPE_CHECKING:
    from tfnanlint.module import Module

# Methods of an optimizer that Keras calls with a gradient and a variable.
_UPDATES: Final = frozenset("_resource_apply_dense _resource_apply_sparse _resource_apply_sparse_duplicate_indices _apply_dense "
                            "_apply_sparse update_step".split())
TRIED: Final = frozenset(("parameters", "named_parameters", "parametrize"))  # decorators that call a test with values
MAX_CALLERS: Final = 24  # calls joined at one parameter; with more, nothing is said of it
MAX_INLINE: Final = 6  # calls inside calls
MAX_LONG: Final = 3  # calls around one of a long function: what one further inside gives is hardly ever known, and takes most of the time

_LASTING: Final = frozenset(("number", "none", "function", "layer", "instance", "class", "dtype", "string"))  # what nobody changes in an object that holds it



class Interprocedural:
    """The part of the interpreter that goes into callees and out to callers."""

    def __init__(self) -> None:
        self.handed: dict[ast.AST, list[dict[str, Binding]]] = {}
        self.attributes: dict[tuple[ClassObject, str, int], Binding | None] = {}
        self.lineages: dict[ClassObject, list[ClassObject]] = {}
        self._members: dict[tuple[int, str], tuple[Any, Value]] = {}

    def apply(self, ev: Evaluator, callee: Value, positional: list[Binding], keywords: dict[str, Binding], node: ast.Call | None = None,
              point: Point | None = None, hidden: bool = False) -> Value:
        """What calling a value gives: functions of the program are followed, layers give their range. With `hidden`, `*` or `**` hands
        over more than is written in the call: then only functions of the program, layers and models are followed."""
        target = callee.obj
        if isinstance(target, Bound):
            inner = target.function
            if isinstance(inner, Op):
                return unknown() if hidden else self._op(ev, inner, target.args + positional, {**target.keywords, **keywords}, node, point)
            return self.apply(ev, Value(kind="function", obj=inner), target.args + positional,
                              {**target.keywords, **keywords}, node, point, hidden)
        if isinstance(target, Choice):
            return ev.joined([self.apply(ev, option, positional, keywords, node, point, hidden) for option in target.options])
        if isinstance(target, Function):
            return self.call(ev, target, positional, keywords, hidden)
        if isinstance(target, FieldNames):
            return unknown() if hidden else ev.record(target, positional, keywords)
        if isinstance(target, ClassObject):
            return Value(kind="instance", obj=Instance(target) if hidden else Instance(target, node, point))
        if isinstance(target, Instance):
            for name in ("call", "__call__"):
                method = self.member(ev, callee, name)
                if method is not None:
                    handed: list[Binding] = [Recast(b, target.cls, target.cls.module) if name == "call" else b for b in positional]
                    return self.apply(ev, method, handed, keywords, node, point, hidden)
            return unknown("tensor")
        if hidden and not (positional and callee.kind in ("layer", "model")):
            return unknown()
        if isinstance(target, Op):
            return self._op(ev, target, positional, keywords, node, point)
        if hasattr(target, "out") and not positional and "inputs" in keywords:
            positional = [keywords["inputs"]]
        if hasattr(target, "out") and positional:
            given = [binding.value(ev) for binding in positional[:2 if callee.kind == "loss" else 1]]
            return self._layer(ev, callee, several(*given) if len(given) == 2 else given[0], node, point)
        return unknown("tensor" if callee.kind in ("layer", "model") else "unknown")

    def _op(self, ev: Evaluator, row: Op, positional: list[Binding], keywords: dict[str, Binding], node: ast.Call | None,
            point: Point | None) -> Value:
        """A row applied to values instead of expressions."""
        values = {param: b.value(ev) for param, b in zip(row.params, positional)}
        values |= {k: b.value(ev) for k, b in keywords.items() if k in row.params}
        if "x" in values and "y" in values and values["x"].kind == "number" and values["y"].kind == "array":
            values["y"] = values["y"].but(dtype=None)  # the number is made a tensor first; see `before_meeting`
        site = Site.of_values(row, values)
        site.interpreter = ev
        if node is not None and point is not None:
            site.node, site.point, site.source, site.complete = node, point, point.module.source, False
        value = site.give()
        value.origin = site
        ev.gave(site, value)
        return value

    def partial(self, ev: Evaluator, positional: list[Binding], keywords: dict[str, Binding]) -> Value:
        """functools.partial(f, ...): f with its first arguments."""
        return Value(kind="function", obj=Bound(positional[0].value(ev).obj, positional[1:], keywords))

    def _layer(self, ev: Evaluator, callee: Value, given: Value, node: ast.Call | None, point: Point | None) -> Value:
        layer = callee.obj
        site = layer.site
        of_keras = site.op.name.startswith("keras.") and callee.kind != "loss" and not site.op.name.startswith(("keras.constraints.", "keras.initializers."))
        value = ev.in_its_dtype(layer, given) if of_keras else layer.out(given, site)
        if given.emptied and not value.emptied and value.kind in NUMERIC_KINDS:
            value = value.but(emptied=True)
        if node is None or point is None:
            return value
        made = Site(site.op, node, {}, None, complete=False, library="layer", point=point,
                    source=point.module.source, name=site.op.name)
        made._values[site.op.main] = given
        made._values["layer"] = callee
        made._values.setdefault("input", given)
        result = value.but(origin=made, kind="tensor" if value.kind == "array" else value.kind)
        ev.gave(made, result)
        return result

    def call(self, ev: Evaluator, function: Function, positional: list[Binding], keywords: dict[str, Binding], hidden: bool = False) -> Value:
        """The value a function returns for these arguments."""
        if not function.transparent:
            return unknown()
        if function.busy > 0:
            return recursion.again(ev, function, positional, keywords, hidden)
        if ev.session.inlined >= (MAX_INLINE if function.short else MAX_LONG):
            ev.reads.append(ev.session.nesting)
            return unknown()
        return recursion.bounded_call(ev, function, positional, keywords, hidden)

    def activated(self, ev: Evaluator, function: Function) -> Scope:
        scope = Scope(function.node, function.point, function.module, function)
        ev.scopes.append(scope)
        return scope

    def returned(self, ev: Evaluator, scope: Scope, live: bool) -> Value:
        if scope.yields:
            return recursion.yielded(ev, scope)
        if not scope.returns:
            return number(None) if live else unknown()
        found: list[Value] = []
        for node, time in scope.returns:
            if node is not None and adds(type(node) in COMPUTING, found):
                found.append(ev.evaluate(node, Point(scope, time)))
        if not found:
            return number(None)
        result = ev.joined(found)
        return ev.element(result, 0) if scope.function is not None and "custom_gradient" in scope.function.decorators else result

    def activation(self, ev: Evaluator, function: Function) -> Scope:
        """The walked body of a function with its parameters as its callers leave them."""
        if function.activation is None:
            scope = self.activated(ev, function)
            function.activation = scope
            spec = function.node.args
            _, names, defaults = calls.signature_of(spec)
            for name in names:
                default = defaults.get(name)
                scope.bind(name, Parameter(function, name, Assigned(default, function.point) if default is not None else None))
            if spec.vararg:
                scope.bind(spec.vararg.arg, Parameter(function, spec.vararg.arg, Fixed(Value(kind="sequence"))))
            if spec.kwarg:
                scope.bind(spec.kwarg.arg, Keywords(function))
            if begins_last(function):
                records.enter(ev, function, scope)
            Walk(scope).block(function.node.body)
        return function.activation

    def parameter(self, ev: Evaluator, parameter: Parameter) -> Value:
        """What arrives at a parameter: the join over the calls in the project, else the default, else unknown."""
        function = parameter.function
        spec = function.node.args
        names = calls.signature_of(spec)[0]
        if function.bound and names and parameter.name == names[0]:
            if "classmethod" in function.decorators:
                return Value(kind="class", obj=function.owner)
            return Value(kind="instance", obj=Instance(function.owner))
        whose = "a lambda" if function.name == "<lambda>" else f"{function.name}()"
        written = default_text(parameter.default.node) if isinstance(parameter.default, Assigned) else ""
        note = Note(f"parameter '{parameter.name}' of {whose}", function.node, function.module.source, default=written, parameter=parameter.name)
        if function.bound and function.name in _UPDATES and parameter.name in names[1:3]:
            return Value(evident=True, origin=note)  # a gradient and its variable
        if function.bound and function.name == "__call__" and names[1:2] == [parameter.name] and self._is_a(ev, "schedule", function.owner):
            return Value(0.0, INF, dtype="int64", origin=note)  # a number of steps
        if parameter.stamp:
            ev.reads.append(parameter)
            return unknown(origin=note)
        mark, parameter.stamp = len(ev.reads), assumptions.next_stamp(ev)
        ev.session.asking += 1
        try:
            arriving = ev.of_keras(parameter, names) or self._arriving(ev, parameter)
        finally:
            parameter.stamp = 0
            ev.session.asking -= 1
        assumptions.settled(ev, parameter, mark)
        if arriving is None or arriving.kind == "none" and _public(function):  # nobody calls it for what is left out everywhere
            annotated = self._annotated(ev, function, parameter.name)
            if annotated is not None:
                return annotated
            default = parameter.default.value(ev) if parameter.default is not None else None
            if default is not None and (default.kind == "instance" or parameter.rest):
                return default  # `config=Config()`: what its fields hold by default; `*rest`
            if default is not None and default.is_number and default.lo > 0:
                return Value(default.lo, default.hi, default.zero, kind="number", const=default.const,
                             origin=Note(f"default of parameter '{parameter.name}'", function.node, function.module.source))
            nothing = unknown("number" if calls.says_number(spec, parameter.name) else "unknown", note)
            return ev.entering(function, nothing) if function.name == "call" and names[1:2] == [parameter.name] else nothing
        vague = not arriving.known and arriving.obj is None and arriving.kind in ("unknown", "none")
        annotated = self._annotated(ev, function, parameter.name) if vague else None
        if annotated is not None:
            return annotated
        if arriving.known or arriving.kind not in ("unknown", "tensor") or arriving.guarded:
            return arriving
        if isinstance(arriving.origin, Site):
            return arriving.but(zero=True, origin=arriving.origin)
        outer = isinstance(arriving.origin, Note) and arriving.origin.outer
        return arriving.but(zero=True, origin=Note(note.text, note.node, note.source, arriving.origin, passed=not outer, outer=outer, parameter=note.parameter))

    def _annotated(self, ev: Evaluator, function: Function, name: str) -> Value | None:
        """An instance of the class of the program that a parameter is annotated with."""
        spec = function.node.args
        for arg in spec.posonlyargs + spec.args + spec.kwonlyargs:
            if arg.arg == name and isinstance(note := calls.without_none(arg.annotation), (ast.Name, ast.Attribute)):
                found = resolution.callee(ev, note, function.point)
                if found is not None and isinstance(found.obj, ClassObject):
                    return Value(kind="instance", obj=Instance(found.obj))
        return None

    def _arriving(self, ev: Evaluator, parameter: Parameter) -> Value | None:
        function = parameter.function
        tried = self._tried(ev, parameter) if TRIED.intersection(function.decorators) else None
        if tried is not None:
            return tried
        received = ev.received(function, parameter.name)
        if received is not None:
            return received
        handed = self.handovers(ev, function)
        if not handed or len(handed) > MAX_CALLERS:
            return None
        return ev.joined(heard([handed_over(bound, parameter) for bound in handed], ev))

    def handovers(self, ev: Evaluator, function: Function) -> list[dict[str, Binding]]:
        """What all calls of a function hand over, by parameter; [] where some may not be seen."""
        if isinstance(function.node, ast.Lambda):
            name = local_name(function)
            found = ev.handed_to(function, name) if name else []
            return found if found and not ev.escapes(function, name) else ev.handed_on(function) or []
        if function.name.startswith("__") and function.name != "__init__" or called_elsewhere(function):
            return []
        found = self.calls_of_function(ev, function)
        if found and not ev.escapes(function):
            return found
        more = ev.handed_on(function)
        return found + more if more is not None else []

    def _tried(self, ev: Evaluator, parameter: Parameter) -> Value | None:
        """What the decorators of a test hand to a parameter: `@parameterized.parameters((1, 2), (3, 4))`."""
        function = parameter.function
        names = [arg.arg for arg in function.node.args.args][function.bound:]
        found = []
        for node, kind in zip(function.node.decorator_list, function.decorators):
            if not isinstance(node, ast.Call) or kind not in TRIED:
                continue
            given = node.args
            if kind == "parametrize" and len(given) > 1 and isinstance(given[0], ast.Constant):
                names, given = [name.strip() for name in str(given[0].value).split(",")], [ast.Starred(given[1])]
            skipped = ["", *names] if kind == "named_parameters" else names
            for case in self._cases(ev, given, function.point):
                if isinstance(case.obj, dict):
                    found.append(case.obj.get(parameter.name))
                else:
                    items = case.obj if isinstance(case.obj, tuple) and (len(skipped) > 1) else (case,)
                    found.append(dict(zip(skipped, items)).get(parameter.name))
        known = [value for value in found if value is not None]
        return ev.joined(known) if known else None

    def _cases(self, ev: Evaluator, given: list[ast.expr], point: Point) -> list[Value]:
        """The values of arguments, with starred lists spread out."""
        found: list[Value] = []
        for node in given:
            if isinstance(node, ast.Starred):
                whole = ev.evaluate(node.value, point).obj
                found += whole if isinstance(whole, tuple) else (unknown(),)
            else:
                found.append(ev.evaluate(node, point))
        return found

    def calls_of_function(self, ev: Evaluator, function: Function) -> list[dict[str, Binding]]:
        """The arguments of every call of a function, by parameter."""
        return assumptions.once(ev, self.handed, function.node, [], self._found_calls_of, ev, function)

    def _found_calls_of(self, ev: Evaluator, function: Function) -> list[dict[str, Binding]]:
        names = [function.name]
        if function.name == "__init__" and function.owner is not None:
            heirs = self.heirs(ev, function.owner)
            names = [*dict.fromkeys(one.name for one in (function.owner, *heirs)), *(["__init__"] if heirs else []), "cls"]
        return [bound for name in names for bound in ev.handed_by(function, name)]

    def may_call(self, ev: Evaluator, function: Function, call: ast.Call, point: Point) -> bool:
        """Whether a call of that name can be one of `function`: not one of TensorFlow, nor of another function of the program."""
        if is_tensorflow(resolution.resolve(ev, call.func, point) or ""):
            return False
        callee = resolution.callee(ev, call.func, point)
        target = callee.obj if callee is not None else None
        target = target.function if isinstance(target, Bound) else target
        if not isinstance(target, Function) or target.node is function.node:
            return True
        # a call of a method of the base may be one of what overrides it
        return target.owner is not None and function.owner is not None and target.owner in self.lineage(ev, function.owner)

    def member(self, ev: Evaluator, owner: Value, attr: str) -> Value | None:
        """`owner.attr` for instances, classes and tensors; None when nothing is known of it."""
        if isinstance(owner.obj, Instance):
            return self.instance_member(ev, owner, attr)
        if isinstance(owner.obj, Namespace):
            return resolution.named(ev, canonical(f"{owner.obj.name}.{attr}"))
        if owner.kind == "module" and isinstance(owner.obj, Choice):  # those without the name would have raised
            found = [value for option in owner.obj.options if (value := self.member(ev, option, attr)) is not None]
            return ev.joined(found) if found else None
        if isinstance(owner.obj, Parent):
            return self._parents_method(ev, owner.obj, attr)
        if owner.kind == "module" and owner.obj is not None:
            binding = resolution.top_level(ev, owner.obj, attr)
            return binding.value(ev) if binding is not None else self._submodule(ev, owner.obj, attr)
        if isinstance(owner.obj, ClassObject):
            binding = owner.obj.scope.at(attr)
            own = binding.value(ev) if binding is not None else None
            if own is not None and own.kind in NUMERIC_KINDS and owner.obj.changed_outside(attr):
                return unknown()
            if own is not None and isinstance(own.obj, Function) and "classmethod" in own.obj.decorators:
                return Value(kind="function", obj=Bound(own.obj, [Fixed(owner)]))
            return own
        if isinstance(owner.obj, Fields):
            return owner.obj.get(attr)
        if attr == "shape" and owner.kind in ("tensor", "array", "unknown", "number"):
            return Value(kind="shape", emptied=owner.emptied)
        if attr == "dtype" and owner.dtype:
            return Value(kind="dtype", const=owner.dtype)
        if owner.kind == "limits" or owner.kind == "dtype" and isinstance(owner.const, str):
            return limit(owner.const if isinstance(owner.const, str) else None, attr)
        if attr in ("T", "real") or owner.kind == "array" and attr in ("values", "iloc", "loc"):
            return owner.but()
        return None

    def _submodule(self, ev: Evaluator, module: Module, name: str) -> Value | None:
        """`package.part` after `import package.part`."""
        if module.project is None or not module.source.path.endswith("__init__.py"):
            return None
        found, rest = module.project.find(name, 1, module.source.path)
        return Value(kind="module", obj=found) if found is not None and not rest else None

    def parent(self, ev: Evaluator, point: Point) -> Value:
        """`super()` where it stands: in a method of a class that has bases in the program."""
        function = point.scope.function
        if function is None or function.owner is None or not function.node.args.args or len(self.lineage(ev, function.owner)) < 2:
            return unknown()
        instance = point.lookup(function.node.args.args[0].arg)
        return Value(kind="instance", obj=Parent(function.owner, instance)) if instance is not None else unknown()

    def _parents_method(self, ev: Evaluator, parent: Parent, attr: str) -> Value | None:
        method = self._after(ev, parent.cls, parent.cls, attr)
        if method is None:
            return None
        instance = parent.instance.value(ev).obj
        made = instance.cls if isinstance(instance, Instance) else parent.cls
        classes = [made] if isinstance(instance, Instance) and instance.node is not None else [made, *self.heirs(ev, made)]
        methods = dict.fromkeys([self._after(ev, parent.cls, one, attr) or method for one in classes])
        return ev.joined([self.call(ev, one, [parent.instance], {}) if one.is_property else
                            Value(kind="function", obj=Bound(one, [parent.instance] if one.bound else [])) for one in methods])

    def _after(self, ev: Evaluator, cls: ClassObject, made: ClassObject, name: str) -> Function | None:
        """The method that is next after those of `cls` for an object of the class `made`."""
        lineage = self.lineage(ev, made)
        behind = lineage[lineage.index(cls) + 1:] if cls in lineage else []
        return next((one.methods[name] for one in behind if name in one.methods), None)

    def instance_member(self, ev: Evaluator, owner: Value, attr: str) -> Value | None:
        cls = owner.obj.cls
        if attr == "iterations" and self._is_a(ev, "optimizer", cls):
            return Value(0.0, INF, dtype="int64", origin=Note("the steps that an optimizer has counted"))
        if attr in ("compute_dtype", "_compute_dtype") and (dtype := ev.dtype_of(cls)):
            return Value(kind="dtype", const=dtype)
        classes = [cls] if owner.obj.node is not None else [cls, *self.heirs(ev, cls)]
        methods = [method for one in classes if (method := self.method(ev, one, attr)) is not None]
        if methods:
            if len(methods) > 1:
                methods = [m for m in methods if not m.abstract] or methods
            bound = [self.call(ev, m, [Fixed(owner)], {}) if m.is_property else
                     Value(kind="function", obj=Bound(m, [Fixed(owner)] if m.bound else [])) for m in dict.fromkeys(methods)]
            return ev.joined(bound)
        field = records.field(ev, owner.obj, attr) if attr in cls.fields else None
        if field is not None:
            return field.value(ev)
        given = ev.constructed(owner.obj, attr)
        own = given.value(ev) if given is not None else None
        if own is not None and own.kind in _LASTING:
            return own
        found = self.assigned_to(ev, classes, attr)
        if found is None:
            return None
        mark = len(ev.reads)
        value = found.value(ev)
        return self._of_one(ev, owner.obj, attr, value) if len(ev.reads) == mark else value

    def assigned_to(self, ev: Evaluator, classes: list[ClassObject], attr: str) -> Binding | None:
        """What is assigned to an attribute of the objects of a class and those that inherit from it."""
        return assumptions.once(ev, self.attributes, (classes[0], attr, len(classes)), None, self.find_attribute, ev, classes, attr)

    def property_of(self, ev: Evaluator, owner: Value, attr: str) -> Value | None:
        """What a property of an object gives, whatever was assigned to it; None where the name is not one of a property."""
        method = self.method(ev, owner.obj.cls, attr) if isinstance(owner.obj, Instance) else None
        return self.member(ev, owner, attr) or unknown() if method is not None and method.is_property else None

    def _of_one(self, ev: Evaluator, instance: Instance, attr: str, value: Value) -> Value:
        """An attribute of one of several objects of a class: each holds a number of its own."""
        if value.kind not in ("tensor", "array", "unknown") or value.obj is not None or instance.point is None:
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
            self._members[key] = (root, unknown(origin=Note(f"'{path}'")))
        return self._members[key][1]

    def _is_a(self, ev: Evaluator, kind: str, cls: ClassObject) -> bool:
        """Whether a class is an optimizer or a schedule, by its own name or that of a base."""
        names = {one.name for one in self.lineage(ev, cls)} | self.foreign_bases(ev, cls)
        return any(kind in name.lower() for name in names)

    def method(self, ev: Evaluator, cls: ClassObject, name: str) -> Function | None:
        """The method that instances of a class have."""
        if name in cls.methods:  # its bases may stand in other files, which would have to be read
            return cls.methods[name]
        return next((one.methods[name] for one in self.lineage(ev, cls) if name in one.methods), None)

    def heirs(self, ev: Evaluator, cls: ClassObject) -> list[ClassObject]:
        """Classes of the same file that inherit from a class: `self` may be one of them."""
        if cls.name not in cls.module.base_names:
            return []
        return [one for one in cls.module.classes.values() if one is not cls and cls in self.lineage(ev, one)]

    def find_attribute(self, ev: Evaluator, classes: list[ClassObject], attr: str) -> Binding | None:
        """Whatever any method or class body assigns; a loop, for one assignment may read what another one wrote."""
        whole = Loop(None)
        for cls in classes:
            nearest, mended = None, records.mended(ev, cls, attr)
            whole.rounds += [mended] if mended is not None else []
            for one in self.lineage(ev, cls):
                for method_name in one.assigners(attr):
                    method = one.methods[method_name]
                    if mended is not None and begins_last(method):
                        continue
                    handed = self._handed_to_base(ev, cls, one, method, attr)
                    if handed:
                        whole.rounds += handed
                        continue
                    owner_name = method.node.args.args[0].arg
                    made = _bindings(self.activation(ev, method), f"{owner_name}.{attr}")
                    passing = replaced(method.node, attr) if len(made) > 1 else ()
                    whole.rounds += [one for one in made if not isinstance(one, Assigned) or one.node not in passing] if passing else made
                if mended is None:
                    nearest = nearest or one.scope.at(attr)
                    whole.rounds += records.made_with(ev, one, attr)
            whole.rounds += [nearest] if nearest is not None else []
            if nearest is not None and any(one.changed_outside(attr) for one in self.lineage(ev, cls)):
                whole.rounds.append(Fixed(unknown()))
        if whole.rounds:
            lineages = dict.fromkeys([one for cls in classes for one in self.lineage(ev, cls)])
            whole.rounds += [binding for one in lineages for binding in ev.assigned_elsewhere(one, attr)]
            whole.rounds += [binding for one in lineages if one.sets_by_name(attr) for binding in self._set_by_name(ev, one, attr, whole)]
        whole.rounds = list(dict.fromkeys(whole.rounds))
        if len(whole.rounds) == 1 and not _reads_itself(whole.rounds[0], attr):
            return whole.rounds[0]
        return whole if 0 < len(whole.rounds) <= MAX_BINDINGS else None if not whole.rounds else Fixed(unknown())

    def _handed_to_base(self, ev: Evaluator, cls: ClassObject, base: ClassObject, method: Function, attr: str) -> list[Binding]:
        """What the calls that make objects of a class, and no others, hand to an attribute that the `__init__` of its base keeps; [] where
        some may not be seen."""
        if cls is base or method.name != "__init__" or self.method(ev, cls, "__init__") is not method or ev.escapes(method):
            return []
        family = [cls, *self.heirs(ev, cls)]
        if any(self.method(ev, one, "__init__") is not method for one in family):
            return []
        made = [Instance(one, call, point) for one in family for call, point in callers.calls_in_project(ev, one, one.name)]
        found = [ev.constructed(one, attr) for one in made[:MAX_BINDINGS + 1]]
        return [one for one in found if one is not None] if None not in found else []

    def _set_by_name(self, ev: Evaluator, cls: ClassObject, attr: str, whole: Loop) -> list[Binding]:
        """What the methods of a class set an attribute to under a name that is computed: what a call names for `**kwargs`, else nothing is known."""
        setting = [method for method in cls.methods.values() if sets(spelled_names(method.node), attr)]
        if not all([keeps_keywords(method.node) for method in setting]):
            return [Fixed(unknown())]
        return [Parameter(method, attr, whole) for method in setting if attr not in calls.signature_of(method.node.args)[1]]

    def shared(self, ev: Evaluator, binding: Shared) -> Loop:
        """All assignments to a global in its file, or to a nonlocal in its function: a loop, for one may read what another one wrote."""
        module, outer, whole = binding.scope.module, binding.scope, Loop(None)
        if outer is module.scope:
            scopes = [module.scope_of_row(row, ev) for row in module.source.rows_with("global ")]
        else:
            scopes = [self._scope_inside(ev, outer, row) for row in module.source.rows_with("nonlocal ")]
        for scope in dict.fromkeys([outer, *scopes]):
            made = _bindings(scope, binding.path) if scope is not None else []
            whole.rounds += [one for one in made if not isinstance(one, (Shared, Refined))]
        if not 0 < len(whole.rounds) <= MAX_BINDINGS:
            whole.rounds = [Fixed(unknown())]
        return whole

    def _scope_inside(self, ev: Evaluator, outer: Scope, row: int) -> Scope | None:
        """The scope of the innermost function at a row, of those that a call of an outer one defines; None where there is none."""
        chain = outer.module.chain(row)
        scope: Scope | None = outer
        for node in chain[chain.index(outer.node) + 1:] if outer.node in chain else ():
            scope = self._defined_in(ev, scope, node) if scope is not None else None
        return scope

    def _defined_in(self, ev: Evaluator, scope: Scope, node: Any) -> Scope | None:
        """The scope of a function that stands in another one, of those that this one defines."""
        entry = scope.history.get(node.name)
        for binding in entry.bindings() if entry is not None else ():
            function = binding._value.obj if isinstance(binding, Fixed) and binding._value is not None else None
            if isinstance(function, Function) and function.node is node:
                return self.activation(ev, function)
        return None

    def lineage(self, ev: Evaluator, cls: ClassObject) -> list[ClassObject]:
        """A class and its bases inside the program, in the order in which Python looks for methods."""
        if cls in self.lineages:
            return self.lineages[cls]
        mark = len(ev.reads)
        self.lineages[cls] = [cls]  # should it be a base of itself
        bases: list[ClassObject] = []
        for base in cls.node.bases:
            value = resolution.callee(ev, base, cls.point) if isinstance(base, (ast.Name, ast.Attribute)) else None
            if value is not None and isinstance(value.obj, ClassObject):
                bases.append(value.obj)
        found = calls.in_order(cls, [*[self.lineage(ev, one) for one in bases], bases]) if bases else [cls]
        if len(ev.reads) == mark:
            self.lineages[cls] = found
        else:
            del self.lineages[cls]
        return found

    def foreign_bases(self, ev: Evaluator, cls: ClassObject) -> set[str]:
        """Canonical names of the bases that are not classes of the program (`keras.Model`)."""
        names: set[str] = set()
        for one in self.lineage(ev, cls):
            for base in one.node.bases:
                name = resolution.resolve(ev, base, one.point)
                made = unrefined(one.point.lookup(base.id)) if name is None and isinstance(base, ast.Name) else None
                found = made.bindings if isinstance(made, Joined) else ()  # another one for another version of Keras
                names.update(filter(None, [name, *(resolution.resolve_binding(ev, option, 0) for option in found)]))
        return names


def _reads_itself(binding: Binding, attr: str) -> bool:
    """Whether an assignment reads the attribute it assigns (`self.count += 1`)."""
    return not isinstance(binding, Assigned) or any([type(inner) is ATTRIBUTE and inner.attr == attr for inner in nodes_in(binding.node)])


def _bindings(scope: Scope, path: str) -> list[Binding]:
    entry = scope.history.get(path)
    return [b for b in entry.bindings() if b is not None and not isinstance(b, Loop)] if entry is not None else []


def handed_over(bound: dict[str, Binding], parameter: Parameter) -> Binding:
    """What a call hands to a parameter, or under a name that a function reads from its `**kwargs`."""
    if parameter.name in bound:
        return bound[parameter.name]
    rest = bound[parameter.function.node.args.kwarg.arg]
    missing = parameter.default or Fixed(unknown())
    return rest.items.get(parameter.name, missing) if isinstance(rest, Collected) else Fixed(unknown())


def _public(function: Function) -> bool:
    """Whether code outside of the project may call a function or make an object of its class."""
    name = function.owner.name if function.owner is not None and function.name == "__init__" else function.name
    return not name.startswith("_")
