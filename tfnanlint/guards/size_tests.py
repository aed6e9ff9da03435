"""Tests for whether any elements are left: `if tf.size(x) > 0:`, `tf.cond`, a later `tf.where`."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Final

from tfnanlint.conventions.texts import asks_for_elements
from tfnanlint.guards.assertions import looks_for_nan
from tfnanlint.ops.site import Site
from tfnanlint.program.module import Module
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import nodes_in
from tfnanlint.values.evaluator import Evaluator

_CONDITIONALS: Final = ("cond", "case", "switch", "smart_cond", "where")


class SizeTests:
    """Answers for one file; `around` is what stands around the site that is asked for."""

    def __init__(self, module: Module, interpreter: Evaluator):
        self.module = module
        self.interpreter = interpreter

    def guard(self, site: Site, around: list[ast.AST], besides: Collection[ast.AST]) -> bool:
        """Whether a site stands in a branch that is taken only if there are elements, or in a
        function that asks for NaN (`besides` some tests).
        """
        if self._is_chosen_later(site, around) or looks_for_nan(around, besides):
            return True
        if any([isinstance(node, ast.For) and _is_by_class(node) for node in around]):
            return True
        inner: ast.AST = site.node
        for node in around:
            if self._is_conditional(node, inner):
                return True
            inner = node
        return False

    def _is_conditional(self, node: ast.AST, inner: ast.AST) -> bool:
        """Whether `inner` is run in a branch of `node`, which asks for the number of elements or
        leaves it to a conditional op.
        """
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            return inner is not node.test and self._asks_size(node.test)
        if isinstance(node, ast.Call):
            return leaf(node.func) in _CONDITIONALS
        return isinstance(node, ast.FunctionDef) and self._is_branch(node.name)

    def _asks_size(self, test: ast.expr) -> bool:
        span = self.module.source.span(test)
        return asks_for_elements(self.module.source.code[span.start : span.end])

    def _is_branch(self, name: str) -> bool:
        """Whether a function is handed to a conditional op."""
        return any(
            [
                isinstance(node, ast.Name) and node.id == name
                for conditional in _CONDITIONALS
                for call, _ in self.module.calls_to(conditional, self.interpreter)
                for part in (*call.args, *[word.value for word in call.keywords])
                for node in nodes_in(part)
            ]
        )

    def _is_chosen_later(self, site: Site, around: list[ast.AST]) -> bool:
        """Whether the result has a name that a later `tf.where` takes or leaves: its gradient is 0,
        not NaN, for no elements.
        """
        statement = around[0] if around else None
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            return False
        name = statement.targets[0].id
        return any(
            [
                isinstance(node, ast.Name)
                and node.id == name
                and call.lineno > statement.lineno
                and point.scope is site.point.scope
                for conditional in _CONDITIONALS
                for call, point in self.module.calls_to(conditional, self.interpreter)
                for node in call.args
            ]
        )


def _is_by_class(loop: ast.For) -> bool:
    """Whether the elements are those that equal the loop's variable: a class or label, of which
    there are some.
    """
    names = {node.id for node in nodes_in(loop.target) if isinstance(node, ast.Name)}
    for node in nodes_in(loop):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            sides = (node.left, *node.comparators)
            if any([isinstance(side, ast.Name) and side.id in names for side in sides]):
                return True
    return False
