"""Densities and probabilities that underflow to 0, their logarithms and ratios: `dist.prob(x)`, a
density that is written out, a softmax.

exp(-x^2 / 2) is 0 from 14 deviations on, in float16 from 6; so is a softmax of logits that are 104
apart. Their logarithms are ordinary numbers.
"""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.site import Site
from tfnanlint.ops.traits import GATHERS, SLICES
from tfnanlint.terms.build import MEAN, TOTAL, terms_of
from tfnanlint.terms.term import Atom, Monomial, Term
from tfnanlint.values.value import Value

_PROB: Final = "method.prob"
_EXP: Final = "tf.exp"
_SOFTMAX: Final = "tf.nn.softmax"
_SEEN_THROUGH: Final = (*GATHERS, *SLICES, TOTAL, MEAN)
_GUARD: Final = 0.1  # a number up to this that is added is a guard
_TAME: Final = -80.0  # exponents above do not underflow
_DEPTH: Final = 4


def logged_density(value: Value) -> Site | None:
    """The exponential of a density that is written out, or the `dist.prob`, of which a value is a
    product, guarded or not, in each way in which it can arise; None for others.
    """
    densities = [_logged(term) for term in terms_of(value)]
    return densities[0] if None not in densities else None


def _logged(term: Term) -> Site | None:
    monomial = _unguarded(term)
    for atom, exponent in monomial.factors if monomial is not None else ():
        site = _density(atom, _DEPTH) if exponent > 0 else None
        if site is not None:
            return site
    return None


def guards(value: Value) -> bool:
    """Whether a small number is added to a value."""
    return any([term.constant is None and _guard(term) > 0 for term in terms_of(value)])


def is_ratio(division: Site) -> bool:
    """Whether a division is one of two densities or probabilities, the divisor as it is."""
    if not division.given("x") or not division.given("y"):
        return False
    return all(_is_probability(division.value(param)) for param in ("y", "x"))


def _is_probability(value: Value) -> bool:
    """Whether a value is one softmax, density or `dist.prob`, or a product with one."""
    for term in terms_of(value):
        single = term.single
        for atom, exponent in single[0].factors if single is not None else ():
            if exponent > 0 and (_softmax(atom, _DEPTH) or _density(atom, _DEPTH) is not None):
                return True
    return False


def _guard(term: Term) -> float:
    for monomial, coefficient in term.parts.items():
        if not monomial.factors:
            return coefficient
    return 0.0


def _unguarded(term: Term) -> Monomial | None:
    """The one monomial of a term, beside a small number that is added."""
    products = [monomial for monomial in term.parts if monomial.factors]
    return products[0] if len(products) == 1 and 0 <= _guard(term) <= _GUARD else None


def _density(atom: Atom, depth: int) -> Site | None:
    atom = atom.bare
    if atom.site is not None and atom.site.op.name == _PROB:
        return atom.site
    if atom.op == _EXP:
        return atom.site if _is_gaussian(atom) else None
    inner = _inside(atom) if depth else None
    if inner is None or atom.op == TOTAL and not _has_scale(inner):
        return None
    densities = [_density(factor, depth - 1) for factor, exponent in inner.factors if exponent > 0]
    return next((site for site in densities if site is not None), None)


def _softmax(atom: Atom, depth: int) -> bool:
    atom = atom.bare
    if atom.op == _SOFTMAX:
        return True
    inner = _inside(atom) if depth else None
    return inner is not None and any(
        [_softmax(factor, depth - 1) for factor, exponent in inner.factors if exponent > 0]
    )


def _inside(atom: Atom) -> Monomial | None:
    """The product that an atom picks elements of, or adds up."""
    if atom.op not in _SEEN_THROUGH or not atom.terms:
        return None
    single = atom.terms[0].single
    return None if single is None else single[0]


def _has_scale(monomial: Monomial) -> bool:
    """Whether something is divided by: the deviation in front of an exponential."""
    return any([exponent < 0 for _, exponent in monomial.factors])


def _is_gaussian(exponential: Atom) -> bool:
    """Whether an exponent is never positive, without bound, and has a square or magnitude in it."""
    site = exponential.site
    if site is None or not exponential.terms or site.value("x").lo > _TAME:
        return False
    parts = [(m, c) for m, c in exponential.terms[0].parts.items() if m.factors]
    falls = all([monomial.sign * coefficient < 0 for monomial, coefficient in parts])
    return falls and any([_measures(monomial) for monomial, _ in parts])


def _measures(monomial: Monomial) -> bool:
    return any(
        [
            exponent > 0 and (exponent % 2 == 0 or atom.op in ("tf.abs", TOTAL))
            for atom, exponent in monomial.factors
        ]
    )
