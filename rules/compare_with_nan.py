"""Comparing with NaN.

NaN is equal to nothing, itself included: `x == np.nan` is False and `x != np.nan` is True for every
`x`, so that a mask made this way keeps or drops everything. `x is np.nan` asks whether `x` is one
particular Python object, which a tensor never is.

See it:
    >>> (tf.constant([1.0, float("nan")]) == float("nan")).numpy()
    array([False, False])

Bad:
    x = tf.where(x == np.nan, tf.zeros_like(x), x)

Good:
    x = tf.where(tf.math.is_nan(x), tf.zeros_like(x), x)

If `x` depends on weights, its gradient is still NaN: mask the input of the operation that produces
the NaN.

See also: https://www.tensorflow.org/api_docs/python/tf/math/is_nan

No public report known; included because executing it shows the problem.
"""

from tfnanlint.api import (
    CALLED_BY_BASES,
    CASTS,
    Certainty,
    Claim,
    Context,
    Finding,
    Iterator,
    Site,
    Value,
    ast,
    rule,
    traits,
)

NAMES = frozenset(("np.nan", "np.NaN", "np.NAN", "math.nan", "tnp.nan", "ops.nan"))
EQUAL = (ast.Eq, ast.Is)
UNEQUAL = (ast.NotEq, ast.IsNot)
# What NaN is written with; other ops make it of another NaN only.
MAKERS = frozenset(
    (
        "builtins.float",
        *traits.CONSTANTS,
        "tf.fill",
        "ops.full",
        "ops.full_like",
        "np.array",
        "np.float16",
        "np.float32",
        "np.float64",
        "tnp.array",
    )
)
KEEPERS = frozenset((*CASTS, *traits.LINEAR))
FOREIGN = ("array", "number", "string", "sequence", "dict", "none")


@rule(
    "TFN407",
    "compare-with-nan",
    on="compare tf.equal tf.not_equal",
    words="nan NaN NAN",
    fixes="is_nan",
)
def check(subject, *rest) -> Iterator[Finding]:
    if isinstance(subject, Site):
        yield from judged(subject, subject.op.name == "tf.equal", False, *rest)
        return
    node, (point, here) = subject, rest
    if len(node.ops) == 1 and isinstance(node.ops[0], (*EQUAL, *UNEQUAL)):
        site = here.compared(node, point)
        yield from judged(
            site, isinstance(node.ops[0], EQUAL), isinstance(node.ops[0], (ast.Is, ast.IsNot)), here
        )


def judged(site: Site, equal: bool, identity: bool, here: Context) -> Iterator[Finding]:
    for param, nan_param in (("x", "y"), ("y", "x")):
        if (
            param not in site.args
            or nan_param not in site.args
            or isinstance(site.args[param], ast.Constant)
        ):
            # what is written there is a number, a text or None, and its comparison Python's own
            continue
        if not is_nan(site, nan_param, here) or is_nan(site, param, here):
            continue
        kind = site.value(param).kind
        is_foreign = kind in FOREIGN and not is_read_from_tensor(site.value(param), here)
        is_default = kind != "tensor" and not in_callback(site, param, here)
        if is_foreign or identity and is_default:
            return  # `x is np.nan` finds a default argument of np.nan
        tensor = kind == "tensor" or site.library != "operator"
        fixes = (
            here.rewrite(
                site,
                "tf.math.is_nan({x})" if equal else "tf.logical_not(tf.math.is_nan({x}))",
                title="use tf.math.is_nan",
                claim=Claim.SHIFTED,
                cost="the test then finds NaN",
                x=site.args[param],
            )
            if tensor
            else []
        )
        yield here.finding(
            site,
            param,
            message(equal, identity),
            Certainty.MUST if tensor else Certainty.MAY,
            fixes,
        )
        return


def is_read_from_tensor(value: Value, here: Context) -> bool:
    """Whether a Python number or an array is what a tensor holds: `float(loss)`, `loss.numpy()`."""
    read = here.made_by(value, "builtins.float", "method.numpy", "method.item")
    if read is None:
        return False
    return read.op.name == "method.numpy" or read.value(read.op.main).kind == "tensor"


def in_callback(site: Site, param: str, here: Context) -> bool:
    """Whether a method that Keras calls during training compares a number of that training, which
    is no object that the program keeps.
    """
    function = site.point.scope.function
    return (
        function is not None
        and function.name in CALLED_BY_BASES
        and not isinstance(site.args[param], ast.Attribute)
        and here.inherits(site, "keras.callbacks.")
    )


def message(equal: bool, identity: bool) -> str:
    if identity:
        return (
            "this compares with one particular NaN object: it is "
            f"{'False' if equal else 'True'} for every tensor, even for NaN"
        )
    return (
        "NaN compares unequal to everything, itself included: this is "
        f"{'False' if equal else 'True'} for every value, even for NaN"
    )


def is_nan(site: Site, param: str, here: Context) -> bool:
    """np.nan, math.nan, float("nan"), tf.constant(np.nan), and names for them."""
    node = site.args[param]
    if isinstance(node, (ast.Name, ast.Attribute)) and here.name(node, site.point) in NAMES:
        return True
    if not here.may_stem(site, param, MAKERS, KEEPERS):
        return False
    value = site.value(param)
    return value.nan and value.lo > value.hi
