"""Arguments: what a call hands over, with what `*` and `**` stand for, and the dicts of which all
that is in them is known.
"""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.interp.names import exported, top_level
from tfnanlint.program import functions as callables
from tfnanlint.program.functions import Collected, Function, Handed, Keywords, Spread, Starred
from tfnanlint.program.lookups import is_only_read
from tfnanlint.program.module import Module
from tfnanlint.program.mutation import Mutated
from tfnanlint.program.scope import (
    Assigned,
    Binding,
    Fixed,
    Imported,
    Joined,
    Loop,
    Parameter,
    Point,
    Stored,
    unrefined,
)
from tfnanlint.syntax.nodes import SEQUENCES, display
from tfnanlint.values.evaluator import Evaluator


def written_out(ev: Evaluator, node: ast.expr, point: Point) -> bool:
    """Whether a dict holds what is known of it and nothing else: one that was just made, one that a
    function was given or got from a call, where its own stores are followed, or one in which its
    file, and the file that imports it, only look things up.
    """
    if isinstance(node, ast.Attribute):
        if not isinstance(node.value, ast.Name):
            return False
        if node.value.id != "self":
            return _is_whole_of_module(ev, node.value.id, node.attr, point)
        return is_only_read(point.module, f"self.{node.attr}")
    if not isinstance(node, ast.Name):
        return isinstance(node, (ast.DictComp, ast.Call)) or display(node) is not None
    local = (
        point.scope.function is not None
        and node.id in point.scope.history
        and node.id not in point.scope.shared
    )
    return all([_whole(ev, made, node.id, local, point) for made in _makers(point.lookup(node.id))])


def _is_whole_of_module(ev: Evaluator, module: str, name: str, point: Point) -> bool:
    """Whether a dict that is read as an attribute of a module (`losses.BY_NAME`) is written out."""
    binding = point.lookup(module)
    target = exported(ev, binding) if isinstance(binding, Imported) else None
    if not isinstance(target, Module):
        return False
    return _is_whole_abroad(ev, top_level(ev, target, name), name, point)


def _is_whole_abroad(ev: Evaluator, binding: Any, name: str, point: Point) -> bool:
    """Whether a dict at the top level of another file, which this file reads by a name, is written
    out, and both files only look things up in it.
    """
    if not isinstance(binding, Assigned) or binding.point.scope.function is not None:
        return False
    return is_only_read(point.module, name, imports=True) and all(
        [_whole(ev, binding, path, False, binding.point) for path in _names_of(binding)]
    )


def _names_of(assigned: Assigned) -> list[str]:
    """The names that a binding at the top level of a file has there."""
    return [
        path
        for path, entry in assigned.point.scope.history.items()
        if any(binding is assigned for binding in entry.bindings())
    ]


def _makers(binding: Binding | None, depth: int = 8) -> list[Binding | None]:
    """What made the dict that a binding stands for, before stores, changes and loops that it went
    through; None for more than can be told.
    """
    maker = unrefined(binding)
    while isinstance(maker, (Stored, Mutated, Loop)) and depth:
        maker, depth = unrefined(maker.entry if isinstance(maker, Loop) else maker.base), depth - 1
    if isinstance(maker, Joined) and depth:
        return [one for option in maker.bindings for one in _makers(option, depth - 1)]
    return [maker]


def _whole(ev: Evaluator, maker: Binding | None, name: str, local: bool, point: Point) -> bool:
    """Whether all that is in a dict is known to the interpreter; `local` says that its name is one
    of the function that asks.
    """
    if (
        isinstance(maker, (Parameter, Handed))
        or isinstance(maker, Assigned)
        and isinstance(maker.node, ast.Call)
        and display(maker.node) is None
    ):
        return local
    if isinstance(maker, Imported):
        return _is_whole_abroad(ev, exported(ev, maker), name, point)
    if (
        not isinstance(maker, Assigned)
        or display(maker.node) is None
        and not isinstance(maker.node, ast.DictComp)
    ):
        return False
    function = point.scope.function
    if local and function is not None:
        is_kept = is_only_read(point.module, name, function.node)
        return is_kept and name not in function.changed_inside
    return is_only_read(point.module, name)


def arguments_of(
    ev: Evaluator, call: ast.Call, point: Point
) -> tuple[list[Binding], dict[str, Binding], bool]:
    written = callables.arguments(call, point)
    if written[2]:
        return written
    known = _spread_out(ev, call, point)
    if known is not None:
        return known
    positional, keywords, complete = written
    last = call.args[-1] if call.args else None
    if isinstance(last, ast.Starred) and _is_all_that_hides(call):
        positional = [*positional, Spread(Assigned(last.value, point))]
    return positional, keywords, complete


def _is_all_that_hides(call: ast.Call) -> bool:
    """Whether the last positional argument of a call is its only one with a star."""
    stars = sum([isinstance(one, ast.Starred) for one in call.args])
    return stars == 1 and all([one.arg is not None for one in call.keywords])


def _spread_out(
    ev: Evaluator, call: ast.Call, point: Point
) -> tuple[list[Binding], dict[str, Binding], bool] | None:
    """The arguments of a call with what `*` and `**` stand for; None where that is not known."""
    positional: list[Binding] = []
    for node in call.args:
        items = (
            _items_spread(ev, node.value, point)
            if isinstance(node, ast.Starred)
            else [Assigned(node, point)]
        )
        if items is None:
            return None
        positional += items
    keywords: dict[str, Binding] = {}
    for keyword in call.keywords:
        named = (
            pairs_spread(ev, keyword.value, point)
            if keyword.arg is None
            else {keyword.arg: Assigned(keyword.value, point)}
        )
        if named is None:
            return None
        keywords |= named
    return positional, keywords, True


def _items_spread(ev: Evaluator, node: ast.expr, point: Point) -> list[Binding] | None:
    """What `*` stands for: a tuple that is written, what calls hand to `*args`, or the elements of
    a sequence of a known length; None where that is not known.
    """
    if type(node) in SEQUENCES:
        written, there = node, point
    else:
        binding = unrefined(point.lookup(node.id)) if isinstance(node, ast.Name) else None
        if isinstance(binding, Handed) and isinstance(binding.binding, Starred):
            return [Handed(one, binding.function) for one in binding.binding.items]
        if isinstance(binding, Parameter) and binding.rest:
            held = binding.value(ev).obj
            return [Fixed(one) for one in held] if isinstance(held, tuple) else None
        if not isinstance(binding, Assigned) or type(binding.node) is not ast.Tuple:
            held = ev.evaluate(node, point).obj
            return [Fixed(one) for one in held] if isinstance(held, tuple) else None
        written, there = binding.node, binding.point
    items: list[ast.expr] = getattr(written, "elts", [])
    return (
        [Assigned(one, there) for one in items]
        if not any([isinstance(one, ast.Starred) for one in items])
        else None
    )


def pairs_spread(ev: Evaluator, node: ast.expr, point: Point) -> dict[str, Binding] | None:
    """What `**` stands for: a dict that is written, or what the call that is being followed hands
    to `**kwargs`.
    """
    collected = callables.collected(node, point)
    if collected is not None or not isinstance(node, ast.Name):
        return collected
    binding, stored = callables.stored_in(unrefined(point.lookup(node.id)))
    if isinstance(binding, Keywords) and _given_none(ev, binding.function):
        return stored
    if (
        not isinstance(binding, Assigned)
        or display(binding.node) is None
        or not written_out(ev, node, point)
    ):
        return None
    written = callables.collected(binding.node, binding.point)
    return written | stored if written is not None else None


def handed_keywords(ev: Evaluator, node: ast.expr, point: Point) -> list[dict[str, Binding]] | None:
    """What each call of a function hands to the `**kwargs` that a name stands for; None where it
    stands for something else, or no call is seen, or one that hides what it hands over.
    """
    binding = unrefined(point.lookup(node.id)) if isinstance(node, ast.Name) else None
    if not isinstance(binding, Keywords):
        return None
    name = binding.function.node.args.kwarg.arg
    rests = [bound.get(name) for bound in ev.arguments_of(binding.function)]
    seen = [rest.items for rest in rests if isinstance(rest, Collected)]
    return seen if seen and len(seen) == len(rests) else None


def _given_none(ev: Evaluator, function: Function) -> bool:
    """Whether the calls of a function are seen, and none of them hands anything to its
    `**kwargs`.
    """
    name = function.node.args.kwarg.arg
    handed = ev.arguments_of(function)
    return bool(handed) and all(
        [isinstance(rest := bound.get(name), Collected) and not rest.items for bound in handed]
    )
