"""Differences that are below 0 by rounding, or for what the program admits: squared distances,
discriminants.

|a|^2 - 2ab + |b|^2 is never negative in exact arithmetic, for it is |a - b|^2; b^2 - 4ac has either
sign.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tfnanlint.ops.site import Site, both_orders, made_by, operands, same
from tfnanlint.ops.traits import POSITIVE_SCALES, SLICES, UNPACKINGS
from tfnanlint.terms.build import DOT, TOTAL, term_of, terms_of
from tfnanlint.terms.term import Atom, Monomial, Term, added, raised
from tfnanlint.values.value import Note, Value

_PRODUCTS: Final = (DOT, TOTAL)


def has_form(value: Value, form: Callable[[Term], bool]) -> bool:
    """Whether a value has a form, or may have: it is one of several of which one has it."""
    return any([form(term) for term in terms_of(value)])


def is_difference_of_squares(term: Term) -> bool:
    """Whether something is taken away from what is never negative: |a|^2 - |b|^2, |a|^2 - 2ab +
    |b|^2.
    """
    plus = minus = False
    for monomial, coefficient in term.parts.items():
        if monomial.sign * coefficient > 0:
            plus = True
        elif monomial.sign * coefficient < 0 or coefficient == -2 and _is_product(monomial):
            minus = True
        else:
            return False
    return plus and minus


def _is_product(monomial: Monomial) -> bool:
    """A product of matrices or vectors, or a sum of products."""
    if len(monomial.factors) != 1 or monomial.factors[0][1] != 1:
        return False
    atom: Atom = monomial.factors[0][0].bare
    return atom.op in _PRODUCTS


def is_discriminant(term: Term) -> bool:
    """b^2 - 4ac: a square, and four times a product of which nothing says the sign."""
    squares = [
        coefficient
        for monomial, coefficient in term.parts.items()
        if coefficient > 0 and _is_square(monomial)
    ]
    return len(squares) == 1 and any(
        [
            abs(coefficient) == 4 * squares[0] and not monomial.sign and monomial.factors
            for monomial, coefficient in term.parts.items()
        ]
    )


def is_squared_distance(term: Term) -> bool:
    """|a|^2 - 2ab + |b|^2, which only rounding takes below 0."""
    return is_difference_of_squares(term) and any(
        [c == -2 and _is_product(monomial) for monomial, c in term.parts.items()]
    )


def is_between_parts(value: Value) -> bool:
    """Whether a value is the difference of two parts of one tensor, or elements of it: of points of
    one set, `p[1:] - p[:-1]`, or `b - a` of `a, b = tf.unstack(p)`. Two of them may coincide.
    """
    minus = made_by(value, "tf.subtract")
    if minus is None:
        return False
    first, second = [_cut_from(minus, param) for param in ("x", "y")]
    return first is not None and first is second and not same(*operands(minus))


def _cut_from(minus: Site, param: str) -> Site | Note | None:
    """What an operand is a part of: the origin of what was sliced, or the op that gave it in
    pieces; None for what is no part.
    """
    origin, is_part = minus.value(param).origin, isinstance(minus.args.get(param), ast.Subscript)
    while isinstance(origin, Site) and origin.op.name in SLICES:
        origin, is_part = origin.value(origin.op.main).origin, True
    if isinstance(origin, Note) and origin.index is not None and isinstance(origin.parent, Site):
        return origin.parent if origin.parent.op.name in UNPACKINGS else None
    return origin if is_part and isinstance(origin, (Site, Note)) else None


def has_sign_of_weight(term: Term) -> bool:
    """Whether a term is one weight, or one output of a layer, times what is never negative."""
    single = term.single
    if single is None:
        return False
    signed = [atom for atom, exponent in single[0].factors if exponent % 2 == 1 and not atom.sign]
    return len(signed) == 1 and signed[0].value is not None and signed[0].value.evident


def has_one_sign(term: Term) -> bool:
    """Whether a term is no product, or one whose sign is that of a weight."""
    single = term.single
    return single is None or len(single[0].factors) < 2 or has_sign_of_weight(term)


def is_weight(value: Value) -> bool:
    """Whether a value is a weight, its power or multiple: training can take it anywhere."""
    return has_form(value, has_sign_of_weight)


def may_be_trained_below_one(value: Value) -> bool:
    """Whether training can take a value below 1: a weight, or what softplus or exp makes of
    anything, with a number below 1 added.
    """
    if is_weight(value):
        return True
    total = made_by(value, "tf.add")
    for number, rest in both_orders(total):
        if number.exact and number.lo < 1:
            value = rest
            break
    return value.kind == "tensor" and made_by(value, *POSITIVE_SCALES) is not None


def are_never_both_zero(a: Value, b: Value) -> bool:
    """Whether the squares of two values add up to a number that is not 0: sqrt(p), sqrt(1 - p)."""
    squares = [raised(term_of(value), 2.0) for value in (a, b)]
    if squares[0] is None or squares[1] is None:
        return False
    return bool(added([squares[0], squares[1]]).constant)


def are_complements(a: Value, b: Value) -> bool:
    """Whether two values add up to 1: p and 1 - p."""
    return added([term_of(a), term_of(b)]).constant == 1


def _is_square(monomial: Monomial) -> bool:
    return bool(monomial.factors) and all([e % 2 == 0 for _, e in monomial.factors])
