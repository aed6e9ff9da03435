"""A vector divided by its own norm.

`x / norm(x)` is `0 / 0`, NaN, for a vector of zeros (padding, a dead unit, an empty document), and
its gradient is NaN. `tf.math.l2_normalize(x, axis)` gives 0 there, with a finite gradient, because
it keeps the sum of squares at or above 1e-12 under the root.

See it:
    >>> x = tf.zeros([2])
    >>> (x / tf.norm(x)).numpy(), tf.math.l2_normalize(x).numpy()
    (array([nan, nan], dtype=float32), array([0., 0.], dtype=float32))

Bad:
    unit = vectors / tf.norm(vectors, axis=-1, keepdims=True)

Good:
    unit = tf.math.l2_normalize(vectors, axis=-1)

Often harmless: the norm of a whole tensor, without an axis, which is 0 only if every vector of a
batch is 0.

An epsilon added to the norm, `x / (norm(x) + eps)`, keeps the value finite, not the gradient. In
float16 the default epsilon of `l2_normalize` is 0: give it `epsilon=1e-4`. Vectors shorter than
1e-6 come out shorter than 1; pass a smaller `epsilon` where such vectors count.

See also: https://www.tensorflow.org/api_docs/python/tf/math/l2_normalize
https://github.com/tensorflow/tensorflow/issues/56796 (what its gradient is at 0)

Seen in the wild:
https://github.com/keras-team/keras/issues/23075 (NaN gradients of a normalised vector of zeros)
"""

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Site,
    argument,
    evidence,
    layer_outputs,
    moments,
    plain,
    quotients,
    repairs,
    roots_in,
    rule,
    traits,
)


@rule(
    "TFN314",
    "normalize-by-norm",
    on="tf.divide tf.multiply",
    needs="norm sqrt 0.5 tf.multiply:rsqrt",
    over="TFN102 TFN104 TFN201 TFN202 TFN204 TFN206 TFN404",
    silent="MAY/ANY/TESTS MAY/UNKNOWN MAY/YES/DOUBTFUL",
    fixes="l2_normalize epsilon_inside",
)
def check(quotient: Site, here: Context) -> Iterator[Finding]:
    for param, norm_param in (
        (("x", "y"),) if quotient.op.name == "tf.divide" else (("x", "y"), ("y", "x"))
    ):
        norm = norm_of(quotient, param, norm_param, here)
        if norm is not None:
            break
    else:
        return
    x = quotient.value(param)
    divisor = norm.value("x") if norm.op.name == "tf.math.rsqrt" else quotient.value(norm_param)
    if (
        not here.numeric(x)
        or x.kind == "number"
        or x.nonzero
        or x.guarded
        or not evidence.shows_zero(divisor)
    ):
        return
    if here.hidden(quotient) or not x.known and quotient.differentiated is Differentiated.NO:
        return
    surely = x.lo == x.hi == 0
    repaired = fixes(quotient, param, norm, here)
    if quotient.differentiated is Differentiated.NO and not surely:
        repaired, here.no_fix = [], "no gradient is taken, and a vector of zeros is rare"
    vectors = [] if repaired else [x, norm.value(norm.op.main)]
    inside = [root.node for vector in vectors for root in roots_in(plain(vector))]
    yield here.finding(
        quotient,
        None,
        "division of a vector by its own norm: for a vector of zeros the result is 0 / 0, so "
        "it and its gradient are NaN",
        Certainty.MUST if surely else Certainty.MAY,
        repaired,
        covers=[norm.node, *inside],
        doubtful=of_everything(norm, here),
        kind=layer_outputs.weakness_of_vector(x) or "own-length",
    )


def reduction_of(norm: Site, here: Context) -> Site | None:
    """The op that sums the squares of a norm; None where it is not seen."""
    if norm.op.name == "tf.norm":
        return norm
    return here.made_by(norm.value("x"), "tf.reduce_sum", aligned=True)


def of_everything(norm: Site, here: Context) -> bool:
    """Whether the norm is one of a whole tensor, and not of a row."""
    reduction = reduction_of(norm, here)
    return reduction is not None and reduction.const("axis", None) is None


def norm_of(quotient: Site, param: str, norm_param: str, here: Context) -> Site | None:
    """The norm, root of a sum of squares or its reciprocal root that a vector is divided by, if it
    is of that vector.
    """
    names = (
        ("tf.norm", "tf.sqrt", "K.sqrt", "tf.pow")
        if quotient.op.name == "tf.divide"
        else ("tf.math.rsqrt",)
    )
    if (
        not quotient.may_be_made_by(norm_param, *names)
        or quotient.op.name == "tf.multiply"
        and quotient.maker(norm_param) is None
    ):
        return None
    root = here.made_by(quotient.value(norm_param), *names, aligned=True)
    if (
        root is None
        or root.library in ("np", "math")
        or root.op.name == "tf.pow"
        and root.value("y").const != 0.5
    ):
        return None
    if root.op.name == "tf.norm":
        own = root.const("ord", "euclidean") in traits.EUCLIDEAN and here.same(
            quotient.value(param), root.value("x")
        )
        return root if own else None
    total = here.made_by(root.value("x"), "tf.reduce_sum", aligned=True)
    square = moments.squared(total.value("x")) if total is not None else None
    return (
        root if square is not None and here.same(square.value("x"), quotient.value(param)) else None
    )


def fixes(quotient: Site, param: str, norm: Site, here: Context) -> list[Fix]:
    reduction = reduction_of(norm, here)
    inside = [] if norm.op.name == "tf.math.rsqrt" else repairs.under_the_root(here, [norm])
    if (
        reduction is None
        or not reduction.complete
        or not norm.complete
        or not quotients.keeps_axis(reduction, quotient)
        or reduction.value("axis").kind == "sequence"
    ):
        return inside
    if norm.op.name == "tf.math.rsqrt" and not here.visible(norm, quotient):
        return []  # the helper with the root would stay behind
    half = quotient.value(param).dtype == "float16"
    if half and roots_in(plain(quotient.value(param))):
        # the derivative of the root times that of the quotient is beyond 65504
        here.no_fix = "the gradient of the root overflows in float16: normalize in float32"
        return []
    normalized = here.rewrite(
        quotient,
        "tf.math.l2_normalize({x}, axis={axis}, epsilon={eps})",
        title="use l2_normalize",
        claim=Claim.SHIFTED,
        cost=f"vectors shorter than {'1e-2' if half else '1e-6'} are scaled to less than 1; "
        "others change by 2 units in the last place",
        x=quotient.args[param],
        axis=argument(reduction, "axis", "axis"),
        eps="1e-4" if half else None,
    )
    # with other readers the norm needs a repair of its own, which is one of this quotient as well
    alone = half or here.only_reader(quotient, norm)
    return normalized + inside if alone else inside + normalized
