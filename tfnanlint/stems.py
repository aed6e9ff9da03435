"""Stems: which ops may stand behind an expression, as far as its text tells. Asked before values, for it evaluates none."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfnanlint.conditions import leaf
from tfnanlint.ops import CASTS, SETTINGS, Op
from tfnanlint.scopes import Assigned, Binding, Joined, Point, unrefined
from tfnanlint.site import Site

if TYPE_CHECKING:
    from tfnanlint.expressions import Interpreter

_DEPTH = 12  # expressions and names inside of each other; below may stand anything
_NONE: frozenset[str] = frozenset()


def may_stem(interpreter: Interpreter, site: Site, param: str, names: frozenset[str], through: frozenset[str] = _NONE) -> bool:
    """Whether an op among `names` may stand behind what reaches a parameter, with nothing between but ops `through` which somebody looks
    and such as hand values on. Where the text does not tell, it may."""
    node = site.args.get(param)
    return node is None or site.point is None or Stems(interpreter, names, through).may(node, site.point, _DEPTH)


class Stems:
    """One search behind an expression."""

    def __init__(self, interpreter: Interpreter, names: frozenset[str], through: frozenset[str]):
        self.interpreter = interpreter
        self.names = names
        self.through = through

    def may(self, node: ast.expr, point: Point, depth: int) -> bool:
        if isinstance(node, ast.Constant):
            return False
        if depth == 0:
            return True
        if isinstance(node, ast.Name):
            return self._held(point.lookup(node.id), node, depth - 1)
        if isinstance(node, ast.BinOp):
            op = self.interpreter.maker(node, point)
            return op is None or op.name in self.names or op.name in self.through and (
                self.may(node.left, point, depth - 1) or self.may(node.right, point, depth - 1))
        if isinstance(node, ast.Call):
            op = self.interpreter.maker(node, point)
            return op is None or op.name in self.names or self._leads_on(op) and self._given(node, op, point, depth - 1)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return "tf.negative" in self.names or "tf.negative" in self.through and self.may(node.operand, point, depth - 1)
        return True

    def _held(self, binding: Binding | None, name: ast.Name, depth: int) -> bool:
        """Of what a name holds, in any of several branches."""
        bare = unrefined(binding)
        if isinstance(bare, Joined):
            return any([self._held(one, name, depth - 1) for one in bare.bindings]) if depth > 0 else True
        return not isinstance(bare, Assigned) or bare.node is name or self.may(bare.node, bare.point, depth)

    def _leads_on(self, op: Op) -> bool:
        return bool(op.passes) or op.name in self.through

    def _given(self, call: ast.Call, op: Op, point: Point, depth: int) -> bool:
        """Of the arguments of a call; of a function of the program, which applies an op in its last line, they tell nothing."""
        if leaf(call.func) not in self.interpreter.leaves:
            return True
        first = op.passes or ("x" if op.name in CASTS else "")
        if first and call.args and op.params[0] == first:
            return self.may(call.args[0], point, depth)
        return (any([self.may(one, point, depth) for one in call.args])
                or any([self.may(one.value, point, depth) for one in call.keywords if one.arg not in SETTINGS]))
