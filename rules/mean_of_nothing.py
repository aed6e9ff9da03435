"""Mean or extreme of elements that were filtered, of which none may be left.

`tf.reduce_mean` of an empty tensor is 0 / 0, NaN, and so are its variance and deviation;
`tf.reduce_max` is -inf and `tf.reduce_min` inf.
A batch without any positive example, a mask that is false everywhere, an image without boxes make
it so, without an error.

Bad:
    loss = tf.reduce_mean(tf.boolean_mask(losses, labels > 0))

Good:
    kept = tf.boolean_mask(losses, labels > 0)
    loss = tf.math.divide_no_nan(tf.reduce_sum(kept), tf.cast(tf.size(kept), kept.dtype))

`tf.math.divide_no_nan` gives 0 for nothing. Inside of `tf.cond(tf.size(kept) > 0, ...)` nothing is
reported. For the extremes there is no neutral value to offer: choose one, and take it with
`tf.cond` or by appending it to what is reduced.

Doubtful is, where no gradient is taken, a mean in a function that does not divide by the number of
the same elements, too: most batches hold some.

See also: https://www.tensorflow.org/api_docs/python/tf/math/divide_no_nan
https://github.com/qq456cvb/VoteNet/issues/9 and https://github.com/tryolabs/luminoth/issues/68
"""

import re

from tfnanlint.api import (
    Certainty,
    Claim,
    Context,
    Finding,
    Fix,
    Iterator,
    Named,
    Site,
    Value,
    ast,
    evidence,
    looks_for_nan,
    made_by,
    plain,
    rule,
)

FILTERS = ("tf.boolean_mask", "tf.dynamic_partition")
TESTS = frozenset(("tf.math.is_nan", "tf.math.is_inf", "tf.math.is_finite"))
LOGICAL = frozenset(("tf.logical_not", "tf.logical_and", "tf.logical_or"))
PICKS = ("tf.gather", "tf.gather_nd")
ELEMENTWISE = frozenset(
    "tf.add tf.subtract tf.multiply tf.divide tf.negative tf.square tf.abs tf.pow tf.sqrt tf.exp tf.math.log tf.math.log1p tf.cast tf.maximum "
    "tf.minimum tf.clip_by_value tf.math.squared_difference tf.nn.softmax tf.sigmoid tf.tanh tf.nn.relu tf.where "
    "tf.nn.sparse_softmax_cross_entropy_with_logits tf.nn.softmax_cross_entropy_with_logits "
    "tf.nn.sigmoid_cross_entropy_with_logits".split()
)
CHOOSING = frozenset((*FILTERS, *PICKS))
# A condition that asks for the number of elements, in any of its spellings.
ASKS = re.compile(r"size|shape|any|count|len|num|empty|sum|rank|> *0|>= *1|!= *0")
CONDITIONALS = ("cond", "case", "switch", "smart_cond", "where")
QUOTIENTS = ("tf.divide", "tf.math.divide_no_nan")
DIVIDES = re.compile(r"/|div")
RESULTS = {
    "tf.reduce_mean": "of nothing the mean is 0 / 0, NaN",
    "tf.reduce_max": "of nothing the largest is -inf",
    "tf.reduce_min": "of nothing the smallest is inf",
    "tf.math.reduce_variance": "of nothing the variance is 0 / 0, NaN",
    "tf.math.reduce_std": "of nothing the deviation is 0 / 0, NaN",
}


@rule(
    "TFN107",
    "mean-of-nothing",
    on="tf.reduce_mean tf.reduce_max tf.reduce_min tf.math.reduce_variance tf.math.reduce_std",
    needs="boolean_mask dynamic_partition gather",
    silent="MAY/NO/DOUBTFUL",
)
def check(reduction: Site, here: Context) -> Iterator[Finding]:
    if not here.may_stem(reduction, "x", CHOOSING, ELEMENTWISE):
        return
    x = reduction.value("x")
    filters = filtered(x) if here.numeric(x) and x.dtype not in ("uint8", "int16", "int8") else None
    axis = reduction.const("axis")
    if filters is None or isinstance(axis, int) and axis != (filtered_axis(x) or 0):
        return  # a filter may leave nothing of its own axis
    if asked(reduction, filters, here):
        return
    yield here.finding(
        reduction,
        None,
        f"{RESULTS[reduction.op.name]}: no element may be left of those that were filtered",
        Certainty.MAY,
        fixes(reduction, here),
        modes=("eager", "graph"),
        doubtful=not divided_by(filters, reduction, here),
    )


def divided_by(filters: Site, reduction: Site, here: Context) -> bool:
    """Whether the same function divides by the number of the elements that were chosen: where a
    guard there is wanted, it is here, too.
    """
    chosen = chosen_by(filters)
    function = reduction.point.scope.node if reduction.point is not None else None
    if chosen is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    rows = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    for division in here.applications(
        row for row in rows if DIVIDES.search(here.source.line_text(row))
    ):
        if division.op.name in QUOTIENTS and division.given("y"):
            total = here.made_by(plain(division.value("y")), *evidence.SUMS)
            if total is not None and here.same(plain(total.value(total.op.main)), chosen):
                return True
    return False


def chosen_by(filters: Site) -> Value | None:
    """The condition by which elements were chosen."""
    if filters.given("mask"):
        return plain(filters.value("mask"))
    indices = (
        made_by(plain(filters.value("indices")), "tf.where") if filters.given("indices") else None
    )
    return (
        plain(indices.value("condition"))
        if indices is not None and indices.given("condition")
        else None
    )


def filtered(value: Value, depth: int = 8) -> Site | None:
    """The op by which a condition chose the elements of a value, or of what it is computed from
    element by element.
    """
    site = value.origin
    if not isinstance(site, Site) or depth == 0:
        return None
    name = site.op.name
    if (
        name in FILTERS
        or name in PICKS
        and site.given("indices")
        and found_by_test(site.value("indices"))
    ):
        return site
    if site.op.passes:
        return filtered(site.value(site.op.passes), depth - 1)
    for param in site.args if name in ELEMENTWISE else ():
        found = filtered(site.value(param), depth - 1)
        if found is not None:
            return found
    return None


def filtered_axis(value: Value, depth: int = 8) -> int | None:
    """The axis of what a condition chose, which is the first one, counted with the axes that were
    put before it: 1 in `kept[None, :]`; None where that is not seen.
    """
    site = value.origin
    if not isinstance(site, Site) or depth == 0:
        return None
    if site.op.name in CHOOSING:
        return 0
    if site.op.name == "tf.expand_dims":
        inner = filtered_axis(site.value("x"), depth - 1)
        before = new_axes_before(site)
        return None if inner is None or before is None else inner + before
    params = [site.op.passes] if site.op.passes else [*site.args]
    inside = [filtered_axis(site.value(param), depth - 1) for param in params]
    return next((axis for axis in inside if axis is not None), None)


def new_axes_before(site: Site) -> int | None:
    """How many axes an index or `tf.expand_dims` puts before all others."""
    if not isinstance(site.node, ast.Subscript):
        axis = site.const("axis", None)
        return None if not isinstance(axis, int) or axis < 0 else int(axis == 0)
    index = site.node.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    slices = [number for number, part in enumerate(parts) if isinstance(part, ast.Slice)]
    return slices[0] if slices else len(parts)


def tests_of(mask: Value, depth: int = 4) -> set[ast.AST]:
    """The tests for NaN of which a mask is made: they choose the elements, and say nothing of what
    is made of them.
    """
    site = mask.origin
    if not isinstance(site, Site) or depth == 0:
        return set()
    if site.op.name in TESTS:
        return {site.node}
    return {
        node
        for param in site.args
        if site.op.name in LOGICAL or site.op.passes == param
        for node in tests_of(site.value(param), depth - 1)
    }


def found_by_test(indices: Value, depth: int = 4) -> bool:
    """tf.where with a condition only, as it is or rearranged."""
    site = indices.origin
    if not isinstance(site, Site) or depth == 0:
        return False
    if site.op.name == "tf.where":
        return not site.given("x")
    param = site.op.passes or ("x" if site.op.name == "tf.cast" else "")
    return bool(param) and found_by_test(site.value(param), depth - 1)


# Whether somebody has asked


def asked(reduction: Site, filters: Site, here: Context) -> bool:
    """Whether the reduction stands in a branch that is taken only if there are elements."""
    around = here.around(reduction.node)
    chosen = tests_of(filters.value("mask")) if filters.given("mask") else set()
    if (
        chosen_later(reduction, here)
        or looks_for_nan(around, chosen)
        or any(isinstance(node, ast.For) and by_class(node) for node in around)
    ):
        return True
    inner: ast.AST = reduction.node
    for node in around:
        if (
            isinstance(node, (ast.If, ast.IfExp, ast.While))
            and inner is not node.test
            and ASKS.search(here.text(node.test))
        ):
            return True
        if isinstance(node, ast.Call) and leaf(node.func) in CONDITIONALS:
            return True
        if isinstance(node, ast.FunctionDef) and passed_to_conditional(node.name, here):
            return True
        inner = node
    return False


def by_class(loop: ast.For) -> bool:
    """Whether the elements are those that equal the loop's variable: a class or label, of which
    there are some.
    """
    names = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    return any(
        isinstance(one, ast.Compare)
        and isinstance(one.ops[0], ast.Eq)
        and any(
            isinstance(side, ast.Name) and side.id in names for side in (one.left, *one.comparators)
        )
        for one in ast.walk(loop)
    )


def chosen_later(reduction: Site, here: Context) -> bool:
    """Whether the result has a name that a later `tf.where` takes or leaves: its gradient is 0, not
    NaN, for no elements.
    """
    around = here.around(reduction.node)
    statement = around[0] if around else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    name = statement.targets[0].id
    return any(
        isinstance(given, ast.Name) and given.id == name and call.lineno > statement.lineno
        for one in CONDITIONALS
        for call, point in here.calls(one)
        if point.scope is reduction.point.scope
        for given in call.args
    )


def passed_to_conditional(name: str, here: Context) -> bool:
    return any(
        isinstance(given, ast.Name) and given.id == name
        for one in CONDITIONALS
        for call, _ in here.calls(one)
        for part in (*call.args, *(word.value for word in call.keywords))
        for given in ast.walk(part)
    )


def leaf(func: ast.expr) -> str:
    return (
        func.attr
        if isinstance(func, ast.Attribute)
        else func.id
        if isinstance(func, ast.Name)
        else ""
    )


def fixes(reduction: Site, here: Context) -> list[Fix]:
    x = reduction.args.get("x")
    whole = not reduction.given("axis") or reduction.const("axis") is None
    if (
        reduction.op.name != "tf.reduce_mean"
        or x is None
        or not whole
        or reduction.const("keepdims", False) is not False
    ):
        return []
    kept = x if isinstance(x, ast.Name) else Named("kept", "{x}", {"x": x})
    return here.rewrite(
        reduction,
        "tf.math.divide_no_nan(tf.reduce_sum({kept}), tf.cast(tf.size({kept}), {kept}.dtype))",
        title="0 where no element is left",
        claim=Claim.EQUAL_WHERE_FINITE,
        kept=kept,
    )
