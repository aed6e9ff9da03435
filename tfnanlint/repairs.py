"""Repairs that several rules offer: the double where, and roots, norms and deviations with a floor inside."""

from __future__ import annotations

import ast
from typing import Any

from tfnanlint.findings import Claim, Fix
from tfnanlint.reach import Named
from tfnanlint.rules import Changed, Context, Part
from tfnanlint.scopes import Point
from tfnanlint.site import Site, made_by
from tfnanlint.values import Value

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


def minus_softplus(here: Context, log: Site, z: Any) -> Part:
    """-softplus(z) in place of a logarithm, its sign drawn together with one that stands before the logarithm."""
    outer = next(iter(here.around(log.node)), None)
    if isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.USub):
        return outer, "tf.math.softplus({z})", {"z": z}
    if isinstance(outer, ast.BinOp) and isinstance(outer.op, (ast.Add, ast.Sub)) and outer.right is log.node:
        sign = "-" if isinstance(outer.op, ast.Add) else "+"
        return outer, f"{{left}} {sign} tf.math.softplus({{z}})", {"left": outer.left, "z": z}
    return log.node, "-tf.math.softplus({z})", {"z": z}
