"""An epsilon that is rounded away, so that the guard it was written for does not exist.

Next to 1, float32 numbers are 6e-8 apart: `1 - 1e-8` is exactly 1, and so is `1 + 1e-8`. A clip to
`[1e-8, 1 - 1e-8]` lets 1 through. `1 - p + 1e-8` looks better and works line by line, but
tf.function, Keras `fit`, XLA and TensorFlow 1 graphs reorder it to `(1 + 1e-8) - p`, where the
epsilon is gone: the loss is `inf` in training and finite in the debugger.

Bad:
    p = tf.clip_by_value(p, 1e-8, 1 - 1e-8)
    loss = -tf.math.log(1.0 - q + 1e-8)

Good:
    p = tf.clip_by_value(p, 1e-7, 1 - 1e-7)
    loss = -tf.math.log(tf.maximum(1.0 - q, 1e-8))

The largest epsilon that is lost next to 1: 3e-8 below and 6e-8 above in float32, 2e-4 and 5e-4 in
float16, 2e-3 and 4e-3 in bfloat16, 6e-17 and 1e-16 in float64. Where `q` is a sigmoid of visible
logits, `-tf.math.softplus(z)` is better still.

A bound that is 1 is reported where the file takes something that is infinite there, or has an
infinite gradient: a logarithm, root or quotient of `1 - p`, an inverse of cosine, sine or tanh.
Where nothing of the kind is seen, `--certainty unknown` shows it: `log(p)` is finite at 1, but who
gets `p` may take `log(1 - p)`.

See also: https://docs.oracle.com/cd/E19957-01/806-3568/ncg_goldberg.html

Seen in the wild:
https://github.com/tensorflow/tensorflow/issues/52045 (1 - x + 1e-9 under tf.function),
https://github.com/tensorflow/tensorflow/issues/47548 (1 - t ** a + 1e-8),
https://github.com/kvfrans/variational-autoencoder/issues/5 (log(1e-8 + 1 - p))
"""

import re
from dataclasses import dataclass

from tfnanlint.api import (
    NEAREST,
    SMALLEST,
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    argument,
    ast,
    domains,
    image,
    logged,
    number,
    number_text,
    repairs,
    rounded,
    rule,
    traits,
)

# What may be infinite next to 1: a logarithm, a root, a quotient, an inverse.
SINGULAR = re.compile(r"log|sqrt|/|divide|reciprocal|cos|sin|tanh|ndtri|erfinv|pow|\*\*")


@rule(
    "TFN402",
    "epsilon-absorbed",
    on="tf.clip_by_value tf.minimum tf.math.log tf.divide tf.sqrt tf.math.rsqrt tf.math.reciprocal",
    over="TFN101 TFN102 TFN202 TFN307 TFN403",
    silent="MAY/YES/XLA",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name in ("tf.clip_by_value", "tf.minimum"):
        yield from bounds(site, here)
    else:
        yield from sums(site, traits.GUARDED[site.op.name], here)


# 1 - 1e-8 as a bound


def bounds(site: Site, here: Context) -> Iterator[Finding]:
    for param, x in pairs(site):
        bound, dtype = site.value(param), x.dtype or "float32"
        if (
            not bound.exact
            or bound.kind != "number"
            or not 0.5 < abs(bound.lo) < 1
            or abs(rounded(bound.lo, dtype)) != 1
        ):
            continue
        side = 1 if bound.lo > 0 else -1
        if (
            x.known
            and (x.hi < 1 if side > 0 else x.lo > -1)
            or param == "clip_value_min"
            and side > 0
        ):
            continue
        name = "1" if side > 0 else "-1"
        certainty = Certainty.MUST if singular(site, side, here) else Certainty.UNKNOWN
        text = here.text(site.args[param]) if len(here.text(site.args[param])) < 30 else "the bound"
        yield here.finding(
            site,
            param,
            f"{text} is exactly {name} in {dtype}: the bound lets {name} through, so that log(1 - p), "
            "1 / (1 - p) and acos(p) are still infinite there or have an infinite gradient",
            certainty,
            nearer(site, param, side, dtype, here),
            node=site.args[param],
        )


def pairs(site: Site):
    """(parameter of a bound, the value it bounds)."""
    if site.op.name == "tf.clip_by_value":
        return [("clip_value_max", site.value("x")), ("clip_value_min", site.value("x"))]
    return [("x", site.value("y")), ("y", site.value("x"))]


def singular(bounded: Site, side: int, here: Context) -> bool:
    """Whether this file takes something of a bounded value that is infinite where that is 1 (or -1), or has an infinite gradient."""
    for site in here.applications(here.source.rows(SINGULAR)):
        for param, where in domains(site):
            reached = image(site.value(param), bounded, float(side))
            if reached is not None and not where.holds(number(reached)):
                return True
    return False


def nearer(site: Site, param: str, side: int, dtype: str, here: Context) -> list[Fix]:
    step = NEAREST.get(dtype, "1e-7")
    bound = f"1 - {step}" if side > 0 else f"-1 + {step}"
    return here.rewrite(
        site,
        bound,
        node=site.args[param],
        title=f"use {bound}, which {dtype} can tell from {side}",
        claim=Claim.SHIFTED,
        cost=f"values beyond {bound} become {bound}; the gradient is 0 there",
    )


# 1 - p + 1e-8 and 1e-8 + 1 - p


@dataclass
class Lost:
    """An epsilon that is added at `total` and rounded away, in the `modes` named; `left` is the
    expression without it.
    """

    total: Site
    eps: float
    modes: tuple[str, ...]
    x: Value
    left: ast.expr | None = None
    eps_node: ast.expr | None = None
    folded: bool = False


def sums(site: Site, param: str, here: Context) -> Iterator[Finding]:
    lost = folded(site.value(param)) or reordered(site, param, here)
    if (
        lost is None
        or not lost.modes
        or not here.numeric(site.value(param))
        or lost.x.kind == "number"
    ):
        return
    inside = any(node is lost.total.node for node in ast.walk(site.node))
    eps, dtype = plain(lost.eps), lost.x.dtype or "float32"
    if lost.folded:
        why = f"{eps} + 1 is exactly 1 in {dtype}: the epsilon is gone, and at p = 1 this is 0"
    elif lost.modes == ("xla",):
        why = (
            f"the {eps} is lost in {dtype} under XLA (jit_compile, Keras fit on a GPU), which reorders it to 1 + {eps} - p: at p = 1 "
            "this is 0; what reads 1 - p beside it keeps a tf.function from doing so"
        )
    else:
        why = (
            f"the {eps} is lost in {dtype} as soon as the code is compiled (tf.function, Keras fit, XLA and TF1 graphs reorder "
            f"it to 1 + {eps} - p): at p = 1 this is 0"
        )
    yield here.finding(
        site,
        param,
        why,
        Certainty.MAY,
        offered(site, lost, here),
        modes=lost.modes,
        node=lost.total.node if inside else None,
        covers=[site.node],
    )


def folded(value: Value) -> Lost | None:
    """`1e-8 + 1 - p`: Python adds the numbers, TensorFlow rounds the sum to 1."""
    site = value.origin
    if not isinstance(site, Site) or site.op.name != "tf.subtract":
        return None
    one, p = site.value("x"), site.value("y")
    if (
        one.is_number
        and one.const != 1
        and reaches(p, 1.0)
        and rounded(float(one.const), p.dtype) == 1.0
    ):
        return Lost(site, abs(float(one.const) - 1), ("eager", "graph", "xla"), p, folded=True)
    return None


def reordered(site: Site, of: str, here: Context) -> Lost | None:
    """`1 - p + 1e-8`, `1e-8 + (1 - p)`, `p - 1 + 1e-8`, `1 - p - (-1e-8)`."""
    total, use = site.value(of).origin, site.op.name
    if not isinstance(total, Site) or total.op.name not in ("tf.add", "tf.subtract"):
        return None
    for param, other in (("y", "x"), ("x", "y")):
        eps, inner = total.value(param), total.value(other).origin
        if (
            not eps.exact
            or not 0 < abs(eps.lo) < 0.1
            or total.op.name == "tf.subtract"
            and param == "x"
        ):
            continue
        big = around_one(inner, strict=total.library == "operator" and use == "tf.divide")
        if (
            big is None
            or rounded(big[0] + abs(eps.lo), big[1].dtype) != big[0]
            or not reaches(big[1], big[0])
        ):
            continue
        # XLA keeps `eps + (1 - p)` as it is written, Grappler does not (facts: C.reassociation);
        # Grappler keeps a `1 - p` that something else reads too.
        kept = read_beside(site, total, total.value(other), here)
        modes = (
            ()
            if param == "x" and kept
            else ("graph",)
            if param == "x"
            else ("xla",)
            if kept
            else ("graph", "xla")
        )
        return Lost(total, abs(eps.lo), modes, big[1], total.args.get(other), total.args.get(param))
    return None


def read_beside(site: Site, total: Site, inner: Value, here: Context) -> bool:
    """Whether 1 - p is also a factor of what is taken of the sum, as in
    `(1 - p) * log(1 - p + eps)`: the value needs that, and so does the gradient. Equal expressions
    are one node of a graph.
    """
    if site.op.name == "tf.divide" and reads(site.value("x"), inner, total.result, here):
        return True
    own = site.node
    for outer in here.around(site.node):
        if not isinstance(outer, (ast.BinOp, ast.UnaryOp, ast.Call, ast.keyword)):
            break
        product = here.site(outer, site.point) if isinstance(outer, (ast.BinOp, ast.Call)) else None
        if product is not None and product.op.name in ("tf.multiply", "tf.divide"):
            factors = [
                product.value(param)
                for param, node in product.args.items()
                if param in ("x", "y") and node is not own
            ]
            if any(reads(factor, inner, total.result, here) for factor in factors):
                return True
        own = outer if isinstance(outer, ast.expr) else own
    return False


def reads(value: Value, inner: Value, total: Value | None, here: Context, depth: int = 6) -> bool:
    """Whether a value is computed from 1 - p other than through the sum that the rule looks at."""
    if total is not None and here.same(value, total):
        return False
    if here.same(value, inner):
        return True
    origin = value.origin
    return (
        depth > 0
        and isinstance(origin, Site)
        and origin.op.name not in traits.OF_SHAPES
        and any(reads(origin.value(param), inner, total, here, depth - 1) for param in origin.args)
    )


def around_one(site, strict: bool) -> tuple[float, Value] | None:
    """(c, p) for c - p, -p + c and p - c with a constant c. Of p - c, and of plain arithmetic, p
    must be known.
    """
    if not isinstance(site, Site) or site.op.name not in ("tf.subtract", "tf.add"):
        return None
    x, y = site.value("x"), site.value("y")
    if site.op.name == "tf.subtract":
        one, p = (x, y) if x.exact else (y, x)
        if not p.known and (strict or p is x):
            return None
        return (abs(one.lo), p) if one.exact and one.lo > 0 and not p.exact else None
    for one, negated in ((x, y), (y, x)):
        if (
            one.exact
            and one.lo > 0
            and isinstance(negated.origin, Site)
            and negated.origin.op.name == "tf.negative"
        ):
            return one.lo, negated.origin.value("x")
    return None


def reaches(p: Value, number: float) -> bool:
    return not p.known or p.lo <= number <= p.hi


def offered(site: Site, lost: Lost, here: Context) -> list[Fix]:
    fixes: list[Fix] = []
    found = logged(site) if site.op.name == "tf.math.log" else None
    if (
        found is not None
        and found.complement
        and found.producer.op.name == "tf.sigmoid"
        and found.producer.complete
    ):
        beside = repairs.log_sigmoids_beside(here, site)
        for others in [beside, []] if beside else [[]]:
            fixes = fixes or repairs.minus_softplus(
                here,
                site,
                argument(found.producer, "x", "logits"),
                others,
                title="use minus the softplus of the logits",
                claim=Claim.SHIFTED,
                cost=f"where 1 - p is about {plain(lost.eps)} the value falls further, and its gradient comes back to life",
            )
    eps = survivor(lost, here)
    holes = {"left": lost.left, "p": lost.total.args.get("y"), "eps": eps}
    if (
        lost.total.node is None
        or not lost.total.complete
        or lost.total.op.name == "tf.subtract"
        and not lost.folded
    ):
        return fixes
    template = "tf.maximum(1.0 - {p}, {eps})" if lost.folded else "tf.maximum({left}, {eps})"
    return fixes + here.rewrite(
        site,
        template,
        node=lost.total.node,
        title="floor instead of adding: tf.maximum(1 - p, eps)",
        claim=Claim.SHIFTED,
        **holes,
        cost=f"what is below {plain(lost.eps)} becomes {plain(lost.eps)}; the gradient is 0 there",
    )


def plain(eps: float) -> str:
    return number_text(eps).replace("e-0", "e-")


def survivor(lost: Lost, here: Context):
    """The epsilon as it is written, if its dtype has it; else one that it has."""
    smallest = SMALLEST.get(lost.x.dtype or "float32", SMALLEST["float32"])
    if rounded(lost.eps, lost.x.dtype) < smallest:
        return here.epsilon(lost.x)
    if lost.folded:
        written = [
            node
            for node in ast.walk(lost.total.args["x"])
            if isinstance(node, (ast.Constant, ast.Name, ast.Attribute))
            and 0 < here.value(node, lost.total.point).lo < 0.1
        ]
        return written[0] if len(written) == 1 else here.epsilon(lost.x)
    return lost.eps_node if lost.eps_node is not None else here.epsilon(lost.x)
