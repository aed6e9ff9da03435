"""exp(x) - 1 where x can be small: expm1 keeps the digits that the difference drops.

Next to 1, float32 keeps steps of 1.2e-7: for `x` of 1e-8 the exponential is exactly 1 and the
difference exactly 0, for 1e-4 it is wrong in the fourth digit. `tf.math.expm1` is right to the last
digit, with the same gradient; `1 - exp(x)` is `-expm1(x)`. TensorFlow's graph optimizer rewrites
`exp(x) - 1` in a `tf.function` in this way; eager code and XLA lose the digits.

See it:
    >>> float(tf.exp(1e-8) - 1.0)
    0.0
    >>> tf.math.expm1([1e-8]).numpy()
    array([1.e-08], dtype=float32)

Repair: `expm1` | the digits of a small `x` are lost, and below 6e-8 the result is 0 | the result is
right to the last digit |

Bad:
    growth = tf.exp(rate) - 1.0

Good:
    growth = tf.math.expm1(rate)

Nothing is reported where `x` cannot come near 0, where the same function takes expm1 of the same
value, where the difference is only compared with something (`abs(ratio - 1) > 0.2`), where the last
digits are lost in a later sum anyway (`0.5 + 0.5 * sign(z) * (1 - exp(-abs(z)))`), and where
nothing is differentiated. The overflow for large `x` is the same in both forms.

Often harmless: a difference by which nothing is divided, because its error is at most 6e-8, which
only a quotient makes large.

See also: https://www.tensorflow.org/api_docs/python/tf/math/expm1

Why differences of nearly equal numbers lose digits:
https://docs.oracle.com/cd/E19957-01/806-3568/ncg_goldberg.html

No public report known; included because executing it shows the problem.
"""

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    argument,
    ast,
    cannot_overflow,
    exponential_of,
    repairs,
    rule,
    suggested,
    traits,
)

NEAR = 0.01  # next to 1, numbers below lose two digits and more
SMALL = 1e-3
LOST = 6e-8  # below this 1 - exp(x) is 0 in float32


@rule(
    "TFN308",
    "expm1",
    on="tf.subtract",
    needs="exp( exp) exp, exponential",
    silent="MAY/YES/DOUBTFUL",
    fixes="expm1",
)
def check(minus: Site, here: Context) -> Iterator[Finding]:
    for param, constant_param, sign in (("x", "y", ""), ("y", "x", "-")):
        maker, less = minus.maker(param), minus.args.get(constant_param)
        if (
            maker is not None
            and maker.name != "tf.exp"
            or maker is None
            and not (isinstance(less, ast.Constant) and less.value == 1)
        ):
            continue
        constant = minus.value(constant_param)
        exp = exponential_of(minus.value(param)) if constant.exact and constant.lo == 1 else None
        if exp is not None and exp.complete:
            break
    else:
        return
    x = exp.value("x")
    if not here.numeric(x) or x.kind == "number" or x.lo > NEAR or x.hi < -NEAR or x.exact:
        return
    if (
        minus.differentiated is Differentiated.NO
        or compared(minus, here)
        or beside(minus, x, here)
        or absorbed(minus, here)
    ):
        return
    if is_floored(minus, here):
        here.no_fix = "a floor is put under the result, and the digits that are lost are below it"
    if not sign and not cannot_overflow(x) and under_logarithm(minus, here):
        here.no_fix = "expm1 overflows as well: log(exp(x) - 1) is x + log(-expm1(-x))"
    fixes: list[Fix] = []
    if not here.no_fix:
        template = f"{sign}tf.math.expm1({{x}})"
        x_as_written = argument(exp, "x", "exponent")
        fixes = here.rewrite(minus, template, title="use expm1", claim=Claim.EQUAL, x=x_as_written)
    is_amplified = amplifies(minus, here)
    if not is_amplified:
        fixes = suggested(fixes, "small-digits")
    form = "1 - exp(x)" if sign else "exp(x) - 1"
    yield here.finding(
        minus,
        None,
        f"{form} loses the digits of a small x: in float32 the result is 0 below 6e-8; expm1 "
        "keeps them",
        Certainty.MAY,
        fixes,
        modes=("eager", "graph", "xla") if sign else ("eager", "xla"),
        doubtful=not is_amplified,
    )


def is_floored(minus: Site, here: Context) -> bool:
    """Whether the difference is kept above what is lost of it: `clip(1 - exp(x), 1e-7, 1)`."""
    outer = next(iter(here.around(minus.node)), None)
    clip = here.site(outer, minus.point) if isinstance(outer, ast.Call) else None
    if clip is None or clip.op.name not in traits.BOUNDS:
        return False
    bounds = [clip.value(param) for param in clip.args if clip.args[param] is not minus.node]
    return any(bound.is_number and LOST <= bound.lo < SMALL for bound in bounds)


def amplifies(minus: Site, here: Context) -> bool:
    """Whether something is divided by the difference as it is, or a logarithm taken of it, a small
    number added or not: a result of 0 is then no loss of digits, but Inf or far away.
    """
    if repairs.is_divisor(here, minus):
        return True
    inner: ast.AST = minus.node
    for outer in here.around(minus.node):
        if not isinstance(outer, (ast.BinOp, ast.Call)):
            return False
        site = here.site(outer, minus.point) if minus.point is not None else None
        if site is None or site.op.name != "tf.add":
            return site is not None and site.op.name in traits.LOGARITHMS
        epsilon = site.value("y" if site.args.get("x") is inner else "x")
        if not epsilon.is_number or not abs(epsilon.lo) < SMALL:
            return False
        inner = outer
    return False


def under_logarithm(minus: Site, here: Context) -> bool:
    """Whether a logarithm is taken of the difference as it is."""
    outer = next(iter(here.around(minus.node)), None)
    site = here.site(outer, minus.point) if isinstance(outer, ast.Call) else None
    return site is not None and site.op.name == "tf.math.log"


def beside(minus: Site, x: Value, here: Context) -> bool:
    """Whether the same function takes expm1 of the same value, too: it is known there, and this is
    for what it does not give.
    """
    return any(
        call.args
        and minus.point is not None
        and point.scope is minus.point.scope
        and here.same(here.value(call.args[0], point), x)
        for call, point in here.calls("expm1")
    )


def absorbed(minus: Site, here: Context) -> bool:
    """Whether a number of its size or more is added to the difference, scaled by what has bounds or
    not: next to that its last digits are lost in any form.
    """
    scale, inner = 1.0, minus.node
    for node in here.around(minus.node):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Add, ast.Sub)):
            operand = here.value(node.right if node.left is inner else node.left, minus.point)
            if not isinstance(node.op, ast.Mult):
                return operand.exact and operand.lo != 0 and abs(operand.lo) >= scale
            scale *= max(abs(operand.lo), abs(operand.hi))
        elif not isinstance(node, ast.UnaryOp):
            return False
        inner = node
    return False


def compared(minus: Site, here: Context) -> bool:
    """Whether the difference ends in a comparison of the same expression, where its last digits do
    not count.
    """
    for node in here.around(minus.node):
        if isinstance(node, ast.Compare):
            return True
        site = here.site(node, minus.point) if isinstance(node, ast.Call) else None
        if site is None or site.op.name != "tf.abs":
            return site is not None and site.op.name.startswith(
                ("tf.math.greater", "tf.math.less", "tf.greater", "tf.less")
            )
    return False
