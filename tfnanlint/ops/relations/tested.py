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
    made = condition.origin
    if not isinstance(made, Site) or depth == 0:
        return x
    name = made.op.name
    if name == "tf.logical_not":
        return under(x, made.value("x"), not truth, depth - 1)
    if name in ("tf.logical_and", "tf.logical_or"):
        if (name == "tf.logical_and") != truth:
            return x
        return under(under(x, made.value("x"), truth, depth - 1), made.value("y"), truth, depth - 1)
    found = compared(made, x)
    if found is None:
        return x
    relation, other = found
    return related(x, relation if truth else NEGATED[relation], other)


def comparison(condition: Value, x: Value, y: Value) -> str:
    """What a condition says of two values, element by element: `x > y` for ">"; "" for nothing."""
    made = made_by(condition, *_RELATIONS, aligned=True)
    found = compared(made, x) if made is not None else None
    return found[0] if found is not None and same(found[1], y) else ""


def compared(made: Site, x: Value) -> tuple[str, Value] | None:
    """What a comparison says of x, and the value that it compares x with."""
    relation = _RELATIONS.get(made.op.name)
    if relation is None:
        return None
    for param, other, way in (("x", "y", relation), ("y", "x", FLIPPED[relation])):
        if same(made.value(param), x):
            return way, made.value(other)
        said = as_said_of(x, made.value(param), way, made.value(other))
        if said is not None:
            return said
    return None


def one_holds(first: Value, second: Value) -> bool:
    """Whether of two conditions on the same elements at least one is true of each element: `x > 0`
    and `x < 1`.
    """
    made = made_by(first, *_RELATIONS, aligned=True)
    other = made_by(second, *_RELATIONS, aligned=True)
    if made is None or other is None:
        return False
    for param in ("x", "y"):
        x = made.value(param)
        tests = [found for found in (compared(made, x), compared(other, x)) if found is not None]
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
