"""A clip after log, division or root: the value is clipped, the gradient is not.

`tf.maximum(tf.math.log(x), -100.)` is -100 at x = 0, but its gradient is 0 (of the clip) times
infinity (of the logarithm): NaN. Where the clip acts and x is slightly above 0, the gradient is 0,
so that a clipped element never learns. The same holds for `tf.clip_by_value`, `tf.minimum` and relu
after log, `1 / x`, rsqrt or reciprocal.

See it:
    >>> x = tf.constant(0.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.maximum(tf.math.log(x), -100.0)
    >>> float(tape.gradient(y, x))
    nan

Bad:
    logits = tf.clip_by_value(tf.math.log(weights), -15., 15.)

Good:
    logits = tf.clip_by_value(tf.math.log(tf.maximum(weights, 1e-7)), -15., 15.)

Often harmless: a clip of a quotient or reciprocal. A clip of a logarithm shows that its input comes
close to 0; a clip of a quotient may be there because of its dividend. The ratio of two
probabilities or densities is always reported, because its divisor underflows.

Put the guard on the input, so that the operation never sees the bad value. The outer clip may stay.

Seen in the wild: https://github.com/keras-team/keras/issues/23075 (minimum(rsqrt(s), 1 / eps) at a
vector of zeros), https://github.com/tensorflow/tensorflow/issues/22048 (the gradient of
clip_by_norm of zeros, fixed since)
"""

from __future__ import annotations

import math

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Masked,
    Site,
    clipped,
    densities,
    least_result,
    quotients,
    repairs,
    roots_in,
    rule,
    traits,
)

LOGARITHMS = {"tf.math.log": math.e, "tf.math.log1p": math.e, "ops.log2": 2.0, "ops.log10": 10.0}
NAMES = {
    "tf.divide": "division",
    "tf.math.reciprocal": "reciprocal",
    "tf.math.rsqrt": "reciprocal square root",
}
LEAST = {"float16": 1e-4, "bfloat16": 1e-37}  # floors below lose their meaning in the dtype


@rule(
    "TFN206",
    "clip-after-singularity",
    on="tf.clip_by_value tf.maximum tf.minimum tf.nn.relu tf.nn.relu6",
    over="TFN101 TFN102 TFN103 TFN201 TFN202 TFN203 TFN405",
    silent="MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    fixes="floor epsilon_inside",
)
def check(clip: Site, here: Context) -> Iterator[Finding]:
    hidden = clipped(clip, here.interpreter)
    if not hidden or clip.differentiated is Differentiated.NO:
        return
    for masked in hidden:
        site = masked.site
        value = site.value(masked.param)
        if (
            masked.cut
            or not here.numeric(value)
            or value.kind == "number"
            or site.gradient(clip) is Differentiated.NO
            or not wanted(masked, here)
        ):
            continue
        local = site.source is here.source
        inner = [root.node for root in roots_in(value) if local and root.source is here.source]
        yield here.finding(
            site,
            masked.param,
            message(masked, here),
            Certainty.MAY,
            repair(masked, here) if local else [],
            node=None if local else clip.node,
            covers=inner,
            doubtful=is_doubtful(site) or here.has_no_path(clip),
            as_of=clip,
        )


def is_doubtful(site: Site) -> bool:
    """Whether a clip says little of the input of what it is around."""
    return site.op.name not in LOGARITHMS and not densities.is_ratio(site)


def wanted(masked: Masked, here: Context) -> bool:
    """A clip of a logarithm below shows that its input comes close to 0; a quotient needs evidence
    of its own.
    """
    site, clip = masked.site, masked.choice
    value = site.value(masked.param)
    if site.op.name in LOGARITHMS:
        return value.known or clip.op.name in traits.BOUNDS
    ratio = densities.is_ratio(site)
    if not ratio and site.op.name == "tf.divide" and not site.value("x").nonzero:
        return False  # 0 / 0 is NaN, which no clip hides: TFN102
    if ratio and clip.op.name in traits.ONE_SIDED_BOUNDS and not bounds_by_number(clip):
        return False  # the smaller one of two ratios
    return (value.known or ratio) and clip.differentiated is Differentiated.YES


def bounds_by_number(clip: Site) -> bool:
    """Whether an operand of a maximum or minimum is a number."""
    return any(clip.value(param).kind == "number" for param in ("x", "y"))


def message(masked: Masked, here: Context) -> str:
    site, clip = masked.site, masked.choice
    name = here.text(clip.node.func)
    same_line = clip.node.lineno == site.node.lineno
    where = "around it" if same_line else f"on {here.line(clip.node)}"
    edge = {"0 or below": "0", "-1 or below": "-1"}.get(
        masked.domain.outside, masked.domain.outside
    )
    what = "logarithm" if site.op.name in LOGARITHMS else NAMES[site.op.name]
    return (
        f"'{name}' {where} clips this {what}, not its gradient, which is NaN where the input "
        f"is {edge}"
    )


def repair(masked: Masked, here: Context) -> list[Fix]:
    """A floor under the input, low enough for the clip to give the same values as before."""
    site = masked.site
    x = site.args.get(masked.param)
    value = site.value(masked.param)
    if x is None:
        return []
    inside = roots_in(value)
    if inside and site.op.name in LOGARITHMS and here.precision(value).dtype == "float16":
        # what float16 can add under the root leaves the derivative of its logarithm infinite
        return []
    if inside:
        return repairs.under_the_root(here, inside)
    if densities.is_ratio(site):
        return []  # a floor would be above most of its divisors
    if site.op.name in LOGARITHMS:
        floor, exact = logarithm_floor(masked, here)
    elif value.nonnegative:
        floor, exact = quotients.least(here, site, masked.param), False
    else:
        return []
    if not floor:
        return []
    bound = floor if site.op.name != "tf.math.log1p" else f"-1 + {floor}"
    return here.rewrite(
        site,
        f"tf.maximum({{x}}, {bound})",
        node=x,
        x=x,
        title=f"keep the input at or above {bound}",
        claim=Claim.EQUAL_WHERE_FINITE if exact else Claim.SHIFTED,
        cost="" if exact else f"inputs below {bound} become {bound}",
    )


def logarithm_floor(masked: Masked, here: Context) -> tuple[str, bool]:
    """A power of ten whose logarithm the clip cuts off anyway, if there is one; whether it
    is so.
    """
    site = masked.site
    value = site.value(masked.param)
    limit, of_sum = least_result(masked), site.op.name == "tf.math.log1p"
    margin = repairs.beside_one(here, value)
    if limit is None:
        return margin if of_sum else repairs.floor_of(value, here.setup.epsilon), False
    least = float(margin) if of_sum else LEAST.get(value.dtype or "", 1e-37)
    base = LOGARITHMS[site.op.name]
    highest = base**limit if limit * math.log(base) > -745 else 0.0
    if highest < least:
        return f"{least:.0e}".replace("e-0", "e-"), False
    power = min(math.floor(math.log10(highest)), -1)
    return "0.1" if power == -1 else f"1e{power}", True
