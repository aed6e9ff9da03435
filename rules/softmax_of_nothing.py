"""A softmax over a row in which everything is masked with minus infinity.

The softmax subtracts the largest logit first. When all logits of a row are `-inf`, that is
`-inf - (-inf)`, which is NaN, in the value and in the gradient of the whole batch. It happens to
padding rows, to queries that may look at nothing, to empty sets. Multiplying a mask with `-inf` is
worse: `0 * -inf` is NaN for exactly those entries that are not masked, whether a softmax follows or
not.

Bad:
    weights = tf.nn.softmax(tf.where(mask, scores, -np.inf))

Good:
    weights = tf.nn.softmax(tf.where(mask, scores, scores.dtype.min))

With the lowest finite number a row with one open entry comes out exactly the same, and a row with
none gets equal weights, which somebody has to mask afterwards
(`weights * tf.cast(mask, weights.dtype)`). A causal mask, in which every position sees itself, and
a mask that keeps the largest logits have an open entry in every row: they are not reported. Neither
is a softmax of `tf.where(mask, scores, -np.inf)` whose NaN a second `tf.where` replaces: there both
the value and the gradient are finite. The logsumexp of such a row is `-inf`, which an exponential,
a softplus or a sigmoid makes 0: where it goes nowhere else, it is not reported either.

See also: https://github.com/keras-team/keras/pull/21149,
https://github.com/stevezheng23/reading_comprehension_tf/pull/69,
https://www.tensorflow.org/api_docs/python/tf/nn/softmax
"""

from __future__ import annotations

from tfnanlint.api import (
    CASTS,
    INF,
    Any,
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    Walk,
    absorbed,
    ast,
    evidence,
    plain,
    rule,
    site_behind,
    traits,
)

# Ops in the origin of a mask that leaves an entry open in every row.
OPEN = frozenset(
    (
        "tf.linalg.band_part",
        "tf.math.top_k",
        "tf.nn.top_k",
        "tf.reduce_max",
        "tf.sort",
        "tf.eye",
        "tf.argmax",
        "np.tril",
        "np.triu",
        "tnp.tril",
        "ops.tril",
        "tf.math.cumsum",
        "tf.one_hot",
        "np.eye",
        "ops.top_k",
    )
)
PRODUCT = "a mask times infinity is NaN wherever the mask is 0: 0 * inf"
CHOOSE = "choose with tf.where(mask, scores, scores.dtype.min) instead of multiplying"
MASKING = frozenset(traits.MASKINGS)
SUMS = frozenset(traits.ADDITIONS)
HANDED = (*traits.MASKINGS, *traits.ADDITIONS)


@rule(
    "TFN506",
    "softmax-of-nothing",
    on="tf.nn.softmax tf.nn.log_softmax tf.reduce_logsumexp tf.multiply",
    needs="inf Inf INF tf.multiply:np.inf tf.multiply:math.inf tf.multiply:inf') tf.multiply:inf\")",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name == "tf.multiply":
        yield from multiplied(site, here)
        return
    param = "logits" if site.given("logits") else "x"
    if not here.may_stem(site, param, MASKING, SUMS):
        return
    masked = mask_of(site.value(param))
    if masked is None:
        return
    choice, product = masked
    inside = choice.source is here.source and choice.node is not None
    if product:
        yield here.finding(
            site,
            param,
            PRODUCT,
            Certainty.MUST,
            node=choice.node if inside else None,
            covers=[site.node],
            help=CHOOSE,
        )
        return
    if (
        always_open(choice, here)
        or healed(site, site.value(param), here)
        or taken_up(site, site.value(param))
    ):
        return
    yield here.finding(
        site,
        param,
        f"masked with -inf: where a whole row is masked {outcome(site, site.value(param))}",
        Certainty.MAY,
        finite(choice, site, param, here),
    )


def multiplied(times: Site, here: Context) -> Iterator[Finding]:
    """(1 - mask) * -inf, whatever it is added to."""
    for c, m in (("x", "y"), ("y", "x")):
        if not times.may_be_made_by(m, *traits.MASKS, *CASTS) or not infinite(times.value(c)):
            continue
        mask = times.value(m)
        if (
            mask.zero
            and mask.kind not in ("number", "array")
            and evidence.from_mask(plain(mask))
            and not patched(times, here)
        ):
            yield here.finding(times, m, PRODUCT, Certainty.MUST, help=CHOOSE)


def patched(product: Site, here: Context) -> bool:
    """Whether what a product is handed to at once takes its NaN out:
    `nan_to_zero(-inf * (1 - mask))`. Nothing trains a mask.
    """
    outer = next(iter(here.around(product.node)), None)
    if not isinstance(outer, ast.Call) or product.node not in outer.args or product.point is None:
        return False
    left = here.value(outer, product.point)
    return left.known and not left.nan  # of a function that nobody knows nothing is said


def outcome(site: Site, x: Value) -> str:
    """What becomes of a row of -inf. A choice lets no gradient through where it takes -inf, so that
    of logsumexp ends there.
    """
    if site.op.name != "tf.reduce_logsumexp":
        return f"the {site.op.name.rsplit('.', 1)[-1]} is NaN"
    return (
        "logsumexp is -inf, and a loss made of it inf"
        if chosen(x)
        else "the gradient of logsumexp is NaN"
    )


def chosen(x: Value) -> bool:
    """Whether a tf.where puts the -inf in, which lets no gradient back from there."""
    while isinstance(x.origin, Site) and x.origin.op.passes and x.origin.op.name not in HANDED:
        x = x.origin.value(x.origin.op.passes)
    return isinstance(x.origin, Site) and x.origin.op.name == "tf.where"


def taken_up(site: Site, x: Value) -> bool:
    """Whether the logsumexp of a masked row only goes into what is 0 at -inf:
    softplus(logsumexp(positive) + logsumexp(negative)).
    """
    return site.op.name == "tf.reduce_logsumexp" and chosen(x) and absorbed(site)


def healed(site: Site, x: Value, here: Context) -> bool:
    """Whether the NaN of masked rows is replaced later, where a tf.where that put -inf in stops the
    gradient, too.
    """
    chosen = isinstance(x.origin, Site) and x.origin.op.name == "tf.where"
    result = here.value(site.node, site.point) if chosen and site.point is not None else None
    if result is None:
        return False
    patches = (
        here.site(node, point)
        for node, point in here.calls("where")
        if point.scope is site.point.scope
    )
    return any(
        patch is not None
        and patch.op.name == "tf.where"
        and here.made_by(patch.value("condition"), "tf.math.is_nan") is not None
        and any(here.same(patch.value(kept), result) for kept in ("x", "y") if patch.given(kept))
        for patch in patches
    )


def mask_of(value: Value) -> tuple[Site, bool] | None:
    """The tf.where that puts -inf into a value, or the product (True) that makes it from a mask."""
    walk = Walk(value, limit=24)
    for part in walk:
        origin = part.origin
        if not isinstance(origin, Site):
            continue
        if origin.op.name == "tf.where" and any(
            lowest(origin.value(p)) for p in ("x", "y") if origin.given(p)
        ):
            return origin, False
        if origin.op.name == "tf.multiply" and origin.complete:
            for c, m in (("x", "y"), ("y", "x")):
                if (
                    infinite(origin.value(c))
                    and origin.value(m).zero
                    and origin.value(m).kind != "number"
                ):
                    return origin, True
            continue
        if origin.op.name in ("tf.add", "tf.subtract"):
            walk.enter(origin, ("x", "y"))
        elif origin.op.passes and origin.library != "layer":
            walk.enter(origin, (origin.op.passes,))
    return None


def lowest(value: Value) -> bool:
    return value.lo == value.hi == -INF and not value.nan


def infinite(value: Value) -> bool:
    return value.lo == value.hi and value.lo in (INF, -INF) and not value.nan


def always_open(choice: Site, here: Context) -> bool:
    """Whether the mask is seen to leave an entry open in every row."""
    walk = Walk(choice.value("condition"))
    for value in walk:
        origin = site_behind(value)
        if origin is None:
            continue
        if (
            origin.op.name in OPEN
            or origin.op.name in ("tf.greater_equal", "tf.less_equal")
            and ranges(origin)
        ):
            return True
        walk.enter(origin, origin.args)
    return False


def ranges(comparison: Site) -> bool:
    """tf.range(n)[:, None] >= tf.range(n)."""
    return all(of_range(comparison.value(param)) for param in ("x", "y"))


def of_range(value: Value) -> bool:
    origin = value.origin
    for _ in range(6):
        if not isinstance(origin, Site):
            return False
        if origin.op.name in ("tf.range", "np.arange", "ops.arange"):
            return True
        origin = origin.value(origin.op.passes).origin if origin.op.passes else None
    return False


def finite(choice: Site, site: Site, param: str, here: Context) -> list[Fix]:
    """The lowest finite number of the dtype, where -inf is written."""
    branch = next(p for p in ("y", "x") if choice.given(p) and lowest(choice.value(p)))
    other = choice.args.get("x" if branch == "y" else "y")
    node = choice.args.get(branch)
    if (
        node is None
        or choice.source is not here.source
        or not here.repeatable(node)
        and here.value(node, choice.point).kind != "number"
    ):
        return []
    keep: dict[str, Any] = dict(
        title="mask with the lowest finite number", claim=Claim.EQUAL_WHERE_FINITE
    )
    kept = choice.value("x" if branch == "y" else "y")
    if kept.kind == "number":
        return here.rewrite(choice, "-1e30", node=node, **keep)
    if other is not None and here.repeatable(other) and kept.kind in ("tensor", "unknown"):
        return here.rewrite(choice, "{x}.dtype.min", node=node, x=here.text(other), **keep)
    return []
