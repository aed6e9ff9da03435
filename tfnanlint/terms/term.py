"""Terms: sums of products of powers, in one normal form.

A term is a sum of monomials with coefficients; a monomial is a product of atoms with exponents. An
atom is what the algebra does not take apart: a symbol, another op applied to terms, a reduction, or
a sum that stands in a product. Equal terms are equal numbers in exact arithmetic:

    a * a, a ** 2, tf.square(a), tf.pow(a, 2.0)          a^2
    x - 2.0 * y, tf.add(x, -2.0 * y), x + (-2.0) * y     x + -2 y
    a / b, a * tf.math.reciprocal(b), operator.truediv   a b^-1
    tf.sqrt(a) * tf.sqrt(a), a >= 0                      a
    (a - b) ** 2, (b - a) ** 2, squared_difference       (a + -1 b)^2
    tf.reduce_mean(2.0 * x, 0)                           2 mean[0](x)
    tf.matmul(-x, y)                                     -1 matmul(x, y)
    x[:, None] - y[:, None]                              placed(x) + -1 placed(y)
    x[:, None] - x[None, :]                              placed(x) + -1 placed'(x)
    tf.cast(x, tf.float32), tf.identity(x)               x

Products of sums are not multiplied out: (a - b)^2 and a^2 - 2ab + b^2 are equal numbers and
unequal computations, of which only the second one rounds below 0.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Final

from tfnanlint.ops.site import Site
from tfnanlint.values.value import Note, Value, number_text

SYMBOL: Final = ""
SUM: Final = "sum"
PLACED: Final = "placed"  # the same elements with other axes, or in another order
MOST_MONOMIALS: Final = 12  # of one term; more are taken for one symbol


class Atom:
    """`op` applied to terms, or a symbol; `detail` are its settings, or what a symbol stands for.

    `value` is what is known of its elements, `sign` is 1 where none is below 0, -1 where none is
    above, 0 where that is not known; `site` is the application that made it. These do not tell
    atoms apart.
    """

    __slots__ = ("op", "terms", "detail", "value", "sign", "site", "_hash")

    def __init__(
        self,
        op: str,
        terms: tuple[Term, ...],
        detail: Hashable,
        value: Value | None = None,
        sign: int = 0,
        site: Site | None = None,
    ) -> None:
        self.op = op
        self.terms = terms
        self.detail = detail
        self.value = value
        self.sign = sign if value is None else sign_of(value)
        self.site = site
        self._hash = hash((op, terms, detail))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Atom)
            and self._hash == other._hash
            and self.op == other.op
            and self.detail == other.detail
            and self.terms == other.terms
        )

    @property
    def bare(self) -> Atom:
        """The atom without the moves of its elements."""
        atom = self
        while atom.op == PLACED:
            inner = atom.terms[0].atom
            if inner is None:
                break
            atom = inner
        return atom

    def __str__(self) -> str:
        if self.op == SYMBOL:
            return _name(self.value)
        inner = ", ".join(map(str, self.terms))
        return f"({inner})" if self.op == SUM else f"{self.op}({inner})"


def _name(value: Value | None) -> str:
    """A symbol in print: the parameter or the op that it comes from."""
    origin = value.origin if value is not None else None
    if isinstance(origin, Note):
        return origin.parameter or "x"
    return origin.op.name if isinstance(origin, Site) else "x"


def sign_of(value: Value) -> int:
    """1 for what is never below 0, -1 for what is never above, 0 for others."""
    return 1 if value.lo >= 0 else -1 if value.hi <= 0 else 0


Factor = tuple[Atom, float]


class Monomial:
    """A product of atoms with exponents, in the order of writing; without atoms it is 1."""

    __slots__ = ("factors", "_set", "_hash")

    def __init__(self, factors: tuple[Factor, ...]) -> None:
        self.factors = factors
        self._set = frozenset(factors)
        self._hash = hash(self._set)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Monomial) and self._hash == other._hash and self._set == other._set
        )

    @property
    def sign(self) -> int:
        """1 or -1 where its even powers and the signs of its atoms say it, else 0; a root is NaN or
        not negative.
        """
        sign = 1
        for atom, exponent in self.factors:
            if exponent % 2 == 1:
                sign *= atom.sign
        return sign

    def exponent(self, atom: Atom) -> float:
        """The exponent of an atom; 0 where it is none of the factors."""
        for factor, exponent in self.factors:
            if factor == atom:
                return exponent
        return 0.0

    def times(self, multiplier: Monomial) -> Monomial:
        """The product of both."""
        if not self.factors or not multiplier.factors:
            return self if self.factors else multiplier
        exponents = dict(self.factors)
        for atom, exponent in multiplier.factors:
            exponents[atom] = exponents.get(atom, 0.0) + exponent
        return Monomial(tuple([(a, e) for a, e in exponents.items() if e]))

    def to_the(self, exponent: float) -> Monomial:
        """A power; of fractional ones the caller knows that the base is not negative."""
        return Monomial(tuple([(a, e * exponent) for a, e in self.factors]))

    def over(self, divisor: Monomial) -> Monomial:
        """The quotient of both."""
        return self.times(divisor.to_the(-1.0))

    def __str__(self) -> str:
        return " ".join([f"{a}" if e == 1 else f"{a}^{number_text(e)}" for a, e in self.factors])


ONE: Final = Monomial(())


class Term:
    """A sum of monomials, each with a coefficient that is not 0; without any it is 0."""

    __slots__ = ("parts", "_hash")

    def __init__(self, parts: dict[Monomial, float]) -> None:
        self.parts = parts
        self._hash = hash(frozenset(parts.items()))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Term) and self._hash == other._hash and self.parts == other.parts
        )

    @property
    def constant(self) -> float | None:
        """The number that it is; None for others."""
        if not self.parts:
            return 0.0
        return self.parts.get(ONE) if len(self.parts) == 1 else None

    @property
    def single(self) -> tuple[Monomial, float] | None:
        """The monomial and the coefficient that it is; None for sums, and for 0."""
        for monomial, coefficient in self.parts.items() if len(self.parts) == 1 else ():
            return monomial, coefficient
        return None

    @property
    def atom(self) -> Atom | None:
        """The atom that it is, with coefficient and exponent 1."""
        single = self.single
        if single is None or single[1] != 1 or len(single[0].factors) != 1:
            return None
        for atom, exponent in single[0].factors:
            return atom if exponent == 1 else None
        return None

    def __str__(self) -> str:
        texts = []
        for monomial, coefficient in self.parts.items():
            factor = "" if coefficient == 1 and monomial.factors else number_text(coefficient)
            texts.append(f"{factor} {monomial}".strip())
        return " + ".join(texts) or "0"


ZERO: Final = Term({})


def constant(number: float) -> Term:
    """A number as a term."""
    return Term({ONE: number}) if number else ZERO


def of_atom(atom: Atom, exponent: float = 1.0) -> Term:
    """A power of an atom as a term."""
    return Term({Monomial(((atom, exponent),)): 1.0})


def added(terms: Iterable[Term]) -> Term:
    """The sum of some terms."""
    parts: dict[Monomial, float] = {}
    for term in terms:
        for monomial, coefficient in term.parts.items():
            parts[monomial] = parts.get(monomial, 0.0) + coefficient
    return Term({monomial: c for monomial, c in parts.items() if c})


def scaled(term: Term, factor: float) -> Term:
    """A term times a number."""
    if not factor:
        return ZERO
    return Term({monomial: c * factor for monomial, c in term.parts.items()})


def multiplied(a: Term, b: Term, a_sign: int = 0, b_sign: int = 0) -> Term:
    """The product of two terms of known signs; a sum becomes one atom of it."""
    for left, right in ((a, b), (b, a)):
        number = left.constant
        if number is not None:
            return scaled(right, number)
    monomial, coefficient = factored(a, a_sign)
    multiplier, factor = factored(b, b_sign)
    return of_monomial(monomial.times(multiplier), coefficient * factor)


def of_monomial(monomial: Monomial, coefficient: float) -> Term:
    """A monomial as a term; of a sum to the power 1 the sum."""
    if len(monomial.factors) == 1:
        atom, exponent = monomial.factors[0]
        if atom.op == SUM and exponent == 1:
            return scaled(atom.terms[0], coefficient)
    return Term({monomial: coefficient})


def factored(term: Term, sign: int = 0) -> tuple[Monomial, float]:
    """A term of a known sign as one monomial with a coefficient: of a sum a multiple of it is the
    atom, such that `a - b` and `2 * b - 2 * a` have one.
    """
    single = term.single
    if single is not None:
        return single
    content = term.parts[min(term.parts, key=hash)]
    own = sign if content > 0 else -sign
    atom = Atom(SUM, (scaled(term, 1.0 / content),), None, sign=own)
    return Monomial(((atom, 1.0),)), content


def raised(term: Term, exponent: float, sign: int = 0) -> Term | None:
    """A power of a term of a known sign; None where it is no term of this algebra."""
    number = term.constant
    if number is not None:
        return _power_of_number(number, exponent)
    monomial, coefficient = factored(term, sign)
    if exponent == int(exponent):
        try:
            power = coefficient ** int(exponent)
        except OverflowError:
            return None
        usable = power and math.isfinite(power)
        return of_monomial(monomial.to_the(exponent), power) if usable else None
    # the root of x^2 is not x
    apart = len(monomial.factors) == 1 and monomial.factors[0][1] == 1
    if coefficient > 0 and (apart or all([a.sign > 0 for a, _ in monomial.factors])):
        return of_monomial(monomial.to_the(exponent), coefficient**exponent)
    return of_atom(Atom(SUM, (term,), None, sign=sign), exponent)


def _power_of_number(number: float, exponent: float) -> Term | None:
    try:
        power = number**exponent
    except (OverflowError, ZeroDivisionError):
        return None
    return constant(power) if isinstance(power, float) and math.isfinite(power) else None


def placed(term: Term, how: Hashable) -> Term:
    """The same elements with other axes: each atom is moved."""
    parts: dict[Monomial, float] = {}
    for monomial, coefficient in term.parts.items():
        factors = [
            (Atom(PLACED, (of_atom(atom),), how, atom.value, atom.sign), exponent)
            for atom, exponent in monomial.factors
        ]
        parts[Monomial(tuple(factors))] = coefficient
    return Term(parts)
