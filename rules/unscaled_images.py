"""Images with pixels of 0 to 255 that go into training without scaling.

Initial weights are chosen for inputs of size about 1. With pixels of 255 the first activations, and
so the first gradients, are some hundred times too large: relu units are pushed below 0 for good
after a step or two, the loss freezes at log(number of classes), or it overflows.

See it:
    >>> image, w = tf.fill([1, 16], 255.0), tf.Variable(tf.zeros([16, 1]))
    >>> optimizer = tf.keras.optimizers.SGD()
    >>> for _ in range(20):
    ...     with tf.GradientTape() as tape:
    ...         loss = tf.reduce_mean(tf.square(tf.matmul(image, w) - 1.0))
    ...     _ = optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    >>> float(loss)
    nan

Repair: divide the images by 255 | the first gradients are some hundred times too large | the first
gradients fit the initial weights | the inputs of the model: scale them in tests and predictions as
well

Bad:
    (x_train, y_train), _ = keras.datasets.mnist.load_data()
    model.fit(x_train, y_train)

Good:
    (x_train, y_train), _ = keras.datasets.mnist.load_data()
    model.fit(x_train / 255.0, y_train)

Scale the inputs for tests and predictions in the same way, or put `keras.layers.Rescaling(1 / 255)`
in front of the model. Ready-made networks bring their own `preprocess_input`. It is reported where
the program shows the range and the layers of the model. There is no automatic fix: the same
division is needed wherever the model is tested, saved and used, and this file shows only one place.

See also: https://www.tensorflow.org/tutorials/keras/classification ("Scale these values to a range
of 0 to 1"), https://github.com/keras-team/keras/issues/510
"""

from __future__ import annotations

from tfnanlint.api import (
    Certainty,
    Context,
    Finding,
    Iterator,
    Site,
    Value,
    elements,
    frameworks,
    layer_names,
    rule,
)


@rule("TFN802", "unscaled-images", on="method.fit", preview=True)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if not site.given("x") or site.value("self").obj is None:
        return
    names = layer_names(site.value("self"))
    if "" in names or not frameworks.SCALING_LAYERS.isdisjoint(names):
        return
    if pixels(examples(site.value("x"))):
        yield here.finding(
            site,
            "x",
            "the images range from 0 to 255 and are not scaled: the first gradients are hundreds "
            "of times too large, so units die or the loss overflows",
            Certainty.MAY,
            node=site.args.get("x"),
            help="divide by 255.0, here and everywhere the model is used",
        )


def examples(data: Value) -> Value:
    """What a model is fed: of the pairs of a data set the first part."""
    element = elements(data)
    if element is None:
        return data
    pair = element.obj
    return pair[0] if isinstance(pair, tuple) and pair else element


def pixels(x: Value) -> bool:
    return x.known and 0 <= x.lo <= 1 and 128 <= x.hi <= 256
