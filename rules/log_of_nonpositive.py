"""Logarithm of a value that can be zero or negative.

`tf.math.log(0)` is `-inf` with an infinite gradient, and below zero it is `NaN`. Softmax, sigmoid
and exp look safe but underflow to exactly 0 in float32, relu and counts are 0 by design, and
`tf.random.uniform` draws from a range that includes 0. One such element makes the loss infinite
and, one step later, every weight NaN.

Bad:
    loss = -tf.reduce_mean(tf.math.log(tf.reduce_sum(probabilities * mask, axis=-1)))

Good:
    loss = -tf.reduce_mean(tf.math.log(tf.maximum(tf.reduce_sum(probabilities * mask, axis=-1), 1e-37)))

A floor (`tf.maximum(x, eps)`) leaves every value above eps alone, but its gradient is exactly 0
below eps: probabilities of 1e-9 and densities of 1e-20 are ordinary, so the fix writes one below
all that occurs (1e-37 in float32; 1e-8 under `1 - p`, which is 0 or at least 6e-8; 1 under a count;
another epsilon than the default is taken as configured). Where what underflows is visible, the
logarithm is taken factor by factor: `log(exp(-d) / s)` is `-d - log(s)`, `log(softmax(z)[i])` is
`log_softmax(z)[i]`, `log(x + sqrt(x^2 + 1))` is `asinh(x)`. No floor is offered under a density,
under what can be negative, and under a value of which nothing is known: it would make a number of
what has no logarithm. Where the logits are visible prefer a loss on logits: its gradient stays
alive. The double `tf.where` computes the logarithm of 1 at the masked elements, so that neither
value nor gradient is touched elsewhere; but the 0 it puts there is the best score of a likelihood,
so it is for elements that do not count.

Doubtful is, where no gradient is known to be taken, a logarithm of which the function itself asks
whether it is finite (who does so has met NaN), and one of a value of which nothing is known but
that a method of some object gave it, or that its name calls a scale, a rate or degrees of freedom
and that is no factor of anything. So is one behind a call of a name that nobody defines, the
diagonal of a matrix, a parameter that the docstring of its function calls positive (and products,
quotients and sums of such), a quotient of what a small number was added to (`(y + 1e-7) / a`), and
a function that is a name for the logarithm and no more.

See also: https://www.tensorflow.org/api_docs/python/tf/where (inner where on the input).

Seen in the wild: https://github.com/maxvfischer/keras-image-segmentation-loss-functions/pull/1 (a
focal loss that went NaN because of log(0)), https://github.com/mkocabas/focal-loss-keras/issues/17
(both ends of the probability), https://github.com/tensorflow/docs/pull/1943 (the empty bins of a
spectrogram)
"""

from tfnanlint.api import (
    INF,
    SETTINGS,
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Note,
    Site,
    Value,
    ast,
    evidence,
    filler,
    named_count,
    named_scale,
    never_reached,
    plain,
    repairs,
    rule,
    step,
    words,
)

CONVERTED = ("tf.cast", "tf.convert_to_tensor", "tf.to_float", "tf.identity")
FILLS = {
    "tf.pad": ("constant_values",),
    "tf.one_hot": ("on_value", "off_value"),
    "tf.fill": ("x",),
    "tf.where": ("x", "y"),
}


@rule(
    "TFN101",
    "log-of-nonpositive",
    on="tf.math.log tf.math.log1p ops.log2 ops.log10",
    default="MUST MAY UNKNOWN",
    over="TFN307",
    silent="MAY/ANY/TESTS UNKNOWN/ANY/TESTS MAY/NO/DOUBTFUL UNKNOWN/NO MAY/UNKNOWN/DOUBTFUL UNKNOWN/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
)
def check(log: Site, here: Context) -> Iterator[Finding]:
    x = log.value("x")
    edge = -1.0 if log.op.name == "tf.math.log1p" else 0.0
    if (
        x.lo > edge
        or (edge == 0 and (x.positive or zero_taken_out(x)))
        or x.guarded
        or not here.numeric(x)
    ):
        return
    if x.hi > edge and (
        counted(x, here)
        or evidence.picked(x)
        or quotient(x, edge, here)
        or scaled(x, here)
        or step(x)
        or factor_diagonal(x, here)
    ):
        return
    certainty = here.grade(x, surely=x.hi < edge or x.hi == edge)
    if certainty is Certainty.MUST and filled_with(log, here):
        return
    if certainty is Certainty.MAY and magnitude(x, here):
        certainty = Certainty.UNKNOWN
    of_nothing = certainty is Certainty.UNKNOWN and edge == 0 and zero_over(x, here)
    certainty = Certainty.MAY if of_nothing else certainty
    if (
        x.lo == -INF
        and x.hi == INF
        and certainty is Certainty.MAY
        and not of_nothing
        and passed_on(x)
    ):
        return  # one caller shows that any number can arrive, others cannot be followed
    if certainty is Certainty.UNKNOWN and (
        edge != 0 or passed_on(x) or named_count(log, "x") or reciprocal_root(x, here)
    ):
        return  # log1p of something unknown is what log(x + 1) is: somebody has added a constant
    if certainty is not Certainty.MUST and (here.asserted(log, "x") or replaced(x, here)):
        return
    if here.hidden(log):
        return
    if certainty is not Certainty.MUST and here.only_compared(log):
        return  # a draw is accepted where `log(u) < ratio`: -inf is right there
    if x.lo >= 0 and here.only_drawn(log):
        return
    if (
        certainty is not Certainty.MUST
        and edge == 0
        and (x.lo >= 0 or not x.known)
        and here.tested(log, "x")
    ):
        return
    doubtful = (
        certainty is not Certainty.MUST
        and not here.draft
        and (
            here.tested_for_nan(log)
            or doubted(log, certainty, here)
            or never_reached(log)
            or log.differentiated is Differentiated.NO
            and not (evidence.of_labels(x) and not here.only_compared(log, shown=True))
        )
    )
    limit = "0" if edge == 0 else "-1"
    if certainty is Certainty.UNKNOWN:
        what = f"a value that is {words(x)}" if x.known else "a value about which nothing is known"
        message = f"logarithm of {what}: at {limit} it is -inf, below it NaN"
        fixes = repairs.logarithm(here, log, edge=edge)
    else:
        kept = "a quotient whose dividend can be 0" if of_nothing else f"a value that is {words(x)}"
        message = f"logarithm of {kept}: at {limit} it is -inf, below it NaN"
        fixes = repairs.logarithm(here, log, edge=edge)
        fixes += double_where(log, here, limit) if fixes and not fixes[0].claim.safe else []
    yield here.finding(log, "x", message, certainty, fixes, doubtful=doubtful)


def doubted(log: Site, certainty: Certainty, here: Context) -> bool:
    """A value of which nothing is known but that an object worked it out (`expert.variance_at(x)`),
    that a docstring promises it positive, that its name calls it a scale, or that it is the
    diagonal of a matrix: all of six such logarithms that were read were of a triangular factor,
    where it is above 0.
    """
    x = log.value("x")
    return certainty is Certainty.UNKNOWN and (
        evidence.promised(x)
        or evidence.worked_out(x)
        or wraps(log, here)
        or lifted(x, here)
        or here.made_by(x, "tf.linalg.diag_part") is not None
        or named_scale(log, "x")
        and handed_in(x)
        and not multiplied(log, here)
    )


def filled_with(log: Site, here: Context) -> bool:
    """log(0.0) written where a constant to fill with is asked for
    (`tf.pad(..., constant_values=tf.math.log(0.0))`): -inf is what is wanted.
    """
    outer = next((one for one in here.around(log.node) if not isinstance(one, ast.keyword)), None)
    site = (
        here.site(outer, log.point)
        if isinstance(log.args.get("x"), ast.Constant) and isinstance(outer, ast.Call)
        else None
    )
    return site is not None and any(
        site.args.get(param) is log.node for param in FILLS.get(site.op.name, ())
    )


def lifted(x: Value, here: Context) -> bool:
    """(y + eps) / a: who adds a small number to what is divided knows both for values that are not
    negative.
    """
    site = here.made_by(x, "tf.divide")
    return site is not None and site.value("x").guarded and not site.value("y").known


def wraps(log: Site, here: Context) -> bool:
    """Whether a function is a name for the logarithm to some base and no more,
    `def log(x): return tf.math.log(tf.cast(x, dtype))`: its callers decide.
    """
    function = (
        log.point.scope.function if log.point is not None and log.point.over is None else None
    )
    if function is None or not isinstance(function.node, ast.FunctionDef):
        return False
    *before, last = function.node.body
    made = last.value if isinstance(last, ast.Return) else None
    if (
        isinstance(made, ast.BinOp)
        and isinstance(made.op, ast.Div)
        and here.value(made.right, log.point).lo > 0
    ):
        made = made.left
    handed = evidence.behind(log.value("x"))
    while isinstance(handed, Site) and handed.op.name in CONVERTED:
        handed = evidence.behind(handed.value("x"))
    return (
        made is log.node
        and isinstance(handed, Note)
        and bool(handed.parameter)
        and isinstance(log.args.get("x"), (ast.Name, ast.Call))
        and all(
            isinstance(one, ast.Assign)
            or isinstance(one, ast.Expr)
            and isinstance(one.value, ast.Constant)
            for one in before
        )
    )


def handed_in(x: Value, depth: int = 4) -> bool:
    """Whether a value is made of parameters and numbers only; what callers in the project pass is
    computed.
    """
    site = x.origin
    if isinstance(site, Site):
        return depth > 0 and all(
            handed_in(site.value(param), depth - 1) for param in site.args if param not in SETTINGS
        )
    return x.kind == "number" or isinstance(site, Note) and site.given


def multiplied(log: Site, here: Context) -> bool:
    """Whether the logarithm is a factor beside no mere number: 0 * log(0), of a rate of which
    nothing was counted, is NaN.
    """
    outer = next(iter(here.around(log.node)), None)
    if not isinstance(outer, ast.BinOp) or not isinstance(outer.op, ast.Mult):
        return False
    return not isinstance(outer.left if outer.right is log.node else outer.right, ast.Constant)


def counted(x: Value, here: Context) -> bool:
    """A Python number, or a size made a tensor (`tf.cast(length - 1, tf.float32)`)."""
    x = evidence.widest(x)
    cast = here.made_by(
        x, "tf.cast", "tf.to_float", "tf.to_double", "tf.constant", "tf.convert_to_tensor"
    )
    return x.kind == "number" or cast is not None and cast.value("x").kind == "number"


def magnitude(x: Value, here: Context) -> bool:
    """The square, magnitude, root, direction or `exp(x) - 1` of a value of which nothing is known,
    or a sum of such: 0, or below, only where that is.
    """
    x = evidence.widest(plain(x))
    minus = here.made_by(x, "tf.negative")
    x = x if minus is None else minus.value("x")
    less = here.made_by(x, "tf.subtract")
    if less is not None and less.value("y").exact and less.value("y").lo == 1:
        inner = here.made_by(less.value("x"), "tf.exp")
    else:
        inner = here.made_by(
            x,
            "tf.square",
            "tf.abs",
            "tf.sqrt",
            "tf.pow",
            "tf.math.expm1",
            "tf.math.l2_normalize",
            "tf.math.squared_difference",
            "tf.add",
        ) or by_its_sign(x, here)
    if (
        inner is None
        or inner.op.name == "tf.pow"
        and (minus is not None or not inner.value("y").is_number)
    ):
        return False
    parts = [inner.value(param) for param in (("x", "y") if inner.op.name == "tf.add" else ("x",))]
    own = inner.op.name != "tf.add"  # a sum of what is not known has no bounds
    return all(
        own and (not part.known or evidence.handed_in(part)) or magnitude(part, here)
        for part in parts
    )


def by_its_sign(x: Value, here: Context) -> Site | None:
    """The sign in `sign(v) * v`, which is the magnitude of `v`."""
    times = here.made_by(x, "tf.multiply") if x.lo == 0 else None
    signs = (
        [here.made_by(times.value(param), "tf.sign") for param in ("x", "y")]
        if times is not None
        else []
    )
    return next((one for one in signs if one is not None), None)


def quotient(x: Value, edge: float, here: Context) -> bool:
    """Something positive divided by something that is not negative: 0 only where the divisor
    overflows.
    """
    site = here.made_by(x, "tf.divide", "tf.math.reciprocal")
    if site is None or x.lo < edge:
        return False
    return site.op.name == "tf.math.reciprocal" or site.value("x").positive or evidence.falling(x)


def zero_over(x: Value, here: Context) -> bool:
    """Whether a value of which nothing else is known is 0 where the program shows that its dividend
    can be: a product of lengths that are cut off at 0, the overlap of two boxes. A dividend that
    rounds to 0 only, or counts, is none.
    """
    site = here.made_by(plain(evidence.widest(plain(x))), "tf.divide")
    part = site.value("x") if site is not None else None
    if part is None or here.made_by(plain(part), "tf.multiply", "tf.reduce_prod") is None:
        return False
    return part.lo == 0 and part.zero and evidence.shows_zero(part)


def factor_diagonal(x: Value, here: Context) -> bool:
    """The diagonal of a Cholesky factor: above 0 where there is a factor at all, of which TFN108
    speaks.
    """
    diagonal = here.made_by(x, "tf.linalg.diag_part")
    return (
        diagonal is not None and here.made_by(diagonal.value("x"), "tf.linalg.cholesky") is not None
    )


def reciprocal_root(x: Value, here: Context) -> bool:
    """1 / sqrt(v), or a number times that: it is above 0 wherever it is one, and where it is none
    it is said of the root.
    """
    site = here.made_by(x, "tf.math.rsqrt", "tf.multiply")
    if site is None or site.op.name == "tf.math.rsqrt":
        return site is not None
    return any(
        site.value(one).kind == "number"
        and here.made_by(site.value(other), "tf.math.rsqrt") is not None
        for one, other in (("x", "y"), ("y", "x"))
    )


def scaled(x: Value, here: Context) -> bool:
    """A small multiple of something positive (`0.05 * deviation`): 0 only by underflow."""
    site = here.made_by(x, "tf.multiply")
    if site is None or x.lo < 0:
        return False
    return any(
        site.value(one).exact and site.value(one).lo >= 1e-3 and site.value(other).positive
        for one, other in (("x", "y"), ("y", "x"))
    )


def passed_on(x: Value) -> bool:
    """Whether it comes from callers in the project, or from an object, that could not be followed:
    there may well be a guard on the way.
    """
    queue, seen = [x], 0
    while queue and seen < 24:
        value = queue.pop()
        origin = value.origin
        seen += 1
        if origin is None and not value.known and value.kind != "number":
            return True
        while isinstance(origin, Note):
            if origin.passed or not value.known and elsewhere(origin):
                return True
            origin = origin.parent
        if isinstance(origin, Site):
            queue += [origin.value(param) for param in origin.args if param not in SETTINGS]
    return False


def elsewhere(origin: Note) -> bool:
    """Whether a value is an attribute of an object, or what a method of an attribute gave:
    `self.kernel.variance_at(x)`.
    """
    return (
        origin.text.startswith("'")
        or origin.text.startswith("the call '")
        and origin.text.count(".") >= 2
    )


def zero_taken_out(x: Value) -> bool:
    """Nothing bounds it from below, but somebody has replaced its zeros."""
    return x.lo == -INF and not x.zero and x.hi > 0


def replaced(x: Value, here: Context, depth: int = 4) -> bool:
    """Whether a choice has put a positive number where a value is beyond a limit that nobody can
    tell but that is not below 0 (`tf.where(x > limit, x, 1)`, with a limit of the dtype), perhaps
    under functions that keep the sign.
    """
    choice = here.made_by(x, "tf.where")
    if choice is None:
        inner = (
            here.made_by(x, "tf.negative", "tf.math.expm1", "tf.abs", "tf.square")
            if depth
            else None
        )
        return inner is not None and replaced(inner.value("x"), here, depth - 1)
    for param, other in (("x", "y"), ("y", "x")):
        put, kept = choice.value(param), choice.value(other)
        if (
            put.exact
            and put.positive
            and kept.zero
            and beyond(choice.value("condition"), kept, other == "x", here)
        ):
            return True
    return False


def beyond(condition: Value, kept: Value, truth: bool, here: Context) -> bool:
    """Whether a condition with this truth says that a value is above a limit of which nothing is
    known, or that is not below 0.
    """
    both = here.made_by(condition, "tf.logical_and" if truth else "tf.logical_or")
    if both is not None:
        return any(beyond(both.value(param), kept, truth, here) for param in ("x", "y"))
    above, below = ("tf.greater", "tf.greater_equal"), ("tf.less", "tf.less_equal")
    for names, one, other in (
        (above if truth else below, "x", "y"),
        (below if truth else above, "y", "x"),
    ):
        test = here.made_by(condition, *names)
        limit = test.value(other) if test is not None else None
        if (
            limit is not None
            and here.same(test.value(one), kept)
            and (not limit.known or limit.lo >= 0 and limit.hi > 0)
        ):
            return True
    return False


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
        title="mask the input and the result (0 where the logarithm does not exist)",
        cost="the result is 0, with gradient 0, where the logarithm does not exist: only for elements "
        "that do not count",
    )
