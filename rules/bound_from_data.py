"""A clip whose bound is the maximum or minimum of the clipped values themselves.

`tf.clip_by_value(y, 1e-8, tf.reduce_max(y))` equals `tf.maximum(y, 1e-8)` in value and gradient:
the upper bound has no effect and costs a reduction. The floor makes the logarithm finite, but its
gradient is exactly 0 below the floor: the loss looks repaired while a saturated wrong output learns
nothing. Nothing is reported where no gradient is taken (lengths, initial values), because there the
floor is enough. A lower bound of `tf.reduce_min(y)` has no effect either.

See it:
    >>> y = tf.constant([1.0, 1e-12])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(y)
    ...     loss = -tf.math.log(tf.clip_by_value(y, 1e-8, tf.reduce_max(y)))[1]
    >>> tape.gradient(loss, y).numpy()
    array([0., 0.], dtype=float32)

Repair: `remove_bound` | the bound has no effect and costs a reduction | the same result without the
reduction |

Bad:
    p = tf.clip_by_value(y, 1e-8, tf.reduce_max(y))

Good:
    p = tf.maximum(y, 1e-8)

Where `y` is a softmax or sigmoid of visible logits, compute the loss from the logits instead
(TFN303): its gradient stays alive.

See also: https://www.tensorflow.org/api_docs/python/tf/clip_by_value

Seen in the wild: https://e-com-net.com/article/1297566236749668352.htm (clipped to reduce_max: no
NaN, and nothing learned; in Chinese)
"""

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Iterator,
    Site,
    Value,
    probability,
    rule,
    traits,
)


@rule(
    "TFN401", "bound-from-data", on="tf.clip_by_value tf.minimum tf.maximum", fixes="remove_bound"
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name == "tf.clip_by_value":
        yield from clipped(site, here)
    else:
        yield from limited(site, here)


def clipped(clip: Site, here: Context) -> Iterator[Finding]:
    if not (
        clip.may_be_made_by("clip_value_min", "tf.reduce_min")
        or clip.may_be_made_by("clip_value_max", "tf.reduce_max")
    ):
        return
    y = clip.value("x")
    if own(clip.value("clip_value_min"), y, "tf.reduce_min", here) and own(
        clip.value("clip_value_max"), y, "tf.reduce_max", here
    ):
        fixes = here.rewrite(
            clip,
            "{y}",
            title="remove the bounds, which have no effect",
            claim=Claim.EQUAL,
            y=clip.args["x"],
        )
        yield here.finding(
            clip,
            "x",
            "the bounds are the minimum and maximum of the clipped values, so they have no effect",
            Certainty.MUST,
            fixes,
        )
    elif own(clip.value("clip_value_min"), y, "tf.reduce_min", here):
        yield here.finding(
            clip,
            "x",
            "the lower bound is the minimum of the clipped values, so it has no effect",
            Certainty.MUST,
        )
    # with 0 it is a relu
    elif (
        clip.const("clip_value_min") != 0
        and own(clip.value("clip_value_max"), y, "tf.reduce_max", here)
        and clip.differentiated is not Differentiated.NO
    ):
        fixes = here.rewrite(
            clip,
            "tf.maximum({y}, {low})",
            title="remove the upper bound, which has no effect",
            claim=Claim.EQUAL,
            y=clip.args["x"],
            low=clip.args.get("clip_value_min"),
        )
        yield here.finding(
            clip,
            "x",
            "the upper bound is the largest value: no effect; below the lower one the gradient "
            "is 0",
            Certainty.MUST,
            fixes,
            help=better(y).removeprefix("; "),
        )


def limited(site: Site, here: Context) -> Iterator[Finding]:
    """minimum(y, reduce_max(y)) and maximum(y, reduce_min(y)) are y."""
    reduction = "tf.reduce_max" if site.op.name == "tf.minimum" else "tf.reduce_min"
    for param, bound in (("x", "y"), ("y", "x")):
        if not site.given(bound) or not site.may_be_made_by(bound, reduction):
            continue
        y = site.value(param)
        if own(site.value(bound), y, reduction, here):
            fixes = here.rewrite(
                site,
                "{y}",
                title="remove the bound, which has no effect",
                claim=Claim.EQUAL,
                y=site.args[param],
            )
            side = "maximum" if reduction == "tf.reduce_max" else "minimum"
            yield here.finding(
                site,
                param,
                f"the bound is the {side} of the values themselves, so it has no effect{better(y)}",
                Certainty.MUST,
                fixes,
            )
            return


def own(bound: Value, y: Value, reduction: str, here: Context) -> bool:
    """Whether a bound is the extreme of `y` itself: over everything, or over an axis
    that is kept.
    """
    extreme = here.made_by(bound, reduction)
    if (
        extreme is None
        or not extreme.complete
        or not here.same(bare(extreme.value("x"), here), bare(y, here))
    ):
        return False
    return not extreme.given("axis") or extreme.const("keepdims") is True


def bare(y: Value, here: Context) -> Value:
    """A value without bounds of its own."""
    site = y.origin
    if not isinstance(site, Site) or site.op.name not in traits.ONE_SIDED_BOUNDS:
        return y
    reduction = "tf.reduce_max" if site.op.name == "tf.minimum" else "tf.reduce_min"
    for param, bound in (("x", "y"), ("y", "x")):
        extreme = here.made_by(site.value(bound), reduction)
        if extreme is not None and here.same(extreme.value("x"), site.value(param)):
            return bare(site.value(param), here)
    return y


def better(y: Value) -> str:
    prob = probability(y)
    if prob is None:
        return ""
    loss = "softmax" if prob.producer.op.name == "tf.nn.softmax" else "sigmoid"
    return f"; {loss}_cross_entropy_with_logits has a gradient there"
