"""A `tf.where` after the operation: the value is guarded, the gradient is not.

`tf.where` computes both branches. Where the bad branch is not taken its gradient is multiplied by
0, and 0 times the infinite derivative of log, division, power, exp, acos, atanh, lgamma or erfinv
is NaN: the loss looks fine and one step later every weight is NaN. `tf.boolean_mask`, `K.switch`
and `nan_to_num` after the operation do the same. The derivatives of sqrt, rsqrt,
`tf.math.reciprocal`, norms and standard deviations are special: eager execution and graphs give 0
there, XLA (`jit_compile=True`) gives NaN.

See it:
    >>> x = tf.constant(0.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.where(x > 0, tf.math.log(x), 0.0)
    >>> float(tape.gradient(y, x))
    nan

Bad:
    log_rate = tf.where(rate > 0, tf.math.log(rate), tf.zeros_like(rate))

Good:
    log_rate = tf.where(rate > 0, tf.math.log(tf.where(rate > 0, rate, tf.ones_like(rate))), tf.zeros_like(rate))

Mask the input, keep the outer `tf.where`: the operation then never sees a bad element. `tf.cond` on
a scalar computes one branch only and needs no second mask.

Often harmless: a value from a call that cannot be resolved, because it is often a count and has no
gradient.

See also: https://www.tensorflow.org/api_docs/python/tf/where (inner where on the input).

Seen in the wild: https://github.com/tensorflow/tensorflow/issues/38349 (the case that led to the
note in the documentation), https://github.com/tensorflow/tensorflow/issues/27684 (log),
https://github.com/tensorflow/tensorflow/issues/20091 (a division),
https://github.com/qqwweee/keras-yolo3/issues/171 (K.switch around a log)
"""

from tfnanlint.api import (
    Certainty,
    Context,
    Differentiated,
    Finding,
    Iterator,
    Masked,
    Site,
    ast,
    evidence,
    input_masks,
    of_labels,
    rule,
)


@rule(
    "TFN204",
    "where-guards-value-only",
    on="tf.where K.switch tf.boolean_mask ops.nan_to_num",
    over="TFN101 TFN102 TFN103 TFN104 TFN105 TFN201 TFN202 TFN203 TFN206 TFN405",
    silent="MAY/UNKNOWN/DOUBTFUL MAY/YES/DOUBTFUL",
    fixes="mask_input",
)
def check(choice: Site, here: Context) -> Iterator[Finding]:
    masked_sites = [masked for masked in here.masks.behind(choice) if may_spoil(masked, here)]
    if (
        not masked_sites
        or any(nothing(choice, param) for param in ("x", "y"))
        or choice.differentiated is Differentiated.NO
    ):
        return
    for masked in masked_sites:
        is_taken = masked.site.gradient(as_of=choice) is not Differentiated.NO
        if is_taken and not hidden_before(masked, here):
            yield finding(masked, here)


def may_spoil(masked: Masked, here: Context) -> bool:
    """Whether the gradient of what a choice hides may be NaN, if one is taken."""
    if masked.cut or of_labels(masked.site):
        return False
    return here.numeric(masked.site.value(masked.param)) and not promised(masked, here)


def hidden_before(masked: Masked, here: Context) -> bool:
    """Whether an earlier choice hides the same result: its finding is the one of this hazard."""
    first = here.masks.of(masked.site)
    return (
        first is not None
        and first.choice.node is not masked.choice.node
        and first.choice.differentiated is not Differentiated.NO
        and first.param == masked.param
        and first.choice.op.name == masked.choice.op.name
        and not first.cut
    )


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
    """NaN, or NaN in some dtype (`dtype(np.nan)`): what is chosen instead spoils the loss
    itself.
    """
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
    fixes = [] if not local or site.op.masked == "" else input_masks.repaired(here, masked)
    return here.finding(
        site,
        masked.param,
        message(masked, here, xla),
        Certainty.MAY,
        fixes,
        modes=("xla",) if xla else ("eager", "graph", "xla"),
        node=None if local else choice.node,
        doubtful=evidence.called(site.value(masked.param)),
        as_of=choice,
    )


def message(masked: Masked, here: Context, xla: bool) -> str:
    name = (
        here.text(masked.choice.node.func)
        if isinstance(masked.choice.node, ast.Call)
        else "tf.where"
    ).split("(")[0]
    same_line = masked.choice.node.lineno == masked.site.node.lineno
    where = "around it" if same_line else f"on {here.line(masked.choice.node)}"
    gradient = "NaN under XLA, and 0 in other modes" if xla else "NaN"
    return (
        f"'{name}' {where} hides the result where the input is {masked.domain.outside}, but not "
        f"its gradient, {gradient}"
    )
