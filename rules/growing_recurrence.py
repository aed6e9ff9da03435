"""Recurrent layer whose activation is an exponential: its state overflows after a few steps.

A recurrent layer is applied to its own state in every step. `tanh` keeps that state between -1 and
1. An exponential makes of each state the exponential of the state before: a tower of exponentials
of as many storeys as the sequence has steps, which is Inf soon after the weights let it grow.

See it:
    >>> layer = tf.keras.layers.SimpleRNN(4, "exponential", recurrent_initializer="ones")
    >>> bool(tf.reduce_all(tf.math.is_finite(layer(tf.ones([1, 50, 3])))))
    False

Repair: keep `tanh` as the activation of the recurrent layer, and let a layer above it have the
other | the state grows with every step and overflows | the state is between -1 and 1 | the model
is another one: train again

Bad:
    outputs = keras.layers.SimpleRNN(50, activation="exponential")(inputs)

Good:
    outputs = keras.layers.Dense(50, activation="softplus")(keras.layers.SimpleRNN(50)(inputs))

relu, or no activation at all, does not bound the state either, but then it depends on the weights
and on the number of steps whether it overflows: such layers are not reported. There is no
automatic fix, because the activation belongs to the model.

See also: https://www.tensorflow.org/api_docs/python/tf/keras/layers/SimpleRNN

Seen in the wild:
https://github.com/tensorflow/tensorflow/issues/53779 (the exponential in a SimpleRNN)
"""

from tfnanlint.api import Certainty, Context, Finding, Iterator, Site, layer_outputs, rule

CELLS = "LSTMCell BasicLSTMCell GRUCell BasicRNNCell"


@rule(
    "TFN507",
    "growing-recurrence",
    on="keras.layers.LSTM keras.layers.GRU keras.layers.SimpleRNN "
    + " ".join(f"tf.nn.rnn_cell.{cell}" for cell in CELLS.split()),
)
def check(layer: Site, here: Context) -> Iterator[Finding]:
    if not layer.given("activation"):
        return
    state = layer_outputs.activated_by(layer)
    if state.known and state.inf:
        yield here.finding(
            layer,
            "activation",
            "the activation of a recurrent layer is an exponential: the state grows from step to "
            "step until it overflows",
            Certainty.MAY,
            help="keep tanh here, and put the exponential into a layer above",
        )
