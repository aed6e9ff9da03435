"""Trip counts: which loops surely have a round, by what the lists are that they go over."""

from __future__ import annotations

import ast
from typing import Any, Final

from tfnanlint.program.functions import Handed, Instance
from tfnanlint.program.loops import OF_ANOTHER, runs
from tfnanlint.program.scope import Assigned, Binding, Point, unrefined
from tfnanlint.syntax.access_paths import path_of, root_of
from tfnanlint.values.evaluator import Evaluator

_DEPTH: Final = 6  # names between a loop and the list that is written


def has_rounds(ev: Evaluator, iterable: ast.expr, point: Point) -> bool:
    """Whether a loop over an expression surely has a round: `self.layers`, `enumerate(units)`,
    `range(self.depth)`.
    """
    spent = ev.session.steps
    answer = _has_rounds(ev, iterable, point, _DEPTH)
    ev.session.steps = spent  # a question of its own: who asks it must not run out of steps for it
    return answer


def _has_rounds(ev: Evaluator, iterable: Any, point: Point, depth: int) -> bool:
    if runs(iterable):
        return True
    if depth == 0:
        return False
    if isinstance(iterable, (ast.Name, ast.Attribute)):
        binding = _made(ev, iterable, point)
        return isinstance(binding, Assigned) and _has_rounds(
            ev, binding.node, binding.point, depth - 1
        )
    if isinstance(iterable, ast.ListComp):
        generator = iterable.generators[0]
        return (
            len(iterable.generators) == 1
            and not generator.ifs
            and _has_rounds(ev, generator.iter, point, depth - 1)
        )
    called = (
        iterable.func.id
        if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.args
        else ""
    )
    if called in OF_ANOTHER and not any([isinstance(one, ast.Starred) for one in iterable.args]):
        return all(
            [
                _has_rounds(ev, one, point, depth - 1)
                for one in (iterable.args if called == "zip" else iterable.args[:1])
            ]
        )
    if (
        called != "range"
        or len(iterable.args) != 1
        or not isinstance(iterable.args[0], (ast.Name, ast.Attribute))
    ):
        return False
    count = ev.evaluate(iterable.args[0], point)
    # and no size of a tensor, which may be empty
    return count.kind == "number" and count.dtype is None and count.lo >= 1


def _made(ev: Evaluator, node: Any, point: Point) -> Binding | None:
    """The assignment that a name or attribute stands for."""
    path = path_of(node)
    binding = unrefined(point.binding(path)) if path is not None else None
    while isinstance(binding, Handed):
        binding = unrefined(binding.binding)
    if binding is not None or not isinstance(node, ast.Attribute):
        return binding
    held = ev.evaluate(node.value, point).obj
    if not isinstance(held, Instance) or root_of(path or "") == path:
        return None
    return unrefined(
        ev.assigned_to(
            [held.cls] if held.node is not None else [held.cls, *ev.heirs(held.cls)], node.attr
        )
    )
