"""Repairs that several rules offer: the double where, and roots, norms and deviations with a floor inside."""

from __future__ import annotations

import ast

from tfnanlint.findings import Claim, Fix
from tfnanlint.reach import Named
from tfnanlint.rules import Changed, Context, Part
from tfnanlint.site import Site
from tfnanlint.values import Value

COMPLEX = frozenset(("complex64", "complex128"))
_NORMS = ("tf.norm", "tf.math.reduce_euclidean_norm")
_DEVIATIONS = ("tf.math.reduce_std",)


def root_epsilon(here: Context, site: Site, param: str = "x") -> str:
    """What is added to a sum of squares: its root is 1e-6, small against anything and with a finite derivative."""
    return here.epsilon(site.value(param), 2)


def beside_one(value: Value) -> str:
    """A margin that 1 minus it does not lose in the value's dtype, as text."""
    return {"float16": "1e-3", "bfloat16": "1e-2"}.get(value.dtype or "", "1e-7")


def double_where(here: Context, site: Site, param: str = "x", *, inside: str = "{x} > 0", fill: str = "tf.ones_like({x})",
                 otherwise: str = "tf.zeros_like({x})", title: str, claim: Claim = Claim.EQUAL_WHERE_FINITE) -> list[Fix]:
    """The op on an input whose bad elements are replaced, and `otherwise` at those elements.

    The input is computed once: it gets a name when it is more than a name already.
    """
    x = site.args.get(param)
    if x is None:
        return []
    hole = x if here.repeatable(x) else Named("inner", "{x}", {"x": x})
    call = Changed(site.node, [(x, f"tf.where({inside}, {{x}}, {fill})", {"x": hole})])
    return here.rewrite(site, f"tf.where({inside}, {{call}}, {otherwise})", title=title, claim=claim, x=hole, call=call)


def squared(site: Site) -> tuple[str, dict[str, ast.expr | None]] | None:
    """Template and holes of what stands under the root in a norm or standard deviation; None where that is not known."""
    if site.value("x").dtype in COMPLEX or not site.complete or "x" not in site.args:
        return None
    holes = {"x": site.args["x"], "axis": site.args.get("axis"), "keepdims": site.args.get("keepdims")}
    if site.op.name in _NORMS:
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
