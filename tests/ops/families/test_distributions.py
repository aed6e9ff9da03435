"""The parameters of distributions: where log_prob or a draw is NaN or Inf, executed in the
distributions that TensorFlow still brings along.
"""

from __future__ import annotations

import pytest

from tfnanlint.ops import table
from tfnanlint.ops.families.distributions import OF_CLASSES, OF_PROBABILITIES, POSITIVE_PARAMETERS

pytestmark = pytest.mark.tensorflow
table.load()
BROUGHT_ALONG = "Normal Laplace Gamma Exponential Beta Dirichlet StudentT".split()
CASES = [
    (name, param, number)
    for name in BROUGHT_ALONG
    for param in POSITIVE_PARAMETERS[f"tfp.distributions.{name}"]
    for number in (0.0, -0.7)
]


def made(name: str, **given: float):
    tf = pytest.importorskip("tensorflow")
    params = dict.fromkeys(
        (
            param
            for param in table.TABLE[f"tfp.distributions.{name}"].params
            if param in ("loc", "scale", "concentration", "rate", "df")
            or param.startswith("concentration")
        ),
        1.5,
    )
    sizes = {"concentration": 3} if name == "Dirichlet" else {}
    return getattr(tf.compat.v1.distributions, name)(
        **{
            param: tf.fill([sizes[param]], number) if param in sizes else tf.constant(number)
            for param, number in {**params, **given}.items()
        }
    )


def finite(dist, drawn) -> bool:
    tf = pytest.importorskip("tensorflow")
    samples = dist.sample(200, seed=3)
    return all(bool(tf.reduce_all(tf.math.is_finite(x))) for x in (dist.log_prob(drawn), samples))


def somewhere(name: str):
    return [0.2, 0.3, 0.5] if name == "Dirichlet" else 0.4


@pytest.mark.parametrize("name", BROUGHT_ALONG)
def test_positive_parameters_do(name):
    assert finite(made(name), somewhere(name))


@pytest.mark.parametrize("name, param, number", CASES)
def test_parameters_that_are_not_positive(name, param, number):
    assert not finite(made(name, **{param: number}), somewhere(name))


def test_a_negative_scale_of_student_is_as_good():
    assert finite(made("StudentT", scale=-0.7), 0.4)


@pytest.mark.parametrize("name", [one.rsplit(".", 1)[-1] for one in OF_PROBABILITIES])
def test_a_probability_of_0_is_not_logged(name):
    tf = pytest.importorskip("tensorflow")
    is_classes = f"tfp.distributions.{name}" in OF_CLASSES
    z = tf.constant([0.0, 200.0] if is_classes else 200.0)
    drawn = 0 if name != "OneHotCategorical" else [1, 0]
    with tf.GradientTape() as tape:
        tape.watch(z)
        probs = tf.nn.softmax(z) if is_classes else tf.sigmoid(z)
        dist = tf.compat.v1.distributions
        if not hasattr(dist, name):
            pytest.skip("in TensorFlow Probability only")
        loss = -getattr(dist, name)(probs=probs).log_prob(drawn)
    gradient = tape.gradient(loss, z)
    assert not bool(tf.reduce_all(tf.math.is_finite([loss, tf.reduce_sum(gradient)])))
