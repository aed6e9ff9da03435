"""A table that may contain NaN goes into training unchecked.

Empty cells are read as NaN, `pct_change` and `diff` begin with one, and a division by 0 in a table
is inf. One NaN in one batch makes the loss NaN and, with the next step, every weight. Loss and
weights look fine until that batch comes.

See it:
    >>> w = tf.constant([1.0, 1.0])
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(w)
    ...     loss = tf.reduce_sum(tf.square([[1.0, 2.0], [3.0, float("nan")]] * w))
    >>> float(loss), tape.gradient(loss, w).numpy()
    (nan, array([20., nan], dtype=float32))

Repair: drop or fill the rows with missing values | one NaN makes the loss and every weight NaN |
loss and weights are finite | the data used for training

Bad:
    table = np.genfromtxt("houses.csv", delimiter=",")
    model.fit(table[:, :3], table[:, 3])

Good:
    table = np.genfromtxt("houses.csv", delimiter=",")
    table = table[~np.isnan(table).any(axis=1)]
    model.fit(table[:, :3], table[:, 3])

For pandas it is `table.dropna()` or `table.fillna(...)`. There is no automatic fix, because only
you can decide whether to drop or fill a row. It is reported where nothing in the file deals with
missing values.

See also: https://github.com/tensorflow/tensorflow/issues/46145,
https://www.tensorflow.org/tutorials/keras/regression ("The dataset contains a few unknown values
... Drop those rows")

Seen in the wild:
https://github.com/danielegrattarola/keras-gat/issues/14 (rows divided by their sum of 0)
"""

from __future__ import annotations

from tfnanlint.api import Certainty, Context, Finding, Iterator, Site, Value, Walk, rule, texts


@rule("TFN803", "unchecked-data", on="method.fit method.train_on_batch", preview=True)
def check(site: Site, here: Context) -> Iterator[Finding]:
    is_checked = texts.looks_for_missing_data(here.words_around(site))
    if site.value("self").obj is None or is_checked or texts.tests_for_nan(here.words):
        return
    for param in ("x", "y"):
        if site.given(param) and site.value(param).nan and suspect(site.value(param)):
            yield here.finding(
                site,
                param,
                "the data may contain NaN, and this file does not check for it: a single NaN "
                "makes every weight NaN",
                Certainty.MAY,
                node=site.args.get(param),
                help="drop or fill rows with missing values first",
            )
            return


def suspect(data: Value) -> bool:
    """Whether some element may be NaN: by more than a number made of all the data, as in
    `(x - np.mean(x)) / np.std(x)`.

    That is NaN where there are no data at all, or where all of them are equal.
    """
    walk = Walk(data, limit=40)
    for value in walk:
        origin = value.origin
        if not isinstance(origin, Site):
            return True
        operands = [origin.value(param) for param in origin.args]
        below = [one for one in operands if one.nan and not total(one)]
        walk.add(below)
        if not below and not any(map(total, operands)):
            return True
    return False


def total(value: Value) -> bool:
    """Whether a value is one number made of all elements of an array."""
    origin = value.origin
    return (
        isinstance(origin, Site)
        and origin.op.name.startswith(("tf.reduce_", "tf.math.reduce_"))
        and not origin.given("axis")
    )
