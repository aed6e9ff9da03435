"""Labels and predictions given to a loss in the wrong order.

A cross-entropy takes the logarithm of the predictions and multiplies it by the labels. In the wrong
order it takes the logarithm of the labels, which are 0 and 1: the loss is NaN, infinite, or clipped
to a constant, and its gradient is wrong. Keras losses take `(y_true, y_pred)`, tf.nn losses only
named arguments, `K.binary_crossentropy` the target first.

See it:
    >>> y_true, y_pred = tf.constant([[0.0, 1.0]]), tf.constant([[0.4, 0.6]])
    >>> loss = tf.keras.losses.binary_crossentropy
    >>> loss(y_true, y_pred).numpy(), loss(y_pred, y_true).numpy()
    (array([0.5108256], dtype=float32), array([6.412096], dtype=float32))

Repair: `swap` | the loss takes the logarithm of the labels: it is infinite, clipped or wrong | the
loss takes the logarithm of the predictions |

Bad:
    loss = keras.losses.binary_crossentropy(y_pred, y_true)

Good:
    loss = keras.losses.binary_crossentropy(y_true, y_pred)

The order is recognised by the values (the output of a softmax, a sigmoid or a layer is passed as
the labels, and no such output as the predictions), or by the names of both arguments. In your own
loss function the order of the parameters counts: Keras calls `loss(y_true, y_pred)`.

See also: https://github.com/keras-team/keras/issues/5733,
https://www.tensorflow.org/api_docs/python/tf/keras/losses/Loss#call

Seen in the wild: https://github.com/ShannonAI/dice_loss_for_NLP/issues/6 (one of two errors there)
"""

from __future__ import annotations

from tfnanlint.api import (
    COMPILE,
    FAMILIES,
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Pairing,
    Site,
    Value,
    ast,
    called_alike,
    identifiers,
    linear,
    made_by,
    maker,
    rule,
    traits,
)

OUTPUTS = (*traits.PROBABILITIES, "tf.nn.log_softmax")
INTEGERS = ("bool", "uint8", "int32", "int64")


@rule(
    "TFN408",
    "swapped-arguments",
    on=" ".join((COMPILE, *FAMILIES)),
    over="TFN502 TFN503 TFN504",
    fixes="swap",
)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.op.name == COMPILE:
        yield from own_losses(site, here)
        return
    for pair in here.pairings(site):
        labels, predictions = pair.labels_node, pair.predictions_node
        if labels is None or predictions is None or reverse(site, here):
            continue
        surely = predicted(pair.labels) and given(pair.predictions)
        if surely or exchanged(labels, predictions):
            yield here.finding(
                site,
                None,
                message(labels, predictions, pair, here),
                Certainty.MUST if surely else Certainty.MAY,
                swapped(site, labels, predictions, here),
            )


def swapped(site: Site, labels: ast.expr, predictions: ast.expr, here: Context) -> list[Fix]:
    """The two arguments in each other's place."""
    if site.op.name.startswith("K.") and here.speller.is_of_keras_alone(site):
        here.no_fix = "Keras took the predictions first before 2.0.7: swap them for a later one"
        return []
    if any([is_without_gradient(pair.labels) for pair in here.pairings(site)]):
        here.no_fix = "`predict` gives no gradient: call the model, and swap the arguments"
        return []
    if any([is_left(call, here) for call in called_alike(site, here.interpreter)]):
        here.no_fix = "other calls of this loss in the file may be swapped, too"
        return []
    return here.exchange(
        site,
        labels,
        predictions,
        title="swap the two arguments",
        claim=Claim.SHIFTED,
        cost="the loss becomes the intended one",
    )


def is_without_gradient(predictions: Value) -> bool:
    """Whether a value is what `predict` of a model gives, an array of NumPy."""
    return made_by(predictions, "method.predict") is not None


def is_left(site: Site, here: Context) -> bool:
    """Whether nothing shows that the arguments of a call are in order, nor that they are not."""
    for pair in here.pairings(site):
        labels, predictions = pair.labels_node, pair.predictions_node
        if labels is None or predictions is None:
            return True
        if predicted(pair.labels) and given(pair.predictions) or exchanged(labels, predictions):
            return False
        is_shown = predicted(pair.predictions) or given(pair.labels)
        return not (is_shown or exchanged(predictions, labels))
    return True


def reverse(site: Site, here: Context) -> bool:
    """Whether a call without names is one of TensorFlow 0.x, where these losses took the logits
    first: TensorFlow 1 refuses it.
    """
    return (
        site.op.name.endswith("_with_logits")
        and here.speller.only_first_version
        and isinstance(site.node, ast.Call)
        and len(site.node.args) > 1
    )


def message(labels: ast.expr, predictions: ast.expr, pair: Pairing, here: Context) -> str:
    first, second = (
        text if len(text) < 40 else "this" for text in (here.text(labels), here.text(predictions))
    )
    return (
        f"labels and predictions are swapped: {first} is passed as the labels and {second} as "
        "the predictions"
    )


def predicted(value: Value) -> bool:
    """Whether a value is what a network gives: behind a softmax or sigmoid, or straight from
    weights.
    """
    producer = maker(value)
    return producer is not None and producer.op.name in OUTPUTS or linear(value)


def given(value: Value) -> bool:
    """Whether a value is data: labels in [0, 1] or whole numbers that no layer made."""
    return not predicted(value) and (
        value.known and 0 <= value.lo and value.hi <= 1 or value.dtype in INTEGERS
    )


def exchanged(labels: ast.expr, predictions: ast.expr) -> bool:
    """Whether each argument is named after the other one."""
    first, second = name(labels), name(predictions)
    return bool(
        identifiers.says_predicted(first)
        and identifiers.says_true(second)
        and not identifiers.says_true(first)
        and not identifiers.says_predicted(second)
    )


def name(node: ast.expr) -> str:
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    ):
        return node.slice.value
    return (
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else ""
    )


def own_losses(site: Site, here: Context) -> Iterator[Finding]:
    """`def loss(y_pred, y_true)` given to compile."""
    function = site.value("loss").obj if site.given("loss") else None
    node = getattr(function, "node", None)
    if (
        not isinstance(node, (ast.FunctionDef, ast.Lambda))
        or len(node.args.args) != 2
        or node.args.defaults
    ):
        return
    first, second = (arg.arg for arg in node.args.args)
    if identifiers.says_predicted(first) and identifiers.says_true(second):
        yield here.finding(
            site,
            None,
            f"Keras passes the labels first, but this loss takes ({first}, {second}): the "
            "predictions are used as labels",
            Certainty.MAY,
            node=site.args["loss"],
            help=f"write the parameters in the order ({second}, {first})",
        )
