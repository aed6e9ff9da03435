"""Roots at whose zeros no gradient comes back: all that they go into is flat there.

The gradient of `sqrt` at 0 is `0 * inf`. TensorFlow's own kernel gives 0 for it if what comes back
is exactly 0, and only XLA gives NaN. It is 0 behind a square of the root, and behind a product with
something that is 0 wherever the root is, or always:

    length = tf.norm(s, axis=-1, keepdims=True)
    return length / (1 + length**2) * s
"""

from __future__ import annotations

import ast
from typing import Final

from tfnanlint.idioms.common_zeros import are_zero_together
from tfnanlint.interp.engine import Engine
from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import (
    ADDITIONS,
    FLAT_AT_ZERO,
    LINEAR,
    LINEAR_AT_ZERO,
    QUOTIENTS,
    SMOOTH_CURVES,
    VANISHING_AT_ZERO,
)
from tfnanlint.program.scope import Point, Scope
from tfnanlint.uses.uses import Endings, endings_of
from tfnanlint.values.value import Value

_MAX_DEPTH: Final = 6


def is_flat_behind(root: Site, interpreter: Engine) -> bool:
    """Whether the gradient that comes back to what a root, norm or deviation gives is 0 wherever
    that is 0, as far as its function shows.
    """
    point = root.point
    if point is None or point.over is not None or not hasattr(root.node, "lineno"):
        return False
    if point.scope.function is None:
        return False
    return _Flatness(root, interpreter).holds()


class _Flatness:
    """The question for one root."""

    def __init__(self, root: Site, interpreter: Engine):
        assert root.point is not None
        self._interpreter = interpreter
        self._scope: Scope = root.point.scope
        self._root = root
        self._endings: Endings = endings_of(self._scope, self._scope.module)

    def holds(self) -> bool:
        """Whether no gradient comes back to the root at its zeros."""
        return self._is_flat_from(self._root.node, True, _MAX_DEPTH)

    def _is_flat_from(self, node: ast.AST, is_zero: bool, depth: int) -> bool:
        """Whether every way from an expression comes to something flat; `is_zero`: the expression
        is 0 where the root is.
        """
        if depth == 0:
            return False
        ways = self._endings.ways(node)
        return bool(ways) and all(
            self._is_flat_along(whole, above, is_zero, depth) for whole, above in ways
        )

    def _is_flat_along(
        self, whole: ast.AST, above: list[tuple[ast.AST, ast.AST]], is_zero: bool, depth: int
    ) -> bool:
        time = self._endings.times.get(whole)
        if time is None:
            return False
        point = Point(self._scope, time)
        steps = [step for step in reversed(above) if not isinstance(step[0], ast.keyword)]
        for place, (outer, inner) in enumerate(steps):
            inner = inner.value if isinstance(inner, ast.keyword) else inner
            site = self._interpreter.site(outer, point) if isinstance(outer, ast.expr) else None
            param = _param_of(site, inner)
            if site is None or not param:
                return False
            if self._is_flat_at(site, param, is_zero):
                return not self._is_divisor_at_zero(steps[place + 1 : place + 2], point)
            if not self._passes(site, param):
                return False
            is_zero = is_zero and self._stays_zero(site, param)
        return self._is_flat_from(whole, is_zero, depth - 1)

    def _is_divisor_at_zero(self, following: list[tuple[ast.AST, ast.AST]], point: Point) -> bool:
        """Whether the next op divides by what can be 0: the gradient that comes back from there is
        infinite, and times 0 NaN.
        """
        for outer, inner in following:
            site = self._interpreter.site(outer, point) if isinstance(outer, ast.expr) else None
            inner = inner.value if isinstance(inner, ast.keyword) else inner
            if site is not None and site.op.name in QUOTIENTS and _param_of(site, inner) == "y":
                return site.op.name == "tf.divide" and site.value("y").zero
        return False

    def _is_flat_at(self, site: Site, param: str, is_zero: bool) -> bool:
        """Whether the gradient that an op hands back through a parameter is 0 where the root is."""
        name = site.op.name
        if name in FLAT_AT_ZERO:
            return is_zero and param == site.op.main
        if name == "tf.pow":
            return is_zero and param == "x" and site.value("y").lo > 1
        if name == "tf.multiply":
            return self._vanishes(site.value(_other(param)))
        if name == "tf.divide" and param == "y":
            return not site.value("y").zero and self._vanishes(site.value("x"))
        return False

    def _passes(self, site: Site, param: str) -> bool:
        """Whether an op hands back a finite gradient through a parameter where the root is 0."""
        name = site.op.name
        if name == "tf.divide":
            return not site.value("y").zero
        if name == "tf.pow":
            return param == "x" and site.value("y").lo >= 1
        return name in LINEAR or name in LINEAR_AT_ZERO or name in SMOOTH_CURVES

    def _stays_zero(self, site: Site, param: str) -> bool:
        """Whether the result of an op is 0 where what it is given for a parameter is."""
        name = site.op.name
        if name in ADDITIONS:
            return self._vanishes(site.value(_other(param)))
        if name == "tf.divide":
            return param == "x"
        return name not in SMOOTH_CURVES or name in VANISHING_AT_ZERO

    def _vanishes(self, value: Value) -> bool:
        """Whether a value is 0 wherever the root is; the weight of a term may be 0 anywhere."""
        return are_zero_together(value, self._root)


def _param_of(site: Site | None, node: ast.AST) -> str:
    """The parameter for which an expression is given; "" where there is none."""
    if site is None:
        return ""
    return next((param for param, given in site.args.items() if given is node), "")


def _other(param: str) -> str:
    return "y" if param == "x" else "x"
