"""A mask multiplied with something infinite: 0 * inf is NaN.

`mask * tf.math.log(x)` is NaN wherever the mask is 0 and x is 0, and so is the entropy
`p * tf.math.log(p)` of a certain prediction. Multiplying by 0 removes finite numbers, not
infinities. `tf.math.multiply_no_nan(tf.math.log(p), p)` repairs the value only; its gradient is
still NaN.

See it:
    >>> (tf.constant([1.0, 0.0]) * tf.math.log([1.0, 0.0])).numpy()
    array([ 0., nan], dtype=float32)

Bad:
    p = tf.clip_by_value(p, 0.0, 1.0)
    entropy = -tf.reduce_sum(p * tf.math.log(p), axis=-1)

Good:
    p = tf.clip_by_value(p, 0.0, 1.0)
    entropy = -tf.reduce_sum(tf.math.xlogy(p, p), axis=-1)

`tf.math.xlogy(m, x)` is `m * log(x)`, and 0 with a finite gradient where m is 0. Where m and x are
independent (labels and probabilities), x = 0 still gives an infinite result at m = 1: keep x away
from 0, `m * tf.math.log(tf.maximum(x, 1e-37))`, or use a loss on logits. For other functions mask
the input: `mask * tf.sqrt(tf.where(keep, x, tf.ones_like(x)))`.

Often harmless: every product except `p * tf.math.log(p)` of a `p` between 0 and 1. That product is
NaN as soon as a softmax reaches 0, with or without a gradient.

See also: https://www.tensorflow.org/api_docs/python/tf/math/xlogy

Seen in the wild:
https://stackoverflow.com/questions/33712178 (0 * log(0) in a cross-entropy),
https://stackoverflow.com/questions/39487825 (the same, on MNIST)
"""

from __future__ import annotations

from tfnanlint.api import (
    Certainty,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Masked,
    Site,
    Value,
    ast,
    divisors,
    domains,
    masked_factors,
    masked_products,
    plain,
    repairs,
    rule,
    traits,
)


@rule(
    "TFN207",
    "mask-times-infinity",
    over="TFN101 TFN102 TFN201 TFN202 TFN203 TFN405",
    silent="MAY/ANY/TESTS MAY/UNKNOWN/DOUBTFUL",
    on="tf.math.log tf.math.log1p ops.log2 ops.log10 tf.divide tf.math.reciprocal tf.sqrt "
    "tf.math.multiply_no_nan",
    fixes="xlogy mask_input log_factors floor",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name == "tf.math.multiply_no_nan":
        yield from silenced(site, here)
        return
    if all(where.holds(site.value(param)) for param, where in domains(site)):
        return
    for times, param, negated in here.masks.factors(site, site.op.name not in traits.LOGARITHMS):
        if not here.numeric(site.value(site.op.main)):  # asked last: most sites are no factors
            return
        factor = "y" if param == "x" else "x"
        related = next(
            (m for m in here.masks.behind(times) if m.site.node is site.node and not m.cut), None
        )
        if site.op.name not in traits.LOGARITHMS and related is not None:
            yield other_op(related, site, here)
            return
        certainty = grade(site, times.value(factor), related, here)
        if certainty is not None:
            yield here.finding(
                site,
                site.op.main,
                message(site),
                certainty,
                repair(times, factor, site, negated, related is not None, here),
                doubtful=not masked_factors.is_entropy_term(site, times.value(factor))
                or here.masked(site) is not None
                or here.tested_for_nan(site),
                kind=divisors.weakness_of_size(site.value(site.op.main)),
            )
            return


def silenced(times: Site, here: Context) -> Iterator[Finding]:
    """multiply_no_nan(log(p), p): the value is 0, the gradient is not."""
    log = here.made_by(times.value("x"), *traits.LOGARITHMS)
    if times.differentiated is Differentiated.NO or log is None or log.source is not here.source:
        return
    if all(where.holds(log.value(param)) for param, where in domains(log)) or log.library in (
        "np",
        "math",
    ):
        return
    yield here.finding(
        log,
        "x",
        f"multiply_no_nan replaces the value where the input of the logarithm is {edge_of(log)}, "
        "but the gradient is NaN there",
        Certainty.MAY,
        masked_products.xlogy(here, times, "y", log),
        doubtful=True,
        as_of=times,
    )


def grade(site: Site, mask: Value, related: Masked | None, here: Context) -> Certainty | None:
    """How sure it is that the mask is 0 where the logarithm is infinite; None where it is not to be
    reported.
    """
    x = site.value("x")
    # the logarithm of a probability has a form of its own: TFN301, TFN302
    if site.op.name not in traits.LOGARITHMS or here.made_by(x, *traits.PROBABILITIES) is not None:
        return None
    if not masked_factors.may_vanish_with(site, mask, related is not None):
        return None
    return Certainty.MAY if x.known or related is not None else Certainty.UNKNOWN


def edge_of(log: Site) -> str:
    return "-1" if log.op.name == "tf.math.log1p" else "0"


def message(log: Site) -> str:
    return (
        f"a product does not mask this logarithm: where its input is {edge_of(log)}, 0 * inf is NaN"
    )


def repair(
    times: Site, factor: str, log: Site, negated: bool, related: bool, here: Context
) -> list[Fix]:
    """xlogy where the factor is 0 wherever the logarithm is infinite; a floor under the input."""
    if "x" not in log.args:
        return []
    fixes = []
    if related or here.same(plain(times.value(factor)), plain(log.value("x"))):
        fixes = masked_products.xlogy(here, times, factor, log, negated)
    if fixes or log.op.name == "tf.math.log1p":
        return fixes
    return repairs.logarithm(here, log)


def other_op(masked: Masked, site: Site, here: Context) -> Finding:
    """A division or root under a mask that keeps it where it exists."""
    xla = site.op.masked == "xla" and site.op.name == "tf.sqrt"
    text = (
        f"the product on {here.line(masked.choice.node)} does not mask this value: where the "
        f"input is {masked.domain.outside}, 0 * inf is NaN"
    )
    if xla:
        text = (
            "a product masks the value but not the gradient: under XLA the gradient is NaN "
            f"(0 * inf) where the input is {masked.domain.outside}"
        )
    fixes = masked_products.masked_input(here, masked)
    return here.finding(
        site,
        masked.param,
        text,
        Certainty.MAY,
        fixes,
        modes=("xla",) if xla else ("eager", "graph", "xla"),
        covers=[] if fixes or here.draft else roots_inside(site, here),
    )


def roots_inside(site: Site, here: Context) -> list[ast.AST]:
    """The roots in the text of a site: repaired alone, they would hide that the product is NaN."""
    calls = [node for node in ast.walk(site.node) if isinstance(node, ast.Call)]
    inside = [here.site(node, site.point) for node in calls if site.point is not None]
    return [one.node for one in inside if one is not None and one.op.name in traits.ROOTS]
