"""The last layer of a model computes its softmax or sigmoid in float16.

Under the policy `mixed_float16` every layer computes in float16, the last one too. In float16 a
softmax is exactly 0 for logits 18 below the largest (87 in float32), and a sigmoid is exactly 1
from 8 on: the loss that follows gets 0 and 1, its logarithms are infinite or clipped, and the
gradient is 0. TensorFlow's guide says that the model should end in float32.

See it:
    >>> tf.keras.layers.Softmax(dtype="float16")(tf.constant([[0.0, 20.0]])).numpy()
    array([[0., 1.]], dtype=float16)
    >>> tf.keras.layers.Softmax(dtype="float32")(tf.constant([[0.0, 20.0]])).numpy()
    array([[2.0611535e-09, 1.0000000e+00]], dtype=float32)

Bad:
    keras.mixed_precision.set_global_policy("mixed_float16")
    model = keras.Sequential([keras.layers.Dense(64), keras.layers.Dense(10, activation="softmax")])

Good:
    keras.mixed_precision.set_global_policy("mixed_float16")
    model = keras.Sequential([keras.layers.Dense(64), keras.layers.Dense(10, activation="softmax", dtype="float32")])

A last layer without activation and a loss with `from_logits=True` is better still; give it
dtype="float32" all the same.

See also: https://www.tensorflow.org/guide/mixed_precision ("the model ends in float32": "A softmax
activation at the end of the model should be float32"),
https://github.com/tensorflow/tensorflow/issues/38457
"""

from __future__ import annotations

from tfnanlint.api import Certainty, Claim, Context, Finding, Iterator, Site, rule, texts

HALF = ("mixed_float16", "float16")
ACTIVATIONS = {
    "softmax": "softmax",
    "sigmoid": "sigmoid",
    "tf.nn.softmax": "softmax",
    "tf.sigmoid": "sigmoid",
}
SHOWN = {"softmax": "0 for logits 18 below the largest", "sigmoid": "1 from 8 on"}


@rule("TFN602", "softmax-not-float32", on="file", words="float16", fixes="float32")
def check(module: object, here: Context) -> Iterator[Finding]:
    if here.policy() not in HALF and not texts.may_ask_for_half(here.source.text):
        return  # no layer computes in float16
    for site in here.output_layers():
        yield from judged(site, here)


def judged(site: Site, here: Context) -> Iterator[Finding]:
    activation = what(site)
    if activation is None:
        return
    if (site.const("dtype") if site.given("dtype") else here.policy()) not in HALF:
        return
    fixes = here.with_argument(
        site,
        "dtype",
        '"float32"',
        title="compute the last layer in float32",
        claim=Claim.SHIFTED,
        cost="the outputs of the model are float32",
    )
    yield here.finding(
        site,
        None,
        f"the model ends with a {activation} in float16, which is exactly {SHOWN[activation]}: "
        "there the loss is infinite or has no gradient",
        Certainty.MAY,
        fixes,
    )


def what(site: Site) -> str | None:
    if site.op.name == "keras.layers.Softmax":
        return "softmax"
    activation = site.value("activation") if site.given("activation") else None
    if activation is None:
        return None
    name = activation.const if activation.kind == "string" else getattr(activation.obj, "name", "")
    return ACTIVATIONS.get(name) if isinstance(name, str) else None
