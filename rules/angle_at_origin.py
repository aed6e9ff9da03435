"""Angle of a vector or complex number that can be 0.

At the origin there is no direction: `tf.atan2(0, 0)` is 0, but its gradient is `0 / 0`, NaN, and so
is that of `tf.math.angle(0)`. Silence in a spectrogram, a joint that does not move and a relu
before both arguments give exactly this point.

See it:
    >>> y, x = tf.constant(0.0), tf.constant(0.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     angle = tf.atan2(y, x)
    >>> float(tape.gradient(angle, x))
    nan

Bad:
    heading = tf.atan2(tf.nn.relu(dy), tf.nn.relu(dx))

Good:
    y, x = tf.nn.relu(dy), tf.nn.relu(dx)
    still = tf.square(y) + tf.square(x) > 0
    heading = tf.where(still, tf.atan2(y, tf.where(still, x, tf.ones_like(x))), tf.zeros_like(y))

The mask gives the same angle everywhere and a gradient of 0 at the origin. For a complex number
take the angle of its parts, `tf.atan2(tf.math.imag(z), tf.math.real(z))`, in the same way.
`x + 1e-12` as the second argument helps as well, unless x is exactly -1e-12.

See also: https://www.tensorflow.org/api_docs/python/tf/math/atan2
https://github.com/tensorflow/tensorflow/issues/50854 and https://github.com/NEGU93/cvnn/issues/12
"""

from tfnanlint.api import (
    Any,
    Certainty,
    Claim,
    Context,
    Differentiated,
    Finding,
    Fix,
    Iterator,
    Named,
    Site,
    Value,
    angles,
    ast,
    differences,
    evidence,
    linear,
    repairs,
    roots_in,
    rule,
    traits,
)


@rule(
    "TFN208",
    "angle-at-origin",
    on="tf.atan2 tf.math.angle",
    over="TFN103 TFN201 TFN202 TFN203",
    fixes="mask epsilon_inside",
)
def check(angle: Site, here: Context) -> Iterator[Finding]:
    if angle.differentiated is Differentiated.NO or here.hidden(angle):
        return
    params = ("y", "x") if angle.op.name == "tf.atan2" else ("x",)
    values = [angle.value(param) for param in params]
    if any(
        value.nonzero or value.guarded or value.kind == "number" or replaced(value, here)
        for value in values
    ):
        return
    if len(values) == 2 and differences.are_never_both_zero(*values):
        return
    inside: list[Site] = []
    if len(values) == 1:
        shown, fixes = here.made_by(values[0], *traits.SPECTRA) is not None, []
        parts = here.made_by(values[0], "tf.complex")
        if parts is not None:
            values = [parts.value("real"), parts.value("imag")]
    else:
        shown, inside = False, [root for value in values for root in roots_in(value)]
        # their own gradients are infinite at 0
        fixes = repairs.under_the_root(here, inside) if inside else masked(angle, here)
    shown = (
        shown
        or len(values) == 2
        and all(value.known and evidence.shows_zero(value) for value in values)
        or is_free_direction(angle, values)
    )
    if not shown and all(value.known for value in values):
        return
    what = "atan2 at (0, 0)" if angle.op.name == "tf.atan2" else "the angle of 0"
    yield here.finding(
        angle,
        None,
        f"{what} is 0, but its gradient is 0 / 0, which is NaN",
        Certainty.MAY if shown else Certainty.UNKNOWN,
        fixes,
        covers=[root.node for root in inside],
    )


def is_free_direction(angle: Site, values: list[Value]) -> bool:
    """Whether a gradient is taken and weights give both parts of a direction without an activation,
    which are 0 for an input of zeros as long as the biases are 0, or two points of one set do,
    which may coincide, or a cross product does, which is 0 along the third axis.
    """
    if angle.differentiated is not Differentiated.YES or len(values) != 2:
        return False
    if all(map(linear, values)) or all(map(differences.is_between_parts, values)):
        return True
    return angles.are_parts_of_free_vector(*values)


def replaced(value: Value, here: Context) -> bool:
    """Whether the program replaces some elements by something that is not 0."""
    choice = here.made_by(value, "tf.where")
    return (
        choice is not None
        and choice.given("x")
        and any(choice.value(param).nonzero for param in ("x", "y"))
    )


def masked(angle: Site, here: Context) -> list[Fix]:
    """atan2 on (0, 1) where both arguments are 0."""
    if not {"x", "y"} <= set(angle.args):
        return []
    holes: dict[str, Any] = {
        param: node
        if isinstance(node, (ast.Name, ast.Attribute))
        else Named(word, "{v}", {"v": node})
        for param, node, word in (("y", angle.args["y"], "rise"), ("x", angle.args["x"], "run"))
    }
    moves = Named("moves", "tf.square({y}) + tf.square({x}) > 0", dict(holes))
    return here.rewrite(
        angle,
        "tf.where({m}, tf.atan2(tf.where({m}, {y}, tf.zeros_like({y})), "
        "tf.where({m}, {x}, tf.ones_like({x}))), tf.zeros_like({y}))",
        m=moves,
        title="mask the origin, with gradient 0 there",
        claim=Claim.EQUAL_WHERE_FINITE,
        **holes,
    )
