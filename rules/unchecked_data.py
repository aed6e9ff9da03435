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
you can decide whether to drop or fill a row. It is reported where nothing deals with the missing
values of these data: a cleaned copy of a table says nothing of the table itself.

See also: https://github.com/tensorflow/tensorflow/issues/46145,
https://www.tensorflow.org/tutorials/keras/regression ("The dataset contains a few unknown values
... Drop those rows")

Seen in the wild:
https://github.com/danielegrattarola/keras-gat/issues/14 (rows divided by their sum of 0)
"""

from __future__ import annotations

from tfnanlint.api import (
    Any,
    Certainty,
    Context,
    Finding,
    Iterator,
    Site,
    Value,
    Walk,
    ast,
    rule,
    texts,
)

# methods that give a copy without missing values, unless they are told to change the table itself
CLEANING = ("dropna", "fillna", "interpolate")
# functions and methods that say where values are missing
ASKING = ("isna", "isnull", "notna", "notnull")
CLEANING_OR_ASKING = (*CLEANING, *ASKING)
# leaves the first or last rows empty, whatever the table holds
MOVING = "method.pct_change"
TABLES = ("np.genfromtxt", MOVING)


@rule("TFN803", "unchecked-data", on="method.fit method.train_on_batch", preview=True)
def check(site: Site, here: Context) -> Iterator[Finding]:
    if site.value("self").obj is None or texts.tests_for_nan(here.words):
        return
    for param in ("x", "y"):
        if not site.given(param) or not site.value(param).nan:
            continue
        if suspect(site.value(param)) and not is_checked(site, site.value(param), here):
            yield here.finding(
                site,
                param,
                "the data may contain NaN, and nothing here checks them for it: a single NaN "
                "makes every weight NaN",
                Certainty.MAY,
                node=site.args.get(param),
                help="drop or fill rows with missing values first",
            )
            return


def is_checked(site: Site, data: Value, here: Context) -> bool:
    """Whether the code around a site deals with what is missing in these data."""
    names = list(filter(texts.looks_for_missing_data, here.words_around(site).split()))
    if any([name not in CLEANING_OR_ASKING for name in names]):
        return True
    sources = made_missing(data)
    if not sources or not all([source.op.name in TABLES for source in sources]):
        return bool(names)
    function = site.point.scope.function if site.point is not None else None
    calls = [call for name in names for call in here.calls(name)]
    if function is not None:
        calls = [(node, point) for node, point in calls if point.scope is site.point.scope]
    places = {id(source.node) for source in sources}
    return any([deals_with(call, places, here) for call in calls])


def deals_with(call: tuple[ast.Call, Any], places: set[int], here: Context) -> bool:
    """Whether a call asks for missing values that came up at one of these places, or fills or
    drops them where they are; a copy without them leaves the table as it is.
    """
    node, point = call
    if not isinstance(node.func, ast.Attribute):
        return True
    if node.func.attr in CLEANING and is_kept_apart(node, here):
        return False
    is_function = here.name(node.func, point) is not None  # pd.isnull(table)
    table = next(iter(node.args), None) if is_function else node.func.value
    behind = sites_behind(here.value(table, point)) if table is not None else set()
    return not behind or not places.isdisjoint(behind)


def is_kept_apart(node: ast.Call, here: Context) -> bool:
    """Whether the copy that a call gives goes to a name, and does so on every path."""
    is_in_place = any([word.arg == "inplace" for word in node.keywords])
    around = here.around(node)
    statements = [outer for outer in around if isinstance(outer, ast.stmt)]
    innermost = statements[0] if statements else None
    is_branch = any([isinstance(outer, (ast.If, ast.Try, ast.For)) for outer in statements])
    return (
        isinstance(innermost, ast.Assign)
        and all([isinstance(target, ast.Name) for target in innermost.targets])
        and not (is_in_place or is_branch)
    )


def made_missing(data: Value) -> list[Site]:
    """The sites that made what is missing in data."""
    sources = []
    walk = Walk(data, limit=40)
    for value in walk:
        origin = value.origin
        if not isinstance(origin, Site):
            continue
        below = [operand for operand in operands(origin) if operand.nan]
        if below and origin.op.name != MOVING:
            walk.add(below)
        else:
            sources.append(origin)
    return sources


def sites_behind(data: Value) -> set[int]:
    """The sites that a value comes from."""
    sites = set()
    walk = Walk(data, limit=40)
    for value in walk:
        if isinstance(value.origin, Site):
            sites.add(id(value.origin.node))
            walk.add(operands(value.origin))
    return sites


def operands(site: Site) -> list[Value]:
    return [site.value(param) for param in site.args]


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
