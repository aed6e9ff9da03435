"""Batch normalisation with batches of one.

The mean of a single sample is the sample itself: the normalised value is always 0, and so is the
variance. Earlier layers get no gradient, and nothing is learned from the input. On a GPU the fused
kernel divides by n - 1 as well, and the running variance becomes NaN. The same happens in the last
batch when the number of samples leaves one over.

See it:
    >>> layer = tf.keras.layers.BatchNormalization()
    >>> layer(tf.constant([[3.0, -7.0]]), training=True).numpy()
    array([[0., 0.]], dtype=float32)

Repair: use a larger batch, or `LayerNormalization` | every normalised value is 0, and earlier
layers get no gradient | the normalised values depend on the input | the statistics of the layer,
and the memory that a step needs

Bad:
    model = keras.Sequential([keras.layers.Dense(32), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
    model.fit(x, y, batch_size=1)

Good:
    model = keras.Sequential([keras.layers.Dense(32), keras.layers.BatchNormalization(), keras.layers.Dense(1)])
    model.fit(x, y, batch_size=32)

Where memory allows one sample only, use `LayerNormalization` or `GroupNormalization`, or freeze the
statistics with `layer.trainable = False`. For a `tf.data.Dataset` use
`dataset.batch(32, drop_remainder=True)`. There is no automatic fix: a larger batch needs more
memory and another learning rate.

See also: https://github.com/tensorflow/tensorflow/issues/34062,
https://github.com/tensorflow/models/issues/5066,
https://www.tensorflow.org/api_docs/python/tf/keras/layers/BatchNormalization
"""

from __future__ import annotations

from tfnanlint.api import (
    Certainty,
    Context,
    Finding,
    Iterator,
    Site,
    layer_names,
    made_by,
    roles,
    rule,
)


@rule("TFN805", "tiny-batch", on="method.fit", preview=True)
def check(site: Site, here: Context) -> Iterator[Finding]:
    batches = made_by(site.value("x"), "dataset.batch")
    if (site if batches is None else batches).const("batch_size") != 1:
        return
    names = layer_names(site.value("self"))
    if "BatchNormalization" not in names or any(map(roles.goes_over_positions, names)):
        return
    yield here.finding(
        site,
        None,
        "batch normalisation with a batch size of 1: a sample minus its own mean is 0, so the "
        "layers below learn nothing",
        Certainty.MAY,
        help="use larger batches, or LayerNormalization",
    )
