"""Factorisation or inverse of a matrix that can be singular.

`X @ X^T` of fewer features than rows, or of two equal rows, has no inverse, and by rounding it is
often not even positive semidefinite. `tf.linalg.cholesky` and `tf.linalg.logdet` then return NaN on
the CPU without an error. `tf.linalg.inv` and `tf.linalg.solve` stop with "Input is not invertible";
compiled by XLA they do not stop: the result is NaN, or rounding errors of 10^5 and more.
`tf.linalg.slogdet` gives -inf, and its gradient stops with that error (executed on TensorFlow
2.21). `tf.linalg.sqrtm` of a real matrix that has no real square root is NaN as well: one of
negative eigenvalues, or of a product of covariances that rounding brought below 0, and the matrix
of zeros.

See it:
    >>> x = tf.constant([[0.1, 0.3], [0.3, 0.9]])
    >>> float(tf.linalg.logdet(tf.matmul(x, x, transpose_b=True)))
    nan

Bad:
    factor = tf.linalg.cholesky(tf.matmul(x, x, transpose_b=True))

Good:
    gram = tf.matmul(x, x, transpose_b=True)
    factor = tf.linalg.cholesky(gram + 1e-4 * tf.eye(tf.shape(gram)[-1], dtype=gram.dtype))

The jitter on the diagonal has to be large against the rounding of the largest entry: about 1e-6 of
it in float32 (1e-6 itself was too little for a 3 x 3 matrix of rank 2), 1e-12 of it in float64,
where a larger one does no harm. Compute in float64 if you can. A matrix that is not a product with
its own transpose is reported with `certainty = "unknown"` only, because nothing is known about it.

With `target-tensorflow` below 2.1 (`svd`) or 2.4 (`eigh`), gradients through these are reported
too: there they divide by the differences of the values, which are 0 for a multiple of the identity.

See also: https://www.tensorflow.org/api_docs/python/tf/linalg/cholesky
https://github.com/tensorflow/probability/issues/1291 and https://github.com/tnakae/DAGMM/issues/21

Seen in the wild:
https://github.com/GPflow/GPflow/issues/503 (a likelihood without noise)
"""

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Named,
    Site,
    Value,
    frameworks,
    is_kernel_matrix,
    plain,
    rule,
    site_behind,
)

SCALES = {"tf.divide": ("x",), "tf.multiply": ("x", "y")}
# What these give has an inverse wherever it is a number at all.
REGULAR = ("tf.linalg.triangular_solve", "tf.linalg.cholesky", "tf.linalg.inv", "tf.linalg.expm")
# What their gradients divided by the differences of, and the release that no longer does.
MENDED = {"tf.linalg.svd": ("singular values", "2.1"), "tf.linalg.eigh": ("eigenvalues", "2.4")}
# What comes of a singular matrix: executed eagerly and under XLA.
RAISED = (
    "TensorFlow stops with 'Input is not invertible'; under XLA the result is NaN or only "
    "rounding errors"
)
PRODUCT = "a product of a matrix with itself, which can be singular"
KERNEL = "a kernel matrix, which is singular but for rounding where points are equal or close"
UNKNOWN = "a matrix about which nothing is known and which may be singular"
EFFECTS = {
    "tf.linalg.inv": RAISED,
    "tf.linalg.solve": RAISED,
    "tf.linalg.slogdet": "the logarithm is -inf, and the gradient stops with 'Input is not "
    "invertible'",
}


@rule(
    "TFN108",
    "singular-matrix",
    on="tf.linalg.cholesky tf.linalg.inv tf.linalg.solve tf.linalg.logdet tf.linalg.slogdet "
    "tf.linalg.svd tf.linalg.eigh tf.linalg.sqrtm",
    fixes="jitter",
)
def check(factored: Site, here: Context) -> Iterator[Finding]:
    x = factored.value("x")
    if not here.numeric(x) or x.kind == "number":
        return
    if factored.op.name in MENDED:
        yield from equal_values(factored, here)
        return
    product = gram(x, here)
    if factored.op.name == "tf.linalg.sqrtm":
        yield from without_root(factored, product, here)
        return
    is_kernel = is_kernel_matrix(x)
    if product is None and not is_kernel and (x.known or x.guarded or isinstance(x.origin, Site)):
        return
    what = KERNEL if is_kernel else UNKNOWN if product is None else PRODUCT
    effect = EFFECTS.get(factored.op.name, "the result and its gradient are NaN")
    yield here.finding(
        factored,
        None,
        f"{factored.op.name.rpartition('.')[2]} of {what}: {effect}",
        Certainty.MAY if product is not None or is_kernel else Certainty.UNKNOWN,
        fixes(factored, here),
        kind="normal-equations" if solves_data(factored) else "",
    )


def without_root(factored: Site, product: Site | None, here: Context) -> Iterator[Finding]:
    """The square root of a real matrix whose numbers may be below 0, or of a product that rounding
    can give a negative eigenvalue.
    """
    x = factored.value("x")
    if x.guarded or x.positive or x.dtype in ("complex64", "complex128"):
        return
    yield here.finding(
        factored,
        None,
        "square root of a real matrix: if an eigenvalue is below 0 there is no real root, and the "
        "result is NaN",
        Certainty.MAY if product is not None or x.known and x.lo < 0 else Certainty.UNKNOWN,
        help="compute with complex numbers, or take the roots of the eigenvalues of tf.linalg.eigh",
    )


def solves_data(factored: Site) -> bool:
    """Whether an inverse or a solution is computed of which no gradient is known to be taken, or a
    factor of which none is taken.
    """
    if factored.op.name == "tf.linalg.cholesky":
        return factored.differentiated is Differentiated.NO
    return (
        EFFECTS.get(factored.op.name) == RAISED
        and factored.differentiated is not Differentiated.YES
    )


def equal_values(factored: Site, here: Context) -> Iterator[Finding]:
    """Old releases divide by the differences of singular values or eigenvalues."""
    if factored.differentiated is Differentiated.YES:
        name = factored.op.name.rpartition(".")[2]
        yield here.finding(
            factored,
            None,
            f"the gradient of {name} is NaN where two {MENDED[factored.op.name][0]} are equal",
            Certainty.MAY,
            fixed_in=MENDED[factored.op.name][1],
        )


def gram(value: Value, here: Context, depth: int = 3) -> Site | None:
    """The product of a matrix with its own transpose that a value is, or is a multiple of."""
    value = plain(value)
    scaled = here.made_by(value, *SCALES) if depth else None
    if scaled is not None:
        grams = (gram(scaled.value(param), here, depth - 1) for param in SCALES[scaled.op.name])
        return next((one for one in grams if one is not None), None)
    product = here.made_by(value, "tf.matmul")
    if product is None or not turned(product):
        return None
    factor = plain(product.value("x"))
    is_regular = here.made_by(factor, *REGULAR) is not None
    return product if not is_regular and here.same(factor, plain(product.value("y"))) else None


def made_of_arrays(value: Value, here: Context) -> bool:
    """Whether a matrix is the product of fixed data with itself: of `tf.constant(design)`, or of
    what NumPy made.
    """
    product = gram(value, here)
    factor = site_behind(plain(product.value("y"))) if product is not None else None
    return factor is not None and (factor.op.name == "tf.constant" or factor.library == "np")


def turned(product: Site) -> bool:
    """Whether one of the two factors is transposed."""
    if any(product.given(flag) and product.const(flag) is True for flag in frameworks.TRANSPOSING):
        return True
    return any(
        isinstance(origin := product.value(param).origin, Site) and origin.op.name == "tf.transpose"
        for param in ("x", "y")
    )


def fixes(factored: Site, here: Context) -> list[Fix]:
    x = factored.args.get("x")
    if x is None:
        return []
    if made_of_arrays(factored.value("x"), here):
        here.no_fix = "the data are fixed, and a multiple of the identity would move the solution"
        return []
    eps = "1e-6" if factored.value("x").dtype == "float64" else "1e-4"
    matrix = x if here.repeatable(x) else Named("matrix", "{x}", {"x": x})
    return here.rewrite(
        factored,
        f"{{m}} + {eps} * tf.eye(tf.shape({{m}})[-1], dtype={{m}}.dtype)",
        node=x,
        m=matrix,
        title="add a small multiple of the identity",
        claim=Claim.SHIFTED,
        cost=f"every eigenvalue grows by {eps}, which matters where eigenvalues are as small",
    )
