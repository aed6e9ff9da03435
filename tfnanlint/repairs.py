"""Repairs that several rules offer: the double where, and roots, norms and deviations with a floor inside."""

from __future__ import annotations

import ast
from typing import Any, Iterable

from tfnanlint.assertions import named_probability
from tfnanlint.findings import Claim, Fix
from tfnanlint.logarithms import absorbed_bound, floor_of, is_count, is_density, is_one_minus, is_share, log_form
from tfnanlint.probabilities import logged
from tfnanlint.reach import Named, argument
from tfnanlint.rules import Changed, Context, Part
from tfnanlint.scopes import Point
from tfnanlint.site import Site, made_by
from tfnanlint.values import Value, number_text

COMPLEX = frozenset(("complex64", "complex128"))
_NORMS = ("tf.norm", "tf.math.reduce_euclidean_norm")
_EUCLIDEAN = (None, 2, "euclidean", "fro")
_DEVIATIONS = ("tf.math.reduce_std",)


def root_epsilon(here: Context, site: Site, param: str = "x") -> str:
    """What is added to a sum of squares: its root is 1e-6, small against anything and with a finite derivative."""
    return here.epsilon(site.value(param), "inverse root" if site.op.name == "tf.math.rsqrt" else "root")


def beside_one(here: Context, value: Value) -> str:
    """A margin that 1 minus it does not lose in the value's dtype, as text."""
    return here.epsilon(value, "margin")


def double_where(here: Context, site: Site, param: str = "x", *, inside: str = "{x} > 0", fill: str = "tf.ones_like({x})",
                 otherwise: str = "tf.zeros_like({x})", title: str, claim: Claim = Claim.EQUAL_WHERE_FINITE,
                 cost: str = "") -> list[Fix]:
    """The op on an input whose bad elements are replaced, and `otherwise` at those elements.

    The input is computed once: it gets a name when it is more than a name already.
    """
    x = site.args.get(param)
    if x is None:
        return []
    hole = x if here.repeatable(x) else Named("inner", "{x}", {"x": x})
    call = Changed(site.node, [(x, f"tf.where({inside}, {{x}}, {fill})", {"x": hole})])
    return here.rewrite(site, f"tf.where({inside}, {{call}}, {otherwise})", title=title, claim=claim, cost=cost, x=hole, call=call)


def short(here: Context, test: ast.expr, point: Point) -> bool:
    """Whether a condition may be written twice: a name, a comparison of names and numbers, or one op on such."""
    allowed = (ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.cmpop, ast.UnaryOp, ast.unaryop, ast.Call, ast.keyword,
               ast.expr_context)
    if test.lineno != test.end_lineno or not all(isinstance(inner, allowed) for inner in ast.walk(test)):
        return False
    calls = [inner for inner in ast.walk(test) if isinstance(inner, ast.Call)]
    sites = [here.site(call, point) for call in calls]
    return len(calls) <= 1 and all(site is not None and site.op.pure for site in sites)


def squared(site: Site) -> tuple[str, dict[str, ast.expr | None]] | None:
    """Template and holes of what stands under the root in a norm or standard deviation; None where that is not known."""
    if site.value("x").dtype in COMPLEX or not site.complete or "x" not in site.args:
        return None
    holes = {"x": site.args["x"], "axis": site.args.get("axis"), "keepdims": site.args.get("keepdims")}
    if site.op.name in _NORMS:
        order = site.const("ord", "euclidean")
        if order not in _EUCLIDEAN or order == 2 and site.value("axis").kind == "sequence":
            return None  # a sum of magnitudes, the largest of them, the spectral norm of a matrix
        return "tf.reduce_sum(tf.square({x}), axis={axis}, keepdims={keepdims})", holes
    if site.op.name in _DEVIATIONS:
        return "tf.math.reduce_variance({x}, axis={axis}, keepdims={keepdims})", holes
    return None


def floored_root(here: Context, site: Site) -> Part | None:
    """A root, norm or deviation written so that its derivative is finite at 0: a small number is added inside.

    A difference gets a floor instead: `1 - p + eps` loses a small eps in graphs and under XLA.
    """
    eps = root_epsilon(here, site, site.op.main)
    inner = squared(site)
    if inner is not None:
        template, holes = inner
        return site.node, f"tf.sqrt({template} + {eps})", holes
    if site.op.name in ("tf.sqrt", "K.sqrt", "tf.math.rsqrt") and "x" in site.args:
        x = site.args["x"]
        return x, (f"{{x}} + {eps}" if addable(here, site) else f"tf.maximum({{x}}, {eps})"), {"x": x}
    return None


def addable(here: Context, site: Site) -> bool:
    """Whether a small number added to the input of a root stays: it is nonnegative, and no constant stands beside it."""
    x = site.value(site.op.main)
    return x.nonnegative and here.made_by(x, "tf.add", "tf.subtract") is None


_ROOTS = ("tf.sqrt", "K.sqrt", "tf.norm", "tf.math.reduce_euclidean_norm", "tf.math.reduce_std")


def roots(value: Value) -> list[Site]:
    """The roots that a value is, or is the product of; none where it is made of anything else."""
    root = made_by(value, *_ROOTS)
    if root is not None:
        return [root]
    factors = made_by(value, "tf.multiply")
    found = [roots(factors.value(param)) for param in ("x", "y")] if factors is not None else []
    return [site for part in found for site in part] if all(found) else []


def under_the_root(here: Context, inside: list[Site]) -> list[Fix]:
    """A small number under the roots that a divisor is made of: beside them it would leave their gradient infinite."""
    if any(root.source is not here.source or root.point is None for root in inside):
        return []
    parts = [part for part in (floored_root(here, root) for root in inside) if part is not None]
    if len(parts) < len(inside):
        return []
    eps = root_epsilon(here, inside[0], inside[0].op.main)
    return here.rewrite_all(inside[0], parts, title="add a small number under the root", claim=Claim.SHIFTED,
                            cost=f"the root moves by {float(eps) ** 0.5:.0e} at 0, and by less elsewhere")


def logarithm(here: Context, log: Site, param: str = "x", edge: float = 0.0) -> list[Fix]:
    """The logarithm factor by factor, without what underflows in it; where that cannot be written a floor, or nothing."""
    form = log_form(log, param) if edge == 0 and log.op.name == "tf.math.log" else None
    if form is None:
        return log_floor(here, log, param, edge)
    template, holes = form
    fixes = here.rewrite(log, template, title="take the logarithm factor by factor", claim=Claim.EQUAL, **holes)
    reason = here.no_fix
    fixes = fixes or log_floor(here, log, param, edge)
    here.no_fix = "" if fixes else reason or here.no_fix
    return fixes


def log_floor(here: Context, log: Site, param: str = "x", edge: float = 0.0) -> list[Fix]:
    """The argument kept a little above the edge; none where that would move numbers that are right, or hide a wrong one."""
    value, node = log.value(param), log.args.get(param)
    here.no_fix = why_no_floor(log, param, edge)
    if node is None or here.no_fix:
        return []
    bound = ("1.0" if is_count(value) else floor_of(value, here.setup.epsilon)) if edge == 0 else f"{number_text(edge)} + {beside_one(here, value)}"
    return here.rewrite(log, f"tf.maximum({{x}}, {bound})", node=node, x=node, title=f"keep the argument at or above {bound}",
                        claim=Claim.SHIFTED, cost=f"values below {bound} become {bound}; the gradient is 0 there")


def why_no_floor(log: Site, param: str, edge: float) -> str:
    """Why a floor is no repair of a logarithm; empty where it is one."""
    value = log.value(param)
    if is_density(value):
        return "a floor would be above nearly all densities of the first steps: take the logarithm of each factor"
    if absorbed_bound(value):
        return "the bound of what it is 1 minus is rounded to 1: mend that"
    if value.exact:
        return "it is a number that is written there"
    if edge != 0 or is_one_minus(value) or is_share(value):
        return ""
    if not value.known and not value.guarded and not named_probability(log, param):
        return "nothing is known of its range: a floor would make a number of what is negative, too"
    if value.known and value.lo < 0:
        return "it can be negative: a floor would make a number of what has no logarithm"
    return ""


def minus_softplus(here: Context, log: Site, z: Any, others: Iterable[Part] = (), **said: Any) -> list[Fix]:
    """One fix that puts -softplus(z) in place of a logarithm, its sign drawn together with that of the term in which it is a factor.

    `others` are parts that go with it. Where the text around cannot be written anew, a comment in it for one, the sign stays at its place.
    """
    others = list(others)
    return (here.rewrite_all(log, _signs_drawn_together(here, log, z, others), **said)
            or here.rewrite_all(log, [(log.node, "-tf.math.softplus({z})", {"z": z}), *others], **said))


def _signs_drawn_together(here: Context, log: Site, z: Any, others: list[Part]) -> list[Part]:
    node, outer = log.node, next(iter(here.around(log.node)), None)
    while isinstance(outer, ast.BinOp) and _is_factor(outer, node):
        node = outer
        outer = next(iter(here.around(node)), None)
    parts: list[Part] = [(log.node, "tf.math.softplus({z})", {"z": z})]
    sign = _first_factor(node)
    if isinstance(sign, ast.UnaryOp) and isinstance(sign.op, ast.USub) and node is not log.node:
        return [(sign, "{x}", {"x": sign.operand}), *parts, *others]
    term: Any = Changed(node, parts)
    if isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.USub):
        return [(outer, "{term}", {"term": term}), *others]
    if isinstance(outer, ast.BinOp) and isinstance(outer.op, (ast.Add, ast.Sub)) and outer.right is node:
        before = [part for part in others if here.source.span(part[0]) in here.source.span(outer.left)]
        left = Changed(outer.left, before) if before else outer.left
        sign_of = "-" if isinstance(outer.op, ast.Add) else "+"
        return [(outer, f"{{left}} {sign_of} {{term}}", {"left": left, "term": term}), *(part for part in others if part not in before)]
    return [(node, "-{term}", {"term": term}), *others]


def log_sigmoids_beside(here: Context, log: Site) -> list[Part]:
    """log_sigmoid in place of the other logarithms of guarded sigmoids in a statement: both halves of a loss in one style."""
    statement = next((node for node in here.around(log.node) if isinstance(node, ast.stmt)), None)
    parts: list[Part] = []
    for node in ast.walk(statement) if statement is not None else ():
        site = here.site(node, log.point) if isinstance(node, ast.Call) and node is not log.node else None
        found = logged(site) if site is not None and site.op.name == "tf.math.log" else None
        if found is None or found.complement or not found.guard or found.producer.op.name != "tf.sigmoid" or not found.producer.complete:
            continue
        parts.append((node, "tf.math.log_sigmoid({z})", {"z": argument(found.producer, "x", "logits")}))
    return parts


def _is_factor(product: ast.BinOp, node: ast.expr) -> bool:
    return isinstance(product.op, ast.Mult) or isinstance(product.op, ast.Div) and product.left is node


def _first_factor(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        node = node.left
    return node
