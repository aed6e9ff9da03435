"""Square root of an exponential.

`sqrt(exp(x))` overflows for `x` above 88.7 in float32, where `exp(x / 2)` is an ordinary number,
and below -87 the exponential underflows to 0, where the derivative of the square root is infinite:
the gradient is NaN. Written as `exp(0.5 * x)` it is the same function with neither problem. It is
typical of a standard deviation computed from a log-variance. The reciprocal, `rsqrt(exp(x))`, is
infinite below -87; `exp(-0.5 * x)` is not.

See it:
    >>> float(tf.sqrt(tf.exp(100.0))), float(tf.exp(0.5 * 100.0)) < 6e21
    (inf, True)

Bad:
    stddev = tf.sqrt(tf.exp(log_var))

Good:
    stddev = tf.exp(0.5 * log_var)

See also: https://www.tensorflow.org/api_docs/python/tf/math/exp

No public report known; included because executing it shows the problem.
"""

from tfnanlint.api import (
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
    rule,
    tame,
)


@rule(
    "TFN309",
    "half-exp",
    on="tf.sqrt K.sqrt tf.math.rsqrt tf.pow",
    needs="exp( exp) exp, exponential",
    over="TFN102 TFN104 TFN106 TFN202 TFN204 TFN206",
    fixes="half_exp log_factors",
)
def check(root: Site, here: Context) -> Iterator[Finding]:
    if not root.may_be_made_by(root.op.main, "tf.exp"):
        return
    exp = exponential_of(root.value(root.op.main))
    if exp is None or tame(exp.value("x")):
        return
    power = {"tf.pow": root.const("y"), "tf.math.rsqrt": -0.5}.get(root.op.name, 0.5)
    if power not in (0.5, -0.5):
        return
    fixes = []
    # half of the exponent does not underflow where the exponential does: a test for 0 would tell
    # the two apart
    kept = exp.complete and not here.masks.compared(root)
    if kept and exp.value("x").kind != "number":
        fixes = of_logarithm(root, exp, power, here) or here.rewrite(
            root,
            "tf.exp({half} * {x})",
            title="halve the exponent instead",
            claim=Claim.EQUAL,
            half=str(power),
            x=argument(exp, "x", "exponent"),
        )
    what, end = (
        ("square root", "NaN gradient below -87 (in float32), inf above 88")
        if power > 0
        else ("reciprocal square root", "inf below -87 (in float32)")
    )
    yield here.finding(
        root,
        root.op.main,
        f"{what} of an exponential: {end}",
        Certainty.MAY,
        fixes,
    )


def of_logarithm(root: Site, exp: Site, power: float, here: Context) -> list[Fix]:
    """The difference that the logarithm of a quotient with the root is, log(a / sqrt(exp(x))): half
    of the exponent alone would leave an exponential that underflows.
    """
    quotient, log = [*here.around(root.node), None, None][:2]
    if not isinstance(quotient, ast.BinOp) or not isinstance(log, ast.Call):
        return []
    site = here.site(log, root.point) if root.point is not None else None
    if site is None or site.op.name != "tf.math.log" or site.args.get("x") is not quotient:
        return []
    if not isinstance(quotient.op, ast.Div):
        return []
    is_divisor = quotient.right is root.node
    beside = quotient.left if is_divisor else quotient.right
    difference = (
        "tf.math.log({a}) - {half} * {x}" if is_divisor else "{half} * {x} - tf.math.log({a})"
    )
    return here.rewrite(
        site,
        difference,
        title="take the logarithm factor by factor",
        claim=Claim.EQUAL,
        half=str(power),
        x=argument(exp, "x", "exponent"),
        a=beside,
    )
