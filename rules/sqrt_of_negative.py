"""Square root of a value that can be negative.

`tf.sqrt` of a negative number is NaN, value and gradient. A difference that is nonnegative on paper
comes out below 0 in floating point: `mean(x ** 2) - mean(x) ** 2` of a constant 1000.1 is -0.06 in
float32, `1 - cos ** 2` and `|a|^2 - 2ab + |b|^2` behave alike. An epsilon under the root helps only
against errors smaller than itself. `K.sqrt` clips negative numbers to 0 and is reported for such a
variance only, whose gradient is NaN.

Bad:
    std = tf.sqrt(tf.reduce_mean(tf.square(x), axis=0) - tf.square(tf.reduce_mean(x, axis=0)))

Good:
    std = tf.sqrt(tf.math.reduce_variance(x, axis=0) + 1e-12)

`tf.math.reduce_variance` squares the differences to the mean and is never negative. Elsewhere a
floor, `tf.sqrt(tf.maximum(d, 1e-12))`, keeps the root finite; a floor of exactly 0 leaves an
infinite gradient.

Doubtful is a difference with a ratio in it, `1 - (a / b)^2`: which of the two is larger the rates
of a schedule know, and nothing that is written here. So is, where nothing shows that a gradient is
taken, everything but such a variance and the squared distance `|a|^2 - 2ab + |b|^2`, which rounding
makes NaN as values.

Seen in the wild:
https://github.com/tensorflow/graphics/issues/462 (the root of trace + 1, a little below 0),
https://github.com/tensorflow/tensorflow/issues/411 (a variance from two means)
"""

from __future__ import annotations

from tfnanlint.api import (
    INF,
    Any,
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    argument,
    differences,
    evidence,
    moments,
    plain,
    repairs,
    rule,
    words,
)

MOST_FACTORS = 8  # that are looked at in one product
PRODUCTS = ("tf.reduce_sum", "tf.matmul", "tf.tensordot", "tf.einsum", "tf.linalg.matvec")


@rule(
    "TFN103",
    "sqrt-of-negative",
    on="tf.sqrt K.sqrt tf.math.rsqrt",
    over="TFN102 TFN202 TFN203 TFN310",
    silent="MAY/ANY/TESTS MAY/NO/DOUBTFUL MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
)
def check(root: Site, here: Context) -> Iterator[Finding]:
    x = root.value("x")
    variance = variance_of(root, here)
    if not here.numeric(x) or x.kind == "number" or x.lo >= 0:
        return
    if variance is None and (
        powers(root, here)
        or complement(root, here)
        or evidence.handed_in(x)
        or (not x.known or lifted(x, here))
        and not difference(root)
    ):
        return
    if state(root, x, here) or here.hidden(root):
        return
    if root.op.name == "K.sqrt" and (variance is None or root.differentiated is Differentiated.NO):
        return
    certainty = Certainty.MUST if x.hi < 0 else Certainty.MAY
    if variance is None and -x.lo == x.hi == INF and not difference(root) and not trained(root):
        certainty = Certainty.UNKNOWN
    if root.op.name == "K.sqrt":
        message = (
            "square root of mean(x^2) - mean(x)^2, which rounding makes 0 or negative where x hardly varies: "
            "K.sqrt gives 0 there, with a NaN gradient"
        )
    elif variance is not None:
        message = (
            "square root of mean(x^2) - mean(x)^2, which rounding makes negative where x hardly varies: "
            "the root and its gradient are NaN"
        )
    else:
        message = (
            f"square root of a value that is {words(x)}: below 0 the root and its gradient are NaN"
        )
    by_sums = variance is not None and variance[1].summed
    yield here.finding(
        root,
        "x",
        message,
        certainty,
        fixes(root, variance, here),
        help="subtract the mean first: the sum of the squares of x - mean is never negative"
        if by_sums
        else "",
        covers=[variance[0].node] if variance is not None else (),
        doubtful=variance is None
        and not differences.has_form(x, differences.is_squared_distance)
        and (root.differentiated is not Differentiated.YES or of_ratio(root, here)),
    )


def trained(root: Site) -> bool:
    """Whether a root is that of a weight or of the output of a layer, perhaps times what is never
    negative. Of products of tensors that can be any number, as far as they were followed, 1 of 4 in
    fresh code was negative.
    """
    return differences.has_form(root.value("x"), differences.has_one_sign)


def lifted(x: Value, here: Context) -> bool:
    """A weight plus a small constant: somebody who knows that the weight is not negative has
    thought of 0.
    """
    plus = here.made_by(x, "tf.add") if x.lo == -INF else None
    return plus is not None and any(
        plus.value(p).lo > 0 and plus.value(p).hi < 1 for p in ("x", "y")
    )


def state(root: Site, x: Value, here: Context) -> bool:
    """A variable that nothing differentiates, as it is: the running mean of squares of an optimizer
    or a metric.
    """
    return (
        x.evident
        and x.lo == -INF
        and x.hi == INF
        and root.differentiated is Differentiated.NO
        and subtraction(root, here) is None
    )


def powers(root: Site, here: Context) -> bool:
    """1 - b ** n, or 1 - b^2 of a b that is no product of vectors: nothing shows that b is above 1."""
    minus = subtraction(root, here)
    power = here.made_by(minus.value("y"), "tf.pow", "tf.square") if minus is not None else None
    if power is None or power.op.name == "tf.pow" and not power.value("y").is_number:
        return power is not None
    base = power.value("x")
    exact = minus.value("x").exact and here.made_by(plain(base), *PRODUCTS) is None
    return not base.known and (exact or power.op.name == "tf.pow")


def complement(root: Site, here: Context) -> bool:
    """1 - c ** 2, where nothing is known of c: a cosine, a correlation or a share, as whoever wrote
    it knows.
    """
    minus = subtraction(root, here)
    if minus is None or not minus.value("x").exact:
        return False
    square = here.made_by(plain(minus.value("y")), "tf.square", "tf.pow", "tf.multiply")
    return (
        square is not None
        and not square.value("x").known
        and not square.value("y" if square.op.name == "tf.multiply" else "x").known
    )


def of_ratio(root: Site, here: Context) -> bool:
    """1 - (a / b)^2 or s - a / b * r: of two rates of one schedule, or a part and the whole; which
    is larger nothing says here.
    """
    minus = subtraction(root, here)
    factors = [plain(minus.value("y"))] if minus is not None else []
    for factor in factors:
        made = here.made_by(factor, "tf.square", "tf.pow", "tf.multiply")
        if made is not None and len(factors) < MOST_FACTORS:
            factors += [plain(made.value(param)) for param in ("x", "y") if param in made.args]
    quotients = (here.made_by(factor, "tf.divide") for factor in factors)
    return any(quotient is not None and not quotient.value("y").is_number for quotient in quotients)


def difference(root: Site) -> bool:
    """Whether something is taken away from nonnegative values, |a|^2 - |b|^2, |a|^2 - 2ab + |b|^2,
    or a root is that of a discriminant; in one of the ways in which the value can arise.
    """
    x = root.value("x")
    return differences.has_form(x, differences.is_difference_of_squares) or differences.has_form(
        x, differences.is_discriminant
    )


def subtraction(root: Site, here: Context) -> Site | None:
    """The difference under a root, an added number left aside; where several values arrive, that of
    the widest.
    """
    value = evidence.widest(root.value("x"))
    plus = here.made_by(value, "tf.add")
    if plus is not None:
        value = next(
            (plus.value(p) for p, other in (("x", "y"), ("y", "x")) if plus.value(other).is_number),
            value,
        )
    return here.made_by(value, "tf.subtract")


def variance_of(root: Site, here: Context) -> tuple[Site, moments.Variance] | None:
    """The difference mean(x^2) - mean(x)^2 under a root, and what it is the variance of; None for
    anything else.
    """
    minus = subtraction(root, here)
    found = moments.variance_of(minus) if minus is not None else None
    return None if minus is None or found is None else (minus, found)


def fixes(root: Site, variance: tuple[Site, moments.Variance] | None, here: Context) -> list[Fix]:
    if variance is not None and variance[1].summed:
        return []  # a floor would leave it without a correct digit
    found = [] if variance is None else exact(root, *variance, here)
    if "x" not in root.args or root.value("x").hi < 0:
        return found  # a floor under what is always negative would only make a constant of it
    eps, part = repairs.root_epsilon(here, root), repairs.floored_root(here, root)
    if part is None:
        return found
    node, template, holes = part
    # an epsilon stands beside a difference that is kept at 0
    bound = eps if node is root.args["x"] else "0"
    what = (
        "what stands under the root" if node is root.args["x"] else "the difference under the root"
    )
    return found + here.rewrite(
        root,
        template,
        node=node,
        title=f"keep {what} at or above {bound}",
        claim=Claim.SHIFTED,
        cost=f"values below {bound} become {bound}; the gradient is 0 there",
        **holes,
    )


def exact(root: Site, minus: Site, written: moments.Variance, here: Context) -> list[Fix]:
    """reduce_variance of the same elements; with a small number under the root where the root is
    differentiated.
    """
    mean, square = written.mean, written.square
    holes: dict[str, Any] = {
        "x": argument(square, "x", "inner"),
        "axis": argument(mean, "axis"),
        "keepdims": argument(mean, "keepdims"),
    }
    if (
        not (mean.complete and square.complete)
        or minus.source is not here.source
        or not here.numeric(written.x)
    ):
        return []
    template = "tf.math.reduce_variance({x}, axis={axis}, keepdims={keepdims})"
    bare = minus.node is root.args.get("x") or here.made_by(root.value("x"), "tf.add") is None
    eps = repairs.root_epsilon(here, root)
    if bare and (root.differentiated is not Differentiated.NO or root.op.name == "tf.math.rsqrt"):
        return here.rewrite(
            minus,
            f"{template} + {eps}",
            title="use reduce_variance, which is never negative",
            claim=Claim.SHIFTED,
            cost=f"the root is {float(eps) ** 0.5:.0e} instead of 0 at 0",
            **holes,
        )
    return here.rewrite(
        minus,
        template,
        title="use reduce_variance, which is never negative",
        claim=Claim.EQUAL,
        **holes,
    )
