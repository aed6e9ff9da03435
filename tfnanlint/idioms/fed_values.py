"""What a file feeds to its placeholders: `session.run(loss, feed_dict={labels: batch})`. Others may
feed more, so it is evidence of a hazard, and of nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from tfnanlint.ops.frameworks import GRAPH_RUNS
from tfnanlint.ops.provenance import site_behind
from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import PLACEHOLDERS
from tfnanlint.program.scope import Assigned, Point, unrefined
from tfnanlint.syntax.nodes import display
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value

Calls = Callable[[str], list[tuple[ast.Call, Point]]]


def fed(value: Value, calls: Calls, ev: Evaluator) -> list[Value]:
    """What each run of a file feeds to a placeholder; [] for what is no placeholder, and where the
    dict of a run, or what it feeds, is not known.
    """
    placeholder = site_behind(value)
    if placeholder is None or placeholder.op.name not in PLACEHOLDERS:
        return []
    values: list[Value] = []
    for name in GRAPH_RUNS:
        for call, point in calls(name):
            handed = _feed(call)
            items = _items(handed, point) if handed is not None else []
            if items is None:
                return []
            values += [
                ev.evaluate(item, there)
                for key, item, there in items
                if _is_of(placeholder, ev.evaluate(key, there))
            ]
    return values if all([fed_value.known for fed_value in values]) else []


def _feed(call: ast.Call) -> ast.expr | None:
    """The `feed_dict` of a call; a session takes it behind what is asked for."""
    for keyword in call.keywords:
        if keyword.arg == "feed_dict":
            return keyword.value
    is_session = isinstance(call.func, ast.Attribute) and call.func.attr == "run"
    return call.args[1] if is_session and len(call.args) > 1 else None


def _items(node: ast.expr, point: Point) -> list[tuple[ast.expr, ast.expr, Point]] | None:
    """The keys and values of a dict that is written, there or where its name was assigned; None for
    others.
    """
    binding = unrefined(point.lookup(node.id)) if isinstance(node, ast.Name) else None
    if isinstance(binding, Assigned):
        node, point = binding.node, binding.point
    shown = display(node)
    if shown is None or None in shown.keys:
        return None
    return [(key, item, point) for key, item in zip(shown.keys, shown.values) if key is not None]


def _is_of(placeholder: Site, key: Value) -> bool:
    """Whether a key of the dict is a placeholder."""
    site = site_behind(key)
    return site is not None and site.node is placeholder.node
