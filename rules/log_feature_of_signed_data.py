"""Logarithm of shifted input data that can be smaller than the shift allows.

`np.log(x + 1)` is meant for counts and prices, which begin at 0. For returns, differences or
standardised columns it is NaN below -1 and `-inf` at -1, often in a few rows only: the loss becomes
NaN when their batch comes. If NaN is replaced at the end of the network, the loss looks fine while
all weights are NaN.

See it:
    >>> import numpy as np
    >>> np.log(np.array([0.5, -1.0, -1.5]) + 1.0)
    array([0.40546511,       -inf,        nan])

Repair: use `sign(x) * log1p(abs(x))`, or `arcsinh(x)` | the feature is NaN below the shift and -inf
at it | the feature is finite for every number | the values of the feature: train again

Bad:
    features = np.log(np.random.randn(100, 4) + 3.0)
    model.fit(features, y)

Good:
    features = np.random.randn(100, 4)
    features = np.sign(features) * np.log1p(np.abs(features))
    model.fit(features, y)

For data of both signs take `sign(x) * log1p(abs(x))`, or `arcsinh(x)`; for data that should not be
negative, find out why it is. There is no automatic fix, because only you know which of the two
applies.

See also: https://numpy.org/doc/stable/reference/generated/numpy.log1p.html,
https://www.tensorflow.org/api_docs/python/tf/math/asinh

No public report known; included because executing it shows the problem.
"""

from __future__ import annotations

from tfnanlint.api import (
    INF,
    Certainty,
    Context,
    Finding,
    Iterator,
    Site,
    Value,
    number_text,
    rule,
    words,
)


@rule(
    "TFN807",
    "log-feature-of-signed-data",
    on="tf.math.log tf.math.log1p ops.log2 ops.log10",
    preview=True,
    arrays=True,
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.library != "np":
        return  # in a graph it is TFN101 and TFN405
    x, shift = shifted(site)
    if x is None or not x.known or x.lo >= -shift or x.kind == "number" or not below_zero(x):
        return
    yield here.finding(
        site,
        "x",
        f"logarithm of data {words(x)}, shifted by {number_text(shift)}: rows below "
        f"-{number_text(shift)} become NaN",
        Certainty.MAY,
        help="use sign(x) * log1p(abs(x)) for data of both signs",
    )


def shifted(site: Site) -> tuple[Value | None, float]:
    """(data, shift) of log(x + c) and log1p(x)."""
    x = site.value("x")
    if site.op.name == "tf.math.log1p":
        return x, 1.0
    total = x.origin
    if isinstance(total, Site) and total.op.name == "tf.add":
        for c, param in (("y", "x"), ("x", "y")):
            if total.value(c).exact and 0 < total.value(c).lo < INF:
                return total.value(param), total.value(c).lo
    return None, 0.0


def below_zero(x: Value) -> bool:
    return x.lo < 0 and (x.evident or x.lo > -INF)
