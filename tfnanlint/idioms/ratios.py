"""Quotients of sums over the same elements: cosines, coefficients of variation."""

from __future__ import annotations

from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import DISPERSIONS, SQUARE_ROOTS
from tfnanlint.terms.build import DOT, MEAN, TOTAL, terms_at
from tfnanlint.terms.term import SUM, Atom, Monomial, Term


def is_cosine(division: Site) -> bool:
    """Whether a quotient is sum(a b) / sqrt(sum(a^2) sum(b^2)), with one root or two, with sums or
    with products of vectors.
    """
    return any([_cosine(term) for term in terms_at(division)])


def is_variation(division: Site) -> bool:
    """Whether a quotient is the variance or deviation of elements by their mean."""
    return any([_variation(term) for term in terms_at(division)])


def _cosine(term: Term) -> bool:
    single = term.single
    if single is None:
        return False
    product = Monomial(())
    for radicand in _radicands(single[0]):
        inner = _totalled(radicand)
        if inner is not None:
            product = product.times(inner)
    if not product.factors:
        return False
    return any(
        [
            exponent == 1 and _squared_total(atom.bare) == product
            for atom, exponent in single[0].factors
        ]
    )


def _radicands(quotient: Monomial) -> list[Atom]:
    """What stands under the roots that a quotient divides by, factor by factor."""
    return [
        inner
        for atom, exponent in quotient.factors
        if exponent == -0.5 or exponent == -1 and atom.bare.op in SQUARE_ROOTS
        for inner in _factors(atom.bare)
    ]


def _factors(atom: Atom) -> list[Atom]:
    """The factors of what a root is taken of, where it is written as a product."""
    holds_one = atom.op == SUM or atom.op in SQUARE_ROOTS
    single = atom.terms[0].single if holds_one else None
    if single is None:
        return [atom]
    return [factor.bare for factor, exponent in single[0].factors if exponent == 1]


def _squared_total(atom: Atom) -> Monomial | None:
    """The square of the product that an atom adds up: of a vector product too."""
    if atom.op == DOT:
        parts = [term.single for term in atom.terms]
        if parts[0] is None or parts[1] is None:
            return None
        return parts[0][0].times(parts[1][0]).to_the(2.0)
    inner = _totalled(atom)
    return None if inner is None else inner.to_the(2.0)


def _totalled(atom: Atom) -> Monomial | None:
    """The product that an atom adds up over an axis; the square of what it multiplies with itself
    and adds up.
    """
    if atom.op == DOT:
        left, right = atom.terms
        return left.single[0].to_the(2.0) if left == right and left.single else None
    single = atom.terms[0].single if atom.op == TOTAL and atom.terms else None
    return None if single is None else single[0]


def _variation(term: Term) -> bool:
    single = term.single
    factors = single[0].factors if single is not None else ()
    means = [atom.bare for atom, e in factors if e < 0 and atom.bare.op == MEAN]
    spreads = [_spread(atom.bare) for atom, e in factors if e > 0]
    averaged = [mean.terms[0] for mean in means if mean.terms]
    spread_out = [spread.terms[0] for spread in spreads if spread is not None and spread.terms]
    return any([content in spread_out for content in averaged])


def _spread(atom: Atom) -> Atom | None:
    """The variance or deviation that an atom is, with a number added to it or not."""
    if atom.op in DISPERSIONS:
        return atom
    return _summed_spread(atom.terms[0]) if atom.op == SUM else None


def _summed_spread(term: Term) -> Atom | None:
    """The variance or deviation to which a number is added."""
    products = [monomial for monomial in term.parts if monomial.factors]
    atoms = [atom.bare for atom, e in products[0].factors if e > 0] if len(products) == 1 else []
    return atoms[0] if len(atoms) == 1 and atoms[0].op in DISPERSIONS else None
