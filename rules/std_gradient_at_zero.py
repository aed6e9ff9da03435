"""Standard deviation of values that can all be equal: the value is 0, the gradient is NaN.

`tf.math.reduce_std` is the square root of the variance, and the derivative of the root is infinite at 0. A constant
feature, a batch of one, a dead layer or an image of one colour has variance 0. The variance itself has a finite gradient.

Bad:
    std = tf.math.reduce_std(x, axis=0)

Good:
    std = tf.sqrt(tf.math.reduce_variance(x, axis=0) + 1e-12)

An epsilon outside, `x / (std + eps)`, keeps the quotient finite and leaves the gradient NaN. For normalisation inside a
model use `tf.keras.layers.LayerNormalization` or `BatchNormalization`, which add their epsilon under the root.

Seen in the wild:
https://github.com/keras-team/keras/issues/2960 (K.std of a vector of zeros),
https://github.com/tensorflow/tensorflow/issues/56830 (reduce_std of one element)
"""

from tfnanlint.api import Certainty, Claim, Context, Differentiated, Finding, Fix, Iterator, Named, Site, part_of, repairs, rule, truth_only



@rule("TFN203", "std-gradient-at-zero", on="tf.math.reduce_std tf.sqrt K.sqrt", over="TFN202", silent="MAY/UNKNOWN")
def check(std: Site, here: Context) -> Iterator[Finding]:
    x, whole = std.value("x"), std.op.name == "tf.math.reduce_std"
    if not here.numeric(x) or not whole and not here.made_by(x, "tf.math.reduce_variance") and not part_of(x, 1, "tf.nn.moments"):
        return
    if std.differentiated is Differentiated.NO or not x.exact and truth_only(x, std.point):
        return
    fixes = deviation(std, here) if whole else root(std, here)
    late = here.flat_behind(std)
    where = " under XLA; elsewhere what follows keeps it 0" if late else ""
    fixes = sorted(fixes, key=lambda fix: not fix.claim.safe) if late else fixes  # the choice asks for exactly 0
    yield here.finding(std, "x", "the standard deviation of equal values is 0, but its gradient is NaN (the derivative of "
                       f"the root is infinite at 0){where}", Certainty.MAY, fixes, modes=("xla",) if late else ("eager", "graph", "xla"))


def cost(eps: str) -> str:
    return f"the deviation of equal values becomes {float(eps) ** 0.5:.0e}; others move by less"


def deviation(std: Site, here: Context) -> list[Fix]:
    """reduce_std written as the root of reduce_variance."""
    under = repairs.squared(std)
    if under is None:
        return []
    template, holes = under
    eps = repairs.root_epsilon(here, std)
    moved = here.rewrite(std, f"tf.sqrt({template} + {eps})", title=f"add {eps} under the root", claim=Claim.SHIFTED,
                         cost=cost(eps), **holes)
    variance = Named("variance", template, holes)
    exact = here.rewrite(
        std, "tf.where({v} > 0, tf.sqrt(tf.where({v} > 0, {v}, tf.ones_like({v}))), tf.zeros_like({v}))", v=variance,
        title="mask the variance under the root and the result (gradient 0 at 0)", claim=Claim.EQUAL_WHERE_FINITE)
    return [*moved, *exact]


def root(std: Site, here: Context) -> list[Fix]:
    """The root of a variance that the program has."""
    part = repairs.floored_root(here, std)
    if part is None:
        return []
    node, template, holes = part
    eps = repairs.root_epsilon(here, std)
    moved = here.rewrite(std, template, node=node, title=f"add {eps} under the root", claim=Claim.SHIFTED, cost=cost(eps),
                         **holes)
    return [*moved, *repairs.double_where(here, std, title="mask the variance and the result (gradient 0 at 0)")]
