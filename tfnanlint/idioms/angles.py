"""Arguments of inverse trigonometric functions: ratios of a leg and the hypotenuse, magnitudes,
`2 * p - 1` of a tested value, and two components of one vector.
"""

from __future__ import annotations

import ast

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import moments
from tfnanlint.ops.site import Site, both_orders, made_by, operands, same
from tfnanlint.ops.traits import CROSS_PRODUCTS, NEGATIONS, SLICES
from tfnanlint.values.value import INF, Note, Value


def _above_floor(x: Value) -> Value:
    """What `tf.maximum(x, number)` keeps above a number; any other value as it is."""
    floor = made_by(x, "tf.maximum")
    kept = [part for part in operands(floor) if not part.is_number]
    return kept[0] if len(kept) == 1 else x


def is_shorter_leg(x: Value) -> bool:
    """Whether a value is where(a > c, b, a) of the sine and the cosine of one angle, |p| / h and
    |q| / h with h^2 = p^2 + q^2: at most the larger of c and sqrt(1 - c^2).
    """
    choice = made_by(x, "tf.where", aligned=True)
    test = made_by(choice.value("condition"), "tf.greater") if choice is not None else None
    if choice is None or test is None or not 0 < test.value("y").lo <= test.value("y").hi < 1:
        return False
    if not same(test.value("x"), choice.value("y")):
        return False
    legs = [_leg(part) for part in operands(choice)]
    first, second = legs
    if first is None or second is None or not same(first[1], second[1]):
        return False
    root = made_by(first[1], "tf.sqrt", "tf.pow")
    total = made_by(_above_floor(root.value("x")), "tf.add") if root is not None else None
    if total is None or root.op.name == "tf.pow" and root.value("y").const != 0.5:
        return False
    squares = [moments.squared(part) for part in operands(total)]
    return all(
        square is not None and any(_alike(square, size) for size, _ in (first, second))
        for square in squares
    )


def _alike(square: Site, size: Site) -> bool:
    """Whether a square and a magnitude are of one value, by what it is or by how it is written."""
    if same(square.value("x"), size.value("x")):
        return True
    base, operand = square.args.get("x"), size.args.get("x")
    written = base is not None and operand is not None and ast.dump(base) == ast.dump(operand)
    return written and square.point.scope is size.point.scope


def _leg(value: Value) -> tuple[Site, Value] | None:
    """|p| and h in |p| / h, where h may be kept above 0."""
    quotient = made_by(value, "tf.divide", aligned=True)
    size = made_by(quotient.value("x"), "tf.abs") if quotient is not None else None
    if quotient is None or size is None:
        return None
    length = quotient.value("y")
    kept = made_by(length, "tf.maximum")
    for part, floor in both_orders(kept):
        if floor.exact:
            length = part
    return size, length


def is_magnitude_of_unknown(x: Value) -> bool:
    """Whether a value is abs(x) of a value of which nothing is known: that it is not negative says
    nothing about the edge at 1.
    """
    inner = made_by(x, "tf.abs")
    return inner is not None and not inner.value("x").known


def is_tested_on_one_side(x: Value) -> bool:
    """Whether a value is 2 * p - 1 of a parameter that was only tested on one side, which says
    nothing about the other edge.
    """
    value = plain(x)
    for _ in range(4):
        operand = _only_unknown_operand(value)
        if operand is None:
            break
        value = plain(operand)
    return INF in (x.hi, -x.lo) and value is not plain(x) and isinstance(value.origin, Note)


def _only_unknown_operand(value: Value) -> Value | None:
    """The operand that is not exactly known of a sum, a difference or a product that has one."""
    site = made_by(value, "tf.multiply", "tf.add", "tf.subtract", "tf.convert_to_tensor")
    if site is None:
        return None
    operands = [site.value(param) for param in ("x", "y") if param in site.args]
    unknown = [operand for operand in operands if not operand.exact]
    return unknown[0] if len(unknown) == 1 else None


def are_parts_of_free_vector(y: Value, x: Value) -> bool:
    """Whether two values are components of one vector, up to their signs, that trained weights or a
    cross product give and nothing keeps from 0: `h[..., 0]` and `-h[..., 1]` of
    `h = tf.linalg.cross(r, v)`.
    """
    vector = _vector_of(y)
    if vector is None or same(y, x) or not same(vector, _vector_of(x) or y):
        return False
    if vector.lo != -INF or vector.hi != INF or vector.nonzero:
        return False
    return vector.evident or made_by(vector, *CROSS_PRODUCTS) is not None


def _vector_of(component: Value) -> Value | None:
    """What a value is a component of, up to its sign; None for what is no component."""
    signed = made_by(component, *NEGATIONS)
    component = signed.value("x") if signed is not None else component
    cut = made_by(component, *SLICES)
    return cut.value(cut.op.main) if cut is not None else None


def slope_of(arctangent: Site) -> Site | None:
    """The quotient of two sides of which an angle is computed, `atan(y / x)`, where nothing is
    known of the second; None where it is kept off 0, or a number.
    """
    quotient = made_by(arctangent.value("x"), "tf.divide", aligned=True)
    if quotient is None or not quotient.given("y"):
        return None
    side = quotient.value("y")
    is_kept = side.known or side.guarded or side.nonzero
    return None if is_kept or side.kind == "number" else quotient
