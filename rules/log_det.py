"""Logarithm of a determinant.

A determinant is a product of as many factors as the matrix has rows: of a 50 x 50 matrix with
entries around 0.1 it underflows to 0, around 10 it overflows, and its logarithm is -inf or inf
although the true value is an ordinary number. `tf.linalg.slogdet` adds the logarithms of the
factors instead, and gives the logarithm of the magnitude whatever the sign. `tf.linalg.logdet` is
for matrices that are certainly positive definite, such as a covariance with jitter: it uses a
Cholesky factor.

See it:
    >>> matrix = 0.1 * tf.eye(50)
    >>> float(tf.math.log(tf.linalg.det(matrix)))
    -inf
    >>> round(float(tf.linalg.slogdet(matrix)[1]), 3)
    -115.129

Bad:
    log_volume = tf.math.log(tf.linalg.det(covariance))

Good:
    log_volume = tf.linalg.slogdet(covariance)[1]

A matrix that is singular has no finite logarithm of its determinant in any form (and
`tf.linalg.slogdet` raises an error on the CPU; XLA compiles neither): add a small multiple of the
identity first.

See also: https://www.tensorflow.org/api_docs/python/tf/linalg/slogdet

TensorFlow says of tf.linalg.logdet that it is there because the determinant over- and underflows:
https://www.tensorflow.org/api_docs/python/tf/linalg/logdet

No public report known; included because executing it shows the problem.
"""

from tfnanlint.api import Certainty, Claim, Context, Finding, Fix, Iterator, Site, argument, rule


@rule("TFN313", "log-det", on="tf.math.log", over="TFN101", fixes="slogdet logdet")
def check(log: Site, here: Context) -> Iterator[Finding]:
    det = here.made_by(log.value("x"), "tf.linalg.det", aligned=True)
    absolute = here.made_by(log.value("x"), "tf.abs", aligned=True) if det is None else None
    if absolute is not None:
        det = here.made_by(absolute.value("x"), "tf.linalg.det", aligned=True)
    if det is None or det.library == "np":
        return
    yield here.finding(
        log,
        None,
        "logarithm of a determinant, which underflows or overflows for matrices of a few rows: "
        "the result is -inf or inf and the gradient NaN",
        Certainty.MAY,
        fixes(log, det, absolute is None, here),
        modes=("eager", "graph"),
    )


def fixes(log: Site, det: Site, signed: bool, here: Context) -> list[Fix]:
    if not det.complete:
        return []
    x = argument(det, "x", "matrix")
    slogdet_fixes = here.rewrite(
        log,
        "tf.linalg.slogdet({x})[1]",
        title="use slogdet",
        claim=Claim.EQUAL_WHERE_FINITE,
        x=x,
        cost="for a negative determinant the result is the logarithm of its magnitude"
        if signed
        else "",
    )
    if not slogdet_fixes or not signed:
        return slogdet_fixes  # the Cholesky factor alone is no repair for other matrices
    return slogdet_fixes + here.rewrite(
        log,
        "tf.linalg.logdet({x})",
        title="use logdet, for positive definite matrices only",
        claim=Claim.SHIFTED,
        x=x,
        cost="the result is NaN for a matrix that is not positive definite",
    )
