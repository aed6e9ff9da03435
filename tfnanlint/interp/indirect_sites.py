"""Indirect sites: calls that apply an op which they do not name, that of a layer, a partial, or one
that a function of the program is handed.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from tfnanlint.interp import names as resolution
from tfnanlint.ops.site import Site
from tfnanlint.program.functions import Bound, ClassObject, Function, Instance
from tfnanlint.program.scope import Point
from tfnanlint.syntax.nodes import ATTRIBUTE
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Note, Value, unknown

_MAX_WITHIN: Final = 12  # values looked at behind what a function gives


def stood_for(ev: Evaluator, node: ast.Call, point: Point) -> Site | None:
    """The op application that a call of something else is, or comes to; None where it is none."""
    handed = {
        ev.table[name].name
        for one in (*node.args, *[keyword.value for keyword in node.keywords])
        if type(one) is ATTRIBUTE
        and one.attr in ev.leaves
        and (name := resolution.resolve(ev, one, point)) in ev.table
        and ev.table[name].edges
    }
    if node in point.memo and not handed:
        return None  # its value has told
    callee = resolution.callee(ev, node.func, point)
    target = callee.obj if callee is not None else None
    if isinstance(target, Bound):
        target = target.function
    if isinstance(target, (Function, Instance)):
        return _run_inside(ev, node, point, handed) if handed else None
    origin = (
        ev.evaluate(node, point).origin
        if target is not None and not isinstance(target, ClassObject)
        else None
    )
    return origin if isinstance(origin, Site) and origin.node is node else None


def _run_inside(ev: Evaluator, node: ast.Call, point: Point, names: set[str]) -> Site | None:
    """The application of an op that a call hands to a function of the program, which gives what the
    op gives or what is made of it (`apply(tf.math.log, x)`): it is one of this call, for others
    hand over other ops.
    """
    origin = _within(ev, ev.evaluate(node, point), point, names)
    if origin is None:
        return None
    site = Site.of_values(
        origin.op, {param: origin.value(param) for param in (*origin.args, *origin.values)}
    )
    site.interpreter, site.node, site.point, site.source, site.complete = (
        ev,
        node,
        point,
        point.module.source,
        False,
    )
    ev.gave(site, origin.result if origin.result is not None else unknown())
    return site


def _within(ev: Evaluator, value: Value, point: Point, names: set[str]) -> Site | None:
    """The application of one of some ops behind a value, in functions that are called at a
    point.
    """
    queue, seen = [value], 0
    while queue and seen < _MAX_WITHIN:
        origin: Any = queue.pop(0).origin
        seen += 1
        while isinstance(origin, Note) and not origin.text and origin.index is None:
            origin = origin.parent
        if (
            not isinstance(origin, Site)
            or origin.point is None
            or origin.point.scope is point.scope
        ):
            continue
        if origin.op.name in names:
            return origin
        queue += [origin.value(param) for param in origin.args]
    return None
