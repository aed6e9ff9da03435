"""Counters: Python numbers that surely come to 0, as in the first round of a loop, and whether the
loop leaves that one out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tfnanlint.ops.site import Site, complemented, made_by, operands, part_of
from tfnanlint.ops.traits import POWERS
from tfnanlint.program.scope import Assigned, Ended, Loop, unrefined
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.value import Value

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LEAVING = (ast.Continue, ast.Break, ast.Return, ast.Raise)


def runs_through_zero(
    division: Site, divisor: Value, around: Callable[[ast.AST], list[ast.AST]]
) -> bool:
    """Whether a divisor is a Python number that comes to 0 in a loop which does not leave that out:
    `for i in range(n): total / i`.
    """
    node = division.args.get("y")
    if divisor.kind != "number" or node is None or divisor.lo != 0 or not divisor.zero:
        return False
    outer = around(division.node)
    if not comes_to_zero(divisor) and not counted_by_hand(node, division, outer):
        return False
    return not leaves_out({name.id for name in nodes_in(node) if isinstance(name, ast.Name)}, outer)


def comes_to_zero(value: Value, depth: int = 4) -> bool:
    """Whether a Python number surely comes to 0: a counter of rounds, which begins there, 1 less a
    power of which that is the exponent, or what is kept at or above 0.
    """
    if value.lo != 0 or not value.zero or depth == 0:
        return False
    floor = made_by(value, "builtins.max")
    if floor is not None:
        bounds = [floor.value(param) for param in floor.args]
        return any([one.exact and one.lo == 0 for one in bounds]) and any(
            [one.lo < 0 for one in bounds]
        )
    less = complemented(value)
    power = made_by(less, *POWERS) if less is not None else None
    if power is not None:
        return comes_to_zero(power.value("y"), depth - 1)
    scaled = made_by(value, "tf.multiply")
    if scaled is not None:
        return any([comes_to_zero(part, depth - 1) for part in operands(scaled)])
    return (
        made_by(value, "builtins.range") is not None
        or part_of(value, 0, "builtins.enumerate") is not None
    )


def counted_by_hand(node: ast.expr, site: Site, around: list[ast.AST]) -> bool:
    """Whether a name holds 0 in the first round of the loop around a site that adds to it further
    down: `print(total / i); i += 1`.
    """
    if not isinstance(node, ast.Name) or site.point is None:
        return False
    binding = unrefined(site.point.lookup(node.id))
    if (
        not isinstance(binding, Loop)
        or isinstance(binding, Ended)
        or not isinstance(binding.entry, Assigned)
        or site.interpreter is None
    ):
        return False
    begun = site.interpreter.evaluate(binding.entry.node, binding.entry.point)
    if not (begun.is_number and begun.const == 0):
        return False
    loop = next(
        (
            one
            for one in around
            if isinstance(one, _LOOPS) and any([_adds(inner, node) for inner in nodes_in(one)])
        ),
        None,
    )
    return loop is not None and all([inner is not binding.entry.node for inner in nodes_in(loop)])


def _adds(node: ast.AST, name: ast.Name) -> bool:
    return (
        isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id == name.id
        and isinstance(node.op, ast.Add)
    )


def leaves_out(names: set[str], around: list[ast.AST]) -> bool:
    """Whether one of the loops around a site may leave out what is computed where a counter is 0:
    it tests the counter, and nothing tells that the site is reached all the same.
    `if step % 100 == 99` does, `if step % 100 == 0` does not.
    """
    inside = set(around)
    for loop in [one for one in around if isinstance(one, _LOOPS)]:
        for conditional in nodes_in(loop):
            test = (
                conditional.test
                if isinstance(conditional, (ast.If, ast.IfExp, ast.While, ast.Assert))
                else None
            )
            if test is None or not any(
                [isinstance(node, ast.Name) and node.id in names for node in nodes_in(test)]
            ):
                continue
            if (
                isinstance(conditional, ast.While)
                and conditional in inside
                and _bounded(test, names)
            ):
                continue
            held = _at_zero(test, names)
            if held is None or not isinstance(conditional, (ast.If, ast.IfExp)):
                return True
            taken, skipped = (
                (conditional.body, conditional.orelse)
                if held
                else (conditional.orelse, conditional.body)
            )
            if any([part in inside for part in _parts(skipped)]) or any(
                [isinstance(inner, _LEAVING) for part in _parts(taken) for inner in nodes_in(part)]
            ):
                return True
    return False


def _parts(branch: Any) -> list[Any]:
    return branch if isinstance(branch, list) else [branch]


def _bounded(test: ast.expr, names: set[str]) -> bool:
    """`while i < n`: the body runs with 0 first."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id in names
        and isinstance(test.ops[0], (ast.Lt, ast.LtE))
    )


def _at_zero(test: ast.expr, names: set[str]) -> Any:
    """What a test gives where a counter is 0; None where that cannot be told."""
    if isinstance(test, ast.Constant):
        return test.value if isinstance(test.value, (int, float)) else None
    if isinstance(test, ast.Name):
        return 0 if test.id in names else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        held = _at_zero(test.operand, names)
        return None if held is None else not held
    if (
        isinstance(test, ast.BinOp)
        and isinstance(test.op, ast.Mod)
        and _at_zero(test.left, names) == 0
    ):
        return 0
    if isinstance(test, ast.BinOp) and isinstance(test.op, (ast.Add, ast.Sub)):
        left, right = _at_zero(test.left, names), _at_zero(test.right, names)
        return (
            None
            if left is None or right is None
            else left + right
            if isinstance(test.op, ast.Add)
            else left - right
        )
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = _at_zero(test.left, names), _at_zero(test.comparators[0], names)
        return None if left is None or right is None else _compared(test.ops[0], left, right)
    if isinstance(test, ast.BoolOp):
        held = [_at_zero(one, names) for one in test.values]
        decisive = isinstance(test.op, ast.Or)
        if any([one is not None and bool(one) is decisive for one in held]):
            return decisive
        return None if None in held else not decisive
    return None


def _compared(sign: ast.cmpop, left: float, right: float) -> bool | None:
    match sign:
        case ast.Eq():
            return left == right
        case ast.NotEq():
            return left != right
        case ast.Lt():
            return left < right
        case ast.LtE():
            return left <= right
        case ast.Gt():
            return left > right
        case ast.GtE():
            return left >= right
    return None
