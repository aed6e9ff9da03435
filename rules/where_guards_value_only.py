"""A `tf.where` after the operation: the value is guarded, the gradient is not.

`tf.where` computes both branches. Where the bad branch is not taken its gradient is multiplied by
0, and 0 times the infinite derivative of log, division, power, exp, acos, atanh, lgamma or erfinv
is NaN: the loss looks fine and one step later every weight is NaN. `tf.boolean_mask`, `K.switch`
and `nan_to_num` after the operation do the same. The derivatives of sqrt, rsqrt,
`tf.math.reciprocal`, norms and standard deviations are special: eager execution and graphs give 0
there, XLA (`jit_compile=True`) gives NaN.

Bad:
    log_rate = tf.where(rate > 0, tf.math.log(rate), tf.zeros_like(rate))

Good:
    log_rate = tf.where(rate > 0, tf.math.log(tf.where(rate > 0, rate, tf.ones_like(rate))), tf.zeros_like(rate))

Mask the input, keep the outer `tf.where`: the operation then never sees a bad element. `tf.cond` on
a scalar computes one branch only and needs no second mask.

Doubtful is a sum, or a value as it is, that a call gives which cannot be followed: often it counts
something, and has no gradient.

See also: https://www.tensorflow.org/api_docs/python/tf/where (inner where on the input).

Seen in the wild: https://github.com/tensorflow/tensorflow/issues/38349 (the case that led to the
note in the documentation), https://github.com/tensorflow/tensorflow/issues/27684 (log),
https://github.com/tensorflow/tensorflow/issues/20091 (a division),
https://github.com/qqwweee/keras-yolo3/issues/171 (K.switch around a log)
"""

from tfnanlint.api import (
    Certainty,
    Changed,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Masked,
    Named,
    Part,
    Site,
    argument,
    ast,
    evidence,
    filler,
    of_labels,
    read_by_choice_only,
    repairs,
    rule,
)

TITLE = "mask the input too"
CONDITION = frozenset(("tf.where", "K.switch", "tf.boolean_mask"))
SHARED = "where the input is masked, what else reads the result gets a finite number instead of Inf or NaN"
# What the domain itself asks of {x}, for tests that cannot be written at the operation.
INSIDE = {
    "0 or below": "{x} > 0",
    "-1 or below": "{x} > -1",
    "1 or below": "{x} > 1",
    "-1 or 1, or beyond": "tf.abs({x}) < 1",
    "0": "tf.not_equal({x}, 0)",
    "below 0": "{x} > 0",
}


@rule(
    "TFN204",
    "where-guards-value-only",
    on="tf.where K.switch tf.boolean_mask ops.nan_to_num",
    over="TFN101 TFN102 TFN103 TFN104 TFN105 TFN201 TFN202 TFN203 TFN206 TFN405",
    silent="MAY/UNKNOWN MAY/YES/DOUBTFUL",
)
def check(choice: Site, here: Context) -> Iterator[Finding]:
    found = here.masks.behind(choice)
    if (
        not found
        or any(nothing(choice, param) for param in ("x", "y"))
        or choice.differentiated is Differentiated.NO
    ):
        return
    for masked in found:
        masked.site._differentiated = choice._differentiated
        if (
            masked.cut
            or masked.site.differentiated is Differentiated.NO
            or not here.numeric(masked.site.value(masked.param))
            or promised(masked, here)
            or of_labels(masked.site)
        ):
            continue
        yield finding(masked, here)


def promised(masked: Masked, here: Context) -> bool:
    """Whether the file asserts that a name is positive of which the logarithm or root is taken:
    another one is hidden there.
    """
    node = masked.site.args.get(masked.param)
    return (
        masked.site.source is here.source
        and isinstance(node, (ast.Name, ast.Attribute))
        and masked.domain.outside == "0 or below"
        and here.asserted(masked.site, masked.param)
    )


def nothing(choice: Site, param: str) -> bool:
    """NaN, or NaN in some dtype (`dtype(np.nan)`): what is chosen instead spoils the loss itself."""
    node = choice.args.get(param)
    if node is None:
        return False
    value = choice.value(param)
    return (
        value.nan
        and value.lo > value.hi
        or any(isinstance(one, ast.Attribute) and one.attr == "nan" for one in ast.walk(node))
    )


def finding(masked: Masked, here: Context) -> Finding:
    site, choice = masked.site, masked.choice
    xla = site.op.masked == "xla"
    local = site.source is here.source and site.point is not None
    fixes = [] if not local or site.op.masked == "" else mask_input(masked, here)
    return here.finding(
        site,
        masked.param,
        message(masked, here, xla),
        Certainty.MAY,
        fixes,
        modes=("xla",) if xla else ("eager", "graph", "xla"),
        node=None if local else choice.node,
        doubtful=evidence.called(site.value(masked.param)),
    )


def message(masked: Masked, here: Context, xla: bool) -> str:
    name = (
        here.text(masked.choice.node.func)
        if isinstance(masked.choice.node, ast.Call)
        else "tf.where"
    ).split("(")[0]
    same_line = masked.choice.node.lineno == masked.site.node.lineno
    where = "around it" if same_line else f"on {here.line(masked.choice.node)}"
    text = f"'{name}' {where} hides the result where the input is {masked.domain.outside}, but not the gradient: "
    if xla:
        return text + "under XLA it is NaN there (0 * inf); eager and graph execution give 0"
    return text + "it is NaN there (0 * inf)"


def mask_input(masked: Masked, here: Context) -> list[Fix]:
    """The choice stays; the input gets the same mask, and something harmless in the place of what
    does not count.
    """
    site, choice = masked.site, masked.choice
    x = site.args.get(masked.param)
    if x is None or not masked.direct or masked.test.node is None:
        return []
    alone = read_by_choice_only(masked)
    claim = (
        Claim.EQUAL
        if nested(site, choice, here)
        else Claim.EQUAL_WHERE_FINITE
        if alone
        else Claim.SHIFTED
    )
    cost = "" if alone else SHARED
    hole = x if here.repeatable(x) else Named("inner", "{x}", {"x": x})
    if choice.op.name == "tf.boolean_mask":
        return mask_first(masked, here, x)
    if masked.by_result:
        return with_both(masked, here, x, hole, cost)
    # What something else reads, too, may be another only where it is not finite: it may still
    # become something finite there.
    fixes = with_test(masked, here, x, hole, claim) if alone else []
    if not fixes and site.op.name != "tf.divide" and masked.domain.outside in INSIDE:
        fixes = here.rewrite(
            site,
            f"tf.where({INSIDE[masked.domain.outside]}, {{x}}, {filler(site, masked.param)})",
            node=x,
            title=TITLE,
            claim=claim,
            cost=cost,
            x=hole,
        )
    return fixes


def mask_first(masked: Masked, here: Context, x: ast.expr) -> list[Fix]:
    """f(x) of all elements and then the mask: the mask first."""
    site, choice = masked.site, masked.choice
    if (
        choice.args.get("x") is not site.node
        or not site.complete
        or set(site.args) - {"name"} != {masked.param}
    ):
        return []
    mask, axis = choice.args["mask"], choice.args.get("axis")
    tested = written_again(x, mask) if not here.repeatable(x) else []
    # What is tested and computed from is written twice: it gets a name for both.
    hole = Named("inner", "{x}", {"x": x}) if tested else x
    kept = (
        Changed(mask, [(node, "{inner}", {"inner": hole}) for node in tested])
        if tested
        else here.text(mask)
    )
    call = Changed(
        site.node,
        [
            (
                x,
                "tf.boolean_mask({x}, {mask}, axis={axis})",
                {"x": hole, "mask": kept, "axis": here.text(axis) if axis is not None else None},
            )
        ],
    )
    return here.rewrite(
        choice, "{call}", title="mask the input instead", claim=Claim.EQUAL, call=call
    )


def written_again(x: ast.expr, test: ast.expr) -> list[ast.expr]:
    """The places in a test at which an expression stands as it does elsewhere."""
    return [
        node
        for node in ast.walk(test)
        if isinstance(node, ast.expr) and ast.dump(node) == ast.dump(x)
    ]


def with_test(
    masked: Masked, here: Context, x: ast.expr, hole: ast.expr | Named, claim: Claim
) -> list[Fix]:
    """The input under the choice's own condition."""
    site, choice, test = masked.site, masked.choice, masked.test.node
    if test is None:
        return []
    fill = filler(site, masked.param)
    template = (
        f"tf.where({{test}}, {{x}}, {fill})"
        if masked.test.truth
        else f"tf.where({{test}}, {fill}, {{x}})"
    )
    if repairs.short(here, test, masked.test.point) and here.steady(
        test, masked.test.point, site.point
    ):
        return here.rewrite(
            site, template, node=x, title=TITLE, claim=claim, x=hole, test=here.text(test)
        )
    if (
        not nested(site, choice, here)
        or choice.op.name not in CONDITION
        or not inside(test, choice, here)
    ):
        return []
    tested = written_again(x, test) if isinstance(hole, Named) else []
    if tested:
        # What is tested and computed from is written twice: it gets a name for both.
        parts: list[Part] = [(node, "{inner}", {"inner": hole}) for node in tested]
        return here.rewrite_all(
            choice,
            [*parts, (x, template, {"x": hole, "test": Changed(test, parts)})],
            title=TITLE,
            claim=claim,
        )
    keep = Named("keep", "{test}", {"test": test})
    return here.rewrite_all(
        choice,
        [(test, "{keep}", {"keep": keep}), (x, template, {"x": hole, "test": keep})],
        title=TITLE,
        claim=claim,
    )


def with_both(
    masked: Masked, here: Context, x: ast.expr, hole: ast.expr | Named, cost: str
) -> list[Fix]:
    """A test of the result for NaN and Inf sees nothing once the input is masked: the choice tests
    the input too.
    """
    site, choice, test = masked.site, masked.choice, masked.test.node
    keep = INSIDE.get(masked.domain.outside)
    again = argument(site, masked.param)
    if (
        keep is None
        or test is None
        or not masked.test.truth
        or not inside(test, choice, here)
        or not here.repeatable(x)
        or again is None
    ):
        return []
    parts: list[Part] = [
        (test, f"tf.logical_and({{test}}, {keep})", {"test": test, "x": again}),
        (x, f"tf.where({keep}, {{x}}, {filler(site, masked.param)})", {"x": hole}),
    ]
    return here.rewrite_all(
        choice,
        parts,
        title="mask the input, and test it instead of the result only",
        claim=Claim.SHIFTED if cost else Claim.EQUAL_WHERE_FINITE,
        cost=cost,
    )


def inside(inner: ast.expr, choice: Site, here: Context) -> bool:
    return here.source.span(inner) in here.source.span(choice.node)


def nested(site: Site, choice: Site, here: Context) -> bool:
    return here.source is choice.source and inside(site.node, choice, here)
