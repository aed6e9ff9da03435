"""NaN replaced after it was made: the loss stays finite, the weights become NaN.

`tf.where(tf.math.is_nan(y), tf.zeros_like(y), y)` on something that depends on weights, also as a
Lambda layer or a helper such as `patch_nans`, hides the NaN from the loss only. Its gradient is 0
at the output, but on the way back 0 times NaN is NaN again: every weight is NaN after one step
while the loss goes on as a plausible, frozen number.

See it:
    >>> w = tf.constant([1.0, 1.0])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(w)
    ...     y = w * [2.0, float("nan")]
    ...     loss = tf.reduce_sum(tf.where(tf.math.is_nan(y), tf.zeros_like(y), y))
    >>> float(loss), tape.gradient(loss, w).numpy()
    (2.0, array([ 2., nan], dtype=float32))

Bad:
    y = dense(x)
    y = tf.where(tf.math.is_nan(y), tf.zeros_like(y), y)

Good:
    ok = tf.reduce_all(tf.math.is_finite(x), axis=-1, keepdims=True)
    y = dense(tf.where(tf.math.is_finite(x), x, tf.zeros_like(x)))
    y = tf.where(ok, y, tf.zeros_like(y))

Mask the input first and use the mask again at the end. If the NaN is made by a logarithm or a
division, guard that. Replacing NaN in data, before anything with weights sees it, is right and is
not reported.

See also: https://www.tensorflow.org/api_docs/python/tf/where (inner where on the input)

Seen in the wild:
https://github.com/keras-team/keras/issues/1628 (outputs with missing values),
https://github.com/keras-team/keras/issues/14442 (a loss over labels with NaN),
https://github.com/mehta-lab/microDL/pull/102 (where(is_nan(...)) around a similarity)
"""

from __future__ import annotations

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Note,
    Part,
    Site,
    Value,
    argument,
    domains,
    filler,
    label_behind,
    masked_inputs,
    nan_masks,
    patched_quotients,
    repairs,
    rule,
    weights,
)

# By what lies outside of a domain: what is inside, and what is not.
INSIDE = {
    "0 or below": ("{x} > 0", "{x} <= 0"),
    "-1 or below": ("{x} > -1", "{x} <= -1"),
    "0": ("tf.not_equal({x}, 0)", "tf.equal({x}, 0)"),
}
HELP = (
    "replace NaN in the input by 0 before any weights use it, and apply the same mask again at "
    "the end"
)

OF_LABELS = (
    "replace NaN in '{y}' before anything is computed from it, for example by the prediction, "
    "tf.where(tf.math.is_nan({y}), prediction, {y}), and leave these elements out of the mean"
)

TESTS_FOR_NAN = ("is_nan", "isnan", "IsNan", "not_nan", "non_nan", "nan_", "finite", "Finite")


def beside_a_test(*ops: str) -> str:
    """What ops that mask need in a file: a test for NaN, which `divide_no_nan` is not."""
    return " ".join(f"{op}:{test}" for op in ops for test in TESTS_FOR_NAN)


@rule(
    "TFN205",
    "nan-masked-after",
    on="tf.where K.switch ops.nan_to_num tf.boolean_mask tf.multiply tf.gather tf.gather_nd",
    needs="where switch nan_to_num "
    + beside_a_test("tf.boolean_mask", "tf.multiply", "tf.gather", "tf.gather_nd"),
    fixes="divide_no_nan mask_input",
)
def check(choice: Site, here: Context) -> Iterator[Finding]:
    patched = nan_masks.patched_value(choice)
    if patched is None:
        yield from labels_masked(choice, here)
        return
    if choice.differentiated is Differentiated.NO:
        return
    kept, test = patched
    if nan_masks.is_never_nan(kept, test):
        return
    if any(masked.by_result for masked in here.masks.behind(choice)):
        return  # TFN204 says it at the operation that makes the NaN
    if not weights.is_computed_with_weights(
        choice, kept, here.module, here.interpreter, here.around
    ):
        return
    fixes = mask_first(choice, kept, test, here)
    name = here.text(choice.node.func)
    label = label_behind(kept, choice.point) if not fixes else ""
    yield here.finding(
        choice,
        None,
        f"'{name}' hides NaN from the loss, not from the gradient: weights before it become NaN",
        Certainty.MAY,
        fixes,
        help=OF_LABELS.format(y=label) if label else "" if fixes else HELP,
        kind="masked-nan",
    )


def labels_masked(choice: Site, here: Context) -> Iterator[Finding]:
    """What was computed from labels, or other data, and is masked where these are NaN."""
    data = masked_inputs.masked_data(choice)
    if data is None or choice.differentiated is Differentiated.NO:
        return
    name = data.origin.parameter if isinstance(data.origin, Note) else ""
    what = f"'{name}'" if name else "the tested value"
    yield here.finding(
        choice,
        None,
        f"the mask hides NaN of {what} from the loss, but not from the gradient, which is 0 * NaN",
        Certainty.MAY,
        help=f"replace the NaN of {what} first, with one tf.where(tf.math.is_nan(..), 0., ..)",
    )


def mask_first(choice: Site, kept: Value, how: str, here: Context) -> list[Fix]:
    """Where the operation that makes the NaN is in sight: its input is masked, and the choice tests
    the input too.
    """
    producer = kept.origin
    test = choice.args.get("condition")
    if (
        how != "tf.math.is_nan"
        or test is None
        or not isinstance(producer, Site)
        or here.site(test, choice.point) is None
    ):
        return []
    if (
        here.site(test, choice.point).op.name != "tf.math.is_nan"
        or producer.source is not here.source
    ):
        return []
    if producer.op.name == "tf.divide" and choice.value("x").lo == choice.value("x").hi == 0:
        return patched_quotients.quotient_or_0(here, choice, producer)
    for param, where in domains(producer):
        x, again = producer.args.get(param), argument(producer, param)
        inside, outside = INSIDE.get(where.outside, ("", ""))
        if where.holds(producer.value(param)) or x is None or not inside or not here.repeatable(x):
            continue
        parts: list[Part] = [
            (test, f"tf.logical_or({{test}}, {outside})", {"test": test, "x": again}),
            (x, f"tf.where({outside}, {filler(producer, param)}, {{x}})", {"x": x}),
        ]
        # A test for NaN lets Inf through, of which a tanh behind it makes a finite number.
        cost = seen_elsewhere(producer, choice, here) or "Inf is replaced as well"
        fixes = here.rewrite_all(
            choice,
            parts,
            title="mask the input first and apply the mask again",
            claim=Claim.SHIFTED,
            cost=cost,
        )
        return repairs.brief(here, choice, fixes)
    return []


def seen_elsewhere(producer: Site, choice: Site, here: Context) -> str:
    """What other callers of the helper in which the NaN is made would notice; empty where there are
    none.
    """
    name = "" if here.visible(producer, choice) else getattr(producer.point.scope.node, "name", "")
    if not name or len(here.calls(name)) == 1:
        return ""
    return f"{name}() returns a number instead of NaN or Inf to every caller"
