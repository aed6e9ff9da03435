"""The trace of a finding: the chain of values that leads to a site, newest first, in words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tfnanlint.diagnostics.findings import Call, Step
from tfnanlint.ops.site import Site
from tfnanlint.program.functions import Function
from tfnanlint.program.scope import Assigned
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import function_at
from tfnanlint.syntax.source import Span
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Note, Value, words

_MAX_STEPS = 8
_MAX_ORIGINS = 24
_MAX_CALLS = 3  # between two steps
_MAX_CALLERS = 16
_MAX_TEXT = 72  # of an expression


def trace(value: Value, site: Site) -> tuple[Step, ...]:
    """Where a value comes from that reaches a site: each expression and name on its way, once."""
    steps: list[Step] = []
    rows: set[Any] = set()
    chain = _chain(value)
    nodes = [origin.node for origin, _ in chain if isinstance(origin, Site)]
    newer = site
    for origin, arrived in chain:
        if len(steps) >= _MAX_STEPS:
            break
        begun = len(steps)
        if isinstance(origin, Note):
            _add_note(steps, rows, origin)
        elif arrived is not None and arrived.known and nodes.count(origin.node) > 1:
            # in a loop: one round gave less than all of them
            _add_site(steps, rows, origin, arrived)
        else:
            _add_site(steps, rows, origin, origin.result)
        if isinstance(origin, Site):
            if len(steps) > begun:
                steps[-1] = _with_calls(steps[-1], newer, origin)
            newer = origin
    return tuple(steps)


def _with_calls(step: Step, newer: Site, older: Site) -> Step:
    """The step of a site with what made its layer, and the calls on the way to a newer site."""
    maker = _maker(older)
    if maker is not None and (maker.path, maker.row) == (step.path, step.row):
        maker = None
    return replace(step, calls=tuple(_calls(newer, older)), made=maker)


def _calls(newer: Site, older: Site) -> Iterator[Call]:
    """The calls through which the value of a site gets to another one: that which gave it back to
    the function of the newer one, or those that hand it over to that, the innermost first.
    """
    ev = newer.interpreter or older.interpreter
    if ev is None or newer.point is None or older.point is None:
        return
    scope = newer.point.scope
    for _ in range(_MAX_CALLS):
        if scope.node is older.point.scope.node:
            return
        for node, point in ev.session.calls.get(older, ()):
            if point.scope.node is scope.node:
                called = _one_line(point.module.source.segment(node.func))
                yield Call(point.module.source.path, node.lineno, called)
                return
        argument = _handed_over(ev, scope.function, older)
        if argument is None:
            return
        source = argument.point.module.source
        yield Call(source.path, argument.node.lineno, scope.function.name)
        scope = argument.point.scope


def _maker(site: Site) -> Call | None:
    """The call that made the layer whose output a site is."""
    layer = site.values["layer"].obj if site.library == "layer" else None
    maker = getattr(layer, "site", None)
    if maker is None or maker.source is None or not isinstance(maker.node, ast.Call):
        return None
    return Call(maker.source.path, maker.node.lineno, leaf(maker.node.func))


def _handed_over(ev: Evaluator, function: Function | None, origin: Site) -> Assigned | None:
    """The argument of a call of a function whose value is from a site."""
    if function is None or isinstance(function.node, ast.Lambda):
        return None
    for arguments in ev.direct_arguments(function)[:_MAX_CALLERS]:
        for argument in arguments.values():
            if isinstance(argument, Assigned) and argument.value(ev).origin is origin:
                return argument
    return None


def _chain(value: Value) -> list[tuple[Any, Value | None]]:
    """The sites and notes that led to a value, newest first, each with what arrived from there."""
    chain: list[tuple[Any, Value | None]] = []
    arrived: Value | None = value
    origin: Any = value.origin
    while origin is not None and len(chain) < _MAX_ORIGINS:
        chain.append((origin, arrived))
        if isinstance(origin, Site):
            arrived = origin.value(origin.op.main) if origin.given(origin.op.main) else None
            if arrived is None or arrived.is_number:  # `2.0 * x`
                arrived = next(
                    (
                        one
                        for one in map(origin.value, origin.args)
                        if one.origin is not None and not one.is_number
                    ),
                    arrived,
                )
            origin = arrived.origin if arrived is not None else None
        else:
            if origin.text:  # a parameter joins what its callers hand over
                arrived = None
            origin = origin.parent
    return chain


def _add_site(steps: list[Step], rows: set[Any], origin: Site, arrived: Value | None) -> None:
    source, node = origin.source, origin.node
    if (
        source is None
        or not hasattr(node, "lineno")
        or arrived is None
        or (source.path, node) in rows
    ):
        return
    rows.add((source.path, node))
    value = words(arrived)
    text = f"{_one_line(source.segment(node))} is {value}"
    function = function_at(source.tree, node.lineno)
    steps.append(Step(source.path, source.span(node), node.lineno, text, value, function))


def _add_note(steps: list[Step], rows: set[Any], note: Note) -> None:
    if not note.text or note.source is None or note.node is None or (note.text,) in rows:
        return
    rows.add((note.text,))
    said = note.text.startswith("default") or " is taken " in note.text
    text = note.text if said else f"the value of {note.text} is unknown"
    start = note.source.offset(note.node.lineno, note.node.col_offset)
    row = note.node.lineno
    function = function_at(note.source.tree, row)
    steps.append(Step(note.source.path, Span(start, start), row, text, function=function))


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 3] + "..."
