"""Mean, maximum or minimum of filtered elements, when the filter may leave none.

`tf.reduce_mean` of an empty tensor is 0 / 0, NaN, and so are its variance and standard deviation;
`tf.reduce_max` is -inf and `tf.reduce_min` inf. No error is raised. A batch without positive
examples, a mask that is false everywhere or an image without boxes is enough. Of a sequence that
is padding alone `GlobalAveragePooling1D` above `Embedding(mask_zero=True)` or `Masking` gives NaN,
too; this is a note.

See it:
    >>> float(tf.reduce_mean(tf.boolean_mask([1.0, 2.0], [False, False])))
    nan

Bad:
    kept = tf.boolean_mask(losses, labels > 0)
    loss = tf.reduce_mean(kept)

Good:
    kept = tf.boolean_mask(losses, labels > 0)
    loss = tf.math.divide_no_nan(tf.reduce_sum(kept), tf.cast(tf.size(kept), kept.dtype))

`tf.math.divide_no_nan` gives 0 if no element is left. The fix writes it where the elements have a
name and a gradient of the mean is taken; in other places leave the term out, or choose its value.
Nothing is reported inside `tf.cond(tf.size(kept) > 0, ...)`. A maximum or minimum has no neutral
value that fits every program: choose a value, and use it with `tf.cond` or append it to the
elements.

Often harmless: a mean without a gradient, in a function that does not also divide by the number of
the same elements, because most batches contain some.

See also: https://www.tensorflow.org/api_docs/python/tf/math/divide_no_nan
https://github.com/qq456cvb/VoteNet/issues/9 and https://github.com/tryolabs/luminoth/issues/68
"""

from tfnanlint.api import (
    COMPILE,
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Site,
    SizeTests,
    Value,
    ast,
    filtered_elements,
    padded_steps,
    rule,
    texts,
    traits,
)

SMALL_INTEGERS = ("uint8", "int16", "int8")
RESULTS = {
    "tf.reduce_mean": "mean of filtered elements: if none is left, the result is NaN (0 / 0)",
    "tf.reduce_max": "maximum of filtered elements: if none is left, the result is -inf",
    "tf.reduce_min": "minimum of filtered elements: if none is left, the result is inf",
    "tf.math.reduce_variance": "variance of filtered elements: if none is left, the result is "
    "NaN (0 / 0)",
    "tf.math.reduce_std": "standard deviation of filtered elements: if none is left, the "
    "result is NaN (0 / 0)",
}


@rule(
    "TFN107",
    "mean-of-nothing",
    on="tf.reduce_mean tf.reduce_max tf.reduce_min tf.math.reduce_variance tf.math.reduce_std "
    + COMPILE,
    needs="boolean_mask dynamic_partition gather [ mask_zero Masking",
    silent="MAY/NO/DOUBTFUL",
    fixes="divide_no_nan",
)
def check(reduction: Site, here: Context) -> Iterator[Finding]:
    if reduction.op.name == COMPILE:
        yield from of_padding(reduction, here)
        return
    between = filtered_elements.ELEMENTWISE | filtered_elements.ROW_BY_ROW
    if not here.may_stem(reduction, "x", traits.CHOOSING, between):
        return
    x = reduction.value("x")
    if not here.numeric(x) or x.dtype in SMALL_INTEGERS:
        return
    chosen = filtered_elements.filter_of(x)
    axis = reduction.const("axis")
    if isinstance(axis, int) and axis != (filtered_elements.filtered_axis(x) or 0):
        return  # a filter may leave nothing of its own axis
    if chosen is None or asked(reduction, chosen, here):
        return
    yield here.finding(
        reduction,
        None,
        RESULTS[reduction.op.name],
        Certainty.MAY,
        fixes(reduction, here),
        modes=("eager", "graph"),
        doubtful=not divided_by(chosen, reduction, here),
        kind=filtered_elements.weakness_of_filter(chosen),
    )


def of_padding(compiled: Site, here: Context) -> Iterator[Finding]:
    """The layer that averages over the steps that a mask leaves, in the model that is compiled."""
    for layer in padded_steps.masked_averages(compiled.value("self")):
        if layer.point is not None and layer.point.module is here.module:
            yield here.finding(
                layer,
                None,
                "mean over the steps that the mask of a layer below leaves: for a sequence of "
                "padding alone the result is NaN (0 / 0)",
                Certainty.MAY,
                help="leave such sequences out, or begin each with a token that is not padding",
                kind="data-mask",
            )


def asked(reduction: Site, chosen: Site, here: Context) -> bool:
    """Whether the program tests that there are elements."""
    tests = set()
    if chosen.given("mask"):
        tests = filtered_elements.nan_tests_of(chosen.value("mask"))
    if not here.tested_for_nan(reduction):
        tests |= filtered_elements.nan_tests_of_choices(here.around(reduction.node))
    guards = SizeTests(here.module, here.interpreter)
    if guards.guard(reduction, here.around(reduction.node), tests):
        return True
    if chosen.given("mask") and here.leaves_some(reduction, chosen.value("mask")):
        return True
    return any(is_of_filter(value, chosen, here) for value in here.counted(reduction))


def is_of_filter(value: Value, chosen: Site, here: Context) -> bool:
    """Whether a value has as many rows as a filter leaves: what it gives, or its indices."""
    if chosen.given("indices") and here.same(value, chosen.value("indices")):
        return True
    behind = filtered_elements.filter_of(value)
    return behind is not None and behind.node is chosen.node


def divided_by(chosen: Site, reduction: Site, here: Context) -> bool:
    """Whether the same function divides by the number of the elements that were chosen: where a
    guard there is wanted, it is here, too.
    """
    function = reduction.point.scope.node if reduction.point is not None else None
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    rows = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    divisions = here.applications(here.source.rows_where(texts.may_divide, rows))
    return any(filtered_elements.is_divided_by_count(chosen, division) for division in divisions)


def fixes(reduction: Site, here: Context) -> list[Fix]:
    x = reduction.args.get("x")
    whole = not reduction.given("axis") or reduction.const("axis") is None
    if (
        reduction.op.name != "tf.reduce_mean"
        or x is None
        or not whole
        or reduction.const("keepdims", False) is not False
    ):
        return []
    if not isinstance(x, ast.Name) or reduction.differentiated is not Differentiated.YES:
        here.no_fix = "leave the term out where no element is left"
        return []
    return here.rewrite(
        reduction,
        "tf.math.divide_no_nan(tf.reduce_sum({x}), tf.cast(tf.size({x}), {x}.dtype))",
        title="0 where no element is left",
        claim=Claim.EQUAL_WHERE_FINITE,
        x=x,
    )
