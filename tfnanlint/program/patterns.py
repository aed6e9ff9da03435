"""Patterns of `match`: the test that a case is, and what the names in it stand for."""

from __future__ import annotations

import ast
from typing import Any, Iterator

from tfnanlint.program.mutation import place_of
from tfnanlint.program.scope import Assigned, Binding, Element, Fixed
from tfnanlint.syntax.nodes import SEQUENCES, nodes_in
from tfnanlint.values.value import Value


def condition(pattern: Any, subject: ast.expr) -> ast.expr | None:
    """The test of a subject that a pattern is: `kind == "relu"`; None where no expression says
    it.
    """
    kept: dict[str, Any] = pattern.__dict__  # one test for all walks of the statement
    if "condition" not in kept:
        test: ast.expr | None = _condition(pattern, subject)
        kept["condition"] = (
            test if test is None else ast.fix_missing_locations(ast.copy_location(test, pattern))
        )
    expression: ast.expr | None = kept["condition"]
    return expression


def _condition(pattern: Any, subject: ast.expr) -> ast.expr | None:
    if isinstance(pattern, ast.MatchValue):
        return ast.Compare(subject, [ast.Eq()], [pattern.value])
    if isinstance(pattern, ast.MatchSingleton):
        return ast.Compare(subject, [ast.Is()], [ast.Constant(pattern.value)])
    if isinstance(pattern, ast.MatchAs):
        return (
            ast.Constant(True) if pattern.pattern is None else _condition(pattern.pattern, subject)
        )
    if isinstance(pattern, ast.MatchOr):
        parts = [test for one in pattern.patterns if (test := _condition(one, subject)) is not None]
        return ast.BoolOp(ast.Or(), parts) if len(parts) == len(pattern.patterns) else None
    return None


def says_number(pattern: Any) -> bool:
    """Whether it says something of the subject that a pattern of one constant does not fit: that it
    is not 0.
    """
    return isinstance(pattern, ast.MatchValue) and not (
        isinstance(pattern.value, ast.Constant) and isinstance(pattern.value.value, str)
    )


def captured(pattern: Any, subject: Binding) -> Iterator[tuple[str, Binding]]:
    """The names in a pattern, each with what it stands for where the pattern fits."""
    if isinstance(pattern, (ast.MatchAs, ast.MatchStar)):
        if pattern.name is not None:
            yield pattern.name, subject
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
            yield from captured(pattern.pattern, subject)
    elif isinstance(pattern, ast.MatchSequence):
        for part, binding in zip(pattern.patterns, _parts(pattern.patterns, subject)):
            yield from captured(part, binding)
    else:
        for inner in nodes_in(pattern):
            name = getattr(inner, "name", None) or getattr(inner, "rest", None)
            if isinstance(name, str):
                yield name, Fixed(Value(kind="unknown"))


def _parts(patterns: list[Any], subject: Binding) -> list[Binding]:
    """What stands at the places of a list of patterns: `match x, y` has it written out."""
    starred = next(
        (place for place, one in enumerate(patterns) if isinstance(one, ast.MatchStar)), None
    )
    written: Any = (
        getattr(subject.node, "elts", None)
        if isinstance(subject, Assigned) and type(subject.node) in SEQUENCES
        else None
    )
    if (
        written is not None
        and starred is None
        and len(written) == len(patterns)
        and not any([isinstance(one, ast.Starred) for one in written])
    ):
        assert isinstance(subject, Assigned)
        return [Assigned(one, subject.point) for one in written]
    return [
        Element(subject, place_of(place, starred, len(patterns))) for place in range(len(patterns))
    ]
