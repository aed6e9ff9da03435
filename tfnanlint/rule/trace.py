"""The trace of a finding: the chain of values that leads to a site, newest first, in words."""

from __future__ import annotations

from typing import Any

from tfnanlint.diagnostics.findings import Step
from tfnanlint.ops.site import Site
from tfnanlint.syntax.nodes import function_at
from tfnanlint.syntax.source import Span
from tfnanlint.values.value import Note, Value, words

_MAX_STEPS = 8
_MAX_ORIGINS = 24
_MAX_TEXT = 72  # of an expression


def trace(value: Value) -> tuple[Step, ...]:
    """Where a value comes from: each expression and each name on its way, once."""
    steps: list[Step] = []
    rows: set[Any] = set()
    chain = _chain(value)
    nodes = [origin.node for origin, _ in chain if isinstance(origin, Site)]
    for origin, arrived in chain:
        if len(steps) >= _MAX_STEPS:
            break
        if isinstance(origin, Note):
            _add_note(steps, rows, origin)
        elif arrived is not None and arrived.known and nodes.count(origin.node) > 1:
            # in a loop: one round gave less than all of them
            _add_site(steps, rows, origin, arrived)
        else:
            _add_site(steps, rows, origin, origin.result)
    return tuple(steps)


def _chain(value: Value) -> list[tuple[Any, Value | None]]:
    """The sites and notes that led to a value, newest first, each with what arrived from there."""
    found: list[tuple[Any, Value | None]] = []
    arrived: Value | None = value
    origin: Any = value.origin
    while origin is not None and len(found) < _MAX_ORIGINS:
        found.append((origin, arrived))
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
    return found


def _add_site(steps: list[Step], rows: set[Any], origin: Site, given: Value | None) -> None:
    source, node = origin.source, origin.node
    if (
        source is None
        or not hasattr(node, "lineno")
        or given is None
        or (source.path, node) in rows
    ):
        return
    rows.add((source.path, node))
    value = words(given)
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
