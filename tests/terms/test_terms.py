"""Terms: spellings of one number have one term, and a term has the value of what it stands for.

Each expression of `SPELLINGS` is executed in TensorFlow in three dtypes, and its term in float64.
"""

from __future__ import annotations

import functools

import pytest

from tfnanlint.dev.reveal import reveals
from tfnanlint.syntax.source import Source
from tfnanlint.terms.build import DOT, MEAN, TOTAL, terms_of
from tfnanlint.terms.term import PLACED, SUM, SYMBOL, Atom, Term

np = pytest.importorskip("numpy")

HEAD = "import operator\nimport tensorflow as tf\nimport keras\n"
# Spellings of one number on a line each, and what is close to them and is another number.
SPELLINGS = {
    "a^2": "a * a; a ** 2; tf.square(a); tf.pow(a, 2.0); tf.multiply(a, a); operator.mul(a, a)",
    "a - 2b": "a - 2.0 * b; a + (-2.0) * b; tf.subtract(a, 2 * b); tf.add(a, -2.0 * b); tf.add_n([a, -b, -b]); -(2 * b - a)",
    "a / b": "a / b; a * tf.math.reciprocal(b); operator.truediv(a, b); a * b ** -1; a * a / (b * a)",
    "(a - b)^2": "(a - b) ** 2; (b - a) ** 2; tf.math.squared_difference(a, b); tf.square(a - b); (2 * a - 2 * b) ** 2 / 4",
    "mean(2a)": "tf.reduce_mean(2.0 * a); 2 * tf.reduce_mean(a); keras.ops.mean(a + a)",
    "-ab": "tf.tensordot(-a, b, 1); -tf.tensordot(a, b, 1); 0.5 * tf.tensordot(-2.0 * a, b, 1)",
    "a as it is": "a; tf.identity(a); tf.stop_gradient(a); tf.cast(a, a.dtype); tf.sqrt(b) * a / tf.sqrt(b)",
    "column": "tf.expand_dims(a * b, 1); tf.expand_dims(a, 1) * tf.expand_dims(b, 1)",
    "exponential": "tf.exp(a) / b; tf.exp(tf.identity(a)) * tf.math.reciprocal(b)",
    "root": "tf.sqrt(a - b) ** 2; a - b",
    "halves": "(a - b) / 2 + b; a * 0.5 + 0.5 * b; (b + a) / 2.0",
}
OTHERS = (
    "a - b; b - a",
    "a * b; a / b",
    "tf.sqrt(a * a); a",
    "tf.exp(a); tf.exp(b)",
    "tf.reduce_mean(a); tf.reduce_sum(a)",
)
DTYPES = {"float16": 2e-2, "float32": 1e-5, "float64": 1e-12}


@functools.cache
def terms(spellings: str) -> tuple[Term, ...]:
    """The term of each expression of two parameters."""
    lines = [f"    reveal({text.strip()})\n" for text in spellings.split(";")]
    text = HEAD + "def f(a, b):\n" + "".join(lines)
    found = [terms_of(one.value) for one in reveals(Source("a.py", text))]
    assert all(len(one) == 1 for one in found) and len(found) == len(lines)
    return tuple(one[0] for one in found)


@pytest.mark.parametrize("spellings", SPELLINGS.values(), ids=SPELLINGS)
def test_spellings_of_one_number_have_one_term(spellings):
    term, *others = terms(spellings)
    assert [str(other) for other in others if other != term] == []


@pytest.mark.parametrize("spellings", OTHERS)
def test_other_numbers_have_other_terms(spellings):
    first, second = terms(spellings)
    assert first != second


@pytest.mark.parametrize(
    "power, product, is_known",
    [
        ("a ** 16.0", "a ** 15.0 * a", True),
        ("a ** -16.0", "a ** -15.0 / a", True),
        ("a ** 17.0", "a ** 16.0 * a", False),
    ],
)
def test_powers_are_terms_up_to_the_sixteenth(power, product, is_known):
    first, second = terms(f"{power}; {product}")
    assert (first == second) is is_known


@pytest.mark.tensorflow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spellings", (*SPELLINGS.values(), *OTHERS))
def test_a_term_has_the_value_of_what_it_stands_for(spellings, dtype):
    import keras
    import tensorflow as tf

    names = {"tf": tf, "keras": keras, "operator": __import__("operator")}
    draw = np.random.default_rng(7)
    for _ in range(5):
        b = draw.uniform(0.5, 1.0, 4)
        a = b + draw.uniform(0.25, 2.0, 4)  # above b, for the roots
        given = {"a": tf.constant(a, dtype), "b": tf.constant(b, dtype)}
        exact = {name: value.numpy().astype("float64") for name, value in given.items()}
        for text, term in zip(spellings.split(";"), terms(spellings)):
            executed = eval(text, {**names, **given}).numpy().astype("float64")
            expected = np.broadcast_to(computed(term, exact), executed.shape)
            np.testing.assert_allclose(executed, expected, rtol=DTYPES[dtype], atol=DTYPES[dtype])


ROWS = "tf.reduce_sum(tf.square(a), axis=-1)"


@pytest.mark.parametrize(
    ("product", "is_squares"),
    [
        ("tf.matmul(a, a, transpose_b=True)", True),
        ("a @ tf.transpose(a)", True),
        ("tf.matmul(a, b, transpose_b=True)", False),
        ("tf.matmul(a, a)", False),
        ("tf.matmul(a, a, transpose_a=True)", False),
    ],
)
def test_the_diagonal_of_the_products_of_rows_are_their_squares(product, is_squares):
    first, second = terms(f"tf.linalg.diag_part({product}); {ROWS}")
    assert (first == second) is is_squares


@pytest.mark.tensorflow
def test_the_diagonal_of_the_products_of_rows_is_executed():
    import tensorflow as tf

    a = tf.constant([[1.0, 2.0], [3.0, -4.0]])
    diagonal = tf.linalg.diag_part(tf.matmul(a, a, transpose_b=True))
    assert diagonal.numpy().tolist() == eval(ROWS).numpy().tolist() == [5.0, 25.0]


@pytest.mark.parametrize("flag", ["x > 0", "y is None"])
def test_two_returns_are_two_terms(flag):
    text = HEAD + (
        f"def g(x, y):\n    if {flag}:\n        return x - y\n    return x * y\n"
        "def f(a, b):\n    reveal(g(a, b) + 1.0)\n"
    )
    (one,) = reveals(Source("a.py", text))
    assert [str(term) for term in terms_of(one.value)] == ["a + -1 b + 1", "a b + 1"]


def test_a_chain_that_doubles_at_each_step_is_one_question_each():
    steps = "".join("    a = tf.nn.elu(a) + a\n" for _ in range(60))
    (one,) = reveals(Source("a.py", HEAD + f"def f(a):\n{steps}    reveal(a)\n"))
    assert len(terms_of(one.value)) == 1


def computed(term: Term, given: dict[str, np.ndarray]) -> np.ndarray:
    """The value of a term, in the precision of what is given."""
    total = np.float64(0.0)
    for monomial, coefficient in term.parts.items():
        product = np.float64(coefficient)
        for atom, exponent in monomial.factors:
            product = product * of_atom(atom, given) ** exponent
        total = total + product
    return total


def of_atom(atom: Atom, given: dict[str, np.ndarray]) -> np.ndarray:
    inner = [computed(term, given) for term in atom.terms]
    if atom.op == SYMBOL:
        return given[atom.value.origin.parameter]
    if atom.op == PLACED:
        return np.expand_dims(inner[0], 1)
    if atom.op == DOT:
        return np.tensordot(*inner, axes=1)
    one = {SUM: lambda x: x, MEAN: np.mean, TOTAL: np.sum, "tf.exp": np.exp, "tf.abs": np.abs}
    return one[atom.op](inner[0])
