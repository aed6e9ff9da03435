"""An epsilon that is 0 in the dtype in use, or none at all.

The smallest float16 number is 6e-8: `x + 1e-8` is `x`, and `tf.maximum(x, 1e-8)` lets 0 through, so
that the logarithm, root or division that follows is infinite. `tf.math.l2_normalize` has 1e-12 by
default, which is 0 in float16 too: a row of zeros becomes NaN. In float32 the same holds below
1.2e-38 (`1e-45`, `1e-40`): smaller numbers are flushed to 0. A normalisation layer with `epsilon=0`
divides by a variance that is 0 for a constant row.

See it:
    >>> float(tf.math.log(tf.constant(0.0, tf.float16) + 1e-8))
    -inf

Bad:
    half = tf.cast(p, tf.float16)
    loss = -tf.math.log(half + 1e-8)

Good:
    half = tf.cast(p, tf.float16)
    loss = -tf.math.log(half + 1e-3)

With `K.set_floatx("float16")` the 1e-7 of Keras is not 0, but too small: Adam takes steps of 10
(with `epsilon=1e-8` they are NaN), and the binary cross-entropy is infinite at p = 1. Set
`K.set_epsilon(1e-3)` (next to 1, 1e-4 is lost as well) and `Adam(epsilon=1e-4)`, or better keep the
weights in float32: `keras.mixed_precision.set_global_policy("mixed_float16")`. The same holds of
`tf.train.AdamOptimizer` for variables that are made in float16.

Often harmless: `set_floatx` in a test file, because most such files only test dtypes.

See also: https://github.com/keras-team/keras/issues/11832,
https://github.com/keras-team/keras/issues/11860, https://github.com/keras-team/keras/issues/9582,
https://www.tensorflow.org/guide/mixed_precision ("float16 ... underflows")

Seen in the wild:
https://stackoverflow.com/questions/42064941 (Adam on float16 variables),
https://github.com/tensorflow/tensorflow/issues/7226 (the same in a small convolution)
"""

from __future__ import annotations

from tfnanlint.api import (
    SMALLEST,
    Certainty,
    Claim,
    Context,
    Finding,
    Iterator,
    Site,
    Value,
    ast,
    number_text,
    repairs,
    rounded,
    rule,
    traits,
)

# What their epsilons are for.
GUARDS = {
    "tf.math.log": "floor",
    "tf.divide": "divisor",
    "tf.sqrt": "root",
    "tf.math.rsqrt": "inverse root",
    "tf.math.reciprocal": "divisor",
}
LAYERS = "keras.layers.BatchNormalization keras.layers.LayerNormalization keras.layers.GroupNormalization"
STEPS = ("keras.optimizers.Adam", "keras.optimizers.AdamW", "keras.optimizers.Nadam")
OPTIMIZERS = dict.fromkeys((*STEPS, "keras.optimizers.Adamax", "keras.optimizers.RMSprop"), 1e-7)
OPTIMIZERS["tf.train.AdamOptimizer"] = 1e-8


@rule(
    "TFN403",
    "epsilon-vanishes",
    over="TFN101 TFN102 TFN103 TFN202",
    silent="MAY/ANY/DOUBTFUL",
    needs="0.0) float16 half e-4 e-39 epsilon=0",
    on=" ".join(
        (
            *traits.GUARDED,
            "tf.math.l2_normalize tf.nn.batch_normalization K.set_floatx",
            LAYERS,
            *OPTIMIZERS,
        )
    ),
    fixes="representable epsilon",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    name = site.op.name
    if name in traits.GUARDED:
        yield from guarded(site, traits.GUARDED[name], here)
    elif name == "tf.math.l2_normalize":
        yield from normalized(site, here)
    elif name in OPTIMIZERS:
        yield from optimizer(site, here)
    elif name == "K.set_floatx":
        yield from float_type(site, here)
    elif site.library != "layer":
        yield from without(
            site, "variance_epsilon" if name == "tf.nn.batch_normalization" else "epsilon", here
        )


def vanishes(eps: float, dtype: str | None) -> bool:
    return eps > 0 and (
        rounded(eps, dtype) == 0 or eps < SMALLEST.get(dtype or "float32", SMALLEST["float32"])
    )


# x + 1e-8, maximum(x, 1e-8), clip_by_value(x, 1e-8, 1)


def guarded(site: Site, param: str, here: Context) -> Iterator[Finding]:
    if not site.may_be_made_by(param, "tf.add", "tf.maximum", "tf.clip_by_value"):
        return
    guard = site.value(param).origin
    if not isinstance(guard, Site):
        return
    for eps_param, x in epsilons(guard):
        eps = guard.value(eps_param)
        # a tensor brings its dtype along
        dtype = x.dtype or (eps.dtype if eps.kind in ("tensor", "array") else None) or "float32"
        if (
            not eps.exact
            or not vanishes(eps.lo, dtype)
            or x.positive
            or x.kind == "number"
            or not here.numeric(x)
        ):
            continue
        if here.hidden(site):
            return
        inside = any(node is guard.node for node in ast.walk(site.node))
        text = number_text(eps.lo).replace("e-0", "e-")
        yield here.finding(
            site,
            param,
            f"{text} is 0 in {dtype}, so this guard has no effect: at 0 the result is not finite",
            Certainty.MAY,
            larger(site, guard, eps_param, x, here),
            node=guard.node if inside else None,
            covers=[site.node],
        )
        return


def epsilons(guard: Site) -> list[tuple[str, Value]]:
    """(parameter of an epsilon, the value it guards)."""
    if guard.op.name in traits.FLOORS:
        return [("y", guard.value("x")), ("x", guard.value("y"))]
    return [("clip_value_min", guard.value("x"))] if guard.op.name == "tf.clip_by_value" else []


def larger(site: Site, guard: Site, param: str, x: Value, here: Context) -> list:
    node = guard.args.get(param)
    if node is None or guard.source is not here.source:
        return []
    use = GUARDS[site.op.name]
    eps = repairs.floor_of(x, here.setup.epsilon) if use == "floor" else here.epsilon(x, use)
    return here.rewrite(
        guard,
        eps,
        node=node,
        title=f"use {eps}, which {x.dtype or 'float32'} can represent",
        claim=Claim.SHIFTED,
        cost=f"values change by up to {eps}",
    )


# Layers and functions that have an epsilon of their own


def normalized(site: Site, here: Context) -> Iterator[Finding]:
    eps = site.const("epsilon", 1e-12)
    dtype = site.value("x").dtype
    if (
        dtype != "float16"
        or not isinstance(eps, float)
        or not vanishes(eps, dtype)
        or site.value("x").positive
    ):
        return
    fixes = here.with_argument(
        site,
        "epsilon",
        "1e-2",
        title="use 1e-2, which float16 can represent",
        claim=Claim.SHIFTED,
        cost="rows shorter than 0.1 are no longer scaled to length 1",
    )
    yield here.finding(
        site,
        "x",
        f"the epsilon of l2_normalize, {number_text(eps)}, is 0 in float16: a row of zeros becomes NaN",
        Certainty.MAY,
        fixes,
    )


def without(site: Site, param: str, here: Context) -> Iterator[Finding]:
    if (
        site.const(param) not in (0, 0.0)
        or isinstance(site.const(param), bool)
        or site.const(param) is None
    ):
        return
    fixes = here.with_argument(
        site,
        param,
        "1e-3",
        title="use 1e-3, the default of Keras",
        claim=Claim.SHIFTED,
        cost="normalised values change by up to 0.05 %",
    )
    yield here.finding(
        site,
        None,
        "normalisation without an epsilon: the variance of a constant row or column is 0, and "
        "the result is NaN",
        Certainty.MAY,
        fixes,
    )


# Keras in float16


def optimizer(site: Site, here: Context) -> Iterator[Finding]:
    eps = site.const("epsilon", OPTIMIZERS[site.op.name])
    by_graph = site.op.name.startswith("tf.train.")
    trains_halves = here.makes_variables("float16") if by_graph else here.policy() == "float16"
    if not isinstance(eps, float) or not 0 < eps < 1e-5 or not trains_halves:
        return
    gone = rounded(eps, "float16") == 0
    if not gone and site.op.name not in STEPS:
        return
    what = (
        "is 0 in float16: a weight becomes NaN where its gradient is 0"
        if gone
        else "is too small for float16: a gradient near 0 makes a step of about 10"
    )
    fixes = here.with_argument(
        site,
        "epsilon",
        "1e-4",
        title="use epsilon=1e-4",
        claim=Claim.SHIFTED,
        cost="steps for gradients of less than about 1e-4 get smaller",
    )
    yield here.finding(
        site, None, f"the optimizer's epsilon {number_text(eps)} {what}", Certainty.MAY, fixes
    )


def float_type(site: Site, here: Context) -> Iterator[Finding]:
    if site.const("floatx") != "float16" or here.calls("set_epsilon"):
        return
    fixes = here.restate(
        site,
        "{call}\nK.set_epsilon(1e-3)",
        call=site.node,
        title="set the epsilon of Keras to 1e-3",
        claim=Claim.SHIFTED,
        cost="every result that uses the epsilon of Keras changes by up to 1e-3",
    )
    yield here.finding(
        site,
        None,
        "the epsilon of Keras stays 1e-7, which is too small for float16: 1 - 1e-7 is 1, and the binary "
        "cross-entropy is infinite there",
        Certainty.MAY,
        fixes,
        doubtful=here.tests,
    )
