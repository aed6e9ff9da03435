"""The algebra of terms by itself: an operation has the value that the numbers have which it is
done to.
"""

from __future__ import annotations

import itertools
import math

import pytest

from tfnanlint.terms.term import (
    ONE,
    SUM,
    SYMBOL,
    ZERO,
    Atom,
    Term,
    added,
    constant,
    factored,
    multiplied,
    of_atom,
    of_monomial,
    placed,
    raised,
    scaled,
)

NUMBERS = {"a": 3.0, "b": 0.5, "c": -2.0}
ATOMS = {name: Atom(SYMBOL, (), name, sign=1 if NUMBERS[name] > 0 else -1) for name in NUMBERS}
A, B, C = (of_atom(atom) for atom in ATOMS.values())
TERMS = {
    "0": ZERO,
    "2": constant(2.0),
    "-1.5": constant(-1.5),
    "a": A,
    "c": C,
    "4 a": scaled(A, 4.0),
    "-4 c": scaled(C, -4.0),
    "a b^2": multiplied(A, of_atom(ATOMS["b"], 2.0)),
    "c^2": of_atom(ATOMS["c"], 2.0),
    "-a^-1 c": scaled(multiplied(of_atom(ATOMS["a"], -1.0), C), -1.0),
    "a + b": added([A, B]),
    "2 a + 2 b": scaled(added([A, B]), 2.0),
    "c - a": added([C, scaled(A, -1.0)]),
    "a + b c + 1": added([A, multiplied(B, C), constant(1.0)]),
}
EXPONENTS = (-2.0, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 3.0)


def value(term: Term) -> float:
    return sum(
        coefficient * math.prod(of(atom) ** exponent for atom, exponent in monomial.factors)
        for monomial, coefficient in term.parts.items()
    )


def of(atom: Atom) -> float:
    return NUMBERS[atom.detail] if atom.op == SYMBOL else value(atom.terms[0])


def sign(number: float) -> int:
    return (number > 0) - (number < 0)


def atoms_of(term: Term):
    for monomial in term.parts:
        for atom, _ in monomial.factors:
            yield atom
            for inner in atom.terms:
                yield from atoms_of(inner)


@pytest.mark.parametrize("a, b", list(itertools.product(TERMS, TERMS)))
def test_sums_and_products(a, b):
    one, two = TERMS[a], TERMS[b]
    assert value(added([one, two])) == pytest.approx(value(one) + value(two))
    signs = sign(value(one)), sign(value(two))
    product = multiplied(one, two, *signs)
    assert value(product) == pytest.approx(value(one) * value(two))
    assert product == multiplied(two, one, *reversed(signs))
    for atom in atoms_of(product):
        assert atom.sign in (0, sign(of(atom)))
    for term in (product, added([one, two]), scaled(one, 0.0)):
        assert 0 not in term.parts.values()


@pytest.mark.parametrize("name, exponent", list(itertools.product(TERMS, EXPONENTS)))
def test_powers(name, exponent):
    """Those that are numbers; the root of x^2 is not x."""
    term, number = TERMS[name], value(TERMS[name])
    power = raised(term, exponent, sign(number))
    if number > 0 or number < 0 and exponent == int(exponent):
        assert power is not None and value(power) == pytest.approx(number**exponent)
        assert all(atom.sign in (0, sign(of(atom))) for atom in atoms_of(power))
    elif term.constant is not None:
        assert (power is not None and value(power) == 0.0) == (number == 0 and exponent > 0)


@pytest.mark.parametrize(
    "term, power, expected",
    [
        (A, 0.5, of_atom(ATOMS["a"], 0.5)),
        (scaled(C, 4.0), 0.5, multiplied(constant(2.0), of_atom(ATOMS["c"], 0.5))),
        (TERMS["a b^2"], 0.5, multiplied(of_atom(ATOMS["a"], 0.5), B)),
        (of_atom(ATOMS["a"], 2.0), 0.5, A),
        (TERMS["c^2"], 0.5, of_atom(Atom(SUM, (TERMS["c^2"],), None), 0.5)),
        (TERMS["-4 c"], 0.5, of_atom(Atom(SUM, (TERMS["-4 c"],), None), 0.5)),
        (
            scaled(TERMS["c^2"], 2.0),
            0.5,
            of_atom(Atom(SUM, (scaled(TERMS["c^2"], 2.0),), None), 0.5),
        ),
        (multiplied(A, C), 0.5, of_atom(Atom(SUM, (multiplied(A, C),), None), 0.5)),
        (added([A, B]), 1.0, added([A, B])),
        (scaled(A, 1e200), 2.0, None),  # the coefficient overflows
        (scaled(A, 1e-200), 2.0, None),  # or vanishes
        (constant(-2.0), 0.5, None),
        (constant(math.inf), 1.0, None),
        (constant(1e300), 2.0, None),
        (ZERO, -1.0, None),
        (ZERO, 2.0, ZERO),
        (constant(4.0), 0.5, constant(2.0)),
    ],
)
def test_the_form_of_powers(term, power, expected):
    assert raised(term, power) == expected


@pytest.mark.parametrize("factor", [1.0, 2.0, -1.0, -0.25])
@pytest.mark.parametrize("name", ["a + b", "c - a", "a + b c + 1"])
def test_multiples_of_a_sum_have_one_atom(name, factor):
    term = scaled(TERMS[name], factor)
    monomial, coefficient = factored(term, sign(value(term)))
    ((atom, exponent),) = monomial.factors
    assert (atom, exponent) == (factored(TERMS[name])[0].factors[0][0], 1.0)
    assert atom.sign == sign(of(atom)) and coefficient * of(atom) == pytest.approx(value(term))
    assert of_monomial(monomial, coefficient) == term
    assert factored(term)[0].factors[0][0].sign == 0


@pytest.mark.parametrize(
    "term, number, atom, is_single",
    [
        (ZERO, 0.0, None, False),
        (constant(2.0), 2.0, None, True),
        (A, None, ATOMS["a"], True),
        (scaled(A, 2.0), None, None, True),
        (TERMS["c^2"], None, None, True),
        (multiplied(A, B), None, None, True),
        (added([A, B]), None, None, False),
        (added([A, constant(1.0)]), None, None, False),
    ],
)
def test_what_a_term_is(term, number, atom, is_single):
    assert (term.constant, term.atom, term.single is not None) == (number, atom, is_single)


@pytest.mark.parametrize(
    "term, words",
    [
        (ZERO, "0"),
        (constant(1.0), "1"),
        (scaled(multiplied(A, of_atom(ATOMS["b"], -1.0)), 2.0), "2 x x^-1"),
        (added([A, constant(-1.0)]), "x + -1"),
    ],
)
def test_a_term_in_print(term, words):
    assert str(term) == words


@pytest.mark.parametrize(
    "factors, expected",
    [((), 1), ("a", 1), ("c", -1), ("ac", -1), ("cc", 1), ("ccc", -1)],
)
def test_the_sign_of_a_product(factors, expected):
    monomial = ONE
    for name in factors:
        monomial = monomial.times(factored(of_atom(ATOMS[name]))[0])
    assert monomial.sign == expected
    assert monomial.over(monomial) == ONE
    assert monomial.exponent(ATOMS["c"]) == list(factors).count("c")


def test_moved_elements_are_atoms_of_their_own():
    term = added([scaled(A, 2.0), TERMS["c^2"]])
    moved = placed(term, "axis")
    assert sorted(moved.parts.values()) == [1.0, 2.0] and moved != term
    assert placed(term, "axis") == moved != placed(term, "other")
    for monomial in moved.parts:
        ((atom, _),) = monomial.factors
        assert atom.bare in ATOMS.values() and atom.sign == atom.bare.sign
