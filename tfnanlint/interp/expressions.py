"""Expressions: what value an expression has at a point of the program, computed when asked for and
remembered.

Names lead to bindings, op calls to rows of the table, calls of the program's own functions are
followed with the values of their arguments. Work per question is bounded; beyond the bound the
answer is "unknown", never a guess.
"""

from __future__ import annotations

import ast
import operator
from typing import Any, Final

from tfnanlint.interp import arguments, calls, members, records, subexpressions
from tfnanlint.interp import fixpoint as assumptions
from tfnanlint.interp import names as resolution
from tfnanlint.interp.callgraph import constant_arguments as agreements
from tfnanlint.interp.names import asks_size, fallback, settable, small
from tfnanlint.ops.frameworks import FLAGS, MODEL_METHODS, OPTIMIZER_STATE, STATE_METHODS
from tfnanlint.ops.names import is_tensorflow
from tfnanlint.ops.relations.linear import as_said_of
from tfnanlint.ops.relations.tested import under
from tfnanlint.ops.site import Site, same
from tfnanlint.ops.table import SYNONYMS, Op
from tfnanlint.ops.traits import ARRAY_METHODS
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer.promotion import (
    LIBRARIES,
    before_floats,
    before_meeting,
    inverted,
    of_bfloat16,
    promoted,
)
from tfnanlint.program import functions as callables
from tfnanlint.program.functions import Function, Handed, Instance, Parent
from tfnanlint.program.predicates import facts
from tfnanlint.program.scope import (
    Assigned,
    Binding,
    Fixed,
    Loop,
    Parameter,
    Point,
    Refined,
    heard,
    refinements,
    unrefined,
)
from tfnanlint.syntax.access_paths import leaf, path_of, root_of
from tfnanlint.syntax.nodes import display
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import (
    FLOATS,
    LARGEST_AXIS,
    NO_CONSTANT,
    NOTHING,
    NUMERIC_KINDS,
    WHOLE,
    Note,
    Value,
    covers,
    number,
    related,
    renewed,
    rounded,
    unknown,
    widen,
)

OPERATORS: Final = {
    ast.Add: "tf.add",
    ast.Sub: "tf.subtract",
    ast.Mult: "tf.multiply",
    ast.Div: "tf.divide",
    ast.Pow: "tf.pow",
    ast.FloorDiv: "tf.math.floordiv",
    ast.Mod: "tf.math.floormod",
    ast.MatMult: "tf.matmul",
    ast.BitAnd: "tf.logical_and",
    ast.BitOr: "tf.logical_or",
    ast.BitXor: "tf.math.logical_xor",
}
_FILLABLE: Final = frozenset(("sequence", "dict"))
_JOINING: Final = frozenset((ast.Mod, ast.Add, ast.Mult))  # texts and lists, too
_COMPARISONS: Final = {
    ast.Gt: "tf.greater",
    ast.GtE: "tf.greater_equal",
    ast.Lt: "tf.less",
    ast.LtE: "tf.less_equal",
    ast.Eq: "tf.equal",
    ast.NotEq: "tf.not_equal",
}
_PLAIN: Final = frozenset(("np", "operator", "math", "builtins", "method"))
_OF_KERAS: Final = frozenset(("keras", "K", "ops", "method"))
_OF_TENSORS: Final = frozenset(("tf", "K", "ops", "raw"))  # they make tensors of numbers, too
_MAKING_TENSORS: Final = _OF_TENSORS | {"keras", "tnp"}  # also of arrays


def operation(ev: Evaluator, node: ast.BinOp, point: Point) -> Site | None:
    """A site for an operator that may also join texts or lists. Whether it does takes the value on
    its left: who finds something here asks `site`.
    """
    if type(node.op) not in _JOINING:
        return ev.site(node, point)
    ev.session.steps = 0
    return _operator_site(ev, OPERATORS.get(type(node.op)), node, (node.left, node.right), point)


def application(ev: Evaluator, node: ast.expr, point: Point) -> Site | None:
    """A fresh site for an expression that applies an op."""
    if isinstance(node, ast.Call):
        row, name = resolution.row(ev, node.func, point)
        if row is not None:
            return _call_site(ev, row, name, node, point)
        return _method_row(ev, node, point)
    if isinstance(node, ast.BinOp):
        if (
            type(node.op) in _JOINING
            and maker(ev, node.left, point) is None
            and ev.evaluate(node.left, point).kind in ("sequence", "string", "dict")
        ):
            return None  # 'step %d' % step
        return _operator_site(
            ev, OPERATORS.get(type(node.op)), node, (node.left, node.right), point
        )
    return None


# Names


def name(ev: Evaluator, node: ast.Name, point: Point) -> Value:
    binding = point.lookup(node.id)
    if binding is None and point.module.stars:
        binding = resolution.starred(ev, node.id, point)
    if binding is None:
        canonical_name = resolution.unbound(ev, node.id, point)
        return (resolution.named(ev, canonical_name) if canonical_name else None) or unknown(
            origin=Note(f"'{node.id}'", node, point.module.source, path=node.id)
        )
    return resolution.supposed(ev, _filled(ev, binding.value(ev)), node.id, node, point)


def _filled(ev: Evaluator, value: Value) -> Value:
    """`Evaluator.filled`, which leaves all but lists and dicts as they are."""
    return ev.filled(value) if value.kind in _FILLABLE else value


def attribute(ev: Evaluator, node: ast.Attribute, point: Point) -> Value:
    name = resolution.resolve(ev, node, point)
    if name is not None:
        known = resolution.named(ev, name)
        if known is not None:
            return known
        if is_tensorflow(name) and not name.endswith(f".{FLAGS}.{node.attr}"):
            return unknown()
    path = path_of(node)
    if path is not None:
        binding = point.path_binding(root_of(path), path)
        if binding is not None:
            return resolution.supposed(ev, _filled(ev, binding.value(ev)), node.attr, node, point)
    owner = ev.evaluate(node.value, point)
    value = ev.member(owner, node.attr)
    value = _filled(ev, value) if value is not None else ev.stable(path, point) or unknown()
    return resolution.supposed(
        ev, ev.configured(value, node.attr, node.value, point), node.attr, node, point
    )


# Literals


def literal(ev: Evaluator, node: ast.Constant, point: Point) -> Value:
    return number(node.value)


# Operators


def binary(ev: Evaluator, node: ast.BinOp, point: Point) -> Value:
    name = OPERATORS.get(type(node.op))
    left = ev.evaluate(node.left, point)
    if left.kind in ("sequence", "string", "dict"):
        return ev.container_operator(node, left, point)
    site = _operator_site(ev, name, node, (node.left, node.right), point)
    if site is None:
        return unknown()
    right = ev.evaluate(node.right, point)
    if right.kind == "sequence":
        return unknown("tensor") if left.kind != "number" else Value(kind="sequence")
    if (
        left.is_number
        and right.is_number
        and left.kind == right.kind == "number"
        and not (left.dtype in FLOATS or right.dtype in FLOATS)
    ):
        folded = _folded(node.op, left.const, right.const)
        if folded is not None:
            folded.origin = site
            ev.gave(site, folded)
            return folded
    site.values.setdefault(site.op.params[0], left)
    site.values.setdefault(site.op.params[1], right)
    return _result(ev, site)


def _operator_site(
    ev: Evaluator, name: str | None, node: ast.expr, operands: tuple[ast.expr, ...], point: Point
) -> Any:
    row = ev.table.get(name) if name else None
    if row is None or name is None:
        return None
    earlier = ev.asked_for(row, node, point)
    if earlier is not None:
        return earlier
    args = (
        {row.params[0]: operands[0]}
        if len(operands) == 1
        else {row.params[0]: operands[0], row.params[1]: operands[1]}
    )
    return Site(
        row, node, args, ev, library="operator", point=point, source=point.module.source, name=name
    )


def maker(ev: Evaluator, node: ast.expr, point: Point) -> Op | None:
    """The op that an expression applies, also behind a name or in what a function returns; None
    where it takes more than reading.
    """
    if isinstance(node, ast.Name):
        binding = point.lookup(node.id)
        return (
            maker(ev, binding.node, binding.point)
            if isinstance(binding, Assigned) and binding.node is not node
            else None
        )
    if isinstance(node, ast.BinOp):
        return ev.table.get(OPERATORS.get(type(node.op), ""))
    if not isinstance(node, ast.Call):
        return None
    if leaf(node.func) not in ev.leaves:
        return _returned_op(ev, node.func, point)
    return ev.table.get(resolution.resolve(ev, node.func, point) or "")


def _returned_op(ev: Evaluator, callee: ast.expr, point: Point) -> Op | None:
    """The op that the last line of a function or method of this file applies; its other lines are
    not read.
    """
    function: Any = None
    if isinstance(callee, ast.Name):
        binding = point.lookup(callee.id)
        function = binding.value(ev).obj if isinstance(binding, Fixed) else None
    elif (
        isinstance(callee, ast.Attribute)
        and isinstance(callee.value, ast.Name)
        and callee.value.id == "self"
    ):
        caller = point.scope.function
        function = (
            ev.method(caller.owner, callee.attr)
            if caller is not None and caller.owner is not None
            else None
        )
    if (
        not isinstance(function, Function)
        or not isinstance(function.node, ast.FunctionDef)
        or not function.transparent
    ):
        return None
    last = function.node.body[-1]
    returned = last.value if isinstance(last, ast.Return) else None
    known = (
        isinstance(returned, ast.BinOp)
        or isinstance(returned, ast.Call)
        and leaf(returned.func) in ev.leaves
    )
    return maker(ev, returned, function.point) if known and returned is not None else None


def _kind_given(site: Site, value: Value) -> str:
    """Whether a site gives a tensor or an array of NumPy, where its row says one of them."""
    if site.library == "np" and value.kind in ("tensor", "array"):
        return "array"  # also of tensors
    if value.kind == "tensor":
        if site.op.name in ARRAY_METHODS:
            return "array"
        if site.name in site.op.of_arrays and site.arrives("array"):
            return "array"
        if site.library in _PLAIN and not site.op.starts and not site.arrives("tensor"):
            # Nothing here says that TensorFlow computes it; NumPy's functions and methods give
            # arrays.
            return "array" if site.library == "method" and site.arrives("array") else "unknown"
    if value.kind == "array" and site.library in _MAKING_TENSORS:
        return "tensor"
    return value.kind


def _result(ev: Evaluator, site: Site) -> Value:
    """The value that a site gives, with the site as its origin."""
    met = before_meeting(site) if "y" in site.args else None
    if site.library in LIBRARIES:
        met = {**(before_floats(site) or {}), **(met or {})}
    value = site.give()
    if site.library in LIBRARIES and (value.dtype in WHOLE or value.dtype == "bool"):
        value.dtype = promoted(site, value.dtype)
    elif (
        (value.dtype == "float32" or value.kind == "dtype")
        and site.library in _OF_KERAS
        and site.point is not None
        and ev.policies(site.point.module)
    ):
        value = ev.in_floatx(site, value)
    arrived = site.values.values()
    for argument in arrived:
        if argument is NOTHING:
            return NOTHING
    value.kind = _kind_given(site, value)
    if site.library == "np" and value.kind == "array" and value.dtype == "bfloat16":
        value = of_bfloat16(value)
    if (
        value.kind == "number"
        and arrived
        and site.library in _OF_TENSORS
        and all(v.kind == "number" for v in arrived)
    ):
        value = t.of_numbers(value)
    value.origin = value.origin if site.op.hands_on and value.origin else site
    ev.gave(site, value)
    if met:
        site.values.update(met)
    if value.kind == "sequence" and isinstance(value.obj, tuple):
        parts = enumerate(value.obj)
        value.obj = renewed(
            value.obj,
            (
                (
                    v.but(
                        origin=v.origin or Note("", parent=site, index=i),
                        emptied=v.emptied or value.emptied,
                    )
                    if v.origin is None or value.emptied
                    else v
                )
                for i, v in parts
            ),
        )
    return value


def unary(ev: Evaluator, node: ast.UnaryOp, point: Point) -> Value:
    operand = ev.evaluate(node.operand, point)
    if isinstance(node.op, ast.USub):
        if operand.is_number and operand.kind == "number":
            return (
                number(-operand.const).but(dtype=operand.dtype)
                if operand.dtype in FLOATS
                else number(-operand.const)
            )
        return _result(ev, _operator_site(ev, "tf.negative", node, (node.operand,), point))
    if isinstance(node.op, ast.UAdd):
        return operand
    if isinstance(node.op, ast.Invert):
        mask = operand.kind == "tensor" and operand.dtype == "bool"
        return (
            _result(ev, _operator_site(ev, "tf.logical_not", node, (node.operand,), point))
            if mask
            else inverted(operand)
        )
    return Value(
        0.0, 1.0, True, dtype="bool", kind="tensor" if operand.kind == "tensor" else "number"
    )


def comparison(ev: Evaluator, node: ast.Compare, point: Point) -> Value:
    name = _COMPARISONS.get(type(node.ops[0])) if len(node.ops) == 1 else None
    value = Value(0.0, 1.0, True, dtype="bool", kind="tensor" if name else "number")
    row = ev.table.get(name) if name else None
    if row is not None:
        value.origin = _operator_site(ev, name, node, (node.left, node.comparators[0]), point)
    return value


def compared(ev: Evaluator, node: ast.Compare, point: Point) -> Site:
    """A comparison as a site of tf.equal or tf.not_equal; `is` counts as ==."""
    name = "tf.equal" if isinstance(node.ops[0], (ast.Eq, ast.Is)) else "tf.not_equal"
    return _operator_site(ev, name, node, (node.left, node.comparators[0]), point)


def boolean(ev: Evaluator, node: ast.BoolOp, point: Point) -> Value:
    """`a or b` is a where a holds, else b; `a and b` the other way round."""
    first, operands = isinstance(node.op, ast.Or), []
    for value in node.values[:-1]:
        operands.append(ev.evaluate(value, assuming(ev, value, first, point)))
        point = assuming(ev, value, not first, point)
    last = ev.evaluate(node.values[-1], point)
    if (
        first
        and last.kind == "dict"
        and last.obj
        and all(v.obj is None and not v.known for v in operands)
    ):
        return last  # `cache.get(key) or computed(key)`: what is kept was computed in the same way
    if first and all(settable(value) for value in operands) and small(last):
        return fallback(last, node, point)
    return ev.joined([*operands, last])


def conditional(ev: Evaluator, node: ast.IfExp, point: Point) -> Value:
    known = agreements.decided(ev, node.test, point)
    if known is not None:
        return ev.evaluate(
            node.body if known else node.orelse, assuming(ev, node.test, known, point)
        )
    chosen, alternative = (
        ev.evaluate(node.body, assuming(ev, node.test, True, point)),
        ev.evaluate(node.orelse, assuming(ev, node.test, False, point)),
    )
    match node:
        case ast.IfExp(
            body=kept,
            test=ast.Compare(left=asked, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]),
        ):
            if path_of(kept) == path_of(asked) and settable(chosen) and small(alternative):
                return fallback(alternative, node, point)
    return ev.joined(
        [
            as_tested(ev, chosen, node.body, node.test, True, point),
            as_tested(ev, alternative, node.orelse, node.test, False, point),
        ]
    )


def assuming(ev: Evaluator, test: ast.expr, truth: bool, point: Point) -> Point:
    """`point` with the names of a test refined."""
    over: dict[str, Binding] = {}
    for node, path, part, then in refinements(test, truth, point):
        base = over.get(path) or point.binding(path) or Assigned(node, point)
        over[path] = Refined(base, path, part, truth, then)
    return point.under(over) if over else point


def as_tested(
    ev: Evaluator, value: Value, branch: ast.expr, test: ast.expr, truth: bool, point: Point
) -> Value:
    """A branch that computes once more what the test looks at, or a linear function of it:
    `tf.where(tf.norm(x) > 0, tf.norm(x), 1.0)`, `tf.where(x > 1, x - 1, 1.0)`.
    """
    written = branch.body if isinstance(branch, ast.Lambda) else branch
    if isinstance(written, ast.Constant) or value.kind not in NUMERIC_KINDS:
        return value
    if isinstance(test, ast.Name):
        return under(value, ev.evaluate(test, point), truth)
    for node, relation, operand in facts(test, truth):
        if isinstance(node, ast.Name) and isinstance(written, ast.Name) and node.id == written.id:
            continue  # the name is bounded already
        tested = ev.evaluate(node, point)
        bound = number(operand) if isinstance(operand, float) else ev.evaluate(operand, point)
        if type(node) is type(written) and same(tested, value):
            value = related(value, relation, bound)
        elif (said := as_said_of(value, tested, relation, bound)) is not None:
            value = related(value, *said)
    return value


def lambda_(ev: Evaluator, node: ast.Lambda, point: Point) -> Value:
    return Value(kind="function", obj=Function(node, point, point.module))


def walrus(ev: Evaluator, node: ast.NamedExpr, point: Point) -> Value:
    inner, there = subexpressions.parts(ev, node, point)[0]
    return ev.evaluate(inner, there)


def text(ev: Evaluator, node: ast.JoinedStr, point: Point) -> Value:
    return Value(kind="string")


def await_(ev: Evaluator, node: ast.Await, point: Point) -> Value:
    return ev.evaluate(node.value, point)


# Calls


def invocation(ev: Evaluator, node: ast.Call, point: Point) -> Value:
    row, name = resolution.row(ev, node.func, point)
    if (
        name in ("builtins.zip", "builtins.getattr")
        and (built := ev.built_in(node, name, point)) is not None
    ):
        return built
    if row is not None:
        return _apply_row(ev, row, name, node, point)
    if name == "functools.partial" and node.args:
        positional, keywords, _ = arguments.arguments_of(ev, node, point)
        return calls.partial(ev, positional, keywords)
    if name == "dataclasses.replace" and len(node.args) == 1:
        return records.copy(ev, ev.evaluate(node.args[0], point), node, point) or unknown()
    if name and not name.startswith("builtins."):
        return unknown()
    if name == "builtins.super":
        return members.parent(ev, node, point)
    fetched = _of_state(ev, node, point) or ev.fetched(node, point)
    if fetched is not None:
        return fetched
    site = _method_row(ev, node, point)
    if site is not None:
        value = _result(ev, site)
        return _as_kept(ev, site, value) if site.op.name == "method.add_weight" else value
    callee = resolution.callee(ev, node.func, point)
    if callee is None or callee.obj is None:
        if asks_size(node.func, point):
            return Value(1.0, LARGEST_AXIS, kind="number", dtype="int32")
        result = _of_unknown_function(node, point)
    else:
        positional, keywords, complete = arguments.arguments_of(ev, node, point)
        result = ev.apply(callee, positional, keywords, node, point, hidden=not complete)
        if isinstance(result.origin, Site) and result.origin.node is not node:
            ev.session.calls.setdefault(result.origin, []).append((node, point))
    return resolution.supposed(ev, result, leaf(node.func), node, point)


def _of_unknown_function(node: ast.Call, point: Point) -> Value:
    """What a call of a function gives of which nothing is known."""
    binding = unrefined(point.lookup(node.func.id)) if isinstance(node.func, ast.Name) else None
    chosen_by_caller = isinstance(binding, (Parameter, Handed))
    text = f"the call '{_short(node.func)}(…)'"
    source = point.module.source
    return unknown(origin=Note(text, node, source, passed=chosen_by_caller, computed=True))


def _of_state(ev: Evaluator, node: ast.Call, point: Point) -> Value | None:
    """What an optimizer keeps for a variable (`self.get_slot(v, "m")`); None for other calls."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in OPTIMIZER_STATE:
        return ev.kept(node, point)
    return None


def _apply_row(ev: Evaluator, row: Op, name: str, node: ast.Call, point: Point) -> Value:
    shown = display(node) if row.name == "builtins.dict" else None
    if shown is not None:
        return ev.dictionary(shown, point)
    site = _call_site(ev, row, name, node, point)
    value = _result(ev, site)
    if row.starts:
        return _as_kept(ev, site, value)
    return _refined_result(ev, site, value, row.refines) if row.refines else value


def _as_kept(ev: Evaluator, site: Site, value: Value) -> Value:
    """The value of a variable with what its file assigns to it."""
    held = ev.remembered(site, value)
    if held is not value:
        held.origin = site
        ev.gave(site, held)
    return held


def _refined_result(ev: Evaluator, site: Site, value: Value, refines: tuple[str, ...]) -> Value:
    """tf.where(x > 0, x, 1.): each branch under its condition, when the branch is what the test
    speaks of.
    """
    condition, *branches = refines
    test = site.args.get(condition)
    if test is None or not all(b in site.args for b in branches):
        return value
    if len(branches) == 1 and assuming(ev, test, True, site.point) is site.point:
        return value
    outcomes = []
    for branch, truth in zip(branches, (True, False)):
        there = assuming(ev, test, truth, site.point)
        outcome = (
            ev.evaluate(site.args[branch], there) if there is not site.point else site.value(branch)
        )
        called = outcome.kind == "function" and outcome.obj is not None  # a branch of tf.cond
        outcomes.append(
            as_tested(
                ev,
                ev.apply(outcome, [], {}) if called else outcome,
                site.args[branch],
                test,
                truth,
                site.point,
            )
        )
    if value.dtype in FLOATS or value.dtype is None:
        outcomes = [
            (
                one.but(
                    lo=rounded(one.lo, value.dtype),
                    hi=rounded(one.hi, value.dtype),
                    dtype=value.dtype,
                    kind="tensor",
                    origin=one.origin,
                )
                if one.kind == "number"
                else one
            )
            for one in outcomes
        ]
    elif site.library == "tf":
        outcomes = [t.in_dtype(one, value.dtype) for one in outcomes]
    result = ev.joined(outcomes) if len(outcomes) > 1 else outcomes[0]
    if result.kind not in NUMERIC_KINDS:  # a branch of tf.cond that gives several
        return result.but(origin=site)
    kind = (
        value.kind
        if value.kind == "array" or value.kind == "unknown" and result.kind == "array"
        else "tensor"
    )
    return result.but(
        origin=site, kind=kind, const=NO_CONSTANT, obj=None, emptied=value.emptied or result.emptied
    )


def _call_site(ev: Evaluator, row: Op, name: str, node: ast.Call, point: Point) -> Site:
    earlier = ev.asked_for(row, node, point)
    if earlier is not None:
        return earlier
    args, complete = callables.bind_op(row, name, node)
    site = Site(
        row,
        node,
        args,
        ev,
        complete=complete,
        library=name.split(".", 1)[0],
        point=point,
        source=point.module.source,
        name=name,
    )
    if not complete:
        _handed_on_to(ev, site, node, point)
    return site


def _handed_on_to(ev: Evaluator, site: Site, node: ast.Call, point: Point) -> None:
    """Give a site the values that `**kwargs` stands for, or say that some arguments are not
    seen.
    """
    keywords: dict[str, Binding] | None = {}
    for argument in node.keywords:
        spread = arguments.pairs_spread(ev, argument.value, point) if argument.arg is None else {}
        keywords = None if keywords is None or spread is None else keywords | spread
    for keyword, binding in (keywords or {}).items():
        param = SYNONYMS.get(keyword) if keyword not in site.op.params else keyword
        if param in site.op.params and param not in site.args:
            site.values[param] = binding.value(ev)
    site.hidden = keywords is None


def _method_row(ev: Evaluator, node: ast.Call, point: Point) -> Site | None:
    """`x.sum(...)`: a row named method.sum, or dataset.map for a data set, whose first parameter is
    the receiver.
    """
    if not isinstance(node.func, ast.Attribute):
        return None
    row = ev.table.get(f"method.{node.func.attr}")
    of_dataset = ev.table.get(f"dataset.{node.func.attr}")
    if row is None and of_dataset is None:
        return None
    receiver = ev.evaluate(node.func.value, point)
    if receiver.kind == "dataset":
        row = of_dataset
    if row is None:
        return None
    plain = (
        receiver.kind in ("tensor", "array", "number", "unknown", "shape", "instance")
        and receiver.obj is None
    )
    plain = (
        plain or isinstance(receiver.obj, Parent) and ev.member(receiver, node.func.attr) is None
    )
    if (
        not plain
        and receiver.kind not in ("model", "layer", "tape", "average", "dataset")
        and not _inherited(ev, receiver, node.func.attr)
    ):
        return None
    if (row.name == "method.average") != (receiver.kind == "average"):
        return None
    earlier = ev.asked_for(row, node, point)
    if earlier is not None:
        return earlier
    name = f"method.{node.func.attr}"
    is_operator = name in row.aliases and row.name != name
    receiving = row.params_of(name)[0] if is_operator else "self"
    args, complete = callables.bind_op(row, name if is_operator else row.name, node, (receiving,))
    args[receiving] = node.func.value
    return Site(
        row,
        node,
        args,
        ev,
        complete=complete,
        library="operator" if is_operator else "method",
        point=point,
        source=point.module.source,
        name=row.name,
    )


def _inherited(ev: Evaluator, receiver: Value, method: str) -> bool:
    """Whether a layer or model of the program calls the `add_weight`, `compile` or `fit` that it
    has from Keras.
    """
    if method in STATE_METHODS:
        return isinstance(receiver.obj, Instance)
    return (
        method in MODEL_METHODS
        and isinstance(receiver.obj, Instance)
        and bool(ev.foreign_bases(receiver.obj.cls))
        and ev.member(receiver, method) is None
    )


# Bindings


def refined(ev: Evaluator, binding: Refined) -> Value:
    return clamped(
        ev, binding.base.value(ev), binding.path, binding.test, binding.truth, binding.point
    )


def clamped(
    ev: Evaluator, value: Value, path: str, test: ast.expr, truth: bool, point: Point
) -> Value:
    if value.kind not in NUMERIC_KINDS:
        return value
    for node, relation, operand in facts(test, truth):
        if path_of(node) != path:
            continue
        bound = number(operand) if isinstance(operand, float) else ev.evaluate(operand, point)
        value = related(value, relation, bound)
    return value


def settle(ev: Evaluator, loop: Loop) -> Value:
    """The least value of a loop variable that covers its entry and every round, widened after the
    second.
    """
    entry = loop.entry.value(ev) if loop.entry is not None else None
    if not loop.rounds:
        return entry if entry is not None else unknown()
    # Not the number that came in, which other names may hold: what is assumed is every round's.
    origin = entry.origin if entry is not None else None
    assumed = (
        entry.but(origin=Note("", parent=origin) if isinstance(origin, Site) else origin)
        if entry is not None
        else NOTHING
    )
    mark = len(ev.reads)
    ev.session.active_loops += 1
    try:
        for attempt in range(4):
            loop.assumed, loop.stamp = assumed, assumptions.next_stamp(ev)
            new = ev.joined(([entry] if entry is not None else []) + heard(loop.rounds, ev))
            if covers(assumed, new):
                assumed.evident = assumed.evident or new.evident
                break
            assumed = new if attempt == 0 else widen(assumed, new)
            if assumed.vague:
                break  # another round says no less
        else:
            assumed = unknown()
    finally:
        ev.session.active_loops -= 1
        loop.stamp = 0
    assumptions.settled(ev, loop, mark)
    if assumed is NOTHING:
        return unknown()
    # Not the value of one round: another token, and no producer that could be taken for that of
    # this round.
    arriving = new.origin.joined if isinstance(new.origin, Note) else ()
    rounds = tuple([origin for origin in arriving if origin is not None])
    note = Note("", parent=assumed.origin, joined=rounds)
    ev.session.loop_notes.append(note)
    return assumed.but(origin=note)


_PYTHON: Final = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def _folded(sign: ast.operator, left: Any, right: Any) -> Value | None:
    """Arithmetic of two Python constants, integers staying integers; None where Python raises or
    the result is huge.
    """
    function = _PYTHON.get(type(sign))
    if function is None or (function is operator.pow and (abs(left) > 1e6 or abs(right) > 400)):
        return None
    try:
        result = function(left, right)
    except (OverflowError, ZeroDivisionError, ValueError):
        return None
    return number(result) if isinstance(result, (int, float)) else None


def _short(node: ast.expr) -> str:
    path = path_of(node)
    return path or leaf(node) or "…"
