"""Logarithm of a sum of exponentials.

In float32 `tf.exp(x)` overflows above 88.7 and underflows to 0 below -87: one large element makes
the result `inf`, all small ones make it `-inf`, and the gradient is NaN. `tf.reduce_logsumexp`
subtracts the largest element first.

See it:
    >>> x = tf.constant([100.0, 100.0])
    >>> float(tf.math.log(tf.reduce_sum(tf.exp(x))))
    inf
    >>> round(float(tf.reduce_logsumexp(x)), 3)
    100.693

Bad:
    log_z = tf.math.log(tf.reduce_sum(tf.exp(energy), axis=-1))

Good:
    log_z = tf.reduce_logsumexp(energy, axis=-1)

For a mean of exponentials, subtract the logarithm of the number of elements. An epsilon in the sum
(`log(sum(exp(x)) + eps)`) helps against small elements only. A sum of two exponentials that is
written out is reported too, and so is `tf.math.log(tf.cosh(x))`, which is
`tf.math.softplus(2.0 * x) - x - math.log(2.0)`. Nothing is reported where the maximum is subtracted
by hand, or where the exponents are known to be small.

For `tf.math.log(tf.exp(u) + tf.exp(v))` there is no fix, because the shapes of `u` and `v` are not
known: where they have the same shape, write `tf.reduce_logsumexp(tf.stack([u, v]), axis=0)`, else
bring them to one with `tf.broadcast_to` first. `tf.math.softplus(u - v) + v` is no replacement: for
`u = 3` and a masked `v = -1e9` it is 0 instead of 3, and for `v = -inf` it is NaN. Nor is
`tf.maximum(u, v) + tf.math.softplus(-tf.abs(u - v))`: where `u` and `v` are equal, it gives all of
the gradient to one of them. Only for `tf.exp(x) + tf.exp(-x)` the fix is a softplus.

See also: https://www.tensorflow.org/api_docs/python/tf/math/reduce_logsumexp

Seen in the wild:
https://github.com/keras-team/keras/issues/1061 (a mixture density network),
https://github.com/keras-team/keras/pull/8524 (the logarithm of a cosh)
"""

from tfnanlint.api import (
    Any,
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Site,
    added_exponentials,
    argument,
    ast,
    cannot_overflow,
    exponential_of,
    on_a_grid,
    rule,
    same,
    shifted_by_maximum,
    sum_stays_finite,
    tame,
    total_with_epsilon,
)


@rule(
    "TFN305",
    "logsumexp",
    on="tf.math.log",
    over="TFN101 TFN106 TFN307 TFN204 TFN206",
    fixes="logsumexp softplus",
)
def check(log: Site, here: Context) -> Iterator[Finding]:
    yield from check_total(log, here)
    yield from check_written_out(log, here)
    yield from check_cosh(log, here)


def check_total(log: Site, here: Context) -> Iterator[Finding]:
    """A sum or mean over an axis."""
    total, guard = total_with_epsilon(log.value("x"))
    exp = exponential_of(total.value("x")) if total is not None else None
    if total is None or exp is None:
        return
    x = exp.value("x")
    if shifted_by_maximum(x) or tame(x) or on_a_grid(x) or guard and sum_stays_finite(x):
        return
    fixes = []
    if total.complete and exp.complete and total.library != "method":
        fixes = stable(log, total, exp, guard, here)
    yield here.finding(
        log,
        "x",
        "logarithm of a sum of exponentials: inf once one overflows, -inf once all underflow",
        Certainty.MAY,
        fixes,
    )


def stable(log: Site, total: Site, exp: Site, guard: ast.expr | None, here: Context) -> list[Fix]:
    """reduce_logsumexp, for a mean less the logarithm of how many there are."""
    x, axis = argument(exp, "x", "exponents"), argument(total, "axis", "axis")
    keep: dict[str, Any] = dict(
        title="use reduce_logsumexp",
        claim=Claim.SHIFTED if guard else Claim.EQUAL,
        x=x,
        axis=axis,
        cost=f"sums below {here.text(guard)} are no longer raised to {here.text(guard)}"
        if guard
        else "",
        keepdims=argument(total, "keepdims", "keepdims"),
    )
    template = "tf.reduce_logsumexp({x}, axis={axis}, keepdims={keepdims})"
    if total.op.name == "tf.reduce_sum":
        return unshifted(log, exp, template, keep, here) or here.rewrite(log, template, **keep)
    if (
        guard is not None
        or total.given("keepdims")
        or log.library not in ("tf", "K")
        or not here.repeatable(exp.args["x"])
    ):
        return []
    keep["title"] = "use reduce_logsumexp minus the logarithm of the number of elements"
    if not total.given("axis"):
        return here.rewrite(
            log, f"{template} - tf.math.log(tf.cast(tf.size({{x}}), {{x}}.dtype))", **keep
        )
    if type(total.const("axis")) is not int:
        return []
    return here.rewrite(
        log, f"{template} - tf.math.log(tf.cast(tf.shape({{x}})[{{axis}}], {{x}}.dtype))", **keep
    )


def unshifted(
    log: Site, exp: Site, template: str, keep: dict[str, Any], here: Context
) -> list[Fix]:
    """The same without the maximum of all that is subtracted from the exponents and added to the
    logarithm: `log(sum(exp(x - m))) + m`.
    """
    outer = next(iter(here.around(log.node)), None)
    less = here.made_by(exp.value("x"), "tf.subtract")
    peak = here.made_by(less.value("y"), "tf.reduce_max") if less is not None else None
    if less is None or less.node is not exp.args["x"] or peak is None or peak.given("axis"):
        return []
    if not isinstance(outer, ast.BinOp) or not isinstance(outer.op, ast.Add):
        return []
    shift = outer.right if outer.left is log.node else outer.left
    if not isinstance(shift, ast.Name) or ast.dump(shift) != ast.dump(less.args["y"]):
        return []
    return here.rewrite(
        log, template, **{**keep, "node": outer, "x": argument(less, "x", "exponents")}
    )


def check_written_out(log: Site, here: Context) -> Iterator[Finding]:
    """Two exponentials or more with `+` between them."""
    exponentials = added_exponentials(log.value("x"))
    if len(exponentials) < 2:
        return
    exponents = [exp.value("x") for exp in exponentials]
    if all([cannot_overflow(x) or shifted_by_maximum(x) or on_a_grid(x) for x in exponents]):
        return
    yield here.finding(
        log,
        "x",
        "logarithm of a sum of exponentials: inf once one overflows, and its gradient NaN",
        Certainty.MAY,
        of_opposites(log, exponentials, here),
    )


def of_opposites(log: Site, exponentials: list[Site], here: Context) -> list[Fix]:
    """Softplus for `exp(x) + exp(-x)`: its derivative is finite everywhere."""
    here.no_fix = "if the exponents have the same shape, stack them for tf.reduce_logsumexp"
    total = log.value("x").origin
    if not isinstance(total, Site) or total.op.name != "tf.add":
        return []
    summands = [total.value(param).origin for param in ("x", "y")]
    if summands != exponentials or not all(exp.complete for exp in exponentials):
        return []
    for plain, partner in (exponentials, exponentials[::-1]):
        minus = here.made_by(partner.value("x"), "tf.negative", aligned=True)
        if minus is not None and same(minus.value("x"), plain.value("x")):
            return here.rewrite(
                log,
                "tf.math.softplus(2.0 * {x}) - {x}",
                title="use softplus",
                claim=Claim.EQUAL,
                x=argument(plain, "x", "exponent"),
            )
    return []


def check_cosh(log: Site, here: Context) -> Iterator[Finding]:
    """The cosh that TensorFlow has."""
    cosh = log.value("x").origin
    if not isinstance(cosh, Site) or cosh.op.name != "tf.cosh" or cosh.library in ("np", "math"):
        return
    if cannot_overflow(cosh.value("x")) and tame(cosh.value("x")):
        return
    yield here.finding(
        log,
        "x",
        "logarithm of a cosh: inf once it overflows, and its gradient NaN",
        Certainty.MAY,
        help="write tf.math.softplus(2.0 * x) - x - math.log(2.0)",
    )
