"""Subexpressions: the parts of an expression, each with the point where it stands.

A branch of a conditional stands under its condition, the body of a lambda knows its parameters, the elements of a
comprehension know its targets.
"""

from __future__ import annotations

import ast
from typing import Any, Iterator

from tfnanlint.calls import Function, defaults_of
from tfnanlint.conditions import leaf
from tfnanlint.scopes import Assigned, Binding, Fixed, Iterated, Parameter, Point
from tfnanlint.values import unknown

_NO_VALUE = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)


class Subexpressions:
    """The part of the interpreter that goes from an expression to its parts."""

    def parts(self, node: ast.AST, point: Point) -> Iterator[tuple[ast.AST, Point]]:
        """The direct parts of an expression at a point, in the order of the text."""
        if isinstance(node, ast.IfExp):
            yield node.test, point
            yield node.body, self.assuming(node.test, True, point)
            yield node.orelse, self.assuming(node.test, False, point)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield value, point
                point = self.assuming(value, isinstance(node.op, ast.And), point)
        elif isinstance(node, ast.Lambda):
            yield node.body, self.within(node, point)
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            for generator in node.generators:
                yield generator.iter, point
            inner = self.inside(node, point)
            for part in ([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]):
                yield part, inner
        elif isinstance(node, ast.Call) and len(node.args) >= 3 and leaf(node.func) == "cond":
            yield node.args[0], point
            for branch, truth in zip(node.args[1:3], (True, False)):
                yield branch, self.assuming(node.args[0], truth, point)
        else:
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, _NO_VALUE):
                    yield child, point

    def calls_in(self, expression: ast.AST, name: str, point: Point) -> Iterator[tuple[ast.Call, Point]]:
        """The calls inside an expression whose callee ends in `name`, each with the point where it stands."""
        stack = [(expression, point)]
        while stack:
            node, here = stack.pop()
            if isinstance(node, ast.Call) and leaf(node.func) == name:
                yield node, here
            stack += reversed(list(self.parts(node, here)))

    def within(self, node: ast.Lambda, point: Point) -> Point:
        """The point inside a lambda, its parameters as whoever calls it fills them."""
        function = Function(node, point, point.module)
        defaults = dict(defaults_of(node.args))
        over: dict[str, Binding] = {}
        for arg in node.args.posonlyargs + node.args.args + node.args.kwonlyargs:
            default = defaults.get(arg.arg)
            over[arg.arg] = Parameter(function, arg.arg, Assigned(default, point) if default else None)
        return point.under(over)

    def inside(self, node: Any, point: Point) -> Point:
        """The point inside a comprehension, its targets bound."""
        for generator in node.generators:
            over: dict[str, Binding] = {}
            iterable = Iterated(Assigned(generator.iter, point))
            if isinstance(generator.target, ast.Name):
                over[generator.target.id] = iterable
            else:
                for inner in ast.walk(generator.target):
                    if isinstance(inner, ast.Name):
                        over[inner.id] = Fixed(unknown())
            point = point.under(over)
            for test in generator.ifs:
                point = self.assuming(test, True, point)
        return point
