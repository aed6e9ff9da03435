"""What fixes look like: the names of the file's library, its lines, one guard for one thing."""

from __future__ import annotations

import pytest

from tfnanlint.dev import repository
from tfnanlint.syntax.source import Source

TRAINED = """
def train(model, optimizer, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(f(model(x)))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
FIRST = "import tensorflow as tf\nx = tf.placeholder(tf.float32, [None, 3])\n"


def fixed(text: str, name: str = "a.py", safe: bool = False) -> str:
    source = Source(name, text)
    if not safe:
        return repository.fixed(source).source.text
    from tfnanlint.pipeline.check import check_source
    from tfnanlint.pipeline.fix import fix_source

    settings = repository.policy(None)
    return fix_source(
        source,
        lambda changed: list(check_source(changed, settings).findings),
        lambda fix: fix.claim.safe,
    ).source.text


CASES = {
    "the logarithm of a sigmoid as TensorFlow 1 has it": (
        FIRST + "loss = tf.reduce_mean(tf.log(tf.sigmoid(x)))\n",
        "loss = tf.reduce_mean(tf.log_sigmoid(x))\n",
    ),
    "a count in TensorFlow 1 is divided by as before": (
        FIRST
        + "mask = tf.to_float(tf.not_equal(x, 0))\nloss = tf.reduce_sum(x * mask) / tf.reduce_sum(mask)\n",
        "loss = tf.reduce_sum(x * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)\n",
    ),
    "a file of Keras alone gets no import": (
        "# for tensorflow\nfrom keras import backend as K\n\ndef loss(y, p):\n    mask = K.cast(y > 0, 'float32')\n    return K.sum(mask * p) / K.sum(mask)\n",
        "    return K.sum(mask * p) / K.maximum(K.sum(mask), 1.0)\n",
    ),
    "an epsilon with a name goes under the root": (
        "import tensorflow as tf\n\nclass Norm(tf.keras.layers.Layer):\n    def __init__(self, eps=1e-6):\n        super().__init__()\n        self.eps = eps\n\n"
        "    def call(self, x):\n        mean, var = tf.nn.moments(x, axes=-1, keepdims=True)\n        std = tf.sqrt(var) + self.eps\n        return (x - mean) / std\n",
        "        std = tf.sqrt(var + self.eps ** 2)\n",
    ),
    "a vector by its norm with the axis put back": (
        "import tensorflow as tf\n\ndef f(x):\n    x = tf.nn.relu(x)\n    return x / (tf.reduce_sum(x**2, axis=-1) ** 0.5)[..., None]\n"
        + TRAINED,
        "    return tf.math.l2_normalize(x, axis=-1)\n",
    ),
    "a softmax that only the loss reads goes": (
        "import tensorflow as tf\n\ndef f(x, w, y):\n    logits = tf.matmul(x, w)\n    logits = tf.nn.softmax(logits)\n"
        "    return tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)\n",
        "    logits = tf.matmul(x, w)\n    return tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)\n",
    ),
    "a comment above a norm that goes stays above what is changed": (
        "import tensorflow as tf\n\ndef f(x):\n    x = tf.nn.relu(x)\n    # to unit length\n    norm = tf.norm(x, axis=1, keepdims=True)\n"
        "    x = tf.divide(x, norm, name='unit')\n    return x\n" + TRAINED,
        "    # to unit length\n    x = tf.math.l2_normalize(x, axis=1, name='unit')\n",
    ),
    "a comment above a norm that is not next to the change keeps it": (
        "import tensorflow as tf\n\ndef f(x):\n    x = tf.nn.relu(x)\n    # its length\n    norm = tf.norm(x, axis=1, keepdims=True)\n\n"
        "    x = tf.divide(x, norm, name='unit')\n    return x\n" + TRAINED,
        "    # its length\n    norm = tf.",
    ),
    "a root in a file of long lines gets no name for what stands under it": (
        "import tensorflow as tf\n\nLIMIT = tf.constant(1.0)  # a\n"
        "WEIGHTS = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0])\n\n"
        "def f(output, target):\n    distance = tf.sqrt(tf.reduce_sum(tf.square(tf.nn.relu(output) - target), axis=-1))\n"
        "    return distance\n" + TRAINED.replace("f(model(x))", "f(model(x), x)"),
        "    distance = tf.sqrt(tf.reduce_sum(tf.square(tf.nn.relu(output) - target), axis=-1) + 1e-12)\n",
    ),
    "a line that a fix adds ends as the statement behind it": (
        "import tensorflow as tf\n\ndef f(output, target):\n"
        "    distance = tf.sqrt(tf.reduce_sum(tf.square(tf.nn.relu(output) - target), axis=-1));\n"
        "    return distance;\n"
        + "\ndef train(model, x):\n    with tf.GradientTape() as tape:\n        loss = tf.reduce_mean(f(model(x), x))\n"
        "    return tape.gradient(loss, model.variables)\n",
        "    squared = tf.reduce_sum(tf.square(tf.nn.relu(output) - target), axis=-1);\n"
        "    distance = tf.sqrt(squared + 1e-12);\n",
    ),
    "a number that is no probability is not called one": (
        "import tensorflow as tf\n\ndef draw(shape_of_the_actions):\n"
        "    noise = tf.random.uniform(tf.shape(shape_of_the_actions), dtype=tf.float32)\n"
        "    return tf.reduce_mean(shape_of_the_actions - tf.math.log(-tf.math.log(noise)), -1)\n",
        "    floored = tf.maximum(noise, 1e-37)\n",
    ),
    "a sum of squares with a name gets no second one": (
        "import tensorflow as tf\n\ndef f(x):\n    x = tf.nn.relu(x)\n"
        "    total_of_all_the_squares_of_a_row = tf.reduce_sum(tf.square(x), axis=-1)\n"
        "    return (total_of_all_the_squares_of_a_row - 1.0) / tf.sqrt(total_of_all_the_squares_of_a_row)\n\n"
        "def train(model, w, x):\n    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_mean(f(model(x)))\n    return tape.gradient(loss, w)\n",
        "        total_of_all_the_squares_of_a_row + 1e-12\n",
    ),
    "a softmax that has a name in the graph gets another one": (
        "import tensorflow as tf\n\ndef f(x, w, y):\n    logits = tf.matmul(x, w)\n    logits = tf.nn.softmax(logits, name='p')\n"
        "    return tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)\n",
        "    probabilities = tf.nn.softmax(logits, name='p')\n    return tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)\n",
    ),
    "two values get names beside their own": (
        "import tensorflow as tf\n\ndef f(judge, real, fake):\n    a = tf.sigmoid(judge(real))\n    b = tf.sigmoid(judge(fake))\n"
        "    return -tf.reduce_mean(tf.math.log(a) + tf.math.log(1.0 - b))\n",
        "    a_logits = judge(real)\n    a = tf.sigmoid(a_logits)\n    b_logits = judge(fake)\n",
    ),
    "what is named keeps its lines": (
        "import tensorflow as tf\n\ndef f(model, the_long_name_of_the_first_input, another_long_name_of_it):\n    p = tf.nn.softmax(model(the_long_name_of_the_first_input +\n"
        "                            another_long_name_of_it * 2.0 + 0.5))\n    return tf.math.log(p), p\n",
        "    logits = model(the_long_name_of_the_first_input +\n                   another_long_name_of_it * 2.0 + 0.5)\n    p = tf.nn.softmax(logits)\n",
    ),
    "an old Keras has no losses with from_logits": (
        "from keras.models import Sequential\nfrom keras import layers\nfrom keras.optimizers import RMSprop\n\nmodel = Sequential()\nmodel.add(layers.Dense(1))\n"
        "model.compile(optimizer=RMSprop(lr=1e-4), loss='binary_crossentropy')\nmodel.fit(x, y)\n",
        "model.add(layers.Dense(1, activation='sigmoid'))\n",
    ),
    "a draw takes -inf as a logit": (
        FIRST
        + "def act(obs):\n    p = tf.layers.dense(obs, 4, activation=tf.nn.softmax)\n    return tf.multinomial(tf.log(p), 1)\n",
        "    return tf.multinomial(tf.log(p), 1)\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_form(name):
    text, wanted = CASES[name]
    after = fixed(text)
    assert wanted in after, after


ROOT = "import tensorflow as tf\n\ndef f(x):\n    {}\n    return norm\n" + TRAINED


@pytest.mark.parametrize(
    "line, wanted",
    [
        (
            "norm = tf.norm(x - 1.0, axis=-1)",
            "    squared = tf.reduce_sum(tf.square(x - 1.0), axis=-1)\n    norm = tf.where(squared > 0, tf.sqrt(tf.where(squared > 0, squared, 1.0)), 0.0)\n",
        ),
        (
            "norm = 0.5 * tf.sqrt(tf.nn.relu(x)) / 2.0 + tf.reduce_mean(x)",
            "    norm = 0.5 * tf.sqrt(tf.nn.relu(x)) / 2.0 + tf.reduce_mean(x)\n",
        ),
    ],
)
def test_the_safe_form_of_a_root_is_one_line(line, wanted):
    assert wanted in fixed(ROOT.format(line), safe=True)


def test_where_of_tensorflow_1_takes_no_numbers():
    after = fixed(
        "import tensorflow.compat.v1 as tf\n"
        + ROOT.format("norm = tf.norm(x, axis=-1)").partition("\n")[2],
        safe=True,
    )
    assert ", 1.0)" not in after
