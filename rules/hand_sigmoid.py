"""Sigmoid or tanh written out with exponentials.

`1 / (1 + exp(-x))` overflows inside for `x` below -88.7 (float32; -11.1 in float16): the value is
still 0, but its gradient is `0 * inf`, NaN. `(exp(x) - exp(-x)) / (exp(x) + exp(-x))` is
`inf / inf` from 88.7 on, in the value as well. `tf.sigmoid` and `tf.tanh` are finite everywhere.

See it:
    >>> x = tf.constant(-100.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = 1.0 / (1.0 + tf.exp(-x))
    >>> float(tape.gradient(y, x))
    nan

Bad:
    gate = 1.0 / (1.0 + tf.exp(-scores))

Good:
    gate = tf.sigmoid(scores)

The derivative of `tf.sigmoid` is computed from its result, `y * (1 - y)`, which for `x` of 10 and
more is up to 5 bits less accurate than that of the written form. Nothing is reported where `x` is
bounded, as in `1 / (1 + exp(-abs(x)))`.

See also: https://www.tensorflow.org/api_docs/python/tf/math/sigmoid

No public report known; included because executing it shows the problem.
"""

import math

from tfnanlint.api import (
    Certainty,
    Changed,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Part,
    Site,
    Value,
    argument,
    ast,
    cannot_overflow,
    exponential_beside_one,
    exponential_of,
    rule,
    tanh_by_hand,
)


@rule(
    "TFN311",
    "hand-sigmoid",
    on="tf.divide tf.math.reciprocal",
    needs="exp( exp) exp, exponential",
    over="TFN102 TFN106",
    fixes="sigmoid tanh",
)
def check(quotient: Site, here: Context) -> Iterator[Finding]:
    if quotient.op.name == "tf.divide":
        tangent = tanh_by_hand(quotient)
        if tangent is not None:
            yield from tanh(quotient, tangent, here)
            return
    divisor = "y" if quotient.op.name == "tf.divide" else "x"
    if not quotient.may_be_made_by(divisor, "tf.add"):
        return
    exp = exponential_beside_one(quotient.value(divisor))
    if exp is None or cannot_overflow(exp.value("x")) or not here.numeric(exp.value("x")):
        return
    if Differentiated.NO in (quotient.differentiated, exp.differentiated):
        return  # the value itself is right: 1 / inf is 0
    yield here.finding(
        quotient,
        None,
        f"sigmoid written as 1 / (1 + exp(-x)): below -{largest(exp.value('x'))} the "
        "exponential overflows and the gradient is NaN",
        Certainty.MAY,
        sigmoid(quotient, exp, here) if exp.complete else [],
        kind="written-sigmoid",
    )


def largest(x: Value) -> str:
    """The largest number with a finite exponential, in words: 88 (float32)."""
    return f"{int(math.log(x.limits.max))} ({x.dtype or 'float32'})"


def sigmoid(quotient: Site, exp: Site, here: Context) -> list[Fix]:
    """The numerator times the sigmoid; exp(x) / (1 + exp(x)) is the sigmoid itself."""
    holes: dict = {"z": argument(exp, "x", "exponent")}
    template = "tf.sigmoid(-{z})"
    negated = exp.value("x").origin
    exponent = exp.args["x"]
    written = exp.node in ast.walk(quotient.node)
    if (
        isinstance(negated, Site)
        and negated.op.name == "tf.negative"
        and negated.node is exponent
        and negated.complete
    ):
        holes, template = {"z": argument(negated, "x", "logits")}, "tf.sigmoid({z})"
    elif written and (parts := opposed(exponent, exp, here)):
        holes, template = {"z": Changed(exponent, parts)}, "tf.sigmoid({z})"
    if quotient.op.name == "tf.divide" and not (
        quotient.value("x").exact and quotient.value("x").lo == 1
    ):
        same = exponential_of(quotient.value("x"))
        if same is not None and here.same(same.value("x"), exp.value("x")):
            holes, template = {"z": argument(exp, "x", "logits")}, "tf.sigmoid({z})"
        else:
            template, holes["n"] = f"{{n}} * {template}", quotient.args["x"]
    complement = None
    if template == "tf.sigmoid(-{z})":
        complement = one_minus(quotient, here)
        template = "tf.sigmoid({z})" if complement is not None else template
    return here.rewrite(
        quotient,
        template,
        node=complement,
        title="use sigmoid",
        claim=Claim.EQUAL_WHERE_FINITE,
        **holes,
        cost="for x above 10 the gradient, which is below 1e-4 there, loses up to 5 bits",
    )


def one_minus(quotient: Site, here: Context) -> ast.BinOp | None:
    """The difference `1 - quotient` around a quotient; None where there is no such."""
    outer = next(iter(here.around(quotient.node)), None)
    if not isinstance(outer, ast.BinOp) or not isinstance(outer.op, ast.Sub):
        return None
    is_one = isinstance(outer.left, ast.Constant) and outer.left.value == 1
    return outer if is_one and outer.right is quotient.node else None


def opposed(x: ast.expr, exp: Site, here: Context) -> list[Part]:
    """What makes an expression its own negative without a minus sign in front; [] where that needs
    one.
    """
    match x:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return [(x, "{v}", {"v": operand})]
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return opposed(left, exp, here) or opposed(right, exp, here)
        case ast.BinOp(op=ast.Div(), left=left):
            return opposed(left, exp, here)
        case ast.BinOp(op=ast.Sub(), left=left, right=right):
            return [(x, "{b} - {a}", {"a": left, "b": right})]
        case ast.BinOp(op=ast.Add(), left=left, right=right) if parts := opposed(left, exp, here):
            return [(x, "{a} - {b}", {"a": Changed(left, parts), "b": right})]
        case ast.Call(args=[left, right]):
            site = here.site(x, exp.point) if exp.point is not None else None
            is_product = site is not None and site.op.name == "tf.multiply"
            return opposed(left, exp, here) or opposed(right, exp, here) if is_product else []
    return []


def tanh(quotient: Site, exp: Site, here: Context) -> Iterator[Finding]:
    x = exp.value("x")
    if cannot_overflow(x) and x.lo > -math.log(x.limits.max):
        return
    fixes = (
        here.rewrite(
            quotient,
            "tf.tanh({x})",
            title="use tanh",
            claim=Claim.EQUAL,
            x=argument(exp, "x", "inner"),
        )
        if exp.complete
        else []
    )
    yield here.finding(
        quotient,
        None,
        f"tanh written with exponentials: beyond {largest(x)} the result is inf / inf, so it "
        "and its gradient are NaN",
        Certainty.MAY,
        fixes,
    )
