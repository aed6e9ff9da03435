"""Logarithm of a value that can be zero or negative.

`tf.math.log(0)` is `-inf` with an infinite gradient, and below zero it is `NaN`. Softmax, sigmoid
and exp look safe but underflow to exactly 0 in float32, relu and counts are 0 by design, and
`tf.random.uniform` draws from a range that includes 0. One such element makes the loss infinite
and, one step later, every weight NaN.

See it:
    >>> tf.math.log([0.0, -1.0]).numpy()
    array([-inf,  nan], dtype=float32)

Bad:
    loss = -tf.reduce_mean(tf.math.log(tf.reduce_sum(probabilities * mask, axis=-1)))

Good:
    loss = -tf.reduce_mean(tf.math.log(tf.maximum(tf.reduce_sum(probabilities * mask, axis=-1), 1e-37)))

A floor (`tf.maximum(x, eps)`) leaves every value above eps unchanged, but its gradient is exactly 0
below eps. Probabilities of 1e-9 and densities of 1e-20 are ordinary, so the fix uses a floor below
all of them: 1e-37 in float32, 1e-8 under `1 - p` (which is 0 or at least 6e-8), and 1 under a
count. A configured epsilon is used instead. If the program shows which factor underflows, the fix
takes the logarithm factor by factor: `log(exp(-d) / s)` is `-d - log(s)`, `log(softmax(z)[i])` is
`log_softmax(z)[i]`, `log(x + sqrt(x^2 + 1))` is `asinh(x)`. No floor is offered under a density,
under a value that can be negative, and under an unknown value, because a floor would give a finite
result where the logarithm is undefined. If the logits are available, prefer a loss on logits, whose
gradient does not vanish. The double `tf.where` computes the logarithm of 1 at the masked elements,
so that it changes neither value nor gradient elsewhere. The 0 that it returns there is the best
score of a likelihood, so use it only for elements that are masked out anyway.

Often harmless, if no gradient is known to be taken: a logarithm that the function itself tests for
NaN or Inf; a logarithm of an unknown value that a method of an object returns, or that has the name
of a scale, a rate or degrees of freedom; the result of a call that cannot be resolved; the diagonal
of a matrix; a quotient whose dividend has an epsilon (`(y + 1e-7) / a`); and a function that only
wraps the logarithm. No gradient reaches a random draw, but the logarithm of one goes into the loss
all the same: it is harmless only where it ends in a ranking, such as `tf.argmax(logits + noise)`. The
logarithm of a spectrum in a `tf.data` map is reported as well: silence makes -inf of a feature.

See also: https://www.tensorflow.org/api_docs/python/tf/where (inner where on the input).

Seen in the wild: https://github.com/maxvfischer/keras-image-segmentation-loss-functions/pull/1 (a
focal loss that went NaN because of log(0)), https://github.com/mkocabas/focal-loss-keras/issues/17
(both ends of the probability), https://github.com/tensorflow/docs/pull/1943 (the empty bins of a
spectrogram)
"""

from tfnanlint.api import (
    INF,
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    evidence,
    filler,
    logarithm_arguments,
    named_count,
    named_scale,
    never_reached,
    repairs,
    rule,
    value_in_words,
    weakness_of_exponential,
)

CLIP_BOTH = "clip the probability to [1e-6, 1 - 1e-6] first: the quotient is infinite at 1, too"


@rule(
    "TFN101",
    "log-of-nonpositive",
    on="tf.math.log tf.math.log1p ops.log2 ops.log10",
    default="MUST MAY UNKNOWN",
    over="TFN307",
    silent="MAY/ANY/TESTS UNKNOWN/ANY/TESTS MAY/NO/DOUBTFUL UNKNOWN/NO MAY/UNKNOWN/DOUBTFUL "
    "UNKNOWN/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    fixes="mask log_factors floor",
)
def check(log: Site, here: Context) -> Iterator[Finding]:
    x = log.value("x")
    edge = -1.0 if log.op.name == "tf.math.log1p" else 0.0
    if not here.numeric(x) or not logarithm_arguments.may_reach(x, edge):
        return
    certainty = grade(log, edge, here)
    if certainty is None or here.hidden(log) or is_excluded(log, certainty, edge, here):
        return
    limit = "0" if edge == 0 else "-1"
    is_logit = not x.known and logarithm_arguments.is_odds(x)
    fixes = [] if is_logit else repairs.logarithm(here, log, edge=edge)
    if certainty is not Certainty.UNKNOWN:
        fixes += double_where(log, here, limit) if fixes and not fixes[0].claim.safe else []
    yield here.finding(
        log,
        "x",
        message(x, edge, certainty),
        certainty,
        fixes,
        help=CLIP_BOTH if is_logit else "",
        doubtful=is_doubtful(log, certainty, here),
        kind=weakness_of_exponential(x),
    )


def message(x: Value, edge: float, certainty: Certainty) -> str:
    """What is wrong: `logarithm of a value between 0 and 1: the result is -inf at 0`."""
    by_dividend = not x.known and certainty is Certainty.MAY
    what = "a quotient whose dividend can be 0" if by_dividend else value_in_words(x)
    effect = f"-inf at {edge:g}, NaN below"
    if x.known and x.hi < edge:
        effect = "NaN"
    elif x.known and x.lo == x.hi:
        effect = "-inf"
    elif x.known and x.lo >= edge:
        effect = f"-inf at {edge:g}"
    return f"logarithm of {what}: the result is {effect}"


def grade(log: Site, edge: float, here: Context) -> Certainty | None:
    """How sure it is that the edge is reached; None where too little is known to say anything."""
    x = log.value("x")
    certainty = here.grade(x, surely=x.hi <= edge)
    if certainty is Certainty.MUST:
        return (
            None
            if logarithm_arguments.is_fill_value(log, here.interpreter, here.around)
            else certainty
        )
    if certainty is Certainty.MAY and logarithm_arguments.is_magnitude(x):
        certainty = Certainty.UNKNOWN
    if certainty is Certainty.UNKNOWN:
        if edge == 0 and logarithm_arguments.has_zero_dividend(x):
            return Certainty.MAY
        # log1p of something unknown is what log(x + 1) is: the author has added a constant
        if edge != 0 or logarithm_arguments.comes_from_elsewhere(x) or named_count(log, "x"):
            return None
        if logarithm_arguments.is_kept_within_settings(x):
            return None
        if edge == 0 and logarithm_arguments.is_odds(x):
            return Certainty.MAY
        return None if logarithm_arguments.is_reciprocal_root(x) else certainty
    # One caller shows that any number can arrive, others cannot be followed.
    is_any_number = x.lo == -INF and x.hi == INF
    return None if is_any_number and logarithm_arguments.comes_from_elsewhere(x) else certainty


def is_excluded(log: Site, certainty: Certainty, edge: float, here: Context) -> bool:
    """Whether something in the program keeps the edge away, or asks for what is there."""
    x = log.value("x")
    if x.lo >= 0 and (here.only_drawn(log) or evidence.falling(x)):
        return True  # with draws alone, or 0 only where a divisor is infinite
    if certainty is Certainty.MUST:
        return False
    if here.asserted(log, "x") or logarithm_arguments.is_replaced_beyond_limit(x):
        return True
    if edge == 0 and logarithm_arguments.is_shifted_sum(x):
        return True
    if here.only_compared(log):
        return True  # a draw is accepted where `log(u) < ratio`: -inf is right there
    return edge == 0 and (x.lo >= 0 or not x.known) and here.tested(log, "x")


def is_doubtful(log: Site, certainty: Certainty, here: Context) -> bool:
    """Whether a logarithm is of a kind that is mostly harmless, as the page says."""
    if certainty is Certainty.MUST or here.draft:
        return False
    if here.tested_for_nan(log) or never_reached(log):
        return True
    if certainty is Certainty.UNKNOWN and is_trusted(log, here):
        return True
    if log.differentiated is not Differentiated.NO:
        return False
    x = log.value("x")
    if logarithm_arguments.is_one_hot(x):
        return here.only_compared(log, shown=True)
    goes_on = evidence.of_labels(x) or evidence.of_draws(x)
    if not (goes_on or logarithm_arguments.is_power_of_spectrum(x)) or here.only_compared(
        log, shown=True
    ):
        return True
    return x.lo >= 0 and here.only_ranked(log)


def is_trusted(log: Site, here: Context) -> bool:
    """Whether a value of which nothing is known is most likely positive: an object worked it out
    (`expert.variance_at(x)`), its name calls it a scale, or it is the diagonal of a matrix, which
    is mostly a triangular factor.
    """
    x = log.value("x")
    if evidence.worked_out(x) or logarithm_arguments.is_wrapped(log, here.interpreter):
        return True
    if here.made_by(x, "tf.linalg.diag_part") is not None:
        return True
    is_parameter = named_scale(log, "x") and logarithm_arguments.is_made_of_parameters(x)
    return is_parameter and not logarithm_arguments.is_factor(log, here.around)


def double_where(log: Site, here: Context, limit: str) -> list[Fix]:
    """log(x) where x is inside, 0 elsewhere: in a likelihood 0 is the best score, so this is not
    applied unasked.
    """
    return repairs.double_where(
        here,
        log,
        inside=f"{{x}} > {limit}",
        fill=filler(log, "x"),
        claim=Claim.SHIFTED,
        title="mask input and result: 0 where the logarithm is undefined",
        cost="result and gradient are 0 where the logarithm is undefined; use it only for "
        "elements that are masked out anyway",
    )
