"""Fixes that are not offered, each beside one that is: where a guard could never act, would leave a
hazard of the same statement, or would change a value that is meant or compared.
"""

from __future__ import annotations

import pytest

from tfnanlint.config.layers import Configuration, layer
from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Claim, Finding
from tfnanlint.pipeline.linter import Linter
from tfnanlint.syntax.source import Source

pytestmark = pytest.mark.usefixtures("suggestions_applied")

HEAD = "import tensorflow as tf\nfrom tensorflow.keras import backend as K\n\n\n"
WEIGHT = """class Rate(tf.keras.layers.Layer):
    def build(self, shape):
        self.rate = self.add_weight(name="rate", shape=(1,), initializer="zeros")

    def call(self, x):
        p = tf.sigmoid({logit})
        self.add_loss(tf.reduce_sum(tf.square(x) / (1.0 - p)))
        return x
"""
HALF = """def loss(targets, x):
    outputs = tf.keras.layers.Dense(1)(x)
    return -tf.reduce_mean(targets * tf.math.log(outputs + 1e-8) + {half})


def step(model, targets, x):
    with tf.GradientTape() as tape:
        value = loss(targets, x)
    return tape.gradient(value, model.trainable_variables)
"""
CAST = """def share(condition, x):
    half = tf.cast(condition, tf.float16)
    return tf.reduce_mean(half)
"""
GRADED = """def rmse(y, p):
    return tf.sqrt(tf.reduce_mean(tf.square(y - p)))


def step(model, x, y):
    with tf.GradientTape() as tape:
        loss = rmse(y, model(x))
    return tape.gradient(loss, model.trainable_variables)


{call}
"""
LENGTH = """import tensorflow as tf


def squash(s):
    n = tf.norm(s, axis=-1,keepdims=True)
    return tf.multiply(n**2/(1+n**2)/(n + tf.keras.backend.epsilon()), s)


class Capsules(tf.keras.layers.Layer):
    def call(self, x):
        return squash(x)
"""


TESTED = """class Share(tf.keras.layers.Layer):
    def build(self, shape):
        self.units = tf.keras.layers.Dense(3, activation="relu")

    def call(self, x):
        y = self.units(x)
        total = tf.reduce_sum(y, axis=-1, keepdims=True)
        return {share}
"""


def first(text: str, *codes: str) -> Finding:
    """The first finding of some rules in a program."""
    found = repository.findings(Source("program.py", HEAD + text))
    return next(one for one in found if one.code in codes)


@pytest.mark.parametrize(("logit", "offered"), [("self.rate", False), ("x", True)])
def test_what_one_weight_leaves_of_1_has_no_floor(logit, offered):
    assert bool(first(WEIGHT.format(logit=logit), "TFN102").fixes) is offered


@pytest.mark.parametrize(
    ("half", "offered"),
    [
        ("(1.0 - targets) * tf.math.log((1.0 - outputs) + 1e-8)", False),
        ("tf.reduce_sum(outputs)", True),
    ],
)
def test_one_half_of_a_loss_is_not_floored(half, offered):
    assert bool(first(HALF.format(half=half), "TFN405").fixes) is offered


@pytest.mark.parametrize(
    ("share", "offered"),
    [("tf.where(tf.math.is_nan(y / total), 0.0, y / total)", False), ("y / total", True)],
)
def test_a_quotient_that_is_tested_for_nan_has_no_floor(share, offered):
    assert bool(first(TESTED.format(share=share), "TFN102").fixes) is offered


def test_a_mean_of_what_is_cast_to_float16_is_repaired_there():
    finding = first(CAST, "TFN604")
    assert not finding.fixes and "cast to float32 there" in finding.no_fix


@pytest.mark.parametrize(
    ("call", "offered"),
    [("utils.test_rmse(rmse)", False), ("utils.test_epoch(rmse, [])", True), ("", True)],
)
def test_what_a_test_compares_does_not_move(call, offered):
    claims = {fix.claim for fix in first(GRADED.format(call=call), "TFN202").fixes}
    assert (Claim.SHIFTED in claims) is offered


def test_a_guard_names_no_library_of_the_tensors_beside_it():
    configuration = Configuration(layer({"unsafe-fixes": True}, "settings", "/x"), (), True)
    fixed = Linter(configuration).fix("/x/program.py", LENGTH).after
    assert "tf.reduce_sum(tf.square(s), axis=-1, keepdims=True)" in fixed


DRAWN = """def spread(z, w):
    return tf.reduce_mean(tf.abs(z - w), axis=1)


def ratio(n, x):
    z, w = tf.random.normal((n, 3)), tf.random.normal({shape})
    return tf.reduce_mean(x / spread(z, w))
"""
SCALED = """class Attention(tf.keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.size = width / 8

    def call(self, x):
        return tf.matmul(x, x, transpose_b=True) / tf.sqrt(self.size ** {power})
"""


def codes(text: str) -> set[str]:
    return {one.code for one in repository.findings(Source("program.py", HEAD + text))}


def test_two_draws_are_never_equal_on_average():
    assert "TFN102" not in codes(DRAWN.format(shape="(n, 4)"))


@pytest.mark.parametrize(("power", "falls"), [("-0.5", True), ("0.5", False)])
def test_a_negative_power_is_never_0(power, falls):
    assert ("TFN202" in codes(SCALED.format(power=power))) is not falls


GROWTH = """class Rate(tf.keras.layers.Layer):
    def call(self, x):
        return tf.maximum(1.0 - tf.exp(-tf.nn.relu(x)), {floor})
"""


@pytest.mark.parametrize(("floor", "offered"), [("1e-7", False), ("0.0", True)])
def test_digits_below_a_floor_are_not_computed(floor, offered):
    assert bool(first(GROWTH.format(floor=floor), "TFN308").fixes) is offered


LONG = """def loss(model, features, one_hot_targets_of_the_batch):
    probabilities_of_the_classes = tf.nn.relu(model(features))
    return -tf.reduce_sum(one_hot_targets_of_the_batch * tf.math.log(probabilities_of_the_classes[:, 1:]), axis=1)


def step(model, x, y):
    with tf.GradientTape() as tape:
        value = loss(model, x, y)
    return tape.gradient(value, model.trainable_variables)
"""


def test_a_floor_that_is_too_long_for_its_line_gets_a_name():
    fixed = repository.fixed(Source("program.py", HEAD + LONG)).source.text
    assert "    floored = tf.maximum(probabilities_of_the_classes[:, 1:], 1e-37)\n" in fixed
    assert "tf.math.log(floored)" in fixed


COMMENTED = """{comment}
head = tf.keras.layers.Dense(1)
model = tf.keras.Sequential([tf.keras.layers.Flatten(), head])
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(x, y)
"""


@pytest.mark.parametrize(
    ("comment", "offered"),
    [
        ("# the prediction will be treated as a `logit`,\n# a raw value", False),
        ("# the head", True),
    ],
)
def test_a_comment_that_says_logit_is_not_contradicted(comment, offered):
    assert bool(first(COMMENTED.format(comment=comment), "TFN503").fixes) is offered


SHOWN = """class Coder(tf.keras.Model):
    def {name}(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            spread = 1.0 / tf.nn.softmax(x)
        return tape.gradient(spread, x)
"""


@pytest.mark.parametrize(("name", "offered"), [("visualize_task", False), ("explain", True)])
def test_what_is_only_looked_at_does_not_move(name, offered):
    assert bool(first(SHOWN.format(name=name), "TFN102").fixes) is offered


SHARES = """def shares(x, w):
    return tf.nn.softmax(tf.matmul(x, w), axis=-1)


def loss(labels, x, w):
    p = {shares}
    return -tf.reduce_sum(labels * tf.math.log(p))
"""
HANDED = """def loss(p, labels):
    return -tf.reduce_sum(labels * tf.math.log({p}))


def step(x, w, labels):
    with tf.GradientTape() as tape:
        value = loss(tf.{name}(tf.matmul(x, w)), labels)
    return tape.gradient(value, [w])
"""
OWN = """def {name}(z):
    return tf.math.log(tf.exp(z) + 1.0)
"""
BLOCK = """inputs = tf.keras.Input((28, 28, 64))
outputs = tf.keras.layers.Conv2D(64, 3, padding="same")(inputs)
outputs = tf.keras.layers.ReLU()({given})
model = tf.keras.Model(inputs, outputs)


def loss(images, labels):
    return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=model(images))
"""
MASKED = """def attention(scores, mask, w):
    weights = tf.exp({scores}) * mask
    total = tf.reduce_sum(weights, axis=-1, keepdims=True)
    shares = weights / total
    shares = tf.where(tf.math.is_nan(shares), tf.zeros_like(shares), shares)
    return tf.matmul(shares, w)


def step(scores, mask, w):
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(attention(tf.matmul(scores, w), mask, w))
    return tape.gradient(value, [w])
"""


@pytest.mark.parametrize(
    ("shares", "offered"), [("shares(x, w)", False), ("tf.stop_gradient(shares(x, w))", True)]
)
def test_no_floor_takes_the_gradient_of_a_helper_with_logits(shares, offered):
    finding = first(SHARES.format(shares=shares), "TFN301")
    assert bool(finding.fixes) is offered
    assert offered or "return the logits from 'shares', too" in finding.no_fix


@pytest.mark.parametrize(
    ("p", "name", "offered"),
    [
        ("p", "nn.softmax", False),
        ("1.0 - p", "sigmoid", False),
        ("p[:, 0]", "nn.softmax", False),
        ("p", "nn.relu", True),
    ],
)
def test_no_floor_under_what_callers_compute_from_logits(p, name, offered):
    finding = first(HANDED.format(p=p, name=name), "TFN101", "TFN207", "TFN301", "TFN302")
    assert bool(finding.fixes) is offered


@pytest.mark.parametrize(
    ("name", "offered"), [("my_softplus", False), ("softplus_naive", False), ("my_loss", True)]
)
def test_what_a_lesson_writes_out_stays(name, offered):
    assert bool(first(OWN.format(name=name), "TFN304").fixes) is offered


@pytest.mark.parametrize(
    ("given", "offered"),
    [
        ("tf.keras.layers.add([outputs, inputs])", False),
        ("tf.keras.layers.Add()([outputs, inputs])", False),
        ("outputs + inputs", False),
        ("outputs", True),
    ],
)
def test_the_relu_of_a_residual_block_stays(given, offered):
    assert bool(first(BLOCK.format(given=given), "TFN501").fixes) is offered


@pytest.mark.parametrize(
    ("scores", "offered"), [("scores", False), ("tf.minimum(scores, 20.0)", True)]
)
def test_no_half_repair_of_a_masked_softmax(scores, offered):
    finding = first(MASKED.format(scores=scores), "TFN205")
    assert bool(finding.fixes) is offered
    assert offered or "can overflow, too" in finding.no_fix


LESSON = """def log1pexp(x):
    return tf.math.log(1.0 + tf.exp(x))


{decorator}
def {name}(x):
    e = tf.exp(-tf.abs(x))
    return tf.math.log1p(e), lambda upstream: upstream * e
"""
DISTANCE = """def loss(labels, z):
    return -tf.reduce_mean(tf.math.log(tf.abs(tf.round(1.0 - labels) - tf.{name}(z))))
"""


@pytest.mark.parametrize(
    ("decorator", "name", "offered"),
    [
        ("@tf.custom_gradient", "log1pexp", False),
        ("@tf.custom_gradient", "other", True),
        ("@tf.function", "log1pexp", True),
    ],
)
def test_what_a_lesson_gives_a_gradient_stays(decorator, name, offered):
    finding = first(LESSON.format(decorator=decorator, name=name), "TFN304")
    assert bool(finding.fixes) is offered


@pytest.mark.parametrize(("name", "offered"), [("sigmoid", False), ("tanh", True)])
def test_no_floor_under_the_distance_of_labels_from_a_sigmoid(name, offered):
    assert bool(first(DISTANCE.format(name=name), "TFN101").fixes) is offered


ATTENTION = """def attend(scores, ids):
    padding = tf.fill(tf.shape(scores), float("-inf"))
    return tf.nn.softmax(tf.where(tf.equal(ids, 0), padding, scores))
"""


@pytest.mark.parametrize(
    ("before", "offered"), [("", True), ("ids = tf.placeholder(tf.int32)\n", False)]
)
def test_where_of_tensorflow_1_takes_no_number_beside_a_tensor(before, offered):
    assert bool(first(before + ATTENTION, "TFN506").fixes) is offered
