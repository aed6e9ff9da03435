"""A learning rate far above the usual range of its optimizer.

Steps that are too long make the loss grow from step to step until it overflows: first inf, then
NaN, then every weight is NaN. Adam and its variants change every weight by about the learning rate
in every step, however small the gradient is: 0.1 is a hundred times the default. Plain gradient
descent at 1.0 or more is stable only for inputs and targets of size 1, and momentum `m` makes the
steps `1 / (1 - m)` times as long.

See it:
    >>> w = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.SGD(learning_rate=10.0)
    >>> for _ in range(50):
    ...     with tf.GradientTape() as tape:
    ...         loss = tf.square(w)
    ...     _ = optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    >>> float(loss)
    nan

Repair: divide the learning rate by 10 until the loss falls | the loss grows until it is NaN | the
loss falls from the first steps on | the length of the steps: training may take longer

Bad:
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.5), loss="mse")

Good:
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=1e-3), loss="mse")

It is reported in files that build or train a network, except tests. There is no automatic fix:
divide the rate by 10 until the loss falls from the first steps on, scale inputs and targets to mean
0 and standard deviation 1, or bound the steps with `clipnorm=1.0`.

See also: https://github.com/keras-team/keras/issues/3040,
https://github.com/tensorflow/tensorflow/issues/38796,
https://www.tensorflow.org/api_docs/python/tf/keras/optimizers/Adam

Seen in the wild:
https://stackoverflow.com/questions/43636736 (0.5 with inputs up to 100)
"""

from __future__ import annotations

from tfnanlint.api import (
    Certainty,
    Context,
    Finding,
    Iterator,
    Site,
    files,
    frameworks,
    made_by,
    number_text,
    rule,
    texts,
)

ADAPTIVE = ("Adam", "AdamW", "Adamax", "Nadam", "RMSprop")
LIMITS = {f"keras.optimizers.{name}": 0.1 for name in ADAPTIVE} | {
    "tf.train.AdamOptimizer": 0.1,
    "tf.train.RMSPropOptimizer": 0.1,
    "keras.optimizers.SGD": 1.0,
    "tf.train.GradientDescentOptimizer": 1.0,
    "tf.train.MomentumOptimizer": 1.0,
}


@rule("TFN801", "learning-rate-too-high", on=" ".join(LIMITS), preview=True)
def check(site: Site, here: Context) -> Iterator[Finding]:
    written, limit = literal(site), LIMITS[site.op.name]
    if (
        written is None
        or files.is_below_tests(here.source.path)
        or not texts.trains_network(here.words)
    ):
        return
    rate, momentum = written, site.const("momentum", 0.0)
    if isinstance(momentum, float) and 0 < momentum < 1:
        rate, limit = rate / (1 - momentum), 5 * limit
    if texts.normalizes_layers(here.words) and limit >= 1:
        limit *= 5
    if rate < limit or any(
        site.given(param) for param in ("clipnorm", "clipvalue", "global_clipnorm")
    ):
        return
    name = site.op.name.rsplit(".", 1)[-1]
    how = (
        "changes every weight by this much in each step"
        if limit <= 0.1
        else "multiplies every gradient by it"
    )
    yield here.finding(
        site,
        None,
        f"learning rate {number_text(written)} is far too high for {name}, which {how}: the "
        "loss grows until it overflows",
        Certainty.MAY,
        help="start with a hundredth of it",
    )


def literal(site: Site) -> float | None:
    """The rate that the program writes down, or the first one of a schedule."""
    for param in ("learning_rate", "lr"):
        if site.given(param):
            schedule = made_by(site.value(param), *frameworks.FALLING_RATES)
            rate = (
                site.const(param) if schedule is None else schedule.const("initial_learning_rate")
            )
            return (
                float(rate)
                if isinstance(rate, (int, float)) and not isinstance(rate, bool)
                else None
            )
    return None
