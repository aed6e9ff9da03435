"""NaN replaced after it was made: the loss stays finite, the weights become NaN.

`tf.where(tf.math.is_nan(y), tf.zeros_like(y), y)` on something that depends on weights, also as a
Lambda layer or a helper such as `patch_nans`, hides the NaN from the loss only. Its gradient is 0
at the output, but on the way back 0 times NaN is NaN again: every weight is NaN after one step
while the loss goes on as a plausible, frozen number.

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
    CASTS,
    INF,
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
    ast,
    domains,
    evidence,
    filler,
    masked_inputs,
    plain,
    rule,
)

TESTS = ("tf.math.is_nan", "tf.math.is_finite", "tf.math.is_inf")
MASKS = (
    *TESTS,
    *CASTS,
    "tf.not_equal",
    "tf.equal",
    "tf.logical_not",
    "tf.logical_and",
    "tf.subtract",
)
DATA = (
    "tf.gradients",
    "method.gradient",
    "tf.placeholder",
    "K.placeholder",
    "keras.Input",
    "method.compute_gradients",
)
NEVER_NAN = ("tf.math.divide_no_nan", "tf.math.multiply_no_nan", "tf.math.reciprocal_no_nan")
WEIGHTS = ("tf.Variable", "K.variable", "tf.get_variable", "method.add_weight", "tf.matmul")
INSIDE = {
    "0 or below": ("{x} > 0", "{x} <= 0"),
    "-1 or below": ("{x} > -1", "{x} <= -1"),
    "0": ("tf.not_equal({x}, 0)", "tf.equal({x}, 0)"),
}
HELP = (
    "the features (or whatever makes the NaN) need the mask first: replace them by 0 before the weights see them, and use "
    "that mask again at the end"
)


@rule(
    "TFN205",
    "nan-masked-after",
    on="tf.where K.switch ops.nan_to_num tf.boolean_mask tf.multiply",
    needs="where switch nan_to_num tf.boolean_mask:nan tf.boolean_mask:finite tf.multiply:nan "
    "tf.multiply:finite",
)
def check(choice: Site, here: Context) -> Iterator[Finding]:
    kept, how = tested(choice, here)
    if kept is None:
        yield from labels_masked(choice, here)
        return
    if choice.differentiated is Differentiated.NO:
        return
    safe = here.made_by(plain(kept), *NEVER_NAN)
    if (
        safe is not None
        and not any(safe.value(param).nan for param in safe.args)
        or how == "tf.math.is_nan"
        and infinite_only(kept, here)
    ):
        return
    if inside(kept, here) or stopped(kept, here):
        return
    if any(masked.by_result for masked in here.masks.behind(choice)):
        return  # TFN204 says it at the operation that makes the NaN
    if not depends(choice, kept, here):
        return
    fixes = mask_first(choice, kept, how, here)
    name = here.text(choice.node.func)
    yield here.finding(
        choice,
        None,
        f"'{name}' hides NaN from the loss, not from the gradient: what this was computed with "
        "becomes NaN while the loss stays finite",
        Certainty.MAY,
        fixes,
        help="" if fixes else HELP,
    )


def labels_masked(choice: Site, here: Context) -> Iterator[Finding]:
    """What was computed from labels, or other data, and is masked where these are NaN."""
    if choice.differentiated is Differentiated.NO or not may_mask(choice):
        return
    if any(choice.given(param) and puts_nan(choice.value(param)) for param in ("x", "y")):
        return  # what is chosen instead spoils the loss itself
    for condition, kept in masked_inputs.kept_values(choice):
        data = masked_inputs.asked_for_nan(condition)
        if data is None or not masked_inputs.is_computed_from(kept, data):
            continue
        name = data.origin.parameter if isinstance(data.origin, Note) else ""
        what = f"'{name}'" if name else "what is tested"
        yield here.finding(
            choice,
            None,
            f"the mask hides NaN of {what} from the loss, not from the gradient: the derivative of "
            "what was computed from it is 0 * NaN",
            Certainty.MAY,
            help=f"replace the NaN of {what} first, with one tf.where(tf.math.is_nan(..), 0., ..)",
        )
        return


def puts_nan(value: Value) -> bool:
    """Whether a value is NaN throughout, in some dtype: `logits.dtype.type(np.nan)`."""
    node = value.origin.node if isinstance(value.origin, Site) else None
    named = node is not None and any(
        isinstance(part, ast.Attribute) and part.attr == "nan" for part in ast.walk(node)
    )
    return value.nan and value.lo > value.hi or named


def may_mask(choice: Site) -> bool:
    """Whether a mask may be a test for NaN, as far as the text tells."""
    if choice.op.name == "tf.multiply":
        return any(choice.may_be_made_by(param, *MASKS) for param in ("x", "y"))
    if choice.op.name == "ops.nan_to_num":
        return False
    return choice.may_be_made_by("condition" if choice.given("condition") else "mask", *MASKS)


def tested(choice: Site, here: Context) -> tuple[Value | None, str]:
    """The value that is tested for NaN and kept where it has none, and the test's name."""
    if choice.op.name == "ops.nan_to_num":
        return choice.value("x"), choice.op.name
    if not choice.given("condition") or not may_test(choice):
        return None, ""
    test = choice.value("condition")
    inverted = here.made_by(test, "tf.logical_not")
    site = here.made_by(
        inverted.value("x") if inverted is not None else test, *TESTS, "tf.not_equal"
    )
    if site is None:
        return None, ""
    if site.op.name == "tf.not_equal" and not here.same(site.value("x"), site.value("y")):
        return None, ""
    for param in ("x", "y", "then_expression", "else_expression"):
        if choice.given(param) and here.same(plain(choice.value(param)), plain(site.value("x"))):
            return choice.value(param), site.op.name
    return None, ""


def may_test(choice: Site) -> bool:
    """Whether a condition may be a test for NaN, as far as its text tells: `x > 0` is none."""
    node = choice.args.get("condition")
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and isinstance(node.ops[0], ast.NotEq)
    return choice.may_be_made_by("condition", *TESTS, "tf.not_equal", "tf.logical_not")


def infinite_only(kept: Value, here: Context) -> bool:
    """1 / x of an x that is no NaN: at 0 it is Inf, which a test for NaN lets through."""
    quotient = here.made_by(evidence.widest(plain(kept)), "tf.divide")
    return (
        quotient is not None
        and quotient.value("x").exact
        and quotient.value("x").nonzero
        and quotient.value("y").known
        and not quotient.value("y").nan
    )


def inside(kept: Value, here: Context) -> bool:
    """Whether an op is kept inside its domain: the root of tf.maximum(x, 1e-12) leaves nothing to
    hide.
    """
    made = plain(kept).origin
    return (
        isinstance(made, Site)
        and any(domains(made))
        and -INF < kept.lo
        and kept.hi < INF
        and not kept.nan
        and not kept.inf
    )


def stopped(kept: Value, here: Context) -> bool:
    """The softmax of tf.where(masked, -inf, x): a row is NaN where all of it is masked, and the
    gradient of tf.where is 0 there. With a finite number there is no NaN.
    """
    softmax = here.made_by(plain(kept), "tf.nn.softmax")
    # Where nothing is masked in one branch, the other is the one that can be -inf.
    masking = evidence.behind(plain(softmax.value("logits"))) if softmax is not None else None
    if not isinstance(masking, Site) or masking.op.name != "tf.where":
        return False
    scores = [
        value
        for value in (masking.value("x"), masking.value("y"))
        if not (value.lo == value.hi and value.lo < 0)
    ]
    return len(scores) == 1 and not scores[0].inf


# Does it depend on weights


def depends(choice: Site, kept: Value, here: Context) -> bool:
    """Whether what is patched was computed with weights: seen in its origin, or in what a Lambda
    layer is applied to.
    """
    values = [kept]
    function = choice.point.scope.function if choice.point is not None else None
    owner = function.node if function is not None else None
    values += applied_to(owner, choice, here)
    if any(weighted(value) for value in values) or after_layers(owner, choice, here):
        return True
    computed = (
        isinstance(kept.origin, Site) and kept.origin.op.name not in DATA and not from_data(kept)
    )
    return computed and choice.differentiated is Differentiated.YES


def weighted(value: Value) -> bool:
    """Whether a layer or variable stands in the origin of a value; the elements of gradients do not
    count.
    """
    queue: list[Value] = [value]
    seen: set[int] = set()
    while queue and len(seen) < 200:
        one = queue.pop()
        origin = one.origin
        if one.evident and isinstance(origin, Site) and origin.op.name not in DATA:
            return True
        if not isinstance(origin, Site) or id(origin) in seen or origin.op.name in DATA:
            continue
        seen.add(id(origin))
        if origin.op.name in WEIGHTS or origin.library == "layer" and learns(origin.value("layer")):
            return True
        queue += [origin.value(param) for param in (origin.args or origin._values)]
    return False


def learns(layer: Value) -> bool:
    """Whether a layer or model has weights."""
    name = getattr(layer.obj, "name", "")
    layers = getattr(layer.obj, "layers", None)
    if layers is not None:
        return any(learns(inner) for inner in layers)
    params = getattr(getattr(layer.obj, "site", None), "op", None)
    return (
        layer.kind in ("layer", "model")
        and bool(params)
        and (
            "kernel_initializer" in params.params
            or name.endswith(
                (
                    "Dense",
                    "Embedding",
                    "LSTM",
                    "GRU",
                    "SimpleRNN",
                    "Bidirectional",
                    "Attention",
                    "Normalization",
                )
            )
        )
    )


def from_data(value: Value) -> bool:
    """Whether a value is picked from data or a gradient without computing."""
    origin = plain(value).origin
    return not isinstance(origin, Site) or origin.op.name in DATA


def applied_to(owner: ast.AST | None, choice: Site, here: Context) -> list[Value]:
    """What arrives where the function around a patch is used as a Lambda layer:
    `Lambda(patch_nans)(x)`.
    """
    found = []
    for node, point in here.calls("Lambda"):
        if uses(node, owner, choice, point, here):
            outer = here.around(node)
            call = (
                outer[0]
                if outer and isinstance(outer[0], ast.Call) and outer[0].func is node
                else None
            )
            if call is not None and call.args:
                found.append(here.value(call.args[0], point))
            elif (
                outer
                and isinstance(outer[0], ast.Assign)
                and isinstance(outer[0].targets[0], ast.Name)
            ):
                found += [
                    here.value(one.args[0], at)
                    for one, at in here.calls(outer[0].targets[0].id)
                    if one.args
                ]
    return found


def uses(node: ast.Call, owner: ast.AST | None, choice: Site, point, here: Context) -> bool:
    """Whether a Lambda layer holds the patch."""
    if not node.args or here.name(node.func, point) not in (
        "keras.layers.Lambda",
        "keras.layers.core.Lambda",
    ):
        return False
    given = node.args[0]
    if isinstance(given, ast.Lambda):
        return here.source.span(choice.node) in here.source.span(given)
    return owner is not None and getattr(here.value(given, point).obj, "node", None) is owner


def after_layers(owner: ast.AST | None, choice: Site, here: Context) -> bool:
    """Whether the Lambda layer stands behind a layer with weights in a Sequential model."""
    for node, point in here.calls("Lambda"):
        if not uses(node, owner, choice, point, here):
            continue
        outer = here.around(node)
        if (
            outer
            and isinstance(outer[0], ast.List)
            and any(
                learns(here.value(one, point)) for one in outer[0].elts[: outer[0].elts.index(node)]
            )
        ):
            return True
        if (
            outer
            and isinstance(outer[0], ast.Call)
            and isinstance(outer[0].func, ast.Attribute)
            and outer[0].func.attr == "add"
        ):
            return any(
                learns(layer)
                for layer in getattr(here.value(outer[0].func.value, point).obj, "layers", ())
            )
    return False


# Repair


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
        cost = seen_elsewhere(producer, choice, here) or "what is Inf there is replaced as NaN is"
        return here.rewrite_all(
            choice,
            parts,
            title="mask the input first and use the mask again",
            claim=Claim.SHIFTED,
            cost=cost,
        )
    return []


def seen_elsewhere(producer: Site, choice: Site, here: Context) -> str:
    """What other callers of the helper in which the NaN is made would notice; empty where there are
    none.
    """
    name = "" if here.visible(producer, choice) else getattr(producer.point.scope.node, "name", "")
    if not name or len(here.calls(name)) == 1:
        return ""
    return f"{name}() gives every caller a number in the place of the NaN or Inf"
