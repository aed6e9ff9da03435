"""Each lemma about a form that the algebra finds, executed on random instances in three dtypes.

A form is what `fixtures/rules` holds in its spellings; here stands that the hazard is real.
"""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.tensorflow

DTYPES = pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])


@pytest.fixture
def draw():
    return np.random.default_rng(3)


def least(form, instances) -> float:
    """The least element that a form gives on any of some instances."""
    return min(float(np.min(form(*instance).numpy())) for instance in instances)


@DTYPES
def test_a_variance_by_moments_rounds_below_zero(draw, dtype):
    import tensorflow as tf

    def by_moments(x):
        return tf.reduce_mean(x * x, 0) - tf.square(tf.reduce_mean(x, 0))

    def by_sums(x):
        return tf.reduce_sum(x * x, 0) - tf.square(tf.reduce_sum(x, 0)) / len(x)

    data = [10.0 + draw.normal(0.0, 1e-9, [8, 4]) for _ in range(40)]
    instances = [(tf.constant(x * draw.uniform(0.5, 1.0), dtype),) for x in data]
    assert least(by_moments, instances) < 0 and least(by_sums, instances) < 0
    assert least(lambda x: tf.math.reduce_variance(x, 0), instances) >= 0


@DTYPES
def test_a_variance_over_windows_rounds_below_zero(draw, dtype):
    import tensorflow as tf

    def over_windows(x):
        mean = tf.nn.avg_pool2d(x, 3, 1, "VALID")
        return tf.nn.avg_pool2d(x * x, 3, 1, "VALID") - mean * mean

    flat = [np.full([1, 5, 5, 1], draw.uniform(0.5, 10.0)) for _ in range(40)]
    assert least(over_windows, [(tf.constant(x, dtype),) for x in flat]) < 0


@DTYPES
def test_a_squared_distance_of_products_rounds_below_zero(draw, dtype):
    import tensorflow as tf

    def by_products(a):
        squares = tf.reduce_sum(a * a, 1)
        return squares[:, None] + squares[None, :] - 2 * tf.matmul(a, a, transpose_b=True)

    instances = [(tf.constant(draw.normal(0.0, 1.0, [6, 5]), dtype),) for _ in range(40)]
    assert least(by_products, instances) < 0
    apart = least(lambda a: tf.reduce_sum(tf.square(a[:, None] - a[None, :]), -1), instances)
    assert apart == 0


@DTYPES
def test_a_discriminant_has_either_sign(draw, dtype):
    import tensorflow as tf

    a, b, c = (tf.constant(draw.normal(0.0, 1.0, 200), dtype) for _ in range(3))
    discriminant = (b**2 - 4 * a * c).numpy()
    assert discriminant.min() < 0 < discriminant.max()


@DTYPES
def test_roots_of_a_share_and_its_complement_are_never_both_zero(draw, dtype):
    import tensorflow as tf

    edges = [0.0, 1.0, 2.0**-24, 1.0 - 2.0**-11]
    share = tf.constant(np.concatenate([draw.uniform(0.0, 1.0, 200), edges]), dtype)
    roots = tf.sqrt(share), tf.sqrt(1 - share)
    assert np.all((roots[0].numpy() > 0) | (roots[1].numpy() > 0))


@DTYPES
def test_a_cosine_written_by_hand_is_within_one(draw, dtype):
    import tensorflow as tf

    def largest(a, b):
        norms = tf.norm(a, axis=-1) * tf.sqrt(tf.reduce_sum(tf.square(b), -1))
        cosine = tf.reduce_sum(a * b, -1) / (norms + 1e-3)
        rows = tf.matmul(a, b, transpose_b=True)
        lengths = [tf.norm(x, axis=1, keepdims=True) for x in (a, b)]
        cosines = rows / (tf.matmul(*lengths, transpose_b=True) + 1e-3)
        return max(float(tf.reduce_max(tf.abs(x))) for x in (cosine, cosines))

    slack = 1024 * float(np.finfo(dtype).eps)
    for scale in (1e-3, 1.0, 10.0):
        for width in (1, 3, 200):
            a = draw.normal(0.0, scale, [8, width])
            for b in (a, -2.0 * a, draw.normal(0.0, scale, [8, width])):
                assert largest(tf.constant(a, dtype), tf.constant(b, dtype)) <= 1.0 + slack


@DTYPES
def test_a_product_of_one_vector_is_never_negative(draw, dtype):
    import tensorflow as tf

    def by_rows(v):
        row = tf.reshape(v, [1, -1])
        products = (row @ tf.transpose(row), tf.matmul(row, row, transpose_b=True))
        return tf.concat([tf.reshape(x, [-1]) for x in (*products, tf.tensordot(v, v, 1))], 0)

    instances = [(tf.constant(draw.normal(0.0, scale, 9), dtype),) for scale in (1e-3, 1.0, 30.0)]
    assert least(by_rows, instances) > 0
    assert np.all(by_rows(tf.zeros([9], dtype)).numpy() == 0)


@DTYPES
def test_a_product_with_ones_is_a_sum(draw, dtype):
    import tensorflow as tf

    p = tf.nn.softmax(tf.constant(draw.normal(0.0, 3.0, [20, 5]), dtype))
    slack = 1024 * float(np.finfo(dtype).eps)
    for total in (
        tf.matmul(p, tf.ones([5, 1], dtype)),
        tf.linalg.matvec(p, tf.ones([5], dtype)),
        tf.ones([1, 5], dtype) @ tf.transpose(p),
    ):
        assert np.max(np.abs(total.numpy() - 1.0)) <= slack


@DTYPES
def test_written_rectifiers_are_never_negative(draw, dtype):
    import tensorflow as tf

    x = tf.constant([*draw.normal(0.0, 10.0, 200), 0.0, -0.0], dtype)
    for rectified in (x + tf.abs(x), tf.abs(x) - x, x * tf.cast(x > 0, dtype)):
        assert np.min(rectified.numpy()) == 0


@pytest.mark.parametrize(("level", "eps"), [(0.5, 1e-8), (10.0, 1e-7), (255.0, 1e-6)])
def test_graphs_lose_an_epsilon_beside_a_difference(level, eps):
    import tensorflow as tf

    def stretched(t):
        low, high = tf.reduce_min(t, 1, True), tf.reduce_max(t, 1, True)
        return (t - low) / (high - low + eps)

    def floored(t):
        low, high = tf.reduce_min(t, 1, True), tf.reduce_max(t, 1, True)
        return (t - low) / tf.maximum(high - low, eps)

    flat = tf.fill([2, 4], level)
    assert np.all(np.isnan(tf.function(stretched)(flat).numpy()))
    for kept in (stretched, tf.function(stretched, jit_compile=True), tf.function(floored)):
        assert np.all(np.isfinite(kept(flat).numpy()))
