"""Quotients of sums over the same elements: cosines, coefficients of variation, overlaps."""

from __future__ import annotations

from tfnanlint.guards.post_guards import plain
from tfnanlint.idioms import quantities
from tfnanlint.idioms.differences import are_complements
from tfnanlint.ops.provenance import widest
from tfnanlint.ops.site import Site, complemented, made_by, operands, same
from tfnanlint.ops.traits import DISPERSIONS, SQUARE_ROOTS, SUMS
from tfnanlint.terms.build import DOT, MEAN, TOTAL, terms_at, terms_of
from tfnanlint.terms.term import SUM, Atom, Monomial, Term
from tfnanlint.values.value import Value


def is_cosine(division: Site) -> bool:
    """Whether a quotient is sum(a b) / sqrt(sum(a^2) sum(b^2)), with one root or two, with sums or
    with products of vectors.
    """
    has_root = any([e == 0.5 or atom.bare.op in SQUARE_ROOTS for atom, e in _divisors(division)])
    return has_root and any([_cosine(term) for term in terms_at(division)])


def is_variation(division: Site) -> bool:
    """Whether a quotient is the variance or deviation of elements by their mean."""
    has_mean = any([atom.bare.op == MEAN for atom, _ in _divisors(division)])
    return has_mean and any([_variation(term) for term in terms_at(division)])


def _divisors(division: Site) -> list[tuple[Atom, float]]:
    """The factors of a divisor with their exponents: asked before the dividend is computed."""
    return [
        factor
        for term in terms_of(division.value("y"))
        for monomial in term.parts
        for factor in monomial.factors
    ]


def is_error_of_prediction(error: Value) -> bool:
    """Whether a value is 1 minus a score that is 1 for a perfect prediction: an overlap (Dice,
    Tversky), smoothed or not, or the probability of what is right, `y * p + (1 - y) * (1 - p)`.
    """
    score = complemented(plain(widest(plain(error))))
    if score is None:
        return False
    value = plain(widest(plain(score)))
    quotient = made_by(value, "tf.divide")
    if quotient is not None:
        return quantities.is_overlap(quotient) or _is_tversky(quotient)
    products = [made_by(plain(part), "tf.multiply") for part in _addends(value)]
    if len(products) != 2 or None in products:
        return False
    first, second = [operands(site) for site in products]
    ways = (second, second[::-1])
    return any([all(map(are_complements, first, way)) for way in ways])


def _is_tversky(quotient: Site) -> bool:
    """Whether a quotient is `n / (n + rest)`, of which the rest adds up products with complements:
    what a prediction misses, and what it finds in vain.
    """
    hits, whole = _addends(quotient.value("x")), _addends(quotient.value("y"))
    rest = [part for part in whole if not any([same(part, hit) for hit in hits])]
    return 0 < len(rest) < len(whole) and all(map(_adds_up_misses, rest))


def _addends(value: Value, depth: int = 4) -> list[Value]:
    """What is added up in a value, one by one."""
    total = made_by(plain(widest(plain(value))), "tf.add") if depth else None
    if total is None:
        return [plain(value)]
    return [part for operand in operands(total) for part in _addends(operand, depth - 1)]


def _adds_up_misses(value: Value) -> bool:
    """Whether a value is a sum of products with a complement, `sum(y * (1 - p))`."""
    scaled = operands(made_by(value, "tf.multiply")) or (value,)
    totals = [total for part in scaled if (total := made_by(plain(part), *SUMS)) is not None]
    return len(totals) == 1 and any(
        [
            complemented(plain(factor)) is not None
            for factor in quantities.factors(totals[0].value(totals[0].op.main))
        ]
    )


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
