"""What elements hold where a condition is true of them: those at the places that it names, those
that its mask keeps.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.relations.linear import as_said_of
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.values.value import FLIPPED, NEGATED, Value, related

_RELATIONS: Final = {
    "tf.greater": ">",
    "tf.greater_equal": ">=",
    "tf.less": "<",
    "tf.less_equal": "<=",
    "tf.equal": "==",
    "tf.not_equal": "!=",
}


def under(x: Value, condition: Value, truth: bool = True, depth: int = 4) -> Value:
    """A value where a condition, made of comparisons of the same elements, is true or is not."""
    test = condition.origin
    if not isinstance(test, Site) or depth == 0:
        return x
    name = test.op.name
    if name == "tf.logical_not":
        return under(x, test.value("x"), not truth, depth - 1)
    if name in ("tf.logical_and", "tf.logical_or"):
        if (name == "tf.logical_and") != truth:
            return x
        return under(under(x, test.value("x"), truth, depth - 1), test.value("y"), truth, depth - 1)
    said = compared(test, x)
    if said is None:
        return x
    relation, bound = said
    return related(x, relation if truth else NEGATED[relation], bound)


def comparison(condition: Value, x: Value, y: Value) -> str:
    """What a condition says of two values, element by element: `x > y` for ">"; "" for nothing."""
    test = made_by(condition, *_RELATIONS, aligned=True)
    said = compared(test, x) if test is not None else None
    return said[0] if said is not None and same(said[1], y) else ""


def compared(test: Site, x: Value) -> tuple[str, Value] | None:
    """What a comparison says of x, and the value that it compares x with."""
    relation = _RELATIONS.get(test.op.name)
    if relation is None:
        return None
    for param, operand, way in (("x", "y", relation), ("y", "x", FLIPPED[relation])):
        if same(test.value(param), x):
            return way, test.value(operand)
        said = as_said_of(x, test.value(param), way, test.value(operand))
        if said is not None:
            return said
    return None


def one_holds(first: Value, second: Value) -> bool:
    """Whether of two conditions on the same elements at least one is true of each element: `x > 0`
    and `x < 1`.
    """
    left = made_by(first, *_RELATIONS, aligned=True)
    right = made_by(second, *_RELATIONS, aligned=True)
    if left is None or right is None:
        return False
    for param in ("x", "y"):
        x = left.value(param)
        tests = [found for found in (compared(left, x), compared(right, x)) if found is not None]
        if len(tests) == 2 and not x.is_number:
            (above, low), (below, high) = sorted(tests, key=lambda test: test[0][0] != ">")
            if above[0] == ">" and below[0] == "<" and low.known and high.known:
                is_met = len(above) + len(below) > 2 and same(low, high)
                return low.hi < high.lo or low.hi == high.lo and is_met
    return False


def at_places(site: Site, result: Value) -> Value:
    """What was gathered; by `tf.gather_nd(x, tf.where(x > 0))` the elements that the condition is
    true of.
    """
    places = made_by(site.value("indices"), "tf.where", aligned=True)
    if places is None or places.given("x") or places.given("y"):
        return result
    kept = under(site.value("x"), places.value("condition"))
    return result.but(lo=kept.lo, hi=kept.hi, zero=kept.zero)
