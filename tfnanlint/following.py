"""Following calls: what functions, methods, instances and layers of the program give, and what arrives at parameters."""

from __future__ import annotations

import ast

from tfnanlint import calls
from tfnanlint.calls import Bound, ClassObject, Function, Instance
from tfnanlint.ops import Op
from tfnanlint.ops.python import limit
from tfnanlint.scopes import Assigned, Binding, Fixed, Loop, Parameter, Point, Scope
from tfnanlint.site import Site
from tfnanlint.statements import Walk
from tfnanlint.values import Choice, covers, Note, Value, number, unknown

MAX_CALLERS = 24  # calls joined at one parameter; with more, nothing is said of it
MAX_ABROAD = 1  # files between a parameter and the callers that are looked for
MAX_INLINE = 6  # calls inside calls


class Following:
    """The part of the interpreter that goes into callees and out to callers."""

    def apply(self, callee: Value, positional: list[Binding], keywords: dict[str, Binding], node: ast.Call | None = None,
              point: Point | None = None) -> Value:
        """What calling a value gives: functions of the program are followed, layers give their range."""
        target = callee.obj
        if isinstance(target, Bound):
            inner = target.function
            if isinstance(inner, Op):
                return self._op(inner, target.args + positional, {**target.keywords, **keywords}, node, point)
            return self.apply(Value(kind="function", obj=inner), target.args + positional,
                              {**target.keywords, **keywords}, node, point)
        if isinstance(target, Choice):
            return self.joined([self.apply(option, positional, keywords, node, point) for option in target.options])
        if isinstance(target, Function):
            return self.call(target, positional, keywords)
        if isinstance(target, ClassObject):
            return Value(kind="instance", obj=Instance(target, node, point))
        if isinstance(target, Instance):
            for name in ("call", "__call__"):
                method = self.member(callee, name)
                if method is not None:
                    return self.apply(method, positional, keywords, node, point)
            return unknown("tensor")
        if isinstance(target, Op):
            return self._op(target, positional, keywords, node, point)
        if hasattr(target, "out") and positional:
            return self._layer(callee, positional[0].value(self), node, point)
        return unknown("tensor" if callee.kind in ("layer", "model") else "unknown")

    def _op(self, row: Op, positional: list[Binding], keywords: dict[str, Binding], node: ast.Call | None,
            point: Point | None) -> Value:
        """A row applied to values instead of expressions."""
        values = dict(zip(row.params, (b.value(self) for b in positional)))
        values |= {k: b.value(self) for k, b in keywords.items() if k in row.params}
        site = self._made(Site.of_values(row, values))
        if node is not None and point is not None:
            site.node, site.point, site.source, site.complete = node, point, point.module.source, False
        value = row.gives(site)
        value = value if value.origin is None and value.token is value else value.but(zero=value.zero)
        value.origin, site.result = site, value
        return value

    def partial(self, positional: list[Binding], keywords: dict[str, Binding]) -> Value:
        """functools.partial(f, ...): f with its first arguments."""
        return Value(kind="function", obj=Bound(positional[0].value(self).obj, positional[1:], keywords))

    def _layer(self, callee: Value, given: Value, node: ast.Call | None, point: Point | None) -> Value:
        layer = callee.obj
        site = layer.site
        value = layer.out(given, site)
        if node is None or point is None:
            return value
        made = Site(site.op, node, {}, lambda n: unknown(), complete=False, library="layer", point=point,
                    source=point.module.source, name=site.op.name)
        made._values[site.op.main] = given
        made._values["layer"] = callee
        made._values.setdefault("input", given)
        return value.but(zero=value.zero, origin=made)

    def call(self, function: Function, positional: list[Binding], keywords: dict[str, Binding]) -> Value:
        """The value a function returns for these arguments."""
        if not function.transparent:
            return unknown()
        if function.busy > 0:
            self.taint += 1
            function.recurred = True
            return function.assumed or number(None)
        if self.inlined >= MAX_INLINE:
            self.taint += 1
            return unknown()
        return self._settled(function, positional, keywords)

    def _settled(self, function: Function, positional: list[Binding], keywords: dict[str, Binding]) -> Value:
        """The result of a call; for a recursive function what the other branches give, if that covers the recursion too."""
        before = self.taint
        function.recurred, function.assumed = False, None
        found = self._followed(function, positional, keywords)
        if not function.recurred:
            return found
        function.assumed = found
        again = self._followed(function, positional, keywords)
        function.assumed = None
        self.taint = before
        return found if covers(found, again) else unknown()

    def _followed(self, function: Function, positional: list[Binding], keywords: dict[str, Binding]) -> Value:
        function.busy += 1
        self.inlined += 1
        try:
            bound = calls.bind_parameters(function, positional, keywords)
            if isinstance(function.node, ast.Lambda):
                return self.evaluate(function.node.body, function.point.under(bound))
            scope = Scope(function.node, function.point, function.module, function)
            for name, binding in bound.items():
                scope.bind(name, binding)
            self.steps += len(function.node.body)
            live = Walk(scope).block(function.node.body)
            return self.returned(scope, live)
        finally:
            function.busy -= 1
            self.inlined -= 1

    def returned(self, scope: Scope, live: bool) -> Value:
        if scope.yields or not scope.returns:
            return unknown() if scope.yields else number(None)
        found = [self.evaluate(node, Point(scope, time)) for node, time in scope.returns if node is not None]
        return self.joined(found) if found else number(None)

    def activation(self, function: Function) -> Scope:
        """The walked body of a function with its parameters as its callers leave them."""
        if function.activation is None:
            scope = Scope(function.node, function.point, function.module, function)
            function.activation = scope
            spec = function.node.args
            defaults = dict(calls.defaults_of(spec))
            for arg in spec.posonlyargs + spec.args + spec.kwonlyargs:
                default = defaults.get(arg.arg)
                scope.bind(arg.arg, Parameter(function, arg.arg, Assigned(default, function.point) if default else None))
            if spec.vararg:
                scope.bind(spec.vararg.arg, Fixed(Value(kind="sequence")))
            if spec.kwarg:
                scope.bind(spec.kwarg.arg, Fixed(Value(kind="dict")))
            Walk(scope).block(function.node.body)
        return function.activation

    def parameter(self, parameter: Parameter) -> Value:
        """What arrives at a parameter: the join over the calls in the project, else the default, else unknown."""
        function = parameter.function
        spec = function.node.args
        names = [a.arg for a in spec.posonlyargs + spec.args]
        if function.bound and names and parameter.name == names[0] and "classmethod" not in function.decorators:
            return Value(kind="instance", obj=Instance(function.owner))
        note = Note(f"parameter '{parameter.name}' of {function.name}()", function.node, function.module.source)
        if parameter.busy:
            self.taint += 1
            return unknown(origin=note)
        parameter.busy = True
        try:
            arriving = self._arriving(parameter)
        finally:
            parameter.busy = False
        if arriving is None:
            annotated = self._annotated(function, parameter.name)
            if annotated is not None:
                return annotated
            default = parameter.default.value(self) if parameter.default is not None else None
            if default is not None and default.is_number:
                return Value(default.lo, default.hi, default.zero, kind="number", const=default.const,
                             origin=Note(f"default of parameter '{parameter.name}'", function.node, function.module.source))
            return unknown(origin=note)
        if arriving.known or arriving.kind not in ("unknown", "tensor") or arriving.guarded:
            return arriving
        return arriving.but(zero=True, origin=arriving.origin or note)

    def _annotated(self, function: Function, name: str) -> Value | None:
        """An instance of the class of the program that a parameter is annotated with."""
        spec = function.node.args
        for arg in spec.posonlyargs + spec.args + spec.kwonlyargs:
            if arg.arg == name and isinstance(arg.annotation, (ast.Name, ast.Attribute)):
                found = self.callee(arg.annotation, function.point)
                if found is not None and isinstance(found.obj, ClassObject):
                    return Value(kind="instance", obj=Instance(found.obj))
        return None

    def _arriving(self, parameter: Parameter) -> Value | None:
        function = parameter.function
        if function.name == "<lambda>" or function.name.startswith("__") and function.name != "__init__":
            return None
        name = function.owner.name if function.name == "__init__" and function.owner else function.name
        values = []
        for call, point in self.callers(function, name):
            binding = self._argument(function, call, point, parameter.name)
            if binding is not None:
                values.append(binding.value(self))
        if not values or len(values) > MAX_CALLERS:
            return None
        return self.joined(values)

    def callers(self, function: Function, name: str) -> list[tuple[ast.Call, Point]]:
        """Calls that may be of `function`: in its own file, and in files of the project that import it."""
        found = list(function.module.calls_to(name, self))
        nested = isinstance(function.point.scope.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        project = function.module.project
        if project is None or nested or self.abroad >= MAX_ABROAD:
            return found
        self.abroad += 1
        try:
            for module in project.importers(function.module.source.path, name):
                found += module.calls_to(name, self)
        finally:
            self.abroad -= 1
        return found

    def _argument(self, function: Function, call: ast.Call, point: Point, name: str) -> Binding | None:
        callee = self.callee(call.func, point)
        target = callee.obj if callee is not None else None
        positional, keywords, complete = calls.arguments(call, point)
        if isinstance(target, Bound):
            positional = target.args + positional
            target = target.function
        if isinstance(target, ClassObject) and function.name == "__init__":
            init = next((c.methods["__init__"] for c in self.lineage(target) if "__init__" in c.methods), None)
            positional = [Fixed(unknown()), *positional]
            target = init
        if not isinstance(target, Function) or target.node is not function.node:
            return None
        if not complete:
            return Fixed(unknown())
        return calls.bind_parameters(function, positional, keywords).get(name)

    def member(self, owner: Value, attr: str) -> Value | None:
        """`owner.attr` for instances, classes and tensors; None when nothing is known of it."""
        if isinstance(owner.obj, Instance):
            return self.instance_member(owner, attr)
        if owner.kind == "module" and owner.obj is not None:
            binding = self.top_level(owner.obj, attr)
            return binding.value(self) if binding is not None else None
        if isinstance(owner.obj, ClassObject):
            binding = owner.obj.scope.at(attr)
            return binding.value(self) if binding is not None else None
        if attr == "shape" and owner.kind != "unknown":
            return Value(kind="shape")
        if attr == "dtype" and owner.dtype:
            return Value(kind="dtype", const=owner.dtype)
        if owner.kind in ("dtype", "limits") and isinstance(owner.const, str):
            return limit(owner.const, attr)
        if attr in ("T", "real"):
            return owner.but()
        return None

    def instance_member(self, owner: Value, attr: str) -> Value | None:
        cls = owner.obj.cls
        for one in self.lineage(cls):
            method = one.methods.get(attr)
            if method is not None:
                if method.is_property:
                    return self.call(method, [Fixed(owner)], {})
                return Value(kind="function", obj=Bound(method, [Fixed(owner)] if method.bound else []))
        found = []
        for one in self.lineage(cls):
            for method_name in one.assigners(attr):
                method = one.methods[method_name]
                scope = self.activation(method)
                owner_name = method.node.args.args[0].arg
                found += [b for b in _bindings(scope, f"{owner_name}.{attr}")]
            binding = one.scope.at(attr)
            if binding is not None:
                found.append(binding)
        if not found:
            return None
        return self.joined([b.value(self) for b in found[:12]])

    def lineage(self, cls: ClassObject) -> list[ClassObject]:
        """A class and its bases inside the program, nearest first."""
        found, queue = [], [cls]
        while queue and len(found) < 12:
            one = queue.pop(0)
            if one in found:
                continue
            found.append(one)
            for base in one.node.bases:
                value = self.callee(base, one.point) if isinstance(base, (ast.Name, ast.Attribute)) else None
                if value is not None and isinstance(value.obj, ClassObject):
                    queue.append(value.obj)
        return found

    def foreign_bases(self, cls: ClassObject) -> set[str]:
        """Canonical names of the bases that are not classes of the program (`keras.Model`)."""
        names = set()
        for one in self.lineage(cls):
            for base in one.node.bases:
                name = self.resolve(base, one.point)
                if name:
                    names.add(name)
        return names


def _bindings(scope: Scope, path: str) -> list[Binding]:
    entry = scope.history.get(path)
    return [b for b in entry[1] if b is not None and not isinstance(b, Loop)] if entry else []
