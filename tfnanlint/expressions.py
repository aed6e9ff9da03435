"""Expressions: what value an expression has at a point of the program, computed when asked for and remembered.

Names lead to bindings, op calls to rows of the table, calls of the program's own functions are followed with the values
of their arguments. Work per question is bounded; beyond the bound the answer is "unknown", never a guess.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any, Callable, Final, cast

from tfnanlint import calls
from tfnanlint.callers import MAX_ABROAD
from tfnanlint.calls import Function, Handed, Instance, Parent
from tfnanlint.conditions import facts, leaf, path_of, root_of
from tfnanlint.names import is_tensorflow
from tfnanlint.nodes import ATTRIBUTE, CALL, NAME, display
from tfnanlint.ops import SYNONYMS, Op, last_names, load
from tfnanlint.ops import transfer as t
from tfnanlint.ops.promotion import LIBRARIES, before_meeting, inverted, of_bfloat16, promoted
from tfnanlint.resolution import asks_size
from tfnanlint.scopes import Assigned, Binding, Fixed, Loop, Parameter, Point, Refined, heard, refinements, unrefined
from tfnanlint.site import Site
from tfnanlint.state import PROTOCOL, State
from tfnanlint.values import (FLOATS, INF, LARGEST_AXIS, NO_CONSTANT, NOTHING, NUMERIC_KINDS, WHOLE, Note, Value, covers, join, number,
                              related, renewed, rounded, unknown, widen)

if TYPE_CHECKING:
    from tfnanlint.project import Project

MAX_DEPTH: Final = 90  # nested evaluations; about ten Python frames each
MAX_STEPS = 1000  # evaluations per question, as long as the file has an allowance; benchmarks/lockstep.py sets it

_OPERATORS: Final = {
    ast.Add: "tf.add", ast.Sub: "tf.subtract", ast.Mult: "tf.multiply", ast.Div: "tf.divide", ast.Pow: "tf.pow",
    ast.FloorDiv: "tf.math.floordiv", ast.Mod: "tf.math.floormod", ast.MatMult: "tf.matmul",
    ast.BitAnd: "tf.logical_and", ast.BitOr: "tf.logical_or", ast.BitXor: "tf.math.logical_xor",
}
_JOINING: Final = frozenset((ast.Mod, ast.Add, ast.Mult))  # texts and lists, too
_COMPARISONS: Final = {
    ast.Gt: "tf.greater", ast.GtE: "tf.greater_equal", ast.Lt: "tf.less", ast.LtE: "tf.less_equal", ast.Eq: "tf.equal",
    ast.NotEq: "tf.not_equal",
}
_PLAIN: Final = frozenset(("np", "operator", "math", "builtins", "method"))
_OF_KERAS: Final = frozenset(("keras", "K", "ops", "method"))
_OF_TENSORS: Final = frozenset(("tf", "K", "ops", "raw"))  # they make tensors of numbers, too
_MAKING_TENSORS: Final = _OF_TENSORS | {"keras", "tnp"}  # also of arrays
_KERAS_METHODS: Final = frozenset(("add_weight", "add_variable", "compile", "fit", "prob"))  # `prob`: of distributions
_STATE_METHODS: Final = frozenset(("get_slot", "add_slot", "_zeros_slot", "add_variable_from_reference",
                                   "_resource_scatter_add"))  # of optimizers


class Interpreter(State):
    """Answers what values arrive; one for all modules of a run."""

    def __init__(self, callers_abroad: bool = True, allowance: float = INF) -> None:
        """`callers_abroad`: whether calls in other files count at parameters (it means searching the project); `allowance`: how
        many evaluations in callees there may be before each question is answered with few. `cut_short`: one was given up."""
        from tfnanlint.ops import python

        super().__init__(load(), last_names(), python.CONSTANTS)
        self.allowance = allowance
        self.limit = MAX_STEPS
        self.abroad = 0 if callers_abroad else MAX_ABROAD
        self.drafting = not callers_abroad

    def suffices(self, project: Project) -> bool:
        """Whether a draft would have answered the same with the callers and settings in other files in view: there are none."""
        return not (self.cut_short or any(project.importing(*one) for one in self.overlooked)
                    or any(project.settings(*one) for one in self.unset))

    def finish(self, allowance: float) -> None:
        """Go on from a draft that suffices."""
        self.drafting = False
        self.abroad = 0
        self.allowance = allowance

    def close(self) -> None:
        """Forget everything; see `Module.close`."""
        for scope in self.scopes:
            scope.close()
            scope.function.activation = None
        self.forget()

    # Questions

    def ask(self, node: ast.expr, point: Point) -> Value:
        """`evaluate` with a fresh budget."""
        self.steps = 0
        return self.evaluate(node, point)

    def evaluate(self, node: ast.AST, point: Point) -> Value:
        """The value of an expression at a point."""
        memo = point.memo
        found = memo.get(node)
        if found is not None:
            return found
        kind = type(node)
        handler = _EXPRESSIONS.get(kind)
        if handler is None:
            return unknown()
        self.steps += 1
        if self.depth >= MAX_DEPTH or self.steps > self.limit:
            self.cut_short = True
            return unknown()  # and so for good: asking again would cost as much again
        reads = self.reads
        if kind in _LEAVES:  # it assumes nothing
            found = memo[node] = handler(self, node, point)
            return found
        if node in self._tentative:
            tentative = self.tentatively((node, id(memo)))
            if tentative is not None:
                return tentative
        mark = len(reads)
        self.depth += 1
        try:
            if kind is NAME:  # these are most of all, and called by name they take less
                found = self.name(cast(ast.Name, node), point)
            elif kind is CALL:
                found = self.invocation(cast(ast.Call, node), point)
            elif kind is ATTRIBUTE:
                found = self.attribute(cast(ast.Attribute, node), point)
            else:
                found = handler(self, node, point)
        finally:
            self.depth -= 1
        if len(reads) > mark and self.inlined == 0:
            self.settled(self.nesting, mark)  # nobody asks from further outside
        if len(reads) == mark:
            memo[node] = found
        elif kind is not NAME:  # what a name stands for is held with its binding
            self.hold((node, id(memo)), found, mark)
            self._tentative.add(node)
        return found

    def site(self, node: ast.expr, point: Point) -> Site | None:
        """The op application that an expression is, or None. The same object as the origin of its value."""
        self.steps = 0
        value = point.memo.get(node)
        key = (node, id(point.memo))
        if value is not None:
            origin = value.origin
            found = origin if isinstance(origin, Site) and origin.node is node else self.application(node, point) or self._sites.get(key)
            if found is not None:
                return found
        elif key in self._sites:
            return self._sites[key]
        else:
            found = self._sites[key] = self.application(node, point)  # the value, when somebody asks for it, has this origin
        if found is None and isinstance(node, ast.Call):
            found = self._sites[key] = self.stood_for(node, point)
        return found

    def operation(self, node: ast.BinOp, point: Point) -> Site | None:
        """A site for an operator that may also join texts or lists. Whether it does takes the value on its left: whoever finds something
        here asks `site`."""
        if type(node.op) not in _JOINING:
            return self.site(node, point)
        self.steps = 0
        return self._operator_site(_OPERATORS.get(type(node.op)), node, (node.left, node.right), point)

    def application(self, node: ast.expr, point: Point) -> Site | None:
        """A fresh site for an expression that applies an op."""
        if isinstance(node, ast.Call):
            row, name = self.row(node.func, point)
            if row is not None:
                return self._call_site(row, name, node, point)
            return self._method_row(node, point)
        if isinstance(node, ast.BinOp):
            if type(node.op) in _JOINING and self.maker(node.left, point) is None and self.evaluate(node.left, point).kind in ("sequence", "string", "dict"):
                return None  # 'step %d' % step
            return self._operator_site(_OPERATORS.get(type(node.op)), node, (node.left, node.right), point)
        return None

    # Names

    def name(self, node: ast.Name, point: Point) -> Value:
        binding = point.lookup(node.id)
        if binding is None and point.module.stars:
            binding = self.starred(node.id, point)
        if binding is None:
            found = self._unbound(node.id, point)
            return (self.named(found) if found else None) or unknown(origin=Note(f"'{node.id}'", node, point.module.source))
        return self.supposed(self.filled(binding.value(self)), node.id, node, point)

    def attribute(self, node: ast.Attribute, point: Point) -> Value:
        name = self.resolve(node, point)
        if name is not None:
            known = self.named(name)
            if known is not None or is_tensorflow(name):
                return known or unknown()
        path = path_of(node)
        if path is not None:
            binding = point.path_binding(root_of(path), path)
            if binding is not None:
                return self.supposed(self.filled(binding.value(self)), node.attr, node, point)
        owner = self.evaluate(node.value, point)
        found = self.member(owner, node.attr)
        found = self.filled(found) if found is not None else self._stable(path, point) or unknown()
        return self.supposed(self.configured(found, node.attr, node.value, point), node.attr, node, point)

    def _stable(self, path: str | None, point: Point) -> Value | None:
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

    # Literals

    def literal(self, node: ast.Constant, point: Point) -> Value:
        return number(node.value)

    # Operators

    def operator(self, node: ast.BinOp, point: Point) -> Value:
        name = _OPERATORS.get(type(node.op))
        left = self.evaluate(node.left, point)
        if left.kind in ("sequence", "string", "dict"):
            return self._container_operator(node, left, point)
        site = self._operator_site(name, node, (node.left, node.right), point)
        if site is None:
            return unknown()
        right = self.evaluate(node.right, point)
        if right.kind == "sequence":
            return unknown("tensor") if left.kind != "number" else Value(kind="sequence")
        if left.is_number and right.is_number and left.kind == right.kind == "number" and not (left.dtype in FLOATS or right.dtype in FLOATS):
            folded = _folded(node.op, left.const, right.const)
            if folded is not None:
                folded.origin = site
                self.gave(site, folded)
                return folded
        site._values.setdefault(site.op.params[0], left)
        site._values.setdefault(site.op.params[1], right)
        return self._result(site)

    def _operator_site(self, name: str | None, node: ast.expr, operands: tuple[ast.expr, ...], point: Point) -> Any:
        row = self.table.get(name) if name else None
        if row is None or name is None:
            return None
        made = self.asked_for(row, node, point)
        if made is not None:
            return made
        args = {row.params[0]: operands[0]} if len(operands) == 1 else {row.params[0]: operands[0], row.params[1]: operands[1]}
        return Site(row, node, args, self, library="operator", point=point, source=point.module.source, name=name)

    def maker(self, node: ast.expr, point: Point) -> Op | None:
        """The op that an expression applies, also behind a name or in what a function returns; None where it takes more than reading."""
        if isinstance(node, ast.Name):
            made = point.lookup(node.id)
            return self.maker(made.node, made.point) if isinstance(made, Assigned) and made.node is not node else None
        if isinstance(node, ast.BinOp):
            return self.table.get(_OPERATORS.get(type(node.op), ""))
        if not isinstance(node, ast.Call):
            return None
        if leaf(node.func) not in self.leaves:
            return self._returned_op(node.func, point)
        return self.table.get(self.resolve(node.func, point) or "")

    def _returned_op(self, callee: ast.expr, point: Point) -> Op | None:
        """The op that the last line of a function or method of this file applies; its other lines are not read."""
        function: Any = None
        if isinstance(callee, ast.Name):
            binding = point.lookup(callee.id)
            function = binding.value(self).obj if isinstance(binding, Fixed) else None
        elif isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name) and callee.value.id == "self":
            caller = point.scope.function
            function = self.method(caller.owner, callee.attr) if caller is not None and caller.owner is not None else None
        if not isinstance(function, Function) or not isinstance(function.node, ast.FunctionDef) or not function.transparent:
            return None
        last = function.node.body[-1]
        made = last.value if isinstance(last, ast.Return) else None
        known = isinstance(made, ast.BinOp) or isinstance(made, ast.Call) and leaf(made.func) in self.leaves
        return self.maker(made, function.point) if known and made is not None else None

    def _result(self, site: Site) -> Value:
        """The value that a site gives, with the site as its origin."""
        met = before_meeting(site) if "y" in site.args else None
        value = site.give()
        if site.library in LIBRARIES and (value.dtype in WHOLE or value.dtype == "bool"):
            value.dtype = promoted(site, value.dtype)
        elif (value.dtype == "float32" or value.kind == "dtype") and site.library in _OF_KERAS and site.point is not None and self.policies(site.point.module):
            value = self.in_floatx(site, value)
        arrived = site._values.values()
        for given in arrived:
            if given is NOTHING:
                return NOTHING
        if site.library == "np" and value.kind in ("tensor", "array"):
            value.kind = "array"  # also of tensors
            value = value if value.dtype != "bfloat16" else of_bfloat16(value)
        elif value.kind == "tensor" and site.library in _PLAIN and not site.arrives("tensor"):
            # Nothing here says that TensorFlow computes it; NumPy's functions and methods give arrays.
            value.kind = "array" if site.library == "method" and site.arrives("array") else "unknown"
        elif value.kind == "array" and site.library in _MAKING_TENSORS:
            value.kind = "tensor"
        if value.kind == "number" and arrived and site.library in _OF_TENSORS and all(v.kind == "number" for v in arrived):
            value = t.of_numbers(value)
        value.origin = site
        self.gave(site, value)
        if met:
            site._values.update(met)
        if value.kind == "sequence" and isinstance(value.obj, tuple):
            parts = enumerate(value.obj)
            value.obj = renewed(value.obj, (
                v.but(origin=v.origin or Note("", parent=site, index=i), emptied=v.emptied or value.emptied)
                if v.origin is None or value.emptied else v for i, v in parts))
        return value

    def unary(self, node: ast.UnaryOp, point: Point) -> Value:
        operand = self.evaluate(node.operand, point)
        if isinstance(node.op, ast.USub):
            if operand.is_number and operand.kind == "number":
                return number(-operand.const).but(dtype=operand.dtype) if operand.dtype in FLOATS else number(-operand.const)
            return self._result(self._operator_site("tf.negative", node, (node.operand,), point))
        if isinstance(node.op, ast.UAdd):
            return operand
        if isinstance(node.op, ast.Invert):
            mask = operand.kind == "tensor" and operand.dtype == "bool"
            return self._result(self._operator_site("tf.logical_not", node, (node.operand,), point)) if mask else inverted(operand)
        return Value(0.0, 1.0, True, dtype="bool", kind="tensor" if operand.kind == "tensor" else "number")

    def comparison(self, node: ast.Compare, point: Point) -> Value:
        name = _COMPARISONS.get(type(node.ops[0])) if len(node.ops) == 1 else None
        value = Value(0.0, 1.0, True, dtype="bool", kind="tensor" if name else "number")
        row = self.table.get(name) if name else None
        if row is not None:
            value.origin = self._operator_site(name, node, (node.left, node.comparators[0]), point)
        return value

    def compared(self, node: ast.Compare, point: Point) -> Site:
        """A comparison as a site of tf.equal or tf.not_equal; `is` counts as ==."""
        name = "tf.equal" if isinstance(node.ops[0], (ast.Eq, ast.Is)) else "tf.not_equal"
        return self._operator_site(name, node, (node.left, node.comparators[0]), point)

    def boolean(self, node: ast.BoolOp, point: Point) -> Value:
        """`a or b` is a where a holds, else b; `a and b` the other way round."""
        first, found = isinstance(node.op, ast.Or), []
        for value in node.values[:-1]:
            found.append(self.evaluate(value, self.assuming(value, first, point)))
            point = self.assuming(value, not first, point)
        last = self.evaluate(node.values[-1], point)
        if first and last.kind == "dict" and last.obj and all(v.obj is None and not v.known for v in found):
            return last  # `cache.get(key) or computed(key)`: what is kept was computed in the same way
        if first and all(self.settable(value) for value in found) and self.small(last):
            return self.fallback(last, node, point)
        return self.joined([*found, last])

    def conditional(self, node: ast.IfExp, point: Point) -> Value:
        known = self.decided(node.test, point)
        if known is not None:
            return self.evaluate(node.body if known else node.orelse, self.assuming(node.test, known, point))
        chosen, other = (self.evaluate(node.body, self.assuming(node.test, True, point)),
                         self.evaluate(node.orelse, self.assuming(node.test, False, point)))
        match node:
            case ast.IfExp(body=kept, test=ast.Compare(left=asked, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)])):
                if path_of(kept) == path_of(asked) and self.settable(chosen) and self.small(other):
                    return self.fallback(other, node, point)
        return self.joined([self.as_tested(chosen, node.body, node.test, True, point), self.as_tested(other, node.orelse, node.test, False, point)])

    def assuming(self, test: ast.expr, truth: bool, point: Point) -> Point:
        """`point` with the names of a test refined."""
        over: dict[str, Binding] = {}
        for node, path, test, then in refinements(test, truth, point):
            base = over.get(path) or point.binding(path) or Assigned(node, point)
            over[path] = Refined(base, path, test, truth, then)
        return point.under(over) if over else point

    def lambda_(self, node: ast.Lambda, point: Point) -> Value:
        return Value(kind="function", obj=Function(node, point, point.module))

    def walrus(self, node: ast.NamedExpr, point: Point) -> Value:
        inner, there = self.parts(node, point)[0]
        return self.evaluate(inner, there)

    def text(self, node: ast.JoinedStr, point: Point) -> Value:
        return Value(kind="string")

    def await_(self, node: ast.Await, point: Point) -> Value:
        return self.evaluate(node.value, point)

    # Calls

    def invocation(self, node: ast.Call, point: Point) -> Value:
        row, name = self.row(node.func, point)
        if name in ("builtins.zip", "builtins.getattr") and (built := self.built_in(node, name, point)) is not None:
            return built
        if row is not None:
            shown = display(node) if row.name == "builtins.dict" else None
            return self.dictionary(shown, point) if shown is not None else self._apply_row(row, name, node, point)
        if name == "functools.partial" and node.args:
            positional, keywords, _ = self.arguments(node, point)
            return self.partial(positional, keywords)
        if name == "dataclasses.replace" and len(node.args) == 1:
            return self.copy(self.evaluate(node.args[0], point), node, point) or unknown()
        if name and not name.startswith("builtins."):
            return unknown()
        if isinstance(node.func, ast.Attribute) and node.func.attr in PROTOCOL:
            held = self.kept(node, point)
            if held is not None:
                return held
        if name == "builtins.super":
            return self.parent(point)
        fetched = self.fetched(node, point)
        if fetched is not None:
            return fetched
        site = self._method_row(node, point)
        if site is not None:
            value = self._result(site)
            return self._as_kept(site, value) if site.op.name == "method.add_weight" else value
        callee = self.callee(node.func, point)
        if callee is None or callee.obj is None:
            if asks_size(node.func, point):
                return Value(1.0, LARGEST_AXIS, kind="number", dtype="int32")
            binding = unrefined(point.lookup(node.func.id)) if isinstance(node.func, ast.Name) else None
            handed = isinstance(binding, (Parameter, Handed))  # a function that the caller chose
            found = unknown(origin=Note(f"the call '{_short(node.func)}(…)'", node, point.module.source, passed=handed,
                                         computed=True))
            return self.supposed(found, leaf(node.func), node, point)
        positional, keywords, complete = self.arguments(node, point)
        given = self.apply(callee, positional, keywords, node, point, hidden=not complete)
        return self.supposed(given, leaf(node.func), node, point)

    def _apply_row(self, row: Op, name: str, node: ast.Call, point: Point) -> Value:
        site = self._call_site(row, name, node, point)
        value = self._result(site)
        if row.starts:
            return self._as_kept(site, value)
        return self._refined_result(site, value, row.refines) if row.refines else value

    def _as_kept(self, site: Site, value: Value) -> Value:
        """The value of a variable with what its file assigns to it."""
        held = self.remembered(site, value)
        if held is not value:
            held.origin = site
            self.gave(site, held)
        return held

    def _refined_result(self, site: Site, value: Value, refines: tuple[str, ...]) -> Value:
        """tf.where(x > 0, x, 1.): each branch under its condition, when the branch is what the test speaks of."""
        condition, *branches = refines
        test = site.args.get(condition)
        if test is None or not all(b in site.args for b in branches):
            return value
        if len(branches) == 1 and self.assuming(test, True, site.point) is site.point:
            return value
        found = []
        for branch, truth in zip(branches, (True, False)):
            under = self.assuming(test, truth, site.point)
            given = self.evaluate(site.args[branch], under) if under is not site.point else site.value(branch)
            called = given.kind == "function" and given.obj is not None  # a branch of tf.cond
            found.append(self.as_tested(self.apply(given, [], {}) if called else given, site.args[branch], test, truth, site.point))
        if value.dtype in FLOATS or value.dtype is None:
            found = [one.but(lo=rounded(one.lo, value.dtype), hi=rounded(one.hi, value.dtype), dtype=value.dtype, kind="tensor", origin=one.origin)
                     if one.kind == "number" else one for one in found]
        elif site.library == "tf":
            found = [t.in_dtype(one, value.dtype) for one in found]
        result = self.joined(found) if len(found) > 1 else found[0]
        if result.kind not in NUMERIC_KINDS:  # a branch of tf.cond that gives several
            return result.but(origin=site)
        kind = value.kind if value.kind == "array" or value.kind == "unknown" and result.kind == "array" else "tensor"
        return result.but(origin=site, kind=kind, const=NO_CONSTANT, obj=None, emptied=value.emptied or result.emptied)

    def _call_site(self, row: Op, name: str, node: ast.Call, point: Point) -> Site:
        made = self.asked_for(row, node, point)
        if made is not None:
            return made
        args, complete = calls.bind_op(row, name, node)
        site = Site(row, node, args, self, complete=complete, library=name.split(".", 1)[0], point=point, source=point.module.source, name=name)
        if not complete:
            self._handed_on_to(site, node, point)
        return site

    def _handed_on_to(self, site: Site, node: ast.Call, point: Point) -> None:
        """Give a site the values that `**kwargs` stands for, or say that some arguments are not seen."""
        kept = calls.hidden(node, point)
        for keyword, binding in (kept or {}).items():
            param = SYNONYMS.get(keyword) if keyword not in site.op.params else keyword
            if param in site.op.params and param not in site.args:
                site._values[param] = binding.value(self)
        site.hidden = kept is None

    def _method_row(self, node: ast.Call, point: Point) -> Site | None:
        """`x.sum(...)`: a row named method.sum whose first parameter is the receiver."""
        if not isinstance(node.func, ast.Attribute):
            return None
        row = self.table.get(f"method.{node.func.attr}")
        if row is None:
            return None
        receiver = self.evaluate(node.func.value, point)
        plain = receiver.kind in ("tensor", "array", "number", "unknown", "shape", "instance") and receiver.obj is None
        plain = plain or isinstance(receiver.obj, Parent) and self.member(receiver, node.func.attr) is None
        if not plain and receiver.kind not in ("model", "layer", "tape", "average") and not self._inherited(receiver, node.func.attr):
            return None
        if (row.name == "method.average") != (receiver.kind == "average"):
            return None
        made = self.asked_for(row, node, point)
        if made is not None:
            return made
        args, complete = calls.bind_op(row, row.name, node, ("self",))
        args["self"] = node.func.value
        return Site(row, node, args, self, complete=complete, library="method", point=point, source=point.module.source, name=row.name)

    def _inherited(self, receiver: Value, method: str) -> bool:
        """Whether a layer or model of the program calls the `add_weight`, `compile` or `fit` that it has from Keras."""
        if method in _STATE_METHODS:
            return isinstance(receiver.obj, Instance)
        return (method in _KERAS_METHODS and isinstance(receiver.obj, Instance)
                and bool(self.foreign_bases(receiver.obj.cls)) and self.member(receiver, method) is None)

    # Bindings

    def joined(self, values: list[Value]) -> Value:
        return join(values) if values else unknown()

    def refined(self, binding: Refined) -> Value:
        return self._clamped(binding.base.value(self), binding.path, binding.test, binding.truth, binding.point)

    def _clamped(self, value: Value, path: str, test: ast.expr, truth: bool, point: Point) -> Value:
        if value.kind not in NUMERIC_KINDS:
            return value
        for node, relation, other in facts(test, truth):
            if path_of(node) != path:
                continue
            bound = number(other) if isinstance(other, float) else self.evaluate(other, point)
            value = related(value, relation, bound)
        return value

    def settle(self, loop: Loop) -> Value:
        """The least value of a loop variable that covers its entry and every round, widened after the second."""
        entry = loop.entry.value(self) if loop.entry is not None else None
        if not loop.rounds:
            return entry if entry is not None else unknown()
        # Not the number that came in, which other names may hold: what is assumed is every round's.
        made = entry.origin if entry is not None else None
        assumed = entry.but(origin=Note("", parent=made) if isinstance(made, Site) else made) if entry is not None else NOTHING
        mark = len(self.reads)
        self.active_loops += 1
        try:
            for attempt in range(4):
                loop._assumed, loop.stamp = assumed, self.next_stamp()
                new = self.joined(([entry] if entry is not None else []) + heard(loop.rounds, self))
                if covers(assumed, new):
                    assumed.evident = assumed.evident or new.evident
                    break
                assumed = new if attempt == 0 else widen(assumed, new)
                if assumed.vague:
                    break  # another round says no less
            else:
                assumed = unknown()
        finally:
            self.active_loops -= 1
            loop.stamp = 0
        self.settled(loop, mark)
        # Not the value of one round: another token, and no producer that could be taken for that of this round.
        return unknown() if assumed is NOTHING else assumed.but(origin=Note("", parent=assumed.origin))


_LEAVES: Final = frozenset((ast.Constant, ast.Lambda, ast.JoinedStr))
_PYTHON: Final = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
                  ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow}


def _folded(sign: ast.operator, left: Any, right: Any) -> Value | None:
    """Arithmetic of two Python constants, integers staying integers; None where Python raises or the result is huge."""
    function = _PYTHON.get(type(sign))
    if function is None or (function is operator.pow and (abs(left) > 1e6 or abs(right) > 400)):
        return None
    try:
        found = function(left, right)
    except (OverflowError, ZeroDivisionError, ValueError):
        return None
    return number(found) if isinstance(found, (int, float)) else None


def _short(node: ast.expr) -> str:
    path = path_of(node)
    return path or leaf(node) or "…"


_EXPRESSIONS: Final[dict[type, Callable[..., Value]]] = {
    ast.Name: Interpreter.name, ast.Constant: Interpreter.literal, ast.Call: Interpreter.invocation,
    ast.BinOp: Interpreter.operator, ast.Attribute: Interpreter.attribute, ast.UnaryOp: Interpreter.unary,
    ast.Subscript: Interpreter.subscript, ast.Tuple: Interpreter.sequence, ast.List: Interpreter.sequence,
    ast.Dict: Interpreter.dictionary, ast.Compare: Interpreter.comparison, ast.BoolOp: Interpreter.boolean,
    ast.IfExp: Interpreter.conditional, ast.Lambda: Interpreter.lambda_, ast.ListComp: Interpreter.comprehension,
    ast.GeneratorExp: Interpreter.comprehension, ast.SetComp: Interpreter.comprehension,
    ast.DictComp: Interpreter.comprehension, ast.NamedExpr: Interpreter.walrus, ast.JoinedStr: Interpreter.text,
    ast.Await: Interpreter.await_,
}
