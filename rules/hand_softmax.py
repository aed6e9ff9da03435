"""Softmax written out: exp(x) / sum(exp(x)).

In float32 `tf.exp(x)` overflows above 88.7: the quotient is then `inf / inf`, NaN. When every
exponential of a row underflows (all below -87) it is `0 / 0`, NaN as well; an epsilon in the sum
helps against that only. `tf.nn.softmax` subtracts the largest element first and is finite for every
finite `x`.

See it:
    >>> x = tf.constant([0.0, 100.0])
    >>> (tf.exp(x) / tf.reduce_sum(tf.exp(x))).numpy()
    array([ 0., nan], dtype=float32)

Bad:
    weights = tf.exp(scores) / tf.reduce_sum(tf.exp(scores), axis=1, keepdims=True)

Good:
    weights = tf.nn.softmax(scores, axis=1)

Nothing is reported where the maximum is subtracted by hand, where the exponents are known to be
small, or where they are distances between the points of one set: the distance of a point to itself
is 0. There is no fix where the sum runs over several axes or drops the axis (`keepdims` is
missing), because the axis of the softmax is unclear. There is none either where a mask multiplies
the exponentials, because only you can say what a fully masked row should give. Mask the scores
instead: `tf.nn.softmax(tf.where(mask, scores, scores.dtype.min))`.

See also: https://www.tensorflow.org/api_docs/python/tf/nn/softmax

No public report known; included because executing it shows the problem.
"""

from tfnanlint.api import (
    NO_CONSTANT,
    Any,
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
    exponential_of,
    of_itself,
    on_a_grid,
    rule,
    shifted_by_maximum,
    tame,
    traits,
)

MASK = "mask the scores instead: tf.nn.softmax(tf.where(mask, scores, scores.dtype.min))"


@rule(
    "TFN306",
    "hand-softmax",
    on="tf.divide tf.math.divide_no_nan",
    needs="exp( exp) exp, exponential",
    over="TFN101 TFN102 TFN106",
    fixes="softmax",
)
def check(quotient: Site, here: Context) -> Iterator[Finding]:
    if not quotient.may_be_made_by("x", "tf.exp", "tf.multiply"):
        return
    total, guard, axis = denominator(quotient)
    if total is None:
        return
    exp, masked = numerator(here.widest(quotient.value("x")), here)
    if exp is None or not here.same(total.value("x"), quotient.value("x")):
        return
    x = exp.value("x")
    if (
        shifted_by_maximum(x)
        or tame(x)
        or on_a_grid(x)
        or not masked
        and x.hi <= 0
        and of_itself(x)
    ):
        return
    fixes = (
        softmax(quotient, exp, total, guard, here)
        if not masked and along_one_axis(total, axis) and exp.complete
        else []
    )
    form = "exp(x) * mask / sum(exp(x) * mask)" if masked else "exp(x) / sum(exp(x))"
    none = (
        ""
        if guard
        else ", or all of them underflow or are masked"
        if masked
        else ", or all of them underflow"
    )
    yield here.finding(
        quotient,
        "x",
        f"softmax written as {form}: the result is NaN as soon as one exponential overflows{none}",
        Certainty.MAY,
        fixes,
        covers=logarithm(quotient, here),
        help=MASK if masked else "",
    )


def numerator(value: Value, here: Context) -> tuple[Site | None, bool]:
    """(the exponential that makes a value, whether it is multiplied with something that is no
    number: a mask).
    """
    exp = exponential_of(value)
    times = here.made_by(value, "tf.multiply") if exp is None else None
    for param, other in (("x", "y"), ("y", "x")) if times is not None else ():
        inner = exponential_of(here.widest(times.value(param)))
        if inner is not None and times.value(other).kind in ("tensor", "unknown"):
            return inner, True
    return exp, False


def denominator(quotient: Site) -> tuple[Site | None, bool, int | None]:
    """(the sum that is divided by, whether an epsilon is added to it, the axis that is put in
    behind the sum).
    """
    site, axis = quotient.value("y").origin, None
    # Keras code casts it to floatx
    while isinstance(site, Site) and site.op.name in (
        "tf.cast",
        "tf.expand_dims",
        "tf.strided_slice",
    ):
        if site.op.name != "tf.cast":
            axis = inserted(site)
            if axis is None:
                return None, False, None
        site = site.value(site.op.main).origin
    if not isinstance(site, Site):
        return None, False, None
    if site.op.name == "tf.reduce_sum":
        return site, False, axis
    if site.op.name in traits.FLOORS:
        for param, other in (("x", "y"), ("y", "x")):
            inner, eps = site.value(param).origin, site.value(other)
            if (
                isinstance(inner, Site)
                and inner.op.name == "tf.reduce_sum"
                and eps.exact
                and 0 < eps.lo < 0.01
            ):
                return inner, True, axis
    return None, False, None


def inserted(site: Site) -> int | None:
    """The axis of length 1 that `tf.expand_dims(s, axis)`, `s[:, None]` or `s[..., tf.newaxis]`
    puts in, if that is all they do.
    """
    if site.given("axis"):
        axis = site.const("axis")
        return axis if type(axis) is int else None
    index = getattr(site.node, "slice", None)
    parts: list[Any] = index.elts if isinstance(index, ast.Tuple) else [index]
    new = (
        [
            at
            for at, part in enumerate(parts)
            if ast.unparse(part).rsplit(".", 1)[-1] in ("None", "newaxis")
        ]
        if index is not None
        else []
    )
    rest = (
        [ast.unparse(part) for at, part in enumerate(parts) if at not in new]
        if len(new) == 1
        else ["?"]
    )
    if any(one not in (":", "...") for one in rest):
        return None
    return new[0] - len(parts) if "..." in map(ast.unparse, parts[: new[0]]) else new[0]


def along_one_axis(total: Site, inserted: int | None) -> bool:
    """Whether dividing by the sum divides every element by the sum along one axis."""
    axis = total.const("axis", None)
    if (
        not total.complete
        or total.library == "method"
        or isinstance(axis, bool)
        or not isinstance(axis, int)
    ):
        return False
    kept = total.const("keepdims", NO_CONSTANT) is True
    return inserted is None and (axis == 0 or kept) or inserted == axis and not kept


def logarithm(quotient: Site, here: Context) -> list[ast.AST]:
    """The logarithm right around a quotient: with a softmax in its argument it is TFN301."""
    outer = next(iter(here.around(quotient.node)), None)
    if not isinstance(outer, ast.Call):
        return [quotient.node]
    log = here.site(outer, quotient.point)
    return (
        [quotient.node, outer]
        if log is not None and log.op.name == "tf.math.log"
        else [quotient.node]
    )


def softmax(quotient: Site, exp: Site, total: Site, guard: bool, here: Context) -> list[Fix]:
    return here.rewrite(
        quotient,
        "tf.nn.softmax({x}, axis={axis})",
        title="use softmax",
        x=argument(exp, "x", "scores"),
        axis=argument(total, "axis", "axis"),
        claim=Claim.SHIFTED if guard else Claim.EQUAL,
        cost="without the epsilon the weights of a row sum to exactly 1" if guard else "",
    )
