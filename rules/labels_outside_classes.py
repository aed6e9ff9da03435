"""Class labels for which the last layer has no unit.

With `n` units the labels of a sparse cross-entropy are 0 to n - 1. A label of n or more (labels
that start at 1, a forgotten class, a "background" of 255) or below 0 (labels -1 and 1) stops the
program with an error on the CPU. On a GPU and under XLA the loss of that example is NaN, and after
one step so are all weights.

See it:
    >>> loss = tf.function(tf.nn.sparse_softmax_cross_entropy_with_logits, jit_compile=True)
    >>> loss(labels=tf.constant([3]), logits=tf.zeros([1, 3])).numpy()
    array([nan], dtype=float32)

Repair: count the classes from 0, or give the layer more units | an error on the CPU, NaN on a GPU
and under XLA | loss and gradient are finite | the labels, or the outputs of the model: train again

Bad:
    labels = tf.constant([1, 2, 3])
    logits = keras.layers.Dense(3)(x)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

Good:
    labels = tf.constant([0, 1, 2])
    logits = keras.layers.Dense(3)(x)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

Count the classes from 0, or give the layer more units; there is no automatic fix, because only you
know which of the two is wrong. Labels are known here when the program writes them, draws them, or
loads a data set that comes with Keras.

See also: https://www.tensorflow.org/api_docs/python/tf/nn/sparse_softmax_cross_entropy_with_logits
("Labels out of range raise on CPU and return NaN for the corresponding loss and gradient rows on
GPU"), https://github.com/tensorflow/tensorflow/issues/8484,
https://github.com/tensorflow/tensorflow/issues/15962

Seen in the wild:
https://github.com/yyccR/yolov5_in_tf2_keras/issues/5 (a class too many)
"""

from __future__ import annotations

from tfnanlint.api import (
    COMPILE,
    FAMILIES,
    Certainty,
    Context,
    Finding,
    Iterator,
    Pairing,
    Site,
    Value,
    ast,
    filtered_elements,
    number_text,
    rule,
    units,
)

SPARSE = [name for name, family in FAMILIES.items() if family == "sparse"]
MODES = ("xla", "gpu")


@rule("TFN505", "labels-outside-classes", on=" ".join((COMPILE, "method.fit", *SPARSE)))
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name == COMPILE:
        return
    if site.op.name == "method.fit":
        yield from fitted(site, here)
        return
    for pair in here.pairings(site):
        if pair.family == "sparse":
            yield from judged(site, pair, pair.labels, here)


def fitted(site: Site, here: Context) -> Iterator[Finding]:
    """The labels of `fit` against what `compile` says of the same model."""
    model = site.value("self").obj
    if model is None or not site.given("y"):
        return
    for node, point in here.calls("compile"):
        compiled = here.site(node, point)
        if (
            compiled is None
            or compiled.op.name != COMPILE
            or compiled.value("self").obj is not model
        ):
            continue
        for pair in here.pairings(compiled):
            if pair.family == "sparse" and site.value("y").kind != "sequence":
                yield from judged(site, pair, site.value("y"), here)
        return


def picked(labels: Value) -> bool:
    """Whether some of the labels were taken away, or set anew in place: the ends of their range may
    be gone.
    """
    made = labels.origin
    if not isinstance(made, Site):
        return made is not None and bool(made.joined)
    if filtered_elements.filter_of(labels) is not None:
        return True
    return isinstance(made.node, ast.Subscript) and any(
        not isinstance(index, (ast.Slice, ast.Constant)) for index in indices(made.node)
    )


def indices(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def judged(site: Site, pair: Pairing, labels: Value, here: Context) -> Iterator[Finding]:
    count = units(pair.predictions)
    if (
        count is None
        or not labels.known
        or picked(labels)
        or pair.loss is not None
        and pair.loss.given("ignore_class")
    ):
        return
    ends = [end for end in (labels.lo, labels.hi) if abs(end) < 1e6 and not 0 <= end <= count - 1]
    if not ends:
        return
    outside = f"label {number_text(ends[-1])}"
    yield here.finding(
        site,
        None,
        f"{outside} is outside the {count} classes 0 to {count - 1} of the last layer: the loss "
        "raises an error on the CPU and is NaN on a GPU and under XLA",
        Certainty.MAY,
        modes=MODES,
        node=site.node,
        help="number the classes from 0, or give the last layer a unit for each label",
    )
