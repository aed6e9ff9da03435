"""A custom training loop under mixed_float16 that does not scale the loss.

In float16 numbers below 6e-8 are 0, and gradients are small: without a scaled loss many of them
become 0, and those weights are never trained. `model.fit` scales the loss itself. A loop with
`tf.GradientTape`, or your own `train_step`, has to do it: wrap the optimizer in a
`LossScaleOptimizer`, scale the loss inside the tape, and let the optimizer scale the gradients
back.

See it:
    >>> w = tf.constant(1.0, tf.float16)
    >>> with tf.GradientTape(persistent=True) as tape:
    ...     tape.watch(w)
    ...     loss = 1e-4 * (1e-4 * w)
    ...     scaled = 2.0**15 * loss
    >>> float(tape.gradient(loss, w)), float(tape.gradient(scaled, w)) > 0
    (0.0, True)

Repair: scale the loss with a `LossScaleOptimizer` | gradients below 6e-8 are 0 | gradients down to
about 1e-12 are kept | nothing but the gradients that were 0

Bad:
    keras.mixed_precision.set_global_policy("mixed_float16")
    optimizer = keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

Good:
    keras.mixed_precision.set_global_policy("mixed_float16")
    optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
        scaled = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

That is Keras 3. In tf.keras 2 it is `optimizer.get_scaled_loss(loss)` inside the tape and
`optimizer.get_unscaled_gradients(grads)` after it. There is no automatic fix: three places change,
and which ones depends on the version. bfloat16 needs no scaling.

See also: https://www.tensorflow.org/guide/mixed_precision ("Loss scaling", "Training the model with
a custom training loop"), https://github.com/tensorflow/tensorflow/issues/45568
"""

from __future__ import annotations

from tfnanlint.api import (
    Certainty,
    Context,
    Finding,
    Iterator,
    Site,
    frameworks,
    rule,
    site_behind,
    texts,
)


@rule("TFN603", "loss-not-scaled", on="method.gradient")
def check(site: Site, here: Context) -> Iterator[Finding]:
    if not any(here.calls(name) for name in frameworks.STEP_METHODS):
        return
    if here.policy() != "mixed_float16" or texts.scales_loss(here.words_around(site)):
        return
    maker = site_behind(site.value("target"))
    if maker is None and here.holds_in_program(texts.scales_loss):
        return
    if maker is not None and texts.scales_loss(here.words_around(maker)):
        return
    yield here.finding(
        site,
        None,
        "the loss is not scaled under mixed_float16: gradients below 6e-8 become 0, and their "
        "weights are not trained",
        Certainty.MAY,
        help="wrap the optimizer in a LossScaleOptimizer and scale the loss inside the tape",
    )
