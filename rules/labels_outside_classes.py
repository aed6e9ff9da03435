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

`tf.one_hot(labels, 3)` makes a row of zeros of a label of 3: the loss of that example is 0 in every
mode, and nothing says that its class is not learned.

Count the classes from 0, or give the layer more units; there is no automatic fix, because only you
know which of the two is wrong. Labels are known here when the program writes them, draws them, or
loads a data set that comes with Keras, and when it feeds such labels to a placeholder.

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
    fed_values,
    filtered_elements,
    number_text,
    rule,
    traits,
    units,
)

SPARSE = [name for name, family in FAMILIES.items() if family == "sparse"]
MODES = ("xla", "gpu")


@rule(
    "TFN505",
    "labels-outside-classes",
    on=" ".join((COMPILE, "method.fit", *SPARSE, *traits.ONE_HOTS)),
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name == COMPILE:
        return
    if site.op.name in traits.ONE_HOTS:
        yield from one_hot(site, here)
        return
    if site.op.name == "method.fit":
        yield from fitted(site, here)
        return
    for pair in here.pairings(site):
        if pair.family != "sparse":
            continue
        count = units(pair.predictions)
        fed = fed_values.fed(pair.labels, here.calls, here.interpreter) if count is not None else []
        for labels in fed or [pair.labels]:
            if findings := list(judged(site, pair, labels, here)):
                yield from findings
                break


def fitted(site: Site, here: Context) -> Iterator[Finding]:
    """The labels of `fit` against what `compile` says of the same model."""
    model = site.value("self").obj
    if model is None or not site.given("y"):
        return
    for node, point in here.calls("compile"):
        compiled = here.site(node, point)
        if compiled is None or compiled.op.name != COMPILE or not is_one_model(compiled, site):
            continue
        for pair in here.pairings(compiled):
            if pair.family == "sparse" and site.value("y").kind != "sequence":
                yield from judged(site, pair, site.value("y"), here)
        return


def is_one_model(compiled: Site, fitted: Site) -> bool:
    """Whether two methods are called of the model that one expression makes; not where two names
    may hold what two calls of the function around that expression gave.
    """
    models = [site.value("self").obj for site in (compiled, fitted)]
    if models[0] is models[1]:
        return True
    makers = [getattr(model, "site", None) for model in models]
    if None in makers or makers[0].node is not makers[1].node:
        return False
    names = {node.id for node in map(receiver, (compiled, fitted)) if isinstance(node, ast.Name)}
    is_by_function = makers[0].point is not None and makers[0].point.scope.function is not None
    return len(names) < 2 or not is_by_function


def receiver(site: Site) -> ast.expr | None:
    """What a method is called of."""
    function = site.node.func if isinstance(site.node, ast.Call) else None
    return function.value if isinstance(function, ast.Attribute) else None


def one_hot(site: Site, here: Context) -> Iterator[Finding]:
    """Written labels that one_hot has no place for."""
    if not site.name.endswith(".one_hot"):
        return  # to_categorical stops with an error
    depth = site.const("depth" if "depth" in site.op.params else "num_classes")
    labels = site.value("x")
    written = here.made_by(labels, *traits.CONSTANTS, "np.array")
    items = labels.obj if written is None else written.value("x").obj
    if type(depth) is not int or not isinstance(items, tuple) or picked(labels):
        return
    if not labels.known or not depth <= labels.hi < 1e6 or here.only_printed(site):
        return  # what is only printed trains nothing
    label = number_text(labels.hi)
    yield here.finding(
        site,
        None,
        f"label {label} is outside the {depth} classes 0 to {depth - 1} of one_hot: its row is all "
        "zeros, so its loss is 0 and its class is never learned",
        Certainty.MAY,
        help="number the classes from 0, or give one_hot a class for each label",
    )


def picked(labels: Value) -> bool:
    """Whether some of the labels were taken away, or set anew in place: the ends of their range may
    be gone.
    """
    origin = labels.origin
    if not isinstance(origin, Site):
        return origin is not None and bool(origin.joined)
    if filtered_elements.filter_of(labels) is not None:
        return True
    return isinstance(origin.node, ast.Subscript) and any(
        not isinstance(index, (ast.Slice, ast.Constant)) for index in indices(origin.node)
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
