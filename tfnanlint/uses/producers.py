"""Producers: which ops may stand behind an expression, as far as its text tells. Asked before
values, for it evaluates none.
"""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.interp.callgraph.parameters import MAX_CALLERS, handed_over
from tfnanlint.ops.frameworks import CALL_METHODS, PARAMETRIZING
from tfnanlint.ops.names import is_tensorflow
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import SETTINGS, Op
from tfnanlint.ops.traits import CASTS, EQUALITIES, GREATER, LESS, LOGICAL, NAN_TESTS
from tfnanlint.program.functions import Handed
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
    unrefined,
)
from tfnanlint.syntax.access_paths import leaf, path_of, root_of
from tfnanlint.values.evaluator import Evaluator

_DEPTH = 12  # expressions and names inside of each other; below may stand anything
_OF_TENSORS = frozenset(("shape", "dtype"))
_TESTS = frozenset((*EQUALITIES, *GREATER, *LESS, *LOGICAL, *NAN_TESTS, *CASTS))
_NONE: frozenset[str] = frozenset()


def may_stem(
    interpreter: Evaluator,
    site: Site,
    param: str,
    names: frozenset[str],
    through: frozenset[str] | None = _NONE,
) -> bool:
    """Whether an op among `names` may stand behind what reaches a parameter, with nothing between
    but ops `through` which the caller looks (None: all) and such as hand values on. Where the
    text does not tell, it may.
    """
    node = site.args.get(param)
    return (
        node is None
        or site.point is None
        or Stems(interpreter, names, through).may(node, site.point, _DEPTH)
    )


class Stems:
    """One search behind an expression."""

    def __init__(
        self, interpreter: Evaluator, names: frozenset[str], through: frozenset[str] | None
    ):
        self.interpreter = interpreter
        self.names = names
        self.through = through
        # loops and parameters on the way: what leads back to them adds nothing
        self._asked: set[Binding] = set()

    def may(self, node: Any, point: Point, depth: int) -> bool:
        kind = type(node)
        if kind is ast.Constant:
            return False
        if depth == 0:
            return True
        if kind is ast.Name:
            return self._held(point.lookup(node.id), node, depth - 1)
        if kind is ast.BinOp:
            op = self.interpreter.maker(node, point)
            return (
                op is None
                or op.name in self.names
                or self._sees_through(op)
                and (
                    self.may(node.left, point, depth - 1) or self.may(node.right, point, depth - 1)
                )
            )
        if kind is ast.Call:
            op = self.interpreter.maker(node, point)
            return (
                op is None
                or op.name in self.names
                or self._leads_on(op)
                and self._given(node, op, point, depth - 1)
            )
        if kind is ast.UnaryOp and isinstance(node.op, ast.USub):
            return (
                "tf.negative" in self.names
                or (self.through is None or "tf.negative" in self.through)
                and self.may(node.operand, point, depth - 1)
            )
        if kind is ast.Subscript:
            if "tf.strided_slice" in self.names and self._is_test(node.slice, point, depth - 1):
                return True
            return self.may(node.value, point, depth - 1)
        if kind is ast.Attribute:
            return self._of_attribute(node, point, depth - 1)
        if kind is ast.Tuple or kind is ast.List:
            return any([self.may(one, point, depth - 1) for one in node.elts])
        return (
            kind is not ast.IfExp
            or self.may(node.body, point, depth - 1)
            or self.may(node.orelse, point, depth - 1)
        )

    def _is_test(self, index: ast.expr, point: Point, depth: int) -> bool:
        """Whether an index is a test, or a name that was given one: `x[x > 0]`."""
        kind = type(index)
        if kind is ast.Compare:
            return True
        if depth == 0:
            return False
        if kind is ast.UnaryOp:
            return self._is_test(index.operand, point, depth - 1)
        if kind is ast.BinOp:
            return isinstance(index.op, (ast.BitAnd, ast.BitOr))
        if kind is ast.Call:
            op = self.interpreter.maker(index, point)
            return op is not None and op.name in _TESTS
        bare = unrefined(point.lookup(index.id)) if kind is ast.Name else None
        return isinstance(bare, Assigned) and self._is_test(bare.node, bare.point, depth - 1)

    def _of_attribute(self, node: ast.Attribute, point: Point, depth: int) -> bool:
        """Of what this function has assigned to an attribute; of others nothing is told, but for
        shapes and the constants of libraries. Who asks for what makes NaN wants to see `np.nan`.
        """
        path = path_of(node)
        binding = point.path_binding(root_of(path), path) if path is not None else None
        if binding is not None:
            return self._held(binding, None, depth)
        if node.attr in _OF_TENSORS:
            return False
        name = self.interpreter.resolve(node, point) or ""
        constant = self.interpreter.constants.get(name)
        return constant.nan if constant is not None else not is_tensorflow(name)

    def _held(self, binding: Binding | None, name: ast.expr | None, depth: int) -> bool:
        """Of what a name holds, in any of several branches."""
        bare = unrefined(binding)
        if isinstance(bare, Assigned):
            return bare.node is not name and self.may(bare.node, bare.point, depth)
        if depth == 0:
            return True
        if isinstance(bare, Joined):
            return any([self._held(one, name, depth - 1) for one in bare.bindings])
        if isinstance(bare, (Element, Iterated)):
            return self._held(
                bare.whole if isinstance(bare, Element) else bare.iterable, name, depth - 1
            )
        if isinstance(bare, Handed):
            return self._held(bare.binding, name, depth - 1)
        if isinstance(bare, Fixed):
            value = bare.value(self.interpreter)
            return value.origin is not None or value.nan
        return self._first(bare, depth - 1) if isinstance(bare, (Loop, Parameter)) else True

    def _first(self, binding: Loop | Parameter, depth: int) -> bool:
        """Of what is bound by the rounds of a loop, or by calls: looked at once."""
        if binding in self._asked:
            return False
        self._asked.add(binding)
        if isinstance(binding, Parameter):
            return self._arrives(binding, depth)
        return any(
            [
                self._held(one, None, depth)
                for one in (binding.entry, *binding.rounds)
                if one is not None
            ]
        )

    def _arrives(self, parameter: Parameter, depth: int) -> bool:
        """Of what the calls hand over that are seen; where none are, nothing is known of what
        arrives.
        """
        function = parameter.function
        if (
            parameter.rest
            or not PARAMETRIZING.isdisjoint(function.decorators)
            or function.bound
            and function.name in CALL_METHODS
            or self.interpreter.is_compiled(function)
        ):
            return True
        handed = self.interpreter.arguments_of(function)
        return len(handed) <= MAX_CALLERS and any(
            [self._held(handed_over(bound, parameter), None, depth) for bound in handed]
        )

    def _sees_through(self, op: Op) -> bool:
        return self.through is None or op.name in self.through

    def _leads_on(self, op: Op) -> bool:
        return bool(op.passes) or self._sees_through(op)

    def _given(self, call: ast.Call, op: Op, point: Point, depth: int) -> bool:
        """Of the arguments of a call; of a function of the program, which applies an op in its last
        line, they tell nothing.
        """
        if leaf(call.func) not in self.interpreter.leaves:
            return True
        first = op.passes or ("x" if op.name in CASTS else "")
        if first and call.args and op.params[0] == first:
            return self.may(call.args[0], point, depth)
        return any([self.may(one, point, depth) for one in call.args]) or any(
            [self.may(one.value, point, depth) for one in call.keywords if one.arg not in SETTINGS]
        )
