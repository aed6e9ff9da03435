"""A softmax over a row in which every entry is masked with minus infinity.

The softmax subtracts the largest logit first. When all logits of a row are `-inf`, that is
`-inf - (-inf)`, which is NaN, in the value and in the gradient of the whole batch. It happens for
padding rows, for queries that may attend to nothing, and for empty sets. Multiplying a mask with
`-inf` is worse: `0 * -inf` is NaN for exactly those entries that are not masked, whether a softmax
follows or not.

See it:
    >>> scores = tf.constant([1.0, 2.0])
    >>> tf.nn.softmax(tf.where([False, False], scores, -float("inf"))).numpy()
    array([nan, nan], dtype=float32)
    >>> tf.nn.softmax(tf.where([False, False], scores, scores.dtype.min)).numpy()
    array([0.5, 0.5], dtype=float32)

Bad:
    weights = tf.nn.softmax(tf.where(mask, scores, -np.inf))

Good:
    weights = tf.nn.softmax(tf.where(mask, scores, scores.dtype.min))

With such a number a row with one unmasked entry gives exactly the same result, and a row with none
gets equal weights, which have to be masked afterwards (`weights * tf.cast(mask, weights.dtype)`).
Where the dtype is known and is not float16, the fix writes -1e30: the sum of two logarithms of
such weights is finite, which that of two lowest numbers is not. A causal mask,
in which every position sees itself, and a mask that keeps the largest logits have an unmasked entry
in every row: they are not reported. Neither is a softmax of `tf.where(mask, scores, -np.inf)` whose
NaN a second `tf.where` replaces: there both the value and the gradient are finite. The logsumexp of
such a row is `-inf`, which an exponential, a softplus or a sigmoid makes 0: where it goes nowhere
else, it is not reported either.

See also: https://github.com/keras-team/keras/pull/21149,
https://github.com/stevezheng23/reading_comprehension_tf/pull/69,
https://www.tensorflow.org/api_docs/python/tf/nn/softmax
"""

from __future__ import annotations

from tfnanlint.api import (
    INF,
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    infinite_masks,
    rule,
    traits,
)

PRODUCT = "mask multiplied by infinity: the result is NaN (0 * inf) wherever the mask is 0"
CHOOSE = "select with tf.where(mask, scores, scores.dtype.min) instead of multiplying"
LOW = "-1e30"  # far below any score and any other mask; sums of such logarithms are finite
MASKING = frozenset(traits.MASKINGS)
SUMS = frozenset(traits.ADDITIONS)


LARGE = 1e3  # beyond the scores that a model gives


@rule(
    "TFN506",
    "softmax-of-nothing",
    on="tf.nn.softmax tf.nn.log_softmax tf.reduce_logsumexp tf.multiply",
    needs="inf Inf INF tf.multiply:np.inf tf.multiply:math.inf tf.multiply:inf') "
    'tf.multiply:inf")',
    fixes="finite_mask",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name == "tf.multiply":
        yield from multiplied(site, here)
        return
    param = "logits" if site.given("logits") else "x"
    if not here.may_stem(site, param, MASKING, SUMS):
        return
    x = site.value(param)
    masking = infinite_masks.masking_of(x)
    if masking is None:
        return
    if masking.op.name == "tf.multiply":
        inside = masking.source is here.source and masking.node is not None
        yield here.finding(
            site,
            param,
            PRODUCT,
            Certainty.MUST,
            node=masking.node if inside else None,
            covers=[site.node],
            help=CHOOSE,
        )
        return
    if infinite_masks.is_always_open(masking) or infinite_masks.is_absorbed(site, x):
        return
    if infinite_masks.is_replaced_later(site, x, here.module, here.interpreter):
        return
    yield here.finding(
        site,
        param,
        f"mask with -inf: where a whole row is masked, {outcome(site, x)}",
        Certainty.MAY,
        finite(masking, here),
    )


def multiplied(times: Site, here: Context) -> Iterator[Finding]:
    """(1 - mask) * -inf, whatever it is added to."""
    mask = infinite_masks.mask_times_infinity(times)
    if not mask:
        return
    outer = next(iter(here.around(times.node)), None)
    if not infinite_masks.is_nan_taken_out(times, outer, here.interpreter):
        yield here.finding(times, mask, PRODUCT, Certainty.MUST, help=CHOOSE)


def outcome(site: Site, x: Value) -> str:
    """What becomes of a row of -inf. A choice lets no gradient through where it takes -inf, so that
    of logsumexp ends there.
    """
    if site.op.name != "tf.reduce_logsumexp":
        return f"the {site.op.name.rsplit('.', 1)[-1]} is NaN"
    if infinite_masks.is_chosen(x):
        return "logsumexp is -inf, and a loss computed from it inf"
    return "the gradient of logsumexp is NaN"


def finite(choice: Site, here: Context) -> list[Fix]:
    """A number that leaves no weight where -inf is written: -1e30, or the lowest one where the
    dtype may be float16.
    """
    branch = infinite_masks.infinite_branch(choice)
    kept = "x" if branch == "y" else "y"
    node, kept_node = choice.args.get(branch), choice.args.get(kept)
    if node is None or choice.source is not here.source:
        return []
    number = here.value(node, choice.point).kind == "number"
    if not number and not (here.repeatable(node) and here.broadcasts(choice)):
        return []
    scores = choice.value(kept)
    if scores.kind not in ("number", "tensor", "unknown"):
        return []
    if has_finite_mask(scores, here):
        here.no_fix = (
            "the scores are masked with a finite number already, which keeps a row: "
            "combine both masks"
        )
        return []
    low = LOW
    precision = here.precision(scores)
    if precision.dtype == "float16" or not precision.sure:
        if kept_node is None or scores.kind == "number" or not here.repeatable(kept_node):
            return []
        low = f"{here.text(kept_node)}.dtype.min"
    return here.rewrite(
        choice,
        low,
        node=node,
        title="mask with a finite number",
        claim=Claim.EQUAL_WHERE_FINITE,
    )


def has_finite_mask(scores: Value, here: Context) -> bool:
    """Whether some of the scores are masked with a large negative number: beside -inf they share
    the weight of a row, beside such a number no longer.
    """
    masked = here.made_by(scores, "tf.where", "tf.add")
    parts = [masked.value(param) for param in ("x", "y")] if masked is not None else []
    return any([-INF < part.lo < -LARGE for part in parts])
