"""An epsilon that is 0 in the dtype in use, or none at all.

The smallest float16 number is 6e-8: `x + 1e-8` is `x`, and `tf.maximum(x, 1e-8)` lets 0 through, so
that the logarithm, root or division that follows is infinite. `tf.math.l2_normalize` has 1e-12 by
default, which is 0 in float16 too: a row of zeros becomes NaN. In float32 the same holds below
1.2e-38 (`1e-45`, `1e-40`): smaller numbers are flushed to 0. A normalisation layer with `epsilon=0`
divides by a variance that is 0 for a constant row, and so does `tf.nn.batch_normalization` in
float16 with `variance_epsilon=1e-12`.

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
    Certainty,
    Context,
    Finding,
    Iterator,
    Site,
    ast,
    frameworks,
    lost_epsilon_repairs,
    lost_epsilons,
    number_text,
    rounded,
    rule,
    traits,
)

NORMALIZATIONS = {
    "tf.nn.batch_normalization": "variance_epsilon",
    "ops.batch_normalization": "epsilon",
    "K.batch_normalization": "epsilon",
    "keras.layers.BatchNormalization": "epsilon",
    "keras.layers.LayerNormalization": "epsilon",
    "keras.layers.GroupNormalization": "epsilon",
}
# those that compute in the dtype of their input; the others compute float16 in float32
IN_OWN_DTYPE = {
    "tf.nn.batch_normalization": "variance",
    "ops.batch_normalization": "variance",
    "K.batch_normalization": "var",
}


@rule(
    "TFN403",
    "epsilon-vanishes",
    over="TFN101 TFN102 TFN103 TFN202",
    silent="MAY/ANY/DOUBTFUL",
    needs="0.0) float16 half e-4 e-39 epsilon=0",
    on=" ".join(
        (
            *traits.GUARDED,
            *NORMALIZATIONS,
            *frameworks.OPTIMIZER_EPSILONS,
            "tf.math.l2_normalize",
            "K.set_floatx",
        )
    ),
    fixes="representable epsilon",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    name = site.op.name
    if name in traits.GUARDED:
        yield from guarded(site, traits.GUARDED[name], here)
    elif name in NORMALIZATIONS:
        yield from without(site, NORMALIZATIONS[name], here)
    elif name in frameworks.OPTIMIZER_EPSILONS:
        yield from optimizer(site, here)
    elif name == "tf.math.l2_normalize":
        yield from normalized(site, here)
    else:
        yield from float_type(site, here)


def guarded(site: Site, param: str, here: Context) -> Iterator[Finding]:
    """An epsilon in the input of an op: x + 1e-8, maximum(x, 1e-8), clip_by_value(x, 1e-8, 1)."""
    guard = lost_epsilons.guard_of(site, param)
    lost = lost_epsilons.lost_in(guard) if guard is not None else []
    lost = [(eps_param, x, dtype) for eps_param, x, dtype in lost if here.numeric(x)]
    if guard is None or not lost or here.hidden(site):
        return
    eps_param, x, dtype = lost[0]
    text = number_text(guard.value(eps_param).lo).replace("e-0", "e-")
    inside = any(node is guard.node for node in ast.walk(site.node))
    yield here.finding(
        site,
        param,
        f"{text} is 0 in {dtype}, so this guard has no effect: at 0 the result is not finite",
        Certainty.MAY,
        lost_epsilon_repairs.larger(here, site, guard, eps_param, x),
        node=guard.node if inside else None,
        covers=[site.node],
    )


def normalized(site: Site, here: Context) -> Iterator[Finding]:
    eps, x = site.const("epsilon", 1e-12), site.value("x")
    if x.dtype != "float16" or x.positive or not isinstance(eps, float):
        return
    if not lost_epsilons.vanishes(eps, x.dtype):
        return
    yield here.finding(
        site,
        "x",
        f"the epsilon of l2_normalize, {number_text(eps)}, is 0 in float16: a row of zeros becomes "
        "NaN",
        Certainty.MAY,
        lost_epsilon_repairs.of_length(here, site),
    )


def without(site: Site, param: str, here: Context) -> Iterator[Finding]:
    eps = site.const(param)
    # the application of a layer that was made elsewhere
    if site.library == "layer" or type(eps) not in (int, float):
        return
    missing = "without an epsilon" if eps == 0 else lost_beside_variance(site, eps)
    if not missing:
        return
    yield here.finding(
        site,
        None,
        f"normalisation {missing}: the variance of a constant row or column is 0, and the result "
        "is NaN",
        Certainty.MAY,
        lost_epsilon_repairs.of_normalization(here, site, param),
    )


def lost_beside_variance(site: Site, eps: float) -> str:
    """How an epsilon is 0 in the dtype of the variance to which it is added; "" where it is not, or
    the variance is not 0.
    """
    if site.op.name not in IN_OWN_DTYPE:
        return ""
    variance = site.value(IN_OWN_DTYPE[site.op.name])
    dtype = variance.dtype or site.value("x").dtype or "float32"
    if variance.positive or not lost_epsilons.vanishes(eps, dtype):
        return ""
    return f"with an epsilon of {number_text(eps)}, which is 0 in {dtype}"


def optimizer(site: Site, here: Context) -> Iterator[Finding]:
    """An optimizer of variables in float16."""
    eps = site.const("epsilon", frameworks.OPTIMIZER_EPSILONS[site.op.name])
    by_graph = site.op.name.startswith("tf.train.")
    trains_halves = here.makes_variables("float16") if by_graph else here.policy() == "float16"
    if not isinstance(eps, float) or not 0 < eps < 1e-5 or not trains_halves:
        return
    gone = rounded(eps, "float16") == 0
    if not gone and site.op.name not in frameworks.MOMENT_RATIO_OPTIMIZERS:
        return
    what = (
        "is 0 in float16: a weight becomes NaN where its gradient is 0"
        if gone
        else "is too small for float16: a gradient near 0 makes a step of about 10"
    )
    yield here.finding(
        site,
        None,
        f"the optimizer's epsilon {number_text(eps)} {what}",
        Certainty.MAY,
        lost_epsilon_repairs.of_optimizer(here, site),
    )


def float_type(site: Site, here: Context) -> Iterator[Finding]:
    if site.const("floatx") != "float16" or here.calls("set_epsilon"):
        return
    yield here.finding(
        site,
        None,
        "the epsilon of Keras stays 1e-7, which is too small for float16: 1 - 1e-7 is 1, and the "
        "binary cross-entropy is infinite there",
        Certainty.MAY,
        lost_epsilon_repairs.of_keras(here, site),
        doubtful=here.tests,
    )
