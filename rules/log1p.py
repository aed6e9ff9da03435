"""Logarithm of 1 + x where x can be small: log1p keeps the digits that the sum drops.

Next to 1, float32 keeps steps of 1.2e-7: `1 + x` has lost every digit of `x` below 6e-8, and all
but three of 1e-4. `log(1 + x)` is then exactly 0, or wrong in the fourth digit. `tf.math.log1p`
takes `x` itself and is right to the last digit; `log(1 - x)` is `log1p(-x)`. TensorFlow's graph
optimizer rewrites a `tf.function` in this way; eager code and XLA lose the digits. The gradient is
the same.

See it:
    >>> float(tf.math.log(1.0 + tf.constant(1e-8)))
    0.0
    >>> tf.math.log1p([1e-8]).numpy()
    array([1.e-08], dtype=float32)

Repair: `log1p` | the digits of a small `x` are lost, and below 6e-8 the result is 0 | the result is
right to the last digit |

Bad:
    change = tf.math.log(1.0 + rate)

Good:
    change = tf.math.log1p(rate)

Nothing is reported where `x` is a count, or cannot come near 0, or where nothing is differentiated
(a schedule, a metric), and for a number stored on an object only with `certainty = "unknown"`. At
-1 both forms are -inf: where `x` can be -1, keep it above with `tf.maximum`.

See also: https://www.tensorflow.org/api_docs/python/tf/math/log1p

Why log(1 + x) loses the digits: https://docs.oracle.com/cd/E19957-01/806-3568/ncg_goldberg.html
(theorem 4).

No public report known; included because executing it shows the problem.
"""

from tfnanlint.api import (
    NO_CONSTANT,
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Iterator,
    Site,
    Value,
    argument,
    ast,
    plain,
    rule,
    traits,
)

# who keeps x above this wants no digits below it: what is lost of log(1 - x) is 6e-8, next to
# losses of 1
KEPT = 5e-7


@rule("TFN307", "log1p", on="tf.math.log", preview=True, fixes="log1p")
def check(log: Site, here: Context) -> Iterator[Finding]:
    total = here.made_by(log.value("x"), *traits.ADDITIONS, aligned=True)
    param = summand(total) if total is not None else None
    if total is None or param is None or not total.complete or total.library in ("np", "math"):
        return
    x = total.value(param)
    if not here.numeric(x) or whole(x) or x.guarded or x.lo >= KEPT or x.hi <= -KEPT or x.exact:
        return
    if log.differentiated is Differentiated.NO or number_of_python(total, log):
        return
    clip = here.made_by(x, "tf.clip_by_value")
    floor = clip.value("clip_value_min") if clip is not None else None
    if floor is not None and not floor.exact and (floor.lo > 0 or not floor.known):
        return  # kept away from 0 by an epsilon of which only the name is known
    minus = total.op.name == "tf.subtract"
    fixes = here.rewrite(
        log,
        "tf.math.log1p(-{x})" if minus else "tf.math.log1p({x})",
        title="use log1p",
        claim=Claim.EQUAL,
        x=argument(total, param, "offset"),
    )
    form = "log(1 - x)" if minus else "log(1 + x)"
    yield here.finding(
        log,
        None,
        f"{form} loses the digits of a small x: in float32 the result is 0 below 6e-8; log1p "
        "keeps them",
        Certainty.UNKNOWN if of_an_object(total, param, log) else Certainty.MAY,
        fixes,
        modes=("eager", "xla"),
    )


def summand(total: Site) -> str | None:
    """The parameter of a sum or difference that is added to 1 or taken from it."""
    params = (("x", "y"),) if total.op.name == "tf.subtract" else (("x", "y"), ("y", "x"))
    return next(
        (other for one, other in params if total.value(one).exact and total.value(one).lo == 1),
        None,
    )


def number_of_python(total: Site, log: Site) -> bool:
    """Whether nothing says that a sum in an earlier statement is a tensor:
    `confidence = 1.0 - label_smoothing`.
    """
    return log.value("x").kind != "tensor" and total.node is not log.args.get("x")


def of_an_object(total: Site, param: str, log: Site) -> bool:
    """Whether the small number is made of attributes and calls of which nothing says that they are
    tensors.
    """
    return log.value("x").kind != "tensor" and not isinstance(total.args.get(param), ast.Name)


def whole(x: Value) -> bool:
    """A count or another whole number, also one made a float."""
    inner = plain(x)
    return any(
        one.kind == "number"
        and one.const is NO_CONSTANT
        or one.dtype in ("int32", "int64", "uint8", "bool")
        for one in (x, inner)
    )
