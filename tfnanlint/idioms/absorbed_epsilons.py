"""Epsilons that are rounded away next to 1: `1e-8 + 1 - p` in float32, and `1 - p + 1e-8` as soon
as a compiler reorders it to `(1 + 1e-8) - p`. Next to tensors, too: Grappler makes
`max - (min - 1e-8)` of `max - min + 1e-8`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tfnanlint.diagnostics.findings import Differentiated
from tfnanlint.ops.frameworks import GRAPH_DECORATORS
from tfnanlint.ops.site import Site, same
from tfnanlint.ops.traits import ADDITIONS, FACTORS, OF_SHAPES
from tfnanlint.program.scope import Imported, Point
from tfnanlint.syntax.access_paths import path_of
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import INF, Value, rounded

Around = Callable[[ast.AST], list[ast.AST]]  # what stands around a node, innermost first

_SMALL: Final = 0.1  # what is added up to this is a guard, not a term
_ENCLOSING: Final = (ast.BinOp, ast.UnaryOp, ast.Call, ast.keyword)
_ALL_MODES: Final = ("eager", "graph", "xla")
_ORDINARY: Final = 10.0  # what the elements of a tensor reach of which nothing is known


@dataclass(slots=True)
class AbsorbedEpsilon:
    """An epsilon that is added at `total` and rounded away in some `modes`. `x` is what is taken
    from 1, `left` the expression without the epsilon. `folded`: Python adds the epsilon to the 1.
    `beside`: what it is lost next to are the elements of `x`.
    """

    total: Site
    eps: float
    modes: tuple[str, ...]
    x: Value
    left: ast.expr | None = None
    eps_node: ast.expr | None = None
    folded: bool = False
    beside: bool = False


def absorbed_epsilon(
    site: Site, param: str, interpreter: Evaluator, around: Around
) -> AbsorbedEpsilon | None:
    """The epsilon that is lost in what arrives at a parameter, as in `log(1 - p + 1e-8)`; None
    where none is, in whatever mode.
    """
    value = site.value(param)
    lost = (
        _folded(value)
        or _reordered(site, value, interpreter, around)
        or _beside_elements(site, value, interpreter, around)
    )
    return lost if lost is not None and lost.modes else None


def is_of_tensorflow(call: ast.Call, point: Point) -> bool:
    """Whether a call is `tf.f(...)` of `import tensorflow as tf`, and not of `compat.v1`."""
    path = path_of(call.func) or ""
    binding = point.lookup(path.partition(".")[0])
    is_whole = isinstance(binding, Imported) and binding.dotted == "tensorflow"
    return is_whole and path.count(".") == 1


def reach_zero(
    logs: list[Site], interpreter: Evaluator, around: Around, reorders: bool = True
) -> bool:
    """Whether rounding leaves nothing of the guard of one of some logarithms, as of `1 - 1e-8` and,
    in compiled code of a release that `reorders` sums, of `1 - p + 1e-12`.
    """
    if any(log.value("x").known and log.value("x").zero for log in logs):
        return True
    lost = [absorbed_epsilon(log, "x", interpreter, around) for log in logs]
    return any(
        one is not None and one.modes != ("xla",) and (one.folded or reorders) for one in lost
    )


def _folded(value: Value) -> AbsorbedEpsilon | None:
    """The epsilon of `1e-8 + 1 - p`: Python adds the numbers, TensorFlow rounds the sum to 1."""
    site = value.origin
    if not isinstance(site, Site) or site.op.name != "tf.subtract":
        return None
    total, p = site.value("x"), site.value("y")
    if not total.is_number or total.const == 1 or not _admits(p, 1.0):
        return None
    if rounded(float(total.const), p.dtype) != 1.0:
        return None
    return AbsorbedEpsilon(site, abs(float(total.const) - 1), _ALL_MODES, p, folded=True)


def _reordered(
    site: Site, value: Value, interpreter: Evaluator, around: Around
) -> AbsorbedEpsilon | None:
    """The epsilon of `1 - p + 1e-8`, `1e-8 + (1 - p)`, `p - 1 + 1e-8` or `1 - p - (-1e-8)`."""
    total = value.origin
    if not isinstance(total, Site) or total.op.name not in ADDITIONS:
        return None
    for param, base in (("y", "x"), ("x", "y")):
        eps = total.value(param)
        if not eps.exact or not 0 < abs(eps.lo) < _SMALL:
            continue
        if total.op.name == "tf.subtract" and param == "x":
            continue
        is_plain_divisor = total.library == "operator" and site.op.name == "tf.divide"
        difference = _difference_of_constant(total.value(base).origin, strict=is_plain_divisor)
        if difference is None:
            continue
        constant, p = difference
        if rounded(constant + abs(eps.lo), p.dtype) != constant or not _admits(p, constant):
            continue
        is_read = _is_read_beside(site, total, total.value(base), interpreter, around)
        modes = _modes_of_loss(is_before=param == "x", is_read=is_read)
        nodes = (total.args.get(base), total.args.get(param))
        return AbsorbedEpsilon(total, abs(eps.lo), modes, p, *nodes)
    return None


def _beside_elements(
    site: Site, value: Value, interpreter: Evaluator, around: Around
) -> AbsorbedEpsilon | None:
    """The epsilon of `a - b + 1e-8` with two tensors that can be equal, as the largest and the
    least element are.
    """
    total = value.origin
    if not isinstance(total, Site) or value.kind not in ("tensor", "unknown"):
        return None
    for param, base in (("y", "x"), ("x", "y")) if total.op.name == "tf.add" else ():
        difference = total.value(base).origin
        if not isinstance(difference, Site) or not _reaches_zero(total.value(base), difference):
            continue
        eps, b = total.value(param), difference.value("y")
        if not _is_lost_beside(eps, b):
            continue
        is_read = _is_read_beside(site, total, total.value(base), interpreter, around)
        modes = () if is_read or not _is_compiled(site, interpreter) else ("graph",)
        nodes = (total.args.get(base), total.args.get(param))
        return AbsorbedEpsilon(total, eps.lo, modes, b, *nodes, beside=True)
    return None


def _reaches_zero(value: Value, difference: Site) -> bool:
    """Whether a value is a difference of tensors that is never below 0, and 0 where they meet."""
    if difference.op.name != "tf.subtract" or value.lo != 0 or not value.zero:
        return False
    return not difference.value("x").exact and not difference.value("y").exact


def _is_lost_beside(eps: Value, b: Value) -> bool:
    """Whether an epsilon is rounded away beside the largest elements of a tensor."""
    if not eps.exact or not 0 < eps.lo < _SMALL:
        return False
    largest = max(abs(b.lo), abs(b.hi)) if b.known else INF
    largest = largest if largest < INF else _ORDINARY
    return largest > 0 and rounded(largest - eps.lo, b.dtype) == rounded(largest, b.dtype)


def _is_compiled(site: Site, interpreter: Evaluator) -> bool:
    """Whether code is part of training, which is compiled, says that it is, or is handed on to what
    may compile it: a layer, a decorator.
    """
    if site.differentiated is not Differentiated.UNKNOWN:
        return site.differentiated is Differentiated.YES or _is_graph_function(site)
    function = site.point.scope.function if site.point is not None else None
    return _is_graph_function(site) or function is not None and interpreter.escapes(function)


def _is_graph_function(site: Site) -> bool:
    """Whether the function around a site has a decorator that makes a graph of it."""
    function = site.point.scope.function if site.point is not None else None
    return function is not None and not GRAPH_DECORATORS.isdisjoint(function.decorators)


def _modes_of_loss(is_before: bool, is_read: bool) -> tuple[str, ...]:
    """The modes in which an epsilon is reordered away. XLA keeps `eps + (1 - p)` as it is written,
    Grappler does not; Grappler keeps a `1 - p` that something else reads, too.
    """
    by_grappler = () if is_read else ("graph",)
    by_xla = () if is_before else ("xla",)
    return by_grappler + by_xla


def _is_read_beside(
    site: Site, total: Site, inner: Value, interpreter: Evaluator, around: Around
) -> bool:
    """Whether `1 - p` is also a factor of what is taken of the sum, as in
    `(1 - p) * log(1 - p + eps)`: the value needs that, and so does the gradient. Equal expressions
    are one node of a graph.
    """
    if site.op.name == "tf.divide" and _reads(site.value("x"), inner, total.result):
        return True
    own: ast.expr = site.node
    for outer in around(site.node):
        if not isinstance(outer, _ENCLOSING):
            return False
        if isinstance(outer, ast.keyword):
            continue
        factors = _factors_beside(outer, own, site, interpreter)
        if any([_reads(factor, inner, total.result) for factor in factors]):
            return True
        own = outer
    return False


def _factors_beside(
    outer: ast.expr, own: ast.expr, site: Site, interpreter: Evaluator
) -> list[Value]:
    """The operands that a product or quotient has beside an expression of its own."""
    if not isinstance(outer, (ast.BinOp, ast.Call)):
        return []
    product = interpreter.site(outer, site.point)
    if product is None or product.op.name not in FACTORS:
        return []
    return [
        product.value(param)
        for param, node in product.args.items()
        if param in ("x", "y") and node is not own
    ]


def _reads(value: Value, inner: Value, total: Value | None, depth: int = 6) -> bool:
    """Whether a value is computed from `1 - p` other than through a sum with an epsilon."""
    if total is not None and same(value, total):
        return False
    if same(value, inner):
        return True
    origin = value.origin
    if depth == 0 or not isinstance(origin, Site) or origin.op.name in OF_SHAPES:
        return False
    return any([_reads(origin.value(param), inner, total, depth - 1) for param in origin.args])


def _difference_of_constant(site: object, strict: bool) -> tuple[float, Value] | None:
    """`c` and `p` for `c - p`, `-p + c` and `p - c` with a constant `c`. Of `p - c`, and of plain
    arithmetic (`strict`), the bounds of `p` must be known.
    """
    if not isinstance(site, Site) or site.op.name not in ADDITIONS:
        return None
    x, y = site.value("x"), site.value("y")
    if site.op.name == "tf.subtract":
        constant, p = (x, y) if x.exact else (y, x)
        if not p.known and (strict or p is x):
            return None
        is_constant = constant.exact and constant.lo > 0 and not p.exact
        return (abs(constant.lo), p) if is_constant else None
    for constant, negated in ((x, y), (y, x)):
        negation = negated.origin
        if isinstance(negation, Site) and negation.op.name == "tf.negative":
            if constant.exact and constant.lo > 0:
                return constant.lo, negation.value("x")
    return None


def _admits(p: Value, number: float) -> bool:
    """Whether a value may be a number, as far as its bounds tell."""
    return not p.known or p.lo <= number <= p.hi


def rounds_to_one(bound: Value, dtype: str) -> bool:
    """Whether a bound such as `1 - 1e-8` is exactly 1, or -1, in a dtype."""
    if not bound.exact or bound.kind != "number" or not 0.5 < abs(bound.lo) < 1:
        return False
    return abs(rounded(bound.lo, dtype)) == 1
