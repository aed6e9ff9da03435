"""A recurrent network trained without bounds on its gradients.

The gradient of a recurrent layer is a product over all time steps: where its factors are a little
above 1 it grows without limit, and one long sequence is enough for a step that ruins the weights,
or for an infinite gradient. One argument bounds the step: `clipnorm=1.0`.

See it:
    >>> w, state = tf.constant(1.5), tf.constant(1.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(w)
    ...     for _ in range(250):
    ...         state = w * state
    >>> float(tape.gradient(state, w))
    inf

Repair: pass `clipnorm=1.0` to the optimizer | one long sequence can give an infinite step | the
length of every step is bounded | gradients longer than 1 are scaled to length 1

Bad:
    model = keras.Sequential([keras.layers.LSTM(64), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")

Good:
    model = keras.Sequential([keras.layers.LSTM(64), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(0.1, clipnorm=1.0), loss="mse")

`clipnorm` bounds each variable's gradient, `global_clipnorm` all of them together, `clipvalue`
every element. In a custom loop it is `tf.clip_by_global_norm(grads, 1.0)`. A NaN gradient stays
NaN: clipping does not repair an operation outside its domain. There is no automatic fix, because
only a run shows how large these gradients usually are (start with 1.0).

See also: https://github.com/keras-team/keras/issues/510,
https://github.com/keras-team/keras/issues/5127,
https://www.tensorflow.org/api_docs/python/tf/keras/optimizers/Optimizer
"""

from __future__ import annotations

from tfnanlint.api import (
    COMPILE,
    Certainty,
    Context,
    Finding,
    Iterator,
    Site,
    Value,
    layer_names,
    rule,
)

RECURRENT = frozenset(
    ("LSTM", "GRU", "SimpleRNN", "RNN", "CuDNNLSTM", "CuDNNGRU", "ConvLSTM2D", "Bidirectional")
)
CLIPPED = ("clipnorm", "clipvalue", "global_clipnorm")


@rule("TFN806", "no-gradient-clipping", on=COMPILE, preview=True)
def check(site: Site, here: Context) -> Iterator[Finding]:
    layer = next(iter(sorted(layer_names(site.value("self")) & RECURRENT)), None)
    if layer is None or not site.given("optimizer") or clipped(site.value("optimizer")):
        return
    yield here.finding(
        site,
        None,
        f"the {layer} is trained without gradient clipping: gradients are products over all "
        "time steps, so a long sequence can make them infinite",
        Certainty.MAY,
        node=site.args["optimizer"],
        help="give the optimizer clipnorm=1.0",
    )


def clipped(optimizer: Value) -> bool:
    """Whether an optimizer bounds its steps; one of which nothing is known may."""
    if optimizer.kind == "string":
        return False
    origin = optimizer.origin
    if not isinstance(origin, Site) or not origin.op.name.startswith("keras.optimizers."):
        return True
    return not origin.complete or any(origin.given(param) for param in CLIPPED)
