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
(`log(sum(exp(x)) + eps)`) helps against small elements only. Nothing is reported where the maximum
is subtracted by hand, or where the exponents are known to be small.

See also: https://www.tensorflow.org/api_docs/python/tf/math/reduce_logsumexp

Seen in the wild:
https://github.com/keras-team/keras/issues/1061 (a mixture density network)
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
    argument,
    ast,
    exponential_of,
    on_a_grid,
    rule,
    shifted_by_maximum,
    tame,
    traits,
)


@rule(
    "TFN305",
    "logsumexp",
    on="tf.math.log",
    over="TFN101 TFN106 TFN307 TFN204 TFN206",
    fixes="logsumexp",
)
def check(log: Site, here: Context) -> Iterator[Finding]:
    total, guard = summed(log)
    exp = exponential_of(total.value("x")) if total is not None else None
    if exp is None:
        return
    x = exp.value("x")
    if shifted_by_maximum(x) or tame(x) or on_a_grid(x) or guard and x.hi <= 60:
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


def summed(log: Site):
    """(the sum or mean that is logged, the expression of an epsilon added to it)."""
    site = log.value("x").origin
    if not isinstance(site, Site):
        return None, None
    if site.op.name in traits.TOTALS:
        return site, None
    if site.op.name == "tf.add":
        for param, eps_param in (("x", "y"), ("y", "x")):
            inner, eps = site.value(param).origin, site.value(eps_param)
            if (
                isinstance(inner, Site)
                and inner.op.name == "tf.reduce_sum"
                and eps.exact
                and 0 < eps.lo < 0.01
            ):
                return inner, site.args.get(eps_param)
    return None, None
