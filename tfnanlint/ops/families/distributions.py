"""Distributions of TensorFlow Probability, and those that TensorFlow 1 brought along: how they are
made, and which of their parameters must be positive or probabilities.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.table import op
from tfnanlint.ops.transfer import core as t
from tfnanlint.values.value import INF, unknown

_FLAGS: Final = "validate_args allow_nan_stats name"
_UNTESTED: Final = "a distribution, not a number"
# The parameters at which log_prob is NaN or Inf from 0 down, or the draws are NaN below 0: executed
# in TensorFlow Probability 0.25 and TensorFlow 1. A negative scale of StudentT or of a multivariate
# normal distribution is as good as its absolute value.
POSITIVE_PARAMETERS: Final = {
    f"tfp.distributions.{names.split()[0]}": tuple(names.split()[1:])
    for names in (
        "Normal scale",
        "LogNormal scale",
        "Laplace scale",
        "Logistic scale",
        "Cauchy scale",
        "Gumbel scale",
        "HalfNormal scale",
        "HalfCauchy scale",
        "TruncatedNormal scale",
        "LogitNormal scale",
        "Moyal scale",
        "Gamma concentration rate",
        "Exponential rate",
        "Poisson rate",
        "InverseGamma concentration scale",
        "Beta concentration1 concentration0",
        "Dirichlet concentration",
        "Chi2 df",
        "Weibull concentration scale",
        "Pareto concentration scale",
        "Kumaraswamy concentration1 concentration0",
        "StudentT df",
    )
}
# Those that are made with logits or with probabilities, of which log_prob takes the logarithm.
OF_CLASSES: Final = ("tfp.distributions.Categorical", "tfp.distributions.OneHotCategorical")
OF_PROBABILITIES: Final = (*OF_CLASSES, "tfp.distributions.Bernoulli")
_PARAMETERS: Final = {
    **dict.fromkeys(
        "Normal LogNormal Laplace Logistic Cauchy Gumbel HalfCauchy Moyal".split(), "loc scale"
    ),
    "HalfNormal": "scale",
    "TruncatedNormal": "loc scale low high",
    "LogitNormal": "loc scale",
    "Gamma": "concentration rate",
    **dict.fromkeys("Exponential Poisson".split(), "rate"),
    **dict.fromkeys("InverseGamma Weibull Pareto".split(), "concentration scale"),
    **dict.fromkeys("Beta Kumaraswamy".split(), "concentration1 concentration0"),
    "Dirichlet": "concentration",
    "Chi2": "df",
    "StudentT": "df loc scale",
    **dict.fromkeys("Categorical OneHotCategorical Bernoulli".split(), "logits probs"),
}

# What `tf.distributions` of TensorFlow 1 has of these.
_IN_FIRST_VERSION: Final = frozenset(
    "Bernoulli Beta Categorical Dirichlet Exponential Gamma Normal StudentT".split()
)

for _name, _params in _PARAMETERS.items():
    op(
        f"tfp.distributions.{_name}",
        f"tf.contrib.distributions.{_name}"
        + (f" tf.distributions.{_name}" if _name in _IN_FIRST_VERSION else ""),
        f"{_params} {_FLAGS}",
        lambda site: unknown(),
        main="",
        untested=_UNTESTED,
    )

op(
    "method.prob",
    "",
    "self value name",
    t.ranged(0.0, INF),
    main="value",
    untested="the density of a distribution: 0 where it underflows",
)

op(
    "method.cdf",
    "method.survival_function",
    "self value name",
    t.ranged(0.0, 1.0),
    main="value",
    untested="how much of a distribution lies below a number, or above it: 0 and 1 occur",
)
op(
    "method.log_prob",
    "",
    "self value name",
    t.anything,
    main="value",
    untested="the logarithm of a density: any number",
)
