"""Fixes as a maintainer reads them: the whole expression is repaired or nothing, and in the form in
which the program would be written.
"""

from __future__ import annotations

import textwrap

import pytest

import tfnanlint
from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

pytestmark = pytest.mark.usefixtures("suggestions_applied")


def fixed(text: str) -> str:
    settings = {"unsafe-fixes": True, "certainty": "unknown"}
    return tfnanlint.fix(textwrap.dedent(text), settings=settings).after


def why_none(text: str, code: str) -> str:
    (finding,) = [
        one
        for one in repository.findings(Source("a.py", textwrap.dedent(text)))
        if one.code == code
    ]
    assert not finding.fixes
    return finding.no_fix


# Half repairs


def test_no_floor_under_one_half_where_the_other_can_have_none():
    text = """
        import tensorflow as tf

        def loss(y, p):
            return -tf.reduce_sum(p * tf.math.log(y) + (1 - p) * tf.math.log(1 - y))
    """
    assert "tf.maximum" not in fixed(text)


def test_no_floor_where_more_than_1_is_subtracted_from_1():
    text = """
        import tensorflow as tf

        x = tf.linspace(-3.0, 5.0, 500)
        y = -(1.0 - tf.fill([500], 1.0)) * tf.math.log(1.0 - x)
    """
    assert "can be above 1" in why_none(text, "TFN207")


def test_no_floor_beside_a_logarithm_that_is_a_divisor_too():
    text = """
        import tensorflow as tf

        def kl(s, r):
            std_1, std_2 = tf.exp(s), tf.exp(r)
            return tf.math.log(std_2) - tf.math.log(std_1) + std_1 / (2.0 * tf.square(std_2))
    """
    assert "tf.maximum(std" not in fixed(text)


def test_expm1_is_no_repair_of_an_overflow():
    text = """
        import tensorflow as tf

        def likelihood(u, a, b):
            return u * tf.math.log(tf.exp(a - b) - 1.0) - a
    """
    assert "x + log(-expm1(-x))" in why_none(text, "TFN308")


def test_both_halves_get_the_same_guard():
    text = """
        import tensorflow as tf

        def entropy(p):
            return tf.math.log(p + 1e-8) + tf.math.log(1.0 - p + 1e-8)

        def shares(x):
            return entropy(tf.sigmoid(x))
    """
    assert "log(tf.maximum(p, 1e-8)) + tf.math.log(tf.maximum(1.0 - p, 1e-8))" in fixed(text)


def test_both_halves_get_the_stable_form():
    text = """
        import tensorflow as tf

        @tf.function
        def loss(real, fake):
            real_loss = tf.reduce_mean(-tf.math.log(tf.sigmoid(real) + 1e-24))
            fake_loss = tf.reduce_mean(-tf.math.log(1 - tf.sigmoid(fake) + 1e-24))
            return real_loss + fake_loss
    """
    after = fixed(text)
    assert "tf.reduce_mean(-tf.math.log_sigmoid(real))" in after
    assert "tf.reduce_mean(tf.math.softplus(fake))" in after


# What the program means


def test_what_the_caller_chooses_is_not_overridden():
    text = """
        import tensorflow as tf

        def dense(x, activation=tf.nn.relu):
            x = tf.matmul(x, tf.Variable(tf.zeros([3, 3])))
            return activation(x) if activation is not None else x

        def net(x):
            return tf.nn.softmax(dense(x))
    """
    assert "the caller chooses" in why_none(text, "TFN501")


def test_a_setting_is_not_overridden():
    text = """
        import tensorflow as tf

        class Loss:
            def __init__(self):
                self.eps = 1e-8

            def __call__(self, p):
                p = tf.clip_by_value(tf.sigmoid(p), self.eps, 1 - self.eps)
                return tf.math.log(1 - p)
    """
    assert "the epsilon is a setting" in why_none(text, "TFN402")


MODEL = """
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense({units})])
    {name} = model(tf.ones([2, 3]))
    model.compile("adam", loss="{loss}", metrics=["{metric}"])
"""


@pytest.mark.parametrize(
    "units, name, loss, metric, written",
    [
        (5, "y", "sparse_categorical_crossentropy", "accuracy", "activation="),
        (5, "logits", "sparse_categorical_crossentropy", "accuracy", "from_logits=True"),
        (5, "logits", "sparse_categorical_crossentropy", "AUC", ""),
        (1, "y", "binary_crossentropy", "accuracy", "activation="),
        (1, "logits", "binary_crossentropy", "accuracy", ""),
    ],
)
def test_a_model_that_is_meant_to_give_logits_gives_logits(units, name, loss, metric, written):
    before = textwrap.dedent(MODEL.format(units=units, name=name, loss=loss, metric=metric))
    after = fixed(before)
    assert written in after and (after == before) is (not written)


def test_the_score_of_an_inner_layer_gets_no_sigmoid():
    text = """
        from keras.layers import Dense, Flatten
        from keras.models import Model

        def attention(x):
            scores = Dense(1, activation="softmax")(x)
            return Flatten()(scores)

        def model(x):
            y = Dense(1, activation='softmax')(x)
            return Model(x, y)
    """
    after = fixed(text)
    assert 'scores = Dense(1, activation="softmax")' in after and "sigmoid" in after


@pytest.mark.parametrize(
    "model", ["Model(x, scores)", "Model(inputs=x, outputs=scores)", "Model([x], [scores])"]
)
@pytest.mark.parametrize("between", ["", "Flatten()(scores)", "concatenate(inputs=[x, scores])"])
def test_the_first_reader_of_a_score_says_whose_it_is(between, model):
    text = f"""
        from keras.layers import Dense, Flatten, concatenate
        from keras.models import Model

        def scored(x):
            scores = Dense(1, activation="softmax")(x)
            {between or "pass"}
            return {model}
    """
    assert ("sigmoid" in fixed(text)) is not bool(between)


def test_a_softmax_that_a_model_gets_by_its_keyword_gets_a_sigmoid():
    text = """
        from keras.layers import Dense, Flatten
        from keras.models import Model

        def scored(x):
            scores = Dense(1, activation="softmax")(x)
            model = Model(inputs=x, outputs=scores)
            return model, Flatten()(scores)
    """
    assert "sigmoid" in fixed(text)


def test_prose_says_nothing_of_logits():
    before = textwrap.dedent(
        MODEL.format(units=5, name="y", loss="sparse_categorical_crossentropy", metric="accuracy")
    )
    after = fixed(before + "# not the logits\nLABEL = 'logits'\n")
    assert "activation=" in after and "from_logits" not in after


def test_a_sum_of_two_exponentials_of_any_shapes_has_no_fix():
    text = """
        import tensorflow as tf

        def masked(u, v, keep):
            v = tf.where(keep, v, -1e9)
            return tf.math.log(tf.exp(u) + tf.exp(v))
    """
    assert "tf.reduce_logsumexp" in why_none(text, "TFN305")
    assert fixed(text) == textwrap.dedent(text)


def test_fixed_data_get_no_ridge():
    text = """
        import numpy as np
        import tensorflow as tf

        x = np.transpose(np.matrix(np.linspace(0, 10, 100)))
        design = tf.constant(np.column_stack((x, np.transpose(np.matrix(np.repeat(1, 100))))))
        gram = tf.matmul(tf.transpose(design), design)
        root = tf.linalg.cholesky(gram)
    """
    assert "would move the solution" in why_none(text, "TFN108")


def test_what_may_be_of_the_first_tensorflow_gets_no_later_names():
    text = """
        from __future__ import print_function
        from tensorflow.python.framework import dtypes
        from tensorflow.python.ops import array_ops, math_ops

        def constant(x):
            n = math_ops.cast(array_ops.shape(x)[-1], dtypes.float32)
            return math_ops.sigmoid(x) - (n - 1) * math_ops.log(n - 1)
    """
    assert "xlogy" not in fixed(text)
    assert "xlogy" in fixed(text.replace("from __future__ import print_function", ""))


def test_a_name_exists_in_all_releases_that_a_file_with_old_and_new_names_is_for():
    text = """
        import tensorflow as tf

        def loss(scores):
            with tf.variable_scope("loss"):
                return -tf.reduce_mean(tf.compat.v1.log(tf.nn.sigmoid(scores)))
    """
    assert "-tf.reduce_mean(tf.math.log_sigmoid(scores))" in fixed(text)
    assert "-tf.reduce_mean(tf.log_sigmoid(scores))" in fixed(text.replace("compat.v1.", ""))


# Form


def test_no_name_is_left_for_what_can_stand_in_its_place():
    text = """
        import tensorflow as tf

        def loss(score, total, t):
            score = tf.exp(score / t)
            total = tf.reduce_sum(tf.exp(total / t), axis=1)
            return -tf.reduce_sum(tf.math.log(score / total))
    """
    after = fixed(text)
    assert "score / t - tf.reduce_logsumexp(total / t, axis=1)" in " ".join(after.split())
    assert "tf.exp" not in after and "exponent" not in after


def test_a_second_name_says_whose_it_is():
    text = """
        import tensorflow as tf

        def loss(x, logits, labels):
            p = tf.nn.softmax(tf.matmul(x, x))
            return tf.reduce_sum(labels * tf.math.log(p)) + tf.reduce_sum(logits * p)
    """
    assert "p_logits = tf.matmul(x, x)" in fixed(text)


def test_a_second_name_says_nothing_twice():
    text = """
        import tensorflow as tf

        def loss(x, y):
            logits = x + y
            logits = tf.nn.softmax(logits + y)
            y = y + 1
            return tf.reduce_mean(tf.math.log(logits)) + y
    """
    assert "raw_logits = logits + y" in fixed(text)


@pytest.mark.parametrize(
    "comment, goes",
    [
        ("(batch, n)", True),
        ("[None, 2 * n, -1]", True),
        ("(?, ..., 3)", True),
        ("(x.shape, )", True),
        ("()", True),
        ("(do not remove: see Smith 2019, eq. 3)", False),
        ("[n]", True),
        ("(4)", True),
        ("(do not remove)", False),
        ("(unused)", False),
        ("[noqa: E501]", False),
        ("(-2, x + 1)", False),
    ],
)
def test_only_the_comment_of_a_shape_goes_with_its_statement(comment, goes):
    text = f"""
        import tensorflow as tf

        def f(x, y):
            p = tf.nn.softmax(x)  # {comment}
            z = y * 2.0
            return -tf.reduce_sum(z * tf.math.log(p))
    """
    after = fixed(text)
    assert "log_softmax(x)" in after
    assert (f"p = tf.nn.softmax(x)  # {comment}" in after) is not goes


def test_the_shape_of_a_value_goes_with_it():
    text = """
        import tensorflow as tf

        def attend(a, items):
            e = tf.exp(a)
            total = tf.reduce_sum(e, 1, keepdims=True)  # (batch, 1)

            return tf.expand_dims(e / total, 2) * items  # (batch, n, 1)
    """
    assert "(a, items):\n    return tf.expand_dims(tf.nn.softmax(a" in fixed(text)


def test_one_minus_a_sigmoid_is_the_sigmoid():
    text = """
        import tensorflow as tf

        def gate(x):
            return 1 - 1.0 / (1.0 + tf.exp(x))

        def step(x, c):
            return tf.truediv(1.0, tf.add(1.0, tf.exp(tf.multiply(-50.0, tf.subtract(x, c)))))
    """
    after = fixed(text)
    assert "return tf.sigmoid(x)" in after
    assert "return tf.sigmoid(tf.multiply(50.0, tf.subtract(x, c)))" in after


def test_a_guarded_input_gets_a_name_where_a_line_gets_long():
    text = """
        import tensorflow as tf

        def quotient(numerator, denominator):
            return tf.where(denominator > 0, numerator / denominator, tf.zeros_like(numerator))
    """
    assert "numerator / safe_denominator, tf.zeros_like(numerator)" in fixed(text)


def test_an_operator_over_several_lines_becomes_a_call_with_an_argument_a_line():
    text = """
        import tensorflow as tf

        def share(confidence, mask):
            value = tf.reduce_sum(
                confidence * tf.nn.relu(mask), axis=[0, 1, 2, 3, 4]) / (
                    tf.reduce_sum(tf.nn.relu(mask), axis=[0, 1, 2, 3, 4]))
            return value
    """
    lines = [line.strip() for line in fixed(text).splitlines()]
    assert "tf.reduce_sum(confidence * tf.nn.relu(mask), axis=[0, 1, 2, 3, 4])," in lines


def test_a_statement_guards_its_count_once():
    text = """
        import tensorflow as tf

        def means(x, y):
            mask = tf.cast(x > 0, tf.float32)
            n = tf.reduce_sum(mask)
            return tf.reduce_sum(x * mask) / n, y / n
    """
    after = fixed(text)
    assert "count = tf.maximum(n, 1.0)\n" in after and "no_nan" not in after
    assert "return tf.reduce_sum(x * mask) / count, y / count" in after


def test_the_logits_of_two_outputs_are_named_after_them():
    text = """
        import tensorflow as tf

        def loss(judge, real, fake):
            real_prob = tf.sigmoid(judge(real))
            fake_logit = tf.sigmoid(judge(fake))
            total = tf.math.log(real_prob) + tf.math.log(1.0 - fake_logit)
            return -tf.reduce_mean(total), real_prob, fake_logit
    """
    after = fixed(text)
    assert "real_logits = judge(real)" in after and "raw_fake_logit = judge(fake)" in after


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("logits", "logits = tf.matmul(x, w)\n    labels = tf.ones_like(logits)"),
        ("p", "logits = tf.matmul(x, w)\n    labels = tf.ones_like(logits)"),
    ],
)
def test_no_probabilities_are_left_for_their_shape(name, wanted):
    text = f"""
import tensorflow as tf

def loss(x, w):
    {name} = tf.sigmoid(tf.matmul(x, w))
    labels = tf.ones_like({name})
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits={name})
"""
    after = fixed(text)
    assert wanted in after and "tf.sigmoid" not in after


def test_a_count_under_a_logarithm_is_at_least_1():
    text = """
        import tensorflow as tf

        def levels(mask, x):
            n = tf.reduce_sum(tf.cast(mask > 0, tf.float32), axis=1)
            return tf.math.log(n) * x
    """
    assert "tf.math.log(tf.maximum(n, 1.0))" in fixed(text)


def test_a_quotient_that_is_patched_becomes_one_call():
    text = """
        import tensorflow as tf

        def ratio(a, b, w):
            z = tf.matmul(a, w) / b
            z = tf.where(tf.math.is_nan(z), tf.zeros_like(z), z)
            return tf.reduce_sum(z)

        def step(a, b, w):
            with tf.GradientTape() as tape:
                value = ratio(a, b, w)
            return tape.gradient(value, [w])
    """
    after = fixed(text)
    assert "z = tf.math.divide_no_nan(" in after and "is_nan" not in after and " / b" not in after


def test_a_likelihood_keeps_its_sign():
    text = """
        import tensorflow as tf

        def loss(r, x):
            y = tf.reduce_sum(x, axis=-1)
            p = tf.sigmoid(y)
            likelihood = r * tf.math.log(p + 1e-9) + (1 - r) * tf.math.log(1 - p + 1e-9)
            tf.print(likelihood)
            return -tf.reduce_sum(likelihood) + tf.nn.l2_loss(x)
    """
    wanted = "likelihood = r * tf.math.log_sigmoid(y) - (1 - r) * tf.math.softplus(y)\n"
    assert wanted in fixed(text)


@pytest.mark.parametrize(
    ("test", "wanted"),
    [
        ("tf.equal(num_siblings, 1.0)", True),
        ("num_siblings < 1.5", False),
    ],
)
def test_a_mask_of_a_divisor_is_one_call_where_lines_would_be_long(test, wanted):
    text = f"""
import tensorflow as tf

def coefficients(num_siblings, child_indices, singles, right):
    return tf.where(
        {test},
        singles,
        tf.multiply((1.0 - right), tf.divide(child_indices, num_siblings - 1.0)),
    )
"""
    after = fixed(text)
    assert ("tf.math.divide_no_nan(child_indices, num_siblings - 1.0)" in after) is wanted
    assert after != text


def test_a_comment_above_what_goes_heads_what_takes_its_place():
    text = """
        import tensorflow as tf

        def attend(scores, items):
            # softmax of the scores
            exps = tf.exp(scores)
            total = tf.reduce_sum(exps, 1, keepdims=True)

            shares = tf.expand_dims(tf.divide(exps, total), 2)

            return tf.reduce_sum(shares * items, 1)
    """
    after = fixed(text)
    assert "tf.exp(" not in after and "# softmax of the scores" in after
