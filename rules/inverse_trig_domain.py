"""Inverse trigonometric function at or beyond the edge of its domain.

`tf.acos` and `tf.asin` are NaN beyond +-1, and at +-1, where the value is fine, their derivative is
infinite. The cosine of two equal unit vectors is 1, or 1.0000001 after rounding: both occur.
`tf.atanh`, `tf.math.erfinv` and `tf.math.ndtri` are infinite at the edge itself, `tf.acosh` has an
infinite derivative at 1.

See it:
    >>> float(tf.acos(1.0000001))
    nan

Bad:
    angle = tf.acos(tf.clip_by_value(cosine, -1.0, 1.0))

Good:
    angle = tf.acos(tf.clip_by_value(cosine, -1.0 + 1e-7, 1.0 - 1e-7))

A clip to exactly [-1, 1] keeps the value and leaves the gradient infinite; the margin has to
survive the dtype: 1e-7 in float32, 1e-3 in float16 (`1 - 1e-8` is 1 in float32). For the angle
between two vectors, `tf.atan2(norm(cross), dot)` has a finite gradient everywhere except at zero
vectors.

Often harmless: an argument such as `2 * p - 1` when `p` is tested on one side only, because the
test says nothing about the other edge; and an angle between attributes of an object, such as the
normals of a scene, if nothing shows that a gradient is taken.

See also: https://www.tensorflow.org/api_docs/python/tf/math/acos
https://github.com/davidsandberg/facenet/issues/692 (arccos of 1.0000001)
"""

import math
from dataclasses import dataclass

from tfnanlint.api import (
    INF,
    NEAREST,
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    angles,
    domain,
    evidence,
    looks_for_nan,
    named_safe,
    repairs,
    rounded,
    rule,
    truth_only,
    value_in_words,
)

CUT = ("tf.acos", "tf.asin")
FINITE_AT_THE_EDGE = (*CUT, "tf.acosh")
NAMES = {
    "tf.math.erfinv": "inverse error function",
    "tf.math.erfcinv": "inverse error function",
    "tf.math.ndtri": "normal quantile",
}


@rule(
    "TFN105",
    "inverse-trig-domain",
    on="tf.asin tf.acos tf.atanh tf.acosh tf.math.erfinv tf.math.erfcinv tf.math.ndtri",
    silent="MAY/NO/DOUBTFUL MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    fixes="floor margin clip",
)
def check(inverse: Site, here: Context) -> Iterator[Finding]:
    x, where = inverse.value("x"), domain(inverse, "x")
    if (
        where is None
        or not here.numeric(x)
        or x.kind == "number"
        or where.holds(x)
        or here.hidden(inverse)
        or angles.is_shorter_leg(x)
    ):
        return
    outside = x.lo < where.lo or x.hi > where.hi
    stopped = (
        inverse.differentiated is Differentiated.NO
        or here.made_by(x, "tf.stop_gradient") is not None
        or truth_only(x, inverse.point)
    )
    if not outside and inverse.op.name in FINITE_AT_THE_EDGE and stopped:
        return
    certainty = (
        Certainty.UNKNOWN
        if angles.is_magnitude_of_unknown(x)
        else here.grade(x, surely=where.fails(x))
    )
    trained = inverse.differentiated is Differentiated.YES
    asked = not trained and looks_for_nan(here.around(inverse.node))
    if certainty is not Certainty.MUST and (asked or named_safe(inverse, "x")):
        return
    at_rest = (
        not outside
        and inverse.op.name in FINITE_AT_THE_EDGE
        and inverse.differentiated is Differentiated.UNKNOWN
        and evidence.held(x)
    )
    name = NAMES.get(inverse.op.name, inverse.op.name.rpartition(".")[2])
    edge = "the gradient is Inf" if inverse.op.name in FINITE_AT_THE_EDGE else "the result is Inf"
    what = value_in_words(x)
    yield here.finding(
        inverse,
        "x",
        f"{name} of {what}: at {limits(where.lo, where.hi)} {edge}"
        + (", beyond it NaN" if outside else ""),
        certainty,
        fixes(inverse, where.lo, where.hi, here),
        doubtful=angles.is_tested_on_one_side(x) or at_rest,
        kind="" if trained else "edge",
    )


def limits(lo: float, hi: float) -> str:
    return "1" if lo == 1 else f"{lo:g} and {hi:g}"


def fixes(inverse: Site, lo: float, hi: float, here: Context) -> list[Fix]:
    x, value = inverse.args.get("x"), inverse.value("x")
    if x is None:
        return []
    place, target = inverse, x
    inside = here.made_by(value, "tf.clip_by_value")
    if inside is not None and exact(inside, lo, hi):
        if inside.node is not x and here.visible(inside, inverse):
            if not here.only_reader(inverse, inside):
                here.no_fix = "the argument is clipped already, and read elsewhere, too"
                return []
            place, target = inside, inside.node
        if target is inside.node:
            x, value = inside.args["x"], inside.value("x")
    if inverse.differentiated is Differentiated.NO and inverse.op.name in FINITE_AT_THE_EDGE:
        template = bounded(value, Bound(lo, f"{lo:.1f}"), Bound(hi, f"{hi:.1f}"))
        return here.rewrite(
            place,
            template,
            node=target,
            x=x,
            title="clip to the domain",
            claim=Claim.EQUAL_WHERE_FINITE,
        )
    precision = here.precision(value)
    margin = (
        NEAREST[precision.dtype]
        if inverse.op.name in FINITE_AT_THE_EDGE
        else here.epsilon(value, "margin")
    )
    low = margin if lo == 0 else f"{lo:.1f} + {margin}"
    high = f"{hi:.1f} - {margin if hi < 2 else '2e-7'}"
    return here.rewrite(
        place,
        bounded(value, Bound(lo, low), Bound(hi, high)),
        node=target,
        x=x,
        claim=Claim.SHIFTED,
        cost=cost(inverse, margin, precision.dtype),
        title=f"keep the argument {margin} above 1"
        if hi == INF
        else f"clip with a margin of {margin}",
    )


@dataclass(frozen=True)
class Bound:
    """An edge of a domain, and the text of the number at which an argument is kept from it."""

    edge: float
    text: str


def bounded(x: Value, low: Bound, high: Bound) -> str:
    """A template for `{x}` kept between two bounds; only one of them where the other edge is not
    reached.
    """
    if high.edge == INF or x.known and x.hi < high.edge:
        return f"tf.maximum({{x}}, {low.text})"
    if x.known and x.lo > low.edge:
        return f"tf.minimum({{x}}, {high.text})"
    return f"tf.clip_by_value({{x}}, {low.text}, {high.text})"


def cost(inverse: Site, margin: str, dtype: str) -> str:
    """What a margin costs: by how much an angle next to the edge moves."""
    if inverse.op.name not in CUT:
        return f"arguments beyond the margin change by {margin} and get no gradient"
    angle = repairs.one_digit(math.acos(rounded(1 - float(margin), dtype)))
    return (
        f"results closer than {angle} to the result at the edge stop at that distance and get "
        "no gradient"
    )


def exact(clip: Site, lo: float, hi: float) -> bool:
    """Whether a clip is to the edges of the domain themselves."""
    low, high = clip.value("clip_value_min"), clip.value("clip_value_max")
    return clip.complete and low.exact and high.exact and low.lo == lo and high.lo == hi
