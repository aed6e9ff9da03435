"""Guards that come after a root: `sqrt(s) + eps`, `x / (norm(x) + eps)`, `maximum(sqrt(s), eps)`.

The value is guarded, the gradient is not: it runs through the root, whose derivative at 0 is
infinite.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tfnanlint.conventions.identifiers import is_return
from tfnanlint.diagnostics.findings import Certainty, Differentiated
from tfnanlint.idioms.common_zeros import are_zero_together
from tfnanlint.idioms.labels import truth_only
from tfnanlint.idioms.trained_weights import weakness_of_product
from tfnanlint.idioms.vanishing import random_weight
from tfnanlint.ops.site import Site, both_orders, made_by, operands
from tfnanlint.ops.traits import NORMS, QUOTIENTS, ROOTS, SQUARE_ROOTS, SQUARES, TOTALS
from tfnanlint.syntax.access_paths import leaf, path_of
from tfnanlint.values.evaluator import Evaluator
from tfnanlint.values.value import Value

Around = Callable[[ast.AST], list[ast.AST]]  # what stands around a node, innermost first

_QUOTIENT_NAMES: Final = ("divide", "truediv", "div", "divide_no_nan", "div_no_nan")
_OTHER_OPERAND: Final = (("x", "y"), ("y", "x"))
_SMALL: Final = 0.1  # a constant below this beside a root is a guard, not a term


@dataclass(slots=True)
class LateGuard:
    """The `roots` and the expression that guards them too late; `only_xla`: in other modes the
    gradient stays 0, as far as the derivatives of these roots do not say otherwise.
    """

    roots: list[Site]
    node: ast.expr
    only_xla: bool

    def __post_init__(self) -> None:
        self.only_xla = self.only_xla and all([root.op.masked != "all" for root in self.roots])


def late_guard(site: Site, interpreter: Evaluator, around: Around) -> LateGuard | None:
    """The guard that a site is, or that stands around the root which a site is."""
    name = site.op.name
    if name == "tf.math.divide_no_nan":
        root = guarded_root(site.value("y"))
        return LateGuard([root], site.node, True) if root is not None else None
    if name == "tf.maximum":
        return _in_maximum(site)
    if name == "tf.divide":
        return _in_divisor(site)
    return _in_sum(site, interpreter, around)


def guarded_root(value: Value) -> Site | None:
    """The root that a value is, as it is or rearranged; of one behind `stop_gradient` no gradient
    is taken.
    """
    root = made_by(value, "tf.stop_gradient", *ROOTS)
    if root is None or root.op.name not in ROOTS or root.library in ("np", "math"):
        return None
    return root


def is_small_constant(value: Value) -> bool:
    """Whether a value is a number such as guards are: above 0 and below 0.1."""
    return value.exact and 0 < value.lo < _SMALL


def _in_maximum(site: Site) -> LateGuard | None:
    """The guard `maximum(root, eps)`."""
    for param, floor in _OTHER_OPERAND:
        root = guarded_root(site.value(param)) if site.may_be_made_by(param, *ROOTS) else None
        if root is not None and is_small_constant(site.value(floor)):
            return LateGuard([root], site.node, True)
    return None


def _in_divisor(quotient: Site) -> LateGuard | None:
    """The guard in `x / (root + eps)`, with the sum in the quotient or in an earlier statement."""
    total = quotient.value("y").origin
    roots = _roots_in_sum(total) if isinstance(total, Site) else []
    if not roots:
        return None
    only_xla = all(are_zero_together(quotient.value("x"), root) for root in roots)
    return LateGuard(roots, quotient.args["y"], only_xla)


def _roots_in_sum(total: Site) -> list[Site]:
    """The root to which a small constant is added, or the roots of a product (of two norms)."""
    if total.op.name != "tf.add":
        return []
    for summand, constant in both_orders(total):
        if not is_small_constant(constant):
            continue
        product = summand.origin
        operands = [summand]
        if isinstance(product, Site) and product.op.name == "tf.multiply":
            operands += [product.value("x"), product.value("y")]
        roots = [guarded_root(operand) for operand in operands]
        return [root for root in roots if root is not None]
    return []


def _in_sum(root: Site, interpreter: Evaluator, around: Around) -> LateGuard | None:
    """The guard in `root + eps` where that is not divided by, in one expression: of a quotient the
    division says it, and knows what becomes of the gradient.
    """
    outer = around(root.node)[:2]
    total = _operation(outer[0], root, interpreter) if outer else None
    if total is None or total.op.name != "tf.add":
        return None
    if not any(total.args.get(param) is root.node for param in ("x", "y")):
        return None
    if not any(is_small_constant(part) for part in operands(total)):
        return None
    above = outer[1] if len(outer) > 1 else None
    if _is_only_divided_by(above, root) or _divides_in_place(above):
        return None
    quotient = _operation(above, root, interpreter)
    if quotient is not None and quotient.op.name in QUOTIENTS:
        if quotient.args.get("y") is total.node:
            return None
    return LateGuard([root], total.node, False)


def _operation(node: ast.AST | None, root: Site, interpreter: Evaluator) -> Site | None:
    """The op application that an operator or call is at the point of a root."""
    if not isinstance(node, (ast.BinOp, ast.Call)):
        return None
    return interpreter.site(node, root.point)


def _assigned_name(statement: ast.AST | None) -> str:
    """The only name that a statement assigns; empty where it is no such assignment."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else ""


def _is_only_divided_by(statement: ast.AST | None, root: Site) -> bool:
    """Whether a statement gives the sum a name that is a divisor wherever it is read."""
    name = _assigned_name(statement)
    if not name:
        return False
    nodes = list(ast.walk(root.point.scope.node))
    divisors = {node for node in map(_divisor, nodes) if node is not None}
    reads = [
        node
        for node in nodes
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    return bool(reads) and all(node in divisors for node in reads)


def _divisor(node: ast.AST) -> ast.expr | None:
    """The divisor of `a / b` or `tf.divide(a, b)`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return node.right
    if isinstance(node, ast.Call) and len(node.args) > 1:
        is_attribute = isinstance(node.func, ast.Attribute)
        return node.args[1] if is_attribute and leaf(node.func) in _QUOTIENT_NAMES else None
    return None


def _divides_in_place(statement: ast.AST | None) -> bool:
    """Whether a statement is `x /= root + eps`."""
    return isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Div)


def is_used_only_at(root: Site, site: Site, around: Around) -> bool:
    """Whether a root has no other use than the one at `site`: it stands there, or the name it is
    given (`deviation = std(x) + eps`) is read once.
    """
    outer = around(root.node)
    if site.node in outer or root.node is site.node:
        return True
    guarded = len(outer) > 1 and isinstance(outer[0], (ast.BinOp, ast.Call))
    statement = outer[guarded] if outer else None
    if _divides_in_place(statement):
        return True
    name = _assigned_name(statement)
    if not name:
        return False
    nodes = ast.walk(root.point.scope.node)
    return len([node for node in nodes if isinstance(node, ast.Name) and node.id == name]) == 2


# Whether the root can be at 0


def root_grade(root: Site, site: Site) -> Certainty | None:
    """How sure it is that a root whose guard is at `site` comes to 0; None where it does not, and
    for values of which no gradient is taken.
    """
    x = root.value(root.op.main)
    is_square_root = root.op.name in SQUARE_ROOTS
    if x.kind == "number" or x.guarded or x.dtype in ("int32", "int64"):
        return None
    if is_square_root and (x.positive or x.known and not x.zero):
        return None
    if root.op.name in NORMS and (not x.zero or _has_safe_order(root)):
        return None
    total = made_by(x, *TOTALS) if is_square_root else root
    if total is not None and random_weight(total.value(total.op.main)):
        return None
    if not x.exact and truth_only(x, root.point):
        return None
    if x.known:
        return Certainty.MAY
    differentiated = Differentiated.YES in (root.differentiated, site.differentiated)
    return Certainty.MAY if differentiated and not is_square_root else Certainty.UNKNOWN


def comes_from_relu(root: Site) -> bool:
    """Whether a root is taken of outputs of a relu: under XLA its derivative stops the NaN, for it
    selects there; elsewhere it multiplies.
    """
    if root.op.name == "tf.math.reduce_std":
        return False
    x = root.value(root.op.main)
    if root.op.name in SQUARE_ROOTS:
        total = made_by(x, *TOTALS)
        square = total.value("x").origin if total is not None else None
        if isinstance(square, Site) and square.op.name in SQUARES:
            x = square.value("x")
    return made_by(x, "tf.nn.relu") is not None


def _has_safe_order(norm: Site) -> bool:
    """Whether a norm is of another order than 2, or the spectral one (order 2 of two axes)."""
    order = norm.const("ord", "euclidean")
    if order == 2:
        return norm.value("axis").kind == "sequence"
    return order not in ("euclidean", "fro", None)


def weakness_of_roots(roots: list[Site]) -> str:
    """The kind of evidence that the derivative of a root counts, as `kinds` names it: "returns" of
    rewards, which no weights lead to, "weight-product" of norms of such; empty where it is not
    weak.
    """
    paths = [path_of(root.args["x"]) if "x" in root.args else None for root in roots]
    if all([path is not None and is_return(path) for path in paths]):
        return "returns"
    norms = [root for root in roots if root.op.name in NORMS]
    kinds = [weakness_of_product(norm.value(norm.op.main or "x")) for norm in norms]
    return kinds[0] if kinds and all(kinds) and len(kinds) == len(roots) else ""
