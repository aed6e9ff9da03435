"""Logarithm of a probability that has a logarithm of its own.

`tf.math.log(dist.prob(x))` exponentiates a log-density to take the logarithm again: 14 standard
deviations from the mean of a normal distribution, or in a few hundred dimensions anywhere, the
density underflows to 0 and the logarithm is -inf with a NaN gradient. `dist.log_prob(x)` never
leaves the logarithm.

So do distribution functions: `dist.cdf(x)` rounds to 0 far below the mean and
`dist.survival_function(x)` far above it, where `log_cdf` and `log_survival_function` stay finite.

A density that is written out, `exp(-(x - mean)^2 / (2 * std^2)) / (std * sqrt(2 * pi))`, underflows
in the same way; with an epsilon under the logarithm its gradient is 0 there. The exponent and the
logarithms of the factors add up to the same number.

`log(1 - tanh(x)^2)`, the correction of a squashed Gaussian policy, is -inf as soon as tanh rounds
to 1, at 8.7 in float32; with an epsilon inside it is a constant there and its gradient 0.
`2 * (log(2) - x - softplus(-2 * x))` is the same function, finite for every `x`, within 2e-7.
An epsilon that float32 can tell from 0 beside 1, such as 1e-6, is felt before that: it takes a
tenth of the gradient at 6.5. There the formula is another function, so it is not offered as a fix.

See it:
    >>> x = tf.constant(20.0)
    >>> float(tf.math.log(tf.exp(-tf.square(x) / 2.0) / 2.5066283))
    -inf
    >>> float(tf.math.log(1.0 - tf.square(tf.tanh(x))))
    -inf

Bad:
    log_likelihood = tf.math.log(dist.prob(x))

Bad:
    std = tf.exp(log_std)
    density = tf.exp(-tf.square(x - mean) / (2.0 * std**2)) / (std * 2.5066283)
    log_likelihood = tf.math.log(density + 1e-8)

Bad:
    correction = tf.math.log(1.0 - tf.square(tf.tanh(raw)))

Good:
    log_likelihood = dist.log_prob(x)

Good:
    log_likelihood = -0.5 * tf.square((x - mean) * tf.exp(-log_std)) - log_std - 0.9189385

Good:
    correction = 2.0 * (0.6931472 - raw - tf.math.softplus(-2.0 * raw))

Where only the squashed action is known, keep the value before tanh as well (`tfp.bijectors.Tanh`
does).

Often harmless: a density whose logarithm the function itself tests for NaN or Inf, if no gradient
is known to be taken.

See also:
https://www.tensorflow.org/probability/api_docs/python/tfp/distributions/Distribution#log_prob
https://github.com/tensorflow/probability/issues/233 and
https://github.com/rlworkgroup/garage/issues/1174
"""

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    argument,
    ast,
    densities,
    leaf,
    moments,
    rule,
    survives,
    traits,
)

# what the methods of a distribution give, and what gives its logarithm
LOGARITHMS = {
    "prob": ("a density, which underflows to 0 far from the mean", "log_prob"),
    "cdf": ("a distribution function, which rounds to 0 far below the mean", "log_cdf"),
    "survival_function": (
        "a survival function, which rounds to 0 far above the mean",
        "log_survival_function",
    ),
}
LOG_2 = "0.6931471805599453"


@rule(
    "TFN312",
    "log-of-prob",
    on="tf.math.log",
    over="TFN101 TFN307",
    silent="MAY/NO/DOUBTFUL MAY/UNKNOWN/DOUBTFUL",
    fixes="log_prob softplus",
)
def check(log: Site, here: Context) -> Iterator[Finding]:
    prob = here.made_by(log.value("x"), "method.prob", "method.cdf", aligned=True)
    if prob is not None and log.library != "np":
        yield from of_method(log, prob, here)
        return
    x = log.value("x")
    density = densities.logged_density(x) if here.numeric(x) else None
    # TFN101 says it of a known one that nothing is added to
    if density is not None and (densities.guards(x) or not x.known):
        yield here.finding(
            log,
            "x",
            written_out(log, density),
            Certainty.MAY,
            help="add the exponent and the logarithms of the factors: none of them underflows"
            if density.op.name == "tf.exp"
            else "use log_prob, and the logarithms of the other factors",
            doubtful=here.tested_for_nan(log),
        )
        return
    tanh, eps = squashed(log.value("x"))
    if tanh is None or not here.numeric(tanh.value("x")):
        return
    effect = (
        "because of the epsilon the gradient is 0 beyond that"
        if eps
        else "the result is -inf and the gradient NaN beyond that"
    )
    fixes = correction(log, tanh, eps, here)
    yield here.finding(
        log,
        "x",
        f"log(1 - tanh(x)^2): tanh rounds to 1 at 8.7 (in float32), and {effect}",
        Certainty.MAY,
        fixes,
        help="" if fixes else "2 * (log(2) - x - softplus(-2 * x)) is the same without the epsilon",
    )


def written_out(log: Site, density: Site) -> str:
    what = "a density written with exp" if density.op.name == "tf.exp" else "a density"
    effect = (
        "only the epsilon is left there, and the gradient is 0"
        if densities.guards(log.value("x"))
        else "the result is -inf and the gradient NaN"
    )
    return f"logarithm of {what}, which underflows to 0 far from the mean: {effect}"


def of_method(log: Site, prob: Site, here: Context) -> Iterator[Finding]:
    """log(dist.prob(x)), log(dist.cdf(x))."""
    what, name = LOGARITHMS[leaf(prob.node.func) if isinstance(prob.node, ast.Call) else "prob"]
    yield here.finding(
        log,
        "x",
        f"logarithm of {what}: the result is -inf and the gradient NaN; {name} stays finite",
        Certainty.MAY,
        log_prob(log, prob, here) if prob.op.name == "method.prob" else [],
        doubtful=here.tested_for_nan(log),
    )


def log_prob(log: Site, prob: Site, here: Context) -> list[Fix]:
    if not prob.complete:
        return []
    return here.rewrite(
        log,
        "{dist}.log_prob({x})",
        title="use log_prob",
        claim=Claim.EQUAL,
        x=argument(prob, "value", "sample"),
        dist=argument(prob, "self", "distribution"),
    )


def squashed(value: Value) -> tuple[Site | None, float]:
    """The tanh in 1 - tanh(x)^2, and the small number that is added to it."""
    site = value.origin
    eps = 0.0
    if isinstance(site, Site) and site.op.name in traits.FLOORS:
        for param, eps_param in (("x", "y"), ("y", "x")):
            if site.value(eps_param).exact and 0 < site.value(eps_param).lo < 0.1:
                site, eps = site.value(param).origin, site.value(eps_param).lo
                break
    if not isinstance(site, Site) or site.op.name != "tf.subtract":
        return None, 0.0
    minuend = site.value("x")
    if not minuend.exact or not 1 <= minuend.lo < 1.1:
        return None, 0.0
    square = moments.squared(site.value("y"))
    tanh = square.value("x").origin if square is not None else None
    return (
        (tanh, max(eps, minuend.lo - 1.0))
        if isinstance(tanh, Site) and tanh.op.name == "tf.tanh" and tanh.complete
        else (None, 0.0)
    )


def correction(log: Site, tanh: Site, eps: float, here: Context) -> list[Fix]:
    """The form without tanh; none where an epsilon decides the gradient before tanh rounds to 1."""
    if survives(str(eps), "margin", here.precision(log.value("x")).dtype):
        here.no_fix = f"the epsilon bounds the result from 1 - tanh(x)^2 = {eps:g} on"
        return []
    return here.rewrite(
        log,
        f"2.0 * ({LOG_2} - {{x}} - tf.math.softplus(-2.0 * {{x}}))",
        title="use softplus of the argument of tanh",
        claim=Claim.SHIFTED,
        x=argument(tanh, "x", "raw"),
        cost="values change by 2e-7"
        + ("; beyond 8 they go on to fall, instead of the logarithm of the epsilon" if eps else ""),
    )
