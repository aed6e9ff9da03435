"""Norm of a vector that can be zero: the value is 0, the gradient is NaN.

The derivative of the euclidean norm is `x / norm(x)`, and `0 / 0` is NaN. It happens where two
points coincide, where a mask clears a column, and in the gradient penalty of a WGAN as soon as a
critic of relu units is flat somewhere. One such row makes every weight NaN. Norms of order 1 and
inf, the spectral norm and `tf.math.l2_normalize` are safe; `tf.math.reduce_euclidean_norm` is not,
and XLA does not compile it. `tf.linalg.normalize` of zeros is NaN in the value as well, for every
order.

See it:
    >>> x = tf.constant([0.0, 0.0])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.norm(x)
    >>> tape.gradient(y, x).numpy()
    array([nan, nan], dtype=float32)

Bad:
    slopes = tf.norm(grads, axis=-1)

Good:
    slopes = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=-1) + 1e-30)

The gradient of a norm that goes into another norm or a square, or is multiplied by the vector
itself (the squash of a capsule network), is NaN under XLA only; this is not reported by default.

An epsilon outside, `tf.norm(x) + eps` or `tf.maximum(tf.norm(x), eps)`, does not help: the gradient
inside is NaN already. The double `tf.where` keeps the value exactly and gives a gradient of 0 at 0.
The number under the root should be small against ordinary lengths. Capsules start at 1e-9 or less,
and the gradients of a deep critic lower still: beside them 1e-12 takes most of the gradient away.
So the fix writes 1e-20 for a length, 1e-30 for that of a gradient, and 1e-12 for a distance and
where something is divided by the root, because there a smaller number makes huge gradients.

See also: https://www.tensorflow.org/api_docs/python/tf/norm

Often harmless: the norm of a parameter in a function whose callers pass values of unknown range.
Such a value is often the output of a model that ends in a bias or a normalisation.

Seen in the wild:
https://github.com/tensorflow/tensorflow/issues/12071 (the gradient of tf.norm, open since 2017),
https://github.com/tensorflow/tensorflow/issues/42889 (norm(y - f) / norm(y) as a loss),
https://github.com/jina-ai/finetuner/pull/34 (distances of equal embeddings)
"""

from tfnanlint.api import (
    INF,
    NO_CONSTANT,
    Certainty,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Site,
    evidence,
    filtered_elements,
    layer_outputs,
    masked_factors,
    plain,
    repairs,
    rule,
    traits,
    truth_only,
)


@rule(
    "TFN201",
    "norm-gradient-at-zero",
    on="tf.norm tf.math.reduce_euclidean_norm tf.linalg.normalize",
    default="MUST MAY UNKNOWN",
    silent="MAY/UNKNOWN/DOUBTFUL MAY/YES/XLA UNKNOWN/YES/XLA UNKNOWN/YES/DOUBTFUL",
    fixes="mask epsilon_inside float32",
)
def check(norm: Site, here: Context) -> Iterator[Finding]:
    x = norm.value("x")
    if not here.numeric(x) or not can_vanish(norm, here):
        return
    if not is_direction_of_zeros(norm) and (
        safe_order(norm) or norm.differentiated is Differentiated.NO
    ):
        return
    if (
        not x.known
        and norm.differentiated is not Differentiated.YES
        or not x.exact
        and truth_only(x, norm.point)
    ):
        return
    masked = masked_factors.is_masked_as_a_whole(x)
    certainty = (
        Certainty.MUST
        if x.lo == x.hi == 0
        else Certainty.MAY
        if x.known or masked
        else Certainty.UNKNOWN
    )
    what = (
        "direction of a zero vector: the result is 0 / 0"
        if norm.op.name == "tf.linalg.normalize"
        else "norm of a zero vector: the result is 0"
    )
    help = (
        "tf.math.l2_normalize(x, axis) gives 0 there, with a finite gradient"
        if norm.op.name == "tf.linalg.normalize"
        else ""
    )
    late = norm.op.name == "tf.norm" and here.flat_behind(norm)
    where = " under XLA; in other modes the operations after it keep the gradient 0" if late else ""
    yield here.finding(
        norm,
        "x",
        f"{what}, but its gradient is NaN{where}",
        certainty,
        fixes(norm, here, late, certainty),
        help=help,
        modes=("xla",) if late else ("eager", "graph", "xla"),
        doubtful=evidence.passed(x) or here.has_no_path(norm),
        kind="" if masked else layer_outputs.weakness_of_vector(x),
    )


def is_direction_of_zeros(norm: Site) -> bool:
    """Whether 0 / 0 is surely computed, of whatever order the norm is."""
    x = norm.value("x")
    return norm.op.name == "tf.linalg.normalize" and x.lo == x.hi == 0


def safe_order(norm: Site) -> bool:
    """Norms of order 1 and inf have finite gradients, the spectral norm (order 2 of a pair of axes)
    too.
    """
    order = norm.const("ord", "euclidean")
    if order is None or order == "euclidean" or norm.op.name == "tf.math.reduce_euclidean_norm":
        return False
    if order is NO_CONSTANT or order in (1, INF):
        return True
    return order == 2 and norm.value("axis").kind == "sequence"


def can_vanish(norm: Site, here: Context) -> bool:
    """Whether all elements can be 0 at once: not those of a softmax."""
    x, result = norm.value("x"), here.value(norm.node, norm.point)
    if isinstance(result.obj, tuple):  # the direction and the norm
        result = result.obj[-1]
    return (
        x.zero
        and result.zero
        and not x.guarded
        and not evidence.random_weight(x)
        and not evidence.made_by_keras(plain(x))
        and not evidence.has_ones(norm)
        and not evidence.has_constant_part(norm)
        and not filtered_elements.leaves_out_zero_rows(x)
    )


def fixes(norm: Site, here: Context, late: bool, certainty: Certainty) -> list[Fix]:
    if certainty is Certainty.UNKNOWN and not norm.given("axis"):
        here.no_fix = "an unknown tensor is rarely 0 everywhere"
        return []
    if norm.const("ord", "euclidean") not in traits.EUCLIDEAN:
        return []
    return repairs.norm_forms(here, norm, "the sum of squares under the root", late)
