"""A sum of many numbers in float16, which ends at 65504.

A float16 sum of a thousand squares of 10 is infinite, and the mean of 100,000 ones is NaN in
TensorFlow: it is computed as a sum and a count, and both overflow. Sums over a whole batch, means
of losses, squared errors and norms belong in float32.

See it:
    >>> float(tf.reduce_mean(tf.ones([100_000], tf.float16)))
    nan

Bad:
    half = tf.cast(error, tf.float16)
    loss = tf.reduce_mean(tf.square(half))

Good:
    half = tf.cast(error, tf.float16)
    loss = tf.reduce_mean(tf.square(tf.cast(half, tf.float32)))

The fix for a mean computes it in float32 and returns float16. There is none for a sum: a sum beyond
65504 has no float16 value, so the code that follows has to continue in float32. bfloat16 does not
overflow, but a sum in it has about 3 correct digits.

See also: https://www.tensorflow.org/guide/mixed_precision ("float16 ... values above 65504 will
overflow to infinity"), https://github.com/tensorflow/tensorflow/issues/45568
"""

from __future__ import annotations

from tfnanlint.api import (
    Any,
    Certainty,
    Claim,
    Context,
    Finding,
    Iterator,
    Site,
    Value,
    ast,
    made_by,
    moments,
    rule,
    traits,
)

SUMS = {
    "tf.reduce_sum": "sum",
    "tf.reduce_mean": "mean",
    "tf.nn.l2_loss": "sum of squares",
    "tf.norm": "sum of squares",
    "tf.math.reduce_variance": "sum of squares",
    "tf.math.reduce_std": "sum of squares",
}
CALLS = (
    "sum",
    "mean",
    "std",
    "variance",
    "var",
    "reduce_sum",
    "reduce_mean",
    "reduce_std",
    "reduce_variance",
    "reduce_var",
    "l2_loss",
    "norm",
)
COUNTING = traits.MEANS
SQUARES = tuple(name for name, made in SUMS.items() if made == "sum of squares")


@rule("TFN604", "float16-reduction", on="file", words="float16 .half", fixes="float32")
def check(module: object, here: Context) -> Iterator[Finding]:
    for name in CALLS:
        for node, point in here.calls(name):
            site = here.site(node, point)
            if site is not None and site.op.name in SUMS and site.library != "np":
                yield from judged(site, here)


def judged(site: Site, here: Context) -> Iterator[Finding]:
    if not may_overflow(site):
        return
    x = site.value("x")
    if x.dtype != "float16" or not many(site, x):
        return
    fixes = []
    cast = made_by(x, *traits.CASTS)
    if cast is not None and isinstance(site.args.get("x"), ast.Name) and here.visible(cast, site):
        here.no_fix = f"{here.line(cast.node)} casts to float16: cast to float32 there"
    elif site.op.name == "tf.reduce_mean" and site.complete and not is_cast_later(site, here):
        args: dict[str, Any] = {param: site.args.get(param) for param in ("axis", "keepdims")}
        fixes = here.rewrite(
            site,
            "tf.cast(tf.reduce_mean(tf.cast({x}, tf.float32), "
            "axis={axis}, keepdims={keepdims}), tf.float16)",
            title="compute the mean in float32",
            claim=Claim.EQUAL,
            x=site.args.get("x"),
            **args,
        )
    yield here.finding(
        site,
        "x",
        f"{SUMS[site.op.name]} in float16: the result is infinite beyond 65504"
        + (
            ", and so is the count, which makes the mean NaN"
            if site.op.name == "tf.reduce_mean"
            else ""
        ),
        Certainty.MAY,
        fixes,
        help="" if fixes else "cast to tf.float32 before the sum",
    )


def is_cast_later(site: Site, here: Context) -> bool:
    """Whether the function casts the name that a result is given: there the dtype can be chosen."""
    around = here.around(site.node)
    statement = next((node for node in around if isinstance(node, ast.Assign)), None)
    function = next((node for node in around if isinstance(node, ast.FunctionDef)), None)
    if statement is None or function is None:
        return False
    names = {node.id for node in statement.targets if isinstance(node, ast.Name)}
    return any(
        isinstance(call, ast.Call)
        and any(isinstance(arg, ast.Name) and arg.id in names for arg in call.args)
        and (cast := here.site(call, site.point)) is not None
        and cast.op.name in traits.CASTS
        for call in ast.walk(function)
    )


def may_overflow(site: Site) -> bool:
    """`many` as far as names tell."""
    return (
        site.op.name in SQUARES
        or not site.given("axis")
        or site.may_be_made_by("x", *traits.SQUARES, "tf.exp")
        or site.value("axis").kind == "none"
    )


def many(site: Site, x: Value) -> bool:
    """Whether the sum may well be beyond 65504: of squares, or of everything that is there."""
    if x.lo == x.hi == 0:
        return False
    everything = not site.given("axis") or site.value("axis").kind == "none"
    square = moments.squared(x)
    # 1 as it rounds in float16, and its square: it takes 60,000 elements
    if is_small(x) or square is not None and is_small(square.value("x")):
        return everything and site.op.name in COUNTING
    is_large = square is not None or made_by(x, "tf.exp") is not None
    return everything or site.op.name in SQUARES or is_large


def is_small(x: Value) -> bool:
    """Whether all elements are between -1 and 1, as these round, but for NaN and infinities."""
    return x.known and -1.05 <= x.lo and x.hi <= 1.05
