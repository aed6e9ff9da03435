"""Roles of functions, read from the calls that hand them on: a loss, a metric, what is mapped over
data, what is run in evaluation only, one way of a gradient.

`model.compile(loss=f)` makes `f` a loss, and so does `loss = f`. Functions are told by their names
alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tfnanlint.conventions.identifiers import (
    holds_loss,
    holds_losses,
    holds_metrics,
    is_training_flag,
)
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import CALL, CONSTANT, KEYWORD, LEAVES, NAME, nodes_in
from tfnanlint.syntax.occurrences import nodes_on
from tfnanlint.syntax.source import Source

# One of these stands in a row of each statement that gives a function a role.
_WORDS: Final = ("loss", "metrics", ".map(", "in_train_phase(", "cond(", "vjp_", "jvp_fn")
_GRADIENT_NAMES: Final = frozenset(("vjp_fwd", "vjp_bwd", "jvp_fn"))
_DISPLAYS: Final = frozenset((ast.List, ast.Dict, ast.Set))
_FUNCTIONS: Final = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))


@dataclass(slots=True)
class Roles:
    """The names of the functions of a file that have a role."""

    losses: set[str] = field(default_factory=set)
    metrics: set[str] = field(default_factory=set)
    mapped: set[str] = field(default_factory=set)
    evaluated: set[str] = field(default_factory=set)
    own_gradients: set[str] = field(default_factory=set)


def roles_of(source: Source) -> Roles:
    """The roles that the calls, assignments and defaults of a file give to functions."""
    roles = Roles()
    if not source.holds(_WORDS):
        return roles
    rows = sorted({row for word in _WORDS for row in source.rows_with(word)})
    for node in nodes_on(source.tree.body, rows):
        if type(node) in LEAVES:
            continue
        for name, value in _given(node):
            _name(roles, name, value)
        if type(node) is CALL:
            _hand_on(roles, node)
    roles.metrics -= roles.losses
    return roles


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a node gives a value, with it: of keywords, assignments and defaults."""
    if type(node) is KEYWORD:
        yield node.arg or "", node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield leaf(target), node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield leaf(node.target), node.value
    elif type(node) in _FUNCTIONS:
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        count = len(arguments.defaults)
        for arg, value in zip(positional[len(positional) - count :], arguments.defaults):
            yield arg.arg, value
        for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
            if default is not None:
                yield arg.arg, default


def _name(roles: Roles, name: str, value: ast.expr) -> None:
    """Give the functions in a value the role that a name says: `loss=f`, `metrics=[f, g]`."""
    if holds_loss(name):
        first = value.elts[0] if isinstance(value, ast.List) and value.elts else value
        roles.losses.add(_own_name(first))
    if holds_losses(name) and type(value) in _DISPLAYS:
        roles.losses.update(_names_in(value))
    if holds_metrics(name) and type(value) in _DISPLAYS:
        roles.metrics.update(_names_in(value))
    if name in _GRADIENT_NAMES:
        roles.own_gradients.add(_first_name(value))


def _hand_on(roles: Roles, call: ast.Call) -> None:
    """Give the functions that a call hands on their role: `dataset.map(f)`,
    `K.in_train_phase(noised, f)`, `tf.cond(training, noised, f)`.
    """
    name, args = leaf(call.func), call.args
    if name == "map" and isinstance(call.func, ast.Attribute) and args:
        roles.mapped.add(_first_name(args[0]))
    elif name == "in_train_phase" and args:
        otherwise = args[1:2] + [word.value for word in call.keywords if word.arg == "alt"]
        roles.evaluated.update(node.id for node in otherwise if type(node) is NAME)
    elif name == "cond" and len(args) > 2 and is_training_flag(_own_name(args[0])):
        roles.evaluated.update(node.id for node in args[2:3] if type(node) is NAME)


def _own_name(node: ast.expr) -> str:
    """`f` of `f` and `self.f`; empty for anything else."""
    if isinstance(node, ast.Attribute):
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return node.attr if is_own else ""
    return node.id if isinstance(node, ast.Name) else ""


def _first_name(node: ast.expr) -> str:
    """The function that an expression begins with: `f` of `f`, `self.f` and `f(shape)`."""
    while type(node) is CALL:
        node = node.func
    return _own_name(node)


def _names_in(display: ast.expr) -> Iterator[str]:
    """All names in a list or dict; a text in it is the name of a function, too."""
    for node in nodes_in(display):
        if type(node) is CONSTANT:
            if isinstance(node.value, str) and node.value.isidentifier():
                yield node.value
        elif isinstance(node, (ast.Name, ast.Attribute)):
            yield leaf(node)
