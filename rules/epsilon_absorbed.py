"""An epsilon that is rounded away, so that the guard it was written for does not exist.

Next to 1, float32 numbers are 6e-8 apart: `1 - 1e-8` is exactly 1, and so is `1 + 1e-8`. A clip to
`[1e-8, 1 - 1e-8]` lets 1 through. `1 - p + 1e-8` looks better and works line by line, but
tf.function, Keras `fit`, XLA and TensorFlow 1 graphs reorder it to `(1 + 1e-8) - p`, where the
epsilon is lost: the loss is `inf` in training and finite in the debugger.

See it:
    >>> float(tf.constant(1.0) - 1e-8)
    1.0
    >>> float(tf.math.log(1.0 - tf.clip_by_value(1.0, 1e-8, 1 - 1e-8)))
    -inf

Bad:
    p = tf.clip_by_value(p, 1e-8, 1 - 1e-8)
    loss = -tf.math.log(1.0 - q + 1e-8)

Good:
    p = tf.clip_by_value(p, 1e-7, 1 - 1e-7)
    loss = -tf.math.log(tf.maximum(1.0 - q, 1e-8))

Grappler, the optimizer of graphs, does the same with two tensors: `max - min + 1e-8` becomes
`max - (min - 1e-8)` in tf.function and in Keras `fit` with `jit_compile=False`. A constant map of
0.5 is then divided by 0 (with 1e-7 one of 10, with 1e-6 one of 255). Eager code and XLA keep it;
`tf.maximum(max - min, 1e-8)` is safe everywhere.

The largest epsilon that is lost next to 1: 3e-8 below and 6e-8 above in float32, 2e-4 and 5e-4 in
float16, 2e-3 and 4e-3 in bfloat16, 6e-17 and 1e-16 in float64. Where `q` is a sigmoid of visible
logits, `-tf.math.softplus(z)` is better still.

A bound of 1 is reported where the file contains an operation that is infinite at 1 or has an
infinite gradient there: a logarithm, root or quotient of `1 - p`, or `acos`, `asin`, `atanh`.
Elsewhere it is reported with `--certainty unknown` only: `log(p)` is finite at 1, but another file
may take `log(1 - p)`.

See also: https://docs.oracle.com/cd/E19957-01/806-3568/ncg_goldberg.html

Seen in the wild:
https://github.com/tensorflow/tensorflow/issues/52045 (1 - x + 1e-9 under tf.function),
https://github.com/tensorflow/tensorflow/issues/47548 (1 - t ** a + 1e-8),
https://github.com/kvfrans/variational-autoencoder/issues/5 (log(1e-8 + 1 - p))
"""

from tfnanlint.api import (
    NEAREST,
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    absorbed_epsilon_repairs,
    absorbed_epsilons,
    ast,
    domains,
    image,
    number,
    rule,
    texts,
    traits,
)


@rule(
    "TFN402",
    "epsilon-absorbed",
    on="tf.clip_by_value tf.minimum tf.math.log tf.divide tf.sqrt tf.math.rsqrt tf.math.reciprocal",
    over="TFN101 TFN102 TFN202 TFN307 TFN403",
    silent="MAY/YES/XLA",
    fixes="representable floor softplus",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name in traits.CEILINGS:
        yield from bounds(site, here)
    else:
        yield from sums(site, traits.GUARDED[site.op.name], here)


def dtype_of(x: Value, here: Context) -> str:
    """The dtype of a value, or else that in which the program makes Keras compute."""
    return x.dtype or ("float64" if here.policy() == "float64" else "float32")


# 1 - 1e-8 as a bound


def bounds(site: Site, here: Context) -> Iterator[Finding]:
    for param, x in pairs(site):
        bound, dtype = site.value(param), dtype_of(x, here)
        if not absorbed_epsilons.rounds_to_one(bound, dtype):
            continue
        side = 1 if bound.lo > 0 else -1
        if param == "clip_value_min" and side > 0:
            continue
        if x.known and (x.hi < 1 if side > 0 else x.lo > -1):
            continue
        certainty = Certainty.MUST if singular(site, side, here) else Certainty.UNKNOWN
        text = here.text(site.args[param]) if len(here.text(site.args[param])) < 30 else "the bound"
        yield here.finding(
            site,
            param,
            f"{text} is exactly {side} in {dtype}, so the bound does not exclude {side}: log(1 "
            "- p), 1 / (1 - p) and acos(p) are still infinite there or have an infinite "
            "gradient",
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
    """Whether this file takes something of a bounded value that is infinite where that is 1 (or
    -1), or has an infinite gradient.
    """
    for site in here.applications(here.source.rows_where(texts.may_be_singular)):
        for param, where in domains(site):
            reached = image(site.value(param), bounded, float(side))
            if reached is not None and not where.holds(number(reached)):
                return True
    return False


def nearer(site: Site, param: str, side: int, dtype: str, here: Context) -> list[Fix]:
    if any(isinstance(node, ast.Attribute) for node in ast.walk(site.args[param])):
        here.no_fix = f"the epsilon is a setting: {dtype} needs one of at least {NEAREST[dtype]}"
        return []
    step = NEAREST.get(dtype, "1e-7")
    bound = f"1 - {step}" if side > 0 else f"-1 + {step}"
    return here.rewrite(
        site,
        bound,
        node=site.args[param],
        title=f"use {bound}, which {dtype} distinguishes from {side}",
        claim=Claim.SHIFTED,
        cost=f"values beyond {bound} become {bound}; the gradient is 0 there",
    )


# 1 - p + 1e-8 and 1e-8 + 1 - p


def sums(site: Site, param: str, here: Context) -> Iterator[Finding]:
    lost = absorbed_epsilons.absorbed_epsilon(site, param, here.interpreter, here.around)
    if lost is None or not here.numeric(site.value(param)) or lost.x.kind == "number":
        return
    inside = any(node is lost.total.node for node in ast.walk(site.node))
    eps = absorbed_epsilon_repairs.epsilon_text(lost.eps)
    dtype = dtype_of(lost.x, here)
    if lost.x.dtype is None and dtype == "float64" and 1.0 + lost.eps != 1.0:
        return
    if lost.folded:
        why = (
            f"{eps} + 1 is exactly 1 in {dtype}: the epsilon is lost, and the result is 0 at p = 1"
        )
    elif lost.beside:
        why = (
            f"graphs without XLA (tf.function, Keras fit) compute a - (b - {eps}) and lose the "
            f"{eps} next to large elements: the result is 0 where both are equal"
        )
    elif lost.modes == ("xla",):
        why = f"XLA (jit_compile, Keras fit on a GPU) computes 1 + {eps} - p: 0 at p = 1 in {dtype}"
    else:
        why = (
            f"compiled code (tf.function, Keras fit, XLA) computes 1 + {eps} - p: 0 at p = 1 in "
            f"{dtype}"
        )
    is_reordered = "graph" in lost.modes and not (lost.folded or lost.beside)
    in_one_release = is_reordered and absorbed_epsilon_repairs.runs_in_first_version(here)
    yield here.finding(
        site,
        param,
        why,
        Certainty.MAY,
        absorbed_epsilon_repairs.repaired(here, site, lost),
        modes=lost.modes,
        node=lost.total.node if inside else None,
        covers=[site.node],
        kind="tensorflow-1-only" if in_one_release else "",
    )
