"""Square root of a value that can be negative.

`tf.sqrt` of a negative number is NaN, value and gradient. A difference that is nonnegative on paper
comes out below 0 in floating point: `mean(x ** 2) - mean(x) ** 2` of a constant 1000.1 is -0.06 in
float32, and so do `1 - cos ** 2` and `|a|^2 - 2ab + |b|^2`. An epsilon under the root helps only
against errors smaller than itself. `K.sqrt` clips negative numbers to 0; it is reported only for
such a variance, because its gradient is NaN.

See it:
    >>> x = tf.fill([5], 1000.1)
    >>> float(tf.sqrt(tf.reduce_mean(x**2) - tf.reduce_mean(x) ** 2))
    nan

Bad:
    std = tf.sqrt(tf.reduce_mean(tf.square(x), axis=0) - tf.square(tf.reduce_mean(x, axis=0)))

Good:
    std = tf.sqrt(tf.math.reduce_variance(x, axis=0) + 1e-12)

`tf.math.reduce_variance` squares the differences to the mean and is never negative. Elsewhere a
floor, `tf.sqrt(tf.maximum(d, 1e-12))`, keeps the root finite; a floor of exactly 0 leaves an
infinite gradient.

Often harmless: a difference that contains a ratio, `1 - (a / b)^2`, because the program does not
show which of the two is larger. If nothing shows that a gradient is taken, most findings are
harmless. The exceptions are a random draw, a weight with a random initial value, a variance as
above, and the squared distance `|a|^2 - 2ab + |b|^2`, whose rounding errors become NaN.

Seen in the wild:
https://github.com/tensorflow/graphics/issues/462 (the root of trace + 1, a little below 0),
https://github.com/tensorflow/tensorflow/issues/411 (a variance from two means)
"""

from __future__ import annotations

from tfnanlint.api import (
    Any,
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Site,
    argument,
    differences,
    evidence,
    moments,
    radicands,
    repairs,
    rule,
    value_in_words,
)


@rule(
    "TFN103",
    "sqrt-of-negative",
    on="tf.sqrt K.sqrt tf.math.rsqrt",
    over="TFN102 TFN202 TFN203 TFN310",
    silent="MAY/ANY/TESTS MAY/NO/DOUBTFUL MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    fixes="reduce_variance floor",
)
def check(root: Site, here: Context) -> Iterator[Finding]:
    x = root.value("x")
    if not here.numeric(x) or x.kind == "number" or x.lo >= 0:
        return
    variance = radicands.variance_under(root)
    drawn = evidence.drawn_below_zero(x)
    is_plain = variance is None and not drawn
    if is_plain and radicands.is_taken_for_nonnegative(root):
        return
    if not drawn and radicands.is_running_state(root) or here.hidden(root):
        return
    unseen = variance is None or root.differentiated is Differentiated.NO
    if root.op.name == "K.sqrt" and unseen:
        return
    certainty = Certainty.MUST if x.hi < 0 else Certainty.MAY
    if is_plain and radicands.is_any_product(root):
        certainty = Certainty.UNKNOWN
    by_sums = variance is not None and variance[1].summed
    yield here.finding(
        root,
        "x",
        message(root, variance is not None),
        certainty,
        fixes(root, variance, here),
        help="subtract the mean first: the sum of the squares of x - mean is never negative"
        if by_sums
        else "",
        covers=[variance[0].node] if variance is not None else (),
        doubtful=is_doubtful(root, variance is not None, drawn),
    )


def is_doubtful(root: Site, is_variance: bool, drawn: bool) -> bool:
    """Whether nothing but the bounds of a root's input says that it comes below 0, and no gradient
    is known to be taken, or it is the difference of two rates. A variance or squared distance
    that rounding makes negative is NaN as a value.
    """
    if (
        drawn
        or is_variance
        or differences.has_form(root.value("x"), differences.is_squared_distance)
    ):
        return False
    return root.differentiated is not Differentiated.YES or radicands.is_less_ratio(root)


def message(root: Site, of_variance: bool) -> str:
    if root.op.name == "K.sqrt":
        return (
            "square root of mean(x^2) - mean(x)^2, which rounding can make 0 or negative: "
            "K.sqrt returns 0 with a NaN gradient"
        )
    if of_variance:
        return (
            "square root of mean(x^2) - mean(x)^2, which rounding can make negative: then it is NaN"
        )
    value = value_in_words(root.value("x"))
    return f"square root of {value}: below 0 the result and its gradient are NaN"


def fixes(root: Site, variance: tuple[Site, moments.Variance] | None, here: Context) -> list[Fix]:
    if variance is not None and variance[1].summed:
        return []  # a floor would leave it without a correct digit
    exact_fixes = [] if variance is None else exact(root, *variance, here)
    if "x" not in root.args or root.value("x").hi < 0:
        return exact_fixes  # a floor under what is always negative would only make a constant of it
    eps, part = repairs.root_epsilon(here, root), repairs.floored_root(here, root)
    if part is None:
        return exact_fixes
    node, template, holes = part
    # an epsilon stands beside a difference that is kept at 0
    bound = eps if node is root.args["x"] else "0"
    what = "the value under the root" if node is root.args["x"] else "the difference under the root"
    return exact_fixes + here.rewrite(
        root,
        template,
        node=node,
        title=f"keep {what} at or above {bound}",
        claim=Claim.SHIFTED,
        cost=f"no gradient below {bound}",
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
            cost=f"the root is {repairs.rooted(eps)} instead of 0 at 0",
            **holes,
        )
    return here.rewrite(
        minus,
        template,
        title="use reduce_variance, which is never negative",
        claim=Claim.EQUAL,
        **holes,
    )
