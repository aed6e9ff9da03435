"""A mask multiplied with something infinite: 0 * inf is NaN.

`mask * tf.math.log(x)` is NaN wherever the mask is 0 and x is 0, and so is the entropy `p * tf.math.log(p)` of a certain
prediction. A product removes numbers, not infinities. `tf.math.multiply_no_nan(tf.math.log(p), p)` repairs the value only;
its gradient is still NaN.

Bad:
    entropy = -tf.reduce_sum(p * tf.math.log(p), axis=-1)

Good:
    entropy = -tf.reduce_sum(tf.math.xlogy(p, p), axis=-1)

`tf.math.xlogy(m, x)` is `m * log(x)`, and 0 with a finite gradient where m is 0. Where m says nothing about x (labels and
probabilities), x = 0 remains infinite at m = 1: keep it away from 0, `m * tf.math.log(tf.maximum(x, 1e-7))`, or take a loss
on logits. For other functions mask the input: `mask * tf.sqrt(tf.where(keep, x, tf.ones_like(x)))`.

See also: https://www.tensorflow.org/api_docs/python/tf/math/xlogy
"""

from __future__ import annotations

from tfnanlint.api import (Certainty, Claim, Context, Differentiated, Finding, Fix, Iterator, Masked, Site, Value, argument,
                           Named, domains, filler, plain, repairs, rule, words)

LOGARITHMS = {"tf.math.log": "tf.math.xlogy", "tf.math.log1p": "tf.math.xlog1py"}
STABLE = ("tf.nn.softmax", "tf.sigmoid")  # their logarithm has a form of its own: TFN301, TFN302
FLAT = frozenset(("bool", "int8", "int16", "int32", "int64", "uint8"))
INDICATORS = ("tf.one_hot", "K.one_hot", "tf.sequence_mask", "tf.sign", "tf.round", "tf.eye", "tf.zeros", "tf.ones")


@rule("TFN207", "mask-times-infinity", on="tf.multiply tf.math.multiply_no_nan", over="TFN101 TFN102 TFN202")
def check(times: Site, here: Context) -> Iterator[Finding]:
    quiet = times.op.name == "tf.math.multiply_no_nan"  # the value is 0, the gradient is not
    if quiet and times.differentiated is Differentiated.NO:
        return
    related = {masked.site: masked for masked in here.masks.behind(times) if not masked.cut} if not quiet else {}
    for param, other in (("x", "y"),) if quiet else (("x", "y"), ("y", "x")):
        mask = times.value(other)
        for site, negated in infinite(times.value(param), here):
            certainty = grade(site, mask, related.get(site), quiet, here)
            if certainty is None:
                continue
            site._differentiated = times._differentiated
            local = site.source is here.source and site.point is not None
            fixes = repairs_of(times, param, other, site, negated, related.get(site), here) if local else []
            yield here.finding(site, site.op.main, message(times, site, quiet, here), certainty, fixes,
                               modes=("xla",) if site.op.masked == "xla" else ("eager", "graph", "xla"),
                               node=None if local else times.node)
            return
    yield from others(related, here)


def infinite(value: Value, here: Context) -> Iterator[tuple[Site, bool]]:
    """The logarithm that a factor is, or the one behind a sign."""
    site = here.made_by(value, *LOGARITHMS, "ops.log2", "ops.log10")
    if site is not None:
        yield site, False
        return
    minus = here.made_by(value, "tf.negative")
    site = here.made_by(minus.value("x"), *LOGARITHMS) if minus is not None else None
    if site is not None:
        yield site, True


def grade(site: Site, mask: Value, related: Masked | None, quiet: bool, here: Context) -> Certainty | None:
    """How sure it is that the mask is 0 where the logarithm is infinite; None where it is not to be reported."""
    found = [(param, where) for param, where in domains(site) if not where.holds(site.value(param))]
    if not found or site.library in ("np", "math"):
        return None
    x = site.value(found[0][0])
    if not here.numeric(x) or here.made_by(x, *STABLE) is not None:
        return None
    if related is not None or quiet:
        return Certainty.MAY
    if here.same(plain(mask), plain(x)):
        return Certainty.MAY if x.known else Certainty.UNKNOWN
    if mask.kind == "number" or not mask.known or not mask.zero or mask.evident:
        return None
    return Certainty.MAY if x.known else Certainty.UNKNOWN


def message(times: Site, site: Site, quiet: bool, here: Context) -> str:
    x = site.value(site.op.main)
    edge = "-1" if site.op.name == "tf.math.log1p" else "0"
    if quiet:
        return f"multiply_no_nan replaces the value where the input of the logarithm is {edge}, but its gradient is NaN there"
    known = f"of a value that is {words(x)} " if x.known else ""
    return f"a factor of 0 times the logarithm {known}is NaN where that is {edge} (0 * inf): a product is no mask"


def repairs_of(times: Site, param: str, other: str, site: Site, negated: bool, related: Masked | None,
               here: Context) -> list[Fix]:
    x = site.args.get("x")
    if x is None:
        return []
    mask, quiet = times.value(other), times.op.name == "tf.math.multiply_no_nan"
    found = []
    same = here.same(plain(mask), plain(site.value("x")))
    if site.op.name in LOGARITHMS and (same or related is not None or quiet and indicator(mask, here)):
        form = ("-" if negated else "") + LOGARITHMS[site.op.name] + "({m}, {x})"
        found += here.rewrite(times, form, title=f"use {LOGARITHMS[site.op.name].rpartition('.')[2]}, which is 0 where the "
                              "factor is 0", claim=Claim.EQUAL_WHERE_FINITE, m=times.args[other], x=argument(site, "x"))
    if not quiet:
        bound = here.epsilon(site.value("x"))
        found += here.rewrite(site, f"tf.maximum({{x}}, {bound})", node=x, x=x, claim=Claim.SHIFTED,
                              title=f"keep the input at or above {bound}", cost=f"inputs below {bound} become {bound}; the "
                              "gradient is 0 there") if site.op.name != "tf.math.log1p" else []
    return found


def indicator(value: Value, here: Context) -> bool:
    """Whether no gradient flows into a value: a mask or labels made from booleans or integers."""
    cast = here.made_by(value, "tf.cast", "tf.to_float")
    return cast is not None and cast.value("x").dtype in FLAT or here.made_by(value, *INDICATORS) is not None


def others(related: dict[Site, Masked], here: Context) -> Iterator[Finding]:
    """Divisions, roots and the like under a mask that keeps them where they exist."""
    for site, masked in related.items():
        if site.op.name in LOGARITHMS or site.op.name in ("tf.exp", "tf.math.expm1") or not here.numeric(site.value(masked.param)):
            continue
        xla = site.op.masked == "xla" and site.op.name in ("tf.sqrt", "K.sqrt")
        if xla and masked.choice.differentiated is Differentiated.NO:
            continue
        site._differentiated = masked.choice._differentiated
        text = (f"the mask on line {masked.choice.node.lineno} is 0 where the input is {masked.domain.outside}, but 0 * inf is "
                "NaN: a product is no mask")
        if xla:
            text = f"a product masks the value where the input is {masked.domain.outside}, under XLA not the gradient: NaN (0 * inf)"
        local = site.source is here.source and site.point is not None
        yield here.finding(site, masked.param, text, Certainty.MAY, mask_input(masked, here) if local else [],
                           modes=("xla",) if xla else ("eager", "graph", "xla"), node=None if local else masked.choice.node)


def mask_input(masked: Masked, here: Context) -> list[Fix]:
    """The input where the mask's condition holds, something harmless elsewhere."""
    site, test = masked.site, masked.test
    x = site.args.get(masked.param)
    if x is None or not masked.direct or test.node is None:
        return []
    if not repairs.short(here, test.node, test.point) or not here.steady(test.node, test.point, site.point):
        return []
    hole = x if here.repeatable(x) else Named("inner", "{x}", {"x": x})
    return here.rewrite(site, f"tf.where({{test}}, {{x}}, {filler(site, masked.param)})", node=x, title="mask the input",
                        claim=Claim.EQUAL_WHERE_FINITE, x=hole, test=here.text(test.node))
