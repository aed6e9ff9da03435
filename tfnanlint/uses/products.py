"""Products of what an op gives: `w * tf.math.log(p)`, also where variables, functions or containers
lead from the op to the product.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Callable, Final, Iterator

from tfnanlint.ops.site import Site, made_by
from tfnanlint.ops.traits import CASTS, MAY_BE_INFINITE, NEGATIONS
from tfnanlint.program.functions import Function
from tfnanlint.program.scope import Fixed, Point, Scope
from tfnanlint.syntax.access_paths import leaf
from tfnanlint.syntax.nodes import BIN_OP, CALL, NAME, nodes_in
from tfnanlint.uses.producers import may_stem
from tfnanlint.uses.uses import endings_of
from tfnanlint.values.value import Value

if TYPE_CHECKING:
    from tfnanlint.interp.engine import Engine
    from tfnanlint.program.module import Module

_COMPUTING: Final = frozenset((ast.BinOp, ast.Call))
_CASTS = frozenset(CASTS)
_SIGNS = frozenset(NEGATIONS)
# What makes other numbers of those that it is given.
_ENDING = frozenset(
    "reduce_sum reduce_mean reduce_max reduce_min exp log sqrt square abs cast maximum minimum "
    "clip_by_value pow add subtract divide".split()
)

Factor = tuple[Site, str, bool]  # a product, its parameter, and whether the negative arrives there


class Factors:
    """The products in the functions of one module, by what their factors are. `is_mask` tells
    whether a parameter of a product gets a mask that was cast from a condition.
    """

    def __init__(self, module: Module, interpreter: Engine, is_mask: Callable[[Site, str], bool]):
        self.module = module
        self.interpreter = interpreter
        self._is_mask = is_mask
        self._products: dict[Scope, list[Site]] = {}
        # calls of functions that multiply
        self._handed: dict[Scope, list[tuple[ast.Call, Function]]] = {}
        # By the body, the name of an op, and whether the other factor is a mask: what is a factor
        # there, by the node that makes it.
        self._found: dict[tuple[Scope, str, bool], dict[ast.AST, list[Factor]]] = {}

    def of(self, site: Site, masked: bool = False) -> Iterator[Factor]:
        """The products with what a site gives as a factor, in the body in which the site stands, in
        the functions that get its result as an argument, and in the body that it is returned to.
        With `masked` only those whose other factor is a mask.
        """
        scope = site.point.scope
        yield from self._in(scope, site, masked)
        for call, function in self._handed[scope]:
            if any(site.node is node for argument in call.args for node in nodes_in(argument)):
                yield from self._in(self.interpreter.activation(function), site, masked)
        for caller in self._callers(site):
            yield from self._in(caller, site, masked)

    def _in(self, scope: Scope, site: Site, masked: bool) -> list[Factor]:
        name = site.op.name
        factors = self._found.get((scope, name, masked))
        if factors is None:
            possible = self._possible(scope, name, masked)
            if possible and self._goes_elsewhere(site):
                return []  # another site may be a factor
            factors = self._found[scope, name, masked] = self._factors(possible, name, masked)
        return factors.get(site.node, [])

    def _possible(self, scope: Scope, name: str, masked: bool) -> list[tuple[Site, str, str]]:
        """The products in a body with the parameters at which, as far as the text tells, what an op
        gives may arrive, and a mask at the other.
        """
        ops = frozenset((name,))
        return [
            (times, param, other)
            for times in self.products_of(scope)
            for param, other in (("x", "y"), ("y", "x"))
            if may_stem(self.interpreter, times, param, ops, _SIGNS)
            and (not masked or may_stem(self.interpreter, times, other, _CASTS))
        ]

    def _factors(
        self, possible: list[tuple[Site, str, str]], name: str, masked: bool
    ) -> dict[ast.AST, list[Factor]]:
        factors: dict[ast.AST, list[Factor]] = {}
        for times, param, mask in possible:
            self.interpreter.session.steps = 0
            if masked and not self._is_mask(times, mask):
                continue
            for producer, negated in _made(times.value(param), name):
                product = self.interpreter.site(times.node, times.point)
                if product is not None:
                    factors.setdefault(producer.node, []).append((product, param, negated))
        return factors

    def products_of(self, scope: Scope) -> list[Site]:
        """The products in a body of which a factor may be of some interest, as far as its text
        tells.
        """
        if scope not in self._products:
            nodes: list[tuple[Any, Point]] = []
            for expression, time in scope.statements:
                inner = [node for node in nodes_in(expression) if type(node) in _COMPUTING]
                if inner:
                    point = Point(scope, time)
                    nodes += [(node, point) for node in inner]
            products = [
                self.interpreter.operation(node, point)
                for node, point in nodes
                if type(node) is BIN_OP
                and isinstance(node.op, ast.Mult)
                and self._may_matter(node, point)
            ]
            products += [
                self.interpreter.site(node, point)
                for node, point in nodes
                if type(node) is CALL and leaf(node.func) in ("multiply", "mul")
            ]
            self._products[scope] = [
                one for one in products if one is not None and one.op.name == "tf.multiply"
            ]
            called = [
                (node, point.lookup(node.func.id))
                for node, point in nodes
                if type(node) is CALL and type(node.func) is NAME and node.args
            ]
            self._handed[scope] = [
                (node, binding.value(self.interpreter).obj)
                for node, binding in called
                if isinstance(binding, Fixed) and _multiplies(binding.value(self.interpreter).obj)
            ]
        return self._products[scope]

    def _goes_elsewhere(self, site: Site) -> bool:
        """Whether every way of what a site gives leads at once into a sum, a comparison or the
        like, as the text tells: no factor then.
        """
        point = site.point
        return (
            point.over is None
            and hasattr(site.node, "lineno")
            and endings_of(point.scope, point.scope.module).only_straight(
                site.node, lambda above: self._no_product(above, point)
            )
        )

    def _no_product(self, above: list[tuple[ast.AST, ast.AST]], point: Point) -> bool:
        """Whether an expression is part of something that is neither a product nor hands it on. A
        function of the program called `add` may do either.
        """
        for outer, _ in reversed(above):
            if isinstance(outer, ast.BinOp):
                return not isinstance(outer.op, ast.Mult)
            if isinstance(outer, ast.Call):
                row = (
                    self.interpreter.row(outer.func, point)[0]
                    if leaf(outer.func) in _ENDING
                    else None
                )
                return row is not None and not row.passes
            if not (isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.USub)):
                return isinstance(outer, ast.Compare)
        return False

    def _callers(self, site: Site) -> list[Scope]:
        """The bodies that call the function which returns what a site gives, and nothing else."""
        function = site.point.scope.function
        last = (
            function.node.body[-1]
            if function is not None and isinstance(function.node, ast.FunctionDef)
            else None
        )
        if not isinstance(last, ast.Return) or last.value is not site.node:
            return []
        return list(
            dict.fromkeys(
                point.scope for _, point in self.module.calls_to(function.name, self.interpreter)
            )
        )

    def _may_matter(self, product: ast.BinOp, point: Point) -> bool:
        """Whether a factor may be what can be infinite, as far as its text tells."""
        makers = (
            self.interpreter.maker(product.left, point),
            self.interpreter.maker(product.right, point),
        )
        return any(
            maker is None or maker.passes or maker.name in MAY_BE_INFINITE for maker in makers
        )


def _made(value: Value, name: str) -> Iterator[tuple[Site, bool]]:
    """The application of an op that a value is, or the negative of which it is."""
    for negated in (False, True):
        producer = made_by(value, name)
        if producer is not None:
            yield producer, negated
        minus = made_by(value, "tf.negative")
        if minus is None:
            return
        value = minus.value("x")


def _multiplies(function: Any) -> bool:
    """Whether a function of the program has a product in its body."""
    if not isinstance(function, Function) or not isinstance(function.node, ast.FunctionDef):
        return False
    return any(
        isinstance(node.op, ast.Mult)
        if isinstance(node, (ast.BinOp, ast.AugAssign))
        else isinstance(node, ast.Call) and leaf(node.func) in ("multiply", "mul")
        for node in nodes_in(function.node)
    )
