"""Square root of a value that can be exactly zero: the value is 0, the gradient is Inf or NaN.

The derivative of sqrt is infinite at 0, and times the derivative of a square at 0, which is 0, it
becomes NaN. Sums of squares (distances between equal points, pairwise distances, whose diagonal is
always 0), mean squares (RMSE of a perfect batch), variances, relu outputs and exponentials that
underflow are exactly 0.

See it:
    >>> x = tf.constant([0.0, 0.0])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.sqrt(tf.reduce_sum(tf.square(x)))
    >>> tape.gradient(y, x).numpy()
    array([nan, nan], dtype=float32)

Bad:
    distance = tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1))

Good:
    distance = tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1) + 1e-12)

A floor of exactly 0, `tf.sqrt(tf.maximum(x, 0.))`, and an epsilon outside, `tf.sqrt(x) + eps`, do
not help. The double `tf.where` keeps the value exactly and gives a gradient of 0 at 0. In float16,
which ends at 65504, the derivatives of several roots and logarithms in a row multiply to Inf even
where each has its floor: such a chain belongs in float32.

Often harmless: the length of the edges of a graph in a layer, `pos[i] - pos[j]`, because the ends
of an edge are usually two different points; and, unless the file asks for XLA, a root that is
squared or multiplied by what is 0 with it, `tf.sqrt(tf.abs(g)) * g`: the gradient that comes back
is 0, and TensorFlow's own kernel then gives 0.

Seen in the wild:
https://github.com/tensorflow/tensorflow/issues/4914 (sqrt(x) at 0),
https://github.com/tensorflow/tensorflow/issues/30199 (pairwise distances in a triplet loss),
https://github.com/keras-team/keras-io/issues/910 (the gradient penalty of a WGAN),
https://github.com/keras-team/keras/issues/6644 (RMSE as a loss)
"""

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Note,
    Site,
    evidence,
    layer_outputs,
    made_by,
    radicands,
    repairs,
    rule,
    same,
    steep_chains,
    traits,
    truth_only,
    value_in_words,
    zero_put_in,
)

CLIPPED = "K.sqrt"  # takes the root of 0 where its input is negative
ROOTS = (*traits.SQUARE_ROOTS, "ops.cbrt")


@rule(
    "TFN202",
    "sqrt-gradient-at-zero",
    on="tf.sqrt K.sqrt ops.cbrt tf.math.rsqrt tf.math.log tf.math.reciprocal",
    silent="MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    fixes="half_exp mask epsilon_inside floor",
)
def check(root: Site, here: Context) -> Iterator[Finding]:
    yield from multiplied(root, here)
    if root.op.name not in ROOTS:
        return
    x = root.value("x")
    if not here.numeric(x) or x.kind == "number" or not x.known:
        return
    reached = x.zero or x.lo < 0 and root.op.name == CLIPPED
    if not reached or x.guarded or x.lo < 0 and root.op.name == "tf.sqrt":
        return
    if x.lo >= 0 and evidence.falling(x):
        return  # 0 only where a divisor is infinite
    harmless = not x.exact and (
        zero_put_in(x, here.interpreter)
        or truth_only(x, root.point)
        or radicands.is_sum_off_zero(x)
    )
    if harmless or root.differentiated is Differentiated.NO:
        return
    certainty = Certainty.MUST if x.hi <= 0 else Certainty.MAY
    name = "cube root" if root.op.name == "ops.cbrt" else "square root"
    late = root.op.name != "ops.cbrt" and here.flat_behind(root)
    where = (
        "the gradient is NaN under XLA; in other modes the operations after it keep the gradient 0"
        if late
        else ("the gradient is Inf, or NaN after a square")
    )
    # behind a choice of what is above 0 the root of 0 must stay 0
    repaired = fixes(root, here, late)
    yield here.finding(
        root,
        "x",
        f"{name} of {origin(x)}: at 0 {where}",
        certainty,
        repaired,
        modes=("xla",) if late else ("eager", "graph", "xla"),
        doubtful=certainty is Certainty.MAY and is_doubtful(root, here, late),
        kind=layer_outputs.weakness_of_length(x, here.interpreter, here.around),
    )


def multiplied(site: Site, here: Context) -> Iterator[Finding]:
    """A chain of roots and logarithms in float16, each with a floor of its own."""
    first = steep_chains.steep_before(site)
    if first is None or first.source is not here.source:
        return
    if Differentiated.NO in (site.differentiated, first.differentiated):
        return
    yield here.finding(
        site,
        "x",
        f"its derivative and those of the operations before it, from {here.line(first.node)} on, "
        "multiply to more than 65504: the gradient is Inf in float16",
        Certainty.MAY,
        covers=[first.node],
        help="cast to tf.float32 before the first of them",
    )


def is_doubtful(root: Site, here: Context, late: bool) -> bool:
    """Whether a gradient of 0 comes back outside of XLA, or the root is a length of edges."""
    if late and not here.compiled() or here.has_no_path(root):
        return True
    return not here.draft and edge(root)


def edge(root: Site) -> bool:
    """Whether a layer takes the length of the edges of a graph: rows of one tensor that it is
    given, picked by two indices, which are not to be one point. (The embeddings that a loss picks
    may well be equal.)
    """
    function = root.point.scope.function if root.point is not None else None
    total = (
        made_by(root.value("x"), "tf.reduce_sum")
        if function is not None and function.owner is not None and function.name == "call"
        else None
    )
    square = made_by(total.value("x"), *traits.SQUARES) if total is not None else None
    apart = made_by(square.value("x"), "tf.subtract", aligned=True) if square is not None else None
    ends = [apart.value(param).origin for param in ("x", "y")] if apart is not None else []
    if not ends or not all(isinstance(end, Site) and end.op.name == "tf.gather" for end in ends):
        return False
    points = [end.value("x") for end in ends]
    return same(*points) and all(
        isinstance(point.origin, Note) and point.origin.given for point in points
    )


def origin(x) -> str:
    """The value in words."""
    total = made_by(x, *traits.TOTALS)
    if total is not None and made_by(
        total.value("x"), "tf.square", "tf.pow", "tf.math.squared_difference", "tf.multiply"
    ):
        return "a sum of squares" if total.op.name == "tf.reduce_sum" else "a mean of squares"
    if x.exact:
        return "0"
    return value_in_words(x)


def fixes(root: Site, here: Context, late: bool) -> list[Fix]:
    if "x" not in root.args or root.value("x").dtype in repairs.COMPLEX:
        return []
    half = here.made_by(root.value("x"), "tf.exp")
    if half is not None and half.node is root.args["x"] and half.complete and "x" in half.args:
        return here.rewrite(
            root,
            "tf.exp(0.5 * {x})",
            title="halve the exponent instead",
            claim=Claim.EQUAL,
            x=half.args["x"],
        )
    place = repairs.empty_quotient(here, root)
    if root.op.name == "ops.cbrt" or place:
        here.no_fix = (
            f"{place} divides under the root by a value that may be 0 as well" if place else ""
        )
        return []
    return repairs.where_made(here, root) or repairs.root_forms(here, root, "the input", late)
