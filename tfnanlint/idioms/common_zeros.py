"""Which values are 0 wherever a root is, as their terms say.

A norm is 0 where its vector is, and so is all that is linear in the vector; a deviation is 0 where
all elements are equal, and with it their differences from their own mean or maximum, but no other
difference.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import (
    DISPERSIONS,
    EXTREMES,
    FLAT_AT_ZERO,
    SQUARE_ROOTS,
)
from tfnanlint.terms.build import DOT, MEAN, TOTAL, terms_at, terms_of
from tfnanlint.terms.term import (
    ONE,
    PLACED,
    SUM,
    ZERO,
    Atom,
    Monomial,
    Term,
    added,
    factored,
    multiplied,
    of_atom,
    scaled,
)
from tfnanlint.values.value import NUMERIC_KINDS, Value

_LINEAR: Final = (MEAN, TOTAL, PLACED, SUM)
_PICKS: Final = frozenset((MEAN, *EXTREMES))  # of equal elements these give one
_KEEPING_ZERO: Final = frozenset((SUM, *SQUARE_ROOTS))  # 0 where what they are made of is
_MAX_DEPTH: Final = 8


def are_zero_together(value: Value, root: Site) -> bool:
    """Whether a value is 0 wherever what a root gives is; of several ways in which the value can
    arise, in each.
    """
    roots = [_zeros_of(term) for term in terms_at(root)]
    return all(
        [
            any([all([zeros.vanishes(term) for zeros in ways]) for ways in roots])
            for term in terms_of(value)
        ]
    )


def _zeros_of(term: Term) -> list[_Zeros]:
    """What is 0 where a term is, for each factor that may be 0."""
    single = _unplaced(term).single
    if single is None:
        return [_Zeros(term)]
    zeros: list[_Zeros] = []
    for atom, exponent in single[0].factors:
        inner = atom.bare.terms[0].single if _holds_one(atom.bare) else None
        if exponent > 0:
            zeros += _zeros_of(atom.bare.terms[0]) if inner else [_Zeros(of_atom(atom))]
    return zeros or [_Zeros(term)]


def _holds_one(atom: Atom) -> bool:
    """Whether an atom is 0 where the term in it is."""
    return bool(atom.terms) and (atom.op in _KEEPING_ZERO or atom.op in FLAT_AT_ZERO)


class _Zeros:
    """What is 0, and what is the same in all elements, where a term is 0."""

    def __init__(self, term: Term) -> None:
        self._atoms: set[Atom] = set()
        self._level: list[tuple[Term, object]] = []  # with the axis along which it is the same
        self._add(term, _MAX_DEPTH)

    def vanishes(self, term: Term, depth: int = _MAX_DEPTH) -> bool:
        """Whether a term is 0 there."""
        term = _unplaced(term)
        if term == ZERO or depth == 0:
            return term == ZERO
        if term.parts and all([self._is_zero(product, depth) for product in term.parts]):
            return True
        if len(term.parts) > 1 and factored(term)[0].factors[0][0] in self._atoms:
            return True
        return any([_spread(term, level, axis) == ZERO for level, axis in self._level])

    def _is_zero(self, product: Monomial, depth: int) -> bool:
        """Whether a factor is 0 there, and no divisor."""
        powers = [e for atom, e in product.factors if self._is_zero_atom(atom.bare, depth)]
        return bool(powers) and min(powers) > 0

    def _is_zero_atom(self, atom: Atom, depth: int) -> bool:
        if atom in self._atoms or atom.op in DISPERSIONS and self._is_level(atom):
            return True
        inner = [self.vanishes(term, depth - 1) for term in atom.terms]
        if atom.op == DOT:
            return any(inner)
        if atom.op in _LINEAR:
            return bool(inner) and inner[0]
        return atom.site is not None and self._gives_zero(atom.site, depth - 1)

    def _gives_zero(self, site: Site, depth: int) -> bool:
        """Whether an op gives 0 for what it is given there."""
        if not site.op.pure:
            return False
        values = {param: site.value(param) for param in site.args}
        zeros = [
            param
            for param, value in values.items()
            if value.kind in NUMERIC_KINDS
            and all([self.vanishes(term, depth) for term in terms_of(value)])
        ]
        values.update(
            {param: values[param].but(lo=0.0, hi=0.0, nan=False, inf=False) for param in zeros}
        )
        result = Site.of_values(site.op, values).give() if zeros else None
        return result is not None and result.lo == result.hi == 0 and not result.nan

    def _is_level(self, spread: Atom) -> bool:
        """Whether a deviation is that of what is the same in all elements."""
        return any(
            [
                axis in (None, _axis_of(spread)) and _are_multiples(spread.terms[0], level)
                for level, axis in self._level
            ]
        )

    def _add(self, term: Term, depth: int) -> None:
        """Notes what must be 0 for a sum of products to be 0, none of which is negative."""
        term = _unplaced(term)
        if depth == 0 or len(term.parts) > 1 and not _are_of_one_sign(term):
            return
        for product in term.parts:
            above = [atom.bare for atom, exponent in product.factors if exponent > 0]
            if len(above) == 1:
                self._add_atom(above[0], depth)

    def _add_atom(self, atom: Atom, depth: int) -> None:
        self._atoms.add(atom)
        if atom.op in DISPERSIONS and atom.terms:
            self._level.append((_unplaced(atom.terms[0]), _axis_of(atom)))
        elif atom.op in (TOTAL, MEAN) and atom.terms:
            if _are_of_one_sign(atom.terms[0]):
                self._add(atom.terms[0], depth - 1)
        elif _holds_one(atom):
            self._add_sum(atom.terms[0], depth)
        elif atom.op == DOT and atom.terms[0] == atom.terms[-1]:
            self._add(atom.terms[0], depth - 1)

    def _add_sum(self, term: Term, depth: int) -> None:
        """Notes what a sum that is 0 says: of `x - mean(x)`, that `x` is the same everywhere."""
        self._add(term, depth - 1)
        for atom in _picks_in(term):
            if _spread(term, atom.terms[0], atom.detail) == ZERO:
                self._level.append((atom.terms[0], atom.detail))


def _are_of_one_sign(term: Term) -> bool:
    """Whether no product of a sum is below 0, or none above."""
    signs = {product.sign * (1 if c > 0 else -1) for product, c in term.parts.items()}
    return signs in ({1}, {-1})


def _spread(term: Term, level: Term, axis: object) -> Term:
    """A term with the means and extremes of what is the same in all elements as that itself."""
    return added([_product_spread(product, c, level, axis) for product, c in term.parts.items()])


def _product_spread(product: Monomial, coefficient: float, level: Term, axis: object) -> Term:
    spread = Term({ONE: coefficient})
    for atom, exponent in product.factors:
        bare = atom.bare
        is_level = exponent == 1 and _picks(bare, axis) and _are_multiples(bare.terms[0], level)
        factor = bare.terms[0] if is_level else of_atom(bare, exponent)
        spread = multiplied(spread, factor)
    return spread


def _picks(atom: Atom, axis: object) -> bool:
    """Whether an atom is the mean or an extreme along the axis; None are all axes."""
    if atom.op not in _PICKS or not atom.terms:
        return False
    return axis in (None, _axis_of(atom))


def _axis_of(atom: Atom) -> object:
    if atom.op == MEAN:
        return atom.detail
    return dict(atom.detail).get("axis") if isinstance(atom.detail, tuple) else None


def _picks_in(term: Term) -> list[Atom]:
    """The means and extremes in a sum."""
    atoms = [atom.bare for product in term.parts for atom, _ in product.factors]
    return [atom for atom in atoms if atom.op in _PICKS and atom.terms]


def _are_multiples(a: Term, b: Term) -> bool:
    """Whether two terms are equal but for a number before them."""
    if not a.parts or not b.parts:
        return False
    return factored(_unplaced(a))[0] == factored(b)[0]


def _unplaced(term: Term) -> Term:
    """A term without the moves that all of its elements share."""
    while True:
        moves = {
            atom.detail if atom.op == PLACED else None
            for product in term.parts
            for atom, _ in product.factors
        }
        if len(moves) != 1 or None in moves:
            return term
        term = _moved_back(term)


def _moved_back(term: Term) -> Term:
    parts = []
    for product, coefficient in term.parts.items():
        factors = [(atom.terms[0].atom or atom, exponent) for atom, exponent in product.factors]
        parts.append(scaled(Term({Monomial(tuple(factors)): 1.0}), coefficient))
    return added(parts)
