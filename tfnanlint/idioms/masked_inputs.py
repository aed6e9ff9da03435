"""Masks that ask for NaN in what a value was computed from: `where(is_nan(y), 0, (y - p) ** 2)`.

The value at those elements is thrown away; its derivative by `p` is 0 * NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tfnanlint.guards.post_guards import plain
from tfnanlint.ops.site import Site, made_by, same
from tfnanlint.ops.traits import (
    CASTS,
    EQUALITIES,
    FINITE_TESTS,
    LOGICAL,
    MASK_ARITHMETIC,
    MASKINGS,
    NAN_REPLACING,
)
from tfnanlint.terms.build import term_of, terms_of
from tfnanlint.terms.term import SYMBOL, Atom, Term
from tfnanlint.uses.producers import may_stem
from tfnanlint.values.value import Value

_TESTS: Final = (*FINITE_TESTS, *EQUALITIES)
_MAY_TEST: Final = frozenset(_TESTS)
_BETWEEN: Final = frozenset((*LOGICAL, *MASK_ARITHMETIC, *MASKINGS, *CASTS))
_DEPTH: Final = 8
# The conditions of a choice, mask or product, each with what it lets through.
_PAIRS: Final = (
    ("condition", "x"),
    ("condition", "y"),
    ("mask", "x"),
    ("indices", "x"),
    ("x", "y"),
    ("y", "x"),
)


def asked_for_nan(condition: Value, depth: int = _DEPTH) -> Value | None:
    """What a condition, a mask that was cast from one, or the indices of where it holds, asks
    whether it is NaN, or None.
    """
    site = made_by(condition, *_TESTS, *_BETWEEN) if depth else None
    if site is None or site.op.name == "tf.where" and site.given("x"):
        return None
    if site.op.name not in _TESTS:
        inner = [asked_for_nan(site.value(param), depth - 1) for param in site.args]
        return next((value for value in inner if value is not None), None)
    if "equal" in site.op.name and not same(site.value("x"), site.value("y")):
        return None
    return plain(site.value("x"))


def is_computed_from(value: Value, tested: Value) -> bool:
    """Whether a value is computed from a tested one, as it is, and from another one, by more than
    sums: then the derivative by the other one is NaN where the tested one is.
    """
    atom = term_of(tested).atom
    return atom is not None and any([_bends(term, atom) for term in terms_of(value)])


def _bends(term: Term, tested: Atom) -> bool:
    bent = False
    others = False
    for monomial in term.parts:
        atoms = [inner for atom, _ in monomial.factors for inner in _inside(atom, _DEPTH)]
        others = others or any([atom.op == SYMBOL and atom.bare != tested for atom in atoms])
        if any([atom.bare == tested for atom in atoms]):
            alone = len(monomial.factors) == 1 and monomial.factors[0][0].bare == tested
            bent = bent or not alone or monomial.factors[0][1] != 1
    return bent and others


def _inside(atom: Atom, depth: int) -> Iterator[Atom]:
    """An atom and those in its terms, but for what is behind a replacement."""
    yield atom
    if atom.op in NAN_REPLACING or depth == 0:
        return
    for term in atom.terms:
        for monomial in term.parts:
            for inner, _ in monomial.factors:
                yield from _inside(inner, depth - 1)


def masked_data(choice: Site) -> Value | None:
    """What a mask asks for NaN that the values behind it are computed from, as `y` in
    `tf.where(tf.math.is_nan(y), 0.0, (y - p) ** 2)`; None for anything else.
    """
    for condition, kept in _PAIRS:  # what is kept is computed only where a condition asks for NaN
        if not choice.given(kept) or not _may_test(choice, condition):
            continue
        data = asked_for_nan(choice.value(condition))
        if data is None:
            continue
        if is_computed_from(choice.value(kept), data):
            return data
    return None


def _may_test(choice: Site, param: str) -> bool:
    """Whether a parameter may be given a test for NaN, as far as the text tells."""
    if not choice.given(param):
        return False
    engine = choice.interpreter
    return engine is None or may_stem(engine, choice, param, _MAY_TEST, _BETWEEN)
