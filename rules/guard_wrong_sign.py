"""A guard under a logarithm that still lets 0 or negative values through.

`tf.math.log(x + 1e-8)` protects against `x == 0` only. Where `x` can be -0.5 (a tanh, a difference,
the output of a layer) the sum is negative and the logarithm NaN. `tf.maximum(x, 0.0)` and
`tf.clip_by_value(x, 0.0, 1.0)` stop at 0, and the logarithm of 0 is `-inf` with an infinite
gradient: the floor has to lie above 0.

See it:
    >>> float(tf.math.log(tf.constant(-0.5) + 1e-8))
    nan

Bad:
    loss = -tf.reduce_mean(tf.math.log(tf.tanh(score) + 1e-8))

Good:
    loss = -tf.reduce_mean(tf.math.log(tf.maximum(tf.tanh(score), 1e-8)))

Often harmless: a sum with an unbounded value, such as the output of a layer, because other code
often keeps it positive. A weight with a random initial value is always reported, and so is the
output of a leaky relu, which lets through what is below 0.

First find out why the value is negative: a probability computed by `tanh` should use `tf.sigmoid`,
and a floor has gradient 0 below it.

See also: https://www.tensorflow.org/api_docs/python/tf/math/log

Seen in the wild:
https://stackoverflow.com/questions/35078027 (the logarithm of an output that can be negative),
https://github.com/keras-team/keras/issues/590 (a Poisson loss of a linear output)
"""

from __future__ import annotations

from tfnanlint.api import (
    INF,
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Site,
    Value,
    ast,
    evidence,
    layer_outputs,
    linear,
    number_text,
    repairs,
    rule,
    step,
    value_in_words,
)

LARGEST = 0.1  # what is added beyond this is a term, not a guard
ZEROS = {"tf.maximum": ("y", "x"), "tf.clip_by_value": ("clip_value_min",)}


@rule(
    "TFN405",
    "guard-wrong-sign",
    on="tf.math.log ops.log2 ops.log10",
    over="TFN101 TFN102",
    silent="MAY/ANY/TESTS MAY/NO MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    fixes="floor",
)
def check(log: Site, here: Context) -> Iterator[Finding]:
    guard = log.value("x").origin
    if not isinstance(guard, Site) or not here.numeric(log.value("x")) or step(log.value("x")):
        return
    findings = list(
        added(log, guard, here)
        if guard.op.name == "tf.add"
        else stopped(log, guard, here)
        if guard.op.name in ZEROS
        else ()
    )
    if findings and not here.hidden(log):
        yield from findings


def added(log: Site, guard: Site, here: Context) -> Iterator[Finding]:
    """log(x + eps) where x can be below -eps."""
    for eps_param, param in (("y", "x"), ("x", "y")):
        eps, x = guard.value(eps_param), guard.value(param)
        if not eps.exact or not 0 < eps.lo <= LARGEST or x.lo >= -eps.lo or x.exact:
            continue
        if not x.known and not layer_outputs.leaks(x):
            continue
        text = number_text(eps.lo)
        yield here.finding(
            log,
            "x",
            f"the {text} added to {value_in_words(x)} only protects against 0: below -{text} "
            "the logarithm is NaN",
            Certainty.MAY,
            floored(log, guard, param, eps_param, x, here),
            covers=[guard.node] if guard.node is not None else (),
            doubtful=x.lo == -INF and not shows_negative(x),
        )
        return


def shows_negative(x: Value) -> bool:
    """Whether the program shows of a value without a lower bound that it is below 0."""
    return evidence.drawn_below_zero(x) or linear(x) or layer_outputs.leaks(x)


def floored(
    log: Site, guard: Site, param: str, eps_param: str, x: Value, here: Context
) -> list[Fix]:
    if param not in guard.args or guard.source is not here.source:
        return []
    if x.hi > 1 and leaves_half(log, x, here):
        here.no_fix = "the logarithm of 1 minus it is NaN above 1: bring it between 0 and 1 first"
        return []
    return here.rewrite(
        guard,
        "tf.maximum({x}, {eps})",
        x=guard.args[param],
        eps=guard.args[eps_param],
        title="use a floor instead of a sum: tf.maximum(x, eps)",
        claim=Claim.SHIFTED,
        cost="values below eps become eps and get no gradient; other values no longer include "
        "the added eps",
    )


def leaves_half(log: Site, x: Value, here: Context) -> bool:
    """Whether the logarithm of 1 minus a value stands in the same statement, guarded or not."""
    statement = next((node for node in here.around(log.node) if isinstance(node, ast.stmt)), None)
    for node in ast.walk(statement) if statement is not None else ():
        half = here.site(node, log.point) if isinstance(node, ast.Call) else None
        if half is None or half.op.name != log.op.name or half.node is log.node:
            continue
        total = here.made_by(half.value("x"), "tf.add")
        for param in ("x", "y"):
            part = total.value(param) if total is not None else half.value("x")
            minus = here.made_by(part, "tf.subtract")
            if minus is not None and minus.value("x").const == 1 and here.same(minus.value("y"), x):
                return True
    return False


def stopped(log: Site, guard: Site, here: Context) -> Iterator[Finding]:
    """log(maximum(x, 0)), log(clip_by_value(x, 0, 1))."""
    params = [p for p in ZEROS[guard.op.name] if guard.value(p).exact and guard.value(p).lo == 0]
    others = [guard.value(p) for p in ("x", "y") if guard.given(p) and p not in params]
    if (
        not params
        or log.value("x").positive
        or log.value("x").guarded
        or all(v.kind == "number" for v in others)
    ):
        return
    node = guard.args.get(params[0])
    yield here.finding(
        log,
        "x",
        "the floor under this logarithm is 0: at 0 the result is -inf and the gradient infinite",
        Certainty.MAY,
        raised(guard, node, log, here),
        covers=[guard.node] if guard.node is not None else (),
    )


def raised(guard: Site, node: ast.expr | None, log: Site, here: Context) -> list[Fix]:
    if node is None or guard.source is not here.source:
        return []
    eps = repairs.floor_of(log.value("x"), here.setup.epsilon)
    return here.rewrite(
        guard,
        eps,
        node=node,
        title=f"raise the floor to {eps}",
        claim=Claim.SHIFTED,
        cost=f"no gradient below {eps}",
    )
